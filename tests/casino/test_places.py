"""Tables and cages: two people add them and two people end them, and at one that is not there nothing moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from audit.models import LogEntry
from casino import cages, people, tables
from casino.models import Cage, Person, Table
from casino.platform.refusals import Refusal
from settlement import cashier, ledger, table_floats
from settlement.cashier import Cash
from settlement.models import Account, CashAct
from tests import world
from tests.casino.floor import told
from tests.database import Connection
from tests.settlement.books import journal
from tests.settlement.cage import AtCage, a_cashier, a_key, said
from tests.settlement.doors import thb

pytestmark = pytest.mark.django_db

NOTES = [{"denomination": 100_00, "pieces": 20}]
SIGNED = {"badge": "M02", "pin": world.PIN}


@pytest.fixture
def managers() -> tuple[Person, Person]:
    return world.a_manager(badge="M01"), world.a_manager(badge="M02")


@pytest.fixture
def desk(managers: tuple[Person, Person]) -> AtCage:
    """A manager at a desk, with another in the house."""
    return AtCage(managers[0])


def add_table(who: AtCage, code: str = "PD09", **more: Any) -> Any:
    return who.asks("POST", "tables", {"code": code, "camera": True} | SIGNED | more, key=None)


def add_cage(who: AtCage, code: str = "C2", **more: Any) -> Any:
    return who.asks("POST", "cages", {"code": code} | SIGNED | more, key=None)


# -- adding ------------------------------------------------------------------------------------------------


def test_two_managers_add_a_table_and_a_cage(desk: AtCage, managers: tuple[Person, Person]) -> None:
    table, cage = add_table(desk, camera_grace_ms=1500), add_cage(desk)

    assert (table.status_code, cage.status_code) == (201, 201), (table.content, cage.content)
    assert table.json() | {"added_at": ""} == {
        "code": "PD09",
        "currency": "THB",
        "camera": True,
        "state": "closed",
        "stop_reason": "",
        "session": None,
        "opened_at": None,
        "missing_rounds": [],
        "missing_numbers": [],
        "added_at": "",
        "ended_at": None,
    }
    assert (cage.json()["added_by"], cage.json()["added_with"]) == ("M01", "M02")
    by, second = managers
    row = Table.objects.get(code="PD09")
    assert (row.added_by, row.added_with, row.camera_grace_ms) == (by, second, 1500)
    for action in ("table.added", "cage.added"):
        entry = LogEntry.objects.get(action=action)
        assert entry.person == by.id
        assert (told(entry)["added_by"], told(entry)["added_with"]) == (str(by.id), str(second.id))
    listed = desk.asks("GET", "cages").json()["cages"]
    assert [one["code"] for one in listed] == ["C1", "C2"]
    assert listed[0]["added_by"] is None, "the property's main cage is there from the beginning"


@pytest.mark.parametrize("add", [add_table, add_cage])
def test_an_administrator_may_be_the_second_and_nobody_else(add: Any, desk: AtCage) -> None:
    world.a_person(role="administrator", badge="X01")
    a_cashier("C01")
    assert said(add(desk, badge="M01")) == (403, "sod_violation")
    assert said(add(desk, badge="C01"))[0] == 403
    assert said(add(desk, pin="000000")) == (401, "wrong_secret")
    administrator = AtCage(Person.objects.get(badge="X01"))
    assert said(add(administrator)) == (403, "forbidden")
    assert (Table.objects.count(), Cage.objects.count()) == (0, 1)
    assert add(desk, badge="X01").status_code == 201


@pytest.mark.parametrize("code", ["C1", "PD01", "C2", "PD09"])
def test_a_code_is_one_places_for_ever(code: str, desk: AtCage) -> None:
    """Of a table and of a cage, ended ones too: accounts end in it."""
    for already in (add_table(desk, "PD01"), add_table(desk), add_cage(desk)):
        assert already.status_code == 201
    for ended in ("tables/PD09/end", "cages/C2/end"):
        assert desk.asks("POST", ended, SIGNED, key=None).status_code == 200
    assert said(add_table(desk, code)) == (409, "code_taken")
    assert said(add_cage(desk, code)) == (409, "code_taken")


@pytest.mark.parametrize("code", ["pd01", "PD 1", "", "A" * 21, "ป1", "PD01-2"])
def test_a_code_is_of_capitals_and_digits(code: str, desk: AtCage) -> None:
    for add in (add_table, add_cage):
        status, refused = said(add(desk, code))
        assert (status in (400, 422), refused in ("invalid_value", "malformed")) == (True, True)


# -- ending ------------------------------------------------------------------------------------------------


def test_a_table_that_ended_stays_and_is_never_opened_again(desk: AtCage) -> None:
    add_table(desk)

    answer = desk.asks("POST", "tables/PD09/end", SIGNED, key=None)

    assert answer.status_code == 200, answer.content
    assert answer.json()["ended_at"] is not None
    assert [one["code"] for one in desk.asks("GET", "tables").json()["tables"]] == ["PD09"]
    assert LogEntry.objects.filter(action="table.ended").count() == 1
    assert said(desk.asks("POST", "tables/PD09/end", SIGNED, key=None)) == (409, "table_ended")
    table = Table.objects.get(code="PD09")
    with pytest.raises(Refusal, match="table_ended"), world.acting() as act:
        tables.open(table=table, dealer=world.a_dealer(), supervisor=world.a_supervisor(), now=act.now)


def test_a_table_ends_closed_counted_and_empty(desk: AtCage, managers: tuple[Person, Person]) -> None:
    sheets = world.House(author=managers[0], approver=managers[1])
    at = world.a_table(house=sheets)

    def end() -> tuple[int, str]:
        return said(desk.asks("POST", "tables/PD01/end", SIGNED, key=None))

    assert end() == (409, "table_open")
    with world.acting(actor=people.principal_of(at.dealer)):
        cashier.buy_in(table=at.table, cash=Cash(2_000_00, lines=NOTES), key="in")
    left = world.FLOAT | {10_000: world.FLOAT[10_000] - 20}
    with world.acting():
        world.counted(at.table, "closer", at.dealer, at.supervisor, pieces=left)
        table_floats.close_table(table=at.table, last_round=0, cage="C1")
    assert end() == (409, "table_not_empty"), "its box was not counted"
    with world.acting():
        box = table_floats.Box(carried_by=at.supervisor, cage="C1")
        world.counted(at.table, "drop", *managers, pieces={100_00: 20}, box=box)
    assert end()[0] == 200


def test_a_cage_ends_empty_and_nothing_moves_there_any_more(desk: AtCage) -> None:
    cashier_one = AtCage(a_cashier())
    add_cage(desk)
    assert cashier_one.deposits("A17", 1_00, cage="C2").status_code == 201
    stock = {"amount": thb(2_000_00), "lines": NOTES, "document": "TO-1"} | SIGNED
    assert desk.asks("POST", "cages/C2/stock", stock).status_code == 201
    assert said(desk.asks("POST", "cages/C2/stock", stock)) == (409, "vault_stocked")
    assert said(desk.asks("POST", "cages/C2/end", SIGNED, key=None)) == (409, "cage_not_empty")
    with world.acting():
        ledger.post([journal("fill", {"cage:C2:vault": -2_000_00, "cage:C1:vault": 2_000_00}, key="moved")])

    assert desk.asks("POST", "cages/C2/end", SIGNED, key=None).status_code == 200

    assert said(cashier_one.deposits("A17", 1_00, cage="C2")) == (409, "cage_ended")
    assert said(cashier_one.withdraws("A17", 1_00, cage="C2")) == (409, "cage_ended")
    sale = {"direction": "sell", "amount": thb(2_000_00), "lines": NOTES}
    assert said(cashier_one.asks("POST", "cages/C2/chip-exchanges", sale)) == (409, "cage_ended")
    assert said(desk.asks("POST", "cages/C2/end", SIGNED, key=None)) == (409, "cage_ended")


# -- where money moves -------------------------------------------------------------------------------------


def test_nothing_moves_at_a_cage_that_nobody_added(desk: AtCage, managers: tuple[Person, Person]) -> None:
    """By every door that takes a cage's name, and no account is opened by any of them."""
    at = world.a_table(house=world.House(author=managers[0], approver=managers[1]))
    who = AtCage(a_cashier())
    before = set(Account.objects.values_list("code", flat=True))
    sale = {"direction": "sell", "amount": thb(2_000_00), "lines": NOTES}
    assert said(who.deposits("A17", 100, cage="ZZ")) == (422, "unknown_cage")
    assert said(who.withdraws("A17", 100, cage="ZZ")) == (422, "unknown_cage")
    assert said(who.asks("POST", "cages/NOSUCH99/chip-exchanges", sale)) == (404, "not_found")
    assert said(
        desk.asks(
            "POST", "cages/ZZ/stock", {"amount": thb(2_000_00), "lines": NOTES, "document": "1"} | SIGNED
        )
    ) == (404, "not_found")
    for move in (
        lambda: cashier.deposit(ref="A17", amount=1, cage="ZZ", document="1"),
        lambda: cashier.withdraw(ref="A17", amount=1, cage="ZZ", document="1"),
        lambda: cashier.exchange(cage="ZZ", direction="sell", cash=Cash(2_000_00, lines=NOTES), key="1"),
        lambda: cashier.stock(cage="ZZ", amount=1, document="1"),
        lambda: table_floats.close_table(table=at.table, last_round=0, cage="ZZ"),
    ):
        with pytest.raises(Refusal, match="unknown_cage"), world.acting():
            move()
    assert set(Account.objects.values_list("code", flat=True)) == before
    assert not CashAct.objects.exists()


