"""The facts that could end a dispute, each with what it would move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import Any
from uuid import UUID

from audit.disputes import option_texts
from casino import cards
from casino.models import Standing
from casino.record import WAIVABLE, Owner, RoundRecord, Slot
from settlement import settling
from settlement.settling import Considered, Question

ANSWERS, ENDS = "answers", "ends"
"""An option answers what is in doubt, or ends the dispute without: the round stands, or is void."""


@dataclass(frozen=True, slots=True)
class Option:
    """Facts that somebody could choose, and what would come of them. ``sort`` is ``answers`` or ``ends``."""

    sort: str
    facts: tuple[dict[str, Any], ...]
    considered: Considered

    def written(self) -> dict[str, Any]:
        """Return it as JSON; ``facts`` can be proposed as they are, ``says`` is what a person reads."""
        return {
            "sort": self.sort,
            "facts": list(self.facts),
            "consequences": self.considered.written(),
            "says": option_texts.option(self.facts, self.considered)._asdict(),
        }


def options_of(round_id: UUID, *, subject: str = "") -> list[Option]:
    """Return the facts at hand for a round's doubts, those of ``subject`` first; last, that it stands or is void.

    Another card than any feed read can be proposed all the same; it is no option because nothing speaks for it. Of a
    round that still waits for its settlement there is only the void.
    """
    question = settling.question(round_id)
    waits = question.case.standing in (Standing.PLAYING, Standing.DUE)
    found = [] if waits else [_option(ANSWERS, question, facts) for facts in _facts(question, subject)]
    ends: list[list[dict[str, Any]]] = [] if waits else [[{"kind": settling.STANDS}]]
    ends.append([{"kind": "round_voided"}])
    return [*found, *(_option(ENDS, question, facts) for facts in ends)]


def at_risk(round_id: UUID, *, subject: str = "") -> int:
    """Return the most that lies between two answers, or between an answer and how the round was settled (minor units).

    Where every answer comes to the same, nothing is at risk. A void answers nothing: who proposes one puts at risk
    whatever it takes from the answers.
    """
    outcomes = _outcomes(settling.question(round_id), subject)
    return max((one.apart(other) for one, other in combinations(outcomes, 2)), default=0)


def weighed(round_id: UUID, facts: Sequence[Mapping[str, Any]], *, subject: str) -> tuple[Considered, int]:
    """Return what would come of a round under these facts, and the most that lies between that and an answer; where
    nothing answers, between that and how the round stands."""
    question = settling.question(round_id)
    considered = question.consider(facts)
    outcomes = _outcomes(question, subject)
    return considered, max((considered.apart(other) for other in outcomes), default=considered.moved)


def consequences(round_id: UUID, facts: Sequence[Mapping[str, Any]]) -> Considered:
    """Return what would come of a round under these facts."""
    return settling.question(round_id).consider(facts)


def _outcomes(question: Question, subject: str) -> list[Considered]:
    """What each answer comes to; of a settled round also how it stands."""
    if question.case.standing in (Standing.PLAYING, Standing.DUE):
        return []
    found = [question.consider(facts) for facts in _facts(question, subject)]
    return [*found, question.consider([{"kind": settling.STANDS}])] if question.case.finished else found


def _option(sort: str, question: Question, facts: Sequence[Mapping[str, Any]]) -> Option:
    return Option(sort, tuple(dict(fact) for fact in facts), question.consider(facts))


def _facts(question: Question, subject: str) -> Iterator[list[dict[str, Any]]]:
    record = question.standing
    slots = sorted(_doubtful(record, subject), key=lambda slot: (_name(slot) != subject, _name(slot)))
    for slot in slots:
        for card in dict.fromkeys(read.card for read in slot.reads):
            yield [_act("card_ruled", slot) | {"card": cards.text(card)}]
    for slot in _removable(record):
        yield [_act("card_removed", slot)]
    reasons = question.case.reasons
    if "too_many_hands" in reasons:
        yield from _unbetted_hands(record)
    yield from _bets(question, subject)
    for reason in reasons:
        if reason in WAIVABLE:
            yield [{"kind": "hold_waived", "reason_code": reason}]


def _doubtful(record: RoundRecord, subject: str) -> list[Slot]:
    """Slots that were read in two ways, and the slot that the dispute is about. Where the terminal says that there was
    no third card, the card that a camera read is one answer, its removal the other."""
    return [
        slot
        for slot in record.slots
        if slot.reads
        and not slot.removed
        and (len({read.card for read in slot.reads}) > 1 or slot.silent or _name(slot) == subject)
    ]


def _removable(record: RoundRecord) -> list[Slot]:
    """Cards that could be dead: one of two alike, the third of a pok, any of a hand with too many, one that only a
    camera saw."""
    live = [slot for slot in record.slots if not slot.removed]
    effective = [slot.card for slot in live if slot.card is not None]
    twice = {card for card in effective if effective.count(card) > 1}
    found = [slot for slot in live if slot.card in twice or slot.silent]
    for hand in (*record.hands, record.dealer):
        of_hand = [slot for slot in live if slot.hand == hand.name]
        if len(of_hand) > 3:
            found.extend(of_hand)
        elif "pok_drew" in record.doubts and len(of_hand) == 3:
            found.extend(of_hand[2:])
    return sorted(set(found), key=_name)


def _unbetted_hands(record: RoundRecord) -> Iterator[list[dict[str, Any]]]:
    """A hand too many goes by the removal of its cards, where nobody bet on it."""
    betted = {wager.hand for wager in record.wagers}
    for hand in record.hands:
        of_hand = [slot for slot in record.slots if slot.hand == hand.name and not slot.removed]
        if hand.name not in betted and of_hand:
            yield [_act("card_removed", slot) for slot in of_hand]


def _bets(question: Question, subject: str) -> Iterator[list[dict[str, Any]]]:
    """What a bet could be, where two terminals differ or where it was placed, changed or withdrawn too late: as the one
    says, and as the other does. That of the dispute first."""
    found = [*_of_other_terminals(question), *_late_bets(question)]
    said: list[dict[str, Any]] = []
    for fact in sorted(found, key=lambda fact: (fact["wager"] != subject, len(fact["wager"]), fact["wager"])):
        if fact not in said:
            said.append(fact)
            yield [fact]


def _of_other_terminals(question: Question) -> Iterator[dict[str, Any]]:
    """The sum of a guest's stakes on a hand goes to his first wager there, or to a wager that the recorder has not."""
    record = question.standing
    for apart in record.bets_apart:
        mine = [wager for wager in record.wagers if (wager.hand, wager.owner) == (apart.hand, apart.owner)]
        others = sum(wager.stake for wager in mine[1:])
        wager = mine[0].id if mine else _free_wager(question)
        for stake in (apart.stake, apart.ours):
            if stake >= others:
                yield _bet(question, wager, apart.hand, apart.owner, stake - others)


