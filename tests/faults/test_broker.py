"""The broker forgets everything, goes away, and comes back empty. It only rang: nobody waits longer than a sweep."""

from __future__ import annotations

import contextlib

import pytest

from tests.faults import telling
from tests.faults.harness import House
from tests.faults.history import Act, Client
from tests.faults.load import Load
from tests.faults.proxy import Trap
from tests.faults.waiting import until
from tests.settlement.receiver import Receiver

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

MANY = 20
TIMES = 3
"""How often the broker goes away while a task is under way: what becomes of its worker depends on the moment."""


def signs_in_wrongly(stranger: Client) -> int:
    return stranger.sign_in(badge="D08", password="wrong").status


def is_signed_in(person: Client) -> bool:
    return person.once(Act("who am I", "GET", "session")).status == 200


def test_nothing_is_lost_with_the_broker_and_nobody_is_let_in(open_house: House, receiver: Receiver) -> None:
    house, since = open_house, telling.last_owed(open_house)
    supervisor = house.person("S01")
    stranger = house.client(who="stranger", address="127.0.0.2")
    while signs_in_wrongly(stranger) != 429:
        assert len(house.history.of(what="sign in")) < MANY, "nobody stops a stranger"

    with Load(terminals=house.terminals, cashiers=[]).running() as load:
        for process in house.family("worker"):
            process.suspend()
        house.deposit_many(50 - 2 * TIMES)
        with contextlib.closing(house.furnished.valkey.client()) as broker:
            lost = broker.llen("celery")
            broker.flushall()
            assert lost > 0, "the fault never struck: nothing was rung"
        for process in house.family("worker"):
            process.resume()
        for _ in range(TIMES):
            under_way = house.furnished.receivers[0].trap(Trap(at=b"POST /", answered=True))
            house.deposit_many(2)
            under_way.wait()
            house.furnished.valkey.stop()
            load.goes_on(steps=10)
            assert is_signed_in(supervisor)
            assert signs_in_wrongly(stranger) == 429
            under_way.let_go()
            house.furnished.valkey.start()
            load.goes_on()
    until(lambda: not house.waiting(), "the sweep drains what nobody was rung for")

    assert [name for name, process in house.processes.items() if process.poll() is not None] == []
    house.holds()
    telling.all_told(house, receiver, since=since)
    assert is_signed_in(supervisor)
    assert {call.outcome for call in house.history.of(what="deposits")} <= {"ok", "unknown"}
