"""A house for tests: people, tables, wallets, rounds as their devices tell them, and a notebook for a witness.

Plain keyword-only builders. Rounds are written in short events (``tests.rules.given``: ``short_round``, ``a_bet``,
``a_card``, ``an_act``); a ``Recording`` makes them the CloudEvents of a device, one after the other, and keeps the
file that ``manage.py play`` reads. Nothing here knows what must come of a round.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.test import Client
from django.utils import timezone

from casino import cages, devices, events, tables
from casino.events import Act, Fact, Principal
from casino.models import Appointment, Device, Person, Table, TableSession
from deploy.recordings import recording as tape
from settlement import cashier, rule_sheets, table_floats
from settlement.models import RuleSheet
from settlement.table_floats import BlindCount, Box, Saved
from tests.rules.given import Short

PASSWORD = "correct horse battery"
PIN = "246810"
FLOAT = {100_000: 100, 10_000: 400}
CAGE = "C1"
BATCH = "application/cloudevents-batch+json"


# -- a witness ---------------------------------------------------------------------------------------------


@dataclass
class Notebook:
    """A witness that writes down what it is told: ``WITNESS = "tests.world.notebook"``."""

    pages: list[tuple[Principal, Fact]] = field(default_factory=list)

    def __call__(self, *, act: Act, facts: Sequence[Fact]) -> list[bytes]:
        self.pages += [(act.actor, fact) for fact in facts]
        return [fact.subject.encode() for fact in facts]

    def actions(self) -> list[str]:
        return [fact.action for _, fact in self.pages]


notebook = Notebook()


@contextmanager
def acting(*, actor: Principal = events.SERVICE, now: datetime | None = None) -> Iterator[Act]:
    """An act of the service, or of whoever is named; now, or at a moment."""
    with events.act(actor=actor, request_id="test", now=now or timezone.now()) as act:
        yield act


def founded(*, at: datetime) -> None:
    """Let the house have begun at a moment: the first entry of its log is of then."""
    with acting(now=at):
        events.announce([Fact("service.started", "service", {})])


# -- people, tables, wallets -------------------------------------------------------------------------------


def a_person(*, role: str, badge: str, permissions: Iterable[str] = ()) -> Person:
    """A member of the staff, written down without an act: a hash takes long on purpose, so everybody has the same
    password and PIN, hashed once."""
    password, pin = _hashes()
    with transaction.atomic():  # who somebody is goes with an appointment, at the commit
        person = Person.objects.create(
            badge=badge,
            display_name=f"{role} {badge}",
            role=role,
            permissions=list(permissions),
            password=password,
            pin=pin,
        )
        Appointment.objects.create(
            id=uuid.UUID(int=person.id.int >> 64),
            person=person,
            role=role,
            permissions=list(permissions),
            from_at=LONG_AGO,
            made_at=LONG_AGO,
        )
    return person


LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@functools.cache
def _hashes() -> tuple[str, str]:
    return make_password(PASSWORD), make_password(PIN)


def a_dealer(*, badge: str = "D01") -> Person:
    return a_person(role="dealer", badge=badge)


def a_supervisor(*, badge: str = "S01") -> Person:
    return a_person(role="supervisor", badge=badge)


def a_manager(*, badge: str = "M01", permissions: Iterable[str] = ()) -> Person:
    return a_person(role="manager", badge=badge, permissions=permissions)


def an_auditor(*, badge: str = "A01", permissions: Iterable[str] = ("see_expected",)) -> Person:
    return a_person(role="auditor", badge=badge, permissions=permissions)


@dataclass(slots=True)
class House:
    """Those who let tables run: two managers, and a dealer and a supervisor for each table."""

    author: Person
    approver: Person
    tables: dict[str, AtTable] = field(default_factory=dict)


@dataclass(slots=True)
class AtTable:
    """An open table with its devices' tokens by code."""

    table: Table
    session: TableSession
    dealer: Person
    supervisor: Person
    sheet: RuleSheet
    tokens: dict[str, str]

    @property
    def code(self) -> str:
        return self.table.code


