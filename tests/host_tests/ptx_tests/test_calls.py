"""Device functions."""
from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy
import pytest

from cupy_backends.host.ptx import errors
import runner

INDEX = numpy.arange(64, dtype='u8')

DOUBLE = '''
.func (.param .b32 r) twice(.param .b32 a)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.s32 %r2, %r1, %r1;
  st.param.b32 [r], %r2; ret; }
'''
CALL = '''{ .param .b32 param0; st.param.b32 [param0+0], %r0;
    .param .b32 retval0; call.uni (retval0), twice, (param0);
    ld.param.b32 %r1, [retval0+0]; } st.global.u32 [%rd0], %r1;'''


def test_call() -> None:
    assert (runner.threads(CALL, before=DOUBLE) == 2 * INDEX).all()


def test_function_defined_after_its_use() -> None:
    text = runner.entry(CALL, before='.func (.param .b32 r) twice'
                        '(.param .b32 a);') + DOUBLE
    out = numpy.zeros(4, 'u8')
    runner.Kernel(text)(1, 4, out)
    assert out.tolist() == [0, 2, 4, 6]


def test_same_names_in_two_scopes() -> None:
    again = CALL.replace('%r0', '%r1')
    found = runner.threads(CALL + again, before=DOUBLE)
    assert (found == 4 * INDEX).all()


def test_guarded_call() -> None:
    body = ('mov.u32 %r1, 9; setp.gt.u32 %p1, %r0, 1;'
            + CALL.replace('call.uni', '@%p1 call').replace(
                '} st', 'selp.b32 %r1, %r1, 77, %p1; } st'))
    assert runner.threads(body, 4, before=DOUBLE).tolist() == [77, 77, 4, 6]


def test_register_parameters() -> None:
    found = runner.threads('''
        call (%r1), sum, (%r0, 5); st.global.u32 [%rd0], %r1;''', before='''
        .func (.reg .u32 r) sum(.reg .u32 a, .reg .u32 b)
        { add.u32 r, a, b; ret; }''')
    assert (found == INDEX + 5).all()


def test_structure_by_value() -> None:
    found = runner.threads('''
        { .param .align 8 .b8 s[16]; st.param.b64 [s], 40;
          st.param.v2.b32 [s+8], {%r0, 2};
          .param .align 8 .b8 t[16]; call (t), swap, (s);
          ld.param.v2.b32 {%r1, %r2}, [t]; ld.param.b64 %rd1, [t+8]; }
        cvt.u32.u64 %r3, %rd1; mad.lo.s32 %r1, %r1, %r2, %r3;
        st.global.u32 [%rd0], %r1;''', before='''
        .func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 a[16])
        { .reg .b64 %rd<3>; ld.param.v2.b64 {%rd1, %rd2}, [a];
          st.param.v2.b64 [r], {%rd2, %rd1}; ret; }''')
    assert (found == 2 * INDEX + 40).all()


def test_recursion() -> None:
    found = runner.threads(
        CALL.replace('twice', 'factorial'), 8, before='''
        .func (.param .b32 r) factorial(.param .b32 a)
        { .reg .b32 %r<6>; .reg .pred %p;
          ld.param.u32 %r1, [a]; mov.u32 %r2, 1; setp.le.u32 %p, %r1, 1;
          @%p bra DONE; sub.s32 %r3, %r1, 1;
          { .param .b32 p; st.param.b32 [p], %r3; .param .b32 q;
            call (q), factorial, (p); ld.param.b32 %r4, [q]; }
          mul.lo.s32 %r2, %r1, %r4;
          DONE: st.param.b32 [r], %r2; ret; }''')
    assert found.tolist() == [1, 1, 2, 6, 24, 120, 720, 5040]


def test_function_sees_special_registers_and_memory() -> None:
    found = runner.threads(
        '.shared .u32 s[2]; call store; ld.shared.u32 %r1, [m+4];'
        'st.global.u32 [%rd0], %r1;', before='''
        .shared .u32 m[2]; .global .u32 g = 1000;
        .func store() { .reg .b32 %r<4>; mov.u32 %r1, %tid.x;
        mov.u32 %r2, %ntid.x; mad.lo.s32 %r1, %r2, 100, %r1;
        ld.global.u32 %r3, [g]; add.s32 %r1, %r1, %r3;
        st.shared.u32 [m+4], %r1; ret; }''')
    assert (found == INDEX + 7400).all()


def test_function_with_trap_ends_the_thread() -> None:
    out = numpy.zeros(4, 'u8')
    kernel = runner.Kernel(runner.entry(
        'call check; st.global.u32 [%rd0], 1;', before='''
        .func check() { .reg .b32 %r1; .reg .pred %p; mov.u32 %r1, %tid.x;
        setp.eq.u32 %p, %r1, 2; @%p trap; ret; }'''))
    assert kernel(1, 4, out) == 1
    assert out.tolist() == [1, 1, 0, 0]


ASSERT = '''
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,
    .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[3] = {104, 105, 0};
'''


