"""Doors of the cage, and of cash at a table: wallets, buy-ins, chip exchanges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import cages, events, people, tables
from casino.api.door import Door, Instant, Money, Shape, SignedMoney, Whole, described, money
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Role, Table
from casino.platform.refusals import Refusal
from settlement import cashier
from settlement.api.bounds import happened
from settlement.cashier import Cash, Taken
from settlement.ledger import Balance
from settlement.models import Means

PERSON = r"[A-Za-z0-9._-]{1,64}"


def _plain(**more: Any) -> serializers.RegexField:
    return serializers.RegexField(r"^[A-Z0-9]{1,20}\Z", **more)


class PiecesShape(Shape):
    denomination = Whole(min_value=1, max_value=10**11)
    pieces = Whole(min_value=1, max_value=999_999)


class SignedShape(Shape):
    """A body that a second person may sign by badge and PIN."""

    badge = serializers.CharField(
        max_length=40, required=False, help_text="of a second person, above a limit"
    )
    pin = serializers.CharField(max_length=200, required=False)


class WalletShape(SignedShape):
    amount = Money()
    cage = _plain()
    till = _plain()
    means = serializers.ChoiceField(Means.values)
    document = serializers.RegexField(r"^[A-Za-z0-9./_-]{1,60}\Z", help_text="the cage's own number for it")
    happened_at = Instant()


class BuyInShape(SignedShape):
    amount = Money()
    means = serializers.ChoiceField([Means.CASH.value])
    lines = serializers.ListField(child=PiecesShape(), min_length=1, max_length=40)
    person = serializers.RegexField(rf"^{PERSON}\Z", allow_null=True, required=False, default=None)
    happened_at = Instant()


class ExchangeShape(SignedShape):
    direction = serializers.ChoiceField(["sell", "redeem"])
    amount = Money()
    lines = serializers.ListField(child=PiecesShape(), min_length=1, max_length=40)
    person = serializers.RegexField(rf"^{PERSON}\Z", allow_null=True, required=False, default=None)


_STANDS: dict[str, Any] = {
    "account": serializers.CharField(),
    "balance": SignedMoney(),
    "held": SignedMoney(),
    "available": SignedMoney(),
    "version": serializers.IntegerField(),
}
_POSTED: dict[str, Any] = {
    "journal": serializers.UUIDField(),
    "gaming_day": serializers.DateField(),
    "recorded_at": serializers.DateTimeField(),
}
WalletShown = described("Wallet", _STANDS)
CashTaken = described("CashTaken", _POSTED | _STANDS)
BoughtIn = described("BoughtIn", _POSTED | {"amount": SignedMoney()})


def _stands(account: Balance) -> dict[str, Any]:
    return {
        "account": account.code,
        "balance": money(account.balance, account.currency),
        "held": money(account.held, account.currency),
        "available": money(account.available, account.currency),
        "version": account.version,
    }


def _posted(taken: Taken) -> dict[str, Any]:
    return {
        "journal": str(taken.journal),
        "gaming_day": taken.gaming_day.isoformat(),
        "recorded_at": taken.recorded_at.isoformat(),
    }


class CashDoor(Door):
    """What doors share that take or give money."""

    def signed_by(self, given: Mapping[str, Any]) -> Person | None:
        """Return the second person whose badge and PIN the body has, None where it has neither."""
        missing = [name for name in ("badge", "pin") if name not in given]
        if len(missing) == 2:
            return None
        if missing:
            raise Refusal("missing_field", fields=dict.fromkeys(missing, "belongs to the other"))
        return self.second_person(given)

    def second_cashier(self, given: Mapping[str, Any]) -> Person | None:
        """Return the second person of a cage's act; refuse ``forbidden`` where it is no cashier."""
        second = self.signed_by(given)
        if second is not None and second.role != Role.CASHIER:
            raise Refusal("second_person_forbidden")
        return second

    def amount_of(self, given: Mapping[str, Any]) -> int:
        """Return the amount in minor units; refuse ``wrong_currency``: a house deals in its own."""
        if given["amount"]["currency"] != settings.PROPERTY["currency"]:
            raise Refusal("wrong_currency", fields={"amount.currency": str(settings.PROPERTY["currency"])})
        return int(given["amount"]["amount"])


class Wallet(Door):
    """A guest's wallet."""

    declares: ClassVar = {"GET": "read_wallets"}

    @extend_schema(operation_id="readWallet", responses={200: WalletShown})
    def get(self, request: Request, ref: str) -> Response:
        """Read what a wallet has, what of it is set aside, and what is available."""
        if not cashier.reaches(self.principal, _known(ref)):
            raise Refusal("not_found")
        return Response(_stands(cashier.wallet_of(ref)))


class _WalletActs(CashDoor):
    declares: ClassVar = {"POST": "move_wallets"}
    moves: ClassVar[str]

    def moved(self, ref: str) -> Response:
        def prepare() -> tuple[dict[str, Any], Person | None]:
            _known(ref)
            given = self.body(WalletShape)
            happened(given["happened_at"])
            people.require_at_cage(self.principal, "move_wallets", given["cage"])
            given["amount"] = self.amount_of(given)
            return given, self.second_cashier(given)

        def do(act: Act, prepared: tuple[dict[str, Any], Person | None]) -> tuple[int, dict[str, Any]]:
            given, second = prepared
            move = cashier.deposit if self.moves == "deposit" else cashier.withdraw
            taken = move(
                ref=ref,
                amount=given["amount"],
                cage=given["cage"],
                document=given["document"],
                key=str(events.uuid7(act.now)),
                means=given["means"],
                till=given["till"],
                happened_at=given["happened_at"],
                approved_by=second,
            )
            return 201, _posted(taken) | _stands(taken.account)

        return self.once(prepare, do)


