"""The books compared with each other: what agrees, what does not, and a digest that no cut and no order changes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from casino import events
from casino.models import Round
from settlement import ledger, reconciliation
from settlement.ledger import NewHold, NewJournal, Posting
from settlement.models import Break, Chunk
from tests import world
from tests.database import Connection
from tests.settlement.doors import Night
from tests.settlement.reconciling import OURS, begun, reconciled, today
from tests.world import AtTable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_margin(settings: Any) -> None:
    """What the test has just written is in the window."""
    settings.RECONCILE = settings.RECONCILE | {"margin_seconds": 0}


@pytest.fixture
def rounds(at: AtTable, night: Night) -> list[UUID]:
    """Six settled rounds, each of which guests won or lost money in."""
    told = [night.told(at, bets={"p1": 100_00 * number}) for number in range(1, 7)]
    for one in told:
        world.at_terminal(at).settle(one.id)
    return [UUID(str(one.id)) for one in told]


def tampered(administrator: Connection, table: str, trigger: str, statement: str) -> None:
    """Change what the database refuses to change, as only its administrator can."""
    administrator.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
    administrator.execute(statement)
    administrator.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}")


def test_a_clean_night_matches(rounds: list[UUID]) -> None:
    run = reconciled()
    assert (run.outcome, Break.objects.count()) == ("matched", 0), run.report
    assert run.report["levels"]["R1"]["compared"] == len(rounds)
    assert run.report["verified_through"] == run.until.isoformat()


def test_neither_the_cut_nor_the_order_nor_a_second_run_shows_in_the_digest(rounds: list[UUID]) -> None:
    first = begun(size=1)
    assert Chunk.objects.filter(run=first, level="R1").count() > len(rounds)
    for claim in reversed(reconciliation.claim(owner="test", levels=OURS, limit=1000, run=first.id)):
        reconciliation.look(claim, parts=reconciliation.PARTS, now=timezone.now(), request_id="test")
    first.refresh_from_db()
    others = [reconciled(size=size) for size in (2, 1000)]
    assert {run.digest for run in others} == {first.digest}
    assert [run.edition for run in others] == [2, 3]


def test_a_line_changed_behind_the_houses_back_is_judged_again(
    rounds: list[UUID], administrator: Connection
) -> None:
    before = reconciled().digest
    tampered(
        administrator,
        "settlement_line",
        "append_only_rows",
        "UPDATE settlement_line SET rounding_bp = 7 WHERE id = (SELECT min(id) FROM settlement_line)",
    )
    run = reconciled()
    assert (run.outcome, run.report["broken"]) == ("breaks", {"JUDGE_DIFF": 1})
    assert run.digest != before
    found = Break.objects.get()
    assert (found.code, found.severity, found.level, found.gaming_day) == (
        "JUDGE_DIFF",
        "critical",
        "R1",
        today(),
    )
    assert found.subject.startswith("rounds/")
    assert found.detail["differs"] == ["lines"]


def test_an_account_that_is_not_the_sum_of_its_entries_drifts(
    rounds: list[UUID], administrator: Connection
) -> None:
    administrator.execute(
        "UPDATE settlement_account SET balance = balance + 5 WHERE code = 'table:PD01:bank'"
    )
    run = reconciled(levels=("R0",))
    assert run.report["broken"] == {"BALANCE_DRIFT": 2}, "the account, and the ledger as a whole"
    assert run.report["at_risk"] == {"THB": 10}
    drift = Break.objects.get(subject="accounts/table:PD01:bank")
    assert (drift.amount, drift.currency) == (5, "THB")


def test_a_version_left_out_is_a_gap(rounds: list[UUID], administrator: Connection) -> None:
    administrator.execute(
        "UPDATE settlement_account SET version = version + 1 WHERE code = 'table:PD01:bank'"
    )
    tampered(
        administrator,
        "settlement_entry",
        "append_only_rows",
        "UPDATE settlement_entry SET version = version + 1 WHERE version = (SELECT max(version) FROM settlement_entry"
        " WHERE account_id = (SELECT id FROM settlement_account WHERE code = 'table:PD01:bank'))"
        " AND account_id = (SELECT id FROM settlement_account WHERE code = 'table:PD01:bank')",
    )
    run = reconciled(levels=("R0",))
    assert run.report["broken"] == {"VERSION_GAP": 1}


def test_a_sheet_that_was_not_in_force_is_named(rounds: list[UUID], administrator: Connection) -> None:
    tampered(
        administrator,
        "settlement_tablerules",
        "append_only_rows",
        "UPDATE settlement_tablerules SET in_force_from = in_force_from + interval '1 day'",
    )
    run = reconciled(levels=("R1",))
    assert run.report["broken"] == {"SHEET_UNKNOWN": len(rounds)}


def test_every_level_has_its_rules_and_its_parts(rounds: list[UUID]) -> None:
    run = begun(levels=reconciliation.LEVELS)
    parts = set(Chunk.objects.filter(run=run).values_list("level", "part"))
    assert run.rules == "R0.1 R1.1 R2.1 R3.1 R4.1 R5.1"
    assert {(level, part) for level, named in reconciliation.PARTS.items() for part in named} < parts


def test_a_round_that_nobody_settled_is_pending_and_then_missing(
    rounds: list[UUID], at: AtTable, night: Night, settings: Any
) -> None:
    waiting = night.told(at)
    run = reconciled(levels=("R2",))
    assert (run.outcome, run.report["pending"]) == ("matched", 1)
    settings.RECONCILE = settings.RECONCILE | {"grace_minutes": 0}
    run = reconciled(levels=("R2",))
    assert run.report["broken"] == {"MISSING_LEDGER": 1}
    assert Break.objects.get().subject == f"rounds/{waiting.id}"
    world.at_terminal(at).settle(waiting.id)
    assert reconciled(levels=("R2",)).outcome == "matched"
    assert Break.objects.get().state == "matched", "what was missing has come, and the break cleared itself"


def test_a_stake_that_was_not_reported_so_is_found_by_its_range(
    rounds: list[UUID], administrator: Connection
) -> None:
    tampered(
        administrator,
        "settlement_line",
        "append_only_rows",
        "UPDATE settlement_line SET stake = stake + 100, gross = gross + 100 * multiple, net = net + 100 * multiple"
        " WHERE id = (SELECT min(id) FROM settlement_line)",
    )
    run = reconciled(levels=("R2",))
    assert (run.report["broken"], run.report["at_risk"]) == ({"AMOUNT": 1}, {"THB": 100})


def test_a_number_that_never_came_is_a_gap(rounds: list[UUID], administrator: Connection) -> None:
    administrator.execute("UPDATE casino_device SET holes = '[[3, 4]]' WHERE code = 'PD01-terminal'")
    administrator.execute("UPDATE casino_round SET number = 99 WHERE id = %s", [rounds[-1]])
    run = reconciled(levels=("R2",))
    assert run.report["broken"] == {"SEQ_GAP": 2}
    assert sorted(Break.objects.values_list("subject", "detail__first", "detail__last")) == [
        ("devices/PD01-terminal", 3, 4),
        (f"sessions/{Round.objects.get(pk=rounds[-1]).session_id}", len(rounds), 98),
    ]


def test_rounds_of_the_next_gaming_day_are_no_gap_of_the_day_in_which_their_session_began(
    rounds: list[UUID], administrator: Connection
) -> None:
    session = Round.objects.get(pk=rounds[0]).session_id
    administrator.execute("UPDATE casino_round SET created_at = created_at + interval '1 day'")
    administrator.execute(
        "UPDATE casino_tablesession SET closed_at = now() + interval '1 day', last_round = %s WHERE id = %s",
        [len(rounds), session],
    )
    run = reconciled(levels=("R2",))
    assert (run.report["broken"], run.outcome) == ({}, "matched")
    assert not Break.objects.exists()


def test_a_journal_that_nothing_asked_for_has_no_source(rounds: list[UUID]) -> None:
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        ledger.post(
            [
                NewJournal(
                    kind="round",
                    key="round:nobody:1",
                    gaming_day=today(),
                    currency="THB",
                    postings=(Posting("table:PD01:bank", -5), Posting("table:PD01:guests", 5)),
                    round=rounds[0],
                )
            ]
        )
    run = reconciled(levels=("R2",))
    assert (run.report["broken"], run.report["at_risk"]) == ({"MISSING_SOURCE": 1}, {"THB": 5})


def test_a_hold_that_outlived_its_round_is_stale(
    rounds: list[UUID], at: AtTable, administrator: Connection, settings: Any
) -> None:
    settings.RECONCILE = settings.RECONCILE | {"grace_minutes": 0}
    world.a_wallet(ref="A17", amount=1_000)
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        ledger.hold([NewHold("player:A17:wallet", rounds[0], "w9", 500)], currency="THB")
    run = reconciled(levels=("R0",))
    assert (run.report["broken"], run.report["at_risk"]) == ({"HOLD_STALE": 1}, {"THB": 500})


def test_chips_still_under_way_when_the_day_is_over_are_named(rounds: list[UUID]) -> None:
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        ledger.post(
            [
                NewJournal(
                    kind="fill",
                    key="slip:lost",
                    gaming_day=today(),
                    currency="THB",
                    postings=(Posting("cage:C1:vault", -700), Posting("suspense:transit:PD01", 700)),
                )
            ]
        )
    run = reconciled(levels=("R3",))
    assert (run.report["broken"], run.report["at_risk"]) == ({"TRANSIT_LEFT": 1}, {"THB": 700})
    early = reconciled(levels=("R3",), now=timezone.now())
    assert (early.outcome, early.report["pending"]) == ("matched", 1), "the day still runs"


def test_a_round_posted_in_another_day_without_saying_so_is_a_cutoff(
    rounds: list[UUID], administrator: Connection
) -> None:
    administrator.execute("UPDATE casino_round SET gaming_day = gaming_day - 1 WHERE id = %s", [rounds[0]])
    run = reconciled(levels=("R2",))
    assert run.report["broken"] == {"CUTOFF": 1}
    assert Break.objects.get().severity == "low"


def test_a_variance_that_was_not_posted_whole_is_named(rounds: list[UUID], administrator: Connection) -> None:
    tampered(
        administrator,
        "settlement_float",
        "append_only_rows",
        "UPDATE settlement_float SET expected = 1 WHERE session_id = (SELECT s.id FROM casino_tablesession s"
        " JOIN casino_table t ON t.id = s.table_id WHERE t.code = 'PD01')",
    )
    assert reconciled(levels=("R3",)).report["broken"] == {"COUNT_VARIANCE": 1}


def test_a_slip_number_that_nobody_has_is_a_gap(rounds: list[UUID], administrator: Connection) -> None:
    administrator.execute("ALTER TABLE settlement_series DISABLE TRIGGER USER")
    administrator.execute(
        "INSERT INTO settlement_series (property, kind, year, last) VALUES ('POKDENG', 'fill', %s, 1)",
        [today().year],
    )
    assert reconciled(levels=("R3",)).report["broken"] == {"SLIP_GAP": 1}
