"""Who works here: taken on, appointed and let go, by an administrator with a manager; nobody touches their own.

What a person may do is their newest appointment in force. It is put down in their row when it begins and when another
takes its place, by whoever looks first: a sweep, or the person's own next request. So a role or a permission that was
given until a moment ends by itself.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db.models import Q

from casino import events
from casino.events import Fact
from casino.models import NEEDS_ONE, Appointment, HandOver, Person, Role
from casino.people.duties import different
from casino.platform import refusals, values
from casino.platform.refusals import Refusal

refusals.register("badge_taken", 409, "Somebody has or had that badge.", "มีคนใช้หรือเคยใช้รหัสบัตรนี้แล้ว")
refusals.register("person_active", 409, "That person has an active account.", "บุคคลนี้มีบัญชีที่ใช้งานอยู่แล้ว")
refusals.register("person_ended", 409, "That person does not work here any more.", "บุคคลนี้ไม่ได้ทำงานที่นี่แล้ว")
refusals.register("wrong_code", 401, "That code is wrong, used or over.", "รหัสนี้ผิด ใช้ไปแล้ว หรือหมดอายุ")

PERMISSIONS: dict[str, frozenset[str]] = {
    "counter": frozenset({Role.CASHIER}),
    "runner": frozenset({Role.DEALER, Role.SUPERVISOR, Role.CASHIER}),
    "accounting": frozenset({Role.MANAGER, Role.AUDITOR}),
    "compliance": frozenset({Role.MANAGER, Role.SURVEILLANCE, Role.AUDITOR}),
    "rules_author": frozenset({Role.MANAGER}),
    "rules_approver": frozenset({Role.MANAGER}),
    "see_expected": frozenset({Role.AUDITOR}),
}
"""Narrower duties, and the roles inside which they may be held."""

HAND_OVER = timedelta(days=7)
"""How long a code to take over an account is good."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What somebody shall be and may do, from a moment on (now, where None) until another (None: for good)."""

    role: str
    permissions: Sequence[str] = ()
    from_at: datetime | None = None
    until_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody to be taken on. ``staff_no`` is the house's own number of the person, never a name."""

    badge: str
    display_name: str
    staff_no: str


def take_on(
    newcomer: Newcomer, rights: Rights, *, by: Person, approved_by: Person | None
) -> tuple[Person, HandOver, str]:
    """Add a member of the staff; return them, and the code by which they take over their account, shown this once.

    ``by`` is an administrator; ``approved_by`` a manager, who is needed for every permission and for every role that
    moves or decides money. Refuses ``badge_taken``, ``person_active``, ``second_person_needed``, ``sod_violation``,
    ``forbidden``, ``second_person_forbidden``, ``invalid_value``. Must run in an act.
    """
    act = events.current()
    _require_two(rights, by=by, approved_by=approved_by)
    _require_whole(rights, now=act.now)
    if Person.objects.filter(badge__in=[newcomer.badge]).exists():
        raise Refusal("badge_taken", fields={"person.badge": "somebody has or had it"})
    if Person.objects.filter(staff_no__in=[newcomer.staff_no], ended_at=None).exists():
        raise Refusal("person_active", fields={"person.staff_no": "has an account"})
    person = Person(
        badge=newcomer.badge,
        display_name=newcomer.display_name,
        staff_no=newcomer.staff_no,
        role=rights.role,
        permissions=sorted(set(rights.permissions)),
        is_active=rights.from_at is None or rights.from_at <= act.now,
        password=make_password(None),
        pin="",
    )
    person.save(force_insert=True)
    events.announce([Fact("person.created", f"people/{person.id}", _stands(person))])
    _appointed(person, rights, by=by, approved_by=approved_by)
    turned = _turn([person.id], now=act.now)
    given, code = _handed_over(turned.get(person.id, person), by=by, approved_by=approved_by)
    return turned.get(person.id, person), given, code


def furnished(person: Person) -> None:
    """Write the appointment of somebody whom the service itself took on, while it furnishes a house that nobody has
    appointed anybody in. Must run in an act."""
    if events.current().actor != events.SERVICE:
        raise Refusal("forbidden")
    _appointed(person, Rights(person.role, person.permissions), by=None, approved_by=None)


def found(*, badge: str, role: str) -> tuple[Person, str]:
    """Take on one of the two whom a new house begins with, by the service itself; return them and the code by which
    they take over their account, shown this once. Must run in an act."""
    person = Person(badge=badge, display_name=badge, role=role, password=make_password(None), pin="")
    person.save(force_insert=True)
    furnished(person)
    events.announce([Fact("person.created", f"people/{person.id}", _stands(person))])
    return person, _handed_over(person, by=None, approved_by=None)[1]


def appoint(person: UUID, rights: Rights, *, by: Person, approved_by: Person | None) -> Appointment:
    """Decide what somebody may do from a moment on. The newest decision in force counts: when it ends by itself, the
    one before it does again. Refuses ``person_ended``, and what ``take_on`` refuses of people and rights."""
    act = events.current()
    found = _locked(person)
    different(found.id, by.id, approved_by.id if approved_by else None)
    # Whoever had a part in money is not made something less by one person alone.
    _require_two(rights, by=by, approved_by=approved_by, was=found.role)
    _require_whole(rights, now=act.now)
    made = _appointed(found, rights, by=by, approved_by=approved_by)
    _turn([found.id], now=act.now)
    return made


