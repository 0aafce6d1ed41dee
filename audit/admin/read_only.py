"""Pages that only read, and lists that keep their speed when a table has a million rows or a thousand times that.

A list is paged by key, newest first: a page costs the same wherever it lies. It is searched by whole values through
indexes, never by parts of words. Numbers of rows are the planner's estimate. Every reading is witnessed.

What an address may ask is named: the list's own filters, its words, its place. Anything else is 400 and asks nothing,
for a free lookup reads what no page shows, letter by letter.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import ShowFacets
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR, SEARCH_VAR, ChangeList
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.db.models import BooleanField, DateField, IntegerField, Model, Q, QuerySet, UUIDField
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils import timezone

from audit.admin import calendars, evidence_reads, thai_names
from audit.admin.bilingual import either
from audit.admin.calendars import Calendar, zone
from casino import cards
from casino.platform import values

OLDER, NEWER = "before", "after"
ROWS = 100


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
        key: Any = self.opts.pk
        while key.remote_field:
            key = key.target_field
        try:
            if isinstance(key, UUIDField):
                return values.uuid(given)
            if isinstance(key, IntegerField):
                return values.whole(given)
            if isinstance(key, DateField):
                return values.day(given)
        except values.Wrong as wrong:
            raise BadRequest(f"{name}: {wrong.why}") from wrong
        return given

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


LONGEST_SEARCH, MOST_WORDS = 200, 8
"""Characters and words of a search; each word is looked for in each column."""


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
        thai_names.in_both_languages(self.opts)

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
        words = search_term.split()
        if len(search_term) > LONGEST_SEARCH or len(words) > MOST_WORDS:
            raise BadRequest(f"q: at most {MOST_WORDS} words, {LONGEST_SEARCH} characters")
        for word in words:
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

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:  # noqa: ARG002
        return lookup in self.named(request)

    def named(self, request: HttpRequest) -> dict[str, Collection[str] | None]:
        """Return what the address of this list may ask, and of each the words that can be asked for; None: any."""
        found: dict[str, Collection[str] | None] = dict.fromkeys(
            (SEARCH_VAR, PAGE_VAR, ERROR_FLAG, OLDER, NEWER)
        )
        for one in self.get_list_filter(request):
            if isinstance(one, type) and issubclass(one, admin.SimpleListFilter):
                found[str(one.parameter_name)] = None
            else:
                found |= _asked_of(self.opts.get_field(str(one)))
        return found

    def require_named(self, request: HttpRequest) -> None:
        """Refuse, as a request that cannot be meant, what this list does not name, and words that a filter has not."""
        named = self.named(request)
        for name, given in request.GET.lists():
            known = named.get(name)
            if name not in named or len(given) > 1:
                raise BadRequest(f"{name[:60]}: is not known here")
            if len(given[0]) > LONGEST_SEARCH or (known is not None and given[0] not in known):
                raise BadRequest(f"{name}: not one of its values")
            if name == Calendar.parameter_name and not calendars.is_span(given[0]):
                raise BadRequest(f"{name}: {calendars.A_SPAN}")
            if name == PAGE_VAR:
                try:
                    values.whole(given[0], least=1)
                except values.Wrong as wrong:
                    raise BadRequest(f"{name}: {wrong.why}") from wrong

    def oldest_first(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Say whether a list is a queue, whose oldest row is its first."""
        return False

    def prepare(self, rows: Sequence[Any]) -> None:
        """Look up what the page's rows need from elsewhere, at once for all of them."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        refuse_writes(request)
        if self.has_view_permission(request):
            self.require_named(request)
        response = _shown(lambda: super(ReadOnly, self).changelist_view(request, extra_context))
        if response.status_code == 200:
            evidence_reads.witness_reading(request=request, model=self.opts.label_lower, shown=None)
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
            evidence_reads.witness_reading(request=request, model=self.opts.label_lower, shown=object_id)
        return response

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        # Django's own history knows changes made in the admin, and there are none: the log is the history.
        raise PermissionDenied


def _asked_of(field: Any) -> dict[str, Collection[str] | None]:
    """Return what Django's own filter of a column asks with, and with which words."""
    empty: dict[str, Collection[str] | None] = (
        {f"{field.name}__isnull": ("True", "False")} if field.null else {}
    )
    if isinstance(field, BooleanField):
        return empty | {f"{field.name}__exact": ("0", "1")}
    if field.flatchoices:
        return empty | {f"{field.name}__exact": [str(value) for value, _ in field.flatchoices]}
    return empty | {field.name: None}


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
    with contextlib.suppress(values.Wrong):
        yield "number", values.whole(word)
    if re.fullmatch(r"[0-9a-fA-F]{64}", word):
        yield "hash", bytes.fromhex(word)
    with contextlib.suppress(values.Wrong):
        yield "uuid", values.uuid(word)
