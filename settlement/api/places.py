"""Doors that end a table or a cage, once none of its money is left, and that stock a cage's vault."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import cages, tables
from casino.api.door import Door, described, money
from casino.api.operations import KEY, refuses
from casino.api.places import CageShown, PlaceSignedShape, TableShown, cage_shown, table_shown
from casino.events import Act
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import cashier, table_floats
from settlement.api.cashier import CashDoor, Money, PiecesShape, lines_of


class TableEnd(Door):
    """The end of a table."""

    declares: ClassVar = {"POST": "manage_tables"}

    @extend_schema(operation_id="endTable", request=PlaceSignedShape, responses={200: TableShown})
    @refuses(
        "rounds_unfinished",
        "second_person_forbidden",
        "sod_violation",
        "table_ended",
        "table_not_empty",
        "table_open",
    )
    def post(self, request: Request, code: str) -> Response:
        """End a closed table with another manager or an administrator: it is never opened again. Its float must be in a
        cage, its box counted, its slips received and its pay slips paid or void."""
        table, given = tables.of_code(code), self.body(PlaceSignedShape)
        by, second = self.person, self.second_person(given)
        ended = self.act(lambda _: table_floats.end_table(table=table, by=by, approved_by=second))
        return Response(table_shown(ended, None))


class CageEnd(Door):
    """The end of a cage."""

    declares: ClassVar = {"POST": "manage_tables"}

    @extend_schema(operation_id="endCage", request=PlaceSignedShape, responses={200: CageShown})
    @refuses("cage_ended", "cage_not_empty", "second_person_forbidden", "sod_violation")
    def post(self, request: Request, code: str) -> Response:
        """End a cage with another manager or an administrator: nothing moves there any more. Its vault must be empty,
        and nothing on its way to it."""
        cage, given = cages.of_code(code), self.body(PlaceSignedShape)
        by, second = self.person, self.second_person(given)
        return Response(
            cage_shown(self.act(lambda _: cashier.end_cage(cage=cage, by=by, approved_by=second)))
        )


class StockShape(PlaceSignedShape):
    amount = Money()
    lines = serializers.ListField(child=PiecesShape(), min_length=1, max_length=40)
    document = serializers.RegexField(
        r"^[A-Za-z0-9./_-]{1,60}\Z", help_text="of the take-over; once for ever"
    )


class CageStock(CashDoor):
    """Chips of the house that a vault takes over."""

    declares: ClassVar = {"POST": "manage_tables"}

    @extend_schema(
        operation_id="stockCage",
        request=StockShape,
        parameters=[KEY],
        responses={201: described("CageStocked", {"cage": serializers.CharField(), "amount": Money()})},
    )
    @refuses(
        "cage_ended",
        "day_sealed",
        "second_person_forbidden",
        "sod_violation",
        "unknown_cage",
        "vault_stocked",
        "wrong_currency",
    )
    def post(self, request: Request, code: str) -> Response:
        """Take over counted chips into the vault from wherever the house kept them outside of this service, with
        another manager or an administrator."""

        def prepare() -> tuple[dict[str, Any], int, Person]:
            cages.of_code(code)
            given = self.body(StockShape)
            amount = self.amount_of(given)
            if sum(line["denomination"] * line["pieces"] for line in lines_of(given)) != amount:
                raise Refusal("invalid_value", fields={"lines": "the pieces do not come to the amount"})
            return given, amount, self.second_person(given)

        def do(_: Act, prepared: tuple[dict[str, Any], int, Person]) -> tuple[int, dict[str, Any]]:
            given, amount, second = prepared
            cashier.stock(
                cage=code,
                amount=amount,
                lines=lines_of(given),
                document=given["document"],
                by=self.person,
                approved_by=second,
            )
            return 201, {"cage": code, "amount": money(amount, given["amount"]["currency"])}

        return self.once(prepare, do)
