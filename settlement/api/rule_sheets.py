"""Doors of rule sheets: propose, approve, put in force at a table."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Door, Id, Instant, Shape, described
from casino.api.operations import KEY, refuses
from casino.api.shapes import written_as
from casino.events import Act
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import rule_sheets
from settlement.api import sheet_options
from settlement.models import RuleSheet, TableRules
from settlement.rules import house_rules
from settlement.rules.house_rules import HouseRules

SheetShown = described(
    "RuleSheet",
    {
        "id": serializers.UUIDField(),
        "name": serializers.CharField(),
        "sha256": serializers.CharField(),
        "rules": written_as(sheet_options.schema(whole=True)),
        "proposed_by": serializers.UUIDField(),
        "proposed_at": serializers.DateTimeField(),
        "approved_by": serializers.UUIDField(allow_null=True),
        "approved_at": serializers.DateTimeField(allow_null=True),
    },
)


def _shown(sheet: RuleSheet) -> dict[str, Any]:
    return {
        "id": str(sheet.id),
        "name": sheet.name,
        "sha256": sheet.sha256,
        "rules": json.loads(sheet.canonical),
        "proposed_by": str(sheet.proposed_by_id),
        "proposed_at": sheet.proposed_at.isoformat(),
        "approved_by": str(sheet.approved_by_id) if sheet.approved_by_id else None,
        "approved_at": sheet.approved_at.isoformat() if sheet.approved_at else None,
    }


class SheetShape(Shape):
    name = serializers.CharField(max_length=120)
    preset = serializers.ChoiceField(sorted(house_rules.PRESETS))
    options = sheet_options.Options(required=False, default=dict)


class RuleSheets(Door):
    """All rule sheets, and the proposal of a new one."""

    declares: ClassVar = {"GET": "read_sheets", "POST": "propose_sheet"}

    @extend_schema(
        operation_id="listRuleSheets",
        responses={200: described("RuleSheets", {"sheets": SheetShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List rule sheets, newest first; whoever is bound to tables sees those of these tables."""
        found = RuleSheet.objects.order_by("-proposed_at")
        scope = people.tables_in_scope(self.principal, "read_sheets")
        if scope is not None:
            found = found.filter(pk__in=TableRules.objects.filter(table__in=scope).values("sheet"))
        return Response({"sheets": [_shown(sheet) for sheet in found[:200]]})

    @extend_schema(
        operation_id="proposeRuleSheet", request=SheetShape, responses={201: SheetShown}, parameters=[KEY]
    )
    @refuses("contradictory_sheet", "invalid_sheet", "sheet_exists")
    def post(self, request: Request) -> Response:
        """Propose a preset with changed options; a contradiction is refused with the options named."""

        def prepare() -> tuple[str, HouseRules]:
            _require_duty(self.person, "rules_author")
            given = self.body(SheetShape)
            return given["name"], rule_sheets.read(preset=given["preset"], options=given["options"])

        def do(_: Act, prepared: tuple[str, HouseRules]) -> tuple[int, dict[str, Any]]:
            name, rules = prepared
            return 201, _shown(rule_sheets.propose(name=name, rules=rules, by=self.person))

        return self.once(prepare, do)


class SheetApprovalShape(Shape):
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z")


class RuleSheetApproval(Door):
    """The approval of a proposed sheet, by another person."""

    declares: ClassVar = {"POST": "approve_sheet"}

    @extend_schema(
        operation_id="approveRuleSheet",
        request=SheetApprovalShape,
        responses={200: SheetShown},
        parameters=[KEY],
    )
    @refuses("sheet_approved", "sheet_not_found", "sod_violation", "stale_proposal")
    def post(self, request: Request, sheet: UUID) -> Response:
        """Approve exactly the bytes whose SHA-256 is given."""

        def prepare() -> str:
            _require_duty(self.person, "rules_approver")
            return str(self.body(SheetApprovalShape)["sha256"])

        def do(_: Act, sha256: str) -> tuple[int, dict[str, Any]]:
            return 200, _shown(rule_sheets.approve(sheet=sheet, sha256=sha256, by=self.person))

        return self.once(prepare, do)


class InForceShape(Shape):
    sheet = Id()
    in_force_from = Instant(required=False, default=None, allow_null=True)
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


InForceShown = described(
    "RulesInForce",
    {
        "table": serializers.CharField(),
        "sheet": serializers.UUIDField(),
        "in_force_from": serializers.DateTimeField(),
        "set_by": serializers.UUIDField(),
        "approved_by": serializers.UUIDField(),
    },
)


class TableSheets(Door):
    """The sheets of a table, by the moment from which they count."""

    declares: ClassVar = {"GET": "read_sheets", "POST": "approve_sheet"}

    @extend_schema(
        operation_id="listRulesInForce",
        responses={200: described("TableRules", {"rules": InForceShown(many=True)})},
    )
    def get(self, request: Request, code: str) -> Response:
        """List what was, is and will be in force at the table, newest first."""
        table = tables.of_code(code)
        people.require_at(self.principal, "read_sheets", table.id)
        found = TableRules.objects.select_related("table").filter(table=table).order_by("-in_force_from")
        return Response({"rules": [_in_force_shown(row) for row in found[:200]]})

    @extend_schema(
        operation_id="putInForce", request=InForceShape, responses={201: InForceShown}, parameters=[KEY]
    )
    @refuses(
        "rules_for_the_past", "rules_set_already", "sheet_not_approved", "sheet_not_found", "sod_violation"
    )
    def post(self, request: Request, code: str) -> Response:
        """Put an approved sheet in force from a moment on (now, where none is given); a second manager signs."""

        def prepare() -> tuple[Table, dict[str, Any], Person]:
            table = tables.of_code(code)
            given = self.body(InForceShape)
            return table, given, self.second_person(given)

        def do(act: Act, prepared: tuple[Table, dict[str, Any], Person]) -> tuple[int, dict[str, Any]]:
            table, given, second = prepared
            moment: datetime = given["in_force_from"] or act.now
            row = rule_sheets.put_in_force(
                table=table, sheet=given["sheet"], from_=moment, by=self.person, approved_by=second
            )
            return 201, _in_force_shown(row)

        return self.once(prepare, do)


def _in_force_shown(row: TableRules) -> dict[str, Any]:
    return {
        "table": row.table.code,
        "sheet": str(row.sheet_id),
        "in_force_from": row.in_force_from.isoformat(),
        "set_by": str(row.set_by_id),
        "approved_by": str(row.approved_by_id),
    }


def _require_duty(person: Person, name: str) -> None:
    if not person.has_duty(name):
        raise Refusal("forbidden")
