"""The figures behind the screens: tests, intervals, odds, and how much a sample can show. Pure.

Whatever can be counted is exact (integers and fractions); tails of continuous distributions are floats. None of it is
money. A probability is written down as text (``written``), so that the same figures always give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import NormalDist, median
from typing import NamedTuple

CARDS = 52
LEAST_EXPECTED = 5
"""Below so many expected in any class, a χ² says nothing."""
MAD_TO_SD = 1.4826
"""What makes the median deviation of a normal distribution its standard deviation."""

_NORMAL = NormalDist()
_HALF = Fraction(1, 2)


def written(probability: float | Fraction, digits: int = 4) -> str:
    """Write a probability or a rate to so many significant digits, never in powers of ten before 0.0001."""
    return f"{float(probability):.{digits}g}"


# -- tails -------------------------------------------------------------------------------------------------


def normal_tail(z: float) -> float:
    """Return the probability beyond ``z`` on one side."""
    return math.erfc(z / math.sqrt(2)) / 2


def normal_two_sided(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


def normal_beyond(probability: float) -> float:
    """Return the z beyond which so much lies on one side."""
    return -_NORMAL.inv_cdf(probability)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Return the probability of a χ² at least this large: the regularised upper gamma function."""
    if statistic <= 0:
        return 1.0
    shape, at = degrees / 2, statistic / 2
    if at < shape + 1:
        return 1 - _lower_gamma(shape, at)
    return _upper_gamma(shape, at)


def _lower_gamma(shape: float, at: float) -> float:
    """By its series, which converges fast below ``shape + 1``."""
    term = total = 1 / shape
    step = shape
    while term > total * 1e-16:
        step += 1
        term *= at / step
        total += term
    return total * math.exp(shape * math.log(at) - at - math.lgamma(shape))


def _upper_gamma(shape: float, at: float) -> float:
    """By its continued fraction (Lentz), which converges fast above ``shape + 1``."""
    tiny = 1e-300
    below = at + 1 - shape
    above = 1 / tiny
    inverse = 1 / below
    fraction = inverse
    for step in range(1, 1_000):
        factor = -step * (step - shape)
        below += 2
        inverse = 1 / (factor * inverse + below or tiny)
        above = below + factor / above or tiny
        change = above * inverse
        fraction *= change
        if abs(change - 1) < 1e-15:
            break
    return fraction * math.exp(shape * math.log(at) - at - math.lgamma(shape))


class Fit(NamedTuple):
    """How counts fit their weights: ``expected`` per class, and the probability of a χ² at least as large."""

    statistic: float
    expected: tuple[float, ...]
    p: float


def fit(counts: Sequence[int], weights: Sequence[int]) -> Fit | None:
    """Compare counts with the weights of their classes; None where a class expects too few for the test."""
    total, whole = sum(counts), sum(weights)
    expected = tuple(total * weight / whole for weight in weights)
    if min(expected) < LEAST_EXPECTED:
        return None
    statistic = sum((seen - due) ** 2 / due for seen, due in zip(counts, expected, strict=True))
    return Fit(statistic, expected, chi_square_tail(statistic, len(counts) - 1))


# -- exact tests -------------------------------------------------------------------------------------------


def binomial_two_sided(hits: int, tries: int, chance: Fraction = _HALF) -> Fraction:
    """Return the probability of a result at most as likely as this one; exact."""
    weights = _binomial_weights(tries, chance)
    return _at_most_as_likely(weights, hits)


def binomial_at_least(hits: int, tries: int, chance: Fraction = _HALF) -> Fraction:
    """Return the probability of so many hits or more; exact."""
    weights = _binomial_weights(tries, chance)
    return Fraction(sum(weights[hits:]), sum(weights))


def _binomial_weights(tries: int, chance: Fraction) -> list[int]:
    hit, miss = chance.numerator, chance.denominator - chance.numerator
    return [math.comb(tries, hits) * hit**hits * miss ** (tries - hits) for hits in range(tries + 1)]


class FourFold(NamedTuple):
    """Two groups, hits and misses of each."""

    hits: int
    misses: int
    other_hits: int
    other_misses: int


def fisher_two_sided(table: FourFold) -> Fraction:
    """Return Fisher's exact probability of a table at most as likely as this one, its margins given."""
    least, weights = _fisher_weights(table)
    return _at_most_as_likely(weights, table.hits - least)


def fisher_at_least(table: FourFold) -> Fraction:
    """Return Fisher's exact probability of so many hits or more in the first group, its margins given."""
    least, weights = _fisher_weights(table)
    return Fraction(sum(weights[table.hits - least :]), sum(weights))


def _fisher_weights(table: FourFold) -> tuple[int, list[int]]:
    """The fewest possible hits of the first group, and the weight of each number of them from there on."""
    group = table.hits + table.misses
    hits = table.hits + table.other_hits
    others = table.misses + table.other_misses
    least, most = max(0, group - others), min(group, hits)
    weight = math.comb(hits, least) * math.comb(others, group - least)
    weights = [weight]
    for count in range(least, most):
        # Each from the one before, exactly: large binomials are worked out once.
        weight = weight * (hits - count) * (group - count) // ((count + 1) * (others - group + count + 1))
        weights.append(weight)
    return least, weights


