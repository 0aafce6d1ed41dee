"""``manage.py analytics --day D``: let the screens look at a gaming day, and read what they found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from audit import analytics
from audit.models import Analysis, AnalysisResult
from casino import events
from casino.platform import values
from casino.platform.refusals import Refusal
from settlement import days

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "en": ("screen", "rounds", "sample", "could have shown", "by chance", "alarms", "digest"),
    "th": ("จอ", "รอบ", "ตัวอย่าง", "ที่มองเห็นได้", "โดยบังเอิญ", "ข้อสังเกต", "ลายนิ้วมือ"),
}
MOST = 3
"""Figures of a screen's power shown in a cell; the API has all of them."""


class Command(BaseCommand):
    help = (
        "Let the integrity screens look at a gaming day (yesterday where none is given) and print what they found,"
        " each with its sample, what that could have shown and the alarms chance alone gives."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--day", default="", metavar="DAY", help="2026-03-01; yesterday where left out")
        parser.add_argument("--again", action="store_true", help="look again where it was done")
        parser.add_argument("--language", choices=("th", "en"), default="en")

    def handle(self, *args: Any, **options: Any) -> None:
        day = _day(options["day"])
        self._ask(day, again=options["again"])
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(str(day), total=analytics.rounds_of(day))
            analytics.work_on(
                day=day,
                now=timezone.now(),
                request_id=_request(),
                progress=lambda done: bar.advance(task, done),
            )
        self._show(day, options["language"])

    def _ask(self, day: date, *, again: bool) -> None:
        done = [row for row, result in analytics.newest(day=day) if result is not None]
        if len(done) == len(analytics.SCREENS) and not again:
            return
        try:
            with events.act(actor=events.SERVICE, request_id=_request(), now=timezone.now()):
                analytics.ask(day=day)
        except Refusal as refusal:
            raise CommandError(f"{refusal.sentence('en')} {refusal.sentence('th')}") from refusal

    def _show(self, day: date, language: str) -> None:
        found = analytics.newest(day=day)
        table = Table(*HEADINGS[language], title=f"{day}")
        for analysis, result in found:
            if result is not None:
                table.add_row(*_row(analysis, result))
        console = Console(width=None if self.stdout.isatty() else 160)
        with console.capture() as printed:
            console.print(table)
        self.stdout.write(printed.get())
        currency = str(settings.PROPERTY["currency"])
        for analysis, result in found:
            for alarm in result.body["alarms"] if result is not None else ():
                mark = "⚑" if alarm["flagged"] else "·"
                self.stdout.write(
                    f"{mark} {analysis.screen}: {analytics.said(alarm, currency=currency)[language]}"
                )


def _row(analysis: Analysis, result: AnalysisResult) -> tuple[str, ...]:
    return (
        analysis.screen,
        str(result.rounds),
        _figures(result.body["sample"], most=10),
        _figures(result.body["power"], most=MOST),
        result.expected,
        str(result.alarms),
        result.digest[:12],
    )


def _figures(told: Mapping[str, Any], *, most: int) -> str:
    """Figures by their names; of figures by group the first few."""
    parts = []
    for name, value in told.items():
        shown = "–" if value is None else str(value)
        if isinstance(value, dict):
            first = [f"{group} {figure}" for group, figure in list(value.items())[:most]]
            shown = ", ".join([*first, *(["…"] if len(value) > most else [])])
        parts.append(f"{name} {shown}")
    return "\n".join(parts)


def _day(written: str) -> date:
    if not written:
        return days.of(timezone.now()) - timedelta(days=1)
    try:
        return days.asked(now=timezone.now()).require(values.day(written))
    except values.Wrong as wrong:
        raise CommandError(f"--day {written!r}: {wrong.why}") from wrong


def _request() -> str:
    return f"analytics-{uuid4().hex}"
