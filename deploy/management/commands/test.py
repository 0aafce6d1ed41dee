from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from deploy.local import paths, servers
from deploy.local.start_errors import Trouble

PYTHON = sys.executable
MANAGE = str(paths.CLONE / "manage.py")
DISTRIBUTED = ["-n", "2", "--dist", "loadgroup"]
"""Two processes; tests of one group (those that run a whole house of their own) share one of them."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    status: int
    seconds: float
    output: str = ""


class Command(BaseCommand):
    """`manage.py test [--full] [pytest's arguments]`.

    Without further arguments: everything that must hold. With arguments: pytest on those alone.
    """

    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        arguments = argv[2:]
        if arguments in (["--help"], ["-h"]):
            self.stdout.write(self.__doc__ or "")
            return
        full = "--full" in arguments
        arguments = [argument for argument in arguments if argument != "--full"]
        try:
            sys.exit(self._run(arguments=arguments, full=full))
        except Trouble as trouble:
            self.stderr.write(trouble.sentence)
            sys.exit(trouble.status)
        except KeyboardInterrupt:
            sys.exit(130)

    def handle(self, *args: Any, **options: Any) -> None:
        sys.exit(self._run(arguments=list(args), full=bool(options.get("full"))))

    def _run(self, *, arguments: list[str], full: bool) -> int:
        with ExitStack() as stack:
            environment: dict[str, str] = {}
            if settings.LOCAL:
                paths.use_memory()
                environment |= stack.enter_context(servers.running()).environment()
                environment |= {"DEMONSTRATION": "1", "SECRET_KEY": paths.django_secret() or ""}
            environment = {**os.environ, **environment}
            if arguments:
                return _pytest(arguments=arguments, full=full, environment=environment).status
            outcomes = self._static(environment=environment)
            self.stdout.write("── pytest")
            self.stdout.flush()
            outcomes.append(_pytest(arguments=DISTRIBUTED, full=full, environment=environment))
        self._summarise(outcomes)
        return int(any(outcome.status for outcome in outcomes))

    def _static(self, *, environment: Mapping[str, str]) -> list[Outcome]:
        """Two at a time: mypy takes one core for as long as all the others the second."""
        outcomes: list[Outcome] = []
        with ThreadPoolExecutor(max_workers=2) as pool:
            for outcome in pool.map(_check, static_checks(environment=environment)):
                outcomes.append(outcome)
                mark = "ok" if outcome.status == 0 else "FAILED"
                self.stdout.write(f"── {outcome.name}: {mark} ({outcome.seconds:.1f} s)")
                if outcome.status:
                    self.stdout.write(outcome.output)
                self.stdout.flush()
        return outcomes

    def _summarise(self, outcomes: list[Outcome]) -> None:
        self.stdout.write("")
        for outcome in outcomes:
            self.stdout.write(
                f"{'ok    ' if outcome.status == 0 else 'FAILED'}  {outcome.seconds:7.1f} s  {outcome.name}"
            )
        failed = [outcome.name for outcome in outcomes if outcome.status]
        total = f"{sum(outcome.seconds for outcome in outcomes):.0f} s"
        self.stdout.write(
            f"Failed: {', '.join(failed)} ({total})" if failed else f"All checks hold ({total})."
        )


def static_checks(*, environment: Mapping[str, str]) -> list[Check]:
    module = (PYTHON, "-m")
    return [
        Check("mypy", (*module, "mypy"), environment),
        Check("ruff check", (*module, "ruff", "check", "."), environment),
        Check("ruff format", (*module, "ruff", "format", "--check", "."), environment),
        Check("import contracts", (os.path.join(os.path.dirname(PYTHON), "lint-imports"),), environment),
        Check(
            "migrations are complete", (PYTHON, MANAGE, "makemigrations", "--check", "--dry-run"), environment
        ),
        Check(
            "production settings",
            (PYTHON, "-W", "error", MANAGE, "check", "--deploy", "--fail-level", "WARNING"),
            production(environment),
        ),
    ]


def production(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a house behind a TLS proxy, as the deployment sets it."""
    return {
        "DATABASE_URL": "postgresql://pokdeng_app:secret@127.0.0.1:1/pokdeng",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        **environment,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "ALLOWED_HOSTS": "office.example",
        "SIGNATURES": "required",
        "DEMONSTRATION": "0",
        "BEHIND_TLS_PROXY": "1",
    }


def _check(check: Check) -> Outcome:
    started = time.monotonic()
    done = subprocess.run(
        check.command,
        cwd=paths.CLONE,
        env=dict(check.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Outcome(check.name, done.returncode, time.monotonic() - started, done.stdout)


def _pytest(*, arguments: list[str], full: bool, environment: Mapping[str, str]) -> Outcome:
    started = time.monotonic()
    chosen = [] if full or "-m" in arguments else ["-m", "not full"]
    command = [PYTHON, "-m", "pytest", *chosen, *arguments]
    done = subprocess.run(command, cwd=paths.CLONE, env=dict(environment), check=False)
    return Outcome("pytest", done.returncode, time.monotonic() - started)
