"""Loads, stores and addresses of all state spaces."""
from __future__ import annotations

import numpy
import pytest

from cupy_backends.host.ptx import errors
import runner

INDEX = numpy.arange(64, dtype='u8')


@pytest.mark.parametrize(('ptx', 'dtype'), [
    ('u8', 'u1'), ('s8', 'i1'), ('u16', 'u2'), ('s16', 'i2'),
    ('u32', 'u4'), ('s32', 'i4'), ('b32', 'u4')])
def test_load_extends_by_the_type(ptx: str, dtype: str) -> None:
    values = numpy.array([0x80, 0xff80, 0xffffff80, 0x7f], 'u4')
    found = runner.threads(f'''
        ld.param.u64 %rd1, [p1]; mad.wide.u32 %rd1, %r0, 4, %rd1;
        ld.global.{ptx} %rd2, [%rd1]; st.global.u64 [%rd0], %rd2;''',
        4, values, params='.u64 p1')
    narrow = values.view(dtype)[::4 // numpy.dtype(dtype).itemsize]
    assert found.tolist() == narrow.astype('i8').view('u8').tolist()


@pytest.mark.parametrize('ptx', ['u8', 'u16', 'u32'])
def test_store_cuts(ptx: str) -> None:
    found = runner.threads(
        f'mov.u64 %rd1, 0x1122334455667788; st.global.{ptx} [%rd0], %rd1;',
        1)
    assert found[0] == 0x1122334455667788 % 2 ** int(ptx[1:])


def test_vectors() -> None:
    found = runner.threads('''
        st.global.v2.u32 [%rd0], {%r0, 7};
        ld.global.v4.u16 {%h1, %h2, _, %h3}, [%rd0];
        st.global.v4.b16 [%rd0], {%h3, %h2, %h1, %h1};''', 5, dtype='u2')
    for number, row in enumerate(found.reshape(5, 4).tolist()):
        assert row == [0, 0, number, number]


@pytest.mark.parametrize('offset', ['+8', '+-8', ''])
def test_offset(offset: str) -> None:
    data = numpy.arange(10, dtype='u8')
    found = runner.threads(f'''
        ld.param.u64 %rd1, [p1]; add.s64 %rd1, %rd1, 16;
        ld.global.u64 %rd2, [%rd1{offset}]; st.global.u64 [%rd0], %rd2;''',
        1, data, params='.u64 p1')
    assert found[0] == 2 + int(offset.strip('+') or 0) // 8


@pytest.mark.parametrize('access', [
    'volatile.global', 'relaxed.gpu.global', 'acquire.sys.global',
    'global.nc', 'global.cv', 'global.L1::no_allocate', 'weak.global', ''])
def test_modifiers_of_loads(access: str) -> None:
    opcode = '.'.join(filter(None, ['ld', access, 'u64']))
    found = runner.threads(f'''
        cvt.u64.u32 %rd1, %r0; st.global.u64 [%rd0], %rd1;
        {opcode} %rd2, [%rd0]; add.s64 %rd2, %rd2, 1;
        st.global.u64 [%rd0], %rd2;''', 3)
    assert found.tolist() == [1, 2, 3]


@pytest.mark.parametrize('access', [
    'volatile.global', 'relaxed.cta.global', 'release.gpu.global',
    'global.wb', ''])
def test_modifiers_of_stores(access: str) -> None:
    opcode = '.'.join(filter(None, ['st', access, 'u32']))
    assert runner.threads(f'{opcode} [%rd0], %r0;', 3).tolist() == [0, 1, 2]


def test_unknown_modifier_is_named() -> None:
    text = runner.entry('\n\nld.global.strange.u32 %r1, [%rd0];')
    line = text[:text.index('ld.global.strange')].count('\n') + 1
    with pytest.raises(errors.UnsupportedInstruction, match=(
            r'"ld.global.strange.u32 %r1, \[%rd0\]" '
            rf'\(in k, PTX line {line}\): the modifier .strange')):
        runner.Kernel(text)


def test_shared_memory_by_offset_and_symbol() -> None:
    found = runner.threads('''
        .shared .align 8 .b8 pad[8]; .shared .align 8 .u64 s[64];
        mov.u32 %r1, s; mad.lo.s32 %r1, %r0, 8, %r1;
        cvt.u64.u32 %rd1, %r0; st.shared.u64 [%r1], %rd1;
        ld.shared.u64 %rd2, [s+8]; mov.u64 %rd3, s;
        ld.shared.u64 %rd4, [%rd3]; add.s64 %rd2, %rd2, %rd4;
        st.global.u64 [%rd0], %rd2;''', 4)
    # Threads run one after the other here.
    assert found.tolist() == [0, 1, 1, 1]


def test_generic_address_of_shared_memory() -> None:
    found = runner.threads('''
        .shared .u64 s[64];
        mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;
        mad.wide.u32 %rd1, %r0, 8, %rd1; cvt.u64.u32 %rd2, %r0;
        st.u64 [%rd1], %rd2;
        cvta.to.shared.u64 %rd3, %rd1; cvt.u32.u64 %r2, %rd3;
        ld.shared.u64 %rd4, [%r2]; st.global.u64 [%rd0], %rd4;''')
    assert (found == INDEX).all()


def test_dynamic_shared_memory_follows_the_static_part() -> None:
    found = runner.threads('''
        .shared .b8 s[20]; mov.u32 %r1, dynamic; mov.u32 %r2, s;
        sub.s32 %r1, %r1, %r2; st.shared.u32 [dynamic+4], %r1;
        ld.shared.u32 %r3, [dynamic+4]; st.global.u32 [%rd0], %r3;''', 1,
        before='.extern .shared .align 16 .b8 dynamic[];', shared=8)
    assert found[0] == 32


def test_shared_memory_size() -> None:
    found = runner.threads('''
        .shared .b8 s[20]; st.shared.u8 [s], %r0;
        mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, %total_smem_size;
        st.global.v2.u32 [%rd0], {%r1, %r2};''', 1, shared=48, dtype='u4')
    assert found.tolist() == [48, 80]


def test_local_memory() -> None:
    found = runner.threads('''
        .local .align 8 .b8 depot[32]; .reg .b64 %SP, %SPL;
        mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
        add.u64 %rd1, %SP, 8; add.u64 %rd2, %SPL, 8;
        cvt.u64.u32 %rd3, %r0; st.local.u64 [%rd2], %rd3;
        and.b32 %r1, %r0, 1; mul.wide.u32 %rd4, %r1, 8;
        add.s64 %rd5, %rd2, %rd4; st.local.u64 [%rd5], %rd3;
        ld.u64 %rd6, [%rd1]; ld.local.u64 %rd7, [%SPL+16];
        st.global.u64 [%rd0], %rd6;''')
    assert (found == INDEX).all()


def test_constant_and_global_variables() -> None:
    found = runner.threads('''
        ld.const.u32 %r1, [c+4]; mov.u64 %rd1, g; cvta.global.u64 %rd1, %rd1;
        ld.u32 %r2, [%rd1]; st.global.u32 [g+4], %r0;
        ld.global.u32 %r3, [g+4]; ld.global.u64 %rd2, [pointer];
        ld.u32 %r4, [%rd2]; add.s32 %r3, %r3, %r4;
        add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3;
        st.global.u32 [%rd0], %r1;''', before='''
        .const .align 4 .u32 c[2] = {10, 200}; .global .u32 g[2] = {7};
        .global .u64 pointer = generic(c);''')
    assert (found == INDEX + 217).all()


def test_parameters_of_all_kinds() -> None:
    found = runner.threads('''
        ld.param.u8 %r1, [p1+2]; ld.param.v4.u8 {%h1, %h2, %h3, %h4}, [p2];
        cvt.u32.u16 %r2, %h4; add.s32 %r1, %r1, %r2;
        mov.b64 %rd1, p1; ld.param.u8 %r3, [%rd1+1]; add.s32 %r1, %r1, %r3;
        ld.param.f32 %f1, [p3]; mov.b32 %r4, %f1; xor.b32 %r1, %r1, %r4;
        st.global.u32 [%rd0], %r1;''', 1, bytes([1, 2, 3]),
        bytes([0, 0, 0, 40]), numpy.float32(1), params=(
            '.align 1 .b8 p1[3], .align 4 .b8 p2[4], .f32 p3'))
    assert found[0] == 0x3f800000 ^ 45


SPACES = {'shared': 'mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;',
          'local': 'mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1;',
          'const': 'mov.u64 %rd1, c; cvta.const.u64 %rd1, %rd1;',
          'global': 'mov.u64 %rd1, %rd0;'}


@pytest.mark.parametrize('space', SPACES)
@pytest.mark.parametrize('asked', SPACES)
def test_isspacep(space: str, asked: str) -> None:
    found = runner.threads(f'''
        .shared .u64 s; .local .u64 l; {SPACES[space]}
        isspacep.{asked} %p1, %rd1; selp.b32 %r1, 1, 0, %p1;
        st.global.u32 [%rd0], %r1;''', 1, before='.const .u64 c = 1;')
    assert found[0] == (space == asked)


def test_fences_and_prefetch() -> None:
    found = runner.threads('''
        membar.gl; membar.cta; membar.sys; fence.sc.gpu; fence.acq_rel.cta;
        prefetch.global.L2 [%rd0]; st.global.u32 [%rd0], %r0;''')
    assert (found == INDEX).all()
