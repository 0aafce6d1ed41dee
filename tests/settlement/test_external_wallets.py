"""Wallets that live in a cashier's system: asked before the cards, told what they came to, mirrored here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.db.models import F
from django.test import override_settings

from audit import controls
from audit.controls import external_wallets, log_facts
from casino import tables
from casino.platform.refusals import Refusal
from settlement import ledger, settling, table_floats, tasks
from settlement.models import Account, ExternalCall, ExternalHold, Line, RefusedCover, Uncovered
from settlement.webhooks.wire import HeldMeanwhile
from tests import world
from tests.settlement import floor
from tests.settlement.books import NOW, act, statements
from tests.settlement.cashier_system import StandIn, covered, keeping, let_in, told
from tests.settlement.floor import AtTable, a_table, a_wallet, lines_of, money, outcome
from tests.settlement.telling import at_home

pytestmark = pytest.mark.django_db(transaction=True)

BET = "bet w1 p1 100 account=player:royal-A17"
TONG = "lock\np1 9S 8D\ndealer 7C 7D\ndealer draws\ndealer.3 7H\nclose"
"""The dealer's three sevens take five stakes."""
SIX = "lock\np1 3S 4D\ndealer KC 6D\ndealer stays\nclose"
"""Hand 1 wins one stake."""
EVEN = "lock\np1 3S 4D\ndealer 3C 4H\ndealer stays\nclose"
"""Hand 1 has as many points as the dealer."""
MIRROR = "external:royal:PD01"
CHECKED = ("I1", "I2", "I3", "I4", "I6", "I7", "I15", "I16")


@pytest.fixture(autouse=True)
def home(settings: Any) -> None:
    at_home(settings)


@pytest.fixture
def royal() -> Iterator[StandIn]:
    """A cashier system that keeps 1,000 baht of royal-A17 and 350 of royal-B08."""
    with keeping({"royal-A17": 1_000_00, "royal-B08": 350_00}) as stand_in:
        yield stand_in


@pytest.fixture(params=["holds", "bet_win_rollback"])
def either(request: pytest.FixtureRequest, royal: StandIn) -> StandIn:
    """The same, in each of the ways in which such systems can be spoken to."""
    let_in(royal, dialect=request.param)
    return royal


def answered(cover: settling.Cover) -> dict[str, Any]:
    return {hold.wager: hold.amount for hold in cover.covered} | {
        item.wager: (item.exposure, item.available, item.reason) for item in cover.refused
    }


def states() -> list[tuple[str, str]]:
    """Holds by wager, those that ended before the one that stands."""
    found = ExternalHold.objects.order_by("wager", F("ended_at").asc(nulls_last=True), "late")
    return list(found.values_list("wager", "state"))


def owed() -> list[tuple[str, int]]:
    """The calls that were not acknowledged: verb and revision."""
    found = ExternalCall.objects.exclude(state="acknowledged").order_by("hold__wager", "place")
    return list(found.values_list("verb", "revision"))


def in_step(stand_in: StandIn) -> bool:
    """Nothing is owed, nothing set aside, and what they have more is what our mirrors say; nothing happened twice."""
    mirrored = sum(
        Account.objects.filter(code__startswith="external:royal:").values_list("balance", flat=True)
    )
    assert (owed(), stand_in.books.set_aside()) == ([], {})
    assert stand_in.books.won == mirrored
    assert set(stand_in.books.effects.values()) <= {1}
    assert wrong() == []
    return True


def wrong() -> list[str]:
    """What the checks of the books find of wallets elsewhere, and of the money around them."""
    with override_settings(DATABASE_READER_URL=""), controls.opened(scope=controls.Scope(since=None)) as read:
        found = [*controls.check(read, ids=CHECKED)]
        witnesses = [*map(log_facts.sweep, external_wallets.PAIRS), log_facts.journals_witnessed]
        found += [("I17", finding) for check in witnesses for finding in check(read)]
    return [f"{id} {finding}" for id, finding in found]


# -- before the cards ------------------------------------------------------------------------------------------


def test_five_stakes_are_set_aside_in_the_cashiers_system_before_the_cards(royal: StandIn) -> None:
    let_in(royal)

    cover = covered(a_table().tell(BET))

    assert answered(cover) == {"w1": 500_00}
    assert royal.books.set_aside() == {"royal-A17": 500_00}
    assert states() == [("w1", "held")]
    [request] = royal.asked
    assert request.told["stake"] == {"amount": 100_00, "currency": "THB"}
    assert request.key == str(ExternalHold.objects.get().id)


def test_a_wallet_that_has_too_little_is_named_with_what_it_has(either: StandIn) -> None:
    table = a_table()

    cover = covered(
        table.tell("bet w1 p1 100 account=player:royal-B08\nbet w2 p2 10 account=player:royal-C01")
    )

    assert answered(cover) == {
        "w1": (500_00, 350_00, "insufficient_funds"),
        "w2": (50_00, None, "unknown_wallet"),
    }
    assert states() == [("w1", "refused"), ("w2", "refused")]
    assert owed() == []
    assert RefusedCover.objects.count() == 0


