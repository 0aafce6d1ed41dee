"""Workers die, freeze beyond their leases, and are woken too often. What is owed is told, and written down once."""

from __future__ import annotations

import pytest

from tests.faults import telling
from tests.faults.harness import House
from tests.faults.load import Load
from tests.faults.proxy import Trap
from tests.faults.waiting import until
from tests.settlement.receiver import Receiver

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

WORKER = b"pokdeng-worker"
AGAIN = "SELECT count(*) FROM settlement_delivery WHERE id > %s AND attempts > 1 AND state = 'delivered'"


def recording(house: House) -> Load:
    return Load(terminals=house.terminals, cashiers=[])


def test_a_child_killed_before_it_wrote_down_its_tries_costs_a_lease(
    open_house: House, receiver: Receiver
) -> None:
    house, since = open_house, telling.last_owed(open_house)
    trap = house.to_database.trap(Trap(behind=(b"INSERT INTO settlement_attempt",), of=WORKER))
    with recording(house).running() as load:
        house.deposit_many(50)
        house.whose(trap.wait()).kill()
        trap.cut()
        load.goes_on()
        until(lambda: house.number(AGAIN, since), "what the dead child had claimed is told by another")

    house.holds()
    telling.all_told(house, receiver, since=since)
    assert max(telling.tries(receiver).values()) > 1


def test_a_whole_worker_killed_in_a_chunk_goes_on_where_it_was(open_house: House, receiver: Receiver) -> None:
    house, since = open_house, telling.last_owed(open_house)
    trap = house.to_database.trap(Trap(behind=(b'INSERT INTO "settlement_result"',), of=WORKER))
    with recording(house).running() as load:
        house.deposit_many(20)
        run = house.begin_run()
        trap.wait()
        house.kill("worker")
        trap.cut()
        house.deposit_many(30)
        load.goes_on()
        house.open(["worker"])
        until(lambda: house.is_done(run), "the run is done")

    again = "SELECT count(*) FROM settlement_chunk WHERE run_id = %s AND attempts > 1"
    assert house.number(again, run) >= 1
    house.agrees(run)
    house.holds()
    telling.all_told(house, receiver, since=since)


def test_the_same_bell_three_times_is_one_delivery_and_one_result(
    open_house: House, receiver: Receiver
) -> None:
    house, since = open_house, telling.last_owed(open_house)
    for process in house.family("worker"):
        process.suspend()
    house.deposit_many(50)
    run = house.begin_run()
    for task in ("settlement.deliver", "settlement.reconcile", "settlement.sweep"):
        house.ring(task, times=3)
    for process in house.family("worker"):
        process.resume()
    until(lambda: house.is_done(run), "the run is done")

    house.holds()
    telling.all_told(house, receiver, since=since)
    assert set(telling.tries(receiver).values()) == {1}
    house.agrees(run)


def test_a_worker_that_was_frozen_beyond_its_lease_writes_nothing_of_its_deliveries(
    open_house: House, receiver: Receiver
) -> None:
    house, since = open_house, telling.last_owed(open_house)
    answered = house.furnished.receivers[0].trap(Trap(at=b"POST /", answered=True))
    house.deposit_many(12)
    child = house.whose(answered.wait())
    late = Trap(behind=(b"INSERT INTO settlement_attempt",), port=house.to_the_database(child), answered=True)
    child.suspend()
    answered.let_go()
    path, message = _named(answered.heard)
    found = "SELECT d.id FROM settlement_delivery d JOIN settlement_endpoint e ON e.id = d.endpoint_id"
    delivery = house.number(f"{found} WHERE e.name = %s AND d.message_id = %s", path, message)
    told = "SELECT count(*) FROM settlement_delivery WHERE id = %s AND state = 'delivered' AND attempts > 1"
    until(lambda: house.number(told, delivery), "another worker told it again")
    house.to_database.trap(late)
    child.resume()
    late.wait()
    late.let_go()

    house.holds()
    telling.all_told(house, receiver, since=since)
    tries = house.rows("SELECT number, result FROM settlement_attempt WHERE delivery_id = %s", delivery)
    assert tries == [(2, "delivered")]
    assert telling.tries(receiver)[path, message] == 2


def _named(heard: bytes) -> tuple[str, str]:
    """The endpoint that a request went to, and its message."""
    first, *lines = heard.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return first.split(" ")[1].strip("/"), headers["webhook-id"]


def test_a_worker_that_was_frozen_beyond_its_lease_writes_nothing_of_its_chunk(open_house: House) -> None:
    house = open_house
    house.deposit_many(10)
    compared = house.to_database.trap(Trap(behind=(b"READ ONLY", b"settlement_"), of=WORKER))
    run = house.begin_run()
    child = house.whose(compared.wait())
    late = Trap(at=b"UPDATE settlement_chunk SET state = 'done'", port=compared.client_port, answered=True)
    child.suspend()
    compared.let_go()
    again = "SELECT id FROM settlement_chunk WHERE run_id = %s AND attempts > 1 AND state = 'done'"
    ((chunk,),) = until(lambda: house.rows(again, run), "another worker compared it again")
    house.to_database.trap(late)
    child.resume()
    late.wait()
    late.let_go()
    until(lambda: house.is_done(run), "the run is done")

    house.holds()
    assert house.rows("SELECT attempt FROM settlement_result WHERE chunk_id = %s", chunk) == [(2,)]
    house.agrees(run)
