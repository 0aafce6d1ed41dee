"""The ledger beside a dictionary of integers: whatever is done, in whatever order, both say the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from casino.platform.refusals import Refusal
from settlement import ledger
from settlement.ledger import NewHold, NewJournal
from tests.settlement import books
from tests.settlement.books import BANK, GUESTS, TODAY, a_round, a_table, act, journal

NOK, LEK = "player:A17:wallet", "player:B2:wallet"
CASH = "external:cash:C1"
ACCOUNTS = (NOK, LEK, BANK, GUESTS, CASH)
WALLETS = (NOK, LEK)

amounts = st.integers(1, 1_000)
wallets = st.sampled_from(WALLETS)


@dataclass
class Model:
    """What the ledger should say, kept by somebody who only adds and subtracts."""

    balances: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ACCOUNTS, 0))
    entries: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ACCOUNTS, 0))
    held: dict[UUID, tuple[str, int]] = field(default_factory=dict)
    posted: dict[str, tuple[NewJournal, UUID]] = field(default_factory=dict)
    reversed: set[UUID] = field(default_factory=set)

    def set_aside(self, code: str) -> int:
        return sum(amount for account, amount in self.held.values() if account == code)

    def after(self, journals: list[NewJournal], *, ending: tuple[UUID, ...] = ()) -> dict[str, int] | None:
        """The balances behind these journals; None if a wallet would end below what stays set aside."""
        balances = dict(self.balances)
        for one in journals:
            for posting in one.postings:
                balances[posting.account] += posting.amount
        for code in WALLETS:
            staying = sum(a for id, (c, a) in self.held.items() if c == code and id not in ending)
            if balances[code] < staying:
                return None
        return balances


class LedgerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.number = 0
        self.night = books.taken_back()
        self.night.__enter__()

    def teardown(self) -> None:
        self.night.__exit__(None, None, None)

    @initialize(nok=amounts, lek=amounts)
    def open_wallets(self, nok: int, lek: int) -> None:
        a_table()
        self.round = a_round()
        with act():
            ledger.ensure_accounts(ACCOUNTS, currency="THB")
        self._post(
            [
                self._journal("deposit", {CASH: -nok, NOK: nok}),
                self._journal("deposit", {CASH: -lek, LEK: lek}),
            ]
        )

    def _journal(self, kind: str, moves: dict[str, int]) -> NewJournal:
        self.number += 1
        return journal(kind, moves, key=f"act:{self.number}", round=self.round if kind == "round" else None)

    def _post(self, journals: list[NewJournal], *, ending: tuple[UUID, ...] = ()) -> None:
        """Post, and expect exactly what adding and subtracting says: all of it, or a refusal and nothing."""
        expected = self.model.after(journals, ending=ending)
        try:
            with act():
                ids = ledger.post(journals, release=dict.fromkeys(ending, "settled"))
        except Refusal as refusal:
            assert (refusal.code, expected) == ("insufficient_funds", None)  # noqa: PT017 - or no refusal at all
            return
        assert expected is not None
        self.model.balances = expected
        for id in ending:
            self.model.held.pop(id, None)
        for one, id in zip(journals, ids, strict=True):
            self.model.posted[one.key] = one, id
            for posting in one.postings:
                self.model.entries[posting.account] += 1
            if one.reverses is not None:
                self.model.reversed.add(one.reverses)

    @rule(
        wallet=wallets, taken=st.integers(-600, 600).filter(bool), chips=st.integers(-600, 600).filter(bool)
    )
    def settle_a_round(self, wallet: str, taken: int, chips: int) -> None:
        moves = {wallet: -taken, GUESTS: -chips}
        if taken + chips:
            moves[BANK] = taken + chips
        self._post([self._journal("round", moves)])

    @rule(wallet=wallets, amount=amounts)
    def withdraw(self, wallet: str, amount: int) -> None:
        self._post([self._journal("withdrawal", {wallet: -amount, CASH: amount})])

    @rule(first=amounts, second=amounts)
    def post_two_that_lean_on_each_other(self, first: int, second: int) -> None:
        """What the wallet cannot pay yet it may have got by the end."""
        self._post(
            [
                self._journal("round", {NOK: -first, BANK: first}),
                self._journal("deposit", {CASH: -second, NOK: second}),
            ]
        )

    @rule(wallet=wallets, amount=amounts)
    def set_aside(self, wallet: str, amount: int) -> None:
        self.number += 1
        with act():
            (one,) = ledger.hold([NewHold(wallet, self.round, f"w{self.number}", amount)], currency="THB")
        fits = self.model.balances[wallet] - self.model.set_aside(wallet) >= amount
        assert (one is not None) == fits
        if one is not None:
            self.model.held[one.id] = wallet, amount

    @precondition(lambda self: self.model.held)
    @rule(data=st.data())
    def settle_what_was_set_aside(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.model.held)))
        wallet, amount = self.model.held[id]
        lost = data.draw(st.integers(1, amount + 50))
        self._post([self._journal("round", {wallet: -lost, BANK: lost})], ending=(id,))

    @precondition(lambda self: self.model.held)
    @rule(data=st.data(), more=st.integers(-300, 300))
    def change_what_is_set_aside(self, data: st.DataObject, more: int) -> None:
        id = data.draw(st.sampled_from(list(self.model.held)))
        wallet, amount = self.model.held.pop(id)
        wanted = max(1, amount + more)
        self.number += 1
        with act():
            (one,) = ledger.hold(
                [NewHold(wallet, self.round, f"w{self.number}", wanted)], currency="THB", change=[id]
            )
        assert (one is not None) == (self.model.balances[wallet] - self.model.set_aside(wallet) >= wanted)
        if one is not None:
            self.model.held[one.id] = wallet, wanted

    @precondition(lambda self: self.model.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.model.held)))
        with act():
            ledger.end_holds([id, id], outcome="released")
        del self.model.held[id]

    @precondition(lambda self: self.model.posted)
    @rule(data=st.data())
    def do_the_same_again(self, data: st.DataObject) -> None:
        one, id = data.draw(st.sampled_from(list(self.model.posted.values())))
        with act():
            assert ledger.post([one]) == [id]

    @precondition(lambda self: self.model.posted)
    @rule(data=st.data())
    def use_a_key_for_something_else(self, data: st.DataObject) -> None:
        one, _ = data.draw(st.sampled_from(list(self.model.posted.values())))
        other = journal("fill", {CASH: -1_001, BANK: 1_001}, key=one.key)
        with pytest.raises(Refusal, match="idempotency_key_reused"), act():
            ledger.post([other])

    @precondition(lambda self: self._reversible())
    @rule(data=st.data())
    def take_back(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(self._reversible()))
        with act():
            back = ledger.reversal_of([id], gaming_day=TODAY)
        self._post(back)

    def _reversible(self) -> list[UUID]:
        return [
            id
            for one, id in self.model.posted.values()
            if one.kind == "round" and id not in self.model.reversed
        ]

    @invariant()
    def both_say_the_same(self) -> None:
        found = ledger.balances(ACCOUNTS)
        if not found:
            return
        assert {code: balance.balance for code, balance in found.items()} == self.model.balances
        assert {code: balance.held for code, balance in found.items()} == {
            code: self.model.set_aside(code) for code in ACCOUNTS
        }
        assert {code: balance.version for code, balance in found.items()} == self.model.entries
        assert sum(balance.balance for balance in found.values()) == 0
        assert all(found[code].available >= 0 for code in WALLETS)

    @invariant()
    def versions_run_without_a_gap_and_balances_are_running_sums(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                """
                SELECT account_id FROM (
                    SELECT account_id, version, balance_after, row_number() OVER account AS place,
                           sum(amount) OVER account AS running
                    FROM settlement_entry WINDOW account AS (PARTITION BY account_id ORDER BY version)
                ) e WHERE version <> place OR balance_after <> running
                """
            )
            assert cursor.fetchall() == []


@pytest.mark.django_db
def test_the_ledger_does_what_adding_and_subtracting_does() -> None:
    run_state_machine_as_test(
        LedgerMachine,
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.django_db
def test_any_cutting_of_the_same_rounds_into_batches_gives_the_same_books() -> None:
    a_table()
    books.a_wallet("A17", 10_000)
    rounds = [
        [(NOK, 7 * n - 60, "w1"), (BANK, 60 - 7 * n, "w1"), (GUESTS, 13 - n, "w2"), (BANK, n - 13, "w2")]
        for n in range(12)
    ]

    def statement(size: int) -> list[tuple[str, int, int, int]]:
        with books.taken_back():
            for first in range(0, len(rounds), size):
                books.post(*(journal("round", moves) for moves in rounds[first : first + size]))
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT a.code, e.version, e.amount, e.balance_after FROM settlement_entry e"
                    " JOIN settlement_account a ON a.id = e.account_id ORDER BY a.code, e.version"
                )
                return cursor.fetchall()

    assert statement(1) == statement(5) == statement(12)
    assert len(statement(5)) == 2 + 4 * 12
