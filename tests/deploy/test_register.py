"""The registers by command: a new house is founded, and then by its people alone."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import LogEntry
from casino import people
from casino.models import Cage, Device, Person, Table
from tests import world

pytestmark = pytest.mark.django_db

CHOSEN = "a long walk by the river"


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command with passwords given line by line; return what it said."""

    def run(*arguments: str, secrets: tuple[str, ...] = (CHOSEN, CHOSEN)) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{one}\n" for one in secrets)))
        out = io.StringIO()
        call_command("register", *arguments, stdout=out)
        return out.getvalue().strip()

    return run


def take_over(code: str, pin: str = "481516") -> None:
    with world.acting():
        people.take_over(code, password=CHOSEN, pin=pin)


def test_a_new_house_is_founded_once_and_goes_on_by_its_people(register: Any) -> None:
    said = register("found", "X01", "M01")
    for line, badge in zip(said.splitlines()[1:], ("X01", "M01"), strict=True):
        assert line.split()[0] == badge
        take_over(line.split()[1])
    with pytest.raises(CommandError, match="has people already"):
        register("found", "X02", "M02")

    by = ("--by", "X01", "--with", "M01")
    code = register("take-on", "M02", "Manop", "HR-2", "manager", *by).split(" with ")[1].split(",")[0]
    take_over(code)
    with pytest.raises(CommandError, match="second_person_needed"):
        register("take-on", "C01", "Kanya", "HR-3", "cashier", "--by", "X01")
    with pytest.raises(CommandError, match="wrong_secret"):
        register("take-on", "C01", "Kanya", "HR-3", "cashier", *by, secrets=(CHOSEN, "another"))
    register("take-on", "D01", "Arun", "HR-4", "dealer", "--by", "X01")
    register("appoint", "D01", "dealer", "--permission", "runner", *by)
    assert Person.objects.get(badge="D01").permissions == ["runner"]
    register("let-go", "D01", "--by", "X01")
    assert Person.objects.get(badge="D01").ended_at is not None

    managers = ("--by", "M01", "--with", "M02")
    register("add-table", "PD07", "--camera", *managers)
    register("add-cage", "C2", *managers)
    register("admit-device", "PD07-terminal", "terminal", "PD07", "--by", "X01")
    assert (Table.objects.get().camera, Cage.objects.count(), Device.objects.count()) == (True, 2, 0)
    register("end-cage", "C2", *managers)
    register("end-table", "PD07", *managers)
    assert {
        one.ended_by.badge for one in (Table.objects.get(), Cage.objects.get(code="C2")) if one.ended_by
    } == {"M01"}
    acted = LogEntry.objects.filter(action__in=["table.added", "cage.ended"]).values_list(
        "actor_kind", flat=True
    )
    assert set(acted) == {"person"}
