"""A table's sessions: open, relieve, stop, close. Called by ``settlement.table_floats`` for opening and closing, which
counts and posts the float first; a session has no door of its own."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Max, Q

from casino import events, people
from casino.events import Fact
from casino.models import Cage, Device, Duty, Person, Round, Standing, Table, TableSession
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register("code_taken", 409, "A table or a cage has that code.", "มีโต๊ะหรือห้องแคชเชียร์รหัสนี้แล้ว")
refusals.register("table_ended", 409, "That table has been ended.", "โต๊ะนี้เลิกใช้แล้ว")


def add(
    *,
    code: str,
    currency: str,
    camera: bool,
    camera_grace_ms: int = 1000,
    by: Person | None = None,
    approved_by: Person | None = None,
) -> Table:
    """Set up a table on the floor, closed; ``camera`` says whether one reads its cards beside the terminal, and
    ``camera_grace_ms`` how long a closed round waits for its last reads.

    ``by`` is a manager, ``approved_by`` another or an administrator; without people only the service furnishes a
    house that nobody has added a table to. Refuses ``code_taken``, ``sod_violation``, ``forbidden`` and
    ``second_person_forbidden``. Must run in an act.
    """
    act = events.current()
    if by is not None and approved_by is not None:
        people.require_two_for_places(by, approved_by)
    elif act.actor != events.SERVICE:
        raise Refusal("forbidden")
    require_free(code)
    table = Table.objects.create(
        code=code,
        currency=currency,
        camera=camera,
        camera_grace_ms=camera_grace_ms,
        added_by=by,
        added_with=approved_by,
        added_at=None if by is None else act.now,
    )
    told = {
        "id": str(table.id),
        "currency": currency,
        "camera": int(camera),
        "camera_grace_ms": camera_grace_ms,
        "added_by": str(by.id) if by else None,
        "added_with": str(approved_by.id) if approved_by else None,
    }
    events.announce([Fact("table.added", f"tables/{code}", told, table=code)])
    return table


def end(*, table: Table, by: Person, approved_by: Person) -> Table:
    """End a closed table: it is never opened again, and its devices are heard no more. What was played there may still
    be corrected. Who calls this has seen that it holds no money (``settlement.table_floats``).

    Refuses ``table_ended``, ``table_open``, ``rounds_unfinished`` with the numbers of rounds that wait for somebody,
    and what ``add`` refuses of people. Must run in an act.
    """
    act = events.current()
    people.require_two_for_places(by, approved_by)
    locked = Table.objects.select_for_update().get(pk=table.pk)
    if locked.ended_at is not None:
        raise Refusal("table_ended")
    if locked.state != Table.State.CLOSED:
        raise Refusal("table_open")
    waiting = Round.objects.filter(table=table, alias_of=None)
    waiting = waiting.filter(
        Q(standing__in=[Standing.PLAYING, Standing.DUE, Standing.HELD]) | Q(in_dispute=True)
    )
    if numbers := list(waiting.order_by("number").values_list("number", flat=True)[:100]):
        raise Refusal("rounds_unfinished", rounds=numbers)
    locked.ended_by, locked.ended_with, locked.ended_at = by, approved_by, act.now
    locked.save(update_fields=["ended_by", "ended_with", "ended_at"])
    told = {"ended_by": str(by.id), "ended_with": str(approved_by.id)}
    events.announce([Fact("table.ended", f"tables/{locked.code}", told, table=locked.code)])
    return locked


def require_free(code: str) -> None:
    """Refuse ``code_taken``: accounts of a table and of a cage end in their codes alike. Ended places keep theirs."""
    if Table.objects.filter(code__in=[code]).exists() or Cage.objects.filter(code__in=[code]).exists():
        raise Refusal("code_taken", fields={"code": "a table or a cage has it"})


def lock_session(table: Table) -> TableSession:
    """Return the table's open session, locked; refuse ``table_closed``."""
    session = TableSession.objects.select_for_update().filter(table=table, closed_at=None).first()
    if session is None:
        raise Refusal("table_closed")
    return session


