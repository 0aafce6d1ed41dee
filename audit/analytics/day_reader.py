"""Rounds of a gaming day as the screens see them, read in chunks: few statements for each, and nothing is locked."""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection

from audit.analytics.deck_counts import COUNTED
from audit.statistics.round_sample import Late, Played, PutRight, Seat, Stake, Steps
from casino import cards
from settlement import days
from settlement.rules import hands, house_rules
from settlement.rules.house_rules import HouseRules

CHUNK = 500

_OF_DAY = """
SELECT s.id FROM settlement_settlement s
  JOIN casino_round r ON r.id = s.round_id
  JOIN casino_tablesession n ON n.id = r.session_id
  JOIN casino_table t ON t.id = r.table_id
 WHERE s.gaming_day = %(day)s AND NOT EXISTS (SELECT FROM settlement_settlement l WHERE l.supersedes_id = s.id)
 ORDER BY t.code, n.opened_at, n.id, r.number, r.id
"""

_ROUNDS = """
SELECT r.id, t.code, s.currency, r.session_id::text, coalesce(r.number, 0), s.outcome, coalesce(d.person_id::text, ''),
       h.canonical, r.record::text, r.cards_seen, r.opened_at, lines.told
  FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS asked (id, place)
  JOIN settlement_settlement s ON s.id = asked.id
  JOIN casino_round r ON r.id = s.round_id
  JOIN casino_table t ON t.id = r.table_id
  LEFT JOIN settlement_rulesheet h ON h.id = s.sheet_id
  LEFT JOIN LATERAL (
    SELECT u.person_id FROM casino_duty u
     WHERE u.session_id = r.session_id AND u.role = 'dealer' AND u.on_at <= coalesce(r.closed_at, r.created_at)
     ORDER BY u.on_at DESC, u.id DESC LIMIT 1) AS d ON true
 CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_array(l.wager, l.hand, l.owner_kind, l.owner_ref, l.stake, l.multiple,
                                                l.gross - l.uncovered) ORDER BY l.ordinal), '[]')::text AS told
      FROM settlement_line l WHERE l.settlement_id = s.id) AS lines
 ORDER BY asked.place
"""

_TIMES = """
SELECT e.round_id,
       min(e.happened_at) FILTER (WHERE e.kind = 'round_opened'),
       min(e.happened_at) FILTER (WHERE e.kind = 'bets_locked'),
       min(e.happened_at) FILTER (WHERE e.kind IN ('pok_shown', 'hand_stayed', 'hand_drew')),
       min(e.happened_at) FILTER (WHERE e.kind IN ('dealer_drew', 'dealer_stayed')),
       max(e.happened_at) FILTER (WHERE e.kind IN ('card_dealt', 'hand_checked')),
       max(e.happened_at) FILTER (WHERE e.kind = 'round_closed')
  FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id AND r.recorder_id = e.device_id
 WHERE e.round_id = ANY (%(ids)s::uuid[]) AND NOT e.late GROUP BY e.round_id
"""

_EVENTS = """
SELECT e.round_id, e.kind, e.payload::text, e.happened_at, e.device_id, e.signed <> ''
  FROM casino_roundevent e
 WHERE (e.round_id = ANY (%(ids)s::uuid[]) AND e.kind IN ('mispay_put_right', 'mispay_found'))
    OR (e.round_id = ANY (%(late)s::uuid[])
        AND e.kind IN ('bets_locked', 'bet_placed', 'bet_changed', 'bet_withdrawn'))
 ORDER BY e.round_id, e.device_id, e.device_seq, e.id
"""


class _Happened(NamedTuple):
    kind: str
    data: Mapping[str, Any]
    at: datetime
    device: UUID | None
    signed: bool


def of_day(day: date) -> list[UUID]:
    """Return the effective settlements of a gaming day, in the order of table, session and number."""
    with connection.cursor() as cursor:
        cursor.execute(_OF_DAY, {"day": day})
        return [id for (id,) in cursor.fetchall()]


def played(day: date, settlements: Sequence[UUID], *, chunk: int = CHUNK) -> Iterator[Played]:
    """Yield the rounds of these settlements in their order. Three statements a chunk."""
    counted = _counted(day)
    before: dict[str, datetime] = {}
    for first in range(0, len(settlements), chunk):
        for row, events, times in _chunk(settlements[first : first + chunk]):
            yield _played(row, events, times, counted=_counted_since(row, before, counted))


def _chunk(
    settlements: Sequence[UUID],
) -> Iterator[tuple[tuple[Any, ...], list[_Happened], tuple[Any, ...]]]:
    with connection.cursor() as cursor:
        cursor.execute(_ROUNDS, {"ids": list(settlements)})
        rows = [(*row[:8], json.loads(row[8] or "{}"), *row[9:]) for row in cursor.fetchall()]
        ids = [row[0] for row in rows]
        late = [row[0] for row in rows if _has(row[8], "late_bet")]
        cursor.execute(_TIMES, {"ids": ids})
        times = {id: tuple(found) for id, *found in cursor.fetchall()}
        cursor.execute(_EVENTS, {"ids": ids, "late": late})
        events: defaultdict[UUID, list[_Happened]] = defaultdict(list)
        for id, kind, payload, at, device, signed in cursor.fetchall():
            events[id].append(_Happened(kind, json.loads(payload), at, device, signed))
    for row in rows:
        yield row, events[row[0]], times.get(row[0], (None,) * 6)


def _has(record: Mapping[str, Any], kind: str) -> bool:
    return any(finding["kind"] == kind for finding in record.get("findings", ()))


