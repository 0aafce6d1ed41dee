"""What rounds, wallets and disputes owe to be told: in the act itself, once, and what a receiver needs to follow it."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from deploy.celery import app
from settlement import tasks
from settlement.models import Attempt, Delivery, Journal, Message
from settlement.webhooks import delivering, replaying, schedule
from tests.casino.telling import TWO_HANDS
from tests.settlement.books import taken_back
from tests.settlement.floor import NOW, a_table, a_wallet, act, corrected, covered, outcome
from tests.settlement.receiver import Received, receiving
from tests.settlement.telling import an_endpoint, at_home, delivered, due_of, owed, states
from tests.settlement.test_correct import said
from tests.settlement.test_tasks import a_worker

pytestmark = pytest.mark.django_db

WON = TWO_HANDS + "close"
LOST_BY_TONG = "lock\np1 9S 8D\ndealer 7C 7D\ndealer draws\ndealer.3 7H\nclose"


def told(round: UUID) -> list[tuple[str, dict[str, Any]]]:
    """The messages of a round in their order: type and what stands in ``data``, but for round and number."""
    found = Message.objects.filter(round=round).order_by("number")
    return [(message.type, without_place(message)) for message in found]


def without_place(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(message.body)["data"]
    assert data.pop("round") == str(message.round_id)
    assert data.pop("in_round") == message.number
    return data


def thb(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "THB"}


def test_a_round_at_the_table_owes_one_message() -> None:
    table = a_table()
    round_id = table.tell(WON)
    outcome(round_id)

    [(type, data)] = told(round_id)
    assert type == "round.settled"
    assert (data["table"], data["revision"], data["house_net"]) == ("PD01", 1, thb(-100_00))
    assert data["journal"] == str(Journal.objects.get(kind="round").id)


def test_a_wallet_is_told_what_was_set_aside_and_what_it_came_to() -> None:
    """A stake of 100: 500 are set aside; a tong takes all of it."""
    table, wallet = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell("bet w1 p1 100 account=player:A17")
    [hold] = covered(round_id).covered
    outcome(table.tell(LOST_BY_TONG, round=round_id))

    [(first, held), (second, _), (third, settled)] = told(round_id)
    assert (first, second, third) == ("wallet.held", "round.settled", "wallet.settled")
    assert held == {"account": wallet, "hold": str(hold.id), "wager": "w1", "amount": thb(500_00)}
    assert settled == {
        "account": wallet,
        "revision": 1,
        "journal": str(Journal.objects.get(kind="round").id),
        "net": thb(-500_00),
        "commission": thb(0),
        "lent": thb(0),
        "holds": [str(hold.id)],
        "wagers": [["w1", -500_00]],
    }


def test_a_wallet_that_was_lent_to_is_told_so() -> None:
    """350 in the wallet, 500 lost without cover: 150 are lent."""
    table = a_table()
    a_wallet("B08", 350)
    round_id = table.tell("bet w1 p1 100 account=player:B08\n" + LOST_BY_TONG)
    outcome(round_id)

    [_, (_, settled)] = told(round_id)
    assert (settled["net"], settled["lent"], settled["holds"]) == (thb(-500_00), thb(150_00), [])


def test_a_push_is_told_too_for_only_then_the_hold_is_over() -> None:
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = table.tell("bet w1 p1 100 account=player:A17")
    covered(round_id)
    outcome(table.tell("lock\np1 2S 4D\ndealer KC 6D\nclose", round=round_id))

    assert told(round_id)[-1][1]["net"] == thb(0)
    assert len(told(round_id)[-1][1]["holds"]) == 1


def test_a_bet_that_was_changed_tells_of_the_old_hold_and_the_new() -> None:
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = table.tell("bet w1 p1 100 account=player:A17")
    [old] = covered(round_id).covered
    table.tell("change w1 50", round=round_id)
    [new] = covered(round_id).covered

    [_, (freed, released), (held, again)] = told(round_id)
    assert (freed, released["holds"], released["reason"]) == ("wallet.released", [str(old.id)], "changed")
    assert (held, again["hold"], again["amount"]) == ("wallet.held", str(new.id), thb(250_00))


def test_a_held_round_is_told_with_its_reasons_and_told_once() -> None:
    table = a_table()
    round_id = table.tell("bet w1 p1 100\nlock\nclose")
    outcome(round_id)
    outcome(round_id)

    [(type, data)] = told(round_id)
    assert (type, data["reasons"]) == ("round.held", ["missing_card"])


def test_a_void_lets_go_of_what_was_set_aside() -> None:
    table, wallet = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell("bet w1 p1 100 account=player:A17")
    [hold] = covered(round_id).covered
    outcome(table.tell("lock\np1 3S\nvoid", round=round_id))

    [_, (first, data), (second, released)] = told(round_id)
    assert (first, data["outcome"]) == ("round.voided", "voided")
    assert second == "wallet.released"
    assert released == {"account": wallet, "holds": [str(hold.id)], "reason": "round_voided"}


def test_a_correction_tells_what_was_taken_back_and_what_came_of_it() -> None:
    table, wallet = a_table(), a_wallet("A17", 1_000)
    round_id = table.tell(WON.replace("bet w1 p1 100", "bet w1 p1 100 account=player:A17"))
    outcome(round_id)
    said(table, round_id, "rule dealer.2 8D")
    corrected(round_id)

    kinds = [type for type, _ in told(round_id)]
    assert kinds == [
        "round.settled",
        "wallet.settled",
        "round.corrected",
        "wallet.reversed",
        "wallet.settled",
    ]
    (_, first), _, (_, back), (_, again) = told(round_id)[1:]
    assert (first["account"], back["account"], again["account"]) == (wallet, wallet, wallet)
    assert back["reverses"] == first["journal"]
    assert back["amount"] == thb(-first["net"]["amount"])
    assert (again["revision"], again["net"]) == (2, thb(-100_00))


def test_what_is_taken_back_is_not_told() -> None:
    table = a_table()
    round_id = table.tell(WON)

    with taken_back():
        outcome(round_id)
        assert Message.objects.count() == 1

    assert Message.objects.count() == 0


# -- the bell ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_an_act_wakes_a_worker_that_delivers_it(
    dsn: str, broker: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    at_home(settings)
    monkeypatch.setenv("WEBHOOK_DEMONSTRATION", "1")
    with receiving() as receiver:
        an_endpoint(receiver)
        with a_worker(dsn):
            owed(3, now=timezone.now())
            until(lambda: states() == {"delivered": 3})

    assert set(receiver.effects.values()) == {1}


@pytest.mark.django_db(transaction=True)
def test_an_act_is_done_while_the_broker_is_away(
    dsn: str, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    at_home(settings)
    an_endpoint()
    with the_broker_at("redis://127.0.0.1:1/0"):
        owed(2)
    assert "nobody was woken" in caplog.text
    assert states() == {"due": 2}


@contextmanager
def the_broker_at(url: str) -> Iterator[None]:
    before = app.conf.broker_url
    try:
        _to(url)
        yield
    finally:
        _to(before)


def _to(url: str) -> None:
    app.conf.update(broker_url=url)
    app._after_fork()  # type: ignore[attr-defined]  # forgets the connections that it had


def until(done: Any) -> None:
    end = monotonic() + 60
    while not done():
        assert monotonic() < end, "the worker did not come to it"
        sleep(0.05)


def test_the_sweep_sends_what_nobody_rang_for(settings: Any) -> None:
    at_home(settings)
    with receiving() as receiver:
        an_endpoint(receiver)
        owed(5, now=timezone.now())
        assert tasks.deliver() == 5
        assert tasks.deliver() == 0

    assert states() == {"delivered": 5}


@pytest.mark.django_db(transaction=True)
def test_four_workers_at_once_send_each_message_once(settings: Any) -> None:
    """The control first: two hundred are due, and any one worker would take them all."""
    at_home(settings)
    with receiving() as receiver:
        endpoint, _ = an_endpoint(receiver)
        owed(200)
        assert len(delivering.claim(owner="control", now=NOW, room=200)) == 8
        Delivery.objects.update(state="due", lease_until=None)
        together = [threading.Thread(target=one_worker, args=(place,)) for place in range(4)]
        for thread in together:
            thread.start()
        for thread in together:
            thread.join()

    assert states(endpoint) == {"delivered": 200}
    assert len(receiver.requests) == 200
    assert Attempt.objects.count() == 200


def one_worker(place: int) -> None:
    try:
        while Delivery.objects.filter(state="due").exists():
            delivering.deliver(owner=f"worker {place}", clock=lambda: NOW, until=NOW + timedelta(seconds=1))
    finally:
        connection.close()


# -- what people complained of -------------------------------------------------------------------------------------


def test_receiver_down(settings: Any) -> None:
    """Five hundred for six hours: tries follow the published delays under one id, each with its own time; sending the
    range again has one effect."""
    at_home(settings)
    back_at = NOW + timedelta(hours=6)
    moment = NOW

    def behave(_: Received) -> str:
        return "ok" if moment >= back_at else "500"

    with receiving(behave) as receiver:
        endpoint, _ = an_endpoint(receiver)
        [message] = owed()
        tries: list[datetime] = []
        while states() == {"due": 1}:
            moment = max(moment, due_of(endpoint))
            tries.append(moment)
            delivered(at=moment)

        waits = [(later - sooner).total_seconds() for sooner, later in itertools.pairwise(tries)]
        for waited, delay in zip(waits, schedule.DELAYS[1:], strict=False):
            assert delay <= waited <= delay * 1.1
        assert len(tries) == 6, "0, 5 s, 5 min, 30 min, 2 h, and after 5 h more it is back"
        assert receiver.ids() == {str(message)}
        assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 6
        assert receiver.effects == {str(message): 1}

        with act(now=moment):
            again = replaying.those_between(
                endpoint=endpoint.id, since=NOW, until=NOW + timedelta(seconds=1), failures=False
            )
        assert again == 1
        delivered(at=moment)

    assert len(receiver.requests) == 7
    assert receiver.effects == {str(message): 1}
