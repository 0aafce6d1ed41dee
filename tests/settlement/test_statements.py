"""Statements of a house: ours made once a day is sealed, those of others taken in whole, and both matched."""

from __future__ import annotations

import csv
import hashlib
import io
from datetime import date, datetime, timedelta
from typing import Any, Literal
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from audit.models import LogEntry
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import cashier, days, statements
from settlement.days import Fixed
from settlement.models import (
    Account,
    Break,
    Match,
    MatchedEntry,
    Message,
    OutsideFile,
    OutsideLine,
    OutsideStatement,
    Statement,
    StatementDay,
)
from settlement.statements import Matched, camt053, csv_format, statement_values
from tests import world
from tests.casino.floor import statements as statements_of
from tests.database import Connection
from tests.settlement.cage import AtCage, a_cashier, a_key, said
from tests.settlement.doors import body_of, signed_in, thb
from tests.settlement.floor import NOW, act

pytestmark = pytest.mark.django_db

DAY = date(2026, 3, 1)
NEXT = DAY + timedelta(days=1)
WALLET = "player:A17:wallet"
CASH = "external:cash:C1"


def a_deposit(ref: str, amount: int, document: str, *, at: datetime = NOW) -> None:
    with act(now=at):
        cashier.deposit(ref=ref, amount=amount, cage="C1", document=document)


def a_withdrawal(ref: str, amount: int, document: str, *, at: datetime = NOW) -> None:
    with act(now=at):
        cashier.withdraw(ref=ref, amount=amount, cage="C1", document=document)


def seal(day: date) -> None:
    """Close and seal a day as two auditors and a manager do; what its report says is no matter here."""
    ends = days.bounds(day)[1]
    manager = Person.objects.filter(badge="M01").first() or world.a_manager()
    first = Person.objects.filter(badge="A01").first() or world.an_auditor(permissions=("accounting",))
    second = Person.objects.filter(badge="A02").first() or world.an_auditor(badge="A02")
    with act(now=ends):
        days.close_day(day=day, by=manager)
    with act(now=ends + timedelta(hours=1)):
        row = days.hold_alone(day)
        days.seal(row, by=first, second=second, fixed=Fixed(uuid4(), "0" * 64, {}))


def make(*, at: datetime = NOW + timedelta(days=1)) -> list[int]:
    """Make statements until there is nothing to make; what each act came to."""
    made: list[int] = []
    while True:
        with act(now=at):
            done = statements.make()
        if done is None:
            return made
        made.append(done)


def of(code: str, day: date) -> Statement:
    return Statement.objects.select_related("account", "previous").get(account__code=code, gaming_day=day)


# -- ours ----------------------------------------------------------------------------------------------------


def test_a_sealed_day_gives_every_account_that_moved_its_statement() -> None:
    a_deposit("A17", 500_00, "CR-1")
    a_withdrawal("A17", 200_00, "CR-2")
    a_deposit("B4", 100_00, "CR-3")
    assert make() == []
    seal(DAY)
    assert make() == [3, 0]

    wallet = of(WALLET, DAY)
    assert (wallet.number, wallet.opening, wallet.closing, wallet.lines) == (1, 0, 300_00, 2)
    assert of(CASH, DAY).closing == -400_00
    assert StatementDay.objects.get().statements == 3
    assert Message.objects.filter(type="statement.ready").count() == 3
    assert LogEntry.objects.filter(action="statement.made").count() == 3


def test_statements_of_an_account_follow_each_other_without_a_hole_and_skip_days_in_which_it_rests() -> None:
    for back, ref in ((0, "A17"), (1, "B4"), (2, "A17")):
        a_deposit(ref, 100_00, f"CR-{back}", at=NOW + timedelta(days=back))
        seal(DAY + timedelta(days=back))
    make(at=NOW + timedelta(days=4))
    found = Statement.objects.filter(account__code=WALLET).order_by("number")
    assert [(one.number, one.gaming_day, one.opening, one.closing) for one in found] == [
        (1, DAY, 0, 100_00),
        (2, DAY + timedelta(days=2), 100_00, 200_00),
    ]
    assert [one.number for one in Statement.objects.filter(account__code=CASH).order_by("gaming_day")] == [
        1,
        2,
        3,
    ]


