"""A list of the admin is asked by the filters that it names, and by nothing else: nothing is read letter by letter."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.core.exceptions import BadRequest
from django.db.models import ForeignObjectRel, Model
from django.test import Client, RequestFactory

from audit.admin.read_only import ReadOnly
from audit.models import LogEntry
from casino.models import Person
from tests.audit.test_admin import listed, signed_in

PAGES: dict[str, ReadOnly] = {
    model._meta.label_lower: page  # type: ignore[misc]
    for model, page in admin.site._registry.items()
    if model._meta.app_label in ("casino", "settlement", "audit")
}
PLACE = {"q", "p", "e", "before", "after"}
FILTERS: dict[str, set[str]] = {
    "casino.person": {"role__exact", "is_active__exact"},
    "casino.appointment": {"role"},
    "casino.table": {"state__exact"},
    "casino.device": {"kind__exact"},
    "casino.round": {"standing", "in_dispute__exact", "on"},
    "casino.roundevent": {"on"},
    "casino.refusedevent": {"on"},
    "settlement.account": {"kind"},
    "settlement.journal": {"on"},
    "settlement.settlement": {"on"},
    "settlement.cashact": {"on"},
    "settlement.counting": {"kind", "state"},
    "settlement.float": {"kind", "grade"},
    "settlement.drop": {"grade"},
    "settlement.run": {"on", "outcome"},
    "settlement.break": {"on", "state", "severity"},
    "settlement.gamingday": {"state"},
    "settlement.shift": {"overdue"},
    "settlement.report": {"kind"},
    "settlement.externalhold": {"state"},
    "settlement.externalcall": {"state", "verb"},
    "settlement.endpoint": {"state"},
    "settlement.slip": {"state", "on"},
    "settlement.payslip": {"state", "on"},
    "audit.flag": {"saved", "state", "kind", "table", "on"},
    "audit.dispute": {"queue", "table", "on"},
    "audit.logentry": {"action", "table", "on"},
}
"""What each list may be asked by; a column stands for itself and for what Django's own filter asks of it."""

LOOKUPS = (
    "", "__exact", "__iexact", "__startswith", "__istartswith", "__contains", "__icontains", "__endswith", "__regex",
    "__gt", "__gte", "__lt", "__lte", "__in", "__range", "__isnull", "__year", "__date", "__len", "__0",
)  # fmt: skip


def columns(model: type[Model], *, deep: int = 1) -> Iterator[str]:
    """Every column of a model, and those of what it is related to, either way."""
    for field in model._meta.get_fields():
        name = field.get_accessor_name() if isinstance(field, ForeignObjectRel) else field.name
        name = field.name if isinstance(field, ForeignObjectRel) else name
        if not isinstance(field, ForeignObjectRel):
            yield str(name)
        if deep and field.is_relation and isinstance(field.related_model, type):
            yield from (f"{name}__{inner}" for inner in columns(field.related_model, deep=deep - 1))


def everything_askable(page: ReadOnly) -> Iterator[str]:
    return (column + lookup for column, lookup in itertools.product(columns(page.model), LOOKUPS))


def is_named(list_name: str, parameter: str) -> bool:
    named = FILTERS.get(list_name, set())
    column = parameter.removesuffix("__exact").removesuffix("__isnull")
    return parameter in named or column in named


@pytest.mark.parametrize("name", sorted(PAGES))
def test_whatever_a_list_does_not_name_asks_nothing(name: str) -> None:
    page, requests = PAGES[name], RequestFactory()
    tried = list(everything_askable(page))
    assert len(tried) > 40
    taken = set()
    for parameter in [*tried, "o", "all", "_popup", "_to_field", "_facets", "x"]:
        request = requests.get("/", {parameter: "x"})
        try:
            page.require_named(request)
        except BadRequest:
            continue
        taken.add(parameter)
        assert page.lookup_allowed(parameter, "x", request)
    assert {parameter for parameter in taken if not is_named(name, parameter)} <= PLACE
    refused = [one for one in tried if one not in page.named(requests.get("/"))]
    assert not any(page.lookup_allowed(one, "x", requests.get("/")) for one in refused)


