"""Slips and pay slips of a played night: every step and every end of them, each under the person who signs it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from casino import events, people
from casino.models import Person, Table
from settlement import slips
from settlement.models import Line, Settlement

PIECES = {10_000: 20, 2_000: 50}


class Papers:
    """Carries chips to and from a table, and claims what its guests won of two rounds."""

    def __init__(self, *, table: str, dealer: Person, supervisor: Person) -> None:
        self.table = Table.objects.get(code=table)
        self.dealer, self.supervisor = dealer, supervisor
        self.staff: dict[str, Person] = {}

    def write(self) -> dict[str, UUID]:
        """Return the papers with a story, by name."""
        self._hire()
        told = {
            "deposited": self._carried("fill", up_to="deposited"),
            "received": self._carried("credit", up_to="received", manual="A-0017"),
            "slip_void": self._carried("fill", up_to="issued"),
        }
        self._carried("credit", up_to="requested")
        with self._acting("C01"):
            slips.void(slip=told["slip_void"], by=self.staff["C01"], reason="the guest left")
        with self._acting("M07"):
            slips.compare(slip=told["received"], by=self.staff["M07"])
        return told | self._claimed()

    def send_chips(self) -> UUID:
        """Send a fill that does not arrive any more: no shift ends while it is under way."""
        return self._carried("fill", up_to="in_transit")

    def _hire(self) -> None:
        hired = {
            "C01": ("cashier", ()), "C02": ("cashier", ()), "R01": ("cashier", ("runner",)),
            "M07": ("manager", ("accounting",)),
        }  # fmt: skip
        with events.act(actor=events.SERVICE, request_id="built", now=timezone.now()):
            for badge, (role, permissions) in hired.items():
                self.staff[badge] = people.hire(
                    badge=badge, display_name=f"{badge} of the house", role=role, password="long enough " + badge,
                    pin="123456", permissions=permissions,
                )  # fmt: skip
        self.staff |= {"dealer": self.dealer, "supervisor": self.supervisor}

    def _acting(self, who: str) -> Any:
        return events.act(
            actor=people.principal_of(self.staff[who]), request_id="carried", now=timezone.now()
        )

    def _carried(self, kind: str, *, up_to: str, manual: str = "") -> UUID:
        staff = self.staff
        with self._acting("supervisor"):
            asked = slips.request(
                table=self.table, kind=kind, pieces=PIECES, manual_number=manual, by=self.supervisor
            )
        id = asked.slip.id
        counted: dict[str, Any] = {"by": self.dealer, "second": self.supervisor}
        if kind == "credit":
            counted = {"by": staff["C02"], "second": None}
        steps = [
            ("issued", "C01", lambda: slips.issue(slip=id, by=staff["C01"], cage="C1")),
            ("in_transit", "R01", lambda: slips.dispatch(slip=id, by=staff["R01"])),
            ("counted", "supervisor", lambda: slips.receive(slip=id, pieces={10_000: 20}, **counted)),
            ("received", "supervisor", lambda: slips.receive(slip=id, pieces=PIECES, **counted)),
            ("deposited", "dealer", lambda: slips.deposit(slip=id, by=self.dealer)),
        ]
        order = ["requested", *(step for step, _, _ in steps)]
        for step, who, take in steps:
            if order.index(step) > order.index(up_to) or (step == "counted" and kind == "fill"):
                continue
            with self._acting(who):
                take()
        return id

    def _claimed(self) -> dict[str, UUID]:
        """One claim paid, one void and issued anew."""
        won = Line.objects.filter(account=f"table:{self.table.code}:guests", net__gt=0)
        last = won.exclude(settlement__in=Settlement.objects.exclude(supersedes=None).values("supersedes"))
        first, second = last.select_related("settlement").order_by("id")[:2]
        with self._acting("supervisor"):
            paid, gone = (
                slips.issue_pay_slip(
                    round=line.settlement.round_id, wager=line.wager, by=self.supervisor
                ).pay_slip
                for line in (first, second)
            )
        with self._acting("C01"):
            slips.pay_pay_slip(pay_slip=paid.id, cage="C1", by=self.staff["C01"], second=self.staff["C02"])
        with self._acting("supervisor"):
            slips.void_pay_slip(pay_slip=gone.id, by=self.supervisor, reason="the paper was lost")
        with self._acting("supervisor"):
            anew = slips.issue_pay_slip(
                round=second.settlement.round_id, wager=second.wager, by=self.supervisor
            ).pay_slip
        return {"paid": paid.id, "pay_slip_void": gone.id, "in_force": anew.id}
