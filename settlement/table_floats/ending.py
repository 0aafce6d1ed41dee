"""A table is ended once nothing of its money is left to be counted, carried or paid."""

from __future__ import annotations

from casino import tables
from casino.models import Person, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import ledger
from settlement.models import Counting, CountKind, Float

refusals.register(
    "table_not_empty",
    409,
    "Chips, a drop box or papers of that table are not accounted for yet.",
    "ยังมีชิป กล่อง หรือเอกสารของโต๊ะนี้ที่ยังไม่สะสาง",
)


def end_table(*, table: Table, by: Person, approved_by: Person) -> Table:
    """End a closed table whose float went to a cage, whose box was counted, and of which no chips are under way and no
    pay slip is unpaid; refuse ``table_not_empty``, and what ``tables.end`` refuses. Must run in an act."""
    ended = tables.end(table=table, by=by, approved_by=approved_by)
    left = ledger.balances(
        [f"table:{table.code}:drop", f"suspense:transit:{table.code}", f"suspense:slips:{table.code}"]
    )
    last = Float.objects.filter(session__table=table, kind=CountKind.CLOSER).order_by("-accepted_at").first()
    counted = Counting.objects.filter(table=table, state=Counting.State.OPEN).exists()
    if any(account.balance for account in left.values()) or (last is not None and not last.cage) or counted:
        raise Refusal("table_not_empty")
    return ended
