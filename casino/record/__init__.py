"""A round as its events tell it: ``fold(events) -> RoundRecord``.

The terminal tells the story (bets, lock, marks, checks, close), cameras only read cards. The same reports
give the same record in whatever order they arrived. Nothing here knows a house's rules: where a rule sheet
decides how contradicting reads are taken (the feed that leads), ``led(record, lead=…)`` gives the record
under that sheet.

Read in order: ``values``, this module, then the steps of the fold: ``feeds`` (who sent what), ``fold_events`` (what
they say, with ``bets`` and ``supervisor_acts``, gathered in ``fold_state``), ``slots`` (what that comes to, acts
``weighing`` in), and ``serialize`` (the record as JSON).
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from casino.record import feeds
from casino.record.fold_events import tell
from casino.record.serialize import findings_json, to_json
from casino.record.slots import stand
from casino.record.values import (
    DOUBTS_FLAGGED,
    HANDS,
    WAIVABLE,
    Banker,
    BetsApart,
    CheckInDoubt,
    Event,
    Feed,
    Finding,
    Gap,
    Hand,
    Lead,
    Owner,
    Read,
    RoundRecord,
    Slot,
    Wager,
    Waiver,
)

__all__ = [
    "DOUBTS_FLAGGED",
    "HANDS",
    "WAIVABLE",
    "Banker",
    "BetsApart",
    "CheckInDoubt",
    "Event",
    "Feed",
    "Finding",
    "Gap",
    "Hand",
    "Lead",
    "Owner",
    "Read",
    "RoundRecord",
    "Slot",
    "Wager",
    "Waiver",
    "findings_json",
    "flags",
    "fold",
    "led",
    "to_json",
]


def fold(events: Sequence[Event], *, unknown: Sequence[Gap] = (), currency: str = "THB") -> RoundRecord:
    """Return the round that ``events`` tell, as if no feed led.

    Give it every event that counts, in any order and each once: no late ones, but those a ruling or
    decision cites. ``unknown`` are the gaps that could touch the round and were not waived. Bets in
    another ``currency`` are not in play. Raises ValueError for a kind of event that does not exist,
    KeyError for data that was never accepted.
    """
    story = tell(events, unknown=unknown, currency=currency)
    bare = stand(story, lead="none", acts=False) if story.supervised else None
    waivers = tuple(
        [
            Waiver(
                waived.data["reason_code"],
                stand(
                    tell(feeds.before(events, waived), unknown=unknown, currency=currency),
                    lead="none",
                    acts=True,
                ),
            )
            for waived in story.waived
        ]
    )
    return stand(story, lead="none", acts=True, bare=bare, waivers=waivers)


def led(record: RoundRecord, *, lead: Lead, without: AbstractSet[str] = frozenset()) -> RoundRecord:
    """Return a folded record as it stands under a sheet whose ``feed_lead`` is ``lead``, and without the wagers that
    turned out not to play, nor the hands that only they put in play.

    It is the same object wherever that changes nothing. Its banker, whom settlement may have found to have no wallet,
    stays as it is. Raises ValueError when it would change a record that did not come from ``fold``: the reads behind
    it are not there.
    """
    without = without & {wager.id for wager in (*record.wagers, *(record.bare.wagers if record.bare else ()))}
    if lead not in record.swayed_by and not without:
        return record
    story = record.story
    if story is None:
        raise ValueError("only a folded record can be put under a lead")
    bare = stand(story, lead=lead, acts=False, without=without) if record.bare is not None else None
    found = stand(story, lead=lead, acts=True, bare=bare, waivers=record.waivers, without=without)
    return found if found.banker == record.banker else replace(found, banker=record.banker)


def flags(record: RoundRecord) -> tuple[Finding, ...]:
    """Return what is flagged of a record as it stands under its sheet, as far as no sheet is needed for it.

    Doubts are read where no supervisor acted, so one that was ruled away stays flagged; all else as it
    stands.
    """
    bare = record.bare or record
    doubts = [finding for finding in bare.findings if finding.kind in DOUBTS_FLAGGED]
    conduct = [finding for finding in record.findings if finding.kind not in DOUBTS_FLAGGED]
    return tuple(sorted((*doubts, *conduct), key=lambda finding: (finding.kind, finding.subject)))
