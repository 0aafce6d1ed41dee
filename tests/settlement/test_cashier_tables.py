"""Cash for chips at a table, and chips for cash at a cage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.utils import timezone

from audit.models import LogEntry
from casino import people, tables
from casino.events import Principal
from casino.people import principal_of
from casino.platform.refusals import Refusal
from settlement import cashier
from settlement.cashier import Cash
from settlement.models import CashAct, Entry, Journal
from tests import world
from tests.audit import flagged
from tests.casino.floor import statements
from tests.database import Connection
from tests.settlement.cage import AT, AtCage, a_cashier, a_key, said
from tests.settlement.doors import thb
from tests.settlement.floor import money

pytestmark = pytest.mark.django_db

NOTES = [{"denomination": 100_00, "pieces": 20}]


@pytest.fixture
def at() -> world.AtTable:
    return world.a_house(tables=("PD01", "PD02")).tables["PD01"]


def bought(amount: int = 2_000_00, **more: Any) -> dict[str, Any]:
    usual = {"amount": thb(amount), "means": "cash", "lines": NOTES, "person": None, "happened_at": AT}
    return usual | more


def terminal(at: world.AtTable) -> AtCage:
    return AtCage(token=at.tokens["PD01-terminal"])


def buys_in(who: AtCage, table: str = "PD01", **more: Any) -> Any:
    return who.asks("POST", f"tables/{table}/buy-ins", bought(**more))


# -- buy-ins -----------------------------------------------------------------------------------------------


def test_a_guests_cash_goes_into_the_box_and_chips_leave_the_tray(at: world.AtTable) -> None:
    before = money()

    answer = buys_in(terminal(at))

    assert answer.status_code == 201, answer.content
    moved = {
        code: amount - before.get(code, 0)
        for code, amount in money().items()
        if amount != before.get(code, 0)
    }
    assert moved == {
        "external:cash:PD01": -2_000_00,
        "table:PD01:drop": 2_000_00,
        "table:PD01:bank": -2_000_00,
        "table:PD01:guests": 2_000_00,
    }
    act, journal = CashAct.objects.get(), Journal.objects.get(kind="buy_in")
    assert (act.journal_id, act.session_id, act.lines, act.cage) == (journal.id, at.session.id, NOTES, "")
    assert (act.acted_by, act.device.code if act.device else "") == (at.dealer, "PD01-terminal")
    entry = LogEntry.objects.get(action="table.bought_in")
    assert (entry.table_code, entry.person, entry.device) == ("PD01", at.dealer.id, "PD01-terminal")


def test_the_answer_to_a_buy_in_tells_nothing_of_what_the_table_holds(at: world.AtTable) -> None:
    answer = buys_in(terminal(at)).json()
    assert set(answer) == {"journal", "amount", "gaming_day", "recorded_at"}
    assert answer["amount"] == thb(2_000_00)


def test_a_buy_in_is_the_dealers_or_the_supervisors_on_duty_there(at: world.AtTable) -> None:
    for who in (at.dealer, at.supervisor):
        assert buys_in(AtCage(who)).status_code == 201
        assert said(buys_in(AtCage(who), "PD02")) == (404, "not_found")
    assert said(buys_in(terminal(at), "PD02")) == (404, "not_found")
    assert said(buys_in(AtCage(a_cashier()))) == (403, "forbidden")
    assert list(CashAct.objects.order_by("id").values_list("acted_by__badge", flat=True)) == [
        "D-PD01",
        "S-PD01",
    ]


def test_pieces_must_come_to_the_amount(at: world.AtTable) -> None:
    count = Entry.objects.count()
    assert said(buys_in(terminal(at), amount=1_999_99)) == (422, "invalid_value")
    assert said(buys_in(terminal(at), lines=[])) == (422, "invalid_value")
    assert said(buys_in(terminal(at), means="card")) == (422, "invalid_value")
    twice = [{"denomination": 100_00, "pieces": 8}, {"denomination": 100_00, "pieces": 12}]
    assert Entry.objects.count() == count
    assert buys_in(terminal(at), lines=twice).status_code == 201
    assert CashAct.objects.get().lines == NOTES


def test_from_the_logs_limit_on_the_person_is_asked_for(at: world.AtTable, settings: Any) -> None:
    settings.CASH = settings.CASH | {"log": 2_000_00}
    less: dict[str, Any] = {"amount": 1_900_00, "lines": [{"denomination": 100_00, "pieces": 19}]}

    assert buys_in(terminal(at), **less).status_code == 201
    assert said(buys_in(terminal(at))) == (422, "person_needed")
    assert buys_in(terminal(at), person="A17").status_code == 201
    assert list(CashAct.objects.order_by("id").values_list("person", flat=True)) == ["", "A17"]


def test_above_the_limit_a_supervisor_on_duty_there_signs(at: world.AtTable, settings: Any) -> None:
    settings.CASH = settings.CASH | {"sign_off": 1_999_99}

    assert said(buys_in(terminal(at))) == (403, "second_person_needed")
    for badge, refused in (("S-PD02", "not_on_duty"), ("D-PD01", "second_person_forbidden")):
        assert said(buys_in(terminal(at), badge=badge, pin=world.PIN)) == (403, refused)
    assert buys_in(terminal(at), badge="S-PD01", pin=world.PIN).status_code == 201
    assert said(buys_in(AtCage(at.supervisor), badge="S-PD01", pin=world.PIN)) == (403, "sod_violation")
    act = CashAct.objects.get()
    assert (act.acted_by, act.approved_by) == (at.dealer, at.supervisor)


def close(at: world.AtTable) -> None:
    with world.acting() as act:
        session = tables.lock_session(at.table)
        tables.close(session=session, last_round=0, carried_over_by=None, now=act.now)


def sell(at: world.AtTable, *, key: str, actor: Principal | None = None) -> cashier.Taken:
    with world.acting(actor=actor or principal_of(at.dealer)):
        return cashier.buy_in(table=at.table, cash=Cash(2_000_00, lines=NOTES), key=key)


def test_a_closed_table_sells_no_chips(at: world.AtTable) -> None:
    close(at)
    assert said(buys_in(terminal(at))) == (409, "table_closed")
    with pytest.raises(Refusal, match="table_closed"):
        sell(at, key="late")
    assert not CashAct.objects.exists()


def test_a_retry_after_the_table_was_closed_gets_its_first_answer(at: world.AtTable) -> None:
    first = terminal(at).asks("POST", "tables/PD01/buy-ins", bought(), key="one")
    close(at)
    again = terminal(at).asks("POST", "tables/PD01/buy-ins", bought(), key="one")
    assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, first.json(), "true")


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def forged(connection: Connection, **change: str) -> str:
    """Add a copy of the only act with a journal of its own and these columns changed; say what the database said."""
    columns = [str(field.column) for field in CashAct._meta.concrete_fields]
    values = (
        {column: column for column in columns} | {"id": "gen_random_uuid()", "journal_id": JOURNAL} | change
    )
    into, chosen = ", ".join(columns), ", ".join(values.values())
    sql = f"INSERT INTO settlement_cashact ({into}) SELECT {chosen} FROM settlement_cashact"
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(POSTED)
            connection.execute(sql)
    except psycopg.Error as error:
        return error.diag.constraint_name or error.sqlstate or ""
    return "done"


JOURNAL = "'00000000-0000-7000-8000-000000000001'"
POSTED = f"""
WITH accounts AS (UPDATE settlement_account a SET balance = balance + m.amount, version = version + 1
                    FROM (VALUES ('external:cash:PD01', -200000), ('table:PD01:drop', 200000)) AS m (code, amount)
                   WHERE a.code = m.code RETURNING a.id, m.amount, a.version, a.balance),
     journal AS (INSERT INTO settlement_journal (id, kind, key, gaming_day, currency, entry_count, recorded_at)
                 SELECT {JOURNAL}, 'buy_in', 'forged', gaming_day, 'THB', 2, now() FROM settlement_cashact)
INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
SELECT {JOURNAL}, row_number() OVER () - 1, id, amount, 'THB', version, balance, '' FROM accounts
"""


@pytest.mark.django_db(transaction=True)
def test_what_must_never_be_of_an_act_of_cash_the_database_refuses_by_itself(
    application: Connection, owner: Connection
) -> None:
    at = world.a_house().tables["PD01"]
    sell(at, key="first")
    for connection in (application, owner):
        assert forged(connection) == "done"
        assert {
            "as posted": forged(
                connection, amount="amount + 1", lines='\'[{"denomination":200001,"pieces":1}]\''
            ),
            "another day": forged(connection, gaming_day="gaming_day - 1"),
            "another kind": forged(connection, kind="'chip_sale'", session_id="NULL", cage="'C1'"),
            "other means": forged(connection, means="'card'"),
            "pieces": forged(connection, lines='\'[{"denomination":10000,"pieces":19}]\''),
            "direction": forged(connection, direction="'out'"),
            "nowhere": forged(connection, session_id="NULL"),
            "alone": forged(connection, approved_by_id="acted_by_id"),
            "journal twice": forged(connection, journal_id="journal_id"),
        } == {
            "as posted": "cash_act_as_posted",
            "another day": "cash_act_as_posted",
            "another kind": "cash_act_as_posted",
            "other means": "cash_act_as_posted",
            "pieces": "cash_act_pieces_add_up",
            "direction": "cash_act_as_posted",
            "nowhere": "cash_act_at_a_table_or_a_cage",
            "alone": "cash_act_two_people",
            "journal twice": "settlement_cashact_journal_id_key",
        }
    close(at)
    assert [forged(connection) for connection in (application, owner)] == ["cash_act_in_an_open_session"] * 2


def test_a_buy_in_takes_so_many_statements_whatever_went_before(at: world.AtTable) -> None:
    counts = []
    for number in range(3):
        with statements() as ran:
            sell(at, key=str(number))
        counts.append(len(ran))
    # Day, session, who is on duty, accounts, the act's key, the journal's, balances, journal with entries, the row, the
    # entry.
    assert counts == [10, 10, 10]


# -- chips at the cage -------------------------------------------------------------------------------------


@pytest.fixture
def cage() -> AtCage:
    with world.acting():
        cashier.stock(cage="C1", amount=10_000_00, document="first")
    return AtCage(a_cashier())


def exchanges(who: AtCage, direction: str, amount: int = 2_000_00, *, cage: str = "C1", **more: Any) -> Any:
    body = {"direction": direction, "amount": thb(amount), "lines": NOTES, "person": None} | more
    return who.asks("POST", f"cages/{cage}/chip-exchanges", body)


def test_a_cage_sells_chips_and_redeems_them_and_its_vault_holds_as_much_as_before(cage: AtCage) -> None:
    before = money()

    sold = exchanges(cage, "sell")

    assert (sold.status_code, sold.json()["account"], sold.json()["balance"]) == (
        201,
        "cage:C1:vault",
        thb(10_000_00),
    )
    assert money() == before | {"external:cash:C1": -2_000_00, "suspense:chips:C1": 2_000_00}
    vault = Entry.objects.filter(account__code="cage:C1:vault").order_by("version")
    assert list(vault.values_list("amount", flat=True)) == [10_000_00, 2_000_00, -2_000_00]

    redeemed = exchanges(cage, "redeem")

    assert (redeemed.status_code, redeemed.json()["version"]) == (201, 5)
    assert money() == before
    acts = CashAct.objects.order_by("id").values_list("kind", "direction", "cage")
    assert list(acts) == [("chip_sale", "in", "C1"), ("chip_redemption", "out", "C1")]
    assert list(Journal.objects.order_by("id").values_list("kind", flat=True))[1:] == [
        "chip_sale",
        "chip_redemption",
    ]


def test_an_exchange_is_counted_named_and_of_a_cage(cage: AtCage, settings: Any) -> None:
    settings.CASH = settings.CASH | {"log": 2_000_00}
    assert said(exchanges(cage, "sell", 1_999_99)) == (422, "invalid_value")
    assert said(exchanges(cage, "lend")) == (422, "invalid_value")
    assert said(exchanges(cage, "sell", cage="c-1")) == (404, "not_found")
    for direction in ("sell", "redeem"):
        assert said(exchanges(cage, direction)) == (422, "person_needed")
        assert exchanges(cage, direction, person="A17").status_code == 201
    _, token = a_key()
    assert exchanges(AtCage(token=token), "sell", person="A17").status_code == 201


def test_an_exchange_takes_so_many_statements_whatever_went_before(cage: AtCage) -> None:
    counts = []
    for number in range(3):
        with world.acting(now=timezone.now()), statements() as ran:
            cashier.exchange(cage="C1", direction="sell", cash=Cash(2_000_00, lines=NOTES), key=str(number))
        counts.append(len(ran))
    # The cage, day, who else exchanges, the chips outside, accounts, the act's key, the journal's, balances, journal
    # with entries, the row, the entry.
    assert counts == [11, 11, 11]


def test_above_the_limit_no_cashier_exchanges_chips_alone(cage: AtCage, settings: Any) -> None:
    settings.CASH = settings.CASH | {"second_person": 1_999_99}
    a_cashier("C02"), world.a_manager(badge="M09")
    _, token = a_key()
    for who in (cage, AtCage(token=token)):
        for direction in ("sell", "redeem"):
            assert said(exchanges(who, direction)) == (403, "second_person_needed")
    by_two: dict[str, Any] = {"badge": "C02", "pin": world.PIN}
    assert said(exchanges(cage, "redeem", **by_two | {"badge": "C01"})) == (403, "sod_violation")
    assert said(exchanges(cage, "redeem", **by_two | {"badge": "M09"}))[0] == 403
    assert not CashAct.objects.exists()

    assert exchanges(cage, "sell", **by_two).status_code == 201
    act = CashAct.objects.get()
    assert (act.acted_by, act.approved_by and act.approved_by.badge) == (cage.person, "C02")


@pytest.mark.django_db(transaction=True)
def test_chips_that_come_back_though_fewer_were_outside_are_taken_and_flagged(cage: AtCage) -> None:
    assert exchanges(cage, "sell").status_code == 201
    assert exchanges(cage, "redeem").status_code == 201
    assert exchanges(cage, "redeem").status_code == 201

    assert list(CashAct.objects.order_by("id").values_list("chips_outside", flat=True)) == [
        2_000_00,
        0,
        -2_000_00,
    ]
    flagged.read_all()
    assert flagged.raised() == {
        ("chips_exceed_outstanding", f"cages/C1#{CashAct.objects.latest('id').id}"): {
            "cage": "C1",
            "amount": 2_000_00,
            "outside": 0,
            "currency": "THB",
        }
    }


@pytest.mark.django_db(transaction=True)
def test_chips_that_a_table_sold_are_outside_too(cage: AtCage) -> None:
    at = world.a_house().tables["PD01"]
    cash = Cash(2_000_00, lines=NOTES)
    with world.acting(actor=people.principal_of(at.dealer)):
        cashier.buy_in(table=at.table, cash=cash, key="in")

    assert exchanges(cage, "redeem").status_code == 201

    assert CashAct.objects.get(kind="chip_redemption").chips_outside == 0
    flagged.read_all()
    assert flagged.raised() == {}
