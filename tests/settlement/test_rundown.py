"""What a table won, read back from what was counted, carried, dropped and played there."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from audit import controls as checks
from casino import devices, tables
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import ledger, table_floats
from settlement.models import Break, Float
from settlement.table_floats import Box
from tests.settlement import floor
from tests.settlement.books import journal, statements
from tests.settlement.floor import NOW, AtTable, a_person, act
from tests.world import counted

pytestmark = pytest.mark.django_db

TODAY = date(2026, 3, 1)
OPENED = NOW - timedelta(hours=1)
COMMISSION = {"rate_bp": 78, "rounding": "half_up", "unit": 100_00}
"""78 basis points of 577,000 are 4,500.60, in chips of 100: 4,500."""
GUESTS_LOSE, GUESTS_WIN = ("2S 3D", "KC 6D"), ("3S 4D", "KC 6D")


def baht(amount: int) -> dict[int, int]:
    return {100_00: amount // 100}


def managers() -> tuple[Person, Person]:
    return a_person("M01", "manager"), a_person("M02", "manager")


def a_table(*, opener: int, at: datetime = OPENED, **options: Any) -> AtTable:
    """A table opened with its counted float."""
    with act(now=at):
        table = tables.add(code="PD01", currency="THB", camera=False)
        floor.put_in_force(table, preset="seed_base", options=options, from_=at)
        terminal, _ = devices.enrol(code="PD01-terminal", kind="terminal", table=table, now=at)
    dealer, supervisor = a_person("D-PD01", "dealer"), a_person("S-PD01", "supervisor")
    with act(now=at):
        counted(table, "opener", dealer, supervisor, pieces=baht(opener))
        session = table_floats.open_table(table=table, dealer=dealer, supervisor=supervisor, cage="C1")
    table.refresh_from_db()
    return AtTable(table, session, dealer, supervisor, {"tablet": terminal})


def played(at: AtTable, stake: int, cards: tuple[str, str], *, who: str = "p1", now: datetime = NOW) -> None:
    hand, dealer = cards
    told = f"bet w1 {who} {stake}\nlock\np1 {hand}\ndealer {dealer}\np1 stays\ndealer stays\nclose"
    round = at.tell(told, at=now)
    assert floor.outcome(round, now=now + timedelta(seconds=5)) == "settled"


def posted(kind: str, moves: dict[str, int], *, now: datetime = NOW, day: date = TODAY) -> None:
    with act(now=now):
        ledger.post([journal(kind, moves, gaming_day=day)])


def bought_in(amount: int, **when: Any) -> None:
    posted(
        "buy_in",
        {"external:cash:PD01": -amount * 100, "table:PD01:drop": amount * 100,
         "table:PD01:bank": -amount * 100, "table:PD01:guests": amount * 100},
        **when,
    )  # fmt: skip


def closed(
    at: AtTable, closer: int, *, last_round: int, now: datetime = NOW + timedelta(hours=2)
) -> table_floats.Closed:
    with act(now=now):
        counted(at.table, "closer", at.dealer, at.supervisor, pieces=baht(closer))
        return table_floats.close_table(table=at.table, last_round=last_round, cage="C1")


def box_counted(at: AtTable, amount: int, *, now: datetime = NOW + timedelta(hours=3)) -> None:
    with act(now=now):
        box = Box(carried_by=at.supervisor, cage="C1")
        counted(at.table, "drop", *managers(), pieces=baht(amount), box=box)


def the_night_of_the_book() -> AtTable:
    """| opener  | fills  | credits | buy-ins | takes   | pays    | commission |
    | 250,000 | 60,000 | 15,000  | 142,000 | 618,000 | 577,000 | 4,500      |
    """
    at = a_table(opener=250_000, commission=COMMISSION)
    posted("fill", {"cage:C1:vault": -60_000_00, "table:PD01:bank": 60_000_00})
    posted("credit", {"table:PD01:bank": -15_000_00, "cage:C1:vault": 15_000_00})
    bought_in(142_000)
    played(at, 618_000, GUESTS_LOSE)
    played(at, 577_000, GUESTS_WIN)
    return at


@pytest.mark.parametrize(
    ("closer", "win", "rate", "variance"),
    [(198_500, 45_500_00, 3204, 0), (198_300, 45_300_00, 3190, -200_00)],
)
def test_the_night_of_the_book_to_the_baht(closer: int, win: int, rate: int, variance: int) -> None:
    at = the_night_of_the_book()
    closed(at, closer, last_round=2)
    box_counted(at, 142_000)

    for stretch in (
        table_floats.rundown.of_session(at.session.id),
        *table_floats.rundown.of_day(at.table, TODAY).stretches,
    ):
        found, figures = stretch.rundown, stretch.rundown.figures
        assert (figures.opener, figures.fills, figures.credits) == (250_000_00, 60_000_00, 15_000_00)
        assert (figures.buy_ins, figures.drop) == (142_000_00, 142_000_00)
        assert (figures.takes, figures.pays, figures.commission) == (618_000_00, 577_000_00, 4_500_00)
        assert (figures.tray_win, figures.corrections, figures.wallet_win) == (45_500_00, 0, 0)
        assert (found.expected_tray, found.win, found.hold_rate_bp, found.variance) == (
            198_500_00,
            win,
            rate,
            variance,
        )
        assert (found.unknown, stretch.is_provisional, stretch.is_open) == ({}, False, False)
    assert Float.objects.get(kind="closer").expected == 198_500_00
    assert Break.objects.filter(code="COUNT_VARIANCE").count() == (1 if variance else 0)


def test_what_a_wallet_lost_is_shown_beside_the_tray_and_is_not_in_it() -> None:
    at = a_table(opener=10_000)
    floor.a_wallet("A17", 5_000)
    round = at.tell(
        "bet w1 p1 300 account=player:A17\nlock\np1 2S 3D\ndealer KC 6D\np1 stays\ndealer stays\nclose"
    )
    assert floor.outcome(round) == "settled"
    played(at, 500, GUESTS_LOSE)
    closed(at, 10_500, last_round=2)
    box_counted(at, 0)

    found = table_floats.rundown.of_session(at.session.id).rundown
    assert (found.figures.wallet_win, found.figures.takes) == (300_00, 500_00)
    assert (found.expected_tray, found.win, found.variance) == (10_500_00, 500_00, 0)


def test_where_wallets_paid_each_other_the_commission_alone_shows_it() -> None:
    """One wallet loses 100 to the other: the bank stands still, and 5 of commission never lay in the tray."""
    at = a_table(opener=10_000, commission={"rate_bp": 500, "rounding": "half_up", "unit": 100})
    floor.a_wallet("A17", 5_000), floor.a_wallet("B2", 5_000)
    round = at.tell(
        "bet w1 p1 100 account=player:A17\nbet w2 p2 100 account=player:B2\nlock\np1 2S 3D\np2 3S 5D\ndealer KC 6D\n"
        "p1 stays\np2 stays\ndealer stays\nclose"
    )
    assert floor.outcome(round) == "settled"

    assert closed(at, 10_000, last_round=1).float.expected == 10_000_00


def test_an_open_table_has_no_win_yet() -> None:
    at = a_table(opener=10_000)
    bought_in(1_000)
    played(at, 500, GUESTS_LOSE)

    found = table_floats.rundown.of_session(at.session.id)
    assert (found.is_open, found.rundown.win, found.rundown.expected_tray) == (True, None, 9_500_00)
    assert (found.rundown.estimated_win, found.rundown.by_lines) == (500_00, True)
    assert found.rundown.unknown["closer"] == "open"


def test_a_closed_table_whose_box_is_uncounted_has_an_estimate() -> None:
    at = a_table(opener=10_000)
    bought_in(1_000)
    closed(at, 9_000, last_round=0)

    found = table_floats.rundown.of_session(at.session.id).rundown
    assert (found.win, found.estimated_win, found.unknown["win"]) == (None, 0, "drop_uncounted")


def test_a_box_that_differs_from_the_recorded_buy_ins_leaves_the_difference_in_variance() -> None:
    at = a_table(opener=10_000)
    bought_in(1_000)
    closed(at, 9_000, last_round=0)
    box_counted(at, 900)

    found = table_floats.rundown.of_session(at.session.id).rundown
    assert (found.win, found.estimated_win, found.figures.buy_ins) == (-100_00, 0, 1_000_00)
    held = ledger.balances(["table:PD01:drop", "variance:PD01", "cage:C1:vault"])
    assert {code: one.balance for code, one in held.items()} == {
        "table:PD01:drop": 0,
        "variance:PD01": 100_00,
        "cage:C1:vault": -10_000_00 + 9_000_00 + 900_00,
    }


# -- a table that goes on ----------------------------------------------------------------------------------

MORNING = datetime.fromisoformat("2026-03-01T23:30:00+00:00")
"""06:30 at the tables: 2 March has begun."""


@pytest.fixture
def over_the_start_hour() -> AtTable:
    """Opened on 1 March with 10,000, 500 won then and 200 on 2 March, and never closed in between."""
    at = a_table(opener=10_000)
    bought_in(1_000)
    played(at, 500, GUESTS_LOSE)
    return at


def test_open_across_the_start_hour(over_the_start_hour: AtTable) -> None:
    """Uncounted at the start hour, each day is an estimate and says so."""
    at = over_the_start_hour
    played(at, 200, GUESTS_LOSE, now=MORNING)

    (first,) = table_floats.rundown.of_day(at.table, TODAY).stretches
    (second,) = table_floats.rundown.of_day(at.table, TODAY + timedelta(days=1)).stretches

    assert (first.rundown.win, first.rundown.estimated_win, first.rundown.by_lines) == (None, 700_00, True)
    assert (second.rundown.win, second.rundown.estimated_win, second.rundown.by_lines) == (None, 200_00, True)
    assert second.rundown.unknown["opener"] == "start_hour_uncounted"


def test_a_count_at_the_start_hour_ends_one_day_and_begins_the_next(over_the_start_hour: AtTable) -> None:
    at = over_the_start_hour
    with act(now=MORNING):
        counted(at.table, "rollover", at.dealer, at.supervisor, pieces=baht(9_400))
    box_counted(at, 1_000, now=MORNING + timedelta(minutes=5))
    played(at, 200, GUESTS_LOSE, now=MORNING + timedelta(minutes=10))
    closed(at, 9_600, last_round=2, now=MORNING + timedelta(hours=1))
    box_counted(at, 0, now=MORNING + timedelta(hours=2))

    one, two = (table_floats.rundown.of_day(at.table, TODAY + timedelta(days=day)) for day in (0, 1))
    (first,), (second,) = one.stretches, two.stretches
    assert (first.rundown.expected_tray, first.rundown.variance, first.rundown.win) == (
        9_500_00,
        -100_00,
        400_00,
    )
    assert (second.rundown.figures.opener, second.rundown.win) == (9_400_00, 200_00)
    whole = table_floats.rundown.of_session(at.session.id).rundown
    assert (whole.win, whole.figures.counted_off, whole.variance) == (600_00, -100_00, 0)
    assert one.totals == {"win": 400_00, "estimated_win": 400_00, "variance": -100_00}


SHORTLY_AFTER = MORNING - timedelta(minutes=16)
"""06:14 at the tables: the new day has played already when the old one is counted."""


def counted_late(at: AtTable, *, pieces: int, box: int) -> None:
    """On 2 March, before 06:14: a round that the house won of 300, a buy-in of 400, a fill of 2,000; counted then."""
    early, tomorrow = SHORTLY_AFTER - timedelta(minutes=10), TODAY + timedelta(days=1)
    played(at, 300, GUESTS_LOSE, now=early)
    bought_in(400, now=early, day=tomorrow)
    posted("fill", {"cage:C1:vault": -2_000_00, "table:PD01:bank": 2_000_00}, now=early, day=tomorrow)
    with act(now=SHORTLY_AFTER):
        counted(at.table, "rollover", at.dealer, at.supervisor, pieces=baht(pieces))
    box_counted(at, box, now=SHORTLY_AFTER + timedelta(minutes=5))


def test_a_count_made_later_is_brought_back_to_the_start_hour(over_the_start_hour: AtTable) -> None:
    """9,500 lay there at 06:00. By 06:14 the new day had put 300 and 2,000 in and taken 400 out for a buy-in, whose
    cash lies in the old day's box; the count is 100 short."""
    at = over_the_start_hour
    counted_late(at, pieces=11_300, box=1_400)
    played(at, 200, GUESTS_LOSE, now=MORNING + timedelta(minutes=10))
    closed(at, 11_500, last_round=3, now=MORNING + timedelta(hours=1))
    box_counted(at, 0, now=MORNING + timedelta(hours=2))

    one, two = (table_floats.rundown.of_day(at.table, TODAY + timedelta(days=day)) for day in (0, 1))
    (first,), (second,) = one.stretches, two.stretches

    figures = first.rundown.figures
    assert (figures.takes, figures.fills, figures.buy_ins, figures.drop) == (500_00, 0, 1_000_00, 1_000_00)
    assert (figures.closer, first.rundown.expected_tray, first.rundown.variance) == (
        9_400_00,
        9_500_00,
        -100_00,
    )
    assert (first.rundown.win, first.rundown.estimated_win) == (400_00, 400_00)
    back = first.closer
    assert back is not None
    assert second.opener == back
    assert (back.counted, back.new_day_before, back.old_day_after) == (11_300_00, 1_900_00, 0)

    figures = second.rundown.figures
    assert (figures.opener, figures.takes, figures.fills) == (9_400_00, 500_00, 2_000_00)
    assert (figures.buy_ins, figures.drop) == (400_00, 400_00)
    assert (second.rundown.win, second.rundown.variance) == (500_00, 0)
    whole = table_floats.rundown.of_session(at.session.id).rundown
    assert (whole.win, whole.figures.counted_off) == (900_00, -100_00)


