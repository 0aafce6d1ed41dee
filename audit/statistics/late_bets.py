"""Late bets: whether what was raised after the lock wins more often than the rest, and who repeats it.

The locked stake governs, so a late raise won nothing; that it would have won too often is what past posting looks like.
What was lowered is looked at the other way round, for losses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import quantiles
from typing import Any, NamedTuple

from audit.statistics import probability
from audit.statistics.probability import FourFold
from audit.statistics.round_sample import Alarm, Answer, Played, guest

LEAST_LATE = 3
REPEATED = 3
"""An owner is listed from so many late changes on."""


class _Test(NamedTuple):
    subject: str
    what: str
    table: FourFold
    p: Fraction


class Tally:
    """Wagers changed late, by house, table and owner, beside all that were not."""

    def __init__(self) -> None:
        self._results: Counter[str] = Counter()
        self._late: Counter[str] = Counter()
        self._after: list[int] = []
        self._repeats: Counter[str] = Counter()

    def add(self, one: Played) -> None:
        """Take a round's wagers, and what became of those that were changed late."""
        last = {late.wager: late for late in one.late}
        for late in one.late:
            self._repeats[f"{one.table} {guest(one, late.owner)}"] += 1
            if late.after_ms is not None:
                self._after.append(late.after_ms)
        for stake in one.stakes:
            if stake.wager not in last:
                self._results[_result(stake.multiple)] += 1
        for late in last.values():
            if late.multiple is not None:
                side = "raised" if late.raised else "lowered"
                for group in ("house", f"tables/{one.table}", f"owners/{guest(one, late.owner)}"):
                    self._late[f"{group}#{side}#{_result(late.multiple)}"] += 1

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:
        """Compare what was raised late with the rest by wins, and what was lowered late by losses."""
        counts = {
            "rest": dict(sorted(self._results.items())),
            "late": dict(sorted(self._late.items())),
            "repeats": dict(sorted(self._repeats.items())),
        }
        rest, late, repeats = (_summed([counts, *earlier], name) for name in counts)
        today = {key.rpartition("#")[0] for key in self._late}
        tests = [test for key in sorted(today) if (test := _test(key, late, rest)) is not None]
        noted = probability.rejected([test.p for test in tests])
        of_house = Counter({key: late[f"house#raised#{key}"] for key in ("won", "lost", "even")})
        return Answer(
            counts=counts,
            sample={
                "late": sum(self._repeats.values()),
                "rest": sum(self._results.values()),
                "after_ms": _spread(self._after),
            },
            power=_power(of_house.total(), rest),
            expected="0.01",
            tests=len(tests),
            figures=[
                *(_figure(test) for test in tests),
                *({"owner": owner, "changes": count} for owner, count in sorted(repeats.items())
                  if count >= REPEATED and owner in self._repeats),
            ],
            alarms=[
                Alarm("late_bet_wins", test.subject, _detail(test), table=_table(test.subject))
                for place, test in enumerate(tests)
                if place in noted
            ],
        )  # fmt: skip


def _result(multiple: int) -> str:
    return "won" if multiple > 0 else "lost" if multiple < 0 else "even"


def _summed(days: Sequence[Mapping[str, Any]], name: str) -> Counter[str]:
    whole: Counter[str] = Counter()
    for day in days:
        whole.update(day.get(name, {}))
    return whole


def _test(key: str, late: Counter[str], rest: Counter[str]) -> _Test | None:
    wanted = "won" if key.endswith("#raised") else "lost"
    hits = late[f"{key}#{wanted}"]
    misses = sum(late[f"{key}#{result}"] for result in ("won", "lost", "even")) - hits
    if hits + misses < LEAST_LATE:
        return None
    table = FourFold(hits, misses, rest[wanted], rest.total() - rest[wanted])
    return _Test(key, wanted, table, probability.fisher_at_least(table))


def _detail(test: _Test) -> dict[str, Any]:
    group, _, side = test.subject.partition("#")
    return {"who": group, "side": side, **_rates(test)}


def _figure(test: _Test) -> dict[str, Any]:
    return {"group": test.subject, **_rates(test)}


def _rates(test: _Test) -> dict[str, Any]:
    rest = test.table.other_hits + test.table.other_misses
    return {
        "result": test.what,
        "hits": test.table.hits,
        "of": test.table.hits + test.table.misses,
        "rest_bp": round(10_000 * test.table.other_hits / rest) if rest else None,
        "p": probability.written(test.p),
    }


def _table(subject: str) -> str:
    group = subject.partition("#")[0]
    return group.removeprefix("tables/") if group.startswith("tables/") else ""


def _spread(after: list[int]) -> list[int] | None:
    if len(after) < 2:
        return list(after) or None
    return [round(value) for value in quantiles(after, n=4, method="inclusive")]


def _power(late: int, rest: Counter[str]) -> dict[str, Any]:
    """The win rate (basis points) that so many late raises would have shown at 0.01 with 80 %."""
    usual = rest["won"] / rest.total() if rest.total() else 0.0
    shown = None
    if 0 < usual < 1:
        shown = probability.detectable_rate(usual, late, alpha=0.01, power=0.8)
    return {
        "usual_bp": round(usual * 10_000),
        "win_rate_bp": None if shown is None else round(shown * 10_000),
    }