def test_a_statement_has_the_same_bytes_when_it_is_asked_for_again_whatever_came_later() -> None:
    a_deposit("A17", 500_00, "CR-1")
    seal(DAY)
    make()
    a_deposit("A17", 1_00, "CR-9", at=NOW + timedelta(days=1))
    row = of(WALLET, DAY)
    form = statements.of_row(row)
    assert hashlib.sha256(csv_format.written(form)).digest() == bytes(row.csv_sha256)
    assert hashlib.sha256(camt053.written(form)).digest() == bytes(row.camt_sha256)
    (line,) = form.lines
    assert (line.reference, line.counter_account, line.code, line.kind) == ("CR-1", CASH, "DEP", "deposit")


def test_a_day_that_is_not_sealed_has_a_draft_without_a_number() -> None:
    a_deposit("A17", 500_00, "CR-1")
    draft = statements.draft(Account.objects.get(code=WALLET), DAY, now=NOW)
    assert (draft.number, draft.opening, draft.closing, len(draft.lines)) == (None, 0, 500_00, 1)
    assert statements.draft(Account.objects.get(code=WALLET), NEXT, now=NOW).closing == 500_00


def test_making_is_the_same_few_statements_for_one_line_and_for_a_hundred() -> None:
    counted = []
    for back, lines in ((0, 1), (1, 100)):
        for number in range(lines):
            a_deposit(f"R{number}", 1_00, f"CR-{back}-{number}", at=NOW + timedelta(days=back))
        seal(DAY + timedelta(days=back))
        with statements_of() as made, act(now=NOW + timedelta(days=back + 1)):
            assert statements.make() == min(lines + 1, 100)
        counted.append(len(made))
        make(at=NOW + timedelta(days=back + 1))
    assert counted[0] == counted[1]


@pytest.mark.parametrize("change", ["number", "opening", "previous"])
def test_the_database_refuses_a_statement_that_does_not_follow(change: str) -> None:
    a_deposit("A17", 500_00, "CR-1")
    seal(DAY)
    make()
    before = of(WALLET, DAY)
    after: dict[str, Any] = {"number": 2, "opening": before.closing, "previous": before}
    after |= {"number": 3} if change == "number" else {}
    after |= {"opening": 1} if change == "opening" else {}
    after |= {"previous": of(CASH, DAY)} if change == "previous" else {}
    with pytest.raises(DatabaseError, match="does not follow"), transaction.atomic():
        Statement.objects.create(
            id=uuid4(), account=before.account, gaming_day=NEXT, currency="THB", closing=0, lines=0,
            covered_version=before.covered_version, csv_sha256=b"", camt_sha256=b"", made_at=NOW, **after,
        )  # fmt: skip


# -- those of others -----------------------------------------------------------------------------------------


def theirs(
    *lines: dict[str, Any], account: str = WALLET, day: date = DAY, number: str = "7", opening: int = 0
) -> bytes:
    """Somebody's statement of an account of ours as CSV."""
    begins, ends = days.bounds(day)
    balance, made = opening, []
    for place, given in enumerate(lines, start=1):
        balance += given["amount"]
        usual: dict[str, Any] = {
            "gaming_day": day, "played": day, "kind": "deposit", "code": "DEP", "journal": "", "entry": place,
            "counter_account": "", "slip_no": "", "round": "", "revision": None, "reverses": "",
            "balance_after": balance, "happened_at": begins, "recorded_at": begins, "reference": "",
        }  # fmt: skip
        made.append(statement_values.Line(**usual | given))
    statement = statement_values.Statement(
        id="x", account=account, currency="THB", number=int(number), gaming_day=day, begins=begins, ends=ends,
        made_at=ends, opening=opening, closing=balance, lines=tuple(made),
    )  # fmt: skip
    return csv_format.written(statement)


