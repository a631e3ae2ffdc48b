"""CUDA headers: of CUDA_PATH, or of the pinned packages."""

from __future__ import annotations

import hashlib
import platform
import zipfile

import pytest

from cupy_overlay import _config
from cupy_overlay import _headers
from cupy_overlay import _pins

HEADER = '#define CUDART_VERSION  13020\n'


def _toolkit(folder, header=HEADER):
    include = folder / 'toolkit' / 'include'
    include.mkdir(parents=True)
    (include / 'cuda_runtime_api.h').write_text(header)
    return folder / 'toolkit'


@pytest.fixture
def base(tmp_path):
    name = f'nvidia_x-1-py3-none-manylinux_2_27_{platform.machine()}.whl'
    with zipfile.ZipFile(tmp_path / name, 'w') as archive:
        archive.writestr('nvidia/cu13/include/cuda_runtime_api.h', HEADER)
        archive.writestr('nvidia/cu13/include/crt/host.h', 'x')
        archive.writestr('nvidia/cu13/lib/libx.so', 'x')
    digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    return _pins.Base('cupy-cuda13x', 13, {}, {name: digest})


@pytest.fixture
def config(tmp_path):
    return _config.read(tmp_path, {'sources': tmp_path}, env={})


def test_toolkit(config, base, tmp_path, monkeypatch):
    monkeypatch.setenv('CUDA_PATH', str(_toolkit(tmp_path)))
    include = _headers.find(config, base)
    assert include == tmp_path / 'toolkit' / 'include'
    assert _headers.version(include) == 13020


def test_packages_without_a_toolkit(config, base, monkeypatch):
    monkeypatch.delenv('CUDA_PATH', raising=False)
    include = _headers.find(config, base)
    assert _headers.version(include) == 13020
    assert (include / 'crt/host.h').is_file()
    assert not list(include.rglob('*.so'))
    assert _headers.find(config, base) == include


def test_toolkit_of_another_version(config, base, tmp_path, monkeypatch):
    toolkit = _toolkit(tmp_path, HEADER.replace('13020', '12090'))
    monkeypatch.setenv('CUDA_PATH', str(toolkit))
    with pytest.raises(_headers.HeaderError, match=r'CUDA 12\.9, but '
                       r'cupy-cuda13x needs 13\.x'):
        _headers.find(config, base)


def test_folder_without_headers(config, base, tmp_path, monkeypatch):
    monkeypatch.setenv('CUDA_PATH', str(tmp_path))
    with pytest.raises(_headers.HeaderError, match='no CUDA headers in'):
        _headers.find(config, base)
