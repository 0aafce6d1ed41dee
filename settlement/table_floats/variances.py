"""A difference between what was counted and what was expected: graded, posted once, and told to who must know."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max

from casino import rounds
from casino.models import Table
from settlement import breaks
from settlement.breaks import NewBreak
from settlement.ledger import NewJournal, Posting
from settlement.models import BreakCode, Float, Grade
from settlement.table_floats import variance_thresholds


@dataclass(frozen=True, slots=True)
class Graded:
    """``difference`` is counted minus expected; ``limits_from`` is None where nothing was expected."""

    difference: int
    grade: str
    limits_from: date | None


def graded(*, counted: int, expected: int | None, on: date) -> Graded:
    """Grade a count by the limits of the property on a gaming day."""
    if expected is None:
        return Graded(0, Grade.NONE, None)
    limits = variance_thresholds.in_force(variance_thresholds.read(settings.VARIANCE_LIMITS), on)
    return Graded(counted - expected, limits.grade(counted - expected), limits.from_)


def found(
    what: Graded, *, subject: str, table: Table, kind: str, count: UUID, journal: UUID | None
) -> UUID | None:
    """Open a break for a difference, and return it: None where there is none.

    A quiet one is explained by its limits, and clears itself. Whatever is above waits for a person to write it up;
    an incident is flagged for surveillance, and one to notify is on the regulator's list. Mispays that were found at
    the table since its count before are named as likely causes.
    """
    if what.difference == 0:
        return None
    detail: dict[str, Any] = {
        "table": table.code,
        "kind": kind,
        "grade": str(what.grade),
        "limits_from": what.limits_from.isoformat() if what.limits_from else None,
        "count": str(count),
        "journal": str(journal) if journal else None,
    }
    if likely := rounds.mispays_found(since=_last_count(table, before=count), table=table.id):
        detail["likely_causes"] = [one.described() for one in likely]
    new = NewBreak(
        code=BreakCode.COUNT_VARIANCE,
        subject=subject,
        fingerprint="counted and expected",
        detail=detail,
        amount=what.difference,
        currency=table.currency,
    )
    (id,) = breaks.found([new])
    if what.grade == Grade.QUIET:
        breaks.cleared(
            code=BreakCode.COUNT_VARIANCE,
            subjects=[subject],
            reason=f"quiet by the limits from {what.limits_from}",
        )
    return id


def _last_count(table: Table, *, before: UUID) -> datetime:
    """When the table's float was accepted before this count, or ever."""
    floats = Float.objects.filter(session__table=table).exclude(count=before)
    last: datetime | None = floats.aggregate(last=Max("accepted_at"))["last"]
    return last or datetime.min.replace(tzinfo=UTC)


class Journals:
    """The journals that one accepted count posts, gathered under their names and posted together."""

    def __init__(self, *, key: str, day: date, currency: str, orig_day: date | None = None) -> None:
        self.key, self.day, self.currency, self.orig_day = key, day, currency, orig_day
        self.named: dict[str, NewJournal] = {}

    def move(self, name: str, kind: str, source: str, target: str, amount: int) -> None:
        """Move ``amount`` (below zero: the other way) from source to target, unless it is nothing."""
        if amount:
            self.named[name] = NewJournal(
                kind=str(kind),
                key=f"{self.key}:{kind}",
                gaming_day=self.day,
                currency=self.currency,
                postings=(Posting(source, -amount), Posting(target, amount)),
                orig_day=self.orig_day,
            )

    @property
    def moved(self) -> list[str]:
        """The accounts posted to, once for each posting."""
        return [posting.account for journal in self.named.values() for posting in journal.postings]

    def described(self, ids: dict[str, UUID]) -> list[dict[str, Any]]:
        return [self.named[name].described(id) for name, id in ids.items()]
