"""What a worker takes out of the broker's queue, and what it puts aside."""

from __future__ import annotations

import base64
import json
import pickle
from typing import Any
from uuid import uuid4

import pytest

from deploy import unread
from deploy.celery import app

CALL: list[Any] = [[], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]


def encoded(body: Any) -> str:
    return base64.b64encode(json.dumps(body).encode()).decode()


def message(*, without: str = "", headers: Any = None, **changes: Any) -> bytes:
    whole: dict[str, Any] = {
        "body": encoded(CALL),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": "settlement.sweep", "id": "1", "eta": None, "expires": None}
        | (headers or {}),
        "properties": {
            "correlation_id": "1",
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "celery"},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": "t-1",
        },
    } | changes
    whole.pop(without, None)
    return json.dumps(whole).encode()


def typed(content_type: str) -> bytes:
    return json.dumps(json.loads(message()) | {"content-type": content_type}).encode()


POISON: dict[str, tuple[bytes, str]] = {
    "bytes": (b"\xff\xfe\x00\x80", "not_json"),
    "nothing": (b"", "not_json"),
    "broken": (b'{"body": ', "not_json"),
    "deep": (b"[" * 100_000, "not_json"),
    "a list": (b"[]", "wrong_shape"),
    "a number": (b"7", "wrong_shape"),
    "null": (b"null", "wrong_shape"),
    "an empty object": (b"{}", "wrong_shape"),
    "no headers": (message(without="headers"), "wrong_shape"),
    "no properties": (message(without="properties"), "wrong_shape"),
    "no body": (message(without="body"), "wrong_shape"),
    "headers that are a list": (json.dumps(json.loads(message()) | {"headers": []}).encode(), "wrong_shape"),
    "a task that is a list": (message(headers={"task": ["settlement.sweep"]}), "wrong_shape"),
    "no id": (message(headers={"id": None}), "wrong_shape"),
    "a task nobody knows": (message(headers={"task": "settlement.rob"}), "unknown_task"),
    "a task of the queue itself": (message(headers={"task": "celery.chord_unlock"}), "unknown_task"),
    "a pickle": (pickle.dumps({"task": "settlement.sweep"}), "not_json"),
    "a pickle in a message": (typed("application/x-python-serialize"), "wrong_content_type"),
    "yaml": (typed("application/x-yaml"), "wrong_content_type"),
    "a body that is no base64": (message(body="€"), "wrong_shape"),
    "a body that is no call": (message(body=encoded({"id": 1})), "wrong_shape"),
    "a call with arguments": (message(body=encoded([[1], {}, {}])), "wrong_shape"),
    "a call that calls others": (message(body=encoded([[], {}, {"callbacks": ["x"]}])), "wrong_shape"),
    "a time to come": (message(headers={"eta": "2099-01-01T00:00:00"}), "wrong_shape"),
    "an end that is no time": (message(headers={"expires": "tomorrow"}), "wrong_shape"),
    "an hour of a worker": (message(headers={"timelimit": [3600, 3600]}), "wrong_shape"),
    "no time for a worker": (message(headers={"timelimit": [0, 0]}), "wrong_shape"),
    "a time that is a word": (message(headers={"timelimit": ["60", "45"]}), "wrong_shape"),
    "one limit": (message(headers={"timelimit": [60]}), "wrong_shape"),
    "tries without end": (message(headers={"retries": -5}), "wrong_shape"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def known_tasks() -> None:
    """The tasks of the house, as a worker imports them when it starts."""
    app.loader.import_default_modules()


@pytest.mark.parametrize(("item", "why"), POISON.values(), ids=POISON)
def test_what_is_no_message_of_ours_is_known_before_anybody_reads_it(item: bytes, why: str) -> None:
    assert unread.reason(item, tasks=app.tasks) == why


def test_what_our_own_doors_send_is_taken(settings: Any, broker: Any) -> None:
    """Every task of the house, as it lies in the queue when a door rings it, beat, or a bell within another task."""
    names = sorted(name for name in app.tasks if not name.startswith("celery."))
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(names)
    for name in names:
        app.tasks[name].delay()
        more: dict[str, Any] = {"root_id": str(uuid4()), "parent_id": str(uuid4())}
        app.tasks[name].apply_async(expires=10, **more)

    items = [
        item
        for key in broker.scan_iter()
        if broker.type(key) == b"list"
        for item in broker.lrange(key, 0, -1)
    ]

    assert len(items) == 2 * len(names)
    assert {json.loads(item)["headers"]["task"] for item in items} == set(names)
    assert {unread.reason(item, tasks=app.tasks) for item in items} == {None}
    assert unread.reason(message(), tasks=app.tasks) is None
