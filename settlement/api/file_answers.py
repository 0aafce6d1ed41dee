"""Answers that are files: ready written, to be kept; a refusal stays the problem document that it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response


class Written(JSONRenderer):
    """Bytes go out as they are; whatever else is asked for in this form is a refusal, and JSON."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if isinstance(data, bytes):
            return data
        written: bytes = super().render(data, accepted_media_type, renderer_context)
        return written


class Csv(Written):
    """``text/csv``, or ``?format=csv``."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"


class Camt(Written):
    """``application/xml``, or ``?format=camt.053``."""

    media_type = "application/xml"
    format = "camt.053"
    charset = None


def attachment(content: bytes, *, name: str) -> Response:
    """Answer with a file; ``name`` has no character that a header could not hold."""
    return Response(content, headers={"Content-Disposition": f'attachment; filename="{name}"'})
