"""A table that plays at a fixed hour: rounds go in as its devices report them, money comes out.

Rounds are written line by line as in ``tests.casino.telling``, or as the short events of the known cases. What a page
would do is done at the terminal and signed by the supervisor on duty. Nothing here knows what must come of a round.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Min

from casino import devices, events, rounds, tables
from casino.models import Device, Person, Role, Round, Table, TableSession
from casino.record import Event
from casino.rounds import Report
from settlement import cashier, ledger, rule_sheets, settling
from settlement.models import Account, Journal, Line, Settlement
from settlement.settling import Settled
from tests.casino import telling

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
"""21:00 at the tables."""
LATER = NOW + timedelta(seconds=5)
"""When rounds are settled unless a test says otherwise: every camera has had its time by then."""


def act(*, now: datetime = NOW) -> Any:
    return events.act(actor=events.SERVICE, request_id="night", now=now)


def a_person(badge: str, role: str, *, permissions: Iterable[str] = ()) -> Person:
    found, _ = Person.objects.get_or_create(
        badge=badge, defaults={"display_name": badge, "role": role, "permissions": list(permissions)}
    )
    return found


@dataclass(slots=True)
class AtTable:
    """An open table with its devices: ``tablet``, and ``camera`` where there is one."""

    table: Table
    session: TableSession
    dealer: Person
    supervisor: Person
    devices: dict[str, Device]
    told: list[UUID] = field(default_factory=list)

    @property
    def bank(self) -> str:
        return f"table:{self.table.code}:bank"

    @property
    def guests(self) -> str:
        return f"table:{self.table.code}:guests"

    @property
    def commission(self) -> str:
        return f"table:{self.table.code}:commission"

    @property
    def shortfall(self) -> str:
        return f"suspense:shortfall:{self.table.code}"

    def tell(
        self, text: str | Sequence[Event], *, round: UUID | None = None, at: datetime = NOW, number: int = 0
    ) -> UUID:
        """Let the devices report a round, or more of one that they reported before; return its id.

        The last event happens ``at``, each one before it a second earlier. The round's number is the next of the
        session unless it is given. A ``skip`` leaves numbers of the device out.
        """
        told = telling.events_of(text)[0] if isinstance(text, str) else list(text)
        opened = 0
        if round is not None and isinstance(text, str) and "open" not in text:
            told, opened = told[1:], 1  # ``telling`` begins every story with an opening
        if round is None:
            round = a_round_id(len(self.told))
            self.told.append(round)
        number = number or self.told.index(round) + 1
        self._report(round, told, number=number, before={"tablet": opened}, at=at)
        return round

    def _report(
        self, round: UUID, told: Sequence[Event], *, number: int, before: dict[str, int], at: datetime
    ) -> None:
        last = {code: Device.objects.get(pk=device.pk).last_seq for code, device in self.devices.items()}
        runs: list[tuple[str, list[Report]]] = []
        for place, event in enumerate(told):
            code = "camera" if event.feed == "camera" else "tablet"
            step = 1
            if event.feed in ("terminal", "camera"):
                step = event.seq - before.get(event.source, 0)
                before[event.source] = event.seq
            last[code] += step
            data = dict(event.data) | ({"number": number} if event.kind == "round_opened" else {})
            report = a_report(
                last[code], event.kind, round, data, at=at - timedelta(seconds=len(told) - 1 - place)
            )
            if not runs or runs[-1][0] != code:
                runs.append((code, []))
            runs[-1][1].append(report)
        for code, reports in runs:
            answers = self.send(reports, device=code, at=at)
            assert {answer.outcome for answer in answers} == {"recorded"}, answers

    def send(
        self, reports: Sequence[Report], *, device: str = "tablet", at: datetime = NOW
    ) -> list[rounds.Answer]:
        with act(now=at):
            return rounds.append(device=self.devices[device], reports=reports, sent_at=at)


def a_round_id(number: int) -> UUID:
    """Ids in the order of their numbers, as a device makes them."""
    return UUID(int=events.uuid7(NOW).int & ~(0xFFF << 64) | (number & 0xFFF) << 64)


def a_report(seq: int, kind: str, round: UUID, data: Mapping[str, Any], *, at: datetime = NOW) -> Report:
    # A camera's confidence is kept as it was written, as the door does.
    data = {name: str(value) if isinstance(value, float) else value for name, value in data.items()}
    content = json.dumps([seq, kind, str(round), data], sort_keys=True)
    return Report(
        seq=seq,
        sha256=hashlib.sha256(content.encode()).digest(),
        event_id=str(uuid.uuid4()),
        kind=kind,
        round=round,
        data=data,
        happened_at=at,
    )


def a_table(
    code: str = "PD01",
    *,
    preset: str = "seed_base",
    camera: bool = False,
    opened_at: datetime = NOW - timedelta(hours=1),
    **options: Any,
) -> AtTable:
    """A table that opened an hour ago with its rule sheet in force."""
    with act(now=opened_at):
        table = tables.add(code=code, currency="THB", camera=camera)
        put_in_force(table, preset=preset, options=options, from_=opened_at)
        dealer, supervisor = a_person(f"D-{code}", Role.DEALER), a_person(f"S-{code}", Role.SUPERVISOR)
        session = tables.open(table=table, dealer=dealer, supervisor=supervisor, now=opened_at)
        made = {}
        for name, kind in [("tablet", "terminal"), *([("camera", "camera")] if camera else [])]:
            made[name], _ = devices.enrol(code=f"{code}-{kind}", kind=kind, table=table, now=opened_at)
    table.refresh_from_db()
    return AtTable(table, session, dealer, supervisor, made)


def put_in_force(table: Table, *, preset: str, options: Mapping[str, Any], from_: datetime) -> None:
    """Put a sheet in force, proposed and approved by two managers. In an act."""
    author, approver = a_person("M01", Role.MANAGER), a_person("M02", Role.MANAGER)
    rules = rule_sheets.read(preset=preset, options=options)
    sheet = rule_sheets.of_sha256(rules.sha256) or rule_sheets.propose(name=preset, rules=rules, by=author)
    if sheet.approved_at is None:
        rule_sheets.approve(sheet=sheet.id, sha256=rules.sha256, by=approver)
    rule_sheets.put_in_force(table=table, sheet=sheet.id, from_=from_, by=author, approved_by=approver)


def a_wallet(ref: str, baht: int = 0, *, now: datetime = NOW) -> str:
    """A guest's wallet with so much paid in; returns its account."""
    return paid_in(ref, baht * 100, now=now)


