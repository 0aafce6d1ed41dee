"""Ask cashier systems for holds, between two acts: the first wrote down what is asked, the second stores the answers.

Everything that is not a plain yes or no, given in time, is a no; what may have been set aside all the same is released
by the outbox until that is acknowledged.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from settlement.external_wallets import call_attempt, call_queue, calls, dialects
from settlement.external_wallets.call_attempt import Answer, Letter, Line
from settlement.external_wallets.call_queue import NewCall, described
from settlement.external_wallets.wallet_lookup import Kept
from settlement.webhooks import wire

SILENT = "cashier_system_silent"
DISABLED = "cashier_system_disabled"
_KNOWN = frozenset({"insufficient_funds", "unknown_wallet"})


@dataclass(frozen=True, slots=True)
class Question:
    """What one act wrote down to be asked now: ``holds``, and before them ``releases`` of holds whose bets changed, so
    that what those had set aside can be set aside again."""

    round: UUID
    table: str
    asked_at: datetime
    holds: tuple[Kept, ...] = ()
    releases: tuple[NewCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of it, by hold and by call."""

    holds: Mapping[UUID, Answer]
    releases: Mapping[UUID, Answer]


@dataclass(frozen=True, slots=True)
class Taken:
    """What is set aside elsewhere now. ``refused`` names the reason, and what the wallet has left if that is known."""

    held: tuple[Kept, ...] = ()
    refused: tuple[tuple[Kept, str, int | None], ...] = field(default=())


def ask(question: Question, *, seconds: float) -> Answers:
    """Ask for everything at once and wait so many seconds at most, for all of it together. Raises HeldMeanwhile inside
    a transaction."""
    wire.require_nothing_held()
    lines = call_attempt.lines(
        {kept.system.id for kept in question.holds} | {c.kept.system.id for c in question.releases}
    )
    deadline = time.monotonic() + seconds
    released = _sent(
        [_letter(call.id, call.request, lines[call.kept.system.id]) for call in question.releases],
        question,
        deadline=deadline,
    )
    held = _sent(
        [_letter(kept.id, dialects.hold(kept), lines[kept.system.id]) for kept in question.holds],
        question,
        deadline=deadline,
    )
    return Answers(held, released)


def _letter(id: UUID, request: dialects.Request, line: Line) -> Letter:
    return Letter(id, line, request.path, request.body)


def _sent(letters: Sequence[Letter], question: Question, *, deadline: float) -> dict[UUID, Answer]:
    if not letters:
        return {}
    with ThreadPoolExecutor(max_workers=len(letters)) as threads:
        left = deadline - time.monotonic()
        under_way = {
            letter.id: threads.submit(call_attempt.send, letter, now=question.asked_at, seconds=left)
            for letter in letters
        }
        return {id: one.result() for id, one in under_way.items()}


_TAKE = """
WITH told AS (
    SELECT * FROM unnest(%(holds)s::uuid[], %(states)s::text[], %(reasons)s::text[]) AS n (id, state, reason)
), answered AS (
    UPDATE settlement_externalhold h
       SET state = n.state, reason = n.reason, answered_at = %(now)s,
           ended_at = CASE WHEN n.state = 'refused' THEN %(now)s::timestamptz END
      FROM told n WHERE h.id = n.id AND h.state = 'asked'
    RETURNING h.id, h.round_id, h.wager
), owed AS (
    INSERT INTO settlement_externalcall (id, hold_id, place, verb, revision, moves, path, body, written_at, state,
        due_at, attempts, failures, owner, last_result)
    SELECT n.id, n.hold,
           coalesce((SELECT max(c.place) FROM settlement_externalhold h
                       JOIN settlement_externalcall c ON c.hold_id = h.id
                      WHERE h.round_id = a.round_id AND h.wager = a.wager), 0) + 1,
           'release', 0, 0, n.path, n.body, %(now)s, 'due', %(now)s, 0, 0, '', ''
      FROM unnest(%(calls)s::uuid[], %(of)s::uuid[], %(paths)s::text[], %(bodies)s::text[]) AS n (id, hold, path, body)
      JOIN answered a ON a.id = n.hold
)
SELECT id FROM answered
"""


def take(question: Question, answers: Answers, *, now: datetime) -> Taken:
    """Store what was answered and owe the release of whatever may have been set aside without our knowing.

    A hold that somebody ended meanwhile (the bet changed, the round was voided) is refused, and its release is owed
    already. Under the lock of the round's row; two statements, three with releases to acknowledge, besides the witness.
    """
    tombstones = [
        _tombstone(kept, now=now)
        for kept in question.holds
        if answers.holds[kept.id].outcome == call_attempt.UNCLEAR
    ]
    stored = _store(question, answers, tombstones, now=now)
    acknowledged = calls.acknowledge(
        [id for id, answer in answers.releases.items() if answer.outcome == call_attempt.DONE], now=now
    )
    taken = _taken(question, answers, stored)
    events.announce([_fact(question, taken, tombstones, stored=stored, acknowledged=acknowledged)])
    if tombstones:
        call_queue.ring()
    return taken


def _store(
    question: Question, answers: Answers, tombstones: Sequence[NewCall], *, now: datetime
) -> frozenset[UUID]:
    """Write the answers that are still waited for; return the holds whose answers those were."""
    words: list[tuple[UUID, str, str]] = []
    for kept in question.holds:
        answer = answers.holds[kept.id]
        done = answer.outcome == call_attempt.DONE
        words.append((kept.id, "held" if done else "refused", "" if done else _reason(answer)))
    parameters: dict[str, Any] = {
        "now": now,
        "holds": [id for id, _, _ in words],
        "states": [state for _, state, _ in words],
        "reasons": [reason for _, _, reason in words],
        "calls": [call.id for call in tombstones],
        "of": [call.kept.id for call in tombstones],
        "paths": [call.request.path for call in tombstones],
        "bodies": [call.request.body for call in tombstones],
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, parameters)
        return frozenset(id for (id,) in cursor.fetchall())


def _tombstone(kept: Kept, *, now: datetime) -> NewCall:
    id = events.uuid7(now)
    request = dialects.release(kept, call=id, reason="not_answered")
    return NewCall(id, kept, "release", 0, 0, request, now)


def _taken(question: Question, answers: Answers, stored: frozenset[UUID]) -> Taken:
    held: list[Kept] = []
    refused: list[tuple[Kept, str, int | None]] = []
    for kept in question.holds:
        answer = answers.holds[kept.id]
        if kept.id not in stored:
            refused.append((kept, "changed", None))
        elif answer.outcome == call_attempt.DONE:
            held.append(kept)
        else:
            refused.append((kept, _reason(answer), answer.available))
    return Taken(tuple(held), tuple(refused))


def _reason(answer: Answer) -> str:
    if answer.outcome == call_attempt.UNCLEAR:
        return SILENT
    return answer.code if answer.code in _KNOWN else "cashier_system_refused"


def _fact(
    question: Question,
    taken: Taken,
    tombstones: Sequence[NewCall],
    *,
    stored: frozenset[UUID],
    acknowledged: Sequence[UUID],
) -> Fact:
    return Fact(
        "external.answered",
        f"rounds/{question.round}",
        {
            "held": [str(kept.id) for kept in taken.held],
            "refused": [[str(kept.id), reason] for kept, reason, _ in taken.refused if kept.id in stored],
            "calls": [described(call) for call in tombstones if call.kept.id in stored],
            "acknowledged": [str(id) for id in acknowledged],
        },
        table=question.table,
        round=question.round,
    )
