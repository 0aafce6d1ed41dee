"""Doors of a round: cover, preview, settle, correct, and everything known of it."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Door, Number, PageQuery, Query, Shape, Whole, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Round, RoundEvent, Standing, Table
from casino.platform.refusals import Refusal
from settlement import settling, table_floats
from settlement.api import round_answers
from settlement.models import Settlement


def round_in_scope(door: Door, round_id: UUID, right: str) -> Round:
    """Return the round, or the one it is an alias of; what is out of scope does not exist."""
    found = Round.objects.select_related("session", "alias_of__session").filter(pk=round_id).first()
    if found is None:
        raise Refusal("not_found")
    stands = found.alias_of or found
    people.require_at(door.principal, right, stands.table_id)
    is_reading = door.request.method in ("GET", "HEAD")
    if is_reading and people.sees_open_session_alone(door.principal) and stands.session.closed_at is not None:
        raise Refusal("not_found")
    return stands


class RoundCover(Door):
    """Set aside what wallets could lose, before the cards."""

    declares: ClassVar = {"POST": "settle"}

    @extend_schema(operation_id="coverRound", request=None, responses={200: round_answers.CoverShown})
    @refuses("round_finished", "round_not_opened", "table_stopped")
    def post(self, request: Request, round: UUID) -> Response:
        """Make the holds fit the bets as they stand; the dealer lowers or withdraws what is uncovered."""
        stands = round_in_scope(self, round, "settle")
        return Response(round_answers.cover(settling.cover(stands.id, acting=self.act)))


class RoundPreview(Door):
    """What would come of the cards as they lie."""

    declares: ClassVar = {"POST": "settle"}

    @extend_schema(operation_id="previewRound", request=None, responses={200: round_answers.PreviewShown})
    @refuses("round_finished", "round_not_opened")
    def post(self, request: Request, round: UUID) -> Response:
        """Judge without writing anything."""
        stands = round_in_scope(self, round, "settle")
        case, verdict = settling.preview(stands.id)
        return Response(round_answers.preview(case, verdict))


class RoundSettle(Door):
    """Settle a round: once, however often it is asked."""

    declares: ClassVar = {"POST": "settle"}

    @extend_schema(operation_id="settleRound", request=None, responses={200: round_answers.SettledShown})
    @refuses("day_sealed", "round_held", "round_not_settled")
    def post(self, request: Request, round: UUID) -> Response:
        """Answer settled or voided with the settlement, held with the reasons, or waiting until when."""
        stands = round_in_scope(self, round, "settle")
        (settled,) = self.act(lambda _: settling.settle_rounds([stands.id]))
        return Response(round_answers.settled(settled))


class CorrectionShape(Shape):
    acts = serializers.ListField(child=Whole(min_value=1), min_length=1, max_length=50)
    reason = serializers.CharField(max_length=500)
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


class RoundCorrections(Door):
    """A finished round settled anew, by two people."""

    declares: ClassVar = {"POST": "correct"}

    @extend_schema(
        operation_id="correctRound",
        request=CorrectionShape,
        responses={201: round_answers.SettlementShown},
        parameters=[KEY],
    )
    @refuses("day_sealed", "not_on_duty", "round_held", "round_not_settled", "sod_violation")
    def post(self, request: Request, round: UUID) -> Response:
        """Cite late events of the round by their numbers in it (``acts``); a second person signs by badge and PIN."""

        def prepare() -> tuple[Round, dict[str, Any], Person]:
            stands = round_in_scope(self, round, "correct")
            given = self.body(CorrectionShape)
            second = self.second_person(given)
            people.require_ruler(second, stands.session)
            return stands, given, second

        def do(_: Act, prepared: tuple[Round, dict[str, Any], Person]) -> tuple[int, dict[str, Any]]:
            stands, given, second = prepared
            named = RoundEvent.objects.filter(round=stands, seq__in=given["acts"])
            cites = dict(named.values_list("seq", "id"))
            if len(cites) != len(set(given["acts"])):
                raise Refusal("invalid_value", fields={"acts": "no such event of this round"})
            settlement = settling.correct(
                stands.id, cites=list(cites.values()), acted_by=self.person, approved_by=second
            )
            return 201, round_answers.settlement(settlement)

        return self.once(prepare, do)


class RoundDetail(Door):
    """One round: what was recorded, how it folds, what it came to, what deserves a second look."""

    declares: ClassVar = {"GET": "read_rounds"}

    @extend_schema(operation_id="readRound", responses={200: round_answers.RoundShown})
    def get(self, request: Request, round: UUID) -> Response:
        """Read a round."""
        stands = round_in_scope(self, round, "read_rounds")
        answer = round_answers.round_as_it_stands(stands)
        if answer["table"] in _hidden_from(self):
            answer |= {"settlement": None, "reason": table_floats.COUNT_OPEN}
        return Response(answer)


class RevisionQuery(Query):
    """Which revision."""

    revision = Number(required=False, help_text="the latest where it is left out")


class RoundSettlement(Door):
    """One revision of a round's settlement."""

    declares: ClassVar = {"GET": "read_settlements"}
    queries: ClassVar = {"GET": RevisionQuery}

    @extend_schema(
        operation_id="readSettlement",
        responses={200: round_answers.SettlementShown},
    )
    def get(self, request: Request, round: UUID) -> Response:
        """Read the effective revision, or the one asked for."""
        stands = round_in_scope(self, round, "read_settlements")
        found = Settlement.objects.select_related("sheet").filter(round=stands).order_by("-revision")
        if "revision" in self.query:
            found = found.filter(revision=self.query["revision"])
        settlement = found.first()
        if settlement is None:
            raise Refusal("not_found")
        answer = round_answers.settlement(settlement)
        if stands.table.code in _hidden_from(self):
            answer |= {"house_net": None, "lines": [], "bank": None, "reason": table_floats.COUNT_OPEN}
        return Response(answer)


