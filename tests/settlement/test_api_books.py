"""Who sees which accounts, entries and journals."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from settlement.models import Account, Journal
from tests import world
from tests.rules.given import a_bet, short_round
from tests.settlement.doors import (
    Night,
    asked,
    numbered,
    signed_in,
    thb,
)
from tests.world import AtTable, House, RoundTold

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(staff: House, at: AtTable, night: Night) -> RoundTold:
    """A wallet's round is settled: there are wallets, a table's accounts, a vault and the outside world."""
    world.a_wallet(ref="A17", amount=600_00)
    bets = [a_bet("w1", "p1", 100_00, by="player:A17")]
    told = night.told(at, bets=bets)
    world.at_terminal(at).settle(told.id)
    return told


def codes(client: Client, **asked_for: Any) -> list[str]:
    status, page = asked(client, "accounts", **asked_for)
    assert status == 200
    return [account["code"] for account in page["accounts"]]


def test_whoever_may_see_what_is_expected_sees_every_account(played: RoundTold) -> None:
    client = signed_in(world.an_auditor())

    assert codes(client) == sorted(Account.objects.values_list("code", flat=True))
    assert codes(client, prefix="table:PD01:") == [
        "table:PD01:bank",
        "table:PD01:commission",
        "table:PD01:drop",
        "table:PD01:guests",
    ]


def test_without_that_duty_a_tables_figures_do_not_exist(played: RoundTold) -> None:
    for client in (
        signed_in(world.an_auditor(badge="A02", permissions=())),
        signed_in(world.a_manager(badge="M09")),
    ):
        seen = codes(client)
        assert "player:A17:wallet" in seen
        assert [code for code in seen if code.startswith(("table:", "suspense:", "variance:"))] == []
        for code in ("table:PD01:bank", "table:PD01:guests", "suspense:shortfall:PD01", "nobody"):
            assert asked(client, f"accounts/{code}")[0] == 404
            assert asked(client, f"accounts/{code}/entries")[0] == 404


def test_a_cashier_sees_wallets_and_the_cage_even_with_that_duty(played: RoundTold) -> None:
    client = signed_in(world.a_person(role="cashier", badge="C01", permissions=("see_expected",)))

    seen = codes(client)

    assert {code.split(":")[0] for code in seen} <= {"player", "cage", "external"}
    assert "player:A17:wallet" in seen
    assert asked(client, "accounts/table:PD01:bank")[0] == 404


def test_floor_staff_and_terminals_read_no_books(at: AtTable, played: RoundTold) -> None:
    for client in (signed_in(at.dealer), signed_in(at.supervisor)):
        assert asked(client, "accounts")[0] == 403
    assert world.at_terminal(at).ask("GET", "accounts/player:A17:wallet").status_code == 403


def test_a_wallet_shows_what_it_has_what_is_set_aside_and_how_it_came_there(
    at: AtTable, night: Night, played: RoundTold
) -> None:
    told = night.recording.round(table="PD01", number=2)
    shorts = short_round(bets=[a_bet("w1", "p1", 20_00, by="player:A17")], cards={})[:2]
    night.more(at, told, *numbered(shorts, 2))
    world.at_terminal(at).cover(told.id)
    client = signed_in(world.a_person(role="cashier", badge="C01"))

    assert asked(client, "accounts/player:A17:wallet") == (
        200,
        {
            "code": "player:A17:wallet",
            "kind": "wallet",
            "balance": thb(700_00),
            "held": thb(100_00),
            "available": thb(600_00),
            "version": 2,
        },
    )
    _, newest = asked(client, "accounts/player:A17:wallet/entries", limit=1)
    [entry] = newest["entries"]
    assert (entry["amount"], entry["balance_after"], entry["version"], entry["wager"]) == (
        thb(100_00),
        thb(700_00),
        2,
        "w1",
    )
    _, oldest = asked(client, "accounts/player:A17:wallet/entries", limit=1, cursor=newest["next"])
    assert (oldest["entries"][0]["version"], oldest["next"]) == (1, None)


def test_a_journal_that_touches_an_account_out_of_scope_does_not_exist(played: RoundTold) -> None:
    of_the_round, of_the_cage = Journal.objects.get(kind="round"), Journal.objects.get(kind="deposit")
    cashier = signed_in(world.a_person(role="cashier", badge="C01"))
    auditor = signed_in(world.an_auditor())

    assert [
        asked(client, f"journals/{journal.id}")[0]
        for client in (cashier, auditor)
        for journal in (of_the_round, of_the_cage)
    ] == [404, 200, 200, 200]
    assert asked(auditor, f"journals/{uuid.uuid4()}")[0] == 404


def test_a_journal_shows_entries_that_add_up_to_nothing(played: RoundTold) -> None:
    journal = Journal.objects.get(kind="round")

    _, shown = asked(signed_in(world.an_auditor()), f"journals/{journal.id}")

    assert (shown["kind"], shown["key"], shown["round"]) == ("round", f"round:{played.id}:1", played.id)
    assert [(entry["account"], entry["amount"], entry["wager"]) for entry in shown["entries"]] == [
        ("player:A17:wallet", thb(100_00), "w1"),
        ("table:PD01:bank", thb(-100_00), ""),
    ]


def test_accounts_are_listed_page_by_page(played: RoundTold) -> None:
    client = signed_in(world.an_auditor())
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        _, page = asked(client, "accounts", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [account["code"] for account in page["accounts"]]
        cursor = page["next"]

    assert seen == sorted(Account.objects.values_list("code", flat=True))
    assert [asked(client, "accounts", limit=limit)[0] for limit in ("0", "201", "-1", "many")] == [
        422,
        422,
        422,
        400,
    ]
