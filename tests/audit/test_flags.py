"""Every kind of flag is raised once, about what it names, with the figures of its sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from audit import flags
from casino import devices, events, rounds
from casino.models import Device, Person
from casino.rounds import Report
from settlement import explanations
from settlement.rules import conduct
from tests.audit import flagged
from tests.casino.telling import TWO_HANDS
from tests.database import House
from tests.settlement import floor
from tests.settlement.floor import LATER, NOW, AtTable, a_report, a_table, a_wallet, settled

Flagged = dict[tuple[str, str], dict[str, Any]]

BETS = "bet w1 p1 100\nbet w2 p2 100\nlock\n"
ONE = "bet w1 p1 100\np1 3S 4D\n"
SIX = "dealer KC 6D\nclose"
WON = TWO_HANDS + "close"
SHOWN = "ab" * 32
SHOWN_IN_TESTS_OF_THEIR_OWN = frozenset({"banker_bet_on_guest", "bet_ruled"})

# Rounds of which one line is enough: the kind, the part of the round that it names, the sheet, and what happened.
ROUNDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "reads_differ": ("p1.2", {"camera": True}, f"{TWO_HANDS}camera: p1.2 5D\nclose"),
    "pok_drew": ("p1", {}, "bet w1 p1 100\np1 9S KD 2C\ndealer KC 6D\nclose"),
    "duplicate_card": ("dealer.1", {}, "bet w1 p1 100\np1 9S 2D\ndealer 9S 6D\nclose"),
    "too_many_cards": ("p1", {}, "bet w1 p1 100\np1 AS 2D 3H 4C\ndealer KC 6D\nclose"),
    "too_many_hands": ("", {"max_hands": 2}, f"{BETS}p1 2S 3D\np2 2H 3C\ndealer KC 6D\nclose"),
    "declared_differs": ("w1", {}, f"{TWO_HANDS}declare w1=2\nclose"),
    "late_bet": ("w1", {}, f"{TWO_HANDS}change w1 900\nclose"),
    "bet_not_in_play": ("w2", {}, "bet w2 dealer 100\n" + WON.strip()),
    "bet_on_other_hand": ("w1", {"bets_on_other_hands": "none"}, "bet w2 p1 100 seat=2\n" + WON.strip()),
    "stake_outside_limits": ("w1", {"stakes": {"min": 20000, "max": 100000, "step": 1000}}, WON),
    "check_after_dealer_drew": ("p1", {}, ONE + "dealer 2C 2D\ndealer draws\ndealer.3 KC\ncheck p1\nclose"),
    "check_against_dealer_pok": ("p1", {}, ONE + "dealer KC 9D\ncheck p1\nclose"),
    "checked_twice": ("p1", {}, ONE + "dealer KC 6D\ncheck p1\ncheck p1\nclose"),
    "check_not_allowed": ("p1", {"early_check": "none"}, ONE + "dealer KC 6D\ncheck p1\nclose"),
    "drew_after_check": ("p1", {}, ONE + "dealer KC 6D\ncheck p1\np1 draws\np1.3 AH\nclose"),
    "card_after_stay": ("p1", {}, ONE + "p1 stays\np1.3 AH\ndealer KC 6D\nclose"),
    "mark_differs": ("p1", {}, ONE + "p1 pok\ndealer KC 6D\nclose"),
    "draw_missed": ("p1", {"player_draw": {"must_draw_to": 7}}, WON),
    "stay_missed": (
        "dealer", {"dealer_draw": {"must_stay_from": 6}},
        ONE + "dealer KC 6D\ndealer draws\ndealer.3 AC\nclose",
    ),
    "out_of_turn": ("p2", {}, f"{BETS}p1 2S 3D\np2 2H 3C\np2 stays\np1 stays\ndealer KC 6D\ndealer stays\nclose"),
    "shared_hand_misplaced": (
        "shared", {"shared_hand": "before_dealer"},
        "bet w1 p1 100\nbet w2 shared 50\nlock clockwise p1 dealer shared\np1 3S 4D\nshared 3H 4C\n" + SIX,
    ),
    "hand_not_offered": ("junk1", {"junk_hands": "none"}, ONE + "junk1 2S 5C\ndealer KC 6D\nclose"),
    "junk_deng_four": ("junk1", {}, ONE + "junk1 2S 2H\njunk1 draws\njunk1.3 9C\ndealer KC 6D\nclose"),
    "junk_drew_against_rule": (
        "junk1", {"junk_draw": "forced"}, ONE + "junk1 2S 3H\njunk1 draws\njunk1.3 9C\ndealer KC 6D\nclose",
    ),
    "junk_stayed_against_rule": (
        "junk1", {"junk_draw": "forced"}, ONE + "junk1 2S AH\njunk1 stays\ndealer KC 6D\nclose",
    ),
    "reconstructed": ("", {}, f"{TWO_HANDS}note reconstructed\nclose"),
    "mispay": ("w1", {}, f"{TWO_HANDS}mispay w1 300 100\nclose"),
    "out_of_order_event": ("", {}, f"{WON}\np1 draws"),
    "bank_short": (
        "w1", {"banker": "player"},
        "open 1 clockwise player:B08/10\nbet w1 p1 100\nlock\np1 3S 4D\ndealer KC 6D\nclose",
    ),
    "stray_read": ("p9", {"camera": True, "feed_lead": "terminal"}, f"{TWO_HANDS}camera: p9.1 5D\nclose"),
}  # fmt: skip
DETAILS: dict[str, dict[str, Any]] = {
    "junk_deng_four": {"hand": "junk1", "taem": 4, "deng": 2, "says": "dealer_decides", "drew": True},
    "junk_drew_against_rule": {"hand": "junk1", "taem": 5, "deng": 1, "says": "stay", "drew": True},
    "junk_stayed_against_rule": {"hand": "junk1", "taem": 3, "deng": 1, "says": "draw", "drew": False},
    "mispay": {"paid": 300_00, "due": 100_00, "currency": "THB"},
    "bank_short": {"hand": "p1", "uncovered": 90_00},
}
"""Of some kinds, what the flag says."""


def code_of(kind: str) -> str:
    return kind.replace("_", "").upper()[:20]


def play(kind: str) -> str:
    """Play the round of a kind at a table of its own; return what its flag is about."""
    part, options, text = ROUNDS[kind]
    table = a_table(code_of(kind), **options)
    round_id = table.tell(text)
    settled(round_id)
    return f"rounds/{round_id}" + (f"#{part}" if part else "")


# What takes more than one round, or more than a table: each returns what its flag is about.

Scenario = Callable[[], str]
SCENARIOS: dict[str, Scenario] = {}


def scenario(do: Scenario) -> Scenario:
    SCENARIOS[do.__name__] = do
    return do


def sent(table: AtTable, *reports: Report, at: datetime = NOW, sent_at: datetime | None = NOW) -> None:
    """Let the table's tablet report, as its own act."""
    device = table.devices["tablet"]
    with events.act(actor=devices.principal_of(device), request_id="tablet", now=at):
        rounds.append(device=device, reports=reports, sent_at=sent_at)


