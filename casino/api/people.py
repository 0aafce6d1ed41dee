"""Doors of the people of the house: taken on, appointed, let go, and given a code to choose their own secrets by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people
from casino.api.door import Door, Instant, PageQuery, Place, Shape, described
from casino.api.operations import refuses
from casino.api.rights import origin
from casino.models import Appointment, HandOver, Person, Role
from casino.people import Newcomer, Rights
from casino.platform.refusals import Refusal

BADGE = r"^[A-Z0-9][A-Z0-9-]{0,39}\Z"
PIN = r"^[0-9]{6}\Z"


class ManagerSignedShape(Shape):
    """A manager who signs by badge and PIN, where one is needed."""

    badge = serializers.CharField(
        max_length=40,
        required=False,
        help_text="of a manager: for every permission, and for every role but dealer and surveillance",
    )
    pin = serializers.CharField(max_length=200, required=False)


class RightsShape(Shape):
    """What somebody may do, from a moment on (now) until another (for good)."""

    role = serializers.ChoiceField(Role.values)
    permissions = serializers.ListField(
        child=serializers.ChoiceField(sorted(people.PERMISSIONS)), max_length=20, required=False, default=list
    )
    until = Instant(required=False, allow_null=True, default=None)

    def get_fields(self) -> dict[str, Any]:
        # ``from`` is no name in Python.
        return super().get_fields() | {"from": Instant(required=False, allow_null=True, default=None)}


class NewcomerShape(RightsShape):
    badge = serializers.RegexField(BADGE, help_text="for ever this person's")
    display_name = serializers.CharField(max_length=200)
    staff_no = serializers.RegexField(
        r"^[A-Za-z0-9._-]{1,40}\Z", help_text="the house's own number of the person, never a name"
    )


class TakingOnShape(ManagerSignedShape):
    person = NewcomerShape()


class AppointmentShape(ManagerSignedShape, RightsShape):
    pass


class TakeOverShape(Shape):
    code = serializers.CharField(max_length=40)
    password = serializers.CharField(max_length=200, trim_whitespace=False)
    pin = serializers.RegexField(PIN)


class SecretsShape(Shape):
    password = serializers.CharField(max_length=200, trim_whitespace=False, help_text="the one in use")
    new_password = serializers.CharField(max_length=200, trim_whitespace=False, required=False)
    new_pin = serializers.RegexField(PIN, required=False)


AppointmentShown = described(
    "Appointment",
    {
        "id": serializers.UUIDField(),
        "role": serializers.ChoiceField(Role.values),
        "permissions": serializers.ListField(child=serializers.CharField()),
        "from": serializers.DateTimeField(),
        "until": serializers.DateTimeField(allow_null=True),
        "proposed_by": serializers.CharField(
            allow_null=True, help_text="badge; null: there from the beginning"
        ),
        "approved_by": serializers.CharField(allow_null=True, help_text="badge"),
        "made_at": serializers.DateTimeField(),
    },
)
_PERSON: dict[str, Any] = {
    "id": serializers.UUIDField(),
    "badge": serializers.CharField(),
    "display_name": serializers.CharField(),
    "staff_no": serializers.CharField(),
    "role": serializers.ChoiceField(Role.values),
    "permissions": serializers.ListField(child=serializers.CharField()),
    "is_active": serializers.BooleanField(),
    "turns_at": serializers.DateTimeField(
        allow_null=True, help_text="when the rights change next, by themselves"
    ),
    "ended_at": serializers.DateTimeField(allow_null=True),
}
_CODE: dict[str, Any] = {
    "code": serializers.CharField(help_text="to take over the account by; shown this once"),
    "expires_at": serializers.DateTimeField(),
}
PersonShown = described("Person", _PERSON)
PersonInFull = described("PersonInFull", _PERSON | {"appointments": AppointmentShown(many=True)})
TakenOn = described("PersonTakenOn", {"person": PersonShown(), **_CODE})
HandedOver = described("HandOver", {"person": PersonShown(), **_CODE})


def _shown(person: Person) -> dict[str, Any]:
    return {
        "id": str(person.id),
        "badge": person.badge,
        "display_name": person.display_name,
        "staff_no": person.staff_no,
        "role": person.role,
        "permissions": person.permissions,
        "is_active": person.is_active,
        "turns_at": person.turns_at,
        "ended_at": person.ended_at,
    }


def _appointment_shown(made: Appointment) -> dict[str, Any]:
    return {
        "id": str(made.id),
        "role": made.role,
        "permissions": made.permissions,
        "from": made.from_at,
        "until": made.until_at,
        "proposed_by": made.proposed_by.badge if made.proposed_by else None,
        "approved_by": made.approved_by.badge if made.approved_by else None,
        "made_at": made.made_at,
    }


def _rights(given: Mapping[str, Any]) -> Rights:
    return Rights(given["role"], given["permissions"], from_at=given["from"], until_at=given["until"])


class PeopleDoor(Door):
    """What doors about people share."""

    def signed_by(self, given: Mapping[str, Any]) -> Person | None:
        """Return the manager whose badge and PIN the body has, None where it has neither."""
        missing = [name for name in ("badge", "pin") if name not in given]
        if len(missing) == 2:
            return None
        if missing:
            raise Refusal("missing_field", fields=dict.fromkeys(missing, "belongs to the other"))
        return self.second_person(given)

    def of_badge(self, badge: str) -> Person:
        found = Person.objects.filter(badge__in=[badge]).first()
        if found is None:
            raise Refusal("not_found")
        return found


class PeopleQuery(PageQuery):
    """Which page; after a badge."""

    cursor = Place()


class People(PeopleDoor):
    """The people of the house."""

    declares: ClassVar = {"GET": "read_people", "POST": "manage_people"}
    queries: ClassVar = {"GET": PeopleQuery}

    @extend_schema(
        operation_id="listPeople",
        responses={
            200: described(
                "People", {"people": PersonShown(many=True), "next": serializers.CharField(allow_null=True)}
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List a page of people by badge, whoever left too."""
        page = self.page
        found = Person.objects.order_by("badge")
        if page.cursor:
            found = found.filter(badge__gt=page.cursor)
        listed, last = page.cut(found)
        return Response({"people": [_shown(one) for one in listed], "next": last.badge if last else None})

    @extend_schema(operation_id="takeOn", request=TakingOnShape, responses={201: TakenOn})
    @refuses(
        "badge_taken", "person_active", "second_person_forbidden", "second_person_needed", "sod_violation"
    )
    def post(self, request: Request) -> Response:
        """Take somebody on, with a manager's badge and PIN where the role moves or decides money or has permissions.
        The answer's code is handed to the person, who chooses their own secrets with it. There is no
        Idempotency-Key, as an answer that holds a code is kept nowhere: the badge is the key, and a lost code is made
        anew."""
        given = self.body(TakingOnShape)
        by, second, wanted = self.person, self.signed_by(given), given["person"]
        newcomer = Newcomer(wanted["badge"], wanted["display_name"], wanted["staff_no"])
        person, made, code = self.act(
            lambda _: people.take_on(newcomer, _rights(wanted), by=by, approved_by=second)
        )
        return Response(_handed_over(person, made, code), status=201)


