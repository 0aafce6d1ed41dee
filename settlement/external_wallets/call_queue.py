"""What one act owes cashier systems: gathered in memory, written with the act in one statement.

Whoever owes holds the lock of the round's row; so of one wager, calls are numbered and holds end one after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from casino import events
from casino.events import Fact
from settlement.external_wallets import dialects
from settlement.external_wallets.dialects import Request
from settlement.external_wallets.wallet_lookup import Kept, System


@dataclass(frozen=True, slots=True)
class Result:
    """What a wager of a wallet kept elsewhere came to: ``net`` after ``commission``, in minor units."""

    system: System
    round: UUID
    wager: str
    account: str
    stake: int
    net: int
    commission: int
    currency: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A hold under which a net was told that still stands: by the call ``id``, of ``revision``."""

    id: UUID
    revision: int
    net: int
    kept: Kept


@dataclass(frozen=True, slots=True)
class NewCall:
    """A call about to be owed. Its ``id`` is its Idempotency-Key for ever."""

    id: UUID
    kept: Kept
    verb: str
    revision: int
    moves: int
    request: Request
    due_at: datetime
    reverses: UUID | None = None


_ringer: list[Callable[[], None]] = []


def ring_with(ring: Callable[[], None]) -> None:
    """Say what wakes a worker once an act is committed. A bell that fails costs a few seconds: the sweep looks too."""
    _ringer[:] = [ring]


def ring() -> None:
    """Wake whoever sends, once the running act is committed."""
    if _ringer:
        transaction.on_commit(_ringer[0], robust=True)


# One open hold a wager: the old one ends before the new one is made, which is why that waits for the count.
_WRITE = """
WITH over AS (
    UPDATE settlement_externalhold h SET state = n.state, reason = n.reason, ended_at = %(now)s
      FROM unnest(%(ended)s::uuid[], %(states)s::text[], %(reasons)s::text[]) AS n (id, state, reason)
     WHERE h.id = n.id
    RETURNING h.id
), made AS (
    INSERT INTO settlement_externalhold (id, system_id, round_id, wager, account, stake, exposure, currency, late,
        state, reason, asked_at, ended_at)
    SELECT n.id, n.system, n.round, n.wager, n.account, n.stake, n.exposure, n.currency, n.late, n.state, n.reason,
           %(now)s, CASE WHEN n.state <> 'asked' THEN %(now)s::timestamptz END
      FROM unnest(%(made)s::uuid[], %(systems)s::uuid[], %(rounds)s::uuid[], %(wagers)s::text[], %(accounts)s::text[],
                  %(stakes)s::bigint[], %(exposures)s::bigint[], %(currencies)s::text[], %(lates)s::boolean[],
                  %(made_states)s::text[], %(made_reasons)s::text[])
        AS n (id, system, round, wager, account, stake, exposure, currency, late, state, reason)
     WHERE (SELECT count(*) FROM over) >= 0
)
INSERT INTO settlement_externalcall (id, hold_id, place, verb, revision, moves, path, body, reverses_id, written_at,
    state, due_at, attempts, failures, owner, last_result)
SELECT n.id, n.hold,
       coalesce((SELECT max(c.place) FROM settlement_externalhold h JOIN settlement_externalcall c ON c.hold_id = h.id
                  WHERE h.round_id = n.round AND h.wager = n.wager), 0)
       + row_number() OVER (PARTITION BY n.round, n.wager ORDER BY n.ordinal),
       n.verb, n.revision, n.moves, n.path, n.body, n.reverses, %(now)s, 'due', n.due_at, 0, 0, '', ''
  FROM unnest(%(calls)s::uuid[], %(holds)s::uuid[], %(verbs)s::text[], %(revisions)s::int[], %(moves)s::bigint[],
              %(paths)s::text[], %(bodies)s::text[], %(reverses)s::uuid[], %(due)s::timestamptz[],
              %(call_rounds)s::uuid[], %(call_wagers)s::text[]) WITH ORDINALITY
    AS n (id, hold, verb, revision, moves, path, body, reverses, due_at, round, wager, ordinal)
"""


