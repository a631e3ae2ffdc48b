"""What selects the device, and what is said where there is none."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from cupy.cuda import _no_driver


class FakeError(RuntimeError):
    def __init__(self, status):
        super().__init__(f'error {status}')
        self.status = status

    def __reduce__(self):
        return (type(self), (self.status,))


_no_driver.explain(FakeError)


@pytest.mark.parametrize('status', [35, 100])
def test_no_device_names_the_host_device(status):
    error = FakeError(status)
    assert str(error) == f'error {status} ({_no_driver.HINT})'
    assert error.args == (f'error {status}',)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_other_errors_are_as_they_were():
    assert str(FakeError(2)) == 'error 2'


@pytest.mark.parametrize(('name', 'value'), [
    ('CUPY_DEVICE', 'host'), ('READTHEDOCS', 'True')])
def test_build_without_cuda_has_its_uses(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    _no_driver.refuse_stubs(0)


def _run(code, device):
    # No GPU, even where there is one.
    env = {**os.environ, 'CUDA_VISIBLE_DEVICES': ''}
    env.pop('CUPY_DEVICE', None)
    if device is not None:
        env['CUPY_DEVICE'] = device
    return subprocess.run([sys.executable, '-c', code], env=env,
                          capture_output=True, text=True)


def test_without_the_variable_there_is_no_device():
    done = _run('import cupy; cupy.zeros(1)', None)
    assert done.returncode != 0
    assert 'CUDARuntimeError: cudaError' in done.stderr
    assert _no_driver.HINT in done.stderr


def test_build_without_cuda_is_refused(monkeypatch):
    monkeypatch.delenv('READTHEDOCS', raising=False)
    done = _run('from cupy_backends.cuda.api import driver\n'
                'driver.get_build_version = lambda: 0\n'
                'import cupy', None)
    assert done.returncode != 0
    assert 'ImportError: this CuPy was built without CUDA' in done.stderr
    assert _no_driver.HINT in done.stderr


def test_host_device_is_selected_by_name():
    done = _run('import cupy; print(cupy.arange(3).sum())', 'host')
    assert (done.returncode, done.stdout, done.stderr) == (0, '3\n', '')


def test_unknown_device_is_refused():
    done = _run('import cupy', 'gpu')
    assert done.returncode != 0
    assert "ValueError: CUPY_DEVICE='gpu' names no device" in done.stderr
