"""Log lines as JSON on standard error: one record a line, whatever a message contains.

Control characters come out escaped and a field ends after 2 kB, so that no input can forge a line or flood the log.
"""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

FIELD_BYTES = 2048
request_id: ContextVar[str] = ContextVar("request_id", default="")
# What every record carries anyway; the rest was given by the caller as `extra` and is kept.
_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "request", "taskName"}


class Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": cut(record.getMessage()),
        }
        if request_id.get():
            line["request_id"] = request_id.get()
        for name, value in vars(record).items():
            if name not in _KNOWN:
                line[name] = value if isinstance(value, int | float | bool | None) else cut(str(value))
        if record.exc_info:
            line["exception"] = cut(self.formatException(record.exc_info), keep_end=True)
        return json.dumps(line, ensure_ascii=True)


def cut(text: str, *, keep_end: bool = False) -> str:
    """At most 2 kB of UTF-8. A traceback keeps its end, where the fault is named."""
    whole = text.encode(errors="replace")
    if len(whole) <= FIELD_BYTES:
        return text
    if keep_end:
        return "…" + whole[-FIELD_BYTES:].decode(errors="ignore")
    return whole[:FIELD_BYTES].decode(errors="ignore") + "…"


def configuration(*, level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": Lines}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers write plain text and mail; ours writes lines.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # The level of Celery's own chatter about every received message.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }
