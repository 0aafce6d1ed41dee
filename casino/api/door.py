"""What every JSON door shares: who knocks, whether they may, one act, one answer to one key.

A door parses, makes one domain call and renders. It reads the clock; nothing behind it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino import devices, events, keys, people
from casino.api import keyed, media_types, strict_json, wording
from casino.api.problems import request_id
from casino.api.rights import Declared, origin, principal
from casino.api.shapes import (
    MOST_NAMED,
    Day,
    Id,
    Instant,
    LimitQuery,
    Money,
    Number,
    OneOf,
    Page,
    PageQuery,
    Place,
    Query,
    Shape,
    SignedMoney,
    TableCode,
    Whole,
    described,
    in_path,
    money,
    read_query,
)
from casino.events import Act, Fact, Principal
from casino.models import ApiKey, Device, Person
from casino.platform import values
from casino.platform.refusals import Refusal

T = TypeVar("T")

__all__ = [
    "Day",
    "Door",
    "Id",
    "Instant",
    "LimitQuery",
    "Money",
    "Number",
    "OneOf",
    "PageQuery",
    "Place",
    "Query",
    "Shape",
    "SignedMoney",
    "TableCode",
    "Whole",
    "described",
    "in_path",
    "money",
]


class BearerToken(BaseAuthentication):
    """``Authorization: Bearer pdd_…``, the token a device was given when it was enrolled, or ``pdk_…``, the key of
    another system. One statement; from where a key may come is asked with its rights."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Device | ApiKey] | None:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = given.strip()
        if token.startswith(keys.PREFIX):
            return AnonymousUser(), keys.authenticate(token, now=timezone.now())
        return AnonymousUser(), devices.authenticate(token, now=timezone.now())

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SignedIn(SessionAuthentication):
    """A person signed in on a page or by ``/api/v1/session``; writes carry the CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        # Django's own request: it looks for a form's token first, and a door reads no forms (415).
        super().enforce_csrf(request._request)  # type: ignore[arg-type]


class Negotiated(DefaultContentNegotiation):
    """``?format=`` chooses among the forms that a door has; another is refused with the rest of the query."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        offered = list(renderers)
        return [one for one in offered if one.format == format] or offered


class Door(APIView):
    """Base of all JSON doors. ``declares`` maps each method it takes to the right it needs (``people.RIGHTS``),
    ``queries`` those that take parameters in the query to their shape: any other parameter is refused."""

    declares: ClassVar[Mapping[str, str]] = {}
    queries: ClassVar[Mapping[str, type[Query]]] = {}
    content_negotiation_class = Negotiated
    authentication_classes = (BearerToken, SignedIn)
    permission_classes = (Declared,)
    parser_classes = ()
    # No OPTIONS: no page of another origin has business here.
    http_method_names = ["get", "head", "post", "put", "delete"]  # noqa: RUF012 - as Django declares it

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Ask who knocks and whether they may; then read the query, but for that of a write.

        No name in the house has a NUL in it, and PostgreSQL would stumble over one; nor over a number larger than it
        keeps.
        """
        if "\0" in request.path or any(
            isinstance(given, int) and given > values.MOST_BIGINT for given in kwargs.values()
        ):
            raise Refusal("not_found")
        if any("\0" in text for name, texts in request.query_params.lists() for text in (name, *texts)):
            raise Refusal("malformed", fields={"": "a NUL character"})
        super().initial(request, *args, **kwargs)
        if self._asked is None or request.method in ("GET", "HEAD"):
            self.query  # noqa: B018 - refuses what cannot be read

    @property
    def _asked(self) -> type[Query] | None:
        return self.queries.get("GET" if self.request.method == "HEAD" else str(self.request.method))

    @cached_property
    def query(self) -> dict[str, Any]:
        """The query as the door's shape reads it. A write asks for it as it asks for its body: once what it is about
        was found, as what is out of scope does not exist, however it is asked for."""
        return read_query(self.request, self._asked)

    @property
    def page(self) -> Page:
        """The page that is asked for; only where the door's query is a ``PageQuery``."""
        return Page(limit=self.query["limit"], cursor=self.query.get("cursor"))

    @property
    def principal(self) -> Principal:
        return principal(self.request)

    @property
    def device(self) -> Device:
        """The device that knocks; refuses a person (``forbidden``)."""
        if not isinstance(self.request.auth, Device):
            raise Refusal("forbidden")
        return self.request.auth

    @property
    def person(self) -> Person:
        """The signed-in person; refuses a device (``forbidden``)."""
        if not isinstance(self.request.user, Person):
            raise Refusal("forbidden")
        return self.request.user

    def second_person(self, given: Mapping[str, Any]) -> Person:
        """Return whose badge and PIN stand in the body; counts failures, so call it outside of an act."""
        return self._by_pin(given["badge"], given["pin"])

    def own_pin(self, pin: str) -> None:
        """Take the acting person's own PIN, where it is asked for again; call it outside of an act."""
        self._by_pin(self.person.badge, pin)

    def _by_pin(self, badge: str, pin: str) -> Person:
        at = origin(self.request)
        return people.check_secret(badge=badge, secret=pin, with_pin=True, at=at, now=timezone.now())

    def act(self, do: Callable[[Act], T]) -> T:
        """Run ``do`` as one act of whoever knocks, retried when the database asks for it."""
        return events.attempt(
            do, actor=self.principal, request_id=request_id(self.request), now=timezone.now()
        )

    def body(self, shape: type[Shape]) -> dict[str, Any]:
        """Return the body as ``shape`` reads it; refuses unknown fields and wrong values by their path."""
        if media_types.of(self.request) != media_types.JSON:
            raise Refusal("unsupported_media_type")
        parsed = shape(data=strict_json.read(self.request.body))
        try:
            parsed.is_valid(raise_exception=True)
        except serializers.ValidationError as wrong:
            raise wording.refusal_of(wrong, parsed) from None
        return parsed.validated_data

    def once(self, prepare: Callable[[], T], do: Callable[[Act, T], tuple[int, dict[str, Any]]]) -> Response:
        """Answer one ``Idempotency-Key`` once: the same request again gets the first answer, byte for byte, and a
        refusal too, that of a body which cannot be read among them.

        The key is looked up before anything is validated. ``prepare`` then reads the body and checks secrets,
        outside of any act (a wrong secret must be counted, not rolled back); ``do`` gets what it returned, and
        answers status and body. The key is claimed inside the act and stored with it.
        """
        # A system's client is the system, whichever of its keys it uses.
        key = keyed.Key(self.request, client=f"{self.principal.kind}:{self.principal.code}")
        stored = key.stored()
        if stored is not None:
            return stored

        def claimed(act: Act) -> Response:
            again = key.claim()
            return again if again is not None else key.keep(act, *do(act, prepared))

        try:
            prepared = prepare()
            return self.act(claimed)
        except Refusal as refusal:
            refused = refusal
            if refused.code not in keyed.NOT_REMEMBERED:
                self.act(lambda act: key.remember(act, refused, self.request))
            raise


def witness_refusal(refusal: Refusal, *, method: str, path: str) -> None:
    """Tell the witness of an act that was refused; runs in an act of its own."""
    events.announce(
        [
            Fact(
                "act.refused",
                path[:200],
                {"code": refusal.code, "method": method, "fields": sorted(refusal.fields)[:MOST_NAMED]},
            )
        ]
    )
