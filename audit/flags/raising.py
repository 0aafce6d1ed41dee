"""The one way in which flags are raised: once per kind and subject, by one statement, witnessed in the same act."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection

from audit.flags.kinds import KINDS, Raised
from casino import events
from casino.events import Fact
from settlement import explanations


def raise_new(found: Sequence[Raised], *, now: datetime) -> list[Raised]:
    """Write what was not raised before and witness it; return that. Raises ValueError for a kind that is not in the
    list or has no sentence. Must run in an act."""
    unknown = {one.kind for one in found} - (KINDS & explanations.KINDS)
    if unknown:
        raise ValueError(f"no such kinds of flags: {sorted(unknown)}")
    by_subject: dict[tuple[str, str], Raised] = {}
    for one in found:
        by_subject.setdefault((one.kind, one.subject), one)
    if not by_subject:
        return []
    new = list(by_subject.values())
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_flag (id, kind, subject, table_id, round_id, device_id, detail, entry_id, raised_at,"
            " state, close_code, close_reason)"
            " SELECT n.id, n.kind, n.subject, t.id, n.round, d.id, n.detail, n.entry, %s, 'open', '', ''"
            " FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::uuid[], %s::text[], %s::jsonb[],"
            " %s::bigint[]) AS n (id, kind, subject, table_code, round, device, detail, entry)"
            " LEFT JOIN casino_table t ON t.code = n.table_code LEFT JOIN casino_device d ON d.code = n.device"
            " ON CONFLICT (kind, subject) DO NOTHING RETURNING id, kind, subject",
            [
                now,
                [events.uuid7(now) for _ in new],
                [one.kind for one in new],
                [one.subject for one in new],
                [one.table for one in new],
                [one.round for one in new],
                [one.device for one in new],
                [json.dumps(one.detail) for one in new],
                [one.entry for one in new],
            ],
        )
        raised = cursor.fetchall()
    facts = [_fact(flag, by_subject[kind, subject]) for flag, kind, subject in raised]
    if facts:
        events.announce(facts)
    return [by_subject[kind, subject] for _, kind, subject in raised]


def _fact(flag: UUID, raised: Raised) -> Fact:
    return Fact(
        "flag.raised",
        f"flags/{flag}",
        {"kind": raised.kind, "about": raised.subject, "detail": raised.detail, "entry": raised.entry},
        table=raised.table,
        round=raised.round,
    )
