"""The floor's JSON doors: reports of devices, signatures, gaps, tables and who is on duty."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, rounds, tables
from casino.api import event_payloads, media_types, strict_json
from casino.api.door import Door, Shape, described
from casino.api.operations import refuses
from casino.api.places import TableShown, table_shown
from casino.api.problems import language_of
from casino.models import Duty, Role, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal
from casino.rounds import Answer, Report

MOST_EVENTS = 500
ONE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"


REFUSED = (
    "invalid_value", "kind_not_allowed", "malformed", "missing_field", "number_used", "opened_twice",
    "other_tables_round", "round_exists", "sequence_reused", "sequence_too_far", "signature_mismatch",
    "table_closed", "unknown_field",
)  # fmt: skip
"""What an event may be refused for, in a batch or alone."""

EventAnswer = described(
    "EventAnswer",
    {
        "id": serializers.CharField(),
        "sequence": serializers.CharField(),
        "outcome": serializers.ChoiceField(["recorded", "duplicate", "refused"]),
        "code": serializers.ChoiceField(sorted(REFUSED), required=False),
        "status": serializers.IntegerField(required=False),
        "title": serializers.CharField(required=False),
        "fields": serializers.DictField(child=serializers.CharField(), required=False),
        "round": serializers.UUIDField(
            required=False, help_text="round_exists: the one that was opened first"
        ),
        "number": serializers.IntegerField(
            required=False, help_text="round_exists: the number that both have"
        ),
        "highest": serializers.IntegerField(
            required=False, help_text="sequence_too_far: the highest number of the device so far"
        ),
    },
)
EventAnswers = described("EventAnswers", {"events": EventAnswer(many=True)})


class TableEvents(Door):
    """Reports of the table's own devices."""

    declares: ClassVar = {"POST": "record_events"}

    @extend_schema(
        operation_id="recordEvents",
        request={
            ONE: {"$ref": "#/components/schemas/CloudEvent"},
            BATCH: {"$ref": "#/components/schemas/CloudEventBatch"},
        },
        responses={200: EventAnswers},
        parameters=[
            OpenApiParameter(
                "Pokdeng-Sent-At",
                OpenApiTypes.DATETIME,
                OpenApiParameter.HEADER,
                description="When the request was sent, by the device's clock.",
            )
        ],
    )
    @refuses(
        "batch_too_large",
        "invalid_value",
        "kind_not_allowed",
        "other_tables_round",
        "round_exists",
        "sequence_reused",
        "sequence_too_far",
        "table_closed",
    )
    def post(self, request: Request, code: str) -> Response:
        """Record one CloudEvent or a batch of up to 500.

        The answer names every event: recorded, duplicate, or refused with its code and the field. One event alone
        that is refused is answered by a problem document.
        """
        device = self.device
        if device.table.code != code:
            raise Refusal("not_found")
        sent_at = request.headers.get("Pokdeng-Sent-At")
        sent = None if sent_at is None else event_payloads.instant(sent_at, "Pokdeng-Sent-At")
        envelopes, alone = _envelopes(request)
        reports = [event_payloads.report_of(envelope, device=device) for envelope in envelopes]
        answers = self.act(lambda _: rounds.append(device=device, reports=reports, sent_at=sent))
        if alone and answers[0].outcome == "refused":
            refusal = Refusal(answers[0].code, fields=answers[0].fields, **answers[0].extra)
            refusal.witnessed = True
            raise refusal
        language = language_of(request)
        shown = [_shown(a, r, language) for a, r in zip(answers, reports, strict=True)]
        return Response({"events": shown})


def _envelopes(request: Request) -> tuple[list[Any], bool]:
    media_type = media_types.of(request)
    if media_type not in (ONE, BATCH):
        raise Refusal("unsupported_media_type")
    value = strict_json.read(request.body)
    if media_type == ONE:
        if not isinstance(value, dict):
            raise Refusal("malformed", fields={"": "one event is an object"})
        return [value], True
    if not isinstance(value, list):
        raise Refusal("malformed", fields={"": "a batch is a list"})
    if not 1 <= len(value) <= MOST_EVENTS:
        raise Refusal("batch_too_large", fields={"": f"1 to {MOST_EVENTS} events"})
    return value, False


def _shown(answer: Answer, report: Report, language: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": report.event_id, "sequence": str(answer.seq), "outcome": answer.outcome}
    if answer.outcome == "refused":
        known = refusals.CODES[answer.code]
        shown |= {"code": answer.code, "status": known.status, "fields": answer.fields, **answer.extra}
        shown["title"] = known.thai if language == "th" else known.english
    return shown


class SignatureShape(Shape):
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)
    type = serializers.CharField(max_length=80, help_text="the event's: `pokdeng.card_ruled.v1`")
    subject = serializers.CharField(max_length=80, help_text="the event's: `rounds/{UUID}`")
    data = serializers.DictField(help_text="the event's, to the letter")  # type: ignore[assignment]


