"""From any verdict to journals: they add up to nothing, and every account gets what its lines say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from casino.models import Round, RoundEvent
from casino.record import Owner, RoundRecord
from settlement import settling
from settlement.ledger import NewJournal, Posting
from settlement.models import Account, Entry, Journal, Line, Settlement
from settlement.rules import payouts
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import Verdict
from settlement.settling import postings
from settlement.settling.line_rows import account_of
from tests.rules.given import a_bet, an_act, short_round
from tests.rules.given import told as told_short
from tests.rules.test_laws import rounds, sheets
from tests.settlement import floor
from tests.settlement.books import taken_back
from tests.settlement.floor import LATER, AtTable, a_table, money

often = settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
BANK, COMMISSION = "table:PD01:bank", "table:PD01:commission"


@st.composite
def judged(draw: st.DrawFn) -> tuple[RoundRecord, HouseRules, Verdict]:
    """Any round under any sheet, chips and wallets at one table, the house or a player banking."""
    record, sheet = draw(rounds()), draw(sheets())
    with_wallet = draw(st.sets(st.sampled_from([str(seat) for seat in range(1, 17)])))
    record = replace(
        record,
        wagers=tuple(
            wager._replace(owner=Owner("account", f"player:A{wager.owner.ref}"))
            if wager.owner.ref in with_wallet
            else wager
            for wager in record.wagers
        ),
    )
    bank = draw(st.none() | st.integers(0, 400_000))
    return record, sheet, payouts.judge(record, sheet, bank=bank)


def by_account(moved: tuple[Posting, ...]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for posting in moved:
        sums[posting.account] += posting.amount
    return sums


@often
@given(judged())
def test_what_is_posted_for_a_round_adds_up_to_nothing(
    case: tuple[RoundRecord, HouseRules, Verdict],
) -> None:
    moved = postings.postings_of(case[2], table="PD01")

    assert sum(posting.amount for posting in moved) == 0
    assert all(posting.amount for posting in moved)
    assert len(moved) != 1


@often
@given(judged())
def test_every_guest_gets_the_net_of_their_lines_and_the_banker_that_of_the_bank(
    case: tuple[RoundRecord, HouseRules, Verdict],
) -> None:
    verdict = case[2]
    owed: Counter[str] = Counter()
    for line in verdict.lines:
        owed[account_of(line.owner.kind, line.owner.ref, table="PD01")] += line.net
    if verdict.bank is not None:
        owed["player:B1:wallet"] += verdict.bank.net

    moved = by_account(postings.postings_of(verdict, table="PD01"))

    assert {code: moved[code] for code in owed} == owed
    assert set(moved) - set(owed) <= {BANK, COMMISSION}


@often
@given(judged())
def test_the_houses_accounts_get_what_the_house_won(case: tuple[RoundRecord, HouseRules, Verdict]) -> None:
    verdict = case[2]

    moved = by_account(postings.postings_of(verdict, table="PD01"))

    assert moved[BANK] + moved[COMMISSION] == verdict.house_net
    taken = sum(line.commission for line in verdict.lines) + (verdict.bank.commission if verdict.bank else 0)
    assert moved[COMMISSION] == taken
    if verdict.bank is not None:
        assert (moved[BANK], verdict.house_net) == (0, taken)


@often
@given(judged())
def test_each_wager_that_moves_has_one_posting_that_names_it(
    case: tuple[RoundRecord, HouseRules, Verdict],
) -> None:
    moved = postings.postings_of(case[2], table="PD01")

    named = [(posting.wager, posting.amount) for posting in moved if posting.wager not in ("", "bank")]
    assert named == [(line.wager, line.net) for line in case[2].lines if line.net]


@often
@given(judged())
def test_a_players_money_passes_through_the_tables_bank_to_the_guests(
    case: tuple[RoundRecord, HouseRules, Verdict],
) -> None:
    """What the bank gets of the guests it hands to the banker, and no banker's money goes past it."""
    verdict = case[2]
    moved = postings.postings_of(verdict, table="PD01")
    at_the_bank = [posting for posting in moved if posting.account == BANK]

    assert sum(posting.amount for posting in at_the_bank if posting.wager == "") == -sum(
        line.gross - line.uncovered for line in verdict.lines
    )
    assert sum(posting.amount for posting in at_the_bank if posting.wager == "bank") == -(
        verdict.bank.result if verdict.bank else 0
    )


