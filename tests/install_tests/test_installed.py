"""An installed CuPy as the base, and the fork kept up to date in place."""

from __future__ import annotations

import importlib.metadata
import sys
import zipfile

import pytest

from cupy_overlay import _install
from cupy_overlay import _installed
from cupy_overlay import _pins
from cupy_overlay import _wheel

BASE = _pins.Base('cupy-cuda13x', 13, {}, {})
INFO = 'cupy_cuda13x-1.0.dist-info'
FILES = {
    'cupy/__init__.py': b'one = 1\n',
    'cupy/old.py': b'two = 2\n',
    f'{INFO}/METADATA': b'Metadata-Version: 2.1\nName: cupy-cuda13x\n'
                        b'Version: 1.0\n',
    f'{INFO}/WHEEL': b'',
}


@pytest.fixture
def site(tmp_path):
    """A site-packages folder as pip leaves it."""
    _wheel.write(tmp_path / 'w.whl', FILES)
    folder = tmp_path / 'site'
    with zipfile.ZipFile(tmp_path / 'w.whl') as archive:
        archive.extractall(folder)
    (folder / 'cupy/__pycache__').mkdir()
    (folder / 'cupy/__pycache__/old.pyc').write_bytes(b'compiled')
    (folder / INFO / 'INSTALLER').write_text('pip\n')
    with (folder / INFO / 'RECORD').open('a') as record:
        record.write(f'{INFO}/INSTALLER,sha256=x,4\n'
                     'cupy/__pycache__/old.pyc,,\n')
    return folder


def test_installed_files_are_the_wheels(site):
    files = _installed.read(str(site), BASE, '1.0')
    files.pop(f'{INFO}/RECORD')
    assert files == FILES


def test_another_version_is_refused(site):
    with pytest.raises(_installed.InstalledError, match=r'but 1\.0 is'):
        _installed.read(str(site), BASE, '1.1')


def test_absent_is_refused(tmp_path):
    with pytest.raises(_installed.InstalledError, match='not installed in'):
        _installed.read(str(tmp_path), BASE, '1.0')


def test_changed_file_is_refused(site):
    (site / 'cupy/old.py').write_text('changed')
    with pytest.raises(_wheel.WheelError, match=r'cupy/old\.py differs'):
        _installed.read(str(site), BASE, '1.0')


def test_sync_writes_only_what_differs(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(sys, 'prefix', str(site))
    files = dict(FILES)
    del files['cupy/old.py']
    files['cupy/__init__.py'] = b'one = 3\n'
    changed = _install.sync(_wheel.with_record(files), BASE, '1.0')
    assert changed == ['cupy/__init__.py', 'cupy/old.py', f'{INFO}/RECORD']
    assert (site / 'cupy/__init__.py').read_bytes() == b'one = 3\n'
    assert not (site / 'cupy/old.py').exists()
    found, = importlib.metadata.distributions(path=[str(site)])
    assert 'cupy/old.py' not in {f.as_posix() for f in found.files}


def test_sync_needs_an_installation(tmp_path):
    with pytest.raises(_installed.InstalledError, match='make wheel'):
        _install.sync(_wheel.with_record(FILES), BASE, '99.0')