def take(content: bytes, *, at: datetime = NOW, form: Literal["csv", "camt.053"] = "csv") -> OutsideFile:
    cashier_ = Person.objects.filter(role="cashier").first() or a_cashier()
    with act(now=at):
        return statements.take(content, form=form, by=cashier_).file


def match(code: str = WALLET, *, day: date = DAY, at: datetime = NOW) -> Matched:
    with act(now=at):
        return statements.match(Account.objects.get(code=code), first_day=day, last_day=day)


DUE = days.bounds(DAY)[1] + timedelta(hours=settings.STATEMENTS["grace_hours"])


def states(**by: Any) -> list[tuple[str, str]]:
    return sorted(Break.objects.filter(**by).values_list("code", "state"))


def test_a_file_is_taken_in_once_whatever_its_name() -> None:
    a_deposit("A17", 500_00, "CR-1")
    content = theirs({"amount": 500_00, "reference": "CR-1"})
    assert take(content).id == take(content, at=NOW + timedelta(days=3)).id
    assert (OutsideFile.objects.count(), OutsideLine.objects.count()) == (1, 1)
    assert LogEntry.objects.filter(action="statements.taken").count() == 1


def test_lines_match_entries_and_nothing_is_left_that_was_not_said() -> None:
    a_deposit("A17", 500_00, "CR-1")
    a_withdrawal("A17", 200_00, "CR-2")
    take(
        theirs(
            {"amount": 500_00, "reference": "CR-1"},
            {"amount": -200_00, "kind": "withdrawal", "reference": ""},
        )
    )
    assert match() == Matched(WALLET, matched=2, pending=0, unnamed=0, broken={})
    assert sorted(Match.objects.values_list("by", flat=True)) == ["fields", "key"]
    assert states() == []
    assert match() == Matched(WALLET, matched=0, pending=0, unnamed=0, broken={})


BATCH = f"""<Document xmlns="{camt053.NAMESPACE}"><BkToCstmrStmt><Stmt><Id>9</Id><Acct><Id><Othr>
<Id>{WALLET}</Id></Othr></Id></Acct>
<Bal><Tp><CdOrPrtry><Cd>PRCD</Cd></CdOrPrtry></Tp><Amt Ccy="THB">0</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Dt><Dt>{DAY - timedelta(days=1)}</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="THB">300.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Dt><Dt>{DAY}</Dt></Dt></Bal>
<Ntry><Amt Ccy="THB">300.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><NtryDtls>
<Btch><NbOfTxs>3</NbOfTxs></Btch>
<TxDtls><Refs><EndToEndId>CR-1</EndToEndId></Refs></TxDtls>
<TxDtls><Refs><EndToEndId>CR-2</EndToEndId></Refs></TxDtls>
<TxDtls><Refs><EndToEndId>CR-3</EndToEndId></Refs></TxDtls>
</NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>"""


def test_one_entry_for_three_deposits_is_matched_with_all_three_and_leaves_no_break() -> None:
    for number in (1, 2, 3):
        a_deposit("A17", 100_00, f"CR-{number}")
    take(BATCH.encode(), form="camt.053")
    assert match(at=DUE) == Matched(WALLET, matched=1, pending=0, unnamed=0, broken={})
    assert (OutsideLine.objects.count(), MatchedEntry.objects.count(), states()) == (1, 3, [])


def test_a_sender_may_begin_its_numbers_anew_and_says_each_statement_once() -> None:
    a_deposit("A17", 500_00, "CR-1")
    first, differing = theirs({"amount": 500_00}), theirs({"amount": 500_01})
    take(first)
    with pytest.raises(Refusal, match="statement_differs"):
        take(differing)
    assert take(theirs({"amount": 70_00}, day=NEXT, opening=500_00), at=NOW + timedelta(days=1)).id
    assert list(OutsideStatement.objects.order_by("gaming_day").values_list("number", "gaming_day")) == [
        ("7", DAY), ("7", NEXT),
    ]  # fmt: skip


