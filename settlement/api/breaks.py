"""Doors of breaks: what differs, and what becomes of it."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Day, Door, Id, OneOf, PageQuery, Shape, SignedMoney, Whole, described, money
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import breaks
from settlement.api.bounds import day_asked
from settlement.ledger import Posting
from settlement.models import Break, BreakCode, BreakState, BreakStep, Resolution, Severity

StepShown = described(
    "BreakStep",
    {
        "state": serializers.ChoiceField(BreakState.values),
        "by": serializers.UUIDField(allow_null=True),
        "reason": serializers.CharField(),
        "taken_at": serializers.DateTimeField(),
    },
)
BREAK_FIELDS: dict[str, serializers.Field[Any, Any, Any, Any]] = {
    "id": serializers.UUIDField(),
    "code": serializers.ChoiceField(BreakCode.values),
    "meaning": described("BreakMeaning", {"en": serializers.CharField(), "th": serializers.CharField()})(),
    "severity": serializers.ChoiceField(Severity.values),
    "clears_itself": serializers.BooleanField(),
    "subject": serializers.CharField(),
    "fingerprint": serializers.CharField(),
    "difference": SignedMoney(allow_null=True),
    "detail": serializers.DictField(allow_null=True, help_text="For who may see expected figures."),
    "state": serializers.ChoiceField(BreakState.values),
    "age": serializers.CharField(),
    "fell_due_at": serializers.DateTimeField(),
    "found_at": serializers.DateTimeField(),
    "seen_at": serializers.DateTimeField(),
    "run": serializers.UUIDField(allow_null=True),
    "level": serializers.CharField(allow_null=True),
    "gaming_day": serializers.DateField(allow_null=True),
    "assigned_to": serializers.UUIDField(allow_null=True),
    "resolution": serializers.CharField(allow_null=True),
    "rule": serializers.CharField(allow_null=True),
    "journal": serializers.UUIDField(allow_null=True),
    "resolved_by": serializers.UUIDField(allow_null=True),
    "approved_by": serializers.UUIDField(allow_null=True),
    "steps": StepShown(many=True),
}
BreakShown = described("Break", BREAK_FIELDS)


def _text(value: UUID | None) -> str | None:
    return str(value) if value else None


def _break_shown(found: Break, person: Person) -> dict[str, Any]:
    kind = breaks.CATALOGUE[found.code]
    steps = BreakStep.objects.filter(of=found).order_by("ordinal")
    return {
        "id": str(found.id),
        "code": found.code,
        "meaning": {"en": kind.english, "th": kind.thai},
        "severity": found.severity,
        "clears_itself": kind.clears_itself,
        "subject": found.subject,
        "fingerprint": found.fingerprint,
        "difference": money(found.amount, found.currency) if found.currency else None,
        # What a table should hold can be worked out from it.
        "detail": found.detail if person.has_duty("see_expected") else None,
        "state": found.state,
        "age": breaks.ages.of(fell_due_at=found.fell_due_at, now=timezone.now()),
        "fell_due_at": found.fell_due_at.isoformat(),
        "found_at": found.found_at.isoformat(),
        "seen_at": found.seen_at.isoformat(),
        "run": _text(found.run),
        "level": found.level or None,
        "gaming_day": found.gaming_day.isoformat() if found.gaming_day else None,
        "assigned_to": _text(found.assigned_to_id),
        "resolution": found.resolution or None,
        "rule": found.rule or None,
        "journal": _text(found.journal_id),
        "resolved_by": _text(found.resolved_by_id),
        "approved_by": _text(found.approved_by_id),
        "steps": [
            {
                "state": step.state,
                "by": _text(step.by_id),
                "reason": step.reason,
                "taken_at": step.taken_at.isoformat(),
            }
            for step in steps
        ],
    }


class BreaksQuery(PageQuery):
    """Which breaks."""

    state = OneOf(BreakState.values, required=False)
    code = OneOf(BreakCode.values, required=False)
    severity = OneOf(["low", "medium", "high", "critical"], required=False)
    subject = serializers.CharField(required=False, max_length=200)
    gaming_day = Day(required=False)
    run = Id(required=False, help_text="those that this run was the last to see")


class Breaks(Door):
    """Breaks, the oldest due first."""

    declares: ClassVar = {"GET": "read_breaks"}
    queries: ClassVar = {"GET": BreaksQuery}

    @extend_schema(
        operation_id="listBreaks",
        responses={
            200: described(
                "Breaks", {"breaks": BreakShown(many=True), "next": serializers.CharField(allow_null=True)}
            )
        },
    )
    @refuses("invalid_value")
    def get(self, request: Request) -> Response:
        """List a page of breaks by keyset."""
        page, asked = self.page, self.query
        found = Break.objects.order_by("fell_due_at", "id")
        for name in ("state", "code", "severity", "subject"):
            if name in asked:
                found = found.filter(**{name: asked[name]})
        if "gaming_day" in asked:
            found = found.filter(gaming_day=day_asked(asked["gaming_day"]))
        if "run" in asked:
            found = found.filter(seen_run=asked["run"])
        if page.cursor:
            after = Break.objects.filter(pk=page.cursor).first()
            if after is None:
                raise Refusal("invalid_value", fields={"cursor": "not of this list"})
            found = found.filter(
                Q(fell_due_at__gt=after.fell_due_at) | Q(fell_due_at=after.fell_due_at, id__gt=after.id)
            )
        listed, last = page.cut(found)
        return Response(
            {
                "breaks": [_break_shown(one, self.person) for one in listed],
                "next": str(last.id) if last else None,
            }
        )


class BreakDetail(Door):
    """One break."""

    declares: ClassVar = {"GET": "read_breaks"}

    @extend_schema(operation_id="readBreak", responses={200: BreakShown})
    def get(self, request: Request, id: UUID) -> Response:
        """Read a break with its steps."""
        found = Break.objects.filter(pk=id).first()
        if found is None:
            raise Refusal("not_found")
        return Response(_break_shown(found, self.person))


class AssignShape(Shape):
    """Who finds out; whoever asks, where nobody is named."""

    to = serializers.CharField(max_length=40, required=False, help_text="A badge.")


class ExplainShape(Shape):
    reason = serializers.CharField(max_length=500)


class PostingShape(Shape):
    account = serializers.CharField(max_length=120)
    amount = Whole(min_value=-(10**12), max_value=10**12)


class ResolveShape(Shape):
    """How a break ends. ``pin`` is one's own: money is moved, or left where it is, by a named hand."""

    resolution = serializers.ChoiceField(Resolution.values)
    reason = serializers.CharField(max_length=500)
    postings = serializers.ListField(child=PostingShape(), required=False, max_length=10)
    rule = serializers.CharField(max_length=60, required=False)
    pin = serializers.CharField(max_length=200)


