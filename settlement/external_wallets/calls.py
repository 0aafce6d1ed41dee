"""The outbox of calls: claimed, sent with nothing held, and tried again until they are acknowledged.

Any number of workers may do this at once. A claim is a lease by the database's clock, and its attempt number fences it.
Of one wager, a call waits until the one before it was acknowledged; of one system, so many are under way at once, so a
slow one keeps only itself waiting. Nothing is ever given up: what was won or lost stays owed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events, upkeep
from casino.events import Fact
from settlement import breaks
from settlement.external_wallets import call_attempt
from settlement.external_wallets.call_attempt import Answer, Letter, Line
from settlement.webhooks import schedule, wire

CALLING = "calling cashier systems"
THREADS = 32
SLOTS = 8
"""How many calls to one system are under way at once, at most."""
SECONDS = 5.0
"""For one try, all of it."""
LONGEST = timedelta(hours=1)
"""Between two tries, whatever the schedule says: this is somebody's money."""

_CLAIM = """
WITH picked AS (
    SELECT c.id FROM settlement_cashiersystem s CROSS JOIN LATERAL (
        SELECT x.id, x.due_at FROM settlement_externalcall x JOIN settlement_externalhold h ON h.id = x.hold_id
         WHERE h.system_id = s.id AND x.state = 'due' AND x.due_at <= %(now)s
           AND NOT EXISTS (SELECT FROM settlement_externalhold k JOIN settlement_externalcall b ON b.hold_id = k.id
                            WHERE k.round_id = h.round_id AND k.wager = h.wager AND b.place < x.place
                              AND b.state <> 'acknowledged')
         ORDER BY x.due_at, x.id
         LIMIT greatest(0, %(slots)s - (SELECT count(*) FROM settlement_externalcall u
                                          JOIN settlement_externalhold k ON k.id = u.hold_id
                                         WHERE k.system_id = s.id AND u.state = 'claimed'))
         FOR UPDATE OF x SKIP LOCKED
    ) c
    ORDER BY row_number() OVER (PARTITION BY s.id ORDER BY c.due_at, c.id), s.id LIMIT %(room)s
)
UPDATE settlement_externalcall c
   SET state = 'claimed', attempts = c.attempts + 1, owner = %(owner)s,
       lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
  FROM picked p, settlement_externalhold h, settlement_cashiersystem s
  LEFT JOIN settlement_approvedtarget t ON t.host = s.host AND t.port = s.port AND t.withdrawn_at IS NULL
 WHERE c.id = p.id AND h.id = c.hold_id AND s.id = h.system_id
RETURNING c.id, c.attempts, c.failures, c.path, c.body, s.url, s.host, s.port, t.ranges, s.secret
"""

_FAILED = """
UPDATE settlement_externalcall c
   SET state = 'due', lease_until = NULL, failures = n.failures, due_at = n.due_at, last_result = n.result
  FROM unnest(%(ids)s::uuid[], %(numbers)s::int[], %(failures)s::int[], %(due)s::timestamptz[], %(results)s::text[])
       AS n (id, number, failures, due_at, result)
 WHERE c.id = n.id AND c.state = 'claimed' AND c.attempts = n.number
"""

# A call that is due or claimed, whoever tried it: what the other side acknowledged, it acknowledged.
_ACKNOWLEDGE = """
UPDATE settlement_externalcall c
   SET state = 'acknowledged', lease_until = NULL, acknowledged_at = %(now)s, last_result = 'done'
 WHERE c.id = ANY(%(ids)s) AND c.state <> 'acknowledged'
RETURNING c.id
"""

_REQUEUE = """
UPDATE settlement_externalcall SET state = 'due', lease_until = NULL, last_result = 'lease_over'
 WHERE state = 'claimed' AND lease_until < clock_timestamp()
"""

