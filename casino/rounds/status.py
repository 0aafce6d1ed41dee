"""Where rounds stand, and what was recorded of them: what the layers above tell and ask."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db import connection

from casino import events
from casino.models import Round, Standing
from casino.record import Event, Feed


@dataclass(frozen=True, slots=True)
class Told:
    """Where a round stands now, told by the layer that decided it (``stand``); ``record`` is its record as JSON."""

    round: UUID
    standing: str
    reasons: tuple[str, ...] = ()
    record: str | None = None
    cards_seen: int = 0
    gaming_day: date | None = None
    due_at: datetime | None = None


def stand(told: Sequence[Told]) -> None:
    """Tell rounds where they stand, in the transaction of the one who decided. One statement.

    A gaming day, once set, does not change. The record told is cached for lists; the events are the truth.
    """
    events.current()
    # One document for all of them: an array of documents would be escaped character by character on its way.
    rows = f"[{','.join(_row(item) for item in told)}]"
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_round AS r SET standing = v.standing,"
            " reasons = ARRAY(SELECT jsonb_array_elements_text(v.reasons)), record = v.record,"
            " cards_seen = v.cards_seen, gaming_day = coalesce(r.gaming_day, v.gaming_day), due_at = v.due_at"
            " FROM jsonb_to_recordset(%s::jsonb) AS v(id uuid, standing text, reasons jsonb, record jsonb,"
            " cards_seen bigint, gaming_day date, due_at timestamptz) WHERE r.id = v.id",
            [rows],
        )


def _row(told: Told) -> str:
    row = json.dumps(
        {
            "id": str(told.round),
            "standing": str(told.standing),
            "reasons": list(told.reasons),
            "cards_seen": told.cards_seen,
            "gaming_day": None if told.gaming_day is None else told.gaming_day.isoformat(),
            "due_at": None if told.due_at is None else told.due_at.isoformat(),
        }
    )
    return f'{row[:-1]},"record":{told.record or "null"}}}'  # written by whoever tells, and not a second time


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stored event with what the fold does not need: its row's id, whether it came late, its clock."""

    event: Event
    late: bool
    clock_off: bool


_RECORDED = """
SELECT coalesce(r.alias_of_id, r.id)::text, e.id, e.kind, e.payload::text, e.source, d.kind, e.device_seq, e.signed,
       floor(extract(epoch FROM e.happened_at) * 1000)::bigint, floor(extract(epoch FROM e.instant) * 1000)::bigint,
       e.jumped_from, e.late, e.clock_off
  FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id LEFT JOIN casino_device d ON d.id = e.device_id
 WHERE e.round_id = ANY(%(ids)s::uuid[]
                        || ARRAY(SELECT id FROM casino_round WHERE alias_of_id = ANY(%(ids)s::uuid[])))
 ORDER BY e.id
"""


def recorded(ids: Iterable[UUID]) -> dict[UUID, list[Recorded]]:
    """Return all events of rounds, those of their aliases included, in the order recorded. One statement."""
    found: dict[UUID, list[Recorded]] = {key: [] for key in ids}
    of_text = {str(key): events for key, events in found.items()}
    with connection.cursor() as cursor:
        cursor.execute(_RECORDED, {"ids": list(found)})
        rows = cursor.fetchall()
    # One document of all payloads is read several times faster than each of them by itself.
    payloads = json.loads(f"[{','.join([row[3] for row in rows])}]")
    for (key, place, kind, _, source, feed, seq, signed, time_ms, instant_ms, jumped, late, off), data in zip(
        rows, payloads, strict=True
    ):
        event = Event(
            kind=kind,
            data=data,
            source=source.rpartition("/")[2] if feed else source,
            feed=feed or _feed_of(source),
            seq=seq or 0,
            place=place,
            signed=bool(signed),
            time_ms=time_ms,
            instant_ms=instant_ms,
            jumped_from=jumped,
        )
        of_text[key].append(Recorded(event, late, off))
    return found


def _feed_of(source: str) -> Feed:
    return "decision" if source.startswith("/disputes/") else "page"


def due(*, now: datetime, limit: int, but: Collection[str] = ()) -> list[UUID]:
    """Return closed rounds that wait to be settled, longest first, ``but`` these (``rounds/{id}``).

    One statement, on the sweep's own index."""
    waiting = Round.objects.filter(standing=Standing.DUE, due_at__lte=now).order_by("due_at", "id")
    if but:
        waiting = waiting.exclude(pk__in=[one.removeprefix("rounds/") for one in but])
    return list(waiting.values_list("id", flat=True)[:limit])
