"""What the cage pays for a table never left its tray: pay slips in the rundown, at the close and after it."""

from __future__ import annotations

import random
import re
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from audit import controls as checks
from settlement import ledger, table_floats
from settlement.models import Account, Break, CashAct, Entry, Float, PaySlip
from settlement.table_floats.rundown import Stretch
from tests.settlement import floor
from tests.settlement.floor import LATER, NOW, AtTable, act, corrected
from tests.settlement.papers import a_claim, paid, voided
from tests.settlement.test_rundown import a_table, box_counted
from tests.world import counted

pytestmark = pytest.mark.django_db

TODAY = date(2026, 3, 1)
BANK, GUESTS, SLIPS, CLEARING = (
    "table:PD01:bank",
    "table:PD01:guests",
    "suspense:slips:PD01",
    "suspense:clearing:PD01",
)
VAULT, CASH, CHIPS = "cage:C1:vault", "external:cash:C1", "suspense:chips:PD01"
WON_475 = """
    bet w1 p1 475
    lock
    p1 3S 4D
    dealer KC 6D
    p1 stays
    dealer stays
    close
"""
"""7 against the dealer's 6: + 475 baht."""
DOUBLE = "rule p1.2 4S"
"""Found afterwards: the guest's cards are of one suit (+950)."""


def won(at: AtTable, *, now: datetime = NOW) -> UUID:
    round = at.tell(WON_475, at=now)
    assert floor.outcome(round, now=now + timedelta(seconds=5)) == "settled"
    return round


def settled_anew(at: AtTable, round: UUID, ruling: str, *, now: datetime = LATER) -> None:
    """Settle a round anew by what a supervisor on duty ruled, now or (no ``ruling``) before."""
    if ruling:
        at.tell(ruling, round=round, at=LATER)
    corrected(round, now=now)


