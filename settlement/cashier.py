"""What the cage does with a guest's wallet and with its own vault, as far as the house needs it to open."""

from __future__ import annotations

from django.conf import settings

from casino import events
from casino.events import Fact
from settlement import days, ledger
from settlement.ledger import NewJournal, Posting


def deposit(*, ref: str, amount: int, cage: str, document: str) -> str:
    """Put ``amount`` (minor units of the property's currency) into the wallet of ``player:{ref}``, paid in at a cage;
    return the wallet's code.

    The wallet is opened where there is none. ``document`` names the deposit: the same one again moves nothing.
    Must run in an act.
    """
    currency: str = settings.PROPERTY["currency"]
    wallet = ledger.open_wallet(ref=ref, currency=currency).code
    _post(
        kind="deposit",
        key=f"deposit:{document}",
        source=f"external:cash:{cage}",
        target=wallet,
        amount=amount,
        action="wallet.deposited",
    )
    return wallet


def stock(*, cage: str, amount: int, document: str) -> None:
    """Take over chips worth ``amount`` into the vault of a cage from wherever the house kept them before this service.

    ``document`` names the take-over: the same one again moves nothing. Must run in an act.
    """
    _post(
        kind="external_mirror",
        key=f"stock:{document}",
        source=f"external:chips:{cage}",
        target=f"cage:{cage}:vault",
        amount=amount,
        action="vault.stocked",
    )


def _post(*, kind: str, key: str, source: str, target: str, amount: int, action: str) -> None:
    today = days.running()
    ledger.share_day([today])
    journal = NewJournal(
        kind=kind,
        key=key,
        gaming_day=today,
        currency=settings.PROPERTY["currency"],
        postings=(Posting(source, -amount), Posting(target, amount)),
    )
    (id,) = ledger.post([journal])
    events.announce([Fact(action, f"accounts/{target}", {"journal": journal.described(id)})])
