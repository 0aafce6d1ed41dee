"""Whoever signs beside somebody: the same person, a person without the right, and an actor without the right are three
different answers, at every door that takes a second person."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from casino.models import Person
from casino.platform import refusals
from settlement import slips
from tests.attacks import matrix
from tests.casino.floor import PIN, a_person, a_table, act

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Act:
    """An act of two: who asks, who may sign beside them, and what else its body says."""

    path: str
    by: str
    second: str
    body: Callable[[], dict[str, Any]]
    permissions: tuple[str, ...] = ()
    about: str = ""
    """The badge of a cashier who has to be there."""


def in_a_year() -> str:
    return (timezone.now() + timedelta(days=365)).strftime("%Y-%m-%dT00:00:00Z")


ACTS = {
    "POST keys": Act(
        "keys", "administrator", "manager",
        lambda: {
            "system": "royal", "scopes": ["read_wallets"], "tables": [], "cages": [], "wallets": "none",
            "addresses": ["203.0.113.0/24"], "expires_at": in_a_year(),
        },
    ),
    "POST webhooks/targets": Act(
        "webhooks/targets", "administrator", "manager", lambda: {"host": "hooks.example", "port": 443},
    ),
    "POST shifts": Act("shifts", "manager", "supervisor", lambda: {"tables": ["PD01"]}),
    "POST shifts/<uuid:shift>/close": Act(f"shifts/{uuid4()}/close", "manager", "supervisor", dict),
    "POST days/<str:day>/seal": Act("days/2026-03-01/seal", "auditor", "auditor", dict, ("accounting",)),
    "POST matching-rules": Act(
        "matching-rules", "manager", "manager",
        lambda: {"id": "fee", "kind": "EXT_FEE", "accounts": "cage:C1", "most": 100, "first_day": "2026-03-01"},
    ),
    "POST people": Act(
        "people", "administrator", "manager",
        lambda: {"person": {"badge": "A77", "display_name": "A77", "staff_no": "4711", "role": "auditor"}},
    ),
    "POST people/<str:badge>/appointments": Act(
        "people/D77/appointments", "administrator", "manager", lambda: {"role": "cashier"}, about="D77",
    ),
    "POST people/<str:badge>/hand-overs": Act(
        "people/D77/hand-overs", "administrator", "manager", dict, about="D77",
    ),
    "POST tables": Act("tables", "manager", "administrator", lambda: {"code": "PD77", "camera": False}),
    "POST tables/<str:code>/end": Act("tables/PD01/end", "manager", "administrator", dict),
    "POST cages": Act("cages", "manager", "administrator", lambda: {"code": "C77"}),
    "POST cages/<str:code>/end": Act("cages/C1/end", "manager", "administrator", dict),
    "POST cages/<str:code>/stock": Act(
        "cages/C1/stock", "manager", "administrator",
        lambda: {
            "amount": {"amount": 100_00, "currency": "THB"}, "document": "4711",
            "lines": [{"denomination": 100_00, "pieces": 1}],
        },
    ),
    "POST tables/<str:code>/rule-sheets": Act(
        "tables/PD01/rule-sheets", "manager", "manager", lambda: {"sheet": str(uuid4())}
    ),
}  # fmt: skip


def answered(actor: Person, made: Act, second: Person) -> tuple[int, str]:
    client = Client()
    client.force_login(actor)
    answer = client.post(
        f"/api/v1/{made.path}", json.dumps(made.body() | {"badge": second.badge, "pin": PIN}), "application/json",
        headers={"Idempotency-Key": str(uuid4())},
    )  # fmt: skip
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.parametrize("name", ACTS)
def test_one_person_twice_a_second_without_the_right_and_a_first_without_it_are_three_answers(
    name: str,
) -> None:
    a_table()
    made = ACTS[name]
    if made.about:
        a_person("cashier", badge=made.about)
    actor = a_person(made.by, pin=PIN, permissions=made.permissions)
    stranger = a_person("surveillance", pin=PIN)

    assert answered(actor, made, actor) == (403, "sod_violation")
    assert answered(actor, made, stranger) == (403, "second_person_forbidden")
    assert answered(stranger, made, a_person(made.second, pin=PIN)) == (403, "forbidden")


def test_the_three_are_told_apart_in_both_languages() -> None:
    codes = [refusals.CODES[code] for code in ("forbidden", "sod_violation", "second_person_forbidden")]
    assert {code.status for code in codes} == {403}
    assert len({code.english for code in codes}) == len({code.thai for code in codes}) == 3


# -- rights go before states -------------------------------------------------------------------------------


def a_slip_at(step: str) -> tuple[str, Any]:
    """A fill that came as far as this step."""
    floor = a_table()
    issuer = a_person("cashier")
    with act():
        asked = slips.request(
            table=floor.session.table, kind="fill", pieces={100_00: 1}, manual_number="", by=floor.supervisor
        )
    if step == "issued":
        with act():
            slips.issue(slip=asked.slip.id, by=issuer, cage="C1")
    return str(asked.slip.id), floor


@pytest.mark.parametrize("step", ["requested", "issued"])
def test_whoever_is_no_runner_is_told_so_wherever_the_slip_is(step: str) -> None:
    slip, _ = a_slip_at(step)
    assert knocked(a_person("cashier"), f"slips/{slip}/dispatch") == (403, "forbidden")
    assert knocked(a_person("cashier", permissions=["runner"]), f"slips/{slip}/dispatch")[0] == (
        409 if step == "requested" else 201
    )


@pytest.mark.parametrize(
    ("role", "what"),
    [
        ("cashier", "compare"),
        ("manager", "issue"),
        ("manager", "void"),
        ("manager", "dispatch"),
        ("auditor", "receive"),
    ],
)
def test_a_role_without_the_step_learns_nothing_of_where_the_slip_is(role: str, what: str) -> None:
    slip, _ = a_slip_at("requested")
    assert knocked(a_person(role), f"slips/{slip}/{what}") == (403, "forbidden")


def test_a_manager_who_does_not_keep_the_accounts_is_told_so_before_the_slip_is_looked_at() -> None:
    slip, _ = a_slip_at("requested")
    assert knocked(a_person("manager"), f"slips/{slip}/compare") == (403, "forbidden")
    assert knocked(a_person("manager", permissions=["accounting"]), f"slips/{slip}/compare")[0] == 409


@pytest.mark.parametrize("kind", ["closer", "shift", "rollover", "opener"])
def test_a_cashier_who_counts_a_float_is_told_no_whatever_the_table_is_doing(kind: str) -> None:
    a_table()
    assert knocked(a_person("cashier"), "tables/PD01/counts", {"kind": kind}) == (403, "forbidden")


def knocked(actor: Person, path: str, body: dict[str, Any] | None = None) -> tuple[int, str]:
    client = Client()
    client.force_login(actor)
    lines = {"lines": [{"denomination": 100_00, "pieces": 1}]} if path.endswith("receive") else {}
    answer = client.post(
        f"/api/v1/{path}", json.dumps(lines if body is None else body), "application/json",
        headers={"Idempotency-Key": str(uuid4())},
    )  # fmt: skip
    return answer.status_code, answer.json().get("code", "")


def test_the_acts_of_two_that_are_not_tried_here_are_tried_where_they_are_at_home() -> None:
    """Deposits, withdrawals and pay slips above the limit, corrections, counts and slips have their own tests."""
    of_two = {name for name, line in matrix.lines().items() if "2" in line.cells}
    at_home = {
        "POST rounds/<uuid:round>/corrections", "POST tables/<str:code>/sessions", "POST rule-sheets",
        "POST tables/<str:code>/sessions/close", "POST wallets/<str:ref>/deposits", "POST pay-slips/<str:no>/pay",
        "POST wallets/<str:ref>/withdrawals", "POST disputes/<uuid:dispute>/decide",
        "POST rule-sheets/<uuid:sheet>/approve", "POST start-hours", "POST start-hours/<uuid:start_hour>/approve",
        "POST keys/<uuid:key>/rotate", "POST webhooks/endpoints",
        "POST webhooks/endpoints/<uuid:endpoint>/rotate", "POST webhooks/endpoints/<uuid:endpoint>/enable",
        "POST cashier-systems", "POST cashier-systems/<str:code>/enable", "POST cashier-systems/<str:code>/rotate",
    }  # fmt: skip
    assert of_two - set(ACTS) == at_home
