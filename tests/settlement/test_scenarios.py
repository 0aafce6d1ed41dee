"""What went wrong elsewhere, told as it happened there: it goes right here, to the satang.

Each is one evening's trouble of some house or engine: a pair that was not seen, a push that was not returned, a card
that two feeds read differently.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from audit.models import LogEntry
from casino.models import RoundEvent
from settlement import settling
from settlement.models import Entry, Journal, Line
from tests.audit import flagged
from tests.settlement.floor import (
    LATER,
    NOW,
    a_report,
    a_table,
    a_wallet,
    act,
    corrected,
    covered,
    holds,
    lines_of,
    money,
    outcome,
    put_in_force,
    standing,
)

pytestmark = pytest.mark.django_db
sealed = pytest.mark.django_db(transaction=True)
"""Flags are raised from sealed entries, and an entry is sealed once its act is over."""


def hand_kinds() -> dict[str, tuple[str, int | None, int | None]]:
    """Each line's hand: kind, taem and deng, by its wager."""
    found = Line.objects.order_by("ordinal")
    return {line.wager: (line.hand_kind, line.hand_taem, line.hand_deng) for line in found}


def flags() -> set[str]:
    flagged.read_all()
    return {kind for kind, _ in flagged.raised()}


def test_pair_of_three() -> None:
    """5♥ 7♥ 7♠ is 9 with one deng: a pair counts for two cards only."""
    table = a_table()
    round = table.tell("""
        bet w1 p1 100
        lock
        p1 5H 7H 7S
        dealer KC 3D 5S
        close
        """)
    assert outcome(round) == "settled"
    assert hand_kinds() == {"w1": ("normal", 9, 1)}
    assert lines_of(round) == {"w1": 100_00}


@pytest.mark.parametrize(
    ("guest", "dealer", "rule", "net"),
    [
        ("3C 3D 3H", "JC KD QH", "difference", 200_00),
        ("JC KD QH", "3C 3D 3H", "difference", -200_00),
        ("3C 3D 3H", "JC KD QH", "winner_deng", 500_00),
        ("JC KD QH", "3C 3D 3H", "winner_deng", -500_00),
    ],
)
def test_tong_over_sam_lueang(guest: str, dealer: str, rule: str, net: int) -> None:
    """Five against three is two, whichever side has the tong; five only where the sheet says so."""
    table = a_table(tong_over_sam_lueang=rule)
    round = table.tell(f"""
        bet w1 p1 100
        lock
        p1 {guest}
        dealer {dealer}
        close
        """)
    assert outcome(round) == "settled"
    assert lines_of(round) == {"w1": net}


def test_tie_forgotten() -> None:
    """Equal in kind, taem and deng: a line with multiple 0, no commission, the stake back in the wallet's hands."""
    table, wallet = a_table(commission={"rate_bp": 500}), a_wallet("A17", 1_000)
    round = table.tell("bet w1 p1 100 account=player:A17")
    covered(round)
    assert holds() == {wallet: 500_00}
    table.tell("lock\np1 2S 4D\ndealer KC 6D\nclose", round=round)
    assert outcome(round) == "settled"
    (line,) = Line.objects.all()
    assert (line.multiple, line.commission, line.net) == (0, 0, 0)
    assert holds() == {}
    assert not Journal.objects.filter(kind="round").exists()


@pytest.mark.parametrize(("face_run", "kind"), [("straight", "straight"), ("sam_lueang", "sam_lueang")])
def test_royal_run_missed(face_run: str, kind: str) -> None:
    """K♣ Q♣ J♦ is a run though two of its suits are equal, where the sheet takes faces in order for one."""
    table = a_table(preset="seed_table", face_run=face_run)
    round = table.tell("""
        bet w1 p1 100
        lock
        p1 KC QC JD
        dealer 2C 3D 4S
        close
        """)
    assert outcome(round) == "settled"
    assert hand_kinds()["w1"][0] == kind


def test_half_paid() -> None:
    """One owner on two hands and the shared one: three lines, each opening its reason, and one net."""
    table, wallet = a_table(shared_hand="before_dealer"), a_wallet("A17", 5_000)
    round = table.tell("""
        bet w1 p1 100 account=player:A17
        bet w2 p3 200 account=player:A17
        bet w3 shared 300 account=player:A17
        lock
        p1 3S 4D
        p3 2S 2H
        shared 9C QD
        dealer KC 6D
        close
        """)
    assert outcome(round) == "settled"
    assert lines_of(round) == {"w1": 100_00, "w2": -200_00, "w3": 300_00}
    assert money()[wallet] == 5_000_00 + 200_00
    assert all(Line.objects.values_list("step", flat=True))
    entries = Entry.objects.filter(journal__kind="round", account__code=wallet)
    assert sorted(entries.values_list("wager", "amount")) == [("w1", 100_00), ("w2", -200_00), ("w3", 300_00)]


