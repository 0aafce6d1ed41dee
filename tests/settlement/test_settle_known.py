"""Every known round, from the reports of its table to the balances of its accounts."""

from __future__ import annotations

from typing import Any

import pytest

from settlement import settling
from settlement.models import Journal, Line, Settlement
from tests.rules.given import case, told
from tests.rules.test_rounds import COMPARED
from tests.settlement import floor
from tests.settlement.floor import AtTable

pytestmark = pytest.mark.django_db

ALLOWANCE = 1_000_000
"""What a guest's wallet has where the case does not say (satang)."""


def owners(known: dict[str, Any]) -> dict[str, str]:
    """The account that each wager's net goes to."""
    found = {}
    for event in known["events"]:
        if event["type"] in ("bet_placed", "bet_ruled"):
            whose = event["data"]["owner"]
            found[event["data"]["wager"]] = (
                f"{whose['account']}:wallet" if "account" in whose else "table:PD01:guests"
            )
    return found


def at_its_table(known: dict[str, Any]) -> AtTable:
    with_camera = any(event.get("from") == "camera" for event in known["events"])
    sheet = known["sheet"]
    return floor.a_table(preset=sheet["preset"], camera=with_camera, **sheet["options"])


def paid_in(known: dict[str, Any]) -> dict[str, int]:
    """Wallets of the case with what was paid into them."""
    amounts = {f"{account}:wallet": amount for account, amount in known.get("wallets", {}).items()}
    for account in owners(known).values():
        if account.startswith("player:"):
            amounts.setdefault(account, ALLOWANCE)
    for account, amount in amounts.items():
        floor.paid_in(account.split(":")[1], amount)
    return amounts


def stored(settlement: Settlement, *, banked: bool) -> dict[str, Any]:
    """A settlement as it lies in the books, in the words of the cases."""
    lines: dict[str, Any] = {}
    found: dict[str, Any] = {"lines": lines, "house_net": settlement.house_net}
    for line in Line.objects.filter(settlement=settlement).order_by("ordinal"):
        if line.wager == "bank":
            found["bank"] = {
                "account": line.owner_ref,
                "held": line.stake,
                "result": line.gross,
                "commission": line.commission,
                "net": line.net,
            }
            continue
        lines[line.wager] = {
            "hand": [line.hand_kind, line.hand_taem, line.hand_deng],
            "dealer": [line.dealer_kind, line.dealer_taem, line.dealer_deng],
            "dealer_cards": line.dealer_cards,
            **{name: getattr(line, name) for name in ("step", "multiple", "gross", "commission", "net")},
        }
        if banked:
            lines[line.wager]["uncovered"] = line.uncovered
    return found


def expected_money(known: dict[str, Any], before: dict[str, int]) -> dict[str, int]:
    """What every account must hold, worked out from the lines that the case gives."""
    moved = dict(before) | {"external:cash:C1": -sum(before.values())}
    expect = known["expect"]
    whose = owners(known)

    def add(account: str, amount: int) -> None:
        moved[account] = moved.get(account, 0) + amount

    for wager, line in expect.get("lines", {}).items():
        add(whose[wager], line["net"])
        add("table:PD01:bank", line.get("uncovered", 0) - line["gross"])
        add("table:PD01:commission", line["commission"])
    if "bank" in expect:
        add(f"{expect['bank']['account']}:wallet", expect["bank"]["net"])
        add("table:PD01:bank", -expect["bank"]["result"])
        add("table:PD01:commission", expect["bank"]["commission"])
    assert sum(moved.values()) == 0
    return {account: amount for account, amount in sorted(moved.items()) if amount}


@pytest.mark.parametrize("known", case("rounds.json")["rounds"], ids=lambda known: known["name"])
def test_a_known_round_is_recorded_judged_and_posted(known: dict[str, Any]) -> None:
    table, before = at_its_table(known), paid_in(known)
    expect = known["expect"]

    round_id = table.tell(told(known["events"])[0])
    (answer,) = floor.settled(round_id)

    effective = settling.effective(round_id)
    found: dict[str, Any] = {"outcome": answer.outcome} | (
        {"because": list(answer.reasons)} if answer.reasons else {}
    )
    if effective is not None and effective.outcome == "settled":
        found |= stored(effective, banked="wallets" in known)
    elif effective is not None:
        found |= {"lines": {}, "house_net": effective.house_net}
    flags = {finding.kind for finding in settling.reviewed(round_id, effective)[1]} & COMPARED
    assert found | {"flags": sorted(flags)} == expect | {"flags": sorted(expect["flags"])}
    money = floor.money()
    assert money == expected_money(known, before)
    assert money.get(table.bank, 0) + money.get(table.commission, 0) == expect.get("house_net", 0)
    assert floor.holds() == {}
    if expect["outcome"] == "held":
        assert effective is None
        assert Journal.objects.filter(kind="round").count() == 0
        assert floor.standing(round_id) == f"held: {' '.join(expect['because'])}"
