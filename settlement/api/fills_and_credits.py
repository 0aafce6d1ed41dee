"""Doors of slips: chips asked for, issued, carried, counted in and filed; who calls is who signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Day, Door, OneOf, PageQuery, Shape, TableCode, Whole, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import slips
from settlement.api import slip_answers
from settlement.api.bounds import day_asked
from settlement.models import Slip, SlipState, SlipStep


class SlipPieces(Shape):
    denomination = Whole(min_value=1, max_value=10**12 - 1)
    pieces = Whole(min_value=0, max_value=10**6 - 1)


class RequestShape(Shape):
    lines = serializers.ListField(child=SlipPieces(), min_length=1, max_length=40)
    manual_number = serializers.CharField(
        max_length=40, required=False, allow_null=True, help_text="of a paper slip entered afterwards"
    )


class SlipStepShape(Shape):
    """``lines``, where given, are read from the slip and must be its own."""

    lines = serializers.ListField(child=SlipPieces(), required=False, max_length=40)
    reason = serializers.CharField(max_length=500, required=False, allow_null=True)


class IssueShape(SlipStepShape):
    cage = serializers.RegexField(
        slip_answers.CAGE, required=False, help_text="The property's main cage where left out."
    )


class DepositShape(SlipStepShape):
    """The dealer calls, or signs by badge and PIN where the supervisor does."""

    badge = serializers.CharField(max_length=40, required=False)
    pin = serializers.CharField(max_length=200, required=False)


class ReceiveShape(SlipStepShape):
    """``lines`` are what was counted. A fill has a second counter, who signs by badge and PIN."""

    lines = serializers.ListField(child=SlipPieces(), min_length=1, max_length=40)
    badge = serializers.CharField(max_length=40, required=False)
    pin = serializers.CharField(max_length=200, required=False)


def _answer(taken: slips.Taken) -> tuple[int, dict[str, Any]]:
    mismatch = str(taken.mismatch) if taken.mismatch else None
    return 201, {
        **slip_answers.slip_with_steps(taken.slip),
        "receipt": taken.receipt.hex(),
        "mismatch": mismatch,
    }


def pieces_of(lines: Sequence[dict[str, int]]) -> dict[int, int]:
    """Return pieces by denomination; those of one that is named twice are added."""
    pieces: dict[int, int] = {}
    for line in lines:
        pieces[line["denomination"]] = pieces.get(line["denomination"], 0) + line["pieces"]
    return pieces


def _as_read(given: dict[str, Any]) -> dict[int, int] | None:
    return pieces_of(given["lines"]) if given.get("lines") else None


class _OfASlip(Door):
    def in_scope(self, slip: UUID, right: str) -> Slip:
        """Return the slip; what is out of scope does not exist."""
        found = Slip.objects.select_related("table", "series").filter(pk=slip).first()
        if found is None:
            raise Refusal("not_found")
        people.require_at(self.principal, right, found.table_id)
        return found


class _Requests(Door):
    """Chips asked for at a table."""

    declares: ClassVar = {"POST": "request_slip"}
    kind: ClassVar[str]

    def asked(self, code: str) -> Response:
        """Ask for a slip of this kind."""

        def prepare() -> tuple[Table, dict[str, Any]]:
            table = tables.of_code(code)
            people.require_at(self.principal, "request_slip", table.id)
            return table, self.body(RequestShape)

        def do(_: Act, prepared: tuple[Table, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            table, given = prepared
            return _answer(
                slips.request(
                    table=table,
                    kind=self.kind,
                    pieces=pieces_of(given["lines"]),
                    manual_number=given.get("manual_number") or "",
                    by=self.person,
                )
            )

        return self.once(prepare, do)


class Fills(_Requests):
    kind = "fill"

    @extend_schema(
        operation_id="requestFill",
        request=RequestShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses("day_sealed", "manual_number_used", "not_on_duty", "table_closed")
    def post(self, request: Request, code: str) -> Response:
        """Ask the cage for chips; the slip has a number once it is issued."""
        return self.asked(code)


class Credits(_Requests):
    kind = "credit"

    @extend_schema(
        operation_id="requestCredit",
        request=RequestShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses("day_sealed", "manual_number_used", "not_on_duty", "table_closed")
    def post(self, request: Request, code: str) -> Response:
        """Ask to send chips to the cage; the slip has a number once it is issued."""
        return self.asked(code)


class SlipIssue(_OfASlip):
    """Give a slip its number."""

    declares: ClassVar = {"POST": "issue_slip"}

    @extend_schema(
        operation_id="issueSlip",
        request=IssueShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses(
        "cage_ended",
        "day_sealed",
        "slip_lines_differ",
        "slip_not_there",
        "sod_violation",
        "table_closed",
        "unknown_cage",
    )
    def post(self, request: Request, slip: UUID) -> Response:
        """Issue it at a cage; a cashier who did not ask for it signs."""

        def prepare() -> dict[str, Any]:
            self.in_scope(slip, "issue_slip")
            return self.body(IssueShape)

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            cage = given.get("cage", settings.MAIN_CAGE)
            return _answer(slips.issue(slip=slip, by=self.person, cage=cage, pieces=_as_read(given)))

        return self.once(prepare, do)


class SlipDispatch(_OfASlip):
    """Send a slip's chips off."""

    declares: ClassVar = {"POST": "carry_slip"}

    @extend_schema(
        operation_id="dispatchSlip",
        request=SlipStepShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses(
        "day_sealed",
        "insufficient_funds",
        "slip_lines_differ",
        "slip_not_there",
        "sod_violation",
        "table_closed",
    )
    def post(self, request: Request, slip: UUID) -> Response:
        """Take the chips on their way; a runner who neither asked nor issued signs."""

        def prepare() -> dict[str, Any]:
            self.in_scope(slip, "carry_slip")
            return self.body(SlipStepShape)

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            return _answer(slips.dispatch(slip=slip, by=self.person, pieces=_as_read(given)))

        return self.once(prepare, do)


class SlipReceipt(_OfASlip):
    """Count a slip's chips in."""

    declares: ClassVar = {"POST": "receive_slip"}

    @extend_schema(
        operation_id="receiveSlip",
        request=ReceiveShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses("day_sealed", "not_on_duty", "slip_not_there", "sod_violation", "table_closed")
    def post(self, request: Request, slip: UUID) -> Response:
        """Count in what arrived; where it differs, the slip stays in transit and ``mismatch`` names the break."""

        def prepare() -> tuple[dict[str, Any], Person | None]:
            self.in_scope(slip, "receive_slip")
            given = self.body(ReceiveShape)
            return given, slip_answers.signer(self, given)

        def do(_: Act, prepared: tuple[dict[str, Any], Person | None]) -> tuple[int, dict[str, Any]]:
            given, second = prepared
            pieces = pieces_of(given["lines"])
            return _answer(slips.receive(slip=slip, by=self.person, second=second, pieces=pieces))

        return self.once(prepare, do)


class SlipDeposit(_OfASlip):
    """File a slip in the table's box."""

    declares: ClassVar = {"POST": "deposit_slip"}

    @extend_schema(
        operation_id="depositSlip",
        request=DepositShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses(
        "day_sealed", "not_on_duty", "slip_lines_differ", "slip_not_there", "sod_violation", "table_closed"
    )
    def post(self, request: Request, slip: UUID) -> Response:
        """Drop the slip into the box; the dealer on duty signs."""

        def prepare() -> tuple[dict[str, Any], Person | None]:
            self.in_scope(slip, "deposit_slip")
            given = self.body(DepositShape)
            return given, slip_answers.signer(self, given)

        def do(_: Act, prepared: tuple[dict[str, Any], Person | None]) -> tuple[int, dict[str, Any]]:
            given, dealer = prepared
            return _answer(slips.deposit(slip=slip, by=dealer or self.person, pieces=_as_read(given)))

        return self.once(prepare, do)


class SlipVoid(_OfASlip):
    """Give a slip up."""

    declares: ClassVar = {"POST": "issue_slip"}

    @extend_schema(
        operation_id="voidSlip",
        request=SlipStepShape,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses("day_sealed", "slip_not_there", "table_closed")
    def post(self, request: Request, slip: UUID) -> Response:
        """Void a slip whose chips have not left, with a ``reason``; a cashier signs."""

        def prepare() -> dict[str, Any]:
            self.in_scope(slip, "issue_slip")
            return self.body(SlipStepShape)

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            return _answer(slips.void(slip=slip, by=self.person, reason=given.get("reason") or ""))

        return self.once(prepare, do)


class SlipComparison(_OfASlip):
    """Hold a slip entered afterwards against its paper."""

    declares: ClassVar = {"POST": "compare_slip"}

    @extend_schema(
        operation_id="compareSlip",
        request=None,
        responses={201: slip_answers.SlipTaken},
        parameters=[KEY],
    )
    @refuses("day_sealed", "slip_not_there", "sod_violation", "table_closed")
    def post(self, request: Request, slip: UUID) -> Response:
        """Say that it is what the paper says; accounting signs."""

        def do(_: Act, found: Slip) -> tuple[int, dict[str, Any]]:
            return _answer(slips.compare(slip=found.id, by=self.person))

        return self.once(lambda: self.in_scope(slip, "compare_slip"), do)


class SlipDetail(_OfASlip):
    """One slip and who signed what."""

    declares: ClassVar = {"GET": "read_slips"}

    @extend_schema(operation_id="readSlip", responses={200: slip_answers.SlipWithSteps})
    def get(self, request: Request, slip: UUID) -> Response:
        """Read a slip with its steps."""
        return Response(slip_answers.slip_with_steps(self.in_scope(slip, "read_slips")))


class SlipsQuery(PageQuery):
    """Which slips."""

    table = TableCode(required=False)
    state = OneOf(SlipState.values, required=False)
    gaming_day = Day(required=False)
    compared = OneOf(["no"], required=False, help_text="entered afterwards, and not compared yet")


class Slips(Door):
    """Slips, newest first."""

    declares: ClassVar = {"GET": "read_slips"}
    queries: ClassVar = {"GET": SlipsQuery}

    @extend_schema(
        operation_id="listSlips",
        responses={
            200: described(
                "Slips",
                {"slips": slip_answers.SlipShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List a page of slips."""
        page, asked = self.page, self.query
        done = SlipStep.objects.filter(slip=OuterRef("pk"), step=SlipStep.Step.COMPARED)
        found = Slip.objects.select_related("table", "series").annotate(compared=Exists(done)).order_by("-id")
        scope = people.tables_in_scope(self.principal, "read_slips")
        if scope is not None:
            found = found.filter(table__in=scope)
        if "table" in asked:
            found = found.filter(table__code=asked["table"])
        if "state" in asked:
            found = found.filter(state=asked["state"])
        if "gaming_day" in asked:
            found = found.filter(gaming_day=day_asked(asked["gaming_day"]))
        if asked.get("compared") == "no":
            found = found.exclude(manual_number="").filter(compared=False)
        if page.cursor:
            found = found.filter(id__lt=page.cursor)
        listed, last = page.cut(found)
        return Response(
            {
                "slips": [
                    slip_answers.slip_shown(row, compared=row.compared)  # type: ignore[attr-defined]
                    for row in listed
                ],
                "next": str(last.id) if last else None,
            }
        )
