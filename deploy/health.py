"""Whether this process can do its work, for the proxy and the starter."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 with the database reachable, else 503. The broker is not asked: without it acts are still answered."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "no database"}, status=503, headers={"Retry-After": "5"})
    return JsonResponse({"status": "ok"})
