"""The one door of counts: whoever counts says what lies there, and learns whether somebody else must count too."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Door, Id, OneOf, Query, Shape, Whole, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Role, Table
from casino.platform.refusals import Refusal
from settlement import table_floats
from settlement.models import CountKind
from settlement.table_floats import BlindCount, Box


class CountedPiecesShape(Shape):
    denomination = Whole(min_value=1, max_value=10**12 - 1)
    pieces = Whole(min_value=0, max_value=10**6 - 1)


class CountShape(Shape):
    """One count. Whoever is signed in counts; ``badge`` and ``pin`` sign for somebody else who stands there."""

    kind = serializers.ChoiceField(CountKind.choices)
    session = Id(
        required=False,
        help_text="the session that is counted: needed for a box where those of several sessions wait",
    )
    lines = serializers.ListField(
        child=CountedPiecesShape(),
        required=False,
        max_length=40,
        help_text="left out: only ask for the count",
    )
    badge = serializers.CharField(max_length=40, required=False)
    pin = serializers.CharField(max_length=200, required=False)
    carried_by = serializers.CharField(
        max_length=40, required=False, help_text="a box: badge of who carried it"
    )
    cage = serializers.RegexField(
        r"^[A-Z0-9]{1,20}\Z", required=False, help_text="a box: whose vault gets it"
    )
    supersedes = Id(required=False, help_text="the person's own count that this one corrects")


CountingShown = described(
    "Counting",
    {
        "counting": serializers.UUIDField(),
        "kind": serializers.ChoiceField(CountKind.values),
        "session": serializers.UUIDField(allow_null=True, help_text="whose float or box it is"),
        "state": serializers.ChoiceField(["open", "accepted", "withdrawn"]),
        "count": serializers.UUIDField(allow_null=True),
        "needs": serializers.ChoiceField(["first", "second", "third", ""], help_text="who counts next"),
    },
)


class KindQuery(Query):
    """Which count."""

    kind = OneOf(CountKind.values)


class TakenBackShape(Shape):
    reason = serializers.CharField(max_length=500)


TakenBackShown = described(
    "CountTakenBack",
    {
        "count": serializers.UUIDField(),
        "session": serializers.UUIDField(help_text="whose box waits again"),
        "journals": serializers.ListField(child=serializers.UUIDField()),
        "withdrawn_at": serializers.DateTimeField(),
    },
)


class TableCounts(Door):
    """Counts of a table's float and of its drop box."""

    declares: ClassVar = {"POST": "count", "DELETE": "withdraw_count"}
    queries: ClassVar = {"DELETE": KindQuery}

    @extend_schema(
        operation_id="countTable",
        request=CountShape,
        parameters=[KEY],
        responses={201: CountingShown},
    )
    @refuses(
        "box_not_carried",
        "cage_ended",
        "unknown_cage",
        "count_missing",
        "count_not_yours",
        "count_overtaken",
        "count_running",
        "day_sealed",
        "not_on_duty",
        "rounds_unfinished",
        "session_needed",
        "sod_violation",
        "table_closed",
        "table_open",
    )
    def post(self, request: Request, code: str) -> Response:
        """Ask for a count, or save one. The answer holds no figure but the asker's own."""

        def prepare() -> tuple[Table, dict[str, Any], Person]:
            table = at_table(self, code, "count")
            given = self.body(CountShape)
            return table, given, self._counter(given)

        def do(_: Act, prepared: tuple[Table, dict[str, Any], Person]) -> tuple[int, dict[str, Any]]:
            table, given, by = prepared
            saved = table_floats.count(
                table=table,
                kind=given["kind"],
                by=by,
                count=_counted(by, given["lines"]) if "lines" in given else None,
                box=_box(given),
                supersedes=given.get("supersedes"),
                session=given.get("session"),
            )
            return 201, {
                "counting": str(saved.counting.id),
                "kind": saved.counting.kind,
                "session": str(saved.counting.session_id) if saved.counting.session_id else None,
                "state": saved.counting.state,
                "count": str(saved.count.id) if saved.count else None,
                "needs": saved.needs,
            }

        return self.once(prepare, do)

    @extend_schema(
        operation_id="withdrawCount",
        responses={200: CountingShown},
    )
    @refuses("count_missing", "count_not_asked")
    def delete(self, request: Request, code: str) -> Response:
        """Withdraw the count that is open: what was counted stays, and counts for nothing."""
        table = at_table(self, code, "withdraw_count")
        kind = self.query["kind"]
        by = self.person
        counting = self.act(lambda _: table_floats.withdraw(table=table, kind=kind, by=by))
        return Response(
            {
                "counting": str(counting.id),
                "kind": kind,
                "session": str(counting.session_id) if counting.session_id else None,
                "state": counting.state,
                "count": None,
                "needs": "",
            }
        )

    def _counter(self, given: dict[str, Any]) -> Person:
        if "badge" in given or "pin" in given:
            if not ("badge" in given and "pin" in given):
                raise Refusal("missing_field", fields={"pin": "badge and PIN sign together"})
            return self.second_person(given)
        return self.person


class TableCountWithdrawal(Door):
    """The count of a box that was another's."""

    declares: ClassVar = {"POST": "withdraw_count"}

    @extend_schema(
        operation_id="takeBackCountOfBox",
        request=TakenBackShape,
        parameters=[KEY],
        responses={201: TakenBackShown},
    )
    @refuses("day_sealed", "sod_violation")
    def post(self, request: Request, code: str, count: UUID) -> Response:
        """Take back what the accepted count of a box posted; the box waits to be counted again."""

        def prepare() -> tuple[Table, str]:
            return at_table(self, code, "withdraw_count"), self.body(TakenBackShape)["reason"]

        def do(act: Act, prepared: tuple[Table, str]) -> tuple[int, dict[str, Any]]:
            table, reason = prepared
            drop = table_floats.take_back(table=table, count=count, by=self.person, reason=reason)
            back = (drop.journal_back_id, drop.variance_back_id)
            return 201, {
                "count": str(drop.count_id),
                "session": str(drop.session_id),
                "journals": [str(id) for id in back if id is not None],
                "withdrawn_at": act.now.isoformat(),
            }

        return self.once(prepare, do)


def at_table(door: Door, code: str, right: str) -> Table:
    """Return the table. One that is closed has nobody on duty: whoever may count or open at all may do so there; at an
    open one the right must hold."""
    table = tables.of_code(code)
    if table.state != Table.State.CLOSED or door.principal.kind == "device":
        people.require_at(door.principal, right, table.id)
    return table


def _counted(by: Person, lines: list[dict[str, int]]) -> BlindCount:
    """Pieces of one denomination named twice are added."""
    pieces: dict[int, int] = {}
    for line in lines:
        pieces[line["denomination"]] = pieces.get(line["denomination"], 0) + line["pieces"]
    return BlindCount(by=by, pieces=pieces)


def _box(given: dict[str, Any]) -> Box | None:
    if "carried_by" not in given and "cage" not in given:
        return None
    return Box(carried_by=of_badge(given.get("carried_by", "")), cage=given.get("cage", ""))


def of_badge(badge: str, role: Role | None = None) -> Person:
    """Return the active person of a badge, in that role; refuse ``invalid_value``."""
    person = Person.objects.filter(badge=badge, is_active=True).first()
    if person is None or (role is not None and person.role != role):
        raise Refusal("invalid_value", fields={"badge": "no such person in that role"})
    return person
