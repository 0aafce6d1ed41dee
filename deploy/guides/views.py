"""The guides as doors: public, Thai or English."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from django.http import HttpResponse
from django.template.loader import render_to_string
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from casino.api.door import Door, OneOf, Query
from casino.api.problems import language_of
from settlement.webhooks import schedule

_PROGRAMS = Path(__file__).parent / "programs"
PAGES = {
    "camera": ("first_event", "state", "camera"),
    "cashier-system": ("deposit", "withdraw", "balance", "receiver", "wallets"),
}
"""Each guide, and the programs on it."""


class Html(JSONRenderer):
    """Lets a browser ask for a page; what goes wrong is a problem document all the same."""

    media_type = "text/html"
    format = "html"


class LanguageQuery(Query):
    lang = OneOf(["en", "th"], required=False)


class Guide(Door):
    """One guide."""

    declares: ClassVar = {"GET": "public"}
    queries: ClassVar = {"GET": LanguageQuery}
    renderer_classes = (Html, JSONRenderer)
    name = ""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Serve the page in the language that is asked for."""
        language = self.query.get("lang", language_of(request))
        programs = {
            file.name.partition(".")[0]: file.read_text(encoding="utf-8") for file in _PROGRAMS.iterdir()
        }
        page = render_to_string(
            f"guides/{self.name}.{language}.html",
            {"programs": programs, "delays": schedule.DELAYS, "language": language, "name": self.name},
        )
        return HttpResponse(page, headers={"Content-Language": language, "Vary": "Accept-Language"})
