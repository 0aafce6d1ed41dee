"""The exception report: what was done out of the ordinary, by whom, to what, before and after, and why.

Straight from the log, entry by entry; a reason's text, of which the log keeps the hash, is read from its own row.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from audit.models import Flag, LogEntry, Proposal
from casino import rounds
from casino.models import GapWaiver, Person, RoundEvent, RoundWaiver
from casino.platform.csv_cells import Cell
from settlement.models import Count

COLUMNS = ("entry", "at", "action", "who", "second", "item", "before", "after", "currency", "reason")
CHUNK = 500


@dataclass(frozen=True, slots=True)
class _Told:
    """An entry of the log and what it says."""

    entry: LogEntry
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Exceptional:
    """One row: ``before`` and ``after`` are amounts in minor units of ``currency``, or text. ``second`` signed or
    approved. People are named by their badges."""

    item: str
    before: Cell
    after: Cell
    reason: str = ""
    who: UUID | str | None = None
    second: UUID | str | None = None
    currency: str = ""


def report(*, since: datetime, until: datetime) -> Iterator[Sequence[Cell]]:
    """Return the rows of what was recorded from ``since`` up to ``until``, oldest first, in the order of COLUMNS."""
    found = _entries(since, until).iterator(chunk_size=CHUNK)
    while chunk := [_Told(entry, _data(entry)) for entry in itertools.islice(found, CHUNK)]:
        rows = [(told, row) for told in chunk for row in ROWS[told.entry.action](told)]
        badges = _badges(rows)
        for told, row in rows:
            entry = told.entry
            yield (
                entry.id, entry.recorded_at.isoformat(), entry.action, badges.get(str(row.who or entry.person), ""),
                badges.get(str(row.second), ""), row.item, row.before, row.after, row.currency, row.reason,
            )  # fmt: skip


def _entries(since: datetime, until: datetime) -> QuerySet[LogEntry]:
    return LogEntry.objects.filter(
        recorded_at__gte=since, recorded_at__lt=until, action__in=list(ROWS)
    ).order_by("id")


def _data(entry: LogEntry) -> dict[str, Any]:
    return dict(json.loads(bytes(entry.bytes))["data"])


def _badges(rows: Sequence[tuple[_Told, Exceptional]]) -> dict[str, str]:
    named = {str(one) for told, row in rows for one in (row.who, row.second, told.entry.person) if one}
    return {str(id): badge for id, badge in Person.objects.filter(id__in=named).values_list("id", "badge")}


# -- one function for each kind of act ----------------------------------------------------------------------------


def _corrected(told: _Told) -> Iterator[Exceptional]:
    """What each wager was paid before and is now; amounts of the guest's side, and of bank and commission."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for journal in told.data["journals"]:
        for account, amount, wager in journal["postings"]:
            of = f"#{wager}" if wager else f" {account}"
            if journal["kind"] == "round_reversal":
                before[of] -= amount
            elif journal["kind"] == "round":
                after[of] += amount
    because = told.data["because"]
    for of in sorted(before.keys() | after.keys()):
        if before[of] != after[of]:
            yield Exceptional(
                f"{told.entry.subject}{of}", before[of], after[of],
                f"decision {because}" if because else "two people", told.data["acted_by"], told.data["approved_by"],
                told.data["currency"],
            )  # fmt: skip


def _ruled(told: _Told) -> Iterator[Exceptional]:
    """What a supervisor ruled, removed, waived or voided at the table, with the card as the table had it."""
    places = [one["place"] for one in told.data["events"] if one["kind"] in rounds.NEEDS_SIGNATURE]
    if not places:
        return
    for event in RoundEvent.objects.filter(round=told.entry.round, seq__in=places).order_by("seq"):
        hand, position = event.payload.get("hand"), event.payload.get("position")
        slot = f"#{hand}.{position}" if hand else ""
        yield Exceptional(
            f"rounds/{told.entry.round}{slot}", _read(event, hand, position), event.payload.get("card", event.kind),
            str(event.payload.get("reason", "")), event.person_id, event.signer_id,
        )  # fmt: skip


def _read(event: RoundEvent, hand: str | None, position: int | None) -> str | None:
    if hand is None:
        return None
    reads = RoundEvent.objects.filter(
        round=event.round_id,
        kind="card_dealt",
        payload__hand=hand,
        payload__position=position,
        id__lt=event.id,
    )
    cards = reads.order_by("id").values_list("payload__card", flat=True)
    return " or ".join(dict.fromkeys(cards)) or None


