"""Mispays that were found when the chips were gone: what tables count and days report beside what was posted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection


@dataclass(frozen=True, slots=True)
class MispayFound:
    """A wager that was paid ``paid`` where ``due`` was right, in minor units; nothing was put right."""

    round: UUID
    wager: str
    paid: int
    due: int
    currency: str
    recorded_at: datetime

    def described(self) -> dict[str, Any]:
        return {
            "round": str(self.round),
            "wager": self.wager,
            "paid": self.paid,
            "due": self.due,
            "currency": self.currency,
        }


_FOUND = """
SELECT coalesce(r.alias_of_id, r.id), e.payload ->> 'wager', (e.payload #>> '{paid,amount}')::bigint,
       (e.payload #>> '{due,amount}')::bigint, e.payload #>> '{due,currency}', e.recorded_at
  FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id
  LEFT JOIN casino_round stands ON stands.id = r.alias_of_id
 WHERE e.kind = 'mispay_found' AND e.signed <> '' AND e.recorded_at > %(since)s
   AND (%(table)s::uuid IS NULL OR r.table_id = %(table)s)
   AND (%(day)s::date IS NULL OR coalesce(stands.gaming_day, r.gaming_day) = %(day)s)
 ORDER BY e.id
"""


def mispays_found(
    *, since: datetime, table: UUID | None = None, gaming_day: date | None = None
) -> list[MispayFound]:
    """Return the mispays, signed for, that were recorded after ``since``: of a table's rounds, or of rounds of a gaming
    day. In the order recorded, by one statement on an index of their own."""
    with connection.cursor() as cursor:
        cursor.execute(_FOUND, {"since": since, "table": table, "day": gaming_day})
        return [MispayFound(*row) for row in cursor.fetchall()]
