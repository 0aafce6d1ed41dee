from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import get_commands
from django.core.management.base import BaseCommand, CommandParser

from deploy.local import keeping, paths, processes, servers
from deploy.local.start_errors import Trouble

DEFAULT_PORT = 8000
LOOK_SECONDS = 0.5


class Command(BaseCommand):
    help = "Open the house: database, broker, web, worker, beat and sealer, until Ctrl-C or `down`."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=DEFAULT_PORT, help=f"where the web answers ({DEFAULT_PORT})"
        )
        parser.add_argument("--detach", action="store_true", help="return when the house is open")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["detach"]:
                self._detach(port=options["port"])
            else:
                self._attach(port=options["port"])
        except Trouble as trouble:
            self.stderr.write(trouble.sentence)
            sys.exit(trouble.status)
        except Stopped:
            self.stdout.write("Closed.")

    def _attach(self, *, port: int) -> None:
        paths.make()
        lock = paths.try_lock("house")
        if lock is None:
            self.stdout.write(_already())
            return
        with lock, _stopping_on_signals():
            if processes.stop_leftovers():
                self.stdout.write("Stopped what an earlier start had left running.")
            if not paths.port_is_free(port):
                raise Trouble(
                    f"Port {port} is in use. Choose another: python3 manage.py up --port {port + 1}"
                )
            processes.note(port=port, children=[], is_open=False)
            try:
                with _servers() as environment:
                    self._open(port=port, environment=environment)
            finally:
                processes.forget()

    def _open(self, *, port: int, environment: dict[str, str]) -> None:
        _manage("migrate", "--verbosity", "0", environment=environment)
        welcome = ""
        if environment.get("DEMONSTRATION") == "1" and "house" in get_commands():
            welcome = _manage("house", "--demo", environment=environment)
        # Whoever answers requests has no use for the administrator's address.
        environment = {name: value for name, value in environment.items() if name != "DATABASE_OWNER_URL"}
        keeper = keeping.Keeper(
            start=lambda program: processes.start(program, environment=environment),
            say=self._say,
            tell=keeping.telling(environment),
        )

        guard = None
        if settings.LOCAL:
            guard = keeping.Guard(
                alive=servers.alive, again=lambda: servers.again().environment(), say=self._say
            )

        def noted(*, is_open: bool = False) -> None:
            processes.note(port=port, children=keeper.children, is_open=is_open)

        try:
            keeper.begin(processes.programs(port=port), begun=noted)
            processes.wait_until_open(port=port, children=keeper.children)
            noted(is_open=True)
            self._say(_announcement(port=port, welcome=welcome))
            while True:
                time.sleep(LOOK_SECONDS)
                if guard is not None and _moved(environment, guard.look(now=time.monotonic())):
                    keeper.start_all_again()
                    noted(is_open=True)
                if keeper.look(now=time.monotonic()):
                    noted(is_open=True)
        finally:
            with _ignoring_signals():
                processes.stop(keeper.children)

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def _detach(self, *, port: int) -> None:
        paths.make()
        log = paths.FOLDER / "up.log"
        with paths.open_closed(log, anew=True) as output:
            child = subprocess.Popen(
                [sys.executable, str(paths.CLONE / "manage.py"), "up", "--port", str(port)],
                cwd=paths.CLONE,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        while child.poll() is None:
            note = paths.read("house.json")
            if note.get("pid") == child.pid and note.get("open"):
                time.sleep(0.1)  # the announcement follows the note
                break
            time.sleep(0.1)
        self.stdout.write(log.read_text(errors="replace").strip())
        if child.returncode:
            sys.exit(child.returncode)


class Stopped(Exception):
    """A signal asked to close."""


@contextmanager
def _stopping_on_signals() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    before = {
        number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _ignoring_signals() -> Iterator[None]:
    """While closing: a second Ctrl-C must not leave half of it running."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _servers() -> Iterator[dict[str, str]]:
    """The environment of every child: this clone's servers, or those the caller's environment names.

    A house on this clone's own database is a demonstration; on somebody else's only when it says so.
    """
    if not settings.LOCAL:
        if not os.environ.get("REDIS_URL"):
            raise Trouble("DATABASE_URL is set and REDIS_URL is not: name both servers, or neither.")
        if not os.environ.get("DATABASE_SEALER_URL"):
            raise Trouble(
                "DATABASE_SEALER_URL is missing: the sealer signs in to the database by a role of its own."
            )
        yield dict(os.environ)
        return
    with servers.running() as addresses:
        environment = {"DEMONSTRATION": "1", "SIGNATURES": "on_duty", **os.environ, **addresses.environment()}
        environment.setdefault("SECRET_KEY", paths.django_secret() or "")
        yield environment


def _manage(*arguments: str, environment: dict[str, str]) -> str:
    """Another command of the house in a process of its own; returns what it printed."""
    done = subprocess.run(
        [sys.executable, str(paths.CLONE / "manage.py"), *arguments],
        cwd=paths.CLONE,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise Trouble(f"`manage.py {arguments[0]}` failed: {lines[-1] if lines else done.returncode}")
    return done.stdout.strip()


def _moved(environment: dict[str, str], addresses: Mapping[str, str] | None) -> bool:
    """Say whether the servers answer elsewhere than the children were told, who are told the new addresses then."""
    moved = {
        name: value
        for name, value in (addresses or {}).items()
        if environment.get(name, value) != value and name != "DATABASE_OWNER_URL"
    }
    environment |= moved
    return bool(moved)


def _already() -> str:
    note = paths.read("house.json")
    if note.get("open"):
        return f"The house is open already: http://{paths.LOOPBACK}:{note['port']}/"
    return "Another start is opening the house at this moment; nothing to do."


def _announcement(*, port: int, welcome: str) -> str:
    lines = [f"The house is open: http://{paths.LOOPBACK}:{port}/"]
    if welcome:
        lines += ["", welcome]
    lines += ["", f"Logs are in {paths.FOLDER.name}/log/. Ctrl-C, or `python3 manage.py down`, closes it."]
    return "\n".join(lines)
