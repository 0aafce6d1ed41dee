"""Pace: how long each step takes by how many hands are dealt, where play stood still, and what is usual at that hour.

What is usual is the same table's same hour of the seven gaming days before; with fewer than three of them fixed limits
stand in, and the alarm says so. Only differences of one device's clock are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Any

from audit.statistics import probability
from audit.statistics.round_sample import Alarm, Answer, Played

DAYS = 7
LEAST_DAYS = 3
LEAST_ROUNDS = 5
"""An hour of fewer rounds is compared with nothing."""
SLOWEST_MS, FASTEST_MS = 240_000, 20_000
"""The fixed limits of a median round, while no usual one is known."""
LEAST_SPREAD_MS = 2_000
IDLE_MS = (20 * 60_000, 45 * 60_000)
STEPS = ("deal", "act", "compare", "pay", "whole")

BY_CHANCE = {3: 0.31, 4: 0.18, 5: 0.15, 6: 0.10, 7: 0.10}
"""How often a normal value lies outside of a band drawn from so many others: the fewer, the oftener."""


class Tally:
    """Durations of steps by number of hands, of whole rounds by table and hour, and gaps between rounds."""

    def __init__(self) -> None:
        self._steps: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        self._whole: defaultdict[str, list[int]] = defaultdict(list)
        self._idle: list[dict[str, Any]] = []
        self._before: Played | None = None
        self._rounds = 0
        self._unknown = 0

    def add(self, one: Played) -> None:
        """Take a round; a step with no time of its own is left out, never zero."""
        self._gap(self._before, one)
        self._before = one
        if one.voided:
            return
        self._rounds += 1
        for step in STEPS:
            took = getattr(one.steps, step)
            if took is not None and took >= 0:
                self._steps[len(one.seats) + 1, step].append(took)
        if one.steps.whole is None:
            self._unknown += 1
        else:
            self._whole[f"{one.table} {one.hour:02d}"].append(one.steps.whole)

    def _gap(self, before: Played | None, one: Played) -> None:
        if (
            before is None
            or before.session != one.session
            or before.closed_ms is None
            or one.opened_ms is None
        ):
            return
        idle = one.opened_ms - before.closed_ms
        if idle >= IDLE_MS[0]:
            self._idle.append(
                {
                    "table": one.table,
                    "round": one.id,
                    "number": one.number,
                    "idle_ms": idle,
                    "limit_minutes": max(limit for limit in IDLE_MS if idle >= limit) // 60_000,
                }
            )

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:
        """Compare each hour of each table with what was usual there."""
        medians = {
            at: round(median(took)) for at, took in sorted(self._whole.items()) if len(took) >= LEAST_ROUNDS
        }
        alarms: list[Alarm] = []
        expected, fixed = 0.0, 0
        for at, middle in medians.items():
            known = [day["medians"][at] for day in earlier[:DAYS] if at in day.get("medians", {})]
            if len(known) >= LEAST_DAYS:
                expected += BY_CHANCE[len(known)]
            else:
                fixed += 1
            alarm = _alarm(at, middle, known)
            if alarm is not None:
                alarms.append(alarm)
        return Answer(
            counts={"medians": medians},
            sample={"rounds": self._rounds, "hours": len(medians), "untimed": self._unknown},
            power={
                "by_baseline": len(medians) - fixed,
                "by_fixed_limits": fixed,
                "fixed_ms": [FASTEST_MS, SLOWEST_MS],
            },
            expected=probability.written(expected, 2),
            tests=len(medians),
            figures=[
                *({"hands": count, "step": step, "rounds": len(took), "ms": _quartiles(took)}
                  for (count, step), took in sorted(self._steps.items())),
                *self._idle,
            ],
            alarms=[*alarms, *(_idle(one) for one in self._idle)],
        )  # fmt: skip


def _alarm(at: str, middle: int, known: Sequence[int]) -> Alarm | None:
    table, hour = at.split()
    if len(known) >= LEAST_DAYS:
        usual = probability.band(known, least_spread=LEAST_SPREAD_MS)
        if usual.holds(middle):
            return None
        least, most, fixed = round(usual.middle - usual.spread), round(usual.middle + usual.spread), 0
    else:
        if FASTEST_MS <= middle <= SLOWEST_MS:
            return None
        least, most, fixed = FASTEST_MS, SLOWEST_MS, 1
    return Alarm(
        "pace",
        f"tables/{table}#{hour}",
        {
            "table": table,
            "hour": int(hour),
            "ms": middle,
            "least_ms": least,
            "most_ms": most,
            "days": len(known),
            "fixed": fixed,
        },
        table=table,
        # A band of few days is left by chance far too often to ask a person each time.
        flagged=bool(fixed) or abs(middle - (least + most) / 2) > most - least,
    )


def _idle(one: Mapping[str, Any]) -> Alarm:
    return Alarm(
        "pace",
        f"rounds/{one['round']}",
        {"idle_ms": one["idle_ms"], "limit_minutes": one["limit_minutes"], "number": one["number"]},
        table=one["table"],
        round=one["round"],
        flagged=one["limit_minutes"] == IDLE_MS[1] // 60_000,
    )


def _quartiles(took: Sequence[int]) -> list[int]:
    """The lower quartile, the median and the upper one, in milliseconds."""
    if len(took) < 2:
        return [took[0]] * 3
    return [round(value) for value in quantiles(took, n=4, method="inclusive")]
