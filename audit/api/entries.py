"""The door to the entries of the log."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import log
from audit.models import LogEntry
from casino.api import door
from settlement import table_floats


class EntriesQuery(door.PageQuery):
    """What a reader of the log may ask for; anything else in the query is refused by name."""

    action = serializers.RegexField(
        r"^[a-z_]+\.[a-z_]+\Z", max_length=60, required=False, help_text="round.settled"
    )
    subject = serializers.CharField(max_length=200, required=False, help_text="rounds/{id}")
    table = door.TableCode(required=False)
    round = door.Id(required=False)
    actor = door.Id(required=False, help_text="the person or device that acted")
    person = door.Id(required=False, help_text="who acted, on a terminal too")
    request = serializers.CharField(max_length=200, required=False)
    since = door.Number(required=False, help_text="only entries after this one, by its id")
    cursor = door.Number(required=False, help_text="`next` of the page before")


class ActorAnswer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["person", "device", "system", "public"])
    id = serializers.UUIDField(allow_null=True)
    device = serializers.CharField(help_text="code of the terminal or camera, empty for others")
    role = serializers.CharField()
    person = serializers.UUIDField(allow_null=True)


class EntryAnswer(serializers.Serializer[Any]):
    """One entry: ``hash`` is SHA-256(0x00 ‖ ``bytes`` as UTF-8), which anybody can work out again."""

    id = serializers.IntegerField()
    at = serializers.CharField()
    action = serializers.CharField()
    subject = serializers.CharField()
    table = serializers.CharField()
    round = serializers.UUIDField(allow_null=True)
    actor = ActorAnswer()
    request = serializers.CharField()
    hash = serializers.CharField()
    bytes = serializers.CharField(
        allow_null=True, help_text="the entry itself: canonical JSON; null while its table is being counted"
    )
    reason = serializers.CharField(required=False, help_text="why it is null: count_open")


class EntriesAnswer(serializers.Serializer[Any]):
    entries = EntryAnswer(many=True)
    next = serializers.CharField(allow_null=True, help_text="`cursor` of the next page, null on the last")


class Entries(door.Door):
    """The log, newest first. Each reading leaves an entry itself."""

    declares: ClassVar = {"GET": "read_log"}
    queries: ClassVar = {"GET": EntriesQuery}

    @extend_schema(operation_id="audit_entries", responses=EntriesAnswer)
    def get(self, request: Request) -> Response:
        asked = dict(self.query)
        limit, before = asked.pop("limit"), asked.pop("cursor", None)
        asked["actor"] = str(asked["actor"]) if "actor" in asked else ""
        filters = log.Filters(**asked)
        hidden = table_floats.hidden_from(self.person)
        page = self.act(lambda _: log.read(filters=filters, before=before, limit=limit))
        return Response(
            {
                "entries": [_entry(entry, hidden) for entry in page.entries],
                "next": None if page.before is None else str(page.before),
            }
        )


def _entry(entry: LogEntry, hidden: Collection[str]) -> dict[str, Any]:
    """Return an entry; what it says of a table that is being counted is kept back from whoever may count there."""
    counted = entry.table_code in hidden
    return {
        "id": entry.id,
        "at": log.stamp(entry.recorded_at),
        "action": entry.action,
        "subject": entry.subject,
        "table": entry.table_code,
        "round": entry.round,
        "actor": {
            "kind": entry.actor_kind,
            "id": entry.actor or None,
            "device": entry.device,
            "role": entry.role,
            "person": entry.person,
        },
        "request": entry.request_id,
        "hash": bytes(entry.leaf_hash).hex(),
        "bytes": None if counted else bytes(entry.bytes).decode(),
        **({"reason": table_floats.COUNT_OPEN} if counted else {}),
    }
