"""What would come of a round if other facts were chosen: computed, never written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from casino import record, rounds
from casino.record import Event, RoundRecord
from casino.refusals import Refusal
from settlement.models import Line
from settlement.rules.payouts import Verdict
from settlement.settle import cases, judgement, lines, settling
from settlement.settle.cases import Case
from settlement.settle.findings import inputs_now
from settlement.settle.judgement import Inputs

STANDS = "stands"
"""The fact that changes nothing: the round stays as it was settled."""


@dataclass(frozen=True, slots=True)
class Considered:
    """The outcome under some facts, and what it would move: ``lines`` are (wager, net before, net after), minor units;
    before is None for a round that was not settled, after is None where it would be held or voided."""

    outcome: str
    reasons: tuple[str, ...]
    lines: tuple[tuple[str, int | None, int | None], ...]
    house_net: int

    @property
    def moved(self) -> int:
        """The sum of all differences, whoever gains by them: what is at stake between this and how it stands."""
        return sum(abs((after or 0) - (before or 0)) for _, before, after in self.lines)

    def written(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "outcome": self.outcome,
            "reasons": list(self.reasons),
            "lines": [list(line) for line in self.lines],
            "house_net": self.house_net,
            "moved": self.moved,
        }


@dataclass(slots=True)
class Question:
    """A round under discussion: its record as it stands, and what is needed to judge it under other facts."""

    case: Case
    standing: RoundRecord
    events: list[Event]
    inputs: Inputs
    settled: dict[str, int]

    def consider(self, facts: Sequence[Mapping[str, Any]]) -> Considered:
        """Judge the round as if these facts had been decided; write nothing."""
        if [fact["kind"] for fact in facts] == [STANDS]:
            return self._answer(Verdict(self.case.standing, ()), same=True)
        last = max((event.place for event in self.events), default=0)
        chosen = [
            Event(
                kind=fact["kind"],
                data={name: value for name, value in fact.items() if name != "kind"},
                source="/disputes/considered",
                feed="decision",
                seq=0,
                place=last + place,
                signed=True,
            )
            for place, fact in enumerate(facts, start=1)
        ]
        self.case.record = record.fold([*self.events, *chosen], currency=self.case.currency)
        return self._answer(judgement.judge(self.case, self.inputs), same=False)

    def _answer(self, verdict: Verdict, *, same: bool) -> Considered:
        after = dict(self.settled) if same else {line.wager: line.net for line in verdict.lines}
        if verdict.bank is not None:
            after[lines.BANK] = verdict.bank.net
        wagers = sorted({*self.settled, *after}, key=lambda wager: (len(wager), wager))
        return Considered(
            verdict.outcome,
            verdict.reasons,
            tuple((wager, self.settled.get(wager), after.get(wager)) for wager in wagers),
            -sum(after.values()) if same else verdict.house_net,
        )


def question(round_id: UUID) -> Question:
    """Return a round as a question that facts can answer. Refuses ``not_found`` and ``round_not_opened``."""
    settlement = settling.effective(round_id)
    cites = {round_id: settlement.cites} if settlement else {}
    found = cases.read([round_id], lock=False, cites=cites)
    if not found:
        raise Refusal("not_found")
    case = found[0]
    if case.record is None or case.house is None:
        raise Refusal("round_not_opened")
    cited = set(settlement.cites) if settlement else set()
    recorded = rounds.recorded([round_id])[round_id]
    stored = Line.objects.filter(settlement=settlement).values_list("wager", "net") if settlement else ()
    return Question(
        case=case,
        standing=case.record,
        events=[item.event for item in recorded if not item.late or item.event.place in cited],
        inputs=Inputs.read(settlement.inputs) if settlement else inputs_now(case),
        settled=dict(stored),
    )
