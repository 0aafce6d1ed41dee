"""Propose facts and decide: the end of a dispute, and the revision that follows, in one act."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max

from audit.disputes import leases, options, separation_of_duties
from audit.models import Decision, Dispute, Proposal
from casino import events, people, rounds
from casino.events import Fact
from casino.models import Person, Role, Round
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import settling, webhooks
from settlement.webhooks import Owed

refusals.register("nothing_proposed", 409, "Nothing is proposed.", "ยังไม่มีข้อเสนอ")
refusals.register(
    "two_people_needed", 409, "Above the threshold another person decides.", "เกินวงเงิน ต้องให้อีกคนตัดสิน"
)

Facts = Sequence[dict[str, Any]]


def propose(*, dispute: UUID, by: Person, token: UUID, facts: Facts, reason_code: str, note: str) -> Proposal:
    """Propose facts; what would come of them is computed now and bound by the proposal's hash.

    The reason of each fact is the proposal's code: what somebody typed stands in the note alone. Takes an auditor who
    has the claim, and replaces a standing proposal. Refuses ``forbidden``, ``claim_lost``, ``sod_violation``,
    ``already_decided``, ``invalid_value``, and ``round_not_settled`` while the round waits for its settlement. Must run
    in an act.
    """
    found = _mine_to_propose(dispute, by, token)
    return _propose(found, by=by, facts=facts, reason_code=reason_code, note=note)


def withdraw(*, dispute: UUID, by: Person) -> Dispute:
    """Take back one's own standing proposal; refuse ``nothing_proposed``, and ``not_yours`` for another's."""
    found = leases.locked(dispute)
    standing = _standing(found)
    if standing.proposed_by_id != by.id:
        raise Refusal("not_yours")
    standing.withdrawn_at = events.current().now
    standing.save(update_fields=["withdrawn_at"])
    found.state = Dispute.State.CLAIMED
    found.save(update_fields=["state"])
    events.announce([_fact("dispute.withdrawn", found, {"proposal": str(standing.id)})])
    return found


def decide(*, dispute: UUID, by: Person, sha256: str) -> Decision:
    """Decide a proposal exactly as it was shown (``sha256``): above the threshold another person's, below it one's own
    too, as ``propose_and_decide`` does in one request.

    An auditor may, above the threshold a manager too. Refuses ``forbidden``, ``sod_violation`` above the threshold to
    the proposer and always to whoever had a part in the round or the dispute, ``stale_proposal`` when the hash is of
    an older one or the round changed since, ``already_decided``. Must run in an act.
    """
    settling.keep_days_open()
    found = leases.locked(dispute)
    if by.role != Role.AUDITOR and not (by.role == Role.MANAGER and found.needs_two):
        raise Refusal("forbidden")
    separation_of_duties.require(found, by)
    standing = _standing(found)
    if found.needs_two:
        people.different(standing.proposed_by_id, by.id)
    if standing.sha256 != sha256:
        raise Refusal("stale_proposal", sha256=standing.sha256)
    return _decide(found, standing, by=by, round=rounds.still(found.round_id))


def propose_and_decide(
    *, dispute: UUID, by: Person, token: UUID, facts: Facts, reason_code: str, note: str
) -> Decision:
    """Propose and decide at once: below the threshold one auditor is enough, and both steps are written.

    Refuses what ``propose`` refuses, and ``two_people_needed`` above the threshold. Must run in an act.
    """
    settling.keep_days_open()
    found = _mine_to_propose(dispute, by, token)
    round = rounds.still(found.round_id)
    proposal = _propose(found, by=by, facts=facts, reason_code=reason_code, note=note)
    if found.needs_two:
        raise Refusal("two_people_needed")
    return _decide(found, proposal, by=by, round=round)


def _mine_to_propose(dispute: UUID, by: Person, token: UUID) -> Dispute:
    if by.role != Role.AUDITOR:
        raise Refusal("forbidden")
    found = leases.locked(dispute)
    separation_of_duties.require(found, by)
    leases.require_claim(found, by, token)
    return found


def _propose(dispute: Dispute, *, by: Person, facts: Facts, reason_code: str, note: str) -> Proposal:
    act = events.current()
    chosen = [_with_reason(fact, reason_code) for fact in facts]
    considered, at_risk = options.weighed(dispute.round_id, chosen, subject=dispute.subject)
    written = considered.written()
    Proposal.objects.filter(dispute=dispute, withdrawn_at=None).update(withdrawn_at=act.now)
    last = Proposal.objects.filter(dispute=dispute).aggregate(last=Max("ordinal"))["last"] or 0
    proposal = Proposal.objects.create(
        id=events.uuid7(act.now),
        dispute=dispute,
        ordinal=last + 1,
        facts=chosen,
        consequences=written,
        sha256=_sha256(dispute, chosen, written),
        reason_code=reason_code,
        note=note,
        proposed_by=by,
        proposed_at=act.now,
    )
    dispute.state = Dispute.State.PROPOSED
    dispute.money_at_risk = max(dispute.money_at_risk, at_risk)
    dispute.needs_two = dispute.needs_two or dispute.money_at_risk > settings.DISPUTES["threshold"]
    dispute.save(update_fields=["state", "money_at_risk", "needs_two"])
    events.announce([_proposed(dispute, proposal)])
    return proposal


def _with_reason(fact: dict[str, Any], reason_code: str) -> dict[str, Any]:
    return fact if fact["kind"] == settling.STANDS else {**fact, "reason": reason_code}


def _decide(dispute: Dispute, proposal: Proposal, *, by: Person, round: Round) -> Decision:
    act = events.current()
    considered = options.consequences(dispute.round_id, proposal.facts).written()
    now = _sha256(dispute, proposal.facts, considered)
    if now != proposal.sha256:
        # The round changed since the proposal was shown: another report, another revision.
        raise Refusal("stale_proposal", sha256=now)
    decision_id = events.uuid7(act.now)
    chosen = [fact for fact in proposal.facts if fact["kind"] != settling.STANDS]
    added: list[int] = []
    settlement: UUID | None = None
    outcome = considered["outcome"]
    if chosen:
        added = rounds.decide(round=round, facts=chosen, dispute=dispute.id, decided_by=by.id)
        outcome, settlement = settling.after_decision(dispute.round_id, cites=added, because=decision_id)
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
    webhooks.owe([_owed(dispute, decision)])
    return decision


def _standing(dispute: Dispute) -> Proposal:
    found = Proposal.objects.filter(dispute=dispute, withdrawn_at=None).first()
    if found is None or dispute.state != Dispute.State.PROPOSED:
        raise Refusal("nothing_proposed")
    return found


def _sha256(dispute: Dispute, facts: Facts, considered: dict[str, Any]) -> str:
    """The hash of what a person is shown: the facts, what comes of them, and of which round that is true."""
    shown = {"dispute": str(dispute.id), "facts": list(facts), "consequences": considered}
    return hashlib.sha256(events.canonical(shown)).hexdigest()


def _proposed(dispute: Dispute, proposal: Proposal) -> Fact:
    return _fact(
        "dispute.proposed",
        dispute,
        {
            "proposal": str(proposal.id),
            "ordinal": proposal.ordinal,
            "facts": proposal.facts,
            "consequences": proposal.consequences,
            "sha256": proposal.sha256,
            "reason": {"code": proposal.reason_code, "text": proposal.note},
            "proposed_by": str(proposal.proposed_by_id),
            "money_at_risk": dispute.money_at_risk,
            "needs_two": int(dispute.needs_two),
        },
    )


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


def _owed(dispute: Dispute, decision: Decision) -> Owed:
    return Owed(
        "dispute.decided",
        {
            "dispute": str(dispute.id),
            "decision": str(decision.id),
            "outcome": decision.outcome,
            "settlement": str(decision.settlement) if decision.settlement else None,
        },
        subject=f"disputes/{dispute.id}",
        table=dispute.round.table.code,
        round=dispute.round_id,
    )


def _fact(action: str, dispute: Dispute, data: dict[str, Any]) -> Fact:
    return Fact(
        action, f"disputes/{dispute.id}", data, table=dispute.round.table.code, round=dispute.round_id
    )
