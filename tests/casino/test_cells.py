"""A spreadsheet shows our tables and runs nothing of them."""

from __future__ import annotations

import csv
import io

import pytest

from casino.platform import csv_cells

HOSTILE = [
    '=HYPERLINK("http://x")',
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "\0x",
    "＝1",
    "＋1",
    "－1",
    "＠x",
]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_begins_as_a_formula_gets_an_apostrophe(text: str) -> None:
    ((shown,),) = read(csv_cells.cell(text))
    assert shown == "'" + text.replace("\0", "␀")


def test_a_negative_amount_stays_a_number_and_its_text_does_not() -> None:
    assert csv_cells.cell(-30000) == "-30000"
    assert csv_cells.cell("-30000") == '"\'-30000"'
    assert csv_cells.cell(True) == "1"


def test_a_line_is_written_as_rfc_4180_says_and_read_back_the_same() -> None:
    row = ['a "quote"', "a,comma", "two\r\nlines", ";=1+1", "ไทย", ""]
    (line,) = csv_cells.lines([row])
    assert line.endswith("\r\n")
    assert line.startswith('"a ""quote""","a,comma",')
    assert read(line) == [row]


def test_nothing_is_an_empty_cell_and_no_text_of_length_nothing() -> None:
    assert list(csv_cells.lines([(None, "", 0)])) == [',"",0\r\n']
