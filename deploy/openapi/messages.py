"""What we send: webhooks to whoever chose their type, and calls to a cashier system that keeps wallets itself.

In the tests every message that is owed and every call that is written is compared with these.
"""

from __future__ import annotations

from typing import Any

from settlement.models import CountKind, MessageType
from settlement.webhooks import schedule

UUID = {"type": "string", "format": "uuid"}
MAYBE_UUID = {"type": ["string", "null"], "format": "uuid"}
TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}
WHOLE = {"type": "integer"}
MONEY = {"$ref": "#/components/schemas/SignedMoney"}
TABLE = {"type": "string", "description": "the table's code"}
ACCOUNT = {"type": "string", "description": "`player:{ref}:wallet`"}
RECEIPT = {
    "type": "string",
    "pattern": "^[0-9a-f]{64}$",
    "description": "leaf hash of the act's entry in the log",
}
IN_ROUND = {
    "type": "integer",
    "minimum": 1,
    "description": "counts the messages of one round from 1 without gaps, in the order of its acts: what is lower than "
    "what you have is old",
}
OF_ROUND = {"round": UUID, "in_round": IN_ROUND}


def _object(fields: dict[str, Any], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": sorted(set(fields) - set(optional)),
    }


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


_MOVED = {
    "account": ACCOUNT, "amount": MONEY, "balance": MONEY, "held": MONEY, "available": MONEY, "version": WHOLE,
    "journal": UUID, "document": TEXT, "gaming_day": DAY,
}  # fmt: skip
_REVISION = {
    **OF_ROUND, "table": TABLE, "number": WHOLE, "revision": WHOLE, "outcome": {"enum": ["settled", "voided"]},
    "settlement": UUID, "journal": MAYBE_UUID, "reversal": MAYBE_UUID, "decision": MAYBE_UUID, "house_net": MONEY,
    "gaming_day": DAY,
}  # fmt: skip
_SLIP = {
    "slip": UUID, "kind": {"enum": ["fill", "credit"]}, "number": {"type": ["string", "null"]},
    "manual_number": {"type": ["string", "null"]}, "table": TABLE, "cage": TEXT, "amount": MONEY,
    "lines": _list(_object({"denomination": WHOLE, "pieces": WHOLE})), "receipt": RECEIPT,
}  # fmt: skip
_PAY_SLIP = {
    **OF_ROUND, "pay_slip": UUID, "number": TEXT, "table": TABLE, "wager": TEXT, "cage": TEXT, "amount": MONEY,
    "receipt": RECEIPT,
}  # fmt: skip

