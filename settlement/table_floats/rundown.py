"""What a table won, from its counts, its slips, its drop and its lines.

A stretch lies between two counted floats of a session. What moved in between is read by the versions of the table's
accounts that each float states: no clock decides what belongs to it. What was settled, claimed or taken back while the
table was closed belongs to its next session, by the formula with pay slips; the one before left it out. A day is the
stretches that end in it. A count of the start hour is made some minutes after it: it is brought back to the hour by
what acts of either day moved on the wrong side of it, and both sums are shown. Where a table went on over the start
hour uncounted, its day is estimated by the day each journal was posted for, and says so.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from casino.models import Table, TableSession
from settlement import days
from settlement.days import formula
from settlement.days.formula import Figures, Rundown
from settlement.models import CountKind, Drop, Float


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """A count of the start hour, ``counted`` after it, and what it was at that hour: less what acts of the new gaming
    day moved before the count, plus what acts of the old day moved after it. The buy-ins are the part of either that
    lies in the box. Minor units."""

    counted: int
    new_day_before: int
    old_day_after: int
    buy_ins_before: int
    buy_ins_after: int

    @property
    def amount(self) -> int:
        return self.counted - self.new_day_before + self.old_day_after

    @property
    def in_the_box(self) -> int:
        """What to add to the box that was carried off with the count, for it to hold the old day's cash."""
        return self.buy_ins_after - self.buy_ins_before


@dataclass(frozen=True, slots=True)
class Stretch:
    """A rundown of one session, or of the part of it that belongs to a gaming day. ``is_provisional``: it was closed
    over missing device numbers; ``is_open``: it goes on; ``opener`` and ``closer`` say how a count of the start hour at
    either end was brought back to it (None: another kind of count, or none)."""

    session: UUID
    rundown: Rundown
    is_open: bool
    is_provisional: bool
    opener: BroughtBack | None = None
    closer: BroughtBack | None = None


@dataclass(frozen=True, slots=True)
class OfDay:
    """A table's gaming day: its stretches, and win, estimated win and variance of them together."""

    table: str
    gaming_day: date
    stretches: tuple[Stretch, ...]

    @property
    def totals(self) -> dict[str, int | None]:
        return formula.summed(stretch.rundown for stretch in self.stretches)


@dataclass(frozen=True, slots=True)
class _Part:
    """From one float to another (None: no count ended it yet); ``is_first`` where the first is its beginning indeed,
    ``goes_on`` where its day ended uncounted.

    What moved is read between the versions of ``after`` and ``upto``. Those are the two floats, unless one of them is a
    count of the start hour: then its neighbour, and the days ``first`` to ``last`` say on which side of the hour an
    act lies. ``own`` are the floats whose variance is a result of the part and no move in it."""

    begin: Float
    end: Float | None
    after: Float
    upto: Float | None
    is_first: bool = True
    goes_on: bool = False
    first: date | None = None
    last: date | None = None

    @property
    def own(self) -> list[str]:
        return [str(one.variance_id) for one in (self.begin, self.end) if one is not None and one.variance_id]


def of_session(session: UUID) -> Stretch:
    """Return the rundown of a session, open or closed. Raises TableSession.DoesNotExist. Four statements, whatever was
    played."""
    found = TableSession.objects.select_related("table").get(pk=session)
    counted = list(
        Float.objects.filter(session=session).select_related("count").order_by("bank_version", "accepted_at")
    )
    if not counted:
        nothing = Figures(opener=None, closer=None, drop=None, unknown={"opener": "not_counted"})
        second_from = days.second_formula_from()
        return _stretch(found, nothing, on=days.of(found.opened_at), closer=None, second_from=second_from)
    opener, closer = counted[0], _closer(counted)
    part = _Part(begin=opener, end=closer, after=opener, upto=closer)
    drops = list(Drop.objects.filter(session=session, withdrawn_at=None).select_related("count", "until"))
    (moves,), second_from = _moves(found.table, [part])
    figures = _figures(part, moves=moves, drops=drops, ends=(None, None))
    on = closer.gaming_day if closer else opener.gaming_day
    return _stretch(found, figures, on=on, closer=closer, second_from=second_from)


