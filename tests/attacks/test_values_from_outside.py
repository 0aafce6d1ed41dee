"""No value from outside gets in with which the house cannot compute: at every door, read from the URL map."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework import serializers

from casino.api.shapes import Day, Id, Instant, Number, OneOf, Query, Shape, Whole
from casino.models import Person
from casino.people import PERMISSIONS, RIGHTS
from deploy.local import paths
from settlement.models import CashAct, GamingDay, Run
from tests import world
from tests.architecture.test_tidy import product
from tests.attacks.addresses import Address, doors
from tests.casino.floor import a_table, becomes
from tests.settlement.cage import AtCage

INSTANTS: tuple[Any, ...] = (
    "2026-12-01T06:10:00", "2026-12-01", "20261201T061000Z", "2026-12-01 06:10:00Z", "2026-W49-2T06:10:00Z",
    "๒๕๖๙-๑๒-๐๑T๐๖:๑๐:๐๐Z", "2026-12-01T06:10:60Z", "2026-12-01T06:10:00+0700", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00", "", "now", 1764569400, None, True, [], {},
)  # fmt: skip
"""No instants."""
DAYS = (
    "2026-W49-2",
    "20261201",
    "2026-335",
    "๒๕๖๙-๑๒-๐๑",
    "2026-12-01T00:00:00Z",
    "2026-02-30",
    "0000-01-01",
    "",
)
"""No days."""
FAR_DAYS = ("0001-01-01", "0001-01-02", "1900-01-01", "2569-12-01", "2999-01-01", "9999-12-30", "9999-12-31")
FAR_INSTANTS: tuple[Any, ...] = (
    "0001-01-02T00:00:00Z", "1900-01-01T00:00:00Z", "2569-12-01T06:10:00+07:00", "2999-01-01T00:00:00Z",
    "9999-12-29T23:59:59Z",
)  # fmt: skip
"""Ends of the calendar, and a year of the Buddhist era: readable, and never meant."""
NUMBERS = ("๕", "５", "²", "+5", "05", "5.0", "1e3", "1_000", " 5", "x", "")
IDS = ("x", "7", "01912f3a00007abc8def00000000000a", "{01912f3a-0000-7abc-8def-00000000000a}", "๑1912f3a", "")


# -- every shape that a door reads -----------------------------------------------------------------------------


def all_shapes() -> list[type[Shape]]:
    """Every body and query of every door; importing the URL map has read them all."""
    assert doors()

    def below(kind: type[Shape]) -> Iterator[type[Shape]]:
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    return sorted({*below(Shape)} - {Query}, key=lambda one: f"{one.__module__}.{one.__name__}")


def fields_of(shape: type[Shape]) -> Iterator[tuple[str, serializers.Field[Any, Any, Any, Any]]]:
    for name, field in shape().fields.items():
        yield name, field
        if isinstance(field, serializers.ListField):
            yield f"{name}[]", field.child


FIELDS = [(f"{shape.__name__}.{name}", field) for shape in all_shapes() for name, field in fields_of(shape)]


def test_there_are_shapes_to_try() -> None:
    kinds = {kind: [name for name, field in FIELDS if isinstance(field, kind)] for kind in (
        Instant, Day, Id, Whole, Number, OneOf,
    )}  # fmt: skip
    assert {kind.__name__: len(names) > 2 for kind, names in kinds.items()} == dict.fromkeys(
        ("Instant", "Day", "Id", "Whole", "Number", "OneOf"), True
    )


def test_no_door_reads_an_instant_a_day_a_number_or_an_id_in_a_way_of_its_own() -> None:
    framework = (
        serializers.DateTimeField,
        serializers.DateField,
        serializers.TimeField,
        serializers.DurationField,
        serializers.UUIDField,
        serializers.IntegerField,
        serializers.FloatField,
        serializers.DecimalField,
    )
    ours = (Instant, Day, Id, Whole, Number)
    assert [name for name, f in FIELDS if isinstance(f, framework) and not isinstance(f, ours)] == []


OTHER_READERS = {
    "casino/platform/values.py": "the one reader",
    "audit/verify": "a stranger's check: bare Python, of what was written by us",
    "audit/signed_notes.py": "of a signed note, byte for byte",
    "audit/controls/__init__.py": "of an entry of ours",
    "audit/dossier": "of what was written by us",
    "audit/flags/cash_flags.py": "of an entry of ours",
    "audit/flags/doors.py": "of an entry of ours",
    "casino/people/duties.py": "of appointments, as the database writes them",
    "casino/people/sessions.py": "of the session, written by us",
    "casino/rounds/locked_batch.py": "of duties, as the database writes them",
    "audit/api/reauthentication.py": "of the session, written by us",
    "audit/admin/calendars.py": "a day in a calendar that is drawn",
    "settlement/settling/review_findings.py": "of an event's row, written by us",
    "settlement/table_floats/variance_thresholds.py": "of a setting",
    "settlement/reports": "of a report of ours",
    "settlement/statements/statement_values.py": "the digits of an amount with its point",
    "casino/api/strict_json.py": "a number of JSON",
    "deploy/recordings": "of a recording that we play",
    "deploy/environment.py": "of a setting",
    "deploy/csp_reports.py": "the length of a browser's report",
}
READERS = {"fromisoformat", "strptime", "parse_date", "parse_datetime", "isdecimal", "isdigit", "isnumeric"}


def test_nobody_else_reads_a_time_a_day_or_a_number() -> None:
    found = set()
    for path in product():
        name = str(path.relative_to(paths.CLONE))
        if "/migrations/" in name or any(name.startswith(one) for one in OTHER_READERS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in READERS:
                found.add((name, node.attr))
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "query_params"
                and name not in ("casino/api/shapes.py", "casino/api/door.py")  # which read it for all
            ):
                found.add((name, node.attr))
    assert found == set()


def refusal(field: serializers.Field[Any, Any, Any, Any], value: Any) -> str:
    """The code with which a field refuses a value; empty where it takes it."""
    try:
        field.run_validation(value)
    except serializers.ValidationError as refused:
        return str(refused.get_codes()[0])  # type: ignore[index]
    return ""


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(Instant, INSTANTS), (Day, DAYS), (Id, IDS), (Number, NUMBERS)],
    ids=lambda one: str(one)[:30],
)
def test_what_is_not_written_as_such_is_refused_by_every_field_of_its_kind(kind: Any, wrong: Any) -> None:
    taken = [
        (name, value)
        for name, field in FIELDS
        if isinstance(field, kind)
        for value in wrong
        if not (value is None and field.allow_null) and refusal(field, value) not in ("malformed", "null")
    ]
    assert taken == []


def test_no_number_is_larger_than_the_database_keeps() -> None:
    for value in (2**63, -(2**63) - 1, 10**30):
        taken = [name for name, f in FIELDS if isinstance(f, Whole) and not refusal(f, value)]
        taken += [name for name, f in FIELDS if isinstance(f, Number) and not refusal(f, str(value))]
        assert taken == []


def test_a_word_that_is_not_one_of_those_is_refused_and_says_which_are() -> None:
    for name, field in FIELDS:
        if isinstance(field, OneOf):
            with pytest.raises(serializers.ValidationError) as refused:
                field.run_validation("nonsense")
            said = str(refused.value)
            assert all(str(choice) in said for choice in field.choices), name


# -- every query ---------------------------------------------------------------------------------------------------


def let_in(right: str) -> Client:
    """Somebody who holds a right everywhere, with every narrower duty."""
    client = Client()
    if right != "public":
        everywhere = [role for role, scope in RIGHTS[right].items() if scope.value == "all"]
        role = "auditor" if "auditor" in everywhere else next(iter(everywhere), "")
        if not role:
            return client  # a device's, or of whoever is on duty: a stranger is told so
        person = Person.objects.filter(badge=f"V-{role}").first()
        if person is None:
            duties = [name for name, roles in PERMISSIONS.items() if role in roles]
            person = world.a_person(role=role, badge=f"V-{role}", permissions=duties)
        client.force_login(person)
    return client


def said(answer: Any) -> tuple[int, str, list[str]]:
    body = json.loads(answer.content)
    return answer.status_code, body.get("code", ""), sorted(body.get("fields", ()))


@pytest.mark.django_db
def test_a_parameter_that_an_address_does_not_know_is_refused_by_its_name_at_every_address() -> None:
    a_table()
    wrong, tried = [], 0
    for address in doors():
        for method, right in address.declares.items():
            if right != "public" and not any(scope.value == "all" for scope in RIGHTS[right].values()):
                continue
            tried += 1
            if address.pattern == "api/v1/session":
                continue  # whoever signs in or out there is somebody else afterwards
            answer = let_in(right).generic(
                method, address.path(code="PD01") + "?nonsense=1", b"{}", "application/json"
            )
            if said(answer) != (400, "unknown_field", ["nonsense"]):
                wrong.append((method, address.pattern, said(answer)))
    assert (wrong, tried > 90) == ([], True)


def queries() -> list[tuple[Address, str, str, serializers.Field[Any, Any, Any, Any]]]:
    return [
        (address, method, name, field)
        for address in doors()
        for method, shape in address.view.queries.items()
        for name, field in shape().fields.items()
    ]


BAD: dict[type[Any], tuple[str, ...]] = {
    Instant: tuple(one for one in INSTANTS if isinstance(one, str)),
    Day: (*DAYS, *FAR_DAYS),
    Id: IDS,
    Number: (*NUMBERS, "-1", str(2**63), "9" * 400),
    OneOf: ("nonsense", "", "๕"),
    serializers.CharField: ("x" * 5_000,),
}


@pytest.mark.django_db
def test_every_parameter_of_every_query_is_refused_by_its_name_where_it_cannot_be_meant() -> None:
    a_table()
    assert len(queries()) > 50
    wrong = []
    for address, method, name, field in queries():
        kind = next(kind for kind in BAD if isinstance(field, kind))
        client = let_in(address.declares[method])
        for value in BAD[kind]:
            answer = client.generic(method, address.path(code="PD01"), query_params={name: value})
            if name == "cursor" and kind is Day and value in FAR_DAYS:
                continue  # a place in a list, not a day that is asked for
            status, _, fields = said(answer)
            # An account, a round or a screen that is not there is looked for first.
            if status == 404 and len(address.names) and kind is Day and value in FAR_DAYS:
                continue
            if status not in (400, 422) or name not in fields:
                wrong.append((address.pattern, name, value[:40], said(answer)))
    assert wrong == []


@pytest.mark.django_db
def test_a_parameter_given_twice_is_refused() -> None:
    answer = let_in("read_days").get("/api/v1/days?limit=1&limit=2")
    assert said(answer) == (400, "malformed", ["limit"])


@pytest.mark.django_db
def test_the_description_names_the_parameters_of_each_query_and_no_others() -> None:
    described = json.loads(Client().get("/api/schema/").content)["paths"]
    for address in doors():
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", address.pattern)
        for method in address.declares:
            shape = address.view.queries.get(method)
            named = {
                one["name"]
                for one in described[path][method.lower()].get("parameters", ())
                if one["in"] == "query"
            }
            assert named == (set(shape().fields) if shape else set()), (path, method)


# -- every value in an address -------------------------------------------------------------------------------------


def addresses_naming(kind: str, name: str = "") -> list[tuple[Address, str, str]]:
    return [
        (address, method, found)
        for address in doors()
        for found in re.findall(rf"<{kind}:(\w+)>", address.pattern)
        if not name or found == name
        for method in address.declares
    ]


@pytest.mark.django_db
def test_no_day_in_an_address_is_taken_that_the_house_has_not() -> None:
    a_table()
    tried = addresses_naming("str", "day")
    assert {address.pattern.split("<str:day>")[0].split("/")[2] for address, _, _ in tried} == {
        "days",
        "accounts",
    }
    wrong = []
    for address, method, _ in tried:
        client = let_in(address.declares[method])
        for day in (*DAYS[:-1], *FAR_DAYS, (timezone.now() + timedelta(days=3)).date().isoformat()):
            answer = client.generic(
                method,
                address.path(day=day, code="cage:C1:vault"),
                json.dumps({"tables": []} if address.pattern.endswith("open") else {}).encode(),
                "application/json",
                headers={"Idempotency-Key": str(uuid4())},
            )
            if answer.status_code not in (400, 404, 422):
                wrong.append((method, address.pattern, day, said(answer)))
    assert wrong == []
    assert not GamingDay.objects.filter(day__lt=timezone.now().date() - timedelta(days=1)).exists()


@pytest.mark.django_db
def test_no_number_in_an_address_is_larger_than_the_database_keeps() -> None:
    a_table()
    tried = addresses_naming("int")
    assert len({address.pattern for address, _, _ in tried}) >= 3
    for address, method, name in tried:
        for number in (2**63, 10**30):
            answer = let_in(address.declares[method]).generic(
                method, address.path(**{name: number}), b"{}", "application/json"
            )
            assert said(answer)[:2] == (404, "not_found"), (method, address.pattern, number)


@pytest.mark.django_db
def test_a_code_in_an_address_that_is_none_names_nothing() -> None:
    a_table()
    wrong = []
    for address, method, name in addresses_naming("str"):
        if name == "day":
            continue
        for code in ("%00", "๕๕", "x" * 3_000, "%F0%9F%82%A1", "%ff", "a%0Ab"):
            answer = let_in(address.declares[method]).generic(
                method, address.path(**{name: "CODE"}).replace("CODE", code), b"{}", "application/json",
                headers={"Idempotency-Key": str(uuid4())},
            )  # fmt: skip
            if not 400 <= answer.status_code < 500:
                wrong.append((method, address.pattern, code[:20], answer.status_code))
    assert wrong == []


# -- bounds --------------------------------------------------------------------------------------------------------

BOUNDS = {
    "BuyInShape.happened_at": "happened",
    "WalletShape.happened_at": "happened",
    "RangeShape.since": "happened",
    "RangeShape.until": "happened",
    "ReconciliationShape.gaming_day": "asked",
    "AnalysisRunShape.gaming_day": "asked",
    "AppointmentShape.from": "takes effect",
    "AppointmentShape.until": "takes effect",
    "RightsShape.from": "takes effect",
    "RightsShape.until": "takes effect",
    "NewcomerShape.from": "takes effect",
    "NewcomerShape.until": "takes effect",
    "InForceShape.in_force_from": "takes effect",
    "KeyShape.expires_at": "takes effect",
    "RotationShape.expires_at": "takes effect",
    "SnoozeShape.until": "takes effect: not after the deadline",
    "StartHourShape.from_day": "takes effect: a day that has not begun, nor the one before it",
    "StartHourApprovalShape.from_day": "what was proposed, repeated",
    "RuleShape.first_day": "a rule's days",
    "RuleShape.last_day": "a rule's days",
    "StateShape.sent_at": "a device's own clock: only read",
    "DaysQuery.cursor": "a place in a list: only read",
    "ReportQuery.gaming_day": "asked",
    "PaySlipsQuery.gaming_day": "asked",
    "SlipsQuery.gaming_day": "asked",
    "RunsQuery.gaming_day": "asked",
    "RundownQuery.gaming_day": "asked",
    "BreaksQuery.gaming_day": "asked",
    "DayQuery.gaming_day": "asked",
}
"""Where each instant and each day that a door takes may lie. One that is new needs its place here, and its bounds."""


def test_each_instant_and_day_that_a_door_takes_has_its_bounds() -> None:
    found = {name for name, field in FIELDS if isinstance(field, (Instant, Day))}
    assert found - set(BOUNDS) == set()


@pytest.fixture
def cage() -> AtCage:
    return AtCage(world.a_person(role="cashier", badge="C01"))


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["deposits", "withdraws"])
def test_cash_cannot_have_changed_hands_before_the_house_or_after_now(cage: AtCage, way: str) -> None:
    world.founded(at=timezone.now() - timedelta(days=2))
    moves = getattr(cage, way)
    for at in INSTANTS:
        answer = moves("A17", 100_00, happened_at=at)
        assert said(answer) == (400, "malformed", ["happened_at"]), at
    now = timezone.now()
    for at in (
        *FAR_INSTANTS,
        *(t.isoformat() for t in (now - timedelta(days=4), now + timedelta(seconds=90))),
    ):
        answer = moves("A17", 100_00, happened_at=at)
        assert said(answer) == (422, "invalid_value", ["happened_at"]), at
    assert not CashAct.objects.exists()

    for at in (now - timedelta(days=1), now + timedelta(seconds=30)):
        assert cage.deposits("A17", 100_00, happened_at=at.isoformat()).status_code == 201
    assert [act.happened_at.tzinfo for act in CashAct.objects.all()] == [UTC, UTC]


@pytest.mark.django_db
def test_a_house_whose_clock_ran_ahead_when_it_began_does_not_stand_still(cage: AtCage) -> None:
    world.founded(at=datetime(2569, 12, 1, tzinfo=UTC))
    assert cage.deposits("A17", 100_00, happened_at=timezone.now().isoformat()).status_code == 201


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["reconciliations", "analytics/runs"])
def test_no_run_is_begun_for_a_day_that_the_house_has_not(path: str) -> None:
    world.founded(at=timezone.now() - timedelta(days=2))
    manager = AtCage(world.a_manager())
    for day in (*DAYS, None, 20261201):
        status, code, fields = said(manager.asks("POST", path, {"gaming_day": day}))
        assert (status, code, fields) == (400, "malformed", ["gaming_day"]), day
    near = [(timezone.now() + timedelta(days=days)).date().isoformat() for days in (-5, 3)]
    for day in (*FAR_DAYS, *near):
        assert said(manager.asks("POST", path, {"gaming_day": day})) == (
            422,
            "invalid_value",
            ["gaming_day"],
        ), day
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_no_rule_sheet_comes_into_force_in_more_than_ten_years() -> None:
    house = world.a_house()
    sheet, table = house.tables["PD01"].sheet, house.tables["PD01"]
    for person in Person.objects.filter(role="manager"):
        becomes(person, "manager", ["rules_approver"])
    manager = AtCage(house.author)
    body = {"sheet": str(sheet.id), "badge": "M02", "pin": world.PIN}
    now = timezone.now()
    for at, code in (
        ("2569-12-01T06:10:00+07:00", "invalid_value"),
        ((now + timedelta(days=3_660)).isoformat(), "invalid_value"),
        ("0001-01-02T00:00:00Z", "rules_for_the_past"),
    ):
        answer = manager.asks("POST", f"tables/{table.code}/rule-sheets", body | {"in_force_from": at})
        assert said(answer) == (422, code, ["in_force_from"]), at
    ahead = (now + timedelta(days=3_650)).isoformat()
    answer = manager.asks("POST", f"tables/{table.code}/rule-sheets", body | {"in_force_from": ahead})
    assert answer.status_code == 201, answer.content


@pytest.mark.django_db
def test_a_devices_word_of_its_own_clock_needs_only_be_readable() -> None:
    tablet = a_table().tablet
    for at, status in (
        ("1970-01-01T00:00:00Z", 200),
        ("2569-12-01T06:10:00+07:00", 200),
        ("2026-12-01T06:10:00", 400),
    ):
        answer = Client().put(
            "/api/v1/devices/self/state",
            json.dumps({"next": 1, "unsent": 0, "sent_at": at}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {tablet.token}"},
        )
        assert answer.status_code == status, (at, answer.content)


@pytest.mark.django_db
def test_pieces_that_nobody_could_count_are_refused() -> None:
    house = world.a_house()
    supervisor = AtCage(house.tables["PD01"].supervisor)
    lines = [{"denomination": 10**12 - 1 - number, "pieces": 10**6 - 1} for number in range(40)]
    for path, body in (
        ("fills", {"lines": lines}),
        ("credits", {"lines": lines}),
        ("counts", {"kind": "closer", "lines": lines}),
    ):
        answer = supervisor.asks("POST", f"tables/PD01/{path}", body)
        assert said(answer) == (422, "invalid_value", ["lines"]), (path, answer.content)