DATA: dict[str, tuple[str, dict[str, Any]]] = {
    "wallet.deposited": ("Money was paid into a wallet", _object(_MOVED)),
    "wallet.withdrawn": ("Money was paid out of a wallet", _object(_MOVED)),
    "wallet.held": (
        "What a wager can lose was set aside",
        _object({**OF_ROUND, "account": ACCOUNT, "hold": UUID, "wager": TEXT, "amount": MONEY}),
    ),
    "wallet.settled": (
        "What a round came to for a wallet, a push with a net of 0 too; what was set aside for it is free",
        _object(
            {
                **OF_ROUND,
                "account": ACCOUNT,
                "revision": WHOLE,
                "journal": MAYBE_UUID,
                "net": MONEY,
                "commission": MONEY,
                "lent": MONEY,
                "holds": _list(UUID),
                "wagers": _list(
                    {"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 2, "maxItems": 2}
                ),
            }
        ),
    ),
    "wallet.released": (
        "What was set aside is free again, and nothing was taken",
        _object({**OF_ROUND, "account": ACCOUNT, "holds": _list(UUID), "reason": TEXT}),
    ),
    "wallet.reversed": (
        "What an earlier revision moved was taken back; `wallet.settled` of the new one says what counts",
        _object(
            {
                **OF_ROUND,
                "account": ACCOUNT,
                "journal": UUID,
                "reverses": UUID,
                "amount": MONEY,
                "decision": MAYBE_UUID,
            }
        ),
    ),
    "round.settled": ("A round was settled", _object(_REVISION)),
    "round.voided": ("A round was voided; nothing moved", _object(_REVISION)),
    "round.corrected": ("A further revision of a round counts", _object(_REVISION)),
    "round.held": (
        "A round waits for a person",
        _object({**OF_ROUND, "table": TABLE, "number": WHOLE, "reasons": _list(TEXT)}),
    ),
    "slip.issued": ("A fill or credit was issued", _object(_SLIP)),
    "slip.received": ("A fill or credit arrived", _object(_SLIP)),
    "slip.voided": ("A fill or credit was voided", _object(_SLIP)),
    "pay_slip.issued": ("A pay slip was issued", _object(_PAY_SLIP)),
    "pay_slip.paid": ("A pay slip was paid", _object(_PAY_SLIP)),
    "pay_slip.voided": ("A pay slip was voided", _object(_PAY_SLIP)),
    "count.recorded": (
        "A count was saved; never what it came to",
        _object({"count": UUID, "counting": UUID, "kind": {"enum": CountKind.values}, "ordinal": WHOLE}),
    ),
    "day.sealed": ("A gaming day was sealed", _object({"gaming_day": DAY, "report": UUID, "sha256": TEXT})),
    "statement.ready": (
        "An account's statement of a sealed day can be fetched",
        _object(
            {
                "statement": UUID,
                "account": TEXT,
                "number": WHOLE,
                "gaming_day": DAY,
                "opening": MONEY,
                "closing": MONEY,
            }
        ),
    ),
    "break.opened": (
        "Two books differ",
        _object(
            {
                "break": UUID,
                "code": TEXT,
                "severity": TEXT,
                "about": TEXT,
                "fingerprint": TEXT,
                "difference": MONEY,
            },
            optional=("difference",),
        ),
    ),
    "dispute.decided": (
        "A dispute was decided",
        _object({**OF_ROUND, "dispute": UUID, "decision": UUID, "outcome": TEXT, "settlement": MAYBE_UUID}),
    ),
}
assert set(DATA) == set(MessageType.values), "each type of message has its data here"

_PLACE = {"round": UUID, "wager": TEXT}
CALLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "hold": (
        "/wallets/{ref}/holds",
        "Set aside `exposure`, the most the wager can lose. No answer within three seconds is a no",
        _object({**_PLACE, "stake": MONEY, "exposure": MONEY}),
    ),
    "settle": (
        "/holds/{hold}/settle",
        "Move `net`, which may be below minus the stake, and free the hold",
        _object({"round": UUID, "revision": WHOLE, "net": MONEY, "commission": MONEY}),
    ),
    "release": (
        "/holds/{hold}/release",
        "Free the hold. One that you never saw succeeds too, and its id is refused from then on",
        _object({"reason": TEXT}),
    ),
    "reverse": (
        "/journals/{call}/reverse",
        "Take back what the settlement did that came under this Idempotency-Key",
        _object({"reason": TEXT, "dispute": MAYBE_UUID}),
    ),
    "bet": (
        "/wallets/{ref}/bet",
        "Take the exposure out of the wallet",
        _object({"transaction": UUID, **_PLACE, "stake": MONEY, "amount": MONEY}),
    ),
    "win": (
        "/wallets/{ref}/win",
        "Pay back exposure and net; sent even when that is nothing",
        _object({"transaction": UUID, "bet": UUID, "amount": MONEY, "round": UUID, "revision": WHOLE}),
    ),
    "rollback": (
        "/wallets/{ref}/rollback",
        "Take back a bet or win. One that you never saw succeeds too, and its id is refused from then on",
        _object({"transaction": UUID, "takes_back": UUID, "round": UUID, "reason": TEXT}),
    ),
}
"""By verb: the path below the system's address, what is asked, and the body. The last three are the dialect
``bet_win_rollback``, the others ``holds``."""

SECONDS = {"type": "string", "pattern": "^[0-9]+$"}
SIGNATURE = (
    "space-separated: `v1,` and base64 of HMAC-SHA256, `v1a,` and base64 of Ed25519, of the bytes "
    "`{webhook-id}.{webhook-timestamp}.{body}`"
)
_SIGNED = [
    ("webhook-id", UUID, "the same on every try: what came twice has one effect"),
    ("webhook-timestamp", SECONDS, "seconds of this try; refuse what is more than five minutes off"),
    ("webhook-signature", TEXT, SIGNATURE),
]


