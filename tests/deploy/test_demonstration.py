"""The demonstration house: furnished once, and what people changed since stays changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from audit.models import LogEntry
from casino import people, tables
from casino.models import Device, Person, Role, Table, TableSession
from deploy import demonstration
from deploy.demonstration import Keys
from deploy.local.start_errors import Trouble
from settlement.models import Account, Journal, TableRules
from tests import cases, world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing thirty secrets takes longer than all the rest; which secrets they are is no matter here."""
    for module in ("secrets", "register"):
        monkeypatch.setattr(f"casino.people.{module}.make_password", lambda secret: f"hash of {secret}")
    monkeypatch.setattr(Person, "set_password", lambda self, secret: setattr(self, "password", secret))


def furnish(path: Path, *, reopen: bool = False, **floor: Any) -> Keys:
    keys = Keys.read(path)
    wanted = floor or {"PD01": demonstration.TABLES["PD01"], "PD06": demonstration.TABLES["PD06"]}
    demonstration.furnish(
        keys=keys,
        floor=wanted,
        wallets=demonstration.WALLETS,
        codes=demonstration.device_codes(wanted),
        reopen=reopen,
        now=timezone.now(),
    )
    return keys


def written() -> list[int]:
    kept = (Person, Table, Device, TableSession, TableRules, Journal, Account)
    return [model.objects.count() for model in kept]


def test_the_house_has_the_tables_of_the_recorded_night() -> None:
    night = json.loads(cases.NIGHT_EXPECTED.read_text())["tables"]
    assert {
        code: {"sheet": known["sheet"], "camera": known["camera"]} for code, known in night.items()
    } == demonstration.TABLES


def test_there_are_people_of_every_role_and_duty() -> None:
    assert {who.role for who in demonstration.STAFF} == set(Role.values)
    duties = {name for who in demonstration.STAFF for name in who.permissions}
    assert duties == set(people.PERMISSIONS)
    assert {who.role for who in demonstration.STAFF if "runner" in who.permissions} >= {
        "dealer",
        "supervisor",
    }
    assert len([who for who in demonstration.STAFF if "counter" in who.permissions]) >= 2
    assert {"auditor", "manager"} <= {
        who.role for who in demonstration.STAFF if "accounting" in who.permissions
    }


def test_furnishing_twice_makes_nothing_twice(tmp_path: Path) -> None:
    first = furnish(tmp_path / "keys.json")
    before = written()
    again = furnish(tmp_path / "keys.json")
    assert written() == before
    assert (again.people, again.devices) == (first.people, first.devices)
    assert Account.objects.get(code="player:A17:wallet").balance == demonstration.WALLETS["A17"]


def test_keys_are_kept_where_only_their_owner_reads_them(tmp_path: Path) -> None:
    keys = furnish(tmp_path / "keys.json")
    assert (tmp_path / "keys.json").stat().st_mode & 0o777 == 0o600
    assert len(set(keys.devices.values())) == 3
    assert len({who["password"] for who in keys.people.values()}) == len(demonstration.STAFF)


def test_a_table_that_was_closed_stays_closed_unless_a_recording_needs_it(tmp_path: Path) -> None:
    furnish(tmp_path / "keys.json")
    table = Table.objects.get(code="PD06")
    with world.acting() as act:
        tables.close(session=tables.lock_session(table), last_round=0, carried_over_by=None, now=act.now)
    furnish(tmp_path / "keys.json")
    table.refresh_from_db()
    assert table.state == Table.State.CLOSED
    furnish(tmp_path / "keys.json", reopen=True)
    table.refresh_from_db()
    assert table.state == Table.State.OPEN


def test_a_sheet_that_was_put_in_force_since_stays(tmp_path: Path) -> None:
    furnish(tmp_path / "keys.json")
    furnish(
        tmp_path / "keys.json",
        PD01=demonstration.TABLES["PD01"] | {"sheet": {"preset": "thai_app", "options": {}}},
    )
    assert TableRules.objects.filter(table__code="PD01").count() == 1


def test_a_device_whose_token_is_not_known_here_is_trouble_said_in_a_sentence(tmp_path: Path) -> None:
    furnish(tmp_path / "keys.json")
    with pytest.raises(Trouble, match=r"PD01-terminal is not in other\.json"):
        furnish(tmp_path / "other.json")
    mistaken = Keys.read(tmp_path / "keys.json")
    mistaken.devices["PD01-terminal"] = "pdd_another"
    mistaken.save()
    with pytest.raises(Trouble, match="another house"):
        furnish(tmp_path / "keys.json")


def test_everything_is_witnessed_as_the_services_own_act(tmp_path: Path) -> None:
    furnish(tmp_path / "keys.json")
    told = list(LogEntry.objects.values_list("action", "actor_kind"))
    assert {actor for _, actor in told} == {"system"}
    assert {
        "person.created",
        "table.added",
        "device.enrolled",
        "sheet.proposed",
        "sheet.approved",
        "sheet.put_in_force",
        "table.opened",
        "table.float_opened",
        "wallet.deposited",
        "vault.stocked",
    } <= {action for action, _ in told}
