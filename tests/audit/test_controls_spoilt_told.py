"""What was not told, told otherwise, or told to nobody is found: the outbox is altered as a superuser would."""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

# A message of a settled round at PD01, its round, and a delivery of each state.
M = "(SELECT m.id FROM settlement_message m WHERE m.type = 'round.settled' AND m.\"table\" = 'PD01' ORDER BY m.id LIMIT 1)"
R = f"(SELECT round_id FROM settlement_message WHERE id = {M})"
OF_M = f"DELETE FROM settlement_attempt WHERE delivery_id IN (SELECT id FROM settlement_delivery WHERE message_id = {M}) OR id = (SELECT max(id) FROM settlement_attempt); DELETE FROM settlement_delivery WHERE message_id = {M}"
HOLD_TOLD = "(SELECT id FROM settlement_message WHERE type = 'wallet.held' ORDER BY id LIMIT 1)"
SETTLED_TOLD = "(SELECT id FROM settlement_message WHERE type = 'wallet.settled' ORDER BY id LIMIT 1)"
DELIVERED = "(SELECT min(id) FROM settlement_delivery WHERE state = 'delivered')"
GIVEN_UP = "(SELECT min(id) FROM settlement_delivery WHERE state = 'given_up')"
DUE = "(SELECT max(id) FROM settlement_delivery WHERE state = 'due')"
LAST = "(SELECT max(revision) FROM settlement_endpointchange)"


def message_gone(type: str) -> str:
    """A message and what was owed of it deleted, and those behind it in its round counted anew."""
    one = f"(SELECT id FROM settlement_message WHERE type = '{type}' ORDER BY id DESC LIMIT 1)"
    return f"DELETE FROM settlement_delivery WHERE message_id = {one}; DELETE FROM settlement_message WHERE id = {one}"


CASES = [
    Case("a settlement's message gone", f"{OF_M}; DELETE FROM settlement_message WHERE id = {M}", "I15", "messages/round.settled/"),
    *(
        Case(f"the message of {type} gone", message_gone(type), "I15", f"messages/{type}")
        for type in (
            "round.voided",
            "round.held",
            "round.corrected",
            "dispute.decided",
            "wallet.deposited",
            "count.recorded",
            "wallet.withdrawn",
            "slip.issued",
            "slip.received",
            "slip.voided",
            "pay_slip.issued",
            "pay_slip.paid",
            "pay_slip.voided",
            "break.opened",
            "statement.ready",
        )
    ),
    Case("a message that no act booked", "INSERT INTO settlement_message (id, type, subject, \"table\", body, as_of_change, booked_at, request_id) SELECT gen_random_uuid(), 'day.sealed', '', '', json_build_object('type', 'day.sealed', 'timestamp', now(), 'data', '{}'::json)::text, 0, now(), 'x'", "I15", "messages/day.sealed"),
    Case("a message of another act", f"UPDATE settlement_message SET request_id = 'other' WHERE id = {M}", "I15", "messages/round.settled/"),
    Case("a message of another time", f"UPDATE settlement_message SET booked_at = booked_at + interval '1 s' WHERE id = {M}", "I15", "messages/round.settled/"),
    Case("a hold that nobody was told of", message_gone("wallet.held"), "I15", "holds/"),
    Case("a hold told twice", f"UPDATE settlement_message SET body = replace(body, (SELECT id::text FROM settlement_hold ORDER BY id LIMIT 1), (SELECT id::text FROM settlement_hold ORDER BY id DESC LIMIT 1)) WHERE id = {HOLD_TOLD}", "I15", "holds/"),
    Case("what a round moved in a wallet, gone", message_gone("wallet.settled"), "I15", "holds/"),
    Case("what a round moved in a wallet, told otherwise", f'UPDATE settlement_message SET body = regexp_replace(body, \'"net":."amount":-?\', \'"net":{{"amount":1\') WHERE id = {SETTLED_TOLD}', "I15", "journals/"),
    Case("a delivery gone", f"DELETE FROM settlement_delivery WHERE id = {DUE}", "I15", "messages/"),
    Case("a delivery to one who did not ask", f"UPDATE settlement_delivery SET endpoint_id = %(gone)s WHERE id = {DUE}", "I15", "messages/"),
    Case("an endpoint's types", "UPDATE settlement_endpoint SET types = array_remove(types, 'round.settled') WHERE id = %(listener)s", "I15 I17", "messages/"),
    Case("a message owed to an older list", f"UPDATE settlement_message SET as_of_change = 0 WHERE id = {M}", "I15", "messages/"),
    Case("a message owed to a list that was not", f"UPDATE settlement_message SET as_of_change = {LAST} + 1 WHERE id = {M}", "I15", "messages/"),
    Case("a disabled endpoint open again", "UPDATE settlement_endpoint SET state = 'enabled' WHERE id = %(gone)s", "I15", "endpoints/{gone}"),
    Case("a change of the list gone", f"DELETE FROM settlement_endpointchange WHERE revision = {LAST} - 1", "I15 I17", "endpoints"),
    Case("a number of a round", f"UPDATE settlement_message SET number = 9 WHERE id = {M}", "I15", "rounds/"),
    Case("bytes of another type", f"UPDATE settlement_message SET body = replace(body, 'round.settled', 'round.voided') WHERE id = {M}", "I15", "messages/"),
    Case("bytes of another time", f'UPDATE settlement_message SET body = regexp_replace(body, \'"timestamp":"20\', \'"timestamp":"19\') WHERE id = {M}', "I15", "messages/"),
    Case("delivered without a try", f"DELETE FROM settlement_attempt WHERE delivery_id = {DELIVERED}", "I15", "deliveries/"),
    Case("given up in silence", f"UPDATE settlement_delivery SET state = 'given_up', finished_at = now() WHERE id = {DUE}", "I15", "deliveries/"),
    Case("due to nobody", f"UPDATE settlement_delivery SET state = 'due', finished_at = NULL, due_at = now() - interval '1 day' WHERE id = {GIVEN_UP}", "I15", "deliveries/"),
    Case("claimed for ever", f"UPDATE settlement_delivery SET state = 'claimed', lease_until = now() - interval '1 day' WHERE id = {DUE}", "I16", "deliveries/"),
    Case("a target's port", "UPDATE settlement_approvedtarget SET port = 5432 WHERE host = 'hooks.example'", "I17", "targets/"),
    Case("a target by one person", "UPDATE settlement_approvedtarget SET approved_by_id = set_by_id WHERE host = 'hooks.example'", "I13 I17", "targets/"),
    Case("a target that nobody approved", "INSERT INTO settlement_approvedtarget (id, host, port, ranges, set_by_id, approved_by_id, set_at) SELECT gen_random_uuid(), 'evil.example', port, ranges, set_by_id, approved_by_id, now() FROM settlement_approvedtarget LIMIT 1", "I17", "targets/"),
    Case("an endpoint's address", "UPDATE settlement_endpoint SET url = 'https://evil.example/' WHERE id = %(listener)s", "I17", "endpoints/"),
    Case("an endpoint opened by one", "UPDATE settlement_endpointchange SET approved_by_id = changed_by_id WHERE endpoint_id = %(listener)s", "I13 I17", "endpoints/{listener}"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.altered)
def test_what_was_altered_of_the_outbox_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
