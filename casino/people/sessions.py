"""How long a sign-in on a page counts.

A session has a new key at each sign-in, the same person's second one too, and when the person's role changes. It is
over after some time without a request, after twelve hours whatever happens, and at once when its person is disabled.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth import SESSION_KEY, login, logout
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest

from casino.models import Person, Role

LONGEST = timedelta(hours=12)
IDLE = timedelta(minutes=60)
IDLE_OF = {Role.AUDITOR: timedelta(minutes=15), Role.ADMINISTRATOR: timedelta(minutes=15)}
"""How long a session may rest; who reads everything and who grants rights have the shorter time."""

SEEN_EVERY = timedelta(minutes=1)
"""A session in use is written down once in this time, and may so rest a minute less."""

_BEGAN, _SEEN, _ROLE = "began_at", "seen_at", "role"


def sign_in(request: HttpRequest, person: Person, *, now: datetime) -> None:
    """Begin a session for a person who was known by their secret; nothing of an earlier one is left, nor its key."""
    request.session.flush()
    login(request, person, backend="casino.people.BadgeAndPassword")
    _begin(request.session, person, now)


def keep(request: HttpRequest, *, now: datetime) -> None:
    """Let the request's session go on, or end it; a request without one is left alone."""
    session, user = request.session, request.user
    if not isinstance(user, Person):
        if SESSION_KEY in session:
            session.flush()  # its person is disabled, or changed their password
        return
    began, seen = _instant(session, _BEGAN), _instant(session, _SEEN)
    if began is None or seen is None:
        _begin(session, user, now)
        return
    if not (now - began < LONGEST and now - seen < _idle(user)):
        logout(request)
        return
    if session.get(_ROLE) != user.role:
        session.cycle_key()
        session[_ROLE] = user.role
    if now - seen >= SEEN_EVERY:
        session[_SEEN] = now.isoformat()
        session.set_expiry(min(_idle(user), began + LONGEST - now))


def expect(request: HttpRequest) -> None:
    """Say that Django's own form is about to sign somebody in, who may be signed in already."""
    request.session.pop(_BEGAN, None)


def begin_if_new(request: HttpRequest, *, now: datetime) -> None:
    """Write down when a session began that Django's own form has just made."""
    session = request.session
    if session.modified and SESSION_KEY in session and _BEGAN not in session:
        session.cycle_key()
        if isinstance(request.user, Person):
            _begin(session, request.user, now)


def _begin(session: SessionBase, person: Person, now: datetime) -> None:
    session[_BEGAN] = session[_SEEN] = now.isoformat()
    session[_ROLE] = person.role
    session.set_expiry(min(_idle(person), LONGEST))


def _idle(person: Person) -> timedelta:
    return IDLE_OF.get(Role(person.role), IDLE)


def _instant(session: SessionBase, name: str) -> datetime | None:
    written = session.get(name)
    return datetime.fromisoformat(written) if isinstance(written, str) else None