def test_wallets_here_and_there_are_covered_together(royal: StandIn) -> None:
    let_in(royal)
    a_wallet("A1", 1_000)

    cover = covered(a_table().tell(f"bet w2 p2 10 account=player:A1\n{BET}"))

    assert answered(cover) == {"w2": 50_00, "w1": 500_00}
    assert floor.holds() == {"player:A1:wallet": 50_00}


def test_asked_again_the_holds_follow_the_bets(either: StandIn) -> None:
    """What the old hold had set aside is free before the new one is asked: 750 would not fit beside 500."""
    table = a_table()
    round_id = table.tell(BET)
    covered(round_id)

    table.tell("change w1 150", round=round_id)
    cover = covered(round_id)

    assert answered(cover) == {"w1": 750_00}
    assert states() == [("w1", "changed"), ("w1", "held")]
    assert owed() == []
    assert answered(covered(round_id)) == {"w1": 750_00}
    assert len(either.asked) == 3


def test_a_bet_that_was_withdrawn_is_let_go(either: StandIn) -> None:
    table = a_table()
    round_id = table.tell(BET)
    covered(round_id)

    table.tell("withdraw w1", round=round_id)

    assert answered(covered(round_id)) == {}
    assert either.books.set_aside() == {}
    assert either.books.won == 0


def test_silence_is_a_no_and_what_may_have_been_set_aside_is_released(either: StandIn, settings: Any) -> None:
    settings.CASHIER_SYSTEMS = settings.CASHIER_SYSTEMS | {"answer_seconds": 1}
    either.behaves("slow")
    table = a_table()

    cover = covered(table.tell(BET))

    assert answered(cover) == {"w1": (500_00, None, "cashier_system_silent")}
    assert owed() == [("release", 0)]
    either.behaves("ok")
    told()
    assert in_step(either)


def test_a_hold_that_comes_after_its_release_takes_nothing(either: StandIn, settings: Any) -> None:
    """The release of a hold the other side never saw closes it: when the hold comes late, it is refused."""
    either.behaves("refuses")
    covered(a_table().tell(BET))
    late = either.asked[0]
    either.behaves("ok")
    told()

    status, _ = either.take(late)

    assert status == 422
    assert in_step(either)


def test_a_disabled_system_is_not_asked(royal: StandIn) -> None:
    system = let_in(royal)
    with act():
        from settlement.external_wallets import cashier_systems

        cashier_systems.disable(code=system.code, by=floor.a_person("AD1", "administrator"))

    cover = covered(a_table().tell(BET))

    assert answered(cover) == {"w1": (500_00, None, "cashier_system_disabled")}
    assert royal.asked == []


def test_nobody_outside_is_asked_inside_a_transaction(royal: StandIn) -> None:
    let_in(royal)
    round_id = a_table().tell(BET)

    with pytest.raises(HeldMeanwhile):
        floor.covered(round_id)
    with transaction.atomic(), pytest.raises(HeldMeanwhile):
        told()

    assert royal.asked == []
    assert states() == []


def test_a_stopped_table_covers_nothing_there_either(royal: StandIn) -> None:
    let_in(royal)
    table = a_table()
    round_id = table.tell(BET)
    with act():
        tables.stop(table=table.table, reason="other")

    with pytest.raises(Refusal, match="table_stopped"):
        covered(round_id)
    assert royal.asked == []


# -- what it came to -------------------------------------------------------------------------------------------


def played(table: AtTable, cards: str, *, bet: str = BET) -> UUID:
    """Cover a bet, play the cards and settle."""
    round_id = table.tell(bet)
    covered(round_id)
    table.tell(cards, round=round_id)
    assert outcome(round_id) == "settled"
    return round_id


@pytest.mark.parametrize(("cards", "net"), [(TONG, -500_00), (SIX, 100_00), (EVEN, 0)])
def test_what_a_wager_came_to_is_told_and_mirrored(either: StandIn, cards: str, net: int) -> None:
    table = a_table()

    round_id = played(table, cards)

    assert lines_of(round_id) == {"w1": net}
    assert money() == {code: amount for code, amount in ((MIRROR, net), (table.bank, -net)) if amount}
    assert Line.objects.get().account == MIRROR
    assert owed() == [("settle", 1)]
    assert told() == 1
    assert either.books.wallets["royal-A17"] == 1_000_00 + net
    assert in_step(either)
    assert not Uncovered.objects.exists()


