"""A floor at a fixed hour: open tables with their devices, and events as devices write them.

Ordinary staff have no secret, which keeps a floor cheap; ``a_person(pin=…, password=…)`` gives one. Nothing here
knows what must come of an event.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.hashers import get_hasher, make_password
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import LogEntry
from casino import devices, events, rounds, tables
from casino.api import event_payloads, strict_json
from casino.models import Appointment, Device, Person, RefusedEvent, Round, RoundEvent, Table, TableSession

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
"""21:00 at the tables."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
PIN = "246810"
PASSWORD = "correct horse battery"
ONE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"


@functools.cache
def _hashed_by(algorithm: str, secret: str) -> str:
    return make_password(secret, hasher=algorithm)


def _hashed(secret: str) -> str:
    """A hash takes long on purpose: each secret is hashed once, by each way in which tests have the house hash."""
    return _hashed_by(get_hasher().algorithm, secret)


def act(*, now: datetime = NOW) -> AbstractContextManager[events.Act]:
    return events.act(actor=events.SERVICE, request_id="night", now=now)


def a_person(
    role: str, badge: str = "", *, pin: str = "", password: str = "", permissions: Sequence[str] = ()
) -> Person:
    """A member of the staff; without ``pin`` or ``password`` there is none that fits."""
    return Person.objects.create(
        badge=badge or f"{role}-{uuid.uuid4().hex[:8]}",
        display_name=role,
        role=role,
        permissions=list(permissions),
        pin=_hashed(pin) if pin else "!",
        password=_hashed(password) if password else "!",
    )


def becomes(person: Person, role: str, permissions: Iterable[str] = ()) -> Person:
    """Let somebody be another, appointed by nobody as in a house that is being furnished; return them."""
    Appointment.objects.create(
        id=events.uuid7(timezone.now()),  # the newest counts
        person=person,
        role=role,
        permissions=sorted(permissions),
        from_at=LONG_AGO,
        made_at=LONG_AGO,
    )
    Person.objects.filter(pk=person.pk).update(role=role, permissions=sorted(permissions))
    person.refresh_from_db()
    return person


@dataclass(slots=True)
class Teller:
    """A device that reports: it numbers its events one after the other, unless a test says otherwise."""

    device: Device
    token: str
    last: int = 0
    client: Client = field(default_factory=Client)

    def says(
        self,
        kind: str,
        round: UUID,
        *,
        seq: int = 0,
        at: datetime = NOW,
        **data: Any,
    ) -> dict[str, Any]:
        """Return the event as it goes over the wire; ``person`` and ``signature`` are set with ``signed_off``."""
        self.last = seq or self.last + 1
        return {
            "specversion": "1.0",
            "id": str(uuid.uuid4()),
            "source": f"/devices/{self.device.code}",
            "type": f"pokdeng.{kind}.v1",
            "time": at.isoformat().replace("+00:00", "Z"),
            "subject": f"rounds/{round}",
            "sequence": str(self.last),
            "data": data,
        }

    def sends(
        self, *sent: Mapping[str, Any], now: datetime = NOW, sent_at: datetime | None = NOW
    ) -> list[rounds.Answer]:
        """Have them recorded as one batch, as the door would; return the answers."""
        read = strict_json.read(json.dumps(sent).encode())
        reports = [event_payloads.report_of(event, device=self.device) for event in read]
        with act(now=now):
            return rounds.append(device=self.device, reports=reports, sent_at=sent_at)

    def hears(self, *sent: Mapping[str, Any], now: datetime = NOW) -> list[str]:
        """What the device hears for each: recorded, duplicate, or the code of the refusal."""
        return [answer.code or answer.outcome for answer in self.sends(*sent, now=now)]

    def asks(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        **headers: str,
    ) -> Any:
        """Knock over HTTP; ``body`` is sent as it is where it is bytes, else as JSON."""
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(
            method,
            f"/api/v1/{path}",
            sent,
            content_type=content_type,
            headers={"Authorization": f"Bearer {self.token}"}
            | {name.replace("_", "-"): value for name, value in headers.items()},
        )

    def posts(self, body: Any, *, table: str = "", content_type: str = ONE, **headers: str) -> Any:
        """Post one event, or with ``content_type`` a batch, to its own table or another."""
        where = table or self.device.table.code
        return self.asks("POST", f"tables/{where}/events", body, content_type=content_type, **headers)


