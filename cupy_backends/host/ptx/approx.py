"""The approximate functions of PTX in single precision, as polynomials.

Written out, so that no call leaves the kernel and LLVM can vectorise them;
each stays within the error that the PTX ISA allows.  The coefficients
interpolate the function at Chebyshev nodes of the reduced range.
"""
from __future__ import annotations

from collections.abc import Sequence
import math

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import floats

Builder = builder.Builder

# (2**x - 1) / x on [-1/2, 1/2]: relative error of 2**x 5e-9.
_EXP2 = (0.6931471824645996, 0.24022650718688965, 0.055503569543361664,
         0.009618083015084267, 0.0013390863314270973, 0.00015453163359779865)
# log2(1 + x) / x on [sqrt(1/2) - 1, sqrt(2) - 1]: relative error 5e-9.
_LOG2 = (1.4426950216293335, -0.7213473320007324, 0.48089852929115295,
         -0.36069655418395996, 0.28855255246162415, -0.23960812389850616,
         0.20485764741897583, -0.19138838350772858, 0.18476033210754395,
         -0.10749789327383041)
# sin(2 pi x) / x in powers of x**2, |x| <= 1/4: relative error 3e-11.
_SIN = (6.283185307072264, -41.341702116744, 81.6052261740297,
        -76.70427987604376, 42.009779303171214, -14.393966295550799)
# tanh(x) / x in powers of x**2, |x| <= 0.64: relative error 1.4e-7.
_TANH = (0.9999998807907104, -0.3333168029785156, 0.13300488889217377,
         -0.05163571611046791, 0.014787355437874794)

_ROUNDER = 1.5 * 2 ** 23
_SQRT_HALF_BITS = 0x3f3504f3


def _polynomial(b: Builder, llvm: str, coefficients: Sequence[float],
                x: str) -> str:
    value = floats.constant(coefficients[-1], llvm)
    for c in coefficients[-2::-1]:
        value = floats.intrinsic(
            b, 'fma', llvm, value, x, floats.constant(c, llvm))
    return value


def exp2(b: Builder, x: str) -> str:
    """Returns 2**x; exact for integers, subnormal results included."""
    for test, bound in ('ogt', 140.0), ('olt', -160.0):
        beyond = b.inst(f'fcmp {test} float {x}, {floats.constant(bound)}')
        x = b.select(beyond, 'float', floats.constant(bound), x)
    # Adding 1.5 * 2**23 leaves the nearest integer in the low bits.
    rounder = floats.constant(_ROUNDER)
    shifted = b.inst(f'fadd float {x}, {rounder}')
    nearest = b.inst(f'fsub float {shifted}, {rounder}')
    rest = b.inst(f'fsub float {x}, {nearest}')
    slope = _polynomial(b, 'float', _EXP2, rest)
    value = floats.intrinsic(b, 'fma', 'float', rest, slope,
                             floats.constant(1.0))
    power = b.inst(f'sub i32 {floats.to_bits(b, "float", shifted)}, '
                   f'{0x4b400000}')
    # In two steps: the power itself may be out of range.
    half = b.inst(f'ashr i32 {power}, 1')
    other = b.inst(f'sub i32 {power}, {half}')
    value = b.inst(f'fmul float {value}, {_power_of_two(b, half)}')
    return b.inst(f'fmul float {value}, {_power_of_two(b, other)}')


def _power_of_two(b: Builder, exponent: str) -> str:
    field = b.inst(f'shl i32 {b.inst(f"add i32 {exponent}, 127")}, 23')
    return floats.from_bits(b, 'float', field)


