"""Who tells a record: gaps in a device's numbers, further terminals, a terminal replaced."""

from dataclasses import replace

import pytest

from casino import record
from casino.record import Event
from tests.casino.telling import TWO_HANDS, events_of, faces, flagged, hand_of, slot_of, told

# ── Gaps ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_terminals_story_stops_at_its_first_missing_number() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n skip 2 \n p1 draws \n check p1 \n close"
    )
    assert (found.doubts, found.state) == (("sequence_gap",), "open")
    assert (hand_of(found, "p1").drew, hand_of(found, "p1").check_place) == (False, None)


def test_beside_a_gap_nothing_is_called_missing_or_silent() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n skip 1 \n camera: p1 3S 4D 9H \n close")
    assert found.doubts == ("sequence_gap",)
    assert found.findings == ()


def test_beside_a_gap_what_cannot_be_true_is_still_named() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 3S \n skip 1 \n close")
    assert found.doubts == ("sequence_gap", "duplicate_card")


def test_a_gap_before_the_opening_leaves_nothing_to_tell() -> None:
    found = told("skip 1 \n open \n bet w1 p1 100 \n lock")
    assert (found.number, found.wagers, found.doubts) == (None, (), ("sequence_gap",))


def test_a_gap_between_rounds_holds_the_round_whose_number_lies_in_it() -> None:
    found = record.fold([], unknown=[record.Gap("tablet", 40, 52)])
    assert found.doubts == ("sequence_gap",)


def test_a_cameras_gap_is_flagged_and_holds_nothing() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.1 3S \n camera: skip 3 \n camera: p1.2 4D \n close")
    assert (found.doubts, flagged(found)) == ((), ["camera_gap"])
    assert found.findings[0].detail == (("source", "camera"), ("first", 2), ("last", 4))


def test_a_void_from_a_page_stands_though_the_terminal_has_a_gap() -> None:
    found = told("bet w1 p1 100 \n lock \n skip 1 \n close \n page: void")
    assert (found.state, found.doubts) == ("voided", ())


# ── Several terminals ─────────────────────────────────────────────────────────────────────────────────────


def test_another_terminals_cards_are_reads_and_the_rest_is_evidence() -> None:
    found = told(
        f"""
        {TWO_HANDS}
        tablet2: bet w8 p1 100
        tablet2: p1 3S 4D
        tablet2: p1 draws
        tablet2: check p1
        tablet2: dealer draws
        tablet2: close
        """
    )
    assert [wager.id for wager in found.wagers] == ["w1"]
    assert (found.state, hand_of(found, "p1").drew, found.dealer.drew) == ("open", False, False)
    assert [read.source for read in slot_of(found, "p1.1").reads] == ["tablet", "tablet2"]
    assert (found.doubts, found.findings) == ((), ())


def test_another_terminal_that_read_another_card_contests_the_slot() -> None:
    found = told(f"{TWO_HANDS} \n tablet2: p1.1 3H \n close")
    assert found.doubts == ("reads_differ",)
    assert told(f"{TWO_HANDS} \n tablet2: p1.1 3H \n close", lead="terminal").doubts == ()


def test_another_terminal_corrects_its_own_read_only() -> None:
    assert told(f"{TWO_HANDS} \n tablet2: p1.1 3H \n tablet2: correct p1.1 3S \n close").doubts == ()
    assert told(f"{TWO_HANDS} \n tablet2: correct p1.1 3H \n close").doubts == ("reads_differ",)


def test_a_supervisor_may_sign_at_another_terminal() -> None:
    found = told(f"{TWO_HANDS} \n tablet2: rule p1.1 5H signed \n close")
    assert faces(hand_of(found, "p1")) == "5H 4D"


def test_of_rulings_at_two_terminals_the_one_recorded_later_counts() -> None:
    ours = told(f"{TWO_HANDS} \n tablet2: rule p1.1 5H signed \n rule p1.1 6H signed \n close")
    theirs = told(f"{TWO_HANDS} \n rule p1.1 6H signed \n tablet2: rule p1.1 5H signed \n close")
    assert (faces(hand_of(ours, "p1")), faces(hand_of(theirs, "p1"))) == ("6H 4D", "5H 4D")


def test_the_recorder_is_the_terminal_whose_opening_was_recorded_first() -> None:
    events, _ = events_of(
        f"camera: p1.1 3S \n tablet2: p1.2 4D \n open 4 \n {TWO_HANDS} \n tablet2: bet w9 p9 1 \n close"
    )
    found = record.fold(events)
    assert ([wager.id for wager in found.wagers], found.number, found.doubts) == (["w1"], 4, ())


