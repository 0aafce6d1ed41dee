"""Money moves in whole journals, once, and never out of what is set aside."""

from __future__ import annotations

from datetime import date
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError

from casino import events
from casino.platform.refusals import Refusal
from settlement import ledger
from settlement.ledger import NewHold
from settlement.models import Account, Entry, Hold, Journal
from tests.settlement import books
from tests.settlement.books import BANK, COMMISSION, GUESTS, a_round, a_table, a_wallet, act, journal, post

pytestmark = pytest.mark.django_db


def statement_of(code: str) -> list[tuple[int, int, int]]:
    """The account as a statement: version, amount, balance after."""
    return list(
        Entry.objects.filter(account__code=code)
        .order_by("version")
        .values_list("version", "amount", "balance_after")
    )


def held(code: str) -> tuple[int, int]:
    account = Account.objects.get(code=code)
    return account.balance, account.held


# -- journals --------------------------------------------------------------------------------------------------


def test_a_round_moves_every_wager_between_its_owner_and_the_bank() -> None:
    """Seat 1 loses 300, seat 2 wins 200 of which 10 are commission, the wallet of A17 wins 500.

    guests      − 300 + 200 − 10      = − 110
    bank        + 300 − 200 − 500     = − 400
    commission  + 10
    A17         + 500
    """
    a_table()
    nok = a_wallet("A17", 1_000_00)
    post(
        journal(
            "round",
            [
                (GUESTS, -300_00, "w1"),
                (BANK, 300_00, "w1"),
                (BANK, -200_00, "w2"),
                (GUESTS, 200_00, "w2"),
                (GUESTS, -10_00, "w2"),
                (COMMISSION, 10_00, "w2"),
                (BANK, -500_00, "w3"),
                (nok, 500_00, "w3"),
            ],
        )
    )

    assert books.balances(GUESTS, BANK, COMMISSION, nok) == {
        GUESTS: -110_00,
        BANK: -400_00,
        COMMISSION: 10_00,
        nok: 1_500_00,
    }
    assert statement_of(BANK) == [(1, 300_00, 300_00), (2, -200_00, 100_00), (3, -500_00, -400_00)]


def test_journals_of_one_post_follow_each_other_in_the_order_given() -> None:
    a_table()
    first, second = post(
        journal("round", {GUESTS: -100, BANK: 100}), journal("round", {BANK: -250, GUESTS: 250})
    )

    assert statement_of(BANK) == [(1, 100, 100), (2, -250, -150)]
    assert [entry.journal_id for entry in Entry.objects.filter(account__code=BANK).order_by("version")] == [
        first,
        second,
    ]


def test_the_same_key_again_moves_nothing_and_gives_the_first_journal() -> None:
    a_table()
    fill = journal("fill", {"cage:C1:vault": -60_000_00, BANK: 60_000_00}, key="slip:F-1")
    first = post(fill)

    tomorrow = journal(
        "fill",
        {"cage:C1:vault": -60_000_00, BANK: 60_000_00},
        key="slip:F-1",
        gaming_day=date(2026, 3, 2),
    )
    assert post(tomorrow) == first
    assert post(fill, fill) == first * 2
    assert statement_of(BANK) == [(1, 60_000_00, 60_000_00)]


def test_the_same_key_for_something_else_is_refused_and_nothing_moves() -> None:
    a_table()
    post(journal("fill", {"cage:C1:vault": -100, BANK: 100}, key="slip:F-1"))

    with pytest.raises(Refusal) as refused:
        post(
            journal("fill", {"cage:C1:vault": -1, BANK: 1}, key="slip:F-2"),
            journal("fill", {"cage:C1:vault": -200, BANK: 200}, key="slip:F-1"),
        )

    assert refused.value.code == "idempotency_key_reused"
    assert books.balances(BANK) == {BANK: 100}


def test_two_new_journals_of_one_post_may_not_share_a_key_unless_they_are_the_same() -> None:
    a_table()
    with pytest.raises(Refusal, match="idempotency_key_reused"):
        post(
            journal("fill", {"cage:C1:vault": -100, BANK: 100}, key="slip:F-1"),
            journal("fill", {"cage:C1:vault": -200, BANK: 200}, key="slip:F-1"),
        )


def test_a_wallet_never_pays_what_it_does_not_have() -> None:
    a_table()
    nok = a_wallet("A17", 350_00)

    with pytest.raises(Refusal) as refused:
        post(journal("withdrawal", {nok: -350_01, "external:cash:C1": 350_01}))

    thb = "THB"
    assert (refused.value.code, refused.value.status, refused.value.extra) == (
        "insufficient_funds",
        422,
        {
            "account": nok,
            "asked": {"amount": 350_01, "currency": thb},
            "balance": {"amount": 350_00, "currency": thb},
            "held": {"amount": 0, "currency": thb},
            "available": {"amount": 350_00, "currency": thb},
        },
    )
    assert books.balances(nok) == {nok: 350_00}
    post(journal("withdrawal", {nok: -350_00, "external:cash:C1": 350_00}))
    assert books.balances(nok) == {nok: 0}


