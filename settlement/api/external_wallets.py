"""Doors of cashier systems that keep wallets: who they are, what is open with them, what they have not acknowledged.

No Idempotency-Key: an answer that holds a secret is kept nowhere, and everything else here may be asked twice.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Door, Money, PageQuery, Shape, SignedMoney, described, money
from casino.api.operations import refuses
from settlement import external_wallets
from settlement.external_wallets import cashier_systems
from settlement.models import CashierSystem, ExternalCall, ExternalHold
from settlement.webhooks import signing, targets


class OpenQuery(PageQuery):
    """Of which cashier system."""

    system = serializers.RegexField(r"^[a-z0-9_]{1,30}\Z", required=False, help_text="by its code")


class ApprovalShape(Shape):
    badge = serializers.CharField(max_length=40, help_text="of the manager who agrees")
    pin = serializers.CharField(max_length=200)


class CashierSystemShape(ApprovalShape):
    code = serializers.RegexField(r"^[a-z0-9_]{1,30}\Z")
    prefix = serializers.RegexField(
        r"^[A-Za-z0-9]{1,20}[-_]\Z", help_text="royal-: it keeps player:royal-… for ever"
    )
    url = serializers.CharField(max_length=400)
    dialect = serializers.ChoiceField(CashierSystem.Dialect.values)

    def validate_code(self, code: str) -> str:
        if code == "cash":
            raise serializers.ValidationError("is the cage's own", "invalid_value")
        return code


_SYSTEM: dict[str, Any] = {
    "code": serializers.CharField(),
    "prefix": serializers.CharField(),
    "url": serializers.CharField(),
    "dialect": serializers.ChoiceField(CashierSystem.Dialect.values),
    "enabled": serializers.BooleanField(),
    "set_at": serializers.DateTimeField(),
    "public_key": serializers.CharField(help_text="checks v1a signatures"),
}
SystemShown = described("CashierSystem", _SYSTEM)
SystemMade = described(
    "CashierSystemMade",
    _SYSTEM | {"secret": serializers.CharField(help_text="shown this once; checks v1 signatures")},
)
MirrorShown = described(
    "CashierSystemMirror",
    {
        "system": serializers.CharField(),
        "table": serializers.CharField(),
        "balance": SignedMoney(help_text="what the system has of the table's play"),
        "unacknowledged": SignedMoney(help_text="of it, what it was not told for certain"),
        "calls": serializers.IntegerField(),
        "oldest": serializers.DateTimeField(allow_null=True),
    },
)


def _system(system: CashierSystem) -> dict[str, Any]:
    return {
        "code": system.code,
        "prefix": system.prefix,
        "url": system.url,
        "dialect": system.dialect,
        "enabled": system.enabled,
        "set_at": system.set_at.isoformat(),
        "public_key": signing.unlock(system.secret).public,
    }


class CashierSystems(Door):
    """Cashier systems that keep wallets themselves."""

    declares: ClassVar = {"GET": "read_cashier_systems", "POST": "set_cashier_systems"}

    @extend_schema(
        operation_id="listCashierSystems",
        responses={200: described("CashierSystems", {"systems": SystemShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List them by code; secrets are nowhere."""
        return Response({"systems": [_system(row) for row in CashierSystem.objects.order_by("code")[:200]]})

    @extend_schema(operation_id="letCashierSystemIn", request=CashierSystemShape, responses={201: SystemMade})
    @refuses("sod_violation", "target_refused")
    def post(self, request: Request) -> Response:
        """Let one in at an approved address, with a manager's badge and PIN: it keeps every wallet of its prefix from
        now on. Its secret is shown this once."""
        given = self.body(CashierSystemShape)
        second, by = self.second_person(given), self.person
        wanted = cashier_systems.Wanted(
            code=given["code"],
            prefix=given["prefix"],
            url=given["url"],
            target=targets.look_at(given["url"]),
            dialect=given["dialect"],
        )
        system, secret = self.act(lambda _: cashier_systems.let_in(wanted, by=by, approved_by=second))
        return Response(_system(system) | {"secret": secret.symmetric}, status=201)


class CashierSystemEnabling(Door):
    """A system that is asked for holds again."""

    declares: ClassVar = {"POST": "set_cashier_systems"}

    @extend_schema(operation_id="enableCashierSystem", request=ApprovalShape, responses={200: SystemShown})
    @refuses("sod_violation")
    def post(self, request: Request, code: str) -> Response:
        """Ask it for holds again, with a manager's badge and PIN."""
        second, by = self.second_person(self.body(ApprovalShape)), self.person
        return Response(
            _system(self.act(lambda _: cashier_systems.enable(code=code, by=by, approved_by=second)))
        )


class CashierSystemDisabling(Door):
    """A system that is asked for no hold."""

    declares: ClassVar = {"POST": "set_cashier_systems"}

    @extend_schema(operation_id="disableCashierSystem", request=None, responses={200: SystemShown})
    def post(self, request: Request, code: str) -> Response:
        """Ask it for no hold from now on; what it is owed is told all the same. One person is enough."""
        by = self.person
        return Response(_system(self.act(lambda _: cashier_systems.disable(code=code, by=by))))


class CashierSystemRotation(Door):
    """A new secret of a system."""

    declares: ClassVar = {"POST": "set_cashier_systems"}

    @extend_schema(
        operation_id="rotateCashierSystemSecret", request=ApprovalShape, responses={201: SystemMade}
    )
    @refuses("sod_violation")
    def post(self, request: Request, code: str) -> Response:
        """Sign with a new secret from now on, shown this once."""
        second, by = self.second_person(self.body(ApprovalShape)), self.person
        system, secret = self.act(lambda _: cashier_systems.rotate(code=code, by=by, approved_by=second))
        return Response(_system(system) | {"secret": secret.symmetric}, status=201)


