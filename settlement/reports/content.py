"""The content of a report: one JSON document, from which every file is made and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings

from casino import events
from casino.models import Person, Table
from settlement import days, table_floats
from settlement.days import formula
from settlement.models import CountKind, GamingDay, Report, Shift
from settlement.reports import figures, layout, tray
from settlement.reports.figures import (
    COUNTED,
    ESTIMATED,
    RULED,
    Counted,
    Moved,
    Played,
    Session,
    Span,
    figure,
)

VERSION = 1
"""Of the form of a report: what its members mean. A sealed day keeps the one it was sealed with."""

TITLES = {
    "day": ("รายงานประจำวันทำการ", "Gaming day report"),
    "shift": ("รายงานประจำกะ", "Shift report"),
}


def of_day(row: GamingDay, *, signed: Sequence[Person]) -> dict[str, Any]:
    """Return what a gaming day came to. A constant number of statements, and five for each table, whatever was
    played."""
    span = Span(row.day, row.begins_at, row.ends_at)
    return _content("day", span, signed=signed, whole=True) | {
        "shifts": _shifts(row),
        "wallets": figures.wallets(span),
        "slips": figures.slips(span),
        "about_earlier_days": figures.posted_about_earlier_days(span),
        "opened": row.tables,
    }


def of_shift(shift: Shift, *, signed: Sequence[Person], until: datetime) -> dict[str, Any]:
    """Return what a shift came to up to ``until``: the rounds closed in it, and what was posted and counted in it."""
    span = Span(shift.day_id, shift.opened_at, until)
    return _content("shift", span, signed=signed, whole=False) | {
        "shift": {"id": str(shift.id), "number": shift.number, "tables": shift.tables, "overdue": not signed}
    }


def _content(kind: str, span: Span, *, signed: Sequence[Person], whole: bool) -> dict[str, Any]:
    house, start = settings.PROPERTY, days.start_hour_of(span.day)
    moved = figures.moved(span, whole=whole)
    sessions = figures.sessions(span)
    counted = tray.floats_of(sessions)
    hidden = set() if whole else table_floats.hidden_from(None)
    tables = _tables(span, sessions=sessions, moved=moved, whole=whole, hidden=hidden)
    counts = figures.counts(span, whole=whole)
    thai, english = TITLES[kind]
    formula_ = formula.in_force(span.day, second_from=days.second_formula_from())
    return {
        "report": kind,
        "version": VERSION,
        "title": {"th": thai, "en": english},
        "house": {
            "code": house["code"],
            "zone": start.zone,
            "day_start_hour": start.hour,
            "currency": house["currency"],
        },
        "period": {
            "gaming_day": span.day.isoformat(),
            "begins_at": _wall(span.begins),
            "ends_at": _wall(span.ends),
        },
        "made_at": _wall(events.current().now),
        "as_of": figures.as_of(span),
        "formula": {"version": formula_.version, "since": formula_.from_.isoformat()},
        "signed": [person.badge for person in signed],
        "tables": tables,
        "house_totals": _totals(tables, moved, currency=house["currency"]),
        "sessions": [_session(one, counted[one.id], hidden=one.table in hidden) for one in sessions],
        "counts": [_count(one) for one in counts if one.table not in hidden],
        "uncounted": _uncounted(span, sessions, counts),
        "held": figures.held(span),
        "disputes": figures.disputes(span),
        "breaks": figures.breaks(span),
        "movements": [] if hidden else [_movement(one) for one in moved],
    }


def _count(one: Counted) -> dict[str, Any]:
    return {
        "table": one.table,
        "kind": one.kind,
        "accepted_at": _wall(one.accepted_at),
        "counted": one.counted,
        "expected": one.expected,
        "graded": one.grade,
        "currency": one.currency,
    }


def _uncounted(span: Span, sessions: Sequence[Session], counts: Sequence[Counted]) -> list[str]:
    """Return tables that went on at the end of the span without a count at it: what they came to is an estimate."""
    ended = {one.table for one in counts if one.kind != CountKind.OPENER}
    open_then = {one.table for one in sessions if one.closed_at is None or one.closed_at > span.ends}
    return sorted(open_then - ended)


def _movement(one: Moved) -> dict[str, Any]:
    return {
        "account": one.account,
        "kind": one.kind,
        "entries": one.entries,
        "amount": one.amount,
        "below": one.below,
        "currency": one.currency,
    }


def _tables(
    span: Span, *, sessions: Sequence[Session], moved: Sequence[Moved], whole: bool, hidden: Collection[str]
) -> list[dict[str, Any]]:
    """Return the tables of a span by code. The rundown of a day takes five statements a table, whatever was played;
    a shift's has none, as its counts begin and end no session."""
    played = figures.played(span, whole=whole)
    held = {
        code: sum(one.held for one in sessions if one.table == code)
        for code in {one.table for one in sessions}
    }
    found = []
    for table in Table.objects.filter(code__in=[*played, *held]).order_by("code"):
        told = _played(played.get(table.code) or Played.nothing(table.currency), held=held.get(table.code, 0))
        if whole:
            told = tray.lines(table_floats.rundown.of_day(table, span.day)) | told
            told["variance_posted"] = _posted(table.code, moved)
        if table.code in hidden:
            told = {
                name: figures.unknown(source=one["source"], why=table_floats.COUNT_OPEN)
                for name, one in told.items()
            }
        found.append({"place": table.code, "currency": table.currency, "figures": told})
    return found


