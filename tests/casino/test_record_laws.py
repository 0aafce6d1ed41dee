"""Laws of the fold: delivery never shows, agreement never holds, disagreement never passes unseen."""

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casino import cards, record
from casino.record import Event, RoundRecord
from tests.casino.telling import events_of, told

CASES = Path(__file__).parent.parent / "cases"
LEADS = ("none", "terminal", "camera")

law = settings(deadline=None)  # a busy machine breaks no law

hands = st.sampled_from(["p1", "p2", "p3", "shared", "junk1", "dealer"])
faces = st.sampled_from(["AS", "2S", "3H", "4D", "5C", "8S", "9D", "TH", "KC", "QD"])
slots = st.builds("{}.{}".format, hands, st.integers(1, 4))
wagers = st.sampled_from(["w1", "w2", "w3"])
bets = st.one_of(
    st.builds("bet {} {} {}".format, wagers, hands, st.sampled_from([100, 200])),
    st.builds("change {} {}".format, wagers, st.sampled_from([300, 400])),
    st.builds("withdraw {}".format, wagers),
)
reads = st.builds("{} {}".format, slots, faces)
marks = st.one_of(
    st.builds("{} {}".format, hands, st.sampled_from(["stays", "draws", "pok"])),
    st.builds("check {}".format, hands),
    st.builds("declare {}=1".format, wagers),
)
ruled_bets = st.builds(
    "rule-bet {} {} {} seat={}".format, wagers, hands, st.sampled_from([0, 100, 500]), st.just(1)
)
ordered = st.one_of(
    st.builds("remove {}".format, slots),
    st.builds("waive {}".format, st.sampled_from(sorted(record.WAIVABLE))),
)
"""Acts that answer what stood before them: among several sources it shows which came first."""
unordered = st.one_of(
    st.builds("rule {} {}".format, slots, faces), ruled_bets, st.sampled_from(["note reconstructed", "void"])
)
rulings = st.one_of(unordered, ordered)
at_the_table = st.one_of(
    bets,
    reads,
    reads,
    marks,
    st.builds("correct {} {}".format, slots, faces),
    rulings,
    st.builds("{} signed".format, rulings),
    st.sampled_from(["lock", "close"]),
)
by_others = st.one_of(
    st.builds("{}: {}".format, st.sampled_from(["camera", "camera2", "tablet2"]), reads),
    st.builds("tablet2: {}".format, st.one_of(bets, st.just("lock"))),
)
pages = st.sampled_from(["page", "decision"])
by_pages = st.builds("{}: {}".format, pages, rulings)
unordered_by_pages = st.builds("{}: {}".format, pages, unordered)


