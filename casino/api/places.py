"""Doors of the places of the house: its tables and cages, added by two people. Ended ones stay in the lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import cages, people, tables
from casino.api.door import Door, Shape, Whole, described
from casino.api.operations import refuses
from casino.models import Cage, Device, Table, TableSession
from casino.platform.refusals import Refusal

MOST_GRACE_MS = 60_000


class PlaceSignedShape(Shape):
    """A second person who signs by badge and PIN."""

    badge = serializers.CharField(max_length=40, help_text="of the second person")
    pin = serializers.CharField(max_length=200)


class TableShape(PlaceSignedShape):
    code = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", help_text="of no other table or cage, ended ones too")
    currency = serializers.RegexField(
        r"^[A-Z]{3}\Z", required=False, help_text="The property's where it is left out; it has one."
    )
    camera = serializers.BooleanField(help_text="whether one reads its cards beside the terminal")
    camera_grace_ms = Whole(
        min_value=0,
        max_value=MOST_GRACE_MS,
        required=False,
        default=1000,
        help_text="how long a closed round waits for the camera's last reads",
    )


TableShown = described(
    "Table",
    {
        "code": serializers.CharField(),
        "currency": serializers.CharField(),
        "camera": serializers.BooleanField(),
        "state": serializers.ChoiceField(Table.State.values),
        "stop_reason": serializers.CharField(),
        "session": serializers.UUIDField(allow_null=True),
        "opened_at": serializers.DateTimeField(allow_null=True),
        "missing_rounds": serializers.ListField(
            child=serializers.ListField(child=serializers.IntegerField())
        ),
        "missing_numbers": serializers.ListField(
            child=described(
                "MissingNumbers",
                {
                    "device": serializers.UUIDField(),
                    "code": serializers.CharField(),
                    "first": serializers.IntegerField(),
                    "last": serializers.IntegerField(),
                },
            )(),
            help_text="of its devices; whoever rules there waives them",
        ),
        "added_at": serializers.DateTimeField(allow_null=True),
        "ended_at": serializers.DateTimeField(allow_null=True),
    },
)
CageShown = described(
    "Cage",
    {
        "code": serializers.CharField(),
        "added_by": serializers.CharField(allow_null=True, help_text="badge; null: there from the beginning"),
        "added_with": serializers.CharField(allow_null=True, help_text="badge"),
        "added_at": serializers.DateTimeField(allow_null=True),
        "ended_by": serializers.CharField(allow_null=True, help_text="badge"),
        "ended_with": serializers.CharField(allow_null=True, help_text="badge"),
        "ended_at": serializers.DateTimeField(allow_null=True),
    },
)


def table_shown(
    table: Table,
    session: TableSession | None,
    missing: Mapping[UUID, list[list[int]]] | None = None,
    waiting: Iterable[Device] = (),
) -> dict[str, Any]:
    """Return a table as it stands, with its open session, the round numbers ``missing`` in it, and those of its devices
    among ``waiting``."""
    return {
        "code": table.code,
        "currency": table.currency,
        "camera": table.camera,
        "state": table.state,
        "stop_reason": table.stop_reason,
        "session": str(session.id) if session else None,
        "opened_at": session.opened_at if session else None,
        "missing_rounds": (missing or {}).get(session.id, []) if session else [],
        "missing_numbers": [
            {"device": str(device.id), "code": device.code, "first": first, "last": last}
            for device in waiting
            if device.table_id == table.id
            for first, last in device.holes
        ],
        "added_at": table.added_at,
        "ended_at": table.ended_at,
    }


def cage_shown(cage: Cage) -> dict[str, Any]:
    """Return a cage, with who added and who ended it."""

    def badge(name: str) -> str | None:
        person = getattr(cage, name)
        return str(person.badge) if person else None

    people_of = ("added_by", "added_with", "ended_by", "ended_with")
    return {
        "code": cage.code,
        **{name: badge(name) for name in people_of},
        "added_at": cage.added_at,
        "ended_at": cage.ended_at,
    }


class Tables(Door):
    """The tables of the floor."""

    declares: ClassVar = {"GET": "read_tables", "POST": "manage_tables"}

    @extend_schema(
        operation_id="listTables",
        responses={200: described("Tables", {"tables": TableShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List the tables in scope, with their open sessions."""
        found: QuerySet[Table] = Table.objects.order_by("code")
        in_scope = people.tables_in_scope(self.principal, "read_tables")
        if in_scope is not None:
            found = found.filter(pk__in=in_scope)
        sessions = {s.table_id: s for s in TableSession.objects.filter(closed_at=None, table__in=found)}
        missing = tables.missing_rounds(session.id for session in sessions.values())
        numbered = Device.objects.filter(table__in=found, revoked_at=None).exclude(holes=[])
        waiting = list(numbered.order_by("code"))
        shown = [table_shown(table, sessions.get(table.id), missing, waiting) for table in found]
        return Response({"tables": shown})

    @extend_schema(operation_id="addTable", request=TableShape, responses={201: TableShown})
    @refuses("code_taken", "second_person_forbidden", "sod_violation", "wrong_currency")
    def post(self, request: Request) -> Response:
        """Add a table, closed and without rules, with another manager or an administrator. Its code is the key: the
        same one again is refused ``code_taken``."""
        given = self.body(TableShape)
        by, second = self.person, self.second_person(given)
        currency = str(settings.PROPERTY["currency"])
        if given.get("currency", currency) != currency:
            raise Refusal("wrong_currency", fields={"currency": currency})
        table = self.act(
            lambda _: tables.add(
                code=given["code"],
                currency=currency,
                camera=given["camera"],
                camera_grace_ms=given["camera_grace_ms"],
                by=by,
                approved_by=second,
            )
        )
        return Response(table_shown(table, None), status=201)


class CageShape(PlaceSignedShape):
    code = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", help_text="of no other table or cage, ended ones too")


class Cages(Door):
    """The cages of the house."""

    declares: ClassVar = {"GET": "read_settings", "POST": "manage_tables"}

    @extend_schema(
        operation_id="listCages", responses={200: described("Cages", {"cages": CageShown(many=True)})}
    )
    def get(self, request: Request) -> Response:
        """List the cages, by code."""
        who = ("added_by", "added_with", "ended_by", "ended_with")
        return Response(
            {"cages": [cage_shown(one) for one in Cage.objects.select_related(*who).order_by("code")]}
        )

    @extend_schema(operation_id="addCage", request=CageShape, responses={201: CageShown})
    @refuses("code_taken", "second_person_forbidden", "sod_violation")
    def post(self, request: Request) -> Response:
        """Add a cage with an empty vault, with another manager or an administrator. Its code is the key: the same one
        again is refused ``code_taken``."""
        given = self.body(CageShape)
        by, second = self.person, self.second_person(given)
        cage = self.act(lambda _: cages.add(code=given["code"], by=by, approved_by=second))
        return Response(cage_shown(cage), status=201)
