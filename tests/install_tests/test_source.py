"""The scanner finds the statements of Python and of Cython."""

from __future__ import annotations

import pytest

from cupy_overlay import _source


def _codes(text):
    return [statement.code for statement in _source.statements(text)]


@pytest.mark.parametrize('text, expected', [
    ('a = (1,\n     2)\nb = 3\n', ['a = (1, 2)', 'b = 3']),
    ('a = 1 + \\\n    2\nb = 3', ['a = 1 + 2', 'b = 3']),
    ('a = """x\n  # y\nb"""\nc = 1\n', ['a = """x # y b"""', 'c = 1']),
    ("a = '#'  # comment (\nb = 1\n", ["a = '#'", 'b = 1']),
    (r"a = 'it\'s (' ; b = r'\''" + '\nc = 1', None),
    ('if a:\n  b\nelif c:\n    d\nelse:\n  e\nf\n',
     ['if a: b elif c: d else: e', 'f']),
    ('try:\n  a\nexcept E:\n  b\nfinally:\n  c\nd',
     ['try: a except E: b finally: c', 'd']),
    ('IF X > 0:\n    a\nELSE:\n    b\nc', ['IF X > 0: a ELSE: b', 'c']),
    ('@d\n@e(1)\ndef f():\n  pass\ng', ['@d @e(1) def f(): pass', 'g']),
    ('if a:\n\n# far left comment\n    b\n\n    c\nd', ['if a: b c', 'd']),
    ('', []),
    ('# only a comment', []),
], ids=range(12))
def test_statements(text, expected):
    if expected is None:
        expected = [r"a = 'it\'s (' ; b = r'\''", 'c = 1']
    assert _codes(text) == expected


@pytest.mark.parametrize('header, name', [
    ('def f(a):', 'f'),
    ('async def f(a):', 'f'),
    ('def f(\n        a,\n        b=(1, 2),\n):', 'f'),
    ('cdef inline bint f(const shape_t& v) except? -1:', 'f'),
    ('cpdef tuple f(self, int a=1):', 'f'),
    ('cdef vector[vector[int]] f() noexcept nogil:', 'f'),
    ('cdef class C:', 'C'),
    ('cdef public class C(B) [type T, object O]:', 'C'),
    ('class C(metaclass=M):', 'C'),
    ('@deco(x=1)\ndef f():', 'f'),
    ('if f(a):', None),
    ('cdef extern from "f.h" nogil:', None),
    ('with open(f) as g:', None),
])
def test_name(header, name):
    statement, = _source.statements(f'{header}\n    pass\n')
    assert statement.name == name


def test_comments_above_belong_to_the_statement():
    text = 'a\n\n# one\n# two\nb\n'
    assert [s.first for s in _source.statements(text)] == [0, 2]


def test_end_without_final_newline():
    assert [s.end for s in _source.statements('a\nb = (\n1)')] == [1, 3]


def test_prefix_of_a_name_is_no_string_prefix():
    assert _codes("bar'x'\nb'y'") == ["bar'x'", "b'y'"]