def test_a_key_names_cages_that_are_there() -> None:
    with pytest.raises(Refusal) as refused:
        a_key(cages=["ZZ"])
    assert (refused.value.code, set(refused.value.fields)) == ("invalid_value", {"cages"})


# -- what the database keeps -------------------------------------------------------------------------------


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _answer(connection: Connection, sql: str) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


CAGE = (
    "INSERT INTO casino_cage (code, added_by_id, added_with_id, added_at) SELECT 'C9', a.id, b.id, now()"
    " FROM casino_person a, casino_person b WHERE a.badge = '{}' AND b.badge = '{}'"
)
ACCOUNT = (
    "INSERT INTO settlement_account (code, kind, currency, balance, held, version)"
    " VALUES ('{}', '{}', 'THB', 0, 0, 0)"
)


@pytest.mark.django_db(transaction=True)
def test_the_database_asks_who_adds_and_ends_and_where_money_moves(
    application: Connection, owner: Connection
) -> None:
    by, second = world.a_manager(badge="M01"), world.a_manager(badge="M02")
    world.a_dealer()
    with world.acting():
        tables.add(code="PD09", currency="THB", camera=False, by=by, approved_by=second)
        cages.add(code="C2", by=by, approved_by=second)
        cashier.deposit(ref="A17", amount=100, cage="C2", document="1")
        cages.end(cage=Cage.objects.get(code="C2"), by=by, approved_by=second)

    refused = {
        CAGE.format("M01", "M01"): "23514",
        CAGE.format("D01", "M01"): "23514",
        CAGE.format("M01", "D01"): "23514",
        "INSERT INTO casino_cage (code) VALUES ('C9')": "23514",
        "INSERT INTO casino_table (id, code, currency, camera, camera_grace_ms, state, stop_reason)"
        " VALUES (gen_random_uuid(), 'PD10', 'THB', false, 1000, 'closed', '')": "23514",
        CAGE.format("M01", "M02").replace("'C9'", "'PD09'"): "23505",
        "UPDATE casino_cage SET ended_at = now() WHERE code = 'C1'": "23514",
        "UPDATE casino_table SET ended_at = now(), ended_by_id = added_by_id, ended_with_id = added_by_id": "23514",
        "UPDATE casino_cage SET ended_at = NULL, ended_by_id = NULL, ended_with_id = NULL WHERE code = 'C2'": "PD001",
        ACCOUNT.format("cage:ZZ:vault", "vault"): "23514",
        ACCOUNT.format("external:cash:ZZ", "external"): "23514",
        ACCOUNT.format("suspense:chips:ZZ", "suspense"): "23514",
        ACCOUNT.format("variance:ZZ", "variance"): "23514",
        ACCOUNT.format("cage:PD09:vault", "vault"): "23514",
        ACCOUNT.format("cage:C2:vault", "vault"): "23514",
        "UPDATE settlement_account SET balance = balance + 1, version = version + 1"
        " WHERE code = 'external:cash:C2'": "23514",
    }
    assert {sql: _answer(application, sql) for sql in refused} == refused
    assert {sql: _answer(owner, sql) for sql in refused} == refused
    for sql in ("DELETE FROM casino_cage", "DELETE FROM casino_table", "UPDATE casino_cage SET code = 'C7'"):
        assert (_answer(application, sql), _answer(owner, sql) in ("PD001", "23503")) == ("42501", True), sql
    assert _answer(application, CAGE.format("M01", "M02")) == "done"
    assert _answer(application, ACCOUNT.format("suspense:chips:PD09", "suspense")) == "done"
