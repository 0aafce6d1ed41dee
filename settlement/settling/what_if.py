"""What would come of a round if other facts were chosen: computed, never written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

from casino import devices, record, rounds
from casino.models import Standing
from casino.platform.refusals import Refusal
from casino.record import Event, Gap, RoundRecord
from settlement.models import Line
from settlement.rules.payouts import Verdict
from settlement.settling import judging, round_inputs, settle_and_correct
from settlement.settling import line_rows as lines
from settlement.settling.judging import Inputs
from settlement.settling.review_findings import inputs_now
from settlement.settling.round_inputs import Case

STANDS = "stands"
"""The fact that changes nothing: the round stays as it is."""


class Compared(NamedTuple):
    """A wager under some facts: net ``before`` (None: nothing was settled of it) and ``after`` (None: nothing is), in
    minor units. A player's bank has the wager ``bank``."""

    wager: str
    hand: str
    owner: dict[str, str]
    before: int | None
    after: int | None

    @property
    def moved(self) -> int:
        """What moves, whoever gains by it."""
        return abs((self.after or 0) - (self.before or 0))


@dataclass(frozen=True, slots=True)
class Considered:
    """The outcome of a round under some facts, and what that would move.

    ``revision`` (0: none) and ``upto`` (the last event recorded) say of which round this is true: another report or
    another revision, and it has to be considered again.
    """

    outcome: str
    reasons: tuple[str, ...]
    lines: tuple[Compared, ...]
    house_net: int
    currency: str
    revision: int
    upto: int

    @property
    def moved(self) -> int:
        """What moves between how the round stands and this: the sum over its wagers, in minor units."""
        return sum(line.moved for line in self.lines)

    def apart(self, other: Considered) -> int:
        """Return what lies between this and another outcome of the round: the sum over its wagers, in minor units."""
        ours, theirs = ({line.wager: line.after or 0 for line in one.lines} for one in (self, other))
        return sum(abs(ours.get(wager, 0) - theirs.get(wager, 0)) for wager in {*ours, *theirs})

    def written(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "outcome": self.outcome,
            "reasons": list(self.reasons),
            "lines": [line._asdict() for line in self.lines],
            "house_net": self.house_net,
            "moved": self.moved,
            "currency": self.currency,
            "revision": self.revision,
            "upto": self.upto,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A round under discussion: its record as it stands, and what is needed to judge it under other facts.

    ``settled`` are the lines of its effective revision, by wager, as before and after.
    """

    case: Case
    standing: RoundRecord
    events: tuple[Event, ...]
    unknown: tuple[Gap, ...]
    inputs: Inputs
    settled: dict[str, Compared]
    revision: int

    def consider(self, facts: Sequence[Mapping[str, Any]]) -> Considered:
        """Judge the round as if these facts had been decided; write nothing.

        Refuses ``invalid_value`` for what no decision may say and where the round is to stand and to change at once,
        and ``round_not_settled`` where it still waits for its settlement, except to be voided.
        """
        kinds = [fact["kind"] for fact in facts]
        if not kinds or not {*kinds} <= {*rounds.DECIDED_KINDS, STANDS}:
            raise Refusal(
                "invalid_value", fields={"facts": " · ".join(sorted({*rounds.DECIDED_KINDS, STANDS}))}
            )
        if self.case.standing in (Standing.PLAYING, Standing.DUE) and set(kinds) != {"round_voided"}:
            raise Refusal("round_not_settled")
        if STANDS not in kinds:
            return self._under(facts)
        if kinds != [STANDS]:
            raise Refusal("invalid_value", fields={"facts": "it stands, or other facts are chosen"})
        return self._as_it_stands()

    def _as_it_stands(self) -> Considered:
        same = {wager: line._replace(after=line.before) for wager, line in self.settled.items()}
        house_net = -sum(line.before or 0 for line in same.values())
        return self._considered(self.case.standing, self.case.reasons, same, house_net)

    def _under(self, facts: Sequence[Mapping[str, Any]]) -> Considered:
        last = max((event.place for event in self.events), default=0)
        chosen = [_decided(fact, last + place) for place, fact in enumerate(facts, start=1)]
        told = record.fold([*self.events, *chosen], unknown=self.unknown, currency=self.case.currency)
        case = replace(self.case, record=told)
        verdict = judging.judge(case, self._inputs_under(case, facts))
        compared = {wager: line._replace(after=None) for wager, line in self.settled.items()}
        for wager, hand, owner, net in _nets(verdict):
            before = compared[wager].before if wager in compared else None
            compared[wager] = Compared(wager, hand, owner, before, net)
        return self._considered(verdict.outcome, verdict.reasons, compared, verdict.house_net)

    def _inputs_under(self, case: Case, facts: Sequence[Mapping[str, Any]]) -> Inputs:
        """A bet that is ruled may be of a wallet that nobody looked at before."""
        if all(fact["kind"] != "bet_ruled" for fact in facts):
            return self.inputs
        now = inputs_now(case)
        return judging.inputs_as_before(case, self.inputs, now) if self.revision else now

    def _considered(
        self, outcome: str, reasons: tuple[str, ...], compared: Mapping[str, Compared], house_net: int
    ) -> Considered:
        in_order = sorted(compared, key=lambda wager: (wager == lines.BANK, len(wager), wager))
        return Considered(
            outcome=outcome,
            reasons=reasons,
            lines=tuple(compared[wager] for wager in in_order),
            house_net=house_net,
            currency=self.case.currency,
            revision=self.revision,
            upto=self.case.upto,
        )


def _decided(fact: Mapping[str, Any], place: int) -> Event:
    return Event(
        kind=fact["kind"],
        data={name: value for name, value in fact.items() if name != "kind"},
        source="/disputes/considered",
        feed="decision",
        seq=0,
        place=place,
        signed=True,
    )


def _nets(verdict: Verdict) -> list[tuple[str, str, dict[str, str], int]]:
    found: list[tuple[str, str, dict[str, str], int]]
    found = [
        (line.wager, line.hand, {str(line.owner.kind): line.owner.ref}, line.net) for line in verdict.lines
    ]
    if verdict.bank is not None:
        found.append((lines.BANK, lines.BANK, {"account": verdict.bank.account}, verdict.bank.net))
    return found


def question(round_id: UUID) -> Question:
    """Return a round as a question that facts can answer. Refuses ``not_found``, and ``round_not_opened`` for a round
    without its opening or without a sheet."""
    settlement = settle_and_correct.effective(round_id)
    cites = {round_id: settlement.cites} if settlement else {}
    found = round_inputs.read([round_id], lock=False, cites=cites)
    if not found:
        raise Refusal("not_found")
    case = found[0]
    if case.record is None or case.house is None:
        raise Refusal("round_not_opened")
    cited = set(settlement.cites) if settlement else set()
    recorded = rounds.recorded([round_id])[round_id]
    stored = Line.objects.filter(settlement=settlement) if settlement else Line.objects.none()
    return Question(
        case=case,
        standing=case.record,
        events=tuple(item.event for item in recorded if not item.late or item.event.place in cited),
        unknown=() if case.finished else tuple(devices.gaps_touching([case]).get(round_id, ())),
        inputs=Inputs.read(settlement.inputs) if settlement else inputs_now(case),
        settled={
            line.wager: Compared(line.wager, line.hand, {line.owner_kind: line.owner_ref}, line.net, line.net)
            for line in stored.order_by("ordinal")
        },
        revision=settlement.revision if settlement else 0,
    )
