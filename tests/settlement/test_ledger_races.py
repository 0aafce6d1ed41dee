"""Two acts at once. Each race is first shown without the lock or the constraint that ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import Error, connection

from casino.platform.refusals import Refusal
from settlement import ledger
from settlement.ledger import NewHold, NewJournal, accounts, journals
from settlement.models import Account, Entry, Journal
from tests.database import Connection
from tests.settlement import books
from tests.settlement.books import BANK, GUESTS, a_round, a_table, a_wallet, act, journal

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 10.0


class Pause:
    """Stops the next post at the point where it has read all it reads and written nothing yet."""

    def __init__(self) -> None:
        self.reached, self.over = threading.Event(), threading.Event()
        self.armed = False

    def here(self) -> None:
        if self.armed:
            self.armed = False
            self.reached.set()
            assert self.over.wait(PATIENCE)


@pytest.fixture
def pause(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pause]:
    made = Pause()
    look = journals._posted_before

    def look_and_wait(new: Sequence[NewJournal]) -> dict[str, UUID]:
        found = look(new)
        made.here()
        return found

    monkeypatch.setattr(journals, "_posted_before", look_and_wait)
    yield made
    made.over.set()


def at_once(pause: Pause, first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """Run ``first`` up to its pause, ``second`` as far as it gets, then let go; return what each came to: its answer,
    the code of its refusal, or the name of what the database said."""
    answers: list[Any] = [None, None]

    def run(place: int, what: Callable[[], Any]) -> None:
        try:
            with act():
                answers[place] = what()
        except Refusal as refusal:
            answers[place] = refusal.code
        except Error as error:
            answers[place] = type(error).__name__
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place, what)) for place, what in enumerate((first, second))]
    pause.armed = True
    threads[0].start()
    assert pause.reached.wait(PATIENCE)
    threads[1].start()
    threads[1].join(0.5)  # by now it is through, or waits for the first
    pause.over.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    return answers


def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "FOR NO KEY UPDATE" in accounts._LOCK
    monkeypatch.setattr(accounts, "_LOCK", accounts._LOCK.replace("FOR NO KEY UPDATE", ""))


def moves_of(code: str) -> list[int]:
    entries = Entry.objects.filter(account__code=code).order_by("version")
    return list(entries.values_list("amount", flat=True))


def two_rounds_at_one_table(pause: Pause) -> list[Any]:
    a_table()
    books.post(journal("round", {GUESTS: -1, BANK: 1}))
    return at_once(
        pause,
        lambda: len(ledger.post([journal("round", {GUESTS: -100, BANK: 100})])),
        lambda: len(ledger.post([journal("round", {GUESTS: -20, BANK: 20})])),
    )


def test_control_without_the_lock_one_of_two_rounds_is_not_posted(
    pause: Pause, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_locks(monkeypatch)

    assert two_rounds_at_one_table(pause) == ["IntegrityError", 1]
    assert moves_of(BANK) == [1, 20]


def test_two_rounds_at_one_table_wait_for_each_other_and_both_count(pause: Pause) -> None:
    assert two_rounds_at_one_table(pause) == [1, 1]
    assert moves_of(BANK) == [1, 100, 20]
    assert books.balances(BANK) == {BANK: 121}


def a_withdrawal_while_a_bet_is_covered(pause: Pause) -> tuple[list[Any], int, int]:
    """1,000 in the wallet: 600 are taken out while 500 are set aside. Return the answers, the balance, what is held."""
    a_table()
    nok, round = a_wallet("A17", 1_000), a_round()
    answers = at_once(
        pause,
        lambda: len(ledger.post([journal("withdrawal", {nok: -600, "external:cash:C1": 600})])),
        lambda: [one and one.amount for one in ledger.hold([NewHold(nok, round, "w1", 500)], currency="THB")],
    )
    account = Account.objects.get(code=nok)
    return answers, account.balance, account.held


def test_control_without_the_lock_money_set_aside_is_forgotten(
    pause: Pause, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_locks(monkeypatch)

    assert a_withdrawal_while_a_bet_is_covered(pause) == ([1, [500]], 400, 0)


def test_a_bet_is_covered_with_what_the_withdrawal_left(pause: Pause) -> None:
    assert a_withdrawal_while_a_bet_is_covered(pause) == ([1, [None]], 400, 0)


def one_key_at_two_tables(pause: Pause) -> list[Any]:
    """The accounts differ, so no lock holds the second back: it has looked for the key before the first commits."""
    a_table()
    a_table("PD02")
    with act():
        ledger.ensure_accounts([BANK, GUESTS, "table:PD02:bank", "table:PD02:guests"], currency="THB")
    return at_once(
        pause,
        lambda: len(ledger.post([journal("fill", {GUESTS: -100, BANK: 100}, key="K")])),
        lambda: len(
            ledger.post([journal("fill", {"table:PD02:guests": -100, "table:PD02:bank": 100}, key="K")])
        ),
    )


def test_control_without_the_constraint_one_key_moves_money_twice(pause: Pause, owner: Connection) -> None:
    owner.execute("ALTER TABLE settlement_journal DROP CONSTRAINT journal_key_once")

    assert one_key_at_two_tables(pause) == [1, 1]
    assert Journal.objects.filter(key="K").count() == 2


def test_one_key_moves_money_once_and_is_refused_for_anything_else(pause: Pause) -> None:
    assert one_key_at_two_tables(pause) == ["idempotency_key_reused", 1]
    assert Journal.objects.filter(key="K").count() == 1
    assert books.balances(BANK, "table:PD02:bank") == {BANK: 0, "table:PD02:bank": 100}


def test_the_same_act_twice_at_once_has_one_effect_and_one_answer(pause: Pause) -> None:
    a_table()
    same = journal("fill", {GUESTS: -100, BANK: 100}, key="K")
    first, second = at_once(pause, lambda: ledger.post([same]), lambda: ledger.post([same]))

    assert first == second == [Journal.objects.get().id]
    assert moves_of(BANK) == [100]


def test_two_acts_that_need_the_same_new_account_make_it_once(pause: Pause) -> None:
    a_table()
    a_table("PD02")
    answers = at_once(
        pause,
        lambda: len(ledger.post([journal("fill", {"cage:C1:vault": -100, BANK: 100})])),
        lambda: len(ledger.post([journal("fill", {"cage:C1:vault": -20, "table:PD02:bank": 20})])),
    )

    assert answers == [1, 1]
    assert books.balances("cage:C1:vault") == {"cage:C1:vault": -120}


def test_a_day_is_not_sealed_while_an_act_posts_into_it(owner: Connection) -> None:
    ask = f"SELECT pg_try_advisory_xact_lock({accounts.DAYS_LOCK}, %s)"
    today = books.TODAY.toordinal()
    with act():
        ledger.share_day([books.TODAY])
        assert owner.execute(ask, [today]).fetchone() == (False,)
        assert owner.execute(ask, [today + 1]).fetchone() == (True,)
    assert owner.execute(ask, [today]).fetchone() == (True,)
