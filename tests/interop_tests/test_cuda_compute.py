"""Algorithms of cuda.compute on arrays of CuPy, against NumPy.

On the host device they are those of cupy_backends/host/compute.
"""
from __future__ import annotations

import os

import numpy
import pytest

import cupy  # before cuda.compute, which looks for the driver

from cuda import compute  # isort: skip
from cuda.compute import OpKind  # isort: skip

# Around the number of elements that one thread of the host device takes.
SIZES = [0, 1, 2, 511, 512, 513, 5000]
DTYPES = ['i1', 'u2', 'i4', 'u8', 'f4', 'f8']

needs_host = pytest.mark.skipif(
    os.environ.get('CUPY_DEVICE') != 'host',
    reason='about what the host device cannot do')


def numbers(size, dtype='f8', seed=1):
    values = numpy.random.default_rng(seed).integers(0, 100, size)
    return values.astype(dtype)


class TestReduce:

    @pytest.mark.parametrize('size', SIZES)
    @pytest.mark.parametrize('op', [OpKind.PLUS, lambda x, y: x + y],
                             ids=['known', 'function'])
    def test_sum(self, size, op):
        x = numbers(size, 'i4')
        total = cupy.zeros(1, 'i8')
        compute.reduce_into(
            d_in=cupy.asarray(x), d_out=total, num_items=size, op=op,
            h_init=numpy.array(7, 'i8'))
        assert total[0] == 7 + x.sum()

    @pytest.mark.parametrize('dtype', DTYPES)
    @pytest.mark.parametrize('op, expected', [
        (OpKind.MAXIMUM, numpy.max), (OpKind.MINIMUM, numpy.min)])
    def test_dtypes(self, dtype, op, expected):
        x = numbers(1000, dtype)
        result = cupy.zeros(1, dtype)
        compute.reduce_into(
            d_in=cupy.asarray(x), d_out=result, num_items=1000, op=op,
            h_init=numpy.array(x[0], dtype))
        assert result[0] == expected(x)

    @needs_host  # on a GPU, operators have to commute
    def test_elements_are_combined_in_their_order(self):
        x = numbers(5000, 'i4')
        result = cupy.zeros(1, 'i4')
        compute.reduce_into(
            d_in=cupy.asarray(x), d_out=result, num_items=5000,
            op=lambda x, y: y, h_init=numpy.array(-1, 'i4'))
        assert result[0] == x[-1]

    def test_structures(self):
        pair = compute.gpu_struct({'low': numpy.int32, 'high': numpy.int64})

        def extremes(x, y):
            return pair(min(x.low, y.low), max(x.high, y.high))

        x = numpy.zeros(2000, pair.dtype)
        x['low'], x['high'] = numbers(2000), numbers(2000, seed=2)
        raw = cupy.asarray(x.view('u1'))
        result = cupy.zeros(pair.dtype.itemsize, 'u1')
        compute.reduce_into(
            d_in=raw.view(pair.dtype), d_out=result.view(pair.dtype),
            num_items=2000, op=extremes, h_init=pair(1000, -1))
        low_high = result.get().view(pair.dtype)[0]
        assert low_high.tolist() == (x['low'].min(), x['high'].max())


class TestIterators:

    def total(self, iterator, size, dtype='i8'):
        result = cupy.zeros(1, dtype)
        compute.reduce_into(
            d_in=iterator, d_out=result, num_items=size, op=OpKind.PLUS,
            h_init=numpy.zeros((), dtype))
        return result.item()

    def test_counting(self):
        assert self.total(
            compute.CountingIterator(numpy.int64(5)), 3000) == sum(
                range(5, 3005))

    def test_constant(self):
        assert self.total(
            compute.ConstantIterator(numpy.int64(3)), 700) == 2100

    def test_transformed(self):
        x = numbers(3000, 'i8')
        iterator = compute.TransformIterator(
            cupy.asarray(x), lambda x: x * x)
        assert self.total(iterator, 3000) == (x * x).sum()

    def test_permuted(self):
        x, index = numbers(3000, 'i8'), numbers(500, 'i8')
        iterator = compute.PermutationIterator(
            cupy.asarray(x), cupy.asarray(index))
        assert self.total(iterator, 500) == x[index].sum()

    def test_zipped(self):
        x, y = numbers(3000, 'i8'), numbers(3000, 'f8', 2)
        result = cupy.zeros(3000)
        compute.unary_transform(
            d_in=compute.ZipIterator(cupy.asarray(x), cupy.asarray(y)),
            d_out=result, num_items=3000, op=lambda pair: pair[0] * pair[1])
        numpy.testing.assert_array_equal(result.get(), x * y)

    def test_transformed_output(self):
        def shifted(x):
            return x + 1

        shifted.__annotations__ = dict(x=numpy.int64, result=numpy.int64)
        x = numbers(3000, 'i8')
        result = cupy.zeros(3000, 'i8')
        compute.unary_transform(
            d_in=cupy.asarray(x), num_items=3000, op=lambda x: -x,
            d_out=compute.TransformOutputIterator(result, shifted))
        numpy.testing.assert_array_equal(result.get(), 1 - x)


