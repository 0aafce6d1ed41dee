"""Events recorded in a second over HTTP, by a web server of its own on a port of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.utils import timezone

from deploy.benchmark.measuring import Pace, measured
from deploy.benchmark.settling import BATCH, Table
from deploy.local import paths, processes
from deploy.recordings.device_http import Line, Unreachable

ROUNDS = 40
ASKED = 300
SLOW = 300
BEGUN = (
    b"POST /healthz HTTP/1.1\r\nHost: slow\r\nX-More: ",
    b"POST /healthz HTTP/1.1\r\nHost: slow\r\nContent-Length: 4096\r\n\r\n",
)
"""Half a head, and a head without its body."""


def paces(*, tables: Sequence[Table], database_url: str, runs: int) -> Iterator[Pace]:
    """Yield a floor and the pace; each table's terminal sends on a connection of its own."""
    with _web(database_url) as url:
        lines = [Line(url, {"Authorization": f"Bearer {table.token}"}) for table in tables]

        def ask() -> int:
            for _ in range(ASKED):
                lines[0].send("GET", "/healthz")
            return ASKED

        def record() -> int:
            with ThreadPoolExecutor(len(tables)) as threads:
                return sum(threads.map(_send, tables, lines))

        yield measured("answer an empty request", "requests", ask, runs=runs, is_floor=True)
        yield measured("record events over HTTP, two terminals", "events", record, runs=runs)
        with beside(url, SLOW):
            yield measured("answer an empty request beside 300 slow connections", "requests", ask, runs=runs)
        for line in lines:
            line.close()


def _send(table: Table, line: Line) -> int:
    count = 0
    for _, batch in table.sent(ROUNDS):
        sent = {"Content-Type": BATCH, "Pokdeng-Sent-At": timezone.now().isoformat()}
        answer = line.send(
            "POST", f"/api/v1/tables/{table.code}/events", f"[{','.join(batch)}]", headers=sent
        )
        if answer.status != 200 or any(event["outcome"] != "recorded" for event in answer.body["events"]):
            raise RuntimeError(f"not recorded: {answer}"[:500])
        count += len(batch)
    return count


@contextmanager
def beside(url: str, connections: int) -> Iterator[None]:
    """So many connections that have begun a request and send one more byte every three seconds."""
    host, _, port = url.removeprefix("http://").partition(":")
    opened = [socket.create_connection((host, int(port)), timeout=10) for _ in range(connections)]
    for one, words in zip(opened, itertools.cycle(BEGUN), strict=False):
        one.sendall(words)
    over = threading.Event()

    def drip() -> None:
        while not over.wait(3):
            for one in opened:
                with contextlib.suppress(OSError):  # let go of after a minute
                    one.sendall(b"x")

    dripping = threading.Thread(target=drip, daemon=True)
    dripping.start()
    try:
        yield
    finally:
        over.set()
        dripping.join()
        for one in opened:
            one.close()


@contextmanager
def _web(database_url: str) -> Iterator[str]:
    port = paths.free_port()
    (program,) = [one for one in processes.programs(port=port) if one.name == "web"]
    environment = {
        **os.environ,
        **program.environment,
        "DATABASE_URL": database_url,
        "DEMONSTRATION": "1",
        "SECRET_KEY": paths.django_secret() or "a secret that signs nothing while measuring, long enough",
        "LOG_LEVEL": "WARNING",
    }
    server = subprocess.Popen(  # noqa: S603 - our own program
        program.command,
        cwd=paths.CLONE,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    url = f"http://{paths.LOOPBACK}:{port}"
    try:
        _wait(url)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait(url: str) -> None:
    line = Line(url, {})
    for _ in range(20):
        try:
            if line.send("GET", "/healthz").status == 200:
                break
        except Unreachable:
            time.sleep(0.2)
    else:
        raise Unreachable("the web server did not start")
    line.close()
