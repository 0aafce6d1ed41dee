"""Reports of gaming days and shifts: fixed when they end, the same bytes for ever, and what was learnt after that.

Read in order: ``figures`` and ``tray`` (from rows), ``content`` (one JSON), ``layout`` (tables of it), ``spreadsheet``
and ``page`` (files of these), ``sealing`` (the acts), ``showing`` (to whom). What is posted later about a sealed day
changes no report: ``figures.posted_later_about`` lists it.
"""

from settlement.reports.figures import posted_later_about
from settlement.reports.sealing import (
    begin_day,
    close_shift,
    end_overdue,
    files,
    overdue_shifts,
    seal_day,
    turn,
)
from settlement.reports.showing import require_shown

__all__ = [
    "begin_day",
    "close_shift",
    "end_overdue",
    "files",
    "overdue_shifts",
    "posted_later_about",
    "require_shown",
    "seal_day",
    "turn",
]
