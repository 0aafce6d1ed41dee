"""The lease of a dispute: who works on it, for ten minutes at a time. Only the token in the form decides."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from audit.disputes import separation_of_duties
from audit.models import Dispute
from casino import events
from casino.events import Fact
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register("claimed", 409, "Somebody else works on this dispute.", "มีคนอื่นรับเรื่องนี้อยู่")
refusals.register(
    "claim_lost", 409, "Your claim has ended; claim the dispute again.", "สิทธิ์รับเรื่องหมดเวลา กรุณารับเรื่องใหม่"
)
refusals.register("already_decided", 409, "This dispute was decided.", "ข้อพิพาทนี้ตัดสินไปแล้ว")


def locked(dispute_id: UUID) -> Dispute:
    """Return a dispute, locked, that is not decided; refuse ``not_found``, or ``already_decided`` naming the winner."""
    found = (
        Dispute.objects.select_for_update(of=("self",))
        .select_related("round__table")
        .filter(pk=dispute_id)
        .first()
    )
    if found is None:
        raise Refusal("not_found")
    if found.state == Dispute.State.DECIDED:
        raise already_decided(found)
    return found


def already_decided(dispute: Dispute) -> Refusal:
    """Return the refusal that tells the loser who decided, and when."""
    decision = dispute.decision
    return Refusal(
        "already_decided",
        decision=str(decision.id),
        decided_by=str(decision.decided_by_id),
        decided_by_name=decision.decided_by.display_name,
        decided_at=decision.decided_at.isoformat(),
    )


def claim(*, dispute: UUID, by: Person) -> Dispute:
    """Take a free dispute (or one whose claim ran out) for ten minutes; refuse ``claimed`` naming whose it is."""
    act = events.current()
    found = locked(dispute)
    separation_of_duties.require(found, by)
    if found.claimed_by_id not in (None, by.id) and not _ran_out(found, act.now):
        raise Refusal("claimed", claimed_by=str(found.claimed_by_id), until=_iso(found.claim_until))
    return _lease(found, by, "dispute.claimed", {})


def take_over(*, dispute: UUID, by: Person, reason: str) -> Dispute:
    """Take a dispute from whoever has it, with a reason."""
    found = locked(dispute)
    separation_of_duties.require(found, by)
    before = str(found.claimed_by_id) if found.claimed_by_id else None
    return _lease(
        found, by, "dispute.taken_over", {"from": before, "reason": {"code": "take_over", "text": reason}}
    )


def renew(*, dispute: UUID, by: Person, token: UUID) -> Dispute:
    """Extend a claim that is still one's own; refuse ``claim_lost``."""
    found = locked(dispute)
    require_claim(found, by, token)
    found.claim_until = events.current().now + _lease_time()
    found.save(update_fields=["claim_until"])
    events.announce([_fact("dispute.claim_renewed", found, {"until": found.claim_until.isoformat()})])
    return found


def snooze(*, dispute: UUID, by: Person, until: datetime, reason: str) -> Dispute:
    """Put a dispute off, at the latest until its deadline, with a reason."""
    found = locked(dispute)
    separation_of_duties.require(found, by)
    if not events.current().now < until <= found.deadline_at:
        raise Refusal("invalid_value", fields={"until": "later than now, not after the deadline"})
    found.snoozed_until = until
    found.save(update_fields=["snoozed_until"])
    events.announce(
        [
            _fact(
                "dispute.snoozed",
                found,
                {"until": until.isoformat(), "reason": {"code": "snooze", "text": reason}},
            )
        ]
    )
    return found


def require_claim(dispute: Dispute, by: Person, token: UUID) -> None:
    """Refuse ``claim_lost`` unless the claim is this person's, by this token, and has not run out."""
    now = events.current().now
    if dispute.claimed_by_id != by.id or dispute.claim_token != token or _ran_out(dispute, now):
        raise Refusal("claim_lost")


def _lease(dispute: Dispute, by: Person, action: str, data: dict[str, Any]) -> Dispute:
    dispute.claimed_by, dispute.claim_token = by, uuid4()
    dispute.claim_until = events.current().now + _lease_time()
    if dispute.state == Dispute.State.OPEN:
        dispute.state = Dispute.State.CLAIMED
    dispute.save(update_fields=["claimed_by", "claim_token", "claim_until", "state"])
    events.announce([_fact(action, dispute, {"by": str(by.id), **data})])
    return dispute


def _fact(action: str, dispute: Dispute, data: dict[str, Any]) -> Fact:
    return Fact(
        action, f"disputes/{dispute.id}", data, table=dispute.round.table.code, round=dispute.round_id
    )


def _ran_out(dispute: Dispute, now: datetime) -> bool:
    return dispute.claim_until is None or dispute.claim_until <= now


def _lease_time() -> timedelta:
    return timedelta(minutes=settings.DISPUTES["lease_minutes"])


def _iso(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant else None
