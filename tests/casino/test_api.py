"""The floor's doors, knocked at over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import LogEntry
from casino import tables
from casino.models import Device, Duty, Person, Round, RoundEvent, Signature, Table, TableSession
from casino.platform import refusals
from tests.casino.floor import (
    BATCH,
    NOW,
    ONE,
    PASSWORD,
    PIN,
    Floor,
    a_device,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    becomes,
    bets,
    opens,
    settled,
    statements,
)

pytestmark = pytest.mark.django_db


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def post(client: Client, path: str, body: Any, **headers: str) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers)


# -- events -------------------------------------------------------------------------------------------------


def test_a_batch_is_answered_event_by_event_in_its_order() -> None:
    floor, round = a_table(), a_round_id()
    told = [opens(floor.tablet, round), bets(floor.tablet, round), bets(floor.tablet, round, hand="p17")]

    answer = floor.tablet.posts([*told, told[0]], content_type=BATCH)

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    heard = answer.json()["events"]
    assert [(event["id"], event["sequence"], event["outcome"]) for event in heard] == [
        (told[0]["id"], "1", "recorded"),
        (told[1]["id"], "2", "recorded"),
        (told[2]["id"], "3", "refused"),
        (told[0]["id"], "1", "duplicate"),
    ]
    assert heard[2] == {
        "id": told[2]["id"], "sequence": "3", "outcome": "refused", "code": "invalid_value", "status": 422,
        "title": "A value is not allowed here.",
        "fields": {"data.hand": "p1 to p16, shared, junk1 to junk9, or dealer"},
    }  # fmt: skip


def test_one_event_is_answered_in_the_same_shape() -> None:
    floor = a_table()
    event = opens(floor.tablet, a_round_id())

    answer = floor.tablet.posts(event)

    assert answer.json() == {"events": [{"id": event["id"], "sequence": "1", "outcome": "recorded"}]}


def test_one_event_alone_that_is_refused_is_a_problem_of_its_own_status() -> None:
    floor, winner = a_table(), a_round_id()
    floor.tablet.posts(opens(floor.tablet, winner, number=7))
    second = a_device(floor.table, "PD01-second")

    answer = second.posts(opens(second, a_round_id(), number=7))

    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    document = answer.json()
    assert document == {
        "type": "urn:pokdeng:refusal:round_exists", "title": "This round was opened by another terminal.",
        "status": 409, "code": "round_exists", "fields": {"data.number": "taken"}, "round": str(winner), "number": 7,
        "instance": "/api/v1/tables/PD01/events", "request_id": answer["X-Request-Id"],
    }  # fmt: skip


def test_in_a_batch_the_winner_is_named_beside_the_event_that_lost() -> None:
    floor, winner = a_table(), a_round_id()
    floor.tablet.posts(opens(floor.tablet, winner))
    second = a_device(floor.table, "PD01-second")

    (heard,) = second.posts([opens(second, a_round_id())], content_type=BATCH).json()["events"]

    assert (heard["code"], heard["status"], heard["round"]) == ("round_exists", 409, str(winner))


def test_a_refused_event_sent_again_alone_gets_the_same_problem() -> None:
    floor = a_table()
    wrong = bets(floor.tablet, a_round_id(), hand="p17")

    first, again = (floor.tablet.posts(wrong) for _ in range(2))

    assert first.status_code == again.status_code == 422
    assert first.json() | {"request_id": ""} == again.json() | {"request_id": ""}


@pytest.mark.parametrize(("asked", "title"), [
    ("th", "ค่านี้ใช้ไม่ได้"), ("th-TH,th;q=0.9,en;q=0.8", "ค่านี้ใช้ไม่ได้"), ("en-GB, th;q=0.5", "A value is not allowed here."),
    ("", "A value is not allowed here."), ("de", "A value is not allowed here."),
    ("en;q=0.1, th", "ค่านี้ใช้ไม่ได้"), ("*", "A value is not allowed here."),
])  # fmt: skip
def test_refusals_speak_the_language_asked_for_alone_and_in_a_batch(asked: str, title: str) -> None:
    floor = a_table()
    wrong = bets(floor.tablet, a_round_id(), hand="p17")

    alone = floor.tablet.posts(wrong, Accept_Language=asked)
    (in_batch,) = floor.tablet.posts([wrong], content_type=BATCH, Accept_Language=asked).json()["events"]

    assert (alone.json()["title"], in_batch["title"]) == (title, title)
    assert alone["Content-Language"] == ("th" if "ค่" in title else "en")


@pytest.mark.undescribed
def test_every_refusal_is_answered_in_thai_and_english(monkeypatch: pytest.MonkeyPatch) -> None:
    floor = a_table()
    event = opens(floor.tablet, a_round_id())
    for code, known in refusals.CODES.items():
        monkeypatch.setattr("casino.rounds.append", _refusing(code))
        for language, sentence in (("th", known.thai), ("en", known.english)):
            answer = floor.tablet.posts(event, Accept_Language=language)
            assert (answer.status_code, answer.json()["title"], answer.json()["code"]) == (
                known.status, sentence, code,
            )  # fmt: skip


def _refusing(code: str) -> Callable[..., None]:
    def refuse(**_: object) -> None:
        raise refusals.Refusal(code)

    return refuse


def test_the_time_of_sending_puts_the_tables_clock_right() -> None:
    floor = a_table()
    happened = timezone.now() - timedelta(days=30)
    event = floor.tablet.says("note", a_round_id(), text="so", at=happened)

    floor.tablet.posts(event, Pokdeng_Sent_At=(happened + timedelta(seconds=2)).isoformat())

    stored = RoundEvent.objects.get()
    assert (stored.happened_at, stored.clock_off) == (happened, False)
    assert timedelta(seconds=2) <= stored.recorded_at - stored.instant + timedelta(milliseconds=1)
    assert stored.recorded_at - stored.instant < timedelta(seconds=3)


@pytest.mark.parametrize(
    "sent_at", ["yesterday", "2026-03-01", "2026-03-01T14:00:00", "20260301T140000Z", ""]
)
def test_a_time_of_sending_that_is_none_is_refused_by_its_name(sent_at: str) -> None:
    floor = a_table()
    answer = floor.tablet.posts(opens(floor.tablet, a_round_id()), Pokdeng_Sent_At=sent_at)
    assert answer.status_code in (400, 422)
    assert list(answer.json()["fields"]) == ["Pokdeng-Sent-At"]
    assert not Round.objects.exists()


def test_a_device_speaks_for_its_own_table_alone() -> None:
    here, _ = a_table("PD01"), a_table("PD02")
    event = opens(here.tablet, a_round_id())

    for table in ("PD02", "PD99"):
        answer = here.tablet.posts(event, table=table)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    assert here.tablet.posts(event).status_code == 200


def test_a_camera_reads_cards_and_nothing_else() -> None:
    floor, round = a_table(), a_round_id()
    read = floor.camera.says("card_dealt", round, hand="p1", position=1, card="9S", confidence=0.75)

    assert floor.camera.posts(read).status_code == 200
    answer = floor.camera.posts(floor.camera.says("round_closed", round))

    assert (answer.status_code, answer.json()["code"]) == (422, "kind_not_allowed")
    assert RoundEvent.objects.get().payload["confidence"] == "0.75"


def test_the_request_is_named_by_us_and_found_in_the_log_by_that_name() -> None:
    floor = a_table()

    answer = floor.tablet.posts(opens(floor.tablet, a_round_id()), X_Request_Id="forged")

    name = answer["X-Request-Id"]
    assert name != "forged"
    assert LogEntry.objects.get(action="round.recorded").request_id == name


@pytest.mark.parametrize("count", [1, 500])
def test_a_request_costs_ten_statements_its_own_sign_in_among_them(count: int) -> None:
    floor, round = a_table(), a_round_id()
    told = [floor.tablet.says("note", round, text="so") for _ in range(count)]

    with statements() as ran:
        answer = floor.tablet.posts(told, content_type=BATCH)

    assert {event["outcome"] for event in answer.json()["events"]} == {"recorded"}
    assert len(ran) == 10, ran


# -- sign-offs ----------------------------------------------------------------------------------------------


def a_signature(floor: Floor, event: dict[str, Any], *, badge: str = "S01", pin: str = PIN) -> Any:
    return floor.tablet.asks(
        "POST",
        "signatures",
        {"badge": badge, "pin": pin, **{name: event[name] for name in ("type", "subject", "data")}},
    )


def with_a_pin(floor: Floor) -> Floor:
    """The same table, its supervisor now S01 with a PIN."""
    floor.supervisor = a_person("supervisor", "S01", pin=PIN)
    with act() as running:
        tables.relieve(session=floor.session, role="supervisor", person=floor.supervisor, now=running.now)
    return floor


def test_a_supervisor_signs_at_the_tablet_and_the_ruling_counts(settings: Any) -> None:
    settings.SIGNATURES = "required"
    floor, round = with_a_pin(a_table()), a_round_id()
    ruling = floor.tablet.says("card_ruled", round, hand="p1", position=1, card="9S", reason="seen")

    answer = a_signature(floor, ruling)
    assert answer.status_code == 201
    floor.tablet.posts(ruling | {"signature": answer.json()["id"]})

    event = RoundEvent.objects.get()
    assert (event.signed, event.signer, event.signature_id) == (
        "signature", floor.supervisor, Signature.objects.get().id,
    )  # fmt: skip


def test_a_wrong_pin_signs_nothing_and_five_lock_the_tablet() -> None:
    floor = with_a_pin(a_table())
    ruling = floor.tablet.says("card_ruled", a_round_id(), hand="p1", position=1, card="9S", reason="seen")

    answers = [a_signature(floor, ruling, pin="000000") for _ in range(6)]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        *[(401, "wrong_secret")] * 5, (429, "too_many_tries"),
    ]  # fmt: skip
    assert 290 <= int(answers[5]["Retry-After"]) <= 300
    assert a_signature(floor, ruling).status_code == 429
    assert not Signature.objects.exists()
    assert not LogEntry.objects.filter(action="act.refused").exists()


def test_nobody_signs_at_a_closed_table() -> None:
    floor = with_a_pin(a_table())
    with act() as running:
        tables.close(session=floor.session, last_round=0, carried_over_by=None, now=running.now)
    ruling = floor.tablet.says("card_ruled", a_round_id(), hand="p1", position=1, card="9S", reason="seen")
    assert a_signature(floor, ruling).json()["code"] == "table_closed"


def test_a_signature_that_does_not_exist_signs_nothing(settings: Any) -> None:
    settings.SIGNATURES = "required"
    floor = a_table()
    ruling = floor.tablet.says("round_voided", a_round_id(), reason="misdeal") | {"signature": str(uuid4())}
    assert floor.tablet.posts(ruling).status_code == 200
    assert (RoundEvent.objects.get().signed, RoundEvent.objects.get().signature) == ("", None)


# -- gaps ---------------------------------------------------------------------------------------------------


def a_gap(floor: Floor) -> str:
    """Numbers 4 and 5 are missing, and hold round 1; the address at which they are waived."""
    round = a_round_id()
    played = a_whole_round(floor.tablet, round)
    floor.tablet.posts([*played[:3], *played[5:]], content_type=BATCH)
    settled(round, standing="held", reasons=["sequence_gap"])
    return f"devices/{floor.tablet.device.id}/gaps/4-5/waive"


@pytest.mark.parametrize("who", ["tablet", "supervisor", "manager"])
def test_a_gap_is_waived_with_a_reason_a_badge_and_a_pin(who: str) -> None:
    floor = with_a_pin(a_table())
    address, body = a_gap(floor), {"reason": "the tablet fell", "badge": "S01", "pin": PIN}
    if who == "tablet":
        answer = floor.tablet.asks("POST", address, body)
    else:
        answer = post(
            signed_in(floor.supervisor if who == "supervisor" else a_person("manager")), address, body
        )

    assert (answer.status_code, answer.json()) == (201, {"device": "PD01-tablet", "first": 4, "last": 5})
    assert Round.objects.get().standing == "due"
    again = floor.tablet.asks("POST", address, body)
    assert (again.status_code, again.json()["code"]) == (404, "gap_not_found")


@pytest.mark.parametrize("numbers", ["5-4", "1-3", "4-6", f"4-{10**25}"])
def test_numbers_that_are_not_missing_are_no_gap(numbers: str) -> None:
    floor = with_a_pin(a_table())
    address = a_gap(floor).replace("4-5", numbers)
    answer = floor.tablet.asks("POST", address, {"reason": "?", "badge": "S01", "pin": PIN})
    assert answer.status_code == 404
    assert answer.json()["code"] in ("gap_not_found", "not_found")


def test_a_supervisor_finds_what_there_is_to_waive_with_the_table() -> None:
    floor = with_a_pin(a_table())
    a_gap(floor)
    (shown,) = signed_in(floor.supervisor).get("/api/v1/tables").json()["tables"]
    device = floor.tablet.device
    assert shown["missing_numbers"] == [
        {"device": str(device.id), "code": device.code, "first": 4, "last": 5}
    ]


def test_a_gap_is_not_waived_by_the_secret_of_whoever_is_around() -> None:
    floor = with_a_pin(a_table())
    address = a_gap(floor)
    a_person("supervisor", "S02", pin=PIN)
    answer = floor.tablet.asks("POST", address, {"reason": "?", "badge": "S02", "pin": PIN})
    assert (answer.status_code, answer.json()["code"]) == (403, "not_on_duty")
    assert Device.objects.get(code="PD01-tablet").holes == [[4, 5]]


# -- devices, tables, duty ----------------------------------------------------------------------------------


def test_a_device_says_how_it_stands_and_hears_what_we_miss_of_it() -> None:
    floor = a_table()
    a_gap(floor)
    stated = {"next": 11, "unsent": 3, "sheet_shown": "ab" * 32, "sent_at": "2026-03-01T14:00:00+00:00"}

    answer = floor.tablet.asks("PUT", "devices/self/state", stated)

    assert answer.status_code == 200
    known = answer.json()
    assert (known["code"], known["last_number"], known["missing"]) == ("PD01-tablet", 10, [[4, 5]])
    assert known["stated"] == stated
    assert known["last_contact_at"] is not None


@pytest.mark.parametrize(("change", "status", "field"), [
    ({"next": 0}, 422, "next"), ({"next": "11"}, 400, "next"), ({"next": 1.5}, 400, "next"),
    ({"unsent": -1}, 422, "unsent"), ({"unsent": True}, 400, "unsent"), ({"sheet_shown": "x"}, 400, "sheet_shown"),
    ({"sent_at": 7}, 400, "sent_at"),
    ({"state": "fine"}, 400, "state"), ({"next": None}, 400, "next"),
])  # fmt: skip
def test_a_state_that_makes_no_sense_is_refused_by_its_field(
    change: dict[str, Any], status: int, field: str
) -> None:
    floor = a_table()
    stated = {"next": 11, "unsent": 3, "sent_at": "2026-03-01T14:00:00Z"} | change
    answer = floor.tablet.asks("PUT", "devices/self/state", stated)
    assert (answer.status_code, list(answer.json()["fields"])) == (status, [field])
    assert Device.objects.get(code="PD01-tablet").stated is None


def test_each_sees_the_devices_and_tables_that_concern_them() -> None:
    here, there = a_table("PD01"), a_table("PD02")
    both, first = ["PD01", "PD02"], ["PD01"]

    def seen(client: Client, what: str) -> list[str]:
        rows = client.get(f"/api/v1/{what}").json()[what]
        return sorted({row["table"] if what == "devices" else row["code"] for row in rows})

    manager, supervisor = signed_in(a_person("manager")), signed_in(here.supervisor)
    readers = [signed_in(a_person(role)) for role in ("auditor", "administrator")]
    assert [seen(reader, "devices") for reader in readers] == [both, both]
    assert {client.get("/api/v1/devices").status_code for client in (manager, supervisor)} == {403}
    assert (seen(manager, "tables"), seen(supervisor, "tables"), seen(signed_in(here.dealer), "tables")) == (
        both, first, first,
    )  # fmt: skip
    assert seen(signed_in(a_person("supervisor")), "tables") == []
    assert [row["code"] for row in there.tablet.asks("GET", "tables").json()["tables"]] == ["PD02"]


def test_a_table_is_shown_with_its_open_session() -> None:
    floor = a_table()
    (shown,) = floor.tablet.asks("GET", "tables").json()["tables"]
    assert shown == {
        "code": "PD01", "currency": "THB", "camera": False, "state": "open", "stop_reason": "",
        "session": str(floor.session.id), "opened_at": floor.session.opened_at.isoformat().replace("+00:00", "Z"),
        "missing_rounds": [], "missing_numbers": [], "added_at": None, "ended_at": None,
    }  # fmt: skip


def test_a_supervisor_stops_the_table_and_lets_it_go_on() -> None:
    floor = a_table()
    client = signed_in(floor.supervisor)

    stopped = post(client, "tables/PD01/stop", {"reason": "count_deck"})
    assert (stopped.status_code, stopped.json()["state"], stopped.json()["stop_reason"]) == (
        200, "stopped", "count_deck",
    )  # fmt: skip
    again = post(client, "tables/PD01/stop", {"reason": "other"})
    assert (again.status_code, again.json()["code"]) == (409, "table_stopped")
    resumed = client.delete("/api/v1/tables/PD01/stop")
    assert (resumed.status_code, resumed.json()["state"]) == (200, "open")
    assert Table.objects.get().stop_reason == ""


def test_a_table_is_not_stopped_for_a_reason_nobody_knows() -> None:
    floor = a_table()
    answer = post(signed_in(floor.supervisor), "tables/PD01/stop", {"reason": "because"})
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["reason"])


def test_a_dealer_comes_on_by_badge_and_pin() -> None:
    floor = a_table()
    a_person("dealer", "D07", pin=PIN)

    answer = post(
        signed_in(floor.supervisor), "tables/PD01/duty", {"role": "dealer", "badge": "D07", "pin": PIN}
    )

    assert (answer.status_code, answer.json()["role"]) == (201, "dealer")
    floor.tablet.posts(floor.tablet.says("note", a_round_id(), text="hello"))
    person = RoundEvent.objects.get().person
    assert person is not None
    assert person.badge == "D07"


def test_a_dealer_comes_on_at_the_tables_own_terminal_while_a_supervisor_watches_there() -> None:
    floor, there = a_table(), a_table("PD02")
    a_person("dealer", "D07", pin=PIN)
    a_person("supervisor", "S07", pin=PIN)
    body = {"role": "dealer", "badge": "D07", "pin": PIN}

    answer = floor.tablet.asks("POST", "tables/PD01/duty", body)
    assert (answer.status_code, answer.json()["role"]) == (201, "dealer")
    assert there.tablet.asks("POST", "tables/PD01/duty", body).status_code == 404
    watcher = floor.tablet.asks("POST", "tables/PD01/duty", body | {"role": "supervisor", "badge": "S07"})
    assert (watcher.status_code, watcher.json()["code"]) == (403, "forbidden")  # theirs begins at a desk

    Duty.objects.filter(person=floor.supervisor).update(off_at=NOW + timedelta(minutes=1))
    answer = floor.tablet.asks("POST", "tables/PD01/duty", body)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_on_duty")


def test_a_supervisor_comes_on_at_a_desk_of_their_own_and_brings_nobody_else_on_there() -> None:
    floor = a_table()
    come = a_person("supervisor", "S07", pin=PIN)
    a_person("dealer", "D07", pin=PIN)
    client = signed_in(come)

    for body in (
        {"role": "dealer", "badge": "D07", "pin": PIN},
        {"role": "supervisor", "badge": floor.supervisor.badge, "pin": PIN},
    ):
        answer = post(client, "tables/PD01/duty", body)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    answer = post(client, "tables/PD01/duty", {"role": "supervisor", "badge": "S07", "pin": PIN})
    assert answer.status_code == 201
    assert post(client, "tables/PD01/duty", {"role": "dealer", "badge": "D07", "pin": PIN}).status_code == 201


def test_who_is_on_duty_is_read_by_whoever_may_read_the_table() -> None:
    floor = a_table()
    a_table("PD02")
    expected = [
        {"role": role, "person": str(person.id), "badge": person.badge}
        for role, person in (("dealer", floor.dealer), ("supervisor", floor.supervisor))
    ]
    for client in (signed_in(floor.dealer), signed_in(a_person("auditor"))):
        told = client.get("/api/v1/tables/PD01/duty").json()["duty"]
        assert [{name: one[name] for name in ("role", "person", "badge")} for one in told] == expected
    assert floor.camera.asks("GET", "tables/PD01/duty").status_code == 200
    assert signed_in(floor.dealer).get("/api/v1/tables/PD02/duty").status_code == 404


def test_a_dealer_and_a_terminal_see_the_rounds_of_the_open_session_alone() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    settled(round)
    readers = {
        "dealer": lambda path: signed_in(floor.dealer).get(f"/api/v1/{path}"),
        "terminal": lambda path: floor.tablet.asks("GET", path),
    }
    supervisor = signed_in(floor.supervisor)
    for read in readers.values():
        assert [one["id"] for one in read("tables/PD01/rounds").json()["rounds"]] == [str(round)]

    TableSession.objects.update(closed_at=NOW + timedelta(hours=9), last_round=1)
    again = TableSession.objects.create(id=uuid4(), table=floor.table, opened_at=NOW + timedelta(hours=10))
    for role, person in (("dealer", floor.dealer), ("supervisor", floor.supervisor)):
        Duty.objects.create(session=again, person=person, role=role, on_at=NOW + timedelta(hours=10))
    for read in readers.values():
        for path in (f"rounds/{round}", f"rounds/{round}/settlement"):
            assert read(path).status_code == 404
        assert read("tables/PD01/rounds").json()["rounds"] == []
    (listed,) = supervisor.get("/api/v1/tables/PD01/rounds").json()["rounds"]
    assert listed["id"] == str(round)


def test_nobody_comes_on_in_a_role_that_is_not_theirs() -> None:
    floor = a_table()
    a_person("dealer", "D07", pin=PIN)
    answer = post(
        signed_in(floor.supervisor), "tables/PD01/duty", {"role": "supervisor", "badge": "D07", "pin": PIN}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "second_person_forbidden")


# -- signing in ---------------------------------------------------------------------------------------------


def test_a_person_signs_in_is_known_and_signs_out() -> None:
    a_person("manager", "M01", password=PASSWORD, permissions=("rules_author",))
    client = Client()
    assert client.get("/api/v1/session").status_code == 401

    answer = post(client, "session", {"badge": "M01", "password": PASSWORD})
    assert answer.status_code == 200
    assert {name: answer.json()[name] for name in ("badge", "role", "permissions")} == {
        "badge": "M01", "role": "manager", "permissions": ["rules_author"],
    }  # fmt: skip
    assert client.get("/api/v1/session").json()["badge"] == "M01"

    assert client.delete("/api/v1/session").status_code == 204
    assert client.get("/api/v1/session").status_code == 401
    assert LogEntry.objects.filter(action__startswith="person.signed").count() == 2


def test_a_session_gets_a_new_key_at_sign_in() -> None:
    a_person("manager", "M01", password=PASSWORD)
    client = Client()
    session = client.session
    session["planted"] = 1
    session.save()
    client.cookies["sessionid"] = before = session.session_key or ""

    post(client, "session", {"badge": "M01", "password": PASSWORD})

    assert client.cookies["sessionid"].value != before


def test_who_is_disabled_is_out_with_the_next_request() -> None:
    person = a_person("manager", "M01")
    client = signed_in(person)
    assert client.get("/api/v1/tables").status_code == 200

    Person.objects.filter(pk=person.pk).update(is_active=False)

    assert client.get("/api/v1/tables").status_code == 401


def test_a_changed_role_counts_with_the_next_request() -> None:
    person = a_person("manager", "M01")
    client = signed_in(person)
    becomes(person, "cashier")
    assert client.get("/api/v1/tables").status_code == 403


@pytest.mark.parametrize(
    "content_type", [ONE + "; charset=utf-8", "application/cloudevents+json;charset=UTF-8"]
)
def test_a_media_type_may_name_its_characters(content_type: str) -> None:
    floor = a_table()
    assert floor.tablet.posts(opens(floor.tablet, a_round_id()), content_type=content_type).status_code == 200
