"""Chips on their way between cage and table: who signs which step, and where the money is meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from casino import tables
from casino.models import Role
from casino.platform.refusals import Refusal
from settlement import slips, table_floats
from settlement.models import Break, Journal, Message, Series, Slip, SlipStep
from tests.casino.floor import becomes
from tests.settlement.books import statements
from tests.settlement.floor import NOW, AtTable, a_person, a_table, act, money
from tests.settlement.papers import (
    AMOUNT,
    LINES,
    PIECES,
    a_stocked_cage,
    cashier_of,
    counted_in,
    deposited,
    in_transit,
    issued,
    requested,
    runner,
)

pytestmark = pytest.mark.django_db

VAULT, TRANSIT = "cage:C1:vault", "suspense:transit:PD01"


@pytest.fixture
def at() -> AtTable:
    a_stocked_cage(amount=10 * AMOUNT)
    return a_table()


def where(at: AtTable) -> dict[str, int]:
    """What of ten slips' worth lies where."""
    found = money()
    return {
        name: found.get(code, 0) // AMOUNT
        for name, code in [("vault", VAULT), ("transit", TRANSIT), ("bank", at.bank)]
    }


def refused(do: Any) -> str:
    with pytest.raises(Refusal) as refusal, act():
        do()
    return refusal.value.code


def number(slip: Any) -> str | None:
    return slips.number_of_slip(Slip.objects.select_related("series").get(pk=slip))


# -- the way --------------------------------------------------------------------------------------------


def test_a_fill_leaves_the_vault_with_the_runner_and_is_the_tables_once_two_have_counted_it(
    at: AtTable,
) -> None:
    slip = issued(at)
    assert where(at) == {"vault": 10, "transit": 0, "bank": 0}
    with act():
        slips.dispatch(slip=slip, by=runner())
    assert where(at) == {"vault": 9, "transit": 1, "bank": 0}
    counted_in(at, slip)
    assert where(at) == {"vault": 9, "transit": 0, "bank": 1}
    with act():
        slips.deposit(slip=slip, by=at.dealer)

    assert [(j.kind, j.key) for j in Journal.objects.filter(kind="fill").order_by("key")] == [
        ("fill", f"slip:{slip}:in_transit"),
        ("fill", f"slip:{slip}:received"),
    ]
    steps = (
        SlipStep.objects.filter(slip=slip)
        .order_by("ordinal")
        .values_list("step", "by__badge", "second__badge")
    )
    assert list(steps) == [
        ("requested", "S-PD01", None),
        ("issued", "C01", None),
        ("in_transit", "R01", None),
        ("received", "D-PD01", "S-PD01"),
        ("deposited", "D-PD01", None),
    ]
    assert (Slip.objects.get(pk=slip).state, number(slip)) == ("deposited", "FILL-2026-000001")


def test_a_credit_leaves_the_bank_and_is_the_cages_once_another_cashier_has_counted_it(at: AtTable) -> None:
    slip = in_transit(at, kind="credit")
    assert where(at) == {"vault": 10, "transit": 1, "bank": -1}
    counted_in(at, slip)
    assert where(at) == {"vault": 11, "transit": 0, "bank": -1}
    assert number(slip) == "CREDIT-2026-000001"


def test_a_count_on_arrival_that_differs_moves_nothing_and_opens_a_break(at: AtTable) -> None:
    slip = in_transit(at)
    taken = counted_in(at, slip, pieces={500_00: 39, 100_00: 10})

    assert (Slip.objects.get(pk=slip).state, where(at)) == (
        "in_transit",
        {"vault": 9, "transit": 1, "bank": 0},
    )
    found = Break.objects.get()
    assert (taken.mismatch, found.code, found.subject, found.amount) == (
        found.id, "COUNT_MISMATCH", f"slips/{slip}", -500_00,
    )  # fmt: skip
    assert counted_in(at, slip).mismatch is None
    assert list(SlipStep.objects.filter(slip=slip).order_by("ordinal").values_list("step", flat=True)) == [
        "requested", "issued", "in_transit", "counted", "received",
    ]  # fmt: skip


