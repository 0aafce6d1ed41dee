"""V5, what it was worth: each revision judged again from its events, and its journals added up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit.verify import derivation
from audit.verify.export import Failure, canonical, sha256
from audit.verify.log_proofs import Entry
from casino import cards, record
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import Verdict

SETTLED = ("round.settled", "round.voided", "round.corrected")
NO_INPUTS: Mapping[str, Any] = {"bank": None, "not_in_play": []}
HERE: Mapping[str, str] = {}
"""All wallets are kept by the house."""

Moves = dict[tuple[str, str], int]
"""Amounts by (account, wager)."""


def check(
    content: Mapping[str, Any],
    revision: Mapping[str, Any],
    rules: HouseRules | None,
    *,
    before: Sequence[Mapping[str, Any]],
) -> None:
    """Raise Failure unless a revision follows from its events, its sheet and the revisions before."""
    name = f"revisions/{revision['revision']}"
    if revision["revision"] != len(before) + 1:
        raise Failure("V5", name, f"stands in the place of revision {len(before) + 1}")
    found, verdict = folded(content, revision, rules, name)
    ours = sha256(canonical(record.to_json(found)))
    if ours != revision["record_sha256"]:
        raise Failure(
            "V5", name, f"judged on a record {revision['record_sha256'][:12]}, its events fold to {ours[:12]}"
        )
    if verdict.outcome != revision["outcome"]:
        raise Failure("V5", name, f"{revision['outcome']}, judged again {verdict.outcome}")
    elsewhere = revision["inputs"].get("elsewhere", {})
    expected = lines_of(verdict, table=content["round"]["table"], elsewhere=elsewhere)
    for stored, judged in zip(revision["lines"], expected, strict=False):
        if stored != judged:
            raise Failure("V5", f"{name}/{judged[0]}", _difference(stored, judged))
    if len(revision["lines"]) != len(expected):
        raise Failure("V5", name, f"has {len(revision['lines'])} lines, judged again {len(expected)}")
    if verdict.house_net != revision["house_net"]:
        raise Failure("V5", name, f"house net {revision['house_net']}, judged again {verdict.house_net}")
    if revision["outcome"] == "settled" and revision["sheet_sha256"] != (content["sheet"] or {}).get(
        "sha256"
    ):
        raise Failure("V5", name, "was judged by another sheet")
    _money(content, revision, name, last=before[-1] if before else None)


def folded(
    content: Mapping[str, Any], revision: Mapping[str, Any] | None, rules: HouseRules | None, name: str
) -> tuple[record.RoundRecord, Verdict]:
    """Return the record and the verdict of a revision, or without one of the round as it lies. Raises Failure."""
    inputs = revision["inputs"] if revision else NO_INPUTS
    try:
        found = derivation.record_of(content, revision)
        return found, derivation.judged(found, rules, inputs)
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise Failure("V5", name, f"cannot be folded and judged: {fault!r}") from None


def lines_of(verdict: Verdict, *, table: str, elsewhere: Mapping[str, str] = HERE) -> list[list[Any]]:
    """Return a verdict's lines as they are stored, a banker's last; ``elsewhere`` names the cashier systems of guests
    whose wallets live there, and their mirrors are posted to."""

    def account(owner: str) -> str:
        return f"external:{elsewhere[owner]}:{table}" if owner in elsewhere else f"{owner}:wallet"

    lines: list[list[Any]] = [
        [
            line.wager, line.hand, line.owner.kind, line.owner.ref,
            account(line.owner.ref) if line.owner.kind == "account" else f"table:{table}:guests",
            line.stake, [cards.text(card) for card in line.cards], line.guest.kind, line.guest.taem, line.guest.deng,
            [cards.text(card) for card in line.dealer_cards], line.dealer.kind, line.dealer.taem, line.dealer.deng,
            line.step, line.multiple, line.gross, line.uncovered, line.commission, line.net, line.rounding_bp,
        ]
        for line in verdict.lines
    ]  # fmt: skip
    bank = verdict.bank
    if bank is not None:
        lines.append(
            [
                derivation.BANK, derivation.BANK, "account", bank.account, account(bank.account), bank.held, [], "",
                None, None, [], "", None, None, "", 0, bank.result, 0, bank.commission, bank.net, bank.rounding_bp,
            ]
        )  # fmt: skip
    return lines


def _difference(stored: Any, judged: Sequence[Any]) -> str:
    if not isinstance(stored, list) or len(stored) != len(judged):
        return "is no line"
    named = zip(derivation.LINE_FIELDS, stored, judged, strict=True)
    return ", ".join(
        f"{name} {ours}, judged again {theirs}" for name, ours, theirs in named if ours != theirs
    )


# -- the money -------------------------------------------------------------------------------------------------


def _money(
    content: Mapping[str, Any], revision: Mapping[str, Any], name: str, *, last: Mapping[str, Any] | None
) -> None:
    """The journals add up to nothing each and move what the lines say; reversals undo the revision before."""
    for journal in revision["journals"]:
        row = f"journals/{journal['id']}"
        if [entry["ordinal"] for entry in journal["entries"]] != list(range(len(journal["entries"]))):
            raise Failure("V5", row, "its entries are not numbered from 0")
        if sum(entry["amount"] for entry in journal["entries"]):
            raise Failure("V5", row, "does not add up to nothing")
    moved, expected = _moved(revision, "journal"), _expected(revision, table=content["round"]["table"])
    for account, wager in sorted(moved.keys() | expected.keys()):
        found, due = moved.get((account, wager), 0), expected.get((account, wager), 0)
        if found != due:
            raise Failure("V5", f"{name}/{wager or account}", f"{account} moved {found}, the lines say {due}")
    if last is not None and _stands_on(revision, last):
        return
    for back, part in (("reversal", "journal"), ("shortfall_reversal", "shortfall")):
        undone = {key: -amount for key, amount in _moved(revision, back).items()}
        if undone != (_moved(last, part) if last else {}):
            raise Failure("V5", name, f"its {back} does not take back the {part} of the revision before")


def _stands_on(revision: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Whether a correction changed no line: it moved nothing, and the journals of the one before are its own."""

    def journals(of: Mapping[str, Any]) -> list[str]:
        parts = ("journal", "shortfall")
        return sorted(journal["id"] for journal in of["journals"] if journal["part"] in parts)

    posts_back = any(journal["part"].endswith("reversal") for journal in revision["journals"])
    return revision["lines"] == last["lines"] and journals(revision) == journals(last) and not posts_back