def a_house(*, tables: Mapping[str, Mapping[str, Any]] | Iterable[str] = ("PD01",)) -> House:
    """A house with these tables open: ``{"PD01": {"preset": …, "options": …, "camera": …}}`` or their codes alone."""
    house = House(author=a_manager(badge="M01"), approver=a_manager(badge="M02"))
    named = tables if isinstance(tables, Mapping) else {code: {} for code in tables}
    for code, wanted in named.items():
        a_table(house=house, code=code, **wanted)
    return house


def a_sheet(
    *, house: House, preset: str = "seed_base", options: Mapping[str, Any] | None = None
) -> RuleSheet:
    """An approved rule sheet."""
    rules = rule_sheets.read(preset=preset, options=options)
    known = rule_sheets.of_sha256(rules.sha256)
    if known is not None:
        return known
    with acting():
        proposed = rule_sheets.propose(name=preset, rules=rules, by=house.author)
    with acting():
        return rule_sheets.approve(sheet=proposed.id, sha256=rules.sha256, by=house.approver)


def a_table(
    *,
    house: House,
    code: str = "PD01",
    preset: str = "seed_base",
    options: Mapping[str, Any] | None = None,
    camera: bool = False,
) -> AtTable:
    """A table, open: its sheet in force, a terminal (and a camera) enrolled, a dealer and a supervisor on duty."""
    sheet = a_sheet(house=house, preset=preset, options=options)
    dealer, supervisor = a_dealer(badge=f"D-{code}"), a_supervisor(badge=f"S-{code}")
    with acting() as act:
        table = tables.add(code=code, currency="THB", camera=camera)
        rule_sheets.put_in_force(
            table=table, sheet=sheet.id, from_=act.now, by=house.author, approved_by=house.approver
        )
        counted(table, "opener", dealer, supervisor)
        session = table_floats.open_table(table=table, dealer=dealer, supervisor=supervisor, cage=CAGE)
    table.refresh_from_db()
    made = AtTable(table, session, dealer, supervisor, sheet, {})
    for kind in ("terminal", *(["camera"] if camera else [])):
        a_device(at=made, code=f"{code}-{kind}")
    house.tables[code] = made
    return made


def counted(
    table: Table, kind: str, *people: Person, pieces: Mapping[int, int] = FLOAT, box: Box | None = None
) -> Saved:
    """Let these people count the same, one after the other. In an act."""
    for person in people:
        count = BlindCount(by=person, pieces=dict(pieces))
        saved = table_floats.count(table=table, kind=kind, by=person, count=count, box=box)
    return saved


def a_device(*, at: AtTable, code: str) -> Device:
    """A terminal, or a camera where its code says so, enrolled at the table."""
    with acting() as act:
        kind = "camera" if "-camera" in code else "terminal"
        device, at.tokens[code] = devices.enrol(code=code, kind=kind, table=at.table, now=act.now)
    return device


def a_cage(code: str) -> str:
    """Another cage than the property's main one, added by two managers; returns its code."""
    by, second = (
        Person.objects.filter(badge=badge).first() or a_manager(badge=badge)
        for badge in ("M-cage-1", "M-cage-2")
    )
    with acting():
        return cages.add(code=code, by=by, approved_by=second).code


def a_wallet(*, ref: str, amount: int) -> str:
    """A guest's wallet with a deposit of ``amount`` satang; returns its code."""
    with acting():
        return cashier.deposit(
            ref=ref, amount=amount, cage=CAGE, document=f"{ref} {uuid.uuid4()}"
        ).account.code


# -- what a device does over HTTP --------------------------------------------------------------------------


@dataclass(slots=True)
class Caller:
    """A device at its door: Django's test client with its token."""

    token: str
    client: Client = field(default_factory=Client)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send and return the response."""
        return self.client.generic(
            method,
            f"/api/v1/{path}",
            b"" if body is None else json.dumps(body).encode(),
            content_type=headers.pop("content_type", "application/json"),
            headers={"Authorization": f"Bearer {self.token}", **headers},
        )

    def send(self, table: str, sent: Sequence[Mapping[str, Any]]) -> list[str]:
        """Send CloudEvents as one batch, sent when the last of them happened; return the outcome of each, refusals by
        their codes."""
        response = self.ask(
            "POST",
            f"tables/{table}/events",
            list(sent),
            content_type=BATCH,
            **{"Pokdeng-Sent-At": max(event["time"] for event in sent)},
        )
        assert response.status_code == 200, response.content
        return [event.get("code") or event["outcome"] for event in response.json()["events"]]

    def settle(self, round_id: str) -> dict[str, Any]:
        return self._read("POST", round_id, "/settle")

    def cover(self, round_id: str) -> dict[str, Any]:
        return self._read("POST", round_id, "/cover")

    def read(self, round_id: str) -> dict[str, Any]:
        return self._read("GET", round_id, "")

    def _read(self, method: str, round_id: str, what: str) -> dict[str, Any]:
        response = self.ask(method, f"rounds/{round_id}{what}")
        assert response.status_code == 200, response.content
        found: dict[str, Any] = response.json()
        return found


def at_terminal(at: AtTable, *, code: str = "") -> Caller:
    """The table's terminal, or another of its devices."""
    return Caller(at.tokens[code or f"{at.code}-terminal"])