Send = Callable[..., Answer]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claimed call: ``number`` is the attempt that fences what is written of it."""

    letter: Letter
    number: int
    failures: int


def call(
    *, owner: str, clock: Callable[[], datetime], until: datetime, send: Send = call_attempt.send
) -> int:
    """Send what is due until nothing is or it is ``until``; return how many tries were made. Raises HeldMeanwhile
    inside a transaction."""
    wire.require_nothing_held()
    tried = 0
    under_way: dict[Future[Answer], Claim] = {}
    with ThreadPoolExecutor(max_workers=THREADS) as threads:
        while True:
            now = clock()
            if now < until:
                for claimed in claim(owner=owner, now=now, room=THREADS - len(under_way)):
                    under_way[threads.submit(send, claimed.letter, now=now, seconds=SECONDS)] = claimed
            if not under_way:
                return tried
            over, _ = wait(under_way, return_when=FIRST_COMPLETED)
            answers = [(under_way.pop(one), one.result()) for one in over]
            upkeep.together(
                CALLING,
                answers,
                lambda some: finish(some, owner=owner, now=clock()),
                named=lambda one: f"external-calls/{one[0].letter.id}",
                clock=clock,
            )
            tried += len(answers)


def claim(*, owner: str, now: datetime, room: int) -> list[Claim]:
    """Claim up to ``room`` calls that are due. One statement, committed before anything is sent."""
    if room <= 0:
        return []
    lease: float = settings.WEBHOOKS["lease_seconds"]
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"now": now, "owner": owner, "room": room, "slots": SLOTS, "lease": lease})
        rows = sorted(cursor.fetchall())
    return [
        Claim(Letter(id, Line(*how), path, body), number, failures)
        for id, number, failures, path, body, *how in rows
    ]


def finish(answers: Sequence[tuple[Claim, Answer]], *, owner: str, now: datetime) -> None:
    """Write down what came of these tries: an acknowledgement in an act of its own, which ends its break; a failure
    only where the claim still stands, for a later try."""
    done = [claimed.letter.id for claimed, answer in answers if answer.outcome == call_attempt.DONE]
    failed = [(claimed, answer) for claimed, answer in answers if answer.outcome != call_attempt.DONE]
    if failed:
        _failed(failed, now=now)
    if done:
        events.attempt(
            lambda act: _acknowledged(done, now=act.now), actor=events.SERVICE, request_id=owner, now=now
        )


def acknowledge(ids: Sequence[UUID], *, now: datetime) -> list[UUID]:
    """Let these calls be over and return those that were not yet, sorted; the act says so to the witness."""
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_ACKNOWLEDGE, {"ids": list(ids), "now": now})
        return sorted(id for (id,) in cursor.fetchall())


def requeue() -> int:
    """Make due again what a worker claimed and did not finish within its lease; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(_REQUEUE)
        return int(cursor.rowcount)


def _acknowledged(ids: Sequence[UUID], *, now: datetime) -> None:
    over = acknowledge(ids, now=now)
    if not over:
        return
    events.announce([Fact("external.acknowledged", f"external-calls/{id}", {}) for id in over])
    breaks.cleared(
        code="MISSING_SOURCE", subjects=[f"external-calls/{id}" for id in over], reason="acknowledged"
    )


def _failed(failed: Sequence[tuple[Claim, Answer]], *, now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            _FAILED,
            {
                "ids": [claimed.letter.id for claimed, _ in failed],
                "numbers": [claimed.number for claimed, _ in failed],
                "failures": [claimed.failures + 1 for claimed, _ in failed],
                "due": [_next_try(claimed, now=now) for claimed, _ in failed],
                "results": [(answer.code or answer.result)[:40] for _, answer in failed],
            },
        )


def _next_try(claimed: Claim, *, now: datetime) -> datetime:
    due = schedule.next_try(
        failures=claimed.failures + 1, now=now, delivery=claimed.letter.id.int & (1 << 62) - 1
    )
    return min(due or now + LONGEST, now + LONGEST)