class TestScan:

    @pytest.mark.parametrize('size', SIZES)
    @pytest.mark.parametrize('init', [None, 3])
    def test_inclusive(self, size, init):
        x = numbers(size, 'i8')
        result = cupy.zeros(size, 'i8')
        compute.inclusive_scan(
            d_in=cupy.asarray(x), d_out=result, op=OpKind.PLUS,
            num_items=size,
            init_value=None if init is None else numpy.array(init, 'i8'))
        numpy.testing.assert_array_equal(
            result.get(), x.cumsum() + (init or 0))

    @pytest.mark.parametrize('size', SIZES)
    @pytest.mark.parametrize('init', [
        lambda: numpy.array(4, 'i8'), lambda: cupy.array([4], 'i8')],
        ids=['host', 'device'])
    def test_exclusive(self, size, init):
        x = numbers(size, 'i8')
        result = cupy.asarray(x)
        compute.exclusive_scan(  # in place
            d_in=result, d_out=result, op=lambda x, y: x + y,
            num_items=size, init_value=init())
        numpy.testing.assert_array_equal(result.get(), 4 + x.cumsum() - x)

    def test_operator_that_does_not_commute(self):
        # Remembers the last element that is not zero.
        x = numbers(5000, 'i4') % 5 * numbers(5000, 'i4', 2)
        result = cupy.zeros(5000, 'i4')
        compute.inclusive_scan(
            d_in=cupy.asarray(x), d_out=result, num_items=5000,
            op=lambda x, y: y if y != 0 else x, init_value=None)
        last = numpy.maximum.accumulate(numpy.where(x, numpy.arange(5000), 0))
        numpy.testing.assert_array_equal(result.get(), x[last])


@pytest.mark.parametrize('size', SIZES)
def test_binary_transform(size):
    x, y = numbers(size), numbers(size, 'i4', 2)
    result = cupy.zeros(size)
    compute.binary_transform(
        d_in1=cupy.asarray(x), d_in2=cupy.asarray(y), d_out=result,
        num_items=size, op=lambda x, y: x - 2 * y)
    numpy.testing.assert_array_equal(result.get(), x - 2 * y)


def test_operator_in_cuda():
    from cuda.compute._device_code import DeviceCode
    from cuda.compute.op import RawOp
    op = RawOp(name='half_of', ltoir=DeviceCode(b'''
extern "C" __device__ void half_of(void *x, void *result) {
    *(double *)result = *(int *)x / 2.;
}''', 'cpp_source'))
    result = cupy.zeros(1000)
    compute.unary_transform(
        d_in=cupy.arange(1000, dtype='i4'), d_out=result, num_items=1000,
        op=op)
    numpy.testing.assert_array_equal(result.get(), numpy.arange(1000) / 2)


def test_operator_with_state():
    bounds = cupy.array([20., 60.])

    def clipped(x):
        return min(max(x, bounds[0]), bounds[1])

    x = numbers(1000)
    result = cupy.zeros(1000)
    for low, high in (20, 60), (30, 40):
        bounds[:] = cupy.array([low, high])
        compute.unary_transform(d_in=cupy.asarray(x), d_out=result,
                                num_items=1000, op=clipped)
        numpy.testing.assert_array_equal(result.get(), x.clip(low, high))


