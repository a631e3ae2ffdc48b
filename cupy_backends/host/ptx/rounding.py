"""Arithmetic in every rounding mode, on a host that rounds to nearest.

The result is computed to nearest first.  Then the sign of what it lacks to
the exact result tells whether it has to move to its neighbour: upwards when
rounding up and something positive is missing, and so on.  For single
precision the exact result is held as a double, or as the unevaluated sum of
two; for double precision the missing part comes from error-free
transformations (Muller et al., Handbook of Floating-Point Arithmetic,
chapter 4).

Modes are those of PTX: ``rn`` (nearest even), ``rz`` (towards zero), ``rm``
(towards minus infinity), ``rp`` (towards plus infinity).
"""
from __future__ import annotations

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import floats

Builder = builder.Builder

MODES = ('rn', 'rz', 'rm', 'rp')

# Exponents stay in this range when magnitudes are brought close to 1.  A
# term below 2**-250 relative to the largest only counts by its sign.
_LEAST, _MOST = -250, 900


def add(b: Builder, llvm: str, mode: str, x: str, y: str) -> str:
    if mode == 'rn':
        return b.inst(f'fadd {llvm} {x}, {y}')
    if mode == 'rm':
        # Mirrored, so that an exact zero gets the sign that it has
        # downwards.
        return _mirrored(b, llvm, add(
            b, llvm, 'rp', _negate(b, llvm, x), _negate(b, llvm, y)))
    if llvm == 'double':
        near = b.inst(f'fadd double {x}, {y}')
        return _adjust(b, llvm, mode, near, _sum_error(b, x, y, near))
    return _sum(b, mode, floats.widen(b, llvm, x), floats.widen(b, llvm, y))


def mul(b: Builder, llvm: str, mode: str, x: str, y: str) -> str:
    if mode == 'rn':
        return b.inst(f'fmul {llvm} {x}, {y}')
    if llvm == 'double':
        near = b.inst(f'fmul double {x}, {y}')
        lack = _lack(b, (x, y), x, y, '0.0', near)
        return _adjust(b, llvm, mode, near, lack)
    return narrow(b, mode, _exact_product(b, x, y))


def fma(b: Builder, llvm: str, mode: str, x: str, y: str, z: str) -> str:
    if mode == 'rn':
        return floats.intrinsic(b, 'fma', llvm, x, y, z)
    if mode == 'rm':
        return _mirrored(b, llvm, fma(
            b, llvm, 'rp', _negate(b, llvm, x), y, _negate(b, llvm, z)))
    if llvm == 'double':
        near = floats.intrinsic(b, 'fma', llvm, x, y, z)
        lack = _lack(b, (x, y, z), x, y, z, near)
        return _adjust(b, llvm, mode, near, lack)
    return _sum(b, mode, _exact_product(b, x, y), floats.widen(b, llvm, z))


def div(b: Builder, llvm: str, mode: str, x: str, y: str) -> str:
    if mode == 'rn':
        return b.inst(f'fdiv {llvm} {x}, {y}')
    if llvm == 'float':
        # 53 bits tell a quotient of two 24-bit numbers from any 24-bit
        # number, so the rounded quotient lies on the right side of each.
        x, y = floats.widen(b, llvm, x), floats.widen(b, llvm, y)
        return narrow(b, mode, b.inst(f'fdiv double {x}, {y}'))
    near = b.inst(f'fdiv double {x}, {y}')
    remainder = _lack(b, (x, y), _negate(b, llvm, near), y, x, '0.0')
    scaled = _toggle_sign(b, remainder, y)
    exact = b.inst(f'fcmp oeq double {y}, 0.0')
    lack = b.select(exact, 'double', '0.0', scaled)
    return _adjust(b, llvm, mode, near, lack)


def sqrt(b: Builder, llvm: str, mode: str, x: str) -> str:
    if mode == 'rn':
        return floats.intrinsic(b, 'sqrt', llvm, x)
    if llvm == 'float':
        # As for the quotient.
        wide = floats.widen(b, llvm, x)
        return narrow(b, mode, floats.intrinsic(b, 'sqrt', 'double', wide))
    near = floats.intrinsic(b, 'sqrt', llvm, x)
    lack = _lack(b, (x,), _negate(b, llvm, near), near, x, '0.0')
    return _adjust(b, llvm, mode, near, lack)


