"""Writes upstream.toml: the files that a build may use, with their hashes.

Usage: python tools/refresh_pins.py 14.2.0 > upstream.toml

Asks the package index (PIP_INDEX_URL or pypi.org; PEP 691) for the names and
hashes; downloads none of the files.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

INDEX = os.environ.get('PIP_INDEX_URL', 'https://pypi.org/simple')
LOCAL = 'ufunc.1'

# Headers to compile against, by base: the host device is tested with these.
BASES: dict[str, dict[str, Any]] = {
    'cupy-cuda12x': {
        'cuda': 12,
        'headers': ['nvidia-cuda-runtime-cu12==12.9.79',
                    'nvidia-cuda-nvcc-cu12==12.9.86',
                    'nvidia-cuda-profiler-api-cu12==12.9.79'],
    },
    'cupy-cuda13x': {
        'cuda': 13,
        'headers': ['nvidia-cuda-runtime==13.0.96',
                    'nvidia-cuda-crt==13.0.88',
                    'nvidia-cuda-profiler-api==13.0.85'],
    },
}


def files(name: str, version: str) -> dict[str, str]:
    """File name to sha256 for the Linux files of a release."""
    accept = {'Accept': 'application/vnd.pypi.simple.v1+json'}
    request = urllib.request.Request(f'{INDEX}/{name}/', headers=accept)
    with urllib.request.urlopen(request, timeout=60) as reply:
        listed = json.load(reply)['files']
    prefix = f'{name.replace("-", "_")}-{version}'
    return {f['filename']: f['hashes']['sha256'] for f in listed
            if f['filename'].startswith((prefix + '-', prefix + '.tar'))
            and '-win_' not in f['filename']}


def table(name: str, pins: dict[str, str]) -> str:
    rows = [f"'{file}' = '{pins[file]}'\n" for file in sorted(pins)]
    return f'\n[{name}]\n' + ''.join(rows)


def render(version: str) -> str:
    text = ('# The one place that says which CuPy this fork is of. Made by '
            'tools/refresh_pins.py.\n'
            f"version = '{version}'\nlocal = '{LOCAL}'\n")
    text += table('sdist', files('cupy', version))
    for base, about in BASES.items():
        headers: dict[str, str] = {}
        for requirement in about['headers']:
            headers.update(files(*requirement.split('==')))
        text += f'\n[base.{base}]\ncuda = {about["cuda"]}\n'
        text += table(f'base.{base}.wheels', files(base, version))
        text += table(f'base.{base}.headers', headers)
    return text


if __name__ == '__main__':
    sys.stdout.write(render(sys.argv[1]))
