"""A name for every request, made here: one sent from outside is not believed, or it could forge an entry's origin."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from deploy import logs


class RequestIds:
    """Sets `request.request_id`, the log lines' id and the answer's `X-Request-Id`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = uuid.uuid4().hex
        request.request_id = name  # type: ignore[attr-defined]
        token = logs.request_id.set(name)
        try:
            response = self.get_response(request)
        finally:
            logs.request_id.reset(token)
        response["X-Request-Id"] = name
        return response
