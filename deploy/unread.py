"""Messages of the broker that cannot be read: put aside and counted, so that no item of a queue ends a worker.

A worker takes what its own doors sent: a JSON object with a known task's name in its headers. Anybody who reaches the
broker can put anything else there.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone
from kombu.asynchronous import get_event_loop

from casino import upkeep
from casino.platform import values
from casino.upkeep import PLACES, Message

log = logging.getLogger("pokdeng.unread")

NOT_JSON, WRONG_SHAPE, UNKNOWN_TASK, WRONG_TYPE = (
    "not_json",
    "wrong_shape",
    "unknown_task",
    "wrong_content_type",
)
GATHER_SECONDS = 1.0
AGAIN_SECONDS = 10.0

_kept: deque[Message] = deque(maxlen=PLACES)
_counted: Counter[str] = Counter()
_waiting = False


def reason(item: bytes, *, tasks: Mapping[str, Any]) -> str | None:
    """Return why an item of a queue cannot be taken by a worker that knows these tasks, None for a message of ours."""
    try:
        message = json.loads(item)
    except (ValueError, RecursionError):
        return NOT_JSON
    if not isinstance(message, dict):
        return WRONG_SHAPE
    headers, properties = message.get("headers"), message.get("properties")
    if not (isinstance(headers, dict) and isinstance(properties, dict) and _is_addressed(properties)):
        return WRONG_SHAPE
    if (message.get("content-type"), message.get("content-encoding")) != ("application/json", "utf-8"):
        return WRONG_TYPE
    if not (isinstance(headers.get("id"), str) and isinstance(headers.get("task"), str)):
        return WRONG_SHAPE
    if headers["task"] not in tasks or headers["task"].startswith("celery."):
        return UNKNOWN_TASK
    task = tasks[headers["task"]]
    within = _is_within(headers.get("timelimit"), (task.time_limit, task.soft_time_limit))
    return None if within and _is_plain(headers) and _is_a_call(message.get("body")) else WRONG_SHAPE


def _is_addressed(properties: dict[str, Any]) -> bool:
    where = properties.get("delivery_info")
    return (
        isinstance(properties.get("delivery_tag"), str)
        and properties.get("body_encoding") == "base64"
        and isinstance(where, dict)
        and isinstance(where.get("exchange"), str)
        and isinstance(where.get("routing_key"), str)
    )


def _is_plain(headers: dict[str, Any]) -> bool:
    """Whether the headers ask for no more than a call now: no time, nothing to follow."""
    try:
        if headers.get("expires") is not None:
            values.instant(headers["expires"])
    except values.Wrong:
        return False
    return (
        headers.get("eta") is None
        and all(
            isinstance(headers.get(name), str | None)
            for name in ("root_id", "parent_id", "argsrepr", "kwargsrepr")
        )
        and headers.get("retries", 0) in range(100)
        and not any(headers.get(name) for name in ("group", "stamps", "stamped_headers", "shadow"))
    )


def _is_within(limits: Any, own: tuple[float | None, float | None]) -> bool:
    """Whether a message asks for no more seconds than its task has; whoever sends one names those of the task."""
    if limits is None:
        return True
    return (
        isinstance(limits, list)
        and len(limits) == 2
        and all(
            asked is None or (type(asked) in (int, float) and 0 < asked <= (most or 0))
            for asked, most in zip(limits, own, strict=True)
        )
    )


def _is_a_call(body: Any) -> bool:
    try:
        call = json.loads(base64.b64decode(body, validate=True))
    except (TypeError, binascii.Error, ValueError, RecursionError):
        return False
    if not (isinstance(call, list) and len(call) == 3):
        return False
    args, kwargs, embedded = call
    return args == [] and kwargs == {} and isinstance(embedded, dict) and not any(embedded.values())


def put_aside(content: bytes, why: str) -> None:
    """Keep a message and count it. What comes together is written down together, a moment later."""
    global _waiting
    log.error("a message of the broker could not be read and was put aside: %s, %d bytes", why, len(content))
    if len(_kept) == PLACES:
        _counted[_kept[0].reason] += 1
    _kept.append(Message(content, why))
    loop = get_event_loop()
    if loop is None:
        write_down()
    elif not _waiting:
        _waiting = True
        loop.call_later(GATHER_SECONDS, write_down)


def write_down() -> None:
    """Write down what was put aside; while there is no database it is kept here, the newest hundred of it."""
    global _waiting
    _waiting = False
    try:
        upkeep.keep_unread(list(_kept), now=timezone.now(), more=dict(_counted))
    except DatabaseError:
        log.exception("messages that were put aside wait to be written down")
        loop = get_event_loop()
        if loop is not None:
            _waiting = True
            loop.call_later(AGAIN_SECONDS, write_down)
    else:
        _kept.clear()
        _counted.clear()
    finally:
        connection.close()  # a child that is forked later must not find it
