"""Webhooks: what the house owes to be told, and the telling of it.

``owing`` writes messages in the act they speak of.
"""

from settlement.webhooks.owing import Owed, owe, ring_with

__all__ = ["Owed", "owe", "ring_with"]