def test_other_pieces_of_the_same_value_are_another_count(at: AtTable) -> None:
    slip = in_transit(at)
    assert counted_in(at, slip, pieces={500_00: 42}).mismatch is not None


@pytest.mark.parametrize("made", [requested, issued])
def test_a_slip_is_void_while_its_chips_have_not_left_and_keeps_the_number_it_has(
    at: AtTable, made: Any
) -> None:
    slip = made(at)
    before = number(slip)
    with act():
        slips.void(slip=slip, by=cashier_of("C02"), reason="the guest left")
    assert (Slip.objects.get(pk=slip).state, number(slip)) == ("void", before)
    assert number(issued(at)) == f"FILL-2026-00000{2 if before else 1}"


def test_a_slip_under_way_cannot_be_void(at: AtTable) -> None:
    slip = in_transit(at)
    assert refused(lambda: slips.void(slip=slip, by=cashier_of(), reason="too late")) == "slip_not_there"


def test_a_void_says_why(at: AtTable) -> None:
    slip = issued(at)
    assert refused(lambda: slips.void(slip=slip, by=cashier_of(), reason="")) == "invalid_value"


def test_no_step_is_taken_twice_or_before_its_turn(at: AtTable) -> None:
    slip = requested(at)
    assert refused(lambda: slips.dispatch(slip=slip, by=runner())) == "slip_not_there"
    assert refused(lambda: slips.deposit(slip=slip, by=at.dealer)) == "slip_not_there"
    with act():
        slips.issue(slip=slip, by=cashier_of(), cage="C1")
    assert refused(lambda: slips.issue(slip=slip, by=cashier_of(), cage="C1")) == "slip_not_there"


def test_lines_read_at_a_step_are_those_of_the_slip(at: AtTable) -> None:
    slip = requested(at)
    wrong = {500_00: 41}
    assert (
        refused(lambda: slips.issue(slip=slip, by=cashier_of(), cage="C1", pieces=wrong))
        == "slip_lines_differ"
    )
    with act():
        taken = slips.issue(slip=slip, by=cashier_of(), cage="C1", pieces=PIECES | {20_00: 0})
    assert taken.slip.lines == LINES


def test_a_slip_of_nothing_is_not_asked_for(at: AtTable) -> None:
    assert refused(lambda: requested(at, pieces={500_00: 0})) == "invalid_value"


# -- who ------------------------------------------------------------------------------------------------


def test_chips_are_asked_for_by_the_supervisor_on_duty_or_a_manager(at: AtTable) -> None:
    requested(at, by=a_person("M01", Role.MANAGER))
    for badge, role in (("S09", Role.SUPERVISOR), ("C01", Role.CASHIER), ("D-PD01", Role.DEALER)):
        assert refused(lambda: requested(at, by=a_person(badge, role))) == "not_on_duty"  # noqa: B023


def test_who_asks_does_not_issue(at: AtTable) -> None:
    slip = requested(at)
    becomes(at.supervisor, Role.CASHIER)
    assert refused(lambda: slips.issue(slip=slip, by=at.supervisor, cage="C1")) == "sod_violation"


def test_only_a_cashier_issues(at: AtTable) -> None:
    slip = requested(at)
    manager = a_person("M01", Role.MANAGER)
    assert refused(lambda: slips.issue(slip=slip, by=manager, cage="C1")) == "forbidden"


def test_a_runner_is_neither_who_asked_nor_who_issued_and_holds_the_permission(at: AtTable) -> None:
    slip = issued(at)
    for person in (cashier_of(), at.supervisor):
        becomes(person, person.role, ["runner"])
        assert refused(lambda: slips.dispatch(slip=slip, by=person)) == "sod_violation"  # noqa: B023
    assert refused(lambda: slips.dispatch(slip=slip, by=cashier_of("C02"))) == "forbidden"
    manager = a_person("M01", Role.MANAGER, permissions=["runner"])
    assert refused(lambda: slips.dispatch(slip=slip, by=manager)) == "forbidden"


