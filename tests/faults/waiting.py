"""Waiting for something to become true: looked at again and again, with a deadline no busy machine comes near."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0


def until(done: Callable[[], T], what: str, *, seconds: float = PATIENCE) -> T:
    """Return what ``done`` returned once that is true; fail, saying what was waited for, after ``seconds``."""
    end = time.monotonic() + seconds
    while True:
        found = done()
        if found:
            return found
        assert time.monotonic() < end, f"waited {seconds:.0f} s, in vain, until: {what}"
        time.sleep(0.05)
