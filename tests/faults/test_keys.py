"""Many ask for the same at once, and others lock what they need the other way round. Each thing is done once."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import psycopg
import pytest

from tests.faults import load
from tests.faults.harness import House
from tests.faults.history import Act, Call, Client
from tests.faults.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

MANY, CLIENTS = 50, 16
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
WAITING = "SELECT 1 FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"


def at_once(house: House, token: str, acts: Sequence[Act]) -> list[Call]:
    """Each of these acts by a client of its own, all at the same time, asked until the answer is known."""
    clients = [house.client(token, who=f"one of {len(acts)}") for _ in acts]
    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(lambda pair: pair[0].insist(pair[1]), zip(clients, acts, strict=True)))


def test_one_key_fifty_times_at_once_moves_money_once(open_house: House) -> None:
    house, cashier = open_house, open_house.cashiers[0]
    act = cashier.next("deposits")
    calls = at_once(house, house.furnished.keys[cashier.system], [act] * MANY)

    assert {call.outcome for call in calls} == {"ok"}
    assert all(call.answer == calls[0].answer for call in calls)
    assert [call.replayed for call in calls].count(False) == 1
    assert house.moved(act) == [(calls[0].answer["journal"], act.body["amount"]["amount"])]
    house.holds()


def test_one_batch_fifty_times_at_once_is_recorded_once_and_one_round_settled_once(open_house: House) -> None:
    house, terminal = open_house, open_house.terminals[1]
    token = house.furnished.tokens[f"{terminal.table}-terminal"]
    told = terminal.deal()
    ((_, sending),) = terminal.batches(told)
    calls = at_once(house, token, [sending] * MANY)
    outcomes = [{event["outcome"] for event in call.answer["events"]} for call in calls]
    assert sorted(outcomes, key=str) == [{"duplicate"}] * (MANY - 1) + [{"recorded"}]
    told.closed = True

    settled = at_once(house, token, [load.settling(told.id)] * MANY)
    assert all(call.answer == settled[0].answer for call in settled)
    told.settled = settled[0].answer
    assert house.number("SELECT count(*) FROM settlement_settlement WHERE round_id = %s", told.id) == 1
    house.holds()


def test_accounts_locked_the_other_way_round_cost_a_retry_and_no_act(open_house: House) -> None:
    """Somebody from outside locks two accounts against the order of the house, while sixteen clients send fifty keys
    between them, each in an order of its own."""
    house, cashier = open_house, open_house.cashiers[0]
    acts = [cashier.next("deposits", wallet="W1") for _ in range(MANY)]
    chance = random.Random(house.seed)
    queues = [chance.sample(acts, 10) for _ in range(CLIENTS - 5)] + [
        acts[at : at + 10] for at in range(0, 50, 10)
    ]
    before = house.number(DEADLOCKS)
    clients = [house.client(house.furnished.keys[cashier.system], who=f"client {n}") for n in range(CLIENTS)]

    def send(client: Client, queue: Sequence[Act]) -> None:
        for act in queue:
            assert client.insist(act).outcome == "ok"

    with ThreadPoolExecutor(CLIENTS) as threads:
        sent = [threads.submit(send, *pair) for pair in zip(clients, queues, strict=True)]
        until(
            lambda: _crossed(house) or all(one.done() for one in sent),
            "an act and somebody else lock each other",
        )
        for one in sent:
            one.result()

    until(lambda: house.number(DEADLOCKS) > before, "the database counts the deadlock")
    assert [len(house.moved(act)) for act in acts] == [1] * MANY
    house.holds()


def _crossed(house: House) -> bool:
    """Lock the later of two accounts, wait until an act that has the earlier one waits for it, then want that too: the
    database ends one of the two. Say whether it came to that."""
    codes = ["player:W1:wallet", "external:cash:C1"]
    first, second = (
        id
        for (id,) in house.rows("SELECT id FROM settlement_account WHERE code = ANY (%s) ORDER BY id", codes)
    )
    lock = "SELECT 1 FROM settlement_account WHERE id = %s FOR UPDATE"
    with psycopg.connect(house.furnished.postgres.url("postgres", database=house.database)) as outsider:
        outsider.execute(lock, [second])
        end = monotonic() + 1.0  # within the time that the house waits for a lock
        while not house.rows(WAITING, outsider.info.backend_pid):
            if monotonic() > end:
                outsider.rollback()
                return False
        with contextlib.suppress(psycopg.errors.DeadlockDetected):
            outsider.execute(lock, [first])
        outsider.rollback()
    return True
