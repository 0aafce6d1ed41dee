"""Each check of covers, days, people, decisions and the log's tree finds what it is there for; as in the list of
rounds and money."""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

# The open hold of a round that is still played, and an entry in which nobody but the log itself has a part.
HOLD = "(SELECT id FROM settlement_hold WHERE round_id = %(covered)s AND ended_at IS NULL)"
WALLET = "code = 'player:A17:wallet'"
READ = "(SELECT min(id) FROM audit_logentry WHERE action = 'log.read')"
OTHER_BYTES = "convert_to(replace(convert_from(bytes, 'UTF8'), '\"entries\":0', '\"entries\":9'), 'UTF8')"
SIZE = "(SELECT max(size) FROM audit_checkpoint)"

WRITTEN = """
    WITH told AS (SELECT {origin} AS bytes) INSERT INTO audit_logentry (origin, recorded_at, action, subject, table_code,
        actor_kind, actor, person, device, role, request_id, bytes, leaf_hash)
    SELECT e ->> 'origin', (e ->> 'at')::timestamptz, e ->> 'action', e ->> 'subject', '', 'person', e #>> '{{actor,id}}',
           (e #>> '{{actor,person}}')::uuid, '', 'administrator', 'r', told.bytes, sha256('\\x00'::bytea || told.bytes)
      FROM told CROSS JOIN LATERAL (SELECT convert_from(told.bytes, 'UTF8')::jsonb AS e) AS v"""
ENTRY = """(SELECT convert_to(jsonb_build_object('v', 1, 'origin', 'pokdeng', 'at', to_char({at} AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'action', 'person.changed', 'subject', 'people/' || p.id, 'table', '', 'round', NULL,
    'request', 'r', 'actor', jsonb_build_object('kind', 'person', 'id', {by}, 'role', 'administrator', 'person', {by}),
    'data', jsonb_build_object('role', p.role, 'permissions', p.permissions, 'is_active', 0))::text, 'UTF8')
    FROM casino_person p WHERE p.badge = 'A02')"""
SOMEBODY = "(SELECT id FROM casino_person WHERE badge = 'M01')"
DISABLED = WRITTEN.format(origin=ENTRY.format(at="(now() - interval '3 d')", by=SOMEBODY))
OWN_RIGHTS = WRITTEN.format(origin=ENTRY.format(at="(now() - interval '2 min')", by="p.id"))

