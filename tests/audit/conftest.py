"""A house that played a part of a night, built once; each test gets a copy of its own to look at or to spoil."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from psycopg import sql

from audit.checkpoints import Store
from casino import devices, events, people, rounds, tables
from casino.models import Device, Person, Round, RoundEvent, Table, TableSession
from settlement import cashier, rule_sheets, settling, table_floats
from tests import database, world
from tests.audit import comparing, elsewhere, registers, tills
from tests.audit.evidence import Evidence, copied
from tests.audit.listeners import Listeners
from tests.audit.papers import Papers
from tests.audit.spoiling import spoilt, superuser
from tests.casino.misreported import BAD
from tests.database import Connection, House

__all__ = ["spoilt", "superuser"]

NIGHT = Path(__file__).parent.parent / "cases" / "night.jsonl.gz"
ROUNDS = {"PD01": 12, "PD06": 12}
SHEETS: dict[str, dict[str, Any]] = {
    "PD01": {"preset": "seed_base", "options": {}},
    "PD06": {"preset": "thai_app", "options": {}},
}
HIRED = {
    "D01": "dealer", "S01": "supervisor", "M01": "manager", "M02": "manager",
    "A01": "auditor", "A02": "auditor", "A11": "auditor", "A12": "auditor", "V01": "surveillance",
}  # fmt: skip
PERMISSIONS = {"A11": ("accounting",)}
PIECES = {10_000: 400, 2_000: 500}


@dataclass(frozen=True)
class Played:
    """A copy of the house: ``reader`` is the address of the reader, ``administrator`` a superuser's connection."""

    reader: str = field(repr=False)
    administrator: Connection
    store: Store
    told: dict[str, UUID]

    @property
    def held(self) -> UUID:
        return self.told["held"]


