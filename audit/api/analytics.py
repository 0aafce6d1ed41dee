"""Doors of integrity analytics: what the screens found of a day, asking them again, and what a deck was played with."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import analytics
from audit.models import Analysis, AnalysisResult
from casino.api.door import Day, Door, Money, PageQuery, Query, Shape, SignedMoney, described, money
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Standing
from casino.platform.refusals import Refusal
from settlement.api import round_answers
from settlement.api.bounds import day_asked

_ROW: dict[str, serializers.Field[Any, Any, Any, Any]] = {
    "screen": serializers.ChoiceField(sorted(analytics.SCREENS)),
    "gaming_day": serializers.DateField(),
    "asked_at": serializers.DateTimeField(),
    "done_at": serializers.DateTimeField(allow_null=True),
    "repeats": serializers.IntegerField(),
    "revision": serializers.IntegerField(allow_null=True),
    "version": serializers.IntegerField(allow_null=True),
    "rounds": serializers.IntegerField(allow_null=True),
    "alarms": serializers.IntegerField(allow_null=True),
    "expected": serializers.CharField(
        allow_null=True, help_text="alarms that chance alone is expected to give"
    ),
    "digest": serializers.CharField(allow_null=True),
}
AnalysisShown = described("Analysis", _ROW)
AnalysesShown = described(
    "Analyses", {"gaming_day": serializers.DateField(), "screens": AnalysisShown(many=True)}
)
AlarmShown = described(
    "AnalysisAlarm",
    {
        "kind": serializers.CharField(),
        "subject": serializers.CharField(),
        "detail": serializers.DictField(help_text="the figures of its sentence"),
        "table": serializers.CharField(),
        "round": serializers.CharField(),
        "flagged": serializers.BooleanField(),
        "since": serializers.DateField(),
        "says": described("AlarmSaid", {"th": serializers.CharField(), "en": serializers.CharField()})(),
    },
)
ScreenShown = described(
    "AnalysisScreen",
    {
        **_ROW,
        "sample": serializers.DictField(help_text="what was looked at: numbers by what they count"),
        "power": serializers.DictField(help_text="what so many rounds can show, and what they cannot"),
        "tests": serializers.IntegerField(),
        "figures": serializers.ListField(
            child=serializers.DictField(), help_text="rows of the screen's table, all with the same members"
        ),
        "findings": AlarmShown(many=True),
        "over": serializers.ListField(
            child=serializers.CharField(), help_text="digests of the days added up"
        ),
    },
)


class DayQuery(Query):
    """Of which gaming day."""

    gaming_day = Day()


def _shown(analysis: Analysis, result: AnalysisResult | None) -> dict[str, Any]:
    return {
        "screen": analysis.screen,
        "gaming_day": analysis.gaming_day.isoformat(),
        "asked_at": analysis.asked_at.isoformat(),
        "done_at": analysis.done_at.isoformat() if analysis.done_at else None,
        "repeats": analysis.repeats,
        **{
            name: getattr(result, name, None)
            for name in ("revision", "version", "rounds", "alarms", "expected", "digest")
        },
    }


class Analyses(Door):
    """The screens of a gaming day."""

    declares: ClassVar = {"GET": "read_analytics"}
    queries: ClassVar = {"GET": DayQuery}

    @extend_schema(operation_id="listAnalyses", responses={200: AnalysesShown})
    def get(self, request: Request) -> Response:
        """List what each screen found of a day, by its figures; none where nobody asked."""
        day = day_asked(self.query["gaming_day"])
        return Response(
            {"gaming_day": day.isoformat(), "screens": [_shown(*one) for one in analytics.newest(day=day)]}
        )


class AnalysisScreen(Door):
    """One screen's answer for a day."""

    declares: ClassVar = {"GET": "read_analytics"}
    queries: ClassVar = {"GET": DayQuery}

    @extend_schema(operation_id="readAnalysis", responses={200: ScreenShown})
    def get(self, request: Request, screen: str) -> Response:
        """Read sample, power, figures and findings; ``expected`` says how many alarms chance alone gives."""
        for analysis, result in analytics.newest(day=day_asked(self.query["gaming_day"])):
            if analysis.screen == screen and result is not None:
                body = result.body
                currency = str(settings.PROPERTY["currency"])
                return Response(
                    {
                        **_shown(analysis, result),
                        **{name: body[name] for name in ("sample", "power", "tests", "figures", "over")},
                        "findings": [
                            {**alarm, "says": analytics.said(alarm, currency=currency)}
                            for alarm in body["alarms"]
                        ],
                    }
                )
        raise Refusal("not_found")


