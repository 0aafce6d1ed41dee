from __future__ import annotations

import contextlib
import signal
import sys
import time
from typing import Any

import psutil
from django.core.management.base import BaseCommand

from deploy.local import paths, processes, servers
from deploy.local.start_errors import Trouble

PATIENCE_SECONDS = 90.0


class Command(BaseCommand):
    help = "Close the house that `up` opened, and whatever a killed start left behind."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(_close())
        except Trouble as trouble:
            self.stderr.write(trouble.sentence)
            sys.exit(trouble.status)


def _close() -> str:
    paths.make()
    lock = paths.try_lock("house")
    was_running = lock is None
    deadline = time.monotonic() + PATIENCE_SECONDS
    told: int | None = None
    while lock is None:
        told = _ask_to_stop(told=told) or told
        if time.monotonic() > deadline:
            raise Trouble(f"The house did not close within {PATIENCE_SECONDS:.0f} s. See .local/log/.")
        time.sleep(0.1)
        lock = paths.try_lock("house")
    with lock:
        left = processes.stop_leftovers()
        processes.forget()
        left += servers.stop_unused()
    if was_running:
        _until_ended(told)
        return "Closed."
    return "Closed what a killed start had left running." if left else "The house was not open."


def _until_ended(pid: int | None) -> None:
    """The lock is free a moment before its holder's process has ended; who asked for `down` may look for it."""
    if pid is not None:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
            psutil.Process(pid).wait(timeout=10)


def _ask_to_stop(*, told: int | None) -> int | None:
    """Send SIGTERM once to the process that holds the house, when it is the one that was written down."""
    note = paths.read("house.json")
    process = processes.known(note.get("pid", 0), born=note.get("born"))
    if process is None or process.pid == told:
        return told
    process.send_signal(signal.SIGTERM)
    return process.pid
