"""V5: judge and add up again. What is in the dossier is what was sealed, and it leads to the lines and to the money."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from audit.verify import derivation, events, revisions
from audit.verify.events import instant
from audit.verify.export import Failure, canonical, sha256
from audit.verify.log_proofs import Entry
from casino import record
from settlement.rules.house_rules import HouseRules


def check(content: Mapping[str, Any], entries: Sequence[Entry], *, log: bool) -> None:
    """Raise Failure at the first row that does not follow. ``log``: the entries' bytes are here to compare with."""
    rules = _sheet(content, entries, log=log)
    if log:
        events.are_as_sealed(content, entries)
        events.duties_are_as_sealed(content, entries)
    events.have_their_hashes(content)
    if log:
        revisions.are_as_sealed(content, entries)
    for place, revision in enumerate(content["revisions"]):
        revisions.check(content, revision, rules, before=content["revisions"][:place])
    _round(content, rules)
    if log:
        _standing_is_as_sealed(content, entries)
    _sentences(content)


# -- the sheet -------------------------------------------------------------------------------------------------


def _sheet(content: Mapping[str, Any], entries: Sequence[Entry], *, log: bool) -> HouseRules | None:
    sheet = content["sheet"]
    if sheet is None:
        return None
    row = f"sheet/{sheet['sha256'][:12]}"
    if sha256(sheet["canonical"].encode()) != sheet["sha256"]:
        raise Failure("V5", row, "the sheet's bytes have another hash")
    try:
        rules = derivation.rules_of(content)
    except ValueError as fault:
        raise Failure("V5", row, f"is no rule sheet: {fault}") from None
    if log:
        _sheet_is_as_sealed(content, entries, row)
    return rules


def _sheet_is_as_sealed(content: Mapping[str, Any], entries: Sequence[Entry], row: str) -> None:
    sha, opened = content["sheet"]["sha256"], content["round"]["opened_at"]
    for action in ("sheet.proposed", "sheet.approved"):
        if not any(entry.action == action and entry.data["sha256"] == sha for entry in entries):
            raise Failure("V5", row, f"no sealed {action} has this hash")
    in_force = [
        entry
        for entry in entries
        if entry.action == "sheet.put_in_force"
        and entry.said["table"] == content["round"]["table"]
        and (opened is None or instant(entry.data["in_force_from"]) <= instant(opened))
    ]
    if not in_force:
        raise Failure("V5", row, "was not put in force at this table before the round opened")
    last = max(in_force, key=lambda entry: instant(entry.data["in_force_from"]))
    if last.data["sha256"] != sha:
        raise Failure("V5", row, f"sheet {last.data['sha256'][:12]} was in force when the round opened")


# -- the round -------------------------------------------------------------------------------------------------


def _round(content: Mapping[str, Any], rules: HouseRules | None) -> None:
    """The round's summary is what its events and its last revision say."""
    round, last = content["round"], derivation.effective(content)
    if last is not None and round["standing"] != last["outcome"]:
        raise Failure("V5", "round", f"stands {round['standing']!r}, its last revision is {last['outcome']}")
    if last is None and round["standing"] in ("settled", "voided"):
        raise Failure("V5", "round", f"stands {round['standing']} without a revision")
    found, verdict = revisions.folded(content, last, rules, "round")
    if found.number != round["number"] and round["number"] is not None:
        raise Failure("V5", "round", f"is number {round['number']}, by its events {found.number}")
    is_certain = last is not None or (round["standing"] == "held" and "sequence_gap" not in round["reasons"])
    if is_certain and round["record"] != record.to_json(found):
        raise Failure("V5", "round", "its record is not the fold of its events")
    without_wallets = found.banker is None and all(wager.owner.kind != "account" for wager in found.wagers)
    if round["standing"] == "held" and without_wallets and list(verdict.reasons) != round["reasons"]:
        raise Failure("V5", "round", f"is held by {round['reasons']}, judged again {list(verdict.reasons)}")


def _standing_is_as_sealed(content: Mapping[str, Any], entries: Sequence[Entry]) -> None:
    """A held round is held for the reasons and on the record that were sealed last."""
    round = content["round"]
    if round["standing"] != "held":
        return
    held = [entry for entry in entries if entry.action == "round.held" and entry.said["round"] == round["id"]]
    if not held:
        raise Failure("V5", "round", "no sealed entry holds it")
    if held[-1].data["reasons"] != round["reasons"]:
        raise Failure("V5", "round", f"is held by {round['reasons']}, sealed was {held[-1].data['reasons']}")
    if held[-1].data["record_sha256"] != sha256(canonical(round["record"])):
        raise Failure("V5", "round", "is held on another record than was sealed")


def _sentences(content: Mapping[str, Any]) -> None:
    """Every sentence and finding is what follows from the rest."""
    again = copy.deepcopy(dict(content))
    again["held"], again["findings"] = [], []
    try:
        derivation.fill(again)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as fault:
        raise Failure("V5", "sentences", f"cannot be worked out again: {fault!r}") from None
    for part in ("sheet", "held", "findings", "flags", "revisions"):
        if again[part] != content[part]:
            raise Failure("V5", part, "its sentences are not those of the judgement")
