"""Gaming days: which one an act falls in, how each is opened, closed and sealed, and the shifts inside it.

Read in order: ``start_hours``, ``calendar``, ``course``, ``shifts``, ``checklist``. What a sealed day and a closed
shift came to is written by ``settlement.reports``, which seals and closes through here.
"""

from settlement.days.calendar import asked, bounds, happened, of, running, start_hour_of
from settlement.days.course import (
    ACCOUNTING,
    Fixed,
    begin,
    close_day,
    hold_alone,
    of_day,
    open_day,
    require_two_auditors,
    seal,
    sessions_may_open,
    signers_may_seal,
)
from settlement.days.formula_dates import counts_in_the_tray, second_formula_from

__all__ = [
    "ACCOUNTING",
    "Fixed",
    "asked",
    "begin",
    "bounds",
    "close_day",
    "counts_in_the_tray",
    "happened",
    "hold_alone",
    "of",
    "of_day",
    "open_day",
    "require_two_auditors",
    "running",
    "seal",
    "second_formula_from",
    "sessions_may_open",
    "signers_may_seal",
    "start_hour_of",
]