def test_shared_hand_backers() -> None:
    """100, 100 and 50 on a shared hand that loses two: nothing is split, so there is no odd satang."""
    table = a_table(shared_hand="before_dealer")
    round = table.tell("""
        bet w1 p1 10 seat=1
        bet w2 shared 100 seat=2
        bet w3 shared 100 seat=3
        bet w4 shared 50 seat=4
        lock
        p1 2S 4D
        shared 2C 3H
        dealer 3D 3S
        close
        """)
    assert outcome(round) == "settled"
    nets = lines_of(round)
    assert (nets["w2"], nets["w3"], nets["w4"]) == (-200_00, -200_00, -100_00)
    assert money()["table:PD01:bank"] == -sum(nets.values())


@sealed
def test_two_dealer_hands() -> None:
    """A dealer's 4 meets hands 1 and 4, draws to 9 and meets 2 and 3; each line keeps what it met, corrections too."""
    table = a_table()
    round = table.tell("""
        bet w1 p1 100
        bet w2 p2 100
        bet w3 p3 100
        bet w4 p4 100
        lock
        p1 2S 3D
        p2 2C 5D
        p3 3C 4H
        p4 KS 3H
        dealer KC 4D
        check p1 p4
        dealer draws
        dealer.3 5S
        check p1
        close
        """)
    assert outcome(round) == "settled"
    assert lines_of(round) == {"w1": 100_00, "w2": -100_00, "w3": -100_00, "w4": -100_00}
    met = dict(Line.objects.values_list("wager", "dealer_cards"))
    assert met["w1"] == met["w4"] == ["KC", "4D"]
    assert met["w2"] == met["w3"] == ["KC", "4D", "5S"]
    assert "checked_twice" in flags()
    table.tell("page: rule p1.1 2H", round=round, at=LATER)
    corrected(round)
    again = dict(Line.objects.filter(settlement__revision=2).values_list("wager", "dealer_cards"))
    assert (again, lines_of(round)["w1"]) == (met, 100_00)


def test_commission_to_chips() -> None:
    """Five per cent, to the nearest chip of five baht: 30 owes nothing, 50 owes one chip; what rounding did is kept."""
    table = a_table(commission={"rate_bp": 500, "unit": 500, "rounding": "half_up"})
    round = table.tell("""
        bet w1 p1 30
        bet w2 p2 50
        lock
        p1 3S 4D
        p2 2C 5D
        dealer KC 6D
        close
        """)
    assert outcome(round) == "settled"
    kept = Line.objects.order_by("ordinal").values_list("wager", "commission", "rounding_bp")
    assert [(wager, taken, rounding // 10_000) for wager, taken, rounding in kept] == [
        ("w1", 0, -150),
        ("w2", 500, 250),
    ]


def test_impossible_card() -> None:
    """7♠ in hand 2, and the camera reads it in hand 5 as well: both reads stay, held, and nothing is posted."""
    table = a_table(camera=True)
    round = table.tell("""
        bet w2 p2 100
        bet w5 p5 100
        lock
        p2 7S 2D
        p5 3S 4D
        camera: p5.1 7S
        dealer KC 6D
        page: rule p5.1 7S
        close
        """)
    assert outcome(round) == "held: duplicate_card"
    reads = RoundEvent.objects.filter(kind="card_dealt", payload__hand="p5", payload__position=1)
    assert {event.device.kind for event in reads if event.device} == {"terminal", "camera"}
    assert not Journal.objects.exclude(kind="deposit").exists()


@sealed
def test_two_feeds_disagree() -> None:
    """5♥ by the shoe, 6♥ by the terminal, no feed that leads: held, until a supervisor rules; ruled, not read."""
    table = a_table(camera=True)
    round = table.tell("""
        bet w1 p1 100
        lock
        p1 6H 2D
        camera: p1.1 5H
        dealer KC 4D
        close
        """)
    assert outcome(round) == "held: reads_differ"
    table.tell("page: rule p1.1 5H", round=round, at=LATER)
    assert outcome(round, now=LATER + timedelta(seconds=5)) == "settled"
    assert Line.objects.get().hand_taem == 7
    assert "reads_differ" in flags()


def test_bad_scan_truth_known() -> None:
    """A misread that changes the winner, seen on video after the payment: a ruling and a new judgement, not a void."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock\np1 2S 4D\ndealer KC 6D\nclose")
    assert (outcome(round), lines_of(round)) == ("settled", {"w1": 0})
    table.tell("page: rule p1.2 5D", round=round, at=LATER)
    assert corrected(round).revision == 2
    assert lines_of(round) == {"w1": 100_00}
    assert standing(round) == "settled"


def test_bad_scan_truth_unknown() -> None:
    """Where the truth cannot be known, the round is void and every stake goes back exactly."""
    table, wallet = a_table(), a_wallet("A17", 1_000)
    round = table.tell("bet w1 p1 100 account=player:A17\nlock\np1 3S 4D\ndealer KC 6D\nclose")
    outcome(round)
    assert money()[wallet] == 1_100_00
    table.tell("page: void", round=round, at=LATER)
    corrected(round)
    assert money()[wallet] == 1_000_00
    assert standing(round) == "voided"


def test_dealer_hand_missing() -> None:
    """The dealer's cards went back into the deck: held, and only the cards being recorded, or a void, ends it."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock\np1 3S 4D\nclose")
    assert outcome(round) == "held: missing_card"
    table.tell("page: waive missing_declaration", round=round, at=LATER)
    assert outcome(round) == "held: missing_card"
    table.tell("page: rule dealer.1 KC\npage: rule dealer.2 6D", round=round, at=LATER)
    assert outcome(round, now=LATER + timedelta(seconds=5)) == "settled"


@sealed
def test_card_after_stay() -> None:
    """A third card after "stays" is recorded, flagged, and judged as it lies until a supervisor removes it."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock\np1 2S 3D\np1 stays\np1.3 4H\ndealer KC 6D\nclose")
    assert (outcome(round), lines_of(round)) == ("settled", {"w1": 100_00})
    assert "card_after_stay" in flags()


@sealed
def test_pok_gets_a_card() -> None:
    """A third card on a pok holds the round under every sheet; removed, the pok stands and the flag stays."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock\np1 9S KD\np1.3 2H\ndealer KC 6D\nclose")
    assert outcome(round) == "held: pok_drew"
    table.tell("page: remove p1.3", round=round, at=LATER)
    assert outcome(round, now=LATER + timedelta(seconds=5)) == "settled"
    assert hand_kinds()["w1"][0] == "pok"
    assert "pok_drew" in flags()


