"""Play that was dealt by chance with a seed, as the screens see it: fair, or with somebody's thumb on it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from audit.statistics.round_sample import Alarm, Answer, Late, Played, PutRight, Seat, Stake, Steps, Tally
from casino import cards as deck
from settlement.rules import hands, lookup
from settlement.rules.house_rules import PRESETS, HouseRules

RULES = PRESETS["seed_base"]
NO_TIME = Steps(None, None, None, None, None)

Deal = Callable[[random.Random], list[int]]
Checks = Callable[[random.Random, int], bool]


def shuffled(chance: random.Random) -> list[int]:
    return chance.sample(deck.DECK, 52)


@dataclass(frozen=True)
class Shoe:
    """How a dealer deals: ``deal`` the deck, ``checks`` whether he compares a guest's hand (by its number) before he
    draws, ``draws_to`` up to which taem each side draws."""

    dealer: str = "honest"
    table: str = "PD01"
    guests: int = 6
    rules: HouseRules = field(default_factory=lambda: RULES)
    deal: Deal = shuffled
    checks: Checks = lambda _chance, _guest: False
    draws_to: tuple[int, int] = (4, 4)

    def rounds(self, count: int, *, seed: int) -> Iterator[Played]:
        chance = random.Random(f"{seed} {self.dealer} {self.table}")
        for number in range(1, count + 1):
            yield self._round(chance, number)

    def _round(self, chance: random.Random, number: int) -> Played:
        cards = self.deal(chance)
        dealt = [tuple(cards[3 * place : 3 * place + 3]) for place in range(self.guests + 1)]
        guests = [_final(three, self.draws_to[0]) for three in dealt[1:]]
        two, dealer = dealt[0][:2], _final(dealt[0], self.draws_to[1])
        poks = [hands.is_pok(hand) for hand in guests]
        has_choice = not hands.is_pok(two)
        checked = [has_choice and not pok and self.checks(chance, guest) for guest, pok in enumerate(poks, 1)]
        table = lookup.of(self.rules)
        stakes = []
        for guest, hand in enumerate(guests, 1):
            met = two if checked[guest - 1] else dealer
            multiple = table.outcomes[table.class_of(hand)][table.class_of(met)][0]
            stakes.append(
                Stake(f"w{guest}", f"p{guest}", f"player:G{guest}", 10_000, multiple, multiple * 10_000)
            )
        seen = [*dealer, *(card for hand in guests for card in hand)]
        return Played(
            id=f"{self.table}-{number}", table=self.table, session=f"S-{self.table}", number=number, currency="THB",
            voided=False, dealt_by=self.dealer, house=self.rules, deck="", cards_seen=deck.mask(seen), duplicates=(),
            dealer=dealer, dealer_draws=((hands.taem(two), len(dealer) > 2),) if has_choice else (),
            draws=tuple((hands.taem(hand[:2]), len(hand) > 2)
                        for hand, pok in zip(guests, poks, strict=True) if not pok),
            seats=tuple(Seat(f"p{guest}", len(hand), checked[guest - 1], poks[guest - 1])
                        for guest, hand in enumerate(guests, 1)),
            stakes=tuple(stakes), banked=False, late=(), put_right=(), steps=NO_TIME, opened_ms=None, closed_ms=None,
            hour=21,
        )  # fmt: skip


def _final(three: tuple[int, ...], draws_to: int) -> tuple[int, ...]:
    return three if hands.taem(three[:2]) <= draws_to else three[:2]


def seen_by(tally: Tally, *played: Iterable[Played]) -> Answer:
    for rounds in played:
        for one in rounds:
            tally.add(one)
    return tally.answer([])


def flagged(answer: Answer) -> list[Alarm]:
    return [alarm for alarm in answer.alarms if alarm.flagged]


def with_errors(
    played: Iterable[Played], *, seed: int, rate: float, over: float = 0.5, guest: str = ""
) -> Iterator[Played]:
    """Payouts put right at this rate, so often too high, and where a guest is named, those to him alone."""
    chance = random.Random(seed)
    for one in played:
        wrong = []
        for stake in one.stakes:
            if chance.random() < rate:
                high = chance.random() < over
                owner = guest if guest and high else stake.owner
                wrong.append(PutRight(owner, 20_000 if high else 10_000, 10_000 if high else 20_000, 1))
        yield replace(one, put_right=tuple(wrong))


def with_late_raises(played: Iterable[Played], *, seed: int, rate: float, knowing: bool) -> Iterator[Played]:
    """Raises after the lock, at this rate; of who knows the cards, four in five on hands that win."""
    chance = random.Random(seed)
    for one in played:
        late = [
            Late(stake.wager, stake.owner, stake.hand, True, 900, stake.multiple)
            for stake in one.stakes
            if chance.random() < rate * ((1.6 if stake.multiple > 0 else 0.4) if knowing else 1)
        ]
        yield replace(one, late=tuple(late))