def _late_bets(question: Question) -> Iterator[dict[str, Any]]:
    """A late bet as it would have been in time; of one that changed, its stake then and its stake now."""
    placed = {
        event.data["wager"]: event.data for event in reversed(question.events) if event.kind == "bet_placed"
    }
    stands = {wager.id: wager for wager in question.standing.wagers}
    for finding in question.standing.findings:
        if finding.kind != "late_bet" or finding.subject not in placed:
            continue
        first, detail = placed[finding.subject], dict(finding.detail)
        bet, currency = stands.get(finding.subject), detail.get("currency", question.case.currency)
        if (
            currency != question.case.currency
            or first["hand"] == "dealer"
            or first["hand"].startswith("junk")
        ):
            continue
        [(kind, ref)] = first["owner"].items()
        owner = bet.owner if bet else Owner(kind, str(ref))
        hand = bet.hand if bet else first["hand"]
        for stake in dict.fromkeys((detail.get("stake", 0), bet.stake if bet else 0)):
            yield _bet(question, finding.subject, hand, owner, stake)


def _free_wager(question: Question) -> str:
    used = {event.data["wager"] for event in question.events if "wager" in event.data}
    return next(f"w{number}" for number in count(1) if f"w{number}" not in used)


def _bet(question: Question, wager: str, hand: str, owner: Owner, stake: int) -> dict[str, Any]:
    return {
        "kind": "bet_ruled",
        "wager": wager,
        "hand": hand,
        "owner": {owner.kind: int(owner.ref) if owner.kind == "seat" else owner.ref},
        "stake": {"amount": stake, "currency": question.case.currency},
    }


def _name(slot: Slot) -> str:
    return f"{slot.hand}.{slot.position}"


def _act(kind: str, slot: Slot) -> dict[str, Any]:
    return {"kind": kind, "hand": slot.hand, "position": slot.position}
