"""The cages of the house: added and ended by two people, and asked for by name wherever money moves at one."""

from __future__ import annotations

from django.db import connection

from casino import events, people, tables
from casino.events import Fact
from casino.models import Cage, Person
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register("unknown_cage", 422, "There is no such cage.", "ไม่มีห้องแคชเชียร์นี้")
refusals.register("cage_ended", 409, "That cage has been ended.", "ห้องแคชเชียร์นี้เลิกใช้แล้ว")


def add(*, code: str, by: Person, approved_by: Person) -> Cage:
    """Add a cage, with an empty vault. ``by`` is a manager, ``approved_by`` another or an administrator.

    Refuses ``code_taken`` where a cage or a table has the code, ended ones too, ``sod_violation``, ``forbidden`` and
    ``second_person_forbidden``. Must run in an act.
    """
    act = events.current()
    people.require_two_for_places(by, approved_by)
    tables.require_free(code)
    cage = Cage.objects.create(code=code, added_by=by, added_with=approved_by, added_at=act.now)
    told = {"added_by": str(by.id), "added_with": str(approved_by.id)}
    events.announce([Fact("cage.added", f"cages/{code}", told)])
    return cage


def end(*, cage: Cage, by: Person, approved_by: Person) -> Cage:
    """Let nothing move at a cage any more; who calls this has seen, behind ``hold_alone``, that it is empty
    (``settlement.cashier``).

    Refuses ``cage_ended`` where it has been, and what ``add`` refuses of people.
    """
    act = events.current()
    people.require_two_for_places(by, approved_by)
    locked = hold_alone(cage)
    if locked.ended_at is not None:
        raise Refusal("cage_ended")
    locked.ended_by, locked.ended_with, locked.ended_at = by, approved_by, act.now
    locked.save(update_fields=["ended_by", "ended_with", "ended_at"])
    told = {"ended_by": str(by.id), "ended_with": str(approved_by.id)}
    events.announce([Fact("cage.ended", f"cages/{locked.code}", told)])
    return locked


def hold_alone(cage: Cage) -> Cage:
    """Wait for every act that moves money at the cage, and keep others from beginning one until this act ends."""
    return Cage.objects.select_for_update().get(pk=cage.pk)


def of_code(code: str) -> Cage:
    """Return a cage, ended or not; refuse ``not_found``."""
    found = Cage.objects.filter(code=code).first() if code.isalnum() else None
    if found is None:
        raise Refusal("not_found")
    return found


def require_open(code: str) -> None:
    """Refuse ``unknown_cage`` and ``cage_ended``: nothing moves there. Nobody ends the cage until the act is over. One
    statement; the database asks again when money moves."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ended_at FROM casino_cage WHERE code = %s FOR KEY SHARE", [code])
        row = cursor.fetchone()
    if row is None:
        raise Refusal("unknown_cage", fields={"cage": "no such cage"})
    if row[0] is not None:
        raise Refusal("cage_ended", fields={"cage": "ended"})
