"""Doors of a round: cover, preview, settle, correct, and everything known of it."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, record, tables
from casino.api.door import Door, Money, Shape, Whole, described, page_of
from casino.events import Act
from casino.models import Person, Round, RoundEvent, Table
from casino.refusals import Refusal
from settlement import settle
from settlement.models import Line, Settlement
from settlement.settle import Settled

Reasons = serializers.ListField(child=serializers.CharField())
LineShown = described(
    "Line",
    {
        "wager": serializers.CharField(),
        "hand": serializers.CharField(),
        "owner": serializers.DictField(),
        "stake": Money(),
        "cards": serializers.ListField(child=serializers.CharField()),
        "judged": serializers.ListField(help_text="kind, taem, deng"),
        "dealer_cards": serializers.ListField(child=serializers.CharField()),
        "dealer_judged": serializers.ListField(help_text="kind, taem, deng"),
        "step": serializers.CharField(),
        "multiple": serializers.IntegerField(),
        "gross": serializers.IntegerField(),
        "uncovered": serializers.IntegerField(),
        "commission": serializers.IntegerField(),
        "net": serializers.IntegerField(),
    },
)
BankShown = described(
    "Bank",
    {
        "account": serializers.CharField(),
        "held": serializers.IntegerField(),
        "result": serializers.IntegerField(),
        "commission": serializers.IntegerField(),
        "net": serializers.IntegerField(),
    },
)
SettlementShown = described(
    "Settlement",
    {
        "id": serializers.UUIDField(),
        "round": serializers.UUIDField(),
        "revision": serializers.IntegerField(),
        "outcome": serializers.ChoiceField(["settled", "voided"]),
        "currency": serializers.CharField(),
        "house_net": serializers.IntegerField(
            help_text="minor units; what the house won, commission among it"
        ),
        "gaming_day": serializers.DateField(),
        "settled_at": serializers.DateTimeField(),
        "sheet_sha256": serializers.CharField(),
        "journals": serializers.ListField(child=serializers.UUIDField()),
        "lines": LineShown(many=True),
        "bank": BankShown(allow_null=True),
    },
)


def round_in_scope(door: Door, round_id: UUID, right: str) -> Round:
    """Return the round, or the one it is an alias of; what is out of scope does not exist."""
    found = Round.objects.select_related("alias_of").filter(pk=round_id).first()
    if found is None:
        raise Refusal("not_found")
    stands = found.alias_of or found
    people.require_at(door.principal, right, stands.table_id)
    return stands


def _money(amount: int, currency: str) -> dict[str, Any]:
    return {"amount": amount, "currency": currency}


def _line_shown(stored: dict[str, Any], currency: str) -> dict[str, Any]:
    return {
        "wager": stored["wager"],
        "hand": stored["hand"],
        "owner": {stored["owner_kind"]: stored["owner_ref"]},
        "stake": _money(stored["stake"], currency),
        "cards": stored["cards"],
        "judged": [stored["hand_kind"], stored["hand_taem"], stored["hand_deng"]],
        "dealer_cards": stored["dealer_cards"],
        "dealer_judged": [stored["dealer_kind"], stored["dealer_taem"], stored["dealer_deng"]],
        **{name: stored[name] for name in ("step", "multiple", "gross", "uncovered", "commission", "net")},
    }


def _bank_shown(stored: dict[str, Any]) -> dict[str, Any]:
    return {
        "account": stored["owner_ref"],
        "held": stored["stake"],
        "result": stored["gross"],
        "commission": stored["commission"],
        "net": stored["net"],
    }


def _lines_shown(stored: list[dict[str, Any]], currency: str) -> dict[str, Any]:
    banks = [line for line in stored if line["wager"] == "bank"]
    return {
        "lines": [_line_shown(line, currency) for line in stored if line["wager"] != "bank"],
        "bank": _bank_shown(banks[0]) if banks else None,
    }


def settlement_shown(settlement: Settlement) -> dict[str, Any]:
    """Return one revision with its lines."""
    stored = list(Line.objects.filter(settlement=settlement).order_by("ordinal").values(*settle.LINE_FIELDS))
    journals = (
        settlement.shortfall_reversal_id,
        settlement.reversal_id,
        settlement.shortfall_id,
        settlement.journal_id,
    )
    return {
        "id": str(settlement.id),
        "round": str(settlement.round_id),
        "revision": settlement.revision,
        "outcome": settlement.outcome,
        "currency": settlement.currency,
        "house_net": settlement.house_net,
        "gaming_day": settlement.gaming_day.isoformat(),
        "settled_at": settlement.settled_at.isoformat(),
        "sheet_sha256": settlement.sheet.sha256 if settlement.sheet else "",
        "journals": [str(key) for key in journals if key is not None],
        **_lines_shown(stored, settlement.currency),
    }


CoverShown = described(
    "Cover",
    {
        "covered": described(
            "Covered",
            {"wager": serializers.CharField(), "account": serializers.CharField(), "exposure": Money()},
        )(many=True),
        "uncovered": described(
            "NotCovered",
            {
                "wager": serializers.CharField(),
                "account": serializers.CharField(),
                "exposure": Money(),
                "available": Money(),
                "reason": serializers.CharField(),
            },
        )(many=True),
    },
)


class RoundCover(Door):
    """Set aside what wallets could lose, before the cards."""

    declares: ClassVar = {"POST": "settle"}

    @extend_schema(operation_id="coverRound", request=None, responses={200: CoverShown})
    def post(self, request: Request, round: UUID) -> Response:
        """Make the holds fit the bets as they stand; the dealer lowers or withdraws what is uncovered."""
        stands = round_in_scope(self, round, "settle")
        cover = self.act(lambda _: settle.cover(stands.id))
        return Response(
            {
                "covered": [
                    {
                        "wager": hold.wager,
                        "account": hold.account,
                        "exposure": _money(hold.amount, cover.currency),
                    }
                    for hold in cover.covered
                ],
                "uncovered": [
                    {
                        "wager": item.wager,
                        "account": item.account,
                        "exposure": _money(item.exposure, cover.currency),
                        "available": _money(item.available, cover.currency),
                        "reason": item.reason,
                    }
                    for item in cover.refused
                ],
            }
        )


class RoundPreview(Door):
    """What would come of the cards as they lie."""

    declares: ClassVar = {"POST": "settle"}

    @extend_schema(
        operation_id="previewRound",
        request=None,
        responses={
            200: described(
                "Preview",
                {
                    "outcome": serializers.CharField(),
                    "reasons": Reasons,
                    "lines": LineShown(many=True),
                    "bank": BankShown(allow_null=True),
                    "house_net": serializers.IntegerField(),
                    "currency": serializers.CharField(),
                },
            )
        },
    )
    def post(self, request: Request, round: UUID) -> Response:
        """Judge without writing anything."""
        stands = round_in_scope(self, round, "settle")
        case, verdict = settle.preview(stands.id)
        stored = [settle.of_line(line, table=case.table) for line in verdict.lines]
        if verdict.bank is not None:
            stored.append(settle.of_bank(verdict.bank))
        named = [dict(zip(settle.LINE_FIELDS, line, strict=True)) for line in stored]
        return Response(
            {
                "outcome": verdict.outcome,
                "reasons": list(verdict.reasons),
                "house_net": verdict.house_net,
                "currency": case.currency,
                **_lines_shown(named, case.currency),
            }
        )


class RoundSettle(Door):
    """Settle a round: once, however often it is asked."""

    declares: ClassVar = {"POST": "settle"}

    @extend_schema(
        operation_id="settleRound",
        request=None,
        responses={
            200: described(
                "Settled",
                {
                    "outcome": serializers.ChoiceField(["settled", "voided", "held", "waiting"]),
                    "reasons": serializers.ListField(child=serializers.CharField(), required=False),
                    "due_at": serializers.DateTimeField(required=False, allow_null=True),
                    "settlement": SettlementShown(allow_null=True),
                },
            )
        },
    )
    def post(self, request: Request, round: UUID) -> Response:
        """Answer settled or voided with the settlement, held with the reasons, or waiting until when."""
        stands = round_in_scope(self, round, "settle")
        (settled,) = self.act(lambda _: settle.settle_rounds([stands.id]))
        return Response(_settled_shown(settled))


def _settled_shown(settled: Settled) -> dict[str, Any]:
    shown: dict[str, Any] = {"outcome": settled.outcome}
    if settled.outcome == "held":
        shown["reasons"] = list(settled.reasons)
    elif settled.outcome == "waiting":
        shown["due_at"] = settled.due_at.isoformat() if settled.due_at else None
    else:
        settlement = settle.effective(settled.round)
        shown["settlement"] = settlement_shown(settlement) if settlement else None
        shown["revision"] = settlement.revision if settlement else None
    return shown


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
        responses={201: SettlementShown},
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)],
    )
    def post(self, request: Request, round: UUID) -> Response:
        """Cite late events of the round by their numbers in it (``acts``); a second person signs by badge and PIN."""

        def prepare() -> tuple[Round, dict[str, Any], Person]:
            stands = round_in_scope(self, round, "correct")
            given = self.body(CorrectionShape)
            second = self.second_person(given)
            if not people.may_rule(second, stands.session):
                raise Refusal("not_on_duty")
            return stands, given, second

        def do(_: Act, prepared: tuple[Round, dict[str, Any], Person]) -> tuple[int, dict[str, Any]]:
            stands, given, second = prepared
            named = RoundEvent.objects.filter(round=stands, seq__in=given["acts"])
            cites = dict(named.values_list("seq", "id"))
            if len(cites) != len(set(given["acts"])):
                raise Refusal("invalid_value", fields={"acts": "no such event of this round"})
            settlement = settle.correct(
                stands.id, cites=list(cites.values()), acted_by=self.person, approved_by=second
            )
            return 201, settlement_shown(settlement)

        return self.once(prepare, do)


RoundShown = described(
    "Round",
    {
        "id": serializers.UUIDField(),
        "table": serializers.CharField(),
        "number": serializers.IntegerField(allow_null=True),
        "standing": serializers.CharField(),
        "reasons": Reasons,
        "record": serializers.DictField(),
        "breaches": serializers.ListField(child=serializers.DictField()),
        "settlement": SettlementShown(allow_null=True),
    },
)


class RoundDetail(Door):
    """One round: what was recorded, how it folds, what it came to, what deserves a second look."""

    declares: ClassVar = {"GET": "read_rounds"}

    @extend_schema(operation_id="readRound", responses={200: RoundShown})
    def get(self, request: Request, round: UUID) -> Response:
        """Read a round."""
        stands = round_in_scope(self, round, "read_rounds")
        return Response(_round_shown(stands))


def _round_shown(stands: Round) -> dict[str, Any]:
    settlement = settle.effective(stands.id)
    case, found = settle.reviewed(stands.id, settlement)
    return {
        "id": str(stands.id),
        "table": case.table,
        "number": stands.number,
        "standing": stands.standing,
        "reasons": stands.reasons,
        "opened_at": stands.opened_at,
        "closed_at": stands.closed_at,
        "gaming_day": stands.gaming_day,
        "events": stands.event_count,
        "record": case.written,
        "breaches": record.findings_json(found),
        "settlement": settlement_shown(settlement) if settlement else None,
    }


class RoundSettlement(Door):
    """One revision of a round's settlement."""

    declares: ClassVar = {"GET": "read_rounds"}

    @extend_schema(
        operation_id="readSettlement",
        responses={200: SettlementShown},
        parameters=[OpenApiParameter("revision", int, description="The latest where it is left out.")],
    )
    def get(self, request: Request, round: UUID) -> Response:
        """Read the effective revision, or the one asked for."""
        stands = round_in_scope(self, round, "read_rounds")
        asked = request.query_params.get("revision")
        found = Settlement.objects.select_related("sheet").filter(round=stands).order_by("-revision")
        if asked is not None:
            if not asked.isdecimal():
                raise Refusal("malformed", fields={"revision": "must be a whole number"})
            found = found.filter(revision=min(int(asked), 2**31 - 1))
        settlement = found.first()
        if settlement is None:
            raise Refusal("not_found")
        return Response(settlement_shown(settlement))