class Mirrors(Door):
    """What cashier systems have of the tables' play."""

    declares: ClassVar = {"GET": "read_cashier_systems"}

    @extend_schema(
        operation_id="listCashierSystemMirrors",
        responses={200: described("CashierSystemMirrors", {"mirrors": MirrorShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List mirrors by system and table, and how much of each is not acknowledged."""
        return Response(
            {
                "mirrors": [
                    {
                        "system": one.system,
                        "table": one.table,
                        "balance": money(one.balance, one.currency),
                        "unacknowledged": money(one.unacknowledged, one.currency),
                        "calls": one.calls,
                        "oldest": one.oldest.isoformat() if one.oldest else None,
                    }
                    for one in external_wallets.mirrors()
                ]
            }
        )


HoldShown = described(
    "ExternalHold",
    {
        "id": serializers.UUIDField(),
        "system": serializers.CharField(),
        "round": serializers.UUIDField(),
        "wager": serializers.CharField(),
        "account": serializers.CharField(),
        "stake": Money(),
        "exposure": Money(),
        "state": serializers.ChoiceField(["asked", "held"]),
        "asked_at": serializers.DateTimeField(),
    },
)


class OpenHolds(Door):
    """What is set aside elsewhere, or was asked for."""

    declares: ClassVar = {"GET": "read_cashier_systems"}
    queries: ClassVar = {"GET": OpenQuery}

    @extend_schema(
        operation_id="listExternalHolds",
        responses={
            200: described(
                "ExternalHolds",
                {"holds": HoldShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    @refuses("invalid_value", "not_found")
    def get(self, request: Request) -> Response:
        """List holds that are not over, oldest first."""
        found = ExternalHold.objects.filter(ended_at=None).select_related("system")
        return _page(self, found, "holds", "system__code", _hold)


def _hold(hold: ExternalHold) -> dict[str, Any]:
    return {
        "id": str(hold.id),
        "system": hold.system.code,
        "round": str(hold.round_id),
        "wager": hold.wager,
        "account": hold.account,
        "stake": money(hold.stake, hold.currency),
        "exposure": money(hold.exposure, hold.currency),
        "state": hold.state,
        "asked_at": hold.asked_at.isoformat(),
    }


CallShown = described(
    "ExternalCall",
    {
        "id": serializers.UUIDField(help_text="its Idempotency-Key"),
        "system": serializers.CharField(),
        "hold": serializers.UUIDField(),
        "round": serializers.UUIDField(),
        "wager": serializers.CharField(),
        "verb": serializers.ChoiceField(ExternalCall.Verb.values),
        "revision": serializers.IntegerField(),
        "moves": SignedMoney(),
        "written_at": serializers.DateTimeField(),
        "age_seconds": serializers.IntegerField(),
        "state": serializers.ChoiceField(["due", "claimed"]),
        "due_at": serializers.DateTimeField(),
        "attempts": serializers.IntegerField(),
        "last_result": serializers.CharField(allow_blank=True),
    },
)


class OpenCalls(Door):
    """What cashier systems have not acknowledged."""

    declares: ClassVar = {"GET": "read_cashier_systems"}
    queries: ClassVar = {"GET": OpenQuery}

    @extend_schema(
        operation_id="listExternalCalls",
        responses={
            200: described(
                "ExternalCalls",
                {"calls": CallShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    @refuses("invalid_value", "not_found")
    def get(self, request: Request) -> Response:
        """List calls that were not acknowledged, oldest first, with their age."""
        found = ExternalCall.objects.exclude(state="acknowledged").select_related("hold__system")
        return _page(self, found, "calls", "hold__system__code", _call)


def _call(call: ExternalCall) -> dict[str, Any]:
    return {
        "id": str(call.id),
        "system": call.hold.system.code,
        "hold": str(call.hold_id),
        "round": str(call.hold.round_id),
        "wager": call.hold.wager,
        "verb": call.verb,
        "revision": call.revision,
        "moves": money(call.moves, call.hold.currency),
        "written_at": call.written_at.isoformat(),
        "age_seconds": int((timezone.now() - call.written_at).total_seconds()),
        "state": call.state,
        "due_at": call.due_at.isoformat(),
        "attempts": call.attempts,
        "last_result": call.last_result,
    }


class CallReplay(Door):
    """A call that is sent now."""

    declares: ClassVar = {"POST": "replay_calls"}

    @extend_schema(operation_id="replayExternalCall", request=None, responses={200: CallShown})
    @refuses("call_acknowledged")
    def post(self, request: Request, call: UUID) -> Response:
        """Make a call due now, under the key it has: whatever it did at the other side, it does once."""
        found = self.act(lambda _: external_wallets.replay(call))
        return Response(_call(found))


def _page(door: Door, found: QuerySet[Any], name: str, system: str, shown: Any) -> Response:
    """Answer a page of rows by their ids, which sort by the time they were made."""
    page = door.page
    if "system" in door.query:
        found = found.filter(**{system: door.query["system"]})
    if page.cursor:
        found = found.filter(id__gt=page.cursor)
    listed, last = page.cut(found.order_by("id"))
    return Response({name: [shown(row) for row in listed], "next": str(last.id) if last else None})