def baht(amount: int) -> dict[int, int]:
    """So many baht in chips of 25."""
    return {25_00: amount // 25}


def closed(
    at: AtTable,
    closer: int,
    *,
    last_round: int,
    now: datetime = NOW + timedelta(hours=2),
    cage: str = "C1",
) -> table_floats.Closed:
    with act(now=now):
        counted(at.table, "closer", at.dealer, at.supervisor, pieces=baht(closer))
        return table_floats.close_table(table=at.table, last_round=last_round, cage=cage)


def hold(*codes: str) -> list[int]:
    """What the accounts hold, in whole baht."""
    found = ledger.balances(codes)
    return [found[code].balance // 100 if code in found else 0 for code in codes]


def opened_again(at: AtTable, opener: int, *, now: datetime, cage: str = "C1") -> None:
    with act(now=now):
        counted(at.table, "opener", at.dealer, at.supervisor, pieces=baht(opener))
        at.session = table_floats.open_table(
            table=at.table, dealer=at.dealer, supervisor=at.supervisor, cage=cage
        )
    at.told.clear()


def both_roads(stretch: Stretch, *, win: int, tray: int, variance: int = 0) -> None:
    """Win by what was counted, and by what the lines say with every difference that was posted."""
    found, figures = stretch.rundown, stretch.rundown.figures
    assert (found.formula, found.unknown) == (2, {"hold_rate_bp": "no_drop"})
    assert (found.expected_tray, found.variance, found.win) == (tray * 100, variance * 100, win * 100)
    assert figures.drop is not None
    assert (
        figures.tray_win + figures.counted_off + variance * 100 + figures.drop - figures.buy_ins == win * 100
    )


# -- the example of the book -------------------------------------------------------------------------------


def test_a_guest_who_wins_475_by_slip_costs_the_house_475_and_leaves_the_tray_whole() -> None:
    """Opener 60,000, closer 60,000: win −475, expected tray 60,000, variance 0; every posting on the way."""
    at = a_table(opener=60_000)
    round = won(at)
    assert hold(BANK, GUESTS) == [59_525, 475]
    claim = a_claim(at, round)
    assert hold(BANK, GUESTS, SLIPS) == [59_525, 0, 475]
    paid(claim)
    assert hold(VAULT, SLIPS, CLEARING, CASH) == [-60_000 - 475, 0, 475, 475]

    closer = closed(at, 60_000, last_round=1).float
    box_counted(at, 0)

    assert (closer.expected, closer.variance) == (60_000_00, None)
    assert closer.slip_clearing is not None
    assert list(closer.slip_clearing.entries.order_by("ordinal").values_list("account__code", "amount")) == [
        (CLEARING, -475_00),
        (BANK, 475_00),
    ]
    assert closer.slip_clearing.kind == "slip_clearing"
    assert hold(BANK, GUESTS, SLIPS, CLEARING, CHIPS) == [0, 0, 0, 0, 0]
    assert hold(VAULT, CASH) == [-475, 475]
    for stretch in (
        table_floats.rundown.of_session(at.session.id),
        *table_floats.rundown.of_day(at.table, TODAY).stretches,
    ):
        both_roads(stretch, win=-475, tray=60_000)
        assert (stretch.rundown.figures.slips, stretch.rundown.figures.pays) == (475_00, 475_00)
        assert stretch.rundown.estimated_win == -475_00
    assert not Break.objects.exists()


def test_a_payment_posts_what_the_cage_paid_for_the_table_and_nothing_else() -> None:
    at = a_table(opener=60_000)
    done = paid(a_claim(at, won(at))).pay_slip
    entries = Entry.objects.filter(journal=done.payment_journal_id).order_by("ordinal")
    assert list(entries.values_list("account__code", "amount", "wager")) == [
        (SLIPS, -475_00, "w1"),
        (CLEARING, 475_00, "w1"),
        (VAULT, -475_00, "w1"),
        (CASH, 475_00, "w1"),
    ]


def test_before_the_close_the_tray_is_expected_to_hold_what_no_slip_took_from_it() -> None:
    at = a_table(opener=60_000)
    a_claim(at, won(at))
    with act(now=NOW + timedelta(hours=1)):
        counted(at.table, "shift", at.dealer, at.supervisor, pieces=baht(60_000))

    shift = Float.objects.get(kind="shift")
    assert (shift.expected, shift.variance, shift.slip_clearing) == (60_000_00, None, None)
    assert hold(BANK, SLIPS) == [59_525, 475]


# -- paid or voided when the table is closed ---------------------------------------------------------------


def test_a_slip_that_is_paid_after_the_close_stands_in_clearing_until_then() -> None:
    at = a_table(opener=60_000)
    claim = a_claim(at, won(at))
    closed(at, 60_000, last_round=1)
    box_counted(at, 0)
    assert hold(BANK, SLIPS, CLEARING) == [0, 475, -475]

    paid(claim, now=NOW + timedelta(hours=4))

    assert hold(BANK, SLIPS, CLEARING, VAULT) == [0, 0, 0, -475]
    both_roads(table_floats.rundown.of_session(at.session.id), win=-475, tray=60_000)


def test_a_slip_that_is_voided_after_the_close_is_brought_back_and_counts_in_the_next_session() -> None:
    """The table paid after all, 475 in chips of the next opener."""
    at = a_table(opener=60_000)
    claim = a_claim(at, won(at))
    closed(at, 60_000, last_round=1)
    box_counted(at, 0)
    first = at.session
    voided(at, claim, now=NOW + timedelta(hours=4), paid_in_chips=True)

    claim.refresh_from_db()
    assert claim.void_clearing is not None
    assert list(claim.void_clearing.entries.order_by("ordinal").values_list("account__code", "amount")) == [
        (BANK, -475_00),
        (CLEARING, 475_00),
    ]
    assert hold(BANK, GUESTS, SLIPS, CLEARING) == [-475, 475, 0, 0]

    opened_again(at, 60_000, now=NOW + timedelta(hours=5))
    closer = closed(at, 59_525, last_round=0, now=NOW + timedelta(hours=6)).float
    box_counted(at, 0, now=NOW + timedelta(hours=7))

    assert (closer.expected, closer.variance, closer.slip_clearing) == (59_525_00, None, None)
    both_roads(table_floats.rundown.of_session(first.id), win=-475, tray=60_000)
    second = table_floats.rundown.of_session(at.session.id)
    both_roads(second, win=0, tray=59_525)
    assert second.rundown.figures.slips == -475_00
    assert hold(BANK, GUESTS, SLIPS, CLEARING) == [0, 0, 0, 0]


def test_a_slip_issued_while_the_table_is_closed_counts_in_its_next_session() -> None:
    at = a_table(opener=60_000)
    round = won(at)
    at.tell(DOUBLE, round=round, at=LATER)
    closed(at, 59_525, last_round=1)
    box_counted(at, 0)
    first = at.session
    settled_anew(at, round, "", now=NOW + timedelta(hours=4))
    claim = a_claim(at, round, now=NOW + timedelta(hours=4))
    assert (claim.settled_before, claim.amount) == (475_00, 475_00)

    opened_again(at, 60_000, now=NOW + timedelta(hours=5))
    paid(claim, now=NOW + timedelta(hours=5))
    closer = closed(at, 60_000, last_round=0, now=NOW + timedelta(hours=6)).float
    box_counted(at, 0, now=NOW + timedelta(hours=7))

    assert (closer.expected, closer.variance) == (60_000_00, None)
    both_roads(table_floats.rundown.of_session(first.id), win=-475, tray=59_525)
    second = table_floats.rundown.of_session(at.session.id)
    both_roads(second, win=-475, tray=60_000)
    assert (second.rundown.figures.slips, second.rundown.figures.corrections) == (475_00, -475_00)
    assert hold(BANK, SLIPS, CLEARING) == [0, 0, 0]


def test_a_float_locked_on_its_table_is_expected_as_it_was_left_whatever_was_ruled_meanwhile() -> None:
    at = a_table(opener=60_000)
    round = won(at)
    at.tell(DOUBLE, round=round, at=LATER)
    closed(at, 59_525, last_round=1, cage="")
    box_counted(at, 0)
    settled_anew(at, round, "", now=NOW + timedelta(hours=4))
    paid(a_claim(at, round, now=NOW + timedelta(hours=4)), now=NOW + timedelta(hours=4))

    opened_again(at, 59_525, now=NOW + timedelta(hours=5), cage="")
    opener = Float.objects.get(session=at.session)
    assert (opener.expected, opener.variance) == (59_525_00, None)
    closer = closed(at, 59_525, last_round=0, now=NOW + timedelta(hours=6)).float
    box_counted(at, 0, now=NOW + timedelta(hours=7))

    assert (closer.expected, closer.variance) == (59_525_00, None)
    both_roads(table_floats.rundown.of_session(at.session.id), win=-475, tray=59_525)
    assert not Break.objects.filter(code="COUNT_VARIANCE").exists()


# -- settled anew --------------------------------------------------------------------------------------------


def test_a_later_revision_takes_back_what_was_not_paid_in_its_own_act() -> None:
    at = a_table(opener=60_000)
    round = won(at)
    claim = a_claim(at, round)
    settled_anew(at, round, DOUBLE)

    claim.refresh_from_db()
    assert (claim.state, claim.voided_by, claim.void_reason, claim.void_in_chips) == ("void", None, "", False)
    assert claim.superseded_by is not None
    assert (claim.superseded_by.revision, claim.superseded_by.settled_at) == (2, claim.voided_at)
    assert hold(BANK, GUESTS, SLIPS) == [60_000 - 950, 950, 0]
    anew = a_claim(at, round, now=LATER)
    assert (anew.settled_before, anew.amount) == (0, 950_00)


def test_a_paid_slip_stays_and_the_next_is_for_the_difference() -> None:
    at = a_table(opener=60_000)
    round = won(at)
    paid(a_claim(at, round))
    settled_anew(at, round, DOUBLE)

    anew = a_claim(at, round, now=LATER)
    assert (anew.settled_before, anew.amount) == (475_00, 475_00)
    paid(anew, now=LATER)
    closer = closed(at, 60_000, last_round=1).float
    box_counted(at, 0)

    assert (closer.expected, closer.variance) == (60_000_00, None)
    both_roads(table_floats.rundown.of_session(at.session.id), win=-950, tray=60_000)
    assert hold(BANK, GUESTS, SLIPS, CLEARING, VAULT) == [0, 0, 0, 0, -950]


# -- an act of cash ------------------------------------------------------------------------------------------


def test_a_payment_is_an_act_of_cash_that_the_report_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.conf import settings

    from settlement.cashier import cash_report

    monkeypatch.setattr(settings, "CASH", settings.CASH | {"report": 474_99, "log": 475_00})
    at = a_table(opener=60_000)
    claim = a_claim(at, won(at))
    with pytest.raises(Exception, match="person_needed"):
        paid(claim)
    done = paid(claim, person="P-77").pay_slip

    (cash,) = CashAct.objects.all()
    assert (cash.kind, cash.direction, cash.means, cash.person, cash.amount) == (
        "pay_slip_paid", "out", "cash", "P-77", 475_00,
    )  # fmt: skip
    assert (cash.cage, cash.document, cash.lines, cash.acted_by) == (
        "C1", "PAY-2026-000001", [], done.paid_by,
    )  # fmt: skip
    assert cash.journal_id == done.payment_journal_id
    assert [(one.person, one.direction, one.amount) for one in cash_report.due(TODAY)] == [
        ("P-77", "out", 475_00)
    ]
    assert [row.kind for row in cash_report.running_log(TODAY)] == ["pay_slip_paid"]


# -- a house that had days before ----------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_days_fixed_before_the_formula_keep_theirs(owner: Any) -> None:
    """The surplus of 475 that the old formula leaves stays where it is; the next day counts by the new one."""
    owner.execute("INSERT INTO settlement_formuladate (version, from_day) VALUES (2, '2026-03-02')")
    owner.commit()
    at = a_table(opener=60_000)
    claim = a_claim(at, won(at))
    paid(claim)
    closer = closed(at, 60_000, last_round=1).float
    box_counted(at, 0)

    found = table_floats.rundown.of_session(at.session.id).rundown
    assert (found.formula, found.figures.slips, found.win, found.variance) == (1, 0, 0, 475_00)
    assert (closer.expected, closer.slip_clearing) == (59_525_00, None)
    assert hold(SLIPS, CLEARING, VAULT, CASH) == [0, 0, 0, 475]

    tomorrow = NOW + timedelta(days=1)
    opened_again(at, 60_000, now=tomorrow)
    round = won(at, now=tomorrow + timedelta(hours=1))
    paid(a_claim(at, round, now=tomorrow + timedelta(hours=1)), now=tomorrow + timedelta(hours=1))
    closer = closed(at, 60_000, last_round=1, now=tomorrow + timedelta(hours=2)).float
    box_counted(at, 0, now=tomorrow + timedelta(hours=3))
    assert closer.expected == 60_000_00
    both_roads(table_floats.rundown.of_session(at.session.id), win=-475, tray=60_000)


# -- whatever happens ----------------------------------------------------------------------------------------


class Evening:
    """A table at which every win is claimed. What its tray holds is worked out by what really moved it, never from the
    books."""

    def __init__(self, *, seed: int) -> None:
        self.chance = random.Random(seed)
        self.at = a_table(opener=60_000)
        self.now, self.tray, self.is_open = NOW, 60_000, True
        self.sessions: list[UUID] = []

    def goes_on(self) -> None:
        """Something happens, five minutes later."""
        self.now += timedelta(minutes=5)
        in_force = list(PaySlip.objects.filter(state="issued"))
        what = self.chance.choice([self.plays, self.plays, self.plays, self.pays, self.voids, self.turns])
        what(in_force)

    def plays(self, _: list[PaySlip]) -> None:
        if self.is_open:
            round = won(self.at, now=self.now)
            paid_at_once = self.chance.random() < 0.3
            if paid_at_once:
                # 475 were paid in chips before it was found that twice as much is due.
                self.tray -= 475
                self.at.tell(DOUBLE, round=round, at=self.now + timedelta(seconds=5))
                corrected(round, now=self.now + timedelta(seconds=5))
            a_claim(self.at, round, now=self.now + timedelta(seconds=6))
            if not paid_at_once and self.chance.random() < 0.5:
                self.is_ruled_again(round)

    def is_ruled_again(self, round: UUID) -> None:
        """What was claimed and not paid is taken back, and claimed anew."""
        at = self.now + timedelta(seconds=7)
        self.at.tell(DOUBLE, round=round, at=at)
        corrected(round, now=at)
        a_claim(self.at, round, now=self.now + timedelta(seconds=8))

    def pays(self, in_force: list[PaySlip]) -> None:
        if in_force:
            paid(self.chance.choice(in_force), now=self.now)

    def voids(self, in_force: list[PaySlip]) -> None:
        """The table pays after all, or the paper is lost and written anew."""
        if in_force:
            slip = self.chance.choice(in_force)
            in_chips = self.is_open and self.chance.random() < 0.5
            voided(self.at, slip, now=self.now, paid_in_chips=in_chips)
            self.tray -= slip.amount // 100 if in_chips else 0
            if not in_chips:
                a_claim(self.at, slip.round_id, now=self.now + timedelta(seconds=1))

    def turns(self, _: list[PaySlip]) -> None:
        if not self.is_open:
            opened_again(self.at, self.tray, now=self.now)
        else:
            self.sessions.append(self.at.session.id)
            shut = closed(self.at, self.tray, last_round=len(self.at.told), now=self.now)
            assert (shut.float.expected, shut.float.variance) == (self.tray * 100, None)
            box_counted(self.at, 0, now=self.now + timedelta(minutes=1))
        self.is_open = not self.is_open


@pytest.mark.parametrize("seed", range(5))
def test_any_series_of_acts_leaves_slips_and_clearing_at_nothing(seed: int) -> None:
    """Issue, void, pay, correct and close as they come; at the end what is in force is paid, and the table closes."""
    evening = Evening(seed=seed)
    for _ in range(20):
        evening.goes_on()
    evening.now += timedelta(minutes=5)
    if not evening.is_open:
        evening.turns([])
    for slip in PaySlip.objects.filter(state="issued"):
        paid(slip, now=evening.now)
    evening.turns([])

    assert hold(SLIPS, CLEARING, BANK, GUESTS) == [0, 0, 0, 0]
    assert sum(Account.objects.values_list("balance", flat=True)) == 0
    for session in evening.sessions:
        found = table_floats.rundown.of_session(session).rundown
        assert (found.win, found.variance) == (found.figures.tray_win, 0)


@pytest.mark.django_db(transaction=True)
def test_the_books_of_pay_slips_over_a_close_are_found_right(settings: Any) -> None:
    settings.DATABASE_READER_URL = ""
    at = a_table(opener=60_000)
    first, second, third = won(at), won(at), won(at)
    at.tell(DOUBLE, round=second, at=LATER)
    then, later = NOW + timedelta(hours=1), NOW + timedelta(hours=4)
    paid(a_claim(at, first, now=then), now=then)
    kept, gone = a_claim(at, second, now=then), a_claim(at, third, now=then)
    closed(at, 60_000, last_round=3)
    box_counted(at, 0)
    voided(at, gone, now=later)
    settled_anew(at, second, "", now=later)
    kept.refresh_from_db()
    assert (kept.state, kept.void_clearing is not None) == ("void", True)
    paid(a_claim(at, second, now=later), now=later)
    opened_again(at, 60_000, now=NOW + timedelta(hours=5))
    closed(at, 60_000 - 475, last_round=0, now=NOW + timedelta(hours=6))
    box_counted(at, 0, now=NOW + timedelta(hours=7))

    with checks.opened(scope=checks.Scope(since=None)) as books:
        found = checks.check(books, ids={"I2", "I4", "I6", "I12", "I13", "I15", "I17"})
        # Here the service reports for devices and acts for people, who are not hired.
        as_service = re.compile(r"the row says \{'by': '[^']*'\}")
        ours = (
            "pay slips/",
            "pay-slips/",
            "floats/",
            "journals/",
            "accounts/",
            "cash/",
            "sessions/",
            "rounds/",
        )
        assert [
            one for one in found if one[1].subject.startswith(ours) and not as_service.fullmatch(one[1].found)
        ] == []
