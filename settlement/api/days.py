"""Doors of gaming days and shifts: opened, closed and sealed, what stands in the way, and what each came to."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import tables
from casino.api.door import Day, Door, Money, PageQuery, Shape, SignedMoney, described, money
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Table
from settlement import days, reports
from settlement.api.bounds import day_in_path
from settlement.days import checklist
from settlement.models import GamingDay, Report, ReportFile


class TablesShape(Shape):
    tables = serializers.ListField(child=serializers.CharField(max_length=20), max_length=500)


class SecondShape(Shape):
    """The second person, by badge and PIN."""

    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


class NothingShape(Shape):
    """A body without fields."""


DayShown = described(
    "GamingDay",
    {
        "gaming_day": serializers.DateField(),
        "state": serializers.ChoiceField(["open", "closing", "sealed"]),
        "running": serializers.BooleanField(),
        "begins_at": serializers.DateTimeField(),
        "ends_at": serializers.DateTimeField(),
        "minutes": serializers.IntegerField(
            help_text="how long it lasts: 1440, but where clocks or the start hour change"
        ),
        "opened_at": serializers.DateTimeField(allow_null=True),
        "closing_at": serializers.DateTimeField(allow_null=True),
        "sealed_at": serializers.DateTimeField(allow_null=True),
        "report_sha256": serializers.CharField(allow_null=True),
    },
)
TableOfDayShown = described(
    "TableOfDay",
    {
        "table": serializers.CharField(),
        "sheet": serializers.UUIDField(
            allow_null=True, help_text="the rule sheet in force when the day was opened"
        ),
        "sha256": serializers.CharField(allow_null=True, help_text="its hash"),
    },
)
DayOpenedShown = described(
    "GamingDayOpened", {**DayShown().get_fields(), "tables": TableOfDayShown(many=True)}
)
AmendmentShown = described(
    "Amendment",
    {
        "kind": serializers.CharField(help_text="the kind of journal, or mispay_found, which moves nothing"),
        "journal": serializers.UUIDField(allow_null=True),
        "posted_in": serializers.DateField(allow_null=True),
        "orig_day": serializers.DateField(),
        "round": serializers.UUIDField(allow_null=True),
        "revision": serializers.IntegerField(allow_null=True),
        "outcome": serializers.ChoiceField(["settled", "voided"], allow_null=True),
        "house_net": SignedMoney(help_text="what it changed for the house"),
        "recorded_at": serializers.DateTimeField(),
        "wager": serializers.CharField(required=False, help_text="of a mispay"),
        "paid": Money(required=False),
        "due": Money(required=False),
    },
)
ItemShown = described(
    "DayItem",
    {
        "code": serializers.CharField(),
        "met": serializers.BooleanField(),
        "blocking": serializers.BooleanField(),
        "count": serializers.IntegerField(),
        "found": serializers.ListField(child=serializers.CharField()),
        "en": serializers.CharField(),
        "th": serializers.CharField(),
    },
)
SealShown = described(
    "ReportFixed",
    {
        "report": serializers.UUIDField(),
        "sha256": serializers.CharField(),
        "files": serializers.DictField(child=serializers.CharField()),
    },
)


class DaysQuery(PageQuery):
    """Which page; after a day."""

    cursor = Day(required=False, help_text="`next` of the page before")


class Days(Door):
    """Gaming days, newest first."""

    declares: ClassVar = {"GET": "read_days"}
    queries: ClassVar = {"GET": DaysQuery}

    @extend_schema(
        operation_id="listDays",
        responses={
            200: described(
                "GamingDays",
                {
                    "running": serializers.DateField(),
                    "days": DayShown(many=True),
                    "next": serializers.CharField(allow_null=True),
                },
            )
        },
    )
    @refuses("not_found")
    def get(self, request: Request) -> Response:
        """List days that have begun; ``running`` is the gaming day of this moment."""
        page = self.page
        found = GamingDay.objects.order_by("-day")
        if page.cursor:
            found = found.filter(day__lt=page.cursor)
        listed, last = page.cut(found)
        hashes = _hashes_of(listed)
        now = timezone.now()
        return Response(
            {
                "running": days.of(now).isoformat(),
                "days": [_day_shown(row, now=now, sha256=hashes.get(row.day)) for row in listed],
                "next": last.day.isoformat() if last else None,
            }
        )


class DayDetail(Door):
    """One gaming day."""

    declares: ClassVar = {"GET": "read_days"}

    @extend_schema(
        operation_id="readDay",
        responses={
            200: described(
                "GamingDayDetail",
                {
                    "day": DayShown(),
                    "tables": TableOfDayShown(many=True),
                    "ready": serializers.BooleanField(),
                    "checklist": ItemShown(many=True),
                },
            )
        },
    )
    def get(self, request: Request, day: str) -> Response:
        """Read where the day stands and, until it is sealed, what stands between it and its seal."""
        now = timezone.now()
        row = days.of_day(day_in_path(day))
        items = [] if row.state == "sealed" else checklist.of(row, now=now)
        return Response(
            {
                "day": _day_shown(row, now=now, sha256=_hashes_of([row]).get(row.day)),
                "tables": row.tables,
                "ready": bool(items) and all(item.met or not item.blocking for item in items),
                "checklist": [checklist.described(item) for item in items],
            }
        )


class DayOpening(Door):
    """Open the running day."""

    declares: ClassVar = {"POST": "open_day"}

    @extend_schema(
        operation_id="openDay", request=TablesShape, parameters=[KEY], responses={201: DayOpenedShown}
    )
    @refuses("day_closing", "day_not_running", "day_opened", "day_sealed")
    def post(self, request: Request, day: str) -> Response:
        """Open the day and name its tables; each is listed with its rule sheet in force and that sheet's hash."""

        def prepare() -> tuple[date, list[Table]]:
            return day_in_path(day), tables_of(self.body(TablesShape)["tables"])

        def do(act: Act, prepared: tuple[date, list[Table]]) -> tuple[int, dict[str, Any]]:
            row = days.open_day(day=prepared[0], tables=prepared[1], by=self.person)
            shown = _day_shown(row, now=act.now, sha256=None)
            return 201, shown | {"tables": row.tables}

        return self.once(prepare, do)