def _decided(told: _Told) -> Iterator[Exceptional]:
    proposal = Proposal.objects.filter(pk=told.data["proposal"]).first()
    facts = [
        " ".join(str(fact[name]) for name in ("kind", "hand", "position", "card") if name in fact)
        for fact in told.data["facts"]
    ]
    yield Exceptional(
        f"rounds/{told.entry.round}", told.entry.subject, ", ".join(facts),
        f"{proposal.reason_code} {proposal.note}".strip() if proposal else "",
        told.data["decided_by"], told.data["proposed_by"],
    )  # fmt: skip


def _flag_closed(told: _Told) -> Iterator[Exceptional]:
    flag = Flag.objects.filter(pk=told.entry.subject.partition("/")[2]).first()
    text = flag.close_reason if flag else ""
    yield Exceptional(
        str(told.data["about"]), f"flag {told.data['kind']}", "closed", f"{told.data['reason']['code']} {text}".strip()
    )  # fmt: skip


def _waived(told: _Told) -> Iterator[Exceptional]:
    first, last = told.data["first"], told.data["last"]
    code = told.entry.subject.partition("/")[2]
    waiver = GapWaiver.objects.filter(device__code=code, first=first, last=last).first()
    yield Exceptional(
        f"{told.entry.subject}#{first}-{last}", "missing", "waived", waiver.reason if waiver else ""
    )


def _rounds_waived(told: _Told) -> Iterator[Exceptional]:
    first, last = told.data["first"], told.data["last"]
    waiver = RoundWaiver.objects.filter(session=told.data["session"], first=first, last=last).first()
    yield Exceptional(
        f"{told.entry.subject}#rounds {first}-{last}", "missing", "waived", waiver.reason if waiver else ""
    )


def _rights(told: _Told) -> Iterator[Exceptional]:
    before = _before(told)
    yield Exceptional(told.entry.subject, _right(before) if before else None, _right(told.data))


def _right(data: Mapping[str, Any]) -> str:
    return " ".join([str(data.get("role", "")), *map(str, data.get("permissions", ()))])


def _in_force(told: _Told) -> Iterator[Exceptional]:
    before = _before(told)
    yield Exceptional(
        f"tables/{told.entry.table_code}", f"sheet {before['sha256'][:12]}" if before else None,
        f"sheet {told.data['sha256'][:12]} from {told.data['in_force_from']}", "",
        told.data["set_by"], told.data["approved_by"],
    )  # fmt: skip


def _before(told: _Told) -> dict[str, Any] | None:
    """What the entry before said of the same subject, by an act of the same kind."""
    kinds = [action for action, row in ROWS.items() if row is ROWS[told.entry.action]]
    earlier = LogEntry.objects.filter(subject=told.entry.subject, action__in=kinds, id__lt=told.entry.id)
    last = earlier.order_by("-id").first()
    return _data(last) if last else None


def _counted_otherwise(told: _Told) -> Iterator[Exceptional]:
    expected = told.data["expected"]
    count = Count.objects.filter(pk=told.data["count"]).first()
    if expected is None or count is None or count.amount == expected:
        return
    yield Exceptional(
        f"tables/{told.entry.table_code} float", expected, count.amount, "counted", count.counted_by_id,
        currency=count.currency,
    )  # fmt: skip


def _device(told: _Told) -> Iterator[Exceptional]:
    yield Exceptional(told.entry.subject, None, told.entry.action.partition(".")[2])


ROWS: Mapping[str, Callable[[_Told], Iterator[Exceptional]]] = {
    "round.corrected": _corrected,
    "round.recorded": _ruled,
    "dispute.decided": _decided,
    "flag.closed": _flag_closed,
    "gap.waived": _waived,
    "rounds.waived": _rounds_waived,
    "person.created": _rights,
    "person.changed": _rights,
    "sheet.put_in_force": _in_force,
    "table.float_opened": _counted_otherwise,
    "table.float_closed": _counted_otherwise,
    "table.float_counted": _counted_otherwise,
    "device.enrolled": _device,
    "device.revoked": _device,
}
"""The acts that are out of the ordinary, each with what is told of it."""
