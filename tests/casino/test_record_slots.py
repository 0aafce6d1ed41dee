"""Which card a slot of a record holds: reads, corrections, rulings, leads, cards taken away."""

import pytest

from casino import cards, record
from tests.casino.telling import TWO_HANDS, events_of, faces, flagged, hand_of, slot_of, told

# ── Slots: reads, corrections, rulings ────────────────────────────────────────────────────────────────────


def test_reads_that_agree_are_one_card() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1 3S 4D \n close")
    assert (found.doubts, found.findings) == ((), ())
    assert [(read.source, read.feed) for read in slot_of(found, "p1.1").reads] == [
        ("tablet", "terminal"),
        ("camera", "camera"),
    ]


def test_a_card_that_one_feed_alone_read_counts() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S \n camera: p1.2 4D \n dealer KC 6D \n close")
    assert (faces(hand_of(found, "p1")), found.doubts) == ("3S 4D", ())


def test_reads_that_differ_leave_the_slot_contested() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.1 3H \n close")
    assert (found.doubts, flagged(found)) == (("reads_differ",), ["reads_differ p1.1"])
    assert (slot_of(found, "p1.1").card, slot_of(found, "p1.1").contested) == (None, True)
    assert faces(hand_of(found, "p1")) == "4D"


def test_two_cameras_can_disagree_too() -> None:
    found = told("bet w1 p1 100 \n lock \n camera: p1 3S 4D \n camera2: p1 3S 5D \n dealer KC 6D \n close")
    assert found.doubts == ("reads_differ",)


def test_a_cameras_second_read_replaces_its_first_by_its_own_numbers() -> None:
    events, _ = events_of(f"{TWO_HANDS} \n camera: p1.1 3H \n camera: p1.1 3S \n close")
    assert record.fold(events).doubts == ()
    assert record.fold(events[::-1]).doubts == ()


def test_a_terminal_that_deals_one_slot_twice_contests_itself() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n p1.2 5D \n dealer KC 6D \n close")
    assert (found.doubts, flagged(found)) == (("reads_differ",), ["reads_differ p1.2"])
    assert len(slot_of(found, "p1.2").reads) == 2


def test_the_same_card_dealt_twice_to_its_slot_is_one_read() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n p1.2 4D \n dealer KC 6D \n close")
    assert (found.doubts, len(slot_of(found, "p1.2").reads)) == ((), 1)


def test_a_correction_replaces_all_that_the_terminal_read_there() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n p1.2 5D \n correct p1.2 6D \n dealer KC 7D \n close")
    assert (found.doubts, found.findings, faces(hand_of(found, "p1"))) == ((), (), "3S 6D")


def test_a_slip_corrected_to_what_the_camera_saw_was_never_a_disagreement() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.2 7D \n correct p1.2 7D \n close")
    assert (found.doubts, flagged(found), found.bare) == ((), [], None)


def test_a_correction_leaves_the_cameras_read_alone() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.2 4D \n correct p1.2 7D \n close")
    assert (found.doubts, flagged(found)) == (("reads_differ",), ["reads_differ p1.2"])


def test_a_ruling_beats_every_read_and_the_flag_stays() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.2 7D \n page: rule p1.2 8H \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 8H")
    assert flagged(found) == ["reads_differ p1.2"]
    assert found.bare is not None
    assert found.bare.doubts == ("reads_differ",)


def test_a_ruling_beats_a_read_that_comes_after_it() -> None:
    found = told(f"{TWO_HANDS} \n rule p1.2 7D signed \n camera: p1.2 9D \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 7D")
    assert flagged(found) == ["reads_differ p1.2"]


def test_of_a_terminals_rulings_the_last_by_its_numbers_counts() -> None:
    events, _ = events_of(f"{TWO_HANDS} \n rule p1.2 7D signed \n rule p1.2 9D signed \n close")
    for arrived in (events, events[::-1]):
        assert faces(hand_of(record.fold(arrived), "p1")) == "3S 9D"


def test_a_page_rules_after_the_terminal_and_a_decision_after_what_was_recorded_before_it() -> None:
    found = told(
        f"{TWO_HANDS} \n decision: rule p1.2 9D \n page: rule p1.2 8D \n rule p1.2 7D signed \n close"
    )
    assert faces(hand_of(found, "p1")) == "3S 8D"


def test_a_card_that_no_feed_read_can_be_ruled() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S \n dealer KC 6D \n page: rule p1.2 4D \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 4D")


def test_an_unsigned_act_of_a_supervisor_changes_nothing() -> None:
    unsigned = """
        rule p1.2 9D
        remove p1.1
        waive awaiting_camera
        void
        takes-over
    """
    found = told(f"{TWO_HANDS} \n {unsigned} \n close")
    assert (faces(hand_of(found, "p1")), found.state, found.waivers) == ("3S 4D", "closed", ())
    assert flagged(found) == [
        *["unsigned_ruling"] * 3,
        "unsigned_ruling p1.1",
        "unsigned_ruling p1.2",
    ]
    assert found.bare is None


