"""A cashier's system on this machine that keeps wallets itself: a real server with books of its own.

It does what is asked of such a system: the same id twice is one effect and the first answer, a release of what it never
saw succeeds and closes that id for ever, every request must be signed. On order it fails in every way in which a
receiver can; ``ACCEPTED`` says in which of them the effect happened all the same.
"""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import standardwebhooks

from casino import events
from settlement import external_wallets, settling
from settlement.external_wallets import cashier_systems
from settlement.models import CashierSystem
from settlement.webhooks import addresses
from tests.settlement.books import NOW, a_person, act
from tests.settlement.telling import an_approved_target

WAYS = ("refuses", "slow", "500", "broken", "410", "redirect", "cut", "endless")
"""How a request can fail: not taken at all, an answer that is too late, a failure, a body that is none, gone, sent
elsewhere, cut off after it was accepted, an answer without end."""
ACCEPTED = frozenset({"ok", "slow", "broken", "cut", "endless"})


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        return self.headers["idempotency-key"].strip('"')

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def verb(self) -> str:
        return self.path.rpartition("/")[2]


class Refused(Exception):
    """This system says no, with a status and a body."""

    def __init__(self, status: int, code: str, **more: Any) -> None:
        super().__init__(code)
        self.status, self.body = status, {"code": code, **more}


@dataclass
class Books:
    """Wallets (satang, by reference) and what moved them, as a careful cashier system keeps them. ``effects`` counts
    what each id did, ``over`` how each hold ended."""

    wallets: dict[str, int]
    held: dict[str, tuple[str, int]] = field(default_factory=dict)
    over: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    moves: dict[str, tuple[str, int]] = field(default_factory=dict)
    taken_back: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    answers: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    effects: Counter[str] = field(default_factory=Counter)
    paid_in: int = 0

    def __post_init__(self) -> None:
        self.paid_in = sum(self.wallets.values())

    @property
    def won(self) -> int:
        """What the guests have more than they brought."""
        return sum(self.wallets.values()) - self.paid_in

    def set_aside(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for ref, amount in (held for held in self.held.values() if held[1]):
            found[ref] = found.get(ref, 0) + amount
        return found

    def answer(self, request: Asked) -> tuple[int, dict[str, Any]]:
        """Do what is asked, once: the same key gets the first answer."""
        if request.key not in self.answers:
            try:
                self._do(request)
                self.effects[request.key] += 1
                self.answers[request.key] = 201, {"id": request.key}
            except Refused as refused:
                self.answers[request.key] = refused.status, refused.body
        return self.answers[request.key]

    def _do(self, request: Asked) -> None:
        _, _, path = request.path.partition("/api")
        match path.strip("/").split("/"):
            case ["wallets", ref, "holds"]:
                self._hold(ref, request.key, request.told["exposure"]["amount"])
            case ["holds", hold, "settle"]:
                self._settle(hold, request.key, request.told["net"]["amount"])
            case ["holds", hold, "release"]:
                self._release(hold)
            case ["journals", journal, "reverse"]:
                self._take_back(journal)
            case ["wallets", ref, "bet"]:
                self._bet(ref, request.told["transaction"], request.told["amount"]["amount"])
            case ["wallets", ref, "win"]:
                self._win(ref, request.told)
            case ["wallets", _, "rollback"]:
                self._roll_back(request.told["takes_back"])
            case _:
                raise Refused(404, "not_found")

    def _require(self, ref: str, id: str, amount: int, *, left: int) -> None:
        if id in self.closed:
            raise Refused(422, "released_before")
        if ref not in self.wallets:
            raise Refused(404, "unknown_wallet")
        if amount and left < amount:
            raise Refused(422, "insufficient_funds", available={"amount": left, "currency": "THB"})

    def _hold(self, ref: str, hold: str, exposure: int) -> None:
        left = self.wallets.get(ref, 0) - self.set_aside().get(ref, 0)
        self._require(ref, hold, exposure, left=left)
        self.held[hold], self.owners[hold] = (ref, exposure), ref

    def _settle(self, hold: str, call: str, net: int) -> None:
        if hold not in self.owners or hold in self.closed:
            raise Refused(404, "unknown_hold")
        self.held.pop(hold, None)
        self.over[hold] = "settled"
        self._move(call, self.owners[hold], net)

    def _release(self, hold: str) -> None:
        if hold not in self.over:
            self.held.pop(hold, None)
            self.over[hold] = "released"
            self.closed.add(hold)

    def _bet(self, ref: str, bet: str, amount: int) -> None:
        self._require(ref, bet, amount, left=self.wallets.get(ref, 0))
        self.owners[bet] = ref
        self._move(bet, ref, -amount)

    def _win(self, ref: str, told: dict[str, Any]) -> None:
        if told["bet"] not in self.owners or told["bet"] in self.closed:
            raise Refused(404, "unknown_bet")
        assert told["amount"]["amount"] >= 0
        self._move(told["transaction"], ref, told["amount"]["amount"])

    def _roll_back(self, id: str) -> None:
        if id in self.moves:
            self._take_back(id)
        self.closed.add(id)

    def _move(self, id: str, ref: str, amount: int) -> None:
        assert id not in self.moves, "moved twice under one id"
        self.moves[id] = ref, amount
        self.wallets[ref] += amount

    def _take_back(self, id: str) -> None:
        if id not in self.moves or id in self.taken_back:
            raise Refused(422, "nothing_to_take_back")
        ref, amount = self.moves[id]
        self.taken_back.add(id)
        self.wallets[ref] -= amount


Behave = Callable[[Asked], str]


@dataclass
class StandIn:
    """The running server: its books, what was asked of it, and how it behaves just now."""

    port: int
    books: Books
    behave: Behave
    asked: list[Asked] = field(default_factory=list)
    verifier: standardwebhooks.Webhook | None = None
    elsewhere: str = "http://127.0.0.1:9/"
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def behaves(self, how: str | Behave) -> None:
        self.behave = how if callable(how) else lambda _: how

    def verbs(self) -> list[str]:
        return [request.verb for request in self.asked]

    def take(self, request: Asked) -> tuple[int, dict[str, Any]]:
        with self.lock:
            self.require_signed(request)
            return self.books.answer(request)

    def require_signed(self, request: Asked) -> None:
        """The other side's own library signs the same; how old the signature is depends on the test's hour."""
        assert self.verifier is not None
        signed_at = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), tz=UTC)
        ours = self.verifier.sign(request.headers["webhook-id"], signed_at, request.body.decode())
        assert ours in request.headers["webhook-signature"].split(" ")
        assert request.headers["webhook-id"] == request.key