def message(type: str) -> dict[str, Any]:
    """Return the body of a webhook of this type."""
    body = _object(
        {
            "type": {"const": type},
            "timestamp": {"type": "string", "format": "date-time"},
            "data": DATA[type][1],
        }
    )
    return body | {"description": f"{DATA[type][0]}. At most 20 kB; ids and amounts, no names."}


def components() -> dict[str, Any]:
    """Return the bodies of all that is sent, by the names of their components."""
    sent = {message_name(type): message(type) for type in DATA}
    return sent | {
        call_name(verb): {**body, "description": f"{says}."} for verb, (_, says, body) in CALLS.items()
    }


def message_name(type: str) -> str:
    """``wallet.held`` is ``WebhookWalletHeld``."""
    return "Webhook" + "".join(part.capitalize() for part in type.replace(".", "_").split("_"))


def call_name(verb: str) -> str:
    """``hold`` is ``CashierHold``."""
    return f"Cashier{verb.capitalize()}"


def webhooks() -> dict[str, Any]:
    """Return the section ``webhooks`` of the description."""
    told = {type: {"post": _told(type)} for type in DATA}
    return told | {f"cashier.{verb}": {"post": _call(verb)} for verb in CALLS}


def _told(type: str) -> dict[str, Any]:
    waits = ", ".join(_span(seconds) for seconds in schedule.DELAYS)
    return {
        "operationId": f"webhook_{type.replace('.', '_')}",
        "tags": ["webhooks we send"],
        "summary": DATA[type][0],
        "description": "Sent to every endpoint that chose the type, at least once and in no promised order, signed as "
        f"Standard Webhooks 1.0.0. Tried after {waits} (and up to {schedule.JITTER_PERCENT} % more), each time counted "
        "from the failure before it; then the endpoint is marked failing.",
        "parameters": _headers(),
        "requestBody": _body(message_name(type)),
        "responses": {
            "2XX": {"description": "Taken. What you answer in the body is not looked at."},
            "410": {"description": "Never again: the endpoint is disabled."},
            "429": {
                "description": "Later: slower from now on, and not before Retry-After. 502 and 504 likewise."
            },
            "default": {"description": "Everything else, redirects too, is a failure and is tried again."},
        },
        "security": [],
    }


def _call(verb: str) -> dict[str, Any]:
    path, says, _ = CALLS[verb]
    return {
        "operationId": f"cashier_{verb}",
        "tags": ["calls to a cashier system that keeps wallets"],
        "summary": says.split(". ")[0],
        "description": f"`POST {{the system's address}}{path}`. {says}.\n\nThe Idempotency-Key is the id of this call, "
        "the same on every try: the same key again is the same effect and the same answer. Success is a 2xx whose body "
        "holds this id; 400, 402, 403, 404 or 422 with a `code` is a plain no (`insufficient_funds` and "
        "`unknown_wallet` are known; `available` may say what the wallet has). Whatever else comes is no answer: a "
        "hold is then released, everything else is sent again, an hour apart at the most, until it is acknowledged.",
        "parameters": [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": True,
                "schema": TEXT,
                "description": "the call's id, in double quotes",
            },
            *_headers(),
        ],
        "requestBody": _body(call_name(verb)),
        "responses": {
            "200": {
                "description": "Done.",
                "content": {
                    "application/json": {"schema": {**_object({"id": UUID}), "additionalProperties": True}}
                },
            },
            "422": {
                "description": "A plain no.",
                "content": {
                    "application/json": {
                        "schema": {
                            **_object({"code": TEXT, "available": MONEY}, optional=("available",)),
                            "additionalProperties": True,
                        }
                    }
                },
            },
        },
        "security": [],
    }


def _headers() -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "header", "required": True, "schema": schema, "description": says}
        for name, schema, says in _SIGNED
    ]


def _body(name: str) -> dict[str, Any]:
    return {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
    }


def _span(seconds: int) -> str:
    if seconds % 3600 == 0:
        return f"{seconds // 3600} h" if seconds else "0"
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
