"""Gaming days: which one an act falls in."""

from settlement.days.calendar import bounds, of, running

__all__ = ["bounds", "of", "running"]