def _counted(day: date) -> dict[str, list[datetime]]:
    """When the tables' decks were counted on that day."""
    start, end = days.bounds(day)
    found: dict[str, list[datetime]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            COUNTED + " AND e.recorded_at >= %s AND e.recorded_at < %s ORDER BY e.id", [start, end]
        )
        for table, at in cursor.fetchall():
            found.setdefault(table, []).append(at)
    return found


def _counted_since(
    row: tuple[Any, ...], before: dict[str, datetime], counted: Mapping[str, Sequence[datetime]]
) -> bool:
    table, opened_at = row[1], row[10]
    if opened_at is None:
        return False
    since, before[table] = before.get(table), opened_at
    return since is not None and any(since < at <= opened_at for at in counted.get(table, ()))


def _played(
    row: tuple[Any, ...], events: Sequence[_Happened], times: tuple[Any, ...], *, counted: bool
) -> Played:
    (id, table, currency, session, number, outcome, dealt_by, sheet, record, seen, opened_at, told) = row
    lines = json.loads(told)
    stakes = tuple(
        Stake(wager, hand, ref if kind == "account" else f"{kind}:{ref}", stake, multiple, brought)
        for wager, hand, kind, ref, stake, multiple, brought in lines
        if wager != "bank"
    )
    dealer = record.get("dealer", {})
    cards_of_dealer = _cards(dealer)
    guests = [hand for hand in record.get("hands", ()) if not hand["name"].startswith("junk")]
    opened, *_, closed = times
    return Played(
        id=str(id),
        table=table,
        session=session,
        number=number,
        currency=currency,
        voided=outcome == "voided",
        dealt_by=dealt_by,
        house=_house(sheet) if sheet else None,
        deck=record.get("deck", ""),
        cards_seen=seen,
        duplicates=tuple(
            str(finding["detail"]["card"])
            for finding in (record.get("bare") or record).get("findings", ())
            if finding["kind"] == "duplicate_card"
        ),
        dealer=cards_of_dealer,
        dealer_draws=tuple(_draws([dealer])),
        draws=() if hands.is_pok(cards_of_dealer[:2]) else tuple(_draws(guests)),
        seats=tuple(_seat(hand) for hand in guests),
        stakes=stakes,
        banked=any(line[0] == "bank" for line in lines),
        late=tuple(_late(events, stakes)),
        put_right=tuple(_put_right(events, stakes)),
        steps=_steps(times),
        opened_ms=_ms(opened),
        closed_ms=_ms(closed),
        hour=_hour(opened_at),
        counted=counted,
    )


@functools.lru_cache(maxsize=256)
def _house(text: str) -> HouseRules:
    return house_rules.stored(text)


def _cards(hand: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(map(cards.parse, hand.get("cards", ())))


def _draws(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, bool]]:
    """The taem of each hand's first two cards and whether it drew; a pok had no choice."""
    for hand in found:
        held = _cards(hand)
        if len(held) >= 2 and not hands.is_pok(held[:2]):
            yield hands.taem(held[:2]), len(held) > 2


def _seat(hand: Mapping[str, Any]) -> Seat:
    held = _cards(hand)
    checked = hand["met"] == "two" and "check_place" in hand
    return Seat(hand["name"], len(held), checked, hands.is_pok(held))


def _late(events: Sequence[_Happened], stakes: Sequence[Stake]) -> Iterator[Late]:
    """What was changed after the lock, by the numbers of the device that locked."""
    by_wager = {stake.wager: stake for stake in stakes}
    by_hand = {stake.hand: stake.multiple for stake in stakes}
    locked: _Happened | None = None
    for event in events:
        if event.kind == "bets_locked":
            locked = event
        if event.kind not in ("bet_placed", "bet_changed", "bet_withdrawn"):
            continue
        if locked is None or event.device != locked.device:
            continue
        wager = event.data["wager"]
        stood = by_wager.get(wager)
        hand = event.data.get("hand") or (stood.hand if stood else "")
        owner = stood.owner if stood else _owner(event.data.get("owner", {}))
        asked = event.data.get("stake", {}).get("amount", 0)
        after = event.at - locked.at
        yield Late(
            wager, owner, hand, asked > (stood.amount if stood else 0), round(after.total_seconds() * 1_000),
            by_hand.get(hand),
        )  # fmt: skip


def _owner(owner: Mapping[str, Any]) -> str:
    for kind, ref in owner.items():
        return str(ref) if kind == "account" else f"{kind}:{ref}"
    return ""


def _put_right(events: Sequence[_Happened], stakes: Sequence[Stake]) -> Iterator[PutRight]:
    by_wager = {stake.wager: stake for stake in stakes}
    for event in events:
        if event.kind not in ("mispay_put_right", "mispay_found") or not event.signed:
            continue
        stake = by_wager.get(event.data["wager"])
        if stake is not None:
            paid, due = event.data["paid"]["amount"], event.data["due"]["amount"]
            yield PutRight(stake.owner, paid, due, abs(stake.multiple))


def _steps(times: tuple[Any, ...]) -> Steps:
    opened, locked, marked, decided, shown, closed = times
    return Steps(
        deal=_took(locked, marked),
        act=_took(marked, decided),
        compare=_took(decided, shown),
        pay=_took(shown, closed),
        whole=_took(opened, closed),
    )


def _took(start: datetime | None, end: datetime | None) -> int | None:
    if start is None or end is None or end < start:
        return None
    return round((end - start).total_seconds() * 1_000)


def _ms(at: datetime | None) -> int | None:
    return None if at is None else round(at.timestamp() * 1_000)


def _hour(at: datetime | None) -> int:
    return 0 if at is None else at.astimezone(ZoneInfo(str(settings.PROPERTY["zone"]))).hour
