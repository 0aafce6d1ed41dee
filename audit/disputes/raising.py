"""Open a dispute: somebody objects to a round, its evidence is held, and a clock starts."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from audit import flags
from audit.disputes import options
from audit.models import Dispute, Flag
from casino import events, rounds
from casino.events import Fact
from casino.models import Person, Round
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register("dispute_open", 409, "This is disputed already.", "เรื่องนี้มีข้อพิพาทเปิดอยู่แล้ว")
refusals.register(
    "dispute_undecided", 409, "Only a decided dispute is followed by another.", "เปิดใหม่ได้เฉพาะข้อพิพาทที่ตัดสินแล้ว"
)
refusals.register(
    "dispute_followed", 409, "Another dispute follows this one already.", "มีข้อพิพาทอื่นต่อจากเรื่องนี้แล้ว"
)

REASONS = ("card", "count", "payout", "late_bet", "procedure", "device", "reopened", "flag", "held", "other")

SUBJECT = re.compile(r"(?:(?:p(?:[1-9]|1[0-6])|shared|junk[1-9]|dealer)(?:\.[1-6])?|w[1-9][0-9]{0,5})?")
"""What a dispute is about: a hand, a slot or a wager (``p1``, ``p1.3``, ``w2``); empty, the round."""


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
    """Open a dispute about a round, or a hand, slot or wager of it; ``flag`` makes a flag about it into one.

    What is at risk is the most that lies between two answers at hand; above the house's threshold two people decide.
    Refuses ``dispute_open`` for a second one about the same, ``dispute_undecided`` when ``follows`` is not decided,
    ``dispute_followed`` when it has its follower, ``flag_answered``, and ``round_not_opened`` where there is nothing to
    judge. Must run in an act.
    """
    act = events.current()
    if reason_code not in REASONS:
        raise Refusal("invalid_value", fields={"reason_code": " · ".join(REASONS)})
    if follows is not None and (follows.round_id != round.id or follows.state != Dispute.State.DECIDED):
        raise Refusal("dispute_undecided")
    flagged = _flagged(flag, round) if flag else None
    if flagged is not None and not subject:
        subject = subject_of(flagged)
    if not SUBJECT.fullmatch(subject):
        raise Refusal("invalid_value", fields={"subject": "p1, p1.3, w2, or empty"})
    at_risk = options.at_risk(round.id, subject=subject)
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
    _save(dispute)
    if flagged is not None:
        flags.disputed(flag=flagged, dispute=dispute.id)
    rounds.dispute(round_id=round.id, open=True)
    events.announce([_raised(dispute, reason, round)])
    return dispute


def raise_from_flag(*, flag: UUID, by: Person, reason: str) -> Dispute:
    """Make an open flag about a round into a dispute; who does so is its raiser. Refuses ``not_found``,
    ``flag_answered``, and ``invalid_value`` for a flag about no round. Must run in an act."""
    found = flags.locked(flag)
    if found.round is None:
        raise Refusal("invalid_value", fields={"flag": "about no round"})
    return raise_dispute(round=found.round, by=by, reason_code="flag", reason=reason, flag=flag)


def subject_of(flag: Flag) -> str:
    """Return what a dispute made of a flag is about; a wallet's flag is about the whole round."""
    part = flag.subject.partition("#")[2]
    return part if SUBJECT.fullmatch(part) else ""


def _flagged(flag: UUID, round: Round) -> Flag:
    found = flags.locked(flag)
    if found.round_id != round.id:
        raise Refusal("invalid_value", fields={"flag": "of another round"})
    return found


def _save(dispute: Dispute) -> None:
    try:
        with transaction.atomic():
            dispute.save(force_insert=True)
    except IntegrityError as fault:
        broken = str(getattr(getattr(fault.__cause__, "diag", None), "constraint_name", ""))
        if broken == "dispute_one_open_per_subject":
            raise Refusal("dispute_open") from fault
        if "follows" in broken:
            raise Refusal("dispute_followed") from fault
        raise


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
