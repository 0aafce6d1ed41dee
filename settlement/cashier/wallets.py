"""Wallets: a guest's money at the house, paid in and out at a cage."""

from __future__ import annotations

from datetime import datetime

from casino import cages, events, people
from casino.events import Principal
from casino.models import ApiKey, Person
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.cashier import cash_acts as cashed
from settlement.cashier.cash_acts import Booking, Cash, Taken
from settlement.ledger import Balance, Posting
from settlement.models import CashAct, CashierSystem, CashKind, Means


def deposit(
    *,
    ref: str,
    amount: int,
    cage: str,
    document: str,
    key: str = "",
    means: str = Means.CASH,
    till: str = "",
    happened_at: datetime | None = None,
    approved_by: Person | None = None,
) -> Taken:
    """Put ``amount`` (minor units of the property's currency) into the wallet of ``player:{ref}``, paid in at a cage;
    the wallet is opened where there is none.

    ``key`` names the deposit, its ``document`` where there is no key: the same one again moves nothing. Above the
    property's limit ``approved_by`` is a second person. Refuses ``second_person_needed``, ``sod_violation``,
    ``unknown_cage`` and ``cage_ended``. Must run in an act.
    """
    taken = Cash(amount, means=means, person=ref, till=till, document=document, happened_at=happened_at)
    _require_second(taken, approved_by)
    cages.require_open(cage)
    code, outside = f"player:{ref}:wallet", f"external:{means}:{cage}"
    day = days.running()
    ledger.share_day([day])
    locked = ledger.ensure_accounts([code, outside], currency=cashed.currency())
    _require_reached(ref)
    booking = Booking(
        kind=CashKind.DEPOSIT,
        key=f"deposit:{key or document}",
        cash=taken,
        postings=(Posting(outside, -amount), Posting(code, amount)),
        account=code,
        cage=cage,
        approved_by=approved_by,
        owed="wallet.deposited",
    )
    return cashed.book(booking, day=day, locked=locked)


def withdraw(
    *,
    ref: str,
    amount: int,
    cage: str,
    document: str,
    key: str = "",
    means: str = Means.CASH,
    till: str = "",
    happened_at: datetime | None = None,
    approved_by: Person | None = None,
) -> Taken:
    """Take ``amount`` out of a wallet, paid out at a cage; as ``deposit``.

    Refuses ``not_found`` where there is no such wallet and ``insufficient_funds``, with balance, held and available,
    where less is available: what is set aside for a round is not.
    """
    given = Cash(amount, means=means, person=ref, till=till, document=document, happened_at=happened_at)
    _require_second(given, approved_by)
    cages.require_open(cage)
    code, outside = f"player:{ref}:wallet", f"external:{means}:{cage}"
    day = days.running()
    ledger.share_day([day])
    locked = ledger.lock([code, outside], currency=cashed.currency())
    if code not in locked:
        raise Refusal("not_found")
    _require_reached(ref)
    booking = Booking(
        kind=CashKind.WITHDRAWAL,
        key=f"withdrawal:{key or document}",
        cash=given,
        postings=(Posting(code, -amount), Posting(outside, amount)),
        account=code,
        cage=cage,
        approved_by=approved_by,
        owed="wallet.withdrawn",
    )
    return cashed.book(booking, day=day, locked=locked)


def wallet_of(ref: str) -> Balance:
    """Return the wallet of ``player:{ref}`` as it stands; refuse ``not_found``."""
    code = f"player:{ref}:wallet"
    found = ledger.balances([code]).get(code)
    if found is None:
        raise Refusal("not_found")
    return found


def reaches(actor: Principal, ref: str) -> bool:
    """Say whether who asks may see the wallet of ``player:{ref}``: a system by its key, anybody else who has the right.

    A system's own wallets are those of the prefix under which it was let in, and those that a deposit by one of its
    keys opened; one that nobody has paid into yet is whoever opens it. Up to three statements for
    a key, none otherwise.
    """
    if actor.kind != "system" or actor.id is None:
        return True
    wallets = people.wallets_of_key(actor)
    if wallets != ApiKey.Wallets.OWN:
        return wallets == ApiKey.Wallets.ALL
    prefixes = CashierSystem.objects.filter(code=actor.code).values_list("prefix", flat=True)
    if any(ref.startswith(prefix) for prefix in prefixes):
        return True
    opened = CashAct.objects.filter(kind=CashKind.DEPOSIT, person=ref).order_by("id")
    first = opened.values_list("key__system", flat=True)[:1]
    return not first or first[0] == actor.code


def _require_reached(ref: str) -> None:
    if not reaches(events.current().actor, ref):
        raise Refusal("not_found")


def _require_second(cash: Cash, second: Person | None) -> None:
    actor = events.current().actor
    if actor != events.SERVICE:  # which furnishes a house, and has no colleague
        cashed.require_second(amount=cash.amount, actor=actor.person, second=second, limit="second_person")
