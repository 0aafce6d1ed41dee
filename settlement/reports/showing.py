"""Who may be shown a report now: not where it tells what a tray that is being counted should hold."""

from __future__ import annotations

import json

from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import table_floats
from settlement.models import Report

refusals.register("count_open", 409, "A table of this report is being counted.", "โต๊ะในรายงานนี้กำลังนับชิปอยู่")


def require_shown(report: Report, *, to: Person) -> None:
    """Refuse ``count_open`` while something is counted at a table that was open when the report was made, unless the
    person may see expected figures. A report's bytes are fixed, so nothing of them is left out instead."""
    sessions = json.loads(bytes(report.canonical))["sessions"]
    went_on = {one["table"] for one in sessions if one["closed_at"] is None}
    counted = went_on & table_floats.hidden_from(to) if went_on else set()
    if counted:
        raise Refusal("count_open", tables=sorted(counted))
