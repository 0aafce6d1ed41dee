"""What an operation says of itself beside its bodies: the refusals it may answer.

A method's ``extend_schema`` names its body, its parameters and its answers; ``refuses`` names the codes that are its
own. What follows from those (a body may be malformed, a key reused, a right missing) is named here once. The
description is made from both, and in the tests every answer is compared with it: a code that nobody declared fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter

from casino.platform import refusals

M = TypeVar("M", bound=Callable[..., Any])

KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="Names the act; yours to choose.",
)
"""The header of an operation that does its act once for each key."""

ALWAYS = frozenset(
    {
        "malformed",
        "unknown_field",
        "invalid_token",
        "forbidden",
        "not_acceptable",
        "internal_error",
        "unavailable",
    }
)
"""Any operation: the query has a NUL in it or a parameter that is not known, a token is none, a key comes from an
address that it does not name, the answer is asked for in another form, or we failed."""
CLOSED = frozenset({"not_signed_in"})
WRITES = frozenset({"csrf_failed", "unsupported_media_type", "body_too_large"})
"""Also those that take no body: one that is sent all the same may be a form, or too long to be looked at."""
NAMED = frozenset({"not_found"})
QUERY = BODY = frozenset({"missing_field", "invalid_value"})
DATED = frozenset({"invalid_value"})
SECRET = frozenset({"wrong_secret", "too_many_tries", "second_person_forbidden"})
KEYED = frozenset({"idempotency_key_missing", "idempotency_key_running", "idempotency_key_reused"})


def refuses(*codes: str) -> Callable[[M], M]:
    """Declare the refusals of a method that are its own; raise KeyError for a code that nobody registered."""

    def declare(method: M) -> M:
        unknown = [code for code in codes if code not in refusals.CODES]
        if unknown:
            raise KeyError(f"not registered: {', '.join(unknown)}")
        method.refuses = frozenset(codes) | own(method)  # type: ignore[attr-defined]
        return method

    return declare


def own(method: Any) -> frozenset[str]:
    """Return what ``refuses`` declared of a method."""
    declared: frozenset[str] = getattr(method, "refuses", frozenset())
    return declared


def right_of(view: Any, method: str) -> str:
    """Return the right that a door declares for a method, ``public`` where it needs none."""
    declared: Mapping[str, str] = getattr(view, "declares", {})
    return declared.get("GET" if method == "HEAD" else method, "public")


def codes(
    view: Any, method: str, *, named: bool, dated: bool, query: bool, body: bool, secret: bool, keyed: bool
) -> frozenset[str]:
    """Return every code that an operation may answer: its own, and those that follow from what it takes.

    ``named``: its address names something; ``dated``: and a gaming day; ``query``: it has parameters there;
    ``secret``: its body holds a PIN or a password; ``keyed``: it needs an Idempotency-Key.
    """
    found = set(own(getattr(view, method.lower(), None)) | ALWAYS)
    if right_of(view, method) != "public":
        found |= CLOSED
    if method in ("POST", "PUT", "DELETE"):
        found |= WRITES
    for holds, more in (
        (named, NAMED),
        (dated, DATED),
        (query, QUERY),
        (body, BODY),
        (secret, SECRET),
        (keyed, KEYED),
    ):
        if holds:
            found |= more
    return frozenset(found)
