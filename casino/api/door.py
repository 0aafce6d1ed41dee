"""What every JSON door shares: who knocks, whether they may, one act, one answer to one key.

A door parses, makes one domain call and renders. It reads the clock; nothing behind it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import Model, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language_from_request
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino import devices, events, keys, people
from casino.api import strict_json
from casino.api.rights import Declared, principal
from casino.events import Act, Fact, Principal
from casino.models import ApiKey, Device, Person, StoredAnswer
from casino.refusals import Refusal

T = TypeVar("T")
M = TypeVar("M", bound=Model)

MOST_NAMED = 20
"""Fields named in one refusal: a body may hold thousands that nobody knows."""


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


class Door(APIView):
    """Base of all JSON doors. ``declares`` maps each method it takes to the right it needs (``people.RIGHTS``)."""

    declares: ClassVar[Mapping[str, str]] = {}
    authentication_classes = (BearerToken, SignedIn)
    permission_classes = (Declared,)
    parser_classes = ()
    # No OPTIONS: no page of another origin has business here.
    http_method_names = ["get", "head", "post", "put", "delete"]  # noqa: RUF012 - as Django declares it

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """No name in the house has a NUL in it, and PostgreSQL would stumble over one."""
        if "\0" in request.path:
            raise Refusal("not_found")
        if any("\0" in text for name, texts in request.query_params.lists() for text in (name, *texts)):
            raise Refusal("malformed", fields={"": "a NUL character"})
        super().initial(request, *args, **kwargs)

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
        return people.check_secret(
            badge=given["badge"],
            secret=given["pin"],
            with_pin=True,
            at=self.principal.code,
            now=timezone.now(),
        )

    def act(self, do: Callable[[Act], T]) -> T:
        """Run ``do`` as one act of whoever knocks, retried when the database asks for it."""
        return events.attempt(
            do, actor=self.principal, request_id=request_id(self.request), now=timezone.now()
        )

    def body(self, shape: type[Shape]) -> dict[str, Any]:
        """Return the body as ``shape`` reads it; refuses unknown fields and wrong values by their path."""
        media_type = (self.request.content_type or "").partition(";")[0].strip()
        if media_type != "application/json":
            raise Refusal("unsupported_media_type")
        parsed = shape(data=strict_json.read(self.request.body))
        parsed.is_valid(raise_exception=True)
        return parsed.validated_data

    def once(self, prepare: Callable[[], T], do: Callable[[Act, T], tuple[int, dict[str, Any]]]) -> Response:
        """Answer one ``Idempotency-Key`` once: the same request again gets the first answer, refusals included.

        The key is looked up before anything is validated. ``prepare`` then reads the body and checks secrets,
        outside of any act (a wrong secret must be counted, not rolled back); ``do`` gets what it returned, and
        answers status and body. The key is claimed inside the act and stored with it.
        """
        key = _key_of(self.request)
        client = f"{self.principal.kind}:{self.principal.code}"  # a system's, whichever of its keys it uses
        prints = _fingerprints(self.request)
        stored = _stored(client, key, prints)
        if stored is not None:
            return stored

        def claimed(act: Act) -> Response:
            again = _claim(client, key, prints)
            if again is not None:
                return again
            status, answer = do(act, prepared)
            _store(act, client, key, prints[0], status, answer)
            return Response(answer, status=status)

        try:
            prepared = prepare()
            return self.act(claimed)
        except Refusal as refusal:
            refused = refusal
            if refused.code not in _NOT_REMEMBERED:
                self.act(lambda act: _remember(act, client, key, prints, refused))
            raise


def request_id(request: Any) -> str:
    """Return the id that the service gave the request."""
    return str(getattr(request, "request_id", "") or getattr(request._request, "request_id", ""))


def language_of(request: Any) -> str:
    """Return the language that a request asks for: ``th`` or ``en``."""
    return "th" if get_language_from_request(request).startswith("th") else "en"


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


# The one writer of StoredAnswer.

_NOT_REMEMBERED = frozenset(
    {"idempotency_key_running", "idempotency_key_reused", "not_signed_in", "wrong_secret", "too_many_tries"}
)


def _key_of(request: Request) -> str:
    key = request.headers.get("Idempotency-Key", "").strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not 1 <= len(key) <= 200:
        raise Refusal("idempotency_key_missing")
    return key


def _fingerprints(request: Request) -> list[bytes]:
    """Return what a request is known by, under the secret key in use and under those that went before it.

    Keyed, because a body may hold a PIN: whoever reads the stored print must not be able to try PINs against it.
    """
    written = b"\n".join([str(request.method).encode(), request.path.encode(), request.body])
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac("idempotency", written, secret=key, algorithm="sha256").digest() for key in keys]


def _stored(client: str, key: str, prints: Sequence[bytes]) -> Response | None:
    found = StoredAnswer.objects.filter(client=client, key=key).first()
    if found is None:
        return None
    if bytes(found.request_sha256) not in prints:
        raise Refusal("idempotency_key_reused")
    media_type = "application/json" if found.status < 400 else "application/problem+json"
    return Response(
        found.body, status=found.status, headers={"Idempotency-Replayed": "true"}, content_type=media_type
    )


def _claim(client: str, key: str, prints: Sequence[bytes]) -> Response | None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"idempotency:{client}:{key}"]
        )
        (free,) = cursor.fetchone()
    if not free:
        raise Refusal("idempotency_key_running")
    return _stored(client, key, prints)


def _store(act: Act, client: str, key: str, sha256: bytes, status: int, body: dict[str, Any]) -> None:
    StoredAnswer.objects.create(
        client=client, key=key, request_sha256=sha256, status=status, body=body, answered_at=act.now
    )


def _remember(act: Act, client: str, key: str, prints: Sequence[bytes], refusal: Refusal) -> None:
    if _claim(client, key, prints) is None:
        _store(act, client, key, prints[0], refusal.status, problem_of(refusal))


def problem_of(refusal: Refusal, language: str = "en") -> dict[str, Any]:
    """Return a refusal as a problem document (RFC 9457), without the request's own members."""
    document: dict[str, Any] = {
        "type": f"urn:pokdeng:refusal:{refusal.code}",
        "title": refusal.sentence(language),
        "status": refusal.status,
        "code": refusal.code,
    }
    if refusal.fields:
        document["fields"] = refusal.fields
    return document | {name: value for name, value in refusal.extra.items() if name not in document}


