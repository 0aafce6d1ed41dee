"""The audit trail in Django's admin: everything can be found and read, nothing can be changed.

Each model of record, ledger and log is registered here, whichever layer owns it. ``lists`` has what their pages
share; ``floor``, ``money`` and ``trail`` say what each of them shows.
"""

from audit.admin import floor, money, trail

__all__ = ["floor", "money", "trail"]
