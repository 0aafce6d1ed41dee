"""Doors of pay slips: claims on the cage, issued at the table and paid once."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people
from casino.api.door import Day, Door, OneOf, PageQuery, Shape, TableCode, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import ApiKey, Person, Round
from casino.platform.refusals import Refusal
from settlement import slips
from settlement.api import slip_answers
from settlement.api.bounds import day_asked
from settlement.api.rounds import round_in_scope
from settlement.models import PaySlip, PaySlipState, SeriesKind


class PaySlipShape(Shape):
    wager = serializers.CharField(max_length=40)


class PaymentShape(Shape):
    """Above the property's limit a second cashier signs by badge and PIN."""

    cage = serializers.RegexField(
        slip_answers.CAGE, required=False, help_text="The property's main cage where left out."
    )
    person = serializers.RegexField(
        slip_answers.PERSON,
        required=False,
        help_text="The cage's opaque reference of who is paid: asked for from the limit of the log of cash on.",
    )
    badge = serializers.CharField(max_length=40, required=False)
    pin = serializers.CharField(max_length=200, required=False)


class PaySlipVoidShape(Shape):
    reason = serializers.CharField(max_length=500)
    paid_in_chips = serializers.BooleanField(
        required=False, default=False, help_text="The table paid the wager after all."
    )


_FOUND = PaySlip.objects.select_related("table", "series", "round", "settlement", "line")


def _answer(claim: slips.Claim) -> tuple[int, dict[str, Any]]:
    shown = slip_answers.pay_slip_shown(claim.pay_slip, superseded=bool(slips.superseded([claim.pay_slip])))
    return 201, {**shown, "receipt": claim.receipt.hex()}


