"""A session writes only where its own page asked for it, and secrets are not to be guessed."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from casino.models import Person, Table
from tests.attacks.addresses import doors
from tests.casino.floor import PASSWORD, PIN, a_person, a_table, becomes

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
    # From elsewhere it goes on within half a minute, and at a terminal at once.
    elsewhere = Client(REMOTE_ADDR="198.51.100.7")
    (waited,) = [
        int(answer["Retry-After"]) for answer in [sign_in(elsewhere, "M01")] if answer.status_code == 429
    ] or [0]
    assert waited <= 30


# -- sessions -----------------------------------------------------------------------------------------------


def key_of(client: Client) -> str:
    return str(client.cookies["sessionid"].value)


def who(client: Client) -> tuple[int, str]:
    answer = client.get("/api/v1/session")
    return answer.status_code, answer.json().get("role", answer.json().get("code"))


def later(client: Client, **words: datetime) -> None:
    """Let time have gone by in a session: when it began, when it was last used."""
    session = client.session
    for name, at in words.items():
        session[name] = at.isoformat()
    session.save()


def test_each_sign_in_has_a_new_key_and_the_old_one_opens_nothing() -> None:
    a_person("manager", "M01", password=PASSWORD)
    client = Client()
    client.cookies["sessionid"] = "0123456789abcdef0123456789abcdef"  # as somebody else set it
    sign_in(client, "M01")
    first = key_of(client)
    sign_in(client, "M01")
    second = key_of(client)

    assert len({first, second, "0123456789abcdef0123456789abcdef"}) == 3
    old = Client()
    old.cookies["sessionid"] = first
    assert who(old) == (401, "not_signed_in")
    assert who(client) == (200, "manager")


def test_the_admins_form_gives_a_new_key_too() -> None:
    a_person("auditor", "A01", password=PASSWORD)
    client = Client()
    keys = []
    for _ in range(2):
        client.post("/admin/login/", {"username": "A01", "password": PASSWORD})
        keys.append(key_of(client))
    assert len(set(keys)) == 2
    old = Client()
    old.cookies["sessionid"] = keys[0]
    assert who(old) == (401, "not_signed_in")
    assert who(client) == (200, "auditor")


def test_a_role_that_changes_gives_the_session_a_new_key_and_counts_at_once() -> None:
    a_table()
    client, token = a_browser("manager", "M01")
    before = key_of(client)
    becomes(Person.objects.get(badge="M01"), "cashier")

    answer = stop(client, **{"X-CSRFToken": token})

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert who(client) == (200, "cashier")
    assert key_of(client) != before
    old = Client()
    old.cookies["sessionid"] = before
    assert who(old) == (401, "not_signed_in")


def test_a_disabled_persons_session_is_over_at_once_and_stays_so() -> None:
    client, _ = a_browser("manager", "M01")
    Person.objects.filter(badge="M01").update(is_active=False)
    assert who(client) == (401, "not_signed_in")
    becomes(Person.objects.get(badge="M01"), "manager")
    Person.objects.filter(badge="M01").update(is_active=True)
    assert who(client) == (401, "not_signed_in")


@pytest.mark.parametrize(
    ("role", "minutes"),
    [("auditor", 15), ("administrator", 15), ("manager", 60), ("cashier", 60), ("surveillance", 60)],
)
def test_a_session_that_rests_too_long_is_over(role: str, minutes: int) -> None:
    client, _ = a_browser(role, "X01")
    later(client, seen_at=datetime.now(UTC) - timedelta(minutes=minutes - 1))
    assert who(client) == (200, role)
    later(client, seen_at=datetime.now(UTC) - timedelta(minutes=minutes))
    assert who(client) == (401, "not_signed_in")
    assert who(client) == (401, "not_signed_in")


def test_a_session_in_use_is_over_after_twelve_hours() -> None:
    client, _ = a_browser("manager", "M01")
    now = datetime.now(UTC)
    later(client, began_at=now - timedelta(hours=11, minutes=59), seen_at=now - timedelta(minutes=2))
    assert who(client) == (200, "manager")
    assert client.session.get_expiry_age() <= 60
    later(client, began_at=now - timedelta(hours=12))
    assert who(client) == (401, "not_signed_in")


def test_behind_the_proxy_a_form_counts_whoever_it_saw_and_nobody_is_shut_out_by_others(
    settings: Any,
) -> None:
    """The admin's form counted the proxy itself, so five wrong passwords of anybody shut everybody out."""
    settings.BEHIND_PROXY = True
    a_person("auditor", "A01", password=PASSWORD)

    def form(password: str, seen: str) -> bool:
        client = Client(headers={"X-Forwarded-For": seen, "X-Forwarded-Proto": "https"})
        client.post("/admin/login/", {"username": "A01", "password": password})
        return "_auth_user_id" in client.session

    assert form(PASSWORD, "192.0.2.10")
    assert [form("wrong", "10.0.0.1, 203.0.113.66") for _ in range(6)] == [False] * 6
    assert not form(PASSWORD, "203.0.113.66")
    assert form(PASSWORD, "192.0.2.10")
