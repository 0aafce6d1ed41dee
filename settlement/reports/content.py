"""The content of a report: one JSON document, from which every file is made and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from casino import events
from casino.models import Person
from settlement.models import GamingDay, Report, Shift
from settlement.reports import figures, tray
from settlement.reports.figures import RULED, Moved, Played, Session, Span, figure

VERSION = 1
"""Of the form of a report: what its members mean. A sealed day keeps the one it was sealed with."""

TITLES = {
    "day": ("รายงานประจำวันทำการ", "Gaming day report"),
    "shift": ("รายงานประจำกะ", "Shift report"),
}


def of_day(row: GamingDay, *, signed: Sequence[Person]) -> dict[str, Any]:
    """Return what a gaming day came to. A constant number of statements, whatever was played."""
    span = Span(row.day, row.begins_at, row.ends_at)
    return _content("day", span, signed=signed, whole=True) | {
        "shifts": _shifts(row),
        "wallets": figures.wallets(span),
        "slips": figures.slips(span),
        "about_earlier_days": figures.posted_about_earlier_days(span),
        "opened": row.tables,
    }


def of_shift(shift: Shift, *, signed: Sequence[Person], until: Any) -> dict[str, Any]:
    """Return what a shift came to up to ``until``: the rounds closed in it, and what was posted and counted in it."""
    span = Span(shift.day_id, shift.opened_at, until)
    return _content("shift", span, signed=signed, whole=False) | {
        "shift": {"id": str(shift.id), "number": shift.number, "tables": shift.tables, "overdue": not signed}
    }


def _content(kind: str, span: Span, *, signed: Sequence[Person], whole: bool) -> dict[str, Any]:
    house = settings.PROPERTY
    played = figures.played(span, whole=whole)
    moved = figures.moved(span, whole=whole)
    sessions = figures.sessions(span)
    trays, floats = tray.counted(span, sessions)
    thai, english = TITLES[kind]
    tables = [
        _table(code, played.get(code), trays.get(code, tray.Tray()), moved, sessions)
        for code in sorted({*played, *trays})
    ]
    return {
        "report": kind,
        "version": VERSION,
        "title": {"th": thai, "en": english},
        "house": {name: house[name] for name in ("code", "zone", "day_start_hour", "currency")},
        "period": {
            "gaming_day": span.day.isoformat(),
            "begins_at": span.begins.isoformat(),
            "ends_at": span.ends.isoformat(),
        },
        "made_at": events.current().now.isoformat(),
        "as_of": figures.as_of(span),
        "signed": [person.badge for person in signed],
        "tables": tables,
        "house_totals": _totals(tables, moved, currency=house["currency"]),
        "sessions": [_session(one, floats[one.id]) for one in sessions],
        "held": figures.held(span),
        "disputes": figures.disputes(span),
        "breaks": figures.breaks(span),
        "movements": [
            {"account": one.account, "kind": one.kind, "entries": one.entries, "amount": one.amount,
             "below": one.below, "currency": one.currency}
            for one in moved
        ],
    }  # fmt: skip


def _table(
    code: str, played: Played | None, counted: tray.Tray, moved: Sequence[Moved], sessions: Sequence[Session]
) -> dict[str, Any]:
    ours = [one for one in sessions if one.table == code]
    currency = played.currency if played else ours[0].currency if ours else settings.PROPERTY["currency"]
    judged = played or Played(currency, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    settled = judged.settled + judged.voided
    held = sum(one.held for one in ours)
    ruled = {
        name: figure(value, grade=RULED, source="lines", known=settled, of=settled + held)
        for name, value in (
            ("turnover", judged.turnover),
            ("judged_win", judged.house_net),
            ("tray_win", judged.tray),
            ("wallet_win", judged.wallet),
            ("commission", judged.commission),
        )
    }
    rounds = {
        name: figure(value, grade=RULED, source="rounds")
        for name, value in (
            ("rounds_settled", judged.settled),
            ("rounds_voided", judged.voided),
            ("rounds_corrected", judged.corrected),
            ("rounds_held", held),
        )
    }
    variance = sum(
        one.amount for one in moved if one.account == f"variance:{code}" and one.kind == "variance"
    )
    return {
        "place": code,
        "currency": currency,
        "sessions": len(ours),
        "figures": tray.lines(counted, table=code, moved=moved)
        | ruled
        | {"variance": figure(variance, grade="counted", source="ledger")}
        | rounds,
    }


def _totals(tables: Sequence[Mapping[str, Any]], moved: Sequence[Moved], *, currency: str) -> dict[str, Any]:
    """Add the tables up in the house's currency: one that is unknown makes the sum unknown, and the sum is no better
    known than its parts."""
    ours = [table["figures"] for table in tables if table["currency"] == currency]
    found = {
        name: _added([one[name] for one in ours]) for name in (ours[0] if ours else {}) if name != "hold_rate"
    }
    cash = [one for one in moved if one.account.startswith("external:cash:") and one.currency == currency]
    found["cash_in"] = figure(-sum(one.below for one in cash), grade=RULED, source="ledger")
    found["cash_out"] = figure(sum(one.amount - one.below for one in cash), grade=RULED, source="ledger")
    return {"place": "house", "currency": currency, "figures": found}


_WORST = ("counted", "ruled", "estimated", "unknown")


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


def _session(one: Session, floats: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    closer = floats.get("closer", {})
    return {
        "table": one.table,
        "session": str(one.id),
        "opened_at": one.opened_at.isoformat(),
        "closed_at": one.closed_at.isoformat() if one.closed_at else None,
        "last_round": one.last_round,
        "opener": floats.get("opener", {}).get("amount"),
        "expected": closer.get("expected"),
        "closer": closer.get("amount"),
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
            "opened_at": one.shift.opened_at.isoformat(),
            "closed_at": one.shift.closed_at.isoformat() if one.shift.closed_at else None,
            "overdue": one.shift.overdue,
            "sha256": one.sha256,
        }
        for one in reports
        if one.shift is not None
    ]
