"""When a round can settle: a camera has its time, a missing number holds what it could touch and nothing else."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from casino import rounds
from casino.models import Round
from settlement.models import Journal
from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.floor import NOW, a_table, money, outcome, settled, standing

pytestmark = pytest.mark.django_db

WON = TWO_HANDS + "close"
READ_ALL = """
    camera: p1 3S 4D
    camera: dealer KC 6D
"""
GRACE = timedelta(seconds=1)


# -- a camera has its time -------------------------------------------------------------------------------------


def test_a_camera_that_has_not_read_every_face_has_a_second_after_the_close() -> None:
    table = a_table(camera=True)
    round_id = table.tell(WON)

    (early,) = settled(round_id, now=NOW + timedelta(milliseconds=999))
    assert (early.outcome, early.due_at, money()) == ("waiting", NOW + GRACE, {})

    assert outcome(round_id, now=NOW + GRACE) == "settled"


def test_a_camera_that_has_read_every_face_keeps_nobody_waiting() -> None:
    table = a_table(camera=True)
    round_id = table.tell(TWO_HANDS + READ_ALL + "close")

    assert outcome(round_id, now=NOW) == "settled"


def test_the_last_read_of_the_camera_ends_the_waiting() -> None:
    table = a_table(camera=True)
    round_id = table.tell(TWO_HANDS + "camera: p1 3S 4D\ncamera: dealer KC\nclose")
    assert outcome(round_id, now=NOW) == "waiting"

    table.tell("camera: dealer.2 6D", round=round_id, at=NOW + timedelta(milliseconds=300))

    assert outcome(round_id, now=NOW + timedelta(milliseconds=400)) == "settled"


def test_a_doubt_that_goes_within_the_grace_leaves_the_rest_of_it_to_the_camera() -> None:
    table = a_table(camera=True)
    round_id = table.tell(TWO_HANDS + "camera: p1.1 3H\nclose")
    assert outcome(round_id, now=NOW) == "held: reads_differ"

    table.tell("correct p1.1 3H", round=round_id, at=NOW + timedelta(milliseconds=300))

    assert outcome(round_id, now=NOW + timedelta(milliseconds=400)) == "waiting"
    assert outcome(round_id, now=NOW + GRACE) == "settled"


def test_a_table_without_a_camera_waits_for_nothing() -> None:
    assert outcome(a_table().tell(WON), now=NOW) == "settled"


def test_a_voided_round_waits_for_no_camera() -> None:
    assert outcome(a_table(camera=True).tell(TWO_HANDS + "void"), now=NOW) == "voided"


def test_where_the_sheet_requires_the_camera_its_time_does_not_run_out() -> None:
    table = a_table(camera=True, requires={"camera": True})
    round_id = table.tell(WON)

    assert outcome(round_id, now=NOW + timedelta(hours=1)) == "held: awaiting_camera"

    table.tell(READ_ALL, round=round_id, at=NOW + timedelta(hours=2))
    assert outcome(round_id, now=NOW + timedelta(hours=2)) == "settled"


def test_a_supervisor_waives_the_camera() -> None:
    table = a_table(camera=True, requires={"camera": True})
    round_id = table.tell(WON)
    assert outcome(round_id) == "held: awaiting_camera"

    table.tell("waive awaiting_camera", round=round_id, at=floor.LATER)

    assert outcome(round_id) == "settled"


def test_what_the_camera_reads_after_the_settlement_changes_nothing() -> None:
    table = a_table(camera=True)
    round_id = table.tell(WON)
    outcome(round_id)
    before = money()

    table.tell("camera: dealer KC 9D", round=round_id, at=floor.LATER)

    assert (outcome(round_id), money()) == ("settled", before)


def test_a_round_that_is_not_closed_waits_for_no_particular_time() -> None:
    (answer,) = settled(a_table().tell(TWO_HANDS))

    assert (answer.outcome, answer.due_at) == ("waiting", None)


def test_only_closed_rounds_whose_time_has_come_are_due() -> None:
    table = a_table(camera=True)
    table.tell(TWO_HANDS)
    closed = table.tell(WON)

    assert rounds.due(now=NOW, limit=10) == []
    assert rounds.due(now=NOW + GRACE, limit=10) == [closed]


# -- missing numbers -------------------------------------------------------------------------------------------


def three_rounds(table: floor.AtTable, *, hole: str) -> list[UUID]:
    """Three rounds of which the second lacks a number of the terminal: ``hole`` stands before its close."""
    return [table.tell(WON), table.tell(TWO_HANDS + hole + "\nclose"), table.tell(WON)]


def test_a_number_missing_in_mid_round_holds_that_round_and_no_other() -> None:
    table = a_table()
    ids = three_rounds(table, hole="skip 1")

    answers = {answer.round: answer for answer in settled(*ids)}

    assert [answers[id].outcome for id in ids] == ["settled", "held", "settled"]
    assert answers[ids[1]].reasons == ("sequence_gap",)
    assert Journal.objects.filter(round=ids[1]).count() == 0


def test_the_number_that_comes_after_all_lets_the_round_settle() -> None:
    table = a_table()
    ids = three_rounds(table, hole="skip 1")
    settled(*ids)
    assert standing(ids[1]) == "held: sequence_gap"

    table.send([floor.a_report(missing(table), "note", ids[1], {"text": "a chip fell"})])

    assert standing(ids[1]) == "due"
    assert outcome(ids[1]) == "settled"
    assert money() == {table.bank: -300_00, table.guests: 300_00}


def missing(table: floor.AtTable) -> int:
    tablet = table.devices["tablet"]
    tablet.refresh_from_db()
    [(first, last)] = tablet.holes
    assert first == last
    return int(first)


def test_the_missing_number_may_change_what_the_round_is_worth() -> None:
    """The number that was missing is a second guest's bet: judged without it, nobody would have paid him."""
    table = a_table()
    round_id = table.tell("""
        bet w1 p1 100
        skip 1
        lock
        p1 3S 4D
        dealer KC 6D
        dealer stays
        close
    """)
    assert (outcome(round_id), money()) == ("held: sequence_gap", {})

    bet = {"wager": "w2", "hand": "p1", "owner": {"seat": 2}, "stake": {"amount": 50_00, "currency": "THB"}}
    table.send([floor.a_report(missing(table), "bet_placed", round_id, bet)])

    assert outcome(round_id) == "settled"
    assert floor.lines_of(round_id) == {"w1": 100_00, "w2": 50_00}