def open(*, table: Table, dealer: Person, supervisor: Person, now: datetime) -> TableSession:
    """Open a session with a dealer and a supervisor on duty, two different people; refuse ``table_open``."""
    people.different(dealer.id, supervisor.id)
    locked = Table.objects.select_for_update().get(pk=table.pk)
    if locked.ended_at is not None:
        raise Refusal("table_ended")
    if locked.state != Table.State.CLOSED:
        raise Refusal("table_open")
    session = TableSession.objects.create(id=events.uuid7(now), table=table, opened_at=now)
    Duty.objects.bulk_create(
        [
            Duty(session=session, person=dealer, role="dealer", on_at=now),
            Duty(session=session, person=supervisor, role="supervisor", on_at=now),
        ]
    )
    Table.objects.filter(pk=table.pk).update(state=Table.State.OPEN, stop_reason="")
    events.announce(
        [
            Fact(
                "table.opened",
                f"tables/{table.code}",
                {"session": str(session.id), "dealer": str(dealer.id), "supervisor": str(supervisor.id)},
                table=table.code,
            )
        ]
    )
    return session


def relieve(*, session: TableSession, role: str, person: Person, now: datetime) -> Duty:
    """Put ``person`` on duty as ``dealer`` or ``supervisor``; who was there comes off at the same instant."""
    others = Duty.objects.filter(session=session, off_at=None).exclude(role=role)
    if others.filter(person=person).exists():
        raise Refusal("sod_violation")
    Duty.objects.filter(session=session, role=role, off_at=None).update(off_at=now)
    duty = Duty.objects.create(session=session, person=person, role=role, on_at=now)
    events.announce(
        [
            Fact(
                "duty.changed",
                f"tables/{session.table.code}",
                {"session": str(session.id), "role": role, "person": str(person.id)},
                table=session.table.code,
            )
        ]
    )
    return duty


def stop(*, table: Table, reason: str) -> None:
    """Stop an open table: no bets are covered until it resumes. What is dealt all the same is recorded.

    Refuses ``table_closed``, and ``table_stopped`` where it has been stopped: the first reason stands.
    """
    if not Table.objects.filter(pk=table.pk, state=Table.State.OPEN).update(
        state=Table.State.STOPPED, stop_reason=reason
    ):
        stopped = Table.objects.filter(pk=table.pk, state=Table.State.STOPPED).exists()
        raise Refusal("table_stopped" if stopped else "table_closed")
    events.announce(
        [Fact("table.stopped", f"tables/{table.code}", {"reason_code": reason}, table=table.code)]
    )


def resume(*, table: Table) -> None:
    """Let a stopped table go on."""
    if not Table.objects.filter(pk=table.pk, state=Table.State.STOPPED).update(
        state=Table.State.OPEN, stop_reason=""
    ):
        raise Refusal("table_closed")
    events.announce([Fact("table.resumed", f"tables/{table.code}", {}, table=table.code)])