def test_a_win_of_nothing_is_sent_all_the_same(royal: StandIn) -> None:
    let_in(royal, dialect="bet_win_rollback")

    played(a_table(), TONG)
    told()

    assert royal.verbs() == ["bet", "win"]
    assert royal.asked[1].told["amount"] == {"amount": 0, "currency": "THB"}


def test_a_void_releases_what_was_set_aside(either: StandIn) -> None:
    table = a_table()
    round_id = table.tell(BET)
    covered(round_id)

    table.tell("void", round=round_id)

    assert outcome(round_id) == "voided"
    assert states() == [("w1", "released")]
    told()
    assert either.books.wallets["royal-A17"] == 1_000_00
    assert in_step(either)


@pytest.mark.parametrize("cards", [TONG, SIX])
def test_bets_locked_without_asking_settle_all_the_same_and_are_named(either: StandIn, cards: str) -> None:
    table = a_table()

    round_id = table.tell(f"{BET}\n{cards}")

    assert outcome(round_id) == "settled"
    assert list(Uncovered.objects.values_list("wager", "account_code", "exposure", "reason")) == [
        ("w1", "player:royal-A17:wallet", 500_00, "offline")
    ]
    assert owed() == [("hold", 1), ("settle", 1)]
    told()
    assert in_step(either)


def test_what_a_wallet_there_cannot_pay_is_theirs_to_collect(royal: StandIn) -> None:
    """No hold and no loan here: the mirror says all of it, and the net told is below minus the stake."""
    let_in(royal)
    table = a_table()

    outcome(table.tell(f"bet w1 p1 100 account=player:royal-B08\n{TONG}"))
    told()

    assert money() == {MIRROR: -500_00, table.bank: 500_00}
    assert royal.books.wallets["royal-B08"] == -150_00
    assert in_step(royal)


@pytest.mark.parametrize("dialect", ["holds", "bet_win_rollback"])
def test_a_bet_raised_after_its_cover_is_named_and_told_whole(royal: StandIn, dialect: str) -> None:
    let_in(royal, dialect=dialect)
    table = a_table()
    round_id = table.tell(BET)
    covered(round_id)

    table.tell(f"change w1 150\n{TONG}", round=round_id)
    outcome(round_id)

    assert list(Uncovered.objects.values_list("exposure", "reason")) == [(750_00, "changed_since")]
    for _ in range(3):
        told()
    assert royal.books.wallets["royal-A17"] == 250_00
    assert in_step(royal)


def test_an_answer_that_was_never_stored_is_a_no_once_the_round_settles(royal: StandIn) -> None:
    let_in(royal)
    table = a_table()
    round_id = table.tell(BET)
    with act():
        settling.covering._set_aside(round_id)
    table.tell(SIX, round=round_id)

    outcome(round_id)

    assert states() == [("w1", "refused"), ("w1", "settled")]
    assert list(Uncovered.objects.values_list("reason", flat=True)) == ["refused"]
    told()
    assert in_step(royal)


def test_a_seat_beside_it_is_paid_in_chips(royal: StandIn) -> None:
    let_in(royal)
    table = a_table()

    played(table, SIX, bet=f"{BET}\nbet w2 p1 50 seat=2")

    assert money() == {MIRROR: 100_00, table.guests: 50_00, table.bank: -150_00}


def test_commission_is_told_beside_the_net(royal: StandIn) -> None:
    let_in(royal)
    table = a_table(commission={"rate_bp": 500})

    played(table, SIX)
    told()

    [_, settled] = royal.asked
    assert settled.told["net"]["amount"] == 95_00
    assert settled.told["commission"]["amount"] == 5_00
    assert in_step(royal)


def test_what_mirrors_moved_is_cleared_before_the_closer_and_leaves_the_tray_alone(royal: StandIn) -> None:
    """500 were lost to the bank, and none of it in chips: the tray holds what it held."""
    let_in(royal)
    table = a_table()
    played(table, TONG)

    with act(now=NOW + timedelta(minutes=1)):
        world.counted(table.table, "closer", table.dealer, table.supervisor, pieces={100_00: 0})
    with act(now=NOW + timedelta(minutes=2)):
        table_floats.close_table(table=table.table, last_round=1)

    assert money() == {MIRROR: -500_00, "suspense:clearing:PD01": 500_00}


def test_a_wallet_is_kept_here_or_there(royal: StandIn) -> None:
    let_in(royal)
    with act(), pytest.raises(Refusal, match="unknown_account"):
        ledger.open_wallet(ref="royal-A17", currency="THB")


def test_a_system_is_not_let_in_where_wallets_are_kept_here(royal: StandIn) -> None:
    a_wallet("royal-A17", 100)

    with pytest.raises(Refusal, match="wallets_kept_here"):
        let_in(royal)


BANKED = "open 1 clockwise player:royal-A17/800\nbet w1 p1 100\nbet w2 p2 100"
BOTH_WIN = "lock\np1 3S 4D\np2 3C 4H\ndealer KC 6D\ndealer stays\nclose"


