"""Bets that a supervisor ruled, and bets that a second terminal has otherwise: from the reports to the money."""

from __future__ import annotations

from uuid import UUID

import pytest

from casino import devices
from settlement import settling
from settlement.models import Hold, Uncovered
from tests.settlement import floor
from tests.settlement.floor import (
    NOW,
    AtTable,
    a_report,
    a_round_id,
    a_table,
    a_wallet,
    act,
    covered,
    holds,
    outcome,
)
from tests.settlement.floor import lines_of as nets

pytestmark = pytest.mark.django_db

PLAYED = "lock \n p1 3S 4D \n dealer KC 6D \n p1 stays \n dealer stays"
"""Seven against six: whoever bet on p1 wins his stake."""


def ended() -> dict[str, str]:
    """What became of each hold that is over, by its guest and wager."""
    found = Hold.objects.exclude(ended_at=None).values_list("account__code", "wager", "outcome")
    return {f"{account.split(':')[1]} {wager}": how for account, wager, how in found}


def uncovered(round_id: UUID) -> dict[str, tuple[str, int, str]]:
    found = Uncovered.objects.filter(round=round_id)
    return {one.wager: (one.account_code, one.exposure, one.reason) for one in found}


@pytest.mark.parametrize(
    ("ruled", "net", "held_for", "left_open"),
    [
        ("rule-bet w1 p1 100 account=player:NOK", 100_00, {"NOK w1": "settled"}, {}),
        ("rule-bet w1 p1 60 account=player:NOK", 60_00, {"NOK w1": "settled"}, {}),  # the hold is taken over
        ("rule-bet w1 p1 200 account=player:NOK", 200_00, {"NOK w1": "settled"},
         {"w1": ("player:NOK:wallet", 1_000_00, "changed_since")}),
        ("rule-bet w1 p1 100 account=player:LEK", 100_00, {"NOK w1": "changed"},
         {"w1": ("player:LEK:wallet", 500_00, "changed_since")}),
        ("rule-bet w1 p1 100 seat=1", 100_00, {"NOK w1": "changed"}, {}),
        ("rule-bet w1 p1 0 account=player:NOK", None, {"NOK w1": "changed"}, {}),
    ],
)  # fmt: skip
def test_a_ruled_bet_takes_over_its_guests_hold_and_releases_anybody_elses(
    ruled: str, net: int | None, held_for: dict[str, str], left_open: dict[str, tuple[str, int, str]]
) -> None:
    table, nok, lek = a_table(), a_wallet("NOK", 2_000), a_wallet("LEK", 2_000)
    round_id = table.tell("bet w1 p1 100 account=player:NOK")
    covered(round_id)
    assert holds() == {nok: 500_00}

    table.tell(f"{PLAYED} \n {ruled} \n close", round=round_id)
    assert outcome(round_id) == "settled"

    assert nets(round_id) == ({} if net is None else {"w1": net})
    assert (ended(), holds(), uncovered(round_id)) == (held_for, {}, left_open)
    whose = {"account=player:NOK": nok, "account=player:LEK": lek}.get(
        ruled.rsplit(maxsplit=1)[-1], table.guests
    )
    assert floor.money().get(whose, 0) == (2_000_00 if whose in (nok, lek) else 0) + (net or 0)


def test_a_bet_that_was_ruled_away_is_released_also_while_the_round_is_held() -> None:
    table = a_table()
    nok = a_wallet("NOK", 2_000)
    round_id = table.tell("bet w1 p1 100 account=player:NOK \n bet w2 p2 100 account=player:NOK")
    covered(round_id)

    table.tell(f"{PLAYED} \n rule-bet w1 p1 100 seat=1 \n close", round=round_id)

    assert outcome(round_id) == "held: missing_card"
    assert (holds(), ended()) == ({nok: 500_00}, {"NOK w1": "changed"})
    assert outcome(round_id) == "held: missing_card"  # and once is enough


def test_cover_follows_a_ruling_that_came_before_it() -> None:
    table, lek = a_table(), a_wallet("LEK", 2_000)
    round_id = table.tell("bet w1 p1 100 \n rule-bet w1 p1 200 account=player:LEK")
    assert [(hold.wager, hold.amount) for hold in covered(round_id).covered] == [("w1", 1_000_00)]
    table.tell(f"{PLAYED} \n close", round=round_id)
    assert (outcome(round_id), uncovered(round_id), ended()) == ("settled", {}, {"LEK w1": "settled"})
    assert floor.money()[lek] == 2_200_00