def last_number(table: AtTable) -> int:
    return Device.objects.get(pk=table.devices["tablet"].pk).last_seq


def about(round_id: UUID, part: str = "") -> str:
    return f"rounds/{round_id}" + (f"#{part}" if part else "")


@scenario
def late_event() -> str:
    table = a_table("LATE")
    round_id = table.tell(WON)
    settled(round_id)
    table.tell("p1 stays", round=round_id, at=LATER)
    return about(round_id)


@scenario
def late_read_that_differs() -> str:
    """The camera's read comes after the settlement and is another card: a disagreement, not only a late report."""
    table = a_table("LATEREAD", camera=True)
    round_id = table.tell(WON)
    settled(round_id)
    table.tell("camera: p1.2 5D\ncamera: p1.1 3S", round=round_id, at=LATER)
    return about(round_id, "p1.2")


@scenario
def late_third_card() -> str:
    """Where the terminal gave two cards and no draw, silence was its read."""
    table = a_table("LATETHIRD", camera=True)
    round_id = table.tell(WON)
    settled(round_id)
    table.tell("camera: p1.3 5D", round=round_id, at=LATER)
    return about(round_id, "p1.3")


@scenario
def late_mispay() -> str:
    """Chips are put right while the cards lie: the round is settled by then."""
    table = a_table("LATEMISPAY")
    round_id = table.tell(WON)
    settled(round_id)
    table.tell("mispay w1 300 100", round=round_id, at=LATER)
    return about(round_id, "w1")


