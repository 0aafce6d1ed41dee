"""Doors of work on a dispute: claim, propose, decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import disputes
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
from casino.api import payloads
from casino.api.door import Door, Shape, described
from casino.events import Act
from casino.refusals import Refusal

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
    def post(self, request: Request, dispute: UUID) -> Response:
        """Take a free dispute."""

        def do(_: Act, found: Dispute) -> tuple[int, dict[str, Any]]:
            return 200, _claim_shown(disputes.claim(dispute=found.id, by=self.person))

        return self.once(lambda: one(self, dispute), do)


class TokenShape(Shape):
    token = serializers.UUIDField()


class DisputeRenewal(Door):
    """A claim extended by whoever has it."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(operation_id="renewClaim", request=TokenShape, responses={200: ClaimShown})
    def post(self, request: Request, dispute: UUID) -> Response:
        """Extend one's own claim."""
        given = self.body(TokenShape)
        return Response(
            _claim_shown(
                self.act(lambda _: disputes.renew(dispute=dispute, by=self.person, token=given["token"]))
            )
        )


class ReasonShape(Shape):
    reason = serializers.CharField(max_length=500)


class DisputeTakeOver(Door):
    """A claim taken from somebody else, with a reason."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(
        operation_id="takeOverDispute", request=ReasonShape, parameters=[KEY], responses={200: ClaimShown}
    )
    def post(self, request: Request, dispute: UUID) -> Response:
        """Take a dispute over; what its former holder had open decides nothing any more."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            return 200, _claim_shown(
                disputes.take_over(dispute=dispute, by=self.person, reason=given["reason"])
            )

        return self.once(lambda: self.body(ReasonShape), do)


class SnoozeShape(Shape):
    until = serializers.DateTimeField()
    reason = serializers.CharField(max_length=500)


class DisputeSnooze(Door):
    """A dispute put off, with a reason."""

    declares: ClassVar = {"POST": "work_dispute"}

    @extend_schema(
        operation_id="snoozeDispute", request=SnoozeShape, parameters=[KEY], responses={200: DisputeShown}
    )
    def post(self, request: Request, dispute: UUID) -> Response:
        """Put a dispute off until a time before its deadline."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            found = disputes.snooze(
                dispute=dispute, by=self.person, until=given["until"], reason=given["reason"]
            )
            return 200, dispute_shown(found)

        return self.once(lambda: self.body(SnoozeShape), do)


class ProposalShape(Shape):
    token = serializers.UUIDField()
    facts = serializers.ListField(child=serializers.DictField(), min_length=1, max_length=20)
    reason_code = serializers.ChoiceField(
        ["seen_on_video", "cards_seen", "admitted", "device_error", "no_evidence", "other"]
    )
    note = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)


def _facts(given: dict[str, Any]) -> list[dict[str, Any]]:
    return [payloads.chosen_fact(fact, f"facts.{place}") for place, fact in enumerate(given["facts"])]


class DisputeProposals(Door):
    """Facts proposed by whoever has the claim."""

    declares: ClassVar = {"POST": "work_dispute", "DELETE": "work_dispute"}

    @extend_schema(
        operation_id="proposeFacts", request=ProposalShape, parameters=[KEY], responses={201: ProposalShown}
    )
    def post(self, request: Request, dispute: UUID) -> Response:
        """Propose facts; the answer shows what would come of them, and the hash that deciding them needs."""

        def prepare() -> tuple[dict[str, Any], list[dict[str, Any]]]:
            given = self.body(ProposalShape)
            return given, _facts(given)

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
    def delete(self, request: Request, dispute: UUID) -> Response:
        """Take back one's own standing proposal."""

        def do(_: Act, __: None) -> tuple[int, dict[str, Any]]:
            return 200, dispute_shown(disputes.withdraw(dispute=dispute, by=self.person))

        return self.once(lambda: None, do)


class DecideShape(Shape):
    """Either the hash of another person's proposal, or, below the threshold, facts with the claim's token."""

    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z", required=False)
    token = serializers.UUIDField(required=False)
    facts = serializers.ListField(child=serializers.DictField(), min_length=1, max_length=20, required=False)
    reason_code = serializers.CharField(max_length=40, required=False, default="other")
    note = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)


class DisputeDecision(Door):
    """The decision of a dispute; it stands."""

    declares: ClassVar = {"POST": "decide_dispute"}

    @extend_schema(
        operation_id="decideDispute", request=DecideShape, parameters=[KEY], responses={200: DecisionShown}
    )
    def post(self, request: Request, dispute: UUID) -> Response:
        """Decide another's proposal by its hash, or propose and decide at once below the threshold."""

        def do(_: Act, decide: Callable[[], Decision]) -> tuple[int, dict[str, Any]]:
            return 200, decision_shown(decide())

        return self.once(lambda: self._decide(dispute), do)

    def _decide(self, dispute: UUID) -> Callable[[], Decision]:
        given = self.body(DecideShape)
        if given.get("sha256"):
            return lambda: disputes.decide(dispute=dispute, by=self.person, sha256=given["sha256"])
        if not given.get("facts") or not given.get("token"):
            raise Refusal("missing_field", fields={"sha256": "or token and facts"})
        facts = _facts(given)
        return lambda: disputes.propose_and_decide(
            dispute=dispute,
            by=self.person,
            token=given["token"],
            facts=facts,
            reason_code=given["reason_code"],
            note=given["note"],
        )
