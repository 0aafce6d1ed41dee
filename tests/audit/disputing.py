"""Disputes at a table that plays at a fixed hour: who objects, who looks, who decides. Each step is an act."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audit import disputes
from audit.models import Decision, Dispute, Proposal
from casino import events, people
from casino.models import Person, Round
from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.floor import LATER, AtTable, a_person, outcome

THEN = LATER + timedelta(minutes=1)
"""When disputes are worked on, unless a test says otherwise."""

WON = TWO_HANDS + "close"
"""p1 wins 100 baht: 7 against 6."""
CONTESTED = TWO_HANDS + "camera: p1.2 AD\nclose"
"""The terminal read a four, the camera an ace: 7 against 6, or 4 against 6."""

Facts = list[dict[str, Any]]
STANDS: Facts = [{"kind": "stands"}]
VOID: Facts = [{"kind": "round_voided"}]


def ruled(slot: str, card: str) -> Facts:
    hand, _, position = slot.partition(".")
    return [{"kind": "card_ruled", "hand": hand, "position": int(position), "card": card}]


def a_ruled_bet(wager: str, hand: str, baht: int, **owner: Any) -> Facts:
    stake = {"amount": baht * 100, "currency": "THB"}
    return [
        {"kind": "bet_ruled", "wager": wager, "hand": hand, "owner": owner or {"seat": 1}, "stake": stake}
    ]


def removed(slot: str) -> Facts:
    hand, _, position = slot.partition(".")
    return [{"kind": "card_removed", "hand": hand, "position": int(position)}]


def auditor(badge: str = "A01") -> Person:
    return a_person(badge, "auditor")


def watcher() -> Person:
    return a_person("V01", "surveillance")


def acting(person: Person, *, now: datetime = THEN) -> AbstractContextManager[events.Act]:
    return events.act(actor=people.principal_of(person), request_id="office", now=now)


def a_settled_round(table: AtTable, text: str = WON) -> UUID:
    round_id = table.tell(text)
    assert outcome(round_id) == "settled"
    return round_id


def a_held_round(table: AtTable, text: str = CONTESTED, *, reason: str = "reads_differ") -> UUID:
    round_id = table.tell(text)
    assert outcome(round_id) == f"held: {reason}"
    return round_id


def raised(round_id: UUID, *, by: Person | None = None, now: datetime = THEN, **more: Any) -> Dispute:
    """Object to a round: surveillance does, unless a test says who."""
    who = by or watcher()
    wanted: dict[str, Any] = {"reason_code": "card", "reason": "the guest saw another card"} | more
    with acting(who, now=now):
        round = Round.objects.select_related("table").get(pk=round_id)
        return disputes.raise_dispute(round=round, by=who, **wanted)


def claimed(dispute: Dispute, *, by: Person | None = None, now: datetime = THEN) -> UUID:
    """Claim it and return the claim's token."""
    who = by or auditor()
    with acting(who, now=now):
        token = disputes.claim(dispute=dispute.id, by=who).claim_token
    assert token is not None
    return token


def proposed(
    dispute: Dispute,
    facts: Facts,
    *,
    by: Person | None = None,
    token: UUID | None = None,
    now: datetime = THEN,
) -> Proposal:
    """Claim it, where no token is given, and propose these facts."""
    who = by or auditor()
    token = token or claimed(dispute, by=who, now=now)
    with acting(who, now=now):
        return disputes.propose(
            dispute=dispute.id, by=who, token=token, facts=facts, reason_code="seen_on_video", note="twice"
        )


def decided(dispute: Dispute, facts: Facts, *, by: Person | None = None, now: datetime = THEN) -> Decision:
    """Claim, propose and decide: one auditor, below the threshold."""
    who = by or auditor()
    token = claimed(dispute, by=who, now=now)
    with acting(who, now=now):
        return disputes.propose_and_decide(
            dispute=dispute.id, by=who, token=token, facts=facts, reason_code="seen_on_video", note="twice"
        )


def seconded(
    proposal: Proposal, *, by: Person | None = None, sha256: str = "", now: datetime = THEN
) -> Decision:
    """Decide what another person proposed."""
    who = by or auditor("A02")
    with acting(who, now=now):
        return disputes.decide(dispute=proposal.dispute_id, by=who, sha256=sha256 or proposal.sha256)


def answers(dispute: Dispute) -> dict[str, Any]:
    """The options that answer the doubt, by what they choose, each with what would come of it."""
    found = disputes.options_of(dispute.round_id, subject=dispute.subject)
    return {_said(option.facts): option.considered for option in found}


def _said(facts: Sequence[dict[str, Any]]) -> str:
    return " + ".join(
        " ".join(
            str(part)
            for part in (
                fact["kind"],
                fact.get("wager", ""),
                ".".join(str(fact[name]) for name in ("hand", "position") if name in fact),
                fact.get("reason_code", ""),
                fact.get("card", ""),
                *(f"{kind}={ref}" for kind, ref in fact.get("owner", {}).items()),
                str(fact["stake"]["amount"] // 100) if "stake" in fact else "",
            )
            if part
        )
        for fact in facts
    )


def standing(round_id: UUID) -> str:
    return floor.standing(round_id)
