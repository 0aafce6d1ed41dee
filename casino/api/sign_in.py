"""Sign in and out as a person, for clients that are no browser page."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth import logout
from django.middleware.csrf import get_token
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people
from casino.api.door import Door, Shape, described
from casino.api.problems import request_id
from casino.api.rights import origin
from casino.models import Person, Role
from casino.people import sessions
from casino.platform.refusals import Refusal


class SignInShape(Shape):
    badge = serializers.CharField(max_length=40)
    password = serializers.CharField(max_length=200)


SignedInAs = described(
    "SignedInAs",
    {
        "id": serializers.UUIDField(),
        "badge": serializers.CharField(),
        "role": serializers.ChoiceField(Role.values),
        "permissions": serializers.ListField(child=serializers.CharField()),
        "csrf_token": serializers.CharField(help_text="send it as X-CSRFToken with every write"),
    },
)


def _shown(request: Request, person: Person) -> dict[str, Any]:
    return {
        "id": str(person.id),
        "badge": person.badge,
        "role": person.role,
        "permissions": person.permissions,
        "csrf_token": get_token(request._request),
    }


class Session(Door):
    """The signed-in person's session, kept by a cookie."""

    declares: ClassVar = {"POST": "public", "GET": "own_session", "DELETE": "own_session"}

    @extend_schema(operation_id="signIn", request=SignInShape, responses={200: SignedInAs})
    def post(self, request: Request) -> Response:
        """Sign in by badge and password; the answer sets the cookie and names the token that writes carry."""
        given = self.body(SignInShape)
        person = people.check_secret(
            badge=given["badge"],
            secret=given["password"],
            with_pin=False,
            at=origin(request),
            now=timezone.now(),
        )
        people.signed_in(person=person, request_id=request_id(request), now=timezone.now())
        sessions.sign_in(request._request, person, now=timezone.now())
        return Response(_shown(request, person))

    @extend_schema(operation_id="whoAmI", responses={200: SignedInAs})
    def get(self, request: Request) -> Response:
        """Say who is signed in."""
        if not isinstance(request.user, Person):
            raise Refusal("not_signed_in")
        return Response(_shown(request, request.user))

    @extend_schema(operation_id="signOut", responses={204: None})
    def delete(self, request: Request) -> Response:
        """End the session."""
        people.signed_out(person=self.person, request_id=request_id(request), now=timezone.now())
        logout(request._request)
        return Response(status=204)
