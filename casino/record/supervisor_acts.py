"""Acts of supervisors in a story, at the terminal or from a page: what is not signed changes nothing."""

from collections.abc import Callable

from casino.record import bets
from casino.record.fold_state import BASE, CARD, Act, Story
from casino.record.values import Event


def take(story: Story, event: Event) -> None:
    """Take a supervisor's act or a note into the story; raises ValueError for any other kind."""
    handler = HANDLERS.get(event.kind)
    if handler is None:
        raise ValueError(f"not an act of a {event.feed}: {event.kind!r}")
    handler(story, event)


def _unsigned(story: Story, event: Event) -> bool:
    if event.signed:
        return False
    data = event.data
    subject = f"{data['hand']}.{data['position']}" if "position" in data else data.get("wager", "")
    story.find("unsigned_ruling", subject, ("event", event.kind))
    return True


def _card_ruled(story: Story, event: Event) -> None:
    if _unsigned(story, event):
        return
    data = event.data
    key = BASE[data["hand"]] + data["position"]
    story.acts.append(Act("ruled", key, CARD[data["card"]], story.turn, story.at, story.place))
    story.dead.get(data["hand"], set()).discard(data["position"])
    story.supervised = True


def _card_removed(story: Story, event: Event) -> None:
    """Take a card away, or a draw mark that has no face: the latter is the terminal's own, signed or not.

    Where only another feed saw a face, the terminal may take back its mark, which leaves the two at odds; the
    card itself goes by signature alone.
    """
    hand, position = event.data["hand"], event.data["position"]
    key = BASE[hand] + position
    reads = story.reads.get(key, ())
    ruled = any(act.kind == "ruled" and act.key == key for act in story.acts)
    faced = ruled or any(event.signed or read.source in story.recorders for read in reads)
    if not faced and 3 in (position, story.rank(hand, position)):
        by_a_page = event.feed != "terminal"
        if by_a_page or event.source in story.recorders:
            story.acts.append(Act("unmarked", key, -1, story.turn, story.at, story.place, own=not by_a_page))
            story.supervised |= by_a_page
    elif _unsigned(story, event):
        return
    else:
        story.acts.append(Act("removed", key, -1, story.turn, story.at, story.place))
        story.supervised = True
        story.dead.setdefault(hand, set()).add(position)
    _undraw(story, hand, position)


def _undraw(story: Story, hand: str, position: int) -> None:
    """Without its third card or its mark a hand did not draw; nor where the third face takes a dead card's place."""
    if position < 3 and not _third_is_known(story, hand):
        return
    story.drawn.discard(hand)
    if hand == "dealer":
        story.dealer_drew = False


def _third_is_known(story: Story, hand: str) -> bool:
    return any(
        read.source in story.recorders
        for position in range(3, 7)
        for read in story.reads.get(BASE[hand] + position, ())
    )


def foresee(story: Story, event: Event) -> None:
    """Let the story go on as after a card that was ruled or removed from a page or another terminal: which card is the
    third from there on, and whether the hand drew. The act itself is taken after the story.
    """
    hand, position = event.data["hand"], event.data["position"]
    dead = story.dead.setdefault(hand, set())
    if event.kind == "card_ruled":
        dead.discard(position)
        return
    faced = any(read.source in story.recorders for read in story.reads.get(BASE[hand] + position, ()))
    if faced or story.rank(hand, position) < 3:
        dead.add(position)
    _undraw(story, hand, position)


def _bet_ruled(story: Story, event: Event) -> None:
    if not _unsigned(story, event):
        bets.ruled(story, event)
        story.supervised = True


def _hold_waived(story: Story, event: Event) -> None:
    if not _unsigned(story, event):
        story.waived.append(event)
        story.supervised = True


def _round_voided(story: Story, event: Event) -> None:
    if not _unsigned(story, event):
        story.voided = True
        story.supervised = True


def _recorder_changed(story: Story, event: Event) -> None:
    _unsigned(story, event)


def _mispay_put_right(story: Story, event: Event) -> None:
    """Chips were put right, signed for or not: it is a question about play either way."""
    _unsigned(story, event)
    _mispay(story, event)


def _mispay_found(story: Story, event: Event) -> None:
    if not _unsigned(story, event):
        _mispay(story, event)


def _mispay(story: Story, event: Event) -> None:
    data = event.data
    paid, due = data["paid"], data["due"]
    story.find(
        "mispay",
        data["wager"],
        ("paid", paid["amount"]),
        ("due", due["amount"]),
        ("currency", due["currency"]),
    )


def _note(story: Story, event: Event) -> None:
    if event.data.get("kind") == "reconstructed":
        story.find("reconstructed", "")


HANDLERS: dict[str, Callable[[Story, Event], None]] = {
    "bet_ruled": _bet_ruled,
    "card_ruled": _card_ruled,
    "card_removed": _card_removed,
    "hold_waived": _hold_waived,
    "round_voided": _round_voided,
    "recorder_changed": _recorder_changed,
    "mispay_put_right": _mispay_put_right,
    "mispay_found": _mispay_found,
    "note": _note,
}
