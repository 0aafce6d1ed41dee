"""Doors at which a supervisor or a manager acts on a round from a page, each act signed by their own secret."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, rounds
from casino.api import event_payloads
from casino.api.door import Door, Shape, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Round
from casino.platform.refusals import Refusal

Ruled = described(
    "RoundRuled",
    {
        "round": serializers.UUIDField(help_text="the one that an alias stands for"),
        "event": serializers.IntegerField(),
        "kind": serializers.CharField(),
        "recorded_at": serializers.DateTimeField(),
    },
)


def data_of(*kinds: str) -> serializers.DictField:
    """Return a field that is described as the data of an event of one of these kinds, and read as such afterwards."""
    found = [event_payloads.data_schema(kind) for kind in kinds]
    schema = {"type": "object", "description": "as the event of that kind has it", "anyOf": found}
    kind = type("DataOf", (serializers.DictField,), {})
    field: serializers.DictField = extend_schema_field(schema if len(found) > 1 else found[0])(kind)()
    return field


class RulingShape(Shape):
    kind = serializers.ChoiceField(sorted(rounds.RULED_KINDS))
    data = data_of(*sorted(rounds.RULED_KINDS))  # type: ignore[assignment]
    pin = serializers.CharField(max_length=200)


class MispayShape(Shape):
    data = data_of("mispay_found")  # type: ignore[assignment]
    pin = serializers.CharField(max_length=200)


class _Acts(Door):
    def _once(self, round: UUID, right: str, shape: type[Shape]) -> Response:
        """Record the act once: scope first, then the body, then the secret of who is signed in."""

        def prepare() -> tuple[str, dict[str, Any]]:
            table = Round.objects.filter(pk=round).values_list("table", flat=True).first()
            if table is None:
                people.require(self.principal, right)
                raise Refusal("not_found")
            people.require_at(self.principal, right, table)
            given = self.body(shape)
            kind = given.get("kind", "mispay_found")
            data = event_payloads.ruling(kind, given["data"], "data")
            self.own_pin(given["pin"])
            return kind, data

        def do(_: Act, prepared: tuple[str, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            kind, data = prepared
            ruled = rounds.rule(round_id=round, kind=kind, data=data, by=self.person)
            return 201, {
                "round": str(ruled.round_id),
                "event": ruled.id,
                "kind": ruled.kind,
                "recorded_at": ruled.recorded_at.isoformat(),
            }

        return self.once(prepare, do)


class Rulings(_Acts):
    """Acts of a supervisor or a manager on a round that is not finished."""

    declares: ClassVar = {"POST": "rule_round"}

    @extend_schema(operation_id="ruleRound", request=RulingShape, parameters=[KEY], responses={201: Ruled})
    @refuses("not_on_duty", "sod_violation", "round_finished")
    def post(self, request: Request, round: UUID) -> Response:
        """Rule a card or a bet, take a card away, waive a doubt, void the round, or note something.

        Signed by the PIN of who is signed in: a supervisor on duty there or a manager, who did not deal the round.
        """
        return self._once(round, "rule_round", RulingShape)


class Mispays(_Acts):
    """Chips found to have been paid wrongly, when they were gone and nothing was put right."""

    declares: ClassVar = {"POST": "mispay_found"}

    @extend_schema(operation_id="findMispay", request=MispayShape, parameters=[KEY], responses={201: Ruled})
    @refuses("not_on_duty", "round_finished", "sod_violation")
    def post(self, request: Request, round: UUID) -> Response:
        """Record what was paid and what was due, at any time, after the seal too. The ledger does not move."""
        return self._once(round, "mispay_found", MispayShape)
