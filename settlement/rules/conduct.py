"""Questions about play: what a record and its rule sheet show that deserves a second look.

A finding never moves money: whatever is found here, the round was judged as it lies. What was in doubt
stays found after it was ruled, because those findings are read from the record as it would stand without
any supervisor's act.

Read in order: ``breaches``, then one function per question, in the order in which they are put.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from casino.record import Finding, Hand, RoundRecord, flags, led
from settlement.rules import doubts, hands
from settlement.rules.house_rules import MOST_HANDS, DrawRule, HouseRules
from settlement.rules.payouts import Verdict

CLOSED_TOO_FAST_MS = 5_000
"""Shuffling, dealing and paying takes people longer than this, even one guest with a pok against the
dealer's."""

KINDS = frozenset(
    {
        "bank_short",
        "banker_bet_on_guest",
        "bet_not_in_play",
        "bet_on_other_hand",
        "bet_ruled",
        "camera_gap",
        "card_after_stay",
        "check_after_dealer_drew",
        "check_against_dealer_pok",
        "check_not_allowed",
        "checked_twice",
        "closed_too_fast",
        "dealer_bet_on_guest",
        "declared_differs",
        "device_clock_off",
        "draw_missed",
        "drew_after_check",
        "duplicate_card",
        "hand_not_offered",
        "junk_deng_four",
        "junk_drew_against_rule",
        "junk_stayed_against_rule",
        "late_bet",
        "late_event",
        "mark_differs",
        "mispay",
        "number_jump",
        "out_of_order_event",
        "out_of_turn",
        "pok_drew",
        "reads_differ",
        "reconstructed",
        "sequence_reused",
        "shared_hand_misplaced",
        "stake_outside_limits",
        "stay_missed",
        "stray_read",
        "too_many_cards",
        "too_many_hands",
        "unsigned_ruling",
        "wrong_sheet_shown",
    }
)
"""Every kind that a record and a sheet can show; each has its text in both languages before it is raised."""


def breaches(
    record: RoundRecord,
    house: HouseRules,
    verdict: Verdict | None = None,
    *,
    not_in_play: AbstractSet[str] = frozenset(),
) -> tuple[Finding, ...]:
    """Return the findings of a closed round, one per kind and subject, sorted; none for an open or voided
    one.

    ``verdict`` is the judgement under the same sheet; without it what only money shows (``bank_short``) is
    left out. ``not_in_play`` are the wagers that settlement found to have no wallet.
    """
    if record.state != "closed":
        return ()
    record = led(record, lead=house.feed_lead, without=not_in_play)
    findings = [Finding("bet_not_in_play", wager, (("why", "no_wallet"),)) for wager in not_in_play]
    findings += flags(record)
    found: dict[tuple[str, str], Finding] = {}
    for finding in (*findings, *_by_the_sheet(record, house, verdict)):
        found.setdefault((finding.kind, finding.subject), finding)
    return tuple(found[key] for key in sorted(found))


def _by_the_sheet(record: RoundRecord, house: HouseRules, verdict: Verdict | None) -> Iterator[Finding]:
    yield from _draws(record, house)
    yield from _junk(record, house)
    yield from _hands_offered(record, house)
    yield from _shared_place(record, house)
    yield from _turns(record, house)
    yield from _checks(record, house)
    yield from _stakes(record, house)
    yield from _other_hands(record, house)
    yield from _against_own_bank(record, house)
    yield from _sheet_and_pace(record, house)
    yield from _once_held(record.bare or record, house)
    for line in verdict.lines if verdict else ():
        if line.uncovered:
            yield Finding("bank_short", line.wager, (("hand", line.hand), ("uncovered", line.uncovered)))


