"""Propose facts and decide: the end of a dispute, and the revision that follows, in one act."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Max

from audit.disputes import claiming, options
from audit.models import Decision, Dispute, Proposal
from casino import events, people, refusals, rounds
from casino.events import Fact
from casino.models import Person, Role
from casino.refusals import Refusal
from settlement import settle

refusals.register("nothing_proposed", 409, "Nothing is proposed.", "ยังไม่มีข้อเสนอ")
refusals.register(
    "two_people_needed", 409, "Above the threshold another person decides.", "เกินวงเงิน ต้องให้อีกคนตัดสิน"
)

DECIDERS = (Role.AUDITOR,)
SECOND = (Role.AUDITOR, Role.MANAGER)
"""Above the threshold a manager may be the second."""


def propose(
    *, dispute: UUID, by: Person, token: UUID, facts: Sequence[dict[str, Any]], reason_code: str, note: str
) -> Proposal:
    """Propose facts; what would come of them is computed now and bound by the proposal's hash.

    Needs the claim. Refuses ``claim_lost``, ``sod_violation``, ``already_decided``, ``invalid_value`` where facts
    cannot be read. A standing proposal is replaced. Must run in an act.
    """
    found = claiming.locked(dispute)
    claiming.require_apart(found, by)
    claiming.require_claim(found, by, token)
    return _propose(found, by=by, facts=facts, reason_code=reason_code, note=note)


def withdraw(*, dispute: UUID, by: Person) -> Dispute:
    """Take back one's own standing proposal."""
    found = claiming.locked(dispute)
    standing = _standing(found)
    if standing.proposed_by_id != by.id:
        raise Refusal("forbidden")
    _withdraw(standing)
    found.state = Dispute.State.CLAIMED
    found.save(update_fields=["state"])
    events.announce([_fact("dispute.withdrawn", found, {"proposal": str(standing.id)})])
    return found


def decide(*, dispute: UUID, by: Person, sha256: str) -> Decision:
    """Decide a proposal that another person made, exactly as it was shown (``sha256``).

    Refuses ``sod_violation`` to its raiser, the round's dealers and the proposer, ``stale_proposal`` when the hash is
    of an older one or the consequences are others now, ``already_decided``. Must run in an act.
    """
    settle.keep_days_open()
    found = claiming.locked(dispute)
    claiming.require_apart(found, by)
    standing = _standing(found)
    if standing.sha256 != sha256:
        raise Refusal("stale_proposal", sha256=standing.sha256)
    people.different(standing.proposed_by_id, by.id)
    return _decide(found, standing, by=by)


def propose_and_decide(
    *, dispute: UUID, by: Person, token: UUID, facts: Sequence[dict[str, Any]], reason_code: str, note: str
) -> Decision:
    """Propose and decide at once: below the threshold one auditor is enough, and both steps are written.

    Refuses ``two_people_needed`` above it. Must run in an act.
    """
    settle.keep_days_open()
    found = claiming.locked(dispute)
    claiming.require_apart(found, by)
    claiming.require_claim(found, by, token)
    proposal = _propose(found, by=by, facts=facts, reason_code=reason_code, note=note)
    if found.needs_two:
        raise Refusal("two_people_needed")
    return _decide(found, proposal, by=by)


