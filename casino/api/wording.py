"""What is wrong with a field, as a plain sentence in English and Thai, and which refusal that makes.

The serializers say it in codes; the sentence names what would be right, the allowed values and the limits among it.
Codes and paths are for machines and never change with the language.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from rest_framework import exceptions, serializers

from casino.platform import values
from casino.platform.refusals import Refusal


class Sentence(str):
    """A sentence in English that knows itself in Thai."""

    __slots__ = ("thai",)
    thai: str

    def __new__(cls, english: str, thai: str) -> Self:
        made = super().__new__(cls, english)
        made.thai = thai
        return made


THAI = {
    values.AN_INSTANT: "เวลาพร้อมโซนเวลา เช่น 2026-03-01T10:04:05Z",
    values.A_DAY: "วันที่ เช่น 2026-03-01",
    values.A_WHOLE_NUMBER: "ต้องเป็นจำนวนเต็ม",
    values.A_UUID: "ต้องเป็น UUID",
    "is not known here": "ระบบไม่รู้จักช่องนี้",
    "is missing": "ขาดช่องนี้",
    "must not be null": "ต้องไม่เป็นค่าว่าง (null)",
    "must not be empty": "ต้องไม่ว่าง",
    "must be text": "ต้องเป็นข้อความ",
    "must be true or false": "ต้องเป็น true หรือ false",
    "must be an object": "ต้องเป็นออบเจกต์",
    "must be a list": "ต้องเป็นรายการ",
    "cannot be read": "อ่านค่านี้ไม่ได้",
    "is the cage's own": "เป็นชื่อของแคชเชียร์เอง",
}
"""Sentences without a value in them."""


def said(sentence: str, language: str) -> str:
    """Return a sentence in the language, English where nobody translated it."""
    if not language.startswith("th"):
        return str(sentence)
    thai: str = getattr(sentence, "thai", "") or THAI.get(sentence, "")
    return thai or str(sentence)


_CODES = {"required": "missing_field", "unknown_field": "unknown_field"}
_NOT_ALLOWED = frozenset(
    {
        "min_value", "max_value", "max_length", "min_length", "invalid_choice", "blank", "empty", "not_allowed",
        "invalid_value",
    }
)  # fmt: skip
_ORDER = ("malformed", "unknown_field", "missing_field", "invalid_value")


def refusal_of(
    raised: exceptions.ValidationError, shape: serializers.BaseSerializer[Any] | None = None
) -> Refusal:
    """Return what a serializer found wrong as a refusal. The first of its kind decides code and status: what cannot be
    read goes before what is not allowed. ``shape`` knows what would be right."""
    found = list(_flat(raised.get_full_details(), ""))
    codes = [
        _CODES.get(code, "invalid_value" if code in _NOT_ALLOWED else "malformed") for _, _, code in found
    ]
    code = min(codes, key=_ORDER.index, default="malformed")
    return Refusal(
        code, fields={path: _sentence(code, message, _field(shape, path)) for path, message, code in found}
    )


def _flat(details: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(details, dict) and set(details) == {"message", "code"} and isinstance(details["code"], str):
        yield path, str(details["message"]), details["code"]
    elif isinstance(details, dict):
        for name, inner in details.items():
            here = "" if name == "non_field_errors" else str(name)
            yield from _flat(inner, f"{path}.{here}" if path and here else path or here)
    elif isinstance(details, list):
        for place, inner in enumerate(details):
            # A list of messages about one field; a list field's own items come as a dict of places.
            yield from _flat(inner, path if "message" in inner else f"{path}.{place}")


def _field(shape: Any, path: str) -> Any:
    """Return the field at a path of a body, None where there is none."""
    found = shape
    for part in path.split(".") if path else ():
        if isinstance(found, serializers.ListSerializer | serializers.ListField | serializers.DictField):
            found = found.child
        elif isinstance(found, serializers.Serializer):
            found = found.fields.get(part)
        else:
            return None
    return found


def _sentence(code: str, message: str, field: Any) -> str:
    """Return what is wrong; what a shape says in its own words stays as it is."""
    if code == "required":
        return "is missing"
    if code == "null":
        return "must not be null"
    if code == "blank":
        return "must not be empty"
    if code == "invalid_choice" and hasattr(field, "choices"):
        allowed = ", ".join(str(choice) for choice in field.choices)
        return Sentence(f"must be one of {allowed}", f"ต้องเป็นค่าใดค่าหนึ่งใน {allowed}")
    if code in ("max_length", "min_length", "empty", "max_value", "min_value"):
        return _limits(code, field) or message
    if code in ("invalid", "not_a_list", "not_a_dict"):
        return _kind(message, field)
    return message


def _limits(code: str, field: Any) -> str:
    if code in ("max_value", "min_value"):
        word, thai, limit = {
            "max_value": ("at most", "ไม่เกิน", getattr(field, "max_value", None)),
            "min_value": ("at least", "อย่างน้อย", getattr(field, "min_value", None)),
        }[code]
        return "" if limit is None else Sentence(f"{word} {limit}", f"{thai} {limit}")
    listed = isinstance(field, serializers.ListField | serializers.ListSerializer)
    unit, thai_unit = ("items", "รายการ") if listed else ("characters", "ตัวอักษร")
    if code == "max_length":
        most = getattr(field, "max_length", None)
        return "" if most is None else Sentence(f"at most {most} {unit}", f"ไม่เกิน {most} {thai_unit}")
    least = getattr(field, "min_length", None) or 1
    return Sentence(f"at least {least} {unit}", f"อย่างน้อย {least} {thai_unit}")


_KINDS: tuple[tuple[type[Any], str], ...] = (
    (serializers.ListField, "must be a list"),
    (serializers.ListSerializer, "must be a list"),
    (serializers.DictField, "must be an object"),
    (serializers.BaseSerializer, "must be an object"),
    (serializers.DateTimeField, values.AN_INSTANT),
    (serializers.DateField, values.A_DAY),
    (serializers.UUIDField, values.A_UUID),
    (serializers.IntegerField, values.A_WHOLE_NUMBER),
    (serializers.BooleanField, "must be true or false"),
)


def _kind(message: str, field: Any) -> str:
    """Return how a value of this field is written. Django's own messages are for forms, and speak of them."""
    if message in THAI or field is None:
        return message
    if isinstance(field, serializers.RegexField):
        form = _form(field)
        return Sentence(f"must be written as {form}", f"ต้องเขียนตามรูปแบบ {form}") if form else message
    if isinstance(field, serializers.CharField):
        return "must be text"
    return next((says for kind, says in _KINDS if isinstance(field, kind)), message)


def _form(field: Any) -> str:
    patterns: Iterator[str] = (
        validator.regex.pattern for validator in field.validators if hasattr(validator, "regex")
    )
    return next(patterns, "").removeprefix("^").removesuffix(r"\Z").removesuffix("$")
