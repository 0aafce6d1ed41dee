"""Holds: money of a wallet set aside before the cards, for the most that a wager can lose."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from casino import events
from settlement.ledger import accounts


@dataclass(frozen=True, slots=True)
class NewHold:
    """``amount`` of ``account`` to be set aside for one wager; ``or_less``: what is there, if that is less
    (a player's bank puts up what the wallet has)."""

    account: str
    round: UUID
    wager: str
    amount: int
    or_less: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """An open hold."""

    id: UUID
    account: str
    round: UUID
    wager: str
    amount: int


def hold(requests: Sequence[NewHold], *, currency: str, change: Collection[UUID] = ()) -> list[Held | None]:
    """End the holds of ``change`` (outcome ``changed``), then set aside what is asked for, in this order.

    None stands for a request that could not be met, because there is no such wallet in ``currency`` or too
    little in it: nothing is set aside for it, and the next one is looked at. Three statements, four with
    holds to change.
    """
    act = events.current()
    if not requests and not change:
        return []
    found = accounts.lock([request.account for request in requests], currency=currency, holds=list(change))
    freed = ended(dict.fromkeys(change, "changed"), now=act.now) if change else {}
    held = {balance.id: balance.held - freed.get(balance.id, 0) for balance in found.values()}
    answers: list[Held | None] = []
    for request in requests:
        account = found.get(request.account)
        if account is None or account.currency != currency:
            answers.append(None)
            continue
        available = account.balance - held[account.id] - (account.floor or 0)
        amount = min(request.amount, available) if request.or_less else request.amount
        if amount <= 0 or amount > available:
            answers.append(None)
            continue
        held[account.id] += amount
        answers.append(Held(events.uuid7(act.now), request.account, request.round, request.wager, amount))
    ids = {code: balance.id for code, balance in found.items()}
    changed = {b.id: held[b.id] for b in found.values() if held[b.id] != b.held}
    _insert([answer for answer in answers if answer is not None], accounts=ids, now=act.now)
    _update_held(changed)
    return answers


def end_holds(ids: Collection[UUID], *, outcome: str) -> None:
    """End these holds (``released`` or ``changed``; with money to move, ``post`` ends them). Those that
    ended before stay as they are. Three statements."""
    act = events.current()
    if not ids:
        return
    found = accounts.lock([], currency="", holds=list(ids))
    freed = ended(dict.fromkeys(ids, outcome), now=act.now)
    _update_held({balance.id: balance.held - freed.get(balance.id, 0) for balance in found.values()})


def open_holds(rounds: Collection[UUID]) -> dict[UUID, list[Held]]:
    """Return the open holds of these rounds, ordered by wager."""
    found: dict[UUID, list[Held]] = {round: [] for round in rounds}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT h.id, a.code, h.round_id, h.wager, h.amount
            FROM settlement_hold h JOIN settlement_account a ON a.id = h.account_id
            WHERE h.round_id = ANY(%s) AND h.ended_at IS NULL ORDER BY h.wager
            """,
            [list(rounds)],
        )
        for row in cursor.fetchall():
            found[row[2]].append(Held(*row))
    return found


def ended(outcomes: Mapping[UUID, str], *, now: datetime) -> dict[int, int]:
    """End the holds that are still open, under the locks of their accounts; return what that frees, by
    account id.

    The accounts' rows are the caller's to change.
    """
    freed: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE settlement_hold h SET ended_at = %s, outcome = n.outcome
            FROM unnest(%s::uuid[], %s::text[]) AS n (id, outcome)
            WHERE h.id = n.id AND h.ended_at IS NULL
            RETURNING h.account_id, h.amount
            """,
            [now, list(outcomes), list(outcomes.values())],
        )
        for account, amount in cursor.fetchall():
            freed[account] = freed.get(account, 0) + amount
    return freed


def _insert(made: Sequence[Held], *, accounts: Mapping[str, int], now: datetime) -> None:
    if not made:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO settlement_hold (id, account_id, round_id, wager, amount, opened_at, outcome)
            SELECT n.id, n.account, n.round, n.wager, n.amount, %s, ''
            FROM unnest(%s::uuid[], %s::bigint[], %s::uuid[], %s::text[], %s::bigint[])
                 AS n (id, account, round, wager, amount)
            """,
            [
                now,
                [new.id for new in made],
                [accounts[new.account] for new in made],
                [new.round for new in made],
                [new.wager for new in made],
                [new.amount for new in made],
            ],
        )


def _update_held(held: Mapping[int, int]) -> None:
    if not held:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE settlement_account a SET held = n.held
            FROM unnest(%s::bigint[], %s::bigint[]) AS n (id, held) WHERE a.id = n.id
            """,
            [list(held), list(held.values())],
        )
