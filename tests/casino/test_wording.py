"""What is wrong with a field is said plainly, with what would be right, in Thai where Thai is asked for."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
from rest_framework import serializers

from casino.api import problems, wording
from casino.api.shapes import Day, Id, Instant, Money, Number, OneOf, Query, Shape, Whole
from deploy.local import paths


class Given(Shape):
    role = serializers.ChoiceField(["dealer", "supervisor"])
    badge = serializers.CharField(max_length=3)
    code = serializers.RegexField(r"^[A-Z]{2}\Z", required=False)
    pieces = Whole(min_value=1, max_value=9, required=False)
    at = Instant(required=False)
    day = Day(required=False)
    id = Id(required=False)
    stake = Money(required=False)
    lines = serializers.ListField(child=Money(), min_length=1, max_length=2, required=False)


class Asked(Query):
    limit = Number(least=1, most=200, required=False)
    state = OneOf(["open", "closed"], required=False)


ONE_OF = "ต้องเป็นค่าใดค่าหนึ่งใน dealer, supervisor"
INSTANT, CLOCK = "a time with its zone, 2026-03-01T10:04:05Z", "เวลาพร้อมโซนเวลา เช่น 2026-03-01T10:04:05Z"
THB_0 = {"amount": 0, "currency": "THB"}
RIGHT: dict[str, Any] = {"role": "dealer", "badge": "D01"}


def refused(shape: type[Shape], body: Any, language: str) -> tuple[int, str, dict[str, str]]:
    read = shape(data=body)
    with pytest.raises(serializers.ValidationError) as wrong:
        read.is_valid(raise_exception=True)
    problem = problems.problem_of(wording.refusal_of(wrong.value, read), language)
    return problem["status"], problem["code"], problem["fields"]


@pytest.mark.parametrize(
    ("more", "status", "code", "field", "english", "thai"),
    [
        (
            {"role": "cook"},
            422,
            "invalid_value",
            "role",
            "must be one of dealer, supervisor",
            "ต้องเป็นค่าใดค่าหนึ่งใน dealer, supervisor",
        ),
        ({"badge": "D001"}, 422, "invalid_value", "badge", "at most 3 characters", "ไม่เกิน 3 ตัวอักษร"),
        ({"badge": ""}, 422, "invalid_value", "badge", "must not be empty", "ต้องไม่ว่าง"),
        ({"badge": None}, 400, "malformed", "badge", "must not be null", "ต้องไม่เป็นค่าว่าง (null)"),
        ({"badge": ["D"]}, 400, "malformed", "badge", "must be text", "ต้องเป็นข้อความ"),
        ({"code": "a"}, 400, "malformed", "code", "must be written as [A-Z]{2}", "ต้องเขียนตามรูปแบบ [A-Z]{2}"),
        ({"pieces": 10}, 422, "invalid_value", "pieces", "at most 9", "ไม่เกิน 9"),
        ({"pieces": "1"}, 400, "malformed", "pieces", "must be a whole number", "ต้องเป็นจำนวนเต็ม"),
        (
            {"at": "yesterday"},
            400,
            "malformed",
            "at",
            "a time with its zone, 2026-03-01T10:04:05Z",
            "เวลาพร้อมโซนเวลา เช่น 2026-03-01T10:04:05Z",
        ),
        ({"day": "2026-W49-2"}, 400, "malformed", "day", "a day, 2026-03-01", "วันที่ เช่น 2026-03-01"),
        ({"id": "7"}, 400, "malformed", "id", "must be a UUID", "ต้องเป็น UUID"),
        ({"stake": 100}, 400, "malformed", "stake", "must be an object", "ต้องเป็นออบเจกต์"),
        ({"stake": {"amount": 100}}, 400, "missing_field", "stake.currency", "is missing", "ขาดช่องนี้"),
        ({"lines": []}, 422, "invalid_value", "lines", "at least 1 items", "อย่างน้อย 1 รายการ"),
        ({"lines": "x"}, 400, "malformed", "lines", "must be a list", "ต้องเป็นรายการ"),
        (
            {"lines": [{"amount": 0, "currency": "THB"}]},
            422,
            "invalid_value",
            "lines.0.amount",
            "at least 1",
            "อย่างน้อย 1",
        ),
        ({"payout": 1}, 400, "unknown_field", "payout", "is not known here", "ระบบไม่รู้จักช่องนี้"),
    ],
)
def test_a_field_says_what_would_be_right(
    more: dict[str, Any], status: int, code: str, field: str, english: str, thai: str
) -> None:
    assert refused(Given, RIGHT | more, "en") == (status, code, {field: english})
    assert refused(Given, RIGHT | more, "th") == (status, code, {field: thai})


def test_a_query_says_which_words_it_knows() -> None:
    assert refused(Asked, {"state": "lost"}, "en") == (400, "malformed", {"state": "one of open, closed"})
    assert refused(Asked, {"limit": "0"}, "th")[1] == "invalid_value"


def own_words() -> set[str]:
    """Every sentence that a shape says in its own words."""
    found = set()
    for folder in ("casino", "settlement", "audit"):
        for path in (paths.CLONE / folder).rglob("api/*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "serializers.ValidationError":
                    found |= {
                        one.value
                        for one in ast.walk(node.args[0])
                        if isinstance(one, ast.Constant)
                        and isinstance(one.value, str)
                        and re.search("[a-z] ", one.value)
                    }
    return found


def test_whatever_a_shape_says_in_its_own_words_it_says_in_thai_too() -> None:
    assert len(own_words()) >= 2
    assert {words for words in own_words() if not words.startswith("one of ")} - set(wording.THAI) == set()
