"""Each check finds what it is there for: the house is altered as a superuser would, every trigger switched off.

Each case says what was altered, the statement, the invariants that must find something (no others), and a subject that
the first of them must name.
"""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

# Some rows to alter: the first settlement at PD06 with a journal, its journal, a line, a card's event.
S = """(SELECT s.id FROM settlement_settlement s JOIN casino_round r ON r.id = s.round_id
          JOIN casino_table t ON t.id = r.table_id
         WHERE t.code = 'PD06' AND s.journal_id IS NOT NULL ORDER BY r.number LIMIT 1)"""
J = f"(SELECT journal_id FROM settlement_settlement WHERE id = {S})"
SR = f"(SELECT round_id FROM settlement_settlement WHERE id = {S})"
LINE = f"(SELECT id FROM settlement_line WHERE settlement_id = {S} AND net <> 0 ORDER BY ordinal LIMIT 1)"
CARD = f"(SELECT id FROM casino_roundevent WHERE round_id = {SR} AND kind = 'card_dealt' ORDER BY id LIMIT 1)"
FREE = f"""(SELECT card FROM unnest(ARRAY['2C', '3C', '4C', '5C', '6C', '7C', '8C', '9C', 'TC', 'JC', 'QC', 'KC']) AS card
             WHERE card NOT IN (SELECT payload ->> 'card' FROM casino_roundevent WHERE round_id = {SR} AND kind = 'card_dealt')
             LIMIT 1)"""
BACK = "(SELECT reversal_id FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2)"

# A guest of a house-banked round without commission gets 100 more, and every figure says so.
WON = """(SELECT l.id FROM settlement_line l JOIN settlement_settlement s ON s.id = l.settlement_id
            JOIN casino_round r ON r.id = s.round_id JOIN casino_table t ON t.id = r.table_id
           WHERE t.code = 'PD01' AND l.multiple = 1 AND s.revision = 1 AND r.id NOT IN (%(corrected)s, %(voided)s, %(disputed)s)
           ORDER BY l.id LIMIT 1)"""
OF_WON = f"(SELECT s.journal_id FROM settlement_settlement s JOIN settlement_line l ON l.settlement_id = s.id WHERE l.id = {WON})"
PAID = f"(SELECT e.id FROM settlement_entry e JOIN settlement_line l ON l.wager = e.wager WHERE e.journal_id = {OF_WON} AND l.id = {WON})"
TAKEN = f"(SELECT e.id FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id WHERE e.journal_id = {OF_WON} AND a.kind = 'bank')"
IN_STEP = f"""
    UPDATE settlement_entry e SET balance_after = e.balance_after + 100 FROM settlement_entry o
     WHERE o.id = {PAID} AND e.account_id = o.account_id AND e.version >= o.version;
    UPDATE settlement_entry e SET balance_after = e.balance_after - 100 FROM settlement_entry o
     WHERE o.id = {TAKEN} AND e.account_id = o.account_id AND e.version >= o.version;
    UPDATE settlement_entry SET amount = amount + 100 WHERE id = {PAID};
    UPDATE settlement_entry SET amount = amount - 100 WHERE id = {TAKEN};
    UPDATE settlement_account a SET balance = a.balance + 100 FROM settlement_entry o WHERE o.id = {PAID} AND a.id = o.account_id;
    UPDATE settlement_account a SET balance = a.balance - 100 FROM settlement_entry o WHERE o.id = {TAKEN} AND a.id = o.account_id;
    UPDATE settlement_settlement SET house_net = house_net - 100 WHERE id = (SELECT settlement_id FROM settlement_line WHERE id = {WON});
    UPDATE settlement_line SET stake = stake + 100, gross = gross + 100, net = net + 100 WHERE id = {WON}"""