@dataclass(slots=True)
class Floor:
    """One table with a tablet, and where it has one a camera."""

    table: Table
    session: TableSession
    dealer: Person
    supervisor: Person
    tablet: Teller
    camera: Teller


def a_table(code: str = "PD01", *, camera: bool = False) -> Floor:
    """An open table: a dealer and a supervisor on duty, a tablet and a camera enrolled. ``camera`` says whether the
    table counts on the latter."""
    dealer, supervisor = a_person("dealer"), a_person("supervisor")
    with act(now=NOW - timedelta(hours=1)) as opening:
        table = tables.add(code=code, currency="THB", camera=camera)
        session = tables.open(table=table, dealer=dealer, supervisor=supervisor, now=opening.now)
    table.refresh_from_db()
    return Floor(
        table=table,
        session=session,
        dealer=dealer,
        supervisor=supervisor,
        tablet=a_device(table, f"{code}-tablet"),
        camera=a_device(table, f"{code}-camera", kind="camera"),
    )


def a_device(table: Table, code: str, *, kind: str = "terminal") -> Teller:
    with act(now=NOW - timedelta(hours=1)) as enrolling:
        device, token = devices.enrol(code=code, kind=kind, table=table, now=enrolling.now)
    return Teller(Device.objects.select_related("table").get(pk=device.pk), token)


def a_round_id() -> UUID:
    return events.uuid7(NOW)


def thb(baht: int) -> dict[str, Any]:
    return {"amount": baht * 100, "currency": "THB"}


def opens(tablet: Teller, round: UUID, *, number: int = 1, **more: Any) -> dict[str, Any]:
    return tablet.says("round_opened", round, number=number, direction="clockwise", **more)


def bets(
    tablet: Teller, round: UUID, *, wager: str = "w1", hand: str = "p1", baht: int = 100
) -> dict[str, Any]:
    return tablet.says("bet_placed", round, wager=wager, hand=hand, owner={"seat": 1}, stake=thb(baht))


def deals(teller: Teller, round: UUID, hand: str, *cards: str, first: int = 1) -> list[dict[str, Any]]:
    return [
        teller.says("card_dealt", round, hand=hand, position=place, card=card)
        for place, card in enumerate(cards, first)
    ]


def a_whole_round(tablet: Teller, round: UUID, *, number: int = 1) -> list[dict[str, Any]]:
    """Ten events, from the opening to the close: 7 against 6."""
    return [
        opens(tablet, round, number=number),
        bets(tablet, round),
        tablet.says("bets_locked", round),
        *deals(tablet, round, "p1", "3S", "4D"),
        *deals(tablet, round, "dealer", "KC", "6D"),
        tablet.says("hand_stayed", round, hand="p1"),
        tablet.says("dealer_stayed", round),
        tablet.says("round_closed", round),
    ]


def settled(round: UUID, *, standing: str = "settled", reasons: Sequence[str] = ()) -> None:
    """Tell the round where it stands, as the layer that judges would."""
    with act():
        rounds.stand([rounds.Told(round, standing, reasons=tuple(reasons))])


def nothing_recorded() -> bool:
    return not RoundEvent.objects.exists() and not Round.objects.exists()


def told(entry: LogEntry) -> dict[str, Any]:
    """The facts of an entry."""
    data: dict[str, Any] = json.loads(bytes(entry.bytes))["data"]
    return data


def refusals_kept() -> list[tuple[int, str, bool]]:
    """Number, code, and whether it uses up the number, of each refusal that was kept, in the order kept."""
    return list(RefusedEvent.objects.order_by("id").values_list("device_seq", "code", "claims"))


@contextmanager
def statements() -> Iterator[list[str]]:
    """The statements that run inside, but for what opens and ends transactions and savepoints; filled at the end."""
    ran: list[str] = []
    with CaptureQueriesContext(connection) as captured:
        yield ran
    ends = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
    ran += [query["sql"] for query in captured if not query["sql"].startswith(ends)]