def _played(judged: Played, *, held: int) -> dict[str, dict[str, Any]]:
    done = judged.settled + judged.voided
    amounts = {
        "turnover": judged.turnover,
        "judged_win": judged.house_net,
        "tray_win": judged.tray,
        "wallet_win": judged.wallet,
        "commission": judged.commission,
    }
    rounds = {
        "rounds_settled": judged.settled,
        "rounds_voided": judged.voided,
        "rounds_corrected": judged.corrected,
        "rounds_held": held,
    }
    return {
        name: figure(value, grade=RULED, source="lines", known=done, of=done + held)
        for name, value in amounts.items()
    } | {name: figure(value, grade=RULED, source="rounds") for name, value in rounds.items()}


def _posted(code: str, moved: Sequence[Moved]) -> dict[str, Any]:
    """What the ledger has of the variances of a day, with the sign of the counts: chips that are missing are below
    nought."""
    posted = sum(one.amount for one in moved if one.account == f"variance:{code}" and one.kind == "variance")
    return figure(-posted, grade=COUNTED, source="ledger")


def _totals(tables: Sequence[Mapping[str, Any]], moved: Sequence[Moved], *, currency: str) -> dict[str, Any]:
    """Add the tables up in the house's currency: one that is unknown makes the sum unknown, and the sum is no better
    known than its parts."""
    ours = [table["figures"] for table in tables if table["currency"] == currency]
    names = [name for name in layout.FIGURES if name != "hold_rate" and any(name in one for one in ours)]
    found = {name: _added([one[name] for one in ours if name in one]) for name in names}
    cash = [one for one in moved if one.account.startswith("external:cash:") and one.currency == currency]
    found["cash_in"] = figure(-sum(one.below for one in cash), grade=RULED, source="ledger")
    found["cash_out"] = figure(sum(one.amount - one.below for one in cash), grade=RULED, source="ledger")
    return {"place": "house", "currency": currency, "figures": found}


_WORST = (COUNTED, RULED, ESTIMATED, figures.UNKNOWN)


def _added(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    missing = [part for part in parts if part["value"] is None]
    if missing:
        known = len(parts) - len(missing)
        why = f"{len(missing)} of {len(parts)} tables: {missing[0]['why']}"
        return figure(None, grade="unknown", source=missing[0]["source"], known=known, of=len(parts), why=why)
    grade = max((part["grade"] for part in parts), key=_WORST.index)
    return figure(
        sum(part["value"] for part in parts),
        grade=grade,
        source=parts[0]["source"],
        known=len(parts),
        of=len(parts),
    )


def _session(one: Session, counted: Mapping[str, Mapping[str, Any]], *, hidden: bool) -> dict[str, Any]:
    closer = counted.get("closer", {})
    return {
        "table": one.table,
        "session": str(one.id),
        "opened_at": _wall(one.opened_at),
        "closed_at": _wall(one.closed_at) if one.closed_at else None,
        "last_round": one.last_round,
        "opener": None if hidden else counted.get("opener", {}).get("amount"),
        "expected": closer.get("expected"),
        "closer": closer.get("amount"),
        "provisional": closer.get("provisional", False),
        "currency": one.currency,
    }


def _shifts(row: GamingDay) -> list[dict[str, Any]]:
    reports = (
        Report.objects.filter(day=row, kind=Report.Kind.SHIFT)
        .select_related("shift")
        .order_by("shift__number")
    )
    return [
        {
            "number": one.shift.number,
            "opened_at": _wall(one.shift.opened_at),
            "closed_at": _wall(one.shift.closed_at) if one.shift.closed_at else None,
            "overdue": one.shift.overdue,
            "sha256": one.sha256,
        }
        for one in reports
        if one.shift is not None
    ]


def _wall(instant: datetime) -> str:
    """Write an instant as the clock on the house's wall shows it, with its offset: people read reports."""
    return instant.astimezone(ZoneInfo(settings.PROPERTY["zone"])).isoformat()
