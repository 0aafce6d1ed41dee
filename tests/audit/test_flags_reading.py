"""Reading on for flags: one reader at a time, from where it stopped, and no round is ever missed."""

from __future__ import annotations

import time
from uuid import UUID

import pytest

from audit import flags
from audit.models import Flag, LogEntry, Reading
from audit.tasks import read_flags
from tests.audit import flagged
from tests.casino.telling import TWO_HANDS
from tests.races import together
from tests.races.together import Unlocked
from tests.settlement import floor
from tests.settlement.floor import LATER, AtTable, a_table, corrected, outcome

pytestmark = pytest.mark.django_db(transaction=True)

TOO_LATE = TWO_HANDS + "change w1 900\n"


def kinds() -> list[str]:
    return sorted(kind for kind, _ in flagged.raised() if kind != "closed_too_fast")


def settled_late_bet() -> tuple[AtTable, UUID]:
    table = a_table()
    round_id = table.tell(TOO_LATE + "close")
    assert outcome(round_id) == "settled"
    return table, round_id


def two_readers(unlocked: Unlocked | None = None) -> list[object]:
    flagged.step()
    settled_late_bet()
    flagged.number_all()
    return together.at_once(flagged.step, flagged.step, behind="FROM audit_leaf l", unlocked=unlocked)


def test_control_without_the_lock_two_readers_read_the_same_leaves() -> None:
    first, second = two_readers(Unlocked(instead=((" FOR UPDATE SKIP LOCKED", ""),)))

    assert first == second != 0


def test_while_one_reads_another_looks_at_nothing_and_does_not_wait() -> None:
    first, second = two_readers()

    assert (first, second) == (Reading.objects.get().position, 0)
    assert kinds() == ["late_bet"]
    assert LogEntry.objects.filter(action="flag.raised").count() == Flag.objects.count()


def test_a_round_settled_after_its_events_were_read_is_looked_at_when_its_own_entry_comes() -> None:
    table = a_table()
    round_id = table.tell(TOO_LATE + "close")
    flagged.read_all()
    assert kinds() == []

    assert outcome(round_id) == "settled"
    flagged.read_all()
    assert kinds() == ["late_bet"]


def test_a_round_is_looked_at_when_it_is_held_and_again_when_it_was_ruled_and_settled() -> None:
    """What was in doubt stays flagged, and is flagged once; the hand's stay can be judged once its cards are known."""
    table = a_table(camera=True, player_draw={"must_draw_to": 7})
    round_id = table.tell(TOO_LATE + "camera: p1.2 5D\nclose")
    assert outcome(round_id) == "held: reads_differ"
    flagged.read_all()
    assert kinds() == ["late_bet", "reads_differ"]

    table.tell("rule p1.2 4D", round=round_id, at=LATER)
    flagged.read_all()
    assert outcome(round_id) == "settled"
    flagged.read_all()
    assert kinds() == ["draw_missed", "late_bet", "reads_differ"]


def test_what_comes_late_is_looked_at_although_the_round_stays_settled() -> None:
    table, round_id = settled_late_bet()
    flagged.read_all()

    table.tell("note", round=round_id, at=LATER)  # never late
    flagged.read_all()
    assert kinds() == ["late_bet"]
    table.tell("p1 stays", round=round_id, at=LATER)
    flagged.read_all()
    assert kinds() == ["late_bet", "late_event"]


def test_a_correction_is_looked_at_as_the_round_stands_after_it() -> None:
    """The guest's four is ruled to be a two: by the sheet a five must draw, and nobody did."""
    table = a_table(player_draw={"must_draw_to": 5})
    round_id = table.tell(TWO_HANDS + "close")
    assert outcome(round_id) == "settled"
    table.tell("rule p1.2 2D", round=round_id, at=LATER)
    flagged.read_all()
    assert kinds() == ["late_event"]

    corrected(round_id, "card_ruled")
    flagged.read_all()
    assert kinds() == ["draw_missed", "late_event"]


def test_a_voided_round_is_asked_nothing() -> None:
    table = a_table()
    assert outcome(table.tell(TOO_LATE + "void")) == "voided"
    flagged.read_all()
    assert kinds() == []


def test_a_cameras_number_may_still_come_while_its_round_is_played() -> None:
    """Another round is settled meanwhile. Once the round behind the hole is settled too, the number is missing."""
    table = a_table(camera=True)
    first = table.tell(TWO_HANDS + "close")
    second = table.tell(TWO_HANDS + "camera: skip 2\ncamera: p1.1 3S")
    assert outcome(first) == "settled"
    flagged.read_all()
    assert "camera_gap" not in kinds()

    table.tell("close", round=second)
    assert outcome(second) == "settled"
    flagged.read_all()
    assert flagged.raised(kind="camera_gap").keys() == {("camera_gap", "devices/PD01-camera#1-2")}


def test_reports_under_an_alias_are_asked_of_the_round_itself() -> None:
    table = a_table()
    round_id = table.tell(TWO_HANDS + "close")
    assert outcome(round_id) == "settled"
    with floor.act():
        second, _ = floor.devices.enrol(code="PD01-second", kind="terminal", table=table.table, now=floor.NOW)
    table.devices["second"] = second
    other = floor.a_round_id(99)
    opened = floor.a_report(1, "round_opened", other, {"number": 1, "direction": "clockwise"})
    read = floor.a_report(2, "card_dealt", other, {"hand": "p1", "position": 2, "card": "5D"})
    table.send([opened, read], device="second", at=LATER)
    flagged.read_all()
    assert {subject for kind, subject in flagged.raised(kind="reads_differ")} == {f"rounds/{round_id}#p1.2"}


def test_flags_are_there_within_seconds_of_the_settlement() -> None:
    settled_late_bet()
    began = time.monotonic()
    flagged.number_all()
    assert read_flags() > 0
    assert kinds() == ["late_bet"]
    assert time.monotonic() - began < 30


def test_a_log_of_another_name_is_read_from_its_beginning(settings: object) -> None:
    settled_late_bet()
    flagged.read_all()
    position = Reading.objects.get().position
    settings.LOG_ORIGIN = "pokdeng-2"  # type: ignore[attr-defined]
    assert outcome(a_table("PD02").tell(TOO_LATE + "close")) == "settled"
    flagged.read_all()
    reading = Reading.objects.get()
    assert (reading.origin, kinds()) == ("pokdeng-2", ["late_bet", "late_bet"])
    assert reading.position < 2 * position


def test_an_answer_stays_when_the_same_is_found_again() -> None:
    settled_late_bet()
    flagged.read_all()
    flag = Flag.objects.get(kind="late_bet")
    with floor.act():
        flags.close(flag=flag.id, by=floor.a_person("V01", "surveillance"), code="explained", reason="a slip")
    Reading.objects.update(position=0)
    flagged.read_all()
    assert list(Flag.objects.filter(kind="late_bet").values_list("id", "state")) == [(flag.id, "closed")]
