"""The registers of the house from its own machine: who works here, its tables and cages, its devices.

The same acts as over the interface, by the same people: whoever acts and whoever seconds gives badge and password. Only
a house that has nobody yet is founded without, by whoever runs it: an administrator and a manager, who take on the
others.
"""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from casino import cages, devices, events, people, tables
from casino.events import Act
from casino.models import Device, Person
from casino.people import Newcomer, Rights
from casino.platform import values
from casino.platform.refusals import Refusal
from settlement import cashier, table_floats

T = TypeVar("T")

FOUNDERS = ("administrator", "manager")


class Command(BaseCommand):
    help = (
        "Take people on, appoint them, let them go; add and end tables and cages; admit and revoke devices."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, parser_class=ArgumentParser)
        for verb, (_, takes) in VERBS.items():
            one = verbs.add_parser(verb)
            for name in takes:
                one.add_argument(name)
            one.add_argument("--by", default="", metavar="BADGE", help="who acts; the password is asked for")
            one.add_argument(
                "--with", dest="second", default="", metavar="BADGE", help="who seconds, likewise"
            )
            if verb in ("take-on", "appoint"):
                one.add_argument("--permission", action="append", default=[])
                one.add_argument("--from", dest="from_at", default="")
                one.add_argument("--until", dest="until_at", default="")
            if verb == "add-table":
                one.add_argument("--camera", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        do, _ = VERBS[options["verb"]]
        try:
            if options["verb"] == "found":
                by = second = None
            else:
                by, second = _signed(options["by"]), _signed(options["second"]) if options["second"] else None
            said = do(options, by, second)
        except Refusal as refusal:
            named = "".join(f"\n  {field}: {why}" for field, why in refusal.fields.items())
            raise CommandError(f"{refusal.code}: {refusal.sentence('en')}{named}") from refusal
        self.stdout.write(said)


def _signed(badge: str) -> Person:
    """Return the person whose badge and password these are; passwords come from the terminal, or line by line."""
    if not badge:
        raise CommandError("Say who acts: --by BADGE")
    asked = f"Password of {badge}: "
    secret = getpass.getpass(asked) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    return people.check_secret(badge=badge, secret=secret, with_pin=False, at="shell", now=timezone.now())


def _act(by: Person, do: Callable[[Act], T]) -> T:
    return events.attempt(
        do, actor=people.principal_of(by), request_id=f"register-{uuid4().hex}", now=timezone.now()
    )


def _moment(text: str) -> datetime | None:
    try:
        return values.instant(text) if text else None
    except values.Wrong as wrong:
        raise CommandError(f"{text}: {wrong.why}") from wrong


def _rights(options: dict[str, Any]) -> Rights:
    return Rights(
        options["role"],
        options["permission"],
        from_at=_moment(options["from_at"]),
        until_at=_moment(options["until_at"]),
    )


def _of_badge(badge: str) -> Person:
    found = Person.objects.filter(badge=badge).first()
    if found is None:
        raise CommandError(f"Nobody has the badge {badge}.")
    return found


def _both(by: Person | None, second: Person | None) -> tuple[Person, Person]:
    if by is None or second is None:
        raise CommandError("This takes two people: --by BADGE --with BADGE")
    return by, second


def _found(options: dict[str, Any], _by: Person | None, _second: Person | None) -> str:
    if Person.objects.exists():
        raise CommandError("The house has people already: they take on the others.")
    secrets = {}
    with events.act(actor=events.SERVICE, request_id=f"register-{uuid4().hex}", now=timezone.now()):
        for role in FOUNDERS:
            _, code = people.found(badge=options[role], role=role)
            secrets[options[role]] = code
    return "\n".join(
        [
            "Each takes over their account by POST /api/v1/people/take-over:",
            *(f"  {b}  {c}" for b, c in secrets.items()),
        ]
    )


def _take_on(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    assert by is not None
    newcomer = Newcomer(options["badge"], options["display_name"], options["staff_no"])
    _, made, code = _act(by, lambda _: people.take_on(newcomer, _rights(options), by=by, approved_by=second))
    return (
        f"{options['badge']} takes over the account with {code}, until {made.expires_at:%Y-%m-%d %H:%M} UTC."
    )


def _appoint(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    assert by is not None
    person = _of_badge(options["badge"])
    _act(by, lambda _: people.appoint(person.id, _rights(options), by=by, approved_by=second))
    return f"{options['badge']} is appointed {options['role']}."


def _let_go(options: dict[str, Any], by: Person | None, _second: Person | None) -> str:
    assert by is not None
    person = _of_badge(options["badge"])
    _act(by, lambda _: people.let_go(person.id, by=by))
    return f"{options['badge']} is let go."


def _hand_over(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    assert by is not None
    person = _of_badge(options["badge"])
    _, code = _act(by, lambda _: people.hand_over(person.id, by=by, approved_by=second))
    return f"{options['badge']} chooses new secrets with {code}."


def _add_table(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    one, two = _both(by, second)
    currency = str(settings.PROPERTY["currency"])
    _act(
        one,
        lambda _: tables.add(
            code=options["code"], currency=currency, camera=options["camera"], by=one, approved_by=two
        ),
    )
    return f"Table {options['code']} is added."


def _end_table(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    one, two = _both(by, second)
    table = tables.of_code(options["code"])
    _act(one, lambda _: table_floats.end_table(table=table, by=one, approved_by=two))
    return f"Table {options['code']} is ended."


def _add_cage(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    one, two = _both(by, second)
    _act(one, lambda _: cages.add(code=options["code"], by=one, approved_by=two))
    return f"Cage {options['code']} is added."


def _end_cage(options: dict[str, Any], by: Person | None, second: Person | None) -> str:
    one, two = _both(by, second)
    cage = cages.of_code(options["code"])
    _act(one, lambda _: cashier.end_cage(cage=cage, by=one, approved_by=two))
    return f"Cage {options['code']} is ended."


def _admit(options: dict[str, Any], by: Person | None, _second: Person | None) -> str:
    assert by is not None
    table = tables.of_code(options["table"])
    if options["kind"] not in Device.Kind.values:
        raise CommandError(f"A device is one of {', '.join(Device.Kind.values)}.")
    made, text = _act(
        by, lambda _: devices.admit(code=options["code"], kind=options["kind"], table=table, by=by)
    )
    return f"{options['code']} enrols with {text}, until {made.expires_at:%H:%M:%S} UTC."


def _revoke(options: dict[str, Any], by: Person | None, _second: Person | None) -> str:
    assert by is not None
    device = Device.objects.filter(code=options["code"]).first()
    if device is None:
        raise CommandError(f"There is no device {options['code']}.")
    now = timezone.now()
    _act(by, lambda _: devices.revoke(device=device, now=now, by=by))
    return f"{options['code']} is revoked."


Do = Callable[[dict[str, Any], Person | None, Person | None], str]
VERBS: dict[str, tuple[Do, tuple[str, ...]]] = {
    "found": (_found, FOUNDERS),
    "take-on": (_take_on, ("badge", "display_name", "staff_no", "role")),
    "appoint": (_appoint, ("badge", "role")),
    "let-go": (_let_go, ("badge",)),
    "hand-over": (_hand_over, ("badge",)),
    "add-table": (_add_table, ("code",)),
    "end-table": (_end_table, ("code",)),
    "add-cage": (_add_cage, ("code",)),
    "end-cage": (_end_cage, ("code",)),
    "admit-device": (_admit, ("code", "kind", "table")),
    "revoke-device": (_revoke, ("code",)),
}
"""What may be done, and what it takes."""
