"""What a body is sent as: compared without case, parameters tolerated, another charset refused, at every door."""

from __future__ import annotations

import pytest
from django.test import Client

from casino.models import Role
from casino.people import RIGHTS
from deploy.openapi import document
from tests.attacks.addresses import doors
from tests.attacks.test_rights import NARROWER
from tests.casino.floor import a_person, a_round_id, a_table, opens

LETTERS = "application/json; charset=iso-8859-1"
WRITTEN = ("Application/Json", "application/json;charset=utf-8", 'APPLICATION/JSON; charset="UTF-8"; v=1')


def writes() -> list[tuple[str, str, str]]:
    """Path, method and right of each write that takes JSON, by the description."""
    rights = {
        (
            f"/{address.pattern}".replace("<uuid:", "<").replace("<int:", "<").replace("<str:", "<"),
            method,
        ): right
        for address in doors()
        for method, right in address.declares.items()
    }
    return [
        (path, method.upper(), rights[path.replace("{", "<").replace("}", ">"), method.upper()])
        for path, item in document()["paths"].items()
        for method, one in item.items()
        if "application/json" in one.get("requestBody", {}).get("content", {})
    ]


def address(path: str) -> str:
    known = {"{code}": "PD01", "{ref}": "A17", "{no}": "P-2026-000001", "{day}": "2026-03-01"}
    for name, value in known.items():
        path = path.replace(name, value)
    for name in ("{first}", "{last}", "{delivery}"):
        path = path.replace(name, "7")
    return "/".join(
        "01957000-0000-7000-8000-000000000000" if part[:1] == "{" else part for part in path.split("/")
    )


@pytest.fixture
def staff(db: None) -> dict[str, Client]:
    clients = {}
    for role in Role.values:
        clients[role] = Client()
        clients[role].force_login(a_person(role, permissions=() if role == Role.ADMINISTRATOR else NARROWER))
    return clients


def test_every_door_reads_json_in_whatever_case_its_type_is_written(staff: dict[str, Client]) -> None:
    tried = 0
    for path, method, right in writes():
        role = next((role for role in RIGHTS[right] if role in staff), None)
        if role is None:
            continue
        tried += 1
        for kind, refused in [*((kind, False) for kind in WRITTEN), (LETTERS, True)]:
            key = {"Idempotency-Key": f"{tried}-{kind}"}
            answer = staff[role].generic(method, address(path), "{}", kind, headers=key)
            if answer.status_code == 404 or "day" in answer.json().get("fields", {}):
                continue  # what is named in the address is looked for first
            assert (answer.status_code == 415) is refused, (path, method, kind, answer.content)
    assert tried > 40


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "batch"),
    [
        ("application/CloudEvents+JSON", False),
        ("application/CloudEvents-Batch+JSON", True),
        ("application/cloudevents-batch+json; charset=UTF-8", True),
    ],
)
def test_events_come_in_whatever_case_their_type_is_written(kind: str, batch: bool) -> None:
    tablet = a_table().tablet
    event = opens(tablet, a_round_id())
    answer = tablet.posts([event] if batch else event, content_type=kind)
    assert [one["outcome"] for one in answer.json()["events"]] == ["recorded"]


@pytest.mark.django_db
def test_events_in_another_charset_are_not_read() -> None:
    tablet = a_table().tablet
    answer = tablet.posts(
        opens(tablet, a_round_id()), content_type="application/cloudevents+json; charset=tis-620"
    )
    assert (answer.status_code, answer.json()["fields"]) == (415, {"Content-Type": "charset=utf-8, or none"})
