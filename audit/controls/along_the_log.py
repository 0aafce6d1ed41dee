"""The second look: every settlement derived from its events again, and compared with all that was stored of it.

It goes along the leaves of the sealed log, so that no act that committed late is passed over: what each entry tells was
settled is judged and posted again by other code than settlement's, and compared with record, lines, ledger and sealed
facts. The position is a row and moves with what was found, so that it can be ended anywhere and goes on from there.
Nothing is locked while rounds are judged.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from audit import controls, log, seal
from audit.controls import Books, Finding
from audit.models import Discrepancy, Inspection, Leaf
from casino import events
from casino.events import Fact

alerts = logging.getLogger("pokdeng.inspection")

STANDING = "standing"
"""The inspection that never ends: it follows the log."""

MOST = 500
"""Leaves of one step."""

_NEXT = """
SELECT l.index, e.id, e.recorded_at,
       CASE WHEN e.action IN ('round.settled', 'round.voided', 'round.corrected')
            THEN (convert_from(e.bytes, 'UTF8')::jsonb #>> '{data,settlement}')::uuid END
  FROM audit_leaf l JOIN audit_logentry e ON e.id = l.entry_id
 WHERE l.origin = %(origin)s AND l.index >= %(position)s AND (%(last)s::bigint IS NULL OR l.index < %(last)s)
 ORDER BY l.index LIMIT %(limit)s
"""

_RANGE = """
SELECT min(l.index) FILTER (WHERE e.recorded_at >= %(since)s), max(l.index) FILTER (WHERE e.recorded_at < %(until)s) + 1
  FROM audit_leaf l JOIN audit_logentry e ON e.id = l.entry_id
 WHERE l.origin = %(origin)s AND e.recorded_at >= %(since)s AND e.recorded_at < %(until)s
"""


@dataclass(frozen=True, slots=True)
class _Leaf:
    index: int
    entry: int
    at: datetime
    settlement: UUID | None


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A finding of one invariant, about the settlement that a leaf tells of."""

    leaf: _Leaf
    settlement: UUID
    invariant: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Step:
    """What one step looked at: ``leaves`` (0: nothing is left), and what it ``found`` by invariant."""

    leaves: int
    found: tuple[tuple[str, Finding], ...] = ()


def begin(*, now: datetime) -> Inspection:
    """Return the standing inspection, begun with the log's first leaf where it never was. Must run in an act."""
    found, _ = Inspection.objects.get_or_create(
        name=STANDING,
        defaults={"origin": log.log_name(), "first": 0, "position": 0, "begun_at": now, "moved_at": now},
    )
    return found


def begin_range(*, since: datetime, until: datetime, now: datetime) -> Inspection:
    """Return the inspection of all acts from ``since`` up to ``until``; asked for again, the same one goes on. Must
    run in an act."""
    name = f"{log.stamp(since)}/{log.stamp(until)}"
    known = Inspection.objects.filter(pk=name).first()
    if known is not None:
        return known
    with controls.opened(scope=controls.Scope(None)) as house:
        parameters = {"origin": log.log_name(), "since": since, "until": until}
        ((first, last),) = house.all(_RANGE, parameters)
    return Inspection.objects.create(
        name=name, origin=log.log_name(), first=first or 0, last=last or first or 0, position=first or 0,
        begun_at=now, moved_at=now,
    )  # fmt: skip


def begin_anew(*, name: str, now: datetime) -> None:
    """Send an inspection back to where it began: what it found once stays written. Must run in an act."""
    Inspection.objects.filter(pk=name).update(
        position=F("first"), settlements=0, offending=0, verified_through=None, begun_at=now, moved_at=now,
        done_at=None,
    )  # fmt: skip
    events.announce([Fact("inspection.begun_anew", f"inspections/{name}", {})])


def look_on(*, name: str, now: datetime, request_id: str, limit: int = MOST) -> Step:
    """Look at up to ``limit`` further leaves of an inspection. An act of its own; call it outside of any.

    Where somebody else moved the inspection meanwhile, what was looked at here is theirs to have found: nothing is
    written twice.
    """
    row = Inspection.objects.get(pk=name)
    with controls.opened(scope=controls.Scope(None)) as house:
        leaves = _next(house, row, limit)
        wrong = list(_wrong(house, leaves))
    with events.act(actor=events.SERVICE, request_id=request_id, now=now):
        locked = Inspection.objects.select_for_update().get(pk=name)
        if locked.position == row.position and locked.begun_at == row.begun_at:
            _move(locked, leaves, wrong, now=now)
    return Step(len(leaves), tuple((one.invariant, one.finding) for one in wrong))


def pass_over(*, name: str, now: datetime) -> int | None:
    """Go past the next leaf of an inspection, which cannot be looked at; return its entry, None where there is none.

    Nothing from there on is known to be right, so the inspection says no more of it. Must run in an act.
    """
    locked = Inspection.objects.select_for_update().get(pk=name)
    leaf = Leaf.objects.filter(origin=locked.origin, index__gte=locked.position).order_by("index").first()
    if leaf is None or (locked.last is not None and leaf.index >= locked.last):
        return None
    locked.position, locked.moved_at = leaf.index + 1, now
    locked.offending += 1
    locked.save(update_fields=["position", "offending", "moved_at"])
    alerts.error("leaf %s could not be looked at by the inspection %s", leaf.index, name)
    return int(leaf.entry_id)


def _next(house: Books, row: Inspection, limit: int) -> list[_Leaf]:
    parameters = {"origin": row.origin, "position": row.position, "last": row.last, "limit": limit}
    return [_Leaf(*found) for found in house.all(_NEXT, parameters)]


def _wrong(house: Books, leaves: Sequence[_Leaf]) -> Iterator[_Wrong]:
    told = {leaf.settlement: leaf for leaf in leaves if leaf.settlement is not None}
    for case in controls.chosen(house, list(told)):
        assert case.settlement is not None
        leaf = told.pop(case.settlement)
        for invariant, finding in controls.look(case, controls.ROUND_CHECKS):
            yield _Wrong(leaf, case.settlement, invariant, finding)
    for settlement, leaf in told.items():
        gone = Finding(f"settlements/{settlement}", "is gone", "the row that its entry tells of")
        yield _Wrong(leaf, settlement, "I17", gone)


def _move(row: Inspection, leaves: Sequence[_Leaf], wrong: Sequence[_Wrong], *, now: datetime) -> None:
    ended = row.done_at is None and row.last is not None and (not leaves or leaves[-1].index + 1 >= row.last)
    if not leaves and not ended:
        return
    first_wrong = min((one.leaf.index for one in wrong), default=None)
    right = [leaf for leaf in leaves if first_wrong is None or leaf.index < first_wrong]
    if right and not row.offending:
        row.verified_through = right[-1].at
    if leaves:
        row.position = leaves[-1].index + 1
    row.settlements += sum(1 for leaf in leaves if leaf.settlement is not None)
    row.offending += len({one.settlement for one in wrong})
    row.moved_at = now
    row.done_at = now if ended else row.done_at
    row.save(
        update_fields=["position", "settlements", "offending", "verified_through", "moved_at", "done_at"]
    )
    _write_down(row, wrong, now=now)
    if ended:
        events.announce([Fact("inspection.done", f"inspections/{row.name}", _told(row))])


def _write_down(row: Inspection, wrong: Sequence[_Wrong], *, now: datetime) -> None:
    if not wrong:
        return
    Discrepancy.objects.bulk_create(
        Discrepancy(
            inspection=row, entry_id=one.leaf.entry, settlement=one.settlement, invariant=one.invariant,
            subject=one.finding.subject[:200], found=one.finding.found, expected=one.finding.expected, found_at=now,
        )
        for one in wrong
    )  # fmt: skip
    by_subject = sorted({(one.invariant, one.finding.subject) for one in wrong})
    alerts.error("%s discrepancies found by the inspection %s", len(wrong), row.name)
    found = {"found": [list(pair) for pair in by_subject], **_told(row)}
    events.announce([Fact("inspection.found", f"inspections/{row.name}", found)])


def _told(row: Inspection) -> dict[str, Any]:
    return {
        "position": row.position,
        "settlements": row.settlements,
        "offending": row.offending,
        "verified_through": log.stamp(row.verified_through) if row.verified_through else None,
    }


@dataclass(frozen=True, slots=True)
class Verified:
    """How far the standing inspection has come: ``position`` leaves of ``leaves`` were looked at."""

    origin: str
    position: int
    leaves: int
    settlements: int
    offending: int
    verified_through: datetime | None
    moved_at: datetime | None


def verified() -> Verified:
    """Return how far everything that was settled is known to be right. Two statements."""
    row = Inspection.objects.filter(pk=STANDING).first()
    leaves = seal.head().size
    if row is None:
        return Verified(log.log_name(), 0, leaves, 0, 0, None, None)
    return Verified(
        row.origin, row.position, leaves, row.settlements, row.offending, row.verified_through, row.moved_at
    )
