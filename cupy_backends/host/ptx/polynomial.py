"""Polynomials over the integers modulo 2**64.

That is what 64-bit registers compute with: additions, multiplications and
left shifts of them can be compared by comparing coefficients.
"""
from __future__ import annotations

from collections.abc import Mapping

_MODULUS = 1 << 64

Monomial = tuple[str, ...]


class Polynomial:
    """An immutable polynomial in named symbols.

    Args:
        terms (dict): Coefficient of each monomial; a monomial is a sorted
            tuple of symbols, the empty one stands for the constant.
    """

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {m: c % _MODULUS for m, c in terms.items()
                      if c % _MODULUS}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.terms)
        for monomial, factor in other.terms.items():
            total[monomial] = total.get(monomial, 0) + factor
        return Polynomial(total)

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = tuple(sorted(left + right))
                total[monomial] = total.get(monomial, 0) + a * b
        return Polynomial(total)

    def symbols(self) -> set[str]:
        return {name for monomial in self.terms for name in monomial}

    def coefficient(self, symbol: str) -> Polynomial | None:
        """Returns the factor of a symbol, or None if it is not linear."""
        found: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            times = monomial.count(symbol)
            if times > 1:
                return None
            if times:
                rest = tuple(s for s in monomial if s != symbol)
                found[rest] = factor
        return Polynomial(found)

    def halved(self, bits: int) -> Polynomial | None:
        """Returns the polynomial divided by ``2**bits``, if it divides.

        The result is one of those that give this one when multiplied.
        """
        if any(c % (1 << bits) for c in self.terms.values()):
            return None
        return Polynomial({m: c >> bits for m, c in self.terms.items()})


def constant(value: int) -> Polynomial:
    return Polynomial({(): value})


def symbol(name: str) -> Polynomial:
    return Polynomial({(name,): 1})
