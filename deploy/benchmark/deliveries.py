"""Deliveries in a second, to a receiver on this machine that answers at once: claimed, signed, sent, written down."""

from __future__ import annotations

import multiprocessing
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from casino import events, people
from deploy.benchmark.measuring import Pace, measured
from settlement import webhooks
from settlement.models import Delivery
from settlement.webhooks import addresses, delivering, endpoints, targets

MESSAGES = 1_000
"""For each run: written before it, and due a minute after those of the run before."""
ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
MINUTE = timedelta(minutes=1)


def paces(*, runs: int) -> Iterator[Pace]:
    """Yield the floor (a bare connection for each message), and what one process delivers, and two."""
    before = settings.WEBHOOKS
    settings.WEBHOOKS = before | {"demonstration": True}
    try:
        with _receiver() as port:
            _open(port)
            yield measured(
                "connect, send and be answered", "requests", lambda: _bare(port), runs=runs, is_floor=True
            )
            yield _delivered(1, runs=runs)
            yield _delivered(2, runs=runs)
    finally:
        settings.WEBHOOKS = before


def _delivered(processes: int, *, runs: int) -> Pace:
    now = timezone.now()
    moments = [now + MINUTE * run for run in range(runs)]
    for moment in moments:
        with events.act(actor=events.SERVICE, request_id="bench", now=moment):
            webhooks.owe([webhooks.Owed("day.sealed", {"place": place}) for place in range(MESSAGES)])
    due = iter(moments)
    what = f"deliver what is owed, {processes} process{'es' * (processes > 1)}"
    return measured(what, "deliveries", lambda: _deliver_all(next(due), processes), runs=runs)


def _deliver_all(moment: datetime, processes: int) -> int:
    if processes == 1:
        _deliver(moment)
    else:
        connection.close()  # a connection is not shared by forking
        fork = multiprocessing.get_context("fork")
        workers = [fork.Process(target=_deliver, args=(moment,)) for _ in range(processes)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    if Delivery.objects.filter(due_at__lte=moment).exclude(state=Delivery.State.DELIVERED).exists():
        raise RuntimeError("something was not delivered")
    return MESSAGES


def _deliver(moment: datetime) -> None:
    delivering.deliver(
        owner=f"bench-{secrets.token_hex(4)}", clock=lambda: moment, until=moment + timedelta(seconds=1)
    )


def _open(port: int) -> None:
    with events.act(actor=events.SERVICE, request_id="bench", now=timezone.now()):
        administrator, manager = (
            people.hire(
                badge=f"BN-{role}",
                display_name=role,
                role=role,
                password=secrets.token_urlsafe(12),
                pin=f"{secrets.randbelow(10**6):06}",
            )
            for role in ("administrator", "manager")
        )
        targets.approve(host="127.0.0.1", port=port, ranges=[], by=administrator, approved_by=manager)
        url = f"http://127.0.0.1:{port}/"
        wanted = endpoints.Wanted(
            name="bench", url=url, target=addresses.parse(url, demonstration=True), types=["day.sealed"]
        )
        endpoints.open_new(wanted, by=administrator, approved_by=manager)


@contextmanager
def _receiver() -> Iterator[int]:
    """A process of its own that takes whatever comes."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    connection.close()
    process = multiprocessing.get_context("fork").Process(target=_take, args=(listening,), daemon=True)
    process.start()
    port: int = listening.getsockname()[1]
    listening.close()
    try:
        yield port
    finally:
        process.terminate()
        process.join()


def _take(listening: socket.socket) -> None:
    while True:
        connected, _ = listening.accept()
        with connected:
            head, _, body = connected.recv(65_536).partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(body) < length:
                body += connected.recv(65_536)
            connected.sendall(ANSWER)


def _bare(port: int) -> int:
    request = b"POST / HTTP/1.1\r\nContent-Length: 500\r\n\r\n" + b"x" * 500
    for _ in range(MESSAGES):
        with socket.create_connection(("127.0.0.1", port)) as connected:
            connected.sendall(request)
            connected.recv(65_536)
    return MESSAGES
