"""Decks in play: a card that is gone stops its table until somebody has counted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from audit import analytics
from audit.models import Flag, LogEntry
from casino import cards as deck
from casino import tables
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import settling
from settlement.rules import hands
from tests.casino import telling
from tests.casino.floor import statements
from tests.settlement.floor import NOW, AtTable, a_table, a_wallet, act, outcome

pytestmark = pytest.mark.django_db

KING = deck.parse("KD")
GUESTS = 5


def dealt(chance: random.Random, *, without: Sequence[int] = (), drawing: bool = True) -> str:
    """A round of five guests and the dealer, 18 cards where everybody draws, in which nobody has a pok."""
    while True:
        left = chance.sample([card for card in deck.DECK if card not in without], 3 * (GUESTS + 1))
        rows = [left[3 * hand : 3 * hand + 3] for hand in range(GUESTS + 1)]
        if not any(hands.is_pok(row[:2]) for row in rows):
            break
    names = [*(f"p{hand}" for hand in range(1, GUESTS + 1)), "dealer"]
    lines = [f"bet w{hand} p{hand} 100" for hand in range(1, GUESTS + 1)]
    lines += ["lock", *(f"{name} {'draws' if drawing else 'stays'}" for name in names)]
    for name, row in zip(names, rows, strict=True):
        lines.append(f"{name} {' '.join(deck.text(card) for card in (row if drawing else row[:2]))}")
    return "\n".join([*lines, "close"])


def plays(table: AtTable, text: str, *, at: datetime, named: str = "D-7") -> UUID:
    """Record and settle one round with a deck of this name."""
    told = telling.events_of(text)[0]
    opening = replace(told[0], data=dict(told[0].data) | ({"deck": named} if named else {}))
    round_id = table.tell([opening, *told[1:]], at=at)
    assert outcome(round_id, now=at + timedelta(seconds=5)) == "settled"
    return round_id


def watched(now: datetime) -> list[str]:
    with act(now=now):
        return analytics.watch(now=now)


def an_evening(
    table: AtTable, rounds: int, *, chance: random.Random, first: int = 0, **more: Any
) -> list[UUID]:
    return [
        plays(table, dealt(chance, without=[KING]), at=NOW + timedelta(minutes=first + number), **more)
        for number in range(rounds)
    ]


def test_short_deck() -> None:
    table, chance = a_table(), random.Random(11)
    before = plays(table, dealt(chance, without=[KING]), at=NOW - timedelta(minutes=1), named="D-6")
    played = an_evening(table, 18, chance=chance)
    assert watched(NOW + timedelta(minutes=18)) == [], "odds of any card are still above the limit"
    played += an_evening(table, 2, chance=chance, first=18)

    assert watched(NOW + timedelta(minutes=20)) == ["PD01"]

    flag = Flag.objects.get(kind="short_deck")
    assert flag.subject == f"rounds/{played[0]}#KD"
    assert (flag.round_id, flag.table) == (played[-1], table.table)
    assert flag.detail == {
        "card": "KD", "rounds": 20, "odds": "0.0002", "any": "0.011", "first": 2, "last": 21, "stopped": 1,
    }  # fmt: skip
    stopped = Table.objects.get()
    assert (stopped.state, stopped.stop_reason) == ("stopped", "count_deck")
    assert {
        entry.action for entry in LogEntry.objects.filter(action__in=["flag.raised", "table.stopped"])
    } == {
        "flag.raised",
        "table.stopped",
    }
    listed = the_list_of(played[3])
    assert [one["id"] for one in listed["rounds"]] == [str(one) for one in played], (
        "the deck before is another"
    )
    assert str(before) not in str(listed)
    assert [len(one["wagers"]) for one in listed["rounds"]] == [GUESTS] * 20
    assert sum(wager["net"]["amount"] for one in listed["rounds"] for wager in one["wagers"]) == -sum(
        one["house_net"]["amount"] for one in listed["rounds"]
    )


def the_list_of(round_id: UUID, *, who: str = "auditor") -> dict[str, Any]:
    client = Client()
    person, _ = Person.objects.get_or_create(badge=who, defaults={"display_name": who, "role": who})
    client.force_login(person)
    answer = client.get(f"/api/v1/analytics/decks/{round_id}/rounds?limit=200")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_while_a_deck_waits_to_be_counted_no_bets_are_covered() -> None:
    table, chance = a_table(), random.Random(11)
    an_evening(table, 20, chance=chance)
    watched(NOW + timedelta(minutes=20))
    a_wallet("A17", 5_000)
    waiting = table.tell("bet w1 p1 100 account=player:A17", at=NOW + timedelta(minutes=21))
    with pytest.raises(Refusal, match="table_stopped"), act(now=NOW + timedelta(minutes=21)):
        settling.cover(waiting)


def test_once_counted_the_deck_begins_anew_and_its_list_ends() -> None:
    table, chance = a_table(), random.Random(11)
    played = an_evening(table, 20, chance=chance)
    assert watched(NOW + timedelta(minutes=20)) == ["PD01"]
    with act(now=NOW + timedelta(minutes=25)):
        tables.resume(table=Table.objects.get())
    on = an_evening(table, 3, chance=chance, first=30)

    assert watched(NOW + timedelta(minutes=33)) == []
    assert Flag.objects.filter(kind="short_deck").count() == 1
    assert [one["id"] for one in the_list_of(played[0])["rounds"]] == [str(one) for one in played]
    assert [one["id"] for one in the_list_of(on[0])["rounds"]] == [str(one) for one in on]


def test_what_was_played_before_a_count_does_not_speak_against_the_deck_after_it() -> None:
    table, chance = a_table(), random.Random(11)
    an_evening(table, 12, chance=chance)
    with act(now=NOW + timedelta(minutes=12)):
        tables.stop(table=Table.objects.get(), reason="count_deck")
        tables.resume(table=Table.objects.get())
    an_evening(table, 12, chance=chance, first=13)
    assert watched(NOW + timedelta(minutes=25)) == []


def test_a_table_that_went_on_for_another_reason_has_not_counted_its_deck() -> None:
    table, chance = a_table(), random.Random(11)
    an_evening(table, 10, chance=chance)
    with act(now=NOW + timedelta(minutes=10)):
        tables.stop(table=Table.objects.get(), reason="investigation")
        tables.resume(table=Table.objects.get())
    an_evening(table, 10, chance=chance, first=11)
    assert watched(NOW + timedelta(minutes=21)) == ["PD01"]


def test_another_deck_is_not_blamed_for_what_the_one_before_hid() -> None:
    table, chance = a_table(), random.Random(11)
    an_evening(table, 15, chance=chance, named="D-6")
    an_evening(table, 10, chance=chance, first=15, named="D-7")
    assert watched(NOW + timedelta(minutes=25)) == []


def test_where_no_deck_is_named_nobody_knows_when_another_was_taken_and_no_table_stops() -> None:
    table, chance = a_table(), random.Random(11)
    an_evening(table, 20, chance=chance, named="")
    assert watched(NOW + timedelta(minutes=20)) == []


def test_asked_twice_the_alarm_is_raised_once() -> None:
    table, chance = a_table(), random.Random(11)
    an_evening(table, 20, chance=chance)
    assert watched(NOW + timedelta(minutes=20)) == ["PD01"]
    with act(now=NOW + timedelta(minutes=20)):
        Table.objects.filter(pk=table.table.pk).update(state="open", stop_reason="")
    assert watched(NOW + timedelta(minutes=20)) == []
    assert (Flag.objects.count(), LogEntry.objects.filter(action="flag.raised").count()) == (1, 1)


def test_a_deck_that_shows_all_its_cards_stops_nobody() -> None:
    table, chance = a_table(), random.Random(3)
    for number in range(30):
        plays(table, dealt(chance), at=NOW + timedelta(minutes=number))
        assert watched(NOW + timedelta(minutes=number + 1)) == []


def test_a_look_costs_one_statement_while_nothing_is_amiss() -> None:
    for code in ("PD01", "PD02"):
        table, chance = a_table(code), random.Random(3)
        for number in range(3):
            plays(table, dealt(chance), at=NOW + timedelta(minutes=number))
    with statements() as ran:
        assert watched(NOW + timedelta(minutes=4)) == []
    assert len(ran) == 1
