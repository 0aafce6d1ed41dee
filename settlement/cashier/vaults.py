"""What a cage's vault held before this service."""

from __future__ import annotations

from casino import events
from casino.events import Fact
from settlement import days, ledger
from settlement.cashier import cash
from settlement.ledger import NewJournal, Posting


def stock(*, cage: str, amount: int, document: str) -> None:
    """Take over chips worth ``amount`` into the vault of a cage from wherever the house kept them before this service.

    ``document`` names the take-over: the same one again moves nothing. Must run in an act.
    """
    today = days.running()
    ledger.share_day([today])
    vault = f"cage:{cage}:vault"
    journal = NewJournal(
        kind="external_mirror",
        key=f"stock:{document}",
        gaming_day=today,
        currency=cash.currency(),
        postings=(Posting(f"external:chips:{cage}", -amount), Posting(vault, amount)),
    )
    (id,) = ledger.post([journal])
    events.announce([Fact("vault.stocked", f"accounts/{vault}", {"journal": journal.described(id)})])
