"""Flags of a house: its log is sealed, and read on for flags as the worker does."""

from __future__ import annotations

import time
from typing import Any

from django.utils import timezone

from audit import flags, log, seal
from audit.models import Flag, LogEntry
from casino import events
from tests.audit.sealing import the_sealer


def number_all() -> None:
    """Give every entry its leaf. A writer in any database of the cluster may hold the horizon back a moment."""
    until = time.monotonic() + 30
    with the_sealer():
        while LogEntry.objects.filter(origin=log.log_name(), leaf=None).exists():
            seal.number(now=timezone.now())
            assert time.monotonic() < until, "entries wait for their leaves"


def step(limit: int = flags.MOST) -> int:
    """One step of the reader, an act of its own."""
    with events.act(actor=events.SERVICE, request_id="reader", now=timezone.now()):
        return flags.read_on(limit=limit)


def read_all(limit: int = flags.MOST) -> None:
    """Seal what there is and read on to its end."""
    number_all()
    while step(limit):
        pass


def raised(**of: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """The flags that were raised, by kind and subject, with their details."""
    found = Flag.objects.filter(**of)
    return {(flag.kind, flag.subject): flag.detail for flag in found}
