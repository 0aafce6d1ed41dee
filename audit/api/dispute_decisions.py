"""Doors of work on a dispute: claim, propose, decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import disputes
from audit.api import reauthentication
from audit.api.disputes import (
    KEY,
    DecisionShown,
    DisputeShown,
    ProposalShown,
    decision_shown,
    dispute_shown,
    one,
    proposal_shown,
)
from audit.models import Decision, Dispute
from casino.api import event_payloads
from casino.api.door import Door, Id, Instant, Shape, described
from casino.api.operations import refuses
from casino.events import Act
from casino.platform.refusals import Refusal

ClaimShown = described(
    "Claim",
    {
        "token": serializers.UUIDField(help_text="send it with whatever you do to the dispute"),
        "until": serializers.DateTimeField(),
        "dispute": DisputeShown(),
    },
)


def _claim_shown(dispute: Dispute) -> dict[str, Any]:
    return {
        "token": str(dispute.claim_token),
        "until": dispute.claim_until.isoformat() if dispute.claim_until else None,
        "dispute": dispute_shown(dispute),
    }


class DisputeClaim(Door):
    """The claim of a dispute: a lease of some minutes."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(operation_id="claimDispute", request=None, parameters=[KEY], responses={200: ClaimShown})
    @refuses("already_decided", "claimed", "sod_violation")
    def post(self, request: Request, dispute: UUID) -> Response:
        """Take a free dispute."""

        def do(_: Act, found: Dispute) -> tuple[int, dict[str, Any]]:
            return 200, _claim_shown(disputes.claim(dispute=found.id, by=self.person))

        return self.once(lambda: one(self, dispute), do)


class TokenShape(Shape):
    token = Id()


class DisputeRenewal(Door):
    """A claim extended by whoever has it."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(
        operation_id="renewClaim", request=TokenShape, parameters=[KEY], responses={200: ClaimShown}
    )
    @refuses("already_decided", "claim_lost")
    def post(self, request: Request, dispute: UUID) -> Response:
        """Extend one's own claim."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            return 200, _claim_shown(disputes.renew(dispute=dispute, by=self.person, token=given["token"]))

        return self.once(lambda: self.body(TokenShape), do)


class ReasonShape(Shape):
    reason = serializers.CharField(max_length=500)


class DisputeTakeOver(Door):
    """A claim taken from somebody else, with a reason."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(
        operation_id="takeOverDispute", request=ReasonShape, parameters=[KEY], responses={200: ClaimShown}
    )
    @refuses("already_decided", "sod_violation")
    def post(self, request: Request, dispute: UUID) -> Response:
        """Take a dispute over; what its former holder had open decides nothing any more."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            return 200, _claim_shown(
                disputes.take_over(dispute=dispute, by=self.person, reason=given["reason"])
            )

        return self.once(lambda: self.body(ReasonShape), do)


class SnoozeShape(Shape):
    until = Instant()
    reason = serializers.CharField(max_length=500)


class DisputeSnooze(Door):
    """A dispute put off, with a reason."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(
        operation_id="snoozeDispute", request=SnoozeShape, parameters=[KEY], responses={200: DisputeShown}
    )
    @refuses("already_decided", "sod_violation")
    def post(self, request: Request, dispute: UUID) -> Response:
        """Put a dispute off until a time before its deadline."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            found = disputes.snooze(
                dispute=dispute, by=self.person, until=given["until"], reason=given["reason"]
            )
            return 200, dispute_shown(found)

        return self.once(lambda: self.body(SnoozeShape), do)


REASON_CODES = ("seen_on_video", "cards_seen", "admitted", "device_error", "no_evidence", "other")
"""Why these facts are proposed; the note says more."""


@extend_schema_field(event_payloads.fact_schema(reasoned=False))
class FactGiven(serializers.DictField):
    """A fact to choose; the proposal's reason is its reason."""


class ProposalShape(Shape):
    token = Id()
    facts = serializers.ListField(
        child=FactGiven(),
        min_length=1,
        max_length=20,
        help_text="bet_ruled, card_ruled, card_removed, hold_waived, round_voided, or stands alone; without reasons of"
        " their own",
    )
    reason_code = serializers.ChoiceField(REASON_CODES)
    note = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)
    pin = serializers.CharField(
        max_length=200, required=False, help_text="one's own; once given it counts for five minutes"
    )


