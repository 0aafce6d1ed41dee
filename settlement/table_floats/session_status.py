"""Where the sessions of a table stand: open, uncounted, closed provisionally, closed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from casino.models import Table, TableSession
from settlement.models import CountKind, Drop, Float


@dataclass(frozen=True, slots=True)
class SessionStanding:
    """``state`` is ``open``, ``provisional`` (closed over ``missing`` device numbers), ``uncounted`` (its closer or its
    last drop box was not counted: its day is not sealed) or ``closed``."""

    session: TableSession
    state: str
    missing: dict[str, list[list[int]]]


def standings(table: Table, *, limit: int) -> list[SessionStanding]:
    """Return the table's newest sessions, newest first. Three statements."""
    found = list(TableSession.objects.filter(table=table).order_by("-opened_at", "-id")[:limit])
    return stand(found)


def stand(sessions: Sequence[TableSession]) -> list[SessionStanding]:
    """Return where these sessions stand. Two statements."""
    closers = {
        row.session_id: row for row in Float.objects.filter(session__in=sessions, kind=CountKind.CLOSER)
    }
    counted = set(
        Drop.objects.filter(until__in=[row.id for row in closers.values()], withdrawn_at=None).values_list(
            "until", flat=True
        )
    )
    return [
        SessionStanding(one, _state(one, closers.get(one.id), counted), _missing(closers.get(one.id)))
        for one in sessions
    ]


def _missing(closer: Float | None) -> dict[str, list[list[int]]]:
    return dict(closer.missing) if closer is not None else {}


def _state(session: TableSession, closer: Float | None, counted: Collection[UUID]) -> str:
    if session.closed_at is None:
        return "open"
    if closer is not None and closer.missing:
        return "provisional"
    return "closed" if closer is not None and closer.id in counted else "uncounted"
