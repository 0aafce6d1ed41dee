"""What is out of scope does not exist: the same answer as for what never was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from audit.models import LogEntry
from casino import keys
from casino.models import Role
from casino.people import RIGHTS, Scope
from settlement import slips
from tests import world
from tests.attacks.addresses import Address, doors
from tests.casino.floor import (
    BATCH,
    PIN,
    Floor,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    opens,
    refusals_kept,
    settled,
)
from tests.settlement.cage import a_key

pytestmark = pytest.mark.django_db

BOUND = {*Role.values, "terminal", "camera"}


@dataclass(slots=True)
class There:
    """Another table, and what there is of it; ``nothing`` are names that nobody ever had."""

    floor: Floor
    round: str
    objects: dict[str, str] = field(default_factory=dict)
    nothing: dict[str, str] = field(default_factory=dict)


def another_table() -> There:
    floor, round = a_table("PD02"), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    settled(round)
    floor.tablet.hears(floor.tablet.says("note", round, seq=20, text="so"))
    return There(
        floor,
        str(round),
        objects={
            "round": str(round), "code": "PD02", "device": str(floor.tablet.device.id), "first": "11", "last": "19",
            "slip": str(a_slip(floor)), "count": str(a_count(floor)),
        },
        nothing={
            "round": str(uuid4()), "code": "PD99", "device": str(uuid4()), "first": "11", "last": "19",
            "slip": str(uuid4()), "count": str(uuid4()),
        },
    )  # fmt: skip


def a_slip(floor: Floor) -> UUID:
    with act():
        asked = slips.request(
            table=floor.session.table, kind="fill", pieces={100_00: 1}, manual_number="", by=floor.supervisor
        )
    return asked.slip.id


def a_count(floor: Floor) -> UUID:
    """A count at a shift's end: what would be taken back is known by the same name as that of a box."""
    with act():
        count = world.counted(floor.session.table, "shift", floor.dealer, floor.supervisor, pieces={}).count
    assert count is not None
    return count.id


COUNT = {"kind": "shift", "badge": "S01", "pin": PIN, "lines": [{"denomination": 100, "pieces": 1}]}
BODIES: dict[tuple[str, str], Any] = {
    ("api/v1/devices/<uuid:device>/gaps/<int:first>-<int:last>/waive", "POST"): {
        "reason": "x", "badge": "S01", "pin": PIN,
    },
    ("api/v1/tables/<str:code>/stop", "POST"): {"reason": "other"},
    ("api/v1/tables/<str:code>/duty", "POST"): {"role": "dealer", "badge": "D01", "pin": PIN},
    ("api/v1/rounds/<uuid:round>/corrections", "POST"): {"acts": [1], "reason": "x", "badge": "S01", "pin": PIN},
    ("api/v1/tables/<str:code>/counts", "POST"): COUNT,
    ("api/v1/tables/<str:code>/counts/<uuid:count>/withdraw", "POST"): {"reason": "x"},
    ("api/v1/tables/<str:code>/sessions", "POST"): {"dealer": "D01", "supervisor": "S01"},
    ("api/v1/tables/<str:code>/sessions/close", "POST"): {"last_round": 0},
    ("api/v1/tables/<str:code>/events", "POST"): {},
}  # fmt: skip
"""What a request must say to come as far as its object."""

NOT_OF_A_TABLE = {
    "flag", "dispute", "entry",  # tried where flags, disputes and proofs are tried
    "no",  # tried where pay slips are tried
    "endpoint", "delivery",  # another system's is tried where webhooks are
    "day", "file",  # of the house: a day and its report, a file of statements
    "badge",  # of a person: an unlocked one is tried where tries are counted
    "ref",  # a wallet is the house's; the cage that moves it is in the body
}  # fmt: skip


def bounded() -> Iterator[tuple[Address, str, str]]:
    """Every address of an object with every method and role whose right ends at a table."""
    for address in doors():
        if not address.names or set(address.names) & NOT_OF_A_TABLE or "/cages/" in address.pattern:
            continue  # a cage out of scope is tried where keys are
        for method, right in address.declares.items():
            for role, scope in RIGHTS[right].items():
                if scope is not Scope.ALL:
                    yield address, method, role


BOUNDED = sorted(bounded(), key=lambda bound: (bound[0].pattern, *bound[1:]))


