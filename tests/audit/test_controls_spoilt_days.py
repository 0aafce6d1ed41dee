"""Each check of days, shifts and reports finds what it is there for; as in the list of rounds and money."""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

YESTERDAY = "(SELECT day FROM settlement_gamingday WHERE state = 'sealed')"
JOURNAL = "(SELECT id FROM settlement_journal WHERE kind = 'break_resolved')"
OTHER = "(SELECT id FROM casino_person WHERE badge = 'M02')"

CASES = [
    # I11
    Case("a journal moved into a sealed day", f"UPDATE settlement_journal SET gaming_day = {YESTERDAY} WHERE id = {JOURNAL}", "I11 I17", "days/"),
    Case("a journal moved behind a sealed day", f"UPDATE settlement_journal SET gaming_day = {YESTERDAY} - 9 WHERE id = {JOURNAL}", "I11 I17", "journals/"),
    Case("how many journals a sealed day has", "UPDATE settlement_gamingday SET journals = 7 WHERE state = 'sealed'", "I11 I17", "days/"),
    Case("when a day begins", "UPDATE settlement_gamingday SET begins_at = begins_at - interval '1 h' WHERE state = 'sealed'", "I11 I17", "days/"),
    Case("a day opened before a sealed one", f"INSERT INTO settlement_gamingday SELECT (jsonb_populate_record(g, jsonb_build_object('day', g.day - 1, 'begins_at', g.begins_at - interval '1 day', 'ends_at', g.begins_at, 'state', 'open', 'begun_at', '2020-01-01', 'sealed_at', NULL, 'sealed_by_id', NULL, 'seconded_by_id', NULL, 'closing_at', NULL, 'closing_by_id', NULL, 'last_entry', NULL, 'journals', NULL))).* FROM settlement_gamingday g WHERE day = {YESTERDAY}", "I11 I17", "days/"),
    # I13
    Case("a day sealed by one", "UPDATE settlement_gamingday SET seconded_by_id = sealed_by_id WHERE state = 'sealed'", "I13 I17", "days/"),
    Case("a day sealed by who closed it", "UPDATE settlement_gamingday SET sealed_by_id = closing_by_id WHERE state = 'sealed'", "I13 I17", "days/"),
    Case("a shift closed by one", "UPDATE settlement_shift SET closed_with_id = closed_by_id", "I13 I17", "shifts/{shift}"),
    Case("a shift opened by one", "UPDATE settlement_shift SET opened_with_id = opened_by_id", "I13 I17", "shifts/{shift}"),
    Case("a shift that nobody closed and that is not overdue", "UPDATE settlement_shift SET closed_by_id = NULL, closed_with_id = NULL", "I13 I17", "shifts/{shift}"),
    # I17
    Case("who sealed a day", f"UPDATE settlement_gamingday SET sealed_by_id = {OTHER} WHERE state = 'sealed'", "I17", "days sealed/"),
    Case("who opened a day", f"UPDATE settlement_gamingday SET opened_by_id = {OTHER} WHERE opened_at IS NOT NULL", "I17", "days opened/"),
    Case("which tables a day was opened with", "UPDATE settlement_gamingday SET tables = '[]' WHERE opened_at IS NOT NULL", "I17", "days opened/"),
    Case("who closed a day", f"UPDATE settlement_gamingday SET closing_by_id = {OTHER} WHERE state = 'sealed'", "I17", "days closing/"),
    Case("the zone of a day and its bounds with it", "UPDATE settlement_gamingday SET begun_at = begun_at - interval '1 s' WHERE state = 'sealed'", "I17", "days begun/"),
    Case("who closed a shift", f"UPDATE settlement_shift SET closed_by_id = {OTHER}", "I17", "shifts closed/{shift}"),
    Case("which tables a shift had", "UPDATE settlement_shift SET tables = '[]'", "I17", "shifts opened/{shift}"),
    Case("what a day's report says", "UPDATE settlement_report SET canonical = canonical || ' ' WHERE kind = 'day'", "I17", "reports/{sealed_report}"),
    Case("a day's report and its hash", "UPDATE settlement_report SET canonical = 'x', sha256 = encode(sha256('x'), 'hex') WHERE kind = 'day'", "I17", "days sealed/"),
    Case("a file of a day's report", "UPDATE settlement_reportfile SET content = 'x' WHERE format = 'pdf' AND report_id = %(sealed_report)s", "I17", "reports/{sealed_report}/pdf"),
    Case("a file of a report and its hash", "UPDATE settlement_reportfile SET content = 'x', sha256 = encode(sha256('x'), 'hex') WHERE format = 'csv' AND report_id = %(sealed_report)s", "I17", "days sealed/"),
    Case("a report gone", "DELETE FROM settlement_reportfile WHERE report_id = %(sealed_report)s; DELETE FROM settlement_report WHERE id = %(sealed_report)s", "I17", "days sealed/"),
    Case("a day said not to be sealed", "UPDATE settlement_gamingday SET state = 'closing', sealed_at = NULL, sealed_by_id = NULL, seconded_by_id = NULL, last_entry = NULL, journals = NULL WHERE state = 'sealed'", "I17", "days sealed/"),
    Case("what the day's job found", "UPDATE settlement_dayjob SET found = '{}'", "I17", "days turned/"),
    Case("the day's job forgotten", "DELETE FROM settlement_dayjob", "I17", "days turned/"),
    # Statements of the sealed day
    Case("what a statement says was there at the end", "UPDATE settlement_statement SET closing = closing + 1", "I17", "statements made/"),
    Case("the bytes of a statement", "UPDATE settlement_statement SET camt_sha256 = sha256('x')", "I17", "statements made/"),
    Case("how many statements a day has", "UPDATE settlement_statementday SET statements = statements + 1", "I17", "statements finished/"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