def narrow(b: Builder, mode: str, x: str, rest: str = '',
           dst: str = 'float', src: str = 'double') -> str:
    """Rounds ``x + rest`` to a smaller format.

    Args:
        mode (str): A mode of PTX, or ``'odd'``: an inexact result gets an
            odd last bit, so that rounding it once more, to fewer bits,
            gives the same as rounding at once.
        rest (str): At most half a unit in the last place of ``x``; not
            with ``'rn'``.
    """
    near = _nearest(b, x, dst, src)
    if mode == 'rn':
        return near
    back = b.inst(f'fpext {dst} {near} to {src}')
    lack = b.inst(f'fsub {src} {x}, {back}')
    if rest:
        lack = b.inst(f'fadd {src} {lack}, {rest}')
    if mode != 'odd':
        return _adjust(b, dst, mode, near, lack, src)
    inwards = _adjust(b, dst, 'rz', near, lack, src)
    word = floats.word(dst)
    sticky = b.cast(
        'zext', b.inst(f'fcmp one {src} {lack}, 0.0'), 'i1', word)
    bits = floats.to_bits(b, dst, inwards)
    return floats.from_bits(b, dst, b.inst(f'or {word} {bits}, {sticky}'))


def _nearest(b: Builder, x: str, dst: str, src: str) -> str:
    if (dst, src) != ('half', 'double'):
        return b.inst(f'fptrunc {src} {x} to {dst}')
    # LLVM has only a library call for this.  Folding the low 29 bits into
    # a sticky bit keeps what single precision would lose.
    bits = floats.to_bits(b, src, x)
    low = b.inst(f'and i64 {bits}, {2 ** 29 - 1}')
    carry = b.inst(f'add i64 {low}, {2 ** 29 - 1}')
    sticky = b.inst(f'or i64 {bits}, {carry}')
    odd = b.inst(f'and i64 {sticky}, {-2 ** 29}')
    single = b.inst(f'fptrunc double {floats.from_bits(b, src, odd)}'
                    ' to float')
    return b.inst(f'fptrunc float {single} to half')


def split_sum(b: Builder, x: str, y: str) -> tuple[str, str]:
    """Returns the rounded sum of two doubles and what it lacks."""
    total = b.inst(f'fadd double {x}, {y}')
    return total, _sum_error(b, x, y, total)


def _sum(b: Builder, mode: str, x: str, y: str) -> str:
    """Rounds the sum of two doubles to single precision."""
    return narrow(b, mode, *split_sum(b, x, y))


def _exact_product(b: Builder, x: str, y: str) -> str:
    """Multiplies two floats; 48 bits always fit a double."""
    x, y = floats.widen(b, 'float', x), floats.widen(b, 'float', y)
    return b.inst(f'fmul double {x}, {y}')


def _negate(b: Builder, llvm: str, x: str) -> str:
    return b.inst(f'fneg {llvm} {x}')


_mirrored = _negate


def _adjust(b: Builder, llvm: str, mode: str, near: str, lack: str,
            lack_llvm: str = '') -> str:
    """Moves ``near`` to its neighbour if the mode asks for it.

    Neighbours of one sign are neighbours as integers, infinity included.
    A NaN in ``lack`` (from an infinity or a NaN) moves nothing.
    """
    kind = lack_llvm or llvm
    word = floats.word(llvm)
    bits = floats.to_bits(b, llvm, near)
    more = b.inst(f'fcmp ogt {kind} {lack}, 0.0')
    less = b.inst(f'fcmp olt {kind} {lack}, 0.0')
    negative = b.inst(f'icmp slt {word} {bits}, 0')
    if mode == 'rz':
        inwards = b.select(negative, 'i1', more, less)
        outwards = 'false'
    elif mode == 'rp':
        inwards = b.inst(f'and i1 {negative}, {more}')
        outwards = b.inst(f'and i1 {b.inst(f"xor i1 {negative}, true")}, '
                          + more)
    else:
        inwards = b.inst(f'and i1 {b.inst(f"xor i1 {negative}, true")}, '
                         + less)
        outwards = b.inst(f'and i1 {negative}, {less}')
    down = b.cast('sext', inwards, 'i1', word)
    up = b.cast('zext', outwards, 'i1', word)
    step = b.inst(f'or {word} {down}, {up}')
    return floats.from_bits(b, llvm, b.inst(f'add {word} {bits}, {step}'))


def _sum_error(b: Builder, x: str, y: str, total: str) -> str:
    """Returns what a rounded sum of doubles lacks (Fast2Sum).

    An overflowed sum gives an infinity of the opposite sign, which is the
    right direction, and infinite operands give NaN.
    """
    sizes = [floats.intrinsic(b, 'fabs', 'double', v) for v in (x, y)]
    swap = b.inst(f'fcmp olt double {sizes[0]}, {sizes[1]}')
    larger = b.select(swap, 'double', y, x)
    smaller = b.select(swap, 'double', x, y)
    done = b.inst(f'fsub double {total}, {larger}')
    return b.inst(f'fsub double {smaller}, {done}')


