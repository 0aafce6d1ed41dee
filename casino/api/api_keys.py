"""Doors of the keys of other systems: made by an administrator with a manager's badge and PIN, shown once."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import keys, people
from casino.api.door import Door, Instant, PageQuery, Shape, described
from casino.api.operations import refuses
from casino.keys import Wanted
from casino.models import ApiKey


def _codes() -> serializers.Field[Any, Any, Any, Any]:
    return serializers.ListField(
        child=serializers.RegexField(r"^[A-Z0-9]{1,20}\Z"), max_length=200, required=False, default=list
    )


class KeyShape(Shape):
    system = serializers.RegexField(r"^[a-z0-9_]{1,30}\Z")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(sorted(people.scopes_of_keys())), min_length=1, max_length=40
    )
    tables = _codes()
    cages = _codes()
    wallets = serializers.ChoiceField(
        ApiKey.Wallets.values,
        required=False,
        default=ApiKey.Wallets.NONE.value,
        help_text="none, own (of the system's prefix, or opened by its first deposit), or all",
    )
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=50),
        min_length=1,
        max_length=50,
        help_text="ranges as 203.0.113.0/24, none wider than /8 (/16 of IPv6)",
    )
    expires_at = Instant()
    badge = serializers.CharField(max_length=40, help_text="of the manager who agrees")
    pin = serializers.CharField(max_length=200)


class RotationShape(Shape):
    expires_at = Instant()
    badge = serializers.CharField(max_length=40, help_text="of the manager who agrees")
    pin = serializers.CharField(max_length=200)


_SHOWN: dict[str, Any] = {
    "id": serializers.UUIDField(),
    "system": serializers.CharField(),
    "scopes": serializers.ListField(child=serializers.ChoiceField(sorted(people.scopes_of_keys()))),
    "tables": serializers.ListField(child=serializers.CharField()),
    "cages": serializers.ListField(child=serializers.CharField()),
    "wallets": serializers.ChoiceField(ApiKey.Wallets.values),
    "addresses": serializers.ListField(child=serializers.CharField()),
    "expires_at": serializers.DateTimeField(),
    "replaces": serializers.UUIDField(allow_null=True),
    "created_at": serializers.DateTimeField(),
    "created_by": serializers.CharField(help_text="badge"),
    "approved_by": serializers.CharField(help_text="badge"),
    "revoked_at": serializers.DateTimeField(allow_null=True),
    "last_used_at": serializers.DateTimeField(allow_null=True),
}
KeyShown = described("ApiKey", _SHOWN)
KeyMade = described("ApiKeyMade", _SHOWN | {"key": serializers.CharField(help_text="shown this once")})


def _shown(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "system": key.system,
        "scopes": key.scopes,
        "tables": key.tables,
        "cages": key.cages,
        "wallets": key.wallets,
        "addresses": key.addresses,
        "expires_at": key.expires_at,
        "replaces": str(key.replaces_id) if key.replaces_id else None,
        "created_at": key.created_at,
        "created_by": key.created_by.badge,
        "approved_by": key.approved_by.badge,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }


class Keys(Door):
    """Keys of other systems."""

    declares: ClassVar = {"GET": "read_keys", "POST": "make_keys"}
    queries: ClassVar = {"GET": PageQuery}

    @extend_schema(
        operation_id="listKeys",
        responses={
            200: described(
                "ApiKeys", {"keys": KeyShown(many=True), "next": serializers.CharField(allow_null=True)}
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List a page of keys, revoked ones too, newest first; the keys themselves are nowhere."""
        page = self.page
        found = ApiKey.objects.select_related("created_by", "approved_by").order_by("-id")
        if page.cursor:
            found = found.filter(id__lt=page.cursor)
        listed, last = page.cut(found)
        return Response(
            {
                "keys": [_shown(key) for key in listed],
                "next": str(last.id) if last else None,
            }
        )

    @extend_schema(operation_id="makeKey", request=KeyShape, responses={201: KeyMade})
    @refuses("second_person_forbidden", "sod_violation")
    def post(self, request: Request) -> Response:
        """Make a key with a manager's badge and PIN. There is no Idempotency-Key: an answer that holds a key is kept
        nowhere, and a key whose answer was lost is revoked."""
        given = self.body(KeyShape)
        second, by = self.second_person(given), self.person
        wanted = Wanted(
            scopes=given["scopes"], addresses=given["addresses"], expires_at=given["expires_at"],
            tables=given["tables"], cages=given["cages"], wallets=given["wallets"],
        )  # fmt: skip
        key, text = self.act(
            lambda _: keys.make(system=given["system"], wanted=wanted, by=by, approved_by=second)
        )
        return Response(_shown(key) | {"key": text}, status=201)


class KeyRotation(Door):
    """The key that takes another's place."""

    declares: ClassVar = {"POST": "make_keys"}

    @extend_schema(operation_id="rotateKey", request=RotationShape, responses={201: KeyMade})
    @refuses("key_over", "key_replaced", "second_person_forbidden", "sod_violation")
    def post(self, request: Request, key: UUID) -> Response:
        """Make a key good for the same; both are good until the old one is revoked or over."""
        given = self.body(RotationShape)
        second, by = self.second_person(given), self.person
        made, text = self.act(
            lambda _: keys.rotate(key=key, expires_at=given["expires_at"], by=by, approved_by=second)
        )
        return Response(_shown(made) | {"key": text}, status=201)


class KeyRevocation(Door):
    """The end of a key."""

    declares: ClassVar = {"POST": "make_keys"}

    @extend_schema(operation_id="revokeKey", request=None, responses={200: KeyShown})
    def post(self, request: Request, key: UUID) -> Response:
        """Revoke a key: its next request is refused. Asked again, the first time stands."""
        by = self.person
        return Response(_shown(self.act(lambda _: keys.revoke(key=key, by=by))))
