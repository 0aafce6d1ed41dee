"""Slips over HTTP: who may call which step, what is answered, and what is listed."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit.models import LogEntry
from casino.models import Person
from settlement.models import Break, Slip
from tests import world
from tests.settlement.doors import asked, body_of, thb
from tests.world import AtTable, House

pytestmark = pytest.mark.django_db

LINES = [{"denomination": 500_00, "pieces": 40}]
STAFF = {"C01": "cashier", "C02": "cashier", "R01": "cashier"}


@pytest.fixture
def people(staff: House) -> dict[str, Person]:
    """Those beside the table: two cashiers and a runner."""
    return {
        badge: world.a_person(role=role, badge=badge, permissions=("runner",) if badge == "R01" else ())
        for badge, role in STAFF.items()
    }


def signed_in(person: Person) -> Client:
    """Their client; how people sign in is tried elsewhere, and takes long on purpose."""
    client = Client()
    client.force_login(person)
    return client


def tell(client: Client, path: str, body: Any = None, *, key: str = "") -> Any:
    return client.post(
        f"/api/v1/{path}",
        json.dumps({} if body is None else body),
        content_type="application/json",
        headers={"Idempotency-Key": key or str(uuid4())},
    )


def ok(answer: Any) -> Any:
    assert answer.status_code == 201, answer.content
    return body_of(answer)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def a_fill(at: AtTable, people: dict[str, Person], *, up_to: str, **asking: Any) -> str:
    """A fill that has come to a step, each step over HTTP by who signs it."""
    slip = ok(tell(signed_in(at.supervisor), f"tables/{at.code}/fills", {"lines": LINES, **asking}))["id"]
    signed = {"badge": at.dealer.badge, "pin": world.PIN}
    steps: list[tuple[str, str, Person, dict[str, Any]]] = [
        ("issued", "issue", people["C01"], {"lines": LINES, "reason": None}),
        ("in_transit", "dispatch", people["R01"], {"lines": LINES, "reason": None}),
        ("received", "receive", at.supervisor, {"lines": LINES, **signed}),
        ("deposited", "deposit", at.supervisor, {"lines": LINES, **signed}),
    ]
    for state, step, who, body in steps:
        if up_to == "requested":
            break
        assert ok(tell(signed_in(who), f"slips/{slip}/{step}", body))["state"] == state
        if state == up_to:
            break
    return slip


def test_a_fill_goes_from_the_request_to_the_box_by_those_who_sign_it(
    at: AtTable, people: dict[str, Person]
) -> None:
    slip = a_fill(at, people, up_to="deposited", manual_number=None)
    status, shown = asked(signed_in(people["C01"]), f"slips/{slip}")
    assert status == 200
    said = {name: shown[name] for name in ("kind", "table", "state", "manual", "cage", "lines", "amount")}
    assert said == {
        "kind": "fill", "table": "PD01", "state": "deposited", "manual": False, "cage": "C1", "lines": LINES,
        "amount": thb(2_000_000),
    }  # fmt: skip
    assert shown["number"].startswith("FILL-")
    assert [(step["step"], step["by"], step["second"]) for step in shown["steps"]] == [
        ("requested", str(at.supervisor.id), None),
        ("issued", str(people["C01"].id), None),
        ("in_transit", str(people["R01"].id), None),
        ("received", str(at.supervisor.id), str(at.dealer.id)),
        ("deposited", str(at.dealer.id), None),
    ]
    assert [step["journal"] is not None for step in shown["steps"]] == [False, False, True, True, False]


def test_the_receipt_is_the_leaf_of_the_steps_own_entry(at: AtTable, people: dict[str, Person]) -> None:
    slip = a_fill(at, people, up_to="requested")
    answer = ok(tell(signed_in(people["C01"]), f"slips/{slip}/issue"))
    entry = LogEntry.objects.get(action="slip.issued")
    assert (answer["receipt"], entry.subject) == (bytes(entry.leaf_hash).hex(), f"slips/{slip}")


def test_a_count_that_differs_is_answered_with_its_break(at: AtTable, people: dict[str, Person]) -> None:
    slip = a_fill(at, people, up_to="in_transit")
    body = {"lines": [{"denomination": 500_00, "pieces": 39}], "badge": at.dealer.badge, "pin": world.PIN}
    answer = ok(tell(signed_in(at.supervisor), f"slips/{slip}/receive", body))
    assert (answer["state"], answer["mismatch"]) == ("in_transit", str(Break.objects.get().id))


def test_a_credit_is_received_by_a_cashier_alone(at: AtTable, people: dict[str, Person]) -> None:
    slip = ok(tell(signed_in(at.supervisor), "tables/PD01/credits", {"lines": LINES}))["id"]
    world.a_cage("C2")
    ok(tell(signed_in(people["C01"]), f"slips/{slip}/issue", {"cage": "C2"}))
    ok(tell(signed_in(people["R01"]), f"slips/{slip}/dispatch"))
    assert code(tell(signed_in(people["C01"]), f"slips/{slip}/receive", {"lines": LINES})) == (
        403,
        "sod_violation",
    )
    answer = ok(tell(signed_in(people["C02"]), f"slips/{slip}/receive", {"lines": LINES}))
    assert (answer["state"], answer["cage"], answer["number"].split("-")[0]) == ("received", "C2", "CREDIT")


def test_a_void_wants_a_reason_and_a_cashier(at: AtTable, people: dict[str, Person]) -> None:
    slip = a_fill(at, people, up_to="issued")
    assert code(tell(signed_in(people["C01"]), f"slips/{slip}/void", {"reason": None})) == (
        422,
        "invalid_value",
    )
    assert code(tell(signed_in(at.supervisor), f"slips/{slip}/void", {"reason": "x"})) == (403, "forbidden")
    answer = ok(
        tell(signed_in(people["C01"]), f"slips/{slip}/void", {"lines": [], "reason": "the guest left"})
    )
    assert (answer["state"], answer["number"] is None, answer["steps"][-1]["reason"]) == (
        "void",
        False,
        "the guest left",
    )


def test_a_step_sent_again_with_its_key_gets_the_first_answer(at: AtTable, people: dict[str, Person]) -> None:
    slip = a_fill(at, people, up_to="requested")
    first = tell(signed_in(people["C01"]), f"slips/{slip}/issue", key="k1")
    again = tell(signed_in(people["C01"]), f"slips/{slip}/issue", key="k1")
    assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")
    assert code(tell(signed_in(people["C02"]), f"slips/{slip}/issue")) == (409, "slip_not_there")


def test_a_wrong_pin_signs_nothing(at: AtTable, people: dict[str, Person]) -> None:
    slip = a_fill(at, people, up_to="in_transit")
    body: dict[str, Any] = {"lines": LINES, "badge": at.dealer.badge, "pin": "000000"}
    assert code(tell(signed_in(at.supervisor), f"slips/{slip}/receive", body)) == (401, "wrong_secret")
    del body["pin"]
    assert code(tell(signed_in(at.supervisor), f"slips/{slip}/receive", body)) == (400, "missing_field")
    assert Slip.objects.get().state == "in_transit"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "lines"),
        ({"lines": []}, 422, "lines"),
        ({"lines": [{"denomination": 50000, "pieces": 1.5}]}, 400, "lines.0.pieces"),
        ({"lines": [{"denomination": 50000, "pieces": -1}]}, 422, "lines.0.pieces"),
        ({"lines": [{"denomination": 0, "pieces": 1}]}, 422, "lines.0.denomination"),
        ({"lines": [{"denomination": 50000, "pieces": 1, "value": 1}]}, 400, "lines.0.value"),
        ({"lines": [{"denomination": 50000, "pieces": 1}], "number": "FILL-2026-000001"}, 400, "number"),
        ({"lines": [{"denomination": 50000, "pieces": 1}], "gaming_day": "2026-03-01"}, 400, "gaming_day"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_its_field(
    at: AtTable, body: Any, status: int, field: str
) -> None:
    answer = tell(signed_in(at.supervisor), "tables/PD01/fills", body)
    assert (answer.status_code, field in answer.json()["fields"]) == (status, True), answer.content
    assert not Slip.objects.exists()


def test_slips_are_listed_newest_first_a_page_at_a_time(at: AtTable, people: dict[str, Person]) -> None:
    made = [a_fill(at, people, up_to="requested") for _ in range(5)]
    cashier = signed_in(people["C01"])
    seen: list[str] = []
    cursor = None
    while cursor is not None or not seen:
        _, page = asked(cashier, "slips", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [slip["id"] for slip in page["slips"]]
        cursor = page["next"]
    assert seen == sorted(made, reverse=True)


def test_slips_are_found_by_table_state_day_and_what_is_not_compared_yet(
    at: AtTable, staff: House, people: dict[str, Person]
) -> None:
    manager = signed_in(staff.author)
    manual = a_fill(at, people, up_to="issued", manual_number="A-0017")
    a_fill(at, people, up_to="requested")
    other = ok(tell(signed_in(staff.tables["PD02"].supervisor), "tables/PD02/fills", {"lines": LINES}))

    def found(**query: str) -> set[str]:
        status, page = asked(manager, "slips", **query)
        assert status == 200
        return {slip["id"] for slip in page["slips"]}

    assert found(table="PD02") == {other["id"]}
    assert found(state="issued") == found(compared="no") == {manual}
    status, refused = asked(manager, "slips", gaming_day="1999-01-01")
    assert (status, list(refused["fields"])) == (422, ["gaming_day"])
    assert len(found(gaming_day=other["gaming_day"])) == 3
    assert asked(manager, "slips", gaming_day="yesterday")[0] == asked(manager, "slips", cursor="x")[0] == 400
    accountant = world.a_manager(badge="M07", permissions=("accounting",))
    assert ok(tell(signed_in(accountant), f"slips/{manual}/compare"))["compared"] is True
    assert found(compared="no") == set()


def test_whoever_is_not_on_duty_there_sees_no_slip_of_a_table(
    at: AtTable, staff: House, people: dict[str, Person]
) -> None:
    slip = a_fill(at, people, up_to="in_transit")
    elsewhere = signed_in(staff.tables["PD02"].supervisor)
    assert asked(elsewhere, f"slips/{slip}")[0] == 404
    assert asked(elsewhere, "slips")[1]["slips"] == []
    assert code(tell(elsewhere, f"slips/{slip}/receive", {"lines": LINES})) == (404, "not_found")
    assert code(tell(elsewhere, "tables/PD01/fills", {"lines": LINES})) == (404, "not_found")
