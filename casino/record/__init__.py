"""A round as its events tell it: ``fold(events) -> RoundRecord``.

The terminal tells the story (bets, lock, marks, checks, close), cameras only read cards. The same reports
give the same record in whatever order they arrived. Nothing here knows a house's rules: where a rule sheet
decides how contradicting reads are taken (the feed that leads), ``led(record, lead=…)`` gives the record
under that sheet.

Read in order: ``values``, this module, then the steps of the fold: ``feeds`` (who sent what), ``story`` (what
they say, with ``bets`` and supervisors' ``acts``, gathered in ``told``), ``standing`` (what that comes to), and
``written`` (the record as JSON).
"""

from collections.abc import Sequence

from casino.record.standing import stand
from casino.record.story import tell
from casino.record.values import (
    DOUBTS_FLAGGED,
    HANDS,
    WAIVABLE,
    Banker,
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
)
from casino.record.written import findings_json, to_json

__all__ = [
    "DOUBTS_FLAGGED",
    "HANDS",
    "WAIVABLE",
    "Banker",
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
    return stand(story, lead="none", acts=True, bare=bare)


def led(record: RoundRecord, *, lead: Lead) -> RoundRecord:
    """Return a folded record as it stands under a sheet whose ``feed_lead`` is ``lead``.

    It is the same object wherever the lead changes nothing. Raises ValueError when it would change a
    record that did not come from ``fold``: the reads behind it are not there.
    """
    if lead not in record.swayed_by:
        return record
    if record.story is None:
        raise ValueError("only a folded record can be put under a lead")
    bare = stand(record.story, lead=lead, acts=False) if record.bare is not None else None
    return stand(record.story, lead=lead, acts=True, bare=bare)


def flags(record: RoundRecord) -> tuple[Finding, ...]:
    """Return what is flagged of a record as it stands under its sheet, as far as no sheet is needed for it.

    Doubts are read where no supervisor acted, so one that was ruled away stays flagged; all else as it
    stands.
    """
    bare = record.bare or record
    doubts = [finding for finding in bare.findings if finding.kind in DOUBTS_FLAGGED]
    conduct = [finding for finding in record.findings if finding.kind not in DOUBTS_FLAGGED]
    return tuple(sorted((*doubts, *conduct), key=lambda finding: (finding.kind, finding.subject)))
