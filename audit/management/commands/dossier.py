"""``manage.py dossier ROUND``: the house's own copy of a round's dossier, nothing withheld, as one ZIP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from audit import dossier
from casino import events
from casino.platform import values
from casino.platform.refusals import Refusal


class Command(BaseCommand):
    help = "Write the dossier of a round (or of a dispute) that can be checked offline. Making it is an act."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "round", type=values.uuid, metavar="ROUND", help="the round's id, or with --dispute a dispute's"
        )
        parser.add_argument("--dispute", action="store_true", help="the id is a dispute's")
        parser.add_argument(
            "--kept",
            action="append",
            type=values.whole,
            default=[],
            metavar="SIZE",
            help="of a checkpoint you keep",
        )
        parser.add_argument(
            "--to", type=Path, metavar="FILE", help="where to write it; - for standard output"
        )

    def handle(
        self, *args: Any, round: UUID, dispute: bool, kept: list[int], to: Path | None, **_: Any
    ) -> None:
        make = dossier.of_dispute if dispute else dossier.of_round
        try:
            made = events.attempt(
                lambda _: make(round, kept=kept),
                actor=events.SERVICE,
                request_id=f"dossier-{uuid4().hex}",
                now=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(refusal.sentence("en")) from refusal
        packed = dossier.pack(made)
        if to is not None and str(to) == "-":
            sys.stdout.buffer.write(packed)
            return
        path = to or Path(made.name)
        path.write_bytes(packed)
        self.stdout.write(f"{path}: {len(packed):,} bytes; this copy's own entry is {made.entry['hash']}")
