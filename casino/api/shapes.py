"""Shapes of what comes in by JSON or in a query: every field known, every value read one way
(``casino.platform.values``).

What cannot be read is ``malformed``, ``missing_field`` or ``unknown_field`` (400), what can be read and is not allowed
``invalid_value`` (422), each by its path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NoReturn, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from casino.api import wording
from casino.platform import values
from casino.platform.refusals import Refusal

T = TypeVar("T")
M = TypeVar("M", bound=Model)

MOST_NAMED = 20
"""Fields named in one refusal: a body may hold thousands that nobody knows."""


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
    return type(name, (serializers.Serializer,), dict(fields))  # which the class takes its fields out of


def written_as(schema: dict[str, Any], **said: Any) -> serializers.Field[Any, Any, Any, Any]:
    """Return a field of an answer that is described by this JSON Schema, for the API's description alone."""
    kind = type("WrittenAs", (serializers.JSONField,), {})
    field: serializers.Field[Any, Any, Any, Any] = extend_schema_field(schema)(kind)(**said)
    return field


# Single values.


def _refuse(wrong: values.Wrong) -> NoReturn:
    code = "malformed" if isinstance(wrong, values.Unreadable) else "not_allowed"
    raise serializers.ValidationError(wrong.why, code) from None


class Instant(serializers.DateTimeField):
    """A time with its zone (RFC 3339), read as UTC; its bounds are for ``refusals.require_within``."""

    def to_internal_value(self, value: Any) -> datetime:
        try:
            return values.instant(value)
        except values.Wrong as wrong:
            _refuse(wrong)


class Day(serializers.DateField):
    """A day, ``YYYY-MM-DD``; its bounds are for ``refusals.require_within``."""

    def to_internal_value(self, value: Any) -> date:
        try:
            return values.day(value)
        except values.Wrong as wrong:
            _refuse(wrong)


class Id(serializers.UUIDField):
    """A UUID, with its hyphens."""

    def to_internal_value(self, data: Any) -> UUID:
        try:
            return values.uuid(data)
        except values.Wrong as wrong:
            _refuse(wrong)


class Whole(serializers.IntegerField):
    """An integer that was written as one: no text, no fraction, no true or false (400); no larger than the database
    keeps, unless less is said."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"min_value": -values.MOST_BIGINT, "max_value": values.MOST_BIGINT} | given)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            raise serializers.ValidationError(values.A_WHOLE_NUMBER, "malformed")
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


# Queries.


class Query(Shape):
    """The query of an address: every parameter known and given once. A door names its queries in ``queries``."""


class Number(serializers.IntegerField):
    """A whole number in the query: ASCII digits."""

    def __init__(self, *, least: int = 0, most: int = values.MOST_BIGINT, **given: Any) -> None:
        super().__init__(min_value=least, max_value=most, **given)
        self._bounds = least, most

    def to_internal_value(self, data: Any) -> int:
        least, most = self._bounds
        try:
            return values.whole(data, least=least, most=most)
        except values.Wrong as wrong:
            _refuse(wrong)


class OneOf(serializers.ChoiceField):
    """One of these words in the query; another is no question that could be answered (400), and says which are."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            raise serializers.ValidationError(f"one of {', '.join(map(str, self.choices))}", "malformed")
        return data


class TableCode(serializers.RegexField):
    """The code of a table."""

    def __init__(self, **given: Any) -> None:
        super().__init__(r"^[A-Z0-9]{1,20}\Z", **given)


class Place(serializers.CharField):
    """``next`` of the page before, where that is no id, day or number."""

    def __init__(self) -> None:
        super().__init__(required=False, max_length=200, trim_whitespace=False)


MOST_ROWS = 200


class LimitQuery(Query):
    """How much of a list."""

    limit = Number(least=1, most=MOST_ROWS, default=50, help_text="rows of the page")


class PageQuery(LimitQuery):
    """A page of a list. Whoever pages by something else than ids says by what: ``cursor = Day(required=False)``."""

    cursor: Any = Id(required=False, help_text="`next` of the page before")


def read_query(request: Request, shape: type[Query] | None) -> dict[str, Any]:
    """Return the query as ``shape`` reads it; None takes no parameter at all. Refuses what is not known, is given
    twice, or has no value that could be meant, by its name."""
    given = request.query_params
    repeated = sorted(name for name, texts in given.lists() if len(texts) > 1)
    if repeated:
        raise Refusal(
            "malformed", fields=dict.fromkeys((name[:200] for name in repeated[:MOST_NAMED]), "given twice")
        )
    read = (shape or Query)(data=given.dict())
    try:
        read.is_valid(raise_exception=True)
    except serializers.ValidationError as wrong:
        raise wording.refusal_of(wrong, read) from None
    return dict(read.validated_data)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list by keyset: up to ``limit`` rows after ``cursor``, which is None on the first."""

    limit: int
    cursor: Any

    def cut(self, found: QuerySet[M]) -> tuple[list[M], M | None]:
        """Return the page's rows and, where there are more of them, the last: the next page begins behind it."""
        rows = list(found[: self.limit + 1])
        listed = rows[: self.limit]
        return listed, listed[-1] if len(rows) > self.limit else None


def in_path(read: Callable[[Any], T], text: str) -> T:
    """Read a value of the address; refuse ``not_found``: what cannot be read names nothing."""
    try:
        return read(text)
    except values.Wrong:
        raise Refusal("not_found") from None
