"""Deliver what is due: claim, send with nothing held, write down what came of it.

Any number of workers may do this at once. A claim is a lease by the database's clock, and its attempt number fences it:
whoever comes back after the lease was over and the delivery claimed again writes nothing.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events, upkeep
from casino.events import Fact
from settlement.models import Delivery, Endpoint
from settlement.webhooks import endpoints, schedule, sending
from settlement.webhooks.sending import Answer, Letter

log = logging.getLogger("pokdeng.webhooks")

DELIVERING = "delivering"
THREADS = 32
TOGETHER = 0.02
"""Seconds in which answers are gathered, so that quick ones are written down together."""
PAUSE = timedelta(seconds=30)
"""For how long nothing is sent to a receiver that says it is overloaded and not for how long."""

Send = Callable[..., Answer]

# Endpoints first, then of each the oldest that are due, as many as it has free slots; one of each before the second of
# any. Rows that another worker looks at are passed over: it takes them.
_CLAIM = """
WITH open AS (
    SELECT e.id, e.slots FROM settlement_endpoint e
     WHERE e.state <> 'disabled' AND (e.not_before IS NULL OR e.not_before <= %(now)s)
       AND EXISTS (SELECT FROM settlement_delivery d
                    WHERE d.endpoint_id = e.id AND d.state = 'due' AND d.due_at <= %(now)s)
     ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED
), picked AS (
    SELECT d.id FROM open o CROSS JOIN LATERAL (
        SELECT x.id, x.due_at FROM settlement_delivery x
         WHERE x.endpoint_id = o.id AND x.state = 'due' AND x.due_at <= %(now)s
         ORDER BY x.due_at, x.id
         LIMIT greatest(0, o.slots - (SELECT count(*) FROM settlement_delivery c
                                       WHERE c.endpoint_id = o.id AND c.state = 'claimed'))
         FOR UPDATE SKIP LOCKED
    ) d
    ORDER BY row_number() OVER (PARTITION BY o.id ORDER BY d.due_at, d.id), o.id LIMIT %(room)s
)
UPDATE settlement_delivery d
   SET state = 'claimed', attempts = d.attempts + 1, owner = %(owner)s,
       lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
  FROM picked p, settlement_message m, settlement_endpoint e
  LEFT JOIN settlement_approvedtarget t ON t.host = e.host AND t.port = e.port AND t.withdrawn_at IS NULL
 WHERE d.id = p.id AND m.id = d.message_id AND e.id = d.endpoint_id
RETURNING d.id, d.attempts, d.failures, d.endpoint_id, m.id, m.body, e.url, e.host, e.port, t.ranges,
          e.secret, e.previous_secret, e.previous_until
"""

_REQUEUE = """
UPDATE settlement_delivery SET state = 'due', lease_until = NULL, last_result = 'lease_over'
 WHERE state = 'claimed' AND lease_until < clock_timestamp()
