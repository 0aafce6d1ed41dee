from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from deploy import demonstration
from deploy.demonstration import Keys
from deploy.local import paths
from deploy.local.start_errors import Trouble
from deploy.recordings import batches, comparison
from deploy.recordings import recording as tape
from deploy.recordings.device_http import Answer, Unreachable
from deploy.recordings.device_http import Line as Connection
from deploy.recordings.player import Played, Refused, Table
from deploy.recordings.recording import Ask, Line

SHOWN_DIFFERENCES = 10


class Command(BaseCommand):
    help = "Play a recording into a running house as its devices would, and say what came of it."
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the recording: gzipped lines of JSON")
        parser.add_argument("--expect", type=Path, help="what must come of it; other than that is a failure")
        parser.add_argument("--url", help="where the house answers (the one that `up` opened)")
        parser.add_argument(
            "--prepare", action="store_true", help="first make what --expect names and is missing"
        )
        parser.add_argument(
            "--chaos", metavar="SEED", help="over a terrible network: repeats, disorder, odd batches"
        )
        parser.add_argument(
            "--keys",
            type=Path,
            default=demonstration.SECRETS,
            help="where passwords, PINs and tokens are kept",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            differences = self._play(options)
        except (Trouble, Refused, Unreachable, OSError, ValueError) as trouble:
            raise CommandError(str(trouble)) from trouble
        for sentence in differences[:SHOWN_DIFFERENCES]:
            self.stderr.write(sentence)
        if len(differences) > SHOWN_DIFFERENCES:
            self.stderr.write(f"… and {len(differences) - SHOWN_DIFFERENCES} more")
        if differences:
            sys.exit(1)
        if options["expect"]:
            self.stdout.write("Everything came out as expected.")

    def _play(self, options: dict[str, Any]) -> list[str]:
        recording = tape.read(options["file"])
        expected = json.loads(options["expect"].read_text()) if options["expect"] else None
        keys = Keys.read(options["keys"])
        if options["prepare"]:
            if expected is None:
                raise CommandError("--prepare makes what the file of --expect names")
            demonstration.furnish(
                keys=keys,
                floor=expected["tables"],
                wallets=expected.get("wallets", {}),
                codes=tape.devices(recording),
                reopen=True,
                now=timezone.now(),
            )
        url = options["url"] or _url_of_the_house()
        played = _side_by_side(recording, keys=keys, url=url, chaos=options["chaos"])
        console = Console(width=160)
        with console.capture() as report:
            console.print(_report(played))
        self.stdout.write(report.get())
        if expected is None:
            return []
        balances = People(url=url, keys=keys).balances(expected.get("accounts", {}))
        return [*comparison.differences(played, expected), *comparison.accounts(balances, expected)]


def _url_of_the_house() -> str:
    port = paths.read("house.json").get("port")
    if not port:
        raise Trouble("The house is not open: start it with `python3 manage.py up`, or name it with --url.")
    return f"http://{paths.LOOPBACK}:{port}"


def _side_by_side(
    recording: Mapping[str, list[Line]], *, keys: Keys, url: str, chaos: str | None
) -> list[Played]:
    """Play every table at the same time, each in a thread of its own."""
    codes = tape.devices(recording)
    plans = {
        table: batches.as_it_came(lines)
        if chaos is None
        else batches.in_chaos(lines, seed=f"{chaos} {table}")
        for table, lines in recording.items()
    }
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
    with bar, ThreadPoolExecutor(len(plans)) as threads:
        playing = []
        for table, steps in plans.items():
            total = sum(len(step.deliveries) for step in steps if isinstance(step, batches.Batch))
            task = bar.add_task(table, total=total)
            player = Table(
                code=table,
                url=url,
                tokens={code: keys.token(code) for code in codes[table]},
                connections=1 if chaos is None else 2,
                correct=People(url=url, keys=keys).correct,
                progress=lambda count, task=task: bar.advance(task, count),  # type: ignore[misc]
            )
            playing.append(threads.submit(player.play, steps))
        return [result.result() for result in playing]


class People:
    """Two managers for a recording's corrections (one asks, signed in, the other signs by PIN), and the auditor who
    looks at balances."""

    ASKS, SIGNS, LOOKS = "M01", "M02", "A01"

    def __init__(self, *, url: str, keys: Keys) -> None:
        self._url, self._keys = url, keys

    def correct(self, ask: Ask) -> Answer:
        """Ask for a correction; the same one asked again gets the first answer."""
        body = {"acts": list(ask.acts), "reason": ask.reason, "badge": self.SIGNS}
        key = uuid.uuid5(uuid.UUID(ask.round), json.dumps([ask.acts, ask.reason]))
        with self._signed_in(self.ASKS) as (connection, headers):
            return connection.send(
                "POST",
                f"/api/v1/rounds/{ask.round}/corrections",
                json.dumps(body | {"pin": self._keys.people[self.SIGNS]["pin"]}),
                headers={**headers, "Idempotency-Key": str(key)},
            )

    def balances(self, codes: Iterable[str]) -> dict[str, int]:
        """Return the balances of these accounts; those that do not exist are not in it."""
        wanted = list(codes)
        if not wanted:
            return {}
        with self._signed_in(self.LOOKS) as (connection, headers):
            answers = {
                code: connection.send("GET", f"/api/v1/accounts/{code}", headers=headers) for code in wanted
            }
        return {
            code: answer.body["balance"]["amount"] for code, answer in answers.items() if answer.status == 200
        }

    @contextmanager
    def _signed_in(self, badge: str) -> Iterator[tuple[Connection, dict[str, str]]]:
        connection = Connection(self._url, {"Content-Type": "application/json"})
        try:
            secret = {"badge": badge, "password": self._keys.people[badge]["password"]}
            answer = connection.send("POST", "/api/v1/session", json.dumps(secret))
            if answer.status != 200:
                raise Refused(f"{badge} cannot sign in: {answer.status}")
            cookies = "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
            token = answer.body["csrf_token"]
            yield connection, {"Cookie": cookies, "X-CSRFToken": token, "Referer": self._url}
        finally:
            connection.close()


def _report(played: list[Played]) -> Grid:
    grid = Grid(title="What came of it", title_justify="left")
    for column in ("table", "settled", "held", "voided", "wagers", "house net", "events", "findings"):
        grid.add_column(
            column, justify="right" if column in ("settled", "voided", "wagers", "house net") else "left"
        )
    currency = settings.PROPERTY["currency"]
    for table in sorted(played, key=lambda one: one.table):
        came = comparison.tally(table)
        held = f"{came.held}" + (f" ({_counted(came.reasons)})" if came.held else "")
        grid.add_row(
            table.table,
            str(came.settled),
            held + (f", {came.unfinished} unfinished" if came.unfinished else ""),
            str(came.voided),
            str(came.wagers),
            f"{_amount(came.house_net)} {currency}",
            _counted(table.events),
            _counted(came.findings),
        )
    return grid


def _amount(minor: int) -> str:
    whole, rest = divmod(abs(minor), 100)
    return f"{'-' if minor < 0 else ''}{whole:,}.{rest:02}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
