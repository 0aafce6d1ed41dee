"""Where the house stands with cashier systems: what is unanswered, what is not acknowledged, what the mirrors show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events, upkeep
from casino.events import Act, Fact
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import breaks
from settlement.breaks import NewBreak
from settlement.external_wallets import calls as calling
from settlement.external_wallets.call_queue import Dues
from settlement.external_wallets.hold_requests import SILENT
from settlement.external_wallets.wallet_lookup import Kept, System
from settlement.models import ExternalCall

refusals.register("call_acknowledged", 409, "The other side acknowledged this call.", "อีกฝั่งยืนยันรายการนี้แล้ว")

UNANSWERED = timedelta(seconds=30)
"""After this a hold whose answer was never stored is let go: whoever asked is gone."""
MOST = 500


@dataclass(frozen=True, slots=True)
class Mirror:
    """What a system has of a table's play by our books, in minor units (below zero: it owes so much), and how much of
    that it has not acknowledged: its own books should show ``balance − unacknowledged``."""

    system: str
    table: str
    currency: str
    balance: int
    calls: int
    unacknowledged: int
    oldest: datetime | None


_MIRRORS = """
WITH told AS (
    SELECT s.code AS system, t.code AS table_code, h.currency, count(*) AS calls, sum(c.moves)::bigint AS moves,
           min(c.written_at) AS oldest
      FROM settlement_externalcall c JOIN settlement_externalhold h ON h.id = c.hold_id
      JOIN settlement_cashiersystem s ON s.id = h.system_id
      JOIN casino_round r ON r.id = h.round_id JOIN casino_table t ON t.id = r.table_id
     WHERE c.state IN ('due', 'claimed') GROUP BY 1, 2, 3
), mirrored AS (
    SELECT s.code AS system, split_part(a.code, ':', 3) AS table_code, a.currency, a.balance
      FROM settlement_cashiersystem s JOIN settlement_account a
        ON a.kind = 'external' AND starts_with(a.code, 'external:' || s.code || ':')
)
SELECT system, table_code, currency, coalesce(m.balance, 0), coalesce(t.calls, 0), coalesce(t.moves, 0), t.oldest
  FROM mirrored m FULL JOIN told t USING (system, table_code, currency)
 ORDER BY system, table_code, currency
"""


def mirrors() -> list[Mirror]:
    """Return every mirror with what is not acknowledged of it, by system and table. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_MIRRORS)
        return [Mirror(*row) for row in cursor.fetchall()]


def replay(call: UUID) -> ExternalCall:
    """Make a call due now, with the whole schedule before it. Refuses ``not_found``, and ``call_acknowledged``. Must
    run in an act."""
    act = events.current()
    found = ExternalCall.objects.select_for_update(no_key=True).filter(pk=call).first()
    if found is None:
        raise Refusal("not_found")
    if found.state == ExternalCall.State.ACKNOWLEDGED:
        raise Refusal("call_acknowledged")
    if found.state == ExternalCall.State.DUE:
        found.due_at, found.failures = act.now, 0
        found.save(update_fields=["due_at", "failures"])
    events.announce([Fact("external.replayed", f"external-calls/{call}", {"attempts": found.attempts})])
    return found


# -- what the sweep does ---------------------------------------------------------------------------------------


def watch(*, acting: Callable[[Callable[[Act], int]], int], clock: Callable[[], datetime]) -> int:
    """Take up again what a worker left, let go of holds whose answers nobody stored, open breaks for calls that are not
    acknowledged in time; return how much there was. ``acting`` runs an act; each round is one of its own."""
    left, let_go = calling.requeue(), 0

    def do(round: UUID) -> None:
        nonlocal let_go
        let_go += acting(partial(_let_go, round))

    upkeep.each(
        "letting holds go", _unanswered(now=clock()), do, named=lambda one: f"rounds/{one}", clock=clock
    )
    overdue = upkeep.together(
        "calls not acknowledged",
        _overdue(now=clock()),
        lambda calls: acting(partial(_opened, calls)),
        named=lambda call: f"external-calls/{call}",
        clock=clock,
    )
    return left + let_go + overdue