def test_a_line_without_an_entry_is_expected_then_a_break_and_clears_itself_when_the_entry_comes() -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_00, "reference": "CR-1"}, {"amount": 70_00, "reference": "CR-2"}))
    assert match().broken == {}
    assert states() == [("MISSING_LEDGER", "expected")]
    assert match(at=DUE).broken == {"MISSING_LEDGER": 1}
    assert states() == [("MISSING_LEDGER", "mismatched")]
    a_deposit("A17", 70_00, "CR-2")
    assert match(at=DUE).matched == 1
    assert states() == [("MISSING_LEDGER", "matched")]


def test_an_entry_that_no_line_names_is_missing_at_the_source_only_where_a_statement_covers_its_day() -> None:
    a_deposit("A17", 500_00, "CR-1")
    a_deposit("A17", 70_00, "CR-2")
    a_deposit("A17", 30_00, "CR-3", at=NOW + timedelta(days=1))
    take(theirs({"amount": 500_00, "reference": "CR-1"}))
    assert match(at=DUE).broken == {"MISSING_SOURCE": 1}
    take(theirs({"amount": 70_00, "reference": "CR-2"}, number="8", opening=500_00), at=DUE)
    match(at=DUE)
    assert states() == [("MISSING_SOURCE", "matched")]


def test_another_amount_under_one_key_is_a_break_at_once_and_stays_one() -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_01, "reference": "CR-1"}))
    assert match().broken == {"AMOUNT": 1}
    assert match().broken == {"AMOUNT": 1}
    (found,) = Break.objects.all()
    assert (found.code, found.amount, found.state) == ("AMOUNT", 1, "mismatched")
    assert MatchedEntry.objects.count() == 0


def test_a_line_that_another_file_said_before_is_one_too_many() -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_00, "reference": "CR-1"}))
    match()
    take(theirs({"amount": 500_00, "reference": "CR-1"}, number="8", opening=500_00))
    assert match().broken == {"DUPLICATE": 1}


def test_the_right_amount_on_the_next_gaming_day_clears_with_its_pair() -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_00}, day=NEXT), at=NOW + timedelta(days=1))
    assert match(day=NEXT).matched == 1
    assert states() == [("CUTOFF", "matched")]


def test_a_fee_that_two_people_agreed_to_clears_itself_by_its_rule() -> None:
    a_deposit("A17", 500_00, "CR-1")
    with act():
        statements.add_rule(
            id="fee-2026", kind="EXT_FEE", accounts="player:", code="FEE", most=1_50, first_day=DAY, last_day=None,
            by=world.a_manager(), approved_by=world.a_manager(badge="M02"),
        )  # fmt: skip
    take(theirs({"amount": 500_00, "reference": "CR-1"}, {"amount": -1_50, "kind": "fee"}))
    assert match() == Matched(WALLET, matched=2, pending=0, unnamed=0, broken={})
    (found,) = Break.objects.all()
    assert (found.code, found.state) == ("EXT_FEE", "matched")
    assert found.history.order_by("-ordinal").first().reason == "fee-2026"  # type: ignore[union-attr]
    assert Match.objects.get(by="rule").rule_id == "fee-2026"


def test_matching_is_a_fixed_number_of_statements() -> None:
    counted = []
    for ref, lines in (("A17", 2), ("B4", 60)):
        for number in range(lines):
            a_deposit(ref, number + 1, f"{ref}-{number}")
        take(
            theirs(
                *({"amount": number + 1, "reference": f"{ref}-{number}"} for number in range(lines)),
                account=f"player:{ref}:wallet",
            )
        )
        with statements_of() as made:
            assert match(f"player:{ref}:wallet").matched == lines
        counted.append(len(made))
    assert counted[0] == counted[1]


