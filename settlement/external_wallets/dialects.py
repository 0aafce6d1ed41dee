"""What is sent to a cashier system, in the two ways in which such systems can be spoken to.

``holds``: what is set aside, settled (the net may be below minus the stake), released, and taken back once. A system
that knows only ``bet_win_rollback`` gets a bet of the whole exposure, a win of exposure + net (sent even when it is
nothing), and a rollback of a bet or a win.

Every request has an id of ours (its Idempotency-Key) that names at the other side what it did: a hold by the id it was
asked under, a settlement by that of its call. A success is a 2xx with a JSON object whose ``id`` is that id; whatever
else comes is no answer. Of the other side it is asked that the same id twice is one effect, and that a release or
rollback of an id it never saw succeeds, and makes it refuse that id from then on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from settlement.external_wallets.wallet_lookup import Kept

HOLDS = "holds"


@dataclass(frozen=True, slots=True)
class Request:
    """``path`` below the system's address, and the body's bytes as text."""

    path: str
    body: str


def hold(kept: Kept) -> Request:
    """Set aside what a wager can lose; nothing for one whose cards were out before it was asked (a bet is then what it
    did lose)."""
    place = {"round": str(kept.round), "wager": kept.wager, "stake": _money(kept.stake, kept)}
    exposure = _money(kept.exposure, kept)
    if kept.system.dialect == HOLDS:
        return _request(f"/wallets/{_ref(kept)}/holds", place | {"exposure": exposure})
    return _request(f"/wallets/{_ref(kept)}/bet", {"transaction": str(kept.id), **place, "amount": exposure})


def settle(kept: Kept, *, call: UUID, revision: int, net: int, commission: int) -> Request:
    """Say what a wager came to, after commission; what was set aside for it is free."""
    place = {"round": str(kept.round), "revision": revision}
    if kept.system.dialect == HOLDS:
        money = {"net": _money(net, kept), "commission": _money(commission, kept)}
        return _request(f"/holds/{kept.id}/settle", place | money)
    won = {"transaction": str(call), "bet": str(kept.id), "amount": _money(kept.exposure + net, kept)}
    return _request(f"/wallets/{_ref(kept)}/win", won | place)


def release(kept: Kept, *, call: UUID, reason: str) -> Request:
    """Let go of what was set aside, or may have been."""
    if kept.system.dialect == HOLDS:
        return _request(f"/holds/{kept.id}/release", {"reason": reason})
    return _rollback(kept, call=call, of=kept.id, reason=reason)


def reverse(kept: Kept, *, call: UUID, settled: UUID, reason: str, dispute: UUID | None) -> Request:
    """Take back what the call ``settled`` did."""
    if kept.system.dialect == HOLDS:
        why = {"reason": reason, "dispute": str(dispute) if dispute else None}
        return _request(f"/journals/{settled}/reverse", why)
    return _rollback(kept, call=call, of=settled, reason=reason)


def can_settle(kept: Kept, net: int) -> bool:
    """Say whether a net can be told under this hold: a win is never below nothing, so a bet must have been for as much
    as was lost."""
    return kept.system.dialect == HOLDS or kept.exposure + net >= 0


def exposure_after(dialect: str, net: int) -> int:
    """Return what a hold is for that is made when the result is known: nothing needs to be set aside any more; a bet is
    what was lost."""
    return 0 if dialect == HOLDS else max(0, -net)


def _rollback(kept: Kept, *, call: UUID, of: UUID, reason: str) -> Request:
    return _request(
        f"/wallets/{_ref(kept)}/rollback",
        {"transaction": str(call), "takes_back": str(of), "round": str(kept.round), "reason": reason},
    )


def _ref(kept: Kept) -> str:
    return kept.account.removeprefix("player:")


def _money(amount: int, kept: Kept) -> dict[str, Any]:
    return {"amount": amount, "currency": kept.currency}


def _request(path: str, body: dict[str, Any]) -> Request:
    return Request(path, json.dumps(body, sort_keys=True, separators=(",", ":")))
