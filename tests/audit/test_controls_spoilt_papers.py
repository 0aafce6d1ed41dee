"""Each check of slips and pay slips finds exactly what it is there for."""

# ruff: noqa: E501 - a case is one entry, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

STEP = "(SELECT id FROM settlement_slipstep WHERE slip_id = %({})s AND step = '{}')"
OTHER = "(SELECT id FROM casino_person WHERE badge = 'C02')"

CASES = [
    # I12
    Case("a slip's number", "UPDATE settlement_slip SET number = number + 100 WHERE id = %(deposited)s", "I12 I17", "series/fill"),
    Case("two slips of one number", "UPDATE settlement_slip SET number = 1 WHERE kind = 'fill' AND number = 2", "I12 I17", "series/fill"),
    Case("a number given and on no paper", "UPDATE settlement_series SET last = last + 1 WHERE kind = 'credit'", "I12", "series/credit"),
    Case("a void slip's number taken away", "UPDATE settlement_slip SET number = NULL, series_id = NULL, cage = '' WHERE id = %(slip_void)s", "I12 I17", "series/fill"),
    Case("a pay slip's number", "UPDATE settlement_payslip SET number = 9 WHERE id = %(pay_slip_void)s", "I12 I17", "series/pay_slip"),
    Case("a credit numbered as a fill", "UPDATE settlement_slip SET kind = 'fill' WHERE id = %(received)s", "I12 I6 I13 I17", "series/credit"),
    Case("a slip back in transit", "UPDATE settlement_slip SET state = 'in_transit' WHERE id = %(received)s", "I12", "slips/{received}"),
    Case("a slip in transit said to be void", "UPDATE settlement_slip SET state = 'void' WHERE id = %(in_transit)s", "I12", "slips/{in_transit}"),
    Case("what a slip carries", "UPDATE settlement_slip SET lines = '[{\"denomination\": 10000, \"pieces\": 21}, {\"denomination\": 2000, \"pieces\": 45}]' WHERE id = %(deposited)s", "I12", "slips/{deposited}"),
    Case("what somebody counted in", f"UPDATE settlement_slipstep SET lines = '[{{\"denomination\": 10000, \"pieces\": 30}}]' WHERE id = {STEP.format('deposited', 'received')}", "I12 I17", "slips/{deposited}"),
    Case("what a pay slip is worth", "UPDATE settlement_payslip SET amount = amount + 100 WHERE id = %(in_force)s", "I12 I17", "accounts/suspense:slips:PD06"),
    Case("what a guest had before", "UPDATE settlement_payslip SET settled_before = settled_before - 100, amount = amount + 100 WHERE id = %(paid)s", "I12 I17", "pay-slips/{paid}"),
    Case("a pay slip of another wager", "UPDATE settlement_payslip SET wager = 'w99' WHERE id = %(paid)s", "I12 I17", "pay-slips/{paid}"),
    Case("a pay slip paid again", "UPDATE settlement_payslip SET state = 'issued', cage = '', paid_by_id = NULL, paid_second_id = NULL, paid_at = NULL, payment_journal_id = NULL WHERE id = %(paid)s", "I12 I6 I17", "accounts/suspense:slips:PD06"),
    Case("a void pay slip paid", "UPDATE settlement_payslip SET state = 'paid', cage = 'C1', paid_by_id = (SELECT id FROM casino_person WHERE badge = 'C01'), paid_at = voided_at, payment_journal_id = void_journal_id, void_journal_id = NULL, voided_at = NULL, voided_by_id = NULL, void_reason = '' WHERE id = %(pay_slip_void)s", "I12 I6 I17", "pay-slips/{pay_slip_void}"),
    Case("a pay slip paid after its round was settled anew", "UPDATE settlement_payslip p SET paid_at = now() + interval '1 h' WHERE id = %(paid)s; INSERT INTO settlement_settlement SELECT (jsonb_populate_record(s, jsonb_build_object('id', '01ffffff-0000-7000-8000-000000000001', 'revision', 2, 'supersedes_id', s.id, 'journal_id', NULL, 'settled_at', now()))).* FROM settlement_settlement s JOIN settlement_payslip p ON p.settlement_id = s.id WHERE p.id = %(paid)s", "I12 I4 I6 I7 I9 I14 I17", "pay-slips/{paid}"),
    Case("a payment's journal", "UPDATE settlement_payslip SET payment_journal_id = issue_journal_id WHERE id = %(paid)s", "I12 I6 I17", "pay-slips/{paid}"),
    # I13
    Case("who asked issued", f"UPDATE settlement_slipstep SET by_id = (SELECT by_id FROM settlement_slipstep WHERE id = {STEP.format('deposited', 'requested')}) WHERE id = {STEP.format('deposited', 'issued')}", "I13 I17", "slips/{deposited}"),
    Case("who issued carried", f"UPDATE settlement_slipstep SET by_id = (SELECT by_id FROM settlement_slipstep WHERE id = {STEP.format('deposited', 'issued')}) WHERE id = {STEP.format('deposited', 'in_transit')}", "I13 I17", "slips/{deposited}"),
    Case("who issued received", f"UPDATE settlement_slipstep SET by_id = (SELECT by_id FROM settlement_slipstep WHERE id = {STEP.format('received', 'issued')}) WHERE id = {STEP.format('received', 'received')}", "I13 I17", "slips/{received}"),
    Case("a fill received by one", f"UPDATE settlement_slipstep SET second_id = NULL WHERE id = {STEP.format('deposited', 'received')}", "I13 I17", "slips/{deposited}"),
    Case("who counted compared", f"UPDATE settlement_slipstep SET by_id = {OTHER} WHERE id = {STEP.format('received', 'compared')}", "I13 I17", "slips/{received}"),
    Case("who issued a pay slip paid it", "UPDATE settlement_payslip SET paid_by_id = issued_by_id WHERE id = %(paid)s", "I13 I17", "pay-slips/{paid}"),
    Case("one cashier signed a payment twice", "UPDATE settlement_payslip SET paid_second_id = paid_by_id WHERE id = %(paid)s", "I13 I17", "pay-slips/{paid}"),
    # I17
    Case("who received", f"UPDATE settlement_slipstep SET by_id = (SELECT id FROM casino_person WHERE badge = 'M01') WHERE id = {STEP.format('received', 'received')}", "I17", "slips/{received}/4"),
    Case("why a slip is void", f"UPDATE settlement_slipstep SET reason = 'other' WHERE id = {STEP.format('slip_void', 'void')}", "I17", "slips/{slip_void}/2"),
    Case("the number of a paper", "UPDATE settlement_slip SET manual_number = 'A-0018' WHERE manual_number <> ''", "I17", "slips/{received}"),
    Case("a cage", "UPDATE settlement_slip SET cage = 'C2' WHERE id = %(slip_void)s", "I17", "slips/{slip_void}"),
    Case("a step gone", f"DELETE FROM settlement_slipstep WHERE id = {STEP.format('received', 'compared')}", "I17", "slips/{received}/5"),
    Case("a step nobody told of", "INSERT INTO settlement_slipstep (slip_id, ordinal, step, by_id, lines, reason, taken_at) SELECT slip_id, 9, 'compared', by_id, lines, '', now() FROM settlement_slipstep WHERE step = 'requested' AND slip_id = %(in_transit)s", "I17 I13", "slips/{in_transit}/9"),
    Case("who paid", f"UPDATE settlement_payslip SET paid_by_id = {OTHER}, paid_second_id = NULL WHERE id = %(paid)s", "I17", "pay slips/{paid}"),
    Case("why a pay slip is void", "UPDATE settlement_payslip SET void_reason = 'other' WHERE id = %(pay_slip_void)s", "I17", "pay slips/{pay_slip_void}"),
    Case("that a void pay slip was paid in chips", "UPDATE settlement_payslip SET void_in_chips = true WHERE id = %(pay_slip_void)s", "I17", "pay slips/{pay_slip_void}"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
