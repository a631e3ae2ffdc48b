"""Kernels of numba's own, ``@cuda.jit``, beside CuPy.

They are compiled and launched by numba. On the host device its driver and
its linker find our libraries; see cupy_backends/host/runtime/numba_kernels.
"""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy
import pytest

import cupy

cuda = pytest.importorskip('numba.cuda')
pytestmark = pytest.mark.filterwarnings(
    'ignore::numba.cuda.core.errors.NumbaPerformanceWarning')

ON_HOST = os.environ.get('CUPY_DEVICE') == 'host'
needs_host = pytest.mark.skipif(
    not ON_HOST, reason='about what the host device cannot do')
needs_mlir = pytest.mark.skipif(
    sys.version_info < (3, 11) or not (
        ON_HOST or importlib.util.find_spec('numba_cuda_mlir')),
    reason='numba-cuda-mlir needs Python 3.11; GPU machines may lack it')

# cuda.core warns of a driver older than NVRTC.
OLD_DRIVER = 'ignore:The CUDA driver version is older:RuntimeWarning'

# An external function of numba's: the result through a pointer.
TWICE = '''
extern "C" __device__ int twice(double *result, double x) {
    *result = 2 * x;
    return 0;
}
'''


@cuda.jit(device=True)
def shifted(x, by):
    return x + by


@cuda.jit
def scale_and_shift(x, y, factor):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = shifted(factor * x[i], 1)


def test_elementwise():
    x = cupy.arange(1000, dtype='f4')
    y = cupy.empty(1000)
    scale_and_shift[8, 128](x, y, 3)
    numpy.testing.assert_array_equal(y.get(), 3. * numpy.arange(1000) + 1)


def test_strides():
    y = cupy.zeros((6, 4))
    scale_and_shift[1, 32](cupy.arange(12.)[::2], y[:, 1], 1)
    assert y[:, 1].tolist() == [1, 3, 5, 7, 9, 11]
    assert y[:, ::2].sum() == 0


def test_host_arrays_are_copied_back():
    x, y = numpy.arange(5.), numpy.zeros(5)
    scale_and_shift[1, 32](x, y, 2)
    assert y.tolist() == [1, 3, 5, 7, 9]


def test_arrays_of_numba_in_cupy():
    x = cuda.to_device(numpy.arange(4.))
    assert cupy.sqrt(cupy.asarray(x)).tolist() == [0, 1, 2 ** .5, 3 ** .5]


def test_stream_of_cupy():
    stream = cupy.cuda.Stream(non_blocking=True)
    x, y = cupy.arange(5.), cupy.zeros(5)
    scale_and_shift[1, 32, cuda.external_stream(stream.ptr)](x, y, 2)
    stream.synchronize()
    assert y.tolist() == [1, 3, 5, 7, 9]


def test_shared_memory_and_barriers():
    @cuda.jit
    def block_sums(x, sums):
        tile = cuda.shared.array(64, 'float64')
        i = cuda.threadIdx.x
        tile[i] = x[cuda.grid(1)]
        cuda.syncthreads()
        width = 32
        while width:
            if i < width:
                tile[i] += tile[i + width]
            cuda.syncthreads()
            width //= 2
        if i == 0:
            sums[cuda.blockIdx.x] = tile[0]

    x = numpy.random.default_rng(1).integers(0, 100, 64 * 50).astype('f8')
    sums = cupy.zeros(50)
    block_sums[50, 64](cupy.asarray(x), sums)
    numpy.testing.assert_array_equal(sums.get(), x.reshape(50, 64).sum(1))


