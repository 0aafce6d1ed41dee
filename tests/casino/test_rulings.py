"""What a supervisor or a manager does to a round from a page: events of the round, signed there, once."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from audit.models import LogEntry
from casino import tables
from casino.models import Person, Round, RoundEvent
from tests.casino.floor import (
    PASSWORD,
    PIN,
    Floor,
    a_device,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    opens,
    settled,
    thb,
    told,
)

pytestmark = pytest.mark.django_db

REASON = {"reason": "seen on video"}
ACTS: dict[str, dict[str, Any]] = {
    "card_ruled": {"hand": "p1", "position": 1, "card": "9S"} | REASON,
    "card_removed": {"hand": "p1", "position": 2} | REASON,
    "bet_ruled": {"wager": "w1", "hand": "p1", "owner": {"seat": 1}, "stake": thb(200)} | REASON,
    "hold_waived": {"reason_code": "awaiting_camera"} | REASON,
    "round_voided": REASON,
    "note": {"text": "the guest agreed"},
}
MISPAY: dict[str, Any] = {"wager": "w1", "paid": thb(300), "due": thb(200)} | REASON


def acts(by: Person, round: UUID, what: str = "rulings", *, key: str = "", **body: Any) -> Any:
    client = Client()
    client.force_login(by)
    return client.post(
        f"/api/v1/rounds/{round}/{what}",
        json.dumps({"pin": PIN} | body),
        content_type="application/json",
        headers={"Idempotency-Key": key or str(uuid4())},
    )


@pytest.fixture
def floor() -> Floor:
    floor = a_table()
    floor.supervisor = a_person("supervisor", "S01", pin=PIN, password=PASSWORD)
    with act() as running:
        tables.relieve(session=floor.session, role="supervisor", person=floor.supervisor, now=running.now)
    return floor


@pytest.fixture
def manager() -> Person:
    return a_person("manager", "M01", pin=PIN)


def a_round(floor: Floor, *, standing: str = "") -> UUID:
    round = a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    if standing:
        settled(round, standing=standing, reasons=["reads_differ"] if standing == "held" else [])
    return round


@pytest.mark.parametrize("kind", ACTS)
@pytest.mark.parametrize("who", ["supervisor", "manager"])
def test_who_is_in_charge_acts_from_a_page_and_has_signed(
    kind: str, who: str, floor: Floor, manager: Person
) -> None:
    round, by = a_round(floor, standing="held"), floor.supervisor if who == "supervisor" else manager

    answer = acts(by, round, kind=kind, data=ACTS[kind])

    event = RoundEvent.objects.latest("id")
    assert (answer.status_code, answer.json()["event"], answer.json()["round"]) == (201, event.id, str(round))
    assert (event.kind, event.payload, event.source) == (kind, ACTS[kind], f"/people/{by.id}")
    assert (event.person, event.signer, event.signed, event.device, event.device_seq, event.late) == (
        by, by, "page", None, None, False,
    )  # fmt: skip
    assert (event.seq, Round.objects.get().event_count, Round.objects.get().standing) == (11, 11, "due")
    entry = LogEntry.objects.filter(action="round.recorded").latest("id")
    assert (entry.round, entry.person, told(entry)["source"]) == (round, by.id, f"/people/{by.id}")
    assert [one["kind"] for one in told(entry)["events"]] == [kind]


def test_the_same_act_sent_again_is_one_event(floor: Floor) -> None:
    round = a_round(floor, standing="held")
    sent: dict[str, Any] = {"kind": "card_ruled", "data": ACTS["card_ruled"]}
    answers = [acts(floor.supervisor, round, key="k1", **sent) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[1]["Idempotency-Replayed"] == "true"
    assert RoundEvent.objects.filter(kind="card_ruled").count() == 1


def test_a_void_from_a_page_ends_a_round_that_is_being_played(floor: Floor) -> None:
    round = a_round_id()
    floor.tablet.hears(opens(floor.tablet, round))
    assert acts(floor.supervisor, round, kind="round_voided", data=REASON).status_code == 201
    found = Round.objects.get()
    assert (found.standing, found.closed_at is not None, found.due_at is not None) == ("due", True, True)


@pytest.mark.parametrize(("spoil", "status", "code"), [
    ({"pin": "000000"}, 401, "wrong_secret"),
    ({"kind": "recorder_changed", "data": {}}, 422, "invalid_value"),
    ({"kind": "mispay_put_right", "data": MISPAY}, 422, "invalid_value"),
    ({"kind": "bet_placed", "data": {}}, 422, "invalid_value"),
    ({"data": {**ACTS["card_ruled"], "card": "1S"}}, 422, "invalid_value"),
    ({"data": {**ACTS["card_ruled"], "net": 1}}, 400, "unknown_field"),
    ({"data": []}, 400, "malformed"),
])  # fmt: skip
def test_what_is_no_such_act_changes_nothing(
    spoil: dict[str, Any], status: int, code: str, floor: Floor
) -> None:
    round = a_round(floor, standing="held")
    answer = acts(floor.supervisor, round, **{"kind": "card_ruled", "data": ACTS["card_ruled"]} | spoil)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (Round.objects.get().event_count, Round.objects.get().standing) == (10, "held")


@pytest.mark.parametrize("what", ["rulings", "mispays"])
def test_nobody_else_acts_from_a_page(what: str, floor: Floor) -> None:
    round = a_round(floor, standing="held")
    sent: dict[str, Any] = (
        {"kind": "card_ruled", "data": ACTS["card_ruled"]} if what == "rulings" else {"data": MISPAY}
    )
    for role in ("dealer", "surveillance", "cashier", "auditor", "administrator"):
        assert acts(a_person(role, pin=PIN), round, what, **sent).json()["code"] == "forbidden", role
    assert acts(a_person("supervisor", pin=PIN), round, what, **sent).json()["code"] == "not_found"
    assert acts(floor.supervisor, a_round_id(), what, **sent).json()["code"] == "not_found"
    body = {"pin": PIN} | sent
    assert floor.tablet.asks("POST", f"rounds/{round}/{what}", body, Idempotency_Key="k").status_code == 403
    assert Round.objects.get().event_count == 10


def test_who_dealt_the_round_does_not_rule_on_it(floor: Floor) -> None:
    dealing = a_person("manager", "M07", pin=PIN)
    round = a_round(floor, standing="held")
    with act() as running:
        tables.relieve(session=floor.session, role="dealer", person=dealing, now=running.now)
    floor.tablet.hears(floor.tablet.says("note", round, text="so"))
    answer = acts(dealing, round, kind="card_ruled", data=ACTS["card_ruled"])
    assert (answer.status_code, answer.json()["code"]) == (403, "sod_violation")


@pytest.mark.parametrize("standing", ["settled", "voided"])
def test_a_finished_round_is_ruled_by_a_dispute_and_not_from_a_page(standing: str, floor: Floor) -> None:
    round = a_round(floor, standing=standing)
    for kind in sorted(ACTS.keys() - {"note"}):
        answer = acts(floor.supervisor, round, kind=kind, data=ACTS[kind])
        assert (answer.status_code, answer.json()["code"]) == (409, "round_finished"), kind
    assert (Round.objects.get().event_count, Round.objects.get().standing) == (10, standing)


@pytest.mark.parametrize("standing", ["", "held", "settled", "voided"])
def test_a_mispay_that_was_found_is_recorded_whenever_and_never_late(standing: str, floor: Floor) -> None:
    round = a_round(floor, standing=standing)

    answer = acts(floor.supervisor, round, "mispays", data=MISPAY)

    event = RoundEvent.objects.latest("id")
    assert (answer.status_code, event.kind, event.payload, event.late) == (201, "mispay_found", MISPAY, False)
    assert Round.objects.get().standing == ("due" if standing in ("", "held") else standing)


@pytest.mark.parametrize("kind", ["mispay_found", "mispay_put_right", "note"])
def test_what_is_never_late_is_not_late_from_the_terminal_either(kind: str, floor: Floor) -> None:
    round = a_round(floor, standing="settled")
    right: dict[str, Any] = {name: MISPAY[name] for name in ("wager", "paid", "due")}
    data = {"note": {"text": "so"}, "mispay_found": MISPAY, "mispay_put_right": right}[kind]
    floor.tablet.hears(
        floor.tablet.says(kind, round, **data), floor.tablet.says("hand_stayed", round, hand="p1")
    )
    assert list(RoundEvent.objects.order_by("id").values_list("kind", "late"))[-2:] == [
        (kind, False), ("hand_stayed", True),
    ]  # fmt: skip
    assert Round.objects.get().standing == "settled"


def test_an_act_on_an_alias_is_one_on_the_round_it_stands_for(floor: Floor) -> None:
    round, other = a_round(floor), a_round_id()
    second = a_device(floor.table, "PD01-second")
    assert second.hears(opens(second, other)) == ["round_exists"]

    answer = acts(floor.supervisor, other, kind="card_ruled", data=ACTS["card_ruled"])

    assert (answer.status_code, answer.json()["round"]) == (201, str(round))