@scenario
def ruled_after_check() -> str:
    """p1 is checked against 6 and paid as a winner of 7; then its four is ruled to have been a three."""
    table = a_table("EARLYCHECK")
    round_id = table.tell(
        "bet w1 p1 100\np1 3S 4D\ndealer KC 6D\ncheck p1\nrule p1.2 2D\ndealer draws\ndealer.3 AC\nclose"
    )
    settled(round_id)
    return about(round_id, "w1")


@scenario
def uncovered() -> str:
    table = a_table("UNCOVERED")
    a_wallet("A17", 1000)
    round_id = table.tell("bet w1 p1 100 account=player:A17\nlock\np1 3S 4D\ndealer KC 6D\nclose")
    settled(round_id)
    return about(round_id, "w1")


@scenario
def shortfall() -> str:
    """Five stakes are due, and the wallet has three and a half."""
    table = a_table("SHORTFALL")
    a_wallet("A18", 350)
    round_id = table.tell("bet w1 p1 100 account=player:A18\nlock\np1 9S 8D\ndealer 7C 7D 7H\nclose")
    settled(round_id)
    return about(round_id, "player:A18:wallet")


@scenario
def no_wallet() -> str:
    table = a_table("NOWALLET")
    round_id = table.tell("bet w2 p1 50 account=player:NOBODY\n" + WON.strip())
    settled(round_id)
    return about(round_id, "w2")


@scenario
def dealer_bet_on_guest() -> str:
    table = a_table("DEALERBETS")
    round_id = table.tell(f"bet w2 p1 50 person={table.dealer.id}\n{WON.strip()}")
    settled(round_id)
    return about(round_id, "w2")


@scenario
def unsigned_ruling() -> str:
    """Nobody is on duty who could have signed: the dealer rules alone."""
    table = a_table("UNSIGNED")
    round_id = table.tell(TWO_HANDS)
    ruling = {"hand": "p1", "position": 2, "card": "9D", "reason": "mine"}
    report = a_report(last_number(table) + 1, "card_ruled", round_id, ruling)
    sent(table, replace(report, person=table.supervisor.id))
    table.tell("close", round=round_id)
    settled(round_id)
    return about(round_id, "p1.2")


@scenario
def closed_too_fast() -> str:
    """Four events, a second apart; what is missing holds the round, and its pace is a question all the same."""
    table = a_table("FAST")
    round_id = table.tell("bet w1 p1 100\np1 3S\nclose")
    settled(round_id)
    return about(round_id)


@scenario
def wrong_sheet_shown() -> str:
    """The display said before the round was over that it shows another sheet; the opening names none."""
    table = a_table("WRONGSHEET")
    with floor.act():
        devices.state(
            device=table.devices["tablet"],
            stated={"next": 1, "unsent": 0, "sheet_shown": SHOWN, "sent_at": (NOW - timedelta(minutes=1)).isoformat()},
            now=NOW - timedelta(minutes=1),
        )  # fmt: skip
    round_id = table.tell(WON)
    settled(round_id)
    return about(round_id)


@scenario
def device_clock_off() -> str:
    """Without a word of when it was sent, an event dated an hour back is taken as of now."""
    table = a_table("CLOCKOFF")
    round_id = table.tell(TWO_HANDS)
    close = a_report(last_number(table) + 1, "round_closed", round_id, {}, at=NOW - timedelta(hours=1))
    sent(table, close, sent_at=None)
    settled(round_id)
    return about(round_id)


@scenario
def clock_off_by_its_own_word() -> str:
    """What the request says of the time is nine minutes off ours."""
    table = a_table("NINEMINUTES")
    opened = a_report(1, "round_opened", floor.a_round_id(0), {"number": 1, "direction": "clockwise"})
    sent(table, opened, sent_at=NOW - timedelta(minutes=9))
    return "devices/NINEMINUTES-terminal#2026-03-01"


@scenario
def sequence_reused() -> str:
    table = a_table("REUSED")
    round_id = table.tell(WON)
    settled(round_id)
    sent(table, a_report(3, "note", round_id, {"text": "another"}))
    return "devices/REUSED-terminal#3"


