"""The description as a door serves it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from casino.api.door import Door
from deploy.openapi.document import document


@lru_cache(maxsize=1)
def _bytes() -> bytes:
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":"), default=str).encode()


class Schema(Door):
    """The description of the interface."""

    declares: ClassVar = {"GET": "public"}

    @extend_schema(exclude=True)
    def get(self, _: Request) -> HttpResponse:
        """Serve the description; it is the same for everybody."""
        return HttpResponse(_bytes(), content_type="application/vnd.oai.openapi+json")
