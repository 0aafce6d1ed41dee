"""Runs begun and worked through, for the tests of reconciliation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.utils import timezone

from casino import events
from settlement import days, reconciliation
from settlement.models import Run

OURS = tuple(level for level in reconciliation.LEVELS if level != "R5")
"""What settlement compares itself."""


def today() -> date:
    return days.of(timezone.now())


def afterwards() -> datetime:
    """An hour after the running gaming day is over: a run then takes all of it."""
    return days.bounds(today())[1] + timedelta(hours=1)


def begun(
    *, levels: Sequence[str] = OURS, size: int = 2, kind: str = "asked", now: datetime | None = None
) -> Run:
    return events.attempt(
        lambda _: reconciliation.begin(kind=kind, gaming_day=today(), levels=levels, chunk_size=size),
        actor=events.SERVICE,
        request_id="test",
        now=now or afterwards(),
    )


def worked(run: Run) -> Run:
    while reconciliation.look_on(owner="test", now=timezone.now(), request_id="test", run=run.id) is not None:
        pass
    run.refresh_from_db()
    return run


def reconciled(**how: Any) -> Run:
    return worked(begun(**how))