_UNANSWERED = """
SELECT DISTINCT round_id FROM settlement_externalhold WHERE state = 'asked' AND asked_at < %s LIMIT %s
"""

_LOCKED = """
SELECT r.id, t.code FROM casino_round r JOIN casino_table t ON t.id = r.table_id WHERE r.id = %s FOR UPDATE OF r
"""

_ASKED = """
SELECT h.id, s.id, s.code, s.prefix, s.dialect, s.enabled, h.round_id, h.wager, h.account, h.stake, h.exposure,
       h.currency, h.state FROM settlement_externalhold h JOIN settlement_cashiersystem s ON s.id = h.system_id
 WHERE h.round_id = %s AND h.state = 'asked' AND h.asked_at < %s ORDER BY h.id
"""


def _unanswered(*, now: datetime) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_UNANSWERED, [now - UNANSWERED, MOST])
        return [round for (round,) in cursor.fetchall()]


def _let_go(round: UUID, act: Act) -> int:
    """Refuse the holds of a round whose answers nobody stored, and owe their release; return how many."""
    dues = Dues(now=act.now)
    with connection.cursor() as cursor:
        cursor.execute(_LOCKED, [round])
        (_, table) = cursor.fetchone()
        cursor.execute(_ASKED, [round, act.now - UNANSWERED])
        for id, *more in cursor.fetchall():
            kept = Kept(id, System(*more[:5]), *more[5:])
            dues.let_go(kept, state="refused", reason=SILENT)
    dues.write()
    facts = dues.facts({round: table})
    if facts:
        events.announce(facts)
    return len(dues.ended)


_OVERDUE = """
SELECT c.id FROM settlement_externalcall c WHERE c.state IN ('due', 'claimed') AND c.written_at < %s
   AND NOT EXISTS (SELECT FROM settlement_break b WHERE b.code = 'MISSING_SOURCE' AND b.state <> 'matched'
                      AND b.subject = 'external-calls/' || c.id)
 ORDER BY c.written_at, c.id LIMIT %s
"""


_OF_CALLS = """
SELECT c.id, c.verb, c.revision, c.moves, c.written_at, h.id, h.round_id, h.exposure, h.currency, s.code
  FROM settlement_externalcall c JOIN settlement_externalhold h ON h.id = c.hold_id
  JOIN settlement_cashiersystem s ON s.id = h.system_id
 WHERE c.id = ANY(%s) ORDER BY c.written_at, c.id
"""


def _limit() -> timedelta:
    return timedelta(minutes=settings.CASHIER_SYSTEMS["overdue_minutes"])


def _overdue(*, now: datetime) -> list[UUID]:
    """Return the calls that were not acknowledged in the time of the property and have no break yet."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERDUE, [now - _limit(), MOST])
        return [call for (call,) in cursor.fetchall()]


def _opened(calls: Sequence[UUID], _: Act) -> int:
    """Open a break for each of these calls; return how many. Its acknowledgement ends it."""
    with connection.cursor() as cursor:
        cursor.execute(_OF_CALLS, [list(calls)])
        rows = cursor.fetchall()
    breaks.found([_unacknowledged(*row, limit=_limit()) for row in rows])
    return len(rows)


def _unacknowledged(
    id: UUID,
    verb: str,
    revision: int,
    moves: int,
    written_at: datetime,
    hold: UUID,
    round: UUID,
    exposure: int,
    currency: str,
    system: str,
    *,
    limit: timedelta,
) -> NewBreak:
    detail: dict[str, Any] = {
        "system": system,
        "verb": verb,
        "revision": revision,
        "hold": str(hold),
        "round": str(round),
        "exposure": exposure,
    }
    return NewBreak(
        "MISSING_SOURCE",
        f"external-calls/{id}",
        "unacknowledged",
        detail,
        amount=moves,
        currency=currency,
        fell_due_at=written_at + limit,
    )
