"""A table's float is counted blind by two people, and every difference from the books gets a name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from audit.models import LogEntry
from casino import tables
from casino.models import Person, Table, TableSession
from casino.platform.refusals import Refusal
from settlement import ledger, table_floats
from settlement.models import Break, Count, Float, Journal
from settlement.table_floats import BlindCount
from tests.settlement import books
from tests.settlement.books import (
    BANK,
    COMMISSION,
    DROP,
    GUESTS,
    NOW,
    VAULT,
    a_person,
    a_table,
    a_wallet,
    act,
    journal,
    post,
)

pytestmark = pytest.mark.django_db

CHIPS, CLEARING, VARIANCE = "suspense:chips:PD01", "suspense:clearing:PD01", "variance:PD01"
CASH = "external:cash:PD01"


def dealer() -> Person:
    return a_person("D1", "dealer")


def supervisor() -> Person:
    return a_person("S1", "supervisor")


def counted(baht: int, *more: int) -> list[BlindCount]:
    """Two people count so many baht in chips of 100; further figures are those of a third."""
    people = [dealer(), supervisor(), a_person("M1", "manager")]
    figures = [baht, baht, *more] if not more or len(more) == 1 else [baht, *more]
    return [BlindCount(by, {100_00: figure // 100}) for by, figure in zip(people, figures, strict=False)]


def opened(
    baht: int = 250_000, *, cage: str = "C1", counts: list[BlindCount] | None = None, hours: int = 0
) -> Table:
    table = a_table()
    with act(now=NOW + timedelta(hours=hours)):
        saved(table, "opener", *(counts or counted(baht)))
        table_floats.open_table(table=table, dealer=dealer(), supervisor=supervisor(), cage=cage)
    return table


def closed(
    table: Table, baht: int = 0, *, cage: str = "C1", counts: list[BlindCount] | None = None, hours: int = 1
) -> Float:
    with act(now=NOW + timedelta(hours=hours)):
        saved(table, "closer", *(counts or counted(baht)))
        return table_floats.close_table(table=table, last_round=0, cage=cage).float


def saved(table: Table, kind: str, *counts: BlindCount) -> list[str]:
    """Save these counts one after the other; return who was needed after each."""
    return [table_floats.count(table=table, kind=kind, by=count.by, count=count).needs for count in counts]


def a_round_of(moves: list[tuple[str, int, str]]) -> Any:
    return journal("round", moves, round=uuid4())


def baht(*codes: str) -> list[int]:
    """What the accounts hold, in whole baht; one that never came about holds nothing."""
    found = ledger.balances(codes)
    return [found[code].balance // 100 if code in found else 0 for code in codes]


def a_night_at_the_table() -> Table:
    """| opener  | fills  | credits | buy-ins | takes   | pays    | commission |
    | 250,000 | 60,000 | 15,000  | 142,000 | 618,000 | 577,000 | 4,500      |
    """
    table = opened(250_000)
    post(
        journal("fill", {VAULT: -60_000_00, BANK: 60_000_00}),
        journal("credit", {BANK: -15_000_00, VAULT: 15_000_00}),
        journal("buy_in", {CASH: -142_000_00, DROP: 142_000_00, BANK: -142_000_00, GUESTS: 142_000_00}),
        a_round_of([(GUESTS, -618_000_00, "w1"), (BANK, 618_000_00, "w1")]),
        a_round_of(
            [
                (BANK, -577_000_00, "w1"),
                (GUESTS, 577_000_00, "w1"),
                (GUESTS, -4_500_00, "w1"),
                (COMMISSION, 4_500_00, "w1"),
            ]
        ),
    )
    return table


def test_a_night_whose_closer_is_what_the_books_say() -> None:
    """Expected tray 250,000 + 60,000 − 15,000 − 142,000 + 618,000 − 577,000 + 4,500 = 198,500.

    Win by the counts: 198,500 + 15,000 + 142,000 − 250,000 − 60,000 = 45,500, which is 618,000 − 577,000 + 4,500.
    The vault is 96,500 down, with 142,000 in the drop: 45,500 up. Guests carried 96,500 in chips away.
    """
    closer = closed(a_night_at_the_table(), 198_500)

    assert closer.expected == 198_500_00
    assert (closer.variance, closer.clearing) == (None, None)
    assert baht(BANK, COMMISSION, GUESTS, CHIPS, VAULT, DROP, VARIANCE) == [
        -4_500,
        4_500,
        0,
        96_500,
        -96_500,
        142_000,
        0,
    ]


def test_a_tray_that_is_200_short_costs_the_house_200_by_the_name_of_variance() -> None:
    """The same night, 198,300 counted: win 45,300, variance −200."""
    closer = closed(a_night_at_the_table(), 198_300)

    assert closer.expected == 198_500_00
    assert baht(BANK, COMMISSION, CHIPS, VAULT, DROP, VARIANCE) == [
        -4_500,
        4_500,
        96_500,
        -96_700,
        142_000,
        200,
    ]
    assert closer.variance is not None
    assert list(closer.variance.entries.order_by("ordinal").values_list("account__code", "amount")) == [
        (VARIANCE, 200_00),
        (BANK, -200_00),
    ]


def test_what_wallets_won_or_lost_is_cleared_with_the_cage_and_never_was_in_the_tray() -> None:
    """Chips: 1,000 taken. Wallet: 3,000 lost, then 2,000 won of which 100 are commission. Net of the wallet −1,100.

    The tray holds 10,000 + 1,000 = 11,000. The bank had 10,000 + 1,000 + 3,000 − 2,000 = 12,000, the commission 100;
    1,100 go to the clearing account, and bank + commission = 11,000.
    """
    table, nok = opened(10_000), a_wallet("A17", 5_000_00)
    post(
        a_round_of([(GUESTS, -1_000_00, "w1"), (BANK, 1_000_00, "w1")]),
        a_round_of([(nok, -3_000_00, "w1"), (BANK, 3_000_00, "w1")]),
        a_round_of(
            [(BANK, -2_000_00, "w1"), (nok, 2_000_00, "w1"), (nok, -100_00, "w1"), (COMMISSION, 100_00, "w1")]
        ),
    )
    closer = closed(table, 11_000)

    assert (closer.expected, closer.variance) == (11_000_00, None)
    assert baht(CLEARING, BANK, COMMISSION, nok, VAULT) == [1_100, -100, 100, 3_900, 1_000]


def test_a_players_bank_passes_through_the_table_and_is_cleared_whole() -> None:
    """A guest loses 500 in chips to the wallet that banks: the chips lie in the tray, the cage owes the wallet 500."""
    table, lek = opened(10_000), a_wallet("B2", 5_000_00)
    post(
        a_round_of(
            [
                (GUESTS, -500_00, "w1"),
                (BANK, 500_00, "w1"),
                (BANK, -500_00, "bank"),
                (lek, 500_00, "bank"),
            ]
        )
    )
    closer = closed(table, 10_500)

    assert (closer.expected, closer.variance) == (10_500_00, None)
    assert baht(CLEARING, BANK, lek) == [-500, 0, 5_500]


def test_what_a_shortfall_lent_is_no_play_and_is_not_cleared() -> None:
    """350 in the wallet, 500 lost, 150 lent: the table is owed 500 by the cage, the guest owes 150."""
    table, nok, round = opened(10_000), a_wallet("A17", 350_00), uuid4()
    post(
        journal("round", [(nok, -500_00, "w1"), (BANK, 500_00, "w1")], round=round),
        journal("hold_shortfall", {"suspense:shortfall:PD01": -150_00, nok: 150_00}, round=round),
    )
    closed(table, 10_000)

    assert baht(CLEARING, "suspense:shortfall:PD01", BANK, nok) == [500, -150, 0, 0]


def test_a_wallets_correction_after_the_close_is_cleared_with_the_next() -> None:
    table, nok = opened(10_000), a_wallet("A17", 5_000_00)
    (lost,) = post(a_round_of([(nok, -300_00, "w1"), (BANK, 300_00, "w1")]))
    closed(table, 10_000)
    assert baht(CLEARING) == [300]

    with act():
        ledger.post(ledger.reversal_of([lost], gaming_day=books.TODAY))
    opened(10_000, hours=2)
    closer = closed(table, 10_000, hours=3)

    assert (closer.expected, closer.variance) == (10_000_00, None)
    assert baht(CLEARING, BANK, nok) == [0, 0, 5_000]


def test_a_float_that_stays_locked_on_the_table_moves_no_chip_and_is_expected_again() -> None:
    table = opened(10_000)
    post(
        a_round_of(
            [
                (GUESTS, -500_00, "w1"),
                (BANK, 500_00, "w1"),
                (GUESTS, -20_00, "w2"),
                (COMMISSION, 20_00, "w2"),
            ]
        )
    )
    closer = closed(table, counts=_of(10_520), cage="")
    assert (closer.journal, closer.expected) == (None, 10_520_00)

    opened(0, cage="", counts=_of(10_520), hours=2)
    opener = Float.objects.get(kind="opener", accepted_at=NOW + timedelta(hours=2))
    assert (opener.journal, opener.variance, opener.expected) == (None, None, 10_520_00)
    assert baht(BANK, COMMISSION, VAULT) == [10_500, 20, -10_000]


def test_chips_that_vanished_overnight_are_a_variance_of_the_opening() -> None:
    table = opened(10_000)
    closed(table, 10_000, cage="")
    opened(9_900, cage="", hours=2)

    assert baht(BANK, VARIANCE) == [9_900, 100]
    assert Float.objects.get(kind="opener", accepted_at=NOW + timedelta(hours=2)).expected == 10_000_00


def _of(baht: int) -> list[BlindCount]:
    """Two counts in chips of 20."""
    return [BlindCount(by, {20_00: baht // 20}) for by in (dealer(), supervisor())]


def test_opening_puts_dealer_and_supervisor_on_duty_and_posts_the_counted_float_once() -> None:
    table = opened(250_000)

    session = TableSession.objects.get()
    assert (session.opened_at, session.duties.count()) == (NOW, 2)
    (posted,) = Journal.objects.all()
    assert (posted.kind, posted.gaming_day) == ("opener", books.TODAY)
    assert baht(VAULT, BANK) == [-250_000, 250_000]
    assert list(Count.objects.order_by("ordinal").values_list("counted_by__badge", "amount", "lines")) == [
        ("D1", 250_000_00, [{"denomination": 100_00, "pieces": 2_500}]),
        ("S1", 250_000_00, [{"denomination": 100_00, "pieces": 2_500}]),
    ]
    with pytest.raises(Refusal, match="table_open"):
        opened(250_000)
    assert table.code == "PD01"


def test_two_counts_that_differ_need_a_third_person_whose_count_decides() -> None:
    """Same value, other pieces: 2 × 500 is not 10 × 100."""
    first = BlindCount(dealer(), {500_00: 2})
    second = BlindCount(supervisor(), {100_00: 10})
    third = BlindCount(a_person("M1", "manager"), {100_00: 9})
    with act():
        assert saved(a_table(), "opener", first, second) == ["second", "third"]
    with pytest.raises(Refusal, match=r"^count_missing$"), act():
        table_floats.open_table(table=a_table(), dealer=dealer(), supervisor=supervisor(), cage="C1")
    found = Break.objects.get()
    assert (found.code, found.amount) == ("COUNT_MISMATCH", 0)

    opened(counts=[third])
    assert list(Count.objects.order_by("ordinal").values_list("amount", flat=True)) == [
        1_000_00,
        1_000_00,
        900_00,
    ]
    assert Float.objects.get().count.ordinal == 3
    assert baht(BANK) == [900]


def test_an_empty_denomination_is_the_same_as_one_not_named() -> None:
    opened(counts=[BlindCount(dealer(), {500_00: 2, 100_00: 0}), BlindCount(supervisor(), {500_00: 2})])

    assert baht(BANK) == [1_000]


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        (lambda: [BlindCount(dealer(), {100_00: 1})], "count_missing"),
        (lambda: [BlindCount(supervisor(), {100_00: 1})] * 2, "sod_violation"),
        (
            lambda: [
                *counted(100)[:1],
                BlindCount(supervisor(), {100_00: 2}),
                BlindCount(supervisor(), {100_00: 1}),
            ],
            "sod_violation",
        ),
        (
            lambda: [BlindCount(dealer(), {100_00: 1}), BlindCount(a_person("C1", "cashier"), {100_00: 1})],
            "second_person_forbidden",
        ),
        (
            lambda: [BlindCount(supervisor(), {100_00: 1}), BlindCount(dealer(), {100_00: 1})],
            "second_person_forbidden",
        ),
        (
            lambda: [BlindCount(a_person("M9", "manager", permissions=("see_expected",)), {1: 1})],
            "sod_violation",
        ),
        (lambda: [BlindCount(by, {100_00: -1}) for by in (dealer(), supervisor())], "invalid_value"),
        (lambda: [BlindCount(by, {0: 1}) for by in (dealer(), supervisor())], "invalid_value"),
    ],
    ids=[
        "one count",
        "one person twice",
        "the third counted before",
        "a cashier",
        "a dealer second",
        "somebody who may see what is expected",
        "minus one",
        "worth nothing",
    ],
)
def test_counts_are_two_different_peoples_of_the_floor(counts: Any, code: str) -> None:
    with pytest.raises(Refusal, match=f"^{code}$"):
        opened(counts=counts())

    assert not TableSession.objects.exists()


def test_a_close_that_casino_refuses_moves_nothing() -> None:
    table = opened(10_000)
    with act():
        saved(table, "closer", *counted(9_000))
    with pytest.raises(Refusal, match="last_round_differs"), act():
        table_floats.close_table(table=table, last_round=7, cage="C1")

    assert baht(BANK, VARIANCE, VAULT) == [10_000, 0, -10_000]
    assert tables.session_of(table.id) is not None
    assert not Float.objects.filter(kind="closer").exists()


def test_a_closed_table_is_not_closed_again() -> None:
    table = opened(10_000)
    closed(table, 10_000)
    with pytest.raises(Refusal, match="table_closed"):
        closed(table, 10_000)


def test_every_count_and_every_journal_of_a_float_is_witnessed() -> None:
    table = opened(10_000)
    closed(table, 9_900)

    told = [action for (action,) in LogEntry.objects.order_by("id").values_list("action")]
    assert told == [
        "counting.asked",
        "count.recorded",
        "count.recorded",
        "counting.accepted",
        "table.opened",
        "table.float_opened",
        "counting.asked",
        "count.recorded",
        "count.recorded",
        "counting.accepted",
        "table.float_closed",
        "break.opened",
        "table.closed",
    ]
    last = LogEntry.objects.get(action="table.float_closed")
    closer = Float.objects.get(kind="closer")
    for part in (closer.journal, closer.variance):
        assert part is not None
        assert str(part.id) in bytes(last.bytes).decode()
