"""A database's administrator alters a copy of a sealed house, everything in step that he can reach: found all the same.

Each row says what was altered and how, the checks that must find it (``named``), those that find it besides, and the
step at which a stranger's check of a dossier made afterwards fails. A row that nothing finds is a hole in the house.
"""

# ruff: noqa: E501 - a row is one entry, so that the list can be read as a table
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest
from django.utils import timezone

from audit import seal
from casino import events
from casino.events import Fact
from tests.attacks.tampering import CHECKED, Administrator, found_by_the_books, verified
from tests.audit.conftest import Played
from tests.audit.sealing import sealed, the_sealer

Alteration = Callable[[Administrator], None]


class Row(NamedTuple):
    altered: str
    how: str | Alteration
    named: str
    besides: str = ""
    step: str = ""
    round: str = "corrected"
    in_the_way: tuple[tuple[str, str], ...] = ()


HASH = ("audit_logentry", "log_entry_hash_is_of_its_bytes")
COLUMNS = ("audit_logentry", "log_entry_columns_are_its_bytes")
SHEET_HASH = ("settlement_rulesheet", "rule_sheet_hash_of_its_bytes")
"""CHECKs that an administrator has to drop as well."""


@pytest.fixture
def administrator(played: Played, tmp_path: Path) -> Administrator:
    return Administrator(played, tmp_path)


# A round at PD01 that was settled once, no wallet in it; its settlement, its journal, a card and a stake of it.
ROUND = """(SELECT r.id FROM casino_round r JOIN casino_table t ON t.id = r.table_id
             WHERE t.code = 'PD01' AND r.standing = 'settled' AND NOT r.in_dispute
               AND (SELECT count(*) FROM settlement_settlement s WHERE s.round_id = r.id AND s.journal_id IS NOT NULL) = 1
               AND (SELECT count(*) FROM settlement_settlement s WHERE s.round_id = r.id) = 1
             ORDER BY r.number LIMIT 1)"""
S = f"(SELECT id FROM settlement_settlement WHERE round_id = {ROUND})"
J = f"(SELECT journal_id FROM settlement_settlement WHERE id = {S})"
CARD = f"(SELECT min(id) FROM casino_roundevent WHERE round_id = {ROUND} AND kind = 'card_dealt')"
STAKE = f"(SELECT min(id) FROM casino_roundevent WHERE round_id = {ROUND} AND kind = 'bet_placed')"
FREE = f"""(SELECT card FROM unnest(ARRAY['2C', '3C', '4C', '5C', '6C', '7C', '8C', '9C', 'TC', 'JC', 'QC', 'KC']) AS card
             WHERE card NOT IN (SELECT payload ->> 'card' FROM casino_roundevent WHERE round_id = {ROUND} AND kind = 'card_dealt') LIMIT 1)"""
BACK = "(SELECT reversal_id FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2)"
HOLD = "(SELECT id FROM settlement_hold WHERE round_id = %(covered)s AND ended_at IS NULL)"
HELD = "(SELECT account_id FROM settlement_hold WHERE round_id = %(covered)s AND ended_at IS NULL)"
SHEET = "name = 'PD01'"
OTHER_SHEET = "replace(canonical, '\"max_hands\":17', '\"max_hands\":16')"
ENTRY = "(SELECT id FROM audit_logentry WHERE action = 'round.settled' AND round = %(corrected)s)"
LEAF = f"(SELECT index FROM audit_leaf WHERE entry_id = {ENTRY})"
OTHER_BYTES = "convert_to(replace(convert_from(bytes, 'UTF8'), '\"request\":\"built\"', '\"request\":\"other\"'), 'UTF8')"


def a_journal_more(administrator: Administrator) -> None:
    administrator.alter(
        "INSERT INTO settlement_journal (id, kind, key, gaming_day, currency, entry_count, recorded_at)"
        " SELECT '01ffffff-0000-7000-8000-000000000001', 'fill', 'fill:more', gaming_day, 'THB', 2, recorded_at"
        " FROM settlement_journal ORDER BY recorded_at DESC LIMIT 1",
        "INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)"
        " SELECT '01ffffff-0000-7000-8000-000000000001', n, id, m, 'THB', version + 1, balance + m, '' FROM settlement_account"
        " JOIN (VALUES ('table:PD06:bank', 0, 500), ('cage:C1:vault', 1, -500)) AS v (c, n, m) ON code = c",
        "UPDATE settlement_account SET balance = balance + m, version = version + 1"
        " FROM (VALUES ('table:PD06:bank', 500), ('cage:C1:vault', -500)) AS v (c, m) WHERE code = c",
    )


