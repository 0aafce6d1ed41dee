"""Web, worker, beat and sealer of a started house: children of `manage.py up`, kept by it and stopped with it.

They are written down in `.local/house.json` by process id and moment of birth, so that what a killed `up` left
behind is known again, and no stranger who got the same number is ever signalled.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from deploy.local import paths
from deploy.local.start_errors import Trouble, no_room

START_SECONDS = 120.0  # a loaded machine; a web that ended is noticed at once
STOP_SECONDS = 30.0
LOG_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Program:
    """`process` is what the settings call its kind: it decides time-outs."""

    name: str
    process: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(slots=True)
class Child:
    name: str
    popen: subprocess.Popen[bytes]
    born: float


def programs(*, port: int) -> tuple[Program, ...]:
    python = sys.executable
    celery = (python, "-m", "celery", "-q", "-A", "deploy.celery")
    return (
        Program(
            name="web",
            process="web",
            command=(python, "-m", "gunicorn", "-c", "python:deploy.gunicorn", "deploy.wsgi:application"),
            environment={"BIND": f"{paths.LOOPBACK}:{port}", "DATABASE_POOL": "6"},
        ),
        Program(
            name="worker",
            process="worker",
            command=(*celery, "worker", "-c", "2", "-l", "WARNING", "--without-gossip", "--without-mingle"),
            environment={"CONN_MAX_AGE": "60"},
        ),
        # Its timetable is rings every few seconds: nothing to remember between two starts.
        Program(
            name="beat",
            process="beat",
            command=(*celery, "beat", "-l", "WARNING", "-S", "celery.beat:Scheduler", "--pidfile="),
            environment={},
        ),
        Program(
            name="sealer",
            process="sealer",
            command=(python, str(paths.CLONE / "manage.py"), "seal"),
            environment={"CONN_MAX_AGE": "60"},
        ),
    )


def start(program: Program, *, environment: Mapping[str, str]) -> Child:
    """In a session of its own: Ctrl-C reaches the starter alone, which stops its children in order."""
    with _log(program.name) as log:
        popen = subprocess.Popen(
            program.command,
            cwd=paths.CLONE,
            env={**environment, **program.environment, "PROCESS": program.process},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Child(name=program.name, popen=popen, born=_born(popen.pid) or 0.0)


def log_file(name: str) -> Path:
    return paths.FOLDER / "log" / f"{name}.log"


def _log(name: str) -> Any:
    path = log_file(name)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.chmod(0o700)
        if path.exists() and path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        return paths.open_closed(path)
    except OSError as error:
        raise no_room(error, doing="Writing a log") from error


def last_words(name: str) -> str:
    try:
        lines = log_file(name).read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:500] if lines else ""


def wait_until_open(*, port: int, children: list[Child]) -> None:
    """Until the web answers. A child that ends meanwhile ends the start."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        refuse_if_any_ended(children)
        try:
            with urllib.request.urlopen(f"http://{paths.LOOPBACK}:{port}/healthz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        if time.monotonic() > deadline:
            raise Trouble(
                f"The web did not answer within {START_SECONDS:.0f} s. Its last line: {last_words('web')}"
            )
        time.sleep(0.1)


def refuse_if_any_ended(children: list[Child]) -> None:
    for child in children:
        if child.popen.poll() is not None:
            raise Trouble(
                f"The {child.name} ended by itself ({child.popen.returncode}); the house is closed. "
                f"Its last line: {last_words(child.name)}"
            )


def stop_rest_of(child: Child) -> None:
    """Kill what a child that ended left running of its own: it was in a session of its own, with them alone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.popen.pid, signal.SIGKILL)


def stop(children: list[Child]) -> None:
    """Ask all, then wait: a request under way is answered, a task under way is finished."""
    for child in reversed(children):
        if child.popen.poll() is None:
            child.popen.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.popen.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(child.popen.pid, signal.SIGKILL)  # its own session: it and its children
            child.popen.wait()


# ── the note about them ──────────────────────────────────────────────────────────────────────────────


def note(*, port: int, children: list[Child], is_open: bool) -> None:
    paths.write(
        "house.json",
        {
            "pid": os.getpid(),
            "born": _born(os.getpid()),
            "port": port,
            "open": is_open,
            "children": [[child.name, child.popen.pid, child.born] for child in children],
        },
    )


def forget() -> None:
    (paths.FOLDER / "house.json").unlink(missing_ok=True)


def stop_leftovers() -> int:
    """Stop what a killed `up` left running; returns how many. Call while holding the house's lock."""
    parents, families = [], []
    for _, pid, born in paths.read("house.json").get("children", []):
        process = known(pid, born=born)
        if process is not None:
            parents.append(process)
            families += [process, *process.children(recursive=True)]
    for process in parents:  # each ends its own children in order
        _signal(process, signal.SIGTERM)
    _, alive = psutil.wait_procs(families, timeout=STOP_SECONDS)
    for process in alive:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=5)
    return len(parents)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)  # psutil compares the moment of birth once more


def known(pid: int, *, born: float | None) -> psutil.Process | None:
    """The process, if it is the one that was written down."""
    try:
        process = psutil.Process(pid)
        same = born is not None and abs(process.create_time() - born) < 0.5
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None


def _born(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None
