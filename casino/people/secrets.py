"""How the house knows that it is they: badges, passwords and PINs, and tries that are counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import check_password, make_password
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from casino import events
from casino.events import Fact
from casino.models import Person, WrongTries
from casino.people import register
from casino.people.rights import principal_of
from casino.refusals import Refusal

TRIES = 5
TRY_WINDOW = timedelta(minutes=5)
LONGEST = 120
"""Characters kept of whose tries are counted."""


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
    """Return the active person whose badge and secret these are.

    Refuses ``wrong_secret`` with the same answer for an unknown badge, and ``too_many_tries`` after five failures of
    the badge or of the place ``at`` (a terminal's code, an address) within five minutes. A try is counted before it
    is looked at, and given back when the secret was right: of any number at once, five are looked at. Commits its
    count itself: call it before the act, not inside.
    """
    # Longer than any badge or address is: whoever made it up may be counted with others who did.
    tried = _count_try((f"badge:{badge}"[:LONGEST], f"at:{at}"[:LONGEST]), now)
    person = register.current(Person.objects.filter(badge=badge).first(), now=now)
    known = (person.pin if with_pin else person.password) if person else ""
    if person is None or not known:
        make_password(secret)  # an unknown badge costs the time of a wrong secret
        raise Refusal("wrong_secret")
    if not check_password(secret, known):
        raise Refusal("wrong_secret")
    _give_back(tried)
    return person


_COUNT = """
INSERT INTO casino_wrongtries AS tries (principal, count, window_ends_at)
SELECT p, 1, %(ends)s FROM unnest(%(principals)s::text[]) AS p ORDER BY p
    ON CONFLICT (principal) DO UPDATE SET
       count = CASE WHEN tries.window_ends_at > %(now)s THEN tries.count + 1 ELSE 1 END,
       window_ends_at = CASE WHEN tries.window_ends_at > %(now)s AND tries.count > 0
                             THEN tries.window_ends_at ELSE %(ends)s END
 WHERE tries.window_ends_at <= %(now)s OR tries.count < %(most)s
RETURNING principal, window_ends_at
"""


def _count_try(principals: tuple[str, ...], now: datetime) -> dict[str, datetime]:
    """Count a try for each principal and return their windows; refuse where one of them has none left."""
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNT,
            {"principals": list(principals), "now": now, "ends": now + TRY_WINDOW, "most": TRIES},
        )
        counted: dict[str, datetime] = dict(cursor.fetchall())
    exhausted = [principal for principal in principals if principal not in counted]
    if exhausted:
        _give_back(counted)
        ends = max(WrongTries.objects.filter(pk__in=exhausted).values_list("window_ends_at", flat=True))
        raise Refusal("too_many_tries", retry_after=max(1, int((ends - now).total_seconds())))
    return counted


def _give_back(counted: Mapping[str, datetime]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_wrongtries SET count = count - 1 WHERE principal IN (SELECT t.principal"
            " FROM casino_wrongtries t JOIN unnest(%s::text[], %s::timestamptz[]) AS c(principal, ends)"
            " ON c.principal = t.principal AND c.ends = t.window_ends_at AND t.count > 0"
            " ORDER BY t.principal FOR UPDATE OF t)",
            [list(counted), list(counted.values())],
        )


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
        at = str(request.META.get("REMOTE_ADDR", "")) if request is not None else "shell"
        now = timezone.now()  # noqa: TID251 - Django's sign-in is a door, and passes no time
        try:
            person = check_secret(badge=username, secret=password, with_pin=False, at=at, now=now)
        except Refusal:
            return None
        signed_in(person=person, request_id=str(getattr(request, "request_id", "")), now=now)
        return person

    def get_user(self, user_id: UUID) -> Person | None:
        """Return the session's person while the account is active: a disabled one is out with the next request."""
        now = timezone.now()  # noqa: TID251 - as above
        return register.current(Person.objects.filter(pk=user_id).first(), now=now)
