"""A receiver fails in every way that there is, beside others that take what they are told."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.faults import telling
from tests.faults.harness import House
from tests.faults.history import Act
from tests.faults.waiting import until
from tests.settlement import receiver as receivers
from tests.settlement.receiver import Received, Receiver

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]

BADLY = ("slow", "500", "broken", "cut", "redirect", "garbage", "endless", "created")
TAKEN = {"broken", "endless", "created"}
"""Said with a status of 2xx: what follows does not unsay it."""
LAST = "endpoint4"
DISABLED = "SELECT 1 FROM settlement_endpoint WHERE id = %s AND state = 'disabled'"


def test_a_receiver_that_fails_in_every_way_delays_nobody_else(open_house: House, receiver: Receiver) -> None:
    house, since = open_house, telling.last_owed(open_house)
    proxy = house.furnished.receivers[1]
    said: dict[str, str] = {}
    ways: list[str] = []

    def behave(request: Received) -> str:
        """The first try of the first messages badly, each in another way; everything else as it should be."""
        if request.id in said or not ways:
            return "ok"
        return said.setdefault(request.id, ways.pop(0))

    with receivers.receiving(behave) as bad, receivers.receiving() as elsewhere:
        bad.redirect_to = elsewhere.url
        proxy.target, proxy.refusing = bad.port, True
        house.deposit_many(4)
        until(lambda: refused(house, since), "the receiver refuses a connection")
        proxy.refusing = False
        until(lambda: told(house, since)[LAST] == 4, "what was refused is told at the next try")
        ways.extend(BADLY)
        house.deposit_many(46)
        until(lambda: told(house, since)["endpoint1"] == 50, "a healthy receiver is told everything")
        assert told(house, since)[LAST] < 50, "the bad one kept nobody waiting only if it is not done yet"
        until(lambda: told(house, since)[LAST] == 50, "the bad one is told everything in the end")

        house.holds()
        telling.all_told(house, receiver, bad, since=since)
        assert list(said.values()) == list(BADLY)
        tries = telling.tries(bad)
        assert {id: tries[LAST, id] for id in said} == {
            id: 1 if way in TAKEN else 2 for id, way in said.items()
        }
        assert elsewhere.requests == []


def test_a_receiver_that_is_gone_is_told_nothing_until_two_people_open_it_again(
    open_house: House, receiver: Receiver
) -> None:
    house, proxy, since = open_house, open_house.furnished.receivers[1], telling.last_owed(open_house)
    ((endpoint,),) = house.rows("SELECT id FROM settlement_endpoint WHERE name = %s", LAST)
    with receivers.receiving("410") as gone:
        proxy.target = gone.port
        house.deposit_many(2)
        until(lambda: house.rows(DISABLED, endpoint), "the endpoint is disabled")
        heard = len(gone.requests)
        house.deposit_many(2)
        house.goes_on()
        assert len(gone.requests) == heard >= 1

    proxy.target = receiver.port
    manager = {"badge": "M01", "pin": house.furnished.people["M01"]["pin"]}
    administrator = house.person("X01")
    opening = Act("enable", "POST", f"webhooks/endpoints/{endpoint}/enable", manager)
    assert administrator.insist(opening).outcome == "ok"
    given_up = house.rows("SELECT id FROM settlement_delivery WHERE state = 'given_up'")
    assert given_up
    for (delivery,) in given_up:
        again = administrator.insist(Act("replay", "POST", f"webhooks/deliveries/{delivery}/replay"))
        assert again.outcome == "ok", again

    house.holds()
    telling.all_told(house, receiver, since=since)


def told(house: House, since: int) -> Counter[str]:
    """How much each endpoint was told since."""
    found = house.rows(
        "SELECT e.name, count(*) FROM settlement_delivery d JOIN settlement_endpoint e ON e.id = d.endpoint_id"
        " WHERE d.id > %s AND d.state = 'delivered' GROUP BY e.name", since,
    )  # fmt: skip
    return Counter(dict(found))


def refused(house: House, since: int) -> int:
    return house.number(
        "SELECT count(*) FROM settlement_attempt WHERE delivery_id > %s AND result <> 'delivered'", since
    )
