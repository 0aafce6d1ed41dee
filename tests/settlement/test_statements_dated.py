"""A file of others is dated in days of this house, or is not taken: what is wrong is named by its line and field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from casino.platform.refusals import Refusal
from settlement import days
from settlement.models import OutsideFile, OutsideLine
from settlement.statements import camt053, csv_format, statement_values, take
from tests import world
from tests.settlement.floor import NOW, act
from tests.settlement.test_statements import DAY, NEXT, a_deposit
from tests.settlement.test_statements_forms import read_camt

pytestmark = pytest.mark.django_db

BEFORE = DAY - timedelta(days=1)
ENDS = [
    date(1, 1, 1),
    date(1, 1, 2),
    date(1900, 1, 1),
    date(2569, 3, 1),
    date(2999, 1, 1),
    date(9999, 12, 31),
]


def statement(*, day: date = DAY, booked: date = DAY, played: date = DAY) -> statement_values.Statement:
    """Somebody's statement with two lines, of which the second is booked and is about other days."""
    begins, ends = days.bounds(DAY)
    usual: dict[str, Any] = {
        "kind": "deposit", "code": "DEP", "journal": "", "counter_account": "", "slip_no": "", "round": "",
        "revision": None, "reverses": "", "happened_at": begins, "recorded_at": begins, "reference": "",
    }  # fmt: skip
    lines = (
        statement_values.Line(
            gaming_day=min(day, DAY), played=min(day, DAY), entry=1, amount=500, balance_after=500, **usual
        ),
        statement_values.Line(
            gaming_day=booked, played=played, entry=2, amount=-100, balance_after=400, **usual
        ),
    )
    return statement_values.Statement(
        id="x", account="player:A17:wallet", currency="THB", number=7, gaming_day=day, begins=begins, ends=ends,
        made_at=ends, opening=0, closing=400, lines=lines,
    )  # fmt: skip


FORMS: dict[str, Callable[[statement_values.Statement], bytes]] = {
    "csv": csv_format.written,
    "camt.053": camt053.written,
}


def taken(content: bytes, form: str) -> dict[str, str]:
    """Take a file in; return the fields of its refusal, none where it was taken."""
    try:
        with act(now=NOW):
            take(content, form=form, by=world.a_person(role="cashier", badge=f"C-{form}"))  # type: ignore[arg-type]
    except Refusal as refusal:
        return refusal.fields if refusal.code == "statement_unreadable" else {"": refusal.code}
    return {}


@pytest.fixture(autouse=True)
def _house() -> None:
    world.founded(at=NOW)
    a_deposit("A17", 500, "CR-1")


@pytest.mark.parametrize("day", [*ENDS, BEFORE, NEXT])
@pytest.mark.parametrize(
    ("form", "field"), [("csv", "line 2, gaming_day"), ("camt.053", "Stmt[1]/Bal/CLBD/Dt")]
)
def test_a_statement_is_of_a_day_that_the_house_had(form: str, field: str, day: date) -> None:
    fields = taken(FORMS[form](statement(day=day, booked=day, played=day)), form)
    assert fields == {field: f"{day} is not from {DAY} to {DAY}"}
    assert not OutsideFile.objects.exists()


@pytest.mark.parametrize("booked", [*ENDS, BEFORE, NEXT])
@pytest.mark.parametrize(
    ("form", "field"), [("csv", "line 4, gaming_day"), ("camt.053", "Stmt[1]/Ntry[2]/BookgDt")]
)
def test_a_line_is_booked_in_a_day_of_the_house_and_not_after_its_statement(
    form: str, field: str, booked: date
) -> None:
    fields = taken(FORMS[form](statement(booked=booked)), form)
    assert fields == {field: f"{booked} is not from {DAY} to {DAY}"}
    assert not OutsideLine.objects.exists()


@pytest.mark.parametrize("played", [*ENDS, BEFORE])
def test_a_line_is_about_a_day_of_the_house_or_one_to_come(played: date) -> None:
    fields = taken(camt053.written(statement(played=played)), "camt.053")
    assert fields == {"Stmt[1]/Ntry[2]/ValDt": f"{played} is not from {DAY} to 2036-03-01"}


def test_a_value_date_may_lie_ahead() -> None:
    assert taken(camt053.written(statement(played=NEXT)), "camt.053") == {}
    assert sorted(OutsideLine.objects.values_list("booked", "played")) == [(DAY, DAY), (DAY, NEXT)]


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_days_of_the_house_is_taken(form: str) -> None:
    assert taken(FORMS[form](statement()), form) == {}
    assert OutsideLine.objects.count() == 2


@pytest.mark.parametrize(
    "day", ["2026-W09-7", "20260301", "๒๕๖๙-๐๓-๐๑", "2026-03-01T00:00:00", "2026-02-30", "01/03/2026"]
)
@pytest.mark.parametrize(
    ("form", "field"), [("csv", "line 2, gaming_day"), ("camt.053", "Stmt[1]/Bal/OPBD/Dt")]
)
def test_what_is_no_day_is_no_day_in_a_file_either(form: str, field: str, day: str) -> None:
    content = FORMS[form](statement()).replace(str(DAY).encode(), day.encode())
    (where,) = taken(content, form)
    assert where == field


def test_a_day_of_xml_may_say_its_zone() -> None:
    for zone in ("Z", "+07:00"):
        content = camt053.written(statement()).replace(
            f"<Dt>{DAY}</Dt>".encode(), f"<Dt>{DAY}{zone}</Dt>".encode()
        )
        (read,) = read_camt(content)
        assert (read.gaming_day, [line.booked for line in read.lines]) == (DAY, [DAY, DAY])
