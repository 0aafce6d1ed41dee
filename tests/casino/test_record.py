"""How the reports of a round become its record: the story that its terminal tells."""

from dataclasses import replace

import pytest

from casino import cards, record
from casino.record import Event, Finding, Owner, RoundRecord, Wager
from tests.casino.telling import TWO_HANDS, events_of, faces, flagged, hand_of, told

# ── The story ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plain_round_is_told_by_its_terminal() -> None:
    found = told(
        """
        open 7 counter_clockwise
        bet w1 p1 500
        bet w2 p2 200
        lock
        p1 9S 9D
        p2 KH 2S
        dealer AC 4C
        p1 pok
        p2 draws
        p2.3 5H
        check p1
        dealer stays
        close
        """
    )
    assert (found.number, found.direction, found.state) == (7, "counter_clockwise", "closed")
    assert found.wagers == (
        Wager("w1", "p1", Owner("seat", "1"), 500_00),
        Wager("w2", "p2", Owner("seat", "2"), 200_00),
    )
    assert [(hand.name, faces(hand), hand.met) for hand in found.hands] == [
        ("p1", "9S 9D", "two"),
        ("p2", "KH 2S 5H", "final"),
    ]
    assert (faces(found.dealer), found.dealer.stayed, found.dealer.drew) == ("AC 4C", True, False)
    assert (hand_of(found, "p1").pok_shown, hand_of(found, "p2").drew) == (True, True)
    assert (found.doubts, found.findings, found.bare) == ((), (), None)
    assert found.cards_seen == cards.mask(map(cards.parse, ["9S", "9D", "KH", "2S", "5H", "AC", "4C"]))
    assert found.turns == ("p1", "p2", "dealer")
    assert found.dealt == ("p1", "p2", "dealer")


def test_opening_lock_and_close_are_instants_put_right_and_pace_is_the_devices_own() -> None:
    data = {"number": 1, "direction": "clockwise"}
    found = record.fold(
        [
            Event("round_opened", data, "tablet", "terminal", 1, 1, time_ms=5_000, instant_ms=105_000),
            Event("bets_locked", {}, "tablet", "terminal", 2, 2, time_ms=9_000, instant_ms=120_000),
            Event("round_closed", {}, "tablet", "terminal", 3, 3, time_ms=35_000, instant_ms=121_000),
        ]
    )
    assert (found.opened_ms, found.bets_closed_ms, found.closed_ms) == (105_000, 120_000, 121_000)
    assert found.took_ms == 30_000


def test_hands_are_listed_by_number_then_shared_then_junk() -> None:
    found = told("bet w1 shared 1 \n bet w2 p10 1 \n bet w3 p2 1 \n lock \n junk2 3S 4D \n junk1 5S 6D")
    assert [hand.name for hand in found.hands] == ["p2", "p10", "shared", "junk1", "junk2"]


def test_what_the_opening_names_is_kept() -> None:
    opening = {
        "number": 3,
        "direction": "clockwise",
        "deck": "deck-9",
        "sheet_shown": "ab" * 32,
        "banker": {"account": "player:B2", "limit": {"amount": 5_000_00, "currency": "THB"}},
    }
    found = record.fold([Event("round_opened", opening, "tablet", "terminal", 1, 1)])
    assert (found.deck, found.sheet_shown, found.banker) == ("deck-9", "ab" * 32, ("player:B2", 5_000_00))


def test_a_bank_in_another_currency_is_no_bank() -> None:
    assert told("open 1 clockwise player:B2/500").banker == ("player:B2", 500_00)
    assert told("open 1 clockwise player:B2/500/USD").banker is None


def test_a_direction_given_with_the_lock_counts_and_so_does_an_order() -> None:
    found = told("open 1 clockwise \n bet w1 p1 1 \n lock counter_clockwise p2 p1 shared dealer")
    assert (found.direction, found.order) == ("counter_clockwise", ("p2", "p1", "shared", "dealer"))


def test_the_story_goes_by_the_devices_numbers_not_by_arrival() -> None:
    """A third card that came in after the stay, with an earlier number, was dealt before it."""
    events, _ = events_of("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n p1.3 2H \n p1 stays \n close")
    late = [event for event in events if event.data.get("position") == 3]
    others = [event for event in events if event.data.get("position") != 3]
    assert record.fold([*others, *late]) == record.fold(events)
    assert flagged(record.fold(events)) == ["mark_differs p1"]


