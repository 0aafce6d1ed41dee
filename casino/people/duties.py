"""Who is on duty, whose sign-off counts, and who may not do both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from casino import events
from casino.events import Fact
from casino.models import Device, Duty, Person, Role, Round, RoundEvent, Signature, TableSession
from casino.platform.refusals import Refusal

RULERS = (Role.SUPERVISOR, Role.MANAGER)
"""Whose sign-off counts under a ruling, a removal, a waiver or a void: a supervisor on duty there, or a manager."""


AT_TABLES = (Role.DEALER, Role.SUPERVISOR, Role.MANAGER)
"""Who may act at a table at all. What a device says of anybody else there cannot be."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What somebody was, and from when until when: their appointments in the order in which they were made. ``now`` is
    what their row says, which counts where nobody ever appointed them."""

    now: str
    appointed: tuple[tuple[str, datetime, datetime | None], ...] = ()

    @classmethod
    def read(cls, now: str, appointed: Iterable[tuple[str, str, str | None]]) -> Roles:
        """Return what the database wrote of somebody, instants as text."""
        read = datetime.fromisoformat
        return cls(
            now,
            tuple((role, read(since), read(until) if until else None) for role, since, until in appointed),
        )

    def at(self, instant: datetime) -> str:
        """Return the role at an instant: that of the newest appointment in force, empty where none was."""
        if not self.appointed:
            return self.now
        in_force = [
            role
            for role, since, until in self.appointed
            if since <= instant and (until is None or instant < until)
        ]
        return in_force[-1] if in_force else ""

    def may_act_at_tables(self, instant: datetime) -> bool:
        """Say whether they could act at a table then. Who was not appointed yet, or not any more, is no such role: what
        a device says of them is recorded, and flagged."""
        return self.at(instant) in (*AT_TABLES, "")


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


def require_ruler(person: Person, session: TableSession) -> None:
    """Refuse a sign-off that does not count at this session: ``second_person_forbidden`` for a role that could never
    give one, ``not_on_duty`` for a supervisor who is elsewhere."""
    if person.role not in RULERS:
        raise Refusal("second_person_forbidden")
    if not may_rule(person, session):
        raise Refusal("not_on_duty")


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


def require_two_for_places(by: Person, approved_by: Person) -> None:
    """Refuse unless a manager adds or ends a place with another, or with an administrator: ``sod_violation``,
    ``forbidden``, ``second_person_forbidden``."""
    different(by.id, approved_by.id)
    if not by.is_active or by.role != Role.MANAGER:
        raise Refusal("forbidden")
    if not approved_by.is_active or approved_by.role not in (Role.MANAGER, Role.ADMINISTRATOR):
        raise Refusal("second_person_forbidden")


def sign(
    *,
    person: Person,
    device: Device,
    session: TableSession,
    sha256: bytes,
    now: datetime,
    rules: bool = False,
) -> Signature:
    """Keep a person's sign-off for exactly the content whose hash this is.

    What ``rules`` takes whoever may rule there (``require_ruler``); anything else anybody may sign. Whether a sign-off
    counts under a ruling (``may_rule``) is decided now, by who is on duty.
    """
    if rules:
        require_ruler(person, session)
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
