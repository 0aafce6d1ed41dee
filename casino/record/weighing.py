"""What supervisors' acts come to: which slots they ruled or emptied, and which draw marks they took back."""

from typing import NamedTuple

from casino.record.fold_state import AFTER_ALL, Act, Story
from casino.record.values import HANDS


class Done(NamedTuple):
    """What acts did to slots (by key) and to draw marks (by hand). ``denied``: the mark itself was taken
    back. ``removals`` counts the removals of a slot, ``gone`` has the one that took the card that is gone.
    """

    ruled: dict[int, int]
    removed: set[int]
    unmarked: set[str]
    denied: set[str]
    removals: dict[int, int]
    gone: dict[int, Act]


NOTHING_DONE = Done({}, set(), set(), set(), {}, {})


def weigh(story: Story, *, acts: bool) -> Done:
    """Take rulings and removals in their order: of one slot the last counts."""
    done = Done({}, set(), set(), set(), {}, {})
    for act in story.acts:
        if not (acts or act.own):
            continue
        hand = HANDS[act.key >> 3]
        if act.kind == "ruled":
            done.ruled[act.key] = act.card
            done.removed.discard(act.key)
            done.gone.pop(act.key, None)
            continue
        if story.marks.get(hand, AFTER_ALL) < act.turn and _cancels_mark(story, done, act):
            done.unmarked.add(hand)
            if act.kind == "unmarked":
                done.denied.add(hand)
        if act.kind == "removed":
            done.removed.add(act.key)
            done.removals[act.key] = done.removals.get(act.key, 0) + 1
            done.gone.setdefault(act.key, act)
    return done


def _cancels_mark(story: Story, done: Done, act: Act) -> bool:
    """A mark goes with the third card or the bare mark, and with a first or second card where a third is
    known.

    First to third is counted among the cards that are left: the order closes up over those removed before.
    """
    if act.kind == "unmarked":
        return True
    base = act.key & ~7
    if _rank(done, base, act.key) > 2:
        return _rank(done, base, act.key) == 3
    left = [key for key in {*story.reads, *done.ruled} - done.removed if base < key < base + 8]
    return _rank(done, base, max(left, default=base)) > 2


def _rank(done: Done, base: int, key: int) -> int:
    return key - base - sum(1 for removed in done.removed if base < removed < key)