def test_a_kind_of_event_that_does_not_exist_is_a_fault_not_silence() -> None:
    with pytest.raises(ValueError, match="not a kind of event: 'card_eaten'"):
        record.fold([Event("card_eaten", {}, "tablet", "terminal", 1, 1)])


# ── Bets and their close ──────────────────────────────────────────────────────────────────────────────────


def test_before_the_lock_a_bet_may_be_changed_and_withdrawn() -> None:
    found = told("bet w1 p1 100 \n bet w2 p2 50 \n change w1 300 \n withdraw w2 \n lock")
    assert [(wager.id, wager.stake) for wager in found.wagers] == [("w1", 300_00)]
    assert found.findings == ()


@pytest.mark.parametrize(
    "closing",
    ["lock", "p1 3S", "p1 stays", "p1 draws", "p1 pok", "check p1", "dealer draws", "declare w1=1",
     "remove p1.3", "rule p1.1 3S signed", "mispay w1 1 2", "found w1 1 2", "close", "void"],
)  # fmt: skip
def test_the_terminals_first_other_act_closes_the_bets(closing: str) -> None:
    found = told(f"bet w1 p1 100 \n {closing} \n change w1 900")
    assert [wager.stake for wager in found.wagers] == [100_00]
    assert "late_bet w1" in flagged(found)
    assert found.bets_closed_ms == 3_000


@pytest.mark.parametrize(
    "act",
    ["note", "waive missing_banker", "waive missing_banker signed", "rule-bet w2 p2 50 signed", "rule-bet w2 p2 50",
     "tablet2: takes-over signed"],
)  # fmt: skip
def test_what_is_said_of_bets_and_of_who_records_closes_no_bets(act: str) -> None:
    by = "tablet2: " if "takes-over" in act else ""
    found = told(f"bet w1 p1 100 \n {act} \n {by}change w1 900 \n {by}lock")
    assert [wager.stake for wager in found.wagers if wager.id == "w1"] == [900_00]
    assert "late_bet w1" not in flagged(found)
    assert found.bets_closed_ms == 5_000


# ── Bets that were ruled ──────────────────────────────────────────────────────────────────────────────────


def bets_of(found: RoundRecord) -> list[str]:
    return [
        f"{one.id} {one.hand} {one.owner.kind}={one.owner.ref} {one.stake // 100}" for one in found.wagers
    ]


PLACED = "bet w1 p1 100 \n bet w2 p2 50 \n bet w3 p3 20"


