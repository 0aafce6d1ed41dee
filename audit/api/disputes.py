"""Doors of disputes: raise, claim, propose, decide."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import disputes
from audit.models import Decision, Dispute, Proposal
from casino import people
from casino.api import event_payloads
from casino.api.door import Door, Id, OneOf, PageQuery, Shape, SignedMoney, described, money
from casino.api.operations import KEY, refuses
from casino.api.shapes import written_as
from casino.events import Act
from casino.models import Round
from casino.platform.refusals import Refusal
from settlement.api import round_answers


def _fact(*, reasoned: bool = True) -> serializers.Field[Any, Any, Any, Any]:
    return written_as(event_payloads.fact_schema(reasoned=reasoned))


ProposalShown = described(
    "Proposal",
    {
        "id": serializers.UUIDField(),
        "ordinal": serializers.IntegerField(),
        "facts": serializers.ListField(child=_fact()),
        "consequences": round_answers.ConsideredShown(),
        "sha256": serializers.CharField(),
        "reason_code": serializers.CharField(),
        "note": serializers.CharField(),
        "proposed_by": serializers.UUIDField(),
        "proposed_at": serializers.DateTimeField(),
    },
)
DecisionShown = described(
    "Decision",
    {
        "id": serializers.UUIDField(),
        "dispute": serializers.UUIDField(),
        "proposal": ProposalShown(),
        "decided_by": serializers.UUIDField(),
        "decided_at": serializers.DateTimeField(),
        "outcome": serializers.ChoiceField(["settled", "voided", "held", "stands"]),
        "settlement": serializers.UUIDField(allow_null=True),
    },
)
OptionShown = described(
    "Option",
    {
        "sort": serializers.ChoiceField(["answers", "ends"]),
        "facts": serializers.ListField(child=_fact(reasoned=False)),
        "consequences": round_answers.ConsideredShown(),
        "says": described("Said", {"th": serializers.CharField(), "en": serializers.CharField()})(),
    },
)
DisputeShown = described(
    "Dispute",
    {
        "id": serializers.UUIDField(),
        "round": serializers.UUIDField(),
        "table": serializers.CharField(),
        "subject": serializers.CharField(),
        "reason_code": serializers.CharField(),
        "reason": serializers.CharField(),
        "raised_by": serializers.UUIDField(),
        "raised_at": serializers.DateTimeField(),
        "deadline_at": serializers.DateTimeField(),
        "money_at_risk": SignedMoney(),
        "needs_two": serializers.BooleanField(),
        "follows": serializers.UUIDField(allow_null=True),
        "state": serializers.ChoiceField(["open", "claimed", "proposed", "decided"]),
        "claimed_by": serializers.UUIDField(allow_null=True),
        "claim_until": serializers.DateTimeField(allow_null=True),
        "snoozed_until": serializers.DateTimeField(allow_null=True),
        "proposal": ProposalShown(allow_null=True),
        "decision": DecisionShown(allow_null=True),
    },
)


def proposal_shown(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal with what would come of it."""
    return {
        "id": str(proposal.id),
        "ordinal": proposal.ordinal,
        "facts": proposal.facts,
        "consequences": round_answers.considered(proposal.consequences),
        "sha256": proposal.sha256,
        "reason_code": proposal.reason_code,
        "note": proposal.note,
        "proposed_by": str(proposal.proposed_by_id),
        "proposed_at": proposal.proposed_at.isoformat(),
    }


def decision_shown(decision: Decision) -> dict[str, Any]:
    """Return a decision with the proposal it decided."""
    return {
        "id": str(decision.id),
        "dispute": str(decision.dispute_id),
        "proposal": proposal_shown(decision.proposal),
        "decided_by": str(decision.decided_by_id),
        "decided_at": decision.decided_at.isoformat(),
        "outcome": decision.outcome,
        "settlement": str(decision.settlement) if decision.settlement else None,
    }


def dispute_shown(dispute: Dispute) -> dict[str, Any]:
    """Return a dispute as it stands; its claim's token is shown to nobody but whoever claims."""
    decision: Decision | None = getattr(dispute, "decision", None)
    found = vars(dispute).get("standing")
    standing: list[Proposal] = list(_standing(dispute)) if found is None else found
    return {
        "id": str(dispute.id),
        "round": str(dispute.round_id),
        "table": dispute.round.table.code,
        "subject": dispute.subject,
        "reason_code": dispute.reason_code,
        "reason": dispute.reason,
        "raised_by": str(dispute.raised_by_id),
        "raised_at": dispute.raised_at.isoformat(),
        "deadline_at": dispute.deadline_at.isoformat(),
        "money_at_risk": money(dispute.money_at_risk, dispute.currency),
        "needs_two": dispute.needs_two,
        "follows": str(dispute.follows_id) if dispute.follows_id else None,
        "state": dispute.state,
        "claimed_by": str(dispute.claimed_by_id) if dispute.claimed_by_id else None,
        "claim_until": dispute.claim_until.isoformat() if dispute.claim_until else None,
        "snoozed_until": dispute.snoozed_until.isoformat() if dispute.snoozed_until else None,
        "proposal": proposal_shown(standing[0]) if standing else None,
        "decision": decision_shown(decision) if decision else None,
    }