def test_a_fill_is_counted_in_by_the_dealer_and_the_supervisor_on_duty_together(at: AtTable) -> None:
    slip = in_transit(at)

    def by(one: Any, other: Any) -> str:
        return refused(lambda: slips.receive(slip=slip, by=one, second=other, pieces=PIECES))

    assert by(at.dealer, None) == "not_on_duty"
    assert by(at.dealer, at.dealer) == "sod_violation"
    assert by(at.dealer, a_person("M01", Role.MANAGER)) == "not_on_duty"
    assert by(at.dealer, runner()) == by(at.dealer, cashier_of()) == "sod_violation"


def test_a_credit_is_counted_in_by_a_cashier_who_signed_nothing_of_it(at: AtTable) -> None:
    slip = in_transit(at, kind="credit")

    def by(one: Any, other: Any = None) -> str:
        return refused(lambda: slips.receive(slip=slip, by=one, second=other, pieces=PIECES))

    assert by(cashier_of()) == by(runner()) == "sod_violation"
    assert by(at.dealer) == "forbidden"
    assert by(cashier_of("C02"), cashier_of("C03")) == "invalid_value"


def test_only_the_dealer_on_duty_drops_the_slip_into_the_box(at: AtTable) -> None:
    slip = in_transit(at)
    counted_in(at, slip)
    assert refused(lambda: slips.deposit(slip=slip, by=at.supervisor)) == "not_on_duty"


# -- the session ----------------------------------------------------------------------------------------


def closed(at: AtTable) -> None:
    with act(now=NOW + timedelta(minutes=1)) as running:
        session = tables.lock_session(at.table)
        tables.close(session=session, last_round=0, carried_over_by=None, now=running.now)


def test_nothing_is_asked_for_issued_or_sent_at_a_closed_table(at: AtTable) -> None:
    asked, numbered = requested(at), issued(at)
    closed(at)
    assert refused(lambda: requested(at)) == "table_closed"
    assert refused(lambda: slips.issue(slip=asked, by=cashier_of(), cage="C1")) == "table_closed"
    assert refused(lambda: slips.dispatch(slip=numbered, by=runner())) == "table_closed"
    with act():
        slips.void(slip=numbered, by=cashier_of(), reason="the table closed")


def test_chips_that_left_a_table_arrive_at_the_cage_though_it_closed_meanwhile(at: AtTable) -> None:
    sent, brought = in_transit(at, kind="credit"), in_transit(at)
    closed(at)
    counted_in(at, sent)
    assert Slip.objects.get(pk=sent).state == "received"
    people = {"by": at.dealer, "second": at.supervisor}
    assert refused(lambda: slips.receive(slip=brought, pieces=PIECES, **people)) == "table_closed"


# -- numbers --------------------------------------------------------------------------------------------


def test_each_kind_and_year_of_the_gaming_day_counts_from_one(at: AtTable) -> None:
    new_year = NOW.replace(year=2027, month=1, day=1, hour=1)
    made = [
        issued(at),
        issued(at),
        issued(at, kind="credit"),
        issued(at, now=new_year - timedelta(hours=3)),  # 05:00 at the tables: still the old year's gaming day
        issued(at, now=new_year),
    ]
    assert [number(slip) for slip in made] == [
        "FILL-2026-000001", "FILL-2026-000002", "CREDIT-2026-000001", "FILL-2026-000003", "FILL-2027-000001",
    ]  # fmt: skip


def test_an_issue_that_is_taken_back_takes_its_number_back(at: AtTable) -> None:
    slip = requested(at)

    def interrupted() -> None:
        with act():
            slips.issue(slip=slip, by=cashier_of(), cage="C1")
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        interrupted()
    assert not Series.objects.exists()
    assert number(issued(at)) == "FILL-2026-000001"


@pytest.mark.parametrize(
    "text",
    ["FILL-2026-182", "FILL-2026-0000182", "fill-2026-000182", "TILL-2026-000182", "FILL-2026-00018٢", ""],
)
def test_a_number_is_read_only_as_it_is_written(text: str) -> None:
    assert slips.read_number(text) is None
    assert slips.read_number("FILL-2026-000182") == ("fill", 2026, 182)


# -- papers of the time when the system was down --------------------------------------------------------


