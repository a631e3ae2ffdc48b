"""Errors of the translator; each names the place in the PTX text."""
from __future__ import annotations


class PTXError(Exception):
    """Base class: a PTX module or kernel that cannot be translated."""


class PTXSyntaxError(PTXError):
    """The text is not PTX as the translator understands it.

    Args:
        message (str): What is wrong.
        line (int): Line of the PTX text, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f'PTX line {line}: {message}')
        self.line = line


class UnsupportedInstruction(PTXError):
    """A kernel uses an instruction that the host device does not have.

    Args:
        instruction (str): The instruction as the PTX text has it.
        function (str): Kernel or device function it stands in.
        line (int): Line of the PTX text, from 1.
        reason (str): What about it is not supported, if there is more to
            say than that the instruction is not known.
    """

    def __init__(self, instruction: str, function: str, line: int,
                 reason: str = '') -> None:
        text = (f'the host device does not support the instruction '
                f'"{instruction}" (in {function}, PTX line {line})')
        super().__init__(f'{text}: {reason}' if reason else text)
        self.instruction = instruction
        self.function = function
        self.line = line


class DuplicateSymbol(PTXError):
    """Modules to link define the same symbol."""


class UnknownSymbol(PTXError, KeyError):
    """A kernel or variable that the module does not have."""

    def __str__(self) -> str:
        return str(self.args[0])
