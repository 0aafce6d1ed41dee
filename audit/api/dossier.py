"""Doors of dossiers: one download for a round, one for a dispute. Each is an act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from audit import dossier
from audit.dossier import Dossier
from casino.api import door
from casino.api.operations import refuses

ZIP = "application/zip"


class Zipped(JSONRenderer):
    """Lets a client ask for ZIP alone; what goes wrong is a problem document all the same."""

    media_type = ZIP
    format = "zip"


class DossierQuery(door.Query):
    """What the reader keeps."""

    kept = serializers.RegexField(
        r"^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17}){0,9}\Z",
        required=False,
        help_text="sizes of checkpoints that you keep, by commas: that the log only grew from them is proved too",
    )
    format = door.OneOf(
        ["json", "zip"], required=False, help_text="a dossier is a ZIP, whichever is asked for"
    )


_DESCRIBED: dict[str, Any] = {
    "responses": {(200, ZIP): OpenApiTypes.BINARY},
}


class RoundDossier(door.Door):
    """Everything known of a round, as far as the reader may see it, with its proofs and what checks them."""

    declares: ClassVar = {"GET": "read_dossier"}
    queries: ClassVar = {"GET": DossierQuery}
    renderer_classes = (JSONRenderer, Zipped)

    @extend_schema(operation_id="round_dossier", **_DESCRIBED)
    @refuses("invalid_value", "not_sealed_yet", "tree_damaged")
    def get(self, request: Request, round: UUID) -> HttpResponse:
        kept = _kept(self.query)
        return _download(self.act(lambda _: dossier.of_round(round, kept=kept)))


class DisputeDossier(door.Door):
    """The dossier of a dispute's round, with what was asked, proposed and decided."""

    declares: ClassVar = {"GET": "read_dossier"}
    queries: ClassVar = {"GET": DossierQuery}
    renderer_classes = (JSONRenderer, Zipped)

    @extend_schema(operation_id="dispute_dossier", **_DESCRIBED)
    @refuses("invalid_value", "not_sealed_yet", "tree_damaged")
    def get(self, request: Request, dispute: UUID) -> HttpResponse:
        kept = _kept(self.query)
        return _download(self.act(lambda _: dossier.of_dispute(dispute, kept=kept)))


def _kept(asked: Mapping[str, Any]) -> list[int]:
    return [int(size) for size in asked.get("kept", "").split(",") if size]


def _download(made: Dossier) -> HttpResponse:
    return HttpResponse(
        dossier.pack(made),
        content_type=ZIP,
        headers={
            "Content-Disposition": f'attachment; filename="{made.name}"',
            "Cache-Control": "no-store",
        },
    )
