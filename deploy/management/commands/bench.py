from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table as Grid

from deploy.benchmark import books, pure, reconciling, scratch, telling, web
from deploy.benchmark.pace import Pace
from deploy.local import servers
from deploy.local.trouble import Trouble

SEED = 20_260_301


class Command(BaseCommand):
    help = "Measure how fast the house is, in a scratch database that is dropped afterwards."
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--runs", type=int, default=5, help="how often each is measured (5)")
        parser.add_argument(
            "--day", type=int, default=100_000, help="rounds of the day that is compared (100000)"
        )
        parser.add_argument("--pure", action="store_true", help="only what needs no database")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(width=110)
        try:
            found = []
            for pace in _paces(runs=options["runs"], only_pure=options["pure"], day=options["day"]):
                self.stderr.write(f"{pace.what}: {pace.per_second:,.0f} {pace.unit}/s")
                found.append(pace)
        except Trouble as trouble:
            raise CommandError(trouble.sentence) from trouble
        with console.capture() as text:
            console.print(_grid(found, runs=options["runs"]))
        self.stdout.write(text.get())


def _paces(*, runs: int, only_pure: bool, day: int) -> Iterator[Pace]:
    yield from pure.paces(runs=runs, seed=SEED)
    if only_pure:
        return
    if not settings.LOCAL:
        raise Trouble("Measured on the servers of this clone alone: unset DATABASE_URL.")
    with servers.running() as addresses, scratch.database(addresses) as url:
        tables = [
            books.Table(code=code, token=token, seed=SEED + place)
            for place, (code, token) in enumerate(scratch.furnish().items())
        ]
        yield from books.paces(tables=tables, runs=runs)
        yield from web.paces(tables=tables, database_url=url, runs=runs)
        yield from telling.paces(runs=runs)
    # A house of its own: what was measured above would be part of the day.
    with servers.running() as addresses, scratch.database(addresses) as url:
        ((code, token), *_) = scratch.furnish().items()
        tables = [books.Table(code=code, token=token, seed=SEED)]
        owner_url = scratch.owned(addresses, url)
        yield from reconciling.paces(tables=tables, owner_url=owner_url, rounds=day, runs=min(runs, 3))


def _grid(paces: list[Pace], *, runs: int) -> Grid:
    grid = Grid(
        title=f"Medians of {runs} runs; {os.cpu_count()} cores; floors in italics", title_justify="left"
    )
    for column in ("what", "a second", "slowest", "fastest", "aim"):
        grid.add_column(column, justify="left" if column == "what" else "right")
    for pace in paces:
        grid.add_row(
            pace.what,
            f"{pace.per_second:,.0f} {pace.unit}",
            f"{min(pace.runs):,.0f}",
            f"{max(pace.runs):,.0f}",
            f"{pace.aim:,}" if pace.aim else "",
            style="italic" if pace.is_floor else None,
        )
    return grid
