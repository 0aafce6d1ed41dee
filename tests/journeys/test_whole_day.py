"""A whole gaming day by people who have only the interface: hired in the morning, sealed by two auditors.

Everything that people and machines do goes over HTTP; what the house does by itself (settle, compare, make statements,
number leaves) is done as its workers do it. A founder's administrator and manager are there, as in any new house.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit import tasks as audit_tasks
from audit.checkpoints import Store
from casino import people
from settlement import days, tasks
from tests import database, world
from tests.audit import flagged
from tests.audit.sealing import a_store
from tests.audit.sealing import sealed as sealed_log
from tests.rules.given import a_card, an_act, short_round
from tests.world import Recording

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

PASSWORD = "a long walk by the river"
FLOAT = [{"denomination": 100_000, "pieces": 100}, {"denomination": 10_000, "pieces": 400}]
"""140,000 baht."""
FILL = [{"denomination": 100_000, "pieces": 20}]
BOUGHT = [{"denomination": 10_000, "pieces": 50}]


@dataclass
class Clock:
    """The house's clock: the machine's, and what was waited since."""

    waited: timedelta = timedelta()
    machine: Any = field(default=timezone.now)

    def now(self) -> datetime:
        found: datetime = self.machine() + self.waited
        return found

    def wait_until(self, moment: datetime) -> None:
        self.waited += moment - self.now()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock.now)
    return clock


@dataclass
class Staff:
    """A member of the staff at a desk of their own: signed in by badge and password, writing with the token."""

    badge: str
    pin: str
    client: Client = field(default_factory=Client)

    def sign_in(self, password: str) -> Staff:
        answer = self._send("POST", "session", {"badge": self.badge, "password": password})
        assert answer.status_code == 200, answer.content
        self.client.defaults["HTTP_X_CSRFTOKEN"] = answer.json()["csrf_token"]
        return self

    @property
    def signs(self) -> dict[str, str]:
        return {"badge": self.badge, "pin": self.pin}

    def asks(self, path: str) -> Any:
        answer = self.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, (self.badge, path, answer.content)
        return answer.json()

    def does(self, path: str, body: Any = None, *, status: int = 201) -> Any:
        answer = self._send("POST", path, {} if body is None else body)
        assert answer.status_code == status, (self.badge, path, answer.content)
        return answer.json()

    def _send(self, method: str, path: str, body: Any) -> Any:
        return self.client.generic(
            method,
            f"/api/v1/{path}",
            json.dumps(body).encode(),
            "application/json",
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )


class House:
    """A new house: an administrator and a manager, and nothing else."""

    def __init__(self) -> None:
        self.staff: dict[str, Staff] = {}
        with world.acting():
            for badge, role, pin in (("X01", "administrator", "481516"), ("M01", "manager", "234281")):
                permissions = ("rules_author",) if role == "manager" else ()
                people.hire(
                    badge=badge,
                    display_name=badge,
                    role=role,
                    password=PASSWORD,
                    pin=pin,
                    permissions=permissions,
                )
                self.staff[badge] = Staff(badge, pin)
        for one in self.staff.values():
            one.sign_in(PASSWORD)

    def __getitem__(self, badge: str) -> Staff:
        return self.staff[badge]

    def hires(self, badge: str, role: str, *permissions: str) -> Staff:
        """The administrator takes somebody on with the manager; they choose their secrets and sign in."""
        newcomer = {
            "badge": badge,
            "display_name": f"{role} {badge}",
            "staff_no": f"HR-{badge}",
            "role": role,
            "permissions": list(permissions),
        }
        made = self["X01"].does("people", {"person": newcomer} | self["M01"].signs)
        pin = f"{(len(self.staff) * 7919 + 132457) % 10**6:06}"
        chosen = {"code": made["code"], "password": f"{PASSWORD} {badge}", "pin": pin}
        taken = Client().post("/api/v1/people/take-over", json.dumps(chosen), "application/json")
        assert taken.status_code == 200, taken.content
        self.staff[badge] = Staff(badge, pin).sign_in(f"{PASSWORD} {badge}")
        return self.staff[badge]

    def enrols(self, code: str, kind: str, table: str) -> world.Caller:
        """The administrator makes a code; the device comes in with it."""
        admitted = self["X01"].does("devices", {"code": code, "kind": kind, "table": table})
        body = json.dumps({"enrolment_code": admitted["enrolment_code"]})
        answer = Client().post("/api/v1/devices/enrolments", body, "application/json")
        assert answer.status_code == 201, answer.content
        return world.Caller(answer.json()["token"])


def thb(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "THB"}


def staffed(house: House) -> None:
    for badge, role, *permissions in (
        ("M02", "manager", "rules_approver"),
        ("S01", "supervisor"), ("S02", "supervisor"),
        ("D01", "dealer"),
        ("R01", "dealer", "runner"),
        ("C01", "cashier"), ("C02", "cashier"), ("C03", "cashier", "counter"), ("C04", "cashier", "counter"),
        ("A01", "auditor", "accounting"), ("A02", "auditor"),
    ):  # fmt: skip
        house.hires(badge, role, *permissions)


def furnished(house: House) -> tuple[world.Caller, world.Caller]:
    """A table, a cage with chips, rules in force, a terminal and a camera."""
    manager, second = house["M01"], house["M02"]
    manager.does("tables", {"code": "PD07", "camera": True} | second.signs)
    manager.does("cages", {"code": "C2"} | second.signs)
    stock = [{"denomination": 100_000, "pieces": 1000}, {"denomination": 10_000, "pieces": 1000}]
    taken = {"amount": thb(110_000_000), "lines": stock, "document": "FIRST-COUNT"}
    manager.does("cages/C2/stock", taken | second.signs)
    sheet = manager.does("rule-sheets", {"name": "first", "preset": "seed_base"})
    second.does(f"rule-sheets/{sheet['id']}/approve", {"sha256": sheet["sha256"]}, status=200)
    manager.does("tables/PD07/rule-sheets", {"sheet": sheet["id"]} | second.signs)
    return house.enrols("PD07-terminal", "terminal", "PD07"), house.enrols("PD07-camera", "camera", "PD07")


def counted(house: House, kind: str, lines: list[dict[str, int]], *badges: str, **more: Any) -> Any:
    """These people count, one after the other, each at their own desk."""
    answers = [
        house[badge].does("tables/PD07/counts", {"kind": kind, "lines": lines} | more) for badge in badges
    ]
    assert answers[-1]["state"] == "accepted", answers
    return answers[-1]


def opened(house: House, day: str) -> str:
    """The day, the shift and the table; return the shift."""
    house["M01"].does(f"days/{day}/open", {"tables": ["PD07"]})
    shift = house["M01"].does("shifts", {"tables": ["PD07"]} | house["M02"].signs)
    counted(house, "opener", FLOAT, "D01", "S01")
    house["S01"].does("tables/PD07/sessions", {"dealer": "D01", "supervisor": "S01", "cage": "C2"})
    return str(shift["id"])


class Play:
    """Rounds as terminal and camera tell them."""

    def __init__(self, terminal: world.Caller, camera: world.Caller, *, start: datetime) -> None:
        self.recording = Recording(start=start)
        self.terminal, self.camera = terminal, camera
        self.number = 0

    def round(self, *, cards: dict[str, str], bets: dict[str, int], camera: Any = True, **more: Any) -> str:
        """Play a round to its close; return its id."""
        self.number += 1
        told = self.recording.round(table="PD07", number=self.number)
        shorts = short_round(cards=cards, bets=bets, camera=camera, **more)
        shorts[0] = shorts[0] | {"data": shorts[0]["data"] | {"number": self.number}}
        self.sends(told.tell(*shorts))
        return told.id

    def sends(self, events: list[dict[str, Any]]) -> None:
        for device, caller in (("terminal", self.terminal), ("camera", self.camera)):
            own = [one for one in events if one["source"] == f"/devices/PD07-{device}"]
            if own:
                assert set(caller.send("PD07", own)) == {"recorded"}

    def rules(self, round_id: str, signer: Staff) -> None:
        """The supervisor signs at the terminal which card it was."""
        ruling = an_act("card_ruled", hand="p1", position=2, card="4D", reason="seen on video")
        body = {
            "type": "pokdeng.card_ruled.v1", "subject": f"rounds/{round_id}", "data": ruling["data"],
        } | signer.signs  # fmt: skip
        signed = self.terminal.ask("POST", "signatures", body)
        assert signed.status_code == 201, signed.content
        event = self.recording.tell(ruling, round_id=round_id, table="PD07", signature=signed.json()["id"])
        self.sends([event])


def carried(house: House) -> None:
    """A fill through its four people: who asks, who issues, who carries, and who counts in beside the dealer."""
    slip = house["S01"].does("tables/PD07/fills", {"lines": FILL, "manual_number": None})["id"]
    house["C01"].does(f"slips/{slip}/issue", {"cage": "C2"})
    house["R01"].does(f"slips/{slip}/dispatch", {})
    received = house["S01"].does(f"slips/{slip}/receive", {"lines": FILL} | house["D01"].signs)
    assert received["state"] == "received", received
    house["D01"].does(f"slips/{slip}/deposit", {})


def at_the_cage(house: House, round_id: str, clock: Clock) -> None:
    """A deposit, chips sold and redeemed, and a pay slip paid."""
    now = clock.now().isoformat()
    paid = {
        "amount": thb(50_000), "cage": "C2", "till": "T1", "means": "cash", "document": "CR-1", "happened_at": now,
    }  # fmt: skip
    house["C01"].does("wallets/A17/deposits", paid)
    for direction in ("sell", "redeem"):
        exchange = {"direction": direction, "amount": thb(500_000), "lines": BOUGHT, "person": None}
        house["C01"].does("cages/C2/chip-exchanges", exchange)
    slip = house["S01"].does(f"rounds/{round_id}/pay-slips", {"wager": "w1"})
    house["C02"].does(f"pay-slips/{slip['number']}/pay", {"cage": "C2"})


@pytest.fixture
def store(house: database.House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Where checkpoints go, and the reader's address of this test's database."""
    store = a_store(tmp_path)
    monkeypatch.setattr(settings, "CHECKPOINT_FOLDER", str(store.folder))
    monkeypatch.setattr(settings, "SEAL_KEY_FILE", str(store.key_file))
    reader = database.at(house.addresses.reader_url, database=connection.settings_dict["NAME"])
    monkeypatch.setattr(settings, "DATABASE_READER_URL", reader)
    return store


