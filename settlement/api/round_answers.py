"""How a round, its lines and its settlement are shown: every amount with its currency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from rest_framework import serializers

from casino import record
from casino.api.door import Money, SignedMoney, described, money
from casino.api.shapes import written_as
from casino.models import Round, Standing
from settlement import settling
from settlement.api import records
from settlement.models import Line, Settlement
from settlement.rules import doubts
from settlement.rules.house_rules import Kind
from settlement.rules.payouts import Verdict
from settlement.rules.showdown import STEPS
from settlement.settling import Case, Cover, Settled

Reasons = serializers.ListField(
    child=serializers.ChoiceField(doubts.REASONS), help_text="what a person has to settle first"
)
Owner = written_as(
    {
        "oneOf": [
            {"type": "object", "properties": {name: one}, "required": [name]}
            for name, one in (
                ("seat", {"type": ["integer", "string"]}),
                ("account", {"type": "string"}),
                ("person", {"type": "string"}),
            )
        ]
    }
)


def _judged() -> serializers.Field[Any, Any, Any, Any]:
    return written_as(
        {
            "type": "array",
            "prefixItems": [{"enum": list(get_args(Kind))}, {"type": "integer"}, {"type": "integer"}],
            "minItems": 3,
            "maxItems": 3,
            "description": "kind, taem, deng",
        }
    )


LineShown = described(
    "Line",
    {
        "wager": serializers.CharField(),
        "hand": serializers.CharField(),
        "owner": Owner,
        "stake": Money(),
        "cards": serializers.ListField(child=serializers.CharField()),
        "judged": _judged(),
        "dealer_cards": serializers.ListField(child=serializers.CharField()),
        "dealer_judged": _judged(),
        "step": serializers.ChoiceField(STEPS),
        "multiple": serializers.IntegerField(),
        "gross": SignedMoney(),
        "uncovered": SignedMoney(),
        "commission": SignedMoney(),
        "net": SignedMoney(),
    },
)
UNCOVERED = (
    "insufficient_funds", "unknown_wallet", "cashier_system_silent", "cashier_system_disabled",
    "cashier_system_refused", "changed",
)  # fmt: skip
BankShown = described(
    "Bank",
    {
        "account": serializers.CharField(),
        "held": SignedMoney(),
        "result": SignedMoney(),
        "commission": SignedMoney(),
        "net": SignedMoney(),
    },
)
SettlementShown = described(
    "Settlement",
    {
        "id": serializers.UUIDField(),
        "round": serializers.UUIDField(),
        "revision": serializers.IntegerField(),
        "outcome": serializers.ChoiceField(["settled", "voided"]),
        "currency": serializers.CharField(),
        "house_net": SignedMoney(allow_null=True, help_text="what the house won, commission among it"),
        "reason": serializers.CharField(
            required=False, help_text="count_open: without lines and net while the table is being counted"
        ),
        "gaming_day": serializers.DateField(),
        "settled_at": serializers.DateTimeField(),
        "sheet_sha256": serializers.CharField(),
        "journals": serializers.ListField(child=serializers.UUIDField()),
        "lines": LineShown(many=True),
        "bank": BankShown(allow_null=True),
    },
)
SettledShown = described(
    "Settled",
    {
        "outcome": serializers.ChoiceField(["settled", "voided", "held", "waiting"]),
        "reasons": serializers.ListField(child=serializers.ChoiceField(doubts.REASONS), required=False),
        "due_at": serializers.DateTimeField(required=False, allow_null=True),
        "revision": serializers.IntegerField(required=False),
        "settlement": SettlementShown(required=False),
    },
)
PreviewShown = described(
    "Preview",
    {
        "outcome": serializers.ChoiceField(["settled", "voided", "held", "open"]),
        "reasons": Reasons,
        "lines": LineShown(many=True),
        "bank": BankShown(allow_null=True),
        "house_net": SignedMoney(),
        "currency": serializers.CharField(),
    },
)
CoverShown = described(
    "Cover",
    {
        "covered": described(
            "Covered",
            {"wager": serializers.CharField(), "account": serializers.CharField(), "exposure": Money()},
        )(many=True),
        "uncovered": described(
            "NotCovered",
            {
                "wager": serializers.CharField(),
                "account": serializers.CharField(),
                "exposure": Money(),
                "available": SignedMoney(allow_null=True, help_text="None: nobody told"),
                "reason": serializers.ChoiceField(UNCOVERED),
            },
        )(many=True),
    },
)
ConsideredShown = described(
    "Considered",
    {
        "outcome": serializers.ChoiceField(["settled", "voided", "held"]),
        "reasons": Reasons,
        "lines": described(
            "ConsideredLine",
            {
                "wager": serializers.CharField(),
                "hand": serializers.CharField(),
                "owner": Owner,
                "before": SignedMoney(allow_null=True),
                "after": SignedMoney(allow_null=True),
            },
        )(many=True),
        "house_net": SignedMoney(),
        "moved": SignedMoney(help_text="between this and how the round stands"),
        "currency": serializers.CharField(),
        "revision": serializers.IntegerField(help_text="0: none"),
        "upto": serializers.IntegerField(),
    },
)
RoundShown = described(
    "Round",
    {
        "id": serializers.UUIDField(),
        "table": serializers.CharField(),
        "number": serializers.IntegerField(allow_null=True),
        "standing": serializers.ChoiceField(Standing.values, allow_blank=True),
        "reasons": Reasons,
        "opened_at": serializers.DateTimeField(allow_null=True),
        "closed_at": serializers.DateTimeField(allow_null=True),
        "gaming_day": serializers.DateField(allow_null=True),
        "events": serializers.IntegerField(),
        "record": written_as(records.schema()),
        "breaches": serializers.ListField(child=written_as(records.FINDING)),
        "settlement": SettlementShown(allow_null=True),
        "reason": serializers.CharField(
            required=False, help_text="count_open: no settlement while it is counted"
        ),
    },
)


"""Details of findings that are amounts where they are integers."""


def _line(stored: Mapping[str, Any], currency: str) -> dict[str, Any]:
    return {
        "wager": stored["wager"],
        "hand": stored["hand"],
        "owner": {stored["owner_kind"]: stored["owner_ref"]},
        "stake": money(stored["stake"], currency),
        "cards": stored["cards"],
        "judged": [stored["hand_kind"], stored["hand_taem"], stored["hand_deng"]],
        "dealer_cards": stored["dealer_cards"],
        "dealer_judged": [stored["dealer_kind"], stored["dealer_taem"], stored["dealer_deng"]],
        "step": stored["step"],
        "multiple": stored["multiple"],
        "gross": money(stored["gross"], currency),
        "uncovered": money(stored["uncovered"], currency),
        "commission": money(stored["commission"], currency),
        "net": money(stored["net"], currency),
    }


def _bank(stored: Mapping[str, Any], currency: str) -> dict[str, Any]:
    return {
        "account": stored["owner_ref"],
        "held": money(stored["stake"], currency),
        "result": money(stored["gross"], currency),
        "commission": money(stored["commission"], currency),
        "net": money(stored["net"], currency),
    }


def lines(stored: Sequence[Mapping[str, Any]], currency: str) -> dict[str, Any]:
    """Return lines, named as they are stored, with a player's bank beside those of the wagers."""
    banks = [line for line in stored if line["wager"] == "bank"]
    return {
        "lines": [_line(line, currency) for line in stored if line["wager"] != "bank"],
        "bank": _bank(banks[0], currency) if banks else None,
    }


