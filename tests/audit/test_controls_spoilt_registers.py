"""Whatever is altered of people, places and devices is found."""

# ruff: noqa: E501 - a case is one entry, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

pytestmark = pytest.mark.full

CASES = [
    Case("what somebody may do", "UPDATE casino_person SET permissions = '{counter,runner}' WHERE badge = 'C20'", "I17", "people/"),
    Case("somebody who left comes back", "UPDATE casino_person SET is_active = true, ended_at = NULL, ended_by_id = NULL WHERE badge = 'D20'", "I17", "people/"),
    Case("who let somebody go", "UPDATE casino_person SET ended_by_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE badge = 'D20'", "I17", "people who left/"),
    Case("an appointment until later", "UPDATE casino_appointment SET until_at = now() + interval '1 year' WHERE permissions = '{runner}'", "I17", "appointments/"),
    Case("an appointment that nobody made", "INSERT INTO casino_appointment SELECT (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'role', 'manager', 'permissions', '[]'::jsonb))).* FROM casino_appointment a WHERE permissions = '{runner}'", "I17", "appointments/"),
    Case("an appointment gone", "DELETE FROM casino_appointment WHERE permissions = '{runner}'", "I17", "appointments/"),
    Case("one who appointed themselves", "UPDATE casino_appointment SET approved_by_id = person_id WHERE permissions = '{runner}'", "I13 I17", "people/"),
    Case("an appointment by one", "UPDATE casino_appointment SET approved_by_id = NULL WHERE permissions = '{runner}'", "I13 I17", "people/"),
    Case("another code for an account", "UPDATE casino_handover SET sha256 = sha256('x') WHERE used_at IS NULL AND person_id = (SELECT id FROM casino_person WHERE badge = 'C20')", "I17", "codes of people/"),
    Case("a code used that was not", "UPDATE casino_handover SET used_at = now() WHERE used_at IS NULL AND person_id = (SELECT id FROM casino_person WHERE badge = 'C20')", "I17", "codes of people used/"),
    Case("another code for a device", "UPDATE casino_enrolment SET sha256 = sha256('x') WHERE used_at IS NULL", "I17", "devices admitted/"),
    Case("another token of a device", "UPDATE casino_device SET token_sha256 = sha256('x') WHERE code = 'PD20-terminal'", "I17", "tokens of devices/"),
    Case("another token to come", "UPDATE casino_device SET next_sha256 = sha256('x') WHERE code = 'PD20-terminal'", "I17", "next tokens of devices/"),
    Case("who added a table", "UPDATE casino_table SET added_with_id = (SELECT id FROM casino_person WHERE role = 'administrator' ORDER BY badge LIMIT 1) WHERE code = 'PD20'", "I17", "tables added/"),
    Case("a table added by one", "UPDATE casino_table SET added_with_id = added_by_id WHERE code = 'PD20'", "I13 I17", "places/PD20"),
    Case("how long a table waits for its camera", "UPDATE casino_table SET camera_grace_ms = 9999 WHERE code = 'PD20'", "I17", "tables added/"),
    Case("a cage that nobody added", "INSERT INTO casino_cage SELECT 'C7', added_by_id, added_with_id, added_at FROM casino_cage WHERE code = 'C8'", "I17", "cages added/"),
    Case("a cage that ended goes on", "UPDATE casino_cage SET ended_at = NULL, ended_by_id = NULL, ended_with_id = NULL WHERE code = 'C9'", "I17", "places ended/"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
