"""The door of what is reported of cash, as JSON or as a table for a spreadsheet."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Day, Door, OneOf, PageQuery, SignedMoney, described, money
from casino.platform import csv_cells
from settlement import days
from settlement.api.bounds import day_asked
from settlement.api.file_answers import Csv, attachment
from settlement.cashier import cash_report
from settlement.models import CashAct, CashKind, Means

CashReported = described(
    "CashReported",
    {
        "person": serializers.CharField(),
        "direction": serializers.ChoiceField(["in", "out"]),
        "amount": SignedMoney(),
        "acts": serializers.IntegerField(),
    },
)
CashLogged = described(
    "CashLogged",
    {
        "act": serializers.UUIDField(),
        "kind": serializers.ChoiceField(CashKind.values),
        "direction": serializers.ChoiceField(["in", "out"]),
        "means": serializers.ChoiceField(Means.values),
        "person": serializers.CharField(),
        "amount": SignedMoney(),
        "cage": serializers.CharField(),
        "table": serializers.CharField(),
        "document": serializers.CharField(),
        "journal": serializers.UUIDField(),
        "happened_at": serializers.DateTimeField(),
        "recorded_at": serializers.DateTimeField(),
    },
)
CashReport = described(
    "CashReport",
    {
        "gaming_day": serializers.DateField(),
        "limit": SignedMoney(),
        "log_limit": SignedMoney(),
        "due": CashReported(many=True),
        "log": CashLogged(many=True),
        "next": serializers.CharField(allow_null=True),
    },
)


class ReportQuery(PageQuery):
    """Which day, and of its log which page."""

    gaming_day = Day(required=False, help_text="the running one where it is left out")
    format = OneOf(["json", "csv"], required=False)


class CashReports(Door):
    """Whose cash of a gaming day must be reported, and the running log of the day."""

    declares: ClassVar = {"GET": "read_cash"}
    queries: ClassVar = {"GET": ReportQuery}
    renderer_classes = (JSONRenderer, Csv)

    @extend_schema(
        operation_id="readCashReport",
        responses={(200, "application/json"): CashReport, (200, "text/csv"): str},
    )
    def get(self, request: Request) -> Response:
        """Read the report; as ``text/csv`` (or with ``format=csv``) the day's whole running log."""
        asked = self.query.get("gaming_day")
        day = day_asked(asked) if asked else days.of(timezone.now())
        page, form = self.page, request.accepted_renderer.format
        found = cash_report.running_log(day)
        if page.cursor:
            found = found.filter(id__gt=page.cursor)
        self.act(lambda _: cash_report.read(day, form=form))
        if form == "csv":
            written = "".join(csv_cells.lines(itertools.chain([cash_report.COLUMNS], cash_report.rows(day))))
            return attachment(written.encode(), name=f"cash-{day.isoformat()}.csv")
        listed, last = page.cut(found)
        currency = settings.PROPERTY["currency"]
        return Response(
            {
                "gaming_day": day.isoformat(),
                "limit": money(settings.CASH["report"], currency),
                "log_limit": money(settings.CASH["log"], currency),
                "due": [
                    {
                        "person": total.person,
                        "direction": total.direction,
                        "amount": money(total.amount, currency),
                        "acts": total.acts,
                    }
                    for total in cash_report.due(day)
                ],
                "log": [_logged(act) for act in listed],
                "next": str(last.id) if last else None,
            }
        )


def _logged(act: CashAct) -> dict[str, Any]:
    return {
        "act": str(act.id),
        "kind": act.kind,
        "direction": act.direction,
        "means": act.means,
        "person": act.person,
        "amount": money(act.amount, act.currency),
        "cage": act.cage,
        "table": act.session.table.code if act.session else "",
        "document": act.document,
        "journal": str(act.journal_id),
        "happened_at": act.happened_at,
        "recorded_at": act.recorded_at,
    }
