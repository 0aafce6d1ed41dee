"""A process dies, or loses its connection, exactly before or after a COMMIT. Whoever did not hear asks again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest

from tests.faults import load, telling
from tests.faults.harness import House
from tests.faults.history import Act, Call, Client
from tests.faults.load import Load
from tests.faults.proxy import Trap
from tests.faults.waiting import until
from tests.settlement.receiver import Receiver

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

WEB, WORKER = b"pokdeng-web", b"pokdeng-worker"
EVENTS = "SELECT count(*) FROM casino_roundevent WHERE round_id = %s"
REVISIONS = "SELECT count(*) FROM settlement_settlement WHERE round_id = %s"


@contextmanager
def everybody_else(house: House) -> Iterator[Load]:
    """The others at work: the last cashier system and the second terminal are the ones that something happens to."""
    others = Load(terminals=[house.terminals[0], house.terminals[2]], cashiers=house.cashiers[:1])
    with others.running() as busy:
        yield busy
        busy.goes_on()


def struck(house: House, client: Client, act: Act, trap: Trap, *, kills: bool) -> Call:
    """Ask once; whoever is about to answer is killed in the trap, or loses the connection to the database."""
    house.to_database.trap(trap)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(client.once, act)
        port = trap.wait()
        if kills:
            house.whose(port).kill()
        trap.cut()
        call = asked.result()
    assert call.outcome == "unknown", call
    return call


@pytest.mark.parametrize("what", ["deposits", "withdrawals"])
@pytest.mark.parametrize(
    ("answered", "kills"), [(False, True), (True, True), (True, False)], ids=["before", "after", "cut"]
)
def test_money_moves_once_whenever_the_web_is_struck(
    open_house: House, what: str, answered: bool, kills: bool
) -> None:
    house, cashier = open_house, open_house.cashiers[-1]
    act = cashier.next(what)
    with everybody_else(house):
        struck(
            house,
            cashier.client,
            act,
            Trap(behind=(act.key.encode(),), of=WEB, answered=answered),
            kills=kills,
        )
        there = (
            until(lambda: house.moved(act), "what was committed is there") if answered else house.moved(act)
        )
        assert len(there) == int(answered)
        again = cashier.client.insist(act)

    assert (again.outcome, again.replayed) == ("ok", answered)
    assert house.moved(act) == [(again.answer["journal"], act.body["amount"]["amount"])]
    house.holds()


@pytest.mark.parametrize(
    ("answered", "kills"), [(False, True), (True, True), (True, False)], ids=["before", "after", "cut"]
)
def test_a_round_is_recorded_and_settled_once_whenever_the_web_is_struck(
    open_house: House, answered: bool, kills: bool
) -> None:
    house, terminal = open_house, open_house.terminals[1]
    told = terminal.deal()
    ((_, sending),) = terminal.batches(told)
    with everybody_else(house):
        recorded = Trap(behind=(told.id.encode(), b"casino_roundevent"), of=WEB, answered=answered)
        struck(house, terminal.client, sending, recorded, kills=kills)
        assert house.number(EVENTS, told.id) == (len(told.events) if answered else 0)
        again = terminal.client.insist(sending)
        outcomes = {event["outcome"] for event in again.answer["events"]}
        assert outcomes == {"duplicate" if answered else "recorded"}
        told.closed = True

        second = terminal.deal_and_send()
        settled = Trap(behind=(second.id.encode(), b"settlement_settlement"), of=WEB, answered=answered)
        struck(house, terminal.client, load.settling(second.id), settled, kills=kills)
        assert terminal.settle(second).answer["outcome"] == "settled"

    assert house.number(EVENTS, told.id) == len(told.events)
    assert house.number(REVISIONS, second.id) == 1
    house.holds()


def test_control_without_the_same_key_it_is_paid_twice(open_house: House) -> None:
    """The fault is real: who asks again under another key, as who has no keys would, moves the money twice."""
    house, cashier = open_house, open_house.cashiers[-1]
    act = cashier.next("deposits", wallet="W9")
    cashier.acts.remove(act)
    act = replace(act, body=act.body | {"till": "T9"})
    struck(house, cashier.client, act, Trap(behind=(act.key.encode(),), of=WEB, answered=True), kills=False)
    assert cashier.client.insist(replace(act, key=str(uuid4()))).outcome == "ok"

    assert len(house.moved(act)) == 2
    house.holds()


def test_a_worker_that_never_hears_of_its_commit_settles_and_tells_once(
    open_house: House, receiver: Receiver
) -> None:
    house, since = open_house, telling.last_owed(open_house)
    terminal = house.terminals[1]
    with everybody_else(house):
        told = terminal.deal()
        settled = Trap(behind=(told.id.encode(), b"settlement_settlement"), of=WORKER, answered=True)
        house.to_database.trap(settled)
        terminal.send(told)
        settled.wait()
        assert house.is_settled(told.id)
        settled.cut()
        finished = house.to_database.trap(
            Trap(behind=(b"INSERT INTO settlement_attempt",), of=WORKER, answered=True)
        )
        finished.wait()
        finished.cut()

    house.holds()
    assert house.number(REVISIONS, told.id) == 1
    telling.all_told(house, receiver, since=since)
