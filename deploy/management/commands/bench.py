from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from deploy.benchmark import deliveries, pure, reconciliation, recording, scratch_database, settling
from deploy.benchmark.measuring import Pace
from deploy.local import servers
from deploy.local.start_errors import Trouble

SEED = 20_260_301
LINE = "{:<62} {:>22} {:>9} {:>9} {:>9}"


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
        self.stdout.write(f"Medians of {options['runs']} runs; {os.cpu_count()} cores; floors in brackets")
        self.stdout.write(LINE.format("what", "a second", "slowest", "fastest", "aim"))
        try:
            for pace in _paces(runs=options["runs"], only_pure=options["pure"], day=options["day"]):
                self._say(pace)
        except Trouble as trouble:
            raise CommandError(trouble.sentence) from trouble

    def _say(self, pace: Pace) -> None:
        """Print a figure as soon as it is known: a run that ends early leaves what it measured."""
        self.stdout.write(
            LINE.format(
                f"({pace.what})" if pace.is_floor else pace.what,
                f"{pace.per_second:,.0f} {pace.unit}",
                f"{min(pace.runs):,.0f}",
                f"{max(pace.runs):,.0f}",
                f"{pace.aim:,}" if pace.aim else "",
            ).rstrip()
        )
        self.stdout.flush()


def _paces(*, runs: int, only_pure: bool, day: int) -> Iterator[Pace]:
    yield from pure.paces(runs=runs, seed=SEED)
    if only_pure:
        return
    if not settings.LOCAL:
        raise Trouble("Measured on the servers of this clone alone: unset DATABASE_URL.")
    with servers.running() as addresses, scratch_database.database(addresses) as url:
        tables = [
            settling.Table(code=code, token=token, seed=SEED + place)
            for place, (code, token) in enumerate(scratch_database.furnish().items())
        ]
        yield from settling.paces(tables=tables, runs=runs)
        yield from recording.paces(tables=tables, database_url=url, runs=runs)
        yield from deliveries.paces(runs=runs)
    # A house of its own: what was measured above would be part of the day.
    with servers.running() as addresses, scratch_database.database(addresses) as url:
        ((code, token), *_) = scratch_database.furnish().items()
        tables = [settling.Table(code=code, token=token, seed=SEED)]
        owner_url = scratch_database.owned(addresses, url)
        yield from reconciliation.paces(tables=tables, owner_url=owner_url, rounds=day, runs=min(runs, 3))
