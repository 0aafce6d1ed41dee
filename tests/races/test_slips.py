"""One paper in many hands at once: it is issued once and paid once, and a number that is not used does not get lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from casino import events, tables
from casino.models import Round
from casino.platform.refusals import Refusal
from settlement import settling, slips
from settlement.models import Journal, PaySlip, Series, Slip
from settlement.slips import Claim, Taken
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement.floor import LATER, AtTable, a_table, corrected, money, outcome
from tests.settlement.papers import a_claim, a_stocked_cage, cashier_of, requested
from tests.settlement.test_pay_slips import DOUBLE, WON

pytestmark = pytest.mark.django_db(transaction=True)

UNLOCKED = Unlocked(
    ("casino_round", "casino_tablesession"),
    instead=(
        (' FOR NO KEY UPDATE OF "settlement_slip"', ""),
        (' FOR NO KEY UPDATE OF "settlement_payslip"', ""),
    ),
)


def a_claim_at(at: AtTable) -> PaySlip:
    round = at.tell(WON.format(owner=""))
    outcome(round)
    return a_claim(at, round)


def state_of(done: Taken | Claim) -> str:
    return str(done.slip.state if isinstance(done, Taken) else done.pay_slip.state)


def paying(claim: PaySlip, badge: str = "C01") -> Callable[[], Any]:
    cashier = cashier_of(badge)
    return act(lambda: state_of(slips.pay_pay_slip(pay_slip=claim.id, cage="C1", by=cashier)))


def issuing(slip: UUID, badge: str = "C01") -> Callable[[], Any]:
    cashier = cashier_of(badge)
    return act(lambda: state_of(slips.issue(slip=slip, by=cashier, cage="C1")))


# -- paid once -------------------------------------------------------------------------------------------------


def test_control_without_locks_the_database_alone_stops_the_second_payment() -> None:
    claim = a_claim_at(a_table())
    answers = together.at_once(
        paying(claim), paying(claim, "C02"), behind='FROM "settlement_payslip"', time=2, unlocked=UNLOCKED
    )
    assert sorted(answers) == ["ProgrammingError", "paid"]


def test_two_cashiers_pay_one_claim_once_and_the_other_hears_so() -> None:
    claim = a_claim_at(a_table())
    answers = together.at_once(
        paying(claim), paying(claim, "C02"), behind='FROM "settlement_payslip"', time=2
    )
    assert answers == ["paid", "slip_paid"]


def test_of_fifty_who_pay_one_claim_at_once_one_pays() -> None:
    at = a_table()
    claim = a_claim_at(at)
    answers = together.all_at_once([paying(claim, f"C{number:02}") for number in range(1, 51)])
    assert sorted(answers) == ["paid"] + ["slip_paid"] * 49
    assert money() == {
        at.bank: -100_00, "suspense:clearing:PD01": 100_00, "cage:C1:vault": -100_00, "external:cash:C1": 100_00,
    }  # fmt: skip
    assert Journal.objects.filter(kind="pay_slip_paid").count() == 1


def test_a_claim_is_not_paid_while_its_round_is_settled_anew() -> None:
    """The payment waits for the correction, which takes the claim back in its own act."""
    at = a_table()
    claim = a_claim_at(at)
    at.tell(DOUBLE, round=claim.round_id, at=LATER)

    def anew() -> str:
        return corrected(claim.round_id).outcome

    answers = together.at_once(anew, paying(claim), behind="FROM casino_round r JOIN casino_table")

    assert answers == ["settled", "slip_void"]


def test_a_correction_waits_for_a_payment_under_way() -> None:
    at = a_table()
    claim = a_claim_at(at)
    at.tell(DOUBLE, round=claim.round_id, at=LATER)
    answers = together.at_once(
        paying(claim), lambda: corrected(claim.round_id).outcome, behind='FROM "settlement_payslip"', time=2
    )
    assert answers == ["paid", "settled"]
    effective = settling.effective(claim.round_id)
    assert effective is not None
    assert (effective.revision, PaySlip.objects.get().state) == (2, "paid")


def test_two_supervisors_issue_one_claim_for_one_wager() -> None:
    at = a_table()
    round = at.tell(WON.format(owner=""))
    outcome(round)
    ask = act(lambda: state_of(slips.issue_pay_slip(round=round, wager="w1", by=at.supervisor)))
    answers = together.at_once(ask, ask, behind='FROM "casino_round"')
    assert answers == ["issued", "pay_slip_in_force"]


# -- one number ------------------------------------------------------------------------------------------------


def a_request() -> UUID:
    a_stocked_cage()
    return requested(a_table())


def test_control_without_locks_the_database_alone_stops_the_second_issue() -> None:
    slip = a_request()
    answers = together.at_once(
        issuing(slip), issuing(slip, "C02"), behind='FROM "settlement_slip"', time=2, unlocked=UNLOCKED
    )
    assert sorted(answers) == ["IntegrityError", "issued"]


def test_two_cashiers_issue_one_slip_once_under_one_number() -> None:
    slip = a_request()
    answers = together.at_once(issuing(slip), issuing(slip, "C02"), behind='FROM "settlement_slip"', time=2)
    assert answers == ["issued", "slip_not_there"]
    assert (Slip.objects.get().number, Series.objects.get().last) == (1, 1)


# -- no number is lost -----------------------------------------------------------------------------------------


def test_control_a_sequence_loses_the_number_of_what_is_taken_back() -> None:
    """Identity columns and sequences alike: this table's ids come from one."""
    with pytest.raises(Refusal):
        act(lambda: refused_after(next_id))()
    first, second = next_id(), next_id()
    assert (first, second) == (2, 3)


def next_id() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('settlement_series', 'id'))")
        return int(cursor.fetchone()[0])


def refused_after(do: Callable[[], Any]) -> None:
    do()
    raise Refusal("slip_not_there")


def test_many_issues_at_once_some_of_them_taken_back_leave_no_number_out() -> None:
    """Four tables, so that no session keeps one issue from another; every third is taken back when it has its
    number."""
    a_stocked_cage()
    tables = [a_table(f"PD0{number}") for number in range(1, 5)]
    cashier = cashier_of()
    made = [requested(tables[place % 4]) for place in range(24)]

    def one(place: int, slip: UUID) -> Callable[[], Any]:
        def do() -> Any:
            issued = slips.issue(slip=slip, by=cashier, cage="C1")
            if place % 3 == 0:
                raise Refusal("slip_not_there")
            return issued.slip.number

        return act(do)

    answers = together.all_at_once([one(place, slip) for place, slip in enumerate(made)])

    numbers = sorted(answer for answer in answers if isinstance(answer, int))
    assert (answers.count("slip_not_there"), numbers) == (8, list(range(1, 17)))
    assert set(Slip.objects.exclude(number=None).values_list("number", flat=True)) == set(numbers)
    assert Series.objects.get().last == 16


def test_a_slip_does_not_slip_in_beside_the_close_of_its_table() -> None:
    """Whoever closes holds the session; who asks for chips waits, and the table is closed."""
    a_stocked_cage()
    at = a_table()

    def closing() -> str:
        session = tables.lock_session(at.table)
        tables.close(session=session, last_round=0, carried_over_by=None, now=events.current().now)
        return "closed"

    def asking() -> str:
        return state_of(
            slips.request(table=at.table, kind="fill", pieces={100_00: 1}, manual_number="", by=at.supervisor)
        )

    answers = together.at_once(act(closing), act(asking), behind='FROM "casino_tablesession"')
    assert answers == ["closed", "table_closed"]
    assert not Slip.objects.exists()
    assert Round.objects.count() == 0
