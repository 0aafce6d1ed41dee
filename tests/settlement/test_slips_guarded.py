"""What the database refuses of slips and pay slips by itself, whoever asks: the application, or the tables' owner."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest
from django.db import IntegrityError

from casino import rounds, tables
from settlement import models
from tests.database import Connection
from tests.settlement.floor import LATER, NOW, AtTable, a_table, act, corrected, outcome
from tests.settlement.papers import (
    a_claim,
    a_stocked_cage,
    cashier_of,
    deposited,
    in_transit,
    issued,
    paid,
    requested,
    voided,
)
from tests.settlement.test_append_only import CHECKED, EVIDENCE, NO_GRANT, TWICE, answers
from tests.settlement.test_pay_slips import DOUBLE, WON

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = ("settlement_series", "settlement_slip", "settlement_slipstep", "settlement_payslip")


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def at() -> AtTable:
    a_stocked_cage()
    return a_table()


def won(at: AtTable) -> UUID:
    round = at.tell(WON.format(owner=""))
    outcome(round)
    return round


def closed(at: AtTable) -> None:
    with act(now=NOW + timedelta(minutes=1)) as running:
        session = tables.lock_session(at.table)
        tables.close(session=session, last_round=len(at.told), carried_over_by=None, now=running.now)


def alike(application: Connection, owner: Connection, tried: dict[str, tuple[str, str]]) -> None:
    """See that both meet what each attempt names."""
    attacks = {name: sql for name, (sql, _) in tried.items()}
    expected = {name: sqlstate for name, (_, sqlstate) in tried.items()}
    assert answers(application, attacks) == expected
    assert answers(owner, attacks) == expected


NEW_SLIP = (
    "INSERT INTO settlement_slip (id, kind, table_id, session_id, lines, currency, manual_number, gaming_day,"
    " requested_at, state, cage) SELECT gen_random_uuid(), 'fill', t.id, s.id, {lines}, {currency}, {manual},"
    " '2026-03-01', now(), {state}, '' FROM casino_tablesession s JOIN casino_table t ON t.id = {table}"
    " WHERE t.code = 'PD01'"
)
FINE = {
    "lines": """'[{"denomination": 10000, "pieces": 2}]'""", "currency": "t.currency", "state": "'requested'",
    "table": "s.table_id", "manual": "''",
}  # fmt: skip


def new_slip(**other: str) -> str:
    return NEW_SLIP.format(**FINE | other)


def test_guard_lost_in_migration(at: AtTable, application: Connection, owner: Connection) -> None:
    """A slip at a closed table is refused by the database, whatever became of the code that forbids it."""
    sent = in_transit(at)
    asked = requested(at)
    alike(application, owner, {"while it is open, unsigned": (step_too(new_slip()), "done")})
    closed(at)
    alike(
        application,
        owner,
        {
            "asked for": (step_too(new_slip()), CHECKED),
            "issued": (f"UPDATE settlement_slip SET state = 'issued' WHERE id = '{asked}'", CHECKED),
            "received": (f"UPDATE settlement_slip SET state = 'received' WHERE id = '{sent}'", CHECKED),
        },
    )


def step_too(slip: str) -> str:
    """The slip and who asked for it, by one statement."""
    return (
        f"WITH made AS ({slip} RETURNING id, lines) INSERT INTO settlement_slipstep"
        " (slip_id, ordinal, step, by_id, lines, reason, taken_at)"
        " SELECT made.id, 0, 'requested', p.id, made.lines, '', now() FROM made, casino_person p"
        " WHERE p.badge = 'S-PD01'"
    )


def test_a_slip_nobody_signed_does_not_outlive_its_transaction(at: AtTable, application: Connection) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="nobody signed"):
        application.execute(new_slip())
    slip = requested(at)
    with pytest.raises(psycopg.errors.CheckViolation, match="nobody signed"):
        application.execute(f"UPDATE settlement_slip SET state = 'void' WHERE id = '{slip}'")


def test_a_number_that_is_on_no_paper_is_not_committed(at: AtTable, application: Connection) -> None:
    issued(at)
    with pytest.raises(psycopg.errors.CheckViolation, match="is on no paper"):
        application.execute("UPDATE settlement_series SET last = last + 1")
    with pytest.raises(psycopg.errors.CheckViolation, match="is on no paper"):
        application.execute(
            "INSERT INTO settlement_series (property, kind, year, last) VALUES ('X', 'fill', 2026, 1)"
        )


@pytest.fixture
def evening(at: AtTable) -> AtTable:
    """Slips at every step, and a pay slip in each state."""
    deposited(at)
    in_transit(at)
    issued(at, manual="A-0017")
    requested(at)
    a_claim(at, won(at))
    paid(a_claim(at, won(at)))
    voided(at, a_claim(at, won(at)))
    return at


GOOD = ("requested issued", "issued in_transit", "in_transit received", "requested void", "issued void")
NUMBERED = (
    "UPDATE settlement_slip s SET state = 'issued', cage = 'C1', series_id = n.id, number = {}"
    " FROM settlement_series n WHERE n.kind = '{}' AND s.state = 'requested'"
)
SLIP = "UPDATE settlement_slip SET {} WHERE state = '{}'"


@pytest.mark.usefixtures("evening")
def test_a_slip_goes_one_way_and_says_one_thing(application: Connection, owner: Connection) -> None:
    moves = {
        f"{a} to {b}": (SLIP.format(f"state = '{b}'", a), CHECKED)
        for a in ("requested", "issued", "in_transit", "deposited")
        for b in models.SlipState.values
        if f"{a} {b}" not in GOOD
    }
    tried = {
        "another number": (SLIP.format("number = 77", "issued"), CHECKED),
        "another number on the way": (SLIP.format("state = 'in_transit', number = 77", "issued"), CHECKED),
        "a number not just taken": (NUMBERED.format("77", "fill"), CHECKED),
        "a number taken before": (NUMBERED.format("1", "fill"), CHECKED),
        "a pay slip's number": (NUMBERED.format("n.last", "pay_slip"), CHECKED),
        "issued without a number": (SLIP.format("state = 'issued'", "requested"), CHECKED),
        "begun in the middle": (new_slip(state="'issued'"), CHECKED),
        "of nothing": (new_slip(lines="""'[{"denomination": 10000, "pieces": 0}]'"""), CHECKED),
        "in another currency": (new_slip(currency="'USD'"), CHECKED),
        "two numbers at once": ("UPDATE settlement_series SET last = last + 2", CHECKED),
        "a number given back": ("UPDATE settlement_series SET last = last - 1 WHERE last > 1", CHECKED),
        "a series begun late": (
            "INSERT INTO settlement_series (property, kind, year, last) VALUES ('X', 'fill', 2026, 5)", CHECKED,
        ),
        "a paper entered twice": (new_slip(manual="'A-0017'"), TWICE),
    }  # fmt: skip
    alike(application, owner, moves | tried)


STEP = (
    "INSERT INTO settlement_slipstep (slip_id, ordinal, step, by_id, second_id, lines, reason, taken_at, journal_id)"
    " SELECT s.id, {ordinal}, {step}, {by}, {second}, {lines}, {reason}, now(), {journal} FROM settlement_slip s"
    " WHERE s.state = '{at}'"
)


def step(*, at: str, **other: str) -> str:
    count = "(SELECT count(*) FROM settlement_slipstep t WHERE t.slip_id = s.id)"
    usual = {
        "ordinal": count, "step": f"'{at}'", "by": person("M09"), "second": "NULL::uuid", "lines": "s.lines",
        "reason": "''", "journal": "NULL::uuid",
    }  # fmt: skip
    return STEP.format(at=at, **usual | other)


def person(badge: str) -> str:
    return f"(SELECT id FROM casino_person WHERE badge = '{badge}')"


def test_a_step_is_signed_by_whom_it_may_be_and_moves_what_the_slip_carries(
    evening: AtTable, application: Connection, owner: Connection
) -> None:
    cashier_of("M09"), cashier_of("M10")
    counted = {
        "step": "'counted'", "lines": """'[{"denomination": 10000, "pieces": 1}]'""", "second": person("M10"),
    }  # fmt: skip

    tried = {
        "a count by two others": (step(at="in_transit", **counted), "done"),
        "a count by one": (step(at="in_transit", **counted | {"second": "NULL::uuid"}), CHECKED),
        "one person twice": (step(at="in_transit", **counted | {"second": person("M09")}), CHECKED),
        "the runner counts": (step(at="in_transit", **counted | {"by": person("R01")}), CHECKED),
        "the issuer counts": (step(at="in_transit", **counted | {"second": person("C01")}), CHECKED),
        "a count that agrees": (step(at="in_transit", **counted | {"lines": "s.lines"}), CHECKED),
        "a count before the chips left": (step(at="issued", **counted), CHECKED),
        "a step again": (step(at="issued"), TWICE),
        "a step to come": (step(at="issued", step="'in_transit'"), CHECKED),
        "a step out of order": (step(at="issued", ordinal="9"), CHECKED),
        "a void without a reason": (step(at="issued", step="'void'"), CHECKED),
        "compared without a paper": (step(at="in_transit", step="'compared'"), CHECKED),
        "compared by who issued": (step(at="issued", step="'compared'", by=person("C01")), CHECKED),
        "compared by another": (step(at="issued", step="'compared'"), "done"),
        "an unknown step": (step(at="issued", step="'lost'"), CHECKED),
    }
    alike(application, owner, tried)


def test_who_asked_or_issued_does_not_carry_and_a_journal_must_be_the_slips(
    evening: AtTable, application: Connection, owner: Connection
) -> None:
    cashier_of("M09")
    another = "(SELECT j.id FROM settlement_journal j WHERE j.kind = '{}' ORDER BY j.recorded_at LIMIT 1)"
    for connection in (application, owner):
        for by, journal, named in (
            ("C01", another.format("fill"), "slip_step_by_others"),
            ("S-PD01", another.format("fill"), "slip_step_by_others"),
            ("M09", another.format("external_mirror"), "slip_step_moves_its_amount"),
            ("M09", "NULL::uuid", "slip_step_moves_chips_twice"),
        ):
            sign = step(at="in_transit", by=person(by), journal=journal) + " AND s.manual_number = 'A-0017'"
            assert met_by(connection, SLIP.format("state = 'in_transit'", "issued"), sign) == named


def test_who_asked_does_not_issue_whatever_the_code_says(evening: AtTable, owner: Connection) -> None:
    moved = (
        "UPDATE settlement_series SET last = last + 1 WHERE kind = 'fill'",
        NUMBERED.format("n.last", "fill"),
    )
    sign = step(at="issued", by=person("S-PD01")) + " AND s.manual_number = ''"
    assert met_by(owner, *moved, sign) == "slip_step_by_others"


def met_by(connection: Connection, *statements: str) -> str | None:
    """Run statements and take them back; return the name of the constraint that the last of them met."""
    with connection.transaction(force_rollback=True):
        for statement in statements[:-1]:
            connection.execute(statement)
        with pytest.raises(psycopg.errors.CheckViolation) as met:
            connection.execute(statements[-1])
    return met.value.diag.constraint_name


CLAIM = "UPDATE settlement_payslip SET {} WHERE state = 'issued'"
PAID = (
    "state = 'paid', cage = 'C1', paid_at = now(), paid_by_id = {by}, paid_second_id = {second},"
    " payment_journal_id = {journal}"
)


@pytest.mark.usefixtures("evening")
def test_a_pay_slip_is_paid_by_its_own_journal_and_by_others_than_issued_it(
    application: Connection, owner: Connection
) -> None:
    theirs = "(SELECT payment_journal_id FROM settlement_payslip WHERE state = 'paid')"
    opening = "(SELECT id FROM settlement_journal WHERE kind = 'external_mirror')"
    fine = {"by": person("C01"), "second": "NULL", "journal": opening}
    tried = {
        "paid by no journal": (CLAIM.format(PAID.format(**fine | {"journal": "NULL"})), CHECKED),
        "paid by another's journal": (CLAIM.format(PAID.format(**fine | {"journal": theirs})), CHECKED),
        "paid by a journal of another kind": (CLAIM.format(PAID.format(**fine)), CHECKED),
        "void and nothing given back": (
            CLAIM.format(f"state = 'void', voided_at = now(), void_reason = 'x', voided_by_id = {person('C01')},"
                         f" void_journal_id = {opening}"), CHECKED,
        ),
        "worth more": (CLAIM.format("amount = amount + 1"), EVIDENCE),
        "of another wager": (CLAIM.format("wager = 'w2'"), EVIDENCE),
        "another number": (CLAIM.format("number = 77"), EVIDENCE),
        "back in force": ("UPDATE settlement_payslip SET state = 'issued' WHERE state <> 'issued'", EVIDENCE),
    }  # fmt: skip
    changed = {name for name, (_, met) in tried.items() if met == EVIDENCE}
    alike(application, owner, {name: one for name, one in tried.items() if name not in changed})
    named = {name: one[0] for name, one in tried.items() if name in changed}
    assert answers(owner, named) == dict.fromkeys(named, EVIDENCE)
    assert answers(application, named) == dict.fromkeys(changed - {"back in force"}, NO_GRANT) | {
        "back in force": EVIDENCE
    }


COPY = (
    "WITH taken AS (UPDATE settlement_series SET last = last + 1 WHERE kind = 'pay_slip' RETURNING id, last)"
    " SELECT 1 FROM taken; INSERT INTO settlement_payslip (id, series_id, number, table_id, round_id, wager,"
    " settlement_id, line_id, settled_before, amount, currency, gaming_day, issued_by_id, issued_at, issue_journal_id,"
    " state, cage, void_reason, void_in_chips) SELECT gen_random_uuid(), n.id, n.last, p.table_id, p.round_id, p.wager,"
    " {settlement}, p.line_id, {before}, {amount}, p.currency, p.gaming_day, p.issued_by_id, p.issued_at, {journal},"
    " 'issued', '', '', false FROM settlement_payslip p JOIN settlement_series n ON n.id = p.series_id"
    " WHERE p.state = '{state}'"
)


@pytest.mark.usefixtures("evening")
def test_a_pay_slip_is_of_its_line_and_alone(application: Connection, owner: Connection) -> None:
    fine = {
        "settlement": "p.settlement_id", "before": "p.settled_before", "amount": "p.amount",
        "journal": "p.issue_journal_id", "state": "void",
    }  # fmt: skip
    tried = {
        "its journal twice": (COPY.format(**fine), TWICE),
        "worth more than its line": (COPY.format(**fine | {"amount": "p.amount + 1"}), CHECKED),
        "worth more by what came before": (
            COPY.format(**fine | {"amount": "p.amount + 1", "before": "p.settled_before - 1"}), CHECKED,
        ),
        "a journal of another kind": (
            COPY.format(**fine | {"journal": "(SELECT id FROM settlement_journal WHERE kind = 'external_mirror')"}),
            CHECKED,
        ),
        "beside one in force": (COPY.format(**fine | {"state": "issued"}), TWICE),
        "beside one that was paid": (COPY.format(**fine | {"state": "paid"}), TWICE),
    }  # fmt: skip
    alike(application, owner, tried)


def test_a_pay_slip_that_is_stopped_is_not_paid_whatever_the_code_says(
    at: AtTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The domain's own checks are switched off: a later revision and a dispute stop the payment all the same."""
    round, other = won(at), won(at)
    anew, disputed = a_claim(at, round), a_claim(at, other)
    at.tell(DOUBLE, round=round, at=LATER)
    monkeypatch.setattr("settlement.slips.voiding.supersede", lambda *_, **__: None)
    corrected(round)
    monkeypatch.setattr("settlement.slips.claims.superseded", lambda _: set())
    with pytest.raises(IntegrityError, match="last revision"):
        paid(anew)
    with act():
        rounds.dispute(round_id=other, open=True)
    monkeypatch.setattr("settlement.slips.claims._locked", unlocked_and_undisputed)
    with pytest.raises(IntegrityError, match="not in dispute"):
        paid(disputed)