def let_go(person: UUID, *, by: Person) -> Person:
    """End somebody's account, at once and for good: their next request is refused. Their row stays. One
    administrator is enough to close a door, and nobody closes their own. Asked again, the first time stands."""
    act = events.current()
    found = _locked(person, ended=True)
    different(found.id, by.id)
    if not by.is_active or by.role != Role.ADMINISTRATOR:
        raise Refusal("forbidden")
    if found.ended_at is not None:
        return found
    found.is_active, found.ended_at, found.ended_by, found.turns_at = False, act.now, by, None
    found.save(update_fields=["is_active", "ended_at", "ended_by", "turns_at"])
    HandOver.objects.filter(person=found, used_at=None, expires_at__gt=act.now).update(expires_at=act.now)
    events.announce(
        [
            Fact("person.ended", f"people/{found.id}", {"ended_by": str(by.id)}),
            Fact("person.changed", f"people/{found.id}", _stands(found)),
        ]
    )
    return found


def hand_over(person: UUID, *, by: Person, approved_by: Person | None) -> tuple[HandOver, str]:
    """Make somebody a code to choose new secrets by, shown this once; the secrets they had open nothing any more.

    Two people for everybody who needed two to be appointed: whoever held the code alone could be that person. Refuses
    ``person_ended`` and what ``appoint`` refuses of people.
    """
    found = _locked(person)
    different(found.id, by.id, approved_by.id if approved_by else None)
    _require_two(Rights(found.role, found.permissions), by=by, approved_by=approved_by)
    found.password, found.pin = make_password(None), ""
    found.save(update_fields=["password", "pin"])
    return _handed_over(found, by=by, approved_by=approved_by)


def take_over(code: str, *, password: str, pin: str) -> Person:
    """Let whoever holds a code choose the secrets of its account; it is good once. Refuses ``wrong_code`` with the same
    answer for a wrong, a used and an old one, and ``invalid_value`` for secrets that are too easy. Must run in an act.
    """
    act = events.current()
    held = HandOver.objects.select_for_update().filter(sha256=sha256_of(code)).first()
    if held is None or held.used_at is not None or held.expires_at <= act.now:
        raise Refusal("wrong_code")
    person = _locked(held.person_id, ended=True)
    if person.ended_at is not None:
        raise Refusal("wrong_code")
    _choose(person, password=password, pin=pin)
    held.used_at = act.now
    held.save(update_fields=["used_at"])
    told = {"hand_over": str(held.id)}
    events.announce([Fact("person.took_over", f"people/{person.id}", told, person=person.id)])
    return person


def change_secrets(person: Person, *, password: str | None, pin: str | None) -> Person:
    """Let somebody choose another password or PIN of their own. Must run in an act."""
    found = _locked(person.id)
    _choose(found, password=password, pin=pin)
    changed = [name for name, given in (("password", password), ("pin", pin)) if given is not None]
    events.announce([Fact("person.secrets_changed", f"people/{found.id}", {"changed": changed})])
    return found


def turn_due(*, now: datetime, limit: int = 200) -> list[UUID]:
    """Return whose rights change by now: each is put down by ``turn``, one act for each."""
    due = Person.objects.filter(turns_at__lte=now, ended_at=None).order_by("turns_at")
    return list(due.values_list("id", flat=True)[:limit])


def turn(person: UUID, *, now: datetime) -> Person | None:
    """Put down what somebody may do now, in an act of the service; return them, None where they left."""
    turned = events.attempt(
        lambda _: _turn([person], now=now), actor=events.SERVICE, request_id=f"turn-{uuid4().hex}", now=now
    )
    return turned.get(person)


def current(person: Person | None, *, now: datetime) -> Person | None:
    """Return a person with the rights of this moment, None where the account is not active.

    Writes them down first, in an act of the service, where they changed by themselves; usually they did not, and it
    costs nothing.
    """
    if person is not None and person.turns_at is not None and person.turns_at <= now:
        person = turn(person.id, now=now)
    return person if person is not None and person.is_active else None


def new_code() -> str:
    """Return a code of 80 random bits, as people can copy it: four groups of four letters and digits."""
    text = base64.b32encode(secrets.token_bytes(10)).decode()
    return "-".join(text[place : place + 4] for place in range(0, 16, 4))


def sha256_of(code: str) -> bytes:
    """Return what is stored of a code; how it was grouped and typed is nothing of it."""
    return hashlib.sha256(code.replace("-", "").replace(" ", "").upper().encode(errors="replace")).digest()


