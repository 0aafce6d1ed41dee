"""What of a record is in play, what is in doubt, and which marks its cards contradict."""

import pytest

from tests.casino.telling import TWO_HANDS, faces, flagged, hand_of, slot_of, told

# ── What is in play, and what is in doubt ─────────────────────────────────────────────────────────────────


def test_a_hand_is_in_play_by_wager_by_card_or_by_draw_mark() -> None:
    found = told("bet w1 p1 100 \n lock \n p2 3S 4D \n p3 draws \n p4 stays \n camera: p5.1 6D")
    assert [hand.name for hand in found.hands] == ["p1", "p2", "p3", "p5"]


def test_a_hand_whose_cards_all_died_is_no_longer_in_play_unless_somebody_bet_on_it() -> None:
    played = f"{TWO_HANDS} \n p2 5S 5D \n page: remove p2.1 \n page: remove p2.2 \n close"
    assert [hand.name for hand in told(played).hands] == ["p1"]
    assert told(played).doubts == ()
    betted = f"bet w2 p2 100 \n {played}"
    assert (told(betted).doubts, len(told(betted).hands)) == (("missing_card",), 2)


@pytest.mark.parametrize(
    "dealt",
    [
        "p1 7S \n dealer KC 4S",
        "p1 7S 3D \n dealer KC",
        "p1 7S 3D",
        "p1 7S 3D \n dealer KC 4S \n p1 draws",
        "p1 7S 3D \n dealer KC 4S \n dealer draws",
        "p1.1 7S \n p1.3 3D \n dealer KC 4S",
        "p1 7S 3D \n dealer KC 4S \n junk1 5S",
    ],
)
def test_a_card_that_must_be_there_and_is_not_is_missing(dealt: str) -> None:
    assert told(f"bet w1 p1 100 \n lock \n {dealt} \n close").doubts == ("missing_card",)


def test_a_contested_card_is_not_missing() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 7S 2D \n camera: p1.2 2H \n dealer KC 3S \n close")
    assert found.doubts == ("reads_differ",)


def test_a_hole_where_a_card_died_is_no_hole() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 7S 2D 3H \n dealer KC 3S \n remove p1.2 signed \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "7S 3H")


def test_one_card_in_two_hands_holds_the_round() -> None:
    """A camera that reads p2's seven of spades in p5 as well: both reads stay."""
    found = told(f"{TWO_HANDS} \n camera: p5 3S 9C \n close")
    assert (found.doubts, flagged(found)) == (("duplicate_card",), ["duplicate_card p5.1"])
    [finding] = found.findings
    assert finding.detail == (("card", "3S"), ("slots", ("p1.1", "p5.1")))


def test_of_a_duplicate_only_the_live_slots_are_named() -> None:
    found = told(
        f"""
        {TWO_HANDS}
        p2 3S 9C
        p3 3S 9D
        camera: p2.2 9H
        camera: p3.2 9S
        remove p3.1 signed
        close
        """
    )
    assert found.doubts == ("duplicate_card", "reads_differ", "missing_card")
    [finding] = [finding for finding in found.findings if finding.kind == "duplicate_card"]
    assert (finding.subject, finding.detail[1]) == ("p2.1", ("slots", ("p1.1", "p2.1")))


def test_a_contested_card_is_no_duplicate_until_it_is_ruled_one() -> None:
    played = f"{TWO_HANDS} \n camera: p1.1 KC \n close"
    assert told(played).doubts == ("reads_differ",)
    ruled = told(f"{played} \n page: rule p1.1 KC")
    assert (ruled.doubts, flagged(ruled)) == (("duplicate_card",), ["reads_differ p1.1"])


def test_a_pok_that_got_a_third_card_is_in_doubt_whichever_hand_it_is() -> None:
    dealt = {"p1": "p1 2S 4D", "dealer": "dealer 3S 3D"}
    for name in ("p1", "shared", "junk1", "dealer"):
        others = " \n ".join(said for other, said in dealt.items() if other != name)
        played = f"bet w1 p1 100 \n lock \n {others} \n {name} 9S KD 5H"
        assert (name, told(played).doubts) == (name, ("pok_drew",))
        assert flagged(told(played)) == [f"pok_drew {name}"]


def test_a_pok_with_a_draw_mark_alone_is_in_doubt_too() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 9S KD \n dealer 2C 4D \n p1 draws \n close")
    assert found.doubts == ("pok_drew", "missing_card")


def test_eight_or_nine_with_three_cards_is_no_pok_that_drew() -> None:
    assert told("bet w1 p1 100 \n lock \n p1 2S 3D 4H \n dealer KC 7D \n close").doubts == ()


def test_a_ruling_that_unmakes_the_pok_releases_it_and_one_on_the_third_card_does_not() -> None:
    played = "bet w1 p1 100 \n lock \n p1 9S KD 5H \n dealer 2C 4D \n close"
    assert told(f"{played} \n page: rule p1.1 3S").doubts == ()
    assert told(f"{played} \n page: rule p1.3 6H").doubts == ("pok_drew",)
    assert told(f"{played} \n correct p1.1 3S").doubts == ()


def test_a_pok_whose_first_card_died_is_judged_on_what_is_left() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 2S 9S KD \n dealer 2C 4D \n page: remove p1.1 \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "9S KD")


def test_doubts_are_listed_in_the_order_of_the_house() -> None:
    found = told(
        """
        bet w1 p1 100
        lock
        p1 2S 3S 4S
        p1.4 5S
        p2 9D KD 5S
        p3 6C
        camera: dealer.1 7C
        dealer 8C 9C
        """
    )
    assert found.doubts == ("too_many_cards", "pok_drew", "duplicate_card", "reads_differ", "missing_card")