class PersonDetail(PeopleDoor):
    """One member of the staff."""

    declares: ClassVar = {"GET": "read_people"}

    @extend_schema(operation_id="readPerson", responses={200: PersonInFull})
    def get(self, request: Request, badge: str) -> Response:
        """Read who somebody is here, and every decision about what they may do, newest first."""
        person = self.of_badge(badge)
        made = Appointment.objects.select_related("proposed_by", "approved_by").filter(person=person)
        return Response(
            _shown(person) | {"appointments": [_appointment_shown(one) for one in made.order_by("-id")[:200]]}
        )


class Appointments(PeopleDoor):
    """What somebody may do."""

    declares: ClassVar = {"POST": "manage_people"}

    @extend_schema(operation_id="appoint", request=AppointmentShape, responses={201: AppointmentShown})
    @refuses("person_ended", "second_person_forbidden", "second_person_needed", "sod_violation")
    def post(self, request: Request, badge: str) -> Response:
        """Decide what somebody may do from a moment on, and until which; the newest decision in force counts, and
        the one before it again when it ends. A manager signs where the role, old or new, moves or decides
        money, or where there are permissions. Nobody appoints themselves."""
        person, given = self.of_badge(badge), self.body(AppointmentShape)
        by, second = self.person, self.signed_by(given)
        made = self.act(lambda _: people.appoint(person.id, _rights(given), by=by, approved_by=second))
        return Response(_appointment_shown(made), status=201)