def at_the_first_table(role: str, floor: Floor) -> Callable[..., Any]:
    """Somebody of this role who is at PD01."""
    if role in ("terminal", "camera"):
        teller = floor.tablet if role == "terminal" else floor.camera
        client, said = teller.client, {"Authorization": f"Bearer {teller.token}"}
    elif role == keys.ROLE:
        client, said = Client(), {"Authorization": f"Bearer {a_key(tables=[floor.table.code])[1]}"}
    else:
        client, said = Client(), {}
        client.force_login(floor.dealer if role == "dealer" else floor.supervisor)

    def ask(method: str, path: str, body: Any) -> Any:
        return client.generic(
            method, path, json.dumps(body).encode(), "application/json",
            headers=said | {"Idempotency-Key": str(uuid4())},
        )  # fmt: skip

    return ask


def said(answer: Any) -> dict[str, Any]:
    """The answer without what names this very request."""
    document: dict[str, Any] = answer.json()
    return document | {"instance": "", "request_id": ""}


def test_every_object_of_a_table_is_tried() -> None:
    assert {name for address, _, _ in BOUNDED for name in address.names} == {
        "round", "code", "device", "first", "last", "slip", "count",
    }  # fmt: skip
    assert len({address for address, _, _ in BOUNDED}) > 10


@pytest.mark.parametrize(
    ("address", "method", "role"), BOUNDED, ids=[f"{a.pattern}-{m}-{r}" for a, m, r in BOUNDED]
)
def test_anothers_object_is_answered_like_one_that_never_was(
    address: Address, method: str, role: str
) -> None:
    here, there = a_table("PD01"), another_table()
    ask = at_the_first_table(role, here)
    body = BODIES.get((address.pattern, method), {})
    a_person("supervisor", "S01", pin=PIN)
    a_person("dealer", "D01", pin=PIN)

    anothers = ask(method, address.path(**there.objects), body)
    nobodys = ask(method, address.path(**there.nothing), body)

    assert (anothers.status_code, said(anothers)) == (404, said(nobodys))
    assert nobodys.status_code == 404
    assert anothers.json()["code"] == "not_found"
    assert LogEntry.objects.filter(action="act.refused").count() == 2


LISTS = ["tables", "devices", "audit/entries", "flags", "disputes", "slips", "pay-slips"]


@pytest.mark.parametrize("role", ["supervisor", "dealer", "terminal"])
@pytest.mark.parametrize("path", LISTS)
def test_no_list_holds_a_byte_of_another_table(path: str, role: str) -> None:
    here, there = a_table("PD01"), another_table()
    ask = at_the_first_table(role, here)
    for query in ("", "?table=PD02", f"?round={there.round}", f"?subject=rounds/{there.round}"):
        answer = ask("GET", f"/api/v1/{path}{query}", None)
        assert there.round not in answer.content.decode(), query
        assert "PD02" not in answer.content.decode(), query


def test_a_cursor_of_another_tables_list_leads_nowhere() -> None:
    here, there = a_table("PD01"), another_table()
    ask = at_the_first_table("supervisor", here)
    answer = ask("GET", f"/api/v1/tables/PD01/rounds?cursor={there.round}", None)
    nobodys = ask("GET", f"/api/v1/tables/PD01/rounds?cursor={uuid4()}", None)
    assert (answer.status_code, said(answer)) == (nobodys.status_code, said(nobodys))
    assert answer.status_code == 422


def test_a_tablet_can_neither_write_to_anothers_table_nor_to_its_round() -> None:
    here, there = a_table("PD01"), another_table()
    event = here.tablet.says("note", there.round, text="hello")  # type: ignore[arg-type]

    assert here.tablet.posts(event, table="PD02").status_code == 404
    (heard,) = here.tablet.posts([event], content_type=BATCH).json()["events"]

    assert (heard["outcome"], heard["code"]) == ("refused", "other_tables_round")
    assert refusals_kept() == [(1, "other_tables_round", True)]


def test_a_table_in_the_events_data_is_an_unknown_field() -> None:
    here = a_table("PD01")
    a_table("PD02")
    event = opens(here.tablet, a_round_id())
    answer = here.tablet.posts(event | {"data": event["data"] | {"table": "PD02"}})
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    assert list(answer.json()["fields"]) == ["data.table"]
