"""``upstream.toml``: the pinned files and their hashes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from cupy_overlay import _toml


class PinError(Exception):
    """Something was asked for that ``upstream.toml`` does not pin."""


@dataclasses.dataclass(frozen=True)
class Base:
    """An official binary package that a wheel of the fork replaces.

    ``wheels`` and ``headers`` map file names to sha256 digests.
    """

    name: str
    cuda: int
    wheels: dict[str, str]
    headers: dict[str, str]

    def wheel(self, python: str, machine: str) -> str:
        """The wheel's file name for a Python tag and a machine.

        Raises:
            PinError: there is none.
        """
        for file in self.wheels:
            tags = file.removesuffix('.whl').split('-')
            if tags[3] == python and tags[4].endswith(machine):
                return file
        raise PinError(f'upstream.toml pins no {self.name} wheel for {python} '
                       f'on {machine}; CuPy may not publish one')

    def header_files(self, machine: str) -> dict[str, str]:
        """The header packages for a machine."""
        return {file: digest for file, digest in self.headers.items()
                if file.endswith(f'_{machine}.whl')}


@dataclasses.dataclass(frozen=True)
class Pins:
    """The whole of ``upstream.toml``."""

    version: str
    local: str
    sdist: str
    sdist_sha256: str
    bases: dict[str, Base]

    @property
    def fork_version(self) -> str:
        """The version of the fork's wheels, e.g. ``14.2.0+ufunc.1``."""
        return f'{self.version}+{self.local}'

    def base(self, name: str) -> Base:
        if name not in self.bases:
            raise PinError(f'no base {name!r} in upstream.toml; there are: '
                           + ', '.join(sorted(self.bases)))
        return self.bases[name]


def load(root: Path) -> Pins:
    """Reads ``upstream.toml`` of a repository."""
    data = _toml.load(root / 'upstream.toml')
    (sdist, sdist_sha256), = data['sdist'].items()
    bases = {name: Base(name, about['cuda'], about['wheels'],
                        about['headers'])
             for name, about in data['base'].items()}
    return Pins(data['version'], data['local'], sdist, sdist_sha256, bases)
