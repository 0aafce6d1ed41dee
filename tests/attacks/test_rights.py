"""Deny by default: whoever has no right is told no, at every address and by every method, now and for what is built
next."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory, force_authenticate
from rest_framework.views import APIView

from audit.models import LogEntry
from casino import devices, keys
from casino.api.door import Door
from casino.models import Role
from casino.people import RIGHTS, Scope
from tests.attacks import matrix
from tests.attacks.addresses import API, METHODS, Address, doors, everything, is_door
from tests.casino.floor import NOW, Floor, a_person, a_table, act
from tests.settlement.cage import a_key

PRINCIPALS = (*Role.values, "terminal", "camera", keys.ROLE, "")
"""Roles of people, the two kinds of devices, another system with a key for all that keys are made for, and somebody
who did not say who they are."""

NO_DOORS = {
    "": "leads to the admin, which asks who comes",
    "api/schema/": "what the interface is, is no secret",
    "api/docs/": "the same, to be read by people",
    "api/docs/camera/": "how a camera is connected",
    "api/docs/cashier-system/": "how a cashier system is connected",
    "healthz": "says whether the service lives, and nothing else",
    "csp-reports/": "browsers report there by themselves; a log line comes of it",
}
"""Addresses that ask nobody for a right, and why not."""


NARROWER = ("runner", "counter", "accounting", "rules_author", "rules_approver", "see_expected")
"""Permissions that take something out of a role's column: whoever holds all of them has the whole column."""


def knocker(role: str, floor: Floor) -> tuple[Client, dict[str, str]]:
    """Somebody of this role who is on duty nowhere, with what they say of themselves."""
    if role in ("terminal", "camera"):
        teller = floor.tablet if role == "terminal" else floor.camera
        return Client(), {"Authorization": f"Bearer {teller.token}"}
    if role == keys.ROLE:
        _, token = a_key()
        return Client(), {"Authorization": f"Bearer {token}"}
    client = Client()
    if role:
        client.force_login(a_person(role, permissions=() if role == "administrator" else NARROWER))
    return client, {}


LINES = matrix.lines()


def name_of(address: Address, method: str) -> str:
    """How the matrix calls an address and a method; what may be read may be asked for without its body."""
    return f"{'GET' if method == 'HEAD' else method} {address.pattern.removeprefix(API)}"


def allowed(address: Address, method: str, role: str) -> int | None:
    """The status of the refusal that the matrix asks for, None where it lets them in."""
    name = name_of(address, method)
    if name in matrix.PUBLIC:
        return None
    if name not in LINES:
        return 405
    if not role:
        return 401
    return 403 if LINES[name].cell(role) in "–t" else None


def test_the_matrix_names_every_address_and_every_method_once_and_no_other() -> None:
    served = {name_of(address, method) for address in doors() for method in address.declares}
    assert served == set(LINES) | matrix.PUBLIC
    assert not set(LINES) & matrix.PUBLIC


def test_no_address_lets_in_whom_its_row_refuses_and_whoever_reads_only_reads() -> None:
    for line in LINES.values():
        for role, cell, of_row in zip(matrix.COLUMNS, line.cells, line.row or line.cells, strict=True):
            assert of_row != "–" or cell in "–t", (line.name, role)
            assert of_row != "r" or cell == "–" or line.name.startswith("GET "), (line.name, role)
            assert cell != "r" or line.name.startswith("GET "), (line.name, role)


@pytest.mark.parametrize("name", sorted(LINES))
def test_the_services_table_of_rights_says_what_the_matrix_says(name: str) -> None:
    """The service's own table, held against the page and never the other way round."""
    (right,) = {
        right
        for address in doors()
        for method, right in address.declares.items()
        if name_of(address, method) == name
    }
    means: dict[str, set[Scope | None]] = {
        "D": {Scope.DUTY},
        "o": {Scope.OWN, Scope.KEY},
        "–": {None},
        "t": {None},
    }
    for role, cell in zip(matrix.COLUMNS, LINES[name].cells, strict=True):
        assert RIGHTS[right].get(role) in means.get(cell, {Scope.ALL}), (role, cell)


