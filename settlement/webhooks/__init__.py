"""Webhooks: what the house owes to be told, and the telling of it (Standard Webhooks 1.0.0).

``owing`` writes messages in the act they speak of. ``targets`` and ``addresses`` say where they may go, ``endpoints``
to whom; ``delivering`` claims what is due, ``sending`` tries it once, ``schedule`` says when again, ``signing`` how it
is signed, ``replaying`` sends it again when a person asks.

A message is told at least once, in no promised order: whoever receives it keeps the ``webhook-id`` of what it took, and
of one round the message with the highest ``in_round``.
"""

from settlement.webhooks.owing import Owed, owe, ring_with

__all__ = ["Owed", "owe", "ring_with"]