def log2(b: Builder, x: str) -> str:
    """Returns the logarithm to base 2, subnormal operands included."""
    tiny = b.inst(f'fcmp olt float {x}, {floats.constant(2.0 ** -126)}')
    raised = b.inst(f'fmul float {x}, {floats.constant(2.0 ** 24)}')
    bits = floats.to_bits(b, 'float', b.select(tiny, 'float', raised, x))
    offset = b.inst(f'sub i32 {bits}, {_SQRT_HALF_BITS}')
    power = b.inst(f'and i32 {offset}, {-2 ** 23}')
    unit = floats.from_bits(b, 'float', b.inst(f'sub i32 {bits}, {power}'))
    rest = b.inst(f'fsub float {unit}, {floats.constant(1.0)}')
    slope = _polynomial(b, 'float', _LOG2, rest)
    exponent = b.inst(f'ashr i32 {power}, 23')
    lowered = b.inst(f'sub i32 {exponent}, 24')
    exponent = b.select(tiny, 'i32', lowered, exponent)
    whole = b.inst(f'sitofp i32 {exponent} to float')
    value = floats.intrinsic(b, 'fma', 'float', rest, slope, whole)
    return _log2_special(b, x, value)


def _log2_special(b: Builder, x: str, value: str) -> str:
    for test, bound, result in [('oeq', math.inf, math.inf),
                                ('ult', 0.0, math.nan),
                                ('oeq', 0.0, -math.inf)]:
        special = b.inst(f'fcmp {test} float {x}, {floats.constant(bound)}')
        value = b.select(special, 'float', floats.constant(result), value)
    return value


def sin(b: Builder, x: str) -> str:
    value = _sin_turns(b, _turns(b, x))
    # The reduction loses the sign of a zero.
    zero = b.inst(f'fcmp oeq float {x}, 0.0')
    return b.select(zero, 'float', x, value)


def cos(b: Builder, x: str) -> str:
    quarter = b.inst(f'fadd double {_turns(b, x)}, 0.25')
    return _sin_turns(b, quarter)


def _turns(b: Builder, x: str) -> str:
    """Returns ``x / (2 pi)`` without whole turns, up to 1/2 in size."""
    wide = floats.widen(b, 'float', x)
    turns = b.inst(f'fmul double {wide}, '
                   + floats.constant(1 / (2 * math.pi), 'double'))
    whole = floats.intrinsic(b, 'roundeven', 'double', turns)
    return b.inst(f'fsub double {turns}, {whole}')


def _sin_turns(b: Builder, turns: str) -> str:
    """Returns the sine of ``2 pi turns`` for -1/2 to 3/4."""
    size = floats.intrinsic(b, 'fabs', 'double', turns)
    half = floats.intrinsic(b, 'copysign', 'double', '0.5', turns)
    mirrored = b.inst(f'fsub double {half}, {turns}')
    beyond = b.inst(f'fcmp ogt double {size}, 0.25')
    turns = b.select(beyond, 'double', mirrored, turns)
    square = b.inst(f'fmul double {turns}, {turns}')
    slope = _polynomial(b, 'double', _SIN, square)
    value = b.inst(f'fmul double {turns}, {slope}')
    return b.inst(f'fptrunc double {value} to float')


def tanh(b: Builder, x: str) -> str:
    """Returns the hyperbolic tangent: a polynomial near 0, else
    ``1 - 2 / (exp(2 |x|) + 1)``."""
    one = floats.constant(1.0)
    square = b.inst(f'fmul float {x}, {x}')
    near = b.inst(f'fmul float {x}, '
                  + _polynomial(b, 'float', _TANH, square))
    size = floats.intrinsic(b, 'fabs', 'float', x)
    power = exp2(b, b.inst(f'fmul float {size}, '
                           + floats.constant(2 / math.log(2))))
    above = b.inst(f'fadd float {power}, {one}')
    lack = b.inst(f'fdiv float {floats.constant(2.0)}, {above}')
    far = floats.intrinsic(b, 'copysign', 'float',
                           b.inst(f'fsub float {one}, {lack}'), x)
    small = b.inst(f'fcmp olt float {size}, {floats.constant(0.64)}')
    return b.select(small, 'float', near, far)
