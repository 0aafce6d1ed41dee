"""How the service itself runs: works done item by item, what they cannot compute with, what could not be read.

A work that meets an item which it cannot compute with puts it aside, by name, and goes on. The item is tried again
after a pause that doubles, from a minute to an hour, and is shown until the same work was through with it. Nothing here
is an act: what is written here is about the service, and lies beside acts that failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from casino.models import Aside, Program, Sweep, Unread, UnreadCount

T = TypeVar("T")

log = logging.getLogger("pokdeng.upkeep")

SHOWN = 200
"""Items shown by name; all are counted."""
OVER = timedelta(hours=2)
PLACES = 100
KEPT_BYTES = 4_096

_BUSY = frozenset({"40001", "40P01", "55P03"})
_TOO_LONG = "57014"


def each(
    work: str,
    items: Iterable[T],
    do: Callable[[T], object],
    *,
    named: Callable[[T], str],
    clock: Callable[[], datetime],
) -> int:
    """Do each of these and return how many were done; what cannot be computed with is put aside, and stays out until it
    is due again. Where the database is gone, nothing is an item's fault: that is raised.

    One statement more than the items take, none for none. Call it outside of any act.
    """
    todo = list(items)
    if not todo:
        return 0
    known = standing_still(work)
    done = 0
    for item in todo:
        subject = named(item)
        if subject in known and known[subject] > clock():
            continue
        try:
            do(item)
        except SoftTimeLimitExceeded as fault:
            put_aside(work, subject, fault, now=clock())
            raise
        except Exception as fault:
            if _is_gone(fault):
                raise
            if _sqlstate(fault) in _BUSY:
                log.warning("%s: %s is in somebody's hands; the next bell tries again", work, subject)
                continue
            put_aside(work, subject, fault, now=clock())
        else:
            done += 1
            if subject in known:
                solved(work, [subject], now=clock())
    return done


def together(
    work: str,
    items: Sequence[T],
    do: Callable[[Sequence[T]], object],
    *,
    named: Callable[[T], str],
    clock: Callable[[], datetime],
) -> int:
    """Do these at once, and each by itself where that fails; return how many were done. See ``each``."""
    if not items:
        return 0
    try:
        do(items)
    except SoftTimeLimitExceeded:
        raise
    except Exception as fault:
        if _is_gone(fault):
            raise
        log.warning("%s: %d at once failed (%s); each by itself", work, len(items), _said(fault))
        return each(work, items, lambda one: do([one]), named=named, clock=clock)
    return len(items)


def standing_still(work: str) -> dict[str, datetime]:
    """Return what a work has put aside, and when each is due again. One statement."""
    found = Aside.objects.filter(work=work, solved_at=None)
    return dict(found.values_list("subject", "due_at"))


def out_of(work: str, *, now: datetime) -> list[str]:
    """Return what a work has put aside and is not to be tried now. One statement."""
    return sorted(subject for subject, due_at in standing_still(work).items() if due_at > now)


def put_aside(work: str, subject: str, fault: BaseException | str, *, now: datetime) -> None:
    """Say that a work cannot compute with an item. Logged where it is new, with all there is to say of it."""
    said = fault if isinstance(fault, str) else _said(fault)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO casino_aside AS a (work, subject, fault, times, first_at, last_at, due_at)"
            " VALUES (%(work)s, %(subject)s, %(fault)s, 1, %(now)s, %(now)s, %(now)s + interval '1 minute')"
            " ON CONFLICT (work, subject) DO UPDATE SET fault = excluded.fault, last_at = excluded.last_at,"
            " times = CASE WHEN a.solved_at IS NULL THEN a.times + 1 ELSE 1 END,"
            " first_at = CASE WHEN a.solved_at IS NULL THEN a.first_at ELSE excluded.first_at END, solved_at = NULL,"
            " due_at = excluded.last_at + CASE WHEN a.solved_at IS NULL"
            "   THEN least(interval '1 hour', interval '1 minute' * power(2, least(a.times, 6)))"
            "   ELSE interval '1 minute' END"
            " RETURNING times",
            {"work": work, "subject": _plain(subject, 200), "fault": said, "now": now},
        )
        (times,) = cursor.fetchone()
    if times == 1:
        log.error(
            "%s cannot compute with %s (%s); it stands still, all else goes on",
            work,
            subject,
            said,
            exc_info=fault if isinstance(fault, BaseException) else None,
        )


def solved(work: str, subjects: Sequence[str], *, now: datetime) -> None:
    """Say that a work was through with items that it had put aside."""
    Aside.objects.filter(work=work, subject__in=subjects, solved_at=None).update(solved_at=now)


def let_rest(*, now: datetime) -> None:
    """Let go of items that their works have not met again though they were due for long: they are over otherwise."""
    Aside.objects.filter(solved_at=None, due_at__lt=now - OVER).update(solved_at=now)


def _is_gone(fault: Exception) -> bool:
    """Whether the database, and not the item, is what failed."""
    if not isinstance(fault, OperationalError | InterfaceError):
        return False
    return _sqlstate(fault) not in (*_BUSY, _TOO_LONG)


def _sqlstate(fault: Exception) -> str:
    return str(getattr(fault.__cause__, "sqlstate", None) or "") if isinstance(fault, DatabaseError) else ""


def _said(fault: BaseException) -> str:
    first = (str(fault).splitlines() or [""])[0]
    return _plain(f"{type(fault).__name__}: {first}", 300)


def _plain(text: str, most: int) -> str:
    """Text that the database keeps: without NUL, and not longer."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:most]