@sealed
@pytest.mark.parametrize("stake", [600, 50])
def test_past_posting(stake: int) -> None:
    """Raised, or drawn back, once cards lie: the locked stake governs also where the other would have won more."""
    table = a_table()
    round = table.tell(f"bet w1 p1 100\nlock\np1 3S 4D\nchange w1 {stake}\ndealer KC 6D\nclose")
    assert (outcome(round), lines_of(round)) == ("settled", {"w1": 100_00})
    assert "late_bet" in flags()
    assert RoundEvent.objects.filter(kind="bet_changed").count() == 1


def test_out_of_order() -> None:
    """A third card that arrives after "stays" with an earlier number: the device's order decides; a gap holds."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock\np1 2S 3D")
    last = RoundEvent.objects.count()
    draws = [
        a_report(last + 1, "card_dealt", round, {"hand": "p1", "position": 3, "card": "4H"}),
        a_report(last + 2, "hand_stayed", round, {"hand": "p1"}),
    ]
    later = [
        a_report(
            last + 3 + place, "card_dealt", round, {"hand": "dealer", "position": place + 1, "card": card}
        )
        for place, card in enumerate(("KC", "6D"))
    ]
    later.append(a_report(last + 5, "round_closed", round, {}))
    table.send([draws[1]])
    table.send(later)
    assert outcome(round) == "held: sequence_gap"
    table.send([draws[0]], at=LATER)
    assert (outcome(round), lines_of(round)) == ("settled", {"w1": 100_00})


def test_double_sync() -> None:
    """Forty queued events sent again over new connections: forty times the first answer, and nothing is posted."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock")
    last = RoundEvent.objects.count()
    notes = [a_report(last + 1 + place, "note", round, {"text": f"note {place}"}) for place in range(37)]
    cards = [
        a_report(last + 38, "card_dealt", round, {"hand": "p1", "position": 1, "card": "3S"}),
        a_report(last + 39, "card_dealt", round, {"hand": "p1", "position": 2, "card": "4D"}),
        a_report(
            last + 40, "bet_changed", round, {"wager": "w1", "stake": {"amount": 500_00, "currency": "THB"}}
        ),
    ]
    queued = notes + cards
    assert {answer.outcome for answer in table.send(queued)} == {"recorded"}
    table.tell("dealer KC 6D\nclose", round=round)
    outcome(round)
    before = money()
    for one in queued:
        (answer,) = table.send([one], at=LATER)
        assert answer.outcome == "duplicate"
    assert outcome(round) == "settled"
    assert money() == before
    assert LogEntry.objects.filter(action="round.settled").count() == 1


def test_log_rotated_away() -> None:
    """Thirteen months later the same events give the same hands, steps and lines, under the same sheet."""
    table = a_table()
    round = table.tell("bet w1 p1 100\nlock\np1 5H 7H 7S\ndealer KC 3D 5S\nclose")
    outcome(round)
    first = settling.effective(round)
    assert first is not None
    much_later = NOW + timedelta(days=400)
    with act(now=much_later):
        put_in_force(table.table, preset="thai_app", options={}, from_=much_later)
    table.tell("page: rule p1.1 5H", round=round, at=much_later)
    again = corrected(round, now=much_later)
    assert again.sheet_id == first.sheet_id
    of = ("wager", "hand_kind", "hand_taem", "hand_deng", "dealer_cards", "step", "multiple", "net")
    assert list(Line.objects.filter(settlement=again).values_list(*of)) == list(
        Line.objects.filter(settlement=first).values_list(*of)
    )
