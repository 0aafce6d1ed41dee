"""The stretch of the books that a run looks at, and how it is cut."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from settlement.reconciliation.results import File, Single, Unseen

Found = Single | Unseen | File


@dataclass(frozen=True, slots=True)
class Window:
    """What happened from ``since`` up to, not including, ``until`` (whole milliseconds), of the gaming day."""

    gaming_day: date
    since: datetime
    until: datetime

    @property
    def lower(self) -> int:
        return millis(self.since)

    @property
    def upper(self) -> int:
        return millis(self.until)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a level's work: half-open, in milliseconds or in ids."""

    part: str
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A slice as one worker compares it, at ``now``."""

    run: UUID
    level: str
    part: str
    lower: int
    upper: int
    window: Window
    now: datetime

    @property
    def begins(self) -> datetime:
        return instant(self.lower)

    @property
    def ends(self) -> datetime:
        return instant(self.upper)

    @property
    def ids(self) -> dict[str, Any]:
        """Bounds of the ids that the service made in this slice of time, for statements."""
        return {"low": first_id(self.lower), "high": first_id(self.upper)}


@dataclass(frozen=True, slots=True)
class Level:
    """``number`` counts the changes of its rules; ``parts`` are compared apart from each other."""

    number: int
    cut: Callable[[Window, int], Iterator[Slice]]
    parts: Mapping[str, Callable[[Piece], Iterator[Found]]]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def millis(at: datetime) -> int:
    """Return an instant in whole milliseconds since 1970."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def instant(at: int) -> datetime:
    """Return the instant of whole milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=at)


def first_id(at: int) -> UUID:
    """Return the lowest UUID version 7 of a millisecond: ids of the service sort by the instant of their act."""
    return UUID(int=at << 80)


def grace() -> timedelta:
    """Return how long one side may be late before it is a break."""
    return timedelta(minutes=settings.RECONCILE["grace_minutes"])


def cut_by(part: str, window: Window, *, at: str, rows: str, size: int) -> Iterator[Slice]:
    """Cut the window's time where another ``size`` of ``rows`` is full, by their milliseconds ``at``.

    The slices cover the whole window, whatever is written into it afterwards. ``at`` and ``rows`` are SQL.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT DISTINCT ms FROM (SELECT {at} AS ms, row_number() OVER (ORDER BY {at}) AS n FROM {rows}) each"  # noqa: S608
            " WHERE n %% %(size)s = 0 ORDER BY ms",
            {"size": size, "low": first_id(window.lower), "high": first_id(window.upper),
             "since": window.since, "until": window.until},
        )  # fmt: skip
        found = [int(ms) for (ms,) in cursor.fetchall()]
    bounds = [window.lower, *(ms + 1 for ms in found if window.lower <= ms < window.upper - 1), window.upper]
    for lower, upper in itertools.pairwise(bounds):
        yield Slice(part, lower, upper)


MS_OF_ID = "('x' || substr(replace({id}::text, '-', ''), 1, 12))::bit(48)::bigint"
"""The millisecond in a UUID version 7, in SQL."""


@contextmanager
def reading() -> Iterator[None]:
    """Read as of one moment, in a transaction that cannot write and so holds up no sealing.

    Only statements belong in it: the database ends a transaction that is idle while somebody computes.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def rows_of(statement: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Return a statement's rows; a chunk's rows are few enough to be held."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        yield from cursor.fetchall()