def test_a_paper_slip_is_entered_once_and_compared_by_accounting_who_signed_none_of_it(at: AtTable) -> None:
    slip = deposited(at, manual="A-0017")
    assert refused(lambda: requested(at, manual="A-0017")) == "manual_number_used"
    requested(at, manual="A-0017", kind="credit")
    accountant = a_person("M07", Role.MANAGER, permissions=["accounting"])
    assert refused(lambda: slips.compare(slip=slip, by=a_person("M01", Role.MANAGER))) == "forbidden"
    with act():
        slips.compare(slip=slip, by=accountant)
    assert refused(lambda: slips.compare(slip=slip, by=accountant)) == "slip_not_there"


def test_who_signed_a_slip_does_not_compare_it(at: AtTable) -> None:
    accountant = a_person("M07", Role.MANAGER, permissions=["accounting"])
    slip = issued(at, manual="A-0018", by=accountant)
    assert refused(lambda: slips.compare(slip=slip, by=accountant)) == "sod_violation"


def test_a_slip_without_a_paper_has_nothing_to_be_compared_with(at: AtTable) -> None:
    accountant = a_person("M07", Role.MANAGER, permissions=["accounting"])
    slip = issued(at)
    assert refused(lambda: slips.compare(slip=slip, by=accountant)) == "slip_not_there"


# -- what is told, and what it costs --------------------------------------------------------------------


def test_the_issue_the_arrival_and_a_void_are_told(at: AtTable) -> None:
    slip = deposited(at)
    gone = issued(at)
    with act():
        slips.void(slip=gone, by=cashier_of(), reason="the guest left")
    told = Message.objects.filter(type__startswith="slip.").values_list("type", "subject")
    assert sorted(told) == sorted([
        ("slip.issued", f"slips/{slip}"),
        ("slip.received", f"slips/{slip}"),
        ("slip.issued", f"slips/{gone}"),
        ("slip.voided", f"slips/{gone}"),
    ])  # fmt: skip


def test_a_step_takes_the_same_statements_for_one_piece_and_for_forty_denominations(at: AtTable) -> None:
    deposited(at)  # the accounts are there
    cashier, carrier = cashier_of(), runner()
    counts = []
    for pieces in ({100_00: 1}, {100 * n: n for n in range(1, 41)}):
        slip = requested(at, pieces=pieces)
        steps: list[Any] = [
            lambda: slips.issue(slip=slip, by=cashier, cage="C1"),  # noqa: B023
            lambda: slips.dispatch(slip=slip, by=carrier),  # noqa: B023
            lambda: slips.receive(slip=slip, by=at.dealer, second=at.supervisor, pieces=pieces),  # noqa: B023
            lambda: slips.deposit(slip=slip, by=at.dealer),  # noqa: B023
        ]
        counted = []
        for step in steps:
            seen: list[str] = []
            with act(), statements(seen):
                step()
            counted.append(len(seen))
        counts.append(counted)
    assert counts[0] == counts[1] == COSTS


COSTS = [13, 12, 14, 9]
"""Statements of issue (which looks its cage up), dispatch, receive and deposit."""


# -- when the table closes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "state", "code"),
    [
        (in_transit, "in_transit", "slip_in_transit"),
        (issued, "issued", "slip_not_carried"),
        (requested, "requested", "slip_not_carried"),
    ],
)
def test_a_table_with_a_slip_under_way_is_not_closed_and_the_slip_is_named(
    at: AtTable, make: Any, state: str, code: str
) -> None:
    slip = make(at)
    with pytest.raises(Refusal) as refusal, act():
        table_floats.close_table(table=at.table, last_round=0, cage="C1")
    assert refusal.value.code == code
    (named,) = refusal.value.extra["slips"]
    assert (named["id"], named["kind"], named["table"], named["state"]) == (str(slip), "fill", "PD01", state)
    assert named["number"] == number(slip)


def test_a_slip_that_was_voided_or_counted_in_keeps_no_table_open(at: AtTable) -> None:
    with act():
        slips.void(slip=issued(at), by=cashier_of(), reason="not needed")
    counted_in(at, in_transit(at))
    assert (
        refused(lambda: table_floats.close_table(table=at.table, last_round=0, cage="C1")) == "count_missing"
    )
