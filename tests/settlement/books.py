"""A small house with books to post in: builders for the tests of the ledger, of floats and of rule sheets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from casino import events
from casino.models import Person, Round, Table, TableSession
from settlement import ledger
from settlement.ledger import NewJournal, Posting

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
"""21:00 at the tables."""
TODAY = date(2026, 3, 1)
BANK, GUESTS = "table:PD01:bank", "table:PD01:guests"
COMMISSION, DROP = "table:PD01:commission", "table:PD01:drop"
VAULT = "cage:C1:vault"


def act(*, now: datetime = NOW) -> AbstractContextManager[events.Act]:
    return events.act(actor=events.SERVICE, request_id="night", now=now)


def a_table(code: str = "PD01") -> Table:
    return Table.objects.get_or_create(code=code, defaults={"currency": "THB"})[0]


def a_person(badge: str, role: str, *, permissions: tuple[str, ...] = ()) -> Person:
    found, _ = Person.objects.get_or_create(
        badge=badge, defaults={"display_name": badge, "role": role, "permissions": list(permissions)}
    )
    return found


def a_session(table: Table | None = None) -> TableSession:
    table = table or a_table()
    session = TableSession.objects.filter(table=table, closed_at=None).first()
    return session or TableSession.objects.create(id=uuid4(), table=table, opened_at=NOW)


def a_round(table: Table | None = None) -> UUID:
    session = a_session(table)
    number = Round.objects.filter(session=session).count() + 1
    row = Round.objects.create(
        id=uuid4(), table=session.table, session=session, number=number, created_at=NOW
    )
    return row.id


def a_wallet(ref: str, amount: int = 0) -> str:
    """Open a wallet and pay ``amount`` into it; return its account."""
    code = f"player:{ref}:wallet"
    with act():
        ledger.open_wallet(ref=ref, currency="THB")
        if amount:
            ledger.post([journal("deposit", {"external:cash:C1": -amount, code: amount})])
    return code


def journal(
    kind: str,
    moves: dict[str, int] | list[tuple[str, int, str]],
    *,
    key: str = "",
    round: UUID | None = None,
    **more: Any,
) -> NewJournal:
    if isinstance(moves, dict):
        moves = [(code, amount, "") for code, amount in moves.items()]
    return NewJournal(
        kind=kind,
        key=key or f"{kind}:{uuid4()}",
        gaming_day=more.pop("gaming_day", TODAY),
        currency=more.pop("currency", "THB"),
        postings=tuple(Posting(code, amount, wager) for code, amount, wager in moves),
        round=round or (uuid4() if kind in ("round", "hold_shortfall") else None),
        **more,
    )


def post(*journals: NewJournal, **more: Any) -> list[UUID]:
    with act():
        return ledger.post(journals, **more)


def balances(*codes: str) -> dict[str, int]:
    found = ledger.balances(codes)
    return {code: found[code].balance for code in codes}


@contextmanager
def taken_back() -> Iterator[None]:
    """Take back all that is done inside, acts that were over included."""
    undone = transaction.atomic()
    # So that acts may begin inside, as they do inside the test's own transaction.
    setattr(undone, "_from_testcase", True)  # noqa: B010 - the stubs do not know it
    with undone:
        yield
        transaction.set_rollback(True)


@contextmanager
def statements(counted: list[str]) -> Iterator[None]:
    """Write down the statements that run inside, but for what opens and ends transactions and savepoints."""
    with CaptureQueriesContext(connection) as captured:
        yield
    ends = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
    counted += [query["sql"] for query in captured if not query["sql"].startswith(ends)]
