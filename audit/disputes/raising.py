"""Open a dispute: somebody objects to a round, its evidence is held, and a clock starts."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from audit import flags
from audit.disputes import options
from audit.models import Dispute, Flag
from casino import events, refusals, rounds
from casino.events import Fact
from casino.models import Person, Round
from casino.refusals import Refusal

refusals.register("dispute_open", 409, "This is disputed already.", "เรื่องนี้มีข้อพิพาทเปิดอยู่แล้ว")
refusals.register(
    "dispute_undecided", 409, "Only a decided dispute is followed by another.", "เปิดใหม่ได้เฉพาะข้อพิพาทที่ตัดสินแล้ว"
)

REASONS = ("card", "count", "payout", "late_bet", "procedure", "device", "reopened", "flag", "held", "other")


def raise_dispute(
    *,
    round: Round,
    by: Person,
    reason_code: str,
    reason: str,
    subject: str = "",
    follows: Dispute | None = None,
    flag: UUID | None = None,
) -> Dispute:
    """Open a dispute about a round, or a hand, slot or wager of it; ``flag`` makes a flag into one.

    What is at risk is the most that any fact at hand would move; above the house's threshold two people decide. Refuses
    ``dispute_open`` for a second one about the same, ``dispute_undecided`` when ``follows`` is not decided, and
    ``flag_answered``. Must run in an act.
    """
    act = events.current()
    if reason_code not in REASONS:
        raise Refusal("invalid_value", fields={"reason_code": " · ".join(REASONS)})
    if follows is not None and (follows.round_id != round.id or follows.state != Dispute.State.DECIDED):
        raise Refusal("dispute_undecided")
    found: Flag | None = flags.locked(flag) if flag else None
    considered = [option.considered.moved for option in options.options_of(round.id, subject=subject)]
    at_risk = max(considered, default=0)
    house = settings.DISPUTES
    dispute = Dispute(
        id=events.uuid7(act.now),
        round=round,
        subject=subject,
        reason_code=reason_code,
        reason=reason,
        raised_by=by,
        raised_at=act.now,
        deadline_at=act.now + timedelta(hours=house["deadline_hours"]),
        money_at_risk=at_risk,
        currency=round.table.currency,
        needs_two=at_risk > house["threshold"],
        follows=follows,
    )
    try:
        with transaction.atomic():
            dispute.save(force_insert=True)
    except IntegrityError as fault:
        raise Refusal("dispute_open") from fault
    if found is not None:
        flags.disputed(flag=found, dispute=dispute.id)
    rounds.dispute(round_id=round.id, open=True)
    events.announce([_raised(dispute, reason, round)])
    return dispute


def _raised(dispute: Dispute, reason: str, round: Round) -> Fact:
    return Fact(
        "dispute.raised",
        f"disputes/{dispute.id}",
        {
            "about": dispute.subject,
            "reason": {"code": dispute.reason_code, "text": reason},
            "raised_by": str(dispute.raised_by_id),
            "deadline_at": dispute.deadline_at.isoformat(),
            "money_at_risk": dispute.money_at_risk,
            "currency": dispute.currency,
            "needs_two": int(dispute.needs_two),
            "follows": str(dispute.follows_id) if dispute.follows_id else None,
        },
        table=round.table.code,
        round=round.id,
    )
