"""What a build is asked to do: environment variables and config settings.

=========================== =============== ===============================
variable                    config setting  meaning
=========================== =============== ===============================
CUPY_OVERLAY_BASE           base            cupy-cuda13x or cupy-cuda12x
CUPY_OVERLAY_SOURCES        sources         folders with the pinned files,
                                            asked before the package index
CUPY_OVERLAY_FROM_INSTALLED from-installed  1, or a site-packages folder:
                                            the base is the installed CuPy
CUPY_OVERLAY_CACHE          cache           where downloads are kept
CUPY_OVERLAY_BUILD          build           where the build works
CUPY_OVERLAY_JOBS           jobs            compilers to run at once
=========================== =============== ===============================
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

from cupy_overlay import _log

DEFAULT_BASE = 'cupy-cuda13x'
_NAMES = ('base', 'sources', 'from-installed', 'cache', 'build', 'jobs')


class ConfigError(Exception):
    """A setting that is not known or has a value of no use."""


@dataclasses.dataclass(frozen=True)
class Config:
    """One build's settings; ``root`` is the repository."""

    root: Path
    base: str
    sources: tuple[Path, ...]
    from_installed: str
    cache: Path
    build: Path
    jobs: int

    @property
    def work(self) -> Path:
        """The folder of this base and this Python, kept between builds."""
        return self.build / f'{self.base}-{python_tag()}'


@contextlib.contextmanager
def exclusive(config: Config) -> Iterator[None]:
    """Keeps two builds from working in one folder at the same time."""
    config.build.mkdir(parents=True, exist_ok=True)
    with (config.build / '.lock').open('w') as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log.step('waiting', f'another build is busy in {config.build}')
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def python_tag() -> str:
    """The ABI tag of the running Python, e.g. ``cp311`` or ``cp314t``."""
    major, minor = sys.version_info[:2]
    threads = 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''
    return f'cp{major}{minor}{threads}'


def default_cache() -> Path:
    home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return Path(home) / 'cupy-overlay'


def read(root: Path, settings: Mapping[str, object] | None = None,
         env: Mapping[str, str] = os.environ) -> Config:
    """Reads the settings; config settings go before the environment.

    Raises:
        ConfigError: the name or the value of a setting is wrong.
    """
    given = {key: str(value) for key, value in (settings or {}).items()}
    for key in given:
        if key not in _NAMES:
            raise ConfigError(f'unknown config setting {key!r}; known: '
                              + ', '.join(_NAMES))

    def value(name: str, default: str = '') -> str:
        variable = 'CUPY_OVERLAY_' + name.upper().replace('-', '_')
        return given.get(name) or env.get(variable) or default

    folders = value('sources').split(os.pathsep)
    return Config(
        root=root,
        base=value('base', DEFAULT_BASE),
        sources=tuple(Path(f).resolve() for f in folders if f),
        from_installed=value('from-installed'),
        cache=Path(value('cache', os.fspath(default_cache()))),
        build=Path(value('build', os.fspath(root / 'build'))).resolve(),
        jobs=_jobs(value('jobs')),
    )


def _jobs(text: str) -> int:
    if not text:
        return os.cpu_count() or 1
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f'jobs must be a positive number, not {text!r}')
    return int(text)