def test_a_ruled_bet_of_a_wallet_that_does_not_exist_gets_no_line() -> None:
    table = a_table()
    round_id = table.tell(f"bet w1 p1 100 \n {PLAYED} \n rule-bet w2 p1 50 account=player:NOBODY \n close")
    assert (outcome(round_id), nets(round_id)) == ("settled", {"w1": 100_00})
    findings = settling.reviewed(round_id, settling.effective(round_id))[1]
    assert {(one.kind, one.subject) for one in findings} >= {("bet_ruled", "w2"), ("bet_not_in_play", "w2")}


def test_a_ruling_that_comes_after_the_settlement_changes_nothing_and_is_flagged() -> None:
    table = a_table()
    round_id = table.tell(f"bet w1 p1 100 \n {PLAYED} \n close")
    assert outcome(round_id) == "settled"
    table.tell("rule-bet w1 p1 900", round=round_id, at=floor.LATER)
    assert (outcome(round_id), nets(round_id)) == ("settled", {"w1": 100_00})
    findings = settling.reviewed(round_id, settling.effective(round_id))[1]
    assert [(one.kind, one.subject) for one in findings] == [("bet_ruled", "w1"), ("late_event", "")]


def second_terminal(table: AtTable, *said: tuple[str, dict[str, object]]) -> None:
    """Another tablet opens round 1 as a round of its own, and tells what it has of it."""
    with act(now=NOW):
        table.devices["second"], _ = devices.enrol(
            code="PD01-second", kind="terminal", table=table.table, now=NOW
        )
    opening = ("round_opened", {"number": 1, "direction": "clockwise"})
    theirs = a_round_id(0xFFF)
    reports = [a_report(seq, kind, theirs, data) for seq, (kind, data) in enumerate([opening, *said], 1)]
    answers = table.send(reports, device="second")
    assert [answer.code for answer in answers] == ["round_exists", *("" for _ in said)]


def a_bet(wager: str, seat: int, baht: int) -> tuple[str, dict[str, object]]:
    stake = {"amount": baht * 100, "currency": "THB"}
    return "bet_placed", {"wager": wager, "hand": "p1", "owner": {"seat": seat}, "stake": stake}


def test_an_extra_bet_of_a_second_terminal_holds_the_round_and_is_taken_over_by_a_ruling() -> None:
    """p1 has 7 against 6: 100 to seat 1 by the recorder, and 50 to seat 2 once somebody ruled it."""
    table = a_table()
    round_id = table.tell(f"bet w1 p1 100 \n {PLAYED}")
    second_terminal(table, a_bet("w1", 1, 100), a_bet("w2", 2, 50), ("bets_locked", {}))
    table.tell("close", round=round_id)
    assert outcome(round_id) == "held: records_differ"
    assert floor.money() == {}

    table.tell("rule-bet w2 p1 50 seat=2", round=round_id)

    assert (outcome(round_id), nets(round_id)) == ("settled", {"w1": 100_00, "w2": 50_00})
    assert floor.money() == {table.bank: -150_00, table.guests: 150_00}


def test_the_same_bets_under_other_ids_at_a_second_terminal_hold_nothing() -> None:
    """60 and 40 of seat 1 there, 100 here; what it places after its lock is late."""
    table = a_table()
    round_id = table.tell(f"bet w1 p1 100 \n {PLAYED}")
    second_terminal(table, a_bet("w7", 1, 60), a_bet("w8", 1, 40), ("bets_locked", {}), a_bet("w9", 3, 20))
    table.tell("close", round=round_id)
    assert (outcome(round_id), nets(round_id)) == ("settled", {"w1": 100_00})


@pytest.mark.parametrize(
    ("said", "flagged"),
    [
        ("found w1 50 100", [("mispay", "w1")]),
        ("mispay w1 50 100", [("mispay", "w1")]),
        ("note", []),
        ("note reconstructed", [("reconstructed", "")]),
        ("p1 stays", [("late_event", "")]),
    ],
)
def test_what_is_said_of_a_settled_round_is_never_late(said: str, flagged: list[tuple[str, str]]) -> None:
    table = a_table()
    round_id = table.tell(f"bet w1 p1 100 \n {PLAYED} \n close")
    floor.settled(round_id)
    table.tell(said, round=round_id, at=floor.LATER)
    findings = settling.reviewed(round_id, settling.effective(round_id))[1]
    assert [(one.kind, one.subject) for one in findings] == flagged
    assert nets(round_id) == {"w1": 100_00}
