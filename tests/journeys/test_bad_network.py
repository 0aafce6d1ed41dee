"""A terminal on a bad network: numbers missing, repeated, or used twice. Money moves once, on what was told first."""

from __future__ import annotations

from typing import Any

import pytest

from casino.models import RefusedEvent
from settlement.models import Account, Journal
from tests import world
from tests.rules.given import short_round

pytestmark = pytest.mark.django_db

CARDS = {"p1": "9S KS", "p2": "2H 3C 4D", "dealer": "TC 7H"}
"""p1: pok nine of two deng against seven, +2; p2: nine taem against seven, +1."""

Sent = list[dict[str, Any]]


@pytest.fixture
def table() -> world.AtTable:
    return world.a_house(tables=["PD03"]).tables["PD03"]


def a_game(recording: world.Recording, *, number: int) -> tuple[str, Sent]:
    """One round of two bets of 100 baht, as its terminal sends it."""
    told = recording.round(table="PD03", number=number)
    shorts = short_round(bets={"p1": 100_00, "p2": 100_00}, cards=CARDS)
    shorts[0]["data"]["number"] = number
    return told.id, told.tell(*shorts)


def nets(shown: dict[str, Any]) -> dict[str, int]:
    return {line["wager"]: line["net"]["amount"] for line in shown["settlement"]["lines"]}


def books() -> dict[str, tuple[int, int, int]]:
    return {row.code: (row.balance, row.held, row.version) for row in Account.objects.all()}


def another_card(event: dict[str, Any]) -> dict[str, Any]:
    return event | {"data": event["data"] | {"card": "AD"}}


def test_a_number_missing_in_mid_round_holds_that_round_alone_and_settles_it_when_it_comes(
    table: world.AtTable,
) -> None:
    terminal, recording = world.at_terminal(table), world.Recording()
    (first, one), (second, two), (third, three) = (a_game(recording, number=n) for n in (1, 2, 3))
    missing = two.pop(6)
    terminal.send("PD03", [*one, *two, *three])
    outcomes = {round_id: terminal.settle(round_id) for round_id in (first, second, third)}
    assert [outcomes[key]["outcome"] for key in (first, second, third)] == ["settled", "held", "settled"]
    assert outcomes[second]["reasons"] == ["sequence_gap"]
    assert terminal.send("PD03", [missing]) == ["recorded"]
    assert nets(terminal.settle(second)) == {"w1": 200_00, "w2": 100_00}


def test_numbers_missing_over_the_border_of_two_rounds_hold_these_two_alone(table: world.AtTable) -> None:
    terminal, recording = world.at_terminal(table), world.Recording()
    (first, one), (second, two), (third, three) = (a_game(recording, number=n) for n in (1, 2, 3))
    missing = [one.pop(), two.pop(0)]
    terminal.send("PD03", [*one, *two, *three])
    assert [terminal.settle(key)["outcome"] for key in (first, second, third)] == ["held", "held", "settled"]
    terminal.send("PD03", missing)
    assert [nets(terminal.settle(key)) for key in (first, second)] == [{"w1": 200_00, "w2": 100_00}] * 2


def test_a_number_used_for_another_card_is_refused_and_the_first_card_counts(table: world.AtTable) -> None:
    terminal, recording = world.at_terminal(table), world.Recording()
    round_id, events = a_game(recording, number=1)
    card = next(event for event in events if event["type"] == "pokdeng.card_dealt.v1")
    terminal.send("PD03", events)
    assert terminal.send("PD03", [another_card(card), another_card(card)]) == ["sequence_reused"] * 2
    assert nets(terminal.settle(round_id)) == {"w1": 200_00, "w2": 100_00}
    assert RefusedEvent.objects.values_list("device_seq", "code", "claims").get() == (
        int(card["sequence"]),
        "sequence_reused",
        False,
    )


def test_the_same_event_is_one_act_however_often_and_under_whatever_id_it_comes(table: world.AtTable) -> None:
    terminal, recording = world.at_terminal(table), world.Recording()
    round_id, events = a_game(recording, number=1)
    assert terminal.send("PD03", events) == ["recorded"] * len(events)
    settled = terminal.settle(round_id)
    before, journals = books(), Journal.objects.count()
    renamed = [event | {"id": event["id"][:-4] + "beef"} for event in events]
    assert terminal.send("PD03", [*events, *renamed]) == ["duplicate"] * 2 * len(events)
    assert terminal.settle(round_id) == settled
    assert (books(), Journal.objects.count()) == (before, journals)


def test_numbers_that_come_backwards_make_the_same_round(table: world.AtTable) -> None:
    terminal, recording = world.at_terminal(table), world.Recording()
    round_id, events = a_game(recording, number=1)
    for event in reversed(events):
        assert terminal.send("PD03", [event]) == ["recorded"]
    assert nets(terminal.settle(round_id)) == {"w1": 200_00, "w2": 100_00}
