"""What is reported of cash: per person and gaming day, in and out apart, and the running log behind it.

A report is due where one person's cash in, or cash out, of a gaming day comes to *more than* the limit; in and out are
never netted. Cash only; whoever took it, at whichever cage or table, it is that person's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from casino import events
from casino.events import Fact
from casino.platform.csv_cells import Cell
from settlement.models import CashAct

COLUMNS = (
    "act", "kind", "direction", "means", "person", "amount_minor", "currency", "cage", "till", "table", "document",
    "journal", "acted_by", "approved_by", "happened_at", "recorded_at",
)  # fmt: skip
"""The running log as a table."""

_TOTALS = """
SELECT c.person, c.gaming_day, c.direction, sum(c.amount)::bigint, count(*)
  FROM settlement_cashact c
 WHERE c.means = 'cash' AND c.person <> '' AND {which}
 GROUP BY c.person, c.gaming_day, c.direction
"""


@dataclass(frozen=True, slots=True)
class Total:
    """One person's cash of a gaming day in one direction, in minor units of the property's currency."""

    person: str
    gaming_day: date
    direction: str
    amount: int
    acts: int

    @property
    def is_due(self) -> bool:
        """More than the limit; exactly the limit is not."""
        return self.amount > int(settings.CASH["report"])


def due(gaming_day: date) -> list[Total]:
    """Return whose cash of a day must be reported, by person and direction. One statement."""
    totals = _totals("c.gaming_day = %s", [gaming_day])
    return sorted((one for one in totals if one.is_due), key=lambda one: (one.person, one.direction))


def around(of: Collection[tuple[str, date]]) -> list[Total]:
    """Return the totals of these people on these gaming days, and on the days before and after each. One statement."""
    persons = sorted({person for person, _ in of})
    days = sorted({day + timedelta(days=off) for _, day in of for off in (-1, 0, 1)})
    return _totals("c.person = ANY(%s) AND c.gaming_day = ANY(%s)", [persons, days])


def split(totals: Collection[Total]) -> list[tuple[Total, Total]]:
    """Return pairs of totals on either side of a start hour that come to more than the limit together and not alone:
    nothing is due, and somebody should look."""
    known = {(one.person, one.gaming_day, one.direction): one for one in totals}
    limit = int(settings.CASH["report"])
    return [
        (before, one)
        for one in totals
        if (before := known.get((one.person, one.gaming_day - timedelta(days=1), one.direction)))
        and not (one.is_due or before.is_due)
        and before.amount + one.amount > limit
    ]


def running_log(gaming_day: date) -> QuerySet[CashAct]:
    """Return the acts of a day from the log's limit on, in order of their recording."""
    return (
        CashAct.objects.filter(gaming_day=gaming_day, means="cash", amount__gte=settings.CASH["log"])
        .select_related("session__table", "acted_by", "approved_by")
        .order_by("id")
    )


def rows(gaming_day: date) -> Iterator[Sequence[Cell]]:
    """Return the running log as rows of COLUMNS, people of the house by their badges."""
    for act in running_log(gaming_day).iterator(chunk_size=500):
        yield (
            str(act.id), act.kind, act.direction, act.means, act.person, act.amount, act.currency, act.cage, act.till,
            act.session.table.code if act.session else "", act.document, str(act.journal_id),
            act.acted_by.badge if act.acted_by else "", act.approved_by.badge if act.approved_by else "",
            act.happened_at.isoformat(), act.recorded_at.isoformat(),
        )  # fmt: skip


def read(gaming_day: date, *, form: str) -> None:
    """Witness that somebody reads the report of a day, as ``json`` or as ``csv``. Must run in an act."""
    events.announce(
        [Fact("evidence.read", f"cash/{gaming_day.isoformat()}", {"part": "cash report", "form": form})]
    )


def _totals(which: str, values: Sequence[Any]) -> list[Total]:
    with connection.cursor() as cursor:
        cursor.execute(_TOTALS.format(which=which), values)
        return [Total(*row) for row in cursor.fetchall()]
