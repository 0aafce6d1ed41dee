"""Answer a flag: close it with a reason, or let it become a dispute. Each is answered once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from audit.models import Flag
from casino import events, people
from casino.events import Fact
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import explanations

refusals.register(
    "flag_answered", 409, "This flag was closed or became a dispute.", "ข้อสังเกตนี้ปิดหรือเป็นข้อพิพาทไปแล้ว"
)

CLOSE_CODES = ("explained", "no_fault", "spoken_to", "device_seen_to", "duplicate")
"""Why a flag may be closed; the reason's text says more."""


def close(*, flag: UUID, by: Person, code: str, reason: str) -> Flag:
    """Close an open flag with a reason. Refuses ``not_found``, ``flag_answered``, ``invalid_value`` for an unknown code
    and ``sod_violation`` to whoever dealt the round. Must run in an act."""
    act = events.current()
    found = locked(flag)
    if code not in CLOSE_CODES:
        raise Refusal("invalid_value", fields={"code": " · ".join(CLOSE_CODES)})
    if found.round is not None and by.id in people.dealers_of(found.round):
        raise Refusal("sod_violation")
    found.state, found.closed_by, found.closed_at = Flag.State.CLOSED, by, act.now
    found.close_code, found.close_reason = code, reason
    found.save(update_fields=["state", "closed_by", "closed_at", "close_code", "close_reason"])
    events.announce([_answered("flag.closed", found, {"reason": {"code": code, "text": reason}})])
    return found


def disputed(*, flag: Flag, dispute: UUID) -> None:
    """Mark a locked flag as having become a dispute."""
    flag.state, flag.dispute = Flag.State.DISPUTED, dispute
    flag.save(update_fields=["state", "dispute"])
    events.announce([_answered("flag.disputed", flag, {"dispute": str(dispute)})])


def said(flag: Flag) -> dict[str, str] | None:
    """Return the sentence of a flag, Thai and English; None where a figure of it is not there."""
    currency = flag.table.currency if flag.table else ""
    try:
        sentence = explanations.finding(
            flag.kind, flag.subject.partition("#")[2], flag.detail, currency=currency
        )
    except KeyError:
        return None
    return sentence._asdict()


def locked(flag: UUID) -> Flag:
    """Return an open flag, locked; refuse ``not_found`` or ``flag_answered``."""
    found = (
        Flag.objects.select_for_update(of=("self",)).select_related("round", "table").filter(pk=flag).first()
    )
    if found is None:
        raise Refusal("not_found")
    if found.state != Flag.State.OPEN:
        raise Refusal("flag_answered", state=found.state)
    return found


def _answered(action: str, flag: Flag, data: dict[str, Any]) -> Fact:
    return Fact(
        action,
        f"flags/{flag.id}",
        {"kind": flag.kind, "about": flag.subject, **data},
        table=flag.table.code if flag.table else "",
        round=flag.round_id,
    )
