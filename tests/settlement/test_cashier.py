"""Wallets at the cage: money paid in and out, once, and never more than is there."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import LogEntry
from casino.models import StoredAnswer
from settlement import cashier, days
from settlement.models import Account, CashAct, Entry, Journal, Message
from tests import world
from tests.casino.floor import statements, told
from tests.rules.given import a_bet, an_act, short_round
from tests.settlement.cage import AT, AtCage, a_cashier, a_key, paid, said
from tests.settlement.doors import body_of, no_float, thb
from tests.settlement.floor import holds, money

pytestmark = pytest.mark.django_db

WALLET = "player:A17:wallet"
OUTSIDE = "external:cash:C1"
OPENED = an_act("round_opened", number=1, direction="clockwise")


@pytest.fixture
def cage() -> AtCage:
    return AtCage(a_cashier())


# -- in and out --------------------------------------------------------------------------------------------


def test_a_deposit_opens_the_wallet_and_is_answered_with_what_it_has(cage: AtCage) -> None:
    answer = cage.deposits("A17", 1_000_00)

    assert answer.status_code == 201, answer.content
    journal, act = Journal.objects.get(), CashAct.objects.get()
    assert json.loads(answer.content, parse_float=no_float) == {
        "journal": str(journal.id),
        "account": WALLET,
        "balance": thb(1_000_00),
        "held": thb(0),
        "available": thb(1_000_00),
        "version": 1,
        "gaming_day": days.of(timezone.now()).isoformat(),
        "recorded_at": journal.recorded_at.isoformat(),
    }
    assert money() == {OUTSIDE: -1_000_00, WALLET: 1_000_00}
    assert (journal.kind, act.journal_id, act.direction, act.means) == ("deposit", journal.id, "in", "cash")
    assert (act.person, act.cage, act.till, act.document) == ("A17", "C1", "T3", "CR-2026-001182")
    assert (act.acted_by, act.approved_by, act.happened_at.isoformat()) == (
        cage.person,
        None,
        AT[:-1] + "+00:00",
    )
    entry = LogEntry.objects.get(action="wallet.deposited")
    assert (entry.person, entry.subject) == (act.acted_by_id, f"accounts/{WALLET}")
    assert told(entry)["journal"]["postings"] == [[OUTSIDE, -1_000_00, ""], [WALLET, 1_000_00, ""]]


def test_a_withdrawal_goes_back_the_way_the_deposit_came(cage: AtCage) -> None:
    cage.deposits("A17", 1_000_00)

    answer = cage.withdraws("A17", 400_00)

    assert (answer.status_code, answer.json()["balance"], answer.json()["version"]) == (201, thb(600_00), 2)
    assert money() == {OUTSIDE: -600_00, WALLET: 600_00}
    assert list(CashAct.objects.order_by("id").values_list("kind", "direction")) == [
        ("deposit", "in"),
        ("withdrawal", "out"),
    ]


def test_what_comes_otherwise_than_in_cash_is_posted_apart(cage: AtCage) -> None:
    cage.deposits("A17", 1_000_00, means="transfer")
    assert money() == {"external:transfer:C1": -1_000_00, WALLET: 1_000_00}


def test_a_wallet_shows_what_it_has_and_one_that_is_not_there_does_not_exist(cage: AtCage) -> None:
    world.a_wallet(ref="A17", amount=350_00)

    answer = cage.asks("GET", "wallets/A17")

    assert body_of(answer) == {
        "account": WALLET,
        "balance": thb(350_00),
        "held": thb(0),
        "available": thb(350_00),
        "version": 1,
    }
    for path in ("wallets/B08", "wallets/A17:wallet", "wallets/A%2017"):
        assert said(cage.asks("GET", path)) == (404, "not_found")
    assert said(cage.withdraws("B08", 1)) == (404, "not_found")
    assert said(cage.deposits("A 17", 1)) == (404, "not_found")
    assert not Account.objects.filter(code="player:B08:wallet").exists()


def test_more_than_is_available_is_refused_with_what_is(cage: AtCage) -> None:
    house = world.a_house()
    world.a_wallet(ref="A17", amount=700_00)
    _covered(house)

    answer = cage.withdraws("A17", 200_01)

    assert said(answer) == (422, "insufficient_funds")
    kept = {name: answer.json()[name] for name in ("balance", "held", "available")}
    assert kept == {"balance": thb(700_00), "held": thb(500_00), "available": thb(200_00)}
    assert money()[WALLET] == 700_00
    assert cage.withdraws("A17", 200_00).status_code == 201


def _covered(house: world.House, *, bet: int = 100_00) -> dict[str, Any]:
    """A round of which A17 bet 100 baht, asked to be covered; return the answer."""
    return _bet(house, bet)[1]


def _bet(house: world.House, bet: int) -> tuple[Any, dict[str, Any]]:
    at = house.tables["PD01"]
    recording = world.Recording()
    told_of = recording.round(table="PD01", number=1)
    told_of.tell(OPENED, a_bet("w1", "p1", bet, by="player:A17"))
    terminal = world.at_terminal(at)
    assert set(terminal.send("PD01", recording.events())) == {"recorded"}
    return told_of, terminal.cover(told_of.id)


# -- what is asked for -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "refused"),
    [
        ({"amount": {"amount": 100}}, (400, "missing_field")),
        ({"amount": 100}, (400, "malformed")),
        ({"amount": 100.0}, (400, "malformed")),
        ({"amount": {"amount": 100.0, "currency": "THB"}}, (400, "malformed")),
        ({"amount": {"amount": "100", "currency": "THB"}}, (400, "malformed")),
        ({"amount": {"amount": True, "currency": "THB"}}, (400, "malformed")),
        ({"amount": {"amount": 1, "currency": "THB", "exponent": 2}}, (400, "unknown_field")),
    ],
)
def test_cents_as_dollars(cage: AtCage, wrong: dict[str, Any], refused: tuple[int, str]) -> None:
    """An amount without its currency, a fraction or a bare number is not taken for money."""
    assert said(cage.asks("POST", "wallets/A17/deposits", paid(1) | wrong)) == refused
    assert not Entry.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "refused"),
    [
        ({"amount": thb(0)}, (422, "invalid_value")),
        ({"amount": thb(-1)}, (422, "invalid_value")),
        ({"amount": thb(10**12 + 1)}, (422, "invalid_value")),
        ({"amount": {"amount": 100, "currency": "USD"}}, (422, "wrong_currency")),
        ({"means": "chips"}, (422, "invalid_value")),
        ({"cage": "cage one"}, (400, "malformed")),
        ({"gaming_day": "2026-03-01"}, (400, "unknown_field")),
        ({"net": 1}, (400, "unknown_field")),
        ({"happened_at": "today"}, (400, "malformed")),
        ({"document": "paid by Somchai"}, (400, "malformed")),
        ({"badge": "C02"}, (400, "missing_field")),
    ],
)
def test_what_no_deposit_can_be_is_refused_and_moves_nothing(
    cage: AtCage, wrong: dict[str, Any], refused: tuple[int, str]
) -> None:
    assert said(cage.asks("POST", "wallets/A17/deposits", paid(1) | wrong)) == refused
    for name in ("amount", "cage", "means", "document", "happened_at", "till"):
        body = {key: value for key, value in paid(1).items() if key != name}
        assert said(cage.asks("POST", "wallets/A17/deposits", body)) == (400, "missing_field")
    assert not Entry.objects.exists()


def test_a_gaming_day_is_never_taken_from_a_client(cage: AtCage) -> None:
    recently = timezone.now() - timedelta(days=3)
    world.founded(at=recently)
    assert cage.deposits("A17", 100, happened_at=recently.isoformat()).status_code == 201
    act = CashAct.objects.get()
    assert (act.gaming_day, act.happened_at) == (days.of(act.recorded_at), recently)


@pytest.mark.parametrize(
    "path",
    [
        "wallets/A17/holds",
        "wallets/A17/settle",
        "wallets/A17/release",
        "wallets/A17/reverse",
        "holds/0197b2f0-0000-7000-8000-000000000000/settle",
        "holds/0197b2f0-0000-7000-8000-000000000000/release",
        "journals/0197b2f0-0000-7000-8000-000000000000/reverse",
    ],
)
def test_holds_and_settlements_are_acts_of_the_house_and_no_address(cage: AtCage, path: str) -> None:
    assert said(cage.asks("POST", path, {})) == (404, "not_found")


# -- two people --------------------------------------------------------------------------------------------


def test_above_the_limit_another_cashier_signs(cage: AtCage, settings: Any) -> None:
    settings.CASH = settings.CASH | {"second_person": 1_000_00}
    a_cashier("C02")
    world.a_manager(badge="M01")

    assert cage.deposits("A17", 1_000_00).status_code == 201
    assert said(cage.deposits("A17", 1_000_01)) == (403, "second_person_needed")
    for badge, refused in (("C01", "sod_violation"), ("M01", "second_person_forbidden")):
        assert said(cage.deposits("A17", 1_000_01, badge=badge, pin=world.PIN)) == (403, refused)
    assert said(cage.deposits("A17", 1_000_01, badge="C02", pin="000000")) == (401, "wrong_secret")
    assert money()[WALLET] == 1_000_00

    for move in (cage.deposits, cage.withdraws):
        assert move("A17", 1_000_01, badge="C02", pin=world.PIN).status_code == 201
    signed = CashAct.objects.exclude(approved_by=None)
    assert [(act.acted_by.badge, act.approved_by.badge) for act in signed] == [("C01", "C02")] * 2  # type: ignore[union-attr]
    assert not any(world.PIN.encode() in bytes(entry.bytes) for entry in LogEntry.objects.all())


def test_a_cashier_system_needs_a_cashier_above_the_limit(settings: Any) -> None:
    settings.CASH = settings.CASH | {"second_person": 1_000_00}
    cashier_one = a_cashier()
    key, token = a_key()
    system = AtCage(token=token)

    assert said(system.deposits("A17", 1_000_01)) == (403, "second_person_needed")
    assert system.deposits("A17", 1_000_01, badge="C01", pin=world.PIN).status_code == 201
    act = CashAct.objects.get()
    assert (act.key_id, act.acted_by, act.approved_by) == (key.id, None, cashier_one)
    entry = LogEntry.objects.get(action="wallet.deposited")
    assert (entry.actor_kind, entry.actor, entry.role) == ("system", str(key.id), "cashier_system")


# -- one key, one act --------------------------------------------------------------------------------------


def test_key_reused(cage: AtCage) -> None:
    """The same request again gets the first answer; another body 422, no key 400, another client's key its own act."""
    first = cage.deposits("A17", 1_000_00, key='"8e03"')
    again = cage.deposits("A17", 1_000_00, key="8e03")
    assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, first.json(), "true")
    assert said(cage.deposits("A17", 1_000_01, key="8e03")) == (422, "idempotency_key_reused")
    assert said(cage.withdraws("A17", 1_000_00, key="8e03")) == (422, "idempotency_key_reused")
    assert said(cage.deposits("A17", 1_000_00, key=None)) == (400, "idempotency_key_missing")

    other = AtCage(a_cashier("C02")).deposits("A17", 1_000_00, key="8e03")
    assert (other.status_code, "Idempotency-Replayed" in other, other.json()["version"]) == (201, False, 2)
    _, token = a_key()
    third = AtCage(token=token).deposits("A17", 1_000_00, key="8e03")
    assert (third.status_code, third.json()["balance"]) == (201, thb(3_000_00))
    assert (Journal.objects.count(), CashAct.objects.count(), StoredAnswer.objects.count()) == (3, 3, 3)


