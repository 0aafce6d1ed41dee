"""``manage.py unlock BADGE --by BADGE --reason TEXT``: let a badge be tried again after too many wrong secrets."""

from __future__ import annotations

import getpass
import sys
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from casino import events, origins, people
from casino.people import Scope
from casino.platform.refusals import Refusal


class Command(BaseCommand):
    help = (
        "Ends the wait of a badge, everywhere. A manager or an administrator does so, who is asked for their own"
        " password, and whose badge it is not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("badge", help="of whoever has to wait")
        parser.add_argument("--by", required=True, metavar="BADGE", help="yours")
        parser.add_argument("--reason", required=True, help="why; it stands in the log")

    def handle(self, *args: Any, **options: Any) -> None:
        reason = options["reason"].strip()
        if not 1 <= len(reason) <= 500:
            raise CommandError("--reason: 1 to 500 characters")
        try:
            by = people.check_secret(
                badge=options["by"],
                secret=_password(),
                with_pin=False,
                at=origins.SHELL,
                now=timezone.now(),
            )
            if people.require(people.principal_of(by), "unlock") is not Scope.ALL:
                raise Refusal("forbidden")
            events.attempt(
                lambda _: people.unlock(badge=options["badge"], tables=None, reason=reason, by=by),
                actor=people.principal_of(by),
                request_id=f"unlock-{uuid4().hex}",
                now=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(f"{refusal.sentence('en')} ({refusal.code})") from None
        self.stdout.write(f"{options['badge']} may try again.")


def _password() -> str:
    """Ask for the password of whoever acts; where nobody can be asked it is a line of the input, never an argument."""
    return getpass.getpass("Your password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
