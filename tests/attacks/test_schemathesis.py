"""The description taken at its word: what it lets in and what it does not, asked by every kind of caller.

Cases are made by schemathesis from the description, seeded, two good and two bad ones for each operation, and asked by
whoever may; one good case is asked by everybody else. ``--full`` asks more. No answer is a failure of ours, none is
undescribed, and nothing is accepted that the description does not let in (``tests.answers``).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from casino import keys
from casino.models import Role
from casino.people import RIGHTS
from deploy.openapi import document
from tests import answers
from tests.attacks.test_rights import knocker
from tests.casino.floor import Floor, a_person, a_table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]

CALLERS = (*Role.values, "terminal", "camera", keys.ROLE, "")
NOT_ASKED = {"signIn", "signOut"}
"""Whoever asks them is somebody else afterwards."""
FEW, MANY = 2, 25
SIGNED = {"badge": "M77", "pin": "492817"}
"""A second person, of the two who sign at a desk: without them, many operations look at nothing else."""
FROM = itertools.count(int(IPv4Address("10.0.0.1")))
"""Each case comes from an address of its own, so that no wrong secret keeps the next one waiting."""


@lru_cache(maxsize=1)
def operations() -> tuple[Any, ...]:
    plain = json.loads(json.dumps(document(), default=str))
    plain.pop("webhooks")
    found = [result.ok() for result in schemathesis.openapi.from_dict(plain).get_all_operations()]  # type: ignore[union-attr]
    return tuple(one for one in found if one.definition.raw["operationId"] not in NOT_ASKED)


def cases(operation: Any, mode: GenerationMode, count: int) -> Iterator[Any]:
    """Yield so many cases; fewer where there are no more, none where nothing about an operation can be wrong."""
    known = {"code": "PD01"} if operation.path.startswith("/api/v1/tables/") else None
    made: list[Any] = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=known))
    def make(case: Any) -> None:
        made.append(case)

    try:
        make()
    except Unsatisfiable:
        assert not made
    yield from made[:count]


def body_of(case: Any, *, signed: bool) -> bytes:
    body = b"" if type(case.body).__name__ == "NotSet" else case.body
    if signed and isinstance(body, dict) and SIGNED.keys() <= body.keys():
        body = body | SIGNED
    if isinstance(body, bytes):
        return body
    return body.encode(errors="replace") if isinstance(body, str) else json.dumps(body, default=str).encode()


def asked(case: Any, client: Client, headers: dict[str, str], *, signed: bool = False) -> str | None:
    """Ask one case; return what was wrong with the answer, None for nothing."""
    body = body_of(case, signed=signed)
    path = quote(case.formatted_path, safe="/%")
    query = urlencode(case.query or {}, doseq=True, errors="replace")
    said = {name: str(value) for name, value in (case.headers or {}).items() if str(value).isascii()}
    answers.complaints.clear()
    answer = client.generic(
        case.method, f"{path}?{query}" if query else path, body, case.media_type or "application/json",
        headers=said | headers, REMOTE_ADDR=str(IPv4Address(next(FROM))),
    )  # fmt: skip
    wrong = [f"{case.method} {path}?{query} {body[:300]!r}: {complaint}" for complaint in answers.complaints]
    answers.complaints.clear()
    if wrong:
        return wrong[0]
    return None if answer.status_code < 500 else f"{case.method} {path}: {answer.status_code}"


def may(operation: Any) -> str:
    """A caller who may ask this operation somewhere."""
    for address in answers.addresses():
        if address.template == operation.path:
            roles = RIGHTS[address.declares[operation.method.upper()]]
            return next((role for role in CALLERS if role in roles), "")
    raise AssertionError(operation.path)


def wrongs(count: int) -> list[str]:
    floor: Floor = a_table()
    a_person("manager", SIGNED["badge"], pin=SIGNED["pin"])
    callers = {role: knocker(role, floor) for role in CALLERS}
    found: list[str | None] = []
    for operation in operations():
        good = list(cases(operation, GenerationMode.POSITIVE, count))
        right = may(operation)
        found += [asked(case, *callers[right], signed=True) for case in good]
        found += [asked(case, *callers[right]) for case in cases(operation, GenerationMode.NEGATIVE, count)]
        found += [asked(good[0], *callers[role]) for role in CALLERS if role != right and good]
    return [wrong for wrong in found if wrong]


def test_there_is_much_to_ask() -> None:
    assert len(operations()) > 130


def test_no_caller_gets_a_failure_or_what_is_not_described_or_past_the_description() -> None:
    assert wrongs(FEW) == []


@pytest.mark.full
def test_nor_do_they_when_they_ask_more() -> None:
    assert wrongs(MANY) == []