CASES = [
    # I3
    Case("what is held of an account", f"UPDATE settlement_account SET held = held + 1 WHERE {WALLET}", "I3", "accounts/player:A17:wallet"),
    Case("a floor", f"UPDATE settlement_account SET floor = balance WHERE {WALLET}", "I3", "accounts/player:A17:wallet"),
    Case("a hold removed, its account in step", f"UPDATE settlement_account SET held = 0 WHERE {WALLET}; DELETE FROM settlement_hold WHERE id = {HOLD}", "I3 I15", "holds/"),
    Case("a hold shortened, its account in step", f"UPDATE settlement_account SET held = held - 100 WHERE {WALLET}; UPDATE settlement_hold SET amount = amount - 100 WHERE id = {HOLD}", "I3", "holds/"),
    Case("a hold of another wager", f"UPDATE settlement_hold SET wager = 'w9' WHERE id = {HOLD}", "I3", "holds/"),
    Case("a hold ended by nobody", f"UPDATE settlement_account SET held = 0 WHERE {WALLET}; UPDATE settlement_hold SET ended_at = now(), outcome = 'changed' WHERE id = {HOLD}", "I3 I15", "holds changed/"),
    Case("a hold released without a settlement", f"UPDATE settlement_account SET held = 0 WHERE {WALLET}; UPDATE settlement_hold SET ended_at = now(), outcome = 'settled' WHERE id = {HOLD}", "I3 I15", "holds/"),
    Case("a hold that ends no more", "UPDATE settlement_account a SET held = held + h.amount FROM settlement_hold h WHERE h.outcome = 'settled' AND h.account_id = a.id; UPDATE settlement_hold SET ended_at = NULL, outcome = '' WHERE outcome = 'settled'", "I3 I15", "holds/"),
    Case("two open holds", f"UPDATE settlement_account SET held = held * 2 WHERE {WALLET}; INSERT INTO settlement_hold SELECT gen_random_uuid(), wager, amount, opened_at, ended_at, outcome, account_id, round_id FROM settlement_hold WHERE id = {HOLD}", "I3 I15", "rounds/{covered}/w1"),
    Case("a stake raised beyond its hold", "UPDATE casino_roundevent SET payload = jsonb_set(payload, '{stake,amount}', '90000') WHERE round_id = %(covered)s AND kind = 'bet_changed'", "I3 I17", "rounds/{covered}/w1"),
    Case("a flag of an uncovered wager gone", "DELETE FROM audit_flag WHERE kind = 'uncovered'", "I3 I17", "rounds/"),
    # I11
    Case("a round's gaming day", "UPDATE casino_round SET gaming_day = gaming_day + 1 WHERE id = %(corrected)s", "I11", "rounds/{corrected}"),
    Case("a settlement's gaming day", "UPDATE settlement_settlement SET gaming_day = gaming_day - 1 WHERE round_id = %(corrected)s", "I11 I17", "rounds/{corrected}"),
    Case("the day a correction is about", "UPDATE settlement_journal SET orig_day = gaming_day - 7 WHERE kind = 'round_reversal' AND round = %(corrected)s", "I11 I17", "journals/"),
    # I13
    Case("a sheet approved by who proposed it", "UPDATE settlement_rulesheet SET approved_by_id = proposed_by_id WHERE name = 'PD01'", "I13 I17 I7", "rule-sheets/"),
    Case("a sheet put in force by one person", "UPDATE settlement_tablerules SET approved_by_id = set_by_id", "I13 I17", "sheets in force/PD0"),
    Case("both counts by one person", "UPDATE settlement_count SET counted_by_id = (SELECT min(counted_by_id::text)::uuid FROM settlement_count)", "I13 I17", "countings/"),
    Case("a count that nobody made twice", "DELETE FROM settlement_count WHERE ordinal = 1", "I13 I17 I12", "floats/"),
    Case("a correction by one person", "UPDATE settlement_settlement SET approved_by_id = acted_by_id WHERE round_id = %(corrected)s AND revision = 2", "I13 I17", "rounds/{corrected}"),
    Case("decided by who raised it", "UPDATE audit_decision n SET decided_by_id = d.raised_by_id FROM audit_dispute d WHERE d.id = n.dispute_id AND d.id = %(by_two)s", "I13 I17", "decisions/{decision}"),
    Case("decided by who dealt the round", "UPDATE audit_decision SET decided_by_id = (SELECT id FROM casino_person WHERE badge = 'D01') WHERE dispute_id = %(by_two)s", "I13 I17", "decisions/{decision}"),
    Case("decided alone above the threshold", "UPDATE audit_dispute SET needs_two = true WHERE id = %(alone)s", "I13 I17", "decisions/"),
    Case("approved by somebody disabled", DISABLED, "I13 I18", "decisions/{decision}"),
    Case("rights that somebody gave themselves", OWN_RIGHTS, "I13 I17 I18", "people/"),
    # I14
    Case("a dispute's state", "UPDATE audit_dispute SET state = 'decided' WHERE id = %(waiting)s", "I14", "disputes/{waiting}"),
    Case("a decision gone", "DELETE FROM audit_decision WHERE id = %(decision)s", "I14 I17", "disputes/{by_two}"),
    Case("a proposal withdrawn by nobody", "UPDATE audit_proposal SET withdrawn_at = now() WHERE dispute_id = %(waiting)s", "I14", "disputes/{waiting}"),
    Case("a claim that nobody made", "DELETE FROM audit_logentry WHERE action = 'dispute.claimed' AND subject = 'disputes/' || %(by_two)s", "I14 I18", "disputes/{by_two}"),
    Case("the acts of a decision", "UPDATE audit_decision SET events = '{}' WHERE id = %(decision)s", "I14 I17", "decisions/{decision}"),
    Case("an act that no decision chose", "UPDATE casino_roundevent SET source = replace(source, 'd', 'e') WHERE source LIKE '/disputes/%%'", "I14 I17", "decisions/{decision}"),
    Case("the revision of a decision", "UPDATE audit_decision SET settlement = NULL WHERE id = %(decision)s", "I14 I17", "decisions/{decision}"),
    Case("a revision because of nothing", "UPDATE settlement_settlement SET because = gen_random_uuid() WHERE round_id = %(disputed)s AND revision = 2", "I14 I17", "decisions/{decision}"),
    Case("a correction that nobody approved", "UPDATE settlement_settlement SET approved_by_id = NULL WHERE round_id = %(corrected)s AND revision = 2", "I14 I17", "rounds/{corrected}"),
    # I17
    Case("what a proposal said", "UPDATE audit_proposal SET note = 'seen once' WHERE dispute_id = %(by_two)s", "I17", "proposals/"),
    Case("why a dispute was raised", "UPDATE audit_dispute SET reason = '' WHERE id = %(by_two)s", "I17", "disputes raised/"),
    Case("a flag nobody raised", "INSERT INTO audit_flag SELECT gen_random_uuid(), 'late_bet', 'rounds/x', '{}', now(), 'open', NULL, '', '', NULL, NULL, NULL, NULL, NULL, NULL", "I17", "flags raised/"),
    Case("why a flag was closed", "UPDATE audit_flag SET close_reason = 'no reason' WHERE state = 'closed'", "I17", "flags closed/"),
    Case("a flag's dispute", "UPDATE audit_flag SET dispute = gen_random_uuid() WHERE state = 'disputed'", "I17", "flags disputed/"),
    Case("what a screen found", """UPDATE audit_analysisresult SET body = jsonb_set(body, '{expected}', '"9"')""", "I17", "analyses/"),
    Case("how much a screen looked at", "UPDATE audit_analysisresult SET rounds = rounds + 1", "I17", "analyses/"),
    Case("a screen's answer gone", "DELETE FROM audit_analysisresult", "I17", "analyses/"),
    # I18
    Case("bytes of an entry", f"UPDATE audit_logentry SET bytes = {OTHER_BYTES} WHERE id = {READ}", "I18", "leaves/pokdeng/"),
    Case("bytes of an entry and its hash", f"UPDATE audit_logentry SET bytes = {OTHER_BYTES}, leaf_hash = sha256('\\x00'::bytea || {OTHER_BYTES}) WHERE id = {READ}", "I18", "leaves/pokdeng/"),
    Case("a column that repeats an entry's bytes", f"UPDATE audit_logentry SET table_code = 'PD06' WHERE id = {READ}", "I18", "log/"),
    Case("the first leaf", "DELETE FROM audit_leaf WHERE index = 0", "I18 I19", "leaves/pokdeng/"),
    Case("a leaf in the middle", "DELETE FROM audit_leaf WHERE index = 77", "I18 I19", "leaves/pokdeng/"),
    Case("the last leaf", "DELETE FROM audit_leaf WHERE index = (SELECT max(index) FROM audit_leaf)", "I18 I19", "leaves/pokdeng"),
    Case("two leaves swapped", "UPDATE audit_leaf SET index = 78 + 77 - index WHERE index IN (77, 78)", "I18 I19", "leaves/pokdeng/"),
    Case("an entry passed over", "UPDATE audit_leaf SET index = index - 1 WHERE index > (SELECT index FROM audit_leaf WHERE entry_id = {READ}); DELETE FROM audit_leaf WHERE entry_id = {READ}; UPDATE audit_frontier SET size = size - 1".replace("{READ}", READ), "I18 I19", "log/"),
    Case("an entry that waits", "INSERT INTO audit_logentry (origin, recorded_at, action, subject, table_code, actor_kind, actor, device, role, request_id, bytes, leaf_hash) SELECT origin, now() - interval '2 min', action, subject, table_code, actor_kind, actor, device, role, request_id, v.bytes, sha256('\\x00'::bytea || v.bytes) FROM audit_logentry CROSS JOIN LATERAL (SELECT convert_to(jsonb_set(convert_from(bytes, 'UTF8')::jsonb, '{at}', to_jsonb(to_char((now() - interval '2 min') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')))::text, 'UTF8') AS bytes) AS v WHERE action = 'log.read' LIMIT 1", "I18", "log/"),
    Case("where the edge ends", "UPDATE audit_frontier SET last_id = last_id + 1", "I18", "leaves/pokdeng"),
    Case("a leaf of another log", f"UPDATE audit_logentry SET origin = 'other' WHERE id = {READ}", "I18", "leaves/pokdeng/"),
    # I19
    Case("an entry, its hash and its leaf together", f"UPDATE audit_logentry SET bytes = {OTHER_BYTES}, leaf_hash = sha256('\\x00'::bytea || {OTHER_BYTES}) WHERE id = {READ}; UPDATE audit_leaf l SET leaf_hash = e.leaf_hash FROM audit_logentry e WHERE e.id = l.entry_id AND e.id = {READ}", "I19", "checkpoints/pokdeng/"),
    Case("a signed root", f"UPDATE audit_checkpoint SET root = sha256('other') WHERE size = {SIZE}", "I19", "checkpoints/pokdeng/"),
    Case("a note", f"UPDATE audit_checkpoint SET note = replace(note, 'pokdeng', 'another') WHERE size = {SIZE}", "I19", "checkpoints/pokdeng/"),
    Case("a note of another size", "UPDATE audit_checkpoint c SET note = o.note FROM audit_checkpoint o WHERE o.size > c.size", "I19", "checkpoints/pokdeng/"),
    Case("a checkpoint of more than there is", f"INSERT INTO audit_checkpoint (origin, size, root, note, signed_at) SELECT origin, size + 1000, root, note, signed_at FROM audit_checkpoint WHERE size = {SIZE}", "I19", "checkpoints/pokdeng/"),
    Case("two checkpoints of one size", f"INSERT INTO audit_checkpoint (origin, size, root, note, signed_at) SELECT origin, size, root, note, signed_at FROM audit_checkpoint WHERE size = {SIZE}", "I19", "checkpoints/pokdeng/"),
    Case("a kept subtree", "UPDATE audit_subtree SET hash = sha256('other')", "I19", "subtrees/pokdeng/8/0"),
    Case("a peak of the edge", "UPDATE audit_frontier SET peaks[1] = sha256('other')", "I19", "leaves/pokdeng"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
