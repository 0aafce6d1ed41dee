"""The options of a rule sheet as JSON Schema, made from the sheet's own table of choices."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from settlement.rules.house_rules import (
    CHOICES,
    COMMISSION_CHOICES,
    MOST_HANDS,
    MOST_MONEY,
    TYPE_ORDER,
    DengTable,
    HouseRules,
)


def _whole(least: int, most: int, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, **more}


def _either(*schemas: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"oneOf": list(schemas), **more}


def _object(properties: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if whole else [],
        "additionalProperties": False,
    }


def schema(*, whole: bool) -> dict[str, Any]:
    """Return what a sheet's options may be: ``whole``, every one of them as a sheet has it; else as a proposal writes
    those that differ from its preset."""
    draw = {"must_draw_to": _maybe(_whole(0, 7)), "must_stay_from": _maybe(_whole(0, 9))}
    of_draw = _either(
        {"const": "free"}, _object(draw, whole=whole), description="free, or by how many points a hand has"
    )
    stakes = _object({name: _whole(1, MOST_MONEY) for name in ("min", "max", "step")}, whole=True)
    none = {"type": "null"} if whole else {"enum": ["none", None]}
    options: dict[str, Any] = {name: {"enum": list(names)} for name, names in CHOICES.items()}
    options |= {
        "type_order": {
            "type": "array",
            "items": {"enum": list(TYPE_ORDER)},
            "minItems": len(TYPE_ORDER),
            "maxItems": len(TYPE_ORDER),
            "uniqueItems": True,
            "description": "the best first; only sam_lueang and straight_flush move, between pok and normal",
        },
        "deng": _object({field.name: _whole(1, 10) for field in fields(DengTable)}, whole=whole),
        "max_deng": _either(none, _whole(1, MOST_MONEY)),
        "commission": _object(
            {
                "rate_bp": _whole(0, 10_000, description="basis points of a win"),
                "unit": _whole(1, MOST_MONEY, description="rounded to whole units of so many minor units"),
                **{name: {"enum": list(names)} for name, names in COMMISSION_CHOICES.items()},
            },
            whole=whole,
        ),
        "stakes": _either(none, stakes, description="limits of one wager, minor units; step divides both"),
        "max_hands": _whole(2, MOST_HANDS),
        "player_draw": of_draw,
        "dealer_draw": of_draw,
        "requires": _object(
            {"camera": {"type": "boolean"}, "declared_result": {"type": "boolean"}}, whole=whole
        ),
    }
    assert set(options) == {field.name for field in fields(HouseRules)}, "each option is described here"
    return _object(options, whole=False)


def _maybe(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "type": [one["type"], "null"]}


@extend_schema_field(schema(whole=False))
class Options(serializers.DictField):
    """Options that differ from the preset; the sheet itself reads them, and refuses by the option's name."""
