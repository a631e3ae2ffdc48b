"""What translated code calls is there: one that LLVM cannot resolve would
end the process when the kernel is loaded."""
from __future__ import annotations

import pathlib
import re
from typing import Any

from cupy_backends.host import ptx

CSRC = (pathlib.Path(__file__).resolve().parents[3]
        / 'cupy_backends' / 'host' / 'csrc')
HEADER = (CSRC / 'kernel_abi.h').read_text('utf-8')
# Declared in the header, or promised in its last comment.
PROMISED = set(re.findall(r'hd_rt_\w+(?=\()|__\w+hf2', HEADER))


def emitted() -> set[str]:
    """Returns the functions whose names occur in the translator."""
    files = pathlib.Path(ptx.__path__[0]).rglob('*.py')
    return {name for path in files
            for name in re.findall(r"'(hd_rt_\w+)'", path.read_text('utf-8'))}


def test_translator_calls_what_the_header_declares() -> None:
    assert 'hd_rt_trap' in emitted()
    assert emitted() <= PROMISED


def test_library_exports_what_the_header_declares(lib: Any) -> None:
    assert '__truncdfhf2' in PROMISED
    assert not hasattr(lib, 'hd_rt_absent')
    assert [name for name in PROMISED if not hasattr(lib, name)] == []