def rounds(*lines: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Rounds of arbitrary acts, most of them nonsense, as text that ``telling`` reads."""
    return st.lists(st.one_of(*lines), max_size=30).map(lambda said: "\n".join(["open", *said]))


def recorded_in(order: Sequence[int], events: list[Event]) -> list[Event]:
    """The same reports, recorded in another order; acts of pages and decisions keep theirs among themselves."""
    arrived = [events[place] for place in order]
    offices = iter(sorted((event for event in arrived if event.seq == 0), key=lambda event: event.place))
    arrived = [next(offices) if event.seq == 0 else event for event in arrived]
    return [replace(event, place=place) for place, event in enumerate(arrived, 1)]


def plain(found: RoundRecord) -> RoundRecord:
    """A record without what was recorded before its waivers: that goes by arrival and is not written."""
    bare = plain(found.bare) if found.bare is not None else None
    codes = tuple(waiver._replace(before=NOTHING) for waiver in found.waivers)
    return replace(found, waivers=codes, bare=bare)


NOTHING = record.fold([])


def written(found: RoundRecord) -> str:
    return json.dumps([record.to_json(record.led(found, lead=lead)) for lead in LEADS])  # type: ignore[arg-type]


def is_ordered(event: Event) -> bool:
    """Whether an act goes by the order in which it was recorded: a removal or a waiver that no other source follows."""
    return event.feed in ("page", "decision") and event.kind in ("card_removed", "hold_waived")


def shuffled(data: st.DataObject, events: list[Event]) -> list[int]:
    """An order in which a page's removals and waivers follow the same reports as before, and all else is anyhow."""
    order: list[int] = []
    block: list[int] = []
    for place, event in enumerate(events):
        if is_ordered(event):
            order += [*data.draw(st.permutations(block)), place]
            block = []
        else:
            block.append(place)
    return [*order, *data.draw(st.permutations(block))]


def without_waived_bets(text: str) -> str:
    """A terminal's waiver of another's bets goes by which of them was recorded first: no law of arrival is about it."""
    return "\n".join(line for line in text.splitlines() if "waive records_differ" not in line)


@law
@given(st.data(), rounds(at_the_table, by_others, unordered_by_pages))
def test_the_same_reports_give_the_same_record_in_whatever_order_they_arrive(
    data: st.DataObject, text: str
) -> None:
    events, _ = events_of(without_waived_bets(text))
    order = data.draw(st.permutations(range(len(events))))
    found, again = record.fold(events), record.fold(recorded_in(order, events))
    assert plain(found) == plain(again)
    assert written(found) == written(again)


@law
@given(st.data(), rounds(at_the_table, by_others, by_pages))
def test_between_the_acts_of_pages_no_order_of_arrival_shows(data: st.DataObject, text: str) -> None:
    events, _ = events_of(without_waived_bets(text))
    found, again = record.fold(events), record.fold(recorded_in(shuffled(data, events), events))
    assert plain(found) == plain(again)
    assert written(found) == written(again)


@law
@given(rounds(at_the_table, by_others, by_pages), st.lists(by_pages))
def test_a_later_act_of_a_page_takes_no_doubt_back_that_was_there(text: str, acts: list[str]) -> None:
    """What a waiver answers stands before it: told again after everything else, it answers at least as much."""
    lines = text.splitlines()
    waivers = [line for line in lines if line.startswith(("page: waive", "decision: waive"))]
    moved = told("\n".join([*(line for line in lines if line not in waivers), *acts, *waivers]))
    whole = told("\n".join([*lines, *acts]))
    assert set(moved.doubts) <= set(whole.doubts)


@law
@given(
    st.data(),
    rounds(at_the_table, by_others, by_pages, st.just("tablet2: takes-over signed"), st.just("skip 1")),
)
def test_the_order_in_which_events_are_handed_over_never_shows(data: st.DataObject, text: str) -> None:
    events, gaps = events_of(text)
    shuffled = data.draw(st.permutations(events))
    assert record.fold(events, unknown=gaps) == record.fold(shuffled, unknown=gaps)


PLAYED = """
    bet w1 p1 100
    bet w2 p2 100
    lock
    p1 2S 3D
    p2 9S KD
    junk1 5S 5D
    dealer KC 6D
    p1 draws
    p1.3 4H
    p2 pok
    junk1 stays
    dealer stays
"""
SLOTS = ["p1.1", "p1.2", "p1.3", "p2.1", "p2.2", "junk1.1", "junk1.2", "dealer.1", "dealer.2"]
SHOWN = dict(zip(SLOTS, ["2S", "3D", "4H", "9S", "KD", "5S", "5D", "KC", "6D"], strict=True))
feeds = st.sampled_from(["camera", "camera2", "tablet2"])


@law
@given(st.lists(st.tuples(feeds, st.sampled_from(SLOTS))), st.sampled_from(LEADS))
def test_reads_that_agree_never_hold_a_round(seen: list[tuple[str, str]], lead: record.Lead) -> None:
    agreeing = "\n".join(f"{feed}: {slot} {SHOWN[slot]}" for feed, slot in seen)
    found = told(f"{PLAYED}\n{agreeing}\nclose", lead=lead)
    assert found.doubts == ()
    assert not [finding for finding in found.findings if finding.kind == "reads_differ"]


@law
@given(feeds, st.sampled_from([*SLOTS, "p2.3", "dealer.3"]), faces, st.sampled_from(LEADS), st.booleans())
def test_reads_that_differ_hold_the_round_or_are_flagged_and_mostly_both(
    feed: str, slot: str, card: str, lead: record.Lead, ruled: bool
) -> None:
    if SHOWN.get(slot) == card:
        return
    ruling = f"page: rule {slot} JH" if ruled else ""
    found = told(f"{PLAYED}\n{feed}: {slot} {card}\n{ruling}\nclose", lead=lead)
    assert "reads_differ" in [finding.kind for finding in record.flags(found)]
    decided = ruled or lead == "terminal" or (lead == "camera" and feed.startswith("camera"))
    assert ("reads_differ" in found.doubts) is not decided


@law
@given(rounds(at_the_table, by_others, by_pages), st.lists(bets))
def test_bets_after_the_close_of_bets_never_change_a_stake(text: str, late: list[str]) -> None:
    before = told(f"{text}\nlock")
    after = told("\n".join([text, "lock", *late]))
    assert (after.wagers, after.hands, after.doubts) == (before.wagers, before.hands, before.doubts)
    assert len(after.findings) == len(before.findings) + len(late)


@law
@given(rounds(at_the_table, by_others), st.lists(by_pages))
def test_no_act_of_a_supervisor_changes_what_of_the_doubts_is_flagged(text: str, acts: list[str]) -> None:
    kinds = {"reads_differ", "duplicate_card", "too_many_cards", "pok_drew"}

    def doubts(found: RoundRecord) -> list[record.Finding]:
        return [finding for finding in record.flags(found) if finding.kind in kinds]

    assert doubts(told(text)) == doubts(told("\n".join([text, *acts])))


@law
@given(rounds(at_the_table, by_others), slots, st.lists(faces | st.none(), min_size=1))
def test_of_the_rulings_and_removals_of_a_slot_the_last_counts(
    text: str, slot: str, acts: list[str | None]
) -> None:
    said = [f"page: rule {slot} {card}" if card else f"page: remove {slot}" for card in acts]
    found = {f"{one.hand}.{one.position}": one for one in told("\n".join([text, *said])).slots}
    last = acts[-1]
    if last is not None:
        assert (found[slot].card, found[slot].removed) == (cards.parse(last), False)
        assert not found[slot].contested
    elif slot in found:
        bare_mark = slot.endswith(".3") and not found[slot].reads
        assert found[slot].removed or bare_mark


@law
@given(rounds(at_the_table, by_others, by_pages), st.sampled_from(LEADS))
def test_a_record_never_contradicts_itself(text: str, lead: record.Lead) -> None:
    found = told(text, lead=lead)
    everyone = (*found.hands, found.dealer)
    live = [slot for slot in found.slots if not slot.removed and slot.card is not None]
    for hand in everyone:
        assert hand.cards == tuple(slot.card for slot in live if slot.hand == hand.name)
    assert {wager.hand for wager in found.wagers} <= {hand.name for hand in found.hands}
    assert sorted(hand.check_place for hand in found.hands if hand.check_place is not None) == sorted(
        {hand.check_place for hand in found.hands if hand.check_place is not None}
    )
    held = [card for hand in everyone for card in hand.cards]
    if found.state != "voided":
        assert ("duplicate_card" in found.doubts) == (len(set(held)) < len(held))
        assert ("too_many_cards" not in found.doubts) or any(
            len([slot for slot in found.slots if slot.hand == hand.name and not slot.removed]) > 3
            for hand in everyone
        )
    assert cards.mask(held) & ~found.cards_seen == 0
    assert record.led(found, lead=lead) is found


# ── The recorded night ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def night() -> dict[str, list[Event]]:
    """The distinct events of each round, in the order in which they came."""
    seen: dict[tuple[str, str], None] = {}
    told: dict[str, list[Event]] = {}
    with gzip.open(CASES / "night.jsonl.gz", "rt") as lines:
        for place, line in enumerate(lines, 1):
            sent = json.loads(line)["event"]
            if (key := (sent["source"], sent["sequence"])) in seen:
                continue
            seen[key] = None
            device = sent["source"].rpartition("/")[2]
            kind = sent["type"].split(".")[1]
            # The supervisor on duty is taken to have signed, as a recording has no signatures.
            signed = kind in ("card_ruled", "card_removed", "round_voided", "hold_waived")
            told.setdefault(sent["subject"], []).append(
                Event(
                    kind=kind,
                    data=sent["data"],
                    source=device,
                    feed="camera" if device.endswith("camera") else "terminal",
                    seq=int(sent["sequence"]),
                    place=place,
                    signed=signed,
                )
            )
    return told


def test_the_night_folds_into_its_four_hundred_and_eighty_rounds(night: dict[str, list[Event]]) -> None:
    expected = json.loads((CASES / "night.expected.json").read_text())["rounds"]
    compared = {"reads_differ", "late_bet", "pok_drew", "duplicate_card", "too_many_cards", "checked_twice"}
    compared |= {"check_after_dealer_drew", "check_against_dealer_pok"}
    assert len(night) == 480
    for subject, events in night.items():
        found, known = record.fold(events), expected[subject.removeprefix("rounds/")]
        outcome = "voided" if found.state == "voided" else "held" if found.doubts else "settled"
        assert (subject, outcome, found.number) == (subject, known["outcome"], known["number"])
        if outcome == "held":
            assert list(found.doubts) == known["because"]
        if outcome == "settled":
            assert [wager.id for wager in found.wagers] == list(known["lines"])
        if outcome != "voided":
            flagged = {finding.kind for finding in record.flags(found)}
            assert flagged & compared == set(known["flags"]) & compared


@pytest.mark.parametrize("seed", range(3))
def test_the_night_folds_the_same_however_it_is_shuffled(night: dict[str, list[Event]], seed: int) -> None:
    chance = random.Random(seed)
    places = list(range(1, 20_000))
    chance.shuffle(places)
    for events in night.values():
        shuffled = [replace(event, place=places.pop()) for event in events]
        chance.shuffle(shuffled)
        assert record.fold(shuffled) == record.fold(events)


_DIGEST = """
import hashlib, json, sys

from casino import record
from tests.casino.test_record_laws import written
from tests.casino.telling import events_of
for text in json.load(sys.stdin):
    events, gaps = events_of(text)
    print(hashlib.sha256(written(record.fold(events, unknown=gaps)).encode()).hexdigest())
"""


def test_a_record_is_the_same_bytes_whatever_the_seed_of_hashing() -> None:
    others = "p2 3H 3H \n tablet2: p1.1 4D \n camera2: p1 2S KD 9D \n check p3 shared p2 p1 \n check p1 p2"
    texts = [PLAYED, f"{PLAYED} {others} \n page: rule p1.1 3H \n waive a signed \n waive b signed \n close"]

    def digests(seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", _DIGEST],
            input=json.dumps(texts),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=CASES.parent.parent,
        ).stdout

    ours = [hashlib.sha256(written(told(text)).encode()).hexdigest() for text in texts]
    assert digests("1").split() == digests("2").split() == ours
