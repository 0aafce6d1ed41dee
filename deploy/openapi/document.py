"""The description as one document, made once in each process."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from deploy import errors  # noqa: F401  registers what a failure of ours is answered with
from deploy.openapi import events, examples, messages, problems, security


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    """Return the description; the same object each time, so do not change it."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    components = made["components"]
    components["schemas"] |= {"Problem": problems.problem(), **events.components(), **messages.components()}
    examples.show(made["paths"])
    made["webhooks"] = messages.webhooks()
    components["securitySchemes"] = security.schemes()
    return made
