"""Everything that was played with one deck: from where it was opened, or counted, to where it was counted next."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audit.analytics.deck_counts import COUNTED
from casino.models import Round
from casino.platform.refusals import Refusal

_BOUNDS = f"""
SELECT max(c.at) FILTER (WHERE c.at <= %(at)s), min(c.at) FILTER (WHERE c.at > %(at)s)
  FROM ({COUNTED} AND e.table_code = %(table)s) AS c (code, at)
"""  # noqa: S608

_ROUNDS = """
SELECT r.id, r.number, r.session_id, r.standing, coalesce(r.opened_at, r.created_at) AS at, r.cards_seen,
       s.revision, s.house_net,
       coalesce((SELECT jsonb_agg(jsonb_build_object(
            'wager', l.wager, 'hand', l.hand, 'owner', jsonb_build_object(l.owner_kind, l.owner_ref),
            'stake', l.stake, 'multiple', l.multiple, 'net', l.net) ORDER BY l.ordinal)
          FROM settlement_line l WHERE l.settlement_id = s.id AND l.wager <> 'bank'), r.record -> 'wagers',
          '[]')::text AS wagers
  FROM casino_round r
  LEFT JOIN settlement_settlement s ON s.round_id = r.id
   AND NOT EXISTS (SELECT FROM settlement_settlement l WHERE l.supersedes_id = s.id)
 WHERE r.table_id = %(table)s AND r.alias_of_id IS NULL
   AND (r.session_id = %(session)s AND coalesce(r.record ->> 'deck', %(deck)s) = %(deck)s
        OR %(deck)s <> '' AND r.record ->> 'deck' = %(deck)s)
   AND (%(since)s::timestamptz IS NULL OR coalesce(r.opened_at, r.created_at) > %(since)s)
   AND (%(until)s::timestamptz IS NULL OR coalesce(r.opened_at, r.created_at) <= %(until)s)
   AND (%(after_at)s::timestamptz IS NULL OR (r.created_at, r.id) > (%(after_at)s, %(after)s::uuid))
 ORDER BY r.created_at, r.id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Affected:
    """A deck's rounds: ``deck`` its id ("" where the table named none, and the session's deck is meant), ``since``
    and ``until`` when it was counted before and after (None: not)."""

    table: str
    currency: str
    deck: str
    since: datetime | None
    until: datetime | None
    rounds: list[dict[str, Any]]


def affected(*, round: UUID, after: UUID | None, limit: int) -> Affected:
    """Return the rounds of the deck that a round was played with, oldest first, with every wager and result.

    Refuses ``not_found``. Three statements, and one more for the place of ``after``.
    """
    found = Round.objects.select_related("table").filter(pk=round).first()
    if found is None:
        raise Refusal("not_found")
    place = Round.objects.filter(pk=after).first() if after else None
    if after and place is None:
        raise Refusal("invalid_value", fields={"cursor": "not of this list"})
    deck = str((found.record or {}).get("deck", ""))
    at = found.opened_at or found.created_at
    with connection.cursor() as cursor:
        cursor.execute(_BOUNDS, {"at": at, "table": found.table.code})
        since, until = cursor.fetchone()
        cursor.execute(
            _ROUNDS,
            {
                "table": found.table_id, "session": found.session_id, "deck": deck, "since": since, "until": until,
                "after": place.id if place else None, "after_at": place.created_at if place else None, "limit": limit,
            },
        )  # fmt: skip
        names = [column.name for column in cursor.description]
        rounds = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for row in rounds:
        row["wagers"] = json.loads(row["wagers"])
    return Affected(found.table.code, found.table.currency, deck, since, until, rounds)
