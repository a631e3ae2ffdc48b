"""Reads the body of one function.

Scopes (``{ }``) may declare names again: such names are made unique by a
suffix, so that everything after the parser sees one flat function.
"""
from __future__ import annotations

import re

from cupy_backends.host.ptx import declarations
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import syntax

_ITEM = re.compile(r'''\s*(?:
    (?P<brace>[{}])
  | (?P<line>\.(?:loc|file)\b[^\n]*)
  | (?P<label>[\w$%]+)\s*:(?!:)
  | (?P<text>(?:"[^"]*"|[^;{}"]|\{[^{}]*\})*);
  )''', re.VERBOSE)
_INST = re.compile(
    r'(?:@(!?)\s*([\w$%]+)\s+)?([a-z][\w.:]*)\s*(.*)', re.DOTALL)
_ARG = re.compile(r'\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,{\[(]+')
_WORD = re.compile(r'[%\w$~]+')


def parse_body(text: str, function: syntax.Function) -> syntax.Body:
    """Reads the body of ``function``.

    Args:
        text (str): Text of the module without comments.
        function (Function): One that has a body.

    Raises:
        PTXSyntaxError: The body is not PTX.
    """
    return _Reader(text, function).read(function.start, function.end)


class _Scope:
    """Names that one scope declares and that mean something else outside.

    Attributes:
        names (dict): Unique name of each such register or variable.
        labels (dict): Unique name of each label of the scope.
        branches (list of int): Items that name a label, not yet found.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.branches: list[int] = []


class _Reader:
    """Turns items of the text into a :class:`~.syntax.Body`."""

    def __init__(self, text: str, function: syntax.Function) -> None:
        self.text = text
        self.body = syntax.Body()
        self._scopes = [_Scope()]
        self._labels: set[str] = set()
        self._serial = 0
        self._renamed_names = False
        for variable in function.rets + function.params:
            self._variable(variable)

    def read(self, start: int, end: int) -> syntax.Body:
        pos = start
        while match := _ITEM.match(self.text, pos, end):
            pos = match.end()
            kind = match.lastgroup
            if kind == 'text':
                self._statement(match['text'], match.start('text'))
            elif kind == 'label':
                self._label(match['label'], match.start('label'))
            elif kind == 'brace':
                self._brace(match['brace'], match.start('brace'))
        if self.text[pos:end].strip():
            raise self._error('cannot read "'
                              f'{self.text[pos:end].strip()[:60]}"', pos)
        return self.body

    def _error(self, message: str, pos: int) -> errors.PTXSyntaxError:
        return errors.PTXSyntaxError(
            message, syntax.line_of(self.text, pos))

    def _brace(self, brace: str, pos: int) -> None:
        if brace == '{':
            self._scopes.append(_Scope())
            return
        if len(self._scopes) == 1:
            raise self._error('a scope is closed that was not opened', pos)
        scope = self._scopes.pop()
        for index in scope.branches:
            if not self._resolve(index, scope.labels):
                self._scopes[-1].branches.append(index)

    def _resolve(self, index: int, labels: dict[str, str]) -> bool:
        """Renames the target of a branch if ``labels`` has it."""
        inst = self.body.items[index]
        assert isinstance(inst, syntax.Inst)
        target = inst.args[-1]
        if target not in labels:
            return False
        self.body.items[index] = inst._replace(
            args=(*inst.args[:-1], labels[target]))
        return True

    def _label(self, name: str, pos: int) -> None:
        unique = name
        if name in self._scopes[-1].labels:
            raise self._error(f'label {name} appears twice', pos)
        if name in self._labels:
            unique = self._numbered(name)
        self._labels.add(unique)
        self._scopes[-1].labels[name] = unique
        self.body.items.append(syntax.Label(unique, pos))

    def _statement(self, text: str, pos: int) -> None:
        if not text or text[0] == '.':
            self._directive(text, pos)
            return
        match = _INST.fullmatch(text)
        if match is None:
            raise self._error(f'cannot read "{text[:60]}"', pos)
        negated, pred, opcode, operands = match.groups()
        if self._renamed_names and any(
                scope.names for scope in self._scopes):
            operands = _WORD.sub(self._renamed, operands)
            pred = pred and _WORD.sub(self._renamed, pred)
        if opcode.startswith('br') and len(self._scopes) > 1:
            self._scopes[-1].branches.append(len(self.body.items))
        self.body.items.append(syntax.Inst(
            opcode, _arguments(operands), pred or '', bool(negated), pos))

    def _renamed(self, match: re.Match[str]) -> str:
        for scope in reversed(self._scopes):
            if match[0] in scope.names:
                return scope.names[match[0]]
        return match[0]

    def _directive(self, text: str, pos: int) -> None:
        word = text[1:].split(None, 1)[0].split('.', 1)[0] if text else ''
        if word == 'branchtargets':
            label = self.body.items.pop()
            assert isinstance(label, syntax.Label)
            self.body.targets[label.name] = _arguments(text.split(None, 1)[1])
        elif word in ('callprototype', 'calltargets'):
            self.body.items.pop()
        elif word and word != 'pragma':
            for variable in declarations.parse(text, pos, self.text):
                self._variable(variable)

    def _variable(self, variable: syntax.Variable) -> None:
        if variable.linkage == 'range':
            for number in range(variable.length):
                self._register(f'{variable.name}{number}', variable.type)
        elif variable.space == 'reg':
            self._register(variable.name, variable.type)
        else:
            name = self._unique(variable.name)
            self.body.variables[name] = variable._replace(name=name)

    def _register(self, name: str, kind: dtypes.PTXType) -> None:
        self.body.regs[self._unique(name)] = kind

    def _unique(self, name: str) -> str:
        """Returns a name that no other scope has declared."""
        if name not in self.body.regs and name not in self.body.variables:
            return name
        unique = self._numbered(name)
        self._scopes[-1].names[name] = unique
        self._renamed_names = True
        return unique

    def _numbered(self, name: str) -> str:
        # A sign that no PTX name has: it cannot clash.
        self._serial += 1
        return f'{name}~{self._serial}'


def _arguments(text: str) -> tuple[str, ...]:
    """Splits an operand list at the commas outside of brackets."""
    text = ''.join(text.split())
    if '{' in text or '(' in text:
        return tuple(word for word in _ARG.findall(text) if word)
    return tuple(text.split(',')) if text else ()