def _turn(people: Collection[UUID], *, now: datetime) -> dict[UUID, Person]:
    """Put down what each of these may do now, and when that changes next; return them."""
    turned: dict[UUID, Person] = {}
    facts = []
    for person in Person.objects.select_for_update().filter(pk__in=people, ended_at=None).order_by("id"):
        made = list(
            Appointment.objects.filter(Q(until_at=None) | Q(until_at__gt=now), person=person).order_by("-id")
        )
        in_force = next((one for one in made if one.from_at <= now), None)
        before = _stands(person)
        person.is_active = in_force is not None
        if in_force is not None:
            person.role, person.permissions = in_force.role, in_force.permissions
        moments = [
            moment for one in made for moment in (one.from_at, one.until_at) if moment and moment > now
        ]
        person.turns_at = min(moments, default=None)
        person.save(update_fields=["role", "permissions", "is_active", "turns_at"])
        if _stands(person) != before:
            facts.append(Fact("person.changed", f"people/{person.id}", _stands(person)))
        turned[person.id] = person
    if facts:
        events.announce(facts)
    return turned


def _appointed(
    person: Person, rights: Rights, *, by: Person | None, approved_by: Person | None
) -> Appointment:
    act = events.current()
    made = Appointment.objects.create(
        id=events.uuid7(act.now),
        person=person,
        role=rights.role,
        permissions=sorted(set(rights.permissions)),
        from_at=rights.from_at or act.now,
        until_at=rights.until_at,
        proposed_by=by,
        approved_by=approved_by,
        made_at=act.now,
    )
    told = {
        "appointment": str(made.id),
        "role": made.role,
        "permissions": made.permissions,
        "from": made.from_at.isoformat(),
        "until": made.until_at.isoformat() if made.until_at else None,
        "proposed_by": str(by.id) if by else None,
        "approved_by": str(approved_by.id) if approved_by else None,
    }
    events.announce([Fact("person.appointed", f"people/{person.id}", told)])
    return made


def _handed_over(person: Person, *, by: Person | None, approved_by: Person | None) -> tuple[HandOver, str]:
    act = events.current()
    HandOver.objects.filter(person=person, used_at=None, expires_at__gt=act.now).update(expires_at=act.now)
    code = new_code()
    made = HandOver.objects.create(
        id=events.uuid7(act.now),
        person=person,
        sha256=sha256_of(code),
        made_by=by,
        approved_by=approved_by,
        made_at=act.now,
        expires_at=act.now + HAND_OVER,
    )
    told = {
        "hand_over": str(made.id),
        "sha256": bytes(made.sha256).hex(),
        "made_by": str(by.id) if by else None,
        "approved_by": str(approved_by.id) if approved_by else None,
    }
    events.announce([Fact("person.handed_over", f"people/{person.id}", told)])
    return made, code


def _stands(person: Person) -> dict[str, object]:
    return {
        "role": str(person.role),
        "permissions": sorted(person.permissions),
        "is_active": int(person.is_active),
    }


def _require_two(rights: Rights, *, by: Person, approved_by: Person | None, was: str = "") -> None:
    if not by.is_active or by.role != Role.ADMINISTRATOR:
        raise Refusal("forbidden")
    if approved_by is not None:
        different(by.id, approved_by.id)
        if not approved_by.is_active or approved_by.role != Role.MANAGER:
            raise Refusal("second_person_forbidden")
    elif rights.permissions or rights.role not in NEEDS_ONE or (was and was not in NEEDS_ONE):
        raise Refusal("second_person_needed")


def _require_whole(rights: Rights, *, now: datetime) -> None:
    wrong: dict[str, str] = {}
    if rights.role not in Role.values:
        wrong["role"] = f"one of {', '.join(Role.values)}"
    strange = [name for name in rights.permissions if rights.role not in PERMISSIONS.get(name, ())]
    if strange:
        wrong["permissions"] = f"not of a {rights.role}: {', '.join(sorted(strange))[:200]}"
    may = values.takes_effect(now=now)
    if rights.from_at is not None and rights.from_at not in may:
        wrong["from"] = "from now on, at most ten years ahead"
    if rights.until_at is not None and rights.until_at <= max(rights.from_at or now, now):
        wrong["until"] = "later than it begins, and than now"
    elif rights.until_at is not None and rights.until_at not in may:
        wrong["until"] = "at most ten years ahead"
    if wrong:
        raise Refusal("invalid_value", fields=wrong)


def _choose(person: Person, *, password: str | None, pin: str | None) -> None:
    wrong: dict[str, str] = {}
    if password is not None:
        try:
            validate_password(password, user=person)
        except ValidationError as fault:
            wrong["password"] = " ".join(fault.messages)[:400]
    if pin is not None and (len(set(pin)) < 3 or pin in "01234567890" or pin in "9876543210"):
        wrong["pin"] = "too easy to guess"
    if wrong:
        raise Refusal("invalid_value", fields=wrong)
    if password is not None:
        person.set_password(password)
    if pin is not None:
        person.pin = make_password(pin)
    person.save(update_fields=["password", "pin"])


def _locked(person: UUID, *, ended: bool = False) -> Person:
    found = Person.objects.select_for_update().filter(pk=person).first()
    if found is None:
        raise Refusal("not_found")
    if found.ended_at is not None and not ended:
        raise Refusal("person_ended")
    return found
