"""One call to a cashier system, and what its answer means: done, refused in plain words, or nothing to go by."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from settlement.webhooks import signing, wire
from settlement.webhooks.wire import Reply, Sent

log = logging.getLogger("pokdeng.external")

DONE, REFUSED, UNCLEAR = "done", "refused", "unclear"
_PLAIN = frozenset({400, 402, 403, 404, 422})


@dataclass(frozen=True, slots=True)
class Line:
    """How a cashier system is reached. ``ranges`` is None where its address is not approved any more."""

    url: str
    host: str
    port: int
    ranges: Sequence[str] | None
    secret: str


@dataclass(frozen=True, slots=True)
class Letter:
    """One request to be sent; ``id`` is its Idempotency-Key, the same on every try."""

    id: UUID
    line: Line
    path: str
    body: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one try. ``result`` says in a word why nothing is known (``timed_out``, ``http_500``, …); of a plain
    refusal ``code`` is the other side's own, and ``available`` what it says the wallet has, if it does."""

    outcome: str
    result: str
    code: str = ""
    available: int | None = None


_LINES = """
SELECT s.id, s.url, s.host, s.port, t.ranges, s.secret FROM settlement_cashiersystem s
  LEFT JOIN settlement_approvedtarget t ON t.host = s.host AND t.port = s.port AND t.withdrawn_at IS NULL
 WHERE s.id = ANY(%s)
"""


def lines(systems: Collection[UUID]) -> dict[UUID, Line]:
    """Return how these systems are reached now. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_LINES, [list(systems)])
        return {id: Line(*how) for id, *how in cursor.fetchall()}


def send(letter: Letter, *, now: datetime, seconds: float) -> Answer:
    """Send one request and say what came of it; never raises, and takes so many seconds at most."""
    deadline = time.monotonic() + seconds
    body = letter.body.encode()
    try:
        signed = signing.headers(
            message=letter.id,
            timestamp=int(now.timestamp()),
            body=body,
            signed_by=[signing.unlock(letter.line.secret)],
        )
        headers = {"User-Agent": "pokdeng-cashier/1", "Idempotency-Key": f'"{letter.id}"', **signed}
        line = letter.line
        sent = Sent(line.url + letter.path, line.host, line.port, line.ranges, headers, body)
        return _meaning(wire.post(sent, deadline=deadline), letter.id)
    except Exception as fault:
        result = wire.named(fault) or "not_sent"
        if result in (wire.REFUSED, "not_sent"):
            log.exception("call %s was not sent", letter.id)
        return Answer(UNCLEAR, result)


def _meaning(reply: Reply, id: UUID) -> Answer:
    """Only what says plainly what became of *this* request counts as an answer."""
    told = _object(reply.body)
    if 200 <= reply.status < 300:
        if told.get("id") == str(id):
            return Answer(DONE, DONE)
        return Answer(UNCLEAR, "broken_body")
    code = told.get("code")
    if reply.status in _PLAIN and isinstance(code, str) and code:
        return Answer(REFUSED, f"http_{reply.status}", code=code, available=_amount(told.get("available")))
    return Answer(UNCLEAR, f"http_{reply.status}")


def _object(body: bytes) -> dict[str, object]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _amount(money: object) -> int | None:
    amount = money.get("amount") if isinstance(money, dict) else None
    return amount if isinstance(amount, int) and not isinstance(amount, bool) else None