def test_what_the_old_day_moves_after_its_count_is_brought_back_too(over_the_start_hour: AtTable) -> None:
    """A round of the old day that waited for a person is settled after the count, and belongs to the old day."""
    at = over_the_start_hour
    held = at.tell("bet w1 p1 700\nlock\np1 2S KC\ndealer KC 6D\np1 stays\ndealer stays\nclose")
    assert floor.outcome(held) == "held: duplicate_card"
    counted_late(at, pieces=11_400, box=1_400)
    at.tell("rule p1.2 3D", round=held, at=SHORTLY_AFTER + timedelta(minutes=8))
    assert floor.outcome(held, now=SHORTLY_AFTER + timedelta(minutes=9)) == "settled"

    (first,) = table_floats.rundown.of_day(at.table, TODAY).stretches
    (second,) = table_floats.rundown.of_day(at.table, TODAY + timedelta(days=1)).stretches

    back = first.closer
    assert back is not None
    assert (back.counted, back.new_day_before, back.old_day_after) == (11_400_00, 1_900_00, 700_00)
    assert (first.rundown.figures.closer, second.rundown.figures.opener) == (10_200_00, 10_200_00)
    assert (first.rundown.win, first.rundown.variance) == (1_200_00, 0)
    assert second.rundown.expected_tray == 12_100_00


