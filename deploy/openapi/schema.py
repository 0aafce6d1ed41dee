"""An operation's description from its door: body, answers, refusals, who may. drf-spectacular's schema class."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.openapi import AutoSchema

from casino.api import operations
from deploy.openapi import problems, security

SECRETS = frozenset({"pin", "password"})
REPLAYED = {
    "Idempotency-Replayed": {
        "schema": {"const": "true"},
        "description": "this is the first answer to the key, byte for byte; nothing was done again",
    }
}


class Described(AutoSchema):
    """Adds to what drf-spectacular finds what the doors of this house share."""

    def get_override_parameters(self) -> list[Any]:
        """The query is read by the shape that the door declares for the method, and so is described by it."""
        shape = getattr(self.view, "queries", {}).get(self.method)
        return [*super().get_override_parameters(), *([shape] if shape else [])]

    def map_parsers(self) -> list[str]:
        # Doors read their bodies themselves, strictly; DRF's parsers are switched off.
        return ["application/json"]

    def get_summary(self) -> str:
        """The first sentence of the method's docstring."""
        return _sentences(super().get_description())[0]

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        rest = _sentences(super().get_description())[1]
        who = security.who(operations.right_of(self.view, self.method))
        return f"{rest}\n\n{who}" if rest else who

    def get_auth(self) -> list[dict[str, list[str]]]:
        right = operations.right_of(self.view, self.method)
        return security.requirements(right, writes=self.method not in ("GET", "HEAD"))

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        operation.setdefault("security", [])
        parameters = operation.get("parameters", [])
        keyed = any(one["name"] == "Idempotency-Key" for one in parameters)
        if keyed:
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    answer.setdefault("headers", {}).update(REPLAYED)
        operation["responses"] |= problems.answers(
            operations.codes(
                self.view,
                self.method,
                named=any(one["in"] == "path" for one in parameters),
                dated=any(one["in"] == "path" and one["name"] == "day" for one in parameters),
                query=any(one["in"] == "query" for one in parameters),
                body="requestBody" in operation,
                secret=self._has_secret(),
                keyed=keyed,
            )
        )
        return operation

    def _map_basic_serializer(self, serializer: Any, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        if direction == "request":
            schema["additionalProperties"] = False
        return schema

    def _has_secret(self) -> bool:
        shape = self.get_request_serializer() if self.method not in ("GET", "HEAD", "DELETE") else None
        shape = shape() if isinstance(shape, type) else shape
        return bool(SECRETS & set(getattr(shape, "fields", ())))


def _sentences(text: str) -> tuple[str, str]:
    """Return the first sentence without its full stop, and the rest."""
    plain = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    first, _, rest = plain.partition(". ")
    further = "\n\n".join([rest, *text.split("\n\n")[1:]]).strip()
    return re.sub(r"\.$", "", first), further
