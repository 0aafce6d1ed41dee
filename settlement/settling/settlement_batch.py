"""The rounds of one act: heard one after the other in memory, written together."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from casino import events, rounds
from casino.events import Act, Fact
from casino.models import Person, Standing
from casino.platform.refusals import Refusal
from casino.rounds import Told
from settlement import days, ledger, webhooks
from settlement.external_wallets import Dues
from settlement.ledger import Balance, NewJournal
from settlement.models import Settlement
from settlement.rules.payouts import Verdict
from settlement.settling import external_holds, judging, line_rows, messages, postings, settlement_rows
from settlement.settling.earlier_revisions import History, kept_of
from settlement.settling.judging import Inputs
from settlement.settling.round_inputs import Case
from settlement.settling.settlement_rows import Revision
from settlement.webhooks import Owed

COUNTED_DAYS = 2
"""A round is posted in its own gaming day while that is today's or the one before and not sealed; else, in today's."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one round: ``settled``, ``voided``, ``held`` (with reasons) or ``waiting`` (until ``due_at``;
    None: until it is closed)."""

    round: UUID
    outcome: str
    reasons: tuple[str, ...] = ()
    due_at: datetime | None = None


class Docket:
    """The rounds of one act: heard one after the other in memory, written together."""

    def __init__(
        self,
        *,
        act: Act,
        today: date,
        last_sealed: date | None = None,
        because: Mapping[UUID, UUID] | None = None,
    ) -> None:
        self.act = act
        self.today = today
        self.last_sealed = last_sealed
        self.because = because or {}
        self.balances: dict[str, Balance] = {}
        self.free: dict[str, int] = {}
        self.revisions: list[Revision] = []
        self.release: dict[UUID, str] = {}
        self.told: list[Told] = []
        self.facts: list[Fact] = []
        self.owed: list[Owed] = []
        self.dues = Dues(now=act.now)
        self.tables: dict[UUID, str] = {}

    def lock_accounts(
        self, heard: Sequence[Case], *, and_those_of: History | None = None, and_also: Collection[str] = ()
    ) -> None:
        """Lock whatever may move, by currency (a house keeps one; another would be another statement)."""
        by_currency: dict[str, set[str]] = {}
        for case in heard:
            wallets = case.wallets() | {hold.account for hold in case.holds.values()}
            codes = by_currency.setdefault(case.currency, set())
            codes.update(f"table:{case.table}:{kind}" for kind in ("bank", "guests", "commission"))
            if and_those_of is not None:
                wallets |= and_those_of.wallets
                codes |= and_those_of.mirrors
            codes |= wallets | case.mirrors() | set(and_also)
            if wallets:
                codes.add(f"suspense:shortfall:{case.table}")
        for currency, codes in sorted(by_currency.items()):
            self.balances |= ledger.lock(codes, currency=currency)
        self.free = {code: account.available for code, account in self.balances.items()}

    # One round after the other.

    def hear(self, case: Case) -> Settled:
        """Judge one round and take down what is to be written of it."""
        if case.record is not None and (case.holds or case.elsewhere):
            self._let_go_ruled_away(case)
        inputs = judging.inputs_of(case, self.balances, available=self.free)
        verdict = judging.judge(case, inputs)
        answer = self._answer(case, verdict)
        if answer.outcome in ("settled", "voided"):
            for hold in case.holds.values():
                self.free[hold.account] += hold.amount
            self._settle(case, verdict, inputs)
        return answer

    def _let_go_ruled_away(self, case: Case) -> None:
        """End the holds of bets that were ruled to be nobody's, or another guest's, whatever becomes of the round."""
        assert case.record is not None
        accounts = {wager.id: f"{wager.owner.ref}:wallet" for wager in case.record.wagers}
        ended = [
            case.holds[wager]
            for wager in sorted(case.ruled() & case.holds.keys())
            if case.holds[wager].account != accounts.get(wager)
        ]
        for hold in ended:
            del case.holds[hold.wager]
            self.free[hold.account] += hold.amount
            self.release[hold.id] = "changed"
        if ended:
            self.facts.append(
                self._fact("round.holds_ended", case, {"ended": [str(hold.id) for hold in ended]})
            )
            self.owed += messages.freed(case, ended, reason="changed")
        external_holds.ruled_away(self.dues, case)
        self.tables[case.id] = case.table

    def _answer(self, case: Case, verdict: Verdict) -> Settled:
        if verdict.outcome == "open":
            return self._leave_open(case)
        if verdict.outcome == "held":
            self._hold(case, verdict)
            return Settled(case.id, "held", verdict.reasons)
        if verdict.outcome == "settled" and self._waits_for_camera(case):
            return Settled(case.id, "waiting", due_at=case.due_at)
        return Settled(case.id, verdict.outcome)

    def _waits_for_camera(self, case: Case) -> bool:
        assert case.record is not None
        return (
            case.camera
            and bool(case.record.unread_by_camera)
            and case.due_at is not None
            and self.act.now < case.due_at
        )

    def _leave_open(self, case: Case) -> Settled:
        if case.standing != Standing.PLAYING:
            self.told.append(Told(case.id, Standing.PLAYING))
        return Settled(case.id, "waiting")

    def _hold(self, case: Case, verdict: Verdict) -> None:
        if case.standing == Standing.HELD and case.reasons == verdict.reasons:
            return
        assert case.record is not None
        self.told.append(
            Told(
                case.id,
                Standing.HELD,
                verdict.reasons,
                record=case.record_json,
                cards_seen=case.record.cards_seen,
                # Should its doubt go within the camera's grace, it waits for the rest of it.
                due_at=case.due_at if case.due_at and case.due_at > self.act.now else None,
            )
        )
        self.facts.append(
            self._fact(
                "round.held", case, {"reasons": list(verdict.reasons), "record_sha256": case.record_sha256}
            )
        )
        self.owed.append(messages.of_hold(case, verdict.reasons))

    def _settle(self, case: Case, verdict: Verdict, inputs: Inputs) -> None:
        gaming_day = self._day_of(case)
        journals = self._journals(
            case, verdict, inputs, number=1, back=(), gaming_day=self._posted_in(gaming_day), given={}
        )
        outcome = "settled" if verdict.outcome == "settled" else "released"
        self.release |= {hold.id: outcome for hold in case.holds.values()}
        revision = self._enter(case, verdict, inputs, number=1, gaming_day=gaming_day, journals=journals)
        revision.because = self.because.get(case.id)
        external_holds.settled(self.dues, case, verdict, inputs)

    def amend(
        self,
        case: Case,
        *,
        before: Settlement,
        history: History,
        cites: list[int],
        because: UUID | None,
        people: tuple[Person | None, Person | None],
    ) -> None:
        """Take down a later revision: the one before reversed, the new judgement posted; where no line changes, the
        journals of the one before stay its own."""
        if case.house is None:
            raise Refusal("round_not_settled")
        now = judging.inputs_of(case, self.balances, available=self.free)
        inputs = judging.inputs_as_before(case, Inputs.read(before.inputs), now)
        verdict = judging.judge(case, inputs)
        if verdict.outcome not in ("settled", "voided"):
            raise Refusal("round_held", reasons=list(verdict.reasons))
        number = before.revision + 1
        stored = line_rows.of_verdict(verdict, table=case.table, elsewhere=inputs.elsewhere)
        kept: dict[str, tuple[UUID, NewJournal]] | None = None
        if (verdict.outcome, [list(line) for line in stored]) == (before.outcome, history.lines):
            kept = kept_of(before)
        moved = [journal for journal in (before.journal_id, before.shortfall_id) if journal is not None]
        journals: dict[str, NewJournal] = {}
        if kept is None:
            back = ledger.reversal_of(moved, gaming_day=self.today) if moved else []
            journals = self._journals(
                case, verdict, inputs, number=number, back=back, gaming_day=self.today, given=history.given
            )
        acted_by, approved_by = people
        revision = self._enter(
            case, verdict, inputs, number=number, gaming_day=before.gaming_day, journals=journals
        )
        revision.cites, revision.supersedes, revision.because = cites, before.id, because
        revision.acted_by = acted_by.id if acted_by else None
        revision.approved_by = approved_by.id if approved_by else None
        revision.kept = kept
        revision.unmoved = history.unmoved_by(stored)
        revision.told_as = history.told
        if case.systems and kept is None:
            external_holds.amended(self.dues, case, verdict, inputs, revision=number, because=because)

    def _journals(
        self,
        case: Case,
        verdict: Verdict,
        inputs: Inputs,
        *,
        number: int,
        back: Sequence[NewJournal],
        gaming_day: date,
        given: Mapping[str, int],
    ) -> dict[str, NewJournal]:
        """Return what is posted for one revision, by its part, in the order of posting."""
        key = f"round:{case.id}:{number}"
        orig_day = self._day_of(case)
        found: dict[str, NewJournal] = {}
        for journal in back:
            part = "reversal" if not journal.key.endswith(":shortfall") else "shortfall_reversal"
            found[part] = journal
        moving = postings.postings_of(verdict, table=case.table, elsewhere=inputs.elsewhere)
        if verdict.outcome == "settled" and moving:
            found["journal"] = NewJournal(
                kind="round",
                key=key,
                gaming_day=gaming_day,
                currency=case.currency,
                postings=moving,
                round=case.id,
                orig_day=orig_day if orig_day != gaming_day else None,
            )
        wallets = {code for code in self.free if code.startswith("player:")}
        lent = postings.shortfalls(
            list(found.values()),
            available={code: self.free[code] for code in wallets},
            given=given,
            table=case.table,
            key=f"{key}:shortfall",
            round=case.id,
            currency=case.currency,
            gaming_day=gaming_day,
        )
        if lent is not None:
            found = {"shortfall": lent, **found}
        for journal in found.values():
            for posting in journal.postings:
                self.free[posting.account] = self.free.get(posting.account, 0) + posting.amount
        return found

    def _enter(
        self,
        case: Case,
        verdict: Verdict,
        inputs: Inputs,
        *,
        number: int,
        gaming_day: date,
        journals: dict[str, NewJournal],
    ) -> Revision:
        revision = Revision(
            id=events.uuid7(self.act.now),
            case=case,
            number=number,
            verdict=verdict,
            lines=line_rows.written(
                line_rows.of_verdict(verdict, table=case.table, elsewhere=inputs.elsewhere)
            ),
            gaming_day=gaming_day,
            inputs=inputs.written(),
            journals=journals,
            uncovered=case.uncovered(verdict) if number == 1 else [],
        )
        self.revisions.append(revision)
        assert case.record is not None
        self.told.append(
            Told(
                case.id,
                verdict.outcome,
                record=case.record_json,
                cards_seen=case.record.cards_seen,
                gaming_day=gaming_day,
            )
        )
        return revision

    def _day_of(self, case: Case) -> date:
        """The gaming day in which the bets closed; it decides, not the day on which the round is settled."""
        assert case.record is not None
        closed = case.record.bets_closed_ms
        instant = (
            datetime.fromtimestamp(closed / 1000, tz=self.act.now.tzinfo)
            if closed is not None
            else case.opened_at
        )
        return days.of(instant or self.act.now)

    def _posted_in(self, gaming_day: date) -> date:
        recent = gaming_day > self.today - timedelta(days=COUNTED_DAYS)
        sealed = self.last_sealed is not None and gaming_day <= self.last_sealed
        return gaming_day if recent and not sealed else self.today

    # Writes.

    def write(self) -> None:
        """Post, settle, tell: everything of the docket in a fixed number of statements."""
        entered = [
            (revision, part, journal)
            for revision in self.revisions
            for part, journal in revision.journals.items()
        ]
        posted = ledger.post(
            [journal for _, _, journal in entered], release=self.release, locked=self.balances
        )
        ids: dict[tuple[UUID, str], UUID] = {}
        described: dict[UUID, list[dict[str, Any]]] = {revision.id: [] for revision in self.revisions}
        for (revision, part, journal), journal_id in zip(entered, posted, strict=True):
            ids[revision.id, part] = journal_id
            described[revision.id].append(journal.described(journal_id))
        for revision in self.revisions:
            for part, (journal_id, journal) in (revision.kept or {}).items():
                ids[revision.id, part] = journal_id
                described[revision.id].append(journal.described(journal_id))
        if self.revisions:
            settlement_rows.insert(self.revisions, ids, now=self.act.now)
        self.dues.write()
        if self.told:
            rounds.stand(self.told)
        facts = self.facts + [
            self._settlement_fact(revision, described[revision.id]) for revision in self.revisions
        ]
        if self.dues:
            revised = {revision.case.id: revision.case.table for revision in self.revisions}
            facts += self.dues.facts(self.tables | revised)
        if facts:
            events.announce(facts)
        webhooks.owe(
            self.owed
            + [message for revision in self.revisions for message in messages.of_revision(revision, ids)]
        )

    def _settlement_fact(self, revision: Revision, journals: list[dict[str, Any]]) -> Fact:
        case = revision.case
        action = f"round.{revision.verdict.outcome}" if revision.number == 1 else "round.corrected"
        return self._fact(
            action,
            case,
            {
                "settlement": str(revision.id),
                "revision": revision.number,
                "outcome": revision.verdict.outcome,
                "sheet_sha256": case.sheet_sha256,
                "record_sha256": case.record_sha256,
                "lines_sha256": hashlib.sha256(revision.lines.encode()).hexdigest(),
                "house_net": revision.verdict.house_net,
                "currency": case.currency,
                "gaming_day": revision.gaming_day.isoformat(),
                "upto": case.upto,
                "cites": revision.cites,
                "inputs": revision.inputs,
                "because": str(revision.because) if revision.because else None,
                "acted_by": str(revision.acted_by) if revision.acted_by else None,
                "approved_by": str(revision.approved_by) if revision.approved_by else None,
                "uncovered": [list(row) for row in revision.uncovered],
                "journals": journals,
                **({"changes_nothing": 1} if revision.changes_nothing else {}),
            },
        )

    def _fact(self, action: str, case: Case, data: dict[str, Any]) -> Fact:
        return Fact(action, f"rounds/{case.id}", data, table=case.table, round=case.id)