@pytest.mark.django_db
def test_no_list_answers_a_lookup_with_rows_or_a_failure() -> None:
    client = signed_in("auditor")
    wrong = []
    for name, page in sorted(PAGES.items()):
        for column, lookup in itertools.product(columns(page.model, deep=0), ("", "__startswith", "__gt")):
            if is_named(name, column + lookup):
                continue
            status = client.get(listed(name, f"?{column}{lookup}=1")).status_code
            if status != 400:
                wrong.append((name, column + lookup, status))
    assert wrong == []
    assert LogEntry.objects.filter(action__in=("log.read", "evidence.read")).count() == 0


@pytest.mark.django_db
def test_no_secret_is_read_letter_by_letter() -> None:
    client = signed_in("auditor")
    Person.objects.update(pin="pbkdf2_sha256$260000$salt")
    for asks in (
        "badge__exact=auditor-1&pin__startswith=p", "pin__gt=a", "password__contains=x", "permissions__contains=x",
        "role__exact=auditor&pin__startswith=z", "duties__person__pin__startswith=p", "_to_field=pin", "o=1",
    ):  # fmt: skip
        assert client.get(listed("casino.person", f"?{asks}")).status_code == 400, asks
    for asks in ("role__exact=auditor", "is_active__exact=1", "q=auditor-1", "e=1", ""):
        shown = client.get(listed("casino.person", f"?{asks}"))
        assert (shown.status_code, len(shown.context["cl"].result_list)) == (200, 1), asks
    assert len(client.get(listed("casino.person", "?role__exact=dealer")).context["cl"].result_list) == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    "asks",
    [
        {"on": "2026-W49-2"}, {"on": "๒๕๖๙"}, {"on": "2026-1"}, {"on": "x"}, {"before": "x"}, {"before": "๗"},
        {"after": "-1"}, {"before": "9" * 40}, {"q": "x " * 9}, {"q": "x" * 201}, {"table": "x" * 201},
        {"q": "a\0b"}, {"\0": "1"}, {"action": "\0"}, {"x" * 5_000: "1"},
    ],
    ids=lambda asks: str(asks)[:40],
)  # fmt: skip
def test_what_cannot_be_read_is_a_bad_request(asks: dict[str, str]) -> None:
    answer = signed_in("auditor").get(listed("audit.logentry", f"?{urlencode(asks)}"))
    assert answer.status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(
    "on", ["0001", "0000", "1900", "1950-01", "9999", "9999-12", "9999-12-31", "2026-13", "2569-12-01"]
)
def test_a_list_has_nothing_at_the_ends_of_the_calendar(on: str) -> None:
    client = signed_in("auditor")
    for name, named in FILTERS.items():
        if "on" in named:
            shown = client.get(listed(name, f"?on={on}"))
            assert (shown.status_code, list(shown.context["cl"].result_list)) == (200, []), (name, on)
    assert client.get(f"/admin/audit/logentry/exceptions.csv?on={on}").status_code in (200, 400)


@pytest.mark.django_db
def test_a_page_of_a_few_rows_is_a_plain_number() -> None:
    client = signed_in("auditor")
    assert client.get(listed("casino.person", "?p=1")).status_code == 200
    for page in ("๑", "0", "-1", "x", "1.0", "9" * 30):
        assert client.get(listed("casino.person", f"?p={page}")).status_code == 400, page


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["%00", "casino/person/%00/change/", "audit/inspection/a%00/change/", "r/1/%00/"]
)
@pytest.mark.parametrize("who", ["auditor", ""])
def test_a_nul_in_an_address_names_nothing(path: str, who: str) -> None:
    client = signed_in(who) if who else Client()
    assert client.get(f"/admin/{path}").status_code == 404


@pytest.mark.django_db
def test_a_nul_in_a_cookie_is_refused_before_it_is_looked_up() -> None:
    for path in ("/admin/", "/api/v1/tables", "/healthz"):
        client = Client()
        client.cookies["sessionid"] = "a" * 32 + "\0"
        assert client.get(path).status_code == 400


@pytest.mark.django_db
def test_a_name_or_an_address_that_is_none_is_told_so_at_the_sign_in(settings: Any) -> None:
    settings.BEHIND_PROXY = True
    for name in ("x" * 41, "x" * 150, "x" * 5_000):
        answer: Any = Client().post("/admin/login/", {"username": name, "password": "x" * 150})
        assert (answer.status_code, b"errornote" in answer.content) == (200, True)
        answer = Client().post(
            "/api/v1/session",
            {"badge": "M01", "password": "x"},
            content_type="application/json",
            headers={"X-Forwarded-For": name},
        )
        assert answer.status_code in (401, 429)