CASES = [
    # I1, I2: the ledger
    Case("one amount", f"UPDATE settlement_entry SET amount = amount + 100 WHERE journal_id = {J} AND ordinal = 0", "I1 I17 I2 I6", "journals/"),
    Case("an amount of zero", f"UPDATE settlement_entry SET amount = 0 WHERE journal_id = {J} AND ordinal = 0", "I1 I17 I2 I6", "journals/"),
    Case("an entry gone", f"DELETE FROM settlement_entry WHERE journal_id = {J} AND ordinal = 0", "I1 I17 I2 I6", "journals/"),
    Case("an ordinal", f"UPDATE settlement_entry SET ordinal = 77 WHERE journal_id = {J} AND ordinal = 0", "I1 I17", "journals/"),
    Case("a currency", f"UPDATE settlement_entry SET currency = 'USD' WHERE journal_id = {J} AND ordinal = 0", "I1", "journals/"),
    Case("two amounts that still balance", f"UPDATE settlement_entry SET amount = amount + CASE ordinal WHEN 0 THEN 100 ELSE -100 END WHERE journal_id = {J} AND (ordinal = 0 OR account_id = (SELECT id FROM settlement_account WHERE code ~ 'bank' AND code LIKE 'table:' || (SELECT t.code FROM casino_round r JOIN casino_table t ON t.id = r.table_id WHERE r.id = {SR}) || '%%'))", "I2 I17 I6", "accounts/"),
    Case("a balance after", f"UPDATE settlement_entry SET balance_after = balance_after + 1 WHERE journal_id = {J} AND ordinal = 0", "I2", "accounts/"),
    Case("an account's balance", "UPDATE settlement_account SET balance = balance + 1 WHERE code = 'table:PD01:bank'", "I2", "accounts/table:PD01:bank"),
    Case("an account's version", "UPDATE settlement_account SET version = version + 1 WHERE code = 'table:PD01:bank'", "I2", "accounts/table:PD01:bank"),
    # I4
    Case("a revision's number", "UPDATE settlement_settlement SET revision = 3 WHERE round_id = %(corrected)s AND revision = 2", "I4 I17", "rounds/{corrected}"),
    Case("a reversal removed", "DELETE FROM settlement_entry WHERE journal_id = {BACK}; DELETE FROM settlement_journal WHERE id = {BACK}; UPDATE settlement_settlement SET reversal_id = NULL WHERE round_id = %(corrected)s AND revision = 2".replace("{BACK}", BACK), "I4 I17 I2 I12", "rounds/{corrected}"),
    Case("a reversal that inverts less", f"UPDATE settlement_entry SET amount = amount + CASE ordinal WHEN 0 THEN 100 ELSE -100 END WHERE journal_id = {BACK} AND ordinal < 2", "I4 I17 I2", "rounds/{corrected}"),
    Case("a reversal's time", f"UPDATE settlement_journal SET recorded_at = recorded_at + interval '1 s' WHERE id = {BACK}", "I4 I17", "rounds/{corrected}"),
    Case("a reversal reversed", f"UPDATE settlement_journal SET reverses_id = {BACK}, kind = 'round_reversal' WHERE id = {J}", "I4 I17 I6", "journals/"),
    Case("a standing", f"UPDATE casino_round SET standing = 'voided' WHERE id = {SR}", "I4", "rounds/"),
    Case("a settled round made open", f"UPDATE casino_round SET standing = '' WHERE id = {SR}", "I4", "rounds/"),
    Case("a held round settled", "UPDATE settlement_settlement SET round_id = %(held)s WHERE id = " + S, "I4 I17 I6 I7 I8 I9 I11", "rounds/{held}"),
    Case("a void that moves", f"UPDATE settlement_settlement SET journal_id = {BACK} WHERE round_id = %(voided)s AND outcome = 'voided'", "I4 I17 I6", "rounds/{voided}"),
    Case("a revision deleted with its journals", """
        DELETE FROM settlement_entry WHERE journal_id IN (SELECT unnest(ARRAY[journal_id, reversal_id]) FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2);
        DELETE FROM settlement_line WHERE settlement_id IN (SELECT id FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2);
        DELETE FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2""", "I2 I1 I17 I4 I6 I8 I12", "accounts/"),
    # I5
    Case("a stored answer twice", "INSERT INTO casino_storedanswer (client, key, request_sha256, status, body, answered_at) SELECT 'c', 'k', sha256(''), 200, '{}', now() FROM generate_series(1, 2)", "I5", "keys/c/k"),
    Case("a failure kept as an answer", "INSERT INTO casino_storedanswer (client, key, request_sha256, status, body, answered_at) VALUES ('c', 'k', sha256(''), 500, '{}', now())", "I5", "keys/c/k"),
    Case("a number used twice", "INSERT INTO casino_refusedevent (device_id, device_seq, claims, sha256, code, fields, extra, recorded_at) SELECT device_id, device_seq, true, sha256('x'), 'malformed', '{}', '{}', now() FROM casino_roundevent WHERE id = " + CARD, "I5 I17", "devices/"),
    Case("a journal's key twice", f"UPDATE settlement_journal SET key = (SELECT key FROM settlement_journal WHERE id = {J}) WHERE kind = 'deposit'", "I5 I17", "journals/"),
    # I6
    Case("a line's net", f"UPDATE settlement_line SET net = net + 100, gross = gross + 100 WHERE id = {LINE}", "I6 I17 I7", "rounds/"),
    Case("a line's commission", f"UPDATE settlement_line SET commission = commission + 100 WHERE id = {LINE}", "I6 I17 I7", "rounds/"),
    Case("uncovered where the house banks", f"UPDATE settlement_line SET uncovered = 100, net = net - 100 WHERE id = {LINE}", "I6 I17 I7", "rounds/"),
    Case("the house's net", f"UPDATE settlement_settlement SET house_net = house_net + 1 WHERE id = {S}", "I6 I17 I7", "rounds/"),
    Case("an account paid", f"UPDATE settlement_line SET account = 'player:A17:wallet' WHERE id = {LINE}", "I6 I17 I7", "rounds/"),
    Case("an extra balanced journal, chain continued", """
        INSERT INTO settlement_journal (id, kind, key, gaming_day, currency, entry_count, recorded_at) VALUES ('01ffffff-0000-7000-8000-000000000001', 'fill', 'x', '2026-01-01', 'THB', 2, now());
        INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
        SELECT '01ffffff-0000-7000-8000-000000000001', n, id, m, 'THB', version + 1, balance + m, '' FROM settlement_account JOIN (VALUES ('table:PD01:bank', 0, 500), ('cage:C1:vault', 1, -500)) AS v (c, n, m) ON code = c;
        UPDATE settlement_account SET balance = balance + m, version = version + 1 FROM (VALUES ('table:PD01:bank', 500), ('cage:C1:vault', -500)) AS v (c, m) WHERE code = c""", "I6 I17 I11", "journals/01ffffff"),
    Case("a journal's kind", f"UPDATE settlement_journal SET kind = 'fill' WHERE id = {J}", "I6 I17", "journals/"),
    # I7
    Case("a card of an event", f"UPDATE casino_roundevent SET payload = jsonb_set(payload, '{{card}}', to_jsonb({FREE})) WHERE id = {CARD}", "I7 I8 I6 I17", "rounds/"),
    Case("a stake of an event", f"UPDATE casino_roundevent SET payload = jsonb_set(payload, '{{stake,amount}}', '77700') WHERE id = (SELECT min(id) FROM casino_roundevent WHERE kind = 'bet_placed' AND round_id = {SR})", "I7 I8 I6 I17", "rounds/"),
    Case("a multiple of a line", f"UPDATE settlement_line SET multiple = multiple + 1 WHERE id = {LINE}", "I6 I17 I7", "rounds/"),
    Case("the step of a line", f"UPDATE settlement_line SET step = 'taem_and_luck' WHERE id = {LINE}", "I7 I17", "rounds/"),
    Case("a line gone", "DELETE FROM settlement_line WHERE id = (SELECT id FROM settlement_line WHERE net = 0 ORDER BY id LIMIT 1)", "I7 I17 I9", "rounds/"),
    Case("bytes of a sheet", "UPDATE settlement_rulesheet SET canonical = replace(canonical, '\"max_hands\":17', '\"max_hands\":16') WHERE name = 'PD01'", "I7 I17", "rule-sheets/"),
    Case("bytes of a sheet and its hash", "UPDATE settlement_rulesheet SET canonical = replace(canonical, '\"max_hands\":17', '\"max_hands\":16'), sha256 = encode(sha256(convert_to(replace(canonical, '\"max_hands\":17', '\"max_hands\":16'), 'UTF8')), 'hex') WHERE name = 'PD01'", "I17", "sheets proposed/"),
    Case("a sheet's moment in force", "UPDATE settlement_tablerules SET in_force_from = in_force_from + interval '1 h'", "I7 I17", "rounds/"),
    Case("a sheet's approval", "UPDATE settlement_rulesheet SET approved_at = approved_at + interval '1 h' WHERE name = 'PD01'", "I7 I17", "rounds/"),
    Case("a card that is none", f"UPDATE casino_roundevent SET payload = jsonb_set(payload, '{{card}}', '\"1S\"') WHERE id = {CARD}", "I7 I8 I9 I11 I6 I17", "rounds/"),
    # I8
    Case("an event gone", "DELETE FROM casino_roundevent WHERE id = (SELECT max(id) FROM casino_roundevent WHERE kind = 'note')", "I8 I17", "rounds/"),
    Case("a device's number", f"UPDATE casino_roundevent SET device_seq = 100000 WHERE id = {CARD}", "I8 I17", "devices/PD0"),
    Case("a number listed as missing that is there", "UPDATE casino_device SET holes = '[[3, 4]]' WHERE code = 'PD06-terminal'", "I8", "devices/PD06-terminal"),
    Case("a hole forgotten", "DELETE FROM casino_gapwaiver", "I8 I17", "devices/PD06-terminal"),
    Case("a device's enrolment", "UPDATE casino_device SET enrolled_at = enrolled_at + interval '1 h' WHERE code = 'PD06-terminal'", "I8 I17", "events/"),
    Case("a device's table", "UPDATE casino_device SET table_id = (SELECT id FROM casino_table WHERE code = 'PD01') WHERE code = 'PD06-terminal'", "I8 I17", "events/"),
    Case("a signer", "UPDATE casino_roundevent SET signer_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE kind = 'card_ruled'", "I8 I17", "events/"),
    Case("a cached record", f"UPDATE casino_round SET record = jsonb_set(record, '{{deck}}', '\"D9\"') WHERE id = {SR}", "I8", "rounds/"),
    Case("cards seen", f"UPDATE casino_round SET cards_seen = cards_seen # 1 WHERE id = {SR}", "I8", "rounds/"),
    Case("the record of a held round", "UPDATE casino_round SET record = jsonb_set(record, '{deck}', '\"D9\"') WHERE id = %(held)s", "I8", "rounds/{held}"),
    Case("a round settled over a gap", f"UPDATE casino_roundevent SET recorded_at = recorded_at + interval '1 h' WHERE id = (SELECT id FROM casino_roundevent e WHERE round_id = {SR} AND source LIKE '%%terminal' ORDER BY id OFFSET 2 LIMIT 1)", "I8 I17", "rounds/"),
    # I9
    Case("a card twice in a record", f"UPDATE casino_round SET record = jsonb_set(record, '{{hands,0,cards,0}}', record #> '{{hands,0,cards,1}}') WHERE id = {SR}", "I9 I8", "rounds/"),
    Case("a fourth card in a record", f"UPDATE casino_round SET record = jsonb_set(record, '{{hands,0,cards}}', '[\"2C\",\"3C\",\"4C\",\"5C\"]') WHERE id = {SR}", "I9 I8", "rounds/"),
    Case("a line's wager", f"UPDATE settlement_line SET wager = 'w99' WHERE id = {LINE}", "I9 I17 I7", "rounds/"),
    Case("a wager on a junk hand", f"UPDATE settlement_line SET hand = 'junk1' WHERE id = {LINE}", "I9 I17 I7", "rounds/"),
    # I10
    Case("a round's number", f"UPDATE casino_round SET number = 99 WHERE id = {SR}", "I10", "sessions/"),
    Case("the last round stated", "UPDATE casino_tablesession SET last_round = 99 WHERE closed_at IS NOT NULL", "I10 I17", "sessions/"),
    Case("two sessions at once", "INSERT INTO casino_tablesession (id, table_id, opened_at) SELECT gen_random_uuid(), table_id, now() FROM casino_tablesession WHERE closed_at IS NULL", "I10 I17", "tables/PD06"),
    Case("sessions that overlap", "INSERT INTO casino_tablesession (id, table_id, opened_at) SELECT gen_random_uuid(), table_id, closed_at - interval '1 s' FROM casino_tablesession WHERE closed_at IS NOT NULL", "I10 I17", "tables/PD01"),
    Case("a closed session's round still held", "UPDATE casino_round SET standing = 'held', reasons = '{missing_card}' WHERE id = %(corrected)s", "I10 I17 I4 I8", "rounds/"),
    Case("a duty", "UPDATE casino_duty SET on_at = on_at + interval '1 h', off_at = NULL WHERE role = 'dealer'", "I10 I17", "rounds/"),
    # I17
    Case("an event's kind", "UPDATE casino_roundevent SET kind = 'note' WHERE id = (SELECT max(id) FROM casino_roundevent WHERE kind = 'round_closed')", "I17 I8", "events/"),
    Case("an event's hash", f"UPDATE casino_roundevent SET sha256 = sha256('x') WHERE id = {CARD}", "I17", "events/"),
    Case("an entry of a batch gone", f"DELETE FROM audit_logentry WHERE action = 'round.recorded' AND round = {SR}", "I17 I18", "events/"),
    Case("who approved", "UPDATE settlement_settlement SET approved_by_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE round_id = %(corrected)s AND revision = 2", "I17", "settlements/"),
    Case("a settlement's entry gone", f"DELETE FROM audit_logentry WHERE action = 'round.settled' AND round = {SR}", "I17 I18 I15", "settlements/"),
    Case("the reasons of a held round", "UPDATE casino_round SET reasons = '{reads_differ}' WHERE id = %(held)s", "I17", "held rounds/{held}"),
    Case("who counted", "UPDATE settlement_count SET counted_by_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE ordinal = 2", "I17", "counts/"),
    Case("what was counted", "UPDATE settlement_count SET lines = '[{\"denomination\": 10000, \"pieces\": 401}, {\"denomination\": 2000, \"pieces\": 500}]' WHERE ordinal = 2", "I17 I12", "counts/"),
    Case("a float's expected value", "UPDATE settlement_float SET expected = 7 WHERE kind = 'closer'", "I17 I12", "floats/"),
    # I12
    Case("the first of two counts accepted", "UPDATE settlement_counting n SET accepted_id = (SELECT id FROM settlement_count c WHERE c.counting_id = n.id AND c.ordinal = 1) WHERE kind = 'closer'", "I12 I17", "countings/"),
    Case("a variance that was not posted", "UPDATE settlement_float SET expected = expected + 100 WHERE kind = 'closer'", "I12 I17", "floats/"),
    Case("what went into a box", "UPDATE settlement_drop SET recorded = 7", "I12 I17", "drops/"),
    Case("where a session's play began", "UPDATE settlement_float SET guests_version = guests_version + 5 WHERE kind = 'opener' AND session_id = (SELECT session_id FROM settlement_drop)", "I12 I17", "sessions/"),
    Case("a role", "UPDATE casino_person SET role = 'manager' WHERE badge = 'D01'", "I17", "people/"),
    Case("a permission", "UPDATE casino_person SET permissions = '{see_expected}' WHERE badge = 'D01'", "I17", "people/"),
    Case("a person nobody hired", "INSERT INTO casino_person (id, password, badge, display_name, role, permissions, pin, is_active) VALUES (gen_random_uuid(), '', 'X', 'X', 'auditor', '{}', '', true)", "I17", "people/"),
    Case("a device revoked", "UPDATE casino_device SET revoked_at = now() + interval '1 h' WHERE code = 'PD06-camera'", "I17", "devices revoked/PD06-camera"),
    Case("a device nobody enrolled", "INSERT INTO casino_device (id, code, kind, table_id, token_sha256, enrolled_at, last_seq, holes) SELECT gen_random_uuid(), 'ghost', 'camera', id, sha256('x'), now(), 0, '[]' FROM casino_table WHERE code = 'PD01'", "I17", "devices enrolled/ghost"),
    Case("who signed", "UPDATE casino_signature SET person_id = (SELECT id FROM casino_person WHERE badge = 'M02')", "I17", "signatures/"),
    Case("what a wager lacked in cover", "UPDATE settlement_uncovered SET exposure = exposure - 1", "I17 I3", "settlements/"),
    Case("an uncovered wager hidden", "DELETE FROM settlement_uncovered", "I17 I3", "settlements/"),
    Case("who waived a gap", "UPDATE casino_gapwaiver SET person_id = (SELECT id FROM casino_person WHERE badge = 'M02')", "I17", "waivers/"),
    Case("who waived missing rounds", "UPDATE casino_roundwaiver SET person_id = (SELECT id FROM casino_person WHERE badge = 'M02')", "I17", "round waivers/"),
    Case("missing rounds whose waiver is gone", "DELETE FROM casino_roundwaiver", "I10 I17", "sessions/"),
    Case("who was on duty", "UPDATE casino_duty SET person_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE role = 'dealer'", "I17", "duties/"),
    Case("who put a sheet in force", "UPDATE settlement_tablerules SET set_by_id = (SELECT id FROM casino_person WHERE badge = 'D01')", "I17", "sheets in force/"),
    Case("when a session opened", "UPDATE casino_tablesession SET opened_at = opened_at - interval '1 h'", "I17", "sessions opened/"),
    Case("a refused event's code", "UPDATE casino_refusedevent SET code = 'malformed'", "I17", "refused/"),
    Case("a journal's day", f"UPDATE settlement_journal SET gaming_day = gaming_day - 1 WHERE id = {J}", "I17 I11", "journals/"),
    Case("a wager of a posting", f"UPDATE settlement_entry SET wager = 'w99' WHERE journal_id = {J} AND ordinal = 0", "I17 I6", "journals/"),
    Case("amounts, chain, account rows and lines, all in step", IN_STEP, "I7 I17 I6 I12", "rounds/"),
    Case("a deposit deleted from the log", "DELETE FROM audit_logentry WHERE action = 'wallet.deposited'", "I17 I18 I15", "journals/"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