def of_day(table: Table, gaming_day: date) -> OfDay:
    """Return the rundown of a table's gaming day. Five statements, whatever was played."""
    begins, ends = days.bounds(gaming_day)
    sessions = {
        one.id: one
        for one in TableSession.objects.filter(table=table, opened_at__lt=ends)
        if one.closed_at is None or one.closed_at >= begins
    }
    counted: dict[UUID, list[Float]] = {}
    for row in (
        Float.objects.filter(session__in=sessions)
        .select_related("count")
        .order_by("bank_version", "accepted_at")
    ):
        counted.setdefault(row.session_id, []).append(row)
    parts = {id: part for id, rows in counted.items() if (part := _part_of_day(rows, gaming_day)) is not None}
    hours = {
        (id, place): (float, counted[id])
        for id, part in parts.items()
        for place, float in (("opener", part.begin if part.is_first else None), ("closer", part.end))
        if float is not None and float.kind == CountKind.ROLLOVER
    }
    wrong_sides = [side for float, rows in hours.values() for side in _wrong_sides(float, rows)]
    moved, second_from = _moves(table, [*parts.values(), *wrong_sides])
    moves = dict(zip(parts, moved, strict=False))
    sides = [Figures(opener=None, closer=None, drop=None, unknown={}, **one) for one in moved[len(parts) :]]
    back = {
        key: BroughtBack(
            counted=float.count.amount,
            new_day_before=sides[2 * place].tray_moves,
            old_day_after=sides[2 * place + 1].tray_moves,
            buy_ins_before=sides[2 * place].buy_ins,
            buy_ins_after=sides[2 * place + 1].buy_ins,
        )
        for place, (key, (float, _)) in enumerate(hours.items())
    }
    drops: dict[UUID, list[Drop]] = {}
    counted_boxes = Drop.objects.filter(session__in=sessions, withdrawn_at=None)
    for drop in counted_boxes.select_related("count", "until"):
        drops.setdefault(drop.session_id, []).append(drop)
    stretches = []
    for id, part in parts.items():
        of_hours = back.get((id, "opener")), back.get((id, "closer"))
        figures = _figures(part, moves=moves[id], drops=drops.get(id, []), ends=of_hours)
        stretches.append(
            _stretch(
                sessions[id], figures, on=gaming_day, closer=part.end, second_from=second_from, ends=of_hours
            )
        )
    return OfDay(table=table.code, gaming_day=gaming_day, stretches=tuple(stretches))


def _closer(counted: Sequence[Float]) -> Float | None:
    return next((row for row in counted if row.kind == CountKind.CLOSER), None)


def _part_of_day(counted: Sequence[Float], gaming_day: date) -> _Part | None:
    """Return the part of a session that belongs to a day: from the opener or the rollover that ended the day before,
    to the closer or the rollover that ended this one."""
    rollovers = {row.gaming_day: row for row in counted if row.kind == CountKind.ROLLOVER}
    opener, closer = counted[0], _closer(counted)
    earlier = [row for day, row in rollovers.items() if day < gaming_day]
    begin = max(earlier, key=lambda row: row.bank_version, default=opener)
    end = rollovers.get(gaming_day) or (
        closer if closer is not None and closer.gaming_day == gaming_day else None
    )
    if begin is opener and opener.gaming_day == gaming_day:
        exact_begin = True
    else:
        exact_begin = begin is not opener and (gaming_day - begin.gaming_day).days == 1
    if opener.gaming_day > gaming_day or (closer is not None and closer.gaming_day < gaming_day):
        return None
    goes_on = end is None and (closer is not None or any(day > gaming_day for day in rollovers))
    uncounted = not exact_begin or goes_on
    of_the_hour = end is not None and end.kind == CountKind.ROLLOVER
    return _Part(
        begin=begin,
        end=end,
        after=_before(begin, counted) if begin.kind == CountKind.ROLLOVER else begin,
        upto=_behind(end, counted) if end is not None and of_the_hour else end,
        is_first=exact_begin,
        goes_on=goes_on,
        first=gaming_day if uncounted or begin.kind == CountKind.ROLLOVER else None,
        last=gaming_day if uncounted or of_the_hour else None,
    )