class AnalysisRunShape(Shape):
    gaming_day = Day()


class AnalysisRuns(Door):
    """Screens asked to look at a day, again where they have looked."""

    declares: ClassVar = {"POST": "run_analytics"}

    @extend_schema(
        operation_id="askForAnalyses",
        request=AnalysisRunShape,
        parameters=[KEY],
        responses={202: AnalysesShown},
    )
    @refuses("day_not_over")
    def post(self, request: Request) -> Response:
        """Ask for a look at an ended day; a worker does it within minutes."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            asked = analytics.ask(day=given["gaming_day"])
            return 202, {
                "gaming_day": given["gaming_day"].isoformat(),
                "screens": [_shown(one, None) for one in asked],
            }

        def prepare() -> dict[str, Any]:
            given = self.body(AnalysisRunShape)
            return given | {"gaming_day": day_asked(given["gaming_day"])}

        return self.once(prepare, do)


DeckRoundsShown = described(
    "DeckRounds",
    {
        "table": serializers.CharField(),
        "deck": serializers.CharField(help_text="empty: the session's"),
        "since": serializers.DateTimeField(allow_null=True, help_text="when it was counted before"),
        "until": serializers.DateTimeField(allow_null=True, help_text="when it was counted after"),
        "rounds": described(
            "DeckRound",
            {
                "id": serializers.UUIDField(),
                "number": serializers.IntegerField(allow_null=True),
                "session": serializers.UUIDField(),
                "standing": serializers.ChoiceField(Standing.values, allow_blank=True),
                "opened_at": serializers.DateTimeField(),
                "cards_seen": serializers.IntegerField(),
                "revision": serializers.IntegerField(allow_null=True),
                "house_net": SignedMoney(allow_null=True),
                "wagers": described(
                    "DeckWager",
                    {
                        "wager": serializers.CharField(),
                        "hand": serializers.CharField(),
                        "owner": round_answers.Owner,
                        "stake": Money(),
                        "multiple": serializers.IntegerField(allow_null=True, help_text="null: not settled"),
                        "net": SignedMoney(allow_null=True),
                    },
                )(many=True),
            },
        )(many=True),
        "next": serializers.CharField(allow_null=True),
    },
)


class DeckRounds(Door):
    """Everything that was played with one deck."""

    declares: ClassVar = {"GET": "read_analytics"}
    queries: ClassVar = {"GET": PageQuery}

    @extend_schema(
        operation_id="listDeckRounds",
        responses={200: DeckRoundsShown},
    )
    @refuses("invalid_value")
    def get(self, request: Request, round: UUID) -> Response:
        """List the rounds of the deck that a round was played with, since it was opened or counted."""
        page = self.page
        found = analytics.affected(round=round, after=page.cursor, limit=page.limit + 1)
        listed = found.rounds[: page.limit]
        return Response(
            {
                "table": found.table,
                "deck": found.deck,
                "since": found.since.isoformat() if found.since else None,
                "until": found.until.isoformat() if found.until else None,
                "rounds": [_of_deck(one, found.currency) for one in listed],
                "next": str(listed[-1]["id"]) if len(found.rounds) > page.limit else None,
            }
        )


def _of_deck(row: dict[str, Any], currency: str) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "number": row["number"],
        "session": str(row["session_id"]),
        "standing": row["standing"],
        "opened_at": row["at"].isoformat(),
        "cards_seen": int(row["cards_seen"]).bit_count(),
        "revision": row["revision"],
        "house_net": None if row["house_net"] is None else money(row["house_net"], currency),
        "wagers": [
            {
                "wager": wager.get("wager") or wager["id"],
                "hand": wager["hand"],
                "owner": wager["owner"],
                "stake": money(wager["stake"], currency),
                "multiple": wager.get("multiple"),
                "net": money(wager["net"], currency) if "net" in wager else None,
            }
            for wager in row["wagers"]
        ],
    }
