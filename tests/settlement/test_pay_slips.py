"""What the table did not pay in chips is claimed at the cage: once, and only as the round stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from casino import rounds
from casino.models import Role
from casino.platform.refusals import Refusal
from settlement import slips
from settlement.models import Entry, Message, PaySlip
from settlement.slips import claims
from tests.casino.floor import becomes
from tests.settlement.books import statements
from tests.settlement.floor import (
    LATER,
    AtTable,
    a_person,
    a_table,
    a_wallet,
    act,
    corrected,
    money,
    outcome,
)
from tests.settlement.papers import a_claim, cashier_of, paid, voided

pytestmark = pytest.mark.django_db

WON = """
    bet w1 p1 100 {owner}
    lock
    p1 3S 4D
    dealer KC 6D
    p1 stays
    dealer stays
    close
"""
"""7 against the dealer's 6: + 100 baht."""
LOSES, DOUBLE, LESS = "rule dealer.2 8D", "rule p1.2 4S", "rule dealer.2 7D"
"""Found afterwards: the dealer had 8 (−100), the guest's cards one suit (+200), the dealer 7 too (0)."""


@pytest.fixture
def at() -> AtTable:
    return a_table()


def won(at: AtTable, *, owner: str = "") -> UUID:
    round = at.tell(WON.format(owner=owner))
    assert outcome(round) == "settled"
    return round


def settled_anew(at: AtTable, round: UUID, ruling: str) -> None:
    at.tell(ruling, round=round, at=LATER)
    corrected(round)


def refused(do: Callable[[], Any]) -> str:
    with pytest.raises(Refusal) as refusal:
        do()
    return refusal.value.code


def claims_of(at: AtTable) -> int:
    return money().get(f"suspense:slips:{at.table.code}", 0)


# -- issued and paid ------------------------------------------------------------------------------------


def test_a_claim_is_taken_from_the_guests_and_paid_in_cash_at_the_cage(at: AtTable) -> None:
    round = won(at)
    claim = a_claim(at, round)

    assert (slips.number_of_pay_slip(claim), claim.amount) == ("PAY-2026-000001", 100_00)
    assert money() == {at.bank: -100_00, "suspense:slips:PD01": 100_00}
    done = paid(claim).pay_slip

    assert money() == {
        at.bank: -100_00, "suspense:clearing:PD01": 100_00, "cage:C1:vault": -100_00, "external:cash:C1": 100_00,
    }  # fmt: skip
    entries = Entry.objects.filter(journal=done.payment_journal_id).order_by("ordinal")
    assert list(entries.values_list("account__code", "amount", "wager")) == [
        ("suspense:slips:PD01", -100_00, "w1"),
        ("suspense:clearing:PD01", 100_00, "w1"),
        ("cage:C1:vault", -100_00, "w1"),
        ("external:cash:C1", 100_00, "w1"),
    ]


def test_a_claim_is_paid_once(at: AtTable) -> None:
    claim = a_claim(at, won(at))
    paid(claim)
    assert refused(lambda: paid(claim)) == "slip_paid"
    assert refused(lambda: voided(at, claim)) == "slip_paid"


def test_a_wager_has_one_claim_in_force_and_none_once_it_was_paid(at: AtTable) -> None:
    round = won(at)
    claim = a_claim(at, round)
    assert refused(lambda: a_claim(at, round)) == "pay_slip_in_force"
    paid(claim)
    assert refused(lambda: a_claim(at, round)) == "pay_slip_not_due"


def test_only_what_was_won_in_chips_is_claimed(at: AtTable) -> None:
    a_wallet("A17", 1_000)
    of_a_wallet = won(at, owner="account=player:A17")
    lost = at.tell(WON.format(owner="").replace("6D", "8D"))
    outcome(lost)
    assert refused(lambda: a_claim(at, of_a_wallet)) == "pay_slip_not_due"
    assert refused(lambda: a_claim(at, lost)) == "pay_slip_not_due"
    assert refused(lambda: a_claim(at, lost, wager="w2")) == "invalid_value"


