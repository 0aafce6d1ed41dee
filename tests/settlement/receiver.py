"""A receiver of webhooks on this machine: a real server that behaves as it is told, and remembers what came."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Behave = Callable[["Received"], str]

ANSWERS = {
    "ok": b"HTTP/1.1 204 No Content\r\n\r\n",
    "created": b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
    "500": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    "410": b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n",
    "429": b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n",
    "502": b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
    "503": b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n",
    "broken": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nonly thi",
    "garbage": b"220 mail.example ESMTP\r\n",
    "interim": b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "continued": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    "interim500": b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    "interim_alone": b"HTTP/1.1 103 Early Hints\r\n\r\n",
    "switched": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
}
"""Answers that end; ``slow``, ``cut``, ``redirect``, ``drip`` and those in ``ENDLESS`` are done by hand."""

ENDLESS = {
    "endless": (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 8_192, 0),
    "row": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0),
    "slow_row": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 1),
}


@dataclass(frozen=True)
class Received:
    """One request as it came: ``headers`` by their lower-case names, ``body`` in its bytes."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class Receiver:
    """What came, and what a careful receiver makes of it: each id takes effect once, and of one round the message with
    the highest number stays."""

    port: int
    behave: Behave
    requests: list[Received] = field(default_factory=list)
    effects: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)
    redirect_to: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks?house=1"

    def ids(self) -> set[str]:
        return {request.id for request in self.requests}

    def take(self, request: Received) -> None:
        """Let a message take effect, unless its id did before; an older one of a round changes nothing."""
        with self.lock:
            if request.id in self.effects:
                return
            self.effects[request.id] = 1
            data = request.told["data"]
            before = self.rounds.get(data.get("round", ""), {})
            if "round" in data and before.get("in_round", 0) < data["in_round"]:
                self.rounds[data["round"]] = data


@contextlib.contextmanager
def receiving(behave: Behave | str = "ok", *, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver; ``behave`` says how it answers, once and for all or request by request."""
    chosen = behave if callable(behave) else lambda _: behave

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                connection = tls.wrap_socket(self.request, server_side=True) if tls else self.request
                with contextlib.closing(connection):
                    _serve(connection, receiver)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(port=server.server_address[1], behave=chosen)
        running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        running.start()
        try:
            yield receiver
        finally:
            receiver.stopping.set()
            server.shutdown()
            running.join()


def _serve(connection: socket.socket, receiver: Receiver) -> None:
    request = _read(connection)
    with receiver.lock:
        receiver.requests.append(request)
    behaviour = receiver.behave(request)
    if behaviour in ("ok", "created", "broken", "cut", "endless", "drip"):
        receiver.take(request)
    if behaviour in ANSWERS:
        connection.sendall(ANSWERS[behaviour])
    elif behaviour == "redirect":
        connection.sendall(
            f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {receiver.redirect_to}\r\n"
            f"Content-Length: 0\r\n\r\n".encode()
        )
    elif behaviour == "slow":
        receiver.stopping.wait(30)
    elif behaviour in ENDLESS:
        begin, on, pause = ENDLESS[behaviour]
        connection.sendall(begin)
        while not receiver.stopping.wait(pause):
            connection.sendall(on)
    elif behaviour == "drip":
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 100:
            connection.sendall(bytes([byte]))
            if receiver.stopping.wait(1):
                break
    else:
        assert behaviour == "cut", behaviour


def _read(connection: socket.socket) -> Received:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            raise OSError("hung up")
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    while len(body) < int(headers["content-length"]):
        more = connection.recv(65_536)
        if not more:
            raise OSError("hung up")
        body += more
    return Received(first.split(" ")[1], headers, body)
