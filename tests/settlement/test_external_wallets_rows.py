"""What the database refuses by itself of wallets that live elsewhere, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.database import Connection
from tests.settlement import floor
from tests.settlement.cashier_system import StandIn, covered, keeping, let_in, told
from tests.settlement.floor import a_table, a_wallet, outcome
from tests.settlement.telling import at_home

pytestmark = pytest.mark.django_db(transaction=True)

BET = "bet w1 p1 100 account=player:royal-A17"
SIX = "lock\np1 3S 4D\ndealer KC 6D\ndealer stays\nclose"
EVIDENCE, CHECKED, TWICE, NO_GRANT = "PD001", "23514", "23505", "42501"


def another_system(code: str, prefix: str, *, second: str) -> str:
    return (
        "INSERT INTO settlement_cashiersystem (id, code, prefix, url, host, port, dialect, secret, enabled, set_by_id,"
        f" approved_by_id, set_at) SELECT gen_random_uuid(), '{code}', '{prefix}', url, host, port, dialect, secret,"
        f" enabled, set_by_id, {second}, set_at FROM settlement_cashiersystem WHERE code = 'royal'"
    )


def another_hold(whose: str, where: str) -> str:
    return (
        "INSERT INTO settlement_externalhold (id, system_id, round_id, stake, exposure, currency, late, state, reason,"
        " asked_at, answered_at, wager, account) SELECT gen_random_uuid(), system_id, round_id, stake, exposure,"
        f" currency, late, 'held', '', now(), now(), {whose} FROM settlement_externalhold WHERE {where} LIMIT 1"
    )


def another_call(what: str) -> str:
    return (
        "INSERT INTO settlement_externalcall (id, hold_id, place, revision, path, body, written_at, state, due_at,"
        " attempts, failures, owner, last_result, verb, moves, reverses_id) SELECT gen_random_uuid(), hold_id,"
        f" place + 9, revision, path, body, now(), 'due', now(), 0, 0, '', '', {what} FROM settlement_externalcall"
        " WHERE verb = 'settle' LIMIT 1"
    )


ATTACKS = {
    "a hold is forgotten": ("DELETE FROM settlement_externalhold", EVIDENCE),
    "a call is forgotten": ("DELETE FROM settlement_externalcall", EVIDENCE),
    "a system is forgotten": ("DELETE FROM settlement_cashiersystem", EVIDENCE),
    "all calls are forgotten": ("TRUNCATE settlement_externalcall", EVIDENCE),
    "a hold was for less": ("UPDATE settlement_externalhold SET exposure = 1", EVIDENCE),
    "a hold that ended is open again": (
        "UPDATE settlement_externalhold SET state = 'held', ended_at = NULL WHERE state = 'settled'",
        EVIDENCE,
    ),
    "a hold that nobody answered is settled": (
        "UPDATE settlement_externalhold SET state = 'settled', ended_at = now() WHERE state = 'asked'",
        EVIDENCE,
    ),
    "a call says something else": ("UPDATE settlement_externalcall SET body = '{}'", EVIDENCE),
    "a call moves more": ("UPDATE settlement_externalcall SET moves = moves + 1", EVIDENCE),
    "an acknowledged call is due again": (
        "UPDATE settlement_externalcall SET state = 'due', acknowledged_at = NULL WHERE state = 'acknowledged'",
        EVIDENCE,
    ),
    "an attempt was never made": (
        "UPDATE settlement_externalcall SET attempts = 0 WHERE attempts > 0",
        EVIDENCE,
    ),
    "a system keeps other wallets": ("UPDATE settlement_cashiersystem SET prefix = 'other-'", EVIDENCE),
    "a system lives elsewhere": (
        "UPDATE settlement_cashiersystem SET url = 'https://elsewhere.example'",
        EVIDENCE,
    ),
    "a wager has two open holds": (another_hold("wager, account", "ended_at IS NULL"), TWICE),
    "a hold of a wallet that is kept here": (another_hold("'w9', 'player:A17'", "true"), CHECKED),
    "a revision is told twice": (another_call("verb, moves, reverses_id"), TWICE),
    "a reversal takes back more than was told": (another_call("'reverse', -moves - 1, id"), CHECKED),
    "a wallet of theirs is made here": (
        (
            "INSERT INTO settlement_account (code, kind, currency, balance, held, version, floor)"
            " VALUES ('player:royal-Z9:wallet', 'wallet', 'THB', 0, 0, 0, 0)"
        ),
        CHECKED,
    ),
    "a system that keeps wallets of ours": (
        another_system("second", "ours-", second="approved_by_id"),
        CHECKED,
    ),
    "a system that one person let in": (
        another_system("second", "second-", second="set_by_id"),
        CHECKED,
    ),
    "a system called as the cage's cash": (
        another_system("cash", "second-", second="approved_by_id"),
        CHECKED,
    ),
}


@pytest.fixture
def royal(settings: Any) -> Iterator[StandIn]:
    at_home(settings)
    with keeping({"royal-A17": 10_000_00}) as stand_in:
        let_in(stand_in)
        yield stand_in


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def night(royal: StandIn) -> None:
    """A round that was settled and told, one that is covered, one that waits for its answer, and a wallet of ours."""
    table = a_table()
    a_wallet("ours-1", 100)
    first = table.tell(BET)
    covered(first)
    table.tell(SIX, round=first)
    outcome(first)
    told()
    covered(table.tell(BET))
    third = table.tell(BET)
    with floor.act():
        from settlement.settling import covering

        covering._set_aside(third)


def refused(connection: Connection, attack: str) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(attack)
    except psycopg.Error as fault:
        return fault.sqlstate or ""
    return "done"


def test_nobody_can_falsify_what_was_asked_and_told(
    night: None, application: Connection, owner: Connection
) -> None:
    found = {
        name: (refused(application, attack), refused(owner, attack)) for name, (attack, _) in ATTACKS.items()
    }

    assert {name: by_owner for name, (_, by_owner) in found.items()} == {
        name: state for name, (_, state) in ATTACKS.items()
    }
    assert {by_application for by_application, _ in found.values()} <= {EVIDENCE, CHECKED, TWICE, NO_GRANT}


def test_two_who_make_a_wallet_here_and_there_at_once_do_not_both_succeed(
    royal: StandIn, dsn: str, application: Connection
) -> None:
    """The second waits for the first, and finds it: without the lock, neither would see the other."""
    make_here = (
        "INSERT INTO settlement_account (code, kind, currency, balance, held, version, floor)"
        " VALUES ('player:late-1:wallet', 'wallet', 'THB', 0, 0, 0, 0)"
    )
    let_another_in = another_system("late", "late-", second="approved_by_id")
    with psycopg.connect(dsn) as first:
        first.execute(make_here)
        application.execute("SET lock_timeout = '300ms'")
        assert refused(application, let_another_in) == "55P03"
        first.commit()

    assert refused(application, let_another_in) == CHECKED
