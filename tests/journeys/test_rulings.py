"""A supervisor rules a card. It takes a supervisor's own sign-off, and where that is missing nothing moves."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from tests import world
from tests.rules.given import an_act, short_round

pytestmark = pytest.mark.django_db

RULING = an_act("card_ruled", hand="dealer", position=1, card="9C", reason="seen on video")
"""The dealer's seven becomes a six: p1, seven too, no longer pushes but wins."""


@pytest.fixture
def table(settings: Settings) -> world.AtTable:
    settings.SIGNATURES = "required"
    return world.a_house(tables=["PD03"]).tables["PD03"]


@pytest.fixture
def told() -> world.RoundTold:
    return world.Recording().round(table="PD03", number=1)


def played(told: world.RoundTold, **ruling: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A round and a ruling before its close: what was sent, and the ruling of it."""
    shorts = short_round(bets={"p1": 100_00}, cards={"p1": "3S 4D", "dealer": "TC 7H"})
    before = told.tell(*shorts[:-1])
    (ruled,) = told.tell(RULING, **ruling)
    return [*before, ruled, *told.tell(shorts[-1])], ruled


def signed(table: world.AtTable, told: world.RoundTold, *, badge: str, card: str = "9C") -> str:
    content = {"type": "pokdeng.card_ruled.v1", "subject": f"rounds/{told.id}"}
    response = asked_to_sign(table, badge, content | {"data": RULING["data"] | {"card": card}})
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def asked_to_sign(table: world.AtTable, badge: str, content: dict[str, Any]) -> Any:
    return world.at_terminal(table).ask("POST", "signatures", {"badge": badge, "pin": world.PIN, **content})


def came_of(table: world.AtTable, told: world.RoundTold, sent: list[dict[str, Any]]) -> tuple[int, list[str]]:
    """The net of the one wager, and the findings."""
    terminal = world.at_terminal(table)
    assert set(terminal.send("PD03", sent)) == {"recorded"}
    (line,) = terminal.settle(told.id)["settlement"]["lines"]
    return line["net"]["amount"], [breach["kind"] for breach in terminal.read(told.id)["breaches"]]


def test_a_ruling_without_a_signature_moves_nothing_and_is_flagged(
    table: world.AtTable, told: world.RoundTold
) -> None:
    sent, _ = played(told)
    net, findings = came_of(table, told, sent)
    assert (net, "unsigned_ruling" in findings) == (0, True)


def test_a_ruling_that_the_supervisor_on_duty_signed_counts(
    table: world.AtTable, told: world.RoundTold
) -> None:
    sent, _ = played(told, signature=signed(table, told, badge="S-PD03"))
    net, findings = came_of(table, told, sent)
    assert (net, "unsigned_ruling" in findings) == (100_00, False)


def test_a_manager_may_sign_at_any_table(table: world.AtTable, told: world.RoundTold) -> None:
    sent, _ = played(told, signature=signed(table, told, badge="M01"))
    assert came_of(table, told, sent)[0] == 100_00


@pytest.mark.parametrize(
    ("badge", "code"), [("D-PD03", "second_person_forbidden"), ("S-elsewhere", "not_on_duty")]
)
def test_whoever_may_not_rule_there_signs_no_ruling(
    table: world.AtTable, told: world.RoundTold, badge: str, code: str
) -> None:
    world.a_supervisor(badge="S-elsewhere")
    content = {"type": "pokdeng.card_ruled.v1", "subject": f"rounds/{told.id}", "data": RULING["data"]}
    answer = asked_to_sign(table, badge, content)
    assert (answer.status_code, answer.json()["code"]) == (403, code)
    note = content | {"type": "pokdeng.note.v1", "data": {"text": "seen"}}
    assert asked_to_sign(table, badge, note).status_code == 201


def test_a_signature_counts_only_for_what_was_signed(table: world.AtTable, told: world.RoundTold) -> None:
    sent, _ = played(told, signature=signed(table, told, badge="S-PD03", card="8C"))
    net, findings = came_of(table, told, sent)
    assert (net, "unsigned_ruling" in findings) == (0, True)


def test_whoever_acted_does_not_sign_for_it(table: world.AtTable, told: world.RoundTold) -> None:
    signature = signed(table, told, badge="S-PD03")
    sent, _ = played(told, signature=signature, person=str(table.supervisor.id))
    net, findings = came_of(table, told, sent)
    assert (net, "unsigned_ruling" in findings) == (0, True)


def test_in_a_demonstration_the_supervisor_on_duty_is_taken_to_have_signed(
    table: world.AtTable, told: world.RoundTold, settings: Settings
) -> None:
    settings.SIGNATURES = "on_duty"
    sent, _ = played(told)
    net, findings = came_of(table, told, sent)
    assert (net, "unsigned_ruling" in findings) == (100_00, False)
