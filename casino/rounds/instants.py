"""When an event happened by our clock: a device's word, put right by what its request said, within its session."""

from __future__ import annotations

from datetime import datetime, timedelta

CLOCK_TOLERANCE = timedelta(minutes=1)
LONGEST_WAIT = timedelta(days=366)
"""What a device says happened longer than this before its session opened, it says by a clock that is wrong."""


def instant(
    happened_at: datetime, *, sent_at: datetime | None, now: datetime, opened_at: datetime
) -> tuple[datetime, bool]:
    """Return when it happened by our clock, and whether the device's word had to be set aside: its clock is far from
    ours and nobody said how far, or the two times it told contradict each other.

    Not after it was recorded (``now``), not before its session opened. Reckoned by how long ago it was, never by
    adding to what a device says, which may be any instant of the calendar.
    """
    ago = (now if sent_at is None else sent_at) - happened_at
    since_opening = now - opened_at
    if sent_at is None and abs(ago) > CLOCK_TOLERANCE:
        return now, True
    clock_off = ago < -CLOCK_TOLERANCE or ago > since_opening + LONGEST_WAIT
    return now - min(max(ago, timedelta(0)), since_opening), clock_off
