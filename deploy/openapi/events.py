"""The kinds of events that devices report, as the description names them: the envelope, and the data of each."""

from __future__ import annotations

from typing import Any

from casino.api import event_payloads

MOST = 500


def components() -> dict[str, Any]:
    """Return the schema of each kind of event, and of any of them."""
    kinds = {name(kind): _event(kind) for kind in event_payloads.KINDS}
    mapping = {f"pokdeng.{kind}.v1": f"#/components/schemas/{name(kind)}" for kind in event_payloads.KINDS}
    one = {
        "description": "A CloudEvent 1.0 of any kind.",
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }
    batch = {
        "type": "array",
        "items": {"$ref": "#/components/schemas/CloudEvent"},
        "minItems": 1,
        "maxItems": MOST,
        "description": "Events in the order of their numbers. Each is answered by itself.",
    }
    return {**kinds, "CloudEvent": one, "CloudEventBatch": batch}


def name(kind: str) -> str:
    """``bet_placed`` is ``EventBetPlaced``."""
    return "Event" + "".join(part.capitalize() for part in kind.split("_"))


def _event(kind: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": f"{_from(kind)} Extension attributes that are not named here are ignored.",
        "required": ["specversion", "id", "source", "type", "time", "subject", "sequence", "data"],
        "properties": {
            "specversion": {"const": "1.0"},
            "id": {"type": "string", "minLength": 1, "maxLength": 64, "description": "a UUID of yours"},
            "source": {"type": "string", "pattern": "^/devices/.+$", "description": "/devices/{your code}"},
            "type": {"const": f"pokdeng.{kind}.v1"},
            "time": {"type": "string", "format": "date-time", "description": "by your clock, with its zone"},
            "subject": {
                "type": "string",
                "pattern": "^rounds/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
                "description": "rounds/{the round's UUID}; whoever opens a round makes it",
            },
            "sequence": {
                "type": "string",
                "pattern": "^[1-9][0-9]{0,18}$",
                "description": "1, 2, 3 … per device, across rounds, without gaps. The same number with the same bytes "
                "is the same event",
            },
            "data": event_payloads.data_schema(kind),
            "person": {"type": ["string", "null"], "format": "uuid", "description": "who acted"},
            "signature": {
                "type": ["string", "null"],
                "format": "uuid",
                "description": "the id that POST /api/v1/signatures answered for this type, subject and data",
            },
        },
        "additionalProperties": True,
    }


def _from(kind: str) -> str:
    if kind in event_payloads.FROM_CAMERAS:
        return "From a terminal or a camera."
    if kind in event_payloads.SIGNED:
        return (
            "From a terminal, signed by a supervisor on duty or a manager; without that it changes nothing."
        )
    return "From a terminal."