def _at_most_as_likely(weights: Sequence[int], at: int) -> Fraction:
    return Fraction(sum(weight for weight in weights if weight <= weights[at]), sum(weights))


# -- intervals and many tests at once ----------------------------------------------------------------------


def wilson(hits: int, tries: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a rate; ZeroDivisionError where nothing was tried."""
    rate, square = hits / tries, z * z
    middle = rate + square / (2 * tries)
    spread = z * math.sqrt(rate * (1 - rate) / tries + square / (4 * tries * tries))
    whole = 1 + square / tries
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


Q = 0.01
"""The share of false ones that is allowed among what is noted."""


def rejected(probabilities: Sequence[float | Fraction], *, tests: int = 0) -> frozenset[int]:
    """Return the places of those that Benjamini and Hochberg reject: up to the largest i with p(i) ≤ i·q/m.

    ``tests`` is m where there were more than are given: those left out are certain to come to 1.
    """
    order = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    many = max(tests, len(order))
    last = 0
    for rank, place in enumerate(order, 1):
        if probabilities[place] <= rank * Q / many:
            last = rank
    return frozenset(order[:last])


class Band(NamedTuple):
    """What is usual: the middle, and how far from it is still usual."""

    middle: float
    spread: float

    def holds(self, value: float) -> bool:
        return abs(value - self.middle) <= self.spread


def band(values: Sequence[int], *, least_spread: float, times: float = 3) -> Band:
    """Return the median ± ``times`` × 1.4826 × the median deviation, at least ``least_spread`` wide."""
    middle = float(median(values))
    deviation = float(median(abs(value - middle) for value in values))
    return Band(middle, max(times * MAD_TO_SD * deviation, least_spread))


# -- a deck ------------------------------------------------------------------------------------------------


def hidden(seen: Iterable[int]) -> Fraction:
    """Return the odds that a full deck hides one named card through rounds that showed so many cards each."""
    odds = Fraction(1)
    for cards in seen:
        odds *= Fraction(CARDS - cards, CARDS)
    return odds


def hidden_any(seen: Iterable[int]) -> Fraction:
    """Return the same for whichever card it is (a bound, close where it is small)."""
    return min(Fraction(1), CARDS * hidden(seen))


def rounds_until(cards: int, below: float) -> int:
    """Return after how many rounds of so many cards without one the odds for any card fall below a limit."""
    return math.floor(math.log(CARDS / below) / -math.log1p(-cards / CARDS)) + 1


def between_alarms(cards: int, rounds: int) -> float:
    """Return in how many rounds a full deck, watched without end, hides some card for so many rounds once."""
    return 1 / (cards * (1 - cards / CARDS) ** rounds)


# -- what a sample can show --------------------------------------------------------------------------------


def sample_for_rate(usual: float, other: float, *, alpha: float, power: float) -> float:
    """Return how many tries tell a rate ``other`` from the ``usual`` one, two-sided."""
    needed = normal_beyond(alpha / 2) * math.sqrt(usual * (1 - usual)) + normal_beyond(1 - power) * math.sqrt(
        other * (1 - other)
    )
    return (needed / (other - usual)) ** 2


def detectable_rate(usual: float, tries: int, *, alpha: float, power: float) -> float | None:
    """Return the smallest rate above the usual one that so many tries would show; None where none would."""
    low, high = usual, 1.0 - 1e-12
    if tries <= 0 or sample_for_rate(usual, high, alpha=alpha, power=power) > tries:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if middle > usual and sample_for_rate(usual, middle, alpha=alpha, power=power) <= tries:
            high = middle
        else:
            low = middle
    return high


def detectable_mean(deviation: float, *, alpha: float, power: float) -> float:
    """Return the smallest shift of a sum that would show, two-sided, given the sum's standard deviation."""
    return (normal_beyond(alpha / 2) + normal_beyond(1 - power)) * deviation


def rounds_for_leak(variance: float, leak: float, *, alpha: float, power: float) -> float:
    """Return how many rounds show a leak per round, given the variance of one round (both in stakes)."""
    return (detectable_mean(math.sqrt(variance), alpha=alpha, power=power) / leak) ** 2


def variance_of_round(stakes: Sequence[int | Fraction], *, own: Fraction, shared: Fraction) -> Fraction:
    """Return the variance of what a round brings: ``own`` per squared stake of a hand, ``shared`` for each pair of
    hands that met the same dealer. ``stakes`` are added up by hand."""
    squares = sum((Fraction(stake) ** 2 for stake in stakes), Fraction(0))
    together = sum((Fraction(stake) for stake in stakes), Fraction(0)) ** 2
    return own * squares + shared * (together - squares)
