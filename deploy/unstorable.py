"""What the database cannot keep is refused before anybody looks it up: a NUL in a page's address, or in a cookie."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse


class NoNul:
    """Answers 404 where the address of a page has a NUL in it, 400 where its query or a cookie has. The doors of the
    interface look at their own addresses, and name the field."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if any("\0" in given for given in request.COOKIES.values()):
            raise BadRequest("a NUL in a cookie")
        if not request.path_info.startswith("/api/"):
            if "\0" in request.path_info:
                raise Http404
            if any("\0" in text for name, texts in request.GET.lists() for text in (name, *texts)):
                raise BadRequest("a NUL in the query")
        return self.get_response(request)