def test_a_round_without_a_settlement_or_void_has_no_claims(at: AtTable) -> None:
    played = at.tell("bet w1 p1 100")
    void = at.tell("bet w1 p1 100\nvoid signed")
    outcome(void)
    for round in (played, void):
        assert refused(lambda: a_claim(at, round)) == "round_not_settled"  # noqa: B023


# -- stopped --------------------------------------------------------------------------------------------


def test_a_later_revision_takes_a_claim_back_and_the_next_is_for_what_is_due_now(at: AtTable) -> None:
    round = won(at)
    claim = a_claim(at, round)
    settled_anew(at, round, DOUBLE)

    assert refused(lambda: paid(claim)) == "slip_void"
    assert refused(lambda: voided(at, claim)) == "slip_void"
    assert money() == {at.bank: -200_00, at.guests: 200_00}
    assert paid(a_claim(at, round)).pay_slip.amount == 200_00


def test_a_revision_that_changes_nothing_leaves_a_claim_in_force(at: AtTable) -> None:
    round = won(at)
    claim = a_claim(at, round)
    settled_anew(at, round, "rule dealer.2 6D")
    assert refused(lambda: a_claim(at, round)) == "pay_slip_in_force"
    paid(claim)
    assert refused(lambda: a_claim(at, round)) == "pay_slip_not_due"


def test_an_open_dispute_stops_a_claim_until_it_is_over(at: AtTable) -> None:
    round, other = won(at), won(at)
    claim = a_claim(at, round)
    for one in (round, other):
        with act():
            rounds.dispute(round_id=one, open=True)
    assert refused(lambda: paid(claim)) == "round_in_dispute"
    assert refused(lambda: a_claim(at, other)) == "round_in_dispute"
    with act():
        rounds.dispute(round_id=round, open=False)
    paid(claim)


# -- how much -------------------------------------------------------------------------------------------


def test_who_paid_a_loss_and_is_found_to_have_won_is_owed_both(at: AtTable) -> None:
    round = at.tell(WON.format(owner="").replace("6D", "8D"))
    outcome(round)
    settled_anew(at, round, "rule dealer.2 6D")
    claim = a_claim(at, round)
    assert (claim.settled_before, claim.amount) == (-100_00, 200_00)


def test_who_was_paid_too_little_in_chips_is_owed_the_rest(at: AtTable) -> None:
    round = won(at)
    settled_anew(at, round, DOUBLE)
    claim = a_claim(at, round)
    assert (claim.settled_before, claim.amount) == (100_00, 100_00)


def test_who_was_paid_by_a_slip_is_owed_only_what_a_later_revision_adds(at: AtTable) -> None:
    round = won(at)
    paid(a_claim(at, round))
    settled_anew(at, round, DOUBLE)
    assert paid(a_claim(at, round)).pay_slip.amount == 100_00
    assert refused(lambda: a_claim(at, round)) == "pay_slip_not_due"


def test_who_was_paid_too_much_is_owed_nothing(at: AtTable) -> None:
    round = won(at)
    settled_anew(at, round, LESS)
    assert refused(lambda: a_claim(at, round)) == "pay_slip_not_due"


def test_a_lost_paper_is_voided_and_issued_anew_under_the_next_number(at: AtTable) -> None:
    round = won(at)
    first = a_claim(at, round)
    voided(at, first)
    second = a_claim(at, round)
    assert refused(lambda: paid(first)) == "slip_void"
    assert (slips.number_of_pay_slip(second), second.amount) == ("PAY-2026-000002", 100_00)


def test_a_claim_that_the_table_paid_after_all_is_not_issued_anew(at: AtTable) -> None:
    round = won(at)
    voided(at, a_claim(at, round), paid_in_chips=True)
    assert refused(lambda: a_claim(at, round)) == "pay_slip_not_due"
    settled_anew(at, round, DOUBLE)
    assert a_claim(at, round).amount == 100_00


