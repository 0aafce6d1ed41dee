"""A round's events as they are stored, and what of their envelopes can still be shown to the byte."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings

from audit import log
from audit.verify.events import envelope
from casino import events
from casino.models import RoundEvent


def events_of(ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return the events of a round and its aliases in the order in which they were recorded. One statement."""
    found = RoundEvent.objects.filter(round__in=ids).select_related("device").order_by("id")
    return [_row(event) for event in found]


def _row(event: RoundEvent) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": event.id,
        "round": str(event.round_id),
        "seq": event.seq,
        "kind": event.kind,
        "data": event.payload,
        "source": event.source,
        "feed": _feed(event),
        "device_seq": event.device_seq,
        "sha256": bytes(event.sha256).hex(),
        "sent": None,
        "happened_at": log.stamp(event.happened_at),
        "instant": log.stamp(event.instant),
        "recorded_at": log.stamp(event.recorded_at),
        "offset_ms": event.offset_ms,
        "late": event.late,
        "clock_off": event.clock_off,
        "person": str(event.person_id) if event.person_id else None,
        "signed": str(event.signed),
        "signer": str(event.signer_id) if event.signer_id else None,
        "signature": str(event.signature_id) if event.signature_id else None,
    }
    if event.jumped_from is not None:
        row["jumped_from"] = event.jumped_from
    if event.device is not None:
        row["sent"] = _rest_of_envelope(row, event.happened_at)
    return row


def _feed(event: RoundEvent) -> str:
    if event.device is not None:
        return str(event.device.kind)
    return "decision" if event.source.startswith("/disputes/") else "page"


def _rest_of_envelope(row: dict[str, Any], happened_at: datetime) -> dict[str, Any] | None:
    """Return what the envelope held beside what is stored apart, None where its very bytes are not known.

    Only their hash was kept. Devices write a time in few ways, so the one that leads to the hash is found by trying.
    """
    for sent in _candidates(row, happened_at):
        written = events.canonical(envelope({**row, "sent": sent}))
        if hashlib.sha256(written).hexdigest() == row["sha256"]:
            return sent
    return None


def _candidates(row: dict[str, Any], happened_at: datetime) -> Iterator[dict[str, Any]]:
    signature = {"signature": row["signature"]} if row["signature"] else {}
    persons = [{}, {"person": row["person"]}] if row["person"] else [{}]
    for time in _ways_to_write(happened_at):
        for person in persons:
            for form in ({}, {"datacontenttype": "application/json"}):
                yield {"specversion": "1.0", "time": time, **person, **signature, **form}


def _ways_to_write(at: datetime) -> Iterator[str]:
    for zone in (UTC, ZoneInfo(settings.PROPERTY["zone"])):
        local = at.astimezone(zone)
        offset = local.utcoffset() or timedelta(0)
        ends = ["Z", "+00:00"] if not offset else [local.isoformat()[-6:]]
        for end in ends:
            bare = local.replace(tzinfo=None)
            if not bare.microsecond:
                yield f"{bare.isoformat(timespec='seconds')}{end}"
            if not bare.microsecond % 1000:
                yield f"{bare.isoformat(timespec='milliseconds')}{end}"
            yield f"{bare.isoformat(timespec='microseconds')}{end}"