def test_a_refusal_of_that_moment_is_remembered_and_cannot_succeed_by_luck(cage: AtCage) -> None:
    world.a_wallet(ref="A17", amount=100_00)
    refused = cage.withdraws("A17", 200_00, key="one")
    world.a_wallet(ref="A17", amount=1_000_00)

    again = cage.withdraws("A17", 200_00, key="one")

    assert (again.status_code, again["Idempotency-Replayed"]) == (422, "true")
    assert again.json()["available"] == refused.json()["available"] == thb(100_00)
    assert cage.withdraws("A17", 200_00).status_code == 201


def test_a_document_sent_again_by_the_house_itself_moves_nothing() -> None:
    for _ in range(2):
        with world.acting():
            taken = cashier.deposit(ref="A17", amount=100_00, cage="C1", document="first")
    assert (taken.account.balance, CashAct.objects.count()) == (100_00, 1)


# -- who is told, and in how many statements ---------------------------------------------------------------


def test_whoever_asked_to_be_told_is_owed_a_message_of_each(cage: AtCage) -> None:
    cage.deposits("A17", 1_000_00)
    cage.withdraws("A17", 400_00)

    owed = list(Message.objects.order_by("id").values_list("type", "subject"))
    assert owed == [("wallet.deposited", f"accounts/{WALLET}"), ("wallet.withdrawn", f"accounts/{WALLET}")]