# -- what wallets cannot pay -----------------------------------------------------------------------------------

CODES = ["player:A1:wallet", "player:A2:wallet", "player:A3:wallet"]
amounts = st.integers(-1_000, 1_000)


@often
@given(
    st.lists(st.dictionaries(st.sampled_from(CODES), amounts.filter(bool), min_size=1), max_size=3),
    st.fixed_dictionaries({code: st.integers(0, 1_000) for code in CODES}),
)
def test_a_shortfall_is_exactly_what_is_missing_and_no_wallet_ends_below_what_it_may(
    moves: list[dict[str, int]], available: dict[str, int]
) -> None:
    journals = [a_journal(move) for move in moves]

    lent = postings.shortfalls(
        journals,
        available=available,
        given={},
        table="PD01",
        key="round:1:1:shortfall",
        round=uuid4(),
        currency="THB",
        gaming_day=date(2026, 3, 1),
    )

    lent_to = by_account(lent.postings) if lent else Counter()
    for code, had in available.items():
        left = had + sum(move.get(code, 0) for move in moves)
        assert lent_to[code] == max(0, -left)
    assert lent_to["suspense:shortfall:PD01"] == -sum(lent_to[code] for code in CODES)
    assert (lent is None) == (not any(lent_to.values()))


@dataclass
class Wallet:
    """One wallet and the revisions of one round: what each moved, what was lent for it."""

    balance: int
    revisions: list[tuple[int, int]] = field(default_factory=list)

    @property
    def given(self) -> dict[str, int]:
        short = [-moved - lent for moved, lent in self.revisions if lent]
        return {CODES[0]: short[-1]} if short else {}

    def revise(self, moves: int) -> None:
        """Take back the revision before and post the next, as a correction does."""
        journals = [a_journal({CODES[0]: moves})] if moves else []
        if self.revisions:
            back = [
                replace(a_journal({CODES[0]: -one}), reverses=uuid4()) for one in self.revisions[-1] if one
            ]
            journals = back + journals
        lent = postings.shortfalls(
            journals,
            available={CODES[0]: self.balance},
            given=self.given,
            table="PD01",
            key="k",
            round=uuid4(),
            currency="THB",
            gaming_day=date(2026, 3, 1),
        )
        loan = by_account(lent.postings)[CODES[0]] if lent else 0
        self.balance += loan + sum(by_account(journal.postings)[CODES[0]] for journal in journals)
        self.revisions.append((moves, loan))


@often
@given(st.integers(0, 1_000), st.lists(st.tuples(amounts, st.integers(0, 500)), min_size=1), amounts)
def test_a_correction_and_its_opposite_leave_wallet_and_loan_as_they_were(
    balance: int, before: list[tuple[int, int]], other: int
) -> None:
    """Whatever revisions came before, and whatever was paid in between them."""
    wallet = Wallet(balance)
    for moves, paid_in in before:
        wallet.revise(moves)
        assert wallet.balance >= 0
        wallet.balance += paid_in
    stood = wallet.balance, wallet.revisions[-1]

    wallet.revise(other)
    assert wallet.balance >= 0
    wallet.revise(before[-1][0])

    assert (wallet.balance, wallet.revisions[-1]) == stood


def a_journal(move: dict[str, int]) -> NewJournal:
    moved = [Posting(code, amount) for code, amount in move.items()]
    return NewJournal(
        kind="round",
        key=str(uuid4()),
        gaming_day=date(2026, 3, 1),
        currency="THB",
        postings=(*moved, Posting(BANK, -sum(move.values()))),
    )


# -- a whole evening in the books ------------------------------------------------------------------------------


