"""Doors of a table's session: opened and closed with a float that two people counted."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Door, Shape, Whole, described
from casino.events import Act
from casino.models import Person, Role, Table
from casino.refusals import Refusal
from settlement import floats
from settlement.floats import BlindCount

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)


class PiecesShape(Shape):
    denomination = Whole(min_value=1, max_value=10**12)
    pieces = Whole(min_value=0, max_value=10**6)


class CountShape(Shape):
    """One person's blind count, signed by badge and PIN."""

    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)
    lines = serializers.ListField(child=PiecesShape(), min_length=1, max_length=40)


class OpeningShape(Shape):
    counts = serializers.ListField(child=CountShape(), min_length=2, max_length=3)
    dealer = serializers.CharField(max_length=40, help_text="badge")
    supervisor = serializers.CharField(max_length=40, help_text="badge")
    cage = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", required=False, default="")


class ClosingShape(Shape):
    counts = serializers.ListField(child=CountShape(), min_length=2, max_length=3)
    last_round = Whole(min_value=0, max_value=2**31 - 1)
    cage = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", required=False, default="")
    carried_over_by = serializers.ListField(
        child=serializers.CharField(max_length=40),
        min_length=2,
        max_length=2,
        required=False,
        help_text="badges",
    )


class TableSessions(Door):
    """Open a table."""

    declares: ClassVar = {"POST": "float"}

    @extend_schema(
        operation_id="openTable",
        request=OpeningShape,
        parameters=[KEY],
        responses={
            201: described(
                "SessionOpened",
                {"session": serializers.UUIDField(), "opened_at": serializers.DateTimeField()},
            )
        },
    )
    def post(self, request: Request, code: str) -> Response:
        """Open with two equal blind counts; where they differ, send a third person's with them."""

        def prepare() -> tuple[Table, dict[str, Any], list[BlindCount]]:
            table = self._table(code)
            given = self.body(OpeningShape)
            return table, given, [self.counted(count) for count in given["counts"]]

        def do(
            _: Act, prepared: tuple[Table, dict[str, Any], list[BlindCount]]
        ) -> tuple[int, dict[str, Any]]:
            table, given, counts = prepared
            session = floats.open_table(
                table=table,
                dealer=_of_badge(given["dealer"], Role.DEALER),
                supervisor=_of_badge(given["supervisor"], Role.SUPERVISOR),
                counts=counts,
                cage=given["cage"],
            )
            return 201, {"session": str(session.id), "opened_at": session.opened_at.isoformat()}

        return self.once(prepare, do)

    def counted(self, count: dict[str, Any]) -> BlindCount:
        """Return a signed count; pieces of one denomination named twice are added."""
        pieces: dict[int, int] = {}
        for line in count["lines"]:
            pieces[line["denomination"]] = pieces.get(line["denomination"], 0) + line["pieces"]
        return BlindCount(by=self.second_person(count), pieces=pieces)

    def _table(self, code: str) -> Table:
        """A table that is closed has nobody on duty: a supervisor may open any, and closes their own."""
        table = tables.of_code(code)
        if table.state != Table.State.CLOSED:
            people.require_at(self.principal, "float", table.id)
        return table


class TableClosing(TableSessions):
    """Close a table."""

    @extend_schema(
        operation_id="closeTable",
        request=ClosingShape,
        parameters=[KEY],
        responses={
            201: described(
                "SessionClosed",
                {"session": serializers.UUIDField(), "last_round": serializers.IntegerField()},
            )
        },
    )
    def post(self, request: Request, code: str) -> Response:
        """Close with two equal blind counts and the last round's number."""

        def prepare() -> tuple[Table, dict[str, Any], list[BlindCount]]:
            table = self._table(code)
            given = self.body(ClosingShape)
            return table, given, [self.counted(count) for count in given["counts"]]

        def do(
            _: Act, prepared: tuple[Table, dict[str, Any], list[BlindCount]]
        ) -> tuple[int, dict[str, Any]]:
            table, given, counts = prepared
            carried = [_of_badge(badge) for badge in given.get("carried_over_by", ())]
            closed = floats.close_table(
                table=table,
                last_round=given["last_round"],
                counts=counts,
                cage=given["cage"],
                carried_over_by=(carried[0], carried[1]) if carried else None,
            )
            return 201, {"session": str(closed.session_id), "last_round": given["last_round"]}

        return self.once(prepare, do)


def _of_badge(badge: str, role: Role | None = None) -> Person:
    person = Person.objects.filter(badge=badge, is_active=True).first()
    if person is None or (role is not None and person.role != role):
        raise Refusal("invalid_value", fields={"badge": "no such person in that role"})
    return person