def test_warp_shuffles():
    @cuda.jit
    def warp_sums(x, sums):
        value = x[cuda.grid(1)]
        for offset in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xffffffff, value, offset)
        if cuda.laneid == 0:
            sums[cuda.grid(1) // 32] = value

    x = cupy.arange(256)
    sums = cupy.zeros(8, int)
    warp_sums[2, 128](x, sums)
    assert sums.tolist() == x.reshape(8, 32).sum(1).tolist()


def test_atomics_and_two_dimensions():
    @cuda.jit
    def histogram(x, counts):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            cuda.atomic.add(counts, x[i, j], 1)

    x = numpy.random.default_rng(2).integers(0, 10, (70, 90))
    counts = cupy.zeros(10, int)
    histogram[(5, 6), (16, 16)](cupy.asarray(x), counts)
    assert counts.tolist() == numpy.bincount(x.ravel()).tolist()


def test_random_numbers():
    from numba.cuda import random

    @cuda.jit
    def draw(states, x):
        i = cuda.grid(1)
        x[i] = random.xoroshiro128p_uniform_float64(states, i)

    states = random.create_xoroshiro128p_states(4096, seed=1)
    x = cupy.zeros(4096)
    draw[32, 128](states, x)
    assert 0 <= x.min() and x.max() < 1
    assert abs(float(x.mean()) - .5) < .02
    assert len(numpy.unique(x.get())) == 4096


def test_reduction():
    total = cuda.reduce(lambda x, y: x + y)
    x = numpy.arange(5000.)
    assert total(cupy.asarray(x)) == x.sum()


# Without link-time optimization there are several PTX texts to link: debug
# kernels have one for each function, and for each linked file.
@pytest.mark.parametrize('options', [
    {}, {'lto': False}, {'debug': True, 'opt': False}],
    ids=lambda options: ' '.join(options) or 'default')
@pytest.mark.filterwarnings(OLD_DRIVER)
def test_external_function(options, tmp_path):
    file = tmp_path / 'twice.cu'
    file.write_text(TWICE)
    twice = cuda.declare_device('twice', 'float64(float64)')

    @cuda.jit(device=True, **options)
    def thrice(x):
        return twice(x) + x

    @cuda.jit(link=[str(file)], **options)
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = thrice(x[i]) + twice(x[i])

    y = cupy.zeros(6)
    kernel[1, 32](cupy.arange(6.), y)
    assert y.tolist() == [0, 5, 10, 15, 20, 25]


@pytest.mark.parametrize('options', [{}, {'debug': True, 'opt': False}],
                         ids=['lto', 'debug'])
@pytest.mark.parametrize('kind', ['ptx', 'ltoir', 'cubin'])
@pytest.mark.filterwarnings(OLD_DRIVER)
def test_linked_file(kind, options, tmp_path):
    if kind == 'ltoir' and options:
        pytest.skip('nvJitLink does not link LTO-IR with debug information')
    file = tmp_path / f'twice.{kind}'
    file.write_bytes(compiled(kind))
    twice = cuda.declare_device('twice', 'float64(float64)')

    @cuda.jit(link=[str(file)], **options)
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = twice(x[i])

    y = cupy.zeros(3)
    if kind == 'cubin' and ON_HOST:
        with pytest.raises(NotImplementedError,
                           match='twice.cubin .* is a cubin: link CUDA C'):
            kernel[1, 32](cupy.arange(3.), y)
    else:
        kernel[1, 32](cupy.arange(3.), y)
        assert y.tolist() == [0, 2, 4]


def compiled(kind):
    from cuda.core import Program, ProgramOptions
    options = ProgramOptions(
        arch=f'sm_{cupy.cuda.Device().compute_capability}',
        relocatable_device_code=True, link_time_optimization=kind == 'ltoir')
    return Program(TWICE, 'c++', options).compile(kind).code


def test_error_in_a_debug_kernel():
    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        if x[cuda.grid(1)] == 3:
            raise ValueError('three')

    kernel[1, 3](cupy.arange(3))
    with pytest.raises(ValueError, match=r'tid=\[0, 0, 3\].*three'):
        kernel[1, 32](cupy.arange(32))


@needs_host
def test_what_is_not_supported_is_named():
    from cuda import core
    from numba.cuda.cudadrv import driver

    @cuda.jit
    def kernel(x):
        cuda.cg.this_grid().sync()
        x[0] = 1

    with pytest.raises(NotImplementedError, match='cooperative groups'):
        kernel[1, 1](cupy.zeros(1))
    module = driver.load_module_image(
        cuda.current_context(), core.ObjectCode.from_ptx(
            b'.version 8.0\n.target sm_80\n.address_size 64\n'
            b'.visible .entry k() { .reg .b32 %r1;'
            b' fancy.u32 %r1, 1; ret; }'))
    with pytest.raises(driver.CudaAPIError,
                       match=r'instruction "fancy.u32 %r1, 1" \(in k, PTX'):
        module.get_function('k')


PROGRAM = '''
import warnings
warnings.simplefilter('ignore')
{first}
{second}

@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]

y = cupy.zeros(3)
double[1, 32](cupy.arange(3.), y)
print(y.tolist())
'''


def run_program(first, second):
    return subprocess.run(
        [sys.executable, '-c', PROGRAM.format(first=first, second=second)],
        text=True, capture_output=True)


@pytest.mark.parametrize('first, second', [
    ('import cupy', 'from numba import cuda'),
    ('from numba import cuda; cuda.is_available()', 'import cupy'),
    pytest.param('import cupy', 'from numba_cuda_mlir import cuda',
                 marks=needs_mlir)])
def test_order_of_imports(first, second):
    done = run_program(first, second)
    assert done.returncode == 0, done.stderr
    assert done.stdout == '[0.0, 2.0, 4.0]\n'


@needs_host
@needs_mlir
@pytest.mark.parametrize('use', ['', 'cuda.is_available()'])
def test_numba_cuda_mlir_first(use):
    # Without our error, the process crashes.
    done = run_program('from numba_cuda_mlir import cuda',
                       f'{use}\nimport cupy')
    assert done.returncode == 1
    assert 'RuntimeError: numba_cuda_mlir was imported' in done.stderr
    assert done.stderr.endswith('import cupy first\n')