def test_chips_that_move_between_the_two_saves_void_the_count(over_the_start_hour: AtTable) -> None:
    at = over_the_start_hour
    lines = table_floats.BlindCount(by=at.dealer, pieces=baht(9_500))
    with act(now=MORNING):
        table_floats.count(table=at.table, kind="rollover", by=at.dealer, count=lines)
    bought_in(400, now=MORNING, day=TODAY + timedelta(days=1))

    with act(now=MORNING), pytest.raises(Refusal) as refused:
        table_floats.count(
            table=at.table,
            kind="rollover",
            by=at.supervisor,
            count=table_floats.BlindCount(by=at.supervisor, pieces=baht(9_500)),
        )

    assert refused.value.code == "count_overtaken"
    assert not Float.objects.filter(kind="rollover").exists()


def test_a_rundown_costs_the_same_statements_whatever_was_played() -> None:
    at = a_table(opener=10_000)
    few: list[str] = []
    many: list[str] = []
    with statements(few):
        table_floats.rundown.of_session(at.session.id)
        table_floats.rundown.of_day(at.table, TODAY)
    for _ in range(3):
        bought_in(100)
        played(at, 100, GUESTS_LOSE)
    with statements(many):
        table_floats.rundown.of_session(at.session.id)
        table_floats.rundown.of_day(at.table, TODAY)
    assert len(few) == len(many)


@pytest.mark.django_db(transaction=True)
def test_the_books_of_a_counted_night_are_found_right(settings: Any) -> None:
    settings.DATABASE_READER_URL = ""
    at = the_night_of_the_book()
    closed(at, 198_300, last_round=2)
    box_counted(at, 141_900)

    with checks.opened(scope=checks.Scope(since=None)) as books:
        assert list(checks.check(books, ids={"I12", "I13"})) == []