# Shapes of bodies.


class Shape(serializers.Serializer[Any]):
    """A body of which every field is known: others are refused by name."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {name[:200]: ["is not known here"] for name in unknown[:MOST_NAMED]}, "unknown_field"
                )
        return super().to_internal_value(data)


def described(
    name: str, fields: dict[str, serializers.Field[Any, Any, Any, Any]]
) -> type[serializers.Serializer[Any]]:
    """Return the shape of an answer under ``name``, for the API's description alone."""
    return type(name, (serializers.Serializer,), fields)


class Whole(serializers.IntegerField):
    """An integer that was written as one: no text, no fraction, no true or false (400)."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            raise serializers.ValidationError("must be a whole number", "malformed")
        return super().to_internal_value(data)


class Money(Shape):
    """``{"amount": 12500, "currency": "THB"}``: minor units, never a bare number, never a fraction."""

    amount = Whole(min_value=1, max_value=10**12)
    currency = serializers.RegexField(r"^[A-Z]{3}\Z")


class SignedMoney(Shape):
    """An amount that may be nothing or negative; only answers have those."""

    amount = Whole()
    currency = serializers.RegexField(r"^[A-Z]{3}\Z")


def money(amount: int, currency: str) -> dict[str, Any]:
    """Return an amount (minor units) as answers write it."""
    return {"amount": amount, "currency": currency}


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list by keyset: up to ``limit`` rows after ``cursor``."""

    limit: int
    cursor: str

    def cut(self, found: QuerySet[M]) -> tuple[list[M], M | None]:
        """Return the page's rows and, where there are more of them, the last: the next page begins behind it."""
        rows = list(found[: self.limit + 1])
        listed = rows[: self.limit]
        return listed, listed[-1] if len(rows) > self.limit else None


def page_of(request: Request, *, most: int = 200, usual: int = 50) -> Page:
    """Read ``limit`` and ``cursor`` of a list; a page over 200 rows is refused (422)."""
    given = request.query_params.get("limit", str(usual))
    if not given.isdecimal() or len(given) > 9:
        raise Refusal("malformed", fields={"limit": "must be a whole number"})
    if not 1 <= int(given) <= most:
        raise Refusal("invalid_value", fields={"limit": f"1 to {most}"})
    return Page(limit=int(given), cursor=request.query_params.get("cursor", ""))


def uuid_of(text: str, name: str = "cursor") -> UUID:
    """Read a UUID of the query, the list's cursor unless it is named otherwise; refuse ``malformed``."""
    try:
        return UUID(text)
    except ValueError:
        raise Refusal("malformed", fields={name: "must be a UUID"}) from None


def day_of(text: str, name: str = "gaming_day") -> date:
    """Read a day of the query; refuse ``malformed``."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refusal("malformed", fields={name: "must be a date"}) from None


def day_in_path(text: str) -> date:
    """Read a day of the address; refuse ``not_found``: what is no day is nobody's."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refusal("not_found") from None