class TestPartition:

    @pytest.mark.parametrize('size', SIZES)
    def test_select(self, size):
        x = numbers(size, 'i4')
        found, count = cupy.zeros(size, 'i4'), cupy.zeros(2, 'i8')
        compute.select(d_in=cupy.asarray(x), d_out=found,
                       d_num_selected_out=count, num_items=size,
                       cond=lambda x: x % 3 == 0)
        expected = x[x % 3 == 0]
        assert count[0] == expected.size
        numpy.testing.assert_array_equal(found.get()[:expected.size], expected)

    @pytest.mark.parametrize('size', SIZES)
    def test_three_ways(self, size):
        x = numbers(size, 'i4')
        outs = [cupy.zeros(size, 'i4') for _ in range(3)]
        count = cupy.zeros(2, 'i8')
        compute.three_way_partition(
            d_in=cupy.asarray(x), d_first_part_out=outs[0],
            d_second_part_out=outs[1], d_unselected_out=outs[2],
            d_num_selected_out=count, num_items=size,
            select_first_part_op=lambda x: x < 20,
            select_second_part_op=lambda x: x > 50)
        expected = x[x < 20], x[x > 50], x[(x >= 20) & (x <= 50)]
        assert count.tolist() == [e.size for e in expected[:2]]
        for out, e in zip(outs, expected):
            numpy.testing.assert_array_equal(out.get()[:e.size], e)


class TestSegments:
    offsets = numpy.array([0, 3, 3, 4, 12, 300, 1400, 3000])

    def bounds(self):
        offsets = cupy.asarray(self.offsets)
        return dict(start_offsets_in=offsets[:-1], end_offsets_in=offsets[1:],
                    num_segments=len(self.offsets) - 1)

    def test_reduce(self):
        x = numbers(3000)
        result = cupy.zeros(7)
        compute.segmented_reduce(
            d_in=cupy.asarray(x), d_out=result, op=OpKind.PLUS,
            h_init=numpy.array(.5), **self.bounds())
        assert result.tolist() == [
            .5 + x[a:b].sum() for a, b in zip(self.offsets, self.offsets[1:])]

    @pytest.mark.parametrize('dtype', DTYPES)
    @pytest.mark.parametrize('order', ['ASCENDING', 'DESCENDING'])
    def test_sort(self, dtype, order):
        keys, values = numbers(3000, dtype), numpy.arange(3000, dtype='i4')
        if dtype[0] == 'f':
            keys[::7], keys[::11], keys[::13] = numpy.nan, -numpy.inf, -0.
        keys_out = cupy.zeros(3000, dtype)
        values_out = cupy.zeros(3000, 'i4')
        order = compute.SortOrder[order]
        arrays = dict(d_in_keys=cupy.asarray(keys), d_out_keys=keys_out)
        compute.segmented_sort(
            d_in_values=cupy.asarray(values), d_out_values=values_out,
            num_items=3000, order=order, **arrays, **self.bounds())
        step = 1 if order is compute.SortOrder.ASCENDING else -1
        expected = numpy.concatenate([
            numpy.sort(keys[a:b])[::step]
            for a, b in zip(self.offsets, self.offsets[1:])])
        numpy.testing.assert_array_equal(keys_out.get(), expected)
        numpy.testing.assert_array_equal(keys[values_out.get()], expected)
        assert sorted(values_out.tolist()) == values.tolist()
        keys_out[:] = 0
        compute.segmented_sort(
            num_items=3000, order=order, **arrays, **self.bounds())
        numpy.testing.assert_array_equal(keys_out.get(), expected)

    def test_two_buffers(self):
        keys = numbers(3000)
        buffers = compute.DoubleBuffer(cupy.asarray(keys), cupy.zeros(3000))
        compute.segmented_sort(
            d_in_keys=buffers, num_items=3000,
            order=compute.SortOrder.ASCENDING, **self.bounds())
        numpy.testing.assert_array_equal(
            buffers.current().get(), numpy.concatenate([
                numpy.sort(keys[a:b])
                for a, b in zip(self.offsets, self.offsets[1:])]))