# ── A feed that leads ─────────────────────────────────────────────────────────────────────────────────────


def test_where_the_terminal_leads_its_card_counts_and_the_difference_is_flagged() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.2 7D \n close", lead="terminal")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 4D")
    assert flagged(found) == ["reads_differ p1.2"]


def test_where_the_camera_leads_its_card_counts() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.2 7D \n close", lead="camera")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 7D")
    assert flagged(found) == ["reads_differ p1.2"]


def test_a_leader_that_read_two_cards_decides_nothing() -> None:
    cameras = f"{TWO_HANDS} \n camera: p1.2 7D \n camera2: p1.2 8D \n close"
    assert told(cameras, lead="camera").doubts == ("reads_differ",)
    assert told(cameras, lead="terminal").doubts == ()
    twice = f"{TWO_HANDS} \n p1.2 5D \n close"
    assert told(twice, lead="terminal").doubts == ("reads_differ",)


def test_a_ruling_goes_before_a_lead() -> None:
    found = told(f"{TWO_HANDS} \n camera: p1.2 7D \n page: rule p1.2 8D \n close", lead="camera")
    assert faces(hand_of(found, "p1")) == "3S 8D"


def test_a_record_on_which_the_feeds_agree_is_the_same_object_under_any_lead() -> None:
    events, _ = events_of(f"{TWO_HANDS} \n camera: p1 3S 4D \n camera: dealer KC 6D \n close")
    found = record.fold(events)
    assert record.led(found, lead="none") is found
    assert record.led(found, lead="terminal") is found
    assert record.led(found, lead="camera") is found


def test_a_record_without_its_reads_cannot_be_put_under_a_lead_that_would_change_it() -> None:
    events, _ = events_of(f"{TWO_HANDS} \n camera: p1.2 7D \n close")
    found = record.fold(events)
    object.__setattr__(found, "story", None)
    with pytest.raises(ValueError, match="only a folded record"):
        record.led(found, lead="camera")


SILENT = f"{TWO_HANDS} \n camera: p1 3S 4D 9H \n close"
"""The terminal knows of no third card, the camera saw one."""


def test_a_third_card_that_only_the_camera_read_is_contested() -> None:
    found = told(SILENT)
    assert (found.doubts, faces(hand_of(found, "p1"))) == (("reads_differ",), "3S 4D")
    assert slot_of(found, "p1.3").contested
    assert flagged(found) == ["reads_differ p1.3"]


def test_under_the_terminals_lead_a_third_card_it_does_not_know_is_left_out() -> None:
    found = told(SILENT, lead="terminal")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 4D")
    assert flagged(found) == ["reads_differ p1.3"]


def test_under_the_cameras_lead_a_third_card_it_saw_counts() -> None:
    found = told(SILENT, lead="camera")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 4D 9H")
    assert flagged(found) == ["mark_differs p1", "reads_differ p1.3"]


def test_the_dealers_third_card_is_asked_about_in_the_same_way() -> None:
    found = told(f"{TWO_HANDS} \n camera: dealer.3 9H \n close")
    assert (found.doubts, faces(found.dealer)) == (("reads_differ",), "KC 6D")


@pytest.mark.parametrize("spoken", ["p1 draws", "p1.3 9H"])
def test_a_draw_mark_or_the_face_itself_breaks_the_terminals_silence(spoken: str) -> None:
    found = told(f"bet w1 p1 100 \n lock \n p1 3S 4D \n {spoken} \n camera: p1.3 9H \n dealer KC 6D \n close")
    assert (found.doubts, found.findings, faces(hand_of(found, "p1"))) == ((), (), "3S 4D 9H")


def test_a_terminal_that_gave_fewer_than_two_cards_is_not_silent_about_the_third() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S \n camera: p1 3S 4D 9H \n dealer KC 6D \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 4D 9H")


def test_a_ruling_ends_the_question_of_a_third_card_either_way() -> None:
    there = told(f"{SILENT} \n page: rule p1.3 9H")
    assert (there.doubts, faces(hand_of(there, "p1"))) == ((), "3S 4D 9H")
    gone = told(f"{SILENT} \n page: remove p1.3")
    assert (gone.doubts, faces(hand_of(gone, "p1"))) == ((), "3S 4D")
    assert "reads_differ p1.3" in flagged(there)
    assert "reads_differ p1.3" in flagged(gone)
    counts = [one.findings[-1].detail[1:] for one in (there, gone)]
    assert counts == [(("counts", "9H"), ("by", "ruled")), (("counts", ""), ("by", "removed"))]


# ── Cards taken away ──────────────────────────────────────────────────────────────────────────────────────


