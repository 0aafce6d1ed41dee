"""What follows from a dossier's evidence: the folded record, the judgement, and both in words.

The house fills a dossier with it, and whoever checks the dossier works it out again: there is one way to do it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from casino import record
from casino.record import Event, Gap, RoundRecord
from settlement import explanations
from settlement.explanations import Said
from settlement.rules import conduct, house_rules, payouts
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import BankLine, Verdict

BANK = "bank"
LINE_FIELDS = (
    "wager", "hand", "owner_kind", "owner_ref", "account", "stake", "cards", "hand_kind", "hand_taem", "hand_deng",
    "dealer_cards", "dealer_kind", "dealer_taem", "dealer_deng", "step", "multiple", "gross", "uncovered",
    "commission", "net", "rounding_bp",
)  # fmt: skip
"""What a stored line says, in the order in which it is hashed."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(written: str) -> int:
    """Return an instant, written as entries write it, in whole milliseconds since 1970, as the fold is given them."""
    return (datetime.fromisoformat(written) - _EPOCH) // timedelta(milliseconds=1)


def event_of(row: Mapping[str, Any]) -> Event:
    """Return a row of a dossier's events as the fold takes it."""
    device = row["device_seq"] is not None
    return Event(
        kind=row["kind"],
        data=row["data"],
        source=row["source"].rpartition("/")[2] if device else row["source"],
        feed=row["feed"],
        seq=row["device_seq"] or 0,
        place=row["id"],
        signed=bool(row["signed"]),
        time_ms=milliseconds(row["happened_at"]),
        instant_ms=milliseconds(row["instant"]),
        jumped_from=row.get("jumped_from"),
    )


def record_of(content: Mapping[str, Any], revision: Mapping[str, Any] | None) -> RoundRecord:
    """Return the fold that a revision was judged on; None: of everything that did not come late, past the gaps."""
    if revision is None:
        counted = [row for row in content["events"] if not row["late"]]
        gaps = gaps_of(content)
    else:
        cited = frozenset(revision["cites"])
        counted = [
            row
            for row in content["events"]
            if row["id"] in cited or (not row["late"] and row["id"] <= revision["upto"])
        ]
        gaps = ()  # what was settled had none that could touch it
    return record.fold(
        [event_of(row) for row in counted], unknown=gaps, currency=content["round"]["currency"]
    )


def gaps_of(content: Mapping[str, Any]) -> tuple[Gap, ...]:
    return tuple(Gap(gap["source"], gap["first"], gap["last"], gap["feed"]) for gap in content["gaps"])


def judged(found: RoundRecord, rules: HouseRules | None, inputs: Mapping[str, Any]) -> Verdict:
    """Return the verdict on a record, with what judging took from outside it. A bank without a wallet is no bank."""
    if rules is None:
        return Verdict("voided" if found.state == "voided" else "open", ())
    if inputs["bank"] is None and found.banker is not None:
        found = replace(found, banker=None)
    return payouts.judge(found, rules, bank=inputs["bank"], not_in_play=frozenset(inputs["not_in_play"]))


def rules_of(content: Mapping[str, Any]) -> HouseRules | None:
    """Return the rule sheet as a value. Raises InvalidSheet."""
    return None if content["sheet"] is None else house_rules.stored(content["sheet"]["canonical"])


def effective(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The last revision, None before the round is settled."""
    return content["revisions"][-1] if content["revisions"] else None


def fill(content: dict[str, Any]) -> None:
    """Put into a dossier's content what follows from the rest of it: every sentence, and the findings.

    Raises ValueError or KeyError where events, sheet or lines are not what the house could have written.
    """
    currency = content["round"]["currency"]
    rules = rules_of(content)
    for flag in content["flags"]:
        flag.update(_said(_flag(flag, currency)))
    if rules is None:
        return
    content["sheet"]["said"] = [
        {"option": name, **_said(said)} for name, said in explanations.sheet(rules, currency=currency)
    ]
    for revision in content["revisions"]:
        revision["said"] = [
            {"wager": line[0], **_said(_line(line, rules, content["sheet"]["name"], currency))}
            for line in revision["lines"]
        ]
    if content["round"]["standing"] not in ("held", "settled"):
        return
    last = effective(content)
    found = record_of(content, last)
    if content["round"]["standing"] == "held":
        reasons = tuple(content["round"]["reasons"])
        content["held"] = [
            {"reason": reason, **_said(said)}
            for reason, said in explanations.held(
                found, rules, reasons, gaps=gaps_of(content), currency=currency
            )
        ]
    verdict = judged(found, rules, last["inputs"]) if last else None
    without = frozenset(last["inputs"]["not_in_play"]) if last else frozenset()
    content["findings"] = [
        {
            "kind": written["kind"],
            "subject": written["subject"],
            "detail": written.get("detail", {}),
            **_said(
                explanations.finding(
                    written["kind"], written["subject"], written.get("detail", {}), currency=currency
                )
            ),
        }
        for written in record.findings_json(conduct.breaches(found, rules, verdict, not_in_play=without))
    ]


def _line(stored: Sequence[Any], rules: HouseRules, sheet: str, currency: str) -> Said:
    named = dict(zip(LINE_FIELDS, stored, strict=True))
    if named["wager"] == BANK:
        bank = BankLine(
            named["owner_ref"], named["stake"], named["gross"], named["commission"], named["net"],
            named["rounding_bp"],
        )  # fmt: skip
        return explanations.bank(bank, currency=currency)
    return explanations.line(explanations.read_line(named, rules), rules, sheet=sheet, currency=currency)


def _flag(flag: Mapping[str, Any], currency: str) -> Said:
    return explanations.finding(
        flag["kind"], flag["subject"].partition("#")[2], flag["detail"], currency=currency
    )


def _said(said: Said) -> dict[str, str]:
    return {"th": said.th, "en": said.en}
