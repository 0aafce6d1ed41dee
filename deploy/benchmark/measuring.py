"""Measuring: the same work several times, and the median of what it did in a second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """``per_second`` is the median of ``runs``; ``floor`` says what it stands beside, for comparison."""

    what: str
    unit: str
    per_second: float
    runs: tuple[float, ...]
    aim: int | None = None
    is_floor: bool = False


def measured(
    what: str,
    unit: str,
    work: Callable[[], int],
    *,
    runs: int,
    aim: int | None = None,
    is_floor: bool = False,
    of_one_core: bool = False,
) -> Pace:
    """Do ``work``, which says how many units it did, ``runs`` times. ``of_one_core``: by the seconds that a core worked
    for this process, so that what else the machine does counts less."""
    clock = time.process_time if of_one_core else time.perf_counter
    rates = []
    for _ in range(runs):
        started = clock()
        done = work()
        rates.append(done / (clock() - started))
    return Pace(what, unit, statistics.median(rates), tuple(rates), aim, is_floor)
