"""What a cashier system was asked or is told, altered as a superuser would, is found."""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

# Of the one round that was played for a wallet elsewhere: w1 was held and settled, w2 never asked for; both corrected.
HELD = "(SELECT id FROM settlement_externalhold WHERE round_id = %(elsewhere)s AND state = 'settled' AND NOT late)"
SILENT = "(SELECT id FROM settlement_externalhold WHERE round_id = %(elsewhere)s AND state = 'refused')"
SETTLED = (
    f"(SELECT id FROM settlement_externalcall WHERE hold_id = {HELD} AND verb = 'settle' AND revision = 1)"
)
REVERSED = f"(SELECT id FROM settlement_externalcall WHERE hold_id = {HELD} AND verb = 'reverse')"
AGAIN = (
    f"(SELECT id FROM settlement_externalcall WHERE hold_id = {HELD} AND verb = 'settle' AND revision = 2)"
)

CASES = [
    Case("a hold still open", f"UPDATE settlement_externalhold SET state = 'held', ended_at = NULL WHERE id = {HELD}", "I3 I17", "external-holds/"),
    Case("a hold over before its round", f"UPDATE settlement_externalhold SET ended_at = ended_at - interval '1 s' WHERE id = {HELD}", "I3 I17", "external-holds/"),
    Case("a hold gone, its wager uncovered", f"UPDATE settlement_externalhold SET late = true WHERE id = {HELD}", "I3 I17", "rounds/{elsewhere}/w1"),
    Case("a hold for less", f"UPDATE settlement_externalhold SET exposure = exposure - 100 WHERE id = {HELD}", "I3 I17", "rounds/{elsewhere}/w1"),
    Case("a hold of another wager's stake", f"UPDATE settlement_externalhold SET stake = stake + 1 WHERE id = {HELD}", "I17", "holds elsewhere/"),
    Case("silence made a yes", f"UPDATE settlement_externalhold SET state = 'changed', reason = '' WHERE id = {SILENT}", "I17", "answers from elsewhere/"),
    Case("a release that nobody owes", f"DELETE FROM settlement_externalcall WHERE hold_id = {SILENT}", "I15 I17", "external-holds/"),
    Case("a net told otherwise", f"UPDATE settlement_externalcall SET moves = moves + 100 WHERE id = {AGAIN}", "I15 I17", "rounds/{elsewhere}/revisions/2/w1"),
    Case("a net that is not told", f"DELETE FROM settlement_externalcall WHERE id = {AGAIN}", "I15 I17", "rounds/{elsewhere}/revisions/2/w1"),
    Case("a net that is not taken back", f"DELETE FROM settlement_externalcall WHERE id = {REVERSED}", "I15 I17", "rounds/{elsewhere}/revisions/1/w1"),
    Case("other bytes to be sent", f"UPDATE settlement_externalcall SET body = '{{}}' WHERE id = {AGAIN}", "I17", "calls owed/"),
    Case("sent to another path", f"UPDATE settlement_externalcall SET path = '/evil' WHERE id = {AGAIN}", "I17", "calls owed/"),
    Case("acknowledged by nobody", f"UPDATE settlement_externalcall SET state = 'acknowledged', acknowledged_at = now() WHERE id = {AGAIN}", "I17", "calls acknowledged/"),
    Case("an acknowledgement taken back", f"UPDATE settlement_externalcall SET state = 'due', acknowledged_at = NULL WHERE id = {SETTLED}", "I17", "calls acknowledged/"),
    Case("claimed for ever", f"UPDATE settlement_externalcall SET state = 'claimed', lease_until = now() - interval '1 day' WHERE id = {AGAIN}", "I16", "external-calls/"),
    Case("a system's address", "UPDATE settlement_cashiersystem SET url = 'https://evil.example/'", "I17", "cashier systems/royal"),
    Case("a system by one person", "UPDATE settlement_cashiersystem SET approved_by_id = set_by_id", "I13 I17", "cashier-systems/royal"),
    Case("a system switched off by nobody", "UPDATE settlement_cashiersystem SET enabled = false", "I17", "cashier systems in use/royal"),
    Case("a wallet of theirs posted to one of ours", "UPDATE settlement_line SET account = 'player:A17:wallet' WHERE account LIKE 'external:%%' AND wager = 'w1' AND settlement_id = (SELECT id FROM settlement_settlement WHERE round_id = %(elsewhere)s AND revision = 1)", "I6 I7 I15 I17", "rounds/{elsewhere}/revisions/1"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.altered)
def test_what_was_altered_of_wallets_elsewhere_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
