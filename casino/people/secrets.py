"""How the house knows that it is they: badges, passwords and PINs, and tries that are counted."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest
from django.utils import timezone

from casino import events, origins
from casino.events import Fact
from casino.models import Person
from casino.people import failures, register, sessions, tries
from casino.people.rights import principal_of
from casino.platform.refusals import Refusal


def hire(
    *, badge: str, display_name: str, role: str, password: str, pin: str, permissions: tuple[str, ...] = ()
) -> Person:
    """Add a member of the staff to a house that the service furnishes; afterwards people are taken on by people
    (``register``). ``password`` is for pages, ``pin`` (six digits) for terminals."""
    person = Person(badge=badge, display_name=display_name, role=role, permissions=list(permissions))
    person.set_password(password)
    person.pin = make_password(pin)
    person.save(force_insert=True)
    register.furnished(person)
    events.announce(
        [Fact("person.created", f"people/{person.id}", {"role": role, "permissions": sorted(permissions)})]
    )
    return person


def check_secret(*, badge: str, secret: str, with_pin: bool, at: str, now: datetime) -> Person:
    """Return the active person whose badge and secret these are. ``at`` is the origin (``casino.origins``).

    Refuses ``wrong_secret`` with the same answer, after the same work, for an unknown badge, and ``too_many_tries``
    as ``tries`` says. Commits its counts itself: call it before the act, not inside.
    """
    tried = tries.count(badge=badge, origin=at, now=now)
    person = register.current(Person.objects.filter(badge=badge).first(), now=now)
    known = (person.pin if with_pin else person.password) if person else ""
    if not known:
        make_password(secret)  # an unknown badge costs the time of a wrong secret
    elif check_password(secret, known):
        tries.was_right(tried, now=now)
        assert person is not None
        return person
    tries.was_wrong(tried, now=now)
    if tried.alarms:
        failures.alarm(tried, person=person, now=now)
    raise Refusal("wrong_secret")


def signed_in(*, person: Person, request_id: str, now: datetime) -> None:
    """Witness that a person signed in."""
    with events.act(actor=principal_of(person), request_id=request_id, now=now):
        events.announce([Fact("person.signed_in", f"people/{person.id}", {})])


def signed_out(*, person: Person, request_id: str, now: datetime) -> None:
    """Witness that a person signed out."""
    with events.act(actor=principal_of(person), request_id=request_id, now=now):
        events.announce([Fact("person.signed_out", f"people/{person.id}", {})])


class BadgeAndPassword(BaseBackend):
    """Django's sign-in (the admin's form) by the same check, count and answer as every other door."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: object,
    ) -> Person | None:
        """Return the person, or None for a wrong secret and for too many tries alike."""
        if not username or password is None:
            return None
        at = origins.of_address(origins.address_of(request)) if request is not None else origins.SHELL
        now = timezone.now()  # noqa: TID251 - Django's sign-in is a door, and passes no time
        try:
            person = check_secret(badge=username, secret=password, with_pin=False, at=at, now=now)
        except Refusal:
            return None
        signed_in(person=person, request_id=str(getattr(request, "request_id", "")), now=now)
        if request is not None and hasattr(request, "session"):
            sessions.expect(request)
        return person

    def get_user(self, user_id: UUID) -> Person | None:
        """Return the session's person while the account is active: a disabled one is out with the next request."""
        now = timezone.now()  # noqa: TID251 - as above
        return register.current(Person.objects.filter(pk=user_id).first(), now=now)
