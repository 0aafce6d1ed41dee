"""The nine rounds that the recorded night left held, each decided once for either read: the lines that are known."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from audit import disputes
from audit.models import Decision, Dispute
from casino.models import Round
from settlement.models import Account
from tests.audit.disputing import Facts, decided, proposed, raised, ruled, seconded
from tests.database import House
from tests.rules.given import case
from tests.settlement.books import taken_back
from tests.settlement.floor import NOW, lines_of, settled, standing
from tests.settlement.test_settle_night import chunks, recorded_night

EXPECTED: dict[str, Any] = case("night.expected.json")
HELD = {key: told for key, told in EXPECTED["rounds"].items() if told["outcome"] == "held"}
DECISIONS = [
    pytest.param(key, told, card, id=f"{told['table']} {told['number']} {card}")
    for key, told in HELD.items()
    for card in told["if_ruled"]
]
THEN = NOW + timedelta(hours=2)


@pytest.fixture(scope="module")
def night(house: House, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database in which the night was recorded and settled."""
    with django_db_blocker.unblock():
        name = house.clone()
        before = house.use(name)
        try:
            recorded_night()
            for batch in chunks([UUID(key) for key in EXPECTED["rounds"]], 100):
                settled(*batch, now=NOW + timedelta(hours=1))
            yield
        finally:
            house.use(before)
            house.drop(name)


def balance() -> int:
    return sum(Account.objects.values_list("balance", flat=True))


def house_of(table: str) -> int:
    codes = [f"table:{table}:{kind}" for kind in ("bank", "commission")]
    return sum(Account.objects.filter(code__in=codes).values_list("balance", flat=True))


def disputed(key: str, told: dict[str, Any]) -> Dispute:
    slot = f"{told['hand']}.{told['position']}"
    return raised(UUID(key), subject=slot, reason_code="held", reason="", now=THEN)


def by_as_many_as_it_takes(dispute: Dispute, facts: Facts) -> Decision:
    """One auditor below the threshold, two above."""
    if not dispute.needs_two:
        return decided(dispute, facts, now=THEN)
    return seconded(proposed(dispute, facts, now=THEN), now=THEN)


def test_nine_rounds_wait_each_for_one_of_two_cards() -> None:
    assert len(HELD) == 9
    assert len(DECISIONS) == 18


@pytest.mark.parametrize(("key", "told", "card"), DECISIONS)
def test_a_held_round_decided_for_a_read_gives_what_is_known_of_it(
    night: None, key: str, told: dict[str, Any], card: str
) -> None:
    wanted = told["if_ruled"][card]
    slot = f"{told['hand']}.{told['position']}"
    with taken_back():
        before = house_of(told["table"])
        decision = by_as_many_as_it_takes(disputed(key, told), ruled(slot, card))
        if "held" in wanted:
            assert (decision.outcome, decision.settlement) == ("held", None)
            assert standing(UUID(key)) == f"held: {' '.join(wanted['held'])}"
            assert house_of(told["table"]) == before
        else:
            assert (decision.outcome, standing(UUID(key))) == ("settled", "settled")
            assert lines_of(UUID(key)) == wanted
            assert house_of(told["table"]) - before == -sum(wanted.values())
        assert balance() == 0
        assert not Round.objects.get(pk=key).in_dispute


@pytest.mark.parametrize(
    ("key", "told"), HELD.items(), ids=[f"{one['table']} {one['number']}" for one in HELD.values()]
)
def test_the_options_say_beforehand_what_each_read_gives(night: None, key: str, told: dict[str, Any]) -> None:
    with taken_back():
        found = disputes.options_of(UUID(key), subject=f"{told['hand']}.{told['position']}")
    said: dict[str, Any] = {}
    for option in found:
        (fact,) = option.facts
        if fact["kind"] == "card_ruled":
            nets = {line.wager: line.after for line in option.considered.lines}
            said[fact["card"]] = nets or {"held": list(option.considered.reasons)}
    assert said == told["if_ruled"]
