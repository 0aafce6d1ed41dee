"""An act that takes or gives money: one journal, one row beside it, one entry of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from casino import events, people
from casino.events import Act, Fact
from casino.models import Person, TableSession
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import ledger, webhooks
from settlement.ledger import Balance, NewJournal, Posting
from settlement.models import INWARD, CashAct, CashKind, Means
from settlement.webhooks import Owed

refusals.register(
    "person_needed",
    422,
    "From this amount on, the person's reference is asked for.",
    "ตั้งแต่จำนวนนี้ต้องระบุรหัสบุคคล",
)

ACTIONS: Mapping[str, str] = {
    CashKind.DEPOSIT: "wallet.deposited",
    CashKind.WITHDRAWAL: "wallet.withdrawn",
    CashKind.BUY_IN: "table.bought_in",
    CashKind.CHIP_SALE: "chips.sold",
    CashKind.CHIP_REDEMPTION: "chips.redeemed",
    CashKind.PAY_SLIP_PAID: "pay_slip.cashed",
}
"""What the log calls each kind of act."""


@dataclass(frozen=True, slots=True)
class Cash:
    """Money as the client says that it changed hands: ``amount`` minor units of the property's currency.

    ``person`` is an opaque reference, ``lines`` pieces by denomination, ``document`` the client's own number.
    Without ``happened_at`` it happens now.
    """

    amount: int
    means: str = Means.CASH
    person: str = ""
    lines: Sequence[Mapping[str, int]] = ()
    till: str = ""
    document: str = ""
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of an act: its journal, and the account that it was about as it stands behind it."""

    journal: UUID
    account: Balance
    gaming_day: date
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Booking:
    """What is to be booked: a kind of act, its journal's ``key`` and postings, and the ``account`` it is about, which
    is among those locked. ``actor`` is who did it where that is not the act's own (a dealer at a terminal), ``round``
    what a pay slip was won in. ``chips_outside`` is what an exchange of chips leaves outside."""

    kind: str
    key: str
    cash: Cash
    postings: tuple[Posting, ...]
    account: str
    cage: str = ""
    session: TableSession | None = None
    actor: UUID | None = None
    approved_by: Person | None = None
    owed: str = ""
    chips_outside: int | None = None
    round: UUID | None = None


def book(booking: Booking, *, day: date, locked: Mapping[str, Balance]) -> Taken:
    """Post the journal and leave its row, its entry and, where something is ``owed``, its message.

    Six statements where the accounts are locked, seven with a message. A key that was booked before moves nothing,
    and the account is told as it stands. Refuses ``insufficient_funds``.
    """
    act = events.current()
    journal = NewJournal(
        kind=booking.kind,
        key=booking.key,
        gaming_day=day,
        currency=currency(),
        postings=booking.postings,
        round=booking.round,
    )
    before = locked[booking.account]
    first = CashAct.objects.filter(journal__key=booking.key).first()
    (id,) = ledger.post([journal], locked=locked)
    if first is not None:
        return Taken(id, before, first.gaming_day, first.recorded_at)
    moved = [posting.amount for posting in booking.postings if posting.account == booking.account]
    after = Balance(
        id=before.id,
        code=before.code,
        currency=before.currency,
        balance=before.balance + sum(moved),
        held=before.held,
        version=before.version + len(moved),
        floor=before.floor,
    )
    row = _row(booking, journal=id, day=day, act=act)
    row.save(force_insert=True)
    _announce(row, booking, journal=journal)
    if booking.owed:
        webhooks.owe([_message(row, booking, after=after)])
    return Taken(id, after, day, act.now)


def currency() -> str:
    """Return the property's currency, in which all of its cash is."""
    return str(settings.PROPERTY["currency"])


def require_second(*, amount: int, actor: UUID | None, second: Person | None, limit: str) -> None:
    """Refuse ``second_person_needed`` above the property's ``limit`` where nobody signed beside who acts, and
    ``sod_violation`` where it is the same person, at any amount."""
    if second is not None:
        people.different(actor, second.id)
    elif amount > settings.CASH[limit]:
        raise Refusal("second_person_needed")


def require_named(cash: Cash) -> None:
    """Refuse ``person_needed`` from the amount on at which acts stand in the running log."""
    if not cash.person and cash.means == Means.CASH and cash.amount >= settings.CASH["log"]:
        raise Refusal("person_needed", fields={"person": "an opaque reference"})


def require_counted(cash: Cash) -> None:
    """Refuse ``invalid_value`` where the pieces do not come to the amount."""
    if sum(line["denomination"] * line["pieces"] for line in cash.lines) != cash.amount:
        raise Refusal("invalid_value", fields={"lines": "the pieces do not come to the amount"})


def _row(booking: Booking, *, journal: UUID, day: date, act: Act) -> CashAct:
    cash, actor = booking.cash, act.actor
    return CashAct(
        id=events.uuid7(act.now),
        kind=booking.kind,
        direction="in" if booking.kind in INWARD else "out",
        means=cash.means,
        person=cash.person,
        amount=cash.amount,
        currency=currency(),
        lines=[dict(line) for line in cash.lines],
        cage=booking.cage,
        till=cash.till,
        session=booking.session,
        document=cash.document,
        chips_outside=booking.chips_outside,
        journal_id=journal,
        gaming_day=day,
        acted_by_id=booking.actor or actor.person,
        approved_by=booking.approved_by,
        device_id=actor.id if actor.kind == "device" else None,
        key_id=actor.id if actor.kind == "system" else None,
        happened_at=cash.happened_at or act.now,
        recorded_at=act.now,
    )


def _announce(row: CashAct, booking: Booking, *, journal: NewJournal) -> None:
    session = booking.session
    events.announce(
        [
            Fact(
                ACTIONS[row.kind],
                f"accounts/{booking.account}",
                {
                    "act": str(row.id),
                    "direction": row.direction,
                    "means": str(row.means),
                    "person": row.person,
                    "amount": row.amount,
                    "currency": row.currency,
                    "lines": row.lines,
                    "cage": row.cage,
                    "till": row.till,
                    "session": str(session.id) if session else None,
                    "document": row.document,
                    "gaming_day": row.gaming_day.isoformat(),
                    "acted_by": _id(row.acted_by_id),
                    "approved_by": _id(row.approved_by_id),
                    "device": _id(row.device_id),
                    "key": _id(row.key_id),
                    "happened_at": row.happened_at.isoformat(),
                    "journal": journal.described(row.journal_id),
                }
                | ({} if row.chips_outside is None else {"chips_outside": row.chips_outside}),
                table=session.table.code if session else "",
                person=row.acted_by_id,
            )
        ]
    )


def _message(row: CashAct, booking: Booking, *, after: Balance) -> Owed:
    def money(amount: int) -> dict[str, Any]:
        return {"amount": amount, "currency": row.currency}

    return Owed(
        booking.owed,
        {
            "account": booking.account,
            "amount": money(row.amount),
            "balance": money(after.balance),
            "held": money(after.held),
            "available": money(after.available),
            "version": after.version,
            "journal": str(row.journal_id),
            "document": row.document,
            "gaming_day": row.gaming_day.isoformat(),
        },
        subject=f"accounts/{booking.account}",
    )


def _id(id: UUID | None) -> str | None:
    return str(id) if id else None