@pytest.fixture
def new_house(clock: Clock) -> House:
    return House()


def worked(house: House, clock: Clock) -> tuple[str, str, Play]:
    """Hire, furnish, open, play, carry a fill and serve the cage; return the day, the shift and what was played."""
    staffed(house)
    terminal, camera = furnished(house)
    tasks.turn_the_day()
    day = days.of(clock.now()).isoformat()
    shift = opened(house, day)
    play = Play(terminal, camera, start=clock.now() - timedelta(seconds=40))

    # A guest buys in, wins a round in chips and loses one; the third is held for a card and ruled; a fourth is paid at
    # the cage, as the guest had left the table.
    bought = {
        "amount": thb(500_000),
        "means": "cash",
        "lines": BOUGHT,
        "happened_at": clock.now().isoformat(),
    }
    house["D01"].does("tables/PD07/buy-ins", bought)
    won = {"p1": "3S 4D", "dealer": "KC 6D"}
    lost = {"p1": "3S 3D", "dealer": "KC 7D"}
    rounds = [play.round(cards=won, bets={"p1": 100_00}), play.round(cards=lost, bets={"p1": 100_00})]
    for one in rounds:
        assert terminal.settle(one)["outcome"] == "settled"
    contested = play.round(
        cards=won, bets={"p1": 100_00}, camera=["dealer"],
        extra=[a_card("p1", 1, "3S", by="camera"), a_card("p1", 2, "5D", by="camera")],
    )  # fmt: skip
    assert terminal.settle(contested)["reasons"] == ["reads_differ"]
    play.rules(contested, house["S01"])
    assert terminal.settle(contested)["outcome"] == "settled"
    unpaid = play.round(cards=won, bets={"p1": 100_00})
    terminal.settle(unpaid)

    carried(house)
    at_the_cage(house, unpaid, clock)
    return day, shift, play


