"""What a round is judged on: its row, its record, the rule sheet of its opening, and what was set aside for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import devices, record, rounds
from casino.models import Standing
from casino.record import Gap, RoundRecord
from casino.rounds import Recorded
from settlement import external_wallets, rule_sheets
from settlement.external_wallets import Kept, System
from settlement.ledger import Held
from settlement.rules import payouts
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import Verdict
from settlement.settling.line_rows import BANK


@dataclass(slots=True)
class Case:
    """One round with everything its judgement needs; ``record`` is the fold of what counts.

    ``late`` are the late events and ``late_bets`` the rulings of bets among them, by their ids (RoundEvent);
    ``holds`` are the open holds by wager (``bank`` for a player's bank), ``touched`` the wagers that had one before,
    ``refused`` those that a wallet could not cover when it was asked, each with its guest. ``elsewhere`` are the holds
    asked of wallets that live in a cashier system and not ended, by wager; ``systems`` are those systems by the prefix
    of their wallets.
    """

    id: UUID
    table_id: UUID
    table: str
    table_state: str
    currency: str
    camera: bool
    session_id: UUID
    number: int | None
    standing: str
    reasons: tuple[str, ...]
    opened_at: datetime | None
    closed_at: datetime | None
    due_at: datetime | None
    sheet_id: UUID | None
    systems: dict[str, System] = field(default_factory=dict)
    house: HouseRules | None = None
    sheet_sha256: str = ""
    record: RoundRecord | None = None
    upto: int = 0
    late: tuple[int, ...] = ()
    late_bets: frozenset[int] = frozenset()
    clock_off: bool = False
    holds: dict[str, Held] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    refused: set[tuple[str, str]] = field(default_factory=set)
    elsewhere: dict[str, Kept] = field(default_factory=dict)
    alias_of_id: UUID | None = None
    _written: dict[str, Any] | None = None
    _record_json: str = ""

    @property
    def finished(self) -> bool:
        """Settled or voided: nothing but a correction changes it."""
        return self.standing in (Standing.SETTLED, Standing.VOIDED)

    @property
    def is_player_banked(self) -> bool:
        """Whether the sheet lets a player hold the bank."""
        return self.house is not None and self.house.banker == "player"

    def owners(self) -> set[str]:
        """Return the guests with wallets, the banker among them, whose accounts may move."""
        assert self.record is not None
        found = {wager.owner.ref for wager in self.record.wagers if wager.owner.kind == "account"}
        if self.record.banker is not None and self.is_player_banked:
            found.add(self.record.banker.account)
        return found

    def wallets(self) -> set[str]:
        """Return the accounts of those of them that are kept here."""
        return {f"{owner}:wallet" for owner in self.owners() if self.keeper_of(owner) is None}

    def mirrors(self) -> set[str]:
        """Return the accounts that mirror those of them that are kept elsewhere."""
        keepers = {self.keeper_of(owner) for owner in self.owners()}
        return {
            external_wallets.mirror(keeper.code, table=self.table) for keeper in keepers if keeper is not None
        }

    def keeper_of(self, owner: str) -> System | None:
        """Return the cashier system that keeps a guest's wallet, None where it is kept here."""
        return external_wallets.keeper_of(owner, self.systems)

    def set_aside(self, wager: str, owner: str) -> int:
        """Return what is set aside of this guest's wallet for a wager, here or elsewhere, in minor units."""
        hold, kept = self.holds.get(wager), self.elsewhere.get(wager)
        if hold is not None and hold.account == f"{owner}:wallet":
            return hold.amount
        return kept.exposure if kept is not None and kept.state == "held" and kept.account == owner else 0

    def ruled(self) -> set[str]:
        """Return the wagers of which somebody ruled what they are."""
        assert self.record is not None
        return {finding.subject for finding in self.record.findings if finding.kind == "bet_ruled"}

    @property
    def bank_measured(self) -> bool:
        """Whether the banker was asked for the bank: what was set aside then is the bank, also nothing."""
        return BANK in self.touched or any(wager == BANK for wager, _ in self.refused)

    def uncovered(self, verdict: Verdict) -> list[tuple[str, str, int, str]]:
        """Return the wallets' wagers that met cards without their exposure set aside, with the reason."""
        found = []
        for line in verdict.lines:
            assert self.house is not None
            exposure = payouts.exposure(line.stake, self.house)
            owner = line.owner.ref
            if line.owner.kind != "account" or not exposure or self.set_aside(line.wager, owner) >= exposure:
                continue
            found.append((line.wager, f"{owner}:wallet", exposure, self._why_uncovered(line.wager, owner)))
        return found

    def _why_uncovered(self, wager: str, owner: str) -> str:
        if self.set_aside(wager, owner):
            return "changed_since"  # something is set aside, for the bet that stood there before
        if (wager, owner) in self.refused:
            return "refused"
        return "changed_since" if wager in self.touched or wager in self.ruled() else "offline"

    @property
    def written(self) -> dict[str, Any]:
        """The record as JSON: what is cached, hashed and compared when the round is judged again."""
        if self._written is None:
            assert self.record is not None
            self._written = record.to_json(self.record)
        return self._written

    @property
    def record_json(self) -> str:
        """The written record as text: what ``events.canonical`` gives, without its search for floats (a record has
        none)."""
        if not self._record_json:
            self._record_json = _encode(self.written)
        return self._record_json

    @property
    def record_sha256(self) -> str:
        """SHA-256 of the written record, in hexadecimal."""
        return hashlib.sha256(self.record_json.encode()).hexdigest()


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


_ROWS = f"""
SELECT r.id, r.table_id, t.code, t.state, t.currency, t.camera, r.session_id, r.number, r.standing, r.reasons,
       r.opened_at, r.closed_at, r.due_at,
       (SELECT s.sheet_id FROM settlement_tablerules s
         WHERE s.table_id = r.table_id AND s.in_force_from <= r.opened_at
         ORDER BY s.in_force_from DESC LIMIT 1), {external_wallets.SYSTEMS}
  FROM casino_round r JOIN casino_table t ON t.id = r.table_id
 WHERE r.id = ANY(%s) AND r.alias_of_id IS NULL ORDER BY r.id
"""  # noqa: S608


def read(
    ids: Collection[UUID], *, lock: bool, cites: Mapping[UUID, Collection[int]] | None = None
) -> list[Case]:
    """Return the rounds of ``ids`` as cases, in the order of their ids; aliases and unknown ids are left out.

    ``lock`` keeps their rows until the act ends. A round that is finished comes without its record, unless ``cites``
    names it: then with the fold of the events that were not late and those late ones (by RoundEvent id) it cites.
    Five statements at the most, whatever the number of rounds; one less when every sheet was met before.
    """
    return list(gather(ids, lock=lock, cites=cites).each())


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rounds as they were read and not folded yet. Who holds no lock ends its transaction before it folds hundreds."""

    cases: list[Case]
    wanted: list[Case]
    recorded: Mapping[UUID, Sequence[Recorded]]
    gaps: Mapping[UUID, Sequence[Gap]]
    cites: Mapping[UUID, Collection[int]]

    def each(self) -> Iterator[Case]:
        """Fold and return the rounds one by one. No statement."""
        wanted = {case.id for case in self.wanted}
        for case in self.cases:
            if case.id in wanted:
                self._fold(case)
            yield case

    def _fold(self, case: Case) -> None:
        recorded = self.recorded[case.id]
        named = frozenset(self.cites.get(case.id, ()))
        counted = [item for item in recorded if not item.late or item.event.place in named]
        case.record = record.fold(
            [item.event for item in counted],
            # A gap did not keep the round from settling then, so it does not keep a correction from being read now.
            unknown=() if case.finished else self.gaps.get(case.id, ()),
            currency=case.currency,
        )
        case.upto = max((item.event.place for item in recorded), default=0)
        case.late = tuple(item.event.place for item in recorded if item.late)
        case.late_bets = frozenset(
            item.event.place for item in recorded if item.late and item.event.kind == "bet_ruled"
        )
        case.clock_off = any(item.clock_off for item in counted)


def gather(
    ids: Collection[UUID], *, lock: bool, cites: Mapping[UUID, Collection[int]] | None = None
) -> Gathered:
    """Read what ``read`` reads, by the same statements, and leave the folding to the caller."""
    cites = cites or {}
    cases = _rows(ids, lock=lock)
    wanted = [case for case in cases if not case.finished or case.id in cites]
    if not wanted:
        return Gathered(cases, [], {}, {}, cites)
    recorded = rounds.recorded([case.id for case in wanted])
    gaps = devices.gaps_touching(wanted)
    sheets = rule_sheets.load({case.sheet_id for case in wanted if case.sheet_id})
    for case in wanted:
        if case.sheet_id is not None:
            case.house = sheets[case.sheet_id]
            case.sheet_sha256 = case.house.sha256
    _read_covers(wanted)
    return Gathered(cases, wanted, recorded, gaps, cites)


def lock(round_id: UUID) -> None:
    """Keep a round's row until the act ends, and read nothing of it. One statement."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM casino_round WHERE id = %s FOR UPDATE", [round_id])


def _rows(ids: Collection[UUID], *, lock: bool) -> list[Case]:
    with connection.cursor() as cursor:
        cursor.execute(_ROWS + (" FOR UPDATE OF r" if lock else ""), [sorted(set(ids))])
        rows = cursor.fetchall()
    systems = external_wallets.read(rows[0][-1]) if rows else {}
    values = [(*row[:9], tuple(row[9]), *row[10:-1]) for row in rows]
    found = [Case(*value) for value in values]
    for case in found:
        case.systems = systems
    return found


def _read_covers(cases: Sequence[Case]) -> None:
    by_id = {case.id: case for case in cases}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT h.round_id, h.wager, h.id, a.code, h.amount, h.ended_at IS NULL, NULL, 0 FROM settlement_hold h"
            " JOIN settlement_account a ON a.id = h.account_id WHERE h.round_id = ANY(%(ids)s)"
            " UNION ALL SELECT round_id, wager, NULL, account_code, exposure, false, NULL, 0"
            " FROM settlement_refusedcover WHERE round_id = ANY(%(ids)s)"
            " UNION ALL SELECT round_id, wager, id, account, exposure, ended_at IS NULL, state, stake"
            " FROM settlement_externalhold WHERE round_id = ANY(%(ids)s) AND NOT late",
            {"ids": list(by_id)},
        )
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    for round_id, wager, hold_id, account, amount, is_open, state, stake in rows:
        case = by_id[round_id]
        if hold_id is None or state in ("asked", "refused"):
            case.refused.add((wager, account.removesuffix(":wallet")))
        else:
            case.touched.add(wager)
        if is_open and state is None:
            case.holds[wager] = Held(hold_id, account, round_id, wager, amount)
        elif is_open:
            keeper = case.keeper_of(account)
            assert keeper is not None
            case.elsewhere[wager] = Kept(
                hold_id, keeper, round_id, wager, account, stake, amount, case.currency, state
            )
