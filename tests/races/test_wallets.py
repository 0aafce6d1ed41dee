"""One wallet, many hands: paid in, paid out, covered and settled at once, and never below zero."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from casino.models import Round
from settlement import cashier, settling
from settlement.models import Account, CashAct, Entry, Hold, Journal
from tests.database import Connection
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement.floor import AtTable, a_table, a_wallet, money

pytestmark = pytest.mark.django_db(transaction=True)

WALLET = "player:A17:wallet"
UNLOCKED = Unlocked(("settlement_account",))
LOSES = "\nlock\np1 3S 4D\ndealer KC 8D\nclose"
"""7 against a pok of 8."""


def paid_out(amount: int, key: str) -> Callable[[], Any]:
    def do() -> int:
        taken = cashier.withdraw(ref="A17", amount=amount, cage="C1", document="D", key=key)
        return taken.account.balance

    return act(do)


def paid_in(amount: int, key: str) -> Callable[[], Any]:
    def do() -> int:
        return cashier.deposit(ref="A17", amount=amount, cage="C1", document="D", key=key).account.balance

    return act(do)


def covered(round_id: UUID) -> Callable[[], Any]:
    return act(lambda: len(settling.cover(round_id).covered))


def settled(round_id: UUID) -> Callable[[], Any]:
    return act(lambda: settling.settle_rounds([round_id])[0].outcome)


# -- two withdrawals of one wallet -------------------------------------------------------------------------


def two_withdrawals(*, unlocked: Unlocked | None) -> list[Any]:
    """600 baht each out of 1,000. The first has read the wallet when the second begins."""
    a_wallet("A17", 1_000)
    first, second = paid_out(600_00, "one"), paid_out(600_00, "two")
    return together.at_once(first, second, behind="settlement_journal j WHERE j.key = ANY", unlocked=unlocked)


def test_control_without_lock_and_constraints_the_cage_pays_out_more_than_there_was(
    owner: Connection,
) -> None:
    """Both are paid; what the wallet's row says is what the last of them wrote."""
    owner.execute("ALTER TABLE settlement_entry DROP CONSTRAINT entry_version_once")
    owner.execute("ALTER TABLE settlement_account DROP CONSTRAINT account_never_below_its_floor")

    assert two_withdrawals(unlocked=UNLOCKED) == [400_00, 400_00]

    assert CashAct.objects.filter(kind="withdrawal").count() == 2
    assert sum(Entry.objects.filter(account__code=WALLET).values_list("amount", flat=True)) == -200_00


def test_without_the_lock_the_database_stops_the_second_by_itself() -> None:
    assert sorted(map(str, two_withdrawals(unlocked=UNLOCKED))) == ["40000", "IntegrityError"]
    assert money()[WALLET] == 400_00


def test_of_two_withdrawals_at_once_one_is_paid_and_the_other_is_told_what_is_left() -> None:
    assert two_withdrawals(unlocked=None) == [400_00, "insufficient_funds"]
    assert money()[WALLET] == 400_00


# -- a withdrawal against a cover --------------------------------------------------------------------------


def cover_against_withdrawal(*, unlocked: Unlocked | None) -> list[Any]:
    """A wallet of 500 is asked for 500 before the cards, and for 100 at the cage."""
    a_wallet("A17", 500)
    round_id = a_table().tell("bet w1 p1 100 account=player:A17")
    cover, withdrawal = covered(round_id), paid_out(100_00, "one")
    return together.at_once(
        withdrawal, cover, behind="settlement_journal j WHERE j.key = ANY", unlocked=unlocked
    )


def test_control_without_lock_and_constraint_the_same_money_is_set_aside_and_paid_out(
    owner: Connection,
) -> None:
    owner.execute("ALTER TABLE settlement_account DROP CONSTRAINT account_never_below_its_floor")

    assert cover_against_withdrawal(unlocked=UNLOCKED) == [400_00, 1]

    assert (money()[WALLET], sum(Hold.objects.values_list("amount", flat=True))) == (400_00, 500_00)


def test_what_is_paid_out_covers_nothing() -> None:
    assert cover_against_withdrawal(unlocked=None) == [400_00, 0]
    assert not Hold.objects.exists()


# -- any interleaving --------------------------------------------------------------------------------------


def a_nights_work(chance: random.Random, tables: list[AtTable], number: int) -> Callable[[], Any]:
    """What one hand does: a few acts on the wallet, one after the other; return what each came to."""
    table = tables[number]
    rounds = [
        table.tell(f"bet w1 p1 {chance.choice((10, 40, 100))} account=player:A17" + (LOSES if played else ""))
        for played in (True, False, True)
    ]
    acts: list[Callable[[], Any]] = []
    for place in range(6):
        move, most = chance.choice(((paid_in, 200_00), (paid_out, 900_00)))
        acts += [
            move(chance.randrange(1_00, most), f"{number}:{place}"),
            covered(chance.choice(rounds)),
            settled(chance.choice(rounds[::2])),
        ]
    chance.shuffle(acts)
    return lambda: [together._answer(do) for do in acts]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_wallet_never_falls_below_zero_at_any_interleaving(seed: int, owner: Connection) -> None:
    """Four hands at once. Whatever was committed, in whichever order: no balance below what is set aside, each act
    once, and the wallet is the sum of its entries."""
    chance = random.Random(seed)
    a_wallet("A17", 600)
    tables = [a_table(f"PD0{number}") for number in range(4)]
    watch(owner)

    answers = together.all_at_once([a_nights_work(chance, tables, number) for number in range(4)])

    told = [answer for hand in answers for answer in hand]
    assert len(told) == 4 * 18
    foreseen = {"insufficient_funds", "round_finished", "round_not_opened", "settled", "waiting", "held"}
    assert {one for one in told if isinstance(one, str)} <= foreseen
    assert {"insufficient_funds", "settled"} <= {one for one in told if isinstance(one, str)}

    wallet = Account.objects.get(code=WALLET)
    entries = Entry.objects.filter(account=wallet).order_by("version")
    moved = list(entries.values_list("amount", flat=True))
    sums = list(itertools.accumulate(moved))
    assert list(entries.values_list("version", "balance_after")) == list(enumerate(sums, 1))
    assert min(sums) >= 0
    total = sums[-1]
    assert wallet.balance == total
    assert wallet.held == sum(
        Hold.objects.filter(account=wallet, ended_at=None).values_list("amount", flat=True)
    )
    assert owner.execute("SELECT count(*) > 20, min(balance - held) >= 0 FROM seen").fetchone() == (
        True,
        True,
    )
    cash = CashAct.objects.count()
    assert cash == Journal.objects.filter(kind__in=["deposit", "withdrawal"]).count()
    assert Round.objects.filter(standing="settled").exists()


def watch(owner: Connection) -> None:
    """Write down every state that the wallet's row is ever given."""
    owner.execute("CREATE TABLE seen (balance bigint, held bigint)")
    owner.execute("GRANT INSERT ON seen TO pokdeng_app")
    owner.execute(
        f"CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen"
        f" SELECT NEW.balance, NEW.held WHERE NEW.code = '{WALLET}'; RETURN NULL; END $$"
    )
    owner.execute(
        "CREATE TRIGGER seen AFTER UPDATE ON settlement_account FOR EACH ROW EXECUTE FUNCTION public.seen()"
    )
