"""What a table won: for those who may see what a tray should hold, and for nobody while it is being counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, tables
from casino.api.door import Day, Door, Id, Query, SignedMoney, described, money
from casino.models import Table, TableSession
from casino.platform.refusals import Refusal
from settlement import table_floats
from settlement.api.bounds import day_asked
from settlement.table_floats.rundown import BroughtBack, Stretch

AMOUNTS = (
    "opener", "fills", "credits", "slips", "buy_ins", "drop", "takes", "pays", "commission", "corrections",
    "counted_off", "wallet_win", "closer",
)  # fmt: skip
RESULTS = ("expected_tray", "win", "estimated_win", "variance")

BroughtBackShown = described(
    "BroughtBack",
    {
        "counted": SignedMoney(help_text="what was counted, after the start hour"),
        "new_day_before": SignedMoney(
            help_text="what acts of the new gaming day moved before the count: taken off"
        ),
        "old_day_after": SignedMoney(help_text="what acts of the old gaming day moved after it: added"),
        "buy_ins_before": SignedMoney(
            help_text="buy-ins among the first, which lie in the box carried off with it"
        ),
        "buy_ins_after": SignedMoney(help_text="buy-ins among the second, which lie in the next box"),
    },
)
StretchShown = described(
    "Stretch",
    {
        "session": serializers.UUIDField(),
        "open": serializers.BooleanField(),
        "provisional": serializers.BooleanField(),
        "formula": serializers.IntegerField(),
        **{name: SignedMoney(allow_null=True) for name in (*AMOUNTS, *RESULTS)},
        "tray_win": SignedMoney(
            help_text="takes − pays + commission + corrections, in chips", allow_null=True
        ),
        "hold_rate_bp": serializers.IntegerField(allow_null=True, help_text="win ÷ drop, basis points"),
        "opener_brought_back": BroughtBackShown(
            allow_null=True, help_text="a count of the start hour at the beginning; null for another kind"
        ),
        "closer_brought_back": BroughtBackShown(
            allow_null=True, help_text="a count of the start hour at the end; null for another kind"
        ),
        "estimated_by_lines": serializers.BooleanField(help_text="a count is missing at one end"),
        "unknown": serializers.DictField(
            child=serializers.CharField(), help_text="each figure that is null, with its reason"
        ),
    },
)


class RundownQuery(Query):
    """Of a session or of a gaming day, one of the two."""

    session = Id(required=False)
    gaming_day = Day(required=False)


class TableRundown(Door):
    """The rundown of a session or of a gaming day."""

    declares: ClassVar = {"GET": "read_rundown"}
    queries: ClassVar = {"GET": RundownQuery}

    @extend_schema(
        operation_id="readRundown",
        responses={
            200: described(
                "Rundown",
                {
                    "table": serializers.CharField(),
                    "gaming_day": serializers.DateField(allow_null=True),
                    "stretches": StretchShown(many=True),
                    "win": SignedMoney(allow_null=True),
                    "estimated_win": SignedMoney(allow_null=True),
                    "variance": SignedMoney(allow_null=True),
                    "reason": serializers.CharField(
                        help_text="count_open: nothing is shown while it is counted"
                    ),
                },
            )
        },
    )
    def get(self, request: Request, code: str) -> Response:
        """Read what a table won, and why what is unknown is."""
        table = tables.of_code(code)
        people.require_at(self.principal, "read_rundown", table.id)
        if not self.person.has_duty("see_expected"):
            raise Refusal("forbidden")
        stretches, day, totals = _asked_for(self.query, table)
        hidden = table.code in table_floats.hidden_from(self.person)
        return Response(
            {
                "table": table.code,
                "gaming_day": day,
                "stretches": [] if hidden else [_shown(one, table.currency) for one in stretches],
                **{name: None if hidden else _money(value, table.currency) for name, value in totals.items()},
                "reason": table_floats.COUNT_OPEN if hidden else "",
            }
        )


def _asked_for(
    asked: Mapping[str, Any], table: Table
) -> tuple[tuple[Stretch, ...], date | None, dict[str, int | None]]:
    if len(asked) != 1:
        raise Refusal("missing_field", fields={"session": "a session or a gaming day"})
    if "gaming_day" in asked:
        found = table_floats.rundown.of_day(table, day_asked(asked["gaming_day"]))
        return found.stretches, found.gaming_day, found.totals
    wanted: UUID = asked["session"]
    if not TableSession.objects.filter(pk=wanted, table=table).exists():
        raise Refusal("not_found")
    one = table_floats.rundown.of_session(wanted)
    totals = {
        "win": one.rundown.win,
        "estimated_win": one.rundown.estimated_win,
        "variance": one.rundown.variance,
    }
    return (one,), None, totals


def _shown(one: Stretch, currency: str) -> dict[str, Any]:
    rundown, figures = one.rundown, one.rundown.figures
    return {
        "session": str(one.session),
        "open": one.is_open,
        "provisional": one.is_provisional,
        "formula": rundown.formula,
        **{name: _money(getattr(figures, name), currency) for name in AMOUNTS},
        **{name: _money(getattr(rundown, name), currency) for name in RESULTS},
        "tray_win": money(figures.tray_win, currency),
        "hold_rate_bp": rundown.hold_rate_bp,
        "opener_brought_back": _brought_back(one.opener, currency),
        "closer_brought_back": _brought_back(one.closer, currency),
        "estimated_by_lines": rundown.by_lines,
        "unknown": rundown.unknown,
    }


def _brought_back(one: BroughtBack | None, currency: str) -> dict[str, Any] | None:
    if one is None:
        return None
    return {field.name: money(getattr(one, field.name), currency) for field in fields(one)}


def _money(amount: int | None, currency: str) -> dict[str, Any] | None:
    return None if amount is None else money(amount, currency)
