"""``manage.py inspect``: the second look at everything settled. 0 all right, 1 discrepancies."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from audit import seal
from audit.controls import along_the_log
from audit.models import Inspection
from casino import events
from casino.platform import values
from settlement import days

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


class Command(BaseCommand):
    help = (
        "Derive every settlement from its events again and compare it with record, lines, ledger and log."
        " Without a range the standing inspection goes on from where it is. Exit 0: right, 1: discrepancies."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--from", dest="since", default="", metavar="TIME", help="2026-03-01 or 2026-03-01T06:00:00Z"
        )
        parser.add_argument(
            "--to", dest="until", default="", metavar="TIME", help="not included; now where left out"
        )
        parser.add_argument("--anew", action="store_true", help="begin the inspection again")

    def handle(self, *args: Any, **options: Any) -> None:
        row = self._begin(options)
        total = seal.head(row.origin).size if row.last is None else row.last
        found = 0
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(row.name, total=total - row.first, completed=row.position - row.first)
            while True:
                step = along_the_log.look_on(name=row.name, now=timezone.now(), request_id=_request())
                for invariant, finding in step.found:
                    found += 1
                    self.stdout.write(
                        f"{invariant} {finding.subject}: found {finding.found}; expected {finding.expected}"
                    )
                bar.advance(task, step.leaves)
                if not step.leaves:
                    break
        row.refresh_from_db()
        through = row.verified_through.isoformat() if row.verified_through else "nothing"
        self.stdout.write(
            f"{row.settlements} settlements looked at, {row.offending} not right; verified through {through}"
        )
        sys.exit(1 if found or row.offending else 0)

    def _begin(self, options: dict[str, Any]) -> Inspection:
        now = timezone.now()
        with events.act(actor=events.SERVICE, request_id=_request(), now=now):
            if options["since"] or options["until"]:
                since = _instant(options["since"]) or EARLIEST
                row = along_the_log.begin_range(since=since, until=_instant(options["until"]) or now, now=now)
            else:
                row = along_the_log.begin(now=now)
            if options["anew"]:
                along_the_log.begin_anew(name=row.name, now=now)
        row.refresh_from_db()
        return row


def _instant(written: str) -> datetime | None:
    """Read an instant, or a gaming day, which is the instant of its beginning."""
    if not written:
        return None
    now = timezone.now()
    try:
        if "T" in written:
            return days.happened(now=now).require(values.instant(written))
        return days.bounds(days.asked(now=now).require(values.day(written)))[0]
    except values.Wrong as wrong:
        raise CommandError(f"{written!r}: {wrong.why}") from wrong


def _request() -> str:
    return f"inspect-{uuid4().hex}"
