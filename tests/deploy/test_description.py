"""What the description says of the interface: every body, every refusal, who may; nothing of it by hand."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from deploy.openapi import document

PUBLIC = {
    "audit_checkpoint", "audit_consistency", "readWebhookSchedule", "signIn", "takeOver", "enrolDevice",
}  # fmt: skip
"""Asked of nobody who they are: what a stranger checks the log with, the schedule of retries, signing in itself, and
whoever comes in by a code."""
WITHOUT_A_BODY = {
    "claimDispute", "compareSlip", "coverRound", "disableCashierSystem", "letGo", "previewRound", "replayExternalCall",
    "replayWebhook", "revokeDevice", "revokeKey", "rotateToken", "settleRound",
}  # fmt: skip


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def codes(operation: dict[str, Any], status: int) -> list[str]:
    answer = operation["responses"][str(status)]["content"]["application/problem+json"]
    found: list[str] = answer["schema"]["allOf"][1]["properties"]["code"]["enum"]
    return found


def named(operation_id: str) -> dict[str, Any]:
    return next(one for _, _, one in operations() if one["operationId"] == operation_id)


def test_it_is_served_to_anybody_as_openapi_3_1(db: None) -> None:
    answer = Client().get("/api/schema/")
    assert answer.json()["openapi"] == "3.1.1"
    assert answer["Content-Type"] == "application/vnd.oai.openapi+json"
    assert answer.json() == document()


def test_nothing_of_it_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    document.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document()
    assert "Warning" not in capsys.readouterr().err


def test_every_write_says_what_it_takes() -> None:
    bare = {
        one["operationId"]
        for method, _, one in operations()
        if method in ("post", "put") and "requestBody" not in one
    }
    assert bare - WITHOUT_A_BODY == set()


def test_every_operation_has_a_summary_and_a_name_of_its_own() -> None:
    names = [one["operationId"] for _, _, one in operations()]
    assert len(names) == len(set(names))
    assert [one["operationId"] for _, _, one in operations() if not one["summary"]] == []


def test_who_may_is_said_as_it_is() -> None:
    assert {one["operationId"] for _, _, one in operations() if one["security"] == []} == PUBLIC
    assert named("recordEvents")["security"] == [{"device": []}]
    assert named("deposit")["security"] == [{"key": []}, {"session": [], "csrf": []}]
    assert named("readWallet")["security"] == [{"key": []}, {"session": []}]
    assert set(document()["components"]["securitySchemes"]) == {"device", "key", "session", "csrf"}


def test_a_refusal_is_named_by_operation_and_status() -> None:
    withdraw = named("withdraw")
    assert codes(withdraw, 409) == ["cage_ended", "day_sealed", "idempotency_key_running"]
    assert codes(withdraw, 422) == [
        "idempotency_key_reused", "insufficient_funds", "invalid_value", "unknown_cage", "wrong_currency"
    ]  # fmt: skip
    assert codes(named("readWallet"), 403) == ["forbidden"]
    assert "wrong_secret" not in codes(named("readWallet"), 401)


def test_a_body_lets_in_no_field_that_is_not_known() -> None:
    shapes = {
        name: shape
        for name, shape in document()["components"]["schemas"].items()
        if name.endswith("Request") and shape.get("type") == "object"
    }
    assert len(shapes) > 40
    assert [name for name, shape in shapes.items() if shape.get("additionalProperties") is not False] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "takes"),
    [
        ("/api/v1/session", {"GET", "HEAD", "POST", "DELETE"}),
        ("/api/v1/audit/checkpoint", {"GET", "HEAD"}),
        ("/api/v1/wallets/A17/deposits", {"POST"}),
        ("/api/schema/", {"GET", "HEAD"}),
        ("/api/docs/camera/", {"GET", "HEAD"}),
    ],
)
def test_a_method_that_an_address_does_not_take_is_a_problem_like_any_other(
    path: str, takes: set[str]
) -> None:
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - takes:
        answer = Client().generic(method, path)
        told = {one.strip() for one in answer["Allow"].split(",")}
        assert (answer.status_code, answer["Content-Type"], told) == (405, "application/problem+json", takes)
        assert method == "HEAD" or answer.json()["code"] == "method_not_allowed"


@pytest.mark.django_db
def test_head_is_answered_like_get_without_its_body() -> None:
    for path in ("/api/v1/session", "/api/v1/webhooks/schedule", "/api/v1/nowhere", "/api/schema/"):
        got, asked = Client().get(path), Client().head(path)
        assert (asked.status_code, asked["Content-Type"]) == (got.status_code, got["Content-Type"])
        assert asked.content == b""


def test_each_kind_of_event_is_a_shape_of_its_own() -> None:
    shapes = document()["components"]["schemas"]
    bet = shapes["EventBetPlaced"]["properties"]["data"]
    assert bet["required"] == ["wager", "hand", "owner", "stake"]
    assert bet["properties"]["stake"]["properties"]["amount"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 10**12,
    }
    assert shapes["EventRoundOpened"]["properties"]["data"]["properties"]["direction"]["enum"] == [
        "clockwise", "counter_clockwise"
    ]  # fmt: skip
    assert shapes["EventCardDealt"]["description"].startswith("From a terminal or a camera.")
    assert shapes["EventHoldWaived"]["description"].startswith("From a terminal, signed")
    assert len(shapes["CloudEvent"]["oneOf"]) == len(shapes["CloudEvent"]["discriminator"]["mapping"]) == 24
    content = named("recordEvents")["requestBody"]["content"]
    assert set(content) == {"application/cloudevents+json", "application/cloudevents-batch+json"}


def test_what_is_sent_to_others_is_described_as_webhooks() -> None:
    sent = document()["webhooks"]
    assert len([name for name in sent if not name.startswith("cashier.")]) == 21
    assert {name for name in sent if name.startswith("cashier.")} == {
        "cashier.hold", "cashier.settle", "cashier.release", "cashier.reverse", "cashier.bet", "cashier.win",
        "cashier.rollback",
    }  # fmt: skip
    hold = document()["components"]["schemas"]["CashierHold"]
    assert hold["required"] == ["exposure", "round", "stake", "wager"]
