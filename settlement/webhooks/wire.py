"""One request to a receiver outside: where it goes is checked, it goes there and nowhere else, and it ends in time.

Everybody who speaks to another system does so by this door, with nothing of the database held meanwhile.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any

from django.conf import settings
from django.db import connection

from settlement.webhooks import addresses
from settlement.webhooks.addresses import Address, Resolve, Target, TargetRefused

MOST_READ = 65_536
TIMED_OUT, REFUSED = "timed_out", "target_refused"


class HeldMeanwhile(RuntimeError):
    """Somebody outside was to be asked while a transaction was open: its locks would last as long as the answer."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A POST. ``host`` and ``port`` are those that two people approved, with the private networks (``ranges``) that the
    name may resolve to; ``ranges`` None: they are not approved any more."""

    url: str
    host: str
    port: int
    ranges: Sequence[str] | None
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """The receiver's answer: ``body`` what came in time, up to 64 kB; ``retry_after`` as it was written."""

    status: int
    retry_after: str
    body: bytes


def require_nothing_held() -> None:
    """Raise HeldMeanwhile inside a transaction. Ask this in the thread that has the database's connection."""
    if connection.in_atomic_block:
        raise HeldMeanwhile("nobody outside is asked while a transaction is open")


def post(sent: Sent, *, deadline: float, resolve: Resolve = addresses.look_up) -> Reply:
    """Send a request and return the answer; a redirect is an answer like any other, and not followed.

    ``deadline`` is of the monotonic clock, for all of it: name, connection, request and answer. Raises TargetRefused,
    TimeoutError, HTTPException, and OSError where nobody was reached.
    """
    demonstration = settings.WEBHOOKS["demonstration"]
    target = addresses.parse(sent.url, demonstration=demonstration)
    if sent.ranges is None or (target.host, target.port) != (sent.host, sent.port):
        raise TargetRefused(f"{sent.host}:{sent.port} is not approved")
    checked = addresses.checked(
        target.host,
        ranges=sent.ranges,
        demonstration=demonstration,
        seconds=_left(deadline),
        resolve=resolve,
    )
    request = _request(sent, target)
    with _connected(checked, target, deadline=deadline) as connected:
        connected.settimeout(_left(deadline))
        connected.sendall(request)
        answer = _final(_Stream(connected, deadline))
        body = b""
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            # A receiver that is cut off while it answers may take back what it did.
            body = answer.read(MOST_READ)
        return Reply(answer.status, answer.headers.get("Retry-After", ""), body)


def _final(stream: _Stream) -> http.client.HTTPResponse:
    """Begin the answer that ends the exchange: interim ones (1xx) before it are passed over.

    A switch of protocols, which nobody asked for, is not interim; an endless row of them is cut where the stream is.
    """
    while True:
        answer = http.client.HTTPResponse(stream, method="POST")  # type: ignore[arg-type]
        answer.begin()
        if not 100 <= answer.status < 200 or answer.status == http.client.SWITCHING_PROTOCOLS:
            return answer
        answer.fp = None  # type: ignore[assignment]  # let go of it: what follows is read from the same stream


def named(fault: Exception) -> str | None:
    """Return the word for what kept an answer away; None for a fault that is ours."""
    for kind, word in (
        (TargetRefused, REFUSED),
        (TimeoutError, TIMED_OUT),
        (ssl.SSLError, "tls_failed"),
        (http.client.HTTPException, "no_answer"),
        (OSError, "not_reached"),
    ):
        if isinstance(fault, kind):
            return word
    return None


def _request(sent: Sent, target: Target) -> bytes:
    head = {
        "Host": target.authority,
        "Content-Type": "application/json",
        "Content-Length": str(len(sent.body)),
        "Connection": "close",
        **sent.headers,
    }
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    return "\r\n".join(lines).encode("ascii") + sent.body


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

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._connected = connected
        self._deadline = deadline
        self._most = MOST_READ
        self._read = io.BufferedReader(self)

    def makefile(self, mode: str) -> IO[bytes]:
        """The one reader: a second answer begins where the first one ended, in what was read ahead."""
        assert mode == "rb"
        return self._read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connected.settimeout(_left(self._deadline))
        view = memoryview(buffer)[: self._most]
        read = self._connected.recv_into(view) if view else 0
        self._most -= read
        return read


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for this try is over")
    return left
