"""Every no and every failure as one shape: ``application/problem+json`` (RFC 9457) with a stable ``code``.

Refusals are foreseen: answered by their own status, and witnessed. Anything else is a fault of ours: logged with the
request's id, answered with that id and nothing of the inside.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
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

from casino import events
from casino.api import door, problems, wording
from casino.platform import refusals
from casino.platform.refusals import Refusal

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
    return problems.answer(refusal, request)


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
        return wording.refusal_of(raised)
    if isinstance(raised, exceptions.PermissionDenied) and "CSRF" in str(raised.detail):
        return Refusal("csrf_failed")
    code = next((code for kind, code in _FORESEEN if isinstance(raised, kind)), None)
    return Refusal(code) if code else None


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
        with events.act(actor=actor, request_id=problems.request_id(request), now=timezone.now()):
            door.witness_refusal(refusal, method=str(request.method), path=request.path)
    except Exception:
        # The refusal stands whether or not it could be written down.
        log.exception("a refusal could not be witnessed")


# What is answered before any door was found, or where none is: Django's own pages, and under /api/ the same shape.


def _of_the_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _problem(request: HttpRequest, code: str) -> HttpResponse:
    document = problems.document(Refusal(code), request)
    return JsonResponse(
        document,
        status=document["status"],
        headers={"Content-Language": problems.language_of(request)},
        content_type=problems.MEDIA_TYPE,
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