# -- periodic tasks -------------------------------------------------------------------------------------------


def began(name: str, *, now: datetime) -> None:
    """A periodic task begins."""
    Sweep.objects.bulk_create(
        [Sweep(name=name, began_at=now)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["began_at"],
    )


def ended(name: str, *, now: datetime) -> None:
    """A periodic task came to its end."""
    Sweep.objects.bulk_create(
        [Sweep(name=name, ended_at=now)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["ended_at", "fault"],
    )


def failed(name: str, fault: BaseException, *, now: datetime) -> None:
    """A periodic task did not come to its end."""
    Sweep.objects.bulk_create(
        [Sweep(name=name, failed_at=now, fault=_said(fault))],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["failed_at", "fault"],
    )


# -- the broker -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """A message that could not be read, in its bytes, and why."""

    content: bytes
    reason: str


def keep_unread(messages: Sequence[Message], *, now: datetime, more: dict[str, int] | None = None) -> None:
    """Keep these messages in the place of the oldest, and count them; ``more`` came and are not kept."""
    counts = dict(more or {})
    for message in messages:
        counts[message.reason] = counts.get(message.reason, 0) + 1
    if not counts:
        return
    kept = list(messages)[-PLACES:]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO casino_unreadcount AS c (reason, count, last_at)"
            " SELECT n.reason, n.count, %s FROM unnest(%s::text[], %s::bigint[]) AS n (reason, count)"
            " ON CONFLICT (reason) DO UPDATE SET count = c.count + excluded.count, last_at = excluded.last_at",
            [now, list(counts), list(counts.values())],
        )
        cursor.execute(
            "INSERT INTO casino_unread (place, reason, content, length, came_at)"
            " SELECT (t.total + n.ordinal) %% %s, n.reason, n.content, n.length, %s"
            "   FROM unnest(%s::text[], %s::bytea[], %s::bigint[])"
            "        WITH ORDINALITY AS n (reason, content, length, ordinal),"
            "        (SELECT sum(count)::bigint AS total FROM casino_unreadcount) t"
            " ON CONFLICT (place) DO UPDATE SET reason = excluded.reason, content = excluded.content,"
            " length = excluded.length, came_at = excluded.came_at",
            [
                PLACES,
                now,
                [message.reason for message in kept],
                [message.content[:KEPT_BYTES] for message in kept],
                [len(message.content) for message in kept],
            ],
        )


# -- what is shown --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """A periodic task as it stands: seconds since it last came to its end (None: never), whether that is late, and what
    it failed by since."""

    name: str
    task: str
    every: float
    ended_at: datetime | None
    age: float | None
    late: bool
    fault: str


@dataclass(frozen=True, slots=True)
class Upkeep:
    """All of it, as of one moment. ``aside`` are the first of ``asides`` by name; ``unread`` counts by reason."""

    at: datetime
    well: bool
    sweeps: list[Standing]
    asides: int
    aside: list[Aside]
    unread: list[UnreadCount]
    kept: list[Unread]
    programs: list[Program]


def shown(*, now: datetime) -> Upkeep:
    """Return how the service runs: well where every sweep is in its time, nothing stands still and no program was given
    up on. Six statements."""
    sweeps = _sweeps(now)
    asides = Aside.objects.filter(solved_at=None)
    count = asides.count()
    programs = list(Program.objects.order_by("name"))
    return Upkeep(
        at=now,
        well=not count
        and not any(one.late or one.fault for one in sweeps)
        and not any(one.state == Program.State.GIVEN_UP for one in programs),
        sweeps=sweeps,
        asides=count,
        aside=list(asides.order_by("first_at", "id")[:SHOWN]),
        unread=list(UnreadCount.objects.order_by("reason")),
        kept=list(Unread.objects.order_by("-came_at", "place")[:SHOWN]),
        programs=programs,
    )


def _sweeps(now: datetime) -> list[Standing]:
    rows = {row.name: row for row in Sweep.objects.all()}
    schedule: dict[str, dict[str, Any]] = settings.CELERY_BEAT_SCHEDULE
    return sorted(
        (_standing(name, entry, rows.get(entry["task"]), now) for name, entry in schedule.items()),
        key=lambda one: one.name,
    )


LATE = timedelta(seconds=60)
"""Beyond three times its pace a sweep is late, and never before this."""


def _standing(name: str, entry: dict[str, Any], row: Sweep | None, now: datetime) -> Standing:
    ended_at = row.ended_at if row else None
    every = float(entry["schedule"])
    age = (now - ended_at).total_seconds() if ended_at else None
    return Standing(
        name=name,
        task=entry["task"],
        every=every,
        ended_at=ended_at,
        age=age,
        late=age is None or age > 3 * every + LATE.total_seconds(),
        fault=row.fault if row else "",
    )
