"""Exact arithmetic to compare the host device with.

IEEE 754 results are computed with :class:`fractions.Fraction` and rounded
once, so that nothing here depends on the rounding of the machine.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
import math
from typing import Any, NamedTuple

import numpy


class Format(NamedTuple):
    """A binary floating-point format.

    Attributes:
        precision (int): Bits of the significand, the implicit one included.
        emin, emax (int): Exponents of the smallest and largest normal
            binades.
    """

    precision: int
    emin: int
    emax: int


FORMATS = {
    'f16': Format(11, -14, 15),
    'bf16': Format(8, -126, 127),
    'f32': Format(24, -126, 127),
    'f64': Format(53, -1022, 1023),
}


def _exponent(value: Fraction) -> int:
    """Returns floor(log2(value)) of a positive value."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if value >= Fraction(2) ** e else e - 1


def round_fraction(value: Fraction, name: str, mode: str = 'rn') -> float:
    """Rounds an exact value to a format; the sign of a zero is that of the
    value (``+0`` for an exact zero)."""
    if value == 0:
        return 0.0
    f = FORMATS[name]
    size = abs(value)
    quantum = Fraction(2) ** (max(_exponent(size), f.emin) - f.precision + 1)
    whole, rest = divmod(size, quantum)
    away = {'rn': (rest * 2, whole % 2) > (quantum, 0), 'rz': False,
            'rp': rest > 0 and value > 0, 'rm': rest > 0 and value < 0,
            'rna': rest * 2 >= quantum}[mode]
    result = (int(whole) + bool(away)) * quantum
    sign = 1 if value > 0 else -1
    top = Fraction(2) ** (f.emax + 1)
    if result < top:
        return math.copysign(float(result), sign)
    if mode == 'rn' or mode == ('rp' if value > 0 else 'rm'):
        return sign * math.inf
    return sign * float(top - Fraction(2) ** (f.emax + 1 - f.precision))


def rounded(exact: Callable[..., Fraction | None], special: Any,
            name: str, mode: str, *operands: Any) -> Any:
    """Applies an exact function and rounds once.

    Args:
        exact: Maps finite ``Fraction`` operands to the exact result, or
            ``None`` where there is none (division by zero, ...).
        special: Results for the elements where an operand is not finite or
            ``exact`` gives ``None`` or zero.
    """
    found = numpy.array(special, dtype='f8')
    columns = zip(*(numpy.asarray(o, 'f8').tolist() for o in operands),
                  strict=True)
    for k, values in enumerate(columns):
        if not all(map(math.isfinite, values)):
            continue
        result = exact(*map(Fraction, values))
        if result:
            found[k] = round_fraction(result, name, mode)
    return found


def flush(values: Any, tiny: float) -> Any:
    """Replaces subnormal values by zeros of the same sign."""
    values = numpy.asarray(values)
    return numpy.where(abs(values) < tiny,
                       numpy.copysign(values.dtype.type(0), values), values)


def saturate(values: Any) -> Any:
    """Clamps to [0, 1]; NaN and -0 become +0."""
    values = numpy.asarray(values)
    clamped = numpy.where(values > 0, numpy.minimum(values, 1), 0)
    return clamped.astype(values.dtype)


def assert_same(found: Any, expected: Any, *operands: Sequence[Any]) -> None:
    """Compares bit for bit, any NaN equal to any other, and names the first
    operands that differ."""
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    expected = expected.astype(found.dtype)
    equal = found == expected
    if found.dtype.kind == 'f':
        equal = equal & (numpy.signbit(found) == numpy.signbit(expected))
        equal |= numpy.isnan(found) & numpy.isnan(expected)
    bad = numpy.flatnonzero(~equal)
    if bad.size:
        k = bad[0]
        given = [numpy.asarray(o)[k] for o in operands]
        raise AssertionError(
            f'{bad.size} of {found.size} differ; operands {given!r}: '
            f'found {found[k]!r}, expected {expected[k]!r}')