class ApproveShape(Shape):
    pin = serializers.CharField(max_length=200)


class BreakAssignment(Door):
    """A break given to somebody."""

    declares: ClassVar = {"POST": "work_break"}

    @extend_schema(
        operation_id="assignBreak", request=AssignShape, responses={200: BreakShown}, parameters=[KEY]
    )
    @refuses("break_moved")
    def post(self, request: Request, id: UUID) -> Response:
        """Give a break to whoever will find out."""

        def prepare() -> Person:
            badge = self.body(AssignShape).get("to", self.person.badge)
            to = Person.objects.filter(badge=badge, is_active=True).first()
            if to is None:
                raise Refusal("invalid_value", fields={"to": "nobody of the house"})
            return to

        def do(_: Act, to: Person) -> tuple[int, dict[str, Any]]:
            return 200, _break_shown(breaks.assign(id=id, to=to, by=self.person), self.person)

        return self.once(prepare, do)


class BreakExplanation(Door):
    """Why the books differ."""

    declares: ClassVar = {"POST": "work_break"}

    @extend_schema(
        operation_id="explainBreak", request=ExplainShape, responses={200: BreakShown}, parameters=[KEY]
    )
    @refuses("break_moved")
    def post(self, request: Request, id: UUID) -> Response:
        """Say why the books differ."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            done = breaks.explain(id=id, reason=given["reason"], by=self.person)
            return 200, _break_shown(done, self.person)

        return self.once(lambda: self.body(ExplainShape), do)


class BreakResolution(Door):
    """How a break ends."""

    declares: ClassVar = {"POST": "work_break"}

    @extend_schema(
        operation_id="resolveBreak", request=ResolveShape, responses={200: BreakShown}, parameters=[KEY]
    )
    @refuses("break_moved", "day_sealed", "insufficient_funds", "unknown_account", "wrong_currency")
    def post(self, request: Request, id: UUID) -> Response:
        """End an explained break by a journal, by a rule, or by nothing."""

        def prepare() -> dict[str, Any]:
            given = self.body(ResolveShape)
            self.own_pin(given["pin"])
            return given

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            done = breaks.resolve(
                id=id,
                resolution=given["resolution"],
                reason=given["reason"],
                by=self.person,
                postings=[Posting(one["account"], one["amount"]) for one in given.get("postings", ())],
                rule=given.get("rule", ""),
            )
            return 200, _break_shown(done, self.person)

        return self.once(prepare, do)


class BreakApproval(Door):
    """The second person's word."""

    declares: ClassVar = {"POST": "approve_break"}

    @extend_schema(
        operation_id="approveBreak", request=ApproveShape, responses={200: BreakShown}, parameters=[KEY]
    )
    @refuses("break_moved", "sod_violation")
    def post(self, request: Request, id: UUID) -> Response:
        """Agree with how a break was resolved; not for whoever resolved it."""

        def prepare() -> None:
            self.own_pin(self.body(ApproveShape)["pin"])

        def do(_: Act, __: None) -> tuple[int, dict[str, Any]]:
            return 200, _break_shown(breaks.approve(id=id, by=self.person), self.person)

        return self.once(prepare, do)