def unlocked_and_undisputed(id: UUID) -> models.PaySlip:
    found = models.PaySlip.objects.select_related("table", "series", "round").get(pk=id)
    found.round.in_dispute = False
    return found


def attacks(table: str) -> dict[str, str]:
    return {
        "delete": f"DELETE FROM {table}",
        "merge": f"MERGE INTO {table} t USING {table} s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "empty": f"TRUNCATE {table} CASCADE",
        "change an id": f"UPDATE {table} SET id = id",
    }


@pytest.mark.usefixtures("evening")
def test_nothing_of_a_paper_is_taken_away(application: Connection, owner: Connection) -> None:
    for table in TABLES:
        tried = attacks(table)
        assert answers(application, tried) == dict.fromkeys(tried, NO_GRANT), table
        del tried["change an id"]
        assert answers(owner, tried) == dict.fromkeys(tried, EVIDENCE), table


@pytest.mark.usefixtures("evening")
def test_of_a_paper_the_application_changes_its_state_alone(
    application: Connection, owner: Connection
) -> None:
    tried = {
        "who signed": "UPDATE settlement_slipstep SET by_id = by_id",
        "what it carries": 'UPDATE settlement_slip SET lines = \'[{"denomination": 1, "pieces": 1}]\'',
        "its table": "UPDATE settlement_slip SET table_id = gen_random_uuid()",
        "its paper": "UPDATE settlement_slip SET manual_number = 'X'",
        "its day": "UPDATE settlement_slip SET gaming_day = '2026-01-01'",
        "a series' kind": "UPDATE settlement_series SET kind = 'credit'",
    }
    assert answers(application, tried) == dict.fromkeys(tried, NO_GRANT)
    assert answers(owner, tried) == dict.fromkeys(tried, EVIDENCE)
