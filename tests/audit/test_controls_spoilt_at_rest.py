"""Each check of what is at rest, and of breaks, finds what it is there for; as in the list of rounds and money."""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

CHUNK = "(SELECT min(id) FROM settlement_chunk)"
BREAK = "(SELECT id FROM settlement_break WHERE fingerprint = 'built')"
COPY = "INSERT INTO {table} SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).* FROM {table} r WHERE {which}"

CASES = [
    # I16
    Case("a chunk claimed and forgotten", f"UPDATE settlement_chunk SET state = 'claimed', owner = 'gone', lease_until = now() - interval '1 h' WHERE id = {CHUNK}", "I16", "reconciliations/"),
    Case("a chunk that a done run left", f"DELETE FROM settlement_result WHERE chunk_id = {CHUNK}; UPDATE settlement_chunk SET state = 'waiting' WHERE id = {CHUNK}", "I16", "reconciliations/"),
    Case("a run that nobody closed", "UPDATE settlement_run SET done_at = NULL, begun_at = now() - interval '1 h'", "I16 I17", "reconciliations/"),
    Case("a chunk without its result", f"DELETE FROM settlement_result WHERE chunk_id = {CHUNK}", "I16", "reconciliations/"),
    Case("a result of an earlier claim", f"UPDATE settlement_chunk SET attempts = attempts + 1 WHERE id = {CHUNK}", "I16", "reconciliations/"),
    Case("a difference that is two breaks", COPY.format(table="settlement_break", which="fingerprint = 'built'"), "I16 I17 I6", "breaks/AMOUNT/accounts/variance:PD06"),
    Case("a break that jumped back", f"UPDATE settlement_break SET state = 'mismatched' WHERE id = {BREAK}", "I16", "breaks/"),
    Case("a step of a break gone", f"DELETE FROM settlement_breakstep WHERE of_id = {BREAK} AND ordinal = 2", "I16 I17", "breaks/"),
    Case("a day's run done twice", COPY.format(table="settlement_run", which="kind = 'nightly'"), "I16 I17", "jobs/reconcile/"),
    # I13
    Case("a break approved by who resolved it", f"UPDATE settlement_break SET approved_by_id = resolved_by_id WHERE id = {BREAK}", "I13 I17", "breaks/"),
    # I6
    Case("a break's journal that nothing asks for", f"UPDATE settlement_break SET journal_id = NULL WHERE id = {BREAK}", "I6 I17", "journals/"),
    # I17
    Case("what a break found", f"UPDATE settlement_break SET amount = 6 WHERE id = {BREAK}", "I17", "breaks/"),
    Case("why a break was", f"UPDATE settlement_breakstep SET reason = 'nothing' WHERE of_id = {BREAK} AND ordinal = 3", "I17", "steps of breaks/"),
    Case("who explained a break", f"UPDATE settlement_breakstep SET by_id = (SELECT id FROM casino_person WHERE badge = 'D01') WHERE of_id = {BREAK} AND ordinal = 3", "I17", "steps of breaks/"),
    Case("what a run reported", "UPDATE settlement_run SET digest = repeat('0', 64)", "I17", "reconciliations/"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
