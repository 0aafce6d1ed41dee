"""How slips and pay slips are written in answers, and what their doors read alike."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from casino.api.door import Door, SignedMoney, described, money
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import slips
from settlement.models import PaySlip, PaySlipState, Slip, SlipState, SlipStep

CAGE = r"^[A-Z0-9]{1,20}\Z"
PERSON = r"^[A-Za-z0-9._-]{1,64}\Z"

PiecesShown = described(
    "SlipLine", {"denomination": serializers.IntegerField(), "pieces": serializers.IntegerField()}
)
_SHOWN: dict[str, Any] = {
    "id": serializers.UUIDField(),
    "kind": serializers.ChoiceField(Slip.Kind.values),
    "table": serializers.CharField(),
    "session": serializers.UUIDField(),
    "state": serializers.ChoiceField(SlipState.values),
    "number": serializers.CharField(allow_null=True),
    "manual": serializers.BooleanField(),
    "manual_number": serializers.CharField(allow_null=True),
    "compared": serializers.BooleanField(),
    "cage": serializers.CharField(allow_null=True),
    "lines": PiecesShown(many=True),
    "amount": SignedMoney(),
    "gaming_day": serializers.DateField(),
    "requested_at": serializers.DateTimeField(),
}
SlipShown = described("Slip", _SHOWN)
StepShown = described(
    "SlipStep",
    {
        "step": serializers.ChoiceField(SlipStep.Step.values),
        "by": serializers.UUIDField(),
        "second": serializers.UUIDField(allow_null=True),
        "lines": PiecesShown(many=True),
        "amount": SignedMoney(),
        "reason": serializers.CharField(),
        "journal": serializers.UUIDField(allow_null=True),
        "taken_at": serializers.DateTimeField(),
    },
)
SlipWithSteps = described("SlipWithSteps", _SHOWN | {"steps": StepShown(many=True)})
SlipTaken = described(
    "SlipTaken",
    _SHOWN
    | {
        "steps": StepShown(many=True),
        "receipt": serializers.CharField(),
        "mismatch": serializers.UUIDField(allow_null=True),
    },
)


def slip_shown(slip: Slip, *, compared: bool) -> dict[str, Any]:
    """Return a slip as answers write it."""
    return {
        "id": str(slip.id),
        "kind": slip.kind,
        "table": slip.table.code,
        "session": str(slip.session_id),
        "state": slip.state,
        "number": slips.number_of_slip(slip),
        "manual": slip.manual_number != "",
        "manual_number": slip.manual_number or None,
        "compared": compared,
        "cage": slip.cage or None,
        "lines": slip.lines,
        "amount": money(slip.amount, slip.currency),
        "gaming_day": slip.gaming_day.isoformat(),
        "requested_at": slip.requested_at.isoformat(),
    }


def slip_with_steps(slip: Slip) -> dict[str, Any]:
    steps = list(SlipStep.objects.filter(slip=slip).order_by("ordinal"))
    return {
        **slip_shown(slip, compared=any(step.step == SlipStep.Step.COMPARED for step in steps)),
        "steps": [
            {
                "step": step.step,
                "by": str(step.by_id),
                "second": str(step.second_id) if step.second_id else None,
                "lines": step.lines,
                "amount": money(step.amount, slip.currency),
                "reason": step.reason,
                "journal": str(step.journal_id) if step.journal_id else None,
                "taken_at": step.taken_at.isoformat(),
            }
            for step in steps
        ],
    }


_CLAIM: dict[str, Any] = {
    "number": serializers.CharField(),
    "table": serializers.CharField(),
    "round": serializers.UUIDField(),
    "wager": serializers.CharField(),
    "revision": serializers.IntegerField(),
    "state": serializers.ChoiceField(PaySlipState.values),
    "stopped": serializers.CharField(allow_null=True),
    "amount": SignedMoney(),
    "settled_before": SignedMoney(),
    "line": described(
        "PaySlipLine",
        {
            "hand": serializers.CharField(),
            "stake": SignedMoney(),
            "multiple": serializers.IntegerField(),
            "commission": SignedMoney(),
            "net": SignedMoney(),
        },
    )(),
    "gaming_day": serializers.DateField(),
    "issued_by": serializers.UUIDField(),
    "issued_at": serializers.DateTimeField(),
    "cage": serializers.CharField(allow_null=True),
    "paid_by": serializers.UUIDField(allow_null=True),
    "paid_at": serializers.DateTimeField(allow_null=True),
    "voided_by": serializers.UUIDField(allow_null=True),
    "voided_at": serializers.DateTimeField(allow_null=True),
    "void_reason": serializers.CharField(),
    "superseded_by": serializers.UUIDField(
        allow_null=True, help_text="The later revision that voided it, as it was not paid."
    ),
    "journals": serializers.ListField(child=serializers.UUIDField()),
}
PaySlipShown = described("PaySlip", _CLAIM)
ClaimShown = described("PaySlipActed", _CLAIM | {"receipt": serializers.CharField()})


def pay_slip_shown(slip: PaySlip, *, superseded: bool) -> dict[str, Any]:
    """Return a pay slip as answers write it; ``stopped`` is the code it would be refused with, were it paid now."""
    line = slip.line
    stopped = "round_in_dispute" if slip.round.in_dispute else "pay_slip_superseded" if superseded else None
    journals = (slip.issue_journal_id, slip.payment_journal_id, slip.void_journal_id, slip.void_clearing_id)
    return {
        "number": slips.number_of_pay_slip(slip),
        "table": slip.table.code,
        "round": str(slip.round_id),
        "wager": slip.wager,
        "revision": slip.settlement.revision,
        "state": str(slip.state),
        "stopped": stopped if slip.state == PaySlipState.ISSUED else None,
        "amount": money(slip.amount, slip.currency),
        "settled_before": money(slip.settled_before, slip.currency),
        "line": {
            "hand": line.hand,
            "stake": money(line.stake, slip.currency),
            "multiple": line.multiple,
            "commission": money(line.commission, slip.currency),
            "net": money(line.net, slip.currency),
        },
        "gaming_day": slip.gaming_day.isoformat(),
        "issued_by": str(slip.issued_by_id),
        "issued_at": slip.issued_at.isoformat(),
        "cage": slip.cage or None,
        "paid_by": str(slip.paid_by_id) if slip.paid_by_id else None,
        "paid_at": slip.paid_at.isoformat() if slip.paid_at else None,
        "voided_by": str(slip.voided_by_id) if slip.voided_by_id else None,
        "voided_at": slip.voided_at.isoformat() if slip.voided_at else None,
        "void_reason": slip.void_reason,
        "superseded_by": str(slip.superseded_by_id) if slip.superseded_by_id else None,
        "journals": [str(journal) for journal in journals if journal is not None],
    }


def signer(door: Door, given: dict[str, Any]) -> Person | None:
    """Return who signed by badge and PIN in the body, None where nobody did; call it outside of an act."""
    if ("badge" in given) != ("pin" in given):
        raise Refusal("missing_field", fields={"pin" if "badge" in given else "badge": "goes with the other"})
    return door.second_person(given) if "badge" in given else None
