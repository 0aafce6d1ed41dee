"""All steps on one export, in order; the first bad row ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from audit.verify import judgement, log_proofs, signed_notes
from audit.verify.export import Export, Failure
from audit.verify.log_proofs import Growth
from audit.verify.signed_notes import BadNote, Key


class Step(NamedTuple):
    """What one step came to, as a person reads it."""

    id: str
    title: str
    found: str


class Outcome(NamedTuple):
    """An export without a bad row. ``by_reader``: the signature is by a key that the reader already had; ``withheld``:
    how many entries' bytes were not shown to the reader."""

    steps: tuple[Step, ...]
    by_reader: bool
    withheld: int
    receipt: str


def check(
    export: Export,
    *,
    keys: Sequence[Key] = (),
    kept: Sequence[tuple[str, str]] = (),
    growth: Sequence[Growth] = (),
) -> Outcome:
    """Check an export; raise Failure at the first bad row.

    ``keys`` are those the reader already has, ``kept`` notes of earlier or later checkpoints by their file's name,
    ``growth`` proofs that the house gave for them.
    """
    content = export.content
    receipt = log_proofs.receipt(export)
    entries, withheld = log_proofs.entries(content)
    steps = [Step("V1", "leaf bytes → hash", _entries(len(entries), withheld))]
    head, signer, by_reader = log_proofs.signed(content, keys=keys)
    log_proofs.own_key(content, keys=keys)
    log_proofs.included(content, head)
    steps.append(
        Step(
            "V2",
            "inclusion",
            f"{len(content['entries'])} entries in the tree of {head.size} leaves of {head.origin}",
        )
    )
    used = [*keys] or [signed_notes.key_of(content["log"]["key"])]
    older = [(name, log_proofs.kept(note, name, keys=used)) for name, note in kept]
    _earlier_are_signed(content["log"]["growth"], used)
    compared = log_proofs.grown(content, head, kept=older, growth=growth)
    steps.append(Step("V3", "consistency", _compared(compared)))
    steps.append(Step("V4", "signature", _signed(signer, by_reader=by_reader)))
    judgement.check(content, entries, log=withheld == 0)
    steps.append(Step("V5", "judged and added up again", _judged(content, withheld)))
    return Outcome(tuple(steps), by_reader, withheld, receipt)


def _earlier_are_signed(growth: Sequence[dict[str, str]], keys: Sequence[Key]) -> None:
    for place, one in enumerate(growth):
        for key in keys:
            try:
                signed_notes.signed(one["checkpoint"], key)
                break
            except BadNote as fault:
                why = str(fault)
        else:
            raise Failure("V4", f"log.growth/{place}", why)


def _entries(seen: int, withheld: int) -> str:
    if withheld:
        return f"{seen} entries; {withheld} withheld from this reader, their bytes were not seen"
    return f"{seen} entries"


def _compared(names: Sequence[str]) -> str:
    return f"with {', '.join(names)}" if names else "no other checkpoint was there to compare with"


def _signed(signer: str, *, by_reader: bool) -> str:
    if by_reader:
        return f"by {signer}, a key you gave"
    return f"by {signer}, the key that the export itself names: NOT VERIFIED BY YOU until you give the key (--key)"


def _judged(content: dict[str, Any], withheld: int) -> str:
    events = content["events"]
    bound = sum(row["sent"] is not None for row in events)
    told = f"{len(events)} events ({bound} with the very bytes that were sent), {len(content['revisions'])} revisions"
    return f"{told}; not compared with the sealed facts, which were withheld" if withheld else told