def test_failed_assertion_ends_the_thread() -> None:
    out = numpy.zeros(4, 'u8')
    kernel = runner.Kernel(runner.entry('''
        setp.lt.u32 %p1, %r0, 2; @%p1 bra OK;
        mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
        { .param .b64 a; st.param.b64 [a], %rd1; .param .b64 b;
          st.param.b64 [b], %rd1; .param .b32 c; st.param.b32 [c], 42;
          .param .b64 d; st.param.b64 [d], %rd1; .param .b64 e;
          st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }
        OK: st.global.u32 [%rd0], 1;''', before=ASSERT))
    runner.faults.clear()
    assert kernel(1, 4, out) == 2
    assert runner.faults == [('hd_rt_assertfail', 2, 42)]
    assert out.tolist() == [1, 1, 0, 0]


def test_printf_malloc_and_free() -> None:
    heap = ctypes.CDLL(None)
    for name in ('malloc', 'free'):
        address = ctypes.cast(getattr(heap, name), ctypes.c_void_p).value
        llvm.add_symbol(f'hd_rt_{name}', address)
    found = runner.threads('''
        { .param .b64 a; st.param.b64 [a], 64; .param .b64 r;
          call.uni (r), malloc, (a); ld.param.b64 %rd1, [r]; }
        st.u32 [%rd1], %r0; ld.u32 %r1, [%rd1];
        { .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }
        st.global.u32 [%rd0], %r1;''', before='''
        .extern .func (.param .b64 r) malloc(.param .b64 a);
        .extern .func free(.param .b64 a);''')
    assert (found == INDEX).all()


@pytest.mark.parametrize(('call', 'reason'), [
    ('call (%r1), %rd1, (%r0), prototype;', 'indirect calls'),
    ('call absent, (%r0);', 'absent has no body'),
    ('call absent;', '1 parameters expected|absent has no body')])
def test_calls_that_are_not_supported(call: str, reason: str) -> None:
    text = runner.entry(
        'prototype: .callprototype (.reg .b32 _) _ (.reg .b32 _);' + call,
        before='.extern .func absent(.param .b32 a);')
    with pytest.raises(errors.UnsupportedInstruction, match=reason):
        runner.Kernel(text)


def test_recursive_function_with_a_barrier() -> None:
    text = runner.entry('call f;', before='''
        .func f() { bar.sync 0; call f; ret; }''')
    with pytest.raises(errors.UnsupportedInstruction, match='recursive'):
        runner.Kernel(text)


def test_short_function_is_inlined_into_registers() -> None:
    kernel = runner.Kernel(runner.entry(CALL, before=DOUBLE))
    assert 'alloca' not in kernel.kernel.ir
    assert 'define internal' not in kernel.kernel.ir


def test_function_with_a_loop_is_not_inlined() -> None:
    kernel = runner.Kernel(runner.entry('call f;', before='''
        .func f() { .reg .b32 %r1; .reg .pred %p; mov.u32 %r1, 9;
        AGAIN: sub.s32 %r1, %r1, 1; setp.ne.s32 %p, %r1, 0; @%p bra AGAIN;
        ret; }'''))
    assert 'define internal' in kernel.kernel.ir


@pytest.mark.parametrize('access', [
    # By two widths, through its address, as a vector: it stays memory.
    'ld.param.u16 %r1, [a+2]; ld.param.u16 %r2, [a]; shl.b32 %r1, %r1, 16; '
    'or.b32 %r2, %r1, %r2;',
    'mov.b64 %rd1, a; ld.param.u32 %r2, [%rd1];',
    'ld.param.v2.u16 {%h1, %h2}, [a]; mov.b32 %r2, {%h1, %h2};',
    # In parts, with extension.
    'ld.param.s32 %rd1, [a]; cvt.u32.u64 %r2, %rd1;'])
def test_parameter_of_an_inlined_function(access: str) -> None:
    body = '''mul.lo.s32 %r3, %r0, 70000; { .param .b32 p; st.param.b32 [p],
        %r3; .param .b32 q; call (q), f, (p); ld.param.b32 %r1, [q]; }
        st.global.u32 [%rd0], %r1;'''
    found = runner.threads(body, before=f'''
        .func (.param .b32 r) f(.param .b32 a) {{ .reg .b32 %r<4>;
        .reg .b16 %h<4>; .reg .b64 %rd1; {access}
        st.param.b32 [r], %r2; ret; }}''')
    assert (found == 70000 * INDEX).all()


def test_inlined_function_with_two_results() -> None:
    found = runner.threads('''
        { .param .b32 p; st.param.b32 [p], %r0; .param .align 8 .b8 q[16];
          call (q), f, (p); ld.param.b64 %rd1, [q]; ld.param.s16 %r2, [q+8]; }
        cvt.u32.u64 %r1, %rd1; add.s32 %r1, %r1, %r2;
        st.global.u32 [%rd0], %r1;''', before='''
        .func (.param .align 8 .b8 r[16]) f(.param .b32 a)
        { .reg .b32 %r<4>; .reg .b64 %rd1; ld.param.u32 %r1, [a];
          mul.wide.u32 %rd1, %r1, 5; neg.s32 %r2, %r1;
          st.param.b64 [r], %rd1; st.param.b16 [r+8], %r2; ret; }''')
    assert (found == 4 * INDEX).all()