def settlement(one: Settlement) -> dict[str, Any]:
    """Return one revision with its lines."""
    stored = list(Line.objects.filter(settlement=one).order_by("ordinal").values(*settling.LINE_FIELDS))
    journals = (one.shortfall_reversal_id, one.reversal_id, one.shortfall_id, one.journal_id)
    return {
        "id": str(one.id),
        "round": str(one.round_id),
        "revision": one.revision,
        "outcome": one.outcome,
        "currency": one.currency,
        "house_net": money(one.house_net, one.currency),
        "gaming_day": one.gaming_day.isoformat(),
        "settled_at": one.settled_at.isoformat(),
        "sheet_sha256": one.sheet.sha256 if one.sheet else "",
        "journals": [str(key) for key in journals if key is not None],
        **lines(stored, one.currency),
    }


def settled(came: Settled) -> dict[str, Any]:
    """Return what settling a round came to: its settlement, or why there is none, or when to ask again."""
    if came.outcome == "held":
        return {"outcome": came.outcome, "reasons": list(came.reasons)}
    if came.outcome == "waiting":
        return {"outcome": came.outcome, "due_at": came.due_at.isoformat() if came.due_at else None}
    effective = settling.effective(came.round)
    assert effective is not None, "a round that is settled or voided has its settlement"
    return {
        "outcome": came.outcome,
        "revision": effective.revision,
        "settlement": settlement(effective),
    }


def preview(case: Case, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict that nobody stores."""
    stored = [settling.of_line(line, table=case.table) for line in verdict.lines]
    if verdict.bank is not None:
        stored.append(settling.of_bank(verdict.bank, table=case.table))
    named = [dict(zip(settling.LINE_FIELDS, line, strict=True)) for line in stored]
    return {
        "outcome": verdict.outcome,
        "reasons": list(verdict.reasons),
        "house_net": money(verdict.house_net, case.currency),
        "currency": case.currency,
        **lines(named, case.currency),
    }


def cover(came: Cover) -> dict[str, Any]:
    """Return what is set aside, and what cannot be."""
    return {
        "covered": [
            {"wager": hold.wager, "account": hold.account, "exposure": money(hold.amount, came.currency)}
            for hold in came.covered
        ],
        "uncovered": [
            {
                "wager": item.wager,
                "account": item.account,
                "exposure": money(item.exposure, came.currency),
                "available": None if item.available is None else money(item.available, came.currency),
                "reason": item.reason,
            }
            for item in came.refused
        ],
    }


def round_as_it_stands(stands: Round) -> dict[str, Any]:
    """Return everything known of a round: its record, its findings, and the revision that counts."""
    effective = settling.effective(stands.id)
    case, found = settling.reviewed(stands.id, effective)
    return {
        "id": str(stands.id),
        "table": case.table,
        "number": stands.number,
        "standing": stands.standing,
        "reasons": stands.reasons,
        "opened_at": stands.opened_at,
        "closed_at": stands.closed_at,
        "gaming_day": stands.gaming_day,
        "events": stands.event_count,
        "record": records.shown(case.written, case.currency),
        "breaches": records.findings(record.findings_json(found), case.currency),
        "settlement": settlement(effective) if effective else None,
    }


def considered(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return what would come of a round under other facts, as ``Considered`` writes it, with amounts and currency."""
    currency = written["currency"]
    return {
        **written,
        "lines": [
            {
                name: _amount(value, currency) if name in ("before", "after") else value
                for name, value in line.items()
            }
            for line in written["lines"]
        ],
        "house_net": money(written["house_net"], currency),
        "moved": money(written["moved"], currency),
    }


def _amount(known: int | None, currency: str) -> dict[str, Any] | None:
    return None if known is None else money(known, currency)