class Dues:
    """What one act owes: holds that end, holds that are made, calls that are to be sent."""

    def __init__(self, *, now: datetime) -> None:
        self.now = now
        self.ended: list[tuple[Kept, str, str]] = []
        self.made: list[Kept] = []
        self.calls: list[NewCall] = []

    def __bool__(self) -> bool:
        return bool(self.ended or self.made or self.calls)

    def ask(self, kept: Kept) -> None:
        """Write down what is about to be asked (``asked``), or that nobody could be (``refused``)."""
        self.made.append(kept)

    def settle(self, kept: Kept | None, result: Result, *, revision: int) -> None:
        """Tell a wager's result under its hold. Where there is none, or none that the result can be told under, one is
        made first."""
        if kept is not None and not dialects.can_settle(kept, result.net):
            self.let_go(kept, state="changed", reason="exposure_exceeded", revision=revision)
            kept = None
        if kept is None:
            kept = self._late(result, revision=revision)
        elif kept.is_open:
            self.ended.append((kept, "settled", ""))
        id = self._id()
        request = dialects.settle(
            kept, call=id, revision=revision, net=result.net, commission=result.commission
        )
        self._owe(id, kept, "settle", revision, request, moves=result.net)

    def let_go(
        self, kept: Kept, *, state: str, reason: str, revision: int = 0, after: timedelta = timedelta()
    ) -> UUID:
        """End a hold without money; ``after`` is when the outbox tries first (somebody else may do so before). Return
        the call's id."""
        if kept.is_open:
            self.ended.append((kept, state, reason))
        id = self._id()
        request = dialects.release(kept, call=id, reason=reason)
        self._owe(id, kept, "release", revision, request, after=after)
        return id

    def take_back(self, settled: Settled, *, reason: str, dispute: UUID | None) -> None:
        """Take back the net that was told last."""
        id = self._id()
        request = dialects.reverse(settled.kept, call=id, settled=settled.id, reason=reason, dispute=dispute)
        self._owe(
            id, settled.kept, "reverse", settled.revision, request, moves=-settled.net, reverses=settled.id
        )

    def _late(self, result: Result, *, revision: int) -> Kept:
        kept = Kept(
            id=self._id(),
            system=result.system,
            round=result.round,
            wager=result.wager,
            account=result.account,
            stake=result.stake,
            exposure=dialects.exposure_after(result.system.dialect, result.net),
            currency=result.currency,
            state="settled",
            late=True,
        )
        self.made.append(kept)
        self._owe(kept.id, kept, "hold", revision, dialects.hold(kept))
        return kept

    def _owe(
        self,
        id: UUID,
        kept: Kept,
        verb: str,
        revision: int,
        request: Request,
        *,
        moves: int = 0,
        reverses: UUID | None = None,
        after: timedelta = timedelta(),
    ) -> None:
        self.calls.append(
            NewCall(id, kept, verb, revision, moves, request, self.now + after, reverses=reverses)
        )

    def _id(self) -> UUID:
        return events.uuid7(self.now)

    def write(self) -> None:
        """Write all of it in one statement, none for nothing; whoever sends is woken once the act is committed."""
        if not self:
            return
        with connection.cursor() as cursor:
            cursor.execute(_WRITE, self._parameters())
        if self.calls:
            ring()

    def _parameters(self) -> dict[str, Any]:
        return {
            "now": self.now,
            "ended": [kept.id for kept, _, _ in self.ended],
            "states": [state for _, state, _ in self.ended],
            "reasons": [reason for _, _, reason in self.ended],
            "made": [kept.id for kept in self.made],
            "systems": [kept.system.id for kept in self.made],
            "rounds": [kept.round for kept in self.made],
            "wagers": [kept.wager for kept in self.made],
            "accounts": [kept.account for kept in self.made],
            "stakes": [kept.stake for kept in self.made],
            "exposures": [kept.exposure for kept in self.made],
            "currencies": [kept.currency for kept in self.made],
            "lates": [kept.late for kept in self.made],
            "made_states": [kept.state for kept in self.made],
            "made_reasons": [kept.reason for kept in self.made],
            "calls": [call.id for call in self.calls],
            "holds": [call.kept.id for call in self.calls],
            "verbs": [call.verb for call in self.calls],
            "revisions": [call.revision for call in self.calls],
            "moves": [call.moves for call in self.calls],
            "paths": [call.request.path for call in self.calls],
            "bodies": [call.request.body for call in self.calls],
            "reverses": [call.reverses for call in self.calls],
            "due": [call.due_at for call in self.calls],
            "call_rounds": [call.kept.round for call in self.calls],
            "call_wagers": [call.kept.wager for call in self.calls],
        }

    def facts(self, tables: dict[UUID, str]) -> list[Fact]:
        """Return what the witness is told of it, round by round; ``tables`` are the rounds' tables by their codes."""
        told: dict[UUID, dict[str, list[Any]]] = {}
        for round in tables:
            told[round] = {
                "made": [_described(kept) for kept in self.made if kept.round == round],
                "ended": [
                    [str(kept.id), state, reason] for kept, state, reason in self.ended if kept.round == round
                ],
                "calls": [described(call) for call in self.calls if call.kept.round == round],
            }
        return [
            Fact("external.owed", f"rounds/{round}", dict(data), table=tables[round], round=round)
            for round, data in told.items()
            if any(data.values())
        ]


def _described(kept: Kept) -> dict[str, Any]:
    return {
        "id": str(kept.id),
        "system": kept.system.code,
        "wager": kept.wager,
        "account": kept.account,
        "stake": kept.stake,
        "exposure": kept.exposure,
        "currency": kept.currency,
        "late": int(kept.late),
    }


def described(call: NewCall) -> dict[str, Any]:
    """Return a call as the witness is told of it: what it says by the hash of its bytes."""
    return {
        "id": str(call.id),
        "hold": str(call.kept.id),
        "verb": call.verb,
        "revision": call.revision,
        "moves": call.moves,
        "path": call.request.path,
        "body_sha256": hashlib.sha256(call.request.body.encode()).hexdigest(),
        "reverses": str(call.reverses) if call.reverses else None,
    }


_STANDING = """
SELECT c.id, c.revision, c.moves, h.id, s.id, s.code, s.prefix, s.dialect, s.enabled, h.round_id, h.wager, h.account,
       h.stake, h.exposure, h.currency, h.state, h.reason, h.late
  FROM settlement_externalhold h JOIN settlement_cashiersystem s ON s.id = h.system_id
  JOIN settlement_externalcall c ON c.hold_id = h.id AND c.verb = 'settle'
 WHERE h.round_id = %s AND NOT EXISTS (SELECT FROM settlement_externalcall r WHERE r.reverses_id = c.id)
"""


def told(round: UUID) -> dict[str, Settled]:
    """Return, by wager, what cashier systems were told of a round and was not taken back. One statement; read it under
    the round's lock."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, [round])
        rows = cursor.fetchall()
    found: dict[str, Settled] = {}
    for call, revision, net, hold, *more in rows:
        system = System(*more[:5])
        kept = Kept(hold, system, *more[5:])
        found[kept.wager] = Settled(call, revision, net, kept)
    return found