def _facts(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Read facts like the data of events. Their reason is the proposal's, so one of their own is refused."""
    read = []
    for place, fact in enumerate(given["facts"]):
        path = f"facts.{place}"
        if "reason" in fact:
            raise Refusal("unknown_field", fields={f"{path}.reason": "is not known here"})
        reason = {} if fact.get("kind") == "stands" else {"reason": given["reason_code"]}
        read.append(event_payloads.chosen_fact({**fact, **reason}, path))
    return read


class DisputeProposals(Door):
    """Facts proposed by whoever has the claim."""

    declares: ClassVar = {"POST": "work_dispute", "DELETE": "work_dispute"}

    @extend_schema(
        operation_id="proposeFacts", request=ProposalShape, parameters=[KEY], responses={201: ProposalShown}
    )
    @refuses(
        "already_decided",
        "claim_lost",
        "round_not_opened",
        "round_not_settled",
        "secret_needed",
        "sod_violation",
    )
    def post(self, request: Request, dispute: UUID) -> Response:
        """Propose facts; the answer shows what would come of them, and the hash that deciding them needs."""

        def prepare() -> tuple[dict[str, Any], list[dict[str, Any]]]:
            given = self.body(ProposalShape)
            facts = _facts(given)
            reauthentication.require(self, given)
            return given, facts

        def do(_: Act, prepared: tuple[dict[str, Any], list[dict[str, Any]]]) -> tuple[int, dict[str, Any]]:
            given, facts = prepared
            proposal = disputes.propose(
                dispute=dispute,
                by=self.person,
                token=given["token"],
                facts=facts,
                reason_code=given["reason_code"],
                note=given["note"],
            )
            return 201, proposal_shown(proposal)

        return self.once(prepare, do)

    @extend_schema(operation_id="withdrawProposal", parameters=[KEY], responses={200: DisputeShown})
    @refuses("already_decided", "not_yours", "nothing_proposed")
    def delete(self, request: Request, dispute: UUID) -> Response:
        """Take back one's own standing proposal."""

        def do(_: Act, __: None) -> tuple[int, dict[str, Any]]:
            return 200, dispute_shown(disputes.withdraw(dispute=dispute, by=self.person))

        return self.once(lambda: None, do)


class DecideShape(Shape):
    """Either the hash of a proposal (another person's where ``needs_two``), or, below the threshold, facts with the
    claim's token: one auditor proposes and decides in this one request, and both steps are written."""

    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z", required=False)
    token = Id(required=False)
    facts = serializers.ListField(child=FactGiven(), min_length=1, max_length=20, required=False)
    reason_code = serializers.ChoiceField(REASON_CODES, required=False)
    note = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)
    pin = serializers.CharField(
        max_length=200, required=False, help_text="one's own; once given it counts for five minutes"
    )


class DisputeDecision(Door):
    """The decision of a dispute; it stands."""

    declares: ClassVar = {"POST": "decide_dispute"}

    @extend_schema(
        operation_id="decideDispute", request=DecideShape, parameters=[KEY], responses={200: DecisionShown}
    )
    @refuses(
        "already_decided",
        "claim_lost",
        "day_sealed",
        "nothing_proposed",
        "round_held",
        "round_not_opened",
        "round_not_settled",
        "secret_needed",
        "sod_violation",
        "stale_proposal",
        "two_people_needed",
    )
    def post(self, request: Request, dispute: UUID) -> Response:
        """Decide a proposal by its hash, or propose and decide at once below the threshold (``needs_two`` is false).

        The person's own PIN is needed: in the body, or given in this session within the last five minutes.
        """

        def prepare() -> Callable[[], Decision]:
            decide = self._decide(dispute)
            reauthentication.require(self, self.body(DecideShape))
            return decide

        def do(_: Act, decide: Callable[[], Decision]) -> tuple[int, dict[str, Any]]:
            return 200, decision_shown(decide())

        return self.once(prepare, do)

    def _decide(self, dispute: UUID) -> Callable[[], Decision]:
        given = self.body(DecideShape)
        alone = ("token", "facts", "reason_code")
        if "sha256" in given:
            if any(name in given for name in alone):
                raise Refusal("invalid_value", fields={"sha256": "or token, facts and reason_code"})
            return lambda: disputes.decide(dispute=dispute, by=self.person, sha256=given["sha256"])
        missing = [name for name in alone if name not in given]
        if missing:
            raise Refusal("missing_field", fields=dict.fromkeys(missing, "or sha256"))
        facts = _facts(given)
        return lambda: disputes.propose_and_decide(
            dispute=dispute,
            by=self.person,
            token=given["token"],
            facts=facts,
            reason_code=given["reason_code"],
            note=given["note"],
        )