def _propose(
    dispute: Dispute, *, by: Person, facts: Sequence[dict[str, Any]], reason_code: str, note: str
) -> Proposal:
    act = events.current()
    if by.role not in DECIDERS:
        raise Refusal("forbidden")
    considered = options.consequences(dispute.round_id, facts).written()
    Proposal.objects.filter(dispute=dispute, withdrawn_at=None).update(withdrawn_at=act.now)
    last = Proposal.objects.filter(dispute=dispute).aggregate(last=Max("ordinal"))["last"] or 0
    proposal = Proposal.objects.create(
        id=events.uuid7(act.now),
        dispute=dispute,
        ordinal=last + 1,
        facts=list(facts),
        consequences=considered,
        sha256=_sha256(dispute, facts, considered),
        reason_code=reason_code,
        note=note,
        proposed_by=by,
        proposed_at=act.now,
    )
    at_risk = max(dispute.money_at_risk, considered["moved"])
    dispute.state, dispute.money_at_risk = Dispute.State.PROPOSED, at_risk
    dispute.needs_two = dispute.needs_two or at_risk > _threshold()
    dispute.save(update_fields=["state", "money_at_risk", "needs_two"])
    events.announce(
        [
            _fact(
                "dispute.proposed",
                dispute,
                {
                    "proposal": str(proposal.id),
                    "ordinal": proposal.ordinal,
                    "facts": list(facts),
                    "consequences": considered,
                    "sha256": proposal.sha256,
                    "reason": {"code": reason_code, "text": note},
                    "proposed_by": str(by.id),
                    "money_at_risk": at_risk,
                    "needs_two": int(dispute.needs_two),
                },
            )
        ]
    )
    return proposal


def _decide(dispute: Dispute, proposal: Proposal, *, by: Person) -> Decision:
    act = events.current()
    if by.role not in SECOND:
        raise Refusal("forbidden")
    considered = options.consequences(dispute.round_id, proposal.facts).written()
    if _sha256(dispute, proposal.facts, considered) != proposal.sha256:
        # The round changed since the proposal was shown: another read, another revision.
        raise Refusal("stale_proposal", sha256=_sha256(dispute, proposal.facts, considered))
    decision_id = events.uuid7(act.now)
    chosen = [fact for fact in proposal.facts if fact["kind"] != settle.STANDS]
    added: list[int] = []
    settlement: UUID | None = None
    outcome = considered["outcome"]
    if chosen:
        added = rounds.decide(round_id=dispute.round_id, facts=chosen, dispute=dispute.id, decided_by=by.id)
        outcome, settlement = settle.after_decision(dispute.round_id, cites=added, because=decision_id)
    decision = Decision.objects.create(
        id=decision_id,
        dispute=dispute,
        proposal=proposal,
        decided_by=by,
        decided_at=act.now,
        settlement=settlement,
        outcome=outcome,
        events=added,
    )
    dispute.state = Dispute.State.DECIDED
    dispute.save(update_fields=["state"])
    others = Dispute.objects.filter(round=dispute.round_id).exclude(state=Dispute.State.DECIDED)
    rounds.dispute(round_id=dispute.round_id, open=others.exists())
    events.announce([_decided(dispute, proposal, decision)])
    return decision


def _decided(dispute: Dispute, proposal: Proposal, decision: Decision) -> Fact:
    return _fact(
        "dispute.decided",
        dispute,
        {
            "decision": str(decision.id),
            "proposal": str(proposal.id),
            "sha256": proposal.sha256,
            "facts": proposal.facts,
            "outcome": decision.outcome,
            "settlement": str(decision.settlement) if decision.settlement else None,
            "events": decision.events,
            "proposed_by": str(proposal.proposed_by_id),
            "decided_by": str(decision.decided_by_id),
            "needs_two": int(dispute.needs_two),
        },
    )


def _standing(dispute: Dispute) -> Proposal:
    found = Proposal.objects.filter(dispute=dispute, withdrawn_at=None).first()
    if found is None or dispute.state != Dispute.State.PROPOSED:
        raise Refusal("nothing_proposed")
    return found


def _withdraw(proposal: Proposal) -> None:
    proposal.withdrawn_at = events.current().now
    proposal.save(update_fields=["withdrawn_at"])


def _sha256(dispute: Dispute, facts: Sequence[dict[str, Any]], considered: dict[str, Any]) -> str:
    shown = {"dispute": str(dispute.id), "facts": list(facts), "consequences": considered}
    return hashlib.sha256(events.canonical(shown)).hexdigest()


def _threshold() -> int:
    from django.conf import settings

    return int(settings.DISPUTES["threshold"])


def _fact(action: str, dispute: Dispute, data: dict[str, Any]) -> Fact:
    return Fact(
        action, f"disputes/{dispute.id}", data, table=dispute.round.table.code, round=dispute.round_id
    )
