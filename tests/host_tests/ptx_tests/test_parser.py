"""The symbol table and the bodies of PTX modules."""
from __future__ import annotations

import pytest

from cupy_backends.host.ptx import body
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import layout
from cupy_backends.host.ptx import parser
from cupy_backends.host.ptx import syntax


def read_body(text: str) -> syntax.Body:
    table = parser.parse_module(f'.visible .entry k() {{ {text} }}')
    return body.parse_body(table.text, table.functions['k'])


def instructions(text: str) -> list[syntax.Inst]:
    return [i for i in read_body(text).items if isinstance(i, syntax.Inst)]


def test_comments_keep_line_numbers() -> None:
    table = parser.parse_module('/* a\nb */ // c\n.global .u32 x;\n')
    assert table.line(table.variables['x'].pos) == 3


def test_comment_sign_in_a_string() -> None:
    text = '.file 1 "http://x"\n.global .u32 x;'
    assert 'x' in parser.parse_module(text).variables


def test_header_and_debug_sections_are_skipped() -> None:
    text = ('.version 8.0\n.target sm_80, debug\n.address_size 64\n'
            '.section .debug_str { .b8 1, 2; }\n.global .u32 x;')
    assert list(parser.parse_module(text).variables) == ['x']


def test_definition_wins_over_declaration() -> None:
    text = '.func f(.param .b32 a);\n.func f(.param .b32 a) { ret; }\n'
    for order in (text.splitlines(), text.splitlines()[::-1]):
        table = parser.parse_module('\n'.join(order))
        assert not table.functions['f'].is_declaration


def test_function_results_and_parameters() -> None:
    table = parser.parse_module(
        '.visible .func (.param .align 8 .b8 r[16]) f(.param .b64 a,\n'
        '.param .align 4 .b8 b[12]) { ret; }')
    function = table.functions['f']
    assert [(v.name, v.size, v.align) for v in function.rets] == [
        ('r', 16, 8)]
    assert [(v.name, v.size, v.align) for v in function.params] == [
        ('a', 8, 8), ('b', 12, 4)]


def test_alignment_behind_a_pointer_is_not_the_parameters() -> None:
    table = parser.parse_module(
        '.entry k(.param .u64 .ptr .global .align 32 a) { ret; }')
    assert table.functions['k'].params[0][1:4] == ('param', (
        table.functions['k'].params[0].type), 8)


def test_launch_bounds() -> None:
    table = parser.parse_module(
        '.entry k() .maxntid 128, 2, 1 .minnctapersm 4 { ret; }')
    assert table.functions['k'].attributes == {
        'maxntid': (128, 2, 1), 'minnctapersm': (4,)}


def test_unclosed_body() -> None:
    with pytest.raises(errors.PTXSyntaxError, match='line 2.*not closed'):
        parser.parse_module('.version 8.0\n.entry k() { ret;')


def test_nonsense() -> None:
    with pytest.raises(errors.PTXSyntaxError, match='nonsense'):
        parser.parse_module('this is nonsense')


@pytest.mark.parametrize(('text', 'args'), [
    ('mov.b64 {%a, %b}, %c;', ('{%a,%b}', '%c')),
    ('ld.global.v2.f64 {%a,%b}, [%c+-8];', ('{%a,%b}', '[%c+-8]')),
    ('shfl.sync.up.b32 %a|%p, %b, 1, 0, -1;',
     ('%a|%p', '%b', '1', '0', '-1')),
    ('call.uni (ret), f, (a, b);', ('(ret)', 'f', '(a,b)')),
    ('call.uni f, ( a );', ('f', '(a)')),
    ('bar.sync \t0;', ('0',)),
    ('ret;', ()),
])
def test_operands(text: str, args: tuple[str, ...]) -> None:
    assert instructions(text)[0].args == args


def test_guards() -> None:
    first, second = instructions('@%p bra A; @!%p ret; A:')
    assert (first.pred, first.negated) == ('%p', False)
    assert (second.pred, second.negated) == ('%p', True)


def test_register_ranges_and_names() -> None:
    found = read_body('.reg .b32 %r<3>, x; .reg .pred %p;').regs
    assert {name: t.name for name, t in found.items()} == {
        '%r0': 'b32', '%r1': 'b32', '%r2': 'b32', 'x': 'b32', '%p': 'pred'}


def test_scope_declares_a_register_again() -> None:
    outer, inner, last = instructions(
        '.reg .b32 t; mov.b32 t, 1;'
        '{ .reg .b64 t; mov.b64 t, 2; } mov.b32 t, 3;')
    assert outer.args[0] == last.args[0] != inner.args[0]


def test_scopes_side_by_side() -> None:
    found = read_body('{ .reg .b32 t; mov.b32 t, 1; }'
                      '{ .reg .f64 t; mov.f64 t, 0d0; }')
    types = [found.regs[i.args[0]].name for i in found.items
             if isinstance(i, syntax.Inst)]
    assert types == ['b32', 'f64']


def test_label_of_a_scope() -> None:
    found = read_body('{ A: bra B; B: bra A; } { A: bra B; B: ret; }')
    labels = [i.name for i in found.items if isinstance(i, syntax.Label)]
    targets = [i.args[0] for i in found.items
               if isinstance(i, syntax.Inst) and i.opcode == 'bra']
    assert len(set(labels)) == 4
    assert targets == [labels[1], labels[0], labels[3]]


def test_label_twice() -> None:
    with pytest.raises(errors.PTXSyntaxError, match='A appears twice'):
        read_body('A: ret; A: ret;')


def test_branch_targets_and_prototypes_are_no_instructions() -> None:
    found = read_body('ts: .branchtargets A, B; brx.idx %r, ts;'
                      'p: .callprototype (.param .b32 _) _ (.param .b64 _);'
                      'A: B: ret;')
    assert found.targets == {'ts': ('A', 'B')}
    assert [str(i) for i in found.items if isinstance(i, syntax.Inst)] == [
        'brx.idx %r, ts', 'ret']


def test_statement_that_is_none() -> None:
    with pytest.raises(errors.PTXSyntaxError, match=r'line 2: .*\?\?'):
        read_body('ret;\n?? what;')


@pytest.mark.parametrize(('text', 'data'), [
    ('.global .b8 x[3] = {1, 2, 255};', b'\1\2\xff'),
    ('.global .align 4 .u32 x = 0x10;', b'\x10\0\0\0'),
    ('.const .align 8 .f64 x = 0d3FF0000000000000;',
     b'\0\0\0\0\0\0\xf0\x3f'),
    ('.const .f32 x = 0f3F800000;', b'\0\0\x80\x3f'),
    ('.const .f32 x = 1.0;', b'\0\0\x80\x3f'),
    ('.global .b16 x[2][2] = {{1, 2}, {3, -1}};',
     b'\1\0\2\0\3\0\xff\xff'),
    ('.global .b8 x[] = {7, 8};', b'\7\x08'),
])
def test_initialiser(text: str, data: bytes) -> None:
    arena = layout.arena(parser.parse_module(text))
    assert arena.init == data
    assert arena.size == len(data)


def test_initialiser_with_addresses() -> None:
    arena = layout.arena(parser.parse_module(
        '.global .b32 a[4]; .global .u64 p[3] = {a, a+8, generic(a)+4};'))
    assert arena.relocations == [(16, 0), (24, 8), (32, 4)]


def test_initialiser_that_is_none() -> None:
    with pytest.raises(errors.PTXSyntaxError, match='initialiser "what"'):
        layout.arena(parser.parse_module('.global .u64 x = what;'))