def paid_in(ref: str, amount: int, *, now: datetime = NOW) -> str:
    with act(now=now):
        if amount == 0:
            return ledger.open_wallet(ref=ref, currency="THB").code
        return cashier.deposit(ref=ref, amount=amount, cage="C1", document=str(uuid.uuid4())).account.code


def settled(*ids: UUID, now: datetime = LATER) -> list[Settled]:
    with act(now=now):
        return settling.settle_rounds(ids)


def outcome(round: UUID, *, now: datetime = LATER) -> str:
    """Settle one round; return its outcome, with the reasons behind a colon where it is held."""
    (answer,) = settled(round, now=now)
    return ": ".join([answer.outcome, *([" ".join(answer.reasons)] if answer.reasons else [])])


def covered(round: UUID, *, now: datetime = NOW) -> settling.Cover:
    with act(now=now):
        return settling.cover(round)


def corrected(round: UUID, *late: str, now: datetime = LATER, **more: Any) -> Settlement:
    """Settle a round anew by two people, citing its late events of these kinds (all of them where none is named)."""
    found = Round.objects.get(pk=round).events.filter(late=True)
    if late:
        found = found.filter(kind__in=late)
    more = more or {"acted_by": a_person("S01", "supervisor"), "approved_by": a_person("M01", "manager")}
    with act(now=now):
        return settling.correct(round, cites=list(found.values_list("id", flat=True)), **more)


def money() -> dict[str, int]:
    """Every account that is not empty, in satang."""
    return dict(Account.objects.exclude(balance=0).order_by("code").values_list("code", "balance"))


def holds() -> dict[str, int]:
    """What is set aside in each account."""
    return dict(Account.objects.exclude(held=0).order_by("code").values_list("code", "held"))


def standing(round: UUID) -> str:
    row = Round.objects.get(pk=round)
    return ": ".join([row.standing, *([" ".join(row.reasons)] if row.reasons else [])])


def lines_of(round: UUID) -> dict[str, int]:
    """The net of each wager by the effective revision, the bank's among them."""
    effective = settling.effective(round)
    return dict(Line.objects.filter(settlement=effective).order_by("ordinal").values_list("wager", "net"))


def posted() -> list[tuple[str, int]]:
    """Journals in the order in which they were posted: kind and number of entries."""
    found = Journal.objects.exclude(kind="deposit").annotate(first=Min("entries__id")).order_by("first")
    return list(found.values_list("kind", "entry_count"))
