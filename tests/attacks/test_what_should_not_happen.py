"""What happened at a table but should not have is never refused: it is recorded, and no money moves until somebody has
looked at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from casino.models import Round, RoundEvent
from settlement.models import Account, Journal, Line, Settlement
from tests.rules.given import Short, a_bet, a_card, an_act, short_round
from tests.world import AtTable, Caller, Recording, a_house, at_terminal

pytestmark = pytest.mark.django_db

TWO_HANDS = {"p1": "3S 4D", "dealer": "KC 6D"}
EIGHTEEN = {f"p{n}": None for n in range(1, 17)} | {"junk1": None, "shared": None}


def a_table(**wanted: Any) -> tuple[AtTable, Caller]:
    table = a_house(tables={"PD01": wanted}).tables["PD01"]
    return table, at_terminal(table)


def played(table: AtTable, shorts: Sequence[Short]) -> tuple[str, list[str]]:
    """Let the devices report it; return the round, and what they heard of each event."""
    told = Recording().round(table="PD01", number=1)
    sent = told.tell(*shorts)
    heard = []
    for device in table.tokens:
        own = [event for event in sent if event["source"] == f"/devices/{device}"]
        if own:
            heard += at_terminal(table, code=device).send("PD01", own)
    return told.id, heard


def money() -> Any:
    return (
        list(Account.objects.order_by("code").values_list("code", "balance", "held")),
        Journal.objects.count(), Settlement.objects.count(), Line.objects.count(),
    )  # fmt: skip


def eighteen_hands() -> list[Short]:
    """All the pack can give: two cards to p1–p16, a shared hand and a junk hand."""
    deck = [rank + suit for rank in "A23456789TJQK" for suit in "CDHS"]
    return [
        a_card(name, position, deck[place * 2 + position - 1])
        for place, name in enumerate(EIGHTEEN)
        for position in (1, 2)
    ]


DOUBTFUL: dict[str, tuple[list[Short], list[str]]] = {
    "one card in two hands": (
        short_round(bets={"p1": 100_00}, cards=TWO_HANDS | {"dealer": "3S 6D"}), ["duplicate_card"],
    ),
    "a fourth card": (
        short_round(bets={"p1": 100_00}, cards=TWO_HANDS | {"p1": "3S 4D 2C"}, extra=[a_card("p1", 4, "2H")]),
        ["too_many_cards"],
    ),
    "a card drawn on pok": (
        short_round(bets={"p1": 100_00}, cards=TWO_HANDS | {"p1": "4S 4D"}, extra=[a_card("p1", 3, "2C")]),
        ["pok_drew"],
    ),
    "eighteen hands": (
        [
            an_act("round_opened", number=1, direction="clockwise"), a_bet("w1", "p1", 100_00, by=1),
            an_act("bets_locked"), *eighteen_hands(), an_act("round_closed"),
        ],
        ["too_many_hands", "missing_card"],
    ),
    "two reads of one card": (
        short_round(bets={"p1": 100_00}, cards=TWO_HANDS, extra=[a_card("p1", 1, "5S", by="camera")]),
        ["reads_differ"],
    ),
    "two reads of one device": (
        short_round(bets={"p1": 100_00}, cards=TWO_HANDS, extra=[a_card("p1", 1, "5S")]), ["reads_differ"],
    ),
    "a hand with one card": (short_round(bets={"p1": 100_00}, cards=TWO_HANDS | {"p1": "3S"}), ["missing_card"]),
}  # fmt: skip


@pytest.mark.parametrize("what", DOUBTFUL)
def test_it_is_recorded_and_the_round_is_held_with_its_reason_and_nothing_is_posted(what: str) -> None:
    shorts, reasons = DOUBTFUL[what]
    table, terminal = a_table(camera=True)
    before = money()

    round, heard = played(table, shorts)
    answer = terminal.settle(round)

    assert heard == ["recorded"] * len(shorts)
    assert RoundEvent.objects.filter(round=UUID(round)).count() == len(shorts)
    assert (answer["outcome"], answer["reasons"]) == ("held", reasons)
    assert money() == before
    row = Round.objects.get(pk=round)
    assert (row.standing, row.reasons) == ("held", reasons)
    assert terminal.settle(round) == answer


def test_a_bet_raised_after_bets_closed_is_recorded_and_the_earlier_stake_counts() -> None:
    table, terminal = a_table()
    raised = {"type": "bet_changed", "data": {"wager": "w1", "stake": {"amount": 900_00, "currency": "THB"}}}
    more = a_bet("w2", "p1", 500_00, by=2)

    round, heard = played(table, short_round(bets={"p1": 100_00}, cards=TWO_HANDS, extra=[raised, more]))
    settlement = terminal.settle(round)["settlement"]

    assert set(heard) == {"recorded"}
    assert [(line["wager"], line["stake"]["amount"]) for line in settlement["lines"]] == [("w1", 100_00)]
    breaches = terminal.read(round)["breaches"]
    assert sorted(item["subject"] for item in breaches if item["kind"] == "late_bet") == ["w1", "w2"]


def test_a_ruling_that_nobody_signed_is_recorded_and_releases_nothing(settings: Any) -> None:
    settings.SIGNATURES = "required"
    table, terminal = a_table(camera=True)
    shorts, _ = DOUBTFUL["two reads of one card"]
    ruling = an_act("card_ruled", hand="p1", position=1, card="3S", reason="seen on video")
    before = money()

    round, heard = played(table, [*shorts, ruling])

    assert set(heard) == {"recorded"}
    assert terminal.settle(round)["reasons"] == ["reads_differ"]
    assert money() == before
    assert "unsigned_ruling" in {item["kind"] for item in terminal.read(round)["breaches"]}


def test_a_void_that_nobody_signed_voids_nothing(settings: Any) -> None:
    settings.SIGNATURES = "required"
    table, terminal = a_table()
    shorts = [
        *short_round(bets={"p1": 100_00}, cards=TWO_HANDS)[:-1],
        an_act("round_voided", reason="misdeal"),
    ]

    round, heard = played(table, [*shorts, an_act("round_closed")])

    assert set(heard) == {"recorded"}
    assert terminal.settle(round)["outcome"] == "settled"


@pytest.mark.parametrize(
    "said", ["net", "payout", "revision", "state", "gaming_day", "recorded_at", "house_net", "lines"]
)
def test_nobody_tells_the_service_what_a_round_is_worth(said: str) -> None:
    """7 against 6: the guest wins 100 baht, whatever is said while asking."""
    table, terminal = a_table()
    round, _ = played(table, short_round(bets={"p1": 100_00}, cards=TWO_HANDS))

    terminal.ask("POST", f"rounds/{round}/settle", {said: 7})
    terminal.settle(round)

    settlement = Settlement.objects.get()
    assert (settlement.revision, settlement.house_net, Line.objects.get().net) == (1, -100_00, 100_00)
