"""``manage.py check_books``: are the books right? 0 clean, 1 offending rows, 2 could not check."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from audit import controls
from casino import events

CLEAN, OFFENDING, NOT_CHECKED = 0, 1, 2


class Command(BaseCommand):
    help = (
        "Check the invariants of the house in one read-only transaction; one line per offending row."
        " Exit 0: clean, 1: offending rows, 2: could not check."
    )
    requires_system_checks: Any = ()

    def add_arguments(self, parser: CommandParser) -> None:
        how = parser.add_mutually_exclusive_group()
        how.add_argument(
            "--quick",
            action="store_true",
            help="all since the last clean run: in a row, they look at each stretch of the open day once",
        )
        how.add_argument("--full", action="store_true", help="everything, each round judged again")
        parser.add_argument("--only", default="", metavar="I4,I7", help="these invariants alone")
        parser.add_argument(
            "--checkpoint", default="", metavar="FILE", help="a checkpoint that was exported before and kept elsewhere"
        )  # fmt: skip
        parser.add_argument(
            "--key", default="", metavar="FILE", help="the log's verifier key, as a reader kept it"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        asked = [name.strip().upper() for name in options["only"].split(",") if name.strip()]
        missing = [name for name in asked if name not in controls.built()]
        if missing:
            self._say_missing(missing, as_json=options["json"])
            sys.exit(NOT_CHECKED)
        mode = "full" if options["full"] else "quick"
        try:
            outside = controls.Outside(
                key=_read(options["key"]).strip(), checkpoint=_read(options["checkpoint"])
            )
        except OSError as fault:
            raise CommandError(f"{fault.filename}: {fault.strerror}", returncode=NOT_CHECKED) from fault
        run = _Run(
            ids=asked or list(controls.built()), mode=mode, outside=outside, printing=not options["json"], command=self
        )  # fmt: skip
        code = run.check()
        if options["json"]:
            self.stdout.write(json.dumps(run.document(), indent=1))
        sys.exit(code)

    def _say_missing(self, missing: list[str], *, as_json: bool) -> None:
        why = {name: "not built" if name in controls.INVARIANTS else "no such invariant" for name in missing}
        if as_json:
            self.stdout.write(json.dumps({"outcome": "not checked", "why": why}))
        else:
            for name, text in why.items():
                self.stdout.write(f"{name}: {text}")


def _read(path: str) -> str:
    return Path(path).read_text() if path else ""


class _Run:
    """One run: what it checks, what it found."""

    def __init__(
        self, *, ids: list[str], mode: str, outside: controls.Outside, printing: bool, command: BaseCommand
    ) -> None:
        self.ids = ids
        self.mode = mode
        self.outside = outside
        self.printing = printing
        self.command = command
        self.as_of = timezone.now()
        self.rows: list[dict[str, str]] = []
        self.found: Counter[str] = Counter()
        self.outcome = "clean"
        self.trouble = ""

    def check(self) -> int:
        """Check, print, leave the result in the log; return the exit code."""
        try:
            clean = controls.last_clean() if self.mode == "quick" else None
            scope = controls.quick_scope(clean=clean) if self.mode == "quick" else controls.Scope(None)
            with (
                controls.opened(scope=scope, outside=self.outside) as opened,
                Progress(console=Console(stderr=True), transient=True) as bar,
            ):
                self._read(opened, bar)
        except (psycopg.Error, DatabaseError, controls.NotChecked) as trouble:
            self.outcome, self.trouble = "not checked", str(trouble).strip().splitlines()[0]
        else:
            self.outcome = "offending" if self.found else "clean"
        self._record()
        if self.printing:
            self._conclude()
        return {"clean": CLEAN, "offending": OFFENDING}.get(self.outcome, NOT_CHECKED)

    def _read(self, opened: Any, bar: Progress) -> None:
        task = bar.add_task("", total=None)
        for id, finding in controls.check(
            opened,
            ids=self.ids,
            progress=lambda text, done, total: bar.update(
                task, description=text, completed=done, total=total
            ),
        ):
            self.found[id] += 1
            if self.printing:
                self.command.stdout.write(
                    f"{id} {finding.subject}: found {finding.found}; expected {finding.expected}"
                )
            else:
                self.rows.append(
                    {
                        "id": id,
                        "subject": finding.subject,
                        "found": finding.found,
                        "expected": finding.expected,
                    }
                )

    def _record(self) -> None:
        try:
            controls.record(
                actor=events.SERVICE,
                request_id=f"check_books-{uuid4().hex}",
                now=timezone.now(),
                as_of=self.as_of,
                mode=self.mode,
                ids=self.ids,
                outcome=self.outcome,
                found=self.found,
            )
        except DatabaseError as trouble:
            # The books may be right and still nobody was told: that is not clean.
            self.outcome = self.outcome if self.outcome == "offending" else "not checked"
            self.trouble = self.trouble or f"the result was not recorded: {str(trouble).splitlines()[0]}"

    def _conclude(self) -> None:
        write = self.command.stdout.write
        for id in self.ids:
            count = self.found[id]
            if not count and self.outcome != "not checked":
                write(f"{id} {controls.INVARIANTS[id].name}: clean")
        not_built = [id for id, invariant in controls.INVARIANTS.items() if not invariant.is_built]
        write(f"not built: {', '.join(not_built)}")
        write(f"{self.outcome} ({self.mode})" + (f": {self.trouble}" if self.trouble else ""))

    def document(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "mode": self.mode,
            "as_of": self.as_of.isoformat(),
            "invariants": {
                id: {"name": controls.INVARIANTS[id].name, "found": self.found[id]} for id in self.ids
            },
            "not_built": [id for id, invariant in controls.INVARIANTS.items() if not invariant.is_built],
            "trouble": self.trouble,
            "rows": self.rows,
        }
