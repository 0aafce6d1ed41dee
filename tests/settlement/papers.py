"""People who ask for chips, issue, carry and count them, and what they do: for the tests of slips and pay slips."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from casino.models import Person, Role
from settlement import cashier, slips
from settlement.models import PaySlip, Slip
from settlement.slips import Claim, Taken
from tests.settlement.floor import NOW, AtTable, a_person, act

PIECES = {500_00: 40, 100_00: 10}
"""21,000 baht in two denominations."""
AMOUNT = 2_100_000
LINES = [{"denomination": 500_00, "pieces": 40}, {"denomination": 100_00, "pieces": 10}]


def cashier_of(badge: str = "C01") -> Person:
    return a_person(badge, Role.CASHIER)


def runner(badge: str = "R01") -> Person:
    return a_person(badge, Role.CASHIER, permissions=["runner"])


def a_stocked_cage(*, amount: int = 10**9, now: datetime = NOW) -> None:
    with act(now=now):
        cashier.stock(cage="C1", amount=amount, document="opening")


def requested(
    at: AtTable,
    *,
    kind: str = "fill",
    pieces: Mapping[int, int] = PIECES,
    manual: str = "",
    by: Person | None = None,
    now: datetime = NOW,
) -> UUID:
    with act(now=now):
        taken = slips.request(
            table=at.table, kind=kind, pieces=pieces, manual_number=manual, by=by or at.supervisor
        )
    return taken.slip.id


def issued(at: AtTable, *, now: datetime = NOW, **how: Any) -> UUID:
    slip = requested(at, now=now, **how)
    with act(now=now):
        slips.issue(slip=slip, by=cashier_of(), cage="C1")
    return slip


def in_transit(at: AtTable, **how: Any) -> UUID:
    slip = issued(at, **how)
    with act(now=how.get("now", NOW)):
        slips.dispatch(slip=slip, by=runner())
    return slip


def counted_in(at: AtTable, slip: UUID, *, pieces: Mapping[int, int] = PIECES) -> Taken:
    """Count a slip in by those who must: dealer and supervisor, or another cashier."""
    is_fill = Slip.objects.get(pk=slip).kind == "fill"
    by, second = (at.dealer, at.supervisor) if is_fill else (cashier_of("C02"), None)
    with act():
        return slips.receive(slip=slip, by=by, second=second, pieces=pieces)


def deposited(at: AtTable, **how: Any) -> UUID:
    slip = in_transit(at, **how)
    counted_in(at, slip)
    with act():
        slips.deposit(slip=slip, by=at.dealer)
    return slip


def a_claim(at: AtTable, round: UUID, *, wager: str = "w1", now: datetime = NOW) -> PaySlip:
    with act(now=now):
        return slips.issue_pay_slip(round=round, wager=wager, by=at.supervisor).pay_slip


def paid(pay_slip: PaySlip, *, now: datetime = NOW, **how: Any) -> Claim:
    usual: dict[str, Any] = {"cage": "C1", "by": cashier_of()}
    with act(now=now):
        return slips.pay_pay_slip(pay_slip=pay_slip.id, **usual | how)


def voided(at: AtTable, pay_slip: PaySlip, *, now: datetime = NOW, **how: Any) -> Claim:
    usual: dict[str, Any] = {"by": at.supervisor, "reason": "the paper was lost"}
    with act(now=now):
        return slips.void_pay_slip(pay_slip=pay_slip.id, **usual | how)