def _option_shown(option: disputes.Option) -> dict[str, Any]:
    written = option.written()
    return written | {"consequences": round_answers.considered(written["consequences"])}


def _standing(dispute: Dispute) -> QuerySet[Proposal]:
    return Proposal.objects.filter(dispute=dispute, withdrawn_at=None)


def in_scope(door: Door, right: str = "read_disputes") -> QuerySet[Dispute]:
    """Return the disputes of the tables in scope, with all that ``dispute_shown`` shows of them: two statements."""
    standing = Prefetch("proposals", Proposal.objects.filter(withdrawn_at=None), to_attr="standing")
    found = Dispute.objects.select_related("round__table", "decision__proposal").prefetch_related(standing)
    scope = people.tables_in_scope(door.principal, right)
    return found if scope is None else found.filter(round__table__in=scope)


def one(door: Door, dispute: UUID, right: str = "read_disputes") -> Dispute:
    """Return a dispute in scope; refuse ``not_found``."""
    found = in_scope(door, right).filter(pk=dispute).first()
    if found is None:
        raise Refusal("not_found")
    return found


class RaiseShape(Shape):
    round = Id()
    subject = serializers.RegexField(
        rf"^{disputes.SUBJECT.pattern}\Z",
        required=False,
        default="",
        allow_blank=True,
        help_text="a hand, slot or wager: p1, p1.3, w2",
    )
    reason_code = serializers.ChoiceField(disputes.REASONS)
    reason = serializers.CharField(max_length=2000)
    follows = Id(required=False, default=None, allow_null=True)


class DisputesQuery(PageQuery):
    """Which disputes."""

    state = OneOf(["open", "claimed", "proposed", "decided"], required=False)
    round = Id(required=False)


class Disputes(Door):
    """Disputes: the queue by deadline, and the raising of one."""

    declares: ClassVar = {"GET": "read_disputes", "POST": "raise_dispute"}
    queries: ClassVar = {"GET": DisputesQuery}

    @extend_schema(
        operation_id="listDisputes",
        responses={
            200: described(
                "Disputes",
                {"disputes": DisputeShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    @refuses("not_found")
    def get(self, request: Request) -> Response:
        """List a page of disputes, earliest deadline first."""
        page = self.page
        found = in_scope(self).order_by("deadline_at", "id")
        if "state" in self.query:
            found = found.filter(state=self.query["state"])
        if "round" in self.query:
            found = found.filter(round=self.query["round"])
        if page.cursor:
            after = in_scope(self).filter(pk=page.cursor).first()
            if after is None:
                raise Refusal("invalid_value", fields={"cursor": "not of this list"})
            found = found.filter(
                Q(deadline_at__gt=after.deadline_at) | Q(deadline_at=after.deadline_at, id__gt=after.id)
            )
        listed, last = page.cut(found)
        return Response(
            {
                "disputes": [dispute_shown(dispute) for dispute in listed],
                "next": str(last.id) if last else None,
            }
        )

    @extend_schema(
        operation_id="raiseDispute", request=RaiseShape, parameters=[KEY], responses={201: DisputeShown}
    )
    @refuses(
        "dispute_followed",
        "dispute_open",
        "dispute_undecided",
        "flag_answered",
        "not_found",
        "round_not_opened",
        "round_not_settled",
    )
    def post(self, request: Request) -> Response:
        """Raise a dispute about a round, or a hand, slot or wager of it; ``follows`` links it to a decided one."""

        def prepare() -> tuple[Round, dict[str, Any]]:
            given = self.body(RaiseShape)
            found = Round.objects.select_related("table", "alias_of__table").filter(pk=given["round"]).first()
            if found is None:
                raise Refusal("not_found")
            stands = found.alias_of or found
            people.require_at(self.principal, "raise_dispute", stands.table_id)
            return stands, given

        def do(_: Act, prepared: tuple[Round, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            stands, given = prepared
            follows = one(self, given["follows"], "raise_dispute") if given["follows"] else None
            dispute = disputes.raise_dispute(
                round=stands,
                by=self.person,
                reason_code=given["reason_code"],
                reason=given["reason"],
                subject=given["subject"],
                follows=follows,
            )
            return 201, dispute_shown(dispute)

        return self.once(prepare, do)


class DisputeDetail(Door):
    """One dispute, with the facts at hand and what each would move."""

    declares: ClassVar = {"GET": "read_disputes"}

    @extend_schema(
        operation_id="readDispute",
        responses={
            200: described(
                "DisputeWithOptions",
                {"dispute": DisputeShown(), "options": OptionShown(many=True)},
            )
        },
    )
    @refuses("invalid_value", "round_not_opened", "round_not_settled")
    def get(self, request: Request, dispute: UUID) -> Response:
        """Read a dispute; a decided one has no options any more."""
        found = one(self, dispute)
        open_still = found.state != Dispute.State.DECIDED
        options = disputes.options_of(found.round_id, subject=found.subject) if open_still else []
        return Response(
            {"dispute": dispute_shown(found), "options": [_option_shown(option) for option in options]}
        )