@scenario
def sequence_too_far() -> str:
    table = a_table("TOOFAR")
    round_id = table.tell(WON)
    sent(table, a_report(10**39, "note", round_id, {"text": "so"}))
    sent(table, a_report(2**63 - 1, "note", round_id, {"text": "so"}))
    return "devices/TOOFAR-terminal"


@scenario
def number_jump() -> str:
    table = a_table("JUMP")
    round_id = table.tell(WON, number=9_001)
    settled(round_id)
    return about(round_id)


def an_event_of(
    table: AtTable, person: Person, *, at: datetime = NOW, kind: str = "note"
) -> tuple[UUID, str]:
    """An event of a person on the tablet, and what a flag about them there would be about."""
    round_id = table.tell(TWO_HANDS)
    report = a_report(last_number(table) + 1, kind, round_id, {"text": "so"}, at=at)
    sent(table, replace(report, person=person.id), sent_at=at)
    return round_id, about(round_id, str(person.id))


@scenario
def off_duty() -> str:
    table = a_table("OFFDUTY")
    stranger = floor.a_person("D77", "dealer")
    round_id, subject = an_event_of(table, stranger)
    again = a_report(last_number(table) + 1, "note", round_id, {"text": "again"})
    sent(table, replace(again, person=stranger.id))
    return subject


@scenario
def off_duty_and_dismissed() -> str:
    person = floor.a_person("D78", "dealer")
    Person.objects.filter(pk=person.pk).update(is_active=False)
    return an_event_of(a_table("DISMISSED"), person)[1]


@scenario
def off_duty_as_a_manager() -> str:
    return an_event_of(a_table("MANAGING"), floor.a_person("M78", "manager"))[1]


@scenario
def camera_gap() -> str:
    table = a_table("CAMERAGAP", camera=True)
    round_id = table.tell(
        "bet w1 p1 100\nlock\np1 3S 4D\ndealer KC 6D\ncamera: skip 3\ncamera: p1.1 3S\nclose"
    )
    settled(round_id)
    return "devices/CAMERAGAP-camera#1-3"


def a_burst(table: AtTable, *, events: int, hours: float) -> None:
    """So many notes of one round, ten in half a minute, dated so many hours back."""
    round_id = table.tell(TWO_HANDS)
    seq = last_number(table)
    for first in range(0, events, 10):
        at = NOW + timedelta(minutes=first / 20)
        numbers = range(seq + first + 1, seq + min(first + 10, events) + 1)
        dated = at - timedelta(hours=hours)
        sent(
            table,
            *(a_report(one, "note", round_id, {"text": "old"}, at=dated) for one in numbers),
            at=at,
            sent_at=at,
        )


@scenario
def clock_drift_burst() -> str:
    a_burst(a_table("BURST"), events=51, hours=2)
    return "devices/BURST-terminal#2026-03-01"


EXPECTED: dict[str, tuple[str, dict[str, Any] | None]] = {
    "late_read_that_differs": (
        "reads_differ",
        {"reads": [["LATEREAD-terminal", "4D"], ["LATEREAD-camera", "5D"]], "counts": "4D", "by": "terminal"},
    ),
    "late_third_card": (
        "reads_differ",
        {"reads": [["LATETHIRD-terminal", ""], ["LATETHIRD-camera", "5D"]], "counts": "", "by": "terminal"},
    ),
    "late_mispay": ("mispay", {"paid": 300_00, "due": 100_00, "currency": "THB"}),
    "ruled_after_check": ("mispay", {"paid": 100_00, "due": -100_00, "currency": "THB", "why": "ruled_after_check"}),
    "no_wallet": ("bet_not_in_play", {"why": "no_wallet"}),
    "uncovered": ("uncovered", {"reason": "offline", "exposure": 500_00}),
    "shortfall": ("shortfall", {"missing": 150_00}),
    "late_event": ("late_event", {"events": 1}),
    "sequence_too_far": ("sequence_too_far", {"device": "TOOFAR-terminal", "number": 10**39}),
    "number_jump": ("number_jump", {"number": 9_001, "last": 0}),
    "off_duty": ("off_duty", {"badge": "D77", "table": "OFFDUTY"}),
    "off_duty_and_dismissed": ("off_duty", {"badge": "D78", "table": "DISMISSED"}),
    "off_duty_as_a_manager": ("off_duty", {"badge": "M78", "table": "MANAGING"}),
    "sequence_reused": ("sequence_reused", {"device": "REUSED-terminal", "number": 3}),
    "camera_gap": ("camera_gap", {"device": "CAMERAGAP-camera", "first": 1, "last": 3}),
    "clock_off_by_its_own_word": ("device_clock_off", {"device": "NINEMINUTES-terminal", "offset_ms": 540_000}),
    "clock_drift_burst": ("clock_drift_burst", {"device": "BURST-terminal", "events": 51}),
}  # fmt: skip
"""The kind that a scenario raises, where it is not its name, and what the flag says."""


