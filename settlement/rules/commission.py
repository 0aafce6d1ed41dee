"""Commission, and how it is rounded to chips.

The rate is in basis points, amounts in minor units, ``unit`` the smallest chip in minor units. All of it is
whole numbers: the rounding difference is kept in ten-thousandths of a minor unit, because five per cent of
333 satang is 16.65 and the .65 must not get lost between books.
"""

from collections.abc import Callable, Mapping

from settlement.rules.house_rules import Commission, Rounding

WHOLE = 10_000
"""Basis points in one."""


def half_up(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)


def up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def down(numerator: int, denominator: int) -> int:
    return numerator // denominator


def half_even(numerator: int, denominator: int) -> int:
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


ROUNDING: Mapping[Rounding, Callable[[int, int], int]] = {
    "half_up": half_up,
    "up": up,
    "down": down,
    "half_even": half_even,
}


def commission(*, net: int, terms: Commission) -> int:
    """Return what the house keeps of a win of ``net`` minor units, at most the win; a loss or a push owes
    0."""
    if net <= 0 or terms.rate_bp == 0:
        return 0
    units = ROUNDING[terms.rounding](net * terms.rate_bp, WHOLE * terms.unit)
    return min(net, terms.unit * units)


def rounding_bp(*, net: int, charged: int, terms: Commission) -> int:
    """Return charged minus owed, in ten-thousandths of a minor unit (so −150 satang are −1,500,000)."""
    return charged * WHOLE - max(net, 0) * terms.rate_bp
