"""What holds for all forms of the op table."""
from __future__ import annotations

import pathlib
import re

import llvmlite.binding as llvm
import pytest

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import ops  # noqa: F401 (fills the table)
from cupy_backends.host.ptx import optable

IN_USE = pathlib.Path(__file__).parent / 'alu_opcodes_in_use.txt'


def test_opcodes_of_real_kernels() -> None:
    lines = IN_USE.read_text().splitlines()
    opcodes = [x for x in lines if x and not x.startswith('#')]
    assert len(opcodes) > 300
    assert [x for x in opcodes if x not in optable.TABLE] == []


def function(number: int, form: optable.Form) -> tuple[str, dict[str, str]]:
    """Returns a function that applies a form to its parameters, storing
    the results, and the declarations that it needs."""
    b = builder.Builder()
    sources = [f'%a{k}' for k in range(len(form.srcs))]
    if form.opcode.startswith('lop3'):
        sources[3] = '150'
    found = form.function(b, form, *sources)
    found = found if isinstance(found, tuple) else (found,)
    for ptx, value in zip(form.dests, found, strict=True):
        b.stmt(f'store {ptx.llvm} {value}, ptr %out')
    parameters = ', '.join(
        f'{t.llvm} %a{k}' for k, t in enumerate(form.srcs))
    return '\n'.join([f'define void @f{number}(ptr %out, {parameters}) {{',
                      *b.lines, '  ret void', '}']), b.declares


def forms(mnemonic: str) -> list[optable.Form]:
    """Returns the forms of a mnemonic; those that only add a boolean
    operation to a comparison are left out."""
    return [f for f in optable.TABLE.values() if 'BOOL' not in f.vars
            and f.opcode.split('.')[0] == mnemonic]


MNEMONICS = sorted({name.split('.')[0] for name in optable.TABLE})


@pytest.mark.parametrize('mnemonic', MNEMONICS)
def test_code_calls_no_library(mnemonic: str) -> None:
    """Every form is valid code and complete by itself: an undefined symbol
    would crash the process when the kernel runs."""
    functions, declares = [], {}
    for number, form in enumerate(forms(mnemonic)):
        text, more = function(number, form)
        functions.append(text)
        declares.update(more)
    text = assembly('\n'.join([*declares.values(), *functions]))
    assert text.count('retq') >= len(functions) > 0
    assert calls(text) == []


def assembly(text: str) -> str:
    """Compiles for the oldest processor with all that the code needs."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(text)
    module.verify()
    target = llvm.Target.from_triple('x86_64-linux-gnu')
    return str(target.create_target_machine(
        cpu='x86-64-v3', opt=1).emit_assembly(module))


def calls(text: str) -> list[str]:
    """Returns the calls in assembly, tail calls among them."""
    return re.findall(r'^\s(?:call|jmp)q?\s+(?!\.L)\S+', text, re.M)


def test_library_calls_are_noticed() -> None:
    text = assembly('''
        define half @f(double %x) {
          %y = fptrunc double %x to half
          ret half %y
        }
        declare double @llvm.sin.f64(double)
        define double @g(double %x) {
          %y = call double @llvm.sin.f64(double %x)
          %z = fadd double %y, %y
          ret double %z
        }''')
    assert len(calls(text)) == 2


def test_a_form_cannot_be_registered_twice() -> None:
    with pytest.raises(ValueError, match=r'add\.s32 is registered twice'):
        optable.op('add.T d, a, b', T=('s32',))(lambda: None)


