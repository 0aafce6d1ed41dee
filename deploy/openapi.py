"""How callers sign in, as the description of the interface names it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object


class BearerToken(OpenApiAuthenticationExtension):
    target_class = "casino.api.door.BearerToken"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002
        scheme = build_bearer_security_scheme_object(header_name="Authorization", token_prefix="Bearer")  # noqa: S106
        return {
            **scheme,
            "description": "A terminal's or camera's token, or the key of a cashier system (pdk_…).",
        }


class SignedIn(OpenApiAuthenticationExtension):
    target_class = "casino.api.door.SignedIn"
    name = "person"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002
        from django.conf import settings

        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "A person's session; writes carry X-CSRFToken as well.",
        }
