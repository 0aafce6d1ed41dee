"""A sealed day's report says what the day came to and how well each figure is known, in bytes that never change."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from datetime import timedelta
from typing import Any

import openpyxl
import pytest

from settlement import cashier, reports
from settlement.models import Account, Report, ReportFile
from settlement.reports import figures, layout, page, spreadsheet
from settlement.reports.layout import Heading, Section
from tests.settlement import daybook, floor
from tests.settlement.daybook import DAY, EVENING, MORNING, WON, a_sealed_day, closed, compared, sealed
from tests.settlement.floor import a_person, a_table, act, outcome

pytestmark = pytest.mark.django_db


def told(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(report.canonical))
    return found


def figures_of(report: Report, place: str = "PD01") -> dict[str, tuple[int | None, str]]:
    content = told(report)
    (found,) = [one for one in [*content["tables"], content["house_totals"]] if one["place"] == place]
    return {name: (one["value"], one["grade"]) for name, one in found["figures"].items()}


# -- what it says --------------------------------------------------------------------------------------------


def test_a_table_that_paid_two_guests_a_hundred_each() -> None:
    """Two rounds of 100 baht, both won by the guest: 10,000 baht in the morning, 9,800 at night, nothing in the box."""
    _, report = a_sealed_day(rounds=2)
    found = figures_of(report)

    assert {
        name: found[name] for name in ("turnover", "judged_win", "tray_win", "wallet_win", "commission")
    } == {
        "turnover": (200_00, "ruled"),
        "judged_win": (-200_00, "ruled"),
        "tray_win": (-200_00, "ruled"),
        "wallet_win": (0, "ruled"),
        "commission": (0, "ruled"),
    }
    assert {name: found[name] for name in found if name.startswith("rounds_")} == {
        "rounds_settled": (2, "ruled"),
        "rounds_voided": (0, "ruled"),
        "rounds_corrected": (0, "ruled"),
        "rounds_held": (0, "ruled"),
    }
    names = (
        "opener",
        "fills",
        "credits",
        "drop",
        "closer",
        "win",
        "variance",
        "takes",
        "pays",
        "estimated_win",
    )
    assert {name: found[name] for name in names} == {
        "opener": (10_000_00, "counted"),
        "fills": (0, "counted"),
        "credits": (0, "counted"),
        "drop": (0, "counted"),
        "closer": (9_800_00, "counted"),
        "win": (-200_00, "counted"),
        "variance": (0, "counted"),
        "takes": (0, "ruled"),
        "pays": (200_00, "ruled"),
        "estimated_win": (-200_00, "estimated"),
    }
    assert found["hold_rate"] == (None, "unknown")
    assert figures_of(report, "house")["win"] == (-200_00, "counted")


def test_a_tray_that_is_short_says_so_in_the_count_and_in_the_ledger() -> None:
    _, report = a_sealed_day(rounds=1, short=500)
    found = figures_of(report)
    assert (found["win"], found["variance"], found["variance_posted"]) == (
        (-600_00, "counted"),
        (-500_00, "counted"),
        (-500_00, "counted"),
    )
    (closer,) = [one for one in told(report)["counts"] if one["kind"] == "closer"]
    assert (closer["counted"], closer["expected"]) == (9_400_00, 9_900_00)


def test_what_was_not_counted_is_unknown_and_never_nought() -> None:
    """The table plays on over the start hour and nobody counts: its day is an estimate by its lines, and says so."""
    table = daybook.a_counted_table()
    outcome(table.tell(WON))
    closed()
    compared()
    daybook.a_table_closed(table, last_round=1, baht=9_900, now=daybook.ENDS + timedelta(hours=1))
    report = sealed()
    (shown,) = told(report)["tables"]
    win = shown["figures"]["win"]
    assert (win["value"], win["grade"], win["why"]) == (None, "unknown", "start_hour_uncounted")
    assert (figures_of(report)["estimated_win"], shown["figures"]["estimated_win"]["source"]) == (
        (-100_00, "estimated"),
        "lines",
    )
    total = told(report)["house_totals"]["figures"]["win"]
    assert (total["value"], total["known"], total["of"]) == (None, 0, 1)
    assert told(report)["uncounted"] == ["PD01"]


def test_cash_and_wallets_are_those_of_the_ledger() -> None:
    floor.paid_in("A17", 700_00)
    with act(now=EVENING):
        cashier.withdraw(ref="A17", amount=200_00, cage="C1", document="w")
    _, report = a_sealed_day()

    assert figures_of(report, "house")["cash_in"] == (700_00, "ruled")
    assert figures_of(report, "house")["cash_out"] == (200_00, "ruled")
    (wallets,) = told(report)["wallets"]
    assert (wallets["wallets"], wallets["liability"]["value"]) == (1, 500_00)


def test_wallets_stand_as_they_did_when_the_day_ended_whatever_came_since() -> None:
    floor.paid_in("A17", 700_00)
    closed()
    compared()
    floor.paid_in("A17", 50_00, now=MORNING)
    assert told(sealed(now=MORNING + timedelta(hours=1)))["wallets"][0]["liability"]["value"] == 700_00


def test_the_ledger_of_the_day_adds_up_to_nothing() -> None:
    floor.paid_in("A17", 700_00)
    _, report = a_sealed_day()
    movements = told(report)["movements"]
    assert sum(one["amount"] for one in movements) == 0
    assert not [
        one for one in movements if one["account"].startswith("player:") and "*" not in one["account"]
    ]


def test_the_header_says_what_it_is_of_when_and_up_to_where() -> None:
    _, report = a_sealed_day()
    content = told(report)
    assert content["title"]["en"] == "Gaming day report"
    assert (content["version"], content["period"]["gaming_day"]) == (1, "2026-03-01")
    assert content["made_at"] == "2026-03-02T09:00:00+07:00"
    assert (content["period"]["begins_at"], content["period"]["ends_at"]) == (
        "2026-03-01T06:00:00+07:00",
        "2026-03-02T06:00:00+07:00",
    )
    assert content["as_of"]["entry"] > 0
    assert content["as_of"]["event"] > 0
    assert content["signed"] == ["A01", "A02"]


def test_the_earlier_days_that_a_day_was_about_are_listed_in_it() -> None:
    table = a_table()
    round_id = table.tell(WON)
    outcome(round_id)
    table.tell("rule dealer.2 8D", round=round_id)  # while its supervisor is there to sign
    daybook.a_table_closed(table, last_round=1)
    closed()
    compared()
    sealed()
    floor.corrected(round_id, now=MORNING)
    next_day = DAY + timedelta(days=1)
    closed(next_day, now=MORNING + timedelta(hours=1))
    compared(next_day)
    report = sealed(next_day, now=MORNING + timedelta(days=1))

    assert sorted((one["kind"], one["orig_day"]) for one in told(report)["about_earlier_days"]) == [
        ("round", "2026-03-01"),
        ("round_reversal", "2026-03-01"),
    ]


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [(45_500, 142_000, 3204), (45_300, 142_000, 3190), (-45_500, 142_000, -3204), (0, 5, 0), (1, 20_000, 1)],
)
def test_a_rate_is_rounded_half_away_from_nought(part: int, whole: int, expected: int) -> None:
    assert figures.rate_bp(part, whole) == expected


# -- its bytes -----------------------------------------------------------------------------------------------


def test_the_report_and_its_files_have_the_hashes_they_say() -> None:
    _, report = a_sealed_day()
    assert hashlib.sha256(bytes(report.canonical)).hexdigest() == report.sha256
    files = {one.format: one for one in ReportFile.objects.filter(report=report)}
    assert set(files) == {"csv", "xlsx", "pdf"}
    for one in files.values():
        assert hashlib.sha256(bytes(one.content)).hexdigest() == one.sha256


def test_files_made_again_from_the_same_report_are_the_same_bytes() -> None:
    _, report = a_sealed_day()
    stored = {one.format: bytes(one.content) for one in ReportFile.objects.filter(report=report)}
    again = reports.files(told(report), sha256=report.sha256)
    assert {name: content == stored[name] for name, content in again.items()} == {
        "csv": True,
        "xlsx": True,
        "pdf": True,
    }


def test_the_workbook_opens_and_its_numbers_are_numbers() -> None:
    _, report = a_sealed_day()
    book = openpyxl.load_workbook(
        io.BytesIO(bytes(ReportFile.objects.get(report=report, format="xlsx").content))
    )
    assert {"report", "figures", "sessions", "movements"} <= set(book.sheetnames)
    rows = list(book["figures"].iter_rows(min_row=3, values_only=True))
    (turnover,) = [row for row in rows if row[:2] == ("PD01", "turnover")]
    assert (turnover[3], turnover[4], turnover[5]) == (200_00, "THB minor", "ruled")
    (lost,) = [row for row in rows if row[:2] == ("PD01", "judged_win")]
    assert lost[3] == -200_00


def test_the_table_for_spreadsheets_names_every_figure() -> None:
    _, report = a_sealed_day()
    content = bytes(ReportFile.objects.get(report=report, format="csv").content).decode()
    rows = list(csv.reader(io.StringIO(content)))
    assert [
        "PD01",
        "judged_win",
        "กำไรตามผลที่ตัดสิน",
        "-20000",
        "THB minor",
        "ruled",
        "lines",
        "2",
        "2",
        "",
    ] in rows


def test_the_page_is_a_pdf_of_the_same_report() -> None:
    _, report = a_sealed_day()
    content = bytes(ReportFile.objects.get(report=report, format="pdf").content)
    assert content.startswith(b"%PDF-1.7")


HOSTILE = Section(
    "x",
    "ก",
    "=HYPERLINK(1)",
    (Heading("a", "", "@a"), Heading("b", "", "b")),
    (("=1+1", -5), ("+66", None), ("\x00\x07", 7), ("＝2", 0)),
)


def test_text_that_begins_like_a_formula_stays_text_and_a_negative_amount_a_number() -> None:
    book = openpyxl.load_workbook(io.BytesIO(spreadsheet.xlsx([HOSTILE], made_at=MORNING)))
    cells = [cell for row in book["x"].iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s", "n"}
    assert [cell.value for cell in book["x"]["A"]][2:] == ["'=1+1", "'+66", "'␀␀", "'＝2"]
    assert [cell.value for cell in book["x"]["B"]][2:] == [-5, None, 7, 0]
    lines = spreadsheet.csv([HOSTILE]).decode().split("\r\n")
    assert lines[2:4] == ['"\'=1+1",-5', '"\'+66",']


def test_nothing_in_a_report_can_change_how_its_page_is_set() -> None:
    hostile = Section("x", "#panic()", "] #eval(1)", (Heading("a", "", "$x$"),), (("#read(1)",),))
    made = [page.pdf([hostile], title=["*", "_"], day="#", sha256="@", made_at=MORNING) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0].startswith(b"%PDF")


def test_amounts_are_written_as_people_write_them() -> None:
    assert [page.money(amount) for amount in (0, -5, 123_456_78, -100)] == [
        "0.00",
        "−0.05",
        "123,456.78",
        "−1.00",
    ]


def test_a_figure_without_a_value_must_say_why() -> None:
    with pytest.raises(AssertionError):
        figures.figure(None, grade=figures.UNKNOWN, source="counts")
    with pytest.raises(AssertionError):
        figures.figure(0, grade=figures.UNKNOWN, source="counts", why="x")


def test_every_figure_of_a_report_has_its_name_in_two_languages() -> None:
    _, report = a_sealed_day()
    named = {name for one in told(report)["tables"] for name in one["figures"]}
    assert named | set(told(report)["house_totals"]["figures"]) <= set(layout.FIGURES)


# -- a shift's -----------------------------------------------------------------------------------------------


def test_a_shift_counts_the_rounds_that_closed_in_it() -> None:
    table = a_table()
    outcome(table.tell(WON))
    later = EVENING + timedelta(hours=2)
    shift = daybook.a_shift(now=EVENING + timedelta(minutes=5), tables=[table])
    outcome(table.tell(WON, at=later), now=later + timedelta(seconds=5))
    second = a_person("M04", "manager")
    with act(now=later + timedelta(hours=1)):
        report = reports.close_shift(shift=shift.id, by=table.supervisor, second=second)

    assert figures_of(report)["rounds_settled"] == (1, "ruled")
    content = told(report)
    assert content["title"]["en"] == "Shift report"
    assert content["signed"] == [table.supervisor.badge, "M04"]


def test_an_overdue_shift_says_that_nobody_signed() -> None:
    daybook.a_shift()
    with act(now=EVENING + timedelta(hours=25)):
        reports.turn()
    content = told(Report.objects.get(kind="shift"))
    assert (content["signed"], content["shift"]["overdue"]) == ([], True)


def test_no_wallet_is_named_in_a_report() -> None:
    floor.paid_in("A17", 700_00)
    _, report = a_sealed_day()
    assert Account.objects.filter(code="player:A17:wallet").exists()
    assert b"A17" not in bytes(report.canonical)
