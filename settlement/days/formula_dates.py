"""Since when the rundown counts by which formula in this house: one row, where it had days under another before."""

from datetime import date

from settlement.models import FormulaDate


def second_formula_from() -> date | None:
    """Return the gaming day from which on pay slips are in the rundown, None where they always were. One statement."""
    return FormulaDate.objects.filter(version=2).values_list("from_day", flat=True).first()


def counts_in_the_tray(issued_in: date) -> bool:
    """Say whether a pay slip issued in a gaming day is one of the newer formula. One statement."""
    since = second_formula_from()
    return since is None or issued_in >= since