class DayClosing(Door):
    """Begin to close a day."""

    declares: ClassVar = {"POST": "close_day"}

    @extend_schema(operation_id="closeDay", request=NothingShape, parameters=[KEY], responses={201: DayShown})
    @refuses("day_closing", "day_not_running", "day_sealed")
    def post(self, request: Request, day: str) -> Response:
        """From now on no table opens in the day; open ones end, and it can be sealed once it is over."""

        def prepare() -> date:
            self.body(NothingShape)
            return day_in_path(day)

        def do(act: Act, prepared: date) -> tuple[int, dict[str, Any]]:
            row = days.close_day(day=prepared, by=self.person)
            return 201, _day_shown(row, now=act.now, sha256=None)

        return self.once(prepare, do)


class DaySeal(Door):
    """Seal a day."""

    declares: ClassVar = {"POST": "seal_day"}

    @extend_schema(operation_id="sealDay", request=SecondShape, parameters=[KEY], responses={201: SealShown})
    @refuses("day_not_closing", "day_not_ready", "day_sealed", "sod_violation")
    def post(self, request: Request, day: str) -> Response:
        """Seal the day for ever, by two auditors of whom one keeps the accounts. 409 ``day_not_ready`` says what is
        missing."""

        def prepare() -> tuple[date, Person]:
            return day_in_path(day), self.second_person(self.body(SecondShape))

        def do(_: Act, prepared: tuple[date, Person]) -> tuple[int, dict[str, Any]]:
            report = reports.seal_day(day=prepared[0], by=self.person, second=prepared[1])
            return 201, fixed(report)

        return self.once(prepare, do)


class DayAmendments(Door):
    """What was posted later and is about a day."""

    declares: ClassVar = {"GET": "read_days"}

    @extend_schema(
        operation_id="listAmendments",
        responses={
            200: described(
                "Amendments",
                {
                    "gaming_day": serializers.DateField(),
                    "report_sha256": serializers.CharField(allow_null=True),
                    "amendments": AmendmentShown(many=True),
                },
            )
        },
    )
    def get(self, request: Request, day: str) -> Response:
        """List them in the order they were posted; they stand beside the day's report and do not change it."""
        row = days.of_day(day_in_path(day))
        return Response(
            {
                "gaming_day": row.day.isoformat(),
                "report_sha256": _hashes_of([row]).get(row.day),
                "amendments": [_amendment(one) for one in reports.posted_later_about(row.day)],
            }
        )


# -- what is shown -------------------------------------------------------------------------------------------


def tables_of(codes: list[str]) -> list[Table]:
    return [tables.of_code(code) for code in sorted(set(codes))]


def _hashes_of(rows: list[GamingDay]) -> dict[date, str]:
    found = Report.objects.filter(kind=Report.Kind.DAY, day__in=[row.day for row in rows])
    return dict(found.values_list("day", "sha256"))


def _day_shown(row: GamingDay, *, now: datetime, sha256: str | None) -> dict[str, Any]:
    return {
        "gaming_day": row.day.isoformat(),
        "state": str(row.state),
        "running": row.begins_at <= now < row.ends_at,
        "begins_at": row.begins_at.isoformat(),
        "ends_at": row.ends_at.isoformat(),
        "minutes": (row.ends_at - row.begins_at) // timedelta(minutes=1),
        "opened_at": row.opened_at.isoformat() if row.opened_at else None,
        "closing_at": row.closing_at.isoformat() if row.closing_at else None,
        "sealed_at": row.sealed_at.isoformat() if row.sealed_at else None,
        "report_sha256": sha256,
    }


def _amendment(one: dict[str, Any]) -> dict[str, Any]:
    currency = one["currency"]
    amounts = {name: money(one[name], currency) for name in ("house_net", "paid", "due") if name in one}
    return {name: value for name, value in one.items() if name != "currency"} | amounts


def fixed(report: Report) -> dict[str, Any]:
    files = dict(ReportFile.objects.filter(report=report).values_list("format", "sha256"))
    return {"report": str(report.id), "sha256": report.sha256, "files": files}
