"""Who knocks at a door, and whether they may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.permissions import BasePermission

from casino import devices, events, keys, people
from casino.events import Principal
from casino.models import ApiKey, Device
from casino.refusals import Refusal

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView


class Declared(BasePermission):
    """Deny by default: a door names the right it needs for each method, and who asks must hold it somewhere.
    Where exactly (the table, the object) is asked by the door once it knows."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        declared: Mapping[str, str] = getattr(view, "declares", {})
        # What may be read may be asked for without its body.
        right = declared.get("GET" if request.method == "HEAD" else request.method or "")
        if right is None:
            raise Refusal("method_not_allowed" if declared else "forbidden")
        if isinstance(request.auth, ApiKey) and not keys.admits(request.auth, origin(request)):
            raise Refusal("forbidden")
        if right != "public":
            people.require(principal(request), right)
        return True


def principal(request: Request) -> Principal:
    """Return who knocks: a device by its token, a system by its key, a person by their session, or nobody."""
    if isinstance(request.auth, Device):
        return devices.principal_of(request.auth)
    if isinstance(request.auth, ApiKey):
        return keys.principal_of(request.auth)
    if request.user.is_authenticated:
        return people.principal_of(request.user)
    return events.NOBODY


def origin(request: Request) -> str:
    """Return the address that a request comes from: its peer's or, behind the house's own proxy, the one that this
    proxy saw. What a caller says of itself in a header is not believed."""
    seen = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_PROXY else ""
    return str(seen.rpartition(",")[2] or request.META.get("REMOTE_ADDR", "")).strip()