def test_what_counts_is_where_a_post_ends_not_what_it_passes_through() -> None:
    """Wallet 350, five stakes of 100 lost: 500 are taken, the shortfall account lends 150."""
    a_table()
    nok = a_wallet("A17", 350_00)
    round = uuid4()
    post(
        journal("round", [(nok, -500_00, "w1"), (BANK, 500_00, "w1")], round=round),
        journal("hold_shortfall", {"suspense:shortfall:PD01": -150_00, nok: 150_00}, round=round),
    )

    assert books.balances(nok, BANK, "suspense:shortfall:PD01") == {
        nok: 0,
        BANK: 500_00,
        "suspense:shortfall:PD01": -150_00,
    }


def test_a_payout_is_never_refused_however_far_the_bank_falls() -> None:
    a_table()
    post(journal("round", {BANK: -5_000_000_00, GUESTS: 5_000_000_00}))

    assert books.balances(BANK) == {BANK: -5_000_000_00}


@pytest.mark.parametrize(
    "moves",
    [{GUESTS: -100}, {GUESTS: -100, BANK: 99}, {GUESTS: -100, BANK: 100, COMMISSION: 0}, {}],
    ids=["one entry", "a difference of one", "an entry of nothing", "nothing"],
)
def test_what_is_no_journal_is_not_tried(moves: dict[str, int]) -> None:
    a_table()
    with pytest.raises(ValueError, match="does not move what it gives"):
        post(journal("round", moves))


def test_money_moves_in_an_act_only() -> None:
    a_table()
    with pytest.raises(events.NoAct):
        ledger.post([journal("round", {GUESTS: -100, BANK: 100})])
    with pytest.raises(events.NoAct):
        ledger.lock([BANK], currency="THB")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("player:NOBODY:wallet", "a wallet is opened, it does not come about"),
        ("table:PD99:bank", "there is no such table"),
        ("table:PD01:tips", "no table has such an account"),
        ("bank", "this is no account's code"),
        ("variance:pd01", "codes of tables are capital letters"),
    ],
)
def test_accounts_that_nobody_could_mean_are_refused(code: str, why: str) -> None:
    a_table()
    with pytest.raises(Refusal) as refused:
        post(journal("break_resolved", {code: -100, BANK: 100}))

    assert (refused.value.code, refused.value.extra) == ("unknown_account", {"accounts": [code]}), why


def test_accounts_of_tables_and_suspense_come_about_when_they_are_first_posted_to() -> None:
    table = a_table()
    post(journal("variance", {"variance:PD01": 200, BANK: -200}))
    post(journal("chip_sale", {"external:cash:C1": -500, "suspense:chips:C1": 500}))

    made = Account.objects.values_list("code", "kind", "currency", "floor", "table")
    assert sorted(made) == [
        ("external:cash:C1", "external", "THB", None, None),
        ("suspense:chips:C1", "suspense", "THB", None, None),
        (BANK, "bank", "THB", None, table.id),
        ("variance:PD01", "variance", "THB", None, table.id),
    ]


def test_an_account_keeps_one_currency() -> None:
    a_table()
    post(journal("round", {GUESTS: -100, BANK: 100}))

    with pytest.raises(Refusal, match="wrong_currency"):
        post(journal("round", {GUESTS: -100, BANK: 100}, currency="USD"))
    with pytest.raises(Refusal, match="wrong_currency"):
        post(
            journal("fill", {"cage:C2:vault": -100, BANK: 100}),
            journal("fill", {"cage:C2:vault": -100, "table:PD01:drop": 100}, currency="USD"),
        )


# -- reversals -------------------------------------------------------------------------------------------------


def test_a_correction_and_its_opposite_leave_every_balance_as_it_was() -> None:
    a_table()
    nok = a_wallet("A17", 1_000_00)
    before = books.balances(nok)
    (first,) = post(journal("round", [(nok, -300_00, "w1"), (BANK, 300_00, "w1")], key="round:R:1"))
    with act():
        (back,) = ledger.reversal_of([first], gaming_day=date(2026, 3, 3))
        (reversal,) = ledger.post([back])

    row = Journal.objects.get(pk=reversal)
    assert (row.kind, row.key, row.reverses_id, row.orig_day, row.gaming_day) == (
        "round_reversal",
        "reversal:round:R:1",
        first,
        date(2026, 3, 1),
        date(2026, 3, 3),
    )
    assert books.balances(nok, BANK) == {**before, BANK: 0}
    assert list(row.entries.order_by("ordinal").values_list("account__code", "amount", "wager")) == [
        (nok, 300_00, "w1"),
        (BANK, -300_00, "w1"),
    ]