def close(
    *,
    session: TableSession,
    last_round: int,
    carried_over_by: tuple[Person, Person] | None,
    now: datetime,
    despite_missing: tuple[Person, Person] | None = None,
) -> None:
    """Close a locked session.

    Refused while numbers of the table's devices are missing or unsent (``device_numbers_missing``, with the ranges)
    and no two different people close ``despite_missing``, by name: such a close is provisional. So it is over round
    numbers that are missing and were not waived (``round_numbers_missing``, with the ranges). Refused while rounds are
    being played or wait to be settled, or are held and nobody carries them over (``rounds_unfinished``, with their
    numbers), and where the stated last round is not the last recorded (``last_round_differs``). Held rounds are carried
    over by two different people, by name.
    """
    missing = missing_numbers(session)
    if missing and despite_missing is None:
        raise Refusal("device_numbers_missing", devices=missing)
    unplayed = missing_rounds([session.id]).get(session.id, [])
    if unplayed and despite_missing is None:
        raise Refusal("round_numbers_missing", rounds=unplayed)
    if despite_missing is not None:
        people.different(*(person.id for person in despite_missing))
    rounds = Round.objects.filter(session=session, alias_of=None)
    unfinished = rounds.filter(Q(standing__in=[Standing.PLAYING, Standing.DUE]))
    held = list(rounds.filter(standing=Standing.HELD).order_by("number").values_list("id", "number"))
    playing = list(unfinished.order_by("number").values_list("number", flat=True))
    if playing or (held and carried_over_by is None):
        raise Refusal("rounds_unfinished", rounds=playing + [number for _, number in held])
    if carried_over_by is not None:
        people.different(*(person.id for person in carried_over_by))
    recorded = rounds.aggregate(last=Max("number"))["last"] or 0
    if last_round != recorded:
        raise Refusal("last_round_differs", recorded=recorded)
    TableSession.objects.filter(pk=session.pk).update(closed_at=now, last_round=last_round)
    Duty.objects.filter(session=session, off_at=None).update(off_at=now)
    Table.objects.filter(pk=session.table_id).update(state=Table.State.CLOSED, stop_reason="")
    carried: dict[str, object] = {}
    if held and carried_over_by is not None:
        carried = {
            "held": [str(key) for key, _ in held],
            "carried_over_by": [str(person.id) for person in carried_over_by],
        }
    if (missing or unplayed) and despite_missing is not None:
        carried |= {"missing": missing, "despite_missing": [str(person.id) for person in despite_missing]}
        if unplayed:
            carried["missing_rounds"] = unplayed
    events.announce(
        [
            Fact(
                "table.closed",
                f"tables/{session.table.code}",
                {"session": str(session.id), "last_round": last_round, **carried},
                table=session.table.code,
            )
        ]
    )


def missing_numbers(session: TableSession) -> dict[str, list[list[int]]]:
    """Return the numbers of the table's devices that did not arrive: those lost on the way, and those that a device
    says it gave and has not sent."""
    missing: dict[str, list[list[int]]] = {}
    for device in Device.objects.filter(table=session.table_id, revoked_at=None).order_by("code"):
        ranges = [list(hole) for hole in device.holes]
        stated = device.stated or {}
        if stated.get("unsent") and stated["next"] - 1 > device.last_seq:
            ranges.append([device.last_seq + 1, stated["next"] - 1])
        if ranges:
            missing[device.code] = ranges
    return missing


_MISSING_ROUNDS = """
SELECT s.id, lower(hole), upper(hole) - 1 FROM casino_tablesession s
 CROSS JOIN LATERAL (SELECT max(number)::bigint AS last, range_agg(int8range(number, number::bigint + 1)) AS numbers
                       FROM casino_round WHERE session_id = s.id AND alias_of_id IS NULL AND number IS NOT NULL) AS told
 CROSS JOIN LATERAL unnest(
       int8multirange(int8range(1, greatest(told.last, s.last_round, 0) + 1)) - coalesce(told.numbers, '{}')
       - coalesce((SELECT range_agg(int8range(first, last::bigint + 1)) FROM casino_roundwaiver
                    WHERE session_id = s.id), '{}')) AS hole
 WHERE s.id = ANY(%s::uuid[]) ORDER BY s.id, 2
"""


def missing_rounds(sessions: Iterable[UUID]) -> dict[UUID, list[list[int]]]:
    """Return the round numbers up to each session's last that were neither recorded nor waived, as ranges
    ``[[first, last], …]``: a number typed wrongly makes one of them, however wide. One statement."""
    missing: dict[UUID, list[list[int]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_MISSING_ROUNDS, [list(sessions)])
        for session, first, last in cursor.fetchall():
            missing.setdefault(session, []).append([first, last])
    return missing


def of_code(code: str) -> Table:
    """Return the table; refuse ``not_found``."""
    table = Table.objects.filter(code=code).first() if code.isalnum() else None
    if table is None:
        raise Refusal("not_found")
    return table


def session_of(table_id: UUID) -> TableSession | None:
    """Return the open session of a table, None while it is closed."""
    return TableSession.objects.filter(table=table_id, closed_at=None).first()
