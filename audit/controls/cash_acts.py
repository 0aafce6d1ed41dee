"""I6, I12 and I17 for cash: each act moved what it says, its pieces come to it, and its entry says the same."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books
from settlement.cashier import cash_acts

_MOVED = """
WITH moved AS (
    SELECT c.id, c.kind, c.amount, c.currency, c.gaming_day, c.recorded_at, j.kind AS posted,
           j.currency AS posted_currency, j.gaming_day AS posted_day, j.recorded_at AS posted_at,
           (SELECT coalesce(sum(CASE c.direction WHEN 'in' THEN -e.amount ELSE e.amount END), 0)
              FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
             WHERE e.journal_id = j.id AND a.code LIKE 'external:' || c.means || ':%%') AS outside
      FROM settlement_cashact c JOIN settlement_journal j ON j.id = c.journal_id
     WHERE c.id >= %(since_id)s)
SELECT id, kind || ' of ' || amount || ' ' || currency || ' on ' || gaming_day,
       posted || ' of ' || outside || ' ' || posted_currency || ' on ' || posted_day
  FROM moved
 WHERE (kind, amount, currency, gaming_day, recorded_at)
       IS DISTINCT FROM (posted, outside, posted_currency, posted_day, posted_at)
"""


def moved_as_written(books: Books) -> Iterator[Finding]:
    """Each act's journal is of its kind, day and instant, and moved its amount to or from outside, no more, no less."""
    for id, written, posted in books.rows(_MOVED):
        yield Finding(f"cash/{id}", f"its journal posted {posted}", written)


_PIECES = """
SELECT c.id, c.amount, pieces.value
  FROM settlement_cashact c
 CROSS JOIN LATERAL (SELECT coalesce(sum((line ->> 'denomination')::bigint * (line ->> 'pieces')::bigint), 0) AS value
                       FROM jsonb_array_elements(c.lines) AS line) AS pieces
 WHERE c.id >= %(since_id)s AND pieces.value <> c.amount AND c.kind IN ('buy_in', 'chip_sale', 'chip_redemption')
"""


def pieces_add_up(books: Books) -> Iterator[Finding]:
    """Pieces × denomination = amount, wherever chips changed hands."""
    for id, amount, value in books.rows(_PIECES):
        yield Finding(f"cash/{id}", f"pieces worth {value}", f"{amount}, its amount")


_TWO = """
SELECT id, approved_by_id FROM settlement_cashact
 WHERE id >= %(since_id)s AND approved_by_id IS NOT NULL AND approved_by_id = acted_by_id
"""


def signed_by_another(books: Books) -> Iterator[Finding]:
    """Whoever signed for an act did not do it."""
    for id, person in books.rows(_TWO):
        yield Finding(f"cash/{id}", f"done and signed for by {person}", "two people")


CASH = Pair(
    "cash",
    tuple(cash_acts.ACTIONS.values()),
    """
    SELECT c.id::text, jsonb_build_object(
        'kind', c.kind, 'direction', c.direction, 'means', c.means, 'person', c.person, 'amount', c.amount,
        'currency', c.currency, 'lines', c.lines, 'cage', c.cage, 'till', c.till, 'session', c.session_id,
        'document', c.document, 'gaming_day', c.gaming_day, 'acted_by', c.acted_by_id,
        'approved_by', c.approved_by_id, 'device', c.device_id, 'key', c.key_id, 'happened_at', c.happened_at,
        'journal', c.journal_id, 'at', c.recorded_at)
        || CASE WHEN c.chips_outside IS NULL THEN '{}'
                ELSE jsonb_build_object('chips_outside', c.chips_outside) END
      FROM settlement_cashact c WHERE c.id >= %(since_id)s AND c.recorded_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'act', t.data - 'act' || jsonb_build_object(
        'happened_at', (t.data ->> 'happened_at')::timestamptz, 'kind', t.data #>> '{journal,kind}',
        'journal', t.data #>> '{journal,id}', 'at', t.at)
      FROM told t
    """,
)
