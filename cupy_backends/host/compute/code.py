"""CUDA C++ for the values, operators and iterators of ``cuda.compute``.

They come as descriptions: of types by size and alignment, of code as LTO-IR
with the name of a function that takes untyped pointers.
"""
from __future__ import annotations

from collections.abc import Sequence
import functools
import importlib
from typing import Any

# By the names of TypeEnum.
_C_TYPES = {
    'INT8': 'signed char', 'INT16': 'short', 'INT32': 'int',
    'INT64': 'long long', 'UINT8': 'unsigned char',
    'UINT16': 'unsigned short', 'UINT32': 'unsigned int',
    'UINT64': 'unsigned long long', 'FLOAT16': '__half',
    'FLOAT32': 'float', 'FLOAT64': 'double', 'BOOLEAN': 'bool',
    'BFLOAT16': '__nv_bfloat16',
}

# By the names of OpKind, for operands x and y.
_WELL_KNOWN = {
    'PLUS': 'x + y', 'MINUS': 'x - y', 'MULTIPLIES': 'x * y',
    'DIVIDES': 'x / y', 'MODULUS': 'x % y', 'EQUAL_TO': 'x == y',
    'NOT_EQUAL_TO': 'x != y', 'GREATER': 'x > y', 'LESS': 'x < y',
    'GREATER_EQUAL': 'x >= y', 'LESS_EQUAL': 'x <= y',
    'LOGICAL_AND': 'x && y', 'LOGICAL_OR': 'x || y', 'LOGICAL_NOT': '!x',
    'BIT_AND': 'x & y', 'BIT_OR': 'x | y', 'BIT_XOR': 'x ^ y',
    'BIT_NOT': '~x', 'IDENTITY': 'x', 'NEGATE': '-x',
    'MINIMUM': 'y < x ? y : x', 'MAXIMUM': 'x < y ? y : x',
}

PREAMBLE = '''
#include <cuda_fp16.h>
#include <cuda_bf16.h>

typedef long long i64;

// A value of which only size and alignment are known.
template <int size, int alignment> struct alignas(alignment) Bytes {
    char bytes[size];
};

template <class To, class From> __device__ void copy(To &to, const From &x) {
    memcpy(&to, &x, sizeof to < sizeof x ? sizeof to : sizeof x);
}

template <class T> struct Convert {
    static __device__ T from(const T &x) { return x; }
    template <class X> static __device__ T from(const X &x) {
        return static_cast<T>(x);
    }
    template <int s, int a> static __device__ T from(const Bytes<s, a> &x) {
        T to;
        copy(to, x);
        return to;
    }
};
template <int s, int a> struct Convert<Bytes<s, a>> {
    template <class X> static __device__ Bytes<s, a> from(const X &x) {
        Bytes<s, a> to;
        copy(to, x);
        return to;
    }
};

__device__ i64 thread() {
    return (i64)blockIdx.x * blockDim.x + threadIdx.x;
}
'''

_POINTER = '''
struct {name} {{
    typedef {type} T;
    T *p;
    __device__ T load(i64 i) const {{ return p[i]; }}
    template <class X> __device__ void store(i64 i, const X &x) const {{
        p[i] = Convert<T>::from(x);
    }}
}};
'''
_ITERATOR = '''
extern "C" __device__ void {advance}(void *, void *);
extern "C" __device__ void {access}(void *, void *);
struct {name} {{
    typedef {type} T;
    Bytes<{size}, {alignment}> state;
    __device__ void access(i64 i, T *value) const {{
        auto at = state;
        unsigned long long distance = i;
        {advance}(&at, &distance);
        {access}(&at, value);
    }}
    __device__ T load(i64 i) const {{
        T value;
        access(i, &value);
        return value;
    }}
    template <class X> __device__ void store(i64 i, const X &x) const {{
        T value = Convert<T>::from(x);
        access(i, &value);
    }}
}};
'''
_CONSTANT = '''
struct {name} {{
    typedef {type} T;
    T value;
    __device__ T load(i64) const {{ return value; }}
}};
'''
_FUNCTION = '''
extern "C" __device__ void {symbol}({pointers});
struct {name} {{
    Bytes<{size}, {alignment}> state;
    __device__ {result} operator()({parameters}) const {{
        auto own = state;
        {result} result;
        {symbol}({passed}, &result);
        return result;
    }}
}};
'''
_EXPRESSION = '''
struct {name} {{
    char unused;
    __device__ {result} operator()({parameters}) const {{
        return Convert<{result}>::from({expression});
    }}
}};
'''


