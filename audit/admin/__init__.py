"""The audit trail in Django's admin: everything can be found and read, nothing can be changed.

Each model of record, ledger and log is registered here, whichever layer owns it. ``lists`` has what their pages
share; ``floor``, ``money``, ``trail`` and ``questions`` say what each of them shows.
"""

from audit.admin import floor, money, questions, trail

__all__ = ["floor", "money", "questions", "trail"]
