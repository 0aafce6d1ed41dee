"""Where browsers report what the Content-Security-Policy blocked: a log line, nothing stored."""

from __future__ import annotations

import logging

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

logger = logging.getLogger(__name__)
REPORT_BYTES = 8192


@csrf_exempt  # the browser sends it by itself, without a token; nothing changes by it
@require_POST
def record(request: HttpRequest) -> HttpResponse:
    length = request.headers.get("Content-Length", "0")
    if not length.isdigit() or int(length) > REPORT_BYTES:
        return HttpResponse(status=413)
    try:
        report = request.body
    except RequestDataTooBig:
        return HttpResponse(status=413)
    logger.warning(
        "content security policy blocked something", extra={"report": report.decode(errors="replace")}
    )
    return HttpResponse(status=204)
