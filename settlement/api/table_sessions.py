"""Doors of a table's session: opened and closed with a float that was counted and accepted before."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Door, LimitQuery, Shape, SignedMoney, Whole, described, money
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Role, Table
from casino.platform.refusals import Refusal
from settlement import table_floats
from settlement.api.counts import at_table, of_badge
from settlement.models import Grade


class OpeningShape(Shape):
    dealer = serializers.CharField(max_length=40, help_text="badge")
    supervisor = serializers.CharField(max_length=40, help_text="badge")
    cage = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", required=False, default="")


class SignedShape(Shape):
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


class ClosingShape(Shape):
    last_round = Whole(min_value=0, max_value=2**31 - 1)
    cage = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", required=False, default="")
    carried_over_by = serializers.ListField(
        child=serializers.CharField(max_length=40),
        min_length=2,
        max_length=2,
        required=False,
        help_text="badges",
    )
    overridden_by = serializers.ListField(
        child=SignedShape(),
        min_length=2,
        max_length=2,
        required=False,
        help_text="two people who close although numbers are missing: the close is provisional",
    )


def _ranges() -> serializers.Field[Any, Any, Any, Any]:
    return serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2)
    )


SessionShown = described(
    "Session",
    {
        "session": serializers.UUIDField(),
        "opened_at": serializers.DateTimeField(),
        "closed_at": serializers.DateTimeField(allow_null=True),
        "last_round": serializers.IntegerField(allow_null=True),
        "state": serializers.ChoiceField(["open", "uncounted", "provisional", "closed"]),
        "missing": serializers.DictField(
            child=_ranges(),
            help_text="numbers that had not arrived, by device, and of ``rounds``, of a provisional close",
        ),
    },
)
HeldShown = described(
    "HeldAtClose",
    {"round": serializers.UUIDField(), "number": serializers.IntegerField(), "locked": SignedMoney()},
)


class TableSessions(Door):
    """A table's sessions."""

    declares: ClassVar = {"GET": "read_tables", "POST": "float"}
    queries: ClassVar = {"GET": LimitQuery}

    @extend_schema(
        operation_id="listSessions",
        responses={200: described("Sessions", {"sessions": SessionShown(many=True)})},
    )
    def get(self, request: Request, code: str) -> Response:
        """List a table's sessions, newest first: ``uncounted`` while the drop of a closed one was not counted,
        ``provisional`` where it was closed over missing device numbers."""
        table = tables.of_code(code)
        people.require_at(self.principal, "read_tables", table.id)
        shown = table_floats.standings(table, limit=self.query["limit"])
        return Response({"sessions": [_session(one) for one in shown]})

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
    @refuses(
        "cage_ended",
        "count_missing",
        "day_closing",
        "day_sealed",
        "insufficient_funds",
        "sod_violation",
        "table_ended",
        "table_open",
        "unknown_cage",
    )
    def post(self, request: Request, code: str) -> Response:
        """Open with the opener that was counted and accepted."""

        def prepare() -> tuple[Table, dict[str, Any]]:
            return at_table(self, code, "float"), self.body(OpeningShape)

        def do(_: Act, prepared: tuple[Table, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            table, given = prepared
            dealer = of_badge(given["dealer"], Role.DEALER)
            if self.person.role == Role.DEALER and self.person.id != dealer.id:
                raise Refusal("forbidden")
            session = table_floats.open_table(
                table=table,
                dealer=dealer,
                supervisor=of_badge(given["supervisor"], Role.SUPERVISOR),
                cage=given["cage"],
            )
            return 201, {"session": str(session.id), "opened_at": session.opened_at.isoformat()}

        return self.once(prepare, do)


class TableClosing(Door):
    """Close a table."""

    declares: ClassVar = {"POST": "float"}

    @extend_schema(
        operation_id="closeTable",
        request=ClosingShape,
        parameters=[KEY],
        responses={
            201: described(
                "SessionClosed",
                {
                    "session": serializers.UUIDField(),
                    "last_round": serializers.IntegerField(),
                    "provisional": serializers.BooleanField(),
                    "missing": serializers.DictField(child=_ranges()),
                    "grade": serializers.ChoiceField(
                        Grade.values,
                        allow_blank=True,
                        help_text="of the difference: quiet, note, incident, notify",
                    ),
                    "break": serializers.UUIDField(
                        allow_null=True, help_text="where the difference is written up"
                    ),
                    "held": HeldShown(many=True),
                },
            )
        },
    )
    @refuses(
        "cage_ended",
        "unknown_cage",
        "count_missing",
        "count_overtaken",
        "day_sealed",
        "device_numbers_missing",
        "last_round_differs",
        "not_on_duty",
        "round_numbers_missing",
        "rounds_unfinished",
        "second_person_forbidden",
        "slip_in_transit",
        "slip_not_carried",
        "sod_violation",
        "table_closed",
    )
    def post(self, request: Request, code: str) -> Response:
        """Close with the closer that was counted and accepted, and the last round's number."""

        def prepare() -> tuple[Table, dict[str, Any], list[Person]]:
            table = at_table(self, code, "float")
            given = self.body(ClosingShape)
            return table, given, [self.second_person(signed) for signed in given.get("overridden_by", ())]

        def do(_: Act, prepared: tuple[Table, dict[str, Any], list[Person]]) -> tuple[int, dict[str, Any]]:
            table, given, overriding = prepared
            carried = [of_badge(badge) for badge in given.get("carried_over_by", ())]
            closed = table_floats.close_table(
                table=table,
                last_round=given["last_round"],
                cage=given["cage"],
                carried_over_by=(carried[0], carried[1]) if carried else None,
                overridden_by=(overriding[0], overriding[1]) if overriding else None,
            )
            return 201, {
                "session": str(closed.float.session_id),
                "last_round": given["last_round"],
                "provisional": closed.is_provisional,
                "missing": closed.float.missing,
                "grade": closed.float.grade,
                "break": str(closed.variance) if closed.variance else None,
                "held": [
                    {"round": round, "number": number, "locked": money(locked, table.currency)}
                    for round, number, locked in closed.float.held
                ],
            }

        return self.once(prepare, do)


def _session(one: table_floats.SessionStanding) -> dict[str, Any]:
    session = one.session
    return {
        "session": str(session.id),
        "opened_at": session.opened_at.isoformat(),
        "closed_at": session.closed_at.isoformat() if session.closed_at else None,
        "last_round": session.last_round,
        "state": one.state,
        "missing": one.missing,
    }