class TableRounds(Door):
    """Rounds of a table, newest first."""

    declares: ClassVar = {"GET": "read_rounds"}

    @extend_schema(
        operation_id="listRounds",
        parameters=[
            OpenApiParameter("cursor", str, description="``next`` of the page before."),
            OpenApiParameter("limit", int, description="1 to 200; usually 50."),
        ],
        responses={
            200: described(
                "Rounds",
                {
                    "rounds": serializers.ListField(child=serializers.DictField()),
                    "next": serializers.CharField(allow_null=True),
                },
            )
        },
    )
    def get(self, request: Request, code: str) -> Response:
        """List a page of rounds by keyset."""
        table = _table_in_scope(self, code)
        page = page_of(request)
        found = Round.objects.filter(table=table, alias_of=None).order_by("-created_at", "-id")
        if page.cursor:
            after = Round.objects.filter(pk=_uuid(page.cursor), table=table).first()
            if after is None:
                raise Refusal("invalid_value", fields={"cursor": "not of this list"})
            found = found.filter(created_at__lte=after.created_at).exclude(
                created_at=after.created_at, id__gte=after.id
            )
        rows = list(found[: page.limit + 1])
        shown = rows[: page.limit]
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
                    for row in shown
                ],
                "next": str(shown[-1].id) if len(rows) > page.limit else None,
            }
        )


def _table_in_scope(door: Door, code: str) -> Table:
    table = tables.of_code(code)
    people.require_at(door.principal, "read_rounds", table.id)
    return table


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Refusal("malformed", fields={"cursor": "must be a UUID"}) from None
