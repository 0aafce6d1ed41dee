"""The door to how the service itself runs."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import upkeep
from casino.api.door import Door
from casino.models import Program


class SweepAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    task = serializers.CharField()
    every = serializers.FloatField(help_text="seconds between two bells")
    ended_at = serializers.DateTimeField(
        allow_null=True, help_text="when it last came to its end; null: never"
    )
    age = serializers.FloatField(allow_null=True, help_text="seconds since then")
    late = serializers.BooleanField(help_text="more than three times its pace and a minute ago, or never")
    fault = serializers.CharField(help_text="what it failed by since then; empty: by nothing")


class AsideAnswer(serializers.Serializer[Any]):
    work = serializers.CharField(help_text="what met it")
    subject = serializers.CharField(help_text="what it is: statement-lines/812")
    fault = serializers.CharField()
    times = serializers.IntegerField(help_text="so often it was tried")
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField(help_text="when it is tried again")


class UnreadCountAnswer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    count = serializers.IntegerField()
    last_at = serializers.DateTimeField()


class UnreadAnswer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    length = serializers.IntegerField(help_text="in bytes")
    came_at = serializers.DateTimeField()


class ProgramAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    state = serializers.ChoiceField(Program.State.values)
    ended = serializers.IntegerField(help_text="so often it ended by itself since the house was opened")
    said = serializers.CharField(help_text="the last line of its log when it was given up on")
    changed_at = serializers.DateTimeField()


class UpkeepAnswer(serializers.Serializer[Any]):
    """``well`` where every sweep is in its time, nothing stands still and no program was given up on."""

    at = serializers.DateTimeField()
    well = serializers.BooleanField()
    sweeps = SweepAnswer(many=True)
    asides = serializers.IntegerField(help_text="items that cannot be computed with, all of them")
    aside = AsideAnswer(many=True, help_text="those, by name: the first 200")
    unread = UnreadCountAnswer(
        many=True, help_text="messages of the broker that could not be read, by reason"
    )
    kept = UnreadAnswer(many=True, help_text="the last hundred of those")
    programs = ProgramAnswer(many=True, help_text="what `up` started; empty where something else does")


class Health(Door):
    declares: ClassVar = {"GET": "read_health"}

    @extend_schema(responses=UpkeepAnswer)
    def get(self, request: Request) -> Response:
        """Say how the service itself runs: sweeps and their ages, items put aside, messages, programs."""
        return Response(UpkeepAnswer(upkeep.shown(now=timezone.now())).data)