def paid_more_in_step(administrator: Administrator) -> None:
    """A guest's win of one stake was one of ten baht more: amounts, chain, accounts and lines say so."""
    line, settlement, wager, journal = administrator.rows(
        "SELECT l.id, s.id, l.wager, s.journal_id FROM settlement_line l JOIN settlement_settlement s ON s.id = l.settlement_id"
        " JOIN casino_round r ON r.id = s.round_id JOIN casino_table t ON t.id = r.table_id"
        " WHERE t.code = 'PD01' AND l.multiple = 1 AND r.id NOT IN (SELECT round_id FROM settlement_settlement WHERE revision = 2)"
        " ORDER BY l.id LIMIT 1"
    )[0]
    find = "SELECT e.id FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id WHERE e.journal_id = %s AND "
    administrator.move(administrator.one(find + "e.wager = %s", [journal, wager]), 1000)
    administrator.move(administrator.one(find + "a.kind = 'bank'", [journal]), -1000)
    administrator.alter(
        "UPDATE settlement_settlement SET house_net = house_net - 1000 WHERE id = %(settlement)s",
        "UPDATE settlement_line SET stake = stake + 1000, gross = gross + 1000, net = net + 1000 WHERE id = %(line)s",
        settlement=settlement, line=line,
    )  # fmt: skip
    administrator.told["touched"] = administrator.one(
        "SELECT round_id FROM settlement_settlement WHERE id = %s", [settlement]
    )


def another_card_in_step(administrator: Administrator) -> None:
    """A guest's card was another one: every read of it, the record, the lines and the ledger say so."""
    settlement = administrator.one(f"SELECT {S}")
    round_id = administrator.one(f"SELECT {ROUND}")
    administrator.told["touched"] = round_id
    before = administrator.case_of(settlement)
    moved = {(account, wager) for account, wager, _ in before.posted}
    slots = administrator.rows(
        "SELECT DISTINCT payload ->> 'hand', payload -> 'position', payload ->> 'card' FROM casino_roundevent"
        " WHERE round_id = %s AND kind = 'card_dealt' AND payload ->> 'hand' <> 'dealer' ORDER BY 1, 2", [round_id],
    )  # fmt: skip
    dealt = {card for _, _, card in slots}
    change = (
        "UPDATE casino_roundevent SET payload = jsonb_set(payload, '{card}', to_jsonb(%(card)s::text)) WHERE kind = 'card_dealt'"
        " AND round_id = %(round)s AND payload ->> 'hand' = %(hand)s AND payload -> 'position' = %(position)s::text::jsonb"
    )
    for hand, position, was in slots:
        for card in ("2C", "3D", "4H", "5S", "6C", "7D", "8H", "9S"):
            if card in dealt:
                continue
            administrator.alter(change, card=card, round=round_id, hand=hand, position=position)
            case = administrator.case_of(settlement)
            moves = case.judged.moves(table=case.table)
            if {(account, wager) for account, wager, _ in moves} == moved and moves != before.posted:
                administrator.settle_as(settlement, case)
                return
            administrator.alter(change, card=was, round=round_id, hand=hand, position=position)
    raise AssertionError("no card leads to other amounts in the same accounts")


def inserted_among_others(administrator: Administrator) -> None:
    """An entry with an old time takes a place of its own in the middle; every leaf behind it moves on."""
    administrator.alter(
        "INSERT INTO audit_logentry (xid, origin, recorded_at, action, subject, table_code, actor_kind, actor, device, role, request_id, bytes, leaf_hash)"
        " SELECT xid, origin, recorded_at, action, subject, table_code, actor_kind, actor, device, role, request_id, bytes, leaf_hash"
        " FROM audit_logentry WHERE action = 'person.created' ORDER BY id LIMIT 1"
    )