@pytest.fixture(scope="session")
def evidence_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lies outside of the built house's database: its exported checkpoints and the sealer's key."""
    return tmp_path_factory.mktemp("evidence")


@pytest.fixture(scope="session")
def built_house(
    house: House, evidence_folder: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[tuple[str, dict[str, UUID]]]:
    """The database of the house as it was played and sealed, and the rounds and disputes of it with a story."""
    with django_db_blocker.unblock():
        name = house.clone()
        before = house.use(name)
        try:
            builder = _Builder()
            told = builder.build()
            evidence = Evidence(evidence_folder, builder.staff, builder.other_card, builder.send_chips)
            told |= evidence.gather()
        finally:
            house.use(before)
    yield name, told
    with django_db_blocker.unblock():
        house.drop(name)


@pytest.fixture
def outside(
    built_house: tuple[str, dict[str, UUID]],
    evidence_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Store:
    """A copy of what the built house exported, where its checks look for it."""
    store = copied(evidence_folder, tmp_path)
    monkeypatch.setattr(settings, "CHECKPOINT_FOLDER", str(store.folder))
    monkeypatch.setattr(settings, "SEAL_KEY_FILE", str(store.key_file))
    return store


@pytest.fixture
def played(
    house: House,
    built_house: tuple[str, dict[str, UUID]],
    outside: Store,
    django_db_blocker: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Played]:
    name, told = built_house
    copy = f"{name}_copy"
    with django_db_blocker.unblock():
        with house.administer() as administrator:
            administrator.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER pokdeng_owner").format(
                    sql.Identifier(copy), sql.Identifier(name)
                )
            )
        before = house.use(copy)
        reader = database.at(house.addresses.reader_url, database=copy)
        monkeypatch.setattr(settings, "DATABASE_READER_URL", reader)
        try:
            with psycopg.connect(
                database.at(house.addresses.owner_url, database=copy), autocommit=True
            ) as administrator:
                yield Played(reader=reader, administrator=administrator, store=outside, told=told)
        finally:
            house.use(before)
            house.drop(copy)


class _Builder:
    """Hires, opens, plays, settles, corrects, closes: all by the acts of the service."""

    def __init__(self) -> None:
        self.now = timezone.now()
        self.tokens: dict[str, str] = {}
        self.sequences: dict[str, int] = {}
        self.staff: dict[str, Person] = {}

    def act(self, *, days_ago: int = 0) -> Any:
        now = timezone.now() - timedelta(days=days_ago)
        return events.act(actor=events.SERVICE, request_id="built", now=now)

    def build(self) -> dict[str, UUID]:
        with self.act(days_ago=1):
            self._hire()
            cashier.stock(cage="C1", amount=10**9, document="first")
            cashier.deposit(ref="B02", amount=1_000_000, cage="C1", document="B02")
        listeners = Listeners(manager=self.staff["M01"])
        with self.act():
            cashier.deposit(ref="A17", amount=5_000_000, cage="C1", document="A17")
        for code in ROUNDS:
            self._open(code)
        for code, played in _night().items():
            for reports in played:
                self._send(code, reports)
        # Where the camera did not read every face, a round waits for it a second after its close.
        time.sleep(1.1)
        with self.act():
            settling.settle_rounds(list(Round.objects.values_list("id", flat=True)))
        settled = list(Round.objects.filter(standing="settled", table__code="PD01").order_by("number"))
        corrected, voided, unchanged = settled[2].id, settled[3].id, settled[-1].id
        self._correct(corrected, "card_ruled", self.other_card(corrected))
        self._correct(voided, "round_voided", {"reason": "dealt from a wrong deck"})
        self._correct(unchanged, "card_ruled", self.same_card(unchanged))
        elsewhere.let_in(administrator=listeners.administrator, manager=self.staff["M01"])
        told_elsewhere = self._play_for_a_wallet_elsewhere()
        self._play_for_a_wallet()
        held = self._hold_a_round()
        covered = self._cover_a_round()
        self._waive_a_gap()
        # Refused, and its number used up.
        self._report("PD06", "card_dealt", held, {"hand": "p1", "position": 2, "card": "1S"})
        self._misreport("PD06", held)
        papers = self._write_papers()
        tills.write(table="PD06", dealer=self.staff["D01"], manager=self.staff["M01"])
        comparing.write(manager=self.staff["M01"], other=self.staff["M02"])
        self._close("PD01")
        registers.write(
            administrator=listeners.administrator, managers=(self.staff["M01"], self.staff["M02"])
        )
        listening = listeners.tell()
        return {
            **listening,
            "corrected": corrected,
            "elsewhere": told_elsewhere,
            "voided": voided,
            "unchanged": unchanged,
            "held": held,
            "covered": covered,
            **papers,
        }

    def _write_papers(self) -> dict[str, UUID]:
        papers = Papers(table="PD06", dealer=self.staff["D01"], supervisor=self.staff["S01"])
        self.send_chips = papers.send_chips
        return papers.write()

    def _hire(self) -> None:
        for badge, role in HIRED.items():
            self.staff[badge] = people.hire(
                badge=badge,
                display_name=f"{badge} of the house",
                role=role,
                password="long enough " + badge,
                pin="123456",
                permissions=PERMISSIONS.get(badge, ()),
            )

    def _open(self, code: str) -> None:
        dealer, supervisor, author, approver = (self.staff[badge] for badge in ("D01", "S01", "M01", "M02"))
        with self.act() as act:
            table = tables.add(code=code, currency="THB", camera=code == "PD01")
            for kind in ("terminal", "camera"):
                device = f"{code}-{kind}"
                self.tokens[device] = devices.enrol(code=device, kind=kind, table=table, now=act.now)[1]
                self.sequences[device] = 0
            rules = rule_sheets.read(**SHEETS[code])
            sheet = rule_sheets.propose(name=code, rules=rules, by=author)
            rule_sheets.approve(sheet=sheet.id, sha256=rules.sha256, by=approver)
        with self.act() as act:
            rule_sheets.put_in_force(
                table=table, sheet=sheet.id, from_=act.now, by=author, approved_by=approver
            )
            world.counted(table, "opener", dealer, supervisor, pieces=PIECES)
            table_floats.open_table(table=table, dealer=dealer, supervisor=supervisor, cage="C1")

    def _send(self, code: str, reports: list[dict[str, Any]]) -> None:
        """Post reports as their devices would, the camera's first."""
        for kind in ("camera", "terminal"):
            device = f"{code}-{kind}"
            batch = [report for report in reports if report["source"] == f"/devices/{device}"]
            if not batch:
                continue
            answer = Client().post(
                f"/api/v1/tables/{code}/events",
                data=json.dumps(batch),
                content_type="application/cloudevents-batch+json",
                headers={
                    "Authorization": f"Bearer {self.tokens[device]}",
                    "Pokdeng-Sent-At": batch[-1]["time"],
                },
            )
            assert answer.status_code == 200, answer.content
            self.sequences[device] = max(
                self.sequences[device], *(int(report["sequence"]) for report in batch)
            )

    def _report(self, code: str, kind: str, round_id: UUID, data: dict[str, Any], *, skip: int = 0) -> None:
        device = f"{code}-terminal"
        number = self.sequences[device] + 1 + skip
        report = {
            "specversion": "1.0",
            "id": str(events.uuid7(timezone.now())),
            "source": f"/devices/{device}",
            "type": f"pokdeng.{kind}.v1",
            "time": (timezone.now() + timedelta(seconds=1)).isoformat().replace("+00:00", "Z"),
            "subject": f"rounds/{round_id}",
            "sequence": str(number),
            "data": data,
        }
        self._send(code, [report])

    def _misreport(self, code: str, round_id: UUID) -> None:
        """Send every kind of event that a device must not send, one by one as the device's next."""
        device = f"{code}-terminal"
        for name, bad in BAD.items():
            right = {
                "specversion": "1.0",
                "id": str(events.uuid7(timezone.now())),
                "source": f"/devices/{device}",
                "type": "pokdeng.note.v1",
                "time": timezone.now().isoformat().replace("+00:00", "Z"),
                "subject": f"rounds/{round_id}",
                "sequence": str(self.sequences[device] + 1),
                "data": {"text": "so"},
            }
            answer = Client().post(
                f"/api/v1/tables/{code}/events",
                data=json.dumps([bad.spoil(right)]),
                content_type="application/cloudevents-batch+json",
                headers={"Authorization": f"Bearer {self.tokens[device]}"},
            )
            assert [event["code"] for event in answer.json()["events"]] == [bad.code], (name, answer.content)
            self.sequences[device] += bad.uses

    def other_card(self, round_id: UUID) -> dict[str, Any]:
        """A ruling that makes the first card of a hand another one, which nobody holds."""
        record = Round.objects.get(pk=round_id).record
        assert record is not None
        held = {card for slot in record["slots"] for card in [slot.get("card")]}
        free = next(card for card in ("2C", "3C", "4C", "5C", "2D", "3D") if card not in held)
        hand = next(
            hand
            for hand in record["hands"]
            if len(hand["cards"]) == 3 and not hand["name"].startswith("junk")
        )
        return {"hand": hand["name"], "position": 3, "card": free, "reason": "seen on video"}

    def same_card(self, round_id: UUID) -> dict[str, Any]:
        """A ruling that the first card was what everybody read."""
        record = Round.objects.get(pk=round_id).record
        assert record is not None
        hand, _, position = str(record["slots"][0]["slot"]).partition(".")
        card = record["slots"][0]["card"]
        return {"hand": hand, "position": int(position), "card": card, "reason": "asked for"}

    def _correct(self, round_id: UUID, kind: str, data: dict[str, Any], *, at: str = "PD01") -> None:
        self._report(at, kind, round_id, data)
        cited = RoundEvent.objects.get(round=round_id, kind=kind, late=True)
        with self.act():
            settling.correct(
                round_id, cites=[cited.id], acted_by=self.staff["S01"], approved_by=self.staff["M01"]
            )

    def _play_for_a_wallet(self) -> None:
        """Two wagers of one wallet, the second after the wallet was asked to cover the first; a note is signed."""
        round_id = self._open_a_round()
        with self.act():
            settling.cover(round_id)
        self._bet(round_id, "w2", "p2")
        self._deal(round_id)
        with self.act() as act:
            (told,) = settling.settle_rounds([round_id])
            device = Device.objects.select_related("table").get(code="PD06-terminal")
            session = TableSession.objects.get(table=device.table)
            people.sign(
                person=self.staff["S01"], device=device, session=session, sha256=b"\x07" * 32, now=act.now
            )
        assert told.outcome == "settled"

    def _play_for_a_wallet_elsewhere(self) -> UUID:
        """A bet whose cashier system did not answer, then did for another stake, and beside it one it never was asked
        for; settled, acknowledged, and what was told is taken back by a correction that waits to be sent."""
        round_id = self._open_a_round(by=elsewhere.REF)
        elsewhere.covered(round_id, answer=elsewhere.NOTHING)
        self._report(
            "PD06", "bet_changed", round_id, {"wager": "w1", "stake": {"amount": 20_000, "currency": "THB"}}
        )
        elsewhere.covered(round_id)
        self._bet(round_id, "w2", "p2", by=elsewhere.REF)
        self._deal(round_id)
        with self.act():
            (told,) = settling.settle_rounds([round_id])
        assert told.outcome == "settled"
        while elsewhere.acknowledged():
            pass
        ruled = {"hand": "p2", "position": 2, "card": "6H", "reason": "seen on video"}
        self._correct(round_id, "card_ruled", ruled, at="PD06")
        return round_id

    def _deal(self, round_id: UUID) -> None:
        self._report("PD06", "bets_locked", round_id, {})
        for hand, dealt in (("p1", "KS 9H"), ("p2", "2S 5H"), ("dealer", "3S 4H")):
            for position, card in enumerate(dealt.split(), start=1):
                self._report(
                    "PD06", "card_dealt", round_id, {"hand": hand, "position": position, "card": card}
                )
        self._report("PD06", "round_closed", round_id, {})

    def _cover_a_round(self) -> UUID:
        """A round still played: a bet raised after its cover and covered again, one that the wallet refused, cards."""
        round_id = self._open_a_round()
        with self.act():
            settling.cover(round_id)
        self._report(
            "PD06", "bet_changed", round_id, {"wager": "w1", "stake": {"amount": 20_000, "currency": "THB"}}
        )
        self._bet(round_id, "w2", "p2", amount=10_000_000)
        with self.act():
            settling.cover(round_id)
        self._report("PD06", "bets_locked", round_id, {})
        self._report("PD06", "card_dealt", round_id, {"hand": "p1", "position": 1, "card": "KS"})
        return round_id

    def _open_a_round(self, *, by: str = "A17", leaving_out: int = 0) -> UUID:
        round_id = events.uuid7(timezone.now())
        number = (
            1
            + leaving_out
            + max(filter(None, Round.objects.filter(table__code="PD06").values_list("number", flat=True)))
        )
        self._report("PD06", "round_opened", round_id, {"number": number, "direction": "clockwise"})
        self._bet(round_id, "w1", "p1", by=by)
        return round_id

    def _bet(self, round_id: UUID, wager: str, hand: str, *, amount: int = 10_000, by: str = "A17") -> None:
        stake = {"amount": amount, "currency": "THB"}
        bet = {"wager": wager, "hand": hand, "owner": {"account": f"player:{by}"}, "stake": stake}
        self._report("PD06", "bet_placed", round_id, bet)

    def _hold_a_round(self) -> UUID:
        """A round closed with a card missing; the number before it was announced and never dealt."""
        round_id = self._open_a_round(leaving_out=1)
        table = Table.objects.get(code="PD06")
        unplayed = (Round.objects.get(pk=round_id).number or 0) - 1
        with self.act() as act:
            rounds.waive_rounds(
                table=table, session=None, first=unplayed, last=unplayed, person=self.staff["S01"],
                reason="announced, never dealt", now=act.now,
            )  # fmt: skip
        self._report("PD06", "bets_locked", round_id, {})
        self._report("PD06", "card_dealt", round_id, {"hand": "p1", "position": 1, "card": "KS"})
        self._report("PD06", "round_closed", round_id, {})
        with self.act():
            (told,) = settling.settle_rounds([round_id])
        assert told.outcome == "held"
        return round_id

    def _waive_a_gap(self) -> None:
        round_id = Round.objects.filter(standing="settled", table__code="PD06").latest("number").id
        self._report("PD06", "note", round_id, {"text": "a number was lost"}, skip=2)
        device = Device.objects.get(code="PD06-terminal")
        (hole,) = device.holes
        with self.act() as act:
            devices.waive(
                device=device, first=hole[0], last=hole[1], person=self.staff["S01"], reason="the tablet fell",
                now=act.now,
            )  # fmt: skip

    def _close(self, code: str) -> None:
        table = Table.objects.get(code=code)
        last = max(filter(None, Round.objects.filter(table=table).values_list("number", flat=True)))
        with self.act():
            world.counted(table, "closer", self.staff["D01"], self.staff["S01"], pieces=PIECES)
            carried = (self.staff["S01"], self.staff["M01"])
            table_floats.close_table(table=table, last_round=last, cage="C1", carried_over_by=carried)
        with self.act():
            box = table_floats.Box(carried_by=self.staff["S01"], cage="C1")
            world.counted(table, "drop", self.staff["M01"], self.staff["M02"], pieces={}, box=box)


def _night() -> dict[str, list[list[dict[str, Any]]]]:
    """The first rounds of the night at each table, as lists of reports."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {code: {} for code in ROUNDS}
    seen: set[tuple[str, str]] = set()
    with gzip.open(NIGHT, "rt") as lines:
        for line in lines:
            told = json.loads(line)
            code, report = told["table"], told["event"]
            if code not in found or (report["source"], report["sequence"]) in seen:
                continue
            seen.add((report["source"], report["sequence"]))
            of_table = found[code]
            if report["subject"] not in of_table and len(of_table) >= ROUNDS[code]:
                continue
            of_table.setdefault(report["subject"], []).append(report)
    return {code: list(of_table.values()) for code, of_table in found.items()}
