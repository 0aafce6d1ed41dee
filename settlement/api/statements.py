"""Doors of statements: ours to be fetched, those of others to be taken in, and the rules by which these may differ."""

from __future__ import annotations

from typing import Any, ClassVar, Literal
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api import media_types
from casino.api.door import (
    Day,
    Door,
    Number,
    OneOf,
    PageQuery,
    Query,
    Shape,
    SignedMoney,
    Whole,
    described,
    money,
)
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import ApiKey, Person
from casino.platform.refusals import Refusal
from settlement import statements
from settlement.api.bounds import day_in_path, rule_days
from settlement.api.file_answers import Camt, Csv, attachment
from settlement.api.ledger import accounts_in_scope
from settlement.models import Account, OutsideFile, Statement

MOST_BYTES = 5 * 1024 * 1024
FORMS: dict[str, Literal["csv", "camt.053"]] = {
    "text/csv": "csv",
    "application/xml": "camt.053",
    "text/xml": "camt.053",
}

StatementShown = described(
    "Statement",
    {
        "id": serializers.UUIDField(allow_null=True),
        "account": serializers.CharField(),
        "number": serializers.IntegerField(
            allow_null=True, help_text="null: a draft of a day that is not sealed"
        ),
        "gaming_day": serializers.DateField(),
        "opening": SignedMoney(),
        "closing": SignedMoney(),
        "lines": serializers.IntegerField(),
        "csv_sha256": serializers.CharField(allow_null=True),
        "camt_sha256": serializers.CharField(allow_null=True),
        "made_at": serializers.DateTimeField(),
    },
)
StatementTaken = described(
    "StatementTaken",
    {
        "id": serializers.UUIDField(),
        "account": serializers.CharField(),
        "number": serializers.CharField(),
        "gaming_day": serializers.DateField(),
        "lines": serializers.IntegerField(),
        "matched": serializers.IntegerField(help_text="lines that have their entry"),
        "announced": serializers.IntegerField(help_text="lines that are not booked yet"),
    },
)
FileTaken = described(
    "StatementsTaken",
    {
        "id": serializers.UUIDField(),
        "sha256": serializers.CharField(),
        "taken_at": serializers.DateTimeField(),
        "statements": StatementTaken(many=True),
    },
)


def _shown(row: Statement) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "account": row.account.code,
        "number": row.number,
        "gaming_day": row.gaming_day.isoformat(),
        "opening": money(row.opening, row.currency),
        "closing": money(row.closing, row.currency),
        "lines": row.lines,
        "csv_sha256": bytes(row.csv_sha256).hex(),
        "camt_sha256": bytes(row.camt_sha256).hex(),
        "made_at": row.made_at.isoformat(),
    }


class AccountDoor(Door):
    """What the doors of one account's statements share."""

    def account(self, code: str) -> Account:
        """Return the account, where who asks may see it: a key sees those of its cages and tables."""
        found = (
            Account.objects.filter(code__in=[code])
            if isinstance(self.request.auth, ApiKey)
            else accounts_in_scope(self).filter(code=code)
        )
        account = found.select_related("table").first()
        key = self.request.auth
        if account is None or (isinstance(key, ApiKey) and not statements.of_key(key, account)):
            raise Refusal("not_found")
        return account


class StatementsQuery(PageQuery):
    """Which page; after a statement's number."""

    cursor = Number(required=False, help_text="`next` of the page before")


class FormQuery(Query):
    """In which form."""

    format = OneOf(["json", "csv", "camt.053"], required=False)


