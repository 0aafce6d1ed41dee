"""``manage.py reconcile``: compare the books of a gaming day, as one worker among any number.

Ended at any moment, it goes on where it was when it is called again. Exit 0: they agree; 1: there are breaks;
2: something could not be looked at.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from casino import events
from casino.platform import values
from settlement import days, reconciliation
from settlement.models import Run

OWN = tuple(level for level in reconciliation.LEVELS if level != "R5")
"""What a worker of this command compares; R5 is the log's own."""


class Command(BaseCommand):
    help = "Compares the books of a gaming day and prints what they came to."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--day", type=values.day, help="the gaming day (YYYY-MM-DD)")
        parser.add_argument(
            "--levels", default=",".join(reconciliation.LEVELS), help="R0,R1,… (default: all)"
        )
        parser.add_argument(
            "--chunk", type=partial(values.whole, least=1, most=1_000_000), help="records in one chunk"
        )
        parser.add_argument(
            "--workers",
            type=partial(values.whole, least=1, most=64),
            default=1,
            help="processes that compare",
        )
        parser.add_argument(
            "--wait",
            type=partial(values.whole, most=86_400),
            default=60,
            help="seconds to wait for chunks that others hold",
        )
        parser.add_argument(
            "--join", type=values.uuid, metavar="RUN", help="only help with a run that was begun"
        )
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, **options: Any) -> None:
        if options["join"] is not None:
            self._help_with(options["join"])
            return
        if options["day"] is None:
            raise SystemExit("--day is missing")
        try:
            days.asked(now=timezone.now()).require(options["day"])
        except values.OutOfBounds as wrong:
            raise CommandError(f"--day: {wrong.why}") from wrong
        levels = tuple(options["levels"].split(","))
        run = events.attempt(
            lambda _: reconciliation.begin(
                kind=Run.Kind.ASKED, gaming_day=options["day"], levels=levels, chunk_size=options["chunk"]
            ),
            actor=events.SERVICE,
            request_id=f"reconcile-{uuid4().hex}",
            now=timezone.now(),
        )
        helpers = [_helper(run.id) for _ in range(options["workers"] - 1)]
        self._work(run, wait=options["wait"], quiet=options["json"])
        for helper in helpers:
            helper.wait()
        run.refresh_from_db()
        raise SystemExit(self._report(run, as_json=options["json"]))

    def _help_with(self, run: UUID) -> None:
        while _one(run) is not None:
            pass

    def _work(self, run: Run, *, wait: int, quiet: bool) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), disable=quiet) as shown:
            task = shown.add_task(f"{run.gaming_day} {run.rules}", total=None)
            last_move = time.monotonic()
            before = -1
            while not Run.objects.filter(pk=run.id, done_at__isnull=False).exists():
                looked = _one(run.id)
                finished = _show(shown, task, run)
                if finished != before:
                    before, last_move = finished, time.monotonic()
                if looked is None:
                    _sweep()
                    if time.monotonic() - last_move > wait:
                        return
                    time.sleep(0.2)
            _show(shown, task, run)  # the last chunks may be another worker's

    def _report(self, run: Run, *, as_json: bool) -> int:
        if run.done_at is None:
            come = reconciliation.progress(run.id)
            self.stderr.write(
                f"not finished: {come.chunks - come.done} of {come.chunks} chunks are with other workers, or"
                " nobody took them (R5 is the worker's); call again to go on"
            )
            return 2
        if as_json:
            said = {"run": str(run.id), "outcome": run.outcome, "digest": run.digest, "report": run.report}
            self.stdout.write(json.dumps(said, ensure_ascii=False))
        else:
            _print(run)
        return {"matched": 0, "breaks": 1}.get(run.outcome, 2)


def _show(shown: Progress, task: TaskID, run: Run) -> int:
    """Draw how far a run is; return how many of its chunks are finished."""
    come = reconciliation.progress(run.id)
    finished = come.done + come.poisoned
    shown.update(task, completed=finished, total=come.chunks)
    return finished


def _one(run: UUID) -> reconciliation.Look | None:
    return reconciliation.look_on(
        owner=f"{socket.gethostname()}:{os.getpid()}",
        now=timezone.now(),
        request_id=f"reconcile-{uuid4().hex}",
        levels=OWN,
        run=run,
    )


def _sweep() -> None:
    events.attempt(
        lambda _: reconciliation.sweep(),
        actor=events.SERVICE,
        request_id=f"reconcile-{uuid4().hex}",
        now=timezone.now(),
    )


def _helper(run: UUID) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, sys.argv[0], "reconcile", "--join", str(run)])  # noqa: S603


def _print(run: Run) -> None:
    console = Console()
    report: dict[str, Any] = run.report
    table = Table("level", "compared", "matched", "pending", "broken", "at risk")
    rows: Sequence[tuple[str, dict[str, Any]]] = [*report["levels"].items(), ("all", report)]
    for name, level in rows:
        broken = ", ".join(f"{code} {count}" for code, count in level["broken"].items()) or "none"
        risk = ", ".join(f"{amount} {currency}" for currency, amount in level["at_risk"].items()) or "none"
        table.add_row(
            name, str(level["compared"]), str(level["matched"]), str(level["pending"]), broken, risk
        )
    console.print(table)
    console.print(f"{run.since.isoformat()} to {run.until.isoformat()}, {run.rules}, edition {run.edition}")
    console.print(f"verified through {report['verified_through']}, lag {report['lag_seconds']} s")
    for what, why in report["unseen"]:
        console.print(f"not looked at: {what}: {why}")
    for sha256 in report["files"]:
        console.print(f"file {sha256}")
    console.print(f"{run.outcome}  digest {run.digest}", highlight=False)
