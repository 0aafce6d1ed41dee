from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from casino.models import Person
from deploy import demonstration
from deploy.local.start_errors import Trouble


class Command(BaseCommand):
    help = (
        "Furnish the house with what a demonstration needs, as far as it is missing, and say how to sign in."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="the demonstration house (there is no other)")
        parser.add_argument(
            "--keys",
            type=Path,
            default=demonstration.SECRETS,
            help="where passwords, PINs and tokens are kept",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["demo"]:
            raise CommandError("Only a demonstration is furnished from here: house --demo")
        try:
            keys = demonstration.Keys.read(options["keys"])
            demonstration.furnish(
                keys=keys,
                floor=demonstration.TABLES,
                wallets=demonstration.WALLETS,
                codes=demonstration.device_codes(demonstration.TABLES),
                reopen=False,
                now=timezone.now(),
            )
        except Trouble as trouble:
            self.stderr.write(trouble.sentence)
            sys.exit(trouble.status)
        self.stdout.write(_welcome(keys))


def _welcome(keys: demonstration.Keys) -> str:
    """Who there is, by role, with what they may do beside it; never a secret, as this is printed and logged."""
    badges: dict[str, list[str]] = {}
    for person in Person.objects.filter(badge__in=list(keys.people), is_active=True).order_by("badge"):
        more = f" ({', '.join(person.permissions)})" if person.permissions else ""
        badges.setdefault(person.role, []).append(f"{person.badge}{more}")
    rows = [f"  {role:<14} {' '.join(found)}" for role, found in badges.items()]
    where = f"{keys.path.parent.name}/{keys.path.name}"
    return "\n".join(
        [
            "Sign in with a badge and its password (PINs are for terminals); both are in",
            f"  {where}, which only you can read. The admin's pages take auditors, surveillance, administrator.",
            *rows,
        ]
    )
