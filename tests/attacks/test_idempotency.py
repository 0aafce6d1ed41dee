"""One key, one act: asked again, at once or next week, the service gives its first answer."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client

from audit.models import LogEntry
from casino import tables
from casino.models import Person, StoredAnswer, TableSession
from settlement import rule_sheets
from settlement.models import RuleSheet
from tests.casino.floor import PIN, a_person, act
from tests.database import Connection

SHEET = {"name": "ours", "preset": "seed_base"}
OTHER = {"name": "ours", "preset": "thai_app"}


@pytest.fixture
def author(db: None) -> Client:
    return signed_in("M01")


def signed_in(badge: str) -> Client:
    client = Client()
    client.force_login(a_person("manager", badge, permissions=("rules_author",)))
    return client


def propose(client: Client, key: str | None, body: Any = SHEET, **headers: str) -> Any:
    said = {} if key is None else {"Idempotency-Key": key}
    return client.post(
        "/api/v1/rule-sheets", json.dumps(body), content_type="application/json", headers=said | headers
    )


def acts() -> tuple[int, int]:
    """How many sheets there are, and how many entries say so."""
    return RuleSheet.objects.count(), LogEntry.objects.filter(action="sheet.proposed").count()


def test_an_act_that_moves_money_or_rules_needs_a_key(author: Client) -> None:
    for key in (None, "", '""', "k" * 201):
        answer = propose(author, key)
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_missing")
    assert acts() == (0, 0)


def test_the_same_request_again_gets_the_first_answer_and_does_nothing(author: Client) -> None:
    first, again = propose(author, "k1"), propose(author, "k1")

    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert acts() == (1, 1)


def test_a_key_may_be_quoted_as_its_standard_writes_it(author: Client) -> None:
    propose(author, "k1")
    assert propose(author, '"k1"')["Idempotency-Replayed"] == "true"


def test_the_same_key_with_another_body_is_refused_and_does_nothing(author: Client) -> None:
    propose(author, "k1")

    answer = propose(author, "k1", OTHER)

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert acts() == (1, 1)
    assert propose(author, "k1").status_code == 201


def test_the_same_key_at_another_address_is_another_request(author: Client) -> None:
    sheet = propose(author, "k1").json()
    answer = author.post(
        f"/api/v1/rule-sheets/{sheet['id']}/approve", json.dumps(SHEET), content_type="application/json",
        headers={"Idempotency-Key": "k1"},
    )  # fmt: skip
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")


def test_anothers_same_key_is_another_act_and_shows_nothing_of_the_first(author: Client) -> None:
    first = propose(author, "k1")
    second = propose(signed_in("M02"), "k1", OTHER)

    assert (second.status_code, "Idempotency-Replayed" in second) == (201, False)
    assert second.json()["id"] != first.json()["id"]
    assert acts() == (2, 2)


def test_a_replay_is_the_first_answer_byte_for_byte(author: Client) -> None:
    first, again = propose(author, "k1"), propose(author, "k1")
    assert (again.status_code, again.content) == (201, first.content)
    assert again["Content-Type"] == first["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [
        (SHEET | {"options": {"banker": "nobody"}}, 422, "invalid_sheet"),
        (SHEET | {"name": ""}, 422, "invalid_value"),
        (SHEET | {"name": 7.5}, 400, "malformed"),
        (SHEET | {"payout": 1}, 400, "unknown_field"),
        ({"name": "ours"}, 400, "missing_field"),
        ([SHEET], 400, "malformed"),
    ],
)
def test_a_refusal_is_remembered_too_that_of_a_shape_among_them(
    author: Client, wrong: Any, status: int, code: str
) -> None:
    first = propose(author, "k1", wrong)
    again = propose(author, "k1", wrong)

    assert (first.status_code, first.json()["code"]) == (status, code)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert again["Content-Type"] == "application/problem+json"
    # Put right, it is another request: it wants another key.
    assert propose(author, "k1").json()["code"] == "idempotency_key_reused"
    assert acts() == (0, 0)


def test_what_was_refused_in_thai_is_refused_in_thai_again(author: Client) -> None:
    wrong = SHEET | {"name": ""}
    first = propose(author, "k1", wrong, **{"Accept-Language": "th"})
    again = propose(author, "k1", wrong, **{"Accept-Language": "en"})

    assert first.json()["fields"] == {"name": "ต้องไม่ว่าง"}
    assert (again.content, again["Content-Language"]) == (first.content, "th")


@pytest.mark.undescribed
def test_an_answer_that_was_stored_before_there_were_bytes_is_still_given(author: Client) -> None:
    propose(author, "k1")
    print_ = StoredAnswer.objects.get().request_sha256
    StoredAnswer.objects.create(
        client="person:M01", key="of before", request_sha256=print_, status=201, body={"id": "7"},
        answered_at="2026-11-01T00:00:00Z",
    )  # fmt: skip
    again = propose(author, "of before")
    assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, {"id": "7"}, "true")


def test_a_wrong_pin_is_not_remembered(author: Client) -> None:
    a_person("supervisor", "S01", pin=PIN)
    with act():
        tables.add(code="PD01", currency="THB", camera=False)

    def count(pin: str) -> Any:
        lines = [{"denomination": 100, "pieces": 1}]
        body = {"kind": "closer", "badge": "S01", "pin": pin, "lines": lines}
        return author.post(
            "/api/v1/tables/PD01/counts", json.dumps(body), content_type="application/json",
            headers={"Idempotency-Key": "k1"},
        )  # fmt: skip

    assert count("000000").json()["code"] == "wrong_secret"
    assert not StoredAnswer.objects.exists()
    # The right one comes further, under the same key: another refusal, and that one is kept.
    assert count(PIN).json()["code"] == "table_closed"
    assert count(PIN)["Idempotency-Replayed"] == "true"
    assert not TableSession.objects.exists()


def test_whoever_reads_the_stored_answers_cannot_try_pins_against_them(author: Client) -> None:
    propose(author, "k1")
    body = json.dumps(SHEET).encode()
    stored = bytes(StoredAnswer.objects.get().request_sha256)
    plain = [body, b"POST\n/api/v1/rule-sheets\n" + body, b"POST /api/v1/rule-sheets\n" + body]
    assert stored not in [hashlib.sha256(text).digest() for text in plain]


def test_an_answer_is_found_again_under_the_key_that_went_before(author: Client, settings: Any) -> None:
    propose(author, "k1")
    before, settings.SECRET_KEY = settings.SECRET_KEY, "another key, long enough to be taken for a secret one"
    settings.SECRET_KEY_FALLBACKS = [before]
    author = Client()
    author.force_login(Person.objects.get(badge="M01"))

    assert propose(author, "k1")["Idempotency-Replayed"] == "true"


def test_nobody_without_the_right_learns_whether_a_key_was_used(author: Client) -> None:
    propose(author, "k1")
    cashier = Client()
    cashier.force_login(a_person("cashier", "C01"))
    assert [propose(cashier, key).json()["code"] for key in ("k1", "k2")] == ["forbidden"] * 2


@pytest.mark.django_db(transaction=True)
def test_while_the_first_request_runs_the_second_is_told_so_and_afterwards_gets_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, go_on = threading.Event(), threading.Event()
    propose_it = rule_sheets.propose

    def slowly(**said: Any) -> Any:
        inside.set()
        assert go_on.wait(20)
        return propose_it(**said)

    monkeypatch.setattr(rule_sheets, "propose", slowly)
    first_client, second_client = signed_in("M01"), Client()
    second_client.cookies = first_client.cookies
    answers: list[Any] = []

    def ask() -> None:
        answers.append(propose(first_client, "k1"))
        connection.close()

    first = threading.Thread(target=ask)
    first.start()
    assert inside.wait(20)
    meanwhile = propose(second_client, "k1")
    go_on.set()
    first.join()
    afterwards = propose(second_client, "k1")

    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "idempotency_key_running")
    assert (afterwards.status_code, afterwards["Idempotency-Replayed"]) == (201, "true")
    assert afterwards.json() == answers[0].json()
    assert acts() == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_an_act_that_failed_leaves_its_key_free(owner: Connection) -> None:
    """The database fails at the very last write, the stored answer: the sheet goes with it."""
    owner.execute(
        "CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full'; END $$"
    )
    owner.execute("CREATE TRIGGER no_space BEFORE INSERT ON casino_storedanswer EXECUTE FUNCTION no_space()")
    client = signed_in("M01")

    failed = propose(client, "k1")
    assert (failed.status_code, failed.json()["code"], acts()) == (500, "internal_error", (0, 0))

    owner.execute("DROP TRIGGER no_space ON casino_storedanswer")
    assert (propose(client, "k1").status_code, acts()) == (201, (1, 1))


@pytest.mark.django_db(transaction=True)
def test_a_stored_answer_cannot_be_changed_or_stored_twice(dsn: str) -> None:
    propose(signed_in("M01"), "k1")
    with psycopg.connect(dsn, autocommit=True) as application:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute("UPDATE casino_storedanswer SET body = '{}'")
        with pytest.raises(psycopg.errors.UniqueViolation):
            application.execute(
                "INSERT INTO casino_storedanswer (client, key, request_sha256, status, body, answered_at)"
                " SELECT client, key, request_sha256, 200, '{}', now() FROM casino_storedanswer"
            )
