"""A closed round becomes money once; a doubtful one moves nothing and says why."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from casino import devices, events, tables
from casino.models import Round
from casino.platform.refusals import Refusal
from settlement import settling
from settlement.models import Account, Entry, Journal, Line, Settlement
from tests import world
from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.floor import (
    NOW,
    AtTable,
    a_table,
    a_wallet,
    lines_of,
    money,
    outcome,
    settled,
    standing,
)

pytestmark = pytest.mark.django_db

WON = TWO_HANDS + "close"
"""Seat 1 stakes 100 baht on 7, the dealer has 6."""
EVEN = WON.replace("3S 4D", "2S 4D")
"""Six against six."""


def entries_of(round: Any) -> list[tuple[str, int, str]]:
    """What was posted for a round, in the order of posting."""
    found = Entry.objects.filter(journal__round=round).order_by("id")
    return list(found.values_list("account__code", "amount", "wager"))


# -- paid ------------------------------------------------------------------------------------------------------


def test_every_wager_that_moves_has_its_entry_and_the_bank_the_sum() -> None:
    """Hand 1 has 7, hand 2 has 2 with a pair, the dealer 6.

    w1  seat 1, 100 on hand 1: + 100       w2  A17, 50 on hand 1: + 50
    w3  seat 2,  20 on hand 2: −  20       bank: − 100 − 50 + 20 = − 130
    """
    table, nok = a_table(), a_wallet("A17", 1_000)

    round_id = table.tell("""
        bet w1 p1 100
        bet w2 p1 50 account=player:A17
        bet w3 p2 20
        lock
        p1 3S 4D
        p2 AS AD
        dealer KC 6D
        dealer stays
        close
    """)

    assert outcome(round_id) == "settled"
    assert entries_of(round_id) == [
        (table.guests, 100_00, "w1"),
        (nok, 50_00, "w2"),
        (table.guests, -20_00, "w3"),
        (table.bank, -130_00, ""),
    ]
    assert lines_of(round_id) == {"w1": 100_00, "w2": 50_00, "w3": -20_00}


def test_settled_twice_is_paid_once() -> None:
    table = a_table()
    round_id = table.tell(WON)

    assert [outcome(round_id), outcome(round_id)] == ["settled", "settled"]

    assert money() == {table.bank: -100_00, table.guests: 100_00}
    assert (Settlement.objects.count(), Journal.objects.count()) == (1, 1)


def test_one_round_named_twice_in_a_batch_is_paid_once() -> None:
    table = a_table()
    round_id = table.tell(WON)

    assert [answer.outcome for answer in settled(round_id, round_id)] == ["settled"]

    assert money() == {table.bank: -100_00, table.guests: 100_00}


def test_where_every_wager_pushes_there_is_a_settlement_with_its_lines_and_no_journal() -> None:
    table = a_table()
    round_id = table.tell(EVEN)

    assert outcome(round_id) == "settled"

    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.journal_id, effective.house_net) == (None, 0)
    assert list(Line.objects.values_list("wager", "multiple", "step", "net")) == [("w1", 0, "push", 0)]
    assert money() == {}


def test_a_round_without_any_wager_is_settled_and_moves_nothing() -> None:
    round_id = a_table().tell("lock\njunk1 2S 3D\ndealer KC 6D\ndealer stays\nclose")

    assert outcome(round_id) == "settled"
    assert (lines_of(round_id), money()) == ({}, {})


def test_five_per_cent_of_a_win_go_to_the_commission_of_the_table() -> None:
    table = a_table(commission={"rate_bp": 500})
    round_id = table.tell(WON)

    assert outcome(round_id) == "settled"
    assert money() == {table.bank: -100_00, table.commission: 5_00, table.guests: 95_00}


@pytest.mark.parametrize(
    ("stake", "charged", "rounding_bp"), [(30, 0, -150 * 10_000), (50, 500, 250 * 10_000)]
)
def test_commission_to_chips_says_what_rounding_added(stake: int, charged: int, rounding_bp: int) -> None:
    """Five per cent in chips of 5 baht: of 30 baht 1.50 are owed and nothing is taken, of 50 baht 2.50 and 5 are."""
    table = a_table(commission={"rate_bp": 500, "unit": 500})
    round_id = table.tell(WON.replace("p1 100", f"p1 {stake}"))

    assert outcome(round_id) == "settled"
    assert Line.objects.values_list("commission", "net", "rounding_bp").get() == (
        charged,
        stake * 100 - charged,
        rounding_bp,
    )


def test_a_wager_of_a_wallet_that_does_not_exist_is_no_wager() -> None:
    table = a_table()
    round_id = table.tell(WON.replace("lock", "bet w2 p1 50 account=player:NOBODY\nlock"))

    assert outcome(round_id) == "settled"

    assert lines_of(round_id) == {"w1": 100_00}
    effective = settling.effective(round_id)
    assert effective is not None
    assert effective.inputs == {"bank": None, "not_in_play": ["w2"]}
    assert "bet_not_in_play" in kinds(round_id)


def kinds(round_id: Any) -> list[str]:
    return [finding.kind for finding in settling.reviewed(round_id, settling.effective(round_id))[1]]


def test_rounds_of_two_tables_are_settled_together_each_from_its_own_bank() -> None:
    north, south = a_table("PD01"), a_table("PD02")
    first, second = north.tell(WON), south.tell(WON.replace("p1 100", "p1 300"))

    assert [answer.outcome for answer in settled(first, second)] == ["settled", "settled"]

    assert money() == {
        north.bank: -100_00,
        north.guests: 100_00,
        south.bank: -300_00,
        south.guests: 300_00,
    }


def test_a_batch_answers_for_each_round_what_became_of_it() -> None:
    table = a_table()
    won, held, playing = (
        table.tell(WON),
        table.tell("bet w1 p1 100\nlock\nclose"),
        table.tell("bet w1 p1 100"),
    )

    answers = {answer.round: answer.outcome for answer in settled(won, held, playing, uuid4())}

    assert answers == {won: "settled", held: "held", playing: "waiting"}
    assert money() == {table.bank: -100_00, table.guests: 100_00}


def test_a_settled_round_keeps_its_record_its_cards_and_the_day() -> None:
    table = a_table()
    round_id = table.tell(WON)

    outcome(round_id)

    row = Round.objects.get(pk=round_id)
    assert (row.standing, row.reasons, str(row.gaming_day)) == ("settled", [], "2026-03-01")
    assert row.cards_seen.bit_count() == 4
    case, _ = settling.reviewed(round_id, settling.effective(round_id))
    effective = settling.effective(round_id)
    assert effective is not None
    assert row.record == case.written
    assert effective.record_sha256 == hashlib.sha256(events.canonical(case.written)).hexdigest()


def test_the_witness_is_told_of_every_amount_that_moved(settings: Any) -> None:
    table = a_table()
    round_id = table.tell(WON)
    settings.WITNESS = "tests.world.notebook"
    world.notebook.pages.clear()

    outcome(round_id)

    [(_, fact)] = world.notebook.pages
    effective = settling.effective(round_id)
    assert effective is not None
    assert (fact.action, fact.subject, fact.table) == ("round.settled", f"rounds/{round_id}", "PD01")
    assert fact.data["journals"][0]["postings"] == [
        [table.guests, 100_00, "w1"],
        [table.bank, -100_00, ""],
    ]
    assert fact.data["journals"][0]["id"] == str(effective.journal_id)
    stored = Line.objects.filter(settlement=effective).values_list(*settling.LINE_FIELDS)
    as_evidence = events.canonical([list(line) for line in stored])
    assert fact.data["lines_sha256"] == hashlib.sha256(as_evidence).hexdigest()
    assert (fact.data["house_net"], fact.data["record_sha256"]) == (-100_00, effective.record_sha256)


def test_nothing_is_settled_outside_of_an_act() -> None:
    round_id = a_table().tell(WON)

    with pytest.raises(events.NoAct):
        settling.settle_rounds([round_id])


def test_a_tablet_whose_clock_could_not_be_believed_deserves_a_second_look() -> None:
    """It says two hours ago, and not when it sent that; what counts is when it was recorded."""
    table = a_table()
    round_id = floor.a_round_id(1)
    reports = [
        floor.a_report(event.seq, event.kind, round_id, event.data, at=NOW - timedelta(hours=2))
        for event in floor.telling.events_of(WON)[0]
    ]
    with floor.act():
        floor.rounds.append(device=table.devices["tablet"], reports=reports, sent_at=None)

    assert outcome(round_id) == "settled"
    assert "device_clock_off" in kinds(round_id)


# -- held ------------------------------------------------------------------------------------------------------


def test_a_held_round_says_why_and_moves_nothing_until_somebody_rules() -> None:
    table = a_table()
    round_id = table.tell(TWO_HANDS.replace("3S 4D", "3S KC") + "close")

    assert outcome(round_id) == "held: duplicate_card"
    assert (money(), Settlement.objects.count()) == ({}, 0)
    assert standing(round_id) == "held: duplicate_card"

    table.tell("rule p1.2 4D", round=round_id)
    assert standing(round_id) == "due"
    assert outcome(round_id) == "settled"
    assert money() == {table.bank: -100_00, table.guests: 100_00}
    assert "duplicate_card" in kinds(round_id)


def test_a_held_round_is_told_to_the_witness_once_however_often_it_is_asked_for(settings: Any) -> None:
    round_id = a_table().tell("bet w1 p1 100\nlock\nclose")
    settings.WITNESS = "tests.world.notebook"
    world.notebook.pages.clear()

    assert [outcome(round_id), outcome(round_id)] == ["held: missing_card", "held: missing_card"]

    assert world.notebook.actions() == ["round.held"]


def test_a_new_doubt_is_told_when_another_was_ruled(settings: Any) -> None:
    table = a_table()
    round_id = table.tell(TWO_HANDS.replace("3S 4D", "9S KC") + "p1.3 2C\nclose")
    settings.WITNESS = "tests.world.notebook"
    world.notebook.pages.clear()

    assert outcome(round_id) == "held: pok_drew duplicate_card"
    table.tell("rule p1.2 JS", round=round_id)
    assert outcome(round_id) == "held: pok_drew"
    table.tell("remove p1.3", round=round_id)
    assert outcome(round_id) == "settled"

    told = [action for action in world.notebook.actions() if action != "round.recorded"]
    assert told == ["round.held", "round.held", "round.settled"]


def test_a_ruling_that_nobody_signed_releases_nothing(settings: Any) -> None:
    settings.SIGNATURES = "required"
    table = a_table()
    round_id = table.tell(TWO_HANDS.replace("3S 4D", "3S KC") + "close")

    table.tell("rule p1.2 4D", round=round_id)

    assert outcome(round_id) == "held: duplicate_card"
    assert "unsigned_ruling" in kinds(round_id)


# -- voided ----------------------------------------------------------------------------------------------------


def test_a_voided_round_has_a_revision_and_no_lines_and_moves_nothing() -> None:
    table = a_table()
    round_id = table.tell(TWO_HANDS + "void")

    assert [outcome(round_id), outcome(round_id)] == ["voided", "voided"]

    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.revision, effective.outcome, effective.journal_id) == (1, "voided", None)
    assert (lines_of(round_id), money(), standing(round_id)) == ({}, {}, "voided")


def test_a_held_round_that_is_voided_waits_no_longer() -> None:
    table = a_table()
    round_id = table.tell(TWO_HANDS.replace("3S 4D", "3S KC") + "close")
    assert outcome(round_id) == "held: duplicate_card"

    table.tell("void", round=round_id)

    assert (outcome(round_id), money()) == ("voided", {})


def test_a_void_that_nobody_signed_leaves_the_round_in_play(settings: Any) -> None:
    settings.SIGNATURES = "required"
    table = a_table()
    round_id = table.tell(TWO_HANDS + "void")

    assert outcome(round_id) == "waiting"

    table.tell("close", round=round_id)
    assert outcome(round_id) == "settled"


def test_a_round_that_opened_before_any_sheet_was_in_force_can_only_be_voided() -> None:
    table = a_table()
    with floor.act():
        bare = tables.add(code="PD09", currency="THB", camera=False)
        session = tables.open(table=bare, dealer=table.dealer, supervisor=table.supervisor, now=floor.NOW)
        tablet, _ = devices.enrol(code="PD09-terminal", kind="terminal", table=bare, now=floor.NOW)
    at_bare = AtTable(bare, session, table.dealer, table.supervisor, {"tablet": tablet})
    round_id = at_bare.tell(WON)

    assert outcome(round_id) == "waiting"
    at_bare.tell("void", round=round_id)

    assert outcome(round_id) == "voided"
    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.sheet_id, money(), kinds(round_id)) == (None, {}, [])


# -- shown before ----------------------------------------------------------------------------------------------


def books() -> list[Any]:
    """Everything that money or standing could show in."""
    return [
        list(model.objects.order_by("pk").values())
        for model in (Round, Account, Journal, Entry, Settlement, Line)
    ]


def test_a_preview_shows_what_would_come_of_the_round_and_writes_nothing() -> None:
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = table.tell(TWO_HANDS.replace("lock", "bet w2 p1 50 account=player:A17\nlock"))
    before = books()

    _, verdict = settling.preview(round_id)

    assert (verdict.outcome, verdict.house_net) == ("open", -150_00)
    assert {line.wager: line.net for line in verdict.lines} == {"w1": 100_00, "w2": 50_00}
    assert books() == before


def test_a_preview_of_doubtful_cards_names_the_doubt() -> None:
    round_id = a_table().tell(TWO_HANDS.replace("3S 4D", "3S KC"))

    _, verdict = settling.preview(round_id)

    assert (verdict.outcome, verdict.reasons, verdict.lines) == ("open", ("duplicate_card",), ())


def test_a_round_that_is_settled_has_no_preview_any_more() -> None:
    round_id = a_table().tell(WON)
    outcome(round_id)

    with pytest.raises(Refusal) as refused:
        settling.preview(round_id)
    assert refused.value.code == "round_finished"


def test_a_round_whose_opening_has_not_arrived_has_no_preview_yet() -> None:
    table = a_table(camera=True)
    round_id = floor.a_round_id(1)
    table.send(
        [floor.a_report(1, "card_dealt", round_id, {"hand": "p1", "position": 1, "card": "9S"})],
        device="camera",
    )

    with pytest.raises(Refusal) as refused:
        settling.preview(round_id)
    assert refused.value.code == "round_not_opened"
