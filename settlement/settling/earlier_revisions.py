"""What earlier revisions of a round took from wallets, what these could give, and what their owners were told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from settlement import ledger
from settlement.ledger import NewJournal
from settlement.models import Line, Settlement
from settlement.settling.line_rows import LINE_FIELDS, sums_of


@dataclass(frozen=True, slots=True)
class History:
    """``wallets`` are those that a revision moved, and ``mirrors`` those of cashier systems. ``given`` is, for each
    wallet that was short in one of them, what it gave for the round at the last time (minor units; below zero: it had
    even less than what was taken back). ``lines`` are those of the last revision as they are stored, ``sums`` what
    its lines come to by account, and ``told`` the journal under which each account was told that sum (None: of none).
    """

    wallets: frozenset[str]
    mirrors: frozenset[str]
    given: dict[str, int]
    lines: list[list[Any]]
    sums: dict[str, int]
    told: dict[str, UUID | None]

    def unmoved_by(self, stored: Sequence[tuple[Any, ...]]) -> frozenset[str]:
        """Return the accounts whose sum these lines leave as it is: their owners are told nothing."""
        sums = sums_of(stored)
        accounts = sums.keys() | self.sums.keys()
        return frozenset(code for code in accounts if sums.get(code, 0) == self.sums.get(code, 0))


def kept_of(before: Settlement) -> dict[str, tuple[UUID, NewJournal]]:
    """Return the journals of a revision that the next one leaves standing, by their parts. One statement at most."""
    ids = {"journal": before.journal_id, "shortfall": before.shortfall_id}
    found = {part: id for part, id in ids.items() if id is not None}
    posted = ledger.posted_as(list(found.values())) if found else []
    return {part: (id, journal) for (part, id), journal in zip(found.items(), posted, strict=True)}


_MOVED = """
SELECT a.code, coalesce(sum(e.amount) FILTER (WHERE e.journal_id = s.journal_id), 0)::bigint,
       coalesce(sum(e.amount) FILTER (WHERE e.journal_id = s.shortfall_id), 0)::bigint
  FROM settlement_settlement s
  JOIN settlement_entry e ON e.journal_id = ANY(ARRAY[s.journal_id, s.shortfall_id])
  JOIN settlement_account a ON a.id = e.account_id
 WHERE s.round_id = %s AND a.kind IN ('wallet', 'external') GROUP BY s.revision, a.code ORDER BY s.revision
"""


def of(round_id: UUID) -> History:
    """Return what the revisions of a round did to wallets. Three statements; read it under the round's lock."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVED, [round_id])
        rows = cursor.fetchall()
    moved = {code for code, _, _ in rows}
    wallets = frozenset(code for code in moved if code.startswith("player:"))
    sums, told = _told(round_id)
    return History(
        wallets,
        frozenset(moved - wallets),
        {code: -given - lent for code, given, lent in rows if lent},
        _lines_of_the_last(round_id),
        sums,
        told,
    )


def _lines_of_the_last(round_id: UUID) -> list[list[Any]]:
    last = Settlement.objects.filter(round=round_id).order_by("-revision").values("id")[:1]
    stored = Line.objects.filter(settlement__in=last).order_by("ordinal")
    return [list(line) for line in stored.values_list(*LINE_FIELDS)]


_SUMS = """
SELECT s.revision, s.journal_id, coalesce(
       (SELECT jsonb_object_agg(l.account, l.net)
          FROM (SELECT account, sum(net) AS net FROM settlement_line WHERE settlement_id = s.id
                 GROUP BY account) l), '{}')
       ::text
  FROM settlement_settlement s WHERE s.round_id = %s ORDER BY s.revision
"""


def _told(round_id: UUID) -> tuple[dict[str, int], dict[str, UUID | None]]:
    """Return the last sums by account, and the journal of the first revision since which each is what it is: the later
    ones told its owner nothing."""
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, [round_id])
        rows = [(journal, json.loads(sums)) for _, journal, sums in cursor.fetchall()]
    before: dict[str, int] = {}
    told: dict[str, UUID | None] = {}
    for journal, sums in rows:
        for account in sums.keys() | before.keys():
            if account not in told or sums.get(account, 0) != before.get(account, 0):
                told[account] = journal
        before = sums
    return before, told
