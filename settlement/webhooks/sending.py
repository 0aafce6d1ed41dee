"""One try: sign, check where it goes, send, look at the answer. No database and no lock is held meanwhile."""

from __future__ import annotations

import contextlib
import email.utils
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from casino.platform import values
from settlement.webhooks import addresses, signing, wire
from settlement.webhooks.addresses import Resolve
from settlement.webhooks.signing import Secret
from settlement.webhooks.wire import REFUSED, Sent

log = logging.getLogger("pokdeng.webhooks")

SECONDS = 5.0
"""For all of it: name, connection, request and answer."""
DELIVERED, TIMED_OUT = "delivered", wire.TIMED_OUT
GONE = 410
SLOW = frozenset({429, 502, 504})


@dataclass(frozen=True, slots=True)
class Letter:
    """One claimed delivery with all that sending it takes. ``ranges`` is None where its target is not approved."""

    delivery: int
    number: int
    failures: int
    endpoint: UUID
    message: UUID
    body: bytes
    url: str
    host: str
    port: int
    ranges: Sequence[str] | None
    secrets: Sequence[Secret]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one try. ``status`` is None where no answer came; ``retry_after`` is what the receiver asked for, in
    seconds."""

    result: str
    sent_at: datetime
    milliseconds: int = 0
    status: int | None = None
    retry_after: int | None = None

    @property
    def delivered(self) -> bool:
        return self.result == DELIVERED


def send(letter: Letter, *, now: datetime, resolve: Resolve = addresses.look_up) -> Answer:
    """Send one letter and say what came of it; never raises, and takes 5 seconds at most.

    A status of 2xx is success, whatever becomes of the body behind it: the receiver has said that it has the message.
    A redirect is a failure like any other, and not followed.
    """
    started = time.monotonic()
    status: int | None = None
    retry_after: int | None = None
    try:
        sent = _sent(letter, timestamp=int(now.timestamp()))
        reply = wire.post(sent, deadline=started + SECONDS, resolve=resolve)
        status = reply.status
        result = DELIVERED if 200 <= status < 300 else f"http_{status}"
        retry_after = _seconds(reply.retry_after, now=now) if result != DELIVERED else None
    except Exception as fault:
        result = wire.named(fault) or "not_sent"
        if result == REFUSED:
            log.warning("delivery %d was not sent: %s", letter.delivery, fault)
        elif result == "not_sent":
            log.exception("delivery %d was not sent", letter.delivery)
    spent = int((time.monotonic() - started) * 1000)
    return Answer(result, now, milliseconds=spent, status=status, retry_after=retry_after)


def _sent(letter: Letter, *, timestamp: int) -> Sent:
    signed = signing.headers(
        message=letter.message, timestamp=timestamp, body=letter.body, signed_by=letter.secrets
    )
    headers = {"User-Agent": "pokdeng-webhooks/1", **signed}
    return Sent(letter.url, letter.host, letter.port, letter.ranges, headers, letter.body)


def _seconds(asked: str, *, now: datetime) -> int | None:
    """Read Retry-After: seconds, or a date; None where it is neither."""
    with contextlib.suppress(values.Wrong):
        return values.whole(asked, most=10**9)
    try:
        moment = email.utils.parsedate_to_datetime(asked)
        return max(0, int((moment - now).total_seconds()))
    except (ValueError, TypeError):
        return None