# -- a recording -------------------------------------------------------------------------------------------


class Recording:
    """Tables as their devices tell them. Ids and times follow from the order of telling: the same story is the same
    file."""

    def __init__(
        self, *, start: datetime = datetime(2026, 11, 29, 12, tzinfo=UTC), name: str = "recording"
    ) -> None:
        self.lines: list[dict[str, Any]] = []
        self._now = start
        self._name = name
        self._last: dict[str, int] = {}

    def round(self, *, table: str, number: int) -> RoundTold:
        """A round to be told; nothing is told by this."""
        return RoundTold(self, table=table, id=str(self._uuid7(f"{table} round {number}")))

    def tell(
        self,
        short: Short,
        *,
        round_id: str,
        table: str,
        device: str = "",
        skip: int = 0,
        **attributes: str,
    ) -> dict[str, Any]:
        """Let a device report one short event (``from`` says whether the camera does); return the CloudEvent.

        ``skip`` leaves out that many numbers of the device before it. ``attributes`` are the envelope's own:
        ``person``, ``signature``.
        """
        device = device or f"{table}-{short.get('from', 'terminal')}"
        self._now += timedelta(milliseconds=700)
        sequence = self._last[device] = self._last.get(device, 0) + skip + 1
        event = {
            "specversion": "1.0",
            "id": str(self._uuid7(f"{device} {sequence}")),
            "source": f"/devices/{device}",
            "type": f"pokdeng.{short['type']}.v1",
            "time": self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "subject": f"rounds/{round_id}",
            "sequence": str(sequence),
            **attributes,
            "data": short["data"],
        }
        self.lines.append({"table": table, "event": event})
        return event

    def ask(self, what: str, *, table: str, round_id: str, **more: Any) -> None:
        """Let somebody ask for something between the events: ``cover``, ``correct``."""
        self.lines.append({"table": table, "ask": what, "round": round_id, **more})

    def events(self) -> list[dict[str, Any]]:
        return [line["event"] for line in self.lines if "event" in line]

    def write(self, path: Path) -> None:
        tape.write(path, self.lines)

    def _uuid7(self, what: str) -> uuid.UUID:
        milliseconds = int(self._now.timestamp() * 1000)
        chance = uuid.uuid5(uuid.NAMESPACE_OID, f"{self._name} {what}").int
        return uuid.UUID(
            int=milliseconds << 80
            | 0x7 << 76
            | (chance >> 52 & 0xFFF) << 64
            | 2 << 62
            | chance & (1 << 62) - 1
        )


@dataclass(slots=True)
class RoundTold:
    """One round of a recording; counts its events, so that a correction can cite them by their places."""

    recording: Recording
    table: str
    id: str
    count: int = 0

    def tell(
        self, *shorts: Short, device: str = "", skip: int = 0, **attributes: str
    ) -> list[dict[str, Any]]:
        """Report short events one after the other, the first behind ``skip`` missing numbers; return them as sent."""
        self.count += len(shorts)
        return [
            self.recording.tell(
                short,
                round_id=self.id,
                table=self.table,
                device=device,
                skip=0 if place else skip,
                **attributes,
            )
            for place, short in enumerate(shorts)
        ]

    def cover(self) -> None:
        self.recording.ask("cover", table=self.table, round_id=self.id)

    def correct(self, *, reason: str) -> None:
        """Let two people settle the round anew, citing the last event told of it."""
        self.recording.ask("correct", table=self.table, round_id=self.id, acts=[self.count], reason=reason)