def test_paying_in_and_out_takes_so_many_statements_whatever_went_before(cage: AtCage) -> None:
    def ran() -> list[int]:
        counts: list[int] = []
        for move in (cashier.deposit, cashier.withdraw):
            with world.acting(), statements() as ones:
                move(
                    ref="A17",
                    amount=100,
                    cage="C1",
                    document="x",
                    key=str(len(counts)) + str(Entry.objects.count()),
                )
            counts.append(len(ones))
        return counts

    cage.deposits("A17", 1_000_00)
    first = ran()
    for _ in range(5):
        cage.deposits("A17", 1_000_00)
    assert first == ran()
    # The cage, day, accounts, the act's key, the journal's, balances, journal with entries, the row, the entry, the
    # message; one more here for the number that names the key.
    assert first == [11, 11]


# -- five stakes before a card -----------------------------------------------------------------------------


def test_five_stakes_are_set_aside_before_a_card_is_dealt_and_one_satang_less_covers_nothing(
    cage: AtCage,
) -> None:
    house = world.a_house()
    cage.deposits("A17", 499_99)
    assert (_covered(house)["covered"], holds()) == ([], {})


def test_five_stakes_due(cage: AtCage) -> None:
    """A wallet of 350 covers no stake of 100; where bets were locked all the same and a tong comes, 350 is taken and
    150 stands in suspense."""
    house = world.a_house()
    cage.deposits("A17", 350_00)
    told_of, cover = _bet(house, 100_00)
    [refused] = cover["uncovered"]
    assert (refused["exposure"], refused["available"], holds()) == (thb(500_00), thb(350_00), {})

    at = house.tables["PD01"]
    whole = short_round(
        bets=[a_bet("w1", "p1", 100_00, by="player:A17")], cards={"p1": "KS 2H 2D", "dealer": "7C 7D 7H"}
    )
    terminal = world.at_terminal(at)
    assert set(terminal.send("PD01", told_of.tell(*whole[2:]))) == {"recorded"}
    settled = terminal.settle(told_of.id)

    assert settled["outcome"] == "settled"
    assert money()["suspense:shortfall:PD01"] == -150_00
    assert body_of(cage.asks("GET", "wallets/A17"))["balance"] == thb(0)
    assert min(Entry.objects.filter(account__code=WALLET).values_list("balance_after", flat=True)) == 0
    found = {one["kind"]: one["detail"] for one in terminal.read(told_of.id)["breaches"]}
    assert (found["shortfall"]["missing"], found["uncovered"]["exposure"]) == (thb(150_00), thb(500_00))
