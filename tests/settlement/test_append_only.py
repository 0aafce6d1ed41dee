"""The database refuses by itself what would falsify the books, whoever asks: the application, or the owner of the
tables, whom no grant stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from settlement import breaks, cashier, ledger, models, reconciliation, rule_sheets, table_floats
from settlement.breaks import NewBreak
from settlement.ledger import NewHold
from settlement.models import Settlement
from settlement.rules.house_rules import PRESETS
from settlement.webhooks import delivering, sending
from tests.database import Connection
from tests.settlement import telling
from tests.settlement.books import (
    BANK,
    GUESTS,
    NOW,
    TODAY,
    a_person,
    a_round,
    a_table,
    a_wallet,
    act,
    journal,
    post,
)
from tests.world import counted

pytestmark = pytest.mark.django_db(transaction=True)

EVIDENCE = "PD001"
NO_GRANT = "42501"
CHECKED = "23514"
TWICE = "23505"

Attack = Callable[[Connection], object]

ALONE = (
    "INSERT INTO settlement_journal (id, kind, key, gaming_day, currency, entry_count, recorded_at)"
    " VALUES (gen_random_uuid(), 'fill', 'alone', '2026-03-01', 'THB', 2, now())"
)


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def answer(connection: Connection, attack: Attack) -> str:
    """Try it, take it back, and say which SQLSTATE it met; "done" where nothing stopped it."""
    try:
        with connection.transaction(force_rollback=True):
            attack(connection)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


def answers(connection: Connection, attacks: dict[str, str]) -> dict[str, str]:
    return {name: answer(connection, running(sql)) for name, sql in attacks.items()}


def running(sql: str) -> Attack:
    return lambda connection: connection.execute(sql)


def a_night() -> UUID:
    """A row in every table: two sheets, one in force, a float, a round settled over a hold; return the round."""
    table = a_table()
    ann, bo = a_person("M1", "manager"), a_person("M2", "manager")
    dealer, supervisor = a_person("D1", "dealer"), a_person("S1", "supervisor")
    with act():
        sheet = rule_sheets.propose(name="seed", rules=PRESETS["seed_base"], by=ann)
        rule_sheets.propose(name="table", rules=PRESETS["seed_table"], by=ann)
        rule_sheets.approve(sheet=sheet.id, sha256=sheet.sha256, by=bo)
        rule_sheets.put_in_force(table=table, sheet=sheet.id, from_=NOW, by=ann, approved_by=bo)
        counted(table, "opener", dealer, supervisor, pieces={500_00: 10})
        table_floats.open_table(table=table, dealer=dealer, supervisor=supervisor, cage="C1")
    with act():
        counted(table, "closer", dealer, supervisor, pieces={500_00: 10})
        table_floats.close_table(table=table, last_round=0, cage="C1")
    with act():
        box = table_floats.Box(carried_by=supervisor, cage="C1")
        counted(table, "drop", ann, bo, pieces={}, box=box)
    nok, round = a_wallet("A17", 1_000), a_round(table)
    with act():
        cashier.deposit(ref="B08", amount=100, cage="C1", document="one")
    with act():
        one, _ = ledger.hold([NewHold(nok, round, "w1", 500), NewHold(nok, round, "w2", 500)], currency="THB")
        assert one is not None
        (posted,) = ledger.post(
            [journal("round", [(nok, -100, "w1"), (BANK, 100, "w1")], round=round)],
            release={one.id: "settled"},
        )
        settlement = a_settlement(round, house_net=100, journal=posted)
        a_line(settlement, stake=100)
        models.Uncovered.objects.create(
            round_id=round, wager="w3", account_code=nok, exposure=500, reason="offline", recorded_at=NOW
        )
        models.RefusedCover.objects.create(
            round_id=round, wager="w4", account_code=nok, exposure=500, available=0, asked_at=NOW
        )
    a_comparison()
    a_told_message()
    return round


def a_told_message() -> None:
    """A message that was owed to an endpoint, and a try at it."""
    telling.an_endpoint(url="https://hooks.example/")
    telling.owed()
    [letter] = delivering.claim(owner="test", now=NOW, room=1)
    with act():
        delivering.finish([(letter, sending.Answer("delivered", NOW, status=204))])


def a_comparison() -> None:
    """A run over the day with one chunk compared, and a break."""
    with act():
        breaks.found([NewBreak("AMOUNT", "rounds/r1", "differs", {}, amount=1, currency="THB")])
    with act(now=NOW + timedelta(days=1)):
        reconciliation.begin(kind="asked", gaming_day=TODAY, levels=("R0",))
    assert reconciliation.look_on(owner="test", now=NOW, request_id="night") is not None


def a_settlement(round: UUID | None = None, *, house_net: int, journal: UUID | None = None) -> Settlement:
    return Settlement.objects.create(
        id=uuid4(),
        round_id=round or a_round(),
        revision=1,
        outcome="settled",
        sheet=models.RuleSheet.objects.get(name="seed"),
        journal_id=journal,
        upto=1,
        record_sha256="0" * 64,
        house_net=house_net,
        currency="THB",
        gaming_day=TODAY,
        settled_at=NOW,
    )


def a_line(settlement: Settlement, *, stake: int = 0) -> None:
    """The only line: a wager of A17 that lost its stake, or pushed."""
    models.Line.objects.create(
        settlement=settlement,
        ordinal=0,
        wager="w1",
        hand="p1",
        owner_kind="account",
        owner_ref="player:A17",
        account="player:A17:wallet",
        stake=stake,
        multiple=-1,
        gross=-stake,
        net=-stake,
    )


# -- rows that are never changed -------------------------------------------------------------------------------


ELSEWHERE = {
    "settlement_slipstep": "test_slips_guarded.py",
    "settlement_report": "test_days_guarded.py",
    "settlement_reportfile": "test_days_guarded.py",
    "settlement_dayjob": "test_days_guarded.py",
    "settlement_statement": "test_statements.py",
    "settlement_statementday": "test_statements.py",
    "settlement_matchingrule": "test_statements.py",
    "settlement_outsidefile": "test_statements.py",
    "settlement_outsidestatement": "test_statements.py",
    "settlement_match": "test_statements.py",
    "settlement_matchedentry": "test_statements.py",
}
"""Tables of which this night has no row, and the tests beside this one that attack them."""

HERE = [model._meta.db_table for model in models.APPEND_ONLY if model._meta.db_table not in ELSEWHERE]


FORMULA = "INSERT INTO settlement_formuladate (version, from_day) VALUES (2, '2026-03-02')"
"""From when the second formula counts stands where a house was at work before it was installed."""


def everything_done_to(tables: list[str]) -> dict[str, str]:
    keys = {model._meta.db_table: model._meta.pk.column for model in models.APPEND_ONLY if model._meta.pk}
    attacks = {}
    for table in tables:
        attacks[f"update {table}"] = f"UPDATE {table} SET {keys[table]} = {keys[table]}"
        attacks[f"delete from {table}"] = f"DELETE FROM {table}"
        attacks[f"truncate {table}"] = f"TRUNCATE {table} CASCADE"
    return attacks


def test_rows_of_the_books_are_never_changed_nor_taken_away(
    application: Connection, owner: Connection
) -> None:
    a_night()
    owner.execute(FORMULA)
    for table in HERE:
        assert owner.execute(f"SELECT count(*) > 0 FROM {table}").fetchone() == (True,), table
    attacks = everything_done_to(HERE)

    assert answers(application, attacks) == dict.fromkeys(attacks, NO_GRANT)
    assert answers(owner, attacks) == dict.fromkeys(attacks, EVIDENCE)


def test_what_is_attacked_elsewhere_is_attacked_there() -> None:
    for table, where in ELSEWHERE.items():
        assert table in Path(__file__).with_name(where).read_text(), table


def test_rows_with_a_state_stay_and_change_nothing_else(application: Connection, owner: Connection) -> None:
    a_night()
    never = {
        "account away": "DELETE FROM settlement_account",
        "accounts away": "TRUNCATE settlement_account CASCADE",
        "account renamed": "UPDATE settlement_account SET code = 'player:THIEF:wallet' WHERE kind = 'wallet'",
        "account of another currency": "UPDATE settlement_account SET currency = 'USD'",
        "floor gone": "UPDATE settlement_account SET floor = -1000000",
        "hold away": "DELETE FROM settlement_hold",
        "holds away": "TRUNCATE settlement_hold CASCADE",
        "hold shortened": "UPDATE settlement_hold SET amount = 1",
        "hold moved": "UPDATE settlement_hold SET wager = 'w9'",
        "sheet away": "DELETE FROM settlement_rulesheet",
        "sheets away": "TRUNCATE settlement_rulesheet CASCADE",
        "proposal rewritten": "UPDATE settlement_rulesheet SET canonical = '{}', sha256 = "
        "encode(sha256('{}'), 'hex') WHERE approved_at IS NULL",
    }
    assert answers(application, never) == dict.fromkeys(never, NO_GRANT)
    assert answers(owner, never) == dict.fromkeys(never, EVIDENCE)

    once = {
        "version back": "UPDATE settlement_account SET version = version - 1 WHERE kind = 'wallet'",
        "hold opened again": "UPDATE settlement_hold SET ended_at = NULL, outcome = '' WHERE wager = 'w1'",
        "hold ended twice": "UPDATE settlement_hold SET outcome = 'released' WHERE wager = 'w1'",
        "approval taken back": "UPDATE settlement_rulesheet SET approved_at = NULL, approved_by_id = NULL "
        "WHERE approved_at IS NOT NULL",
    }
    assert answers(application, once) == dict.fromkeys(once, EVIDENCE)
    assert answers(owner, once) == dict.fromkeys(once, EVIDENCE)


def test_replaying_as_a_replica_does_not_silence_the_triggers(administrator: Connection) -> None:
    a_night()
    administrator.execute(FORMULA)
    administrator.execute("SET session_replication_role = replica")
    attacks = everything_done_to(HERE)

    assert answers(administrator, attacks) == dict.fromkeys(attacks, EVIDENCE)
    assert answer(administrator, a_journal([(GUESTS, -100), (BANK, 101)])) == CHECKED
    assert answer(administrator, running(ALONE)) == CHECKED


# -- journals --------------------------------------------------------------------------------------------------


def a_journal(
    moves: list[tuple[str, int]],
    *,
    entry_count: int | None = None,
    kind: str = "fill",
    currency: str = "THB",
    entry_currency: str = "",
    reverses: UUID | None = None,
    round: UUID | None = None,
    ordinals_from: int = 0,
    into: UUID | None = None,
    without_accounts: bool = False,
    off_by: int = 0,
    skip_at: int | None = None,
) -> Attack:
    """Write a journal by SQL as somebody would who knows how: accounts first, then all of it by one statement."""

    def attack(connection: Connection) -> None:
        id = into or uuid4()
        rows = []
        for place, (code, amount) in enumerate(moves):
            found = connection.execute(
                "SELECT id, currency, version, balance FROM settlement_account WHERE code = %s", [code]
            ).fetchone()
            assert found is not None
            account, own_currency, version, balance = found
            step = 2 if place == skip_at else 1
            if not without_accounts:
                connection.execute(
                    "UPDATE settlement_account SET balance = balance + %s, version = version + %s WHERE id = %s",
                    [amount + off_by, step, account],
                )
            after = balance + amount + off_by
            rows.append(
                (
                    account,
                    place + ordinals_from,
                    amount,
                    entry_currency or own_currency,
                    version + step,
                    after,
                )
            )
        add_journal = """
            WITH posted AS (
                INSERT INTO settlement_journal
                    (id, kind, key, gaming_day, currency, entry_count, reverses_id, round, recorded_at)
                SELECT %(id)s, %(kind)s, %(id)s::text, '2026-03-01', %(currency)s, %(count)s, %(reverses)s, %(round)s,
                       now()
                WHERE %(new)s
            )
        """
        add_entries = """
            INSERT INTO settlement_entry
                (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
            SELECT %(id)s, n.ordinal, n.account, n.amount, n.currency, n.version, n.balance, ''
            FROM unnest(%(accounts)s::bigint[], %(ordinals)s::integer[], %(amounts)s::bigint[],
                        %(currencies)s::text[], %(versions)s::bigint[], %(balances)s::bigint[])
                 AS n (account, ordinal, amount, currency, version, balance)
        """
        names = ("accounts", "ordinals", "amounts", "currencies", "versions", "balances")
        values: dict[str, Any] = {
            "id": id,
            "new": into is None,
            "kind": kind,
            "currency": currency,
            "count": len(moves) if entry_count is None else entry_count,
            "reverses": reverses,
            "round": round,
            **{name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)},
        }
        connection.execute(add_journal + add_entries, values)

    return attack


def test_a_whole_journal_written_by_sql_is_taken(application: Connection, owner: Connection) -> None:
    """The control of what follows: nothing but its one fault makes a journal below be refused."""
    a_night()
    post(journal("fill", {GUESTS: -1, BANK: 1}))
    whole = a_journal([(GUESTS, -100), (BANK, 100)])

    assert (answer(application, whole), answer(owner, whole)) == ("done", "done")


def test_a_journal_that_is_not_whole_or_does_not_add_up_is_refused(
    application: Connection, owner: Connection
) -> None:
    a_night()
    nok = "player:A17:wallet"
    (old,) = post(journal("fill", {GUESTS: -1, BANK: 1}))
    with act():
        ledger.ensure_accounts(["external:cash:PD01"], currency="USD")
    dangling = (
        "INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after,"
        " wager) SELECT id, n, 999999, 5 - 10 * n, 'THB', n + 1, 5 - 5 * n, '' FROM gen_random_uuid() AS id,"
        " generate_series(0, 1) AS n"
    )
    attacks: dict[str, Attack] = {
        "one satang too much": a_journal([(GUESTS, -100), (BANK, 101)]),
        "one entry of it missing": a_journal([(GUESTS, -100), (BANK, 100)], entry_count=3),
        "one entry too many": a_journal([(GUESTS, -100), (BANK, 60), (nok, 40)], entry_count=2),
        "entries from the second on": a_journal([(GUESTS, -100), (BANK, 100)], ordinals_from=1),
        "no entries at all": running(ALONE),
        "entries of no journal in no account": running(dangling),
        "a pair that joins an old journal": a_journal(
            [(GUESTS, -100), (BANK, 100)], into=old, ordinals_from=2
        ),
        "an entry of nothing": a_journal([(GUESTS, -100), (BANK, 100), (nok, 0)]),
        "another currency than its accounts": a_journal(
            [(GUESTS, -100), (BANK, 100)], currency="USD", entry_currency="USD"
        ),
        "entries of another currency": a_journal([(GUESTS, -100), (BANK, 100)], entry_currency="USD"),
        "a kind of its own": a_journal([(GUESTS, -100), (BANK, 100)], kind="other"),
        "accounts left as they were": a_journal([(GUESTS, -100), (BANK, 100)], without_accounts=True),
        "a balance that does not follow": a_journal([(GUESTS, -100), (BANK, 100)], off_by=7),
        "a journal of another currency": a_journal([(GUESTS, -100), (BANK, 100)], currency="USD"),
        "baht against dollars": a_journal([(GUESTS, -100), ("external:cash:PD01", 100)]),
        "a version left out before": a_journal([(GUESTS, -100), (BANK, 100)], skip_at=0),
        "a version left out between": a_journal([(BANK, -100), (BANK, 100)], skip_at=1),
        "more than a wallet has": a_journal([(nok, -1_000), (BANK, 1_000)]),
    }
    for connection in (application, owner):
        assert {name: answer(connection, attack) for name, attack in attacks.items()} == dict.fromkeys(
            attacks, CHECKED
        )


def test_an_account_is_not_set_below_its_floor_nor_below_what_is_held(
    application: Connection, owner: Connection
) -> None:
    """A17 has 900, of which 500 are held."""
    a_night()
    attacks = {
        "below what is held": "UPDATE settlement_account SET balance = 499 WHERE code = 'player:A17:wallet'",
        "more held than there is": "UPDATE settlement_account SET held = 901 WHERE code = 'player:A17:wallet'",
        "less than nothing held": "UPDATE settlement_account SET held = -1 WHERE code = 'player:A17:wallet'",
    }
    assert answers(application, attacks) == dict.fromkeys(attacks, CHECKED)
    assert answers(owner, attacks) == dict.fromkeys(attacks, CHECKED)
    exactly = {"exactly what is held": "UPDATE settlement_account SET balance = 500 WHERE kind = 'wallet'"}
    assert answers(application, exactly) == {"exactly what is held": "done"}


def test_a_reversal_takes_back_exactly_what_it_names(application: Connection, owner: Connection) -> None:
    a_night()
    round = uuid4()
    (fill,) = post(journal("fill", {GUESTS: -100, BANK: 100}, round=round))
    first, reversed_before = post(
        journal("round", {GUESTS: -100, BANK: 100}, round=round),
        journal("round", {GUESTS: -100, BANK: 100}, round=round),
    )
    with act():
        (reversal,) = ledger.post(ledger.reversal_of([reversed_before], gaming_day=TODAY))

    def back(moves: list[tuple[str, int]], of: UUID | None, **more: Any) -> Attack:
        return a_journal(moves, reverses=of, **{"kind": "round_reversal", "round": round, **more})

    exact = [(GUESTS, 100), (BANK, -100)]
    attacks = {
        "exactly": back(exact, first),
        "less": back([(GUESTS, 99), (BANK, -99)], first),
        "from another": back([(GUESTS, 100), ("player:A17:wallet", -100)], first),
        "in another order": back(exact[::-1], first),
        "the same way again": back([(GUESTS, -100), (BANK, 100)], first),
        "of another round": back(exact, first, round=uuid4()),
        "of a fill": back(exact, fill),
        "of nothing": back(exact, None),
        "of a reversal": back([(GUESTS, -100), (BANK, 100)], reversal),
        "a second time": back(exact, reversed_before),
        "under another name": back(exact, first, kind="round"),
    }
    expected = {**dict.fromkeys(attacks, CHECKED), "exactly": "done", "a second time": TWICE}
    for connection in (application, owner):
        assert {name: answer(connection, attack) for name, attack in attacks.items()} == expected


# -- settlements, sheets, counts -------------------------------------------------------------------------------


def test_a_settlement_comes_once_and_a_revision_takes_back_the_one_before(application: Connection) -> None:
    round = a_night()
    before = Settlement.objects.get()
    with act():
        assert before.journal_id is not None
        (back,) = ledger.post(ledger.reversal_of([before.journal_id], gaming_day=TODAY))
    (stranger,) = post(journal("round", {GUESTS: -100, BANK: 100}))

    def revision(**more: Any) -> Attack:
        values = {
            "revision": 2,
            "supersedes_id": before.id,
            "reversal_id": back,
            "journal_id": None,
            "because": uuid4(),
            "outcome": "voided",
            "house_net": 0,
            "sheet_id": None,
            "acted_by_id": None,
            "approved_by_id": None,
            **more,
        }
        columns = ", ".join(values)
        places = ", ".join(["%s"] * len(values))
        sql = (
            f"INSERT INTO settlement_settlement (id, round_id, upto, cites, inputs, record_sha256, currency,"
            f" gaming_day, settled_at, changes_nothing, {columns}) VALUES (gen_random_uuid(), %s, 9, '{{}}', '{{}}',"
            f" '', 'THB', '2026-03-01', now(), false, {places})"
        )
        return lambda connection: connection.execute(sql, [round, *values.values()])

    manager = a_person("M1", "manager").id
    attacks = {
        "a void of what was settled": revision(),
        "a second first one": revision(
            revision=1, supersedes_id=None, reversal_id=None, because=None, journal_id=None
        ),
        "without taking back": revision(reversal_id=None),
        "taking back nothing real": revision(reversal_id=stranger),
        "a number left out": revision(revision=3),
        "for no reason": revision(because=None),
        "by one person twice": revision(because=None, acted_by_id=manager, approved_by_id=manager),
        "a void that moves": revision(journal_id=stranger),
        "settled by no sheet": revision(outcome="settled"),
        "with a journal of another round": revision(
            outcome="settled", sheet_id=before.sheet_id, journal_id=stranger
        ),
    }
    assert {name: answer(application, attack) for name, attack in attacks.items()} == {
        **dict.fromkeys(attacks, CHECKED),
        "a void of what was settled": "done",
        "a second first one": TWICE,
    }


def test_no_line_is_added_to_a_settlement_afterwards(application: Connection) -> None:
    """The first round lost 100 on one line; in the second one wager pushed; the third has no line yet, and lost 100."""
    first = a_night()
    lost = Settlement.objects.get(round_id=first).id
    pushed, unwritten = a_settlement(house_net=0), a_settlement(house_net=100)
    a_line(pushed)

    def line(
        settlement: Settlement | UUID, ordinal: int, *, stake: int = 0, net: int | None = None
    ) -> Attack:
        return lambda connection: connection.execute(
            "INSERT INTO settlement_line (settlement_id, ordinal, wager, hand, owner_kind, owner_ref, account, stake,"
            " cards, hand_kind, dealer_cards, dealer_kind, step, multiple, gross, uncovered, commission, net,"
            " rounding_bp) VALUES (%s, %s, 'w7', 'p7', 'seat', '7', %s, %s, '{}', '', '{}', '', '', -1, %s, 0, 0, %s,"
            " 0)",
            [
                settlement.id if isinstance(settlement, Settlement) else settlement,
                ordinal,
                GUESTS,
                stake,
                -stake,
                -stake if net is None else net,
            ],
        )

    attacks = {
        "what the house's net says": line(unwritten, 0, stake=100),
        "another sum than the house's net": line(unwritten, 0, stake=99),
        "a net that is not its gross": line(unwritten, 0, stake=90, net=-100),
        "not from the first place on": line(unwritten, 1, stake=100),
        "a push beside a push": line(pushed, 1),
        "more beside a loss": line(lost, 1, stake=100),
        "in the place of another": line(lost, 0, stake=100),
    }
    assert {name: answer(application, attack) for name, attack in attacks.items()} == {
        **dict.fromkeys(attacks, CHECKED),
        "what the house's net says": "done",
        "in the place of another": TWICE,
    }


def test_one_person_is_not_two_and_a_sheet_is_its_bytes(application: Connection, owner: Connection) -> None:
    a_night()
    attacks = {
        "approved by its proposer": "UPDATE settlement_rulesheet SET approved_by_id = proposed_by_id, "
        "approved_at = now() WHERE approved_at IS NULL",
        "approved by nobody": "UPDATE settlement_rulesheet SET approved_at = now() WHERE approved_at IS NULL",
        "bytes of another hash": "INSERT INTO settlement_rulesheet (id, name, canonical, sha256, proposed_by_id, "
        "proposed_at) SELECT gen_random_uuid(), 'x', '{}', repeat('0', 64), proposed_by_id, now() "
        "FROM settlement_rulesheet LIMIT 1",
        "in force by one person": "INSERT INTO settlement_tablerules (table_id, sheet_id, in_force_from, set_by_id, "
        "approved_by_id, set_at) SELECT table_id, sheet_id, now() + interval '1 day', set_by_id, set_by_id, now() "
        "FROM settlement_tablerules",
        "in force yesterday": "INSERT INTO settlement_tablerules (table_id, sheet_id, in_force_from, set_by_id, "
        "approved_by_id, set_at) SELECT table_id, sheet_id, now() - interval '1 day', set_by_id, approved_by_id, "
        "now() FROM settlement_tablerules",
    }
    for connection in (application, owner):
        assert answers(connection, attacks) == dict.fromkeys(attacks, CHECKED)


@pytest.mark.parametrize(
    "lines",
    [
        '[{"denomination": 50000, "pieces": -1}]',
        '[{"denomination": 50000, "pieces": 1.5}]',
        '[{"denomination": 0, "pieces": 1}]',
        '[{"denomination": 500, "pieces": 1}, {"denomination": 500, "pieces": 1}]',
        '[{"denomination": 500, "pieces": 1, "note": "x"}]',
        '[{"denomination": 500}]',
    ],
)
def test_a_count_is_whole_pieces_of_each_denomination_once(application: Connection, lines: str) -> None:
    a_night()
    with act():
        table_floats.count(table=a_table("PD02"), kind="opener", by=a_person("D1", "dealer"), count=None)
    sql = (
        "INSERT INTO settlement_count (id, counting_id, ordinal, lines, currency, counted_by_id, counted_at, salt)"
        " SELECT gen_random_uuid(), id, 1, %s::jsonb, 'THB', asked_by_id, now(), ''"
        " FROM settlement_counting WHERE state = 'open' RETURNING amount"
    )

    def worth(text: str) -> Attack:
        return lambda connection: connection.execute(sql, [text])

    assert answer(application, worth(lines)) == CHECKED
    whole = application.execute(
        sql, ['[{"denomination": 50000, "pieces": 40}, {"denomination": 2500, "pieces": 3}]']
    )
    assert whole.fetchone() == (2_007_500,)