def test_a_line_gets_its_match_once_and_never_changes() -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_00, "reference": "CR-1"}))
    match()
    for change in ({"match": None}, {"amount": 1}, {"match": Match.objects.get(), "amount": 500_00}):
        with pytest.raises(DatabaseError), transaction.atomic():
            OutsideLine.objects.update(**change)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM settlement_outsideline")


EVIDENCE = (
    "settlement_statement",
    "settlement_statementday",
    "settlement_matchingrule",
    "settlement_outsidefile",
    "settlement_outsidestatement",
    "settlement_match",
    "settlement_matchedentry",
)


@pytest.mark.django_db(transaction=True)
def test_what_was_made_taken_and_matched_is_never_changed_whoever_asks(dsn: str, owner: Connection) -> None:
    a_deposit("A17", 500_00, "CR-1")
    take(theirs({"amount": 500_00, "reference": "CR-1"}, {"amount": -1_50, "kind": "fee"}))
    with act():
        statements.add_rule(
            id="fee-2026", kind="EXT_FEE", accounts="player:", code="FEE", most=1_50, first_day=DAY, last_day=None,
            by=world.a_manager(badge="M07"), approved_by=world.a_manager(badge="M08"),
        )  # fmt: skip
    match()
    seal(DAY)
    make()
    with psycopg.connect(dsn, autocommit=True) as application:
        for table in EVIDENCE:
            column = "gaming_day" if table == "settlement_statementday" else "id"
            change = f"UPDATE {table} SET {column} = {column}"
            for attack in (change, f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
                for who, state in ((application, "42501"), (owner, "PD001")):
                    with pytest.raises(psycopg.Error) as refused:
                        who.execute(attack)
                    assert refused.value.sqlstate == state, attack


# -- over HTTP -----------------------------------------------------------------------------------------------


def send(client: Client, content: bytes, form: str = "text/csv", **headers: str) -> Any:
    return client.post("/api/v1/outside-files", content, content_type=form, headers=headers)


def test_a_cashier_sends_a_file_and_sees_how_far_it_is_matched() -> None:
    a_deposit("A17", 500_00, "CR-1")
    client = signed_in(a_cashier())
    content = theirs({"amount": 500_00, "reference": "CR-1"}, {"amount": 1, "reference": "CR-2"})
    answer = send(client, content)
    assert answer.status_code == 201, answer.content
    match()
    again = send(client, content)
    (shown,) = body_of(again)["statements"]
    assert again.status_code == 200
    assert (shown["account"], shown["lines"], shown["matched"], shown["announced"]) == (WALLET, 2, 1, 0)
    assert body_of(client.get(f"/api/v1/outside-files/{body_of(answer)['id']}")) == body_of(again)


def test_half_a_file_is_never_taken_in() -> None:
    a_deposit("A17", 500_00, "CR-1")
    client = signed_in(a_cashier())
    content = theirs({"amount": 500_00, "reference": "CR-1"})
    cut = content[: len(content) // 2]
    for body, form, status, code in (
        (cut, "text/csv", 422, "statement_unreadable"),
        (content, "application/xml", 422, "statement_unreadable"),
        (b"x" * (5 * 1024 * 1024 + 1), "text/csv", 413, "body_too_large"),
        (content, "application/json", 415, "unsupported_media_type"),
        (theirs({"amount": 1}, account="player:nobody:wallet"), "text/csv", 422, "unknown_account"),
    ):
        assert said(send(client, body, form)) == (status, code)
    assert OutsideFile.objects.count() == OutsideLine.objects.count() == 0
    assert send(client, content).status_code == 201
    other = theirs({"amount": 500_01, "reference": "CR-1"})
    assert said(send(client, other)) == (409, "statement_differs")


def test_a_large_file_is_taken_in_though_no_other_body_may_be_so_long() -> None:
    a_deposit("A17", 500_00, "CR-1")
    content = theirs(*({"amount": 1, "reference": f"CR-{number:08}"} for number in range(2_000)))
    assert len(content) > 256 * 1024
    assert send(signed_in(a_cashier()), content).status_code == 201
    assert OutsideLine.objects.count() == 2_000


def test_a_system_sends_statements_of_its_own_cages_and_of_the_wallets_it_names() -> None:
    a_deposit("A17", 500_00, "CR-1")
    a_deposit("A17", 500_00, "CR-2")
    world.a_cage("C2")
    _, token = a_key(scopes=("take_statements", "read_statements"), cages=("C2",))
    client = Client()
    mine = {"Authorization": f"Bearer {token}"}
    assert send(client, theirs({"amount": 500_00}), **mine).status_code == 201
    _, without = a_key(scopes=("take_statements",), cages=("C2",), wallets="none")
    refused = send(client, theirs({"amount": 400_00}), Authorization=f"Bearer {without}")
    assert said(refused) == (422, "unknown_account")
    refused = send(client, theirs({"amount": -500_00}, account=CASH), **mine)
    assert said(refused) == (422, "unknown_account")
    assert client.get(f"/api/v1/accounts/{CASH}/statements", headers=mine).status_code == 404
    assert client.get(f"/api/v1/accounts/{WALLET}/statements", headers=mine).status_code == 200


def test_statements_are_fetched_as_json_csv_and_camt() -> None:
    a_deposit("A17", 500_00, "CR-1")
    seal(DAY)
    make()
    client = signed_in(world.an_auditor(badge="A09"))
    where = f"/api/v1/accounts/{WALLET}/statements"
    (listed,) = body_of(client.get(where))["statements"]
    assert body_of(client.get(f"{where}/{DAY}")) == listed
    assert (listed["number"], listed["closing"]) == (1, thb(500_00))
    table = client.get(f"{where}/{DAY}", {"format": "csv"})
    assert hashlib.sha256(table.content).hexdigest() == listed["csv_sha256"]
    assert [row["kind"] for row in csv.DictReader(io.StringIO(table.content.decode()))] == [
        "opening",
        "deposit",
        "closing",
    ]
    document = client.get(f"{where}/{DAY}", headers={"Accept": "application/xml"})
    assert hashlib.sha256(document.content).hexdigest() == listed["camt_sha256"]
    assert document["Content-Disposition"].endswith('-20260301.xml"')
    draft = body_of(client.get(f"{where}/{NEXT}"))
    assert (draft["number"], draft["opening"], draft["closing"]) == (None, thb(500_00), thb(500_00))
    assert client.get(f"{where}/yesterday").status_code == 404


def test_a_tables_statement_is_for_those_who_may_see_expected_figures() -> None:
    house = world.a_house()
    where = f"/api/v1/accounts/table:{next(iter(house.tables))}:bank/statements"
    assert signed_in(world.an_auditor()).get(where).status_code == 200
    assert signed_in(world.an_auditor(badge="A02", permissions=())).get(where).status_code == 404


def test_a_rule_of_matching_needs_two_managers() -> None:
    cage = AtCage(world.a_manager())
    world.a_manager(badge="M02")
    rule = {
        "id": "fee-2026",
        "kind": "EXT_FEE",
        "accounts": "player:",
        "most": 150,
        "first_day": days.of(timezone.now()).isoformat(),
    }
    assert said(cage.asks("POST", "matching-rules", rule | {"badge": "M01", "pin": world.PIN})) == (
        403,
        "sod_violation",
    )
    world.a_dealer()
    assert said(cage.asks("POST", "matching-rules", rule | {"badge": "D01", "pin": world.PIN})) == (
        403,
        "second_person_forbidden",
    )
    assert cage.asks("POST", "matching-rules", rule | {"badge": "M02", "pin": world.PIN}).status_code == 201
    again = cage.asks("POST", "matching-rules", rule | {"badge": "M02", "pin": world.PIN})
    assert said(again) == (422, "invalid_value")