def _hidden_from(door: Door) -> set[str]:
    """Return the tables that are being counted: what their rounds came to is kept back from whoever knocks."""
    return table_floats.hidden_from(door.request.user if isinstance(door.request.user, Person) else None)


RoundListed = described(
    "RoundListed",
    {
        "id": serializers.UUIDField(),
        "number": serializers.IntegerField(allow_null=True),
        "standing": serializers.ChoiceField(
            Standing.values, allow_blank=True, help_text="empty while it is played"
        ),
        "reasons": round_answers.Reasons,
        "opened_at": serializers.DateTimeField(allow_null=True),
        "closed_at": serializers.DateTimeField(allow_null=True),
        "gaming_day": serializers.DateField(allow_null=True),
    },
)


class TableRounds(Door):
    """Rounds of a table, newest first."""

    declares: ClassVar = {"GET": "read_rounds"}
    queries: ClassVar = {"GET": PageQuery}

    @extend_schema(
        operation_id="listRounds",
        responses={
            200: described(
                "Rounds",
                {
                    "rounds": RoundListed(many=True),
                    "next": serializers.CharField(allow_null=True),
                },
            )
        },
    )
    @refuses("invalid_value")
    def get(self, request: Request, code: str) -> Response:
        """List a page of rounds by keyset."""
        table = _table_in_scope(self, code)
        page = self.page
        found = Round.objects.filter(table=table, alias_of=None).order_by("-created_at", "-id")
        if people.sees_open_session_alone(self.principal):
            found = found.filter(session__closed_at=None)
        if page.cursor:
            after = Round.objects.filter(pk=page.cursor, table=table).first()
            if after is None:
                raise Refusal("invalid_value", fields={"cursor": "not of this list"})
            found = found.filter(created_at__lte=after.created_at).exclude(
                created_at=after.created_at, id__gte=after.id
            )
        listed, last = page.cut(found)
        return Response(
            {
                "rounds": [
                    {
                        "id": str(row.id),
                        "number": row.number,
                        "standing": row.standing,
                        "reasons": row.reasons,
                        "opened_at": row.opened_at,
                        "closed_at": row.closed_at,
                        "gaming_day": row.gaming_day,
                    }
                    for row in listed
                ],
                "next": str(last.id) if last else None,
            }
        )


def _table_in_scope(door: Door, code: str) -> Table:
    table = tables.of_code(code)
    people.require_at(door.principal, "read_rounds", table.id)
    return table