def test_there_are_addresses_to_try() -> None:
    assert len(doors()) > 20
    assert {method for address in doors() for method in address.declares} == {"GET", "POST", "PUT", "DELETE"}


@pytest.mark.parametrize("address", doors(), ids=lambda address: address.pattern)
def test_every_address_declares_the_right_that_each_of_its_methods_needs(address: Address) -> None:
    assert is_door(address), "not a Door: nothing asks who may come in"
    takes = {method for method in METHODS if method.lower() in vars_of(address.view)} - {"HEAD"}
    assert set(address.declares) == takes
    assert set(address.declares.values()) <= set(RIGHTS)


def vars_of(view: Any) -> set[str]:
    """The methods that a door's classes answer by themselves."""
    return {name for kind in view.__mro__ if issubclass(kind, Door) for name in vars(kind)} - {"options"}


def test_whatever_lies_beside_the_interface_is_named_with_its_reason() -> None:
    beside = {address.pattern for address in everything()} - {address.pattern for address in doors()}
    assert {pattern for pattern in beside if not pattern.startswith("admin/")} == set(NO_DOORS)


def test_no_public_door_is_added_unnoticed() -> None:
    public = {(a.pattern, m) for a in doors() for m, right in a.declares.items() if right == "public"}
    assert public <= {
        ("api/v1/session", "POST"),  # to sign in
        ("api/v1/people/take-over", "POST"),  # with a code that was handed over
        ("api/v1/devices/enrolments", "POST"),  # with a code of the device's own
        ("api/v1/audit/checkpoint", "GET"),  # for anybody to keep
        ("api/v1/audit/consistency", "GET"),
        ("api/v1/audit/proof", "GET"),
        ("api/v1/webhooks/schedule", "GET"),  # for whoever receives them
    }


class Undeclared(Door):
    """A door somebody forgot to declare."""

    def get(self, request: Request) -> Response:
        return Response({"secret": 1})


class NotEvenADoor(APIView):
    """A view that knows nothing of the house."""

    def get(self, request: Request) -> Response:
        return Response({"secret": 1})


class HalfDeclared(Undeclared):
    declares: ClassVar = {"POST": "settle"}


@pytest.mark.django_db
@pytest.mark.parametrize(("view", "status"), [(Undeclared, 403), (NotEvenADoor, 403), (HalfDeclared, 405)])
@pytest.mark.parametrize("who", ["manager", ""])
def test_a_door_that_declares_no_right_lets_nobody_in(view: Any, status: int, who: str) -> None:
    request = APIRequestFactory().get("/api/v1/forgotten")
    force_authenticate(request, a_person(who) if who else AnonymousUser())
    answer = view.as_view()(request)
    answer.render()
    assert answer.status_code == status
    assert b"secret" not in answer.content


@pytest.mark.django_db
@pytest.mark.parametrize("role", PRINCIPALS)
def test_each_is_let_in_or_refused_at_every_address_as_the_matrix_says(role: str) -> None:
    floor = a_table()
    client, headers = knocker(role, floor)
    wrong = []
    for address in doors():
        LogEntry.objects.exists()  # a stranger's requests ask the database for nothing, and it ends who is idle
        for method in methods_for(role, address):
            answer = client.generic(method, address.path(), b"{}", "application/json", headers=headers)
            expected = allowed(address, method, role)
            forbidden = answer.status_code in (401, 403) and is_refusal(answer, method)
            fine = not forbidden and answer.status_code not in (405, 500) if expected is None else (
                answer.status_code == expected
            )  # fmt: skip
            if method == "DELETE" and role and address.pattern == "api/v1/session":
                client, headers = knocker(role, floor)
            if not fine:
                wrong.append((method, address.pattern, answer.status_code, expected))
    assert wrong == []


def methods_for(role: str, address: Address) -> list[str]:
    """Every method for who may do most and for a stranger; for the others those that are taken, and one that is not."""
    return [method for method in METHODS if role in ("manager", "") or method in (*address.declares, "PATCH")]


def is_refusal(answer: Any, method: str) -> bool:
    """Whether who asks was the reason (a wrong PIN or another's duty is not)."""
    return method == "HEAD" or answer.json()["code"] in ("forbidden", "not_signed_in", "invalid_token")


