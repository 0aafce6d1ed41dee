"""What earlier revisions of a round took from wallets, and what these could give."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection


@dataclass(frozen=True, slots=True)
class History:
    """``wallets`` are those that a revision moved, and ``mirrors`` those of cashier systems. ``given`` is, for each
    wallet that was short in one of them, what it gave for the round at the last time (minor units; below zero: it had
    even less than what was taken back)."""

    wallets: frozenset[str]
    mirrors: frozenset[str]
    given: dict[str, int]


_MOVED = """
SELECT a.code, coalesce(sum(e.amount) FILTER (WHERE e.journal_id = s.journal_id), 0)::bigint,
       coalesce(sum(e.amount) FILTER (WHERE e.journal_id = s.shortfall_id), 0)::bigint
  FROM settlement_settlement s
  JOIN settlement_entry e ON e.journal_id = ANY(ARRAY[s.journal_id, s.shortfall_id])
  JOIN settlement_account a ON a.id = e.account_id
 WHERE s.round_id = %s AND a.kind IN ('wallet', 'external') GROUP BY s.revision, a.code ORDER BY s.revision
"""


def of(round_id: UUID) -> History:
    """Return what the revisions of a round did to wallets. One statement; read it under the round's lock."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVED, [round_id])
        rows = cursor.fetchall()
    moved = {code for code, _, _ in rows}
    wallets = frozenset(code for code in moved if code.startswith("player:"))
    return History(
        wallets,
        frozenset(moved - wallets),
        {code: -given - lent for code, given, lent in rows if lent},
    )