def test_a_new_terminal_goes_on_where_the_broken_one_stopped() -> None:
    found = told(
        """
        bet w1 p1 100
        lock
        p1 3S 4D
        tablet2: takes-over signed
        tablet2: dealer KC 2D
        tablet2: p1 stays
        tablet2: check p1
        tablet2: dealer draws
        tablet2: dealer.3 9H
        tablet2: close
        """
    )
    assert (found.state, found.doubts, found.findings) == ("closed", (), ())
    assert (faces(hand_of(found, "p1")), faces(found.dealer)) == ("3S 4D", "KC 2D 9H")
    assert (hand_of(found, "p1").met, hand_of(found, "p1").stayed) == ("two", True)
    assert found.took_ms is None  # two clocks do not make a duration


def test_without_a_signature_nobody_takes_over() -> None:
    found = told("bet w1 p1 100 \n lock \n tablet2: takes-over \n tablet2: close")
    assert (found.state, flagged(found)) == ("open", ["unsigned_ruling"])


def test_what_the_new_terminal_sent_before_it_took_over_is_evidence() -> None:
    found = told(
        "bet w1 p1 100 \n tablet2: bet w2 p2 100 \n lock \n tablet2: takes-over signed \n tablet2: close"
    )
    assert ([wager.id for wager in found.wagers], found.state) == (["w1"], "closed")
    assert found.findings == ()


def test_what_the_new_terminal_read_before_it_took_over_is_a_read() -> None:
    played = "bet w1 p1 100 \n lock \n p1 3S 4D \n tablet2: dealer KC 6D \n tablet2: takes-over signed"
    assert faces(told(f"{played} \n tablet2: close").dealer) == "KC 6D"
    assert faces(told(f"{played} \n tablet3: takes-over signed \n tablet3: close").dealer) == "KC 6D"


def test_what_the_broken_terminal_sends_after_it_was_replaced_is_late() -> None:
    found = told(
        f"{TWO_HANDS} \n tablet2: takes-over signed \n p1.3 2H \n p1 draws \n void signed \n tablet2: close"
    )
    assert (found.state, faces(hand_of(found, "p1")), hand_of(found, "p1").drew) == ("closed", "3S 4D", False)


def test_a_terminal_that_was_mended_may_take_over_again() -> None:
    found = told(
        """
        bet w1 p1 100
        lock
        tablet2: takes-over signed
        tablet2: p1 3S 4D
        takes-over signed
        dealer KC 6D
        close
        tablet2: p1.1 9H
        """
    )
    assert (found.state, found.doubts, faces(hand_of(found, "p1"))) == ("closed", (), "3S 4D")


def test_an_event_numbered_after_a_return_belongs_to_the_return_wherever_it_arrived() -> None:
    events, _ = events_of(
        "bet w1 p1 100 \n lock \n takes-over signed \n check p1 \n tablet2: takes-over signed"
    )
    arrived = [*events[:3], events[4], events[5], events[3]]
    found = record.fold([replace(event, place=place) for place, event in enumerate(arrived, 1)])
    assert (flagged(found), hand_of(found, "p1").check_place) == ([], 0)


def test_while_no_opening_is_there_the_terminal_heard_first_tells_the_story() -> None:
    events, _ = events_of("bet w1 p1 100 \n tablet2: bet w2 p2 100")
    found = record.fold([event for event in events if event.kind != "round_opened"])
    assert [wager.id for wager in found.wagers] == ["w1"]


def test_a_terminals_rulings_keep_its_own_order_beside_another_terminals() -> None:
    """Its last ruling came in first, the other terminal's in between: its last one still follows its first."""
    events, _ = events_of(
        f"{TWO_HANDS} \n rule p1.1 5H signed \n rule p1.1 6H signed \n tablet2: rule p1.1 7H signed"
    )
    *story, first, last, others = events
    arrived = [*story, last, others, first]
    found = record.fold([replace(event, place=place) for place, event in enumerate(arrived, 1)])
    assert faces(hand_of(found, "p1")) == "6H 4D"


def test_an_unsigned_ruling_is_flagged_once_also_beside_another_terminal() -> None:
    found = told(f"{TWO_HANDS} \n tablet2: p1.1 3S \n rule p1.1 5H \n tablet2: rule p1.2 5C \n close")
    assert flagged(found) == ["unsigned_ruling p1.1", "unsigned_ruling p1.2"]


def test_a_kind_that_does_not_exist_is_a_fault_from_any_source() -> None:
    for source, feed in (("tablet2", "terminal"), ("page/7", "page")):
        with pytest.raises(ValueError, match="card_eaten"):
            record.fold(
                [
                    Event(
                        "round_opened", {"number": 1, "direction": "clockwise"}, "tablet", "terminal", 1, 1
                    ),
                    Event("card_eaten", {}, source, feed, 1, 2),  # type: ignore[arg-type]
                ]
            )
