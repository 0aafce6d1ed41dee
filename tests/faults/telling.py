"""What receivers heard, compared with what the house owes them."""

from __future__ import annotations

from collections import Counter

from tests.faults.harness import House
from tests.settlement.receiver import Receiver

_OWED = """
SELECT e.name, d.message_id, d.state, d.attempts, m.booked_at
  FROM settlement_delivery d JOIN settlement_endpoint e ON e.id = d.endpoint_id
  JOIN settlement_message m ON m.id = d.message_id WHERE d.id > %s
"""


def last_owed(house: House) -> int:
    """The newest delivery so far: what a case owes comes after it."""
    return house.number("SELECT coalesce(max(id), 0) FROM settlement_delivery")


def tries(receiver: Receiver) -> Counter[tuple[str, str]]:
    """How often each endpoint was sent each message."""
    return Counter((request.path.strip("/"), request.id) for request in receiver.requests)


def all_told(house: House, *receivers: Receiver, since: int) -> None:
    """Everything owed since was delivered, came at least once, in the same bytes each time, and took effect once."""
    owed = {(name, str(message)): state for name, message, state, _, _ in house.rows(_OWED, since)}
    assert set(owed.values()) == {"delivered"}
    came: Counter[tuple[str, str]] = sum(map(tries, receivers), Counter())
    assert set(owed) <= set(came), f"{len(set(owed) - set(came))} never came"
    bodies = {(request.id, request.body) for receiver in receivers for request in receiver.requests}
    assert len(bodies) == len({id for id, _ in bodies})
    for receiver in receivers:
        assert set(receiver.effects.values()) == {1}
