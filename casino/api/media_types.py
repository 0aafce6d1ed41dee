"""As what a body was sent: its media type, in whatever case it was written, and in which letters."""

from __future__ import annotations

from typing import Any

from django.utils.http import parse_header_parameters

from casino.platform.refusals import Refusal

JSON = "application/json"
_UTF_8 = frozenset({"utf-8", "utf8"})


def of(request: Any) -> str:
    """Return a body's media type in lower case, its parameters left out.

    Refuses ``unsupported_media_type`` where it says that it is written in another charset than UTF-8.
    """
    media_type, parameters = parse_header_parameters(request.content_type or "")
    if parameters.get("charset", "utf-8").lower() not in _UTF_8:
        raise Refusal("unsupported_media_type", fields={"Content-Type": "charset=utf-8, or none"})
    return str(media_type)