def test_once_a_revision_was_left_to_slips_those_after_it_are_too(at: AtTable) -> None:
    """Nobody claimed the second revision; nothing of the first was ever paid."""
    round = won(at)
    voided(at, a_claim(at, round))
    settled_anew(at, round, DOUBLE)
    settled_anew(at, round, "rule p1.2 4D")
    assert a_claim(at, round).amount == 100_00


def test_nothing_is_settled_before_the_first_revision() -> None:
    assert claims.settled_before(nets={1: 100}, slips=[], last=1) == 0


# -- who ------------------------------------------------------------------------------------------------


def test_above_the_limit_a_second_cashier_signs(at: AtTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CASH", settings.CASH | {"second_person": 99_99})
    claim = a_claim(at, won(at))
    assert refused(lambda: paid(claim)) == "second_person_needed"
    assert refused(lambda: paid(claim, second=cashier_of())) == "sod_violation"
    assert refused(lambda: paid(claim, second=at.supervisor)) == "second_person_forbidden"
    done = paid(claim, second=cashier_of("C02")).pay_slip
    assert (done.paid_by, done.paid_second) == (cashier_of(), cashier_of("C02"))


def test_up_to_the_limit_one_cashier_pays(at: AtTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CASH", settings.CASH | {"second_person": 100_00})
    paid(a_claim(at, won(at)))


def test_who_issued_a_claim_does_not_pay_it(at: AtTable) -> None:
    claim = a_claim(at, won(at))
    becomes(at.supervisor, Role.CASHIER)
    assert refused(lambda: paid(claim, by=at.supervisor)) == "sod_violation"
    assert refused(lambda: paid(claim, second=at.supervisor)) == "sod_violation"


def test_only_cashiers_pay(at: AtTable) -> None:
    claim = a_claim(at, won(at))
    assert refused(lambda: paid(claim, by=a_person("M01", Role.MANAGER))) == "forbidden"


def test_a_void_says_why(at: AtTable) -> None:
    claim = a_claim(at, won(at))
    assert refused(lambda: voided(at, claim, reason="")) == "invalid_value"


# -- told and counted -----------------------------------------------------------------------------------


def test_issue_payment_and_void_are_told_under_the_rounds_own_numbers(at: AtTable) -> None:
    round = won(at)
    before = Message.objects.filter(round_id=round).count()
    voided(at, a_claim(at, round))
    paid(a_claim(at, round))
    told = Message.objects.filter(round_id=round, number__gt=before).order_by("number")
    assert list(told.values_list("type", flat=True)) == [
        "pay_slip.issued", "pay_slip.voided", "pay_slip.issued", "pay_slip.paid",
    ]  # fmt: skip


def test_an_act_takes_the_same_statements_however_many_wagers_and_claims_there_are(at: AtTable) -> None:
    counts = []
    for wagers in (1, 12):
        bets = "\n".join(f"bet w{n} p1 {n * 10}" for n in range(1, wagers + 1))
        round = at.tell(WON.format(owner="").replace("bet w1 p1 100", bets))
        outcome(round)
        for wager in range(2, wagers + 1):
            paid(a_claim(at, round, wager=f"w{wager}"))
        counted = []
        made: list[PaySlip] = []
        cashier = cashier_of()
        for do in (
            lambda: made.append(slips.issue_pay_slip(round=round, wager="w1", by=at.supervisor).pay_slip),  # noqa: B023
            lambda: slips.pay_pay_slip(pay_slip=made[0].id, cage="C1", by=cashier),  # noqa: B023
        ):
            seen: list[str] = []
            with act(), statements(seen):
                do()
            counted.append(len(seen))
        counts.append(counted)
    assert counts == [COSTS] * 2


COSTS = [14, 17]
"""Statements of issue and payment. A payment is an act of cash too: its row, its entry, and the question whether that
was booked before; and it asks since when pay slips stay in the tray."""