@st.composite
def evenings(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A few rounds of two hands each: who bets what by chips or wallet, and the cards of a whole deck."""
    someone: list[int | str] = [1, 2, "player:A17", "player:B08"]
    deck = [rank + suit for rank in "A23456789TJQK" for suit in "CDHS"]
    played = []
    for _ in range(draw(st.integers(1, 4))):
        pack = draw(st.permutations(deck))
        bets = [
            a_bet(
                f"w{place}",
                draw(st.sampled_from(["p1", "p2"])),
                draw(st.integers(1, 50_000)),
                by=draw(st.sampled_from(someone)),
            )
            for place in range(1, draw(st.integers(1, 4)) + 1)
        ]
        played.append(
            {
                "bets": bets,
                "cards": {
                    "p1": " ".join(pack[:2]),
                    "p2": " ".join(pack[2:4]),
                    "dealer": " ".join(pack[4:6]),
                },
            }
        )
    return played


def books_are_right(table: AtTable) -> None:
    """The whole ledger adds up, accounts are the last of their entries, no wallet is below what is set aside."""
    assert sum(money().values()) == 0
    for account in Account.objects.all():
        entries = list(Entry.objects.filter(account=account).order_by("version"))
        assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
        assert account.balance == sum(entry.amount for entry in entries)
        assert account.version == len(entries)
        assert account.floor is None or account.balance - account.held >= account.floor
    effective = [
        one for one in Settlement.objects.all() if not Settlement.objects.filter(supersedes=one).exists()
    ]
    house = sum(one.house_net for one in effective)
    assert money().get(table.bank, 0) + money().get(table.commission, 0) == house
    owed = sum(Line.objects.filter(settlement__in=effective).values_list("net", flat=True))
    assert owed == -house


@pytest.mark.django_db
@settings(
    max_examples=8,
    phases=[Phase.explicit, Phase.generate],  # a failing evening is short enough to be read as it is
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(evenings(), st.integers(0, 2_000), st.integers(1, 4), st.booleans())
def test_an_evening_settled_in_any_cutting_then_corrected_and_put_back_leaves_the_same_books(
    evening: list[dict[str, Any]], baht: int, size: int, covered: bool
) -> None:
    """Wallets may be short. A correction that rules the card that lay there changes no balance; a void behind it takes
    back what its round moved, and nothing else."""
    with taken_back():
        table = a_table(commission={"rate_bp": 500})
        for ref in ("A17", "B08"):
            floor.a_wallet(ref, baht)
        ids = []
        for how in evening:
            shorts = short_round(**how)
            round_id = table.tell(told_short(shorts[:1] + list(how["bets"]))[0])
            if covered:
                floor.covered(round_id)
            rest(table, round_id, shorts[1 + len(how["bets"]) :])
            ids.append(round_id)
        with taken_back():
            floor.settled(*ids)
            whole = money()
        for start in range(0, len(ids), size):
            floor.settled(*ids[start : start + size])
        assert money() == whole
        assert floor.holds() == {}
        books_are_right(table)

        before = money()
        one = ids[0]
        card = RoundEvent.objects.filter(round=one, kind="card_dealt").order_by("seq")[0].payload
        rest(table, one, [an_act("card_ruled", **card, reason="seen again")])
        floor.corrected(one, "card_ruled")
        assert money() == before
        books_are_right(table)

        rest(table, one, [an_act("round_voided", reason="misdeal")])
        floor.corrected(one, "round_voided")
        assert Round.objects.get(pk=one).standing == "voided"
        assert {journal.reverses_id for journal in Journal.objects.exclude(reverses=None)} >= {
            key for key in (first_of(one).journal_id,) if key
        }
        books_are_right(table)


def rest(table: AtTable, round_id: UUID, shorts: list[dict[str, Any]]) -> None:
    """More events of a round, at the tablet."""
    last = floor.Device.objects.get(pk=table.devices["tablet"].pk).last_seq
    table.send(
        [
            floor.a_report(last + place, str(short["type"]), round_id, short["data"], at=LATER)
            for place, short in enumerate(shorts, 1)
        ],
        at=LATER,
    )


def first_of(round_id: UUID) -> Settlement:
    found = settling.effective(round_id)
    assert found is not None
    return Settlement.objects.get(round=round_id, revision=1)
