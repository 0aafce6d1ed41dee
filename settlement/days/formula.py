"""The rundown: what counts, slips and the drop say a table won, and what its lines say. Pure.

    win = closer + credits + drop − opener − fills − slips

from counted figures alone; with the recorded buy-ins in the drop's place it is an estimate and called so. A figure
that cannot be known is None, and ``unknown`` says why: it is never zero. Amounts are minor units of one currency.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True)
class Formula:
    """A version of the rundown and the gaming day from which on it is in force."""

    version: int
    from_: date


FIRST_DAY = date(2026, 1, 1)
"""From which on a formula is in force in a house that never had another."""


def known(*, second_from: date | None) -> tuple[Formula, ...]:
    """Return the formulas of a house, oldest first; a change is a further version, never another meaning of one.

    Version 1 had no slips: what the cage paid for a table stood as a surplus in its tray. A house that had days then
    counts by version 2 from ``second_from`` on; one that had none (None), from its first day on.
    """
    first = Formula(version=1, from_=FIRST_DAY)
    second = Formula(version=2, from_=second_from or FIRST_DAY)
    return (first, second)


def in_force(on: date, *, second_from: date | None) -> Formula:
    """Return the formula of a gaming day; that of the first day for a day before all of them."""
    formulas = known(second_from=second_from)
    return next((one for one in reversed(formulas) if one.from_ <= max(on, FIRST_DAY)), formulas[0])


@dataclass(frozen=True, slots=True)
class Figures:
    """What a rundown is made of, for one table over one stretch.

    ``opener``, ``closer`` and ``drop`` are counted; None where they were not, and ``unknown`` has the reason by their
    names. ``slips`` are the pay slips issued less those voided, which the cage pays and the tray never did. ``takes``,
    ``pays`` and ``commission`` are of wagers in chips, from their lines, ``corrections`` what later revisions changed
    of them, ``counted_off`` what earlier counts of the stretch found more (less: below zero) and was posted then.
    ``wallet_win`` is what the house won of wallets, in which no chip moves.
    """

    opener: int | None
    closer: int | None
    drop: int | None
    fills: int = 0
    credits: int = 0
    slips: int = 0
    buy_ins: int = 0
    takes: int = 0
    pays: int = 0
    commission: int = 0
    corrections: int = 0
    counted_off: int = 0
    wallet_win: int = 0
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def tray_moves(self) -> int:
        """What came into the tray and left it, by what was recorded."""
        return self.fills - self.credits - self.buy_ins + self.tray_win + self.slips + self.counted_off

    @property
    def tray_win(self) -> int:
        """What the house won in chips, by the lines."""
        return self.takes - self.pays + self.commission + self.corrections


@dataclass(frozen=True, slots=True)
class Rundown:
    """``figures`` and what follows from them; ``hold_rate_bp`` is win ÷ drop in basis points, a half upwards.

    ``unknown`` gives each figure that is None its reason. ``estimated_win`` has the recorded buy-ins in the drop's
    place; where a count is missing at either end it is what the lines say (``by_lines``).
    """

    formula: int
    figures: Figures
    expected_tray: int | None
    win: int | None
    estimated_win: int
    hold_rate_bp: int | None
    variance: int | None
    unknown: dict[str, str]
    by_lines: bool


def rundown(figures: Figures, *, on: date, second_from: date | None = None) -> Rundown:
    """Return the rundown of a stretch that ends on a gaming day, by the formula in force then (``known``)."""
    unknown = dict(figures.unknown)
    opener, closer, drop = figures.opener, figures.closer, figures.drop
    for name, value in (("opener", opener), ("closer", closer), ("drop", drop)):
        if value is None:
            unknown.setdefault(name, "not_counted")
    expected = None if opener is None else opener + figures.tray_moves
    win = None
    if opener is not None and closer is not None and drop is not None:
        win = closer + figures.credits + drop - opener - figures.fills - figures.slips
    else:
        unknown["win"] = next(unknown[name] for name in ("opener", "closer", "drop") if name in unknown)
    if expected is None:
        unknown["expected_tray"] = unknown["opener"]
    estimated = figures.tray_win + figures.counted_off
    if opener is not None and closer is not None:
        estimated = closer + figures.credits + figures.buy_ins - opener - figures.fills - figures.slips
    variance = None
    if closer is not None and expected is not None:
        variance = closer - expected
    else:
        unknown["variance"] = unknown["closer" if closer is None else "opener"]
    rate = None
    if win is None:
        unknown["hold_rate_bp"] = unknown["win"]
    elif not drop:
        unknown["hold_rate_bp"] = "no_drop"
    else:
        rate = _half_up(win * 10_000, drop)
    return Rundown(
        formula=in_force(on, second_from=second_from).version,
        figures=figures,
        expected_tray=expected,
        win=win,
        estimated_win=estimated,
        hold_rate_bp=rate,
        variance=variance,
        unknown=unknown,
        by_lines=opener is None or closer is None,
    )


def summed(parts: Iterable[Rundown]) -> dict[str, int | None]:
    """Return win, estimated win and variance of several stretches together: None as soon as one of them is."""
    rows = list(parts)
    totals: dict[str, int | None] = {}
    for name in ("win", "estimated_win", "variance"):
        values = [getattr(row, name) for row in rows]
        totals[name] = None if None in values else sum(values)
    return totals


def _half_up(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)