@contextlib.contextmanager
def keeping(wallets: dict[str, int], *, after: StandIn | None = None) -> Iterator[StandIn]:
    """Run a cashier system that keeps these wallets (satang, by reference); or start the one that ran before again,
    where it was and with its books."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError), contextlib.closing(self.request):
                _serve(self.request, stand_in)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True
        request_queue_size = 128

    with Server(("127.0.0.1", after.port if after else 0), Handler) as server:
        stand_in = StandIn(server.server_address[1], Books(dict(wallets)), lambda _: "ok")
        if after is not None:
            stand_in.books, stand_in.verifier = after.books, after.verifier
        running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        running.start()
        try:
            yield stand_in
        finally:
            stand_in.stopping.set()
            server.shutdown()
            running.join()


def _serve(connection: socket.socket, stand_in: StandIn) -> None:
    request = _read(connection)
    with stand_in.lock:
        stand_in.asked.append(request)
    how = stand_in.behave(request)
    status, body = stand_in.take(request) if how in ACCEPTED else (0, {})
    if how == "ok":
        _answer(connection, status, json.dumps(body).encode())
    elif how == "slow":
        stand_in.stopping.wait(30)
    elif how == "broken":
        _answer(connection, 200, b"<html>welcome</html>")
    elif how == "redirect":
        _answer(connection, 307, b"", f"Location: {stand_in.elsewhere}\r\n")
    elif how == "endless":
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not stand_in.stopping.is_set():
            connection.sendall(b" " * 8_192)
    elif how in ("500", "410"):
        _answer(connection, int(how), b"")
    else:
        assert how in ("refuses", "cut"), how


def _answer(connection: socket.socket, status: int, body: bytes, more: str = "") -> None:
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    connection.sendall(head.encode() + body)


def _read(connection: socket.socket) -> Asked:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += _more(connection)
    return Asked(first.split(" ")[1], headers, body)


def _more(connection: socket.socket) -> bytes:
    more = connection.recv(65_536)
    if not more:
        raise OSError("hung up")
    return more


# -- the house's side ------------------------------------------------------------------------------------------


def let_in(
    stand_in: StandIn, *, code: str = "royal", prefix: str = "royal-", dialect: str = "holds"
) -> CashierSystem:
    """Let a stand-in in, by the two people that it takes."""
    target = addresses.parse(stand_in.url, demonstration=True)
    an_approved_target(target.host, target.port)
    with act():
        system, secret = cashier_systems.let_in(
            cashier_systems.Wanted(
                code=code, prefix=prefix, url=stand_in.url, target=target, dialect=dialect
            ),
            by=a_person("AD1", "administrator"),
            approved_by=a_person("M1", "manager"),
        )
    stand_in.verifier = standardwebhooks.Webhook(secret.symmetric)
    return system


def covered(round: UUID, *, at: datetime = NOW) -> settling.Cover:
    """Cover a round as its door does: one act, the calls, and another act."""

    def acting(do: Callable[[events.Act], Any]) -> Any:
        with act(now=at) as running:
            return do(running)

    return settling.cover(round, acting=acting)


def told(*, at: datetime = NOW + timedelta(seconds=10)) -> int:
    """Send what is due at a moment, at that same moment; return how many tries were made."""
    return external_wallets.call(owner="worker", clock=lambda: at, until=at + timedelta(seconds=1))