def inserted_and_rebuilt(administrator: Administrator) -> None:
    """The same, and the tree over it as well; only the checkpoints are as they were signed."""
    inserted_among_others(administrator)
    signed = administrator.rows("SELECT size, root, note FROM audit_checkpoint")
    administrator.rebuild()
    for size, root, note in signed:
        administrator.alter(
            "UPDATE audit_checkpoint SET root = %(root)s, note = %(note)s WHERE size = %(size)s",
            size=size, root=root, note=note,
        )  # fmt: skip


ROWS = [
    Row("one ledger amount", f"UPDATE settlement_entry SET amount = amount + 100 WHERE journal_id = {J} AND ordinal = 0", "I1 I2", "I6 I12 I17"),
    Row("an account's balance", "UPDATE settlement_account SET balance = balance + 100 WHERE code = 'table:PD01:bank'", "I2"),
    Row("an account's version", "UPDATE settlement_account SET version = version + 1 WHERE code = 'table:PD01:bank'", "I2"),
    Row("two ledger amounts that still balance", f"UPDATE settlement_entry e SET amount = amount + CASE WHEN a.kind = 'bank' THEN -100 ELSE 100 END FROM settlement_account a WHERE a.id = e.account_id AND e.journal_id = {J} AND (a.kind = 'bank' OR e.ordinal = 0)", "I2 I6", "I12 I17"),
    Row("amounts, chain, account rows and lines, all in step", paid_more_in_step, "I7 I17", "I6 I12", "V5", "touched"),
    Row("an extra balanced journal, chain continued", a_journal_more, "I6 I17"),
    Row("a hold removed", f"UPDATE settlement_account SET held = 0 WHERE id = {HELD}; DELETE FROM settlement_hold WHERE id = {HOLD}", "I3 I15"),
    Row("a hold shortened", f"UPDATE settlement_account SET held = held - 100 WHERE id = {HELD}; UPDATE settlement_hold SET amount = amount - 100 WHERE id = {HOLD}", "I3"),
    Row("a reversal removed", f"DELETE FROM settlement_entry WHERE journal_id = {BACK}; DELETE FROM settlement_journal WHERE id = {BACK}; UPDATE settlement_settlement SET reversal_id = NULL WHERE round_id = %(corrected)s AND revision = 2", "I4", "I2 I12 I17", "V5"),
    Row("a revision deleted with its journals", """
        DELETE FROM settlement_line WHERE settlement_id IN (SELECT id FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2);
        DELETE FROM settlement_entry WHERE journal_id IN (SELECT unnest(ARRAY[journal_id, reversal_id]) FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2);
        DELETE FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 2;
        DELETE FROM settlement_journal j WHERE NOT EXISTS (SELECT FROM settlement_entry e WHERE e.journal_id = j.id)""", "I2 I17", "I8 I12", "V5"),
    Row("the first revision deleted with its journal", """
        DELETE FROM settlement_line WHERE settlement_id IN (SELECT id FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 1);
        DELETE FROM settlement_entry WHERE journal_id = (SELECT journal_id FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 1);
        DELETE FROM settlement_settlement WHERE round_id = %(corrected)s AND revision = 1;
        DELETE FROM settlement_journal j WHERE NOT EXISTS (SELECT FROM settlement_entry e WHERE e.journal_id = j.id)""", "I2 I4 I17", "I12", "V5"),
    Row("a card in an event", f"UPDATE casino_roundevent SET payload = jsonb_set(payload, '{{card}}', to_jsonb({FREE})) WHERE id = {CARD}", "I7 I8 I17", "I6 I9"),
    Row("a stake in an event", f"UPDATE casino_roundevent SET payload = jsonb_set(payload, '{{stake,amount}}', '77700') WHERE id = {STAKE}", "I7 I8 I17", "I6"),
    Row("a device's number in an event", f"UPDATE casino_roundevent SET device_seq = 100000 WHERE id = {CARD}", "I8 I17"),
    Row("events, record, settlement and ledger, all in step", another_card_in_step, "I17", "I12", "V5", "touched"),
    Row("bytes of a rule sheet", f"UPDATE settlement_rulesheet SET canonical = {OTHER_SHEET} WHERE {SHEET}", "I7 I17", "", "V5", in_the_way=(SHEET_HASH,)),
    Row("bytes of a rule sheet and its hash", f"UPDATE settlement_rulesheet SET canonical = {OTHER_SHEET}, sha256 = encode(sha256(convert_to({OTHER_SHEET}, 'UTF8')), 'hex') WHERE {SHEET}", "I17", "", "V5"),
    Row("a rule sheet's moment in force", "UPDATE settlement_tablerules SET in_force_from = in_force_from + interval '1 h'", "I7 I17"),
    Row("who decided", "UPDATE audit_decision SET decided_by_id = (SELECT id FROM casino_person WHERE badge = 'M01') WHERE id = %(decision)s", "I17"),
    Row("who decided, so that it was one person", "UPDATE audit_decision n SET decided_by_id = d.raised_by_id FROM audit_dispute d WHERE d.id = n.dispute_id AND n.id = %(decision)s", "I13 I17"),
    Row("who counted", "UPDATE settlement_count SET counted_by_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE ordinal = 2", "I17"),
    Row("who approved", "UPDATE settlement_settlement SET approved_by_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE round_id = %(corrected)s AND revision = 2", "I17", "", "V5"),
    Row("who was granted a role", "UPDATE casino_person SET role = 'manager' WHERE badge = 'D01'", "I17"),
    Row("an outbox row deleted", "DELETE FROM settlement_delivery WHERE message_id IN (SELECT id FROM settlement_message WHERE round_id = %(corrected)s AND type = 'round.corrected'); DELETE FROM settlement_message WHERE round_id = %(corrected)s AND type = 'round.corrected'", "I15"),
    Row("a delivery deleted", "DELETE FROM settlement_delivery WHERE message_id IN (SELECT id FROM settlement_message WHERE round_id = %(corrected)s AND type = 'round.corrected')", "I15"),
    Row("a slip's number", "UPDATE settlement_slip SET number = number + 100 WHERE id = %(deposited)s", "I12 I17"),
    Row("a slip's number and the last one given, so that none is missing", "UPDATE settlement_slip SET number = 4 WHERE id = %(slip_void)s; UPDATE settlement_slip s SET number = 2 FROM settlement_series n WHERE n.id = s.series_id AND s.kind = 'fill' AND s.number = 3; UPDATE settlement_slip SET number = 3 WHERE id = %(slip_void)s", "I17"),
    Row("a pay slip's payment", "UPDATE settlement_payslip SET state = 'issued', cage = '', paid_by_id = NULL, paid_second_id = NULL, paid_at = NULL, payment_journal_id = NULL WHERE id = %(paid)s", "I12 I17", "I6"),
    Row("bytes of an audit entry", f"UPDATE audit_logentry SET bytes = {OTHER_BYTES} WHERE id = {ENTRY}", "I18", "", "V1", in_the_way=(HASH, COLUMNS)),
    Row("bytes of an audit entry and its hash", f"UPDATE audit_logentry SET bytes = {OTHER_BYTES}, leaf_hash = sha256('\\x00'::bytea || {OTHER_BYTES}) WHERE id = {ENTRY}", "I18", "", "V1", in_the_way=(COLUMNS,)),
    Row("an entry, its hash and its leaf together", f"UPDATE audit_logentry SET bytes = {OTHER_BYTES}, leaf_hash = sha256('\\x00'::bytea || {OTHER_BYTES}), request_id = 'other' WHERE id = {ENTRY}; UPDATE audit_leaf l SET leaf_hash = e.leaf_hash FROM audit_logentry e WHERE e.id = l.entry_id AND e.id = {ENTRY}", "I19", "I15", "V2"),
    Row("two leaves swapped", f"UPDATE audit_leaf SET index = index + 1000000 WHERE index IN ({LEAF}, {LEAF} + 1); UPDATE audit_leaf SET index = 2 * (SELECT min(index) FROM audit_leaf WHERE index >= 1000000) - index + 1 - 1000000 WHERE index >= 1000000", "I19", "I18", "V2"),
    Row("the first leaf deleted", "DELETE FROM audit_leaf WHERE index = 0", "I18 I19"),
    Row("a leaf in the middle deleted", "DELETE FROM audit_leaf WHERE index = (SELECT max(index) / 2 FROM audit_leaf)", "I18 I19"),
    Row("the last leaf deleted", "DELETE FROM audit_leaf WHERE index = (SELECT max(index) FROM audit_leaf)", "I18 I19"),
    Row("an entry inserted with an old time", inserted_among_others, "I18"),
    Row("an entry inserted with an old time, the tree rebuilt", inserted_and_rebuilt, "I19", "", "V2"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[row.altered for row in ROWS])
def test_what_was_altered_is_found_by_the_check_that_is_named(row: Row, administrator: Administrator) -> None:
    if isinstance(row.how, str):
        administrator.alter(*row.how.split(";"), dropping=row.in_the_way)
    else:
        row.how(administrator)

    assert found_by_the_books() == {*row.named.split(), *row.besides.split()}
    if row.step:
        assert verified(administrator, administrator.told[row.round]) == row.step


def test_an_untouched_copy_is_clean_and_its_dossiers_are_verified(
    administrator: Administrator, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.note"
    kept.write_text(administrator.kept)
    assert found_by_the_books(checkpoint=kept) == set()
    for round_id in (administrator.told["corrected"], administrator.told["disputed"]):
        assert verified(administrator, round_id, kept=administrator.kept) == CHECKED


def test_triggers_are_on_again_as_they_were_and_still_refuse(administrator: Administrator) -> None:
    administrator.alter(
        "UPDATE settlement_entry SET wager = wager WHERE id = (SELECT min(id) FROM settlement_entry)"
    )
    with pytest.raises(Exception, match="its rows are evidence") as refused:
        administrator.played.administrator.execute("UPDATE settlement_entry SET wager = 'w9'")
    assert getattr(refused.value, "sqlstate", "") == "PD001"


def read_on_and_sealed(administrator: Administrator) -> str:
    """Let forty more entries be written and sealed that nobody's row tells of; return the newest checkpoint."""
    with events.act(actor=events.SERVICE, request_id="read", now=timezone.now()):
        events.announce([Fact("log.read", "log", {"before": page}) for page in range(40)])
    return sealed(administrator.played.store)


def cut_everywhere(administrator: Administrator, entries: int) -> None:
    """The newest entries with their leaves and checkpoints, and the edge as if they had never been."""
    size = administrator.one("SELECT size FROM audit_frontier") - entries
    administrator.alter("DELETE FROM audit_checkpoint WHERE size > %(size)s", size=size)
    administrator.alter("DELETE FROM audit_leaf WHERE index >= %(size)s", size=size)
    administrator.alter(
        "DELETE FROM audit_logentry e WHERE NOT EXISTS (SELECT FROM audit_leaf l WHERE l.entry_id = e.id)"
    )
    administrator.rebuild()


def test_the_newest_entries_cut_everywhere_are_missed_by_the_exported_checkpoint_and_by_the_sealer(
    administrator: Administrator, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.note"
    kept.write_text(read_on_and_sealed(administrator))
    cut_everywhere(administrator, 40)

    assert found_by_the_books() == set(), "what is left hangs together"
    assert found_by_the_books(checkpoint=kept) == {"I19"}
    with the_sealer(), pytest.raises(seal.Stopped, match="behind"):
        seal.sign_checkpoint(store=administrator.played.store, now=timezone.now())


def test_a_tree_rebuilt_and_signed_with_the_real_key_is_not_the_tree_of_a_checkpoint_kept_elsewhere(
    administrator: Administrator, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.note"
    kept.write_text(administrator.kept)
    administrator.alter(
        f"UPDATE audit_logentry SET bytes = {OTHER_BYTES}, leaf_hash = sha256('\\x00'::bytea || {OTHER_BYTES}), request_id = 'other' WHERE id = {ENTRY}",
        "UPDATE settlement_message SET request_id = 'other' WHERE round_id = %(corrected)s AND type = 'round.settled'",
    )
    administrator.rebuild()

    assert found_by_the_books() == set(), "what is left hangs together"
    assert found_by_the_books(checkpoint=kept) == {"I19"}
    assert verified(administrator, administrator.told["corrected"]) == CHECKED, "to whoever kept nothing"
    assert verified(administrator, administrator.told["corrected"], kept=administrator.kept) == "V3"
    with the_sealer(), pytest.raises(seal.Stopped, match="different"):
        seal.sign_checkpoint(store=administrator.played.store, now=timezone.now())


def test_every_row_is_found_by_something(administrator: Administrator) -> None:
    assert [row.altered for row in ROWS if not row.named] == []
    assert isinstance(administrator.told["corrected"], UUID)
