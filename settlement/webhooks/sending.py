"""One try: sign, check where it goes, send, look at the answer. No database and no lock is held meanwhile."""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import io
import logging
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import IO, Any
from uuid import UUID

from django.conf import settings

from settlement.webhooks import addresses, signing
from settlement.webhooks.addresses import Address, Resolve, Target, TargetRefused
from settlement.webhooks.signing import Secret

log = logging.getLogger("pokdeng.webhooks")

SECONDS = 5.0
"""For all of it: name, connection, request and answer."""
MOST_READ = 65_536

DELIVERED, TIMED_OUT, REFUSED = "delivered", "timed_out", "target_refused"
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
        status, asked = _exchanged(letter, now=now, deadline=started + SECONDS, resolve=resolve)
        result = DELIVERED if 200 <= status < 300 else f"http_{status}"
        retry_after = _seconds(asked, now=now) if result != DELIVERED else None
    except TargetRefused as refused:
        log.warning("delivery %d was not sent: %s", letter.delivery, refused)
        result = REFUSED
    except TimeoutError:
        result = TIMED_OUT
    except ssl.SSLError:
        result = "tls_failed"
    except http.client.HTTPException:
        result = "no_answer"
    except OSError:
        result = "not_reached"
    except Exception:
        log.exception("delivery %d was not sent", letter.delivery)
        result = "not_sent"
    spent = int((time.monotonic() - started) * 1000)
    return Answer(result, now, milliseconds=spent, status=status, retry_after=retry_after)


def _exchanged(letter: Letter, *, now: datetime, deadline: float, resolve: Resolve) -> tuple[int, str]:
    demonstration = settings.WEBHOOKS["demonstration"]
    target = addresses.parse(letter.url, demonstration=demonstration)
    if letter.ranges is None or (target.host, target.port) != (letter.host, letter.port):
        raise TargetRefused(f"{letter.host}:{letter.port} is not approved")
    checked = addresses.checked(
        target.host,
        ranges=letter.ranges,
        demonstration=demonstration,
        seconds=_left(deadline),
        resolve=resolve,
    )
    request = _request(letter, target, timestamp=int(now.timestamp()))
    with _connected(checked, target, deadline=deadline) as connection:
        connection.settimeout(_left(deadline))
        connection.sendall(request)
        answer = http.client.HTTPResponse(_Stream(connection, deadline), method="POST")  # type: ignore[arg-type]
        answer.begin()
        asked = answer.headers.get("Retry-After", "")
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            # A receiver that is cut off while it answers may take back what it did.
            answer.read(MOST_READ)
        return answer.status, asked


def _request(letter: Letter, target: Target, *, timestamp: int) -> bytes:
    head = {
        "Host": target.authority,
        "Content-Type": "application/json",
        "Content-Length": str(len(letter.body)),
        "User-Agent": "pokdeng-webhooks/1",
        "Connection": "close",
        **signing.headers(
            message=letter.message, timestamp=timestamp, body=letter.body, signed_by=letter.secrets
        ),
    }
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    return "\r\n".join(lines).encode("ascii") + letter.body


def _connected(checked: Sequence[Address], target: Target, *, deadline: float) -> socket.socket:
    """Connect to the first of the checked addresses that answers, under the target's name in TLS; no proxy is asked,
    whatever the environment names."""
    fault: OSError = OSError("no address")
    for address in checked:
        try:
            plain = socket.create_connection((str(address), target.port), timeout=_left(deadline))
        except OSError as problem:
            fault = problem
            continue
        if target.scheme == "http":
            return plain
        try:
            return _trusted(settings.WEBHOOKS["ca_file"]).wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise
    raise fault


@lru_cache
def _trusted(ca_file: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_file or None)


class _Stream(io.RawIOBase):
    """The receiver's side of a connection: ends with the deadline, however slowly bytes come, and after 64 kB."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._most = MOST_READ

    def makefile(self, mode: str) -> IO[bytes]:
        assert mode == "rb"
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_left(self._deadline))
        view = memoryview(buffer)[: self._most]
        read = self._connection.recv_into(view) if view else 0
        self._most -= read
        return read


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for this try is over")
    return left


def _seconds(asked: str, *, now: datetime) -> int | None:
    """Read Retry-After: seconds, or a date; None where it is neither."""
    if asked.isdecimal() and len(asked) < 10:
        return int(asked)
    try:
        moment = email.utils.parsedate_to_datetime(asked)
        return max(0, int((moment - now).total_seconds()))
    except (ValueError, TypeError):
        return None