@pytest.mark.django_db
def test_a_forbidden_act_is_a_problem_without_effect_and_an_entry_in_the_log() -> None:
    a_table()
    client = Client()
    cashier = a_person("cashier")
    client.force_login(cashier)

    answer = client.post("/api/v1/tables/PD01/stop", b'{"reason":"other"}', "application/json")

    assert (answer.status_code, answer["Content-Type"]) == (403, "application/problem+json")
    assert answer.json()["code"] == "forbidden"
    entry = LogEntry.objects.get(action="act.refused")
    assert (entry.person, entry.role, entry.subject) == (cashier.id, "cashier", "/api/v1/tables/PD01/stop")
    assert entry.request_id == answer["X-Request-Id"]


@pytest.mark.django_db
def test_a_stranger_is_counted_and_not_written_down() -> None:
    a_table()
    answer = Client().get("/api/v1/tables")
    assert (answer.status_code, answer.json()["code"], answer["WWW-Authenticate"]) == (
        401,
        "not_signed_in",
        "Bearer",
    )
    assert not LogEntry.objects.filter(action="act.refused").exists()


@pytest.mark.django_db
def test_a_stranger_cannot_fill_the_log() -> None:
    a_table()
    client = Client()
    for address in doors():
        client.put(address.path(), b"{", "application/json")
    for body in (b"", b"{", b"{}", b'{"badge":1}', b'{"badge":"M01","password":"x"}'):
        client.post("/api/v1/session", body, "application/json")
    assert not LogEntry.objects.filter(action="act.refused").exists()


@pytest.mark.django_db
def test_a_write_without_its_token_is_written_down_though_nobody_is_known_by_then() -> None:
    a_table()
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_person("manager"))
    client.post("/api/v1/tables/PD01/stop", b"{}", "application/json")
    assert LogEntry.objects.get(action="act.refused").subject == "/api/v1/tables/PD01/stop"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scheme", "token"),
    [("Bearer", ""), ("bearer", "pdd_forged"), ("Bearer", "pdk_forged"), ("Bearer", "\u00e9")],
)
def test_a_forged_token_opens_no_door_not_even_a_public_one(scheme: str, token: str) -> None:
    a_table()
    for address in doors():
        method = next(iter(address.declares))
        answer = Client().generic(
            method, address.path(), b"{}", "application/json",
            headers={"Authorization": f"{scheme} {token}".encode().decode("latin-1")},
        )  # fmt: skip
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token"), address.pattern


@pytest.mark.django_db
def test_a_revoked_device_is_shut_out_everywhere() -> None:
    floor = a_table()
    with act():
        devices.revoke(device=floor.tablet.device, now=NOW)
    answers = {
        floor.tablet.asks("GET", address.path().removeprefix("/api/v1/")).status_code for address in doors()
    }
    assert answers == {401}


@pytest.mark.django_db
def test_405_says_what_the_address_does_take() -> None:
    floor = a_table()
    answer = floor.tablet.asks("GET", "tables/PD01/events")
    assert (answer.status_code, answer.json()["code"], answer["Allow"]) == (405, "method_not_allowed", "POST")
    answer = floor.tablet.asks("DELETE", "tables")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.django_db
def test_a_revoked_key_is_shut_out_everywhere() -> None:
    floor = a_table()
    key, token = a_key(tables=["PD01"])
    with act():
        keys.revoke(key=key.id, by=key.created_by)
    headers = {"Authorization": f"Bearer {token}"}
    answers = {
        Client().generic("GET", address.path(code=floor.table.code), headers=headers).status_code
        for address in doors()
    }
    assert answers == {401}


@pytest.mark.django_db
def test_a_key_is_shut_out_from_elsewhere_also_of_public_doors() -> None:
    a_table()
    _, token = a_key(addresses=["203.0.113.0/24"])
    headers = {"Authorization": f"Bearer {token}"}
    for address in doors():
        method = next(iter(address.declares))
        answer = Client().generic(method, address.path(), b"{}", "application/json", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), address.pattern