def _draws(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """Hands of guests and of the dealer against the sheet's thresholds, which do not look at deng."""
    for hand in _with_a_choice(record):
        if hand.name.startswith("junk"):
            continue
        rule = house.dealer_draw if hand.name == "dealer" else house.player_draw
        taem = _taem_of_two(hand)
        if _must_draw(rule, taem) and not _drew(hand) and not _cut_short(hand, record, house):
            yield Finding("draw_missed", hand.name, (("taem", taem), ("must_draw_to", rule.must_draw_to)))
        if _must_stay(rule, taem) and _drew(hand):
            yield Finding("stay_missed", hand.name, (("taem", taem), ("must_stay_from", rule.must_stay_from)))


def _junk(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """A four with deng has no right answer; the rest only where the sheet forces. Deng means pair or suit
    here, whatever the sheet lets it multiply."""
    forced = house.junk_draw == "forced"
    for hand in _with_a_choice(record):
        if not hand.name.startswith("junk"):
            continue
        taem, drew = _taem_of_two(hand), _drew(hand)
        if not drew and (not forced or _cut_short(hand, record, house)):
            continue
        deng = 2 if hands.is_song(hand.cards[:2]) else 1
        says = _junk_rule(taem, deng) if forced else "dealer_decides"
        detail = (("hand", hand.name), ("taem", taem), ("deng", deng), ("says", says), ("drew", drew))
        if (taem, deng) == (4, 2):
            yield Finding("junk_deng_four", hand.name, detail)
        elif forced and drew and taem >= 5:
            yield Finding("junk_drew_against_rule", hand.name, detail)
        elif not drew and taem <= 4:
            yield Finding("junk_stayed_against_rule", hand.name, detail)


def _junk_rule(taem: int, deng: int) -> str:
    """What a forced junk hand should do on its two cards; a four with deng is told nothing."""
    if (taem, deng) == (4, 2):
        return "no_right_answer"
    return "draw" if taem <= 4 else "stay"


def _hands_offered(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    for hand in record.hands:
        shared = hand.name == "shared" and house.shared_hand == "none"
        junk = hand.name.startswith("junk") and house.junk_hands == "none"
        if shared or junk:
            yield Finding("hand_not_offered", hand.name)


def _shared_place(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """The order of dealing is known only where the terminal gave it; junk hands may lie anywhere in it."""
    order = [name for name in record.order if not name.startswith("junk")]
    if house.shared_hand == "none" or "shared" not in order or "dealer" not in order:
        return
    place = 1 if house.shared_hand == "after_dealer" else -1
    if order.index("shared") - order.index("dealer") != place:
        yield Finding("shared_hand_misplaced", "shared", (("belongs", house.shared_hand),))


def _turns(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """Who stayed or drew before somebody whose turn came first. A pok is shown at once, whosever turn it
    is."""
    played = [name for name in record.turns if not _only_showed_pok(name, record)]
    if house.dealer_pok == "at_once" and _dealer_showed_pok(record):
        over = record.turns.index("dealer")
        late = [name for name in record.turns[over:] if name in played and name != "dealer"]
        yield from (Finding("out_of_turn", name, (("before", "dealer"),)) for name in late)
        played = [name for name in played if name != "dealer"]
    for place, name in enumerate(played):
        skipped = [other for other in played[place + 1 :] if _comes_before(other, name, record, house)]
        if skipped:
            yield Finding("out_of_turn", name, (("before", skipped[0]),))


def _checks(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """A dealer's pok is compared with every hand at once: that is no early check."""
    if house.early_check == "any_hands" or hands.is_pok(record.dealer.cards[:2]):
        return
    for hand in record.hands:
        if hand.check_place is not None and (house.early_check == "none" or hand.checked_with != 3):
            yield Finding(
                "check_not_allowed", hand.name, (("cards", hand.checked_with), ("allowed", house.early_check))
            )


def _stakes(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    limits = house.stakes
    if limits is None:
        return
    for wager in record.wagers:
        if not limits.min <= wager.stake <= limits.max or wager.stake % limits.step:
            yield Finding(
                "stake_outside_limits",
                wager.id,
                (("stake", wager.stake), ("min", limits.min), ("max", limits.max), ("step", limits.step)),
            )


def _other_hands(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """A hand belongs to whoever placed the first bet on it; the shared hand is everybody's."""
    if house.bets_on_other_hands == "allowed":
        return
    owners: dict[str, object] = {}
    for wager in record.wagers:
        owner = owners.setdefault(wager.hand, wager.owner)
        if wager.hand != "shared" and wager.owner != owner:
            yield Finding("bet_on_other_hand", wager.id, (("hand", wager.hand),))


def _against_own_bank(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    if house.banker != "player" or record.banker is None:
        return
    for wager in record.wagers:
        if wager.owner == ("account", record.banker.account):
            yield Finding("banker_bet_on_guest", wager.id, (("hand", wager.hand), ("stake", wager.stake)))


def _sheet_and_pace(record: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    if record.sheet_shown and record.sheet_shown != house.sha256:
        yield Finding("wrong_sheet_shown", "", (("shown", record.sheet_shown), ("in_force", house.sha256)))
    if record.took_ms is not None and 0 <= record.took_ms < CLOSED_TOO_FAST_MS:
        yield Finding("closed_too_fast", "", (("took_ms", record.took_ms),))


def _once_held(bare: RoundRecord, house: HouseRules) -> Iterator[Finding]:
    """What the sheet would hold on the record without supervisors' acts."""
    if doubts.too_many_hands(bare, house):
        yield Finding("too_many_hands", "", (("hands", len(bare.hands) + 1), ("most", house.max_hands)))
    if bare.declared:
        for wager, declared, judged in doubts.declared_apart(bare, house):
            yield Finding("declared_differs", wager, (("declared", declared), ("judged", judged)))


def _with_a_choice(record: RoundRecord) -> list[Hand]:
    """A pok may not draw, and of a hand whose first two cards are not known nothing can be said."""
    known = doubts.two_known(record)
    everyone = (*record.hands, record.dealer)
    return [hand for hand in everyone if hand.name in known and not hands.is_pok(hand.cards[:2])]


def _drew(hand: Hand) -> bool:
    return hand.drew or len(hand.cards) > 2


def _taem_of_two(hand: Hand) -> int:
    return hands.taem(hand.cards[:2])


def _must_draw(rule: DrawRule, taem: int) -> bool:
    return rule.must_draw_to is not None and taem <= rule.must_draw_to


def _must_stay(rule: DrawRule, taem: int) -> bool:
    return rule.must_stay_from is not None and taem >= rule.must_stay_from


def _comes_before(one: str, other: str, record: RoundRecord, house: HouseRules) -> bool:
    """Play goes in the order of the deal, the dealer last. Where the terminal gave no order: guests' hands by
    number, the shared hand after them, junk hands at no place of their own."""
    if "dealer" in (one, other):
        with_dealer = other if one == "dealer" else one
        if with_dealer.startswith("junk") or (
            with_dealer == "shared" and house.shared_hand != "before_dealer"
        ):
            return False
        return other == "dealer"
    if record.order:
        order = record.order
        return one in order and other in order and order.index(one) < order.index(other)
    if one.startswith("junk") or other.startswith("junk"):
        return False
    return _number(one) < _number(other)


def _number(name: str) -> int:
    return MOST_HANDS if name == "shared" else int(name[1:])


def _only_showed_pok(name: str, record: RoundRecord) -> bool:
    return any(
        hand.name == name and hand.pok_shown and not hand.stayed and not hand.drew for hand in record.hands
    )


def _dealer_showed_pok(record: RoundRecord) -> bool:
    return record.dealer.pok_shown and hands.is_pok(record.dealer.cards[:2]) and "dealer" in record.turns


def _cut_short(hand: Hand, record: RoundRecord, house: HouseRules) -> bool:
    """Where the dealer's pok ends the play at once, a hand that did not draw had no turn to draw in."""
    return house.dealer_pok == "at_once" and hands.is_pok(record.dealer.cards[:2]) and not hand.stayed
