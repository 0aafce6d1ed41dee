"""What the house owes to be told: one message per event, one delivery per endpoint that chose its type."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from casino import events
from settlement import webhooks
from settlement.models import Delivery, Message
from settlement.webhooks import Owed
from tests.settlement.books import NOW, a_round, a_table, act, statements

pytestmark = pytest.mark.django_db


def test_a_message_is_written_in_the_bytes_that_every_receiver_gets() -> None:
    round = a_round(a_table())
    with act():
        [one] = webhooks.owe([Owed("round.settled", {"net": {"amount": 1, "currency": "THB"}}, round=round)])

    stored = Message.objects.get(pk=one)
    assert json.loads(stored.body) == {
        "type": "round.settled",
        "timestamp": NOW.isoformat(),
        "data": {"round": str(round), "net": {"amount": 1, "currency": "THB"}, "in_round": 1},
    }
    assert (stored.booked_at, stored.as_of_change) == (NOW, 0)
    assert Delivery.objects.count() == 0


def test_messages_of_a_round_are_numbered_without_gaps() -> None:
    table = a_table()
    first, second = a_round(table), a_round(table)
    for _ in range(2):
        with act():
            owed = [
                ("wallet.held", first),
                ("wallet.held", second),
                ("day.sealed", None),
                ("wallet.settled", first),
            ]
            webhooks.owe([Owed(type, {}, round=round) for type, round in owed])

    found = Message.objects.exclude(round=None).order_by("number").values_list("round", "number")
    assert [number for round, number in found if round == first] == [1, 2, 3, 4]
    assert [number for round, number in found if round == second] == [1, 2]
    assert set(Message.objects.filter(round=None).values_list("number", flat=True)) == {None}


def test_one_statement_for_one_message_and_for_a_hundred() -> None:
    round = a_round(a_table())
    seen: list[list[str]] = [[], []]
    for found, many in zip(seen, (1, 100), strict=True):
        with act(), statements(found):
            webhooks.owe([Owed("wallet.held", {"hold": str(uuid4())}, round=round)] * many)

    assert [len(found) for found in seen] == [1, 1]


def test_nothing_is_owed_outside_of_an_act() -> None:
    with pytest.raises(events.NoAct):
        webhooks.owe([Owed("day.sealed", {})])


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (Owed("round.lost", {}), ValueError),
        (Owed("day.sealed", {"win": 1.5}), TypeError),
        (Owed("day.sealed", {"lines": "x" * 20_000}), ValueError),
    ],
)
def test_what_no_receiver_could_read_is_not_owed(message: Owed, fault: type[Exception]) -> None:
    with act(), pytest.raises(fault):
        webhooks.owe([message])
