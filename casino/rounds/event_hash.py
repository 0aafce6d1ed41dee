"""The hash of an event as it is stored. The envelope's own hash cannot be worked out from the row again; this one can,
and the witness is told it, so that nothing of an event can be altered unseen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from casino import events


def sha256_of(
    *,
    kind: str,
    payload: Mapping[str, Any],
    source: str,
    device_seq: int | None,
    person: UUID | None,
    signature: UUID | None,
    signer: UUID | None,
    signed: str,
    happened_at: datetime,
    instant: datetime,
    late: bool,
    jumped_from: int | None = None,
) -> str:
    """Return SHA-256, in hexadecimal, over what a row of RoundEvent says of its event, whoever reads it back.

    A number that did not jump is not spoken of, so what was stored before numbers were looked at keeps its hash.
    """
    said = {
        "kind": kind,
        "data": payload,
        "source": source,
        "number": device_seq,
        "person": _text(person),
        "signature": _text(signature),
        "signer": _text(signer),
        "signed": str(signed),
        "happened_at": _stamp(happened_at),
        "instant": _stamp(instant),
        "late": int(late),
    }
    if jumped_from is not None:
        said["jumped_from"] = jumped_from
    return hashlib.sha256(events.canonical(said)).hexdigest()


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
