"""A house is opened and closed by one command, whatever state it finds its folder in.

Each test has a copy of the project in a folder of its own: its own servers, its own ports.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from deploy.local import paths
from tests.architecture import clone

pytestmark = pytest.mark.timeout(400)


class Copy:
    """A copy of the project, run as its user would."""

    def __init__(self, *, at: Path) -> None:
        self.at = clone.copy(at)
        self.port = paths.free_port()

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return clone.run(sys.executable, "manage.py", *arguments, at=self.at, timeout=200)

    def up(self) -> subprocess.CompletedProcess[str]:
        return self.manage("up", "--detach", "--port", str(self.port))

    def start(self) -> subprocess.Popen[str]:
        """`up` in the foreground, as a child of the test."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(self.port)],
            cwd=self.at, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def note(self, name: str = "house.json") -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.at / ".local" / name).read_text())
        except (OSError, ValueError):
            return {}
        return found

    def wait_until_open(self) -> None:
        deadline = time.monotonic() + 120
        while not self.note().get("open"):
            assert time.monotonic() < deadline, "the house did not open"
            time.sleep(0.1)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def left_running(self) -> list[str]:
        """What runs a moment later: a closing process lets go of its lock before it is gone."""
        deadline = time.monotonic() + 10
        while (found := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def processes(self) -> list[str]:
        """Whatever still runs out of this copy, servers included."""
        found = []
        for process in psutil.process_iter(["cmdline", "cwd", "status"]):
            if process.info["status"] == psutil.STATUS_ZOMBIE:
                continue
            words = " ".join(process.info["cmdline"] or [])
            where = process.info["cwd"] or ""
            if str(self.at) in words or where.startswith(str(self.at)):
                found.append(words)
        return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a clone usually lies: every user may enter. pytest's own folders are closed to all but one."""
    with tempfile.TemporaryDirectory(prefix="house-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def copy(folder: Path) -> Iterator[Copy]:
    made = Copy(at=folder)
    yield made
    made.manage("down")
    assert made.left_running() == []


def test_a_house_opens_resumes_and_closes(copy: Copy) -> None:
    opened = copy.up()
    assert opened.returncode == 0, opened.stdout + opened.stderr
    assert f"http://127.0.0.1:{copy.port}/" in opened.stdout
    assert copy.answers()
    secrets = copy.note("secrets.json")
    again = copy.up()
    assert (again.returncode, "open already" in again.stdout) == (0, True)
    closed = copy.manage("down")
    assert (closed.returncode, closed.stdout.strip()) == (0, "Closed.")
    assert not copy.answers()
    assert copy.left_running() == []
    assert copy.up().returncode == 0
    assert copy.note("secrets.json") == secrets  # the same house, not a new one
    assert (copy.at / ".local" / "secrets.json").stat().st_mode & 0o077 == 0


@pytest.mark.full
def test_two_starts_at_once_are_one_start(copy: Copy) -> None:
    starts = [copy.start(), copy.start()]
    copy.wait_until_open()
    done = [start for start in starts if start.poll() is not None] or [starts[0]]
    said = done[0].communicate(timeout=60)[0]
    assert len(done) == 1
    assert done[0].returncode == 0
    assert "open already" in said or "Another start" in said
    (running,) = (start for start in starts if start is not done[0])
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=90)[0].rstrip().endswith("Closed.")
    assert copy.left_running() == []


def test_a_killed_start_leaves_nothing_that_stops_the_next(copy: Copy) -> None:
    assert copy.up().returncode == 0
    note = copy.note()
    os.kill(note["pid"], signal.SIGKILL)
    postmaster = copy.at / ".local" / "postgres" / "data" / "postmaster.pid"
    os.kill(int(postmaster.read_text().splitlines()[0]), signal.SIGKILL)
    opened = copy.up()
    assert opened.returncode == 0, opened.stdout + opened.stderr
    assert "Stopped what an earlier start had left running." in opened.stdout
    assert copy.answers()


def test_a_port_in_use_is_said_in_a_sentence(copy: Copy) -> None:
    with socket.create_server(("127.0.0.1", copy.port)):
        refused = copy.up()
    assert refused.returncode == 1
    assert refused.stdout.strip() == (
        f"Port {copy.port} is in use. Choose another: python3 manage.py up --port {copy.port + 1}"
    )
    assert "Traceback" not in refused.stdout + refused.stderr


def test_stale_notes_of_processes_harm_nobody(copy: Copy) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    try:
        (copy.at / ".local").mkdir()
        stale = {
            "pid": bystander.pid,
            "born": 1.0,
            "port": 1,
            "open": True,
            "children": [["web", bystander.pid, 1.0]],
        }
        (copy.at / ".local" / "house.json").write_text(json.dumps(stale))
        assert copy.manage("down").stdout.strip() == "The house was not open."
        assert bystander.poll() is None
        (copy.at / ".local" / "house.json").write_text("{cut off")
        assert copy.manage("down").stdout.strip() == "The house was not open."
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_said_in_a_sentence(folder: Path) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        copy = Copy(at=folder)
        refused = copy.up()
        assert refused.returncode == 1
        assert refused.stdout.strip().startswith("The disk is full:")
        assert "Traceback" not in refused.stdout + refused.stderr
        assert copy.left_running() == []
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.full
@pytest.mark.skipif(os.getuid() != 0, reason="only root hands PostgreSQL to another user")
def test_a_clone_behind_a_closed_folder_opens_too(folder: Path) -> None:
    folder.chmod(0o700)
    (folder / "clone").mkdir()
    copy = Copy(at=folder / "clone")
    name = hashlib.sha256(str(copy.at).encode()).hexdigest()[:16]
    outside = Path("/var/tmp") / f"pokdeng-{name}"
    try:
        opened = copy.up()
        assert opened.returncode == 0, opened.stdout + opened.stderr
        assert copy.answers()
        assert (outside / "postgres").stat().st_mode & 0o077 == 0
    finally:
        copy.manage("down")
        shutil.rmtree(outside, ignore_errors=True)
    assert copy.left_running() == []
