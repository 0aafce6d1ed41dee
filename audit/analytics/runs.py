"""Let the screens look at gaming days: asked for as rows, done one day after the other, with a digest that repeats.

What is to be done is in the rows, so it can be ended anywhere and goes on where it was. Rounds are read outside of any
act and no row is locked for them; each screen's result is an act of its own. One at a time looks at a day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F, Q

from audit import flags
from audit.analytics import day_reader
from audit.models import Analysis, AnalysisResult
from audit.statistics import cards, checks, decks, hold_bands, late_bets, mispays, pace
from audit.statistics.round_sample import Alarm, Answer, Tally
from casino import events
from casino.events import Fact
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import days, explanations
from settlement.models import Settlement

refusals.register("day_not_over", 409, "This gaming day is not over yet.", "วันบัญชีนี้ยังไม่จบ")

VERSION = 1
"""Of the rules by which the screens look: another one makes new revisions."""

DAYS = 28
"""So many gaming days are added up, the one looked at among them."""

CALENDAR = (date(2, 1, 1), date(9998, 12, 31))
"""Between these a day has days beside it, and instants in any zone."""

CATCH_UP = 7
"""Ended days that are asked for by themselves, should the service not have run."""

SCREENS: Mapping[str, Callable[[date], Tally]] = {
    "cards": lambda _: cards.Tally(),
    "checks": lambda day: checks.Tally(seed=day.isoformat()),
    "decks": lambda _: decks.Tally(below=settings.ANALYTICS["deck_odds_bp"] / 10_000),
    "holds": lambda _: hold_bands.Tally(),
    "late_bets": lambda _: late_bets.Tally(),
    "mispays": lambda _: mispays.Tally(),
    "pace": lambda _: pace.Tally(),
}


def ask(*, day: date) -> list[Analysis]:
    """Ask for all screens to look at a gaming day, again where they have looked. Refuses ``day_not_over``. Must run in
    an act."""
    act = events.current()
    if day >= days.of(act.now):
        raise Refusal("day_not_over")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_analysis (screen, gaming_day, asked_at, repeats)"
            " SELECT screen, %s, %s, 0 FROM unnest(%s::text[]) AS screen"
            " ON CONFLICT (screen, gaming_day) DO UPDATE SET asked_at = excluded.asked_at",
            [day, act.now, sorted(SCREENS)],
        )
    events.announce([Fact("analysis.asked", f"analytics/{day}", {"screens": sorted(SCREENS)})])
    return list(Analysis.objects.filter(gaming_day=day).order_by("screen"))


def ask_for_ended_days() -> list[date]:
    """Ask for the days that ended lately and that nobody has looked at; nothing where that was done. Must run in an
    act."""
    today = days.of(events.current().now)
    ended = [today - timedelta(days=back) for back in range(1, CATCH_UP + 1)]
    known = set(Analysis.objects.filter(gaming_day__in=ended).values_list("gaming_day", flat=True))
    missing = [day for day in ended if day not in known]
    played = set(Settlement.objects.filter(gaming_day__in=missing).values_list("gaming_day", flat=True))
    asked = sorted(played)
    for day in asked:
        ask(day=day)
    return asked


def due_days() -> list[date]:
    """Return the days that screens are still to look at, the oldest first; but none beyond the calendar."""
    found = Analysis.objects.filter(_due(), gaming_day__range=CALENDAR).order_by("gaming_day")
    return list(dict.fromkeys(found.values_list("gaming_day", flat=True)))


def beyond_the_calendar() -> list[int]:
    """Return what was asked for days that nothing can be computed with, whatever is stored of them."""
    return list(
        Analysis.objects.filter(_due()).exclude(gaming_day__range=CALENDAR).values_list("id", flat=True)
    )


def _due() -> Q:
    return Q(done_at=None) | Q(asked_at__gt=F("done_at"))


def rounds_of(day: date) -> int:
    """Return how many rounds a look at a day takes in."""
    return len(day_reader.of_day(day))


def work_on(
    *,
    day: date,
    now: datetime,
    request_id: str,
    chunk: int = day_reader.CHUNK,
    progress: Callable[[int], None] = lambda _: None,
) -> list[AnalysisResult]:
    """Let the screens that are due look at a day; return their newest results. Call it outside of any act.

    While somebody else is at it, nothing is done here. ``progress`` is told of each round. Ended before its end,
    nothing of the screens that were not written remains, and they are still due.
    """
    with _alone(day) as free:
        if not free:
            return []
        due = list(Analysis.objects.filter(_due(), gaming_day=day).order_by("screen"))
        tallies = [(one, SCREENS[one.screen](day)) for one in due if one.screen in SCREENS]
        return _looked(tallies, day=day, now=now, request_id=request_id, chunk=chunk, progress=progress)


@contextmanager
def _alone(day: date) -> Iterator[bool]:
    """Say whether nobody else looks at a day; until the end nobody else will. It ends with the connection too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [f"analytics:{day}"])
        (free,) = cursor.fetchone()
    try:
        yield free
    finally:
        if free:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [f"analytics:{day}"])