class Deposits(_WalletActs):
    """Money paid into a wallet."""

    moves = "deposit"

    @extend_schema(operation_id="deposit", request=WalletShape, parameters=[KEY], responses={201: CashTaken})
    @refuses(
        "cage_ended", "day_sealed", "second_person_needed", "sod_violation", "unknown_cage", "wrong_currency"
    )
    def post(self, request: Request, ref: str) -> Response:
        """Pay into a wallet, which is opened where there is none; above the limit another cashier signs."""
        return self.moved(ref)


class Withdrawals(_WalletActs):
    """Money paid out of a wallet."""

    moves = "withdrawal"

    @extend_schema(operation_id="withdraw", request=WalletShape, parameters=[KEY], responses={201: CashTaken})
    @refuses(
        "cage_ended",
        "day_sealed",
        "insufficient_funds",
        "second_person_needed",
        "sod_violation",
        "unknown_cage",
        "wrong_currency",
    )
    def post(self, request: Request, ref: str) -> Response:
        """Pay out of a wallet what is available; above the limit another cashier signs."""
        return self.moved(ref)


class BuyIns(CashDoor):
    """A guest's cash for chips at a table."""

    declares: ClassVar = {"POST": "buy_in"}

    @extend_schema(operation_id="buyIn", request=BuyInShape, parameters=[KEY], responses={201: BoughtIn})
    @refuses(
        "day_sealed",
        "not_on_duty",
        "person_needed",
        "second_person_needed",
        "sod_violation",
        "table_closed",
        "wrong_currency",
    )
    def post(self, request: Request, code: str) -> Response:
        """Take cash into the table's box and give chips; the answer tells nothing of what the table holds."""

        def prepare() -> tuple[Table, Cash, Person | None]:
            table = tables.of_code(code)
            people.require_at(self.principal, "buy_in", table.id)
            given = self.body(BuyInShape)
            happened(given["happened_at"])
            cash = Cash(
                amount=self.amount_of(given),
                means=given["means"],
                person=given["person"] or "",
                lines=lines_of(given),
                happened_at=given["happened_at"],
            )
            return table, cash, self.signed_by(given)

        def do(act: Act, prepared: tuple[Table, Cash, Person | None]) -> tuple[int, dict[str, Any]]:
            table, cash, signer = prepared
            taken = cashier.buy_in(table=table, cash=cash, key=str(events.uuid7(act.now)), signed_by=signer)
            return 201, _posted(taken) | {"amount": money(cash.amount, taken.account.currency)}

        return self.once(prepare, do)


class ChipExchanges(CashDoor):
    """Chips for cash and cash for chips at a cage."""

    declares: ClassVar = {"POST": "exchange_chips"}

    @extend_schema(
        operation_id="exchangeChips", request=ExchangeShape, parameters=[KEY], responses={201: CashTaken}
    )
    @refuses(
        "cage_ended",
        "day_sealed",
        "insufficient_funds",
        "person_needed",
        "second_person_needed",
        "sod_violation",
        "unknown_cage",
        "wrong_currency",
    )
    def post(self, request: Request, code: str) -> Response:
        """Sell chips or redeem them; above the limit another cashier signs."""

        def prepare() -> tuple[str, Cash, Person | None]:
            if not re.fullmatch(r"[A-Z0-9]{1,20}", code):
                raise Refusal("not_found")
            people.require_at_cage(self.principal, "exchange_chips", code)
            cages.of_code(code)
            given = self.body(ExchangeShape)
            cash = Cash(amount=self.amount_of(given), person=given["person"] or "", lines=lines_of(given))
            return given["direction"], cash, self.second_cashier(given)

        def do(act: Act, prepared: tuple[str, Cash, Person | None]) -> tuple[int, dict[str, Any]]:
            direction, cash, second = prepared
            taken = cashier.exchange(
                cage=code,
                direction="sell" if direction == "sell" else "redeem",
                cash=cash,
                key=str(events.uuid7(act.now)),
                approved_by=second,
            )
            return 201, _posted(taken) | _stands(taken.account)

        return self.once(prepare, do)


def _known(ref: str) -> str:
    """Return the reference; one that no wallet could have is of no wallet."""
    if not re.fullmatch(PERSON, ref):
        raise Refusal("not_found")
    return ref


def lines_of(given: Mapping[str, Any]) -> tuple[dict[str, int], ...]:
    """Return a body's pieces, the largest denomination first; one named twice is added."""
    pieces: dict[int, int] = {}
    for line in given["lines"]:
        pieces[line["denomination"]] = pieces.get(line["denomination"], 0) + line["pieces"]
    return tuple(
        {"denomination": denomination, "pieces": count}
        for denomination, count in sorted(pieces.items(), reverse=True)
    )