class Leaving(PeopleDoor):
    """The end of somebody's account."""

    declares: ClassVar = {"POST": "manage_people"}

    @extend_schema(operation_id="letGo", request=None, responses={200: PersonShown})
    @refuses("person_ended", "sod_violation")
    def post(self, request: Request, badge: str) -> Response:
        """End an account at once and for good; its row stays. Asked again, the first time stands."""
        person, by = self.of_badge(badge), self.person
        return Response(_shown(self.act(lambda _: people.let_go(person.id, by=by))))


class HandOvers(PeopleDoor):
    """Another code for somebody who lost theirs, or their secrets."""

    declares: ClassVar = {"POST": "manage_people"}

    @extend_schema(operation_id="handOver", request=ManagerSignedShape, responses={201: HandedOver})
    @refuses("person_ended", "second_person_forbidden", "second_person_needed", "sod_violation")
    def post(self, request: Request, badge: str) -> Response:
        """Make a code by which somebody chooses new secrets; the old ones open nothing any more, and a code made before
        is over. A manager signs for whoever needed one to be appointed."""
        person, given = self.of_badge(badge), self.body(ManagerSignedShape)
        by, second = self.person, self.signed_by(given)
        made, code = self.act(lambda _: people.hand_over(person.id, by=by, approved_by=second))
        return Response(_handed_over(made.person, made, code), status=201)


class TakeOver(Door):
    """An account that its person takes over."""

    declares: ClassVar = {"POST": "public"}

    @extend_schema(
        operation_id="takeOver",
        request=TakeOverShape,
        responses={200: described("TookOver", {"badge": serializers.CharField()})},
    )
    @refuses("not_found", "person_ended", "wrong_code")
    def post(self, request: Request) -> Response:
        """Choose password and PIN with the code that was handed over; it is good once. The PIN has six digits and is
        none that people try first."""
        given = self.body(TakeOverShape)
        person = self.act(
            lambda _: people.take_over(given["code"], password=given["password"], pin=given["pin"])
        )
        return Response({"badge": person.badge})


class OwnSecrets(Door):
    """A person's own password and PIN."""

    declares: ClassVar = {"PUT": "own_session"}

    @extend_schema(operation_id="changeSecrets", request=SecretsShape, responses={204: None})
    @refuses("not_found", "person_ended")
    def put(self, request: Request) -> Response:
        """Choose another password, another PIN, or both, with the password in use. Sessions begun with another password
        end, this one too."""
        given = self.body(SecretsShape)
        if "new_password" not in given and "new_pin" not in given:
            raise Refusal("missing_field", fields={"new_password": "or new_pin"})
        person = people.check_secret(
            badge=self.person.badge,
            secret=given["password"],
            with_pin=False,
            at=origin(request),
            now=timezone.now(),
        )
        self.act(
            lambda _: people.change_secrets(
                person, password=given.get("new_password"), pin=given.get("new_pin")
            )
        )
        return Response(status=204)


def _handed_over(person: Person, made: HandOver, code: str) -> dict[str, Any]:
    return {"person": _shown(person), "code": code, "expires_at": made.expires_at}
