"""Doors of reports: the bytes that were fixed when a day was sealed or a shift closed."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Door, OneOf, Query
from casino.api.operations import refuses
from casino.platform.refusals import Refusal
from settlement import days, reports
from settlement.api.bounds import day_in_path
from settlement.api.file_answers import Csv, Written, attachment
from settlement.models import Report, ReportFile, Shift


class Json(Written):
    """The report itself, in the bytes that its hash is of."""

    media_type = "application/json"
    format = "json"


class Xlsx(Written):
    """A workbook, or ``?format=xlsx``."""

    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    format = "xlsx"
    charset = None


class Pdf(Written):
    """A page for people, or ``?format=pdf``."""

    media_type = "application/pdf"
    format = "pdf"
    charset = None


FORMS: tuple[type[JSONRenderer], ...] = (Json, Csv, Xlsx, Pdf)
_DESCRIBED: dict[str, Any] = {
    "responses": {
        (200, "application/json"): OpenApiTypes.OBJECT,
        **{(200, form.media_type): OpenApiTypes.BINARY for form in FORMS[1:]},
    },
}


class FormQuery(Query):
    """In which form."""

    format = OneOf([form.format for form in FORMS], required=False)


class DayReport(Door):
    """The report of a sealed day."""

    declares: ClassVar = {"GET": "read_days"}
    queries: ClassVar = {"GET": FormQuery}
    renderer_classes = FORMS

    @extend_schema(operation_id="readDayReport", **_DESCRIBED)
    @refuses("count_open", "day_not_sealed")
    def get(self, request: Request, day: str) -> Response:
        """Read the report, in the bytes that were fixed at the seal; 409 ``day_not_sealed`` before it."""
        row = days.of_day(day_in_path(day))
        found = Report.objects.filter(kind=Report.Kind.DAY, day=row).first()
        if found is None:
            raise Refusal("day_not_sealed")
        reports.require_shown(found, to=self.person)
        return _download(found, form=request.accepted_renderer.format, name=f"day-{row.day}")


class ShiftReport(Door):
    """The report of a closed shift."""

    declares: ClassVar = {"GET": "read_shifts"}
    queries: ClassVar = {"GET": FormQuery}
    renderer_classes = FORMS

    @extend_schema(operation_id="readShiftReport", **_DESCRIBED)
    @refuses("count_open", "shift_running")
    def get(self, request: Request, shift: UUID) -> Response:
        """Read the report, in the bytes that were fixed at the close; 409 ``shift_running`` before it."""
        found = Report.objects.select_related("shift").filter(shift=shift).first()
        if found is None:
            raise Refusal("shift_running" if Shift.objects.filter(pk=shift).exists() else "not_found")
        reports.require_shown(found, to=self.person)
        assert found.shift is not None
        name = f"shift-{found.day_id}-{found.shift.number}"
        return _download(found, form=request.accepted_renderer.format, name=name)


def _download(report: Report, *, form: str, name: str) -> Response:
    """Answer with the stored bytes, and never with others that ought to be the same."""
    if form == "json":
        content, sha256 = bytes(report.canonical), report.sha256
    else:
        file = ReportFile.objects.get(report=report, format=form)
        content, sha256 = bytes(file.content), file.sha256
    answer = attachment(content, name=f"{name}.{form}")
    answer["ETag"] = f'"{sha256}"'
    answer["Cache-Control"] = "no-store"
    return answer