"""

_FINISH = """
WITH told AS (
    SELECT * FROM unnest(%(ids)s::bigint[], %(numbers)s::int[], %(states)s::text[], %(due)s::timestamptz[],
                         %(failures)s::smallint[], %(results)s::text[], %(statuses)s::smallint[],
                         %(sent)s::timestamptz[], %(spent)s::int[])
        AS n (id, number, state, due_at, failures, result, status, sent_at, milliseconds)
), finished AS (
    UPDATE settlement_delivery d
       SET state = n.state, due_at = coalesce(n.due_at, d.due_at), failures = n.failures, last_result = n.result,
           lease_until = NULL, finished_at = CASE WHEN n.state <> 'due' THEN n.sent_at END
      FROM told n WHERE d.id = n.id AND d.state = 'claimed' AND d.attempts = n.number
    RETURNING d.id
), kept AS (
    INSERT INTO settlement_attempt (delivery_id, number, sent_at, milliseconds, status, result)
    SELECT n.id, n.number, n.sent_at, n.milliseconds, n.status, n.result
      FROM told n JOIN finished f ON f.id = n.id ORDER BY n.id
)
SELECT id FROM finished
"""


def deliver(*, owner: str, clock: Callable[[], datetime], until: datetime, send: Send = sending.send) -> int:
    """Send what is due, until nothing is or it is ``until``; return how many tries were made.

    Each endpoint has its own slots and each try its own thread, so whoever is slow keeps only itself waiting. Begins
    with what a worker claimed and did not finish within its lease.
    """
    events.attempt(lambda _: requeue(), actor=events.SERVICE, request_id=owner, now=clock())
    tried = 0
    under_way: dict[Future[Answer], Letter] = {}
    with ThreadPoolExecutor(max_workers=THREADS) as threads:
        while True:
            now = clock()
            if now < until:
                for letter in claim(owner=owner, now=now, room=THREADS - len(under_way), clock=clock):
                    under_way[threads.submit(send, letter, now=clock())] = letter
            if not under_way:
                return tried
            over, _ = wait(under_way, timeout=TOGETHER)
            if not over:
                over, _ = wait(under_way, return_when=FIRST_COMPLETED)
            answers = [(under_way.pop(one), one.result()) for one in over]
            _finished(answers, owner=owner, clock=clock)
            tried += len(answers)


def _finished(answers: Sequence[tuple[Letter, Answer]], *, owner: str, clock: Callable[[], datetime]) -> None:
    """Write down what came of these tries, together where that can be done, else one by one."""
    upkeep.together(
        DELIVERING,
        answers,
        lambda some: events.attempt(
            lambda _: finish(some), actor=events.SERVICE, request_id=owner, now=clock()
        ),
        named=lambda one: f"deliveries/{one[0].delivery}",
        clock=clock,
    )


def claim(
    *, owner: str, now: datetime, room: int, clock: Callable[[], datetime] | None = None
) -> list[Letter]:
    """Claim up to ``room`` deliveries that are due at ``now`` for ``owner``. One statement, which is committed before
    anything is sent. A delivery that cannot be made into a letter is a try that failed."""
    if room <= 0:
        return []
    lease: float = settings.WEBHOOKS["lease_seconds"]
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"now": now, "room": room, "owner": owner, "lease": lease})
        rows = cursor.fetchall()
    letters, unfit = [], []
    for row in sorted(rows, key=lambda row: row[0]):
        try:
            letters.append(_letter(row, now=now))
        except Exception as fault:
            log.exception("delivery %d cannot be signed", row[0])
            upkeep.put_aside(DELIVERING, f"deliveries/{row[0]}", fault, now=now)
            unfit.append((_unsigned(row), Answer("not_sent", now)))
    if unfit:
        _finished(unfit, owner=owner, clock=clock or (lambda: now))
    return letters


def _unsigned(row: tuple[Any, ...]) -> Letter:
    """What is known of a delivery whose letter cannot be written."""
    delivery, number, failures, endpoint, message, body, url, host, port, ranges, *_ = row
    return Letter(delivery, number, failures, endpoint, message, body.encode(), url, host, port, ranges, ())


def _letter(row: tuple[Any, ...], *, now: datetime) -> Letter:
    delivery, number, failures, endpoint, message, body, url, host, port, ranges, secret, previous, until = (
        row
    )
    return Letter(
        delivery=delivery,
        number=number,
        failures=failures,
        endpoint=endpoint,
        message=message,
        body=body.encode(),
        url=url,
        host=host,
        port=port,
        ranges=ranges,
        secrets=endpoints.secrets_of(secret=secret, previous=previous, until=until, now=now),
    )


def finish(answers: Sequence[tuple[Letter, Answer]]) -> list[int]:
    """Write down what came of these tries, and return the deliveries that were still the claims they were sent under:
    of the others nothing is written. Must run in an act."""
    now = events.current().now
    by_endpoint: dict[UUID, list[tuple[Letter, Answer]]] = defaultdict(list)
    for letter, answer in answers:
        by_endpoint[letter.endpoint].append((letter, answer))
    # Endpoints before their deliveries, as whoever claims and whoever disables takes them.
    rows = endpoints.locked_all(by_endpoint)
    kept = set(_written(answers, now=now))
    facts: list[Fact] = []
    for row in rows:
        ours = [(letter, answer) for letter, answer in by_endpoint[row.id] if letter.delivery in kept]
        if ours:
            facts += _learned(row, ours, now=now)
    if facts:
        events.announce(facts)
    return sorted(kept)


def requeue() -> int:
    """Make due again what a worker claimed and did not finish within its lease; return how many. Must run in an act,
    as giving up what is due to a disabled endpoint is one."""
    with connection.cursor() as cursor:
        cursor.execute(_REQUEUE)
        over = cursor.rowcount
    endpoints.give_up_due(endpoints.closed_with_something_due())
    return over


def _written(answers: Sequence[tuple[Letter, Answer]], *, now: datetime) -> list[int]:
    after = [_after(letter, answer, now=now) for letter, answer in answers]
    with connection.cursor() as cursor:
        cursor.execute(
            _FINISH,
            {
                "ids": [letter.delivery for letter, _ in answers],
                "numbers": [letter.number for letter, _ in answers],
                "states": [state for state, _, _ in after],
                "due": [due for _, due, _ in after],
                "failures": [failures for _, _, failures in after],
                "results": [answer.result for _, answer in answers],
                "statuses": [answer.status for _, answer in answers],
                "sent": [answer.sent_at for _, answer in answers],
                "spent": [answer.milliseconds for _, answer in answers],
            },
        )
        return [id for (id,) in cursor.fetchall()]


def _after(letter: Letter, answer: Answer, *, now: datetime) -> tuple[str, datetime | None, int]:
    """Return the state a delivery goes to, when it is due (None: as before), and its failures."""
    if answer.delivered:
        return Delivery.State.DELIVERED, None, letter.failures
    failures = letter.failures + 1
    due = schedule.next_try(
        failures=failures, now=now, delivery=letter.delivery, retry_after=answer.retry_after
    )
    if due is None:
        return Delivery.State.GIVEN_UP, None, failures
    return Delivery.State.DUE, due, failures


def _learned(endpoint: Endpoint, answers: Sequence[tuple[Letter, Answer]], *, now: datetime) -> list[Fact]:
    """Let an endpoint's row follow its answers: gone, failing, slower, or well again."""
    lost = [letter for letter, answer in answers if _after(letter, answer, now=now)[0] == "given_up"]
    facts = []
    if lost:
        log.error("endpoint %s: %d messages were given up after the last try", endpoint.name, len(lost))
        facts += endpoints.given_up(
            endpoint.id, sorted(letter.delivery for letter in lost), "last_try_failed"
        )
    if endpoint.state == Endpoint.State.DISABLED:
        endpoints.give_up_due([endpoint.id])  # these were under way when it was disabled
        return facts
    if any(answer.status == sending.GONE for _, answer in answers):
        log.error("endpoint %s answered that it is gone, and is disabled", endpoint.name)
        endpoints.close(endpoint, reason="its receiver answered 410", by=None)
        return facts
    before = (endpoint.state, endpoint.slots, endpoint.not_before)
    if lost:
        endpoint.state = Endpoint.State.FAILING
    elif any(answer.delivered for _, answer in answers):
        endpoint.state = Endpoint.State.ENABLED
    _pace(endpoint, [answer for _, answer in answers], now=now)
    if (endpoint.state, endpoint.slots, endpoint.not_before) != before:
        endpoint.save(update_fields=["state", "slots", "not_before"])
    if endpoint.state != before[0]:
        action = "endpoint.failing" if lost else "endpoint.recovered"
        facts.append(Fact(action, f"endpoints/{endpoint.id}", {"name": endpoint.name}))
    return facts


def _pace(endpoint: Endpoint, answers: Sequence[Answer], *, now: datetime) -> None:
    """Slow down for whoever is overloaded or did not answer in time; go faster again with each success."""
    slow = [
        answer for answer in answers if answer.status in sending.SLOW or answer.result == sending.TIMED_OUT
    ]
    asked = [answer.retry_after for answer in answers if answer.retry_after is not None]
    if slow:
        endpoint.slots = 1
    elif any(answer.delivered for answer in answers):
        endpoint.slots = min(endpoints.SLOTS, endpoint.slots * 2)
    pauses = [min(timedelta(seconds=seconds), schedule.LONGEST) for seconds in asked]
    if not pauses and any(answer.status in sending.SLOW for answer in answers):
        pauses = [PAUSE]
    if pauses:
        endpoint.not_before = max(now + max(pauses), endpoint.not_before or now)
