"""Wheels: checked when read, complete and reproducible when written."""

from __future__ import annotations

import csv
import email.parser
import zipfile

import pytest

from cupy_overlay import _pins
from cupy_overlay import _wheel

METADATA = '''\
Metadata-Version: 2.4
Name: cupy-cuda13x
Version: 1.0
License-File: LICENSE
Requires-Dist: numpy<2.6,>=2.0
Provides-Extra: all
Requires-Dist: scipy; extra == "all"

Version: 1.0 of the description
'''
BASE = _pins.Base('cupy-cuda13x', 13, {}, {})
PINS = _pins.Pins('1.0', 'ufunc.7', '', '', {BASE.name: BASE})
OLD = 'cupy_cuda13x-1.0.dist-info'
NEW = 'cupy_cuda13x-1.0+ufunc.7.dist-info'
FILES = {
    'cupy/__init__.py': b'one\n',
    'cupy/_core/core.cpython-311-x86_64-linux-gnu.so': b'\x7fELF',
    'cupy_backends/host/lib/libcuda.so.1': b'\x7fELF too',
    f'{OLD}/METADATA': METADATA.encode(),
    f'{OLD}/WHEEL': b'Wheel-Version: 1.0\n',
    f'{OLD}/licenses/LICENSE': b'theirs',
}


def _written(path, files):
    _wheel.write(path, files)
    return path


@pytest.fixture
def renamed():
    return _wheel.rename(FILES, PINS, BASE, {'LICENSE': b'ours'},
                         'cp311-cp311-linux_x86_64')


def test_round_trip(tmp_path):
    files = _wheel.read(_written(tmp_path / 'w.whl', FILES))
    assert files.pop(f'{OLD}/RECORD')
    assert files == FILES


def test_same_files_same_bytes(tmp_path):
    first = _written(tmp_path / 'a.whl', FILES)
    second = _written(tmp_path / 'b.whl', dict(reversed(FILES.items())))
    assert first.read_bytes() == second.read_bytes()


def test_record_lists_every_file(tmp_path):
    files = _wheel.read(_written(tmp_path / 'w.whl', FILES))
    rows = list(csv.reader(files[f'{OLD}/RECORD'].decode().splitlines()))
    assert {row[0] for row in rows} == files.keys()
    assert ['cupy/__init__.py',
            'sha256=LIsI2lzmA5jh8Zrw5dzMdE3ydLgmq-WF6rpoxSVDSAY',
            '4'] in rows
    assert rows[-1] == [f'{OLD}/RECORD', '', '']


def test_modes_and_order(tmp_path):
    with zipfile.ZipFile(_written(tmp_path / 'w.whl', FILES)) as archive:
        modes = {i.filename: i.external_attr >> 16 & 0o777
                 for i in archive.infolist()}
    assert {n for n, mode in modes.items() if mode == 0o755} == {
        'cupy/_core/core.cpython-311-x86_64-linux-gnu.so',
        'cupy_backends/host/lib/libcuda.so.1'}
    assert list(modes)[-1] == f'{OLD}/licenses/LICENSE'


def test_changed_file_is_refused(tmp_path):
    path = tmp_path / 'w.whl'
    with zipfile.ZipFile(path, 'w') as archive:
        for name, content in _wheel.with_record(FILES).items():
            spoilt = name == 'cupy/__init__.py'
            archive.writestr(name, b'two\n' if spoilt else content)
    with pytest.raises(_wheel.WheelError, match=r'cupy/__init__\.py differs'):
        _wheel.read(path)


def test_missing_file_is_refused():
    files = _wheel.with_record(FILES)
    del files['cupy/__init__.py']
    with pytest.raises(_wheel.WheelError, match='recorded but missing'):
        _wheel.check_record(files, 'w.whl')


def test_metadata(renamed):
    text = renamed[f'{NEW}/METADATA'].decode()
    parsed = email.parser.Parser().parsestr(text)
    assert parsed['Name'] == 'cupy-cuda13x'
    assert parsed['Version'] == '1.0+ufunc.7'
    assert parsed.get_all('License-File') == [
        'LICENSE', 'cupy-ufunc-override/LICENSE']
    required = parsed.get_all('Requires-Dist')
    assert required[:2] == ['numpy<2.6,>=2.0', 'scipy; extra == "all"']
    assert 'cuda-toolkit[cudart,nvrtc]==13.*; extra == "host"' in required
    assert parsed.get_all('Provides-Extra') == ['all', 'host']
    assert parsed.get_payload() == 'Version: 1.0 of the description\n'


def test_both_licences_and_the_tag(renamed):
    assert renamed[f'{NEW}/licenses/LICENSE'] == b'theirs'
    assert renamed[f'{NEW}/licenses/cupy-ufunc-override/LICENSE'] == b'ours'
    assert b'\nTag: cp311-cp311-linux_x86_64\n' in renamed[f'{NEW}/WHEEL']
    assert not [name for name in renamed if name.startswith(OLD + '/')]


def test_another_version_is_refused():
    files = {**FILES, f'{OLD}/METADATA': METADATA.replace(
        'Version: 1.0', 'Version: 1.1').encode()}
    with pytest.raises(_wheel.WheelError, match=r'cupy-cuda13x 1\.1, not'):
        _wheel.rename(files, PINS, BASE, {}, 'tag')