def test_a_players_bank_kept_elsewhere_is_set_aside_whole(either: StandIn) -> None:
    table = a_table(banker="player")
    round_id = table.tell(BANKED)

    assert answered(covered(round_id)) == {"bank": 800_00}
    table.tell(BOTH_WIN, round=round_id)
    assert outcome(round_id) == "settled"
    told()

    assert lines_of(round_id) == {"w1": 100_00, "w2": 100_00, "bank": -200_00}
    assert money() == {MIRROR: -200_00, table.guests: 200_00}
    assert either.books.wallets["royal-A17"] == 800_00
    assert in_step(either)


def test_a_players_bank_that_set_nothing_aside_is_no_bank(royal: StandIn) -> None:
    """What it has is known elsewhere alone, so the round waits for another bank to be named."""
    let_in(royal)
    table = a_table(banker="player")
    round_id = table.tell(BANKED.replace("/800", "/2000"))

    assert answered(covered(round_id)) == {"bank": (2_000_00, 1_000_00, "insufficient_funds")}
    table.tell(BOTH_WIN, round=round_id)
    assert outcome(round_id).startswith("held: ")


# -- corrections -----------------------------------------------------------------------------------------------


def test_a_correction_takes_back_what_was_told_once_and_tells_the_new(either: StandIn) -> None:
    table = a_table()
    round_id = played(table, SIX)
    told()
    table.tell("page: rule dealer.2 8D", round=round_id)
    floor.corrected(round_id)

    assert owed() == [("reverse", 1), ("settle", 2)]
    told()
    told()

    assert lines_of(round_id) == {"w1": -100_00}
    assert either.books.wallets["royal-A17"] == 900_00
    assert in_step(either)


def test_a_correction_that_changes_no_sum_asks_nothing_of_the_system(either: StandIn) -> None:
    """Nothing at all changed, and then a card of the same worth."""
    table = a_table()
    round_id = played(table, SIX)
    told()
    for same in ("6D", "6H"):
        table.tell(f"page: rule dealer.2 {same}", round=round_id)
        floor.corrected(round_id)
        assert owed() == []

    table.tell("page: rule dealer.2 8D", round=round_id)
    floor.corrected(round_id)
    assert owed() == [("reverse", 1), ("settle", 4)]
    told()
    told()
    assert in_step(either)


def test_a_correction_before_the_first_call_went_out_keeps_their_order(either: StandIn) -> None:
    table = a_table()
    round_id = played(table, SIX)
    table.tell("page: rule dealer.2 8D", round=round_id)
    floor.corrected(round_id)

    for _ in range(3):
        told()

    assert either.verbs()[-3:] in (["settle", "reverse", "settle"], ["win", "rollback", "win"])
    assert in_step(either)


def test_a_round_voided_afterwards_is_taken_back_whole(either: StandIn) -> None:
    table = a_table()
    round_id = played(table, SIX)
    table.tell("page: void", round=round_id)
    floor.corrected(round_id)

    for _ in range(3):
        told()

    assert either.books.wallets["royal-A17"] == 1_000_00
    assert money() == {}
    assert in_step(either)


# -- statements ------------------------------------------------------------------------------------------------


def test_covering_elsewhere_takes_the_same_statements_for_one_wager_and_for_nine(royal: StandIn) -> None:
    royal.books.wallets |= {f"royal-P{seat}": 1_000_00 for seat in range(1, 10)}
    let_in(royal)
    table = a_table()
    covered(table.tell(BET))
    one = table.tell(BET)
    nine = table.tell(
        "\n".join(f"bet w{seat} p{seat} 10 account=player:royal-P{seat}" for seat in range(1, 10))
    )
    seen: list[list[str]] = [[], []]

    for round_id, found in zip((one, nine), seen, strict=True):
        with statements(found):
            covered(round_id)

    assert len(seen[0]) == len(seen[1]) == 12


def test_the_bell_and_the_sweep_send_what_is_owed(royal: StandIn) -> None:
    let_in(royal)
    table = a_table()
    outcome(table.tell(f"{BET}\n{SIX}"))

    assert tasks.call_cashiers() == 2
    assert tasks.watch_cashiers() == 0
    assert in_step(royal)


def test_settling_elsewhere_takes_one_statement_more_whatever_the_number(royal: StandIn) -> None:
    let_in(royal)
    table = a_table()
    played(table, SIX)
    ids = []
    for _ in range(6):
        round_id = table.tell(BET)
        covered(round_id, at=NOW + timedelta(seconds=1))
        ids.append(table.tell(SIX, round=round_id))
    counted = []
    for some in (ids[:1], ids[1:]):
        seen: list[str] = []
        with statements(seen):
            floor.settled(*some)
        counted.append(len(seen))

    assert counted == [14, 14]