def test_a_dead_card_takes_part_in_nothing_but_was_seen() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 3S \n dealer.3 5H \n remove dealer.2 signed")
    assert (found.doubts, faces(found.dealer)) == ((), "KC 5H")
    assert found.cards_seen == cards.mask(map(cards.parse, ["3S", "4D", "KC", "5H"]))
    assert slot_of(found, "dealer.2").removed
    assert flagged(found) == ["duplicate_card dealer.2"]


def test_a_dead_cards_face_is_seen_for_the_count_of_the_deck() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D 9H \n dealer KC 6D \n remove p1.3 signed")
    assert found.cards_seen & cards.mask([cards.parse("9H")])


def test_removing_the_third_card_cancels_the_draw_mark() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n p1 9S KD \n dealer 2C 4D \n p1 draws \n p1.3 5H \n page: remove p1.3 \n close"
    )
    assert (found.doubts, hand_of(found, "p1").drew, faces(hand_of(found, "p1"))) == ((), False, "9S KD")
    assert flagged(found) == ["pok_drew p1"]


def test_the_terminal_takes_back_a_bare_draw_mark_on_its_own() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 draws \n remove p1.3 \n p1 3S 4D \n dealer KC 6D \n close")
    assert (found.doubts, found.findings, hand_of(found, "p1").drew) == ((), (), False)
    assert found.bare is None


def test_a_bare_mark_may_be_taken_back_twice() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n p1 draws \n remove p1.3 signed \n remove p1.3 \n p1 3S 4D \n dealer KC 6D"
    )
    assert (found.doubts, found.findings) == ((), ())


def test_a_draw_mark_set_again_after_it_was_taken_back_stands() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 draws \n remove p1.3 \n p1 draws")
    assert found.doubts == ("missing_card",)
    again = told("bet w1 p1 100 \n lock \n p1 3S 4D \n p1 draws \n remove p1.3 \n p1 draws \n p1.3 2H")
    assert faces(hand_of(again, "p1")) == "3S 4D 2H"


def test_a_mark_taken_back_where_a_camera_saw_the_face_sets_the_two_at_odds() -> None:
    played = "bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 draws \n camera: p1.3 2H"
    unsigned = told(f"{played} \n remove p1.3 \n close")
    assert (unsigned.doubts, faces(hand_of(unsigned, "p1"))) == (("reads_differ",), "3S 4D")
    assert flagged(unsigned) == ["reads_differ p1.3"]
    again = told(f"{played} \n remove p1.3 \n p1 draws \n close")
    assert (again.doubts, faces(hand_of(again, "p1"))) == ((), "3S 4D 2H")


def test_a_face_goes_by_signature_alone() -> None:
    played = "bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 draws"
    for seen in ("p1.3 2H", "camera: p1.3 2H"):
        signed = told(f"{played} \n {seen} \n remove p1.3 signed \n close")
        assert (signed.doubts, faces(hand_of(signed, "p1"))) == ((), "3S 4D")
        assert slot_of(signed, "p1.3").removed
    for seen in ("p1.3 2H", "rule p1.3 2H signed"):
        unsigned = told(f"{played} \n {seen} \n remove p1.3 \n close")
        assert faces(hand_of(unsigned, "p1")) == "3S 4D 2H"
        assert "unsigned_ruling p1.3" in flagged(unsigned)


def test_a_ruling_elsewhere_gives_a_bare_mark_no_face() -> None:
    played = "bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 draws \n rule p1.2 5H signed"
    assert flagged(told(f"{played} \n remove p1.3 \n close")) == []
    dead = "bet w1 p1 100 \n lock \n p1 3S 4D 2H \n dealer KC 6D \n remove p1.3 signed \n remove p1.3"
    assert flagged(told(dead)) == ["unsigned_ruling p1.3"]


def test_a_mark_goes_with_a_dead_second_card_too_and_with_a_card_nobody_read() -> None:
    second = told(
        "bet w1 p1 100 \n lock \n p1 7S 3D \n p1 draws \n p1.3 9H \n remove p1.2 signed \n dealer KC 8S"
    )
    assert (second.doubts, faces(hand_of(second, "p1"))) == ((), "7S 9H")
    unread = told("bet w1 p1 100 \n lock \n p1 draws \n remove p1.1 signed \n dealer KC 8S")
    assert (unread.doubts, hand_of(unread, "p1").drew) == (("missing_card",), True)


def test_the_terminals_own_taking_back_stands_beside_a_supervisors_ruling() -> None:
    played = "bet w1 p1 100 \n lock \n p1 9S KD \n p1 draws \n remove p1.3 \n dealer 2C 4D"
    found = told(f"{played} \n page: rule dealer.2 5D \n close")
    assert (found.doubts, flagged(found)) == ((), [])
    assert found.bare is not None


