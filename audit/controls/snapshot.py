"""One look at the whole house: a read-only transaction as the reader, and how much of it a check asks for.

A read-only transaction gets no transaction number of its own, so it holds up nobody who waits for older ones to end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection

from audit.checkpoints import Store
from settlement import days

SLACK = timedelta(minutes=10)
"""An act may commit this long after the instant it carries; a quick check looks back so much further."""

_OPTIONS = (
    "-c statement_timeout=900000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=0"
    " -c timezone=UTC -c jit=off"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """From when on rows are checked; None: all of them."""

    since: datetime | None

    @property
    def is_full(self) -> bool:
        return self.since is None

    @property
    def parameters(self) -> dict[str, Any]:
        """What the checks' statements compare with: an instant, the lowest id made at it, and its gaming day."""
        if self.since is None:
            return {"since": datetime.min.replace(tzinfo=UTC), "since_id": UUID(int=0), "since_day": date.min}
        milliseconds = int(self.since.timestamp() * 1000)
        return {
            "since": self.since,
            "since_id": UUID(int=milliseconds << 80),
            "since_day": days.of(self.since),
        }


class NotChecked(Exception):
    """Something that a check needs from outside is not there; the books are then neither clean nor not."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What a check of the log needs and the database must not be asked for: the written verifier ``key`` that a reader
    kept ("": the one that was exported with the first checkpoint), and a ``checkpoint`` exported earlier ("": none)."""

    key: str = ""
    checkpoint: str = ""

    def key_of(self, origin: str) -> str:
        """Return the verifier key of a log. Raises NotChecked."""
        exported = Store(folder=Path(settings.CHECKPOINT_FOLDER), key_file=Path(settings.SEAL_KEY_FILE))
        key = self.key or exported.verifier_key(origin)
        if not key:
            raise NotChecked(f"there is no verifier key of {origin} in {settings.CHECKPOINT_FOLDER}")
        return key


NOTHING_OUTSIDE = Outside()


class Books:
    """The house as it stood at one moment."""

    def __init__(
        self, *, reader: psycopg.Connection[Any], scope: Scope, outside: Outside = NOTHING_OUTSIDE
    ) -> None:
        self.reader = reader
        self.scope = scope
        self.outside = outside
        self._cursors = 0
        self._parameters = scope.parameters | {
            "since_event": self._first_event(scope),
            "is_full": scope.is_full,
        }

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """Return a statement's rows a few at a time: memory does not grow with the house."""
        self._cursors += 1
        with self.reader.cursor(name=f"books_{self._cursors}") as cursor:
            cursor.itersize = 1000
            cursor.execute(statement, self._parameters | dict(parameters or {}))
            yield from cursor

    def all(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return all rows at once, of a statement known to give few."""
        with self.reader.cursor() as cursor:
            cursor.execute(statement, self._parameters | dict(parameters or {}))
            return cursor.fetchall()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Let one look fail by itself: what it met undoes nothing of the others'."""
        with self.reader.transaction():
            yield

    def _first_event(self, scope: Scope) -> int:
        """Return an id below which no event was recorded since. Ids and times run together, so bisection finds it."""
        if scope.since is None:
            return 0
        with self.reader.cursor() as cursor:
            cursor.execute("SELECT coalesce(max(id), 0) FROM casino_roundevent")
            low, high = 0, cursor.fetchall()[0][0] + 1
            while low < high:
                middle = (low + high) // 2
                cursor.execute(
                    "SELECT id, recorded_at FROM casino_roundevent WHERE id >= %s ORDER BY id LIMIT 1",
                    [middle],
                )
                found = cursor.fetchone()
                if found is None or found[1] >= scope.since - SLACK:
                    high = middle
                else:
                    low = found[0] + 1
        return low


@contextmanager
def opened(*, scope: Scope, outside: Outside = NOTHING_OUTSIDE) -> Iterator[Books]:
    """Open the house for reading, as the reader where its address is set; everything is seen as of one moment."""
    with psycopg.connect(**_address(), options=_OPTIONS) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.read_only = True
        reader.execute("SELECT")  # from here on all is one transaction, and what is set apart is a part of it
        yield Books(reader=reader, scope=scope, outside=outside)


def _address() -> dict[str, Any]:
    url = getattr(settings, "DATABASE_READER_URL", "")
    if url:
        return {"conninfo": url}
    found = connection.settings_dict
    return {
        "dbname": found["NAME"],
        "user": found["USER"],
        "password": found["PASSWORD"],
        "host": found["HOST"],
        "port": found["PORT"] or None,
    }