_ENDS_OF_DAYS = (CountKind.OPENER, CountKind.ROLLOVER, CountKind.CLOSER)


def _before(rollover: Float, counted: Sequence[Float]) -> Float:
    """Return the opener, or the count of the start hour before: acts of the new day came after that. Where the table
    was opened uncounted, there is none, and nothing can be brought back."""
    earlier = reversed(counted[: counted.index(rollover)])
    return next((row for row in earlier if row.kind in _ENDS_OF_DAYS), rollover)


def _behind(rollover: Float, counted: Sequence[Float]) -> Float | None:
    """Return the next count of a start hour, or the closer, by which every act of the old day has come."""
    return next((row for row in counted[counted.index(rollover) + 1 :] if row.kind in _ENDS_OF_DAYS), None)


def _wrong_sides(rollover: Float, counted: Sequence[Float]) -> tuple[_Part, _Part]:
    """Return what acts of the new day moved before a count of the start hour, and acts of the old one after it."""
    day, before, behind = rollover.gaming_day, _before(rollover, counted), _behind(rollover, counted)
    return (
        _Part(begin=before, end=rollover, after=before, upto=rollover, first=day + timedelta(days=1)),
        _Part(begin=rollover, end=behind, after=rollover, upto=behind, last=day),
    )


# What moved between two floats, by the versions of the table's accounts: chips by the lines of first revisions, what
# later ones changed as corrections, slips, pay slips and buy-ins by their journals. The variance of a float at either
# end of a part is its result and no move (``own``). A part that begins with an opener (``opened_at``) begins where the
# table closed before. A journal is seen by any account of the table it touches, and counted once; its day is the one it
# was posted in.
_MOVES = """
WITH part AS (
    SELECT p.place, p.account, p.upto, p.first, p.last, p.own, coalesce((
        SELECT CASE p.name WHEN 'bank' THEN c.bank_version WHEN 'guests' THEN c.guests_version
                           WHEN 'commission' THEN c.commission_version ELSE c.drop_version END
          FROM settlement_float c JOIN casino_tablesession s ON s.id = c.session_id
         WHERE s.table_id = %(table)s AND c.kind = 'closer' AND c.accepted_at <= p.opened_at
           AND c.bank_version <= p.bank_after AND p.opened_on >= coalesce(%(second_from)s::date, '-infinity')
         ORDER BY c.bank_version DESC, c.accepted_at DESC LIMIT 1), p.after) AS after
      FROM jsonb_to_recordset(%(parts)s::jsonb) AS p (place int, name text, account bigint, after bigint,
           bank_after bigint, opened_at timestamptz, opened_on date, upto bigint, first date, last date, own jsonb)
), touched AS (
    SELECT DISTINCT p.place, e.journal_id FROM part p
      JOIN settlement_entry e ON e.account_id = p.account AND e.version > p.after
       AND (p.upto IS NULL OR e.version <= p.upto)
      JOIN settlement_journal j ON j.id = e.journal_id
     WHERE j.gaming_day >= coalesce(p.first, '-infinity') AND j.gaming_day <= coalesce(p.last, 'infinity')
       AND NOT p.own ? j.id::text
), moved AS (
    SELECT t.place, j.id, j.kind, coalesce(s.revision, 1) AS revision,
           coalesce(o.gaming_day, j.gaming_day) >= coalesce(%(second_from)s::date, '-infinity') AS in_the_tray,
           coalesce(sum(e.amount) FILTER (WHERE a.kind = 'bank'), 0) AS bank,
           coalesce(sum(e.amount) FILTER (WHERE a.kind = 'guests'), 0) AS guests,
           coalesce(sum(e.amount) FILTER (WHERE a.kind = 'drop'), 0) AS in_the_box,
           coalesce(sum(e.amount) FILTER (WHERE a.kind IN ('wallet', 'external')), 0) AS wallets
      FROM touched t JOIN settlement_journal j ON j.id = t.journal_id
      JOIN settlement_entry e ON e.journal_id = j.id JOIN settlement_account a ON a.id = e.account_id
      LEFT JOIN settlement_settlement s ON s.journal_id = j.id AND NOT s.changes_nothing
      LEFT JOIN settlement_journal o ON o.id = j.reverses_id
     GROUP BY t.place, j.id, j.kind, s.revision, o.gaming_day
), lines AS (
    SELECT m.place, coalesce(sum(-(l.gross - l.uncovered)) FILTER (WHERE l.gross - l.uncovered < 0), 0) AS takes,
           coalesce(sum(l.gross - l.uncovered) FILTER (WHERE l.gross - l.uncovered > 0), 0) AS pays,
           coalesce(sum(l.commission), 0) AS commission
      FROM moved m JOIN settlement_settlement s ON s.journal_id = m.id AND m.kind = 'round' AND s.revision = 1
      JOIN settlement_line l ON l.settlement_id = s.id AND l.account LIKE 'table:%%:guests'
     GROUP BY m.place)
SELECT m.place,
       coalesce(sum(m.bank) FILTER (WHERE m.kind = 'fill'), 0)::bigint,
       coalesce(-sum(m.bank) FILTER (WHERE m.kind = 'credit'), 0)::bigint,
       coalesce(-sum(m.guests) FILTER (WHERE m.kind IN ('pay_slip_issued', 'pay_slip_void') AND m.in_the_tray), 0)
           ::bigint,
       coalesce(sum(m.in_the_box) FILTER (WHERE m.kind = 'buy_in'), 0)::bigint,
       coalesce(max(l.takes), 0)::bigint, coalesce(max(l.pays), 0)::bigint, coalesce(max(l.commission), 0)::bigint,
       coalesce(-sum(m.guests) FILTER (WHERE m.kind = 'round_reversal' OR m.kind = 'round' AND m.revision > 1), 0)
           ::bigint,
       coalesce(sum(m.bank) FILTER (WHERE m.kind IN ('variance', 'break_resolved')), 0)::bigint,
       coalesce(-sum(m.wallets) FILTER (WHERE m.kind IN ('round', 'round_reversal')), 0)::bigint
  FROM moved m LEFT JOIN lines l ON l.place = m.place GROUP BY m.place
"""