def _two_sum(b: Builder, x: str, y: str) -> tuple[str, str]:
    """Returns a sum and its error, for finite operands (2Sum)."""
    total = b.inst(f'fadd double {x}, {y}')
    y_part = b.inst(f'fsub double {total}, {x}')
    x_part = b.inst(f'fsub double {total}, {y_part}')
    errors = (b.inst(f'fsub double {x}, {x_part}'),
              b.inst(f'fsub double {y}, {y_part}'))
    return total, b.inst(f'fadd double {errors[0]}, {errors[1]}')


def _lack(b: Builder, operands: tuple[str, ...], x: str, y: str, z: str,
          near: str) -> str:
    """Returns a double with the sign of ``x*y + z - near``.

    The exponents are taken apart, so that nothing overflows or underflows:
    infinity in ``near`` (an overflow) counts as larger than any result.

    Args:
        operands: NaN is returned if any of these is not finite.
    """
    (mx, ex), (my, ey), (mz, ez), (mn, en) = (
        _split(b, v) for v in (x, y, z, near))
    exponent = b.inst(f'add i64 {ex}, {ey}')
    top = b.call('i64', 'llvm.smax.i64', [('i64', exponent), ('i64', ez)])
    high = b.inst(f'fmul double {mx}, {my}')
    low = floats.intrinsic(
        b, 'fma', 'double', mx, my, _negate(b, 'double', high))
    high, low, third, fourth = (
        _scale(b, m, e, top) for m, e in
        ((high, exponent), (low, exponent), (mz, ez), (mn, en)))
    first, second = _two_sum(b, high, third)
    second, rest = _two_sum(b, low, second)
    first, second = _two_sum(b, first, second)
    first, error = _two_sum(b, first, _negate(b, 'double', fourth))
    small = b.inst(f'fadd double {second}, {rest}')
    small = b.inst(f'fadd double {error}, {small}')
    lack = b.inst(f'fadd double {first}, {small}')
    for v in operands:
        # Zero for a finite number, NaN else.
        nothing = b.inst(f'fmul double {v}, 0.0')
        lack = b.inst(f'fadd double {lack}, {nothing}')
    return lack


def _split(b: Builder, x: str) -> tuple[str, str]:
    """Returns a significand of magnitude 1 to 2 (or 0) and an exponent,
    which is out of the range of numbers for zero and infinity."""
    size = floats.intrinsic(b, 'fabs', 'double', x)
    tiny = b.inst(f'fcmp olt double {size}, '
                  + floats.constant(2.0 ** -1022, 'double'))
    raised = b.inst(f'fmul double {x}, '
                    + floats.constant(2.0 ** 64, 'double'))
    bits = floats.to_bits(b, 'double', b.select(tiny, 'double', raised, x))
    field = b.inst(f'and i64 {b.inst(f"lshr i64 {bits}, 52")}, 2047')
    bias = b.select(tiny, 'i64', str(1023 + 64), '1023')
    exponent = b.inst(f'sub i64 {field}, {bias}')
    infinite = b.inst(f'icmp eq i64 {field}, 2047')
    exponent = b.select(infinite, 'i64', '9999', exponent)
    fraction = b.inst(f'and i64 {bits}, {-2 ** 63 | 2 ** 52 - 1}')
    unit = floats.from_bits(
        b, 'double', b.inst(f'or i64 {fraction}, {1023 << 52}'))
    zero = b.inst(f'fcmp oeq double {x}, 0.0')
    return (b.select(zero, 'double', '0.0', unit),
            b.select(zero, 'i64', '-9999', exponent))


def _scale(b: Builder, x: str, exponent: str, top: str) -> str:
    """Returns ``x * 2**(exponent - top)``, the power kept in range."""
    power = b.inst(f'sub i64 {exponent}, {top}')
    power = b.call('i64', 'llvm.smax.i64',
                   [('i64', power), ('i64', str(_LEAST))])
    power = b.call('i64', 'llvm.smin.i64',
                   [('i64', power), ('i64', str(_MOST))])
    field = b.inst(f'shl i64 {b.inst(f"add i64 {power}, 1023")}, 52')
    return b.inst(f'fmul double {x}, {floats.from_bits(b, "double", field)}')


def _toggle_sign(b: Builder, x: str, by: str) -> str:
    """Negates ``x`` where ``by`` is negative."""
    sign = b.inst(f'and i64 {floats.to_bits(b, "double", by)}, {-2 ** 63}')
    bits = b.inst(f'xor i64 {floats.to_bits(b, "double", x)}, {sign}')
    return floats.from_bits(b, 'double', bits)