def _moved(revision: Mapping[str, Any], part: str) -> Moves:
    found: Moves = {}
    for journal in revision["journals"]:
        if journal["part"] == part:
            for entry in journal["entries"]:
                _add(found, entry["account"], entry["wager"], entry["amount"])
    return found


def _expected(revision: Mapping[str, Any], *, table: str) -> Moves:
    """What the lines move: guests and wallets against the table's bank, commission apart, a player's bank through
    the table's."""
    found: Moves = {}
    for line in (dict(zip(derivation.LINE_FIELDS, line, strict=True)) for line in revision["lines"]):
        _add(found, line["account"], line["wager"], line["net"])
        _add(found, f"table:{table}:commission", "", line["commission"])
        if line["wager"] == derivation.BANK:
            _add(found, f"table:{table}:bank", derivation.BANK, -line["gross"])
        else:
            _add(found, f"table:{table}:bank", "", line["uncovered"] - line["gross"])
    return {key: amount for key, amount in found.items() if amount}


def _add(moves: Moves, account: str, wager: str, amount: int) -> None:
    moves[account, wager] = moves.get((account, wager), 0) + amount


# -- what was sealed -------------------------------------------------------------------------------------------


def are_as_sealed(content: Mapping[str, Any], entries: Sequence[Entry]) -> None:
    """Each revision stands in one sealed entry with just these figures, and no sealed revision is missing."""
    facts: dict[str, Entry] = {}
    for entry in entries:
        if entry.action in SETTLED:
            if entry.data["settlement"] in facts:
                raise Failure("V5", f"entries/{entry.place}", "a revision was sealed twice")
            facts[entry.data["settlement"]] = entry
    for revision in content["revisions"]:
        name = f"revisions/{revision['revision']}"
        if revision["id"] not in facts:
            raise Failure("V5", name, "no sealed entry tells of it")
        _is_as_sealed(content, revision, facts.pop(revision["id"]), name)
    for entry in facts.values():
        raise Failure(
            "V5", f"entries/{entry.place}", f"revision {entry.data['revision']} was sealed and is not here"
        )


def _is_as_sealed(content: Mapping[str, Any], revision: Mapping[str, Any], entry: Entry, name: str) -> None:
    action = f"round.{revision['outcome']}" if revision["revision"] == 1 else "round.corrected"
    if (entry.action, entry.said["round"], entry.said["at"]) != (
        action, content["round"]["id"], revision["settled_at"],
    ):  # fmt: skip
        raise Failure("V5", name, f"sealed was {entry.action} of {entry.said['round']} at {entry.said['at']}")
    ours = {**revision, "lines_sha256": sha256(canonical(revision["lines"]))}
    for field in (
        "record_sha256", "lines_sha256", "house_net", "outcome", "revision", "sheet_sha256", "currency", "gaming_day",
        "upto", "cites", "inputs", "because", "acted_by", "approved_by",
    ):  # fmt: skip
        if ours[field] != entry.data[field]:
            raise Failure("V5", name, f"{field} is {ours[field]}, sealed was {entry.data[field]}")
    sealed = {journal["id"]: journal for journal in entry.data["journals"]}
    for journal in revision["journals"]:
        posted = {
            **{
                field: journal[field]
                for field in ("id", "kind", "key", "gaming_day", "orig_day", "currency", "reverses")
            },
            "postings": [
                [posting["account"], posting["amount"], posting["wager"]] for posting in journal["entries"]
            ],
        }
        if posted != sealed.pop(journal["id"], None):
            raise Failure("V5", f"journals/{journal['id']}", "is not the journal that was sealed")
    for missing in sealed:
        raise Failure("V5", f"journals/{missing}", "was sealed and is not here")