# ── Strays ────────────────────────────────────────────────────────────────────────────────────────────────

STRAY = f"{TWO_HANDS} \n camera: p9 5S 6C \n close"


def test_without_a_lead_a_hand_that_only_the_camera_read_is_in_play() -> None:
    assert [hand.name for hand in told(STRAY).hands] == ["p1", "p9"]


def test_where_the_terminal_leads_a_hand_that_only_the_camera_read_is_a_stray() -> None:
    found = told(STRAY, lead="terminal")
    assert ([hand.name for hand in found.hands], flagged(found)) == (["p1"], ["stray_read p9"])
    assert slot_of(found, "p9.1").reads


def test_where_the_camera_leads_a_hand_that_only_the_terminal_read_is_a_stray() -> None:
    found = told(f"{TWO_HANDS} \n p9 5S 6C \n camera: p1 3S 4D \n close", lead="camera")
    assert ([hand.name for hand in found.hands], flagged(found)) == (["p1"], ["stray_read p9"])


@pytest.mark.parametrize("word", ["p9 stays", "p9 draws", "p9 pok", "p9.1 5S", "page: rule p9.2 6C"])
def test_a_mark_a_card_or_a_ruling_there_makes_it_no_stray(word: str) -> None:
    found = told(f"{TWO_HANDS} \n {word} \n camera: p9 5S 6C \n close", lead="terminal")
    assert [hand.name for hand in found.hands] == ["p1", "p9"]
    assert "stray_read p9" not in flagged(found)


def test_a_wager_makes_it_no_stray() -> None:
    found = told(f"bet w2 p9 100 \n {STRAY}", lead="terminal")
    assert [hand.name for hand in found.hands] == ["p1", "p9"]


def test_a_stray_card_is_no_duplicate() -> None:
    assert told(f"{TWO_HANDS} \n camera: p9 3S 6C \n close", lead="terminal").doubts == ()


# ── Marks the cards contradict ────────────────────────────────────────────────────────────────────────────


def test_a_pok_shown_with_other_cards_changes_nothing_and_is_flagged() -> None:
    found = told(f"{TWO_HANDS} \n p1 pok \n close")
    assert (found.doubts, flagged(found)) == ((), ["mark_differs p1"])


def test_a_pok_shown_with_a_pok_is_right() -> None:
    assert flagged(told("bet w1 p1 100 \n lock \n p1 9S KD \n p1 pok \n dealer 2C 4D \n close")) == []


def test_a_third_card_after_a_stay_counts_and_is_flagged() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 stays \n p1.3 2H \n close")
    assert (faces(hand_of(found, "p1")), flagged(found)) == ("3S 4D 2H", ["card_after_stay p1"])


def test_a_replacement_for_a_dead_card_is_no_card_after_the_stay() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n p1 3S 4D \n remove p1.1 signed \n p1 stays \n p1.3 2H \n dealer KC 6D"
    )
    assert (faces(hand_of(found, "p1")), flagged(found)) == ("4D 2H", [])


def test_cards_after_the_replacement_of_a_dead_one_come_after_the_stay_again() -> None:
    played = "bet w1 p1 100 \n lock \n p1 3S 4D \n remove p1.1 signed \n p1 stays \n p1.3 2H \n dealer KC 6D"
    found = told(f"{played} \n p1.4 8H")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "4D 2H 8H")
    # Without the supervisor, who took the first away, there would be four.
    assert flagged(found) == ["card_after_stay p1", "too_many_cards p1"]


def test_a_face_that_shows_up_in_a_dead_slot_is_no_card_after_the_stay() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D 9H \n remove p1.3 signed \n p1 stays \n correct p1.3 2H")
    assert flagged(found) == []
    unread = (
        "bet w1 p1 100 \n lock \n p1 3S 4D \n camera: p1.3 2H \n remove p1.3 signed \n p1 stays \n p1.3 2H"
    )
    assert "card_after_stay p1" not in flagged(told(unread))


def test_two_cards_after_one_stay_are_one_question() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 stays \n p1.3 2H \n p1.4 5H")
    assert [one for one in flagged(found) if "stay" in one] == ["card_after_stay p1"]


def test_a_third_face_entered_as_a_correction_comes_after_the_stay_too() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1 stays \n correct p1.3 2H")
    assert (faces(hand_of(found, "p1")), flagged(found)) == ("3S 4D 2H", ["card_after_stay p1"])
    second = told("bet w1 p1 100 \n lock \n p1 3S \n p1 stays \n correct p1.2 2H \n correct p1.2 4H")
    assert flagged(second) == []


def test_a_card_corrected_into_an_empty_slot_is_a_card() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S \n correct p1.2 4D \n dealer KC 6D \n close")
    assert (found.doubts, faces(hand_of(found, "p1"))) == ((), "3S 4D")


# ── Cameras ───────────────────────────────────────────────────────────────────────────────────────────────


def test_live_faces_that_no_camera_read_are_named_ruled_or_not() -> None:
    found = told(
        f"""
        {TWO_HANDS}
        camera: p1.1 3S
        camera: dealer KC 6D
        page: rule p1.2 5H
        page: rule dealer.1 QC
        close
        """
    )
    assert found.unread_by_camera == (("p1", 2),)


def test_a_dead_face_needs_no_camera() -> None:
    found = told(f"{TWO_HANDS} \n p1.3 2H \n camera: p1 3S 4D \n camera: dealer KC 6D \n remove p1.3 signed")
    assert found.unread_by_camera == ()


def test_a_cameras_draw_or_close_would_mean_nothing() -> None:
    found = told(f"{TWO_HANDS} \n camera: close \n camera: p1 draws")
    assert (found.state, hand_of(found, "p1").drew) == ("open", False)
