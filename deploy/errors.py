"""Every no and every failure as one shape: ``application/problem+json`` (RFC 9457) with a stable ``code``.

Refusals are foreseen: answered by their own status, and witnessed. Anything else is a fault of ours: logged with the
request's id, answered with that id and nothing of the inside.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from django.utils import timezone, translation
from rest_framework import exceptions
from rest_framework.response import Response

from casino import events, refusals
from casino.api import door
from casino.refusals import Refusal

log = logging.getLogger("pokdeng.errors")

refusals.register(
    "internal_error", 500, "Something failed here; nothing was half done.", "ระบบขัดข้อง ไม่มีอะไรค้างครึ่งทาง"
)
refusals.register(
    "unavailable", 503, "The database cannot be reached; try again.", "ติดต่อฐานข้อมูลไม่ได้ ลองใหม่อีกครั้ง"
)

NOT_WITNESSED = frozenset({"not_signed_in", "invalid_token", "wrong_secret", "too_many_tries"})
"""Counted by the throttle instead: a flood of them must not become a flood of entries."""


def problem(raised: Exception, context: Mapping[str, Any]) -> Response:
    """Answer whatever a JSON door raised; DRF's exception handler."""
    request = context["request"]
    refusal = _refusal_of(raised)
    if refusal is None:
        log.error("unexpected failure at %s %s", request.method, request.path, exc_info=raised)
        down = isinstance(raised, (OperationalError, InterfaceError))
        refusal = Refusal("unavailable" if down else "internal_error")
    elif refusal.code not in NOT_WITNESSED and not refusal.witnessed:
        _witness(refusal, request)
    return _answer(refusal, request)


def _refusal_of(raised: Exception) -> Refusal | None:
    match raised:
        case Refusal():
            return raised
        case exceptions.ValidationError():
            return _of_validation(raised)
        case Http404() | exceptions.NotFound():
            return Refusal("not_found")
        case exceptions.ParseError():
            return Refusal("malformed")
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Refusal("not_signed_in")
        case exceptions.PermissionDenied() if "CSRF" in str(raised.detail):
            return Refusal("csrf_failed")
        case PermissionDenied() | exceptions.PermissionDenied():
            return Refusal("forbidden")
        case exceptions.MethodNotAllowed():
            return Refusal("method_not_allowed")
        case exceptions.UnsupportedMediaType():
            return Refusal("unsupported_media_type")
        case exceptions.NotAcceptable():
            return Refusal("not_acceptable")
    return None


_CODES = {"required": "missing_field", "unknown_field": "unknown_field"}
_NOT_ALLOWED = frozenset(
    {"min_value", "max_value", "max_length", "min_length", "invalid_choice", "blank", "empty", "not_allowed"}
)


def _of_validation(raised: exceptions.ValidationError) -> Refusal:
    """The first of its kind decides code and status: what cannot be read goes before what is not allowed."""
    found = list(_flat(raised.get_full_details(), ""))
    codes = [
        _CODES.get(code, "invalid_value" if code in _NOT_ALLOWED else "malformed") for _, _, code in found
    ]
    order = ("malformed", "unknown_field", "missing_field", "invalid_value")
    code = min(codes, key=order.index, default="malformed")
    return Refusal(code, fields={path: message for path, message, _ in found})


def _flat(details: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(details, dict) and set(details) == {"message", "code"} and isinstance(details["code"], str):
        yield path, str(details["message"]), details["code"]
    elif isinstance(details, dict):
        for name, inner in details.items():
            here = "" if name == "non_field_errors" else str(name)
            yield from _flat(inner, f"{path}.{here}" if path and here else path or here)
    elif isinstance(details, list):
        for place, inner in enumerate(details):
            # A list of messages about one field; a list field's own items come as a dict of places.
            yield from _flat(inner, path if "message" in inner else f"{path}.{place}")


def _witness(refusal: Refusal, request: Any) -> None:
    try:
        with events.act(
            actor=door.principal(request), request_id=door.request_id(request), now=timezone.now()
        ):
            door.witness_refusal(refusal, method=str(request.method), path=request.path)
    except Exception:
        # The refusal stands whether or not it could be written down.
        log.exception("a refusal could not be witnessed")


def _answer(refusal: Refusal, request: Any) -> Response:
    language = translation.get_language_from_request(request)
    document = door.problem_of(refusal, language) | {
        "instance": request.path,
        "request_id": door.request_id(request),
    }
    headers = {"Content-Language": "th" if language.startswith("th") else "en"}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.status in (429, 503):
        headers["Retry-After"] = str(refusal.extra.get("retry_after", 2))
    return Response(document, status=refusal.status, headers=headers, content_type="application/problem+json")


def _page(request: HttpRequest, code: str) -> JsonResponse:
    language = translation.get_language_from_request(request)
    document = door.problem_of(Refusal(code), language) | {
        "instance": request.path,
        "request_id": str(getattr(request, "request_id", "")),
    }
    return JsonResponse(document, status=document["status"], content_type="application/problem+json")


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001 - Django passes it
    return _page(request, "malformed")


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001 - Django passes it
    return _page(request, "not_found")


def forbidden(request: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001 - Django passes it
    return _page(request, "forbidden")


def failed(request: HttpRequest) -> JsonResponse:
    return _page(request, "internal_error")
