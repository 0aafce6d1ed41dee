"""Lists by year, month and day of the property, whatever a table's size."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from audit.admin.bilingual import either
from casino.platform import values

SLACK = timedelta(minutes=10)
"""How far ids and times may disagree: an act takes its id at the end and its instant at the beginning."""


class Calendar(admin.SimpleListFilter):
    """Year, then month, then day, in the property's zone. Only the two ends of the table are looked up.

    Where ids count up, a day is turned into a range of ids by bisection, so that no index on the time is needed.
    """

    title = either("date", "วันที่")
    parameter_name = "on"
    field: ClassVar[str]
    by_id: ClassVar[bool] = False

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        chosen = self.value() or ""
        ends = self._ends(model_admin.model)
        if ends is None:
            return []
        first, last = ends
        parts = chosen.split("-") if _DAY.match(chosen) else []
        choices = [(str(year), str(year)) for year in range(last.year, first.year - 1, -1)]
        if parts:
            choices += [(f"{parts[0]}-{month:02}", f"{parts[0]}-{month:02}") for month in range(1, 13)]
        if len(parts) > 1:
            month = f"{parts[0]}-{parts[1]}"
            choices += [
                (f"{month}-{day:02}", f"{month}-{day:02}") for day in range(1, 32) if _is_day(month, day)
            ]
        within = (first.date().isoformat(), last.date().isoformat())
        return [
            (value, text)
            for value, text in choices
            if within[0][: len(value)] <= value <= within[1][: len(value)]
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        chosen = self.value()
        if not chosen or not _DAY.match(chosen):
            return queryset
        try:
            first, last = span(chosen)
        except values.Wrong:
            return queryset.none()
        if self.field == "gaming_day":
            return queryset.filter(gaming_day__gte=first.date(), gaming_day__lt=last.date())
        within = queryset.filter(**{f"{self.field}__gte": first, f"{self.field}__lt": last})
        if not self.by_id:
            return self.narrowed(within)
        low = self._first_id(queryset.model, first - SLACK)
        high = self._first_id(queryset.model, last + SLACK)
        if low is None:
            return queryset.none()
        return within.filter(pk__gte=low) if high is None else within.filter(pk__gte=low, pk__lt=high)

    def narrowed(self, within: QuerySet[Any]) -> QuerySet[Any]:
        """Add what lets an index help; the rows stay the same."""
        return within

    def _ends(self, model: Any) -> tuple[datetime, datetime] | None:
        ordered = model.objects.order_by("pk")
        ends = [
            ordered.values_list(self.field, flat=True).first(),
            ordered.values_list(self.field, flat=True).last(),
        ]
        times = sorted(_local(end) for end in ends if end is not None)
        return (times[0], times[-1]) if times else None

    def _first_id(self, model: Any, at: datetime) -> int | None:
        """Return the first id whose row is not before ``at``; rows are taken to be in the order of their times."""
        rows = model.objects.order_by("pk").values_list("pk", self.field)
        top = model.objects.order_by("-pk").values_list("pk", flat=True).first()
        low, high = 0, (top or 0) + 1
        while low < high:
            middle = (low + high) // 2
            row = rows.filter(pk__gte=middle).first()
            if row is None or row[1] >= at:
                high = middle
            else:
                low = row[0] + 1
        return low if top is not None and low <= top else None


class ByMade(Calendar):
    """For rows whose ids were made when they were: a day is a range of such ids (UUIDv7)."""

    def narrowed(self, within: QuerySet[Any]) -> QuerySet[Any]:
        first, last = span(self.value() or "")
        return within.filter(pk__gte=_made_at(first - SLACK), pk__lt=_made_at(last + SLACK))


def _made_at(at: datetime) -> UUID:
    return UUID(int=int(at.timestamp() * 1000) << 80)


_DAY = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?\Z")
A_SPAN = "a year, a month or a day, 2026-03-01"
_YEARS = values.Between(1971, 9998)
"""Years by which ids and times can be compared: the ids that the service makes count from 1970."""


def is_span(chosen: str) -> bool:
    """Say whether something is written as a year, a month or a day."""
    return _DAY.match(chosen) is not None


def zone() -> ZoneInfo:
    """Return the property's zone, by which days are chosen."""
    return ZoneInfo(str(settings.PROPERTY["zone"]))


def _local(at: date | datetime) -> datetime:
    return (
        at.astimezone(zone())
        if isinstance(at, datetime)
        else datetime(at.year, at.month, at.day, tzinfo=zone())
    )


def _is_day(month: str, day: int) -> bool:
    try:
        date.fromisoformat(f"{month}-{day:02}")
    except ValueError:
        return False
    return True


def span(chosen: str) -> tuple[datetime, datetime]:
    """Return the beginning and the end of a year, month or day. Raises Unreadable for what is none, OutOfBounds for one
    in which no row can lie."""
    if not _DAY.match(chosen):
        raise values.Unreadable(A_SPAN)
    year, month, day = ([int(part) for part in chosen.split("-")] + [0, 0])[:3]
    _YEARS.require(year)
    try:
        first = datetime(year, month or 1, day or 1, tzinfo=zone())
    except ValueError:
        raise values.Unreadable(A_SPAN) from None
    if day:
        following = first.date() + timedelta(days=1)
    elif month:
        following = date(year + month // 12, month % 12 + 1, 1)
    else:
        following = date(year + 1, 1, 1)
    return first, datetime(following.year, following.month, following.day, tzinfo=zone())
