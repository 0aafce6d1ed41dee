"""Mispays: payouts that were put right, by dealer, their direction, and whom they favoured.

An error counts although it was put right. Below 500 lines nobody is ranked. Errors that lean to one guest at one dealer
are what dumping chips looks like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from audit.statistics import probability
from audit.statistics.probability import FourFold
from audit.statistics.round_sample import Alarm, Answer, Played, guest

LEAST_LINES = 500
LEAST_ERRORS = 3
"""A lean is looked for from so many errors in guests' favour on."""


class _Test(NamedTuple):
    subject: str
    p: Fraction
    detail: dict[str, Any]


class Tally:
    """Lines and errors by dealer, by dealer and guest, and by deng."""

    def __init__(self) -> None:
        self._lines: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._over: Counter[str] = Counter()
        self._deng: dict[str, list[int]] = {}
        self._money: dict[str, list[int]] = {}

    def add(self, one: Played) -> None:
        """Take a round's lines and what was put right of them."""
        dealer = f"people/{one.dealt_by}"
        for stake in one.stakes:
            self._lines[dealer] += 1
            self._lines[f"{dealer}#{guest(one, stake.owner)}"] += 1
            self._deng.setdefault(str(abs(stake.multiple)), [0, 0])[0] += 1
        for error in one.put_right:
            self._errors[dealer] += 1
            self._deng.setdefault(str(error.deng), [0, 0])[1] += 1
            difference = error.paid - error.due
            moved = self._money.setdefault(f"{dealer} {one.currency}", [0, 0])
            moved[difference < 0] += abs(difference)
            if difference > 0:
                self._over[dealer] += 1
                self._over[f"{dealer}#{guest(one, error.owner)}"] += 1

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:
        """Test each dealer's rate against the others', each direction, and each lean towards one guest."""
        counts: dict[str, Any] = {
            "lines": dict(sorted(self._lines.items())),
            "errors": dict(sorted(self._errors.items())),
            "over": dict(sorted(self._over.items())),
        }
        days = [counts, *earlier]
        lines, errors, over = (_summed(days, name) for name in ("lines", "errors", "over"))
        dealers = sorted(group for group in self._lines if "#" not in group)
        tests = [*_rates(dealers, lines, errors), *_directions(dealers, errors, over)]
        leans = list(_leans(dealers, lines, over))
        guests = sum(group.partition("#")[0] in dealers for group in lines if "#" in group)
        noted = [
            *(tests[place] for place in sorted(probability.rejected([test.p for test in tests]))),
            *(
                leans[place]
                for place in sorted(probability.rejected([test.p for test in leans], tests=guests))
            ),
        ]
        return Answer(
            counts=counts,
            sample={
                "lines": sum(self._lines[dealer] for dealer in dealers),
                "errors": sum(self._errors.values()),
                "over_days": sum(lines[dealer] for dealer in dealers),
            },
            power=_power(dealers, lines, errors),
            expected="0.02",
            tests=len(tests) + guests,
            figures=[
                *(_figure(dealer, lines[dealer], errors[dealer], over[dealer]) for dealer in dealers),
                *({"deng": int(deng), "lines": seen, "errors": wrong}
                  for deng, (seen, wrong) in sorted(self._deng.items())),
                *({"money": who, "over": more, "under": less}
                  for who, (more, less) in sorted(self._money.items())),
            ],
            alarms=[Alarm("mispay_rate", test.subject, test.detail) for test in noted],
        )  # fmt: skip


def _summed(days: Sequence[Mapping[str, Any]], name: str) -> Counter[str]:
    whole: Counter[str] = Counter()
    for day in days:
        whole.update(day.get(name, {}))
    return whole


def _rates(dealers: Sequence[str], lines: Counter[str], errors: Counter[str]) -> Iterator[_Test]:
    """More errors than the other dealers make."""
    everybody = [group for group in lines if "#" not in group]
    all_lines, all_errors = (sum(count[one] for one in everybody) for count in (lines, errors))
    for dealer in dealers:
        seen, wrong = lines[dealer], errors[dealer]
        if seen < LEAST_LINES or all_lines - seen < LEAST_LINES:
            continue
        table = FourFold(wrong, seen - wrong, all_errors - wrong, all_lines - seen - all_errors + wrong)
        if min(table) < 0:
            continue  # one line was put right more than once
        p = probability.fisher_at_least(table)
        yield _Test(f"{dealer}#rate", p, _detail("rate", dealer, wrong, seen, p))


def _directions(dealers: Sequence[str], errors: Counter[str], over: Counter[str]) -> Iterator[_Test]:
    """Errors that go one way: honest ones go both."""
    for dealer in dealers:
        wrong, favour = errors[dealer], over[dealer]
        if wrong < LEAST_ERRORS:
            continue
        p = probability.binomial_two_sided(favour, wrong)
        yield _Test(f"{dealer}#direction", p, _detail("direction", dealer, favour, wrong, p))


def _leans(dealers: Sequence[str], lines: Counter[str], over: Counter[str]) -> Iterator[_Test]:
    """Errors in favour of one guest, more than that guest's share of the lines makes likely.

    A guest whom no error favoured is a test too, one that comes to 1.
    """
    for dealer in dealers:
        favour = over[dealer]
        if favour < LEAST_ERRORS:
            continue
        for favoured, count in sorted(over.items()):
            if not favoured.startswith(f"{dealer}#"):
                continue
            share = Fraction(min(lines[favoured], lines[dealer]), lines[dealer])
            p = probability.binomial_at_least(count, favour, share)
            detail = _detail("lean", dealer, count, favour, p) | {"guest": favoured.partition("#")[2]}
            yield _Test(f"{favoured}#lean", p, detail)


def _detail(what: str, dealer: str, hits: int, tries: int, p: Fraction) -> dict[str, Any]:
    return {"what": what, "who": dealer, "errors": hits, "of": tries, "p": probability.written(p)}


def _figure(dealer: str, lines: int, errors: int, over: int) -> dict[str, Any]:
    """Rates in thousandths of a percent; unknown where there are too few lines to rank anybody."""
    low, high = probability.wilson(min(errors, lines), lines)
    ranked = lines >= LEAST_LINES
    return {
        "group": dealer,
        "lines": lines,
        "errors": errors,
        "over": over,
        "least_ppm": round(low * 1_000_000) if ranked else None,
        "most_ppm": round(high * 1_000_000) if ranked else None,
    }


def _power(dealers: Sequence[str], lines: Counter[str], errors: Counter[str]) -> dict[str, Any]:
    """The rate of errors (millionths) that each dealer's lines would have shown at 0.01 with 80 %."""
    everybody = [group for group in lines if "#" not in group]
    all_lines = sum(lines[one] for one in everybody)
    usual = max(1, sum(errors[one] for one in everybody)) / all_lines if all_lines else 0.0
    shown: dict[str, int | None] = {}
    for dealer in dealers:
        rate = None
        if lines[dealer] >= LEAST_LINES and 0 < usual < 1:
            rate = probability.detectable_rate(usual, lines[dealer], alpha=0.01, power=0.8)
        shown[dealer] = None if rate is None else round(rate * 1_000_000)
    return {"usual_ppm": round(usual * 1_000_000), "rate_ppm": shown}