@pytest.mark.parametrize(
    ("said", "bets"),
    [
        # A ruled bet keeps the place of its first placing, also where that came too late or was withdrawn.
        ("lock \n page: rule-bet w1 p1 200", ["w1 p1 seat=1 200", "w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
        ("lock \n page: rule-bet w2 p4 50 seat=7", ["w1 p1 seat=1 100", "w2 p4 seat=7 50", "w3 p3 seat=3 20"]),
        ("withdraw w1 \n lock \n page: rule-bet w1 p1 30",
         ["w1 p1 seat=1 30", "w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
        # One never placed comes after all that were, also after those placed later; in the order of first rulings.
        ("rule-bet w9 p9 5 signed \n bet w4 p4 10 \n lock \n page: rule-bet w8 p8 6 \n page: rule-bet w9 p9 7",
         ["w1 p1 seat=1 100", "w2 p2 seat=2 50", "w3 p3 seat=3 20", "w4 p4 seat=4 10", "w9 p9 seat=9 7",
          "w8 p8 seat=8 6"]),
        ("lock \n bet w4 p4 10 \n page: rule-bet w9 p9 5 \n page: rule-bet w4 p4 10",
         ["w1 p1 seat=1 100", "w2 p2 seat=2 50", "w3 p3 seat=3 20", "w4 p4 seat=4 10", "w9 p9 seat=9 5"]),
        # The last that counts says what the bet is, and 0 that there is none.
        ("lock \n page: rule-bet w1 p1 200 \n page: rule-bet w1 p1 0", ["w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
        ("lock \n page: rule-bet w1 p1 0 \n decision: rule-bet w1 p1 40",
         ["w1 p1 seat=1 40", "w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
        ("lock \n rule-bet w1 p1 0", ["w1 p1 seat=1 100", "w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
        # Of rulings from several sources: the terminal's first, then pages' and decisions' as recorded.
        ("page: rule-bet w1 p1 300 \n lock \n rule-bet w1 p1 400 signed",
         ["w1 p1 seat=1 300", "w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
        # What the terminal says of a ruled bet, before or after, changes nothing.
        ("rule-bet w1 p1 400 signed \n change w1 7 \n withdraw w1 \n lock",
         ["w1 p1 seat=1 400", "w2 p2 seat=2 50", "w3 p3 seat=3 20"]),
    ],
)  # fmt: skip
def test_over_all_bets_the_last_counting_ruling_says_what_a_bet_is(said: str, bets: list[str]) -> None:
    assert bets_of(told(f"{PLACED} \n {said}")) == bets


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("rule-bet w1 dealer 100 seat=1", "hand"),
        ("rule-bet w1 junk1 100 seat=1", "hand"),
        ("rule-bet w1 p1 100 seat=1 USD", "currency"),
    ],
)
def test_a_ruled_bet_that_nobody_could_place_is_not_in_play(said: str, why: str) -> None:
    found = told(f"bet w1 p1 100 \n lock \n page: {said}")
    assert found.wagers == ()
    assert flagged(found) == ["bet_not_in_play w1", "bet_ruled w1"]
    [finding] = [one for one in found.findings if one.kind == "bet_not_in_play"]
    assert dict(finding.detail)["why"] == why


def test_a_ruled_bet_is_always_flagged_with_what_it_was_and_what_it_is() -> None:
    found = told(
        f"{PLACED} \n lock \n page: rule-bet w1 p1 100 \n page: rule-bet w2 p4 0 \n page: rule-bet w9 p9 5"
    )
    assert [one for one in found.findings if one.kind == "bet_ruled"] == [
        Finding(
            "bet_ruled", "w1", (("hand", "p1"), ("before", 100_00), ("stake", 100_00), ("currency", "THB"))
        ),
        Finding("bet_ruled", "w2", (("hand", "p4"), ("before", 50_00), ("stake", 0), ("currency", "THB"))),
        Finding("bet_ruled", "w9", (("hand", "p9"), ("stake", 5_00), ("currency", "THB"))),
    ]


def test_an_unsigned_ruling_of_a_bet_changes_nothing_and_is_flagged() -> None:
    found = told("bet w1 p1 100 \n rule-bet w1 p1 200 \n lock")
    assert bets_of(found) == ["w1 p1 seat=1 100"]
    assert flagged(found) == ["unsigned_ruling w1"]


def test_a_dealer_who_is_ruled_to_own_a_bet_is_flagged_and_one_whose_bet_went_is_not() -> None:
    found = told("bet w1 p1 100 person=d1 \n bet w2 p2 100 \n lock \n page: rule-bet w1 p1 0 person=d1")
    assert "dealer_bet_on_guest w1" not in flagged(found)
    found = told("bet w1 p1 100 \n lock \n page: rule-bet w1 p1 100 person=d1")
    assert "dealer_bet_on_guest w1" in flagged(found)


def test_a_mispay_that_was_found_is_flagged_where_it_was_signed_for() -> None:
    assert flagged(told(f"{TWO_HANDS} \n close \n found w1 100 200 signed")) == ["mispay w1"]
    assert flagged(told(f"{TWO_HANDS} \n close \n page: found w1 100 200")) == ["mispay w1"]
    assert flagged(told(f"{TWO_HANDS} \n close \n found w1 100 200")) == ["unsigned_ruling w1"]


def test_an_opening_far_above_the_tables_last_number_is_held_and_flagged() -> None:
    events, _ = events_of(f"open 9001 \n {TWO_HANDS} \n close")
    found = record.fold([replace(events[0], jumped_from=12), *events[1:]])
    assert found.doubts == ("number_jump",)
    assert found.findings == (Finding("number_jump", "", (("number", 9001), ("last", 12))),)


def test_a_note_and_a_cameras_card_close_nothing() -> None:
    found = told("bet w1 p1 100 \n note \n camera: p1 3S 4D \n change w1 900")
    assert [wager.stake for wager in found.wagers] == [900_00]
    assert (found.findings, found.bets_closed_ms) == ((), None)


def test_a_supervisors_page_closes_nothing() -> None:
    assert told("bet w1 p1 100 \n page: rule p1.1 3S \n change w1 900").bets_closed_ms is None


def test_after_the_lock_a_raised_bet_stands_as_it_was() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 9H KD \n change w1 600")
    assert [wager.stake for wager in found.wagers] == [100_00]
    [late] = found.findings
    assert late.detail == (
        ("event", "bet_changed"),
        ("stake", 600_00),
        ("currency", "THB"),
        ("counts", 100_00),
    )


def test_after_the_lock_a_bet_drawn_back_stands() -> None:
    found = told("bet w1 p1 100 \n lock \n withdraw w1")
    assert ([wager.stake for wager in found.wagers], flagged(found)) == ([100_00], ["late_bet w1"])


def test_after_the_lock_a_new_bet_is_kept_but_gets_no_line() -> None:
    found = told("bet w1 p1 100 \n lock \n bet w2 p4 5000")
    assert [wager.id for wager in found.wagers] == ["w1"]
    assert [hand.name for hand in found.hands] == ["p1"]
    assert flagged(found) == ["late_bet w2"]


@pytest.mark.parametrize(
    ("bets", "why"),
    [
        ("bet w1 dealer 100 seat=1", "hand"),
        ("bet w1 junk1 100 seat=1", "hand"),
        ("bet w1 p1 100 seat=1 USD", "currency"),
        ("change w1 100", "unknown"),
        ("withdraw w1", "unknown"),
    ],
)
def test_a_bet_that_cannot_play_is_kept_and_gets_no_line(bets: str, why: str) -> None:
    found = told(f"{bets} \n lock")
    assert found.wagers == ()
    [finding] = found.findings
    assert (finding.kind, finding.subject, finding.detail[0]) == ("bet_not_in_play", "w1", ("why", why))


def test_a_second_bet_of_one_wager_is_not_in_play_and_the_first_stands() -> None:
    found = told("bet w1 p1 100 \n bet w1 p2 900 \n lock")
    assert [(wager.hand, wager.stake) for wager in found.wagers] == [("p1", 100_00)]
    assert flagged(found) == ["bet_not_in_play w1"]


def test_a_withdrawn_wager_cannot_be_placed_or_changed_again() -> None:
    found = told("bet w1 p1 100 \n withdraw w1 \n bet w1 p1 100 \n change w1 50 \n lock")
    assert found.wagers == ()
    assert flagged(found) == ["bet_not_in_play w1", "bet_not_in_play w1"]


def test_a_change_to_another_currency_leaves_the_bet_as_it_was() -> None:
    found = told("bet w1 p1 100 \n change w1 900 USD \n lock")
    assert ([wager.stake for wager in found.wagers], flagged(found)) == ([100_00], ["bet_not_in_play w1"])


def test_a_dealers_own_wager_plays_and_is_flagged() -> None:
    found = told("bet w1 p2 100 person=D4 \n lock")
    assert [wager.owner for wager in found.wagers] == [Owner("person", "D4")]
    assert flagged(found) == ["dealer_bet_on_guest w1"]


# ── Checks and the dealer's draw ──────────────────────────────────────────────────────────────────────────


def test_a_hand_checked_before_the_dealer_drew_meets_two_cards_for_good() -> None:
    found = told(
        """
        bet w1 p1 100
        bet w2 p2 100
        bet w3 p3 100
        lock
        check p3 p1
        dealer draws
        close
        """
    )
    assert [(hand.name, hand.met, hand.check_place) for hand in found.hands] == [
        ("p1", "two", 1),
        ("p2", "final", None),
        ("p3", "two", 0),
    ]


def test_the_terminals_third_dealer_card_is_a_draw_too() -> None:
    found = told("bet w1 p1 100 \n lock \n dealer 2C 3D \n dealer.3 4H \n check p1 \n close")
    assert (hand_of(found, "p1").met, flagged(found)) == ("final", ["check_after_dealer_drew p1"])


def test_a_cameras_third_dealer_card_is_no_draw() -> None:
    found = told("bet w1 p1 100 \n lock \n dealer 2C 3D \n camera: dealer.3 4H \n check p1 \n close")
    assert hand_of(found, "p1").met == "two"
    assert "check_after_dealer_drew p1" not in flagged(found)


def test_a_check_after_the_draw_changes_nothing() -> None:
    found = told("bet w1 p1 100 \n lock \n dealer draws \n check p1 \n close")
    assert (hand_of(found, "p1").met, hand_of(found, "p1").check_place) == ("final", None)
    assert flagged(found) == ["check_after_dealer_drew p1"]


def test_a_second_check_changes_nothing() -> None:
    found = told("bet w1 p1 100 \n bet w2 p2 100 \n lock \n check p1 \n check p2 p1 \n dealer draws")
    assert [hand.check_place for hand in found.hands] == [0, 1]
    assert flagged(found) == ["checked_twice p1"]


def test_a_check_against_the_dealers_pok_is_flagged_and_one_against_less_is_not() -> None:
    assert flagged(told(f"{TWO_HANDS} \n check p1")) == []
    pok = "bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 9D \n check p1 \n close"
    assert flagged(told(pok)) == ["check_against_dealer_pok p1"]


def test_a_draw_that_was_taken_back_makes_room_for_a_check() -> None:
    found = told("bet w1 p1 100 \n lock \n dealer draws \n remove dealer.3 \n check p1 \n dealer draws")
    assert (hand_of(found, "p1").met, flagged(found)) == ("two", [])


def test_a_dead_first_card_of_the_dealer_does_not_undo_his_draw() -> None:
    found = told(
        "bet w1 p1 100 \n lock \n dealer 2C 3D \n dealer draws \n remove dealer.1 signed \n check p1"
    )
    assert "check_after_dealer_drew p1" in flagged(found)


def test_a_draw_taken_back_before_the_check_does_not_excuse_one_after_it() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 draws \n remove p1.3 \n check p1 \n p1 draws")
    assert flagged(found) == ["drew_after_check p1"]


def test_a_hand_that_draws_after_its_check_counts_with_all_its_cards() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 2S 3D \n check p1 \n p1 draws \n p1.3 2H \n close")
    assert (faces(hand_of(found, "p1")), hand_of(found, "p1").met) == ("2S 3D 2H", "two")
    assert flagged(found) == ["drew_after_check p1"]


def test_a_third_face_shown_after_the_check_of_a_hand_that_drew_before_is_no_late_draw() -> None:
    assert flagged(told("bet w1 p1 100 \n lock \n p1 draws \n check p1 \n p1 2S 3D 2H \n close")) == []


def test_the_dealers_own_hand_cannot_be_checked() -> None:
    assert told(f"{TWO_HANDS} \n check dealer").findings == ()


# ── Declared, waived, voided, noted ───────────────────────────────────────────────────────────────────────


def test_the_last_declaration_counts_for_the_wagers_in_play() -> None:
    found = told(f"{TWO_HANDS} \n declare w1=2 w7=1 \n declare w1=-1 w9=3 \n close")
    assert dict(found.declared) == {"w1": -1}


def test_a_signed_waiver_is_kept_and_a_record_without_it_stands_beside() -> None:
    found = told(f"{TWO_HANDS} \n close \n page: waive awaiting_camera \n waive missing_banker signed")
    assert [waiver.reason_code for waiver in found.waivers] == ["missing_banker", "awaiting_camera"]
    assert found.bare is not None
    assert found.bare.waivers == ()


def test_a_voided_round_holds_nothing() -> None:
    for void in ("void signed", "page: void", "decision: void"):
        found = told(f"bet w1 p1 100 \n lock \n p1 3S 3S \n {void}")
        assert (found.state, found.doubts) == ("voided", ())
        assert found.bare is not None
        assert (found.bare.state, found.bare.doubts) == ("open", ("duplicate_card", "missing_card"))


def test_a_mispay_put_right_is_flagged_with_both_sums() -> None:
    found = told(f"{TWO_HANDS} \n mispay w1 300 200 signed \n close")
    [finding] = found.findings
    assert (finding.kind, finding.subject) == ("mispay", "w1")
    assert finding.detail == (("paid", 300_00), ("due", 200_00), ("currency", "THB"))
    assert told(f"{TWO_HANDS} \n close").wagers == found.wagers


def test_an_unsigned_mispay_is_still_a_mispay() -> None:
    assert flagged(told(f"{TWO_HANDS} \n mispay w1 300 200")) == ["mispay w1", "unsigned_ruling w1"]


def test_a_round_rebuilt_from_the_discards_says_so() -> None:
    assert flagged(told(f"{TWO_HANDS} \n page: note reconstructed")) == ["reconstructed"]
    assert flagged(told(f"{TWO_HANDS} \n note")) == []


@pytest.mark.parametrize(
    "late", ["p1 draws", "p1 stays", "p1 pok", "check p1", "lock", "dealer stays", "open"]
)
def test_what_is_numbered_after_the_close_is_out_of_order(late: str) -> None:
    found = told(f"open \n {TWO_HANDS} \n close \n {late}")
    assert "out_of_order_event" in flagged(found)


def test_a_face_entered_after_the_close_mends_the_record_without_a_word() -> None:
    found = told("bet w1 p1 100 \n lock \n p1 3S \n dealer KC 6D \n close \n p1.2 4D")
    assert (found.doubts, flagged(found), faces(hand_of(found, "p1"))) == ((), [], "3S 4D")


def test_what_is_numbered_before_the_opening_is_out_of_order() -> None:
    assert flagged(told("bet w1 p1 100 \n open 5 \n lock")) == ["out_of_order_event"]


def test_the_first_opening_counts() -> None:
    found = told("open 5 \n open 6")
    assert (found.number, flagged(found)) == (5, ["out_of_order_event"])


def test_a_close_without_an_opening_took_no_known_time() -> None:
    found = record.fold([Event("round_closed", {}, "tablet", "terminal", 3, 3, time_ms=9_000)])
    assert (found.state, found.took_ms) == ("closed", None)


def test_findings_are_listed_by_kind_and_subject() -> None:
    found = told(
        "bet w2 p1 1 seat=1 USD \n bet w1 p1 1 person=D4 \n lock \n p3 pok \n check p3 p2 p3 p2 \n change w1 9"
    )
    listed = [(finding.kind, finding.subject) for finding in found.findings]
    assert listed == sorted(listed)
    assert len(listed) == 5


# ── The record without supervisors, and as JSON ───────────────────────────────────────────────────────────


def test_a_supervisors_removal_of_a_bare_mark_leaves_the_pok_flagged_and_the_dealers_own_does_not() -> None:
    played = "bet w1 p1 100 \n lock \n p1 9S KD \n dealer 2C 4D \n p1 draws"
    ruled = told(f"{played} \n page: remove p1.3 \n close")
    assert (ruled.doubts, flagged(ruled)) == ((), ["pok_drew p1"])
    own = told(f"{played} \n remove p1.3 \n close")
    assert (own.doubts, flagged(own)) == ((), [])


def test_a_record_written_as_json_leaves_out_what_is_not_there() -> None:
    found = told(
        "open 2 \n bet w1 p1 100 \n lock \n p1 9S TD \n camera: p1.1 9S \n dealer 2C 4D \n check p1 \n close"
    )
    assert record.to_json(found) == {
        "number": 2,
        "direction": "clockwise",
        "state": "closed",
        "opened_ms": 1_000,
        "bets_closed_ms": 3_000,
        "closed_ms": 10_000,
        "took_ms": 9_000,
        "wagers": [{"id": "w1", "hand": "p1", "owner": {"seat": "1"}, "stake": 100_00}],
        "hands": [{"name": "p1", "cards": ["9S", "TD"], "met": "two", "check_place": 0}],
        "dealer": {"name": "dealer", "cards": ["2C", "4D"], "met": "final"},
        "slots": [
            {
                "slot": "p1.1",
                "reads": [["tablet", "terminal", "9S"], ["camera", "camera", "9S"]],
                "card": "9S",
            },
            {"slot": "p1.2", "reads": [["tablet", "terminal", "TD"]], "card": "TD"},
            {"slot": "dealer.1", "reads": [["tablet", "terminal", "2C"]], "card": "2C"},
            {"slot": "dealer.2", "reads": [["tablet", "terminal", "4D"]], "card": "4D"},
        ],
        "cards_seen": cards.mask(map(cards.parse, ["9S", "TD", "2C", "4D"])),
        "unread_by_camera": ["p1.2", "dealer.1", "dealer.2"],
        "dealt": ["p1", "dealer"],
    }


def test_doubts_findings_and_the_bare_record_are_written_too() -> None:
    written = record.to_json(told(f"{TWO_HANDS} \n camera: p1.2 7D \n page: rule p1.2 8H \n close"))
    assert "doubts" not in written
    assert written["bare"]["doubts"] == ["reads_differ"]
    assert written["bare"]["findings"] == [
        {
            "kind": "reads_differ",
            "subject": "p1.2",
            "detail": {"reads": [["tablet", "4D"], ["camera", "7D"]], "counts": "", "by": ""},
        }
    ]
    assert "bare" not in written["bare"]