def test_numbers_missing_between_two_rounds_hold_the_first_and_every_round_number_between() -> None:
    """Numbers are missing behind the last words of round 2, and round 4 opens next."""
    table = a_table()
    first = table.tell(WON)
    settled(first)
    second = table.tell(WON)
    third = table.tell("skip 2\nopen\n" + WON, number=4)

    assert [outcome(second), outcome(third)] == ["held: sequence_gap", "settled"]
    assert standing(first) == "settled"


def test_a_round_whose_opening_is_missing_is_held_for_it() -> None:
    table = a_table()
    table.tell(WON)
    round_id = floor.a_round_id(7)
    table.told.append(round_id)

    table.tell("skip 1\n" + WON, round=round_id)

    assert outcome(round_id) == "held: sequence_gap"


def test_a_gap_that_is_waived_holds_nothing() -> None:
    table = a_table()
    ids = three_rounds(table, hole="skip 2")
    settled(*ids)
    tablet = table.devices["tablet"]
    tablet.refresh_from_db()
    [(first, last)] = tablet.holes

    with floor.act():
        rounds.waive_gap(
            device=tablet, first=first, last=last, person=table.supervisor, reason="battery", now=NOW
        )

    assert standing(ids[1]) == "due"
    assert outcome(ids[1]) == "settled"


def test_a_gap_of_the_camera_holds_nothing_unless_the_sheet_requires_the_camera() -> None:
    table = a_table(camera=True)
    round_id = table.tell(TWO_HANDS + "camera: skip 3" + READ_ALL + "close")

    assert outcome(round_id) == "settled"


def test_a_gap_of_one_table_holds_no_round_of_another() -> None:
    north, south = a_table("PD01"), a_table("PD02")
    held, free = north.tell(TWO_HANDS + "skip 1\nclose"), south.tell(WON)

    assert [outcome(held), outcome(free)] == ["held: sequence_gap", "settled"]


def test_a_held_round_does_not_wait_in_the_list_of_the_sweep() -> None:
    table = a_table()
    round_id = table.tell("bet w1 p1 100\nlock\nclose")
    assert rounds.due(now=floor.LATER, limit=10) == [round_id]

    outcome(round_id)

    assert rounds.due(now=floor.LATER, limit=10) == []
    assert Round.objects.get(pk=round_id).due_at is None
