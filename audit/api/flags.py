"""Doors of flags: the queue, and the answers."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import disputes, flags
from audit.api.disputes import DisputeShown, dispute_shown
from audit.models import Flag
from casino import people
from casino.api.door import Door, Id, OneOf, PageQuery, Shape, TableCode, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.platform.refusals import Refusal
from settlement.api import records

FlagShown = described(
    "Flag",
    {
        "id": serializers.UUIDField(),
        "kind": serializers.ChoiceField(sorted(flags.KINDS)),
        "subject": serializers.CharField(),
        "table": serializers.CharField(allow_null=True),
        "round": serializers.UUIDField(allow_null=True),
        "device": serializers.CharField(allow_null=True),
        "detail": serializers.DictField(help_text="the figures of its sentence; amounts are money"),
        "says": described("FlagSaid", {"th": serializers.CharField(), "en": serializers.CharField()})(
            allow_null=True
        ),
        "entry": serializers.IntegerField(allow_null=True),
        "raised_at": serializers.DateTimeField(),
        "state": serializers.ChoiceField(["open", "closed", "disputed"]),
        "closed_by": serializers.UUIDField(allow_null=True),
        "closed_at": serializers.DateTimeField(allow_null=True),
        "close_code": serializers.CharField(),
        "dispute": serializers.UUIDField(allow_null=True),
    },
)


def _shown(flag: Flag) -> dict[str, Any]:
    return {
        "id": str(flag.id),
        "kind": flag.kind,
        "subject": flag.subject,
        "table": flag.table.code if flag.table else None,
        "round": str(flag.round_id) if flag.round_id else None,
        "device": flag.device.code if flag.device else None,
        "detail": records.detail(flag.detail, flag.table.currency if flag.table else ""),
        "says": flags.said(flag),
        "entry": flag.entry_id,
        "raised_at": flag.raised_at.isoformat(),
        "state": flag.state,
        "closed_by": str(flag.closed_by_id) if flag.closed_by_id else None,
        "closed_at": flag.closed_at.isoformat() if flag.closed_at else None,
        "close_code": flag.close_code,
        "dispute": str(flag.dispute) if flag.dispute else None,
    }


def in_scope(door: Door) -> QuerySet[Flag]:
    """Return the flags of the tables in scope, with what their answers show."""
    found = Flag.objects.select_related("table", "device")
    scope = people.tables_in_scope(door.principal, "read_flags")
    return found if scope is None else found.filter(table__in=scope)


class FlagsQuery(PageQuery):
    """Which flags."""

    state = OneOf(["open", "closed", "disputed"], required=False)
    kind = OneOf(sorted(flags.KINDS), required=False)
    table = TableCode(required=False)
    round = Id(required=False)


class Flags(Door):
    """Flags, newest first."""

    declares: ClassVar = {"GET": "read_flags"}
    queries: ClassVar = {"GET": FlagsQuery}

    @extend_schema(
        operation_id="listFlags",
        responses={
            200: described(
                "Flags", {"flags": FlagShown(many=True), "next": serializers.CharField(allow_null=True)}
            )
        },
    )
    @refuses("not_found")
    def get(self, request: Request) -> Response:
        """List a page of flags by keyset."""
        page = self.page
        found = in_scope(self).order_by("-raised_at", "-id")
        for name, column in (("state", "state"), ("kind", "kind"), ("table", "table__code")):
            if name in self.query:
                found = found.filter(**{column: self.query[name]})
        if "round" in self.query:
            found = found.filter(round=self.query["round"])
        if page.cursor:
            after = in_scope(self).filter(pk=page.cursor).first()
            if after is None:
                raise Refusal("invalid_value", fields={"cursor": "not of this list"})
            found = found.filter(
                Q(raised_at__lt=after.raised_at) | Q(raised_at=after.raised_at, id__lt=after.id)
            )
        listed, last = page.cut(found)
        return Response(
            {
                "flags": [_shown(flag) for flag in listed],
                "next": str(last.id) if last else None,
            }
        )


class FlagDetail(Door):
    """One flag."""

    declares: ClassVar = {"GET": "read_flags"}

    @extend_schema(operation_id="readFlag", responses={200: FlagShown})
    def get(self, request: Request, flag: UUID) -> Response:
        """Read a flag."""
        return Response(_shown(_one(self, flag)))


class CloseShape(Shape):
    code = serializers.ChoiceField(flags.CLOSE_CODES)
    reason = serializers.CharField(max_length=500)


class FlagClosing(Door):
    """A flag closed with a reason."""

    declares: ClassVar = {"POST": "answer_flag"}

    @extend_schema(operation_id="closeFlag", request=CloseShape, parameters=[KEY], responses={200: FlagShown})
    @refuses("flag_answered", "sod_violation")
    def post(self, request: Request, flag: UUID) -> Response:
        """Close an open flag."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            flags.close(flag=flag, by=self.person, code=given["code"], reason=given["reason"])
            return 200, _shown(_one(self, flag))

        return self.once(lambda: self.body(CloseShape), do)


class FlagDisputeShape(Shape):
    reason = serializers.CharField(max_length=2000)


class FlagDispute(Door):
    """A flag turned into a dispute; who does so is its raiser."""

    declares: ClassVar = {"POST": "answer_flag"}

    @extend_schema(
        operation_id="disputeFlag", request=FlagDisputeShape, parameters=[KEY], responses={201: DisputeShown}
    )
    @refuses(
        "dispute_followed",
        "dispute_open",
        "dispute_undecided",
        "flag_answered",
        "round_not_opened",
        "round_not_settled",
    )
    def post(self, request: Request, flag: UUID) -> Response:
        """Raise a dispute from an open flag about a round."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            dispute = disputes.raise_from_flag(flag=flag, by=self.person, reason=given["reason"])
            return 201, dispute_shown(dispute)

        return self.once(lambda: self.body(FlagDisputeShape), do)


def _one(door: Door, flag: UUID) -> Flag:
    found = in_scope(door).filter(pk=flag).first()
    if found is None:
        raise Refusal("not_found")
    return found
