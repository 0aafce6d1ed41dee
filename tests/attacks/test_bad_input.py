"""What cannot be read or is not allowed is refused by its name, changes no round, and is kept if it has a number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from audit.models import LogEntry
from casino.api import event_payloads, strict_json
from casino.models import Device, RefusedEvent, Round, RoundEvent
from tests.attacks.addresses import doors
from tests.casino.floor import BATCH, ONE, Floor, a_person, a_round_id, a_table, bets, opens, refusals_kept
from tests.timing import least_seconds

pytestmark = pytest.mark.django_db


def written(event: dict[str, Any], data: str) -> str:
    """The event as text, its data exactly as given: what Python would not write, a hostile client does."""
    return json.dumps(event | {"data": "HERE"}).replace('"HERE"', data)


def a_bet(**stake: str) -> str:
    said = {"amount": "10000", "currency": '"THB"'} | stake
    inner = ",".join(f'"{name}":{text}' for name, text in said.items() if text)
    return f'{{"wager":"w1","hand":"p1","owner":{{"seat":1}},"stake":{{{inner}}}}}'


def a_bet_of(stake: str, *, hand: str = "p1", more: str = "") -> str:
    return f'{{"wager":"w1","hand":"{hand}","owner":{{"seat":1}},"stake":{stake}{more}}}'


A_BAHT = '{"amount":100,"currency":"THB"}'
EVENTS = {
    "a field nobody knows": (a_bet_of(A_BAHT, more=',"net":5'), 400, "unknown_field", "data.net"),
    "a payout in the bet": (a_bet(payout="1"), 400, "unknown_field", "data.stake.payout"),
    "a bare number": (a_bet_of("500"), 400, "malformed", "data.stake"),
    "a bare fraction": (a_bet_of("500.0"), 400, "malformed", "data.stake"),
    "a fraction": (a_bet(amount="500.0"), 400, "malformed", "data.stake.amount"),
    "a whole fraction": (a_bet(amount="1e2"), 400, "malformed", "data.stake.amount"),
    "a number beyond floats": (a_bet(amount="1e400"), 400, "malformed", "data.stake.amount"),
    "nothing": (a_bet(amount="0"), 422, "invalid_value", "data.stake.amount"),
    "less than nothing": (a_bet(amount="-1"), 422, "invalid_value", "data.stake.amount"),
    "2^63": (a_bet(amount=str(2**63)), 422, "invalid_value", "data.stake.amount"),
    "2^128": (a_bet(amount=str(2**128)), 422, "invalid_value", "data.stake.amount"),
    "text": (a_bet(amount='"500"'), 400, "malformed", "data.stake.amount"),
    "true": (a_bet(amount="true"), 400, "malformed", "data.stake.amount"),
    "null": (a_bet(amount="null"), 400, "malformed", "data.stake.amount"),
    "no currency": (a_bet(currency=""), 400, "missing_field", "data.stake.currency"),
    "hand p17": (a_bet_of(A_BAHT, hand="p17"), 422, "invalid_value", "data.hand"),
    "no data": ("null", 400, "malformed", "data"),
    "a state": (a_bet_of(A_BAHT, more=',"state":"won"'), 400, "unknown_field", "data.state"),
}  # fmt: skip


def as_recorded(floor: Floor, round: Any) -> list[Any]:
    """Everything there is of a round."""
    return [
        Round.objects.values().get(pk=round), list(RoundEvent.objects.values()),
    ]  # fmt: skip


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "in a batch"])
def test_a_bad_event_is_refused_by_status_code_and_field_and_kept_by_its_number(
    name: str, alone: bool
) -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.posts(opens(floor.tablet, round))
    before = as_recorded(floor, round)
    data, status, code, field = EVENTS[name]
    body = written(bets(floor.tablet, round), data)

    answer = floor.tablet.posts(
        body.encode() if alone else f"[{body}]".encode(), content_type=ONE if alone else BATCH
    )

    heard = answer.json() if alone else answer.json()["events"][0]
    assert answer.status_code == (status if alone else 200)
    assert answer["Content-Type"] == ("application/problem+json" if alone else "application/json")
    assert (heard["status"], heard["code"], list(heard["fields"])) == (status, code, [field])
    assert as_recorded(floor, round) == before
    kept = RefusedEvent.objects.get()
    sha256 = event_payloads.report_of(strict_json.read(body.encode()), device=floor.tablet.device).sha256
    assert (kept.device_seq, kept.code, bytes(kept.sha256), kept.claims) == (2, code, sha256, True)
    assert Device.objects.get(pk=floor.tablet.device.pk).last_seq == 2


def test_the_card_1s_is_no_card() -> None:
    floor = a_table()
    answer = floor.tablet.posts(
        floor.tablet.says("card_dealt", a_round_id(), hand="p1", position=1, card="1S")
    )
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["data.card"])
    assert not Round.objects.exists()


def test_a_bad_event_in_a_batch_is_refused_alone_and_the_others_are_recorded() -> None:
    floor, round = a_table(), a_round_id()
    sent = [opens(floor.tablet, round), bets(floor.tablet, round, hand="p17"), bets(floor.tablet, round)]
    heard = floor.tablet.posts(sent, content_type=BATCH).json()["events"]
    assert [event["outcome"] for event in heard] == ["recorded", "refused", "recorded"]


BODIES = {
    "malformed": b'{"a":',
    "NaN": b'{"stake":NaN}',
    "a stake twice": b'{"stake":1,"stake":2}',
    "a key twice in the second event": b'[{},{"data":{"hand":"p1","hand":"p2"}}]',
    "no UTF-8": b'{"a":"\xff"}',
    "half a surrogate pair": b'{"a":"\\ud83d"}',
    "NUL": b'{"a":"\\u0000"}',
    "NUL, spelt in UTF-16": '[{"id":"\\u0000"}]'.encode("utf-16-le"),
    "ten thousand levels": b'{"data":' * 10_000 + b"1" + b"}" * 10_000,
    "a number of 250,000 digits": b'{"sequence":' + b"9" * 250_000 + b"}",
    "an exponent without end": b'{"confidence":1e99999999999999999999}',
    "a single event where a batch should be": b"{}",
    "text": b'"event"',
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("media_type", [ONE, BATCH])
def test_a_body_that_cannot_be_read_is_refused_as_a_whole_in_no_time(name: str, media_type: str) -> None:
    floor = a_table()
    body = BODIES[name] if (name, media_type) != ("a single event where a batch should be", ONE) else b"[]"
    answer = floor.tablet.posts(body, content_type=media_type)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    assert least_seconds(lambda: floor.tablet.posts(body, content_type=media_type)) < 0.2
    assert (refusals_kept(), Round.objects.count()) == ([], 0)


@pytest.mark.parametrize("size", [256 * 1024 + 1, 4_000_000])
def test_a_body_over_256_kilobytes_is_too_large(size: int) -> None:
    floor = a_table()
    answer = floor.tablet.posts(b" " * size, content_type=BATCH)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert LogEntry.objects.filter(action="act.refused").count() == 1


def test_a_batch_holds_one_to_five_hundred_events() -> None:
    floor = a_table()
    for count in (0, 501):
        answer = floor.tablet.posts([{}] * count, content_type=BATCH)
        assert (answer.status_code, answer.json()["code"]) == (422, "batch_too_large")
    assert refusals_kept() == []
    answer = floor.tablet.posts([{}] * 500, content_type=BATCH)
    assert {event["code"] for event in answer.json()["events"]} == {"invalid_value"}


@pytest.mark.parametrize("media_type", [
    "application/json", "text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "multipart/form-data", "application/cloudevents", "application/cloudevents+xml", "garbage",
])  # fmt: skip
def test_events_of_another_media_type_are_not_read(media_type: str) -> None:
    floor = a_table()
    answer = floor.tablet.posts(opens(floor.tablet, a_round_id()), content_type=media_type)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert not Round.objects.exists()


@pytest.mark.parametrize("media_type", [
    "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain",
    "application/cloudevents+json", "",
])  # fmt: skip
@pytest.mark.parametrize("body", [b"", b"--x\r\n\r\n", b"a=1&b=2", b'{"reason":"other"}'])
def test_no_door_reads_a_form_though_its_sender_is_signed_in(media_type: str, body: bytes) -> None:
    a_table()
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_person("manager"))
    token = client.get("/api/v1/session").json()["csrf_token"]
    for address in doors():
        for method in address.declares:
            if method in ("POST", "PUT") and address.declares[method] != "public":
                answer = client.generic(
                    method, address.path(code="PD01"), body, content_type=media_type,
                    headers={"X-CSRFToken": token, "Idempotency-Key": f"{media_type} {address.pattern}"},
                )  # fmt: skip
                assert 400 <= answer.status_code < 500, (address.pattern, answer.content)


@pytest.mark.parametrize("body", [
    b"[]", b"null", b"1", b'"x"', b"{", b'{"badge":{}}', b'{"badge":["\\u0041"]}', b'{"badge":"a\\u0000"}',
    b'{"a":' * 500 + b"1" + b"}" * 500, b'{"' + b"x" * 5000 + b'":1}', b"9" * 100,
    json.dumps({f"field{n}": n for n in range(5000)}).encode(), b'{"badge":"' + b"x" * 100_000 + b'","pin":1}',
])  # fmt: skip
def test_no_door_stumbles_over_what_it_is_told(body: bytes) -> None:
    floor = a_table()
    client = Client()
    client.force_login(a_person("manager", permissions=("rules_author", "rules_approver")))
    for place, address in enumerate(doors()):
        for method in address.declares:
            if method in ("POST", "PUT"):
                for ask in (client.generic, floor.tablet.client.generic):
                    said = {"Idempotency-Key": f"{place} {method}"}
                    if ask != client.generic:
                        said["Authorization"] = f"Bearer {floor.tablet.token}"
                    answer = ask(method, address.path(code="PD01"), body, "application/json", headers=said)
                    assert answer.status_code < 500, (address.pattern, answer.content)
                    assert len(answer.content) < 20_000


def test_thousands_of_unknown_fields_are_not_all_repeated_and_not_all_written_down() -> None:
    floor = a_table()
    floor.tablet.asks("PUT", "devices/self/state", {f"{'x' * 300}{n}": n for n in range(700)})
    entry = LogEntry.objects.get(action="act.refused")
    assert len(bytes(entry.bytes)) < 6_000


HOSTILE_QUERIES = [
    "limit=100000", "limit=0", "limit=-1", "limit=x", "limit=" + "9" * 5000, "limit=%00", "cursor=%00",
    "cursor=%27%3B--", "cursor=" + "9" * 5000, "cursor=-1", "as_of=1;drop", "_connector=OR", "order_by=password",
    "prefix=%00", "prefix=%ff", "subject=%00", "table=%00", "revision=-1", "revision=" + "9" * 5000, "revision=x",
    "round=x", "action=x", "since=-1", "since=" + "9" * 30, "%00=1", "format=html", "format=xml", "state=%00",
    "size=" + "9" * 30, "from=-1&to=-2", "hash=%00",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE_QUERIES)
def test_no_address_stumbles_over_what_is_asked_of_it(query: str) -> None:
    a_table()
    client = Client()
    client.force_login(a_person("auditor", permissions=("see_expected",)))
    for address in doors():
        if "GET" in address.declares:
            answer = client.get(f"{address.path(code='PD01')}?{query}")
            assert answer.status_code < 500, (address.pattern, answer.content)


@pytest.mark.parametrize(
    "name",
    ["%00", "a%00b", "%ff", "%ed%a0%80", "x" * 3000, "PD01%0d%0aX: 1", "..%2f..", "'--", "%F0%9F%82%A1"],
)
def test_no_address_stumbles_over_what_stands_in_it(name: str) -> None:
    a_table()
    client = Client()
    client.force_login(a_person("manager"))
    for address in doors():
        if "code" in address.names:
            for method in address.declares:
                path = address.path(code="HERE").replace("HERE", name)
                answer = client.generic(
                    method, path, b"{}", "application/json", headers={"Idempotency-Key": name[:99]}
                )
                assert 400 <= answer.status_code < 500, (path, answer.content)
                assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", [
    "rounds/7", "rounds/not-a-uuid/settle", "nothing/here", "tables/", "devices/x/gaps/1-2/waive", "rounds/%00",
    "devices/0195f1a0-0000-7000-8000-000000000001/gaps/-1-2/waive", "admin", "../healthz", "",
])  # fmt: skip
def test_an_address_that_leads_nowhere_is_a_problem_like_any_other(path: str) -> None:
    answer = Client().get(f"/api/v1/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    document = answer.json()
    assert (document["code"], document["request_id"]) == ("not_found", answer["X-Request-Id"])


def test_an_address_beside_the_interface_that_leads_nowhere_is_a_page() -> None:
    answer = Client().get("/nothing/here")
    assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (404, "text/html")


def test_a_host_that_is_not_ours_is_a_generic_refusal() -> None:
    answer = Client().get("/api/v1/tables", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert b"evil" not in answer.content


def test_an_answer_in_another_form_is_not_to_be_had() -> None:
    floor = a_table()
    answer = floor.tablet.asks("GET", "tables", Accept="text/html")
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


@pytest.mark.parametrize("headers", [{"Accept": "text/html"}, {}])
def test_a_forged_token_beside_another_fault_is_no_fault_of_ours(headers: dict[str, str]) -> None:
    a_table()
    path = "/api/v1/tables" if headers else "/api/v1/tables?a=%00"
    answer = Client().get(path, headers={"Authorization": "Bearer forged", **headers})
    assert answer.status_code == (406 if headers else 400)