_ACCOUNTS = """
SELECT '', NULL::bigint, from_day FROM settlement_formuladate WHERE version = 2
 UNION ALL SELECT split_part(code, ':', 3), id, NULL FROM settlement_account WHERE code = ANY(%s)
"""
_NAMES = (
    "fills", "credits", "slips", "buy_ins", "takes", "pays", "commission", "corrections", "counted_off", "wallet_win",
)  # fmt: skip


def _moves(table: Table, parts: Sequence[_Part]) -> tuple[list[dict[str, int]], date | None]:
    """Return what moved in each part, and the day from which on pay slips are among it. Two statements, whatever their
    number."""
    with connection.cursor() as cursor:
        codes = [f"table:{table.code}:{part}" for part in ("bank", "guests", "commission", "drop")]
        cursor.execute(_ACCOUNTS, [codes])
        rows = cursor.fetchall()
        accounts: dict[str, int] = {name: id for name, id, _ in rows if name}
        second_from: date | None = next((day for name, _, day in rows if not name), None)
        asked = [_asked(place, part, accounts) for place, part in enumerate(parts)]
        given = {"table": table.id, "second_from": second_from}
        cursor.execute(_MOVES, given | {"parts": json.dumps([row for rows in asked for row in rows])})
        found = {row[0]: dict(zip(_NAMES, row[1:], strict=True)) for row in cursor.fetchall()}
    return [found.get(place, dict.fromkeys(_NAMES, 0)) for place in range(len(parts))], second_from


def _asked(place: int, part: _Part, accounts: dict[str, int]) -> list[dict[str, Any]]:
    after = part.after
    opened = after if part.begin is after and after.kind == CountKind.OPENER else None
    return [
        {
            "place": place,
            "name": name,
            "account": id,
            "after": getattr(after, f"{name}_version"),
            "bank_after": after.bank_version,
            "opened_at": opened.accepted_at.isoformat() if opened else None,
            "opened_on": opened.gaming_day.isoformat() if opened else None,
            "upto": _upto(part.upto, name),
            "first": part.first.isoformat() if part.first else None,
            "last": part.last.isoformat() if part.last else None,
            "own": part.own,
        }
        for name, id in accounts.items()
    ]


def _upto(end: Float | None, name: str) -> int | None:
    version: int | None = None if end is None else getattr(end, f"{name}_version")
    return version


_Ends = tuple[BroughtBack | None, BroughtBack | None]


def _figures(part: _Part, *, moves: dict[str, int], drops: Sequence[Drop], ends: _Ends) -> Figures:
    unknown: dict[str, str] = {}
    opened, ended = ends
    opener = part.begin.count.amount if opened is None else opened.amount
    if not part.is_first:
        unknown["opener"] = "start_hour_uncounted"
    closer = None if part.end is None else part.end.count.amount if ended is None else ended.amount
    if closer is None:
        unknown["closer"] = "start_hour_uncounted" if part.goes_on or not part.is_first else "open"
    drop, why = _dropped(part, drops, ends=ends)
    if drop is None:
        unknown["drop"] = why
    return Figures(
        opener=opener if part.is_first else None, closer=closer, drop=drop, unknown=unknown, **moves
    )


def _dropped(part: _Part, drops: Sequence[Drop], *, ends: _Ends) -> tuple[int | None, str]:
    """Return what was counted of the boxes of a part, or None with the reason: its last box must have been carried off
    with its end, and the one before its first with its beginning. What lay in the box of a start hour from the other
    side of it is brought back as its count is."""
    if part.end is None or not part.is_first:
        return None, "open" if part.end is None else "start_hour_uncounted"
    end, begin = part.end, part.begin
    inside = [drop for drop in drops if begin.drop_version <= drop.until.drop_version <= end.drop_version]
    mine = [drop for drop in inside if drop.until_id != begin.id]
    if not any(drop.until_id == end.id for drop in mine):
        later = any(drop.until.drop_version >= end.drop_version and drop.until_id != end.id for drop in drops)
        return None, "box_carried_later" if later else "drop_uncounted"
    if begin.kind != CountKind.OPENER and not any(drop.until_id == begin.id for drop in inside):
        return None, "box_carried_later"
    opened, ended = ends
    counted = sum(drop.count.amount for drop in mine)
    return counted + (ended.in_the_box if ended else 0) - (opened.in_the_box if opened else 0), ""


def _stretch(
    session: TableSession,
    figures: Figures,
    *,
    on: date,
    closer: Float | None,
    second_from: date | None,
    ends: _Ends = (None, None),
) -> Stretch:
    opened, ended = ends
    return Stretch(
        session=session.id,
        rundown=formula.rundown(figures, on=on, second_from=second_from),
        is_open=session.closed_at is None,
        is_provisional=closer is not None and bool(closer.missing),
        opener=opened,
        closer=ended,
    )
