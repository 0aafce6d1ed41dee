"""Payouts are computed here: a record and a rule sheet in, a verdict out.

Amounts are minor units (satang), signed from the guest's side: a guest's win is positive. Nothing here
reads a clock, a wallet or a setting; what a judgement needs of those comes as an argument.

Read in order: ``compare`` and ``exposure``, the verdict's values, ``judge``, then its steps.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from casino.record import Owner, RoundRecord, led
from settlement.rules import commission as money
from settlement.rules import doubts, hands, lookup, showdown
from settlement.rules.hands import Hand
from settlement.rules.house_rules import HouseRules
from settlement.rules.showdown import Step

Outcome = Literal["settled", "held", "voided", "open"]


def compare(guest: Hand | Sequence[int], dealer: Hand | Sequence[int], house: HouseRules) -> tuple[int, Step]:
    """Return how many stakes the guest wins (negative: loses) and the step that decided, from hands or
    cards."""
    ours = guest if isinstance(guest, Hand) else hands.classify(guest, house)
    theirs = dealer if isinstance(dealer, Hand) else hands.classify(dealer, house)
    return showdown.compare(ours, theirs, house)


def exposure(stake: int, house: HouseRules) -> int:
    """Return the most a wager of ``stake`` can lose under the sheet: what a wallet must hold before the
    cards."""
    return stake * lookup.of(house).most_lost


class Line(NamedTuple):
    """What became of one wager, and why; a push has its line too.

    ``gross`` is stake × multiple, ``uncovered`` the part of a win that a player's bank could not pay
    (nobody owes it), ``net`` is gross − uncovered − commission. ``dealer_cards`` are those this hand met.
    ``rounding_bp`` is what rounding added to the commission, in ten-thousandths of a minor unit.
    """

    wager: str
    hand: str
    owner: Owner
    stake: int
    cards: tuple[int, ...]
    guest: Hand
    dealer_cards: tuple[int, ...]
    dealer: Hand
    step: Step
    multiple: int
    gross: int
    uncovered: int
    commission: int
    net: int
    rounding_bp: int


class BankLine(NamedTuple):
    """What became of a player's bank: ``held`` was put up, ``result`` is what play added to it (negative:
    took), ``net`` is the result − commission."""

    account: str
    held: int
    result: int
    commission: int
    net: int
    rounding_bp: int


class Verdict(NamedTuple):
    """The judgement of one round.

    ``lines`` stand in the order of the wagers. They are there when the round is settled, and when it is
    open with nothing in doubt (a preview); a held or voided round has none. ``house_net`` is minus the sum
    of all nets.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    lines: tuple[Line, ...] = ()
    bank: BankLine | None = None
    house_net: int = 0


def judge(
    record: RoundRecord,
    house: HouseRules,
    *,
    bank: int | None = None,
    not_in_play: AbstractSet[str] = frozenset(),
) -> Verdict:
    """Return the verdict on a round under its sheet; the same input gives the same answer for ever.

    ``bank`` is what a player who banks has put up (at most his limit; None: all of it), ``not_in_play`` the
    wagers that settlement found to have no wallet: they get no line.
    """
    if record.state == "voided":
        return Verdict("voided", ())
    record = led(record, lead=house.feed_lead, without=not_in_play)
    reasons = doubts.reasons(record, house)
    if reasons:
        waits = record.state == "closed" or "sequence_gap" in reasons
        return Verdict("held" if waits else "open", reasons)
    outcome: Outcome = "settled" if record.state == "closed" else "open"
    lines = _lines(record, house)
    if house.banker == "player" and record.banker is not None:
        held = record.banker.limit if bank is None else min(bank, record.banker.limit)
        lines, bank_line = _paid_by_player(record, lines, house, held=held)
        house_net = -bank_line.net - sum([line.net for line in lines])
        return Verdict(outcome, (), tuple(lines), bank_line, house_net)
    return Verdict(outcome, (), tuple(lines), None, -sum([line.net for line in lines]))


def _lines(record: RoundRecord, house: HouseRules) -> list[Line]:
    """One line per wager, as if whoever banks could pay all of it."""
    table = lookup.of(house)
    classes, shapes, values = table.classes, table.shapes, table.hands
    whole = record.dealer.cards
    two = whole[:2]
    final_class, two_class = classes[shapes[whole]], classes[shapes[two]]
    judged = {}
    for hand in record.hands:
        own = classes[shapes[hand.cards]]
        met, met_class = (two, two_class) if hand.met == "two" else (whole, final_class)
        multiple, step = table.outcomes[own][met_class]
        judged[hand.name] = hand.cards, values[own], met, values[met_class], step, multiple
    terms = house.commission
    taken = terms.rate_bp > 0 and terms.side != "banker"
    lines = []
    for wager in record.wagers:
        cards, guest, met, dealer, step, multiple = judged[wager.hand]
        stake = wager.stake
        gross = stake * multiple
        if taken and gross > 0:
            charged = money.commission(net=gross, terms=terms)
            rounding = money.rounding_bp(net=gross, charged=charged, terms=terms)
        else:
            charged = rounding = 0
        lines.append(
            Line(
                wager.id, wager.hand, wager.owner, stake, cards, guest, met, dealer, step, multiple,
                gross, 0, charged, gross - charged, rounding,
            )
        )  # fmt: skip
    return lines


def _paid_by_player(
    record: RoundRecord, lines: list[Line], house: HouseRules, *, held: int
) -> tuple[list[Line], BankLine]:
    """Collect every loss in full, then pay the wins in turn, each as far as the bank lasts."""
    assert record.banker is not None
    left = held - sum(line.gross for line in lines if line.gross < 0)
    paid: dict[str, Line] = {}
    for line in _in_order_of_payment(record, lines):
        covered = min(line.gross, left)
        left -= covered
        paid[line.wager] = _covered(line, covered, house)
    result = left - held
    charged = rounding = 0
    if house.commission.side != "guest":
        charged = money.commission(net=result, terms=house.commission)
        rounding = money.rounding_bp(net=result, charged=charged, terms=house.commission)
    bank = BankLine(record.banker.account, held, result, charged, result - charged, rounding)
    return [paid.get(line.wager, line) for line in lines], bank


def _in_order_of_payment(record: RoundRecord, lines: list[Line]) -> list[Line]:
    """Winning lines: checked hands in the order of the checks, the rest by hand number, the shared hand
    last."""
    checked = sorted(
        (hand for hand in record.hands if hand.check_place is not None),
        key=lambda hand: hand.check_place or 0,
    )
    unchecked = (hand for hand in record.hands if hand.check_place is None)
    turn = {hand.name: place for place, hand in enumerate((*checked, *unchecked))}
    return sorted((line for line in lines if line.gross > 0), key=lambda line: turn[line.hand])


def _covered(line: Line, covered: int, house: HouseRules) -> Line:
    """Commission is taken of what was paid."""
    charged = rounding = 0
    if house.commission.side != "banker":
        charged = money.commission(net=covered, terms=house.commission)
        rounding = money.rounding_bp(net=covered, charged=charged, terms=house.commission)
    return line._replace(
        uncovered=line.gross - covered, commission=charged, net=covered - charged, rounding_bp=rounding
    )