def _looked(
    tallies: Sequence[tuple[Analysis, Tally]],
    *,
    day: date,
    now: datetime,
    request_id: str,
    chunk: int,
    progress: Callable[[int], None],
) -> list[AnalysisResult]:
    """Show the day's rounds to all of these, then write down what each says, one act for each."""
    if not tallies:
        return []
    settlements = day_reader.of_day(day)
    for played in day_reader.played(day, settlements, chunk=chunk):
        for _, tally in tallies:
            tally.add(played)
        progress(1)
    written = []
    for analysis, tally in tallies:
        earlier = _earlier(analysis)
        answer = tally.answer([result.body["counts"] for result in earlier])
        with events.act(actor=events.SERVICE, request_id=request_id, now=now):
            written.append(_write(analysis, answer, earlier, rounds=len(settlements)))
    return written


def _earlier(analysis: Analysis) -> list[AnalysisResult]:
    """The newest results of the days before that are added up, the newest day first."""
    since = analysis.gaming_day - timedelta(days=DAYS - 1)
    found = (
        AnalysisResult.objects.filter(
            analysis__screen=analysis.screen,
            analysis__gaming_day__gte=since,
            analysis__gaming_day__lt=analysis.gaming_day,
            version=VERSION,
        )
        .order_by("-analysis__gaming_day", "-revision")
        .distinct("analysis__gaming_day")
        .select_related("analysis")
    )
    return list(found)


def _write(
    analysis: Analysis, answer: Answer, earlier: Sequence[AnalysisResult], *, rounds: int
) -> AnalysisResult:
    """Add a result unless the one that stands says the same, and raise what is of note."""
    act = events.current()
    locked = Analysis.objects.select_for_update().get(pk=analysis.pk)
    body = _body(answer, earlier, day=analysis.gaming_day)
    digest = _digest(analysis, body)
    last = AnalysisResult.objects.filter(analysis=locked).order_by("-revision").first()
    locked.done_at = act.now
    if last is not None and last.digest == digest:
        locked.repeats += 1
        locked.save(update_fields=["done_at", "repeats"])
        events.announce([Fact("analysis.repeated", _subject(analysis), {"digest": digest})])
        return last
    locked.save(update_fields=["done_at"])
    result = AnalysisResult.objects.create(
        analysis=locked,
        revision=last.revision + 1 if last else 1,
        version=VERSION,
        rounds=rounds,
        alarms=len(answer.alarms),
        expected=answer.expected,
        digest=digest,
        body=body,
        made_at=act.now,
    )
    events.announce([Fact("analysis.done", _subject(analysis), told(analysis, result))])
    flags.raise_new([_flag(alarm) for alarm in body["alarms"] if alarm["flagged"]], now=act.now)
    return result


def told(analysis: Analysis, result: AnalysisResult) -> dict[str, Any]:
    """Return what the log is told of a result."""
    return {
        "screen": analysis.screen,
        "gaming_day": analysis.gaming_day.isoformat(),
        "revision": result.revision,
        "version": result.version,
        "rounds": result.rounds,
        "alarms": result.alarms,
        "expected": result.expected,
        "digest": result.digest,
    }


def _subject(analysis: Analysis) -> str:
    return f"analytics/{analysis.gaming_day}/{analysis.screen}"


def _body(answer: Answer, earlier: Sequence[AnalysisResult], *, day: date) -> dict[str, Any]:
    """An answer as it is kept; each alarm knows the day on which it began."""
    before = {
        (alarm["kind"], alarm["subject"]): alarm["since"]
        for result in earlier[:1]
        if result.analysis.gaming_day == day - timedelta(days=1)
        for alarm in result.body["alarms"]
        if alarm["flagged"]
    }
    written = asdict(answer)
    written["alarms"] = [
        asdict(alarm) | {"since": before.get((alarm.kind, alarm.subject), day.isoformat())}
        for alarm in answer.alarms
    ]
    written["over"] = [result.digest for result in earlier]
    return written


def _digest(analysis: Analysis, body: Mapping[str, Any]) -> str:
    whole = {
        "screen": analysis.screen,
        "gaming_day": analysis.gaming_day.isoformat(),
        "version": VERSION,
        "body": body,
    }
    return hashlib.sha256(events.canonical(whole)).hexdigest()


def _flag(alarm: Mapping[str, Any]) -> flags.Raised:
    """What goes on for days is one flag, of the day on which it began; what a round shows is of that round."""
    of_a_round = alarm["subject"].startswith("rounds/")
    return flags.Raised(
        alarm["kind"],
        alarm["subject"] if of_a_round else f"{alarm['subject']}@{alarm['since']}",
        dict(alarm["detail"]),
        table=alarm["table"],
        round=UUID(alarm["round"]) if alarm["round"] else None,
    )


def newest(*, day: date) -> list[tuple[Analysis, AnalysisResult | None]]:
    """Return each screen's row of a day with what it said last. Two statements."""
    rows = list(Analysis.objects.filter(gaming_day=day).order_by("screen"))
    results = (
        AnalysisResult.objects.filter(analysis__in=rows)
        .order_by("analysis", "-revision")
        .distinct("analysis")
    )
    by_row = {result.analysis_id: result for result in results}
    return [(row, by_row.get(row.id)) for row in rows]


def said(alarm: Mapping[str, Any] | Alarm, *, currency: str) -> dict[str, str]:
    """Return the sentence of an alarm, Thai and English."""
    found = alarm if isinstance(alarm, Mapping) else asdict(alarm)
    subject = str(found["subject"]).partition("#")[2]
    return explanations.finding(found["kind"], subject, found["detail"], currency=currency)._asdict()
