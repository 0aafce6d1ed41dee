"""An accepted count becomes a float: its journals are posted, its difference graded, and all of it told."""

from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from casino import events
from casino.events import Fact
from casino.models import Person, Table, TableSession
from settlement import ledger
from settlement.models import Count, CountKind, Float
from settlement.table_floats import expected_tray, variances
from settlement.table_floats.expected_tray import Tray
from settlement.table_floats.variances import Journals


@dataclass(slots=True)
class Accepted:
    """A count about to be taken: ``day`` is the running gaming day, in which it is posted, ``ends`` the one whose
    figures it ends where that is another."""

    session: TableSession
    table: Table
    kind: str
    count: Count
    day: date
    cage: str = ""
    ends: date | None = None
    held: list[list[object]] = field(default_factory=list)
    missing: dict[str, list[list[int]]] = field(default_factory=dict)
    overridden_by: tuple[Person, Person] | None = None
    journals: Journals = field(init=False)

    def __post_init__(self) -> None:
        self.journals = Journals(
            key=f"count:{self.count.counting_id}",
            day=self.day,
            currency=self.table.currency,
            orig_day=self.ends if self.ends != self.day else None,
        )

    @property
    def bank(self) -> str:
        return f"table:{self.table.code}:bank"

    @property
    def guests(self) -> str:
        return f"table:{self.table.code}:guests"

    @property
    def variance(self) -> str:
        return f"variance:{self.table.code}"


def accept(taken: Accepted, *, tray: Tray, expected: int | None) -> tuple[Float, UUID | None]:
    """Post what the count moves, write the float down, and open a break for its difference. A fixed number of
    statements, whatever was played."""
    act = events.current()
    named = taken.journals.named
    posted = ledger.post(list(named.values()), locked=tray.books)
    ids: dict[str, UUID] = dict(zip(named, posted, strict=True))
    day = taken.ends or taken.day
    what = variances.graded(counted=taken.count.amount, expected=expected, on=day)
    first, second = taken.overridden_by or (None, None)
    row = Float(
        id=events.uuid7(act.now),
        session=taken.session,
        kind=taken.kind,
        count=taken.count,
        expected=expected,
        cage=taken.cage,
        gaming_day=day,
        grade=what.grade,
        limits_from=what.limits_from,
        held=taken.held,
        missing=taken.missing,
        override_first=first,
        override_second=second,
        accepted_at=act.now,
        **expected_tray.versions(tray, moved=taken.journals.moved),
        **{f"{name}_id": id for name, id in ids.items()},
    )
    row.save(force_insert=True)
    events.announce([_told(row, taken=taken, ids=ids)])
    opened = variances.found(
        what,
        subject=f"floats/{row.id}",
        table=taken.table,
        kind=taken.kind,
        count=taken.count.id,
        journal=ids.get("variance"),
    )
    return row, opened


def _told(row: Float, *, taken: Accepted, ids: dict[str, UUID]) -> Fact:
    return Fact(
        "table.float_opened"
        if taken.kind == CountKind.OPENER
        else "table.float_closed"
        if taken.kind == CountKind.CLOSER
        else "table.float_counted",
        f"tables/{taken.table.code}",
        {
            "float": str(row.id),
            "kind": row.kind,
            "session": str(row.session_id),
            "count": str(row.count_id),
            "counted": taken.count.amount,
            "expected": row.expected,
            "cage": row.cage,
            "gaming_day": row.gaming_day.isoformat(),
            "grade": str(row.grade),
            "limits_from": row.limits_from.isoformat() if row.limits_from else None,
            "held": row.held,
            "missing": row.missing,
            "overridden_by": [str(person.id) for person in taken.overridden_by or ()],
            "versions": [row.bank_version, row.guests_version, row.commission_version, row.drop_version],
            "journals": taken.journals.described(ids),
        },
        table=taken.table.code,
    )
