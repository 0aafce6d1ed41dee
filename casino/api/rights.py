"""Who knocks at a door, and whether they may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission

from casino import devices, events, keys, origins, people
from casino.events import Principal
from casino.models import ApiKey, Device
from casino.platform.refusals import Refusal

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
        if isinstance(request.auth, ApiKey) and not keys.admits(
            request.auth, origins.address_of(request._request)
        ):
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
    """Return under which origin a request's tries at a secret are counted: a device's own, else its address."""
    if isinstance(request.auth, Device):
        return origins.of_device(request.auth.code)
    return origins.of_address(origins.address_of(request._request))
