"""What becomes of a break: assigned, explained, resolved, approved; or it clears itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events, people
from casino.events import Fact
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.breaks.break_kinds import CATALOGUE
from settlement.ledger import NewJournal, Posting
from settlement.models import Break, BreakState, Resolution

refusals.register(
    "break_moved", 409, "The break is not where this would take it on.", "รายการต่างนี้ไม่อยู่ในขั้นที่ทำเช่นนี้ได้"
)


def assign(*, id: UUID, to: Person, by: Person) -> Break:
    """Give a break to whoever will find out; refuses ``break_moved``, ``not_found``, and ``forbidden`` for a person
    who may not work on breaks. Given again, it is somebody else's."""
    if not to.is_active or people.scope_of(people.principal_of(to), "work_break") is None:
        raise Refusal("invalid_value", fields={"to": "may not work on breaks"})
    moved = _step(
        id,
        ("mismatched", "assigned", "explained"),
        BreakState.ASSIGNED,
        by=by,
        changes={"assigned_to_id": to.id},
    )
    events.announce([Fact("break.assigned", f"breaks/{id}", _told(moved, by, "") | {"to": str(to.id)})])
    return moved


def explain(*, id: UUID, reason: str, by: Person) -> Break:
    """Say why the books differ; said again, the later word counts and both stay. Refuses as ``assign`` does."""
    moved = _step(id, ("assigned", "explained"), BreakState.EXPLAINED, by=by, reason=reason)
    events.announce([Fact("break.explained", f"breaks/{id}", _told(moved, by, reason))])
    return moved


def resolve(
    *, id: UUID, resolution: str, reason: str, by: Person, postings: Sequence[Posting] = (), rule: str = ""
) -> Break:
    """End an explained break by a journal of ``postings``, by a dated ``rule``, or by nothing.

    A journal is posted in the running day, in the break's currency. Refuses ``invalid_value`` where what is given does
    not fit, ``break_moved``, and whatever the ledger refuses; then nothing moved.
    """
    act = events.current()
    _require_fitting(resolution, postings=postings, rule=rule)
    posted: NewJournal | None = None
    journal: UUID | None = None
    if postings:
        today = days.of(act.now)
        ledger.share_day([today])
        posted = NewJournal(
            kind="break_resolved",
            key=f"break:{id}",
            gaming_day=today,
            currency=settings.PROPERTY["currency"],
            postings=tuple(postings),
        )
        # Accounts are locked before the break; where it has moved on meanwhile, the act posts nothing after all.
        (journal,) = ledger.post([posted])
    moved = _step(
        id,
        ("explained",),
        BreakState.RESOLVED,
        by=by,
        reason=reason,
        changes={"resolution": resolution, "rule": rule, "journal_id": journal, "resolved_by_id": by.id},
    )
    told = _told(moved, by, reason) | {"resolution": resolution, "rule": rule}
    if posted is not None and journal is not None:
        told["journal"] = posted.described(journal)
    events.announce([Fact("break.resolved", f"breaks/{id}", told)])
    return moved


def approve(*, id: UUID, by: Person) -> Break:
    """Agree with how a break was resolved; refuses ``sod_violation`` to whoever resolved it."""
    known = _known(id)
    people.different(known.resolved_by_id, by.id)
    moved = _step(id, ("resolved",), BreakState.APPROVED, by=by, changes={"approved_by_id": by.id})
    events.announce([Fact("break.approved", f"breaks/{id}", _told(moved, by, ""))])
    return moved


def _require_fitting(resolution: str, *, postings: Sequence[Posting], rule: str) -> None:
    if resolution not in Resolution.values:
        raise Refusal("invalid_value", fields={"resolution": " · ".join(Resolution.values)})
    if (resolution == Resolution.JOURNAL) != bool(postings):
        raise Refusal("invalid_value", fields={"postings": "given with a journal, and with nothing else"})
    if (resolution == Resolution.RULE) != bool(rule):
        raise Refusal("invalid_value", fields={"rule": "named with a rule, and with nothing else"})
    amounts = [posting.amount for posting in postings]
    if postings and (len(amounts) < 2 or 0 in amounts or sum(amounts)):
        raise Refusal("invalid_value", fields={"postings": "two or more amounts that add up to nothing"})


