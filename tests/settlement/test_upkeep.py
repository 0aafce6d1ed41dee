"""One poisoned item among good ones, for every bell of settlement: the good ones are done, the bad one is named and is
not tried again with every bell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from casino.models import Aside
from settlement import statements, tasks
from settlement.models import (
    Attempt,
    Break,
    ExternalCall,
    Match,
    OutsideLine,
    Statement,
    StatementDay,
)
from settlement.statements import issuing
from settlement.webhooks import delivering
from tests.database import Connection
from tests.settlement.receiver import receiving
from tests.settlement.telling import an_endpoint, at_home, delivered, owed, states
from tests.settlement.test_statements import DAY, WALLET, a_deposit, match, seal, take, theirs

pytestmark = pytest.mark.django_db(transaction=True)

ENDS = [date(1, 1, 1), date(9999, 12, 31)]
Forge = Callable[..., None]


@pytest.fixture
def forge(administrator: Connection) -> Forge:
    """What only somebody who owns the tables can write: no trigger and no door stands in the way."""

    def write(table: str, statement: str, *parameters: Any) -> None:
        administrator.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        assert administrator.execute(statement, parameters).rowcount > 0
        administrator.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")

    return write


def aside() -> list[tuple[str, str, int]]:
    return list(Aside.objects.order_by("work", "subject").values_list("work", "subject", "times"))


@pytest.mark.parametrize("booked", ENDS, ids=str)
def test_a_line_booked_at_an_end_of_the_calendar_keeps_no_account_and_no_other_line_waiting(
    forge: Forge, booked: date
) -> None:
    a_deposit("A17", 500_00, "CR-1")
    a_deposit("A17", 70_00, "CR-2")
    a_deposit("B4", 30_00, "CR-3")
    take(theirs({"amount": 500_00, "reference": "CR-1"}, {"amount": 70_00, "reference": "CR-2"}))
    take(theirs({"amount": 30_00, "reference": "CR-3"}, account="player:B4:wallet"))
    bad = OutsideLine.objects.get(reference="CR-1").id
    forge(
        "settlement_outsideline", "UPDATE settlement_outsideline SET booked = %s WHERE id = %s", booked, bad
    )

    for _ in range(2):
        tasks.write_statements()

    assert sorted(Match.objects.values_list("account__code", flat=True)) == [
        "player:A17:wallet",
        "player:B4:wallet",
    ]
    assert aside() == [("statement matching", f"statement-lines/{bad}", 1)]
    assert not OutsideLine.objects.exclude(pk=bad).filter(match=None).exists()


def test_matching_by_hand_leaves_such_a_line_out_too(forge: Forge) -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_00, "reference": "CR-1"}))
    forge("settlement_outsideline", "UPDATE settlement_outsideline SET booked = '9999-12-31'")
    assert match().matched == 0


def test_an_account_of_which_no_statement_can_be_made_keeps_no_other_and_no_day_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form, broken = issuing._form, [True]

    def formed(one: Any, *args: Any, **more: Any) -> Any:
        if one.code == WALLET and broken[0]:
            raise OverflowError("date value out of range")
        return form(one, *args, **more)

    monkeypatch.setattr(issuing, "_form", formed)
    a_deposit("A17", 500_00, "CR-1")
    a_deposit("B4", 100_00, "CR-2")
    seal(DAY)

    for _ in range(2):
        tasks.write_statements()

    assert sorted(Statement.objects.values_list("account__code", flat=True)) == [
        "external:cash:C1",
        "player:B4:wallet",
    ]
    assert StatementDay.objects.get().gaming_day == DAY
    assert aside() == [("making statements", f"accounts/{WALLET}", 1)]

    broken[0] = False
    Aside.objects.update(due_at=timezone.now())
    seal(DAY + timedelta(days=1))
    tasks.write_statements()

    made = Statement.objects.get(account__code=WALLET)
    assert (made.number, made.gaming_day, made.closing, made.lines) == (1, DAY + timedelta(days=1), 500_00, 1)
    assert Aside.objects.get().solved_at is not None


def test_a_delivery_that_cannot_be_signed_is_a_try_that_failed_and_the_others_are_sent(
    settings: Any, forge: Forge
) -> None:
    at_home(settings)
    with receiving() as receiver, receiving() as another:
        bad, _ = an_endpoint(another, name="bad")
        good, _ = an_endpoint(receiver, name="good")
        forge("settlement_endpoint", "UPDATE settlement_endpoint SET secret = 'junk' WHERE id = %s", bad.id)
        owed(3)
        for _ in range(2):
            delivered()

    assert states(good) == {"delivered": 3}
    assert states(bad) == {"due": 3}
    tried = Attempt.objects.filter(delivery__endpoint=bad).values_list("result", flat=True)
    assert list(tried) == ["not_sent"] * 3
    assert [(work, times) for work, _, times in aside()] == [(delivering.DELIVERING, 1)] * 3


def test_calls_that_are_overdue_get_their_breaks_beside_one_that_cannot_be_read(
    settings: Any, forge: Forge
) -> None:
    from tests.settlement.cashier_system import covered, keeping, let_in
    from tests.settlement.floor import a_table

    at_home(settings)
    with keeping({"royal-A17": 10_000_00}) as royal:
        let_in(royal)
        table = a_table()
        for _ in range(2):
            round_id = table.tell("bet w1 p1 100 account=player:royal-A17")
            royal.behaves("500")
            covered(round_id)
        royal.behaves("500")
        first, second = ExternalCall.objects.filter(state="due").order_by("id")[:2]
        moved = "UPDATE settlement_externalcall SET written_at = %s WHERE id = %s"
        forge("settlement_externalcall", moved, "-infinity", first.id)
        forge("settlement_externalcall", moved, datetime(2026, 1, 1, tzinfo=UTC), second.id)
        for _ in range(2):
            tasks.watch_cashiers()

    assert list(Break.objects.values_list("code", "subject")) == [
        ("MISSING_SOURCE", f"external-calls/{second.id}")
    ]
    assert aside() == [("calls not acknowledged", f"external-calls/{first.id}", 1)]


def test_the_waiting_accounts_are_those_that_get_statements() -> None:
    a_deposit("A17", 500_00, "CR-1")
    assert statements.waiting_accounts() == []
    seal(DAY)
    assert sorted(statements.waiting_accounts()) == ["external:cash:C1", WALLET]


@pytest.fixture
def spoilt_row(administrator: Connection) -> Callable[[str, Any], Callable[[], None]]:
    """Let the database refuse each change of one row; what is returned lifts that again."""

    def spoil(table: str, id: Any) -> Callable[[], None]:
        administrator.execute(
            "CREATE FUNCTION spoilt() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'a row that cannot be computed with'; END $$"
        )
        administrator.execute(
            f"CREATE TRIGGER spoilt BEFORE UPDATE ON {table} FOR EACH ROW WHEN (OLD.id = '{id}')"
            " EXECUTE FUNCTION spoilt()"
        )

        def mend() -> None:
            administrator.execute("DROP FUNCTION spoilt CASCADE")

        return mend

    return spoil


def test_a_shift_that_cannot_be_ended_keeps_no_day_from_beginning(spoilt_row: Any) -> None:
    from settlement import days
    from settlement.models import GamingDay, Shift
    from tests.settlement import daybook

    shift = daybook.a_shift()
    mend = spoilt_row("settlement_shift", shift.id)
    for _ in range(2):
        tasks.turn_the_day()

    assert GamingDay.objects.filter(day=days.of(timezone.now())).exists()
    assert aside() == [("ending shifts by time", f"shifts/{shift.id}", 1)]
    assert Shift.objects.get().closed_at is None

    mend()
    Aside.objects.update(due_at=timezone.now())
    tasks.turn_the_day()
    assert Shift.objects.get().overdue
    assert Aside.objects.get().solved_at is not None


def test_a_hold_that_cannot_be_let_go_keeps_no_other(settings: Any, spoilt_row: Any) -> None:
    from settlement.models import ExternalHold
    from settlement.settling import covering
    from tests.settlement.cashier_system import keeping, let_in
    from tests.settlement.floor import a_table, act

    at_home(settings)
    with keeping({"royal-A17": 10_000_00}) as royal:
        let_in(royal)
        table = a_table()
        rounds = [table.tell("bet w1 p1 100 account=player:royal-A17") for _ in range(3)]
        for round_id in rounds:
            with act():  # whoever asks for the hold is gone before the answer
                covering._set_aside(round_id)
        bad = ExternalHold.objects.get(round_id=rounds[0])
        spoilt_row("settlement_externalhold", bad.id)
        for _ in range(2):
            tasks.watch_cashiers()

    let_go = set(ExternalHold.objects.filter(state="refused").values_list("round_id", flat=True))
    assert let_go == set(rounds[1:])
    assert aside()[0] == ("letting holds go", f"rounds/{rounds[0]}", 1)
