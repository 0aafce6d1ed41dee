"""How a round's record is shown and described: what the fold made of its reports, every amount with its currency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from casino.api.door import money
from casino.record.values import HANDS, WAIVABLE
from settlement.rules import doubts

AMOUNTS_OF_FINDINGS = frozenset(
    {
        "stake",
        "counts",
        "min",
        "max",
        "step",
        "uncovered",
        "exposure",
        "missing",
        "paid",
        "due",
        "brought",
        "expected",
        "band",
        "regret",
        "amount",
        "limit",
        "day_before",
    }
)


def shown(written: Mapping[str, Any], currency: str) -> dict[str, Any]:
    """Return a record with its currency, which its canonical form leaves to the table."""
    found = dict(written)
    if "wagers" in found:
        found["wagers"] = [_with_money(wager, currency, "stake") for wager in written["wagers"]]
    if "bets_apart" in found:
        found["bets_apart"] = [_with_money(one, currency, "stake", "ours") for one in written["bets_apart"]]
    if "declared" in found:
        found["declared"] = {wager: money(net, currency) for wager, net in written["declared"].items()}
    if "banker" in found:
        found["banker"] = _with_money(written["banker"], currency, "limit")
    if "findings" in found:
        found["findings"] = findings(written["findings"], currency)
    if "bare" in found:
        found["bare"] = shown(written["bare"], currency)
    return found


def findings(written: Sequence[Mapping[str, Any]], currency: str) -> list[dict[str, Any]]:
    """Return findings, their amounts with the currency."""
    return [
        dict(one) | ({"detail": detail(one["detail"], currency)} if "detail" in one else {})
        for one in written
    ]


def detail(written: Mapping[str, Any], currency: str) -> dict[str, Any]:
    """Return a finding's or a flag's detail; an amount reported in another currency says so itself."""
    own = written.get("currency", currency)
    return {
        name: money(value, own) if name in AMOUNTS_OF_FINDINGS and isinstance(value, int) else value
        for name, value in written.items()
        if name != "currency"
    }


def _with_money(written: Mapping[str, Any], currency: str, *names: str) -> dict[str, Any]:
    return dict(written) | {name: money(written[name], currency) for name in names}


# -- as JSON Schema ------------------------------------------------------------------------------------------

_TEXT = {"type": "string"}
_TRUE = {"const": True}
_CARD = {"type": "string", "pattern": "^([A2-9JQK]|10|T)[SHDC]$"}
_HAND = {"enum": list(HANDS)}
_SLOT = {"type": "string", "pattern": "^[a-z]+[0-9]*\\.[123]$", "description": "a hand and a position: p1.3"}
_MONEY = {"$ref": "#/components/schemas/SignedMoney"}
_INSTANT = {"type": "integer", "description": "milliseconds since 1970, UTC"}
_OWNER = {
    "type": "object",
    "properties": {"seat": _TEXT, "account": _TEXT, "person": _TEXT},
    "minProperties": 1,
    "maxProperties": 1,
    "description": "a seat (`1` to `16`), a wallet (`player:A17`), or a dealer's own",
}


def _object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def _list(of: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": of, **more}


FINDING = _object(
    {
        "kind": _TEXT,
        "subject": {
            "type": "string",
            "description": "empty: the round; `p1` a hand, `p1.3` a slot, `w2` a wager",
        },
        "detail": {
            "type": "object",
            "additionalProperties": True,
            "description": "the figures of its sentence; amounts are money",
        },
    },
    "kind",
    "subject",
)
_OF_HAND = _object(
    {
        "name": _HAND,
        "cards": _list(_CARD, description="the effective ones, in order"),
        "met": {"enum": ["two", "final"], "description": "the dealer's first two cards, or all that came"},
        "drew": _TRUE,
        "stayed": _TRUE,
        "pok_shown": _TRUE,
        "check_place": {"type": "integer", "description": "its turn among the checks that counted"},
        "checked_with": {
            "type": "integer",
            "description": "how many cards it had then, where it has more now",
        },
    },
    "name",
    "cards",
    "met",
)
_OF_SLOT = _object(
    {
        "slot": _SLOT,
        "reads": _list(
            {
                "type": "array",
                "prefixItems": [_TEXT, {"enum": ["terminal", "camera", "page", "decision"]}, _CARD],
                "minItems": 3,
                "maxItems": 3,
            },
            description="device, feed, card",
        ),
        "card": {**_CARD, "description": "the effective one; left out while there is none"},
        "ruled": _CARD,
        "removed": _TRUE,
        "contested": _TRUE,
        "silent": {
            **_TRUE,
            "description": "only other feeds read it, where the terminal gave two and no draw",
        },
    },
    "slot",
    "reads",
)


def schema() -> dict[str, Any]:
    """Return what a record may be. What is absent, false or empty is left out of it."""
    return _object(
        {
            "number": {"type": "integer"},
            "direction": {"enum": ["clockwise", "counter_clockwise"]},
            "order": _list(_HAND, description="in which hands are dealt and settled"),
            "banker": _object({"account": _TEXT, "limit": _MONEY}, "account", "limit"),
            "deck": _TEXT,
            "sheet_shown": {"type": "string", "description": "SHA-256 of the sheet that the terminal showed"},
            "state": {"enum": ["open", "closed", "voided"]},
            "opened_ms": _INSTANT,
            "bets_closed_ms": _INSTANT,
            "closed_ms": _INSTANT,
            "took_ms": {"type": "integer", "description": "from opening to close, by one device's clock"},
            "wagers": _list(
                _object(
                    {"id": _TEXT, "hand": _HAND, "owner": _OWNER, "stake": _MONEY},
                    "id",
                    "hand",
                    "owner",
                    "stake",
                ),
                description="those in play, in the order in which they were placed",
            ),
            "hands": _list(_OF_HAND, description="every hand in play but the dealer's"),
            "dealer": _OF_HAND,
            "slots": _list(_OF_SLOT, description="everything that was reported, of hands not in play too"),
            "cards_seen": {"type": "integer"},
            "unread_by_camera": _list(_SLOT),
            "declared": {
                "type": "object",
                "additionalProperties": _MONEY,
                "description": "what the table declared for each wager",
            },
            "waived": _list({"enum": sorted(WAIVABLE)}),
            "bets_apart": _list(
                _object(
                    {"source": _TEXT, "hand": _HAND, "owner": _OWNER, "stake": _MONEY, "ours": _MONEY},
                    "source",
                    "hand",
                    "owner",
                    "stake",
                    "ours",
                ),
                description="what another terminal has as an owner's stakes on a hand, and what counts here",
            ),
            "checks_in_doubt": _list(
                _object(
                    {"hand": _HAND, "slot": _SLOT, "removal": {"type": "integer"}}, "hand", "slot", "removal"
                )
            ),
            "doubts": _list({"enum": list(doubts.REASONS)}),
            "findings": _list(FINDING),
            "turns": _list(_HAND),
            "dealt": _list(_HAND),
            "swayed_by": _list({"enum": ["none", "terminal", "camera"]}),
            "bare": {
                "type": "object",
                "additionalProperties": True,
                "description": "the record without any act of a supervisor, where that is another",
            },
        },
        "state",
        "dealer",
        description="The round as its reports tell it. What is absent, false or empty is left out.",
    )