def _known(id: UUID) -> Break:
    known = Break.objects.filter(pk=id).first()
    if known is None:
        raise Refusal("not_found")
    return known


_CHANGES = ("assigned_to_id", "resolution", "rule", "journal_id", "resolved_by_id", "approved_by_id")


def _step(
    id: UUID,
    before: Sequence[str],
    state: str,
    *,
    by: Person,
    reason: str = "",
    changes: dict[str, Any] | None = None,
) -> Break:
    """Take a break one step on, whose row is locked by that, and write the step down. One statement."""
    changes = changes or {}
    assert set(changes) <= set(_CHANGES)
    columns = "".join(f", {name} = %({name})s" for name in changes)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH moved AS (
                UPDATE settlement_break SET state = %(state)s, steps = steps + 1{columns}
                 WHERE id = %(id)s AND state = ANY(%(before)s) RETURNING id, steps)
            INSERT INTO settlement_breakstep (of_id, ordinal, state, by_id, reason, taken_at)
            SELECT id, steps, %(state)s, %(by)s, %(reason)s, %(now)s FROM moved RETURNING of_id
            """,  # noqa: S608 - only names of columns
            {
                "id": id,
                "before": list(before),
                "state": state,
                "by": by.id,
                "reason": reason,
                "now": events.current().now,
                **changes,
            },
        )
        moved = cursor.fetchone()
    known = _known(id)
    if moved is None:
        raise Refusal("break_moved", state=known.state)
    return known


def _told(moved: Break, by: Person, reason: str) -> dict[str, Any]:
    return {
        "step": moved.steps,
        "state": moved.state,
        "by": str(by.id),
        "reason_sha256": hashlib.sha256(reason.encode()).hexdigest(),
    }


# -- what clears itself ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gone:
    """Breaks that a run looked for and did not find any more: those of ``level`` and ``gaming_day`` that ``run`` did
    not see, nor any other run since this one began."""

    run: UUID
    begun_at: datetime
    level: str
    gaming_day: date


_CLEARED = """
WITH gone AS (
    SELECT id FROM settlement_break b
     WHERE b.state IN ('expected', 'mismatched', 'assigned', 'explained') AND b.code = ANY(%(codes)s) AND {which}
     ORDER BY code, subject, fingerprint FOR UPDATE
), moved AS (
    UPDATE settlement_break b SET state = 'matched', steps = b.steps + 1 FROM gone WHERE b.id = gone.id
    RETURNING b.id, b.steps
), stepped AS (
    INSERT INTO settlement_breakstep (of_id, ordinal, state, reason, taken_at)
    SELECT id, steps, 'matched', %(reason)s, %(now)s FROM moved
)
SELECT id, steps FROM moved
"""


def cleared(*, code: str, subjects: Sequence[str], reason: str = "") -> int:
    """End the open breaks of these subjects by themselves, and return how many there were.

    ``reason`` is what they were cleared by, the id of a rule for example. Raises ValueError for a code that never
    clears itself. One statement. Must run in an act.
    """
    if not CATALOGUE[code].clears_itself:
        raise ValueError(f"{code} never clears itself")
    if not subjects:
        return 0
    return _clear("b.subject = ANY(%(subjects)s)", {"codes": [code], "subjects": list(subjects)}, reason)


def not_found_again(gone: Gone) -> int:
    """End what a finished run did not find any more, of the codes that clear themselves; return how many."""
    codes = sorted(code for code, kind in CATALOGUE.items() if kind.clears_itself)
    return _clear(
        "b.level = %(level)s AND b.gaming_day = %(gaming_day)s AND b.seen_run <> %(run)s AND b.seen_at < %(begun_at)s",
        {
            "codes": codes,
            "level": gone.level,
            "gaming_day": gone.gaming_day,
            "run": gone.run,
            "begun_at": gone.begun_at,
        },
        "not found again",
    )


def _clear(which: str, parameters: dict[str, Any], reason: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            _CLEARED.format(which=which), parameters | {"now": events.current().now, "reason": reason}
        )
        rows = cursor.fetchall()
    sha256 = hashlib.sha256(reason.encode()).hexdigest()
    facts = [
        Fact(
            "break.matched",
            f"breaks/{id}",
            {"step": step, "state": "matched", "by": None, "reason_sha256": sha256},
        )
        for id, step in rows
    ]
    if facts:
        events.announce(facts)
    return len(rows)
