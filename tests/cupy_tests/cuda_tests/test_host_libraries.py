"""What the host device leaves out is refused by name."""
from __future__ import annotations

import os

import pytest

import cupy

pytestmark = pytest.mark.skipif(
    os.environ.get('CUPY_DEVICE') != 'host', reason='for the host device')


@pytest.mark.parametrize(('library', 'call'), [
    ('cuFFT', lambda: cupy.fft.rfft(cupy.ones(8))),
    ('cuBLAS', lambda: cupy.ones((2, 2)) @ cupy.ones((2, 2))),
    ('cuSOLVER', lambda: cupy.linalg.svd(cupy.ones((2, 2)))),
    ('Jitify', lambda: cupy.RawModule(code='', jitify=True).compile())])
@pytest.mark.filterwarnings('ignore:jitify')
def test_library(library, call):
    with pytest.raises(NotImplementedError, match=library):
        call()
