"""Who may do what: one matrix of roles, narrowed by where a person is on duty.

Deny by default: what is not in RIGHTS is refused, and an address that declares no right does not start.
Rights are read when they are asked for, so a change counts at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from uuid import UUID

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import check_password, make_password
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from casino import events
from casino.events import Fact, Principal
from casino.models import (
    Device,
    Duty,
    Person,
    Role,
    Round,
    RoundEvent,
    Signature,
    Table,
    TableSession,
    WrongTries,
)
from casino.refusals import Refusal


class Scope(Enum):
    """Where a right holds: everywhere, at the tables where the person is on duty, or at the device's own table."""

    ALL = "all"
    DUTY = "duty"
    OWN = "own"


ALL, DUTY, OWN = Scope.ALL, Scope.DUTY, Scope.OWN

RIGHTS: dict[str, dict[str, Scope]] = {
    "public": {},
    "record_events": {"terminal": OWN, "camera": OWN},
    "state_device": {"terminal": OWN, "camera": OWN},
    "take_signature": {"terminal": OWN},
    "waive_gap": {"terminal": OWN, "supervisor": DUTY, "manager": ALL},
    "read_devices": {"supervisor": DUTY, "manager": ALL, "auditor": ALL, "administrator": ALL},
    "change_duty": {"supervisor": DUTY, "manager": ALL},
    "read_duty": {
        "terminal": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "stop_table": {"supervisor": DUTY, "manager": ALL},
    "read_tables": {
        "terminal": OWN,
        "camera": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "read_rounds": {
        "terminal": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "settle": {"terminal": OWN, "dealer": DUTY, "supervisor": DUTY, "manager": ALL},
    "correct": {"supervisor": DUTY, "manager": ALL},
    "float": {"supervisor": DUTY, "manager": ALL},
    "read_ledger": {"manager": ALL, "cashier": ALL, "auditor": ALL},
    "read_sheets": {
        "terminal": OWN,
        "dealer": ALL,
        "supervisor": ALL,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "propose_sheet": {"manager": ALL},
    "approve_sheet": {"manager": ALL},
    "read_dossier": {
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "read_log": {
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
        "administrator": ALL,
    },
    "read_flags": {"supervisor": DUTY, "manager": ALL, "surveillance": ALL, "auditor": ALL},
    "answer_flag": {"surveillance": ALL, "auditor": ALL},
    "raise_dispute": {
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "cashier": ALL,
        "auditor": ALL,
    },
    "read_disputes": {"supervisor": DUTY, "manager": ALL, "surveillance": ALL, "auditor": ALL},
    "work_dispute": {"auditor": ALL},
    "decide_dispute": {"auditor": ALL, "manager": ALL},
    "own_session": dict.fromkeys(Role.values, ALL),
}
"""Every right of the service: who holds it, and where. People by their roles; ``terminal`` and ``camera`` are
devices."""

RULERS = (Role.SUPERVISOR, Role.MANAGER)
"""Whose sign-off counts under a ruling, a removal, a waiver or a void: a supervisor on duty there, or a manager."""

TRIES = 5
TRY_WINDOW = timedelta(minutes=5)


def scope_of(principal: Principal, right: str) -> Scope | None:
    """Return where ``principal`` holds ``right``, None for nowhere."""
    return RIGHTS[right].get(principal.role)


def require(principal: Principal, right: str) -> Scope:
    """Return where the right holds; refuse ``not_signed_in`` (401) or ``forbidden`` (403)."""
    scope = scope_of(principal, right)
    if scope is None:
        raise Refusal("not_signed_in" if principal.kind == "public" else "forbidden")
    return scope


def may_at(principal: Principal, right: str, table: UUID) -> bool:
    """Say whether the right holds at this table. One statement for a person on duty, none otherwise."""
    scope = scope_of(principal, right)
    if scope is ALL:
        return True
    if scope is OWN:
        return table == table_of_device(principal)
    if scope is DUTY:
        return Duty.objects.filter(
            session__table=table, session__closed_at=None, person=principal.id, off_at=None
        ).exists()
    return False


def require_at(principal: Principal, right: str, table: UUID) -> None:
    """Refuse ``not_found``: what is out of scope does not exist for the one who asks."""
    require(principal, right)
    if not may_at(principal, right, table):
        raise Refusal("not_found")


def tables_in_scope(principal: Principal, right: str) -> list[UUID] | None:
    """Return the tables at which the right holds, None for all of them; lists start from this."""
    scope = require(principal, right)
    if scope is ALL:
        return None
    if scope is OWN:
        return [table_of_device(principal)]
    duties = Duty.objects.filter(person=principal.id, off_at=None, session__closed_at=None)
    return list(duties.values_list("session__table", flat=True))


def table_of_device(principal: Principal) -> UUID:
    """Return the table a device is bound to, from its own row."""
    return Table.objects.values_list("id", flat=True).get(devices=principal.id)


def principal_of(person: Person) -> Principal:
    """Return the person as one who acts."""
    return Principal(kind="person", id=person.id, code=person.badge, role=person.role, person=person.id)


def hire(
    *, badge: str, display_name: str, role: str, password: str, pin: str, permissions: tuple[str, ...] = ()
) -> Person:
    """Add a member of the staff. ``password`` is for pages, ``pin`` (six digits) for terminals."""
    person = Person(badge=badge, display_name=display_name, role=role, permissions=list(permissions))
    person.set_password(password)
    person.pin = make_password(pin)
    person.save(force_insert=True)
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
    tried = _count_try((f"badge:{badge}", f"at:{at}"), now)
    person = Person.objects.filter(badge=badge, is_active=True).first()
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


@dataclass(frozen=True, slots=True)
class OnDuty:
    """Who is on duty in a session right now."""

    session: UUID
    dealer: UUID | None
    supervisor: UUID | None


def on_duty(session: TableSession) -> OnDuty:
    """Return the dealer and the supervisor on duty. One statement."""
    duties: Mapping[str, UUID] = dict(
        Duty.objects.filter(session=session, off_at=None).values_list("role", "person")
    )
    return OnDuty(session=session.id, dealer=duties.get("dealer"), supervisor=duties.get("supervisor"))


def may_rule(person: Person, session: TableSession) -> bool:
    """Say whether the person's sign-off counts at this session: its supervisor on duty, or a manager."""
    if person.role == Role.MANAGER:
        return True
    return (
        person.role == Role.SUPERVISOR
        and Duty.objects.filter(session=session, person=person, role="supervisor", off_at=None).exists()
    )


def dealers_of(round: Round) -> set[UUID]:
    """Return who dealt a round: the dealers on duty while it ran, and dealers named by its own events."""
    duties = Duty.objects.filter(session=round.session_id, role="dealer")
    if round.closed_at is not None:
        duties = duties.filter(on_at__lte=round.closed_at)
    if round.opened_at is not None:
        duties = duties.exclude(off_at__lt=round.opened_at)
    named = RoundEvent.objects.filter(round=round, person__role=Role.DEALER)
    return {*duties.values_list("person", flat=True), *named.values_list("person", flat=True)}


def different(*people: UUID | None) -> None:
    """Refuse ``sod_violation`` where one person stands twice among those who must be different."""
    named = [person for person in people if person is not None]
    if len(set(named)) != len(named):
        raise Refusal("sod_violation")


def sign(*, person: Person, device: Device, session: TableSession, sha256: bytes, now: datetime) -> Signature:
    """Keep a person's sign-off for exactly the content whose hash this is.

    Anybody may sign; whether the sign-off counts under a ruling (``may_rule``) is decided now, by who is on duty.
    """
    signature = Signature.objects.create(
        id=events.uuid7(now),
        person=person,
        device=device,
        session=session,
        sha256=sha256,
        may_rule=may_rule(person, session),
        signed_at=now,
    )
    events.announce(
        [
            Fact(
                "signature.given",
                f"signatures/{signature.id}",
                {"sha256": sha256.hex(), "person": str(person.id), "may_rule": int(signature.may_rule)},
                table=device.table.code,
                person=person.id,
            )
        ]
    )
    return signature


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
        return Person.objects.filter(pk=user_id, is_active=True).first()
