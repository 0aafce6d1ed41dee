"""One house, opened by one command: its processes are killed, its connections cut, it is called slowly. It stays
open, and says what happened."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy.benchmark.recording import SLOW, beside
from deploy.local import paths
from tests.architecture import clone
from tests.journeys.test_start import Copy

pytestmark = pytest.mark.timeout(900)

PATIENCE = 240.0


def until(done: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := done()):
        assert time.monotonic() < deadline, what
        time.sleep(0.2)
    return found


@pytest.fixture(scope="module")
def house() -> Iterator[Copy]:
    with tempfile.TemporaryDirectory(prefix="house-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        made = Copy(at=Path(name))
        try:
            opened = clone.run(
                sys.executable,
                "manage.py",
                "up",
                "--detach",
                "--port",
                str(made.port),
                at=made.at,
                timeout=600,
            )
            assert opened.returncode == 0, opened.stdout + opened.stderr
            yield made
        finally:
            made.manage("down")


def children(house: Copy) -> dict[str, int]:
    return {name: pid for name, pid, _ in house.note().get("children", [])}


def connected(house: Copy) -> psycopg.Connection[Any]:
    secrets, port = house.note("secrets.json"), house.note("postgres.json")["port"]
    return psycopg.connect(
        host=paths.LOOPBACK, port=port, user=paths.ADMINISTRATOR, password=secrets[paths.ADMINISTRATOR],
        dbname=paths.DATABASE, autocommit=True,
    )  # fmt: skip


def asked(house: Copy, *, timeout: float = 60.0) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{house.port}/healthz", timeout=timeout) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def test_whatever_ends_is_started_again_and_the_rest_stays(house: Copy) -> None:
    before = children(house)
    assert sorted(before) == ["beat", "sealer", "web", "worker"]
    for name in ("sealer", "worker", "web"):
        os.kill(children(house)[name], signal.SIGKILL)
        until(lambda name=name: children(house).get(name, before[name]) != before[name], f"{name} came back")  # type: ignore[misc]
    until(house.answers, "the web answers again")

    assert children(house)["beat"] == before["beat"]
    with connected(house) as connection:
        told = connection.execute("SELECT name, state, ended FROM casino_program ORDER BY name").fetchall()
    assert told == [
        ("beat", "running", 0),
        ("sealer", "running", 1),
        ("web", "running", 1),
        ("worker", "running", 1),
    ]


def test_servers_that_are_killed_are_started_again(house: Copy) -> None:
    beat = children(house)["beat"]
    postmaster = house.at / ".local" / "postgres" / "data" / "postmaster.pid"
    os.kill(int(postmaster.read_text().splitlines()[0]), signal.SIGKILL)

    until(lambda: "was started again" in (house.at / ".local" / "up.log").read_text(), "it is noticed")
    until(house.answers, "the web answers with its database")
    assert children(house)["beat"] == beat


def test_beside_three_hundred_slow_connections_a_request_is_answered(house: Copy) -> None:
    with beside(f"http://127.0.0.1:{house.port}", SLOW):
        assert [asked(house) for _ in range(20)] == [200] * 20


def test_connections_that_the_database_ended_cost_no_answer(house: Copy) -> None:
    for _ in range(10):
        asked(house)
    with connected(house) as connection:
        ended = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'pokdeng-web'"
        ).fetchone()
    assert ended is not None
    assert ended[0] > 0
    assert [asked(house) for _ in range(8)] == [200] * 8


def test_nobody_else_may_read_what_a_house_writes_down(house: Copy) -> None:
    here = house.at / ".local"
    logs = [
        here / "log",
        *(here / "log").iterdir(),
        here / "up.log",
        here / "valkey.log",
        here / "secrets.json",
    ]
    assert {path.name: oct(path.stat().st_mode & 0o077) for path in logs if path.stat().st_mode & 0o077} == {}


def test_what_a_caller_says_of_itself_is_not_heard(house: Copy) -> None:
    """A client of no proxy: the origin is who connects, the scheme is the connection's, underscores are not read."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{house.port}/healthz",
        headers={"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X_CLIENT_CERT": "forged"},
    )
    with contextlib.closing(urllib.request.urlopen(request, timeout=60)) as answer:
        assert json.loads(answer.read()) == {"status": "ok"}
        assert "Server" not in answer.headers
