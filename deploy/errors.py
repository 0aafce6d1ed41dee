"""Every no and every failure as one shape: ``application/problem+json`` (RFC 9457) with a stable ``code``.

Refusals are foreseen: answered by their own status, and witnessed. Anything else is a fault of ours: logged with the
request's id, answered with that id and nothing of the inside.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    JsonResponse,
    RawPostDataException,
    UnreadablePostError,
)
from django.http.multipartparser import MultiPartParserError
from django.utils import timezone
from django.views import defaults
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

NOT_WITNESSED = frozenset({"not_signed_in", "invalid_token", "wrong_code", "wrong_secret", "too_many_tries"})
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


_FORESEEN: tuple[tuple[type[Exception], str], ...] = (
    (Http404, "not_found"),
    (exceptions.NotFound, "not_found"),
    (RequestDataTooBig, "body_too_large"),
    # A form was read while its CSRF token was looked for; no door takes one.
    (RawPostDataException, "unsupported_media_type"),
    (MultiPartParserError, "unsupported_media_type"),
    (exceptions.UnsupportedMediaType, "unsupported_media_type"),
    (exceptions.ParseError, "malformed"),
    (BadRequest, "malformed"),
    (SuspiciousOperation, "malformed"),
    (UnreadablePostError, "malformed"),
    (exceptions.NotAuthenticated, "not_signed_in"),
    (exceptions.AuthenticationFailed, "not_signed_in"),
    (PermissionDenied, "forbidden"),
    (exceptions.PermissionDenied, "forbidden"),
    (exceptions.MethodNotAllowed, "method_not_allowed"),
    (exceptions.NotAcceptable, "not_acceptable"),
)


def _refusal_of(raised: Exception) -> Refusal | None:
    """Return what the framework raised as a refusal; None for what nobody foresaw."""
    if isinstance(raised, Refusal):
        return raised
    if isinstance(raised, exceptions.ValidationError):
        return _of_validation(raised)
    if isinstance(raised, exceptions.PermissionDenied) and "CSRF" in str(raised.detail):
        return Refusal("csrf_failed")
    code = next((code for kind, code in _FORESEEN if isinstance(raised, kind)), None)
    return Refusal(code) if code else None


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
    """Write a refusal down; not what a stranger is told, who could fill the log.

    Whoever fails for a missing form token had a session, though they are nobody by now.
    """
    try:
        actor = door.principal(request)
    except Refusal:
        return  # a forged token, refused for something else before it was looked at
    if actor.kind == "public" and refusal.code != "csrf_failed":
        return
    try:
        with events.act(actor=actor, request_id=door.request_id(request), now=timezone.now()):
            door.witness_refusal(refusal, method=str(request.method), path=request.path)
    except Exception:
        # The refusal stands whether or not it could be written down.
        log.exception("a refusal could not be witnessed")


def _answer(refusal: Refusal, request: Any) -> Response:
    language = door.language_of(request)
    document = door.problem_of(refusal, language) | {
        "instance": request.path,
        "request_id": door.request_id(request),
    }
    headers = {"Content-Language": language}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.status in (429, 503):
        headers["Retry-After"] = str(refusal.extra.get("retry_after", 2))
    return Response(document, status=refusal.status, headers=headers, content_type="application/problem+json")


# What is answered before any door was found, or where none is: Django's own pages, and under /api/ the same shape.


def _of_the_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _problem(request: HttpRequest, code: str) -> HttpResponse:
    language = door.language_of(request)
    document = door.problem_of(Refusal(code), language) | {
        "instance": request.path,
        "request_id": str(getattr(request, "request_id", "")),
    }
    return JsonResponse(
        document,
        status=document["status"],
        headers={"Content-Language": language},
        content_type="application/problem+json",
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _of_the_api(request):
        return _problem(request, "malformed")
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _of_the_api(request):
        return _problem(request, "not_found")
    return defaults.page_not_found(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _of_the_api(request):
        return _problem(request, "forbidden")
    return defaults.permission_denied(request, exception)


def failed(request: HttpRequest) -> HttpResponse:
    if _of_the_api(request):
        return _problem(request, "internal_error")
    return defaults.server_error(request)