class AccountStatements(AccountDoor):
    """The statements of an account."""

    declares: ClassVar = {"GET": "read_statements"}
    queries: ClassVar = {"GET": StatementsQuery}

    @extend_schema(
        operation_id="listStatements",
        responses={
            200: described(
                "Statements",
                {"statements": StatementShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    def get(self, request: Request, code: str) -> Response:
        """List the account's statements, the newest first."""
        page = self.page
        made = Statement.objects.select_related("account").order_by("-number")
        found = made.filter(account=self.account(code))
        if page.cursor is not None:
            found = found.filter(number__lt=page.cursor)
        shown, last = page.cut(found)
        return Response(
            {
                "statements": [_shown(row) for row in shown],
                "next": str(last.number) if last else None,
            }
        )


class AccountStatement(AccountDoor):
    """One statement, or the draft of one."""

    declares: ClassVar = {"GET": "read_statements"}
    queries: ClassVar = {"GET": FormQuery}
    renderer_classes = (JSONRenderer, Csv, Camt)

    @extend_schema(
        operation_id="getStatement",
        responses={
            (200, "application/json"): StatementShown,
            (200, "text/csv"): str,
            (200, "application/xml"): str,
        },
    )
    def get(self, request: Request, code: str, day: str) -> Response:
        """Fetch the statement of a gaming day, as CSV or camt.053 too; a day that is not sealed has a draft."""
        account = self.account(code)
        gaming_day = day_in_path(day)
        made = Statement.objects.select_related("account", "previous")
        row = made.filter(account=account, gaming_day=gaming_day).first()
        form = request.accepted_renderer.format
        if form == "json" and row is not None:
            return Response(_shown(row))
        statement = (
            statements.of_row(row) if row else statements.draft(account, gaming_day, now=timezone.now())
        )
        if form == "json":
            return Response(
                {
                    "id": None,
                    "account": account.code,
                    "number": None,
                    "gaming_day": gaming_day.isoformat(),
                    "opening": money(statement.opening, account.currency),
                    "closing": money(statement.closing, account.currency),
                    "lines": len(statement.lines),
                    "csv_sha256": None,
                    "camt_sha256": None,
                    "made_at": statement.made_at.isoformat(),
                }
            )
        named = f"{'statement' if row else 'draft'}-{statement.id}"
        if form == "csv":
            return attachment(statements.csv_format.written(statement), name=f"{named}.csv")
        return attachment(statements.camt053.written(statement), name=f"{named}.xml")


class OutsideFiles(Door):
    """Statements of others."""

    declares: ClassVar = {"POST": "take_statements"}

    @extend_schema(
        operation_id="takeStatements",
        request={"text/csv": str, "application/xml": str},
        responses={201: FileTaken, 200: FileTaken},
    )
    @refuses("statement_differs", "statement_unreadable", "unknown_account", "wrong_currency")
    def post(self, request: Request) -> Response:
        """Take in a file of statements, as CSV or camt.053, whole or not at all; its bytes are its key.

        The same file again is answered 200 with how it stands now, and nothing of it is taken in twice. Its lines are
        matched within seconds."""
        form = FORMS.get(media_types.of(request))
        if form is None:
            raise Refusal("unsupported_media_type")
        # A statement may be longer than any other body: it is read here, and no further than it may be.
        content: bytes = request._request.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise Refusal("body_too_large")
        key = request.auth if isinstance(request.auth, ApiKey) else None
        by = None if key else self.person
        taken = self.act(lambda _: statements.take(content, form=form, by=by, key=key))
        return Response(_file_shown(taken.file), status=200 if taken.again else 201)


class OutsideFileDetail(Door):
    """A file of statements that was taken in."""

    declares: ClassVar = {"GET": "read_outside_files"}

    @extend_schema(operation_id="getStatementsTaken", responses={200: FileTaken})
    def get(self, request: Request, file: UUID) -> Response:
        """Show how far a file's lines are matched."""
        key = request.auth if isinstance(request.auth, ApiKey) else None
        return Response(_file_shown(statements.of_file(file, key=key)))


def _file_shown(file: OutsideFile) -> dict[str, Any]:
    return {
        "id": str(file.id),
        "sha256": bytes(file.sha256).hex(),
        "taken_at": file.taken_at.isoformat(),
        "statements": [
            {
                "id": str(one.id),
                "account": one.account.code,
                "number": one.number,
                "gaming_day": one.gaming_day.isoformat(),
                "lines": one.lines,
                "matched": matched,
                "announced": announced,
            }
            for one, matched, announced in statements.progress(file)
        ],
    }


class RuleShape(Shape):
    """What a file may differ in by agreement; a second person signs by badge and PIN."""

    id = serializers.RegexField(r"^[a-z0-9][a-z0-9.-]{0,59}\Z")
    kind = serializers.ChoiceField(["EXT_FEE", "EXT_ROUNDING"])
    accounts = serializers.CharField(max_length=120, help_text="how the codes of its accounts begin")
    code = serializers.CharField(
        max_length=35, required=False, default="", help_text="of a fee, empty for any"
    )
    most = Whole(min_value=1, max_value=10**12, help_text="minor units")
    first_day = Day()
    last_day = Day(required=False, allow_null=True, default=None)
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


class MatchingRules(Door):
    """Rules by which files of others may differ from our books."""

    declares: ClassVar = {"POST": "set_matching_rule"}

    @extend_schema(
        operation_id="setMatchingRule",
        request=RuleShape,
        parameters=[KEY],
        responses={201: described("MatchingRuleSet", {"id": serializers.CharField()})},
    )
    @refuses("sod_violation")
    def post(self, request: Request) -> Response:
        """Agree, as two people, to a fee or a rounding of theirs from a day on."""

        def prepare() -> tuple[dict[str, Any], Person]:
            given = self.body(RuleShape)
            rule_days(given["first_day"], given["last_day"])
            return given, self.second_person(given)

        def do(_: Act, prepared: tuple[dict[str, Any], Person]) -> tuple[int, dict[str, Any]]:
            given, second = prepared
            rule = statements.add_rule(
                id=given["id"],
                kind=given["kind"],
                accounts=given["accounts"],
                code=given["code"],
                most=given["most"],
                first_day=given["first_day"],
                last_day=given["last_day"],
                by=self.person,
                approved_by=second,
            )
            return 201, {"id": rule.id}

        return self.once(prepare, do)
