"""Rule sheets: proposed by one manager, approved by another, in force at a table from a moment on.

A sheet is the bytes its sha256 names. What is in force when a round opens judges that round, now and in ten
years, so a row that puts a sheet in force is never changed and never speaks of the past.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events, people
from casino.events import Fact
from casino.models import Person, Table
from casino.platform import refusals, values
from casino.platform.refusals import Refusal
from settlement.models import RuleSheet, TableRules
from settlement.rules import house_rules
from settlement.rules.house_rules import HouseRules

for _entry in (
    ("invalid_sheet", 422, "The rule sheet cannot be read.", "อ่านใบกติกาไม่ได้"),
    ("contradictory_sheet", 422, "Options of the rule sheet contradict each other.", "ตัวเลือกในใบกติกาขัดกัน"),
    ("sheet_exists", 409, "This rule sheet exists already.", "มีใบกติกานี้อยู่แล้ว"),
    ("sheet_not_found", 404, "There is no such rule sheet.", "ไม่พบใบกติกานี้"),
    ("sheet_approved", 409, "This rule sheet is approved already.", "ใบกติกานี้อนุมัติแล้ว"),
    ("sheet_not_approved", 409, "This rule sheet is not approved.", "ใบกติกานี้ยังไม่ได้อนุมัติ"),
    ("stale_proposal", 409, "What you approve is not what is proposed now.", "สิ่งที่อนุมัติไม่ตรงกับที่เสนอไว้"),
    (
        "rules_set_already",
        409,
        "A sheet comes into force at that table and moment already.",
        "มีใบกติกาที่เริ่มใช้กับโต๊ะนี้ในเวลาเดียวกันแล้ว",
    ),
    ("rules_for_the_past", 422, "A sheet cannot come into force in the past.", "กำหนดใบกติกาย้อนหลังไม่ได้"),
):
    refusals.register(*_entry)

_loaded: dict[UUID, HouseRules] = {}
"""Sheets of this process by id. The bytes of a sheet never change, so neither does this."""


def read(*, preset: str = "seed_base", options: Mapping[str, Any] | None = None) -> HouseRules:
    """Return the preset with these options put in; refuse ``invalid_sheet`` or ``contradictory_sheet``,
    naming the options."""
    try:
        return house_rules.from_options(preset, options or {})
    except house_rules.InvalidSheet as fault:
        raise _no_sheet(fault) from fault


def read_text(text: str | bytes) -> HouseRules:
    """Return the sheet written as JSON; the same refusals as ``read``."""
    try:
        return house_rules.parse(text)
    except house_rules.InvalidSheet as fault:
        raise _no_sheet(fault) from fault


def propose(*, name: str, rules: HouseRules, by: Person) -> RuleSheet:
    """Put a sheet up for approval; refuse ``sheet_exists`` (with its id) where these very rules were
    proposed before."""
    act = events.current()
    people.require(people.principal_of(by), "propose_sheet")
    sheet = RuleSheet(
        id=events.uuid7(act.now),
        name=name,
        canonical=rules.canonical.decode(),
        sha256=rules.sha256,
        proposed_by=by,
        proposed_at=act.now,
    )
    RuleSheet.objects.bulk_create([sheet], ignore_conflicts=True)
    stored = RuleSheet.objects.only("id").get(sha256=rules.sha256)
    if stored.id != sheet.id:
        raise Refusal("sheet_exists", sheet=str(stored.id), sha256=rules.sha256)
    events.announce(
        [
            Fact(
                "sheet.proposed",
                f"rule-sheets/{sheet.id}",
                {
                    "name": name,
                    "sha256": sheet.sha256,
                    "canonical": sheet.canonical,
                    "proposed_by": str(by.id),
                },
            )
        ]
    )
    return sheet


def approve(*, sheet: UUID, sha256: str, by: Person) -> RuleSheet:
    """Approve exactly the bytes of ``sha256``; another person than the proposer.

    Refuses ``stale_proposal`` when the sheet's bytes are others, ``sod_violation`` to the proposer,
    ``sheet_approved``.
    """
    act = events.current()
    people.require(people.principal_of(by), "approve_sheet")
    found = RuleSheet.objects.select_for_update().filter(pk=sheet).first()
    if found is None:
        raise Refusal("sheet_not_found")
    people.different(found.proposed_by_id, by.id)
    if found.sha256 != sha256:
        raise Refusal("stale_proposal", sha256=found.sha256)
    if found.approved_at is not None:
        raise Refusal("sheet_approved")
    found.approved_by, found.approved_at = by, act.now
    found.save(update_fields=["approved_by", "approved_at"])
    events.announce(
        [Fact("sheet.approved", f"rule-sheets/{sheet}", {"sha256": sha256, "approved_by": str(by.id)})]
    )
    return found


def put_in_force(
    *, table: Table, sheet: UUID, from_: datetime, by: Person, approved_by: Person
) -> TableRules:
    """Let an approved sheet judge the rounds that open at the table from ``from_`` on, by two managers.

    A round that is open then is judged by the sheet of its opening. Refuses ``rules_for_the_past`` (before
    the act's own instant), ``invalid_value`` (over ten years on), ``sheet_not_approved``, ``sod_violation``,
    ``rules_set_already``.
    """
    act = events.current()
    people.different(by.id, approved_by.id)
    people.require(people.principal_of(by), "approve_sheet")
    people.require_second(approved_by, "approve_sheet")
    if from_ < act.now:
        raise Refusal("rules_for_the_past", fields={"in_force_from": "lies in the past"})
    refusals.require_within(values.takes_effect(now=act.now), from_, "in_force_from")
    found = RuleSheet.objects.filter(pk=sheet).first()
    if found is None:
        raise Refusal("sheet_not_found")
    if found.approved_at is None:
        raise Refusal("sheet_not_approved")
    row = TableRules(
        table=table, sheet=found, in_force_from=from_, set_by=by, approved_by=approved_by, set_at=act.now
    )
    TableRules.objects.bulk_create([row], ignore_conflicts=True)
    stored = TableRules.objects.get(table=table, in_force_from=from_)
    if (stored.sheet_id, stored.set_by_id, stored.set_at) != (found.id, by.id, act.now):
        raise Refusal("rules_set_already")
    events.announce(
        [
            Fact(
                "sheet.put_in_force",
                f"tables/{table.code}",
                {
                    "sheet": str(sheet),
                    "sha256": found.sha256,
                    "in_force_from": from_.isoformat(),
                    "set_by": str(by.id),
                    "approved_by": str(approved_by.id),
                },
                table=table.code,
            )
        ]
    )
    return stored


def in_force(moments: Sequence[tuple[UUID, datetime]]) -> list[UUID | None]:
    """Return the sheet in force at each (table, instant), in that order; None where there was none. One
    statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT (
                SELECT r.sheet_id FROM settlement_tablerules r
                WHERE r.table_id = m.table_id AND r.in_force_from <= m.instant
                ORDER BY r.in_force_from DESC LIMIT 1
            )
            FROM unnest(%s::uuid[], %s::timestamptz[]) WITH ORDINALITY AS m (table_id, instant, place)
            ORDER BY m.place
            """,
            [[table for table, _ in moments], [instant for _, instant in moments]],
        )
        return [row[0] for row in cursor.fetchall()]


def load(ids: Collection[UUID]) -> dict[UUID, HouseRules]:
    """Return these sheets as values; at most one statement, none for sheets this process has read before."""
    missing = set(ids) - _loaded.keys()
    if missing:
        for id, canonical in RuleSheet.objects.filter(pk__in=missing).values_list("id", "canonical"):
            _loaded[id] = house_rules.stored(canonical)
    return {id: _loaded[id] for id in ids}


def of_sha256(sha256: str) -> RuleSheet | None:
    """Return the sheet of these bytes, approved or not."""
    return RuleSheet.objects.filter(sha256=sha256).first()


def _no_sheet(fault: house_rules.InvalidSheet) -> Refusal:
    code = "contradictory_sheet" if isinstance(fault, house_rules.ContradictorySheet) else "invalid_sheet"
    return Refusal(
        code, fields={f"options.{name}": fault.why for name in fault.options}, options=list(fault.options)
    )