class RoundPaySlips(Door):
    """Claims for wagers of a round."""

    declares: ClassVar = {"POST": "issue_pay_slip"}

    @extend_schema(
        operation_id="issuePaySlip",
        request=PaySlipShape,
        responses={201: slip_answers.ClaimShown},
        parameters=[KEY],
    )
    @refuses("day_sealed", "pay_slip_in_force", "pay_slip_not_due", "round_in_dispute", "round_not_settled")
    def post(self, request: Request, round: UUID) -> Response:
        """Issue a pay slip for what a guest is still owed of a wager in chips."""

        def prepare() -> tuple[Round, dict[str, Any]]:
            return round_in_scope(self, round, "issue_pay_slip"), self.body(PaySlipShape)

        def do(_: Act, prepared: tuple[Round, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            stands, given = prepared
            return _answer(slips.issue_pay_slip(round=stands.id, wager=given["wager"], by=self.person))

        return self.once(prepare, do)


class _OfAPaySlip(Door):
    def in_scope(self, no: str, right: str) -> PaySlip:
        """Return the pay slip of that number; what is out of scope does not exist."""
        named = slips.read_number(no)
        if named is None or named[0] != SeriesKind.PAY_SLIP:
            raise Refusal("not_found")
        _, year, number = named
        of_series = {
            "series__property": settings.PROPERTY["code"],
            "series__kind": named[0],
            "series__year": year,
        }
        found = _FOUND.filter(number=number, **of_series).first()
        if found is None:
            raise Refusal("not_found")
        people.require_at(self.principal, right, found.table_id)
        return found


class PaySlipPayment(_OfAPaySlip):
    """Pay a claim."""

    declares: ClassVar = {"POST": "pay_pay_slip"}

    @extend_schema(
        operation_id="payPaySlip",
        request=PaymentShape,
        responses={201: slip_answers.ClaimShown},
        parameters=[KEY],
    )
    @refuses(
        "cage_ended",
        "unknown_cage",
        "day_sealed",
        "insufficient_funds",
        "pay_slip_superseded",
        "person_needed",
        "round_in_dispute",
        "second_person_needed",
        "slip_paid",
        "slip_void",
        "sod_violation",
    )
    def post(self, request: Request, no: str) -> Response:
        """Pay it, once, while its line is of the round's last revision and the round is not in dispute."""

        def prepare() -> tuple[PaySlip, dict[str, Any], Person | None]:
            found = self.in_scope(no, "pay_pay_slip")
            given = self.body(PaymentShape)
            cage = given.get("cage", settings.MAIN_CAGE)
            people.require_at_cage(self.principal, "pay_pay_slip", cage)
            to = {"cage": cage, "person": given.get("person", "")}
            return found, to, slip_answers.signer(self, given)

        def do(_: Act, prepared: tuple[PaySlip, dict[str, Any], Person | None]) -> tuple[int, dict[str, Any]]:
            found, to, second = prepared
            key = self.request.auth.id if isinstance(self.request.auth, ApiKey) else None
            by = None if key else self.person
            return _answer(slips.pay_pay_slip(pay_slip=found.id, by=by, second=second, key=key, **to))

        return self.once(prepare, do)


class PaySlipVoid(_OfAPaySlip):
    """Take a claim back."""

    declares: ClassVar = {"POST": "void_pay_slip"}

    @extend_schema(
        operation_id="voidPaySlip",
        request=PaySlipVoidShape,
        responses={201: slip_answers.ClaimShown},
        parameters=[KEY],
    )
    @refuses("day_sealed", "slip_paid", "slip_void")
    def post(self, request: Request, no: str) -> Response:
        """Void a pay slip that was not paid, with a reason; it keeps its number."""

        def prepare() -> tuple[PaySlip, dict[str, Any]]:
            return self.in_scope(no, "void_pay_slip"), self.body(PaySlipVoidShape)

        def do(_: Act, prepared: tuple[PaySlip, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            found, given = prepared
            return _answer(
                slips.void_pay_slip(
                    pay_slip=found.id,
                    by=self.person,
                    reason=given["reason"],
                    paid_in_chips=given["paid_in_chips"],
                )
            )

        return self.once(prepare, do)


class PaySlipDetail(_OfAPaySlip):
    """One claim, with its line."""

    declares: ClassVar = {"GET": "read_pay_slips"}

    @extend_schema(operation_id="readPaySlip", responses={200: slip_answers.PaySlipShown})
    def get(self, request: Request, no: str) -> Response:
        """Read a pay slip; ``stopped`` says why it would not be paid now."""
        found = self.in_scope(no, "read_pay_slips")
        return Response(slip_answers.pay_slip_shown(found, superseded=bool(slips.superseded([found]))))


class PaySlipsQuery(PageQuery):
    """Which claims."""

    table = TableCode(required=False)
    state = OneOf(PaySlipState.values, required=False)
    gaming_day = Day(required=False)


class PaySlips(Door):
    """Claims, newest first; those of a table in force, its close notwithstanding, by ``table`` and ``state``."""

    declares: ClassVar = {"GET": "read_pay_slips"}
    queries: ClassVar = {"GET": PaySlipsQuery}

    @extend_schema(
        operation_id="listPaySlips",
        responses={
            200: described(
                "PaySlips",
                {
                    "pay_slips": slip_answers.PaySlipShown(many=True),
                    "next": serializers.CharField(allow_null=True),
                },
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List a page of pay slips."""
        page, asked = self.page, self.query
        found = _FOUND.order_by("-id")
        scope = people.tables_in_scope(self.principal, "read_pay_slips")
        if scope is not None:
            found = found.filter(table__in=scope)
        if "table" in asked:
            found = found.filter(table__code=asked["table"])
        if "state" in asked:
            found = found.filter(state=asked["state"])
        if "gaming_day" in asked:
            found = found.filter(gaming_day=day_asked(asked["gaming_day"]))
        if page.cursor:
            found = found.filter(id__lt=page.cursor)
        listed, last = page.cut(found)
        superseded = slips.superseded(listed)
        return Response(
            {
                "pay_slips": [
                    slip_answers.pay_slip_shown(row, superseded=row.id in superseded) for row in listed
                ],
                "next": str(last.id) if last else None,
            }
        )
