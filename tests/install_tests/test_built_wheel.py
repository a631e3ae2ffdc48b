"""The fork that is installed here is the wheel that the builder promises."""

from __future__ import annotations

import importlib.metadata
import sysconfig

import pytest

from cupy_overlay import _host
from cupy_overlay import _state
from cupy_overlay import _tree
from cupy_overlay import _wheel


@pytest.fixture(scope='module')
def dist(pins):
    """The installed distribution; `make wheel` or `make develop` makes it."""
    found = [d for name in pins.bases
             for d in importlib.metadata.distributions(name=name)]
    assert [d.version for d in found] == [pins.fork_version], \
        'the fork is not installed for this Python: run `make wheel`'
    return found[0]


@pytest.fixture(scope='module')
def names(dist):
    return {file.as_posix() for file in dist.files}


def test_files_are_as_recorded(dist):
    for file in dist.files:
        if file.hash is not None and file.suffix != '.pyc':
            content = file.locate().read_bytes()
            digest = f'{file.hash.mode}={file.hash.value}'
            assert digest == _wheel.record_digest(content), file


def test_our_files_are_there_but_sources_are_not(root, names):
    ours = _tree.overlay(root)
    assert {n for n in ours if n.endswith('.py')} <= names
    assert not {n for n in ours if n.endswith(('.cpp', '.h', '.pyx'))} & names


def test_host_device_is_complete(root, names):
    suffix = sysconfig.get_config_var('EXT_SUFFIX')
    plan = _host.load(root)
    for library in plan.libraries:
        assert f'{_host.LIBRARIES}/{library.name}' in names
    for module in plan.modules:
        assert f'{_host.MODULES}/{module.name}{suffix}' in names
        # The one for the GPU is still there, too.
        assert module.name.replace('.', '/') + suffix in names


def test_new_modules_are_built(root, names):
    suffix = sysconfig.get_config_var('EXT_SUFFIX')
    for name in _tree.overlay(root):
        if name.endswith('.pyx'):
            assert name.removesuffix('.pyx') + suffix in names


def test_licences(names):
    texts = [name for name in names if '.dist-info/licenses/' in name]
    ours = {name.rpartition('/')[2] for name in texts
            if '/cupy-ufunc-override/' in name}
    assert ours == set(_state.LICENCES)
    assert any(name.endswith('/licenses/LICENSE') for name in texts)
    assert any(name.endswith('source/license.rst') for name in texts)


def test_requirements_are_the_bases_and_the_host_devices(dist):
    assert {'numpy', 'cuda-pathfinder'} <= {
        required.partition('<')[0].partition('=')[0].partition('>')[0]
        for required in dist.requires if ';' not in required}
    host = [required for required in dist.requires if '"host"' in required]
    assert any('llvmlite' in required for required in host)
    assert any('nvrtc' in required for required in host)
