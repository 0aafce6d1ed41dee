"""The door to how far the second look has come."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.controls import along_the_log
from casino.api import door


class VerifiedAnswer(serializers.Serializer[Any]):
    """Everything that was settled up to ``verified_through`` was derived from its events again and found right."""

    origin = serializers.CharField()
    position = serializers.IntegerField(help_text="leaves of the log that were looked at")
    leaves = serializers.IntegerField(help_text="leaves that there are")
    settlements = serializers.IntegerField()
    offending = serializers.IntegerField(help_text="settlements that were not what their events come to")
    verified_through = serializers.DateTimeField(allow_null=True)
    moved_at = serializers.DateTimeField(allow_null=True)


class Verified(door.Door):
    declares: ClassVar = {"GET": "read_log"}

    @extend_schema(responses=VerifiedAnswer)
    def get(self, request: Request) -> Response:
        """Say how far everything that was settled is known to be right."""
        return Response(VerifiedAnswer(along_the_log.verified()).data)