def test_a_win_that_was_paid_out_can_be_taken_back_when_the_new_judgement_pays_it_again() -> None:
    """Nok won 300 and withdrew all; corrected, she won 250 and 50 are lent to her."""
    a_table()
    nok = a_wallet("A17")
    round = uuid4()
    (first,) = post(journal("round", [(BANK, -300, "w1"), (nok, 300, "w1")], round=round))
    post(journal("withdrawal", {nok: -300, "external:cash:C1": 300}))
    with act():
        ledger.post(
            [
                *ledger.reversal_of([first], gaming_day=books.TODAY),
                journal("round", [(BANK, -250, "w1"), (nok, 250, "w1")], round=round),
                journal("hold_shortfall", {"suspense:shortfall:PD01": -50, nok: 50}, round=round),
            ]
        )

    assert books.balances(nok, BANK) == {nok: 0, BANK: -250}


def test_a_journal_is_reversed_once_and_a_reversal_never() -> None:
    a_table()
    (first,) = post(journal("round", {GUESTS: -100, BANK: 100}, key="round:R:1"))
    with act():
        back = ledger.reversal_of([first], gaming_day=books.TODAY)
        (reversal,) = ledger.post(back)
        assert ledger.post(back) == [reversal]
        (twice,) = ledger.reversal_of([reversal], gaming_day=books.TODAY)
    again = journal(
        "round_reversal", {GUESTS: 100, BANK: -100}, key="again", round=back[0].round, reverses=first
    )

    with pytest.raises(IntegrityError, match="journal_reversed_once"):
        post(again)
    with pytest.raises(IntegrityError, match="does not take back"):
        post(twice)
    assert books.balances(BANK) == {BANK: 0}


# -- holds -----------------------------------------------------------------------------------------------------


def hold(*requests: NewHold, change: tuple[UUID, ...] = ()) -> list[ledger.Held | None]:
    with act():
        return ledger.hold(requests, currency="THB", change=change)


def test_a_wallet_of_350_does_not_cover_a_stake_that_can_lose_500() -> None:
    a_table()
    nok, round = a_wallet("A17", 350_00), a_round()

    assert hold(NewHold(nok, round, "w1", 500_00)) == [None]
    assert held(nok) == (350_00, 0)


def test_holds_are_taken_in_order_as_far_as_the_wallet_lasts() -> None:
    """1,000: w1 takes 500, w2 of 600 does not fit, w3 takes the other 500, and w4 finds nothing left."""
    a_table()
    nok, round = a_wallet("A17", 1_000_00), a_round()
    answers = hold(
        NewHold(nok, round, "w1", 500_00),
        NewHold(nok, round, "w2", 600_00),
        NewHold(nok, round, "w3", 500_00),
        NewHold(nok, round, "w4", 1),
    )

    assert [answer and answer.amount for answer in answers] == [500_00, None, 500_00, None]
    assert held(nok) == (1_000_00, 1_000_00)
    assert {(one.wager, one.amount) for one in ledger.open_holds([round])[round]} == {
        ("w1", 500_00),
        ("w3", 500_00),
    }


def test_a_players_bank_puts_up_what_the_wallet_has() -> None:
    a_table()
    nok, lek, round = a_wallet("A17", 800_00), a_wallet("B2"), a_round()
    answers = hold(
        NewHold(nok, round, "bank", 5_000_00, or_less=True), NewHold(lek, round, "w1", 1, or_less=True)
    )

    assert [answer and answer.amount for answer in answers] == [800_00, None]


def test_what_is_set_aside_cannot_be_withdrawn() -> None:
    a_table()
    nok, round = a_wallet("A17", 1_000_00), a_round()
    hold(NewHold(nok, round, "w1", 500_00))

    with pytest.raises(Refusal) as refused:
        post(journal("withdrawal", {nok: -500_01, "external:cash:C1": 500_01}))
    assert refused.value.extra["available"] == {"amount": 500_00, "currency": "THB"}
    post(journal("withdrawal", {nok: -500_00, "external:cash:C1": 500_00}))
    assert held(nok) == (500_00, 500_00)


def test_settling_takes_from_what_was_set_aside_and_frees_the_rest() -> None:
    a_table()
    nok, round = a_wallet("A17", 500_00), a_round()
    (one,) = hold(NewHold(nok, round, "w1", 500_00))
    assert one is not None
    post(
        journal("round", [(nok, -200_00, "w1"), (BANK, 200_00, "w1")], round=round),
        release={one.id: "settled"},
    )

    assert held(nok) == (300_00, 0)
    ended = Hold.objects.get()
    assert (ended.outcome, ended.ended_at) == ("settled", books.NOW)