@pytest.fixture(scope="module")
def house_of_flags(
    house: House, django_db_setup: None, django_db_blocker: Any
) -> tuple[Flagged, dict[str, str]]:
    """Every round and scenario played in one house, its log sealed and read; and what each flag is about."""
    with django_db_blocker.unblock():
        name = house.clone()
        before = house.use(name)
        try:
            a_wallet("B08", 10)
            subjects = {kind: play(kind) for kind in ROUNDS}
            subjects |= {name: do() for name, do in SCENARIOS.items()}
            a_burst(a_table("NOBURST"), events=50, hours=2)
            a_burst(a_table("YOUNGER"), events=60, hours=1.9)
            flagged.read_all()
            found = flagged.raised()
        finally:
            house.use(before)
            house.drop(name)
    return found, subjects


@pytest.mark.parametrize("kind", sorted(ROUNDS))
def test_a_round_raises_its_flag(kind: str, house_of_flags: tuple[Flagged, dict[str, str]]) -> None:
    found, subjects = house_of_flags
    assert (kind, subjects[kind]) in found
    if kind in DETAILS:
        assert found[kind, subjects[kind]] == DETAILS[kind]


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_scenario_raises_its_flag(name: str, house_of_flags: tuple[Flagged, dict[str, str]]) -> None:
    found, subjects = house_of_flags
    kind, detail = EXPECTED.get(name, (name, None))
    assert (kind, subjects[name]) in found
    if detail is not None:
        told = found[kind, subjects[name]]
        assert {key: told[key] for key in detail} == detail


def test_a_read_that_agrees_late_is_a_late_event_and_no_disagreement(
    house_of_flags: tuple[Flagged, dict[str, str]],
) -> None:
    """Two cards came late, and one of them differs."""
    found, subjects = house_of_flags
    round_id = subjects["late_read_that_differs"].partition("#")[0]
    assert [(key, detail) for key, detail in found.items() if key[1].startswith(round_id) and "late" in key[0]] == [
        (("late_event", round_id), {"events": 1})
    ]  # fmt: skip


def test_nobody_is_off_duty_but_who_was_named_and_was_not_there_once_in_each_round(
    house_of_flags: tuple[Flagged, dict[str, str]],
) -> None:
    found, subjects = house_of_flags
    named = {subject for name, subject in subjects.items() if name.startswith("off_duty")}
    assert {subject for kind, subject in found if kind == "off_duty"} == named
    assert len(named) == 3


def test_fifty_old_events_are_no_burst_nor_are_sixty_younger_ones(
    house_of_flags: tuple[Flagged, dict[str, str]],
) -> None:
    found, _ = house_of_flags
    bursts = [subject for kind, subject in found if kind == "clock_drift_burst"]
    assert bursts == ["devices/BURST-terminal#2026-03-01"]


def test_every_kind_that_a_round_shows_by_itself_was_raised_here(
    house_of_flags: tuple[Flagged, dict[str, str]],
) -> None:
    found, _ = house_of_flags
    elsewhere = flags.OF_ANALYTICS | flags.OF_CASH | flags.OF_COUNTS | flags.OF_THE_HOUSE
    assert {kind for kind, _ in found} == flags.KINDS - elsewhere - SHOWN_IN_TESTS_OF_THEIR_OWN


def test_every_kind_that_can_be_raised_has_its_sentences() -> None:
    assert conduct.KINDS < flags.KINDS <= explanations.KINDS


def test_every_flag_can_be_said_with_what_it_holds(house_of_flags: tuple[Flagged, dict[str, str]]) -> None:
    found, _ = house_of_flags
    for (kind, subject), detail in found.items():
        said = explanations.finding(kind, subject.partition("#")[2], detail, currency="THB")
        assert said.th
        assert said.en
