"""A refusal as an answer: ``application/problem+json`` (RFC 9457), Thai or English."""

from __future__ import annotations

from typing import Any

from django.utils.translation import get_language_from_request
from rest_framework.response import Response

from casino.api import wording
from casino.platform.refusals import Refusal

MEDIA_TYPE = "application/problem+json"


def request_id(request: Any) -> str:
    """Return the id that the service gave the request."""
    return str(getattr(request, "request_id", ""))


def language_of(request: Any) -> str:
    """Return the language that a request asks for: ``th`` or ``en``."""
    return "th" if get_language_from_request(request).startswith("th") else "en"


def problem_of(refusal: Refusal, language: str = "en") -> dict[str, Any]:
    """Return a refusal as a problem document, without the request's own members."""
    document: dict[str, Any] = {
        "type": f"urn:pokdeng:refusal:{refusal.code}",
        "title": refusal.sentence(language),
        "status": refusal.status,
        "code": refusal.code,
    }
    if refusal.fields:
        document["fields"] = {path: wording.said(why, language) for path, why in refusal.fields.items()}
    return document | {name: value for name, value in refusal.extra.items() if name not in document}


def document(refusal: Refusal, request: Any) -> dict[str, Any]:
    """Return the whole problem document that answers this request."""
    return problem_of(refusal, language_of(request)) | {
        "instance": request.path,
        "request_id": request_id(request),
    }


def answer(refusal: Refusal, request: Any) -> Response:
    """Return a refusal as the answer to this request."""
    headers = {"Content-Language": language_of(request)}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.status in (429, 503):
        headers["Retry-After"] = str(refusal.extra.get("retry_after", 2))
    return Response(
        document(refusal, request), status=refusal.status, headers=headers, content_type=MEDIA_TYPE
    )