class TestSort:

    @pytest.mark.parametrize('size', [*SIZES, 7, 8, 9, 16, 17])
    @pytest.mark.parametrize('with_values', [True, False])
    def test_merge_sort(self, size, with_values):
        keys, values = numbers(size, 'i4'), numpy.arange(size, dtype='i8')
        keys_out, values_out = cupy.zeros(size, 'i4'), cupy.zeros(size, 'i8')
        compute.merge_sort(
            d_in_keys=cupy.asarray(keys), d_out_keys=keys_out,
            d_in_values=cupy.asarray(values) if with_values else None,
            d_out_values=values_out if with_values else None,
            num_items=size, op=lambda x, y: x % 10 < y % 10)
        order = numpy.argsort(keys % 10, kind='stable')
        numpy.testing.assert_array_equal(keys_out.get(), keys[order])
        if with_values:
            numpy.testing.assert_array_equal(values_out.get(), order)

    @pytest.mark.parametrize('dtype', DTYPES)
    @pytest.mark.parametrize('order', ['ASCENDING', 'DESCENDING'])
    def test_radix_sort(self, dtype, order):
        keys = numbers(3000, dtype)
        if dtype[0] != 'u':
            keys -= 50
        if dtype[0] == 'f':
            keys[::7], keys[::11], keys[::13] = numpy.nan, -numpy.inf, -0.
        keys_out, values_out = cupy.zeros(3000, dtype), cupy.zeros(3000, 'i4')
        compute.radix_sort(
            d_in_keys=cupy.asarray(keys), d_out_keys=keys_out,
            d_in_values=cupy.arange(3000, dtype='i4'),
            d_out_values=values_out, num_items=3000,
            order=compute.SortOrder[order])
        step = 1 if order == 'ASCENDING' else -1
        numpy.testing.assert_array_equal(
            keys_out.get(), numpy.sort(keys)[::step])
        numpy.testing.assert_array_equal(
            keys[values_out.get()], keys_out.get())

    def test_some_bits(self):
        keys = numbers(3000, 'u4')
        result = cupy.zeros(3000, 'u4')
        compute.radix_sort(
            d_in_keys=cupy.asarray(keys), d_out_keys=result, num_items=3000,
            begin_bit=1, end_bit=4, order=compute.SortOrder.ASCENDING)
        order = numpy.argsort(keys >> 1 & 7, kind='stable')
        numpy.testing.assert_array_equal(result.get(), keys[order])


@pytest.mark.parametrize('size', SIZES)
def test_unique_by_key(size):
    keys = numpy.sort(numbers(size, 'i4'))
    values = numpy.arange(size)
    keys_out, values_out = cupy.zeros(size, 'i4'), cupy.zeros(size, int)
    count = cupy.zeros(1, 'i8')
    compute.unique_by_key(
        d_in_keys=cupy.asarray(keys), d_in_items=cupy.asarray(values),
        d_out_keys=keys_out, d_out_items=values_out,
        d_out_num_selected=count, op=OpKind.EQUAL_TO, num_items=size)
    unique, first = numpy.unique(keys, return_index=True)
    assert count[0] == unique.size
    numpy.testing.assert_array_equal(keys_out.get()[:unique.size], unique)
    numpy.testing.assert_array_equal(values_out.get()[:unique.size], first)


@pytest.mark.parametrize('side', ['lower', 'upper'])
def test_binary_search(side):
    data, values = numpy.sort(numbers(5000)), numbers(300, seed=2) + .5
    values[::2] -= .5
    result = cupy.zeros(300, 'u8')
    getattr(compute, f'{side}_bound')(
        d_data=cupy.asarray(data), num_items=5000, num_values=300,
        d_values=cupy.asarray(values), d_out=result)
    numpy.testing.assert_array_equal(
        result.get(), numpy.searchsorted(
            data, values, dict(lower='left', upper='right')[side]))


@pytest.mark.parametrize('dtype', ['i4', 'f4', 'f8'])
@pytest.mark.parametrize('counter', ['i4', 'u8'])
def test_histogram(dtype, counter):
    samples = numbers(5000, dtype)
    counts = cupy.ones(9, counter)
    compute.histogram_even(
        d_samples=cupy.asarray(samples), d_histogram=counts,
        num_output_levels=10, lower_level=numpy.array(10, dtype)[()],
        upper_level=numpy.array(91, dtype)[()], num_samples=5000)
    expected, _ = numpy.histogram(samples[samples < 91], 9, (10, 91))
    numpy.testing.assert_array_equal(counts.get(), expected)


def test_stream():
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, total = cupy.arange(5000.), cupy.zeros(1)
    compute.reduce_into(d_in=x, d_out=total, num_items=5000, op=OpKind.PLUS,
                        h_init=numpy.array(0.), stream=stream)
    stream.synchronize()
    assert total[0] == 4999 * 2500


def test_error_in_an_operator():
    from cuda.compute._device_code import DeviceCode
    from cuda.compute.op import RawOp
    op = RawOp(name='f', ltoir=DeviceCode(b'nonsense', 'cpp_source'))
    with pytest.raises(Exception, match='nonsense|Failed'):
        compute.unary_transform(
            d_in=cupy.arange(3), d_out=cupy.arange(3), num_items=3, op=op)


@needs_host
def test_what_is_missing_is_named():
    x = cupy.zeros(3, 'c16')
    with pytest.raises(NotImplementedError, match='no numbers .* merge_sort'):
        compute.radix_sort(d_in_keys=x, d_out_keys=x, num_items=3,
                           order=compute.SortOrder.ASCENDING)