def test_a_push_ends_its_hold_and_moves_nothing() -> None:
    a_table()
    nok, round = a_wallet("A17", 500_00), a_round()
    (one,) = hold(NewHold(nok, round, "w1", 500_00))
    assert one is not None
    post(release={one.id: "settled"})

    assert held(nok) == (500_00, 0)
    assert statement_of(nok) == [(1, 500_00, 500_00)]


def test_a_hold_ends_once() -> None:
    a_table()
    nok, round = a_wallet("A17", 500_00), a_round()
    (one,) = hold(NewHold(nok, round, "w1", 200_00))
    assert one is not None
    with act():
        ledger.end_holds([one.id], outcome="released")
        ledger.end_holds([one.id], outcome="changed")
    post(release={one.id: "settled"})

    assert held(nok) == (500_00, 0)
    assert Hold.objects.get().outcome == "released"


def test_asking_again_makes_the_holds_fit_the_bets_as_they_are_now() -> None:
    a_table()
    nok, round = a_wallet("A17", 600_00), a_round()
    (one,) = hold(NewHold(nok, round, "w1", 500_00))
    assert one is not None
    (raised,) = hold(NewHold(nok, round, "w1", 600_00), change=(one.id,))

    assert raised is not None
    assert held(nok) == (600_00, 600_00)
    assert list(Hold.objects.order_by("amount").values_list("amount", "outcome")) == [
        (500_00, "changed"),
        (600_00, ""),
    ]


def test_a_hold_is_not_taken_from_nobody_nor_in_another_currency() -> None:
    a_table()
    nok, round = a_wallet("A17", 600_00), a_round()
    with act():
        assert ledger.hold([NewHold("player:X:wallet", round, "w1", 1)], currency="THB") == [None]
        assert ledger.hold([NewHold(nok, round, "w1", 1)], currency="USD") == [None]
    assert held(nok) == (600_00, 0)


# -- the same few statements -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 60])
def test_posting_runs_four_statements_however_many_rounds(rounds: int) -> None:
    a_table()
    nok = a_wallet("A17", 1_000_000_00)
    journals = [
        journal("round", [(nok, -100, "w1"), (BANK, 100, "w1"), (GUESTS, -5, "w2"), (BANK, 5, "w2")])
        for _ in range(rounds)
    ]
    post(journal("round", {GUESTS: -1, BANK: 1}))
    ran: list[str] = []
    with books.statements(ran), act():
        ledger.post(journals)

    assert [sql.split()[0] for sql in ran] == ["WITH", "SELECT", "UPDATE", "WITH"]
    assert "FOR NO KEY UPDATE" in ran[0]


@pytest.mark.parametrize("rounds", [1, 40])
def test_settling_with_holds_under_locks_taken_before_runs_four_statements_too(rounds: int) -> None:
    a_table()
    nok = a_wallet("A17", 1_000_000_00)
    ids = [a_round() for _ in range(rounds)]
    with act():
        holds = ledger.hold([NewHold(nok, id, "w1", 500) for id in ids], currency="THB")
        journals = [journal("round", [(nok, -100, "w1"), (BANK, 100, "w1")], round=id) for id in ids]
        locked = ledger.lock([nok, BANK], currency="THB")
        ran: list[str] = []
        with books.statements(ran):
            ledger.post(journals, release={one.id: "settled" for one in holds if one}, locked=locked)

    assert [sql.split()[0] for sql in ran] == ["SELECT", "UPDATE", "UPDATE", "WITH"]
    assert held(nok) == (1_000_000_00 - 100 * rounds, 0)


@pytest.mark.parametrize("wagers", [1, 50])
def test_covering_runs_four_statements_however_many_wagers(wagers: int) -> None:
    a_table()
    nok, round = a_wallet("A17", 1_000_000_00), a_round()
    first = hold(*(NewHold(nok, round, f"w{n}", 500) for n in range(wagers)))
    ran: list[str] = []
    with books.statements(ran):
        hold(
            *(NewHold(nok, round, f"w{n}", 700) for n in range(wagers)),
            change=tuple(one.id for one in first if one),
        )

    assert [sql.split()[0] for sql in ran] == ["WITH", "UPDATE", "INSERT", "UPDATE"]
    assert held(nok) == (1_000_000_00, 700 * wagers)


def test_accounts_are_locked_in_the_order_of_their_ids() -> None:
    a_table()
    nok, lek = a_wallet("A17", 100), a_wallet("B2", 100)
    with act():
        found = ledger.lock([lek, BANK, nok], currency="THB")
    ids = [balance.id for balance in found.values()]

    assert ids == sorted(ids)
    assert set(found) == {nok, lek, BANK}
