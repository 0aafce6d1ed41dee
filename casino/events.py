"""Acts and the facts they leave behind.

An act is one change the house can name. It runs in one transaction: claim, change, witness. Nothing is answered
before its COMMIT, and nothing happens that the witness did not see: ``announce`` raises outside of an act.

Locks of the whole service are taken in this order, and in sorted order within each step:

    key → cage → day (shared advisory) → dispute → session → rounds by id → series → chips outside → accounts by id

where *key* is an idempotency key, or the row of the device whose numbers are being claimed, and *chips outside* is
what exchanges at cages wait for (advisory, alone).
"""

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, transaction
from django.utils.module_loading import import_string

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts. A dealer at a terminal is the terminal's principal with ``person`` set: both are recorded."""

    kind: Literal["person", "device", "system", "public"]
    id: UUID | None
    code: str
    role: str
    person: UUID | None = None


SERVICE = Principal(kind="system", id=None, code="service", role="service")
"""The service itself: sweeps and start-up, when nobody asked."""

NOBODY = Principal(kind="public", id=None, code="", role="public")


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened, in the past tense (``round.settled``), about one subject (``rounds/{uuid}``).

    ``data`` holds ids, integers and strings, and lists and objects of them: no float, no name of a person.
    ``person`` and ``device`` say who did it where that is not the act's own actor (one batch of a terminal may hold
    the acts of several people).
    """

    action: str
    subject: str
    data: dict[str, Any]
    table: str = ""
    round: UUID | None = None
    person: UUID | None = None


@dataclass(slots=True)
class Act:
    """The act that is running: who, when (UTC, one instant for all of it), under which request."""

    actor: Principal
    request_id: str
    now: datetime
    receipts: list[bytes] = field(default_factory=list)


class Witness(Protocol):
    """Writes one audit entry for each fact, in the act's own transaction, and returns their leaf hashes."""

    def __call__(self, *, act: Act, facts: Sequence[Fact]) -> list[bytes]: ...


class NoAct(RuntimeError):
    """Something tried to change the house outside of an act."""


class NoWitness(RuntimeError):
    """The setting WITNESS names nobody; nothing may happen unseen."""


_current: ContextVar[Act | None] = ContextVar("act", default=None)


@contextlib.contextmanager
def act(*, actor: Principal, request_id: str, now: datetime) -> Iterator[Act]:
    """Run one act in one durable transaction; inside another act, join it.

    A bare ``atomic`` around the outermost act is refused (RuntimeError): its rollback would take back what was
    already answered.
    """
    running = _current.get()
    if running is not None:
        yield running
        return
    started = Act(actor=actor, request_id=request_id, now=now)
    token = _current.set(started)
    try:
        with transaction.atomic(durable=True):
            yield started
    finally:
        _current.reset(token)


def current() -> Act:
    """Return the running act; raise NoAct where there is none."""
    running = _current.get()
    if running is None:
        raise NoAct("this changes the house and needs an act around it")
    return running


def announce(facts: Sequence[Fact]) -> list[bytes]:
    """Tell the witness what happened; return a receipt (the entry's leaf hash) for each fact.

    One statement, however many facts. Raises NoAct outside of an act and NoWitness where nobody listens.
    """
    running = current()
    receipts = _witness(getattr(settings, "WITNESS", ""))(act=running, facts=facts)
    running.receipts.extend(receipts)
    return receipts


@lru_cache
def _witness(name: str) -> Witness:
    if not name:
        raise NoWitness("the setting WITNESS names nobody")
    witness: Witness = import_string(name)
    return witness


def first_act() -> datetime | None:
    """Return the instant of the house's first act, as the first entry of the log has it (the setting FIRST_ENTRY says
    who knows); None before it. One statement, by key."""
    first: datetime | None = import_string(settings.FIRST_ENTRY)()
    return first


def canonical(value: Any) -> bytes:
    """Return the one way of writing ``value`` as JSON: sorted keys, no spaces, UTF-8, no floats (TypeError)."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except ValueError as fault:
        raise TypeError("a float has no place in evidence") from fault
    # Read back by the parser in C: it names a float at a fraction of what a walk over the value costs.
    json.loads(text, parse_float=_refuse_float)
    return text.encode()


def _refuse_float(_: str) -> None:
    raise TypeError("a float has no place in evidence")


def uuid7(now: datetime) -> UUID:
    """Return a new UUID version 7: ids made by the service sort by the time they were made."""
    milliseconds = int(now.timestamp() * 1000)
    random = secrets.randbits(74)
    return UUID(
        int=(milliseconds & (1 << 48) - 1) << 80
        | 0x7 << 76
        | (random >> 62) << 64
        | 0b10 << 62
        | random & (1 << 62) - 1
    )


_RETRIED = frozenset({"40001", "40P01", "55P03"})
_ATTEMPTS = 4


def attempt(do: Callable[[Act], T], *, actor: Principal, request_id: str, now: datetime) -> T:
    """Run ``do`` in an act; start over, up to three times, when the database ended it for another's sake
    (serialization failure, deadlock, lock not available). Nothing of a failed attempt remains."""
    for left in range(_ATTEMPTS - 1, -1, -1):
        try:
            with act(actor=actor, request_id=request_id, now=now) as running:
                return do(running)
        except OperationalError as problem:
            if left == 0 or getattr(problem.__cause__, "sqlstate", None) not in _RETRIED:
                raise
    raise AssertionError("unreachable")
