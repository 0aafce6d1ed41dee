"""When a message is sent, and sent again: the published schedule."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

DELAYS = (0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
"""Seconds before each try: the first after the event, each later one after the failure before it."""

JITTER_PERCENT = 10
"""A delay is made longer by up to this part of it, so that what failed together does not come back together."""

LONGEST = timedelta(days=1)
"""A receiver may ask to be left alone (``Retry-After``) for this long at most."""


def next_try(
    *, failures: int, now: datetime, delivery: int, retry_after: int | None = None
) -> datetime | None:
    """Return when to try again after so many failures, None when that was the last one.

    The later of the schedule and what the receiver asked for. Which part of the jitter a delivery gets follows from its
    id and the try, so that it can be worked out again.
    """
    if failures >= len(DELAYS):
        return None
    seconds = DELAYS[failures]
    part = hashlib.sha256(f"{delivery}:{failures}".encode()).digest()[0]
    due = now + timedelta(seconds=seconds + seconds * JITTER_PERCENT * part / (100 * 255))
    if retry_after is None:
        return due
    return max(due, now + min(timedelta(seconds=retry_after), LONGEST))
