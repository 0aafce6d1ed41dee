"""What is done with every request before anybody looks at it: words that are not to be believed are dropped, and
sessions that are over end.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from casino import origins
from casino.people import sessions

Next = Callable[[HttpRequest], HttpResponse]

_OF_THE_PROXY = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")
_NEVER = (
    "HTTP_FORWARDED", "HTTP_X_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_CLIENT_IP", "HTTP_X_CLUSTER_CLIENT_IP",
    "HTTP_TRUE_CLIENT_IP", "HTTP_REMOTE_USER", "HTTP_X_REMOTE_USER",
    # Certificates of callers, which a proxy that asks for them would name so.
    "HTTP_X_CLIENT_CERT", "HTTP_CLIENT_CERT", "HTTP_X_SSL_", "HTTP_SSL_",
)  # fmt: skip
"""Beginnings of names that say who is calling, or how; the two of a proxy's are looked at apart."""


class OnlyOurProxy:
    """Drops what a caller says of where it comes from, of its scheme and of its certificate; from the house's own
    proxy two headers stay (``casino.origins``)."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_proxy = origins.is_our_proxy(str(request.META.get("REMOTE_ADDR", "")).strip())
        for name in [name for name in request.META if name.startswith(_NEVER)]:
            if not (is_proxy and name in _OF_THE_PROXY):
                del request.META[name]
        return self.get_response(request)


class Sessions:
    """Ends sessions that rested too long, and writes down when new ones began. A request without a session's cookie
    costs nothing."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            sessions.keep(request, now=timezone.now())
        response = self.get_response(request)
        sessions.begin_if_new(request, now=timezone.now())
        return response