def test_a_whole_day_is_played_and_sealed_by_people_who_have_only_the_interface(
    new_house: House, clock: Clock, store: Store
) -> None:
    house = new_house
    day, shift, play = worked(house, clock)

    shown = house["A01"].asks(f"days/{day}")
    assert "table_open" in [one["code"] for one in shown["checklist"] if one["blocking"] and not one["met"]]

    # What must lie in the tray: the float, the fill, less what was bought, less what two wins were paid in chips, and
    # what one loss brought; the third win was paid at the cage.
    tray = 14_000_000 + 2_000_000 - 500_000 - 2 * 100_00 + 100_00
    pieces = [{"denomination": 10_000, "pieces": tray // 10_000}]
    counted(house, "closer", pieces, "D01", "S01")
    closed = house["S01"].does("tables/PD07/sessions/close", {"last_round": play.number, "cage": "C2"})
    assert closed["last_round"] == 4
    counted(house, "drop", BOUGHT, "C03", "C04", carried_by="S01", cage="C2")
    house["S01"].does(f"shifts/{shift}/close", house["M01"].signs)
    house["M01"].does(f"days/{day}/close", {})

    # The start hour passes; the books are compared, differences are answered, and two auditors seal the day.
    clock.wait_until(days.bounds(datetime.fromisoformat(day).date())[1] + timedelta(minutes=5))
    for badge in house.staff:
        password = PASSWORD if badge in ("X01", "M01") else f"{PASSWORD} {badge}"
        house.staff[badge] = Staff(badge, house[badge].pin).sign_in(password)
    tasks.turn_the_day()
    flagged.number_all()
    sealed_log(store, now=clock.now())
    house["A01"].does("reconciliations", {"gaming_day": day})
    while tasks.compare() or audit_tasks.compare_log():
        pass
    answered(house)
    shown = house["A01"].asks(f"days/{day}")
    assert [one for one in shown["checklist"] if one["blocking"] and not one["met"]] == []
    sealed = house["A01"].does(f"days/{day}/seal", house["A02"].signs)

    report = house["M01"].client.get(f"/api/v1/days/{day}/report")
    assert (report.status_code, report["ETag"]) == (200, f'"{sealed["sha256"]}"')
    tasks.write_statements()
    statement = house["C01"].asks(f"accounts/player:A17:wallet/statements/{day}")
    assert (statement["number"], statement["closing"]) == (1, thb(50_000))
    sealed_log(store, now=clock.now())
    assert books() == "clean (full)"


def answered(house: House) -> None:
    """Every break that is open is explained and resolved by a manager, and approved by an auditor."""
    for found in house["M01"].asks("breaks")["breaks"]:
        if found["state"] in ("matched", "approved"):
            continue
        path = f"breaks/{found['id']}"
        house["M01"].does(f"{path}/assign", {}, status=200)
        house["M01"].does(f"{path}/explain", {"reason": "looked at"}, status=200)
        told = {"resolution": "no_action", "reason": "looked at", "pin": house["M01"].pin}
        house["M01"].does(f"{path}/resolve", told, status=200)
        house["A01"].does(f"{path}/approve", {"pin": house["A01"].pin}, status=200)


def books() -> str:
    """What check_books says in the end, and what it found before that."""
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_books", "--full", stdout=out)
    said = out.getvalue().strip().splitlines()
    return said[-1] if said[-1].startswith("clean") else "\n".join(said)
