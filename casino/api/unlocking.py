"""The door by which a badge may be tried again."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people
from casino.api.door import Door, Shape, described
from casino.api.operations import refuses
from casino.models import Table
from casino.platform.refusals import Refusal


class UnlockShape(Shape):
    reason = serializers.CharField(max_length=500)


class Unlocking(Door):
    """A badge that has to wait after too many wrong secrets."""

    declares: ClassVar = {"POST": "unlock"}

    @extend_schema(
        operation_id="unlockBadge",
        request=UnlockShape,
        responses={
            200: described(
                "BadgeUnlocked",
                {
                    "badge": serializers.CharField(),
                    "tables": serializers.ListField(
                        child=serializers.CharField(), allow_null=True, help_text="null: everywhere"
                    ),
                },
            )
        },
    )
    @refuses("sod_violation")
    def post(self, request: Request, badge: str) -> Response:
        """End a badge's wait, with a reason: a supervisor at the terminals where on duty, others everywhere. One's own
        is another's to end. The failures stay in the log."""
        codes = self._tables()
        given = self.body(UnlockShape)
        by = self.person
        self.act(lambda _: people.unlock(badge=badge, tables=codes, reason=given["reason"], by=by))
        return Response({"badge": badge, "tables": codes})

    def _tables(self) -> list[str] | None:
        scope = people.tables_in_scope(self.principal, "unlock")
        if scope is None:
            return None
        if not scope:
            raise Refusal("not_found")
        return list(Table.objects.filter(pk__in=scope).order_by("code").values_list("code", flat=True))
