"""Pages that only read, and lists that keep their speed when a table has a million rows or a thousand times that.

A list is paged by key, newest first: a page costs the same wherever it lies. It is searched by whole values through
indexes, never by parts of words. Numbers of rows are the planner's estimate. Every reading is witnessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.options import ShowFacets
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils import timezone

from audit import web
from audit.admin import naming
from audit.admin.words import either
from casino import cards

OLDER, NEWER = "before", "after"
ROWS = 100
SLACK = timedelta(minutes=10)
"""How far ids and times may disagree: an act takes its id at the end and its instant at the beginning."""


class KeyedList(ChangeList):
    """A list paged by primary key: ``before`` and ``after`` name the row at which a page ends or begins."""

    words: ClassVar = {
        "back": either("Back", "ก่อนหน้า"),
        "on": either("Further", "ถัดไป"),
        "about": either("about", "ประมาณ"),
    }
    older: str | None = None
    newer: str | None = None
    model_admin: ReadOnly
    estimate: int = 0

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:  # noqa: ARG002
        return ["pk" if self.model_admin.oldest_first(request) else "-pk"]

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        kept: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in kept.items() if name not in (OLDER, NEWER)}

    def get_results(self, request: HttpRequest) -> None:
        before, after = self._key(request, OLDER), self._key(request, NEWER)
        on, back = ("gt", "lt") if self.model_admin.oldest_first(request) else ("lt", "gt")
        if after is not None:
            turned = self.queryset.filter(**{f"pk__{back}": after}).reverse()
            found = list(turned[: ROWS + 1])
            rows, further = found[:ROWS][::-1], len(found) > ROWS
            self._link(rows, older=True, newer=further)
        else:
            queryset = self.queryset if before is None else self.queryset.filter(**{f"pk__{on}": before})
            found = list(queryset[: ROWS + 1])
            rows, further = found[:ROWS], len(found) > ROWS
            self._link(rows, older=further, newer=before is not None)
        whole = not self.older and not self.newer
        self.estimate = len(rows) if whole else max(len(rows), estimated(self.queryset))
        self.is_estimate = not whole
        self.result_list = rows
        self.result_count = self.estimate
        self.full_result_count = self.estimate  # said under the list, and there that it is an estimate
        self.show_full_result_count = False
        self.show_admin_actions = False
        self.can_show_all = False
        self.multi_page = False
        self.paginator = Paginator(rows, ROWS)
        self.model_admin.prepare(rows)

    def _key(self, request: HttpRequest, name: str) -> Any:
        given = request.GET.get(name)
        if given is None:
            return None
        try:
            return self.opts.pk.to_python(given)
        except Exception as wrong:
            raise PermissionDenied from wrong

    def _link(self, rows: Sequence[Model], *, older: bool, newer: bool) -> None:
        if rows and older:
            self.older = self.get_query_string({OLDER: rows[-1].pk}, remove=[NEWER])
        if rows and newer:
            self.newer = self.get_query_string({NEWER: rows[0].pk}, remove=[OLDER])


def estimated(queryset: QuerySet[Any]) -> int:
    """Return how many rows the planner expects; exact counting would read them all."""
    plan = queryset.order_by().explain(format="json")
    found = re.search(r'"Plan Rows": (\d+)', plan)
    return int(found.group(1)) if found else 0


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
        except ValueError:
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


_DAY = re.compile(r"^\d{4}(-\d{2}(-\d{2})?)?\Z")


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
    """Return the beginning and the end of a year, month or day; raise ValueError for one that is not."""
    year, month, day = ([int(part) for part in chosen.split("-")] + [0, 0])[:3]
    first = datetime(year, month or 1, day or 1, tzinfo=zone())
    if day:
        following = first.date() + timedelta(days=1)
    elif month:
        following = date(year + month // 12, month % 12 + 1, 1)
    else:
        following = date(year + 1, 1, 1)
    return first, datetime(following.year, following.month, following.day, tzinfo=zone())


class ReadOnly(admin.ModelAdmin):
    """A model that the admin shows and never changes.

    ``finds`` says which columns a word of a search is looked for in, by what the word looks like: ``uuid``,
    ``number``, ``hash`` (64 hex digits) or ``word``. A word is matched whole.
    """

    finds: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    actions = None
    list_per_page = ROWS
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    sortable_by: ClassVar[tuple[str, ...]] = ()
    save_as = False
    change_list_template: ClassVar[Any] = "audit/admin/list.html"
    change_form_template: ClassVar[Any] = "audit/admin/row.html"
    search_fields = ("pk",)

    def __init__(self, model: type[Model], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        naming.in_both_languages(self.opts)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # noqa: ARG002
        return KeyedList

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        for word in search_term.split():
            queryset = queryset.filter(self.found_by(word))
        return queryset, False

    def found_by(self, word: str) -> Q:
        """Return where a word stands; nowhere finds nothing.

        Each column is asked first whether it has the value at all: of many columns joined by OR the planner expects
        too much, and would rather read the table backwards.
        """
        wanted = Q(pk__in=[])
        for kind, value in _readings_of(word):
            for column in self.finds.get(kind, ()):
                if self.model.objects.filter(**{column: value}).exists():
                    wanted |= Q(**{column: value})
        return wanted

    def oldest_first(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Say whether a list is a queue, whose oldest row is its first."""
        return False

    def prepare(self, rows: Sequence[Any]) -> None:
        """Look up what the page's rows need from elsewhere, at once for all of them."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        refuse_writes(request)
        response = _shown(lambda: super(ReadOnly, self).changelist_view(request, extra_context))
        if response.status_code == 200:
            web.witness_reading(request=request, model=self.opts.label_lower, shown=None)
        return response

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        refuse_writes(request)
        response = _shown(
            lambda: super(ReadOnly, self).changeform_view(request, object_id, form_url, extra_context)
        )
        if response.status_code == 200:
            web.witness_reading(request=request, model=self.opts.label_lower, shown=object_id)
        return response

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        # Django's own history knows changes made in the admin, and there are none: the log is the history.
        raise PermissionDenied


def _shown(view: Callable[[], HttpResponse]) -> HttpResponse:
    """Answer a page on which every time is the property's."""
    with timezone.override(zone()):
        response = view()
        if isinstance(response, SimpleTemplateResponse):
            response.render()
    return response


def moment(at: datetime | None) -> str:
    """Write an instant to the second, by the property's clock."""
    return f"{at.astimezone(zone()):%Y-%m-%d %H:%M:%S}" if at else ""


def refuse_writes(request: HttpRequest) -> None:
    """Refuse whatever is no reading."""
    if request.method not in ("GET", "HEAD"):
        raise PermissionDenied


def is_card(word: str) -> bool:
    """Say whether a word names a card (KS, th)."""
    return len(word) == 2 and word[0].upper() in cards.RANKS and word[1].upper() in cards.SUITS


def _readings_of(word: str) -> Iterable[tuple[str, Any]]:
    yield "word", word
    if is_card(word):
        yield "card", word.upper()
    if word.isascii() and word.isdecimal() and len(word) < 19:
        yield "number", int(word)
    if re.fullmatch(r"[0-9a-fA-F]{64}", word):
        yield "hash", bytes.fromhex(word)
    try:
        yield "uuid", UUID(word)
    except ValueError:
        return