class Signatures(Door):
    """Another person's sign-off, bound to the bytes of one event."""

    declares: ClassVar = {"POST": "take_signature"}

    @extend_schema(
        operation_id="takeSignature",
        request=SignatureShape,
        responses={201: described("SignatureTaken", {"id": serializers.UUIDField()})},
    )
    @refuses("not_on_duty", "table_closed")
    def post(self, request: Request) -> Response:
        """Check badge and PIN and return the id to send as the event's ``signature``. A ruling, a removal, a waiver,
        a void, a mispay and a change of recorder are signed by a supervisor on duty there or a manager."""
        given = self.body(SignatureShape)
        device = self.device
        person = self.second_person(given)
        bound = event_payloads.content_sha256(given["type"], given["subject"], given["data"])
        signature = self.act(
            lambda act: people.sign(
                person=person,
                device=device,
                session=tables.lock_session(device.table),
                sha256=bound,
                now=act.now,
                rules=event_payloads.kind_of(given["type"]) in rounds.NEEDS_SIGNATURE,
            )
        )
        return Response({"id": str(signature.id)}, status=201)


class DutyShape(Shape):
    role = serializers.ChoiceField(["dealer", "supervisor"])
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


DutyShown = described(
    "OnDuty",
    {
        "role": serializers.ChoiceField(["dealer", "supervisor"]),
        "person": serializers.UUIDField(),
        "badge": serializers.CharField(),
        "since": serializers.DateTimeField(),
    },
)


class TableDuty(Door):
    """Who deals and who watches at a table."""

    declares: ClassVar = {"GET": "read_duty", "POST": "change_duty"}

    @extend_schema(
        operation_id="listDuty", responses={200: described("TableDuty", {"duty": DutyShown(many=True)})}
    )
    def get(self, request: Request, code: str) -> Response:
        """Say who is on duty at the table now; nobody where it is closed."""
        table = tables.of_code(code)
        people.require_at(self.principal, "read_duty", table.id)
        found = Duty.objects.filter(session__table=table, session__closed_at=None, off_at=None)
        return Response(
            {
                "duty": [
                    {"role": d.role, "person": str(d.person_id), "badge": d.person.badge, "since": d.on_at}
                    for d in found.select_related("person").order_by("role")
                ]
            }
        )

    @extend_schema(
        operation_id="changeDuty",
        request=DutyShape,
        responses={
            201: described(
                "DutyChanged",
                {
                    "role": serializers.ChoiceField(["dealer", "supervisor"]),
                    "since": serializers.DateTimeField(),
                },
            )
        },
    )
    @refuses("not_on_duty", "sod_violation", "table_closed")
    def post(self, request: Request, code: str) -> Response:
        """Put a person on duty, by their own badge and PIN; who was there comes off at the same instant.

        A dealer comes on at the table's terminal, while a supervisor is on duty there, or at the desk of that
        supervisor. A supervisor comes on at a desk: their own, or that of the one who goes. A manager puts anybody on.
        """
        table = tables.of_code(code)
        people.require_at(self.principal, "change_duty", table.id)
        watches = self._watches(table)
        given = self.body(DutyShape)
        if self.principal.kind == "device" and given["role"] != Role.DEALER:
            raise Refusal("forbidden")
        if self.principal.role == Role.SUPERVISOR and not watches and given["badge"] != self.person.badge:
            raise Refusal("not_found")
        person = self.second_person(given)
        if person.role != given["role"]:
            raise Refusal("second_person_forbidden")
        if self.principal.kind == "device" and not watches:
            raise Refusal("not_on_duty")
        duty = self.act(
            lambda act: tables.relieve(
                session=tables.lock_session(table), role=given["role"], person=person, now=act.now
            )
        )
        return Response({"role": duty.role, "since": duty.on_at}, status=201)

    def _watches(self, table: Table) -> bool:
        """Whether the supervisor who knocks is on duty at the table; at a terminal, whether any is."""
        duties = Duty.objects.filter(
            session__table=table, session__closed_at=None, off_at=None, role=Role.SUPERVISOR
        )
        if self.principal.kind != "device":
            duties = duties.filter(person=self.principal.id)
        return duties.exists()


class StopShape(Shape):
    reason = serializers.ChoiceField(["count_deck", "wrong_sheet_shown", "investigation", "other"])


class TableStop(Door):
    """Stop a table, and let it go on."""

    declares: ClassVar = {"POST": "stop_table", "DELETE": "stop_table"}

    @extend_schema(operation_id="stopTable", request=StopShape, responses={200: TableShown})
    @refuses("table_closed", "table_stopped")
    def post(self, request: Request, code: str) -> Response:
        """Stop the table with a reason; no bets are covered until it resumes."""
        table = self._table(code)
        given = self.body(StopShape)
        self.act(lambda _: tables.stop(table=table, reason=given["reason"]))
        return self._answer(table)

    @extend_schema(operation_id="resumeTable", responses={200: TableShown})
    @refuses("table_closed")
    def delete(self, request: Request, code: str) -> Response:
        """Let the stopped table go on."""
        table = self._table(code)
        self.act(lambda _: tables.resume(table=table))
        return self._answer(table)

    def _table(self, code: str) -> Table:
        table = tables.of_code(code)
        people.require_at(self.principal, "stop_table", table.id)
        return table

    def _answer(self, table: Table) -> Response:
        table.refresh_from_db()
        session = tables.session_of(table.id)
        missing = tables.missing_rounds([session.id] if session else [])
        return Response(table_shown(table, session, missing))