def test_a_dead_card_of_which_the_reads_differ_was_one_of_them_nobody_knows_which() -> None:
    found = told(f"{TWO_HANDS} \n p1.3 9H \n camera: p1.3 9D \n remove p1.3 signed \n close")
    assert (slot_of(found, "p1.3").card, slot_of(found, "p1.3").contested) == (None, False)
    assert found.cards_seen == cards.mask(map(cards.parse, ["3S", "4D", "KC", "6D"]))
    [finding] = [finding for finding in found.findings if finding.kind == "reads_differ"]
    assert finding.detail[1:] == (("counts", ""), ("by", "removed"))


def test_what_counts_in_place_of_differing_reads_is_named_with_its_reason() -> None:
    played = f"{TWO_HANDS} \n camera: p1.2 7D \n close"
    decided: dict[str, record.RoundRecord] = {
        "ruled": told(f"{played} \n page: rule p1.2 8H"),
        "terminal": told(played, lead="terminal"),
        "camera": told(played, lead="camera"),
    }
    counts = {"ruled": "8H", "terminal": "4D", "camera": "7D"}
    for by, found in decided.items():
        [finding] = [finding for finding in found.findings if finding.kind == "reads_differ"]
        assert finding.detail == (
            ("reads", (("tablet", "4D"), ("camera", "7D"))),
            ("counts", counts[by]),
            ("by", by),
        )


def test_a_card_ruled_where_no_feed_read_one_is_no_disagreement() -> None:
    found = told(f"{TWO_HANDS} \n page: rule p1.3 2H \n close")
    assert faces(hand_of(found, "p1")) == "3S 4D 2H"
    assert "reads_differ" not in [finding.kind for finding in found.findings]


def test_a_lead_is_put_on_the_record_without_supervisors_as_well() -> None:
    played = f"{TWO_HANDS} \n camera: p1.2 7D \n camera: p1.1 9D \n close"
    found = told(f"{played} \n page: rule p1.1 5C", lead="camera")
    assert found.bare is not None
    assert (faces(hand_of(found, "p1")), faces(hand_of(found.bare, "p1"))) == ("5C 7D", "9D 7D")
    assert told(played, lead="camera").bare is None


def test_a_dead_first_card_lets_the_third_take_its_place() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n p1 7S 3D \n dealer KC 8S \n p1 draws \n p1.3 9H \n page: remove p1.1 \n close"
    )
    assert (found.doubts, faces(hand_of(found, "p1")), hand_of(found, "p1").drew) == ((), "3D 9H", False)


def test_a_dead_first_card_leaves_the_mark_of_a_draw_whose_face_is_unknown() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n p1 7S 3D \n dealer KC 8S \n p1 draws \n page: remove p1.1 \n close"
    )
    assert (found.doubts, hand_of(found, "p1").drew) == (("missing_card",), True)


def test_a_third_face_shown_later_still_takes_the_dead_cards_place() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 draws \n remove p1.1 signed \n p1 7S 3D 9H \n dealer KC 8S")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3D 9H")


def test_a_draw_after_the_replacement_is_the_hands_third_card() -> None:
    """One died in the deal, the third slot stands in for it, the guest then drew the fourth."""
    played = "bet w1 p1 100 \n lock \n p1 7S 3D \n remove p1.1 signed \n p1.3 4H \n p1 draws \n dealer KC 8S"
    assert told(played).doubts == ("missing_card",)
    drew = told(f"{played} \n p1.4 2C")
    assert (drew.doubts, faces(hand_of(drew, "p1"))) == ((), "3D 4H 2C")
    stayed = told(f"{played} \n remove p1.4")
    assert (stayed.doubts, faces(hand_of(stayed, "p1"))) == ((), "3D 4H")


def test_a_removed_fourth_card_leaves_the_draw_as_it_was() -> None:
    played = "bet w1 p1 100 \n lock \n p1 7S 3C \n dealer KC 3S \n p1 draws \n p1.3 3D \n p1.4 4D \n close"
    assert told(played).doubts == ("too_many_cards",)
    found = told(f"{played} \n page: remove p1.4")
    assert (found.doubts, faces(hand_of(found, "p1")), hand_of(found, "p1").drew) == ((), "7S 3C 3D", True)
    assert flagged(found) == ["too_many_cards p1"]


def test_of_removal_and_ruling_of_one_slot_the_later_counts() -> None:
    back = told(f"{TWO_HANDS} \n page: remove p1.2 \n page: rule p1.2 5H \n close")
    assert (back.doubts, faces(hand_of(back, "p1"))) == ((), "3S 5H")
    gone = told(f"{TWO_HANDS} \n page: rule p1.2 5H \n page: remove p1.2 \n close")
    assert (gone.doubts, faces(hand_of(gone, "p1"))) == (("missing_card",), "3S")
