"""A session writes only where its own page asked for it, and secrets are not to be guessed."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from casino.models import Table, WrongTries
from tests.attacks.addresses import doors
from tests.casino.floor import PASSWORD, PIN, a_person, a_table

pytestmark = pytest.mark.django_db


def a_browser(role: str = "manager", badge: str = "M01") -> tuple[Client, str]:
    """Somebody signed in whose writes are looked at, and the token of their session."""
    client = Client(enforce_csrf_checks=True)
    a_person(role, badge, password=PASSWORD)
    answer = sign_in(client, badge)
    assert answer.status_code == 200
    return client, answer.json()["csrf_token"]


def sign_in(client: Client, badge: str, password: str = PASSWORD) -> Any:
    body = json.dumps({"badge": badge, "password": password})
    return client.post("/api/v1/session", body, content_type="application/json")


def stop(client: Client, **headers: str) -> Any:
    return client.post(
        "/api/v1/tables/PD01/stop", '{"reason":"other"}', content_type="application/json", headers=headers
    )


def test_a_write_without_the_sessions_token_is_refused() -> None:
    a_table()
    client, token = a_browser()
    other, _ = a_browser(badge="M02")

    for headers in ({}, {"X-CSRFToken": ""}, {"X-CSRFToken": "x" * 64}):
        answer = stop(client, **headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    assert stop(other, **{"X-CSRFToken": token}).status_code == 403
    assert Table.objects.get().state == "open"

    assert stop(client, **{"X-CSRFToken": token}).status_code == 200


def test_a_token_in_the_body_or_in_the_address_is_none() -> None:
    a_table()
    client, token = a_browser()
    for path, body in (
        (f"/api/v1/tables/PD01/stop?csrfmiddlewaretoken={token}", {"reason": "other"}),
        ("/api/v1/tables/PD01/stop", {"reason": "other", "csrfmiddlewaretoken": token}),
    ):
        answer = client.post(path, json.dumps(body), content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


def test_a_write_from_a_foreign_page_is_refused_though_it_has_the_token() -> None:
    a_table()
    client, token = a_browser()
    answer = stop(client, **{"X-CSRFToken": token, "Origin": "https://evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


def test_every_address_that_takes_a_write_asks_for_the_token() -> None:
    a_table()
    client, _ = a_browser()
    tried = 0
    for address in doors():
        for method, right in address.declares.items():
            if method != "GET" and right != "public":
                answer = client.generic(method, address.path(), b"{}", "application/json")
                assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed"), address.pattern
                tried += 1
    assert tried > 10


def test_reading_an_address_that_only_writes_is_no_way_around_it() -> None:
    a_table()
    client, _ = a_browser()
    for address in doors():
        if "GET" not in address.declares:
            answer = client.get(address.path())
            assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_a_method_cannot_be_smuggled_in() -> None:
    a_table()
    client, token = a_browser()
    answer = client.post(
        "/api/v1/session", b"{}", "application/json",
        headers={"X-HTTP-Method-Override": "DELETE", "X-CSRFToken": token},
    )  # fmt: skip
    assert answer.status_code == 400
    assert client.get("/api/v1/session").status_code == 200


def test_a_devices_token_needs_no_other_and_a_session_beside_it_does_not_count() -> None:
    floor = a_table()
    floor.tablet.client = Client(enforce_csrf_checks=True)
    floor.tablet.client.force_login(a_person("manager"))
    stated = {"next": 1, "unsent": 0, "sent_at": "2026-03-01T14:00:00Z"}
    assert floor.tablet.asks("PUT", "devices/self/state", stated).status_code == 200
    assert floor.tablet.asks("POST", "tables/PD01/stop", {"reason": "other"}).status_code == 403


def test_cookies_are_for_our_own_pages_and_not_for_scripts() -> None:
    client, _ = a_browser()
    for name in ("sessionid", "csrftoken"):
        cookie = client.cookies[name]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")


def test_a_wrong_badge_and_a_wrong_password_get_the_same_answer() -> None:
    a_person("manager", "M01", password=PASSWORD)
    known, unknown = sign_in(Client(), "M01", "wrong"), sign_in(Client(), "M99", "wrong")
    assert (known.status_code, known.json()["code"]) == (401, "wrong_secret")
    assert known.json() | {"request_id": ""} == unknown.json() | {"request_id": ""}


def test_a_pin_is_no_password_and_a_password_no_pin() -> None:
    a_person("manager", "M01", password=PASSWORD, pin=PIN)
    assert sign_in(Client(), "M01", PIN).status_code == 401
    floor = a_table()
    answer = floor.tablet.asks(
        "POST", "signatures", {"badge": "M01", "pin": PASSWORD, "type": "t", "subject": "s", "data": {}}
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "wrong_secret")


def test_after_five_wrong_passwords_the_right_one_waits_also_at_the_admins_door() -> None:
    a_person("auditor", "A01", password=PASSWORD)
    answers = [sign_in(Client(), "A01", "wrong") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert 0 < int(answers[5]["Retry-After"]) <= 300
    assert sign_in(Client(), "A01").status_code == 429

    page = Client().post("/admin/login/", {"username": "A01", "password": PASSWORD})
    assert page.status_code == 200  # the form again
    assert "_auth_user_id" not in page.client.session


def test_one_pin_over_all_badges_locks_the_tablet() -> None:
    floor = a_table()
    for number in range(8):
        a_person("supervisor", f"S{number:02}", pin=PIN if number == 7 else "999999")

    answers = [
        floor.tablet.asks(
            "POST",
            "signatures",
            {"badge": f"S{number:02}", "pin": PIN, "type": "t", "subject": "s", "data": {}},
        ).status_code
        for number in range(8)
    ]

    assert answers == [401] * 5 + [429] * 3


@pytest.mark.django_db(transaction=True)
def test_of_sixty_passwords_tried_at_once_five_are_looked_at() -> None:
    a_person("manager", "M01", password=PASSWORD)
    outcomes: list[int] = []
    start = threading.Barrier(6)

    def guess(worker: int) -> None:
        start.wait()
        outcomes.extend(sign_in(Client(), "M01", f"{worker} {n}").status_code for n in range(10))
        connection.close()

    threads = [threading.Thread(target=guess, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == [401] * 5 + [429] * 55
    assert sign_in(Client(), "M01").status_code == 429
    assert WrongTries.objects.get(pk="badge:M01").count == 5