def c_type(info: Any) -> str:
    """Returns the C++ type of a ``TypeInfo``."""
    name = _type_names()[info.typenum]
    return _C_TYPES.get(name) or f'Bytes<{info.size}, {info.alignment}>'


@functools.cache
def _type_names() -> dict[int, str]:
    _bindings = importlib.import_module('cuda.compute._bindings')
    return {int(kind): kind.name for kind in _bindings.TypeEnum}


class Source:
    """CUDA C++ that grows, with the code to link it with.

    Attributes:
        text (str): CUDA C++.
        codes (list): Of type ``DeviceCode``, without doubles.
    """

    def __init__(self) -> None:
        self.text = PREAMBLE
        self.codes: list[Any] = []

    def add(self, text: str) -> None:
        self.text += text

    def type(self, name: str, info: Any) -> None:
        """Defines a type ``name`` for a ``TypeInfo``."""
        self.add(f'typedef {c_type(info)} {name};\n')

    def iterator(self, name: str, iterator: Any) -> None:
        """Defines a structure with ``T``, ``load`` and ``store``."""
        value = c_type(iterator.value_type)
        if iterator.is_ptr_kind:
            self.add(_POINTER.format(name=name, type=value))
            return
        advance, access = iterator.advance_op, (
            iterator.dereference_or_assign_op)
        self.add(_ITERATOR.format(
            name=name, type=value, size=len(iterator_state(iterator)),
            alignment=iterator.alignment, advance=advance.name,
            access=access.name))
        self._link(advance)
        self._link(access)

    def iterators(self, **iterators: Any) -> None:
        """Defines several, by their names."""
        for name, iterator in iterators.items():
            self.iterator(name, iterator)

    def constant(self, name: str, info: Any) -> None:
        """Defines an iterator all of whose elements are one value."""
        self.add(_CONSTANT.format(name=name, type=c_type(info)))

    def operator(self, name: str, op: Any, operands: Sequence[str],
                 result: str) -> None:
        """Defines a structure that can be called.

        Args:
            name (str): Its name.
            op (Op): The operator.
            operands (sequence of str): C++ types.
            result (str): C++ type.
        """
        kind = op.operator_type.name
        names = 'xyz'[:len(operands)]
        common: dict[str, Any] = dict(
            name=name, result=result, parameters=', '.join(
                f'{t} {x}' for t, x in zip(operands, names)))
        if kind in _WELL_KNOWN:
            self.add(_EXPRESSION.format(
                expression=_WELL_KNOWN[kind], **common))
            return
        passed = ['&own'] * (kind == 'STATEFUL') + [f'&{x}' for x in names]
        self.add(_FUNCTION.format(
            symbol=op.name, size=len(operator_state(op)),
            alignment=op.state_alignment, passed=', '.join(passed),
            pointers=', '.join(['void *'] * (len(passed) + 1)), **common))
        self._link(op)

    def _link(self, op: Any) -> None:
        for code in [op.code, *op.extra_code]:
            if code.op_bytes and all(
                    code.op_bytes != old.op_bytes for old in self.codes):
                self.codes.append(code)


def iterator_state(iterator: Any) -> bytes:
    """Returns the kernel's argument for :meth:`Source.iterator`."""
    if iterator.is_ptr_kind:
        return int(iterator.state or 0).to_bytes(8, 'little')
    return bytes(iterator.state or b'') or b'\0'


def operator_state(op: Any) -> bytes:
    """Returns the kernel's argument for :meth:`Source.operator`."""
    return bytes(op.state or b'') or b'\0'
