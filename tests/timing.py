"""How long something took, without what else the machine was doing meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 5


def least_seconds(do: Callable[[], object]) -> float:
    """The processor time of this thread that the fastest of a few runs of ``do`` took."""
    return min(_seconds(do) for _ in range(TRIES))


def _seconds(do: Callable[[], object]) -> float:
    began = time.thread_time()
    do()
    return time.thread_time() - began
