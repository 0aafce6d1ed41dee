"""Doors of the log's proofs. A checkpoint and the tree's growth are for anybody; an entry is for who may read it."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit import proofs
from audit.proofs import Inclusion
from casino.api import door
from casino.api.operations import refuses


class PlainText(JSONRenderer):
    """Lets a client ask for text alone; what goes wrong is a problem document all the same."""

    media_type = "text/plain"
    format = "txt"


class InclusionAnswer(serializers.Serializer[Any]):
    """``hash`` is SHA-256(0x00 ‖ ``bytes`` as UTF-8); ``proof`` leads from it to the root in ``checkpoint``."""

    id = serializers.IntegerField()
    bytes = serializers.CharField(help_text="the entry itself: canonical JSON")
    hash = serializers.CharField()
    index = serializers.IntegerField(help_text="the leaf's place in the tree, from 0")
    size = serializers.IntegerField(help_text="leaves of the tree that the checkpoint signs")
    proof = serializers.ListField(
        child=serializers.CharField(), help_text="RFC 6962 audit path, from the leaf up"
    )
    checkpoint = serializers.CharField(help_text="the signed note")


class ConsistencyAnswer(serializers.Serializer[Any]):
    """``proof`` shows, by RFC 6962, that the tree of ``to`` leaves begins with that of ``from``."""

    origin = serializers.CharField()
    to = serializers.IntegerField()
    proof = serializers.ListField(child=serializers.CharField())
    checkpoint = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"from": serializers.IntegerField(), **super().get_fields()}


class ConsistencyQuery(door.Query):
    """The sizes of two trees of one log, the older one first."""

    to = door.Number(most=2**62)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"from": door.Number(most=2**62), **super().get_fields()}


class HashQuery(door.Query):
    """Which receipt."""

    hash = serializers.RegexField(
        r"^[0-9a-f]{64}\Z", help_text="a leaf hash in hexadecimal, as receipts print it"
    )


class NoteQuery(door.Query):
    """In which form."""

    format = door.OneOf(["json", "txt"], required=False, help_text="a note is text, whichever is asked for")


class Checkpoint(door.Door):
    """The newest signed checkpoint, exactly the bytes that were signed and exported."""

    declares: ClassVar = {"GET": "public"}
    queries: ClassVar = {"GET": NoteQuery}
    renderer_classes = (JSONRenderer, PlainText)

    @extend_schema(
        operation_id="audit_checkpoint",
        parameters=[
            OpenApiParameter(
                "If-None-Match", str, OpenApiParameter.HEADER, description="the ETag of the one you have"
            )
        ],
        responses={
            (200, "text/plain"): OpenApiTypes.STR,
            304: OpenApiResponse(description="The newest is the one you have."),
        },
    )
    @refuses("not_sealed_yet")
    def get(self, request: Request) -> HttpResponse:
        note = proofs.newest().note.encode()
        headers = {
            "ETag": f'"{hashlib.sha256(note).hexdigest()[:32]}"',
            "Cache-Control": "no-cache",
        }
        known = request.headers.get("If-None-Match", "")
        if headers["ETag"] in [tag.strip().removeprefix("W/") for tag in known.split(",")]:
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(note, content_type="text/plain; charset=utf-8", headers=headers)


class EntryProof(door.Door):
    """An entry with its way to the newest checkpoint. Each reading leaves an entry itself."""

    declares: ClassVar = {"GET": "read_log"}

    @extend_schema(operation_id="audit_entry_proof", responses=InclusionAnswer)
    @refuses("not_sealed_yet", "tree_damaged")
    def get(self, request: Request, entry: int) -> Response:
        return _shown(self.act(lambda _: proofs.of_entry(entry)))


class HashProof(door.Door):
    """The entry behind a receipt, with its way to the newest checkpoint."""

    declares: ClassVar = {"GET": "read_log"}
    queries: ClassVar = {"GET": HashQuery}

    @extend_schema(operation_id="audit_proof", responses=InclusionAnswer)
    @refuses("not_found", "not_sealed_yet", "tree_damaged")
    def get(self, request: Request) -> Response:
        leaf = bytes.fromhex(self.query["hash"])
        return _shown(self.act(lambda _: proofs.of_hash(leaf)))


class Consistency(door.Door):
    """That the tree only grew between two sizes; the empty tree proves nothing and is refused."""

    declares: ClassVar = {"GET": "public"}
    queries: ClassVar = {"GET": ConsistencyQuery}

    @extend_schema(
        operation_id="audit_consistency",
        responses=ConsistencyAnswer,
    )
    @refuses("invalid_value", "not_sealed_yet", "tree_damaged")
    def get(self, request: Request) -> Response:
        found = proofs.consistency(old=self.query["from"], size=self.query["to"])
        return Response(
            {
                "origin": found.origin,
                "from": found.old,
                "to": found.size,
                "proof": [node.hex() for node in found.proof],
                "checkpoint": found.note,
            }
        )


def _shown(found: Inclusion) -> Response:
    return Response(
        {
            "id": found.entry,
            "bytes": found.written.decode(),
            "hash": found.leaf.hex(),
            "index": found.index,
            "size": found.size,
            "proof": [node.hex() for node in found.proof],
            "checkpoint": found.note,
        }
    )
