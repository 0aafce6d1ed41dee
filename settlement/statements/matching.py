"""Lines of others matched with entries of ours; what does not match is a break, until it does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from casino import events, people
from casino.events import Fact
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import breaks, days
from settlement.breaks import NewBreak
from settlement.models import (
    Account,
    Match,
    MatchedEntry,
    MatchingRule,
    OutsideLine,
    OutsideStatement,
    Statement,
)
from settlement.statements import ledger_lines, matching_passes, statement_values
from settlement.statements.ledger_lines import Span
from settlement.statements.matching_passes import Difference, Ours, Outcome, Rule

_LOCK = "statements:match:"
_DAY = timedelta(days=1)
_FIRST, _LAST = date(2, 1, 1), date(9998, 12, 31)
"""Between these a day has days beside it, and instants in any zone. No house has lines beyond, whatever was stored."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What matching an account came to: lines that have a match now and had none before, lines that wait, entries that
    no statement has named yet, and breaks by their code."""

    account: str
    matched: int
    pending: int
    unnamed: int
    broken: dict[str, int]


def match(account: Account, *, first_day: date, last_day: date) -> Matched:
    """Match what is unmatched of an account's outside lines with its entries of these days and the days beside them.

    A line or entry without a match is a break from the moment it should have had one: the end of its day and the
    property's grace. Found later, the break clears itself. Must run in an act; a fixed number of statements, and one
    for each rule that was used, whatever the number of lines.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{_LOCK}{account.id}"])
    lines = {
        row.id: row
        for row in OutsideLine.objects.filter(
            account=account, match=None, pending=False, booked__range=(_FIRST, _LAST)
        )
    }
    ours, explained = _ours(account, first_day=first_day, last_day=last_day)
    covered = _covered(account, first_day=first_day, last_day=last_day)
    outcome = matching_passes.compare(
        [_line(row) for row in lines.values()],
        ours.values(),
        explained=explained,
        rules=_rules(account.code),
    )
    _keep(account, outcome)
    broken = _break(account, outcome, lines=lines, ours=ours, covered=covered)
    unnamed = sum(ours[id].gaming_day in covered for id in outcome.pending_ours)
    matched = sum(len(one.theirs) for one in outcome.matches)
    if outcome.matches:
        events.announce([_fact(account, outcome)])
    return Matched(account.code, matched, len(outcome.pending_theirs), unnamed, broken)


def waiting(*, limit: int) -> list[tuple[Account, date, date]]:
    """Return accounts with lines that have no match yet, and the days of these lines; the oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT account_id, min(booked), max(booked) FROM settlement_outsideline
             WHERE match_id IS NULL AND NOT pending AND booked BETWEEN %s AND %s
             GROUP BY account_id ORDER BY min(booked), account_id LIMIT %s
            """,
            [_FIRST, _LAST, limit],
        )
        found = cursor.fetchall()
    accounts = Account.objects.in_bulk([id for id, _, _ in found])
    return [(accounts[id], first, last) for id, first, last in found]


def beyond_the_calendar(*, now: datetime, limit: int) -> list[int]:
    """Return lines without a match that are booked where nothing can be computed, and were not told of of late."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT l.id FROM settlement_outsideline l
             WHERE l.match_id IS NULL AND NOT l.pending AND (l.booked < %s OR l.booked > %s)
               AND NOT EXISTS (SELECT FROM casino_aside a
                                WHERE a.subject = 'statement-lines/' || l.id AND a.due_at > %s)
             ORDER BY l.id LIMIT %s
            """,
            [_FIRST, _LAST, now, limit],
        )
        return [id for (id,) in cursor.fetchall()]


# -- what is compared ----------------------------------------------------------------------------------------


def _ours(account: Account, *, first_day: date, last_day: date) -> tuple[dict[int, Ours], list[Ours]]:
    """Return the account's entries of these days and the days beside them: without a match, by id, and the rest."""
    earlier = Statement.objects.filter(account=account, gaming_day__lt=first_day - _DAY)
    before = earlier.order_by("-number").first()
    span = Span(
        account=account.id,
        code=account.code,
        after_version=before.covered_version if before else 0,
        after_day=first_day - 2 * _DAY,
        up_to=last_day + _DAY,
    )
    (read,) = ledger_lines.read([span], openings=[0])
    there = MatchedEntry.objects.filter(entry__in=[line.entry for line in read])
    explained = set(there.values_list("entry", flat=True))
    ours = [_entry(line, account) for line in read]
    return (
        {entry.entry: entry for entry in ours if entry.entry not in explained},
        [entry for entry in ours if entry.entry in explained],
    )


def _entry(line: statement_values.Line, account: Account) -> Ours:
    return Ours(
        entry=line.entry,
        journal=line.journal.replace("-", ""),
        references=tuple({line.slip_no, line.reference} - {""}),
        code=line.code,
        amount=line.amount,
        currency=account.currency,
        gaming_day=line.gaming_day,
        round=line.round,
    )


def _covered(account: Account, *, first_day: date, last_day: date) -> set[date]:
    """Return the days of which somebody's statement of the account is there: what it does not name is missing in it."""
    there = OutsideStatement.objects.filter(account=account, gaming_day__range=(first_day, last_day))
    return set(there.values_list("gaming_day", flat=True))


def _line(row: OutsideLine) -> statement_values.OutsideLine:
    return statement_values.OutsideLine(
        number=row.id,
        amount=row.amount,
        currency=row.currency,
        booked=row.booked,
        played=row.played,
        code=row.code,
        journal=row.journal,
        reference=row.reference,
        reversal=row.reversal,
        pending=row.pending,
        names=tuple(row.names),
    )


def _rules(code: str) -> list[Rule]:
    return [
        Rule(
            row.id,
            "EXT_FEE" if row.kind == "EXT_FEE" else "EXT_ROUNDING",
            row.most,
            row.first_day,
            row.last_day,
            row.code,
        )
        for row in MatchingRule.objects.order_by("id")
        if code.startswith(row.accounts)
    ]


# -- what is kept --------------------------------------------------------------------------------------------


def _keep(account: Account, outcome: Outcome) -> None:
    if not outcome.matches:
        return
    act = events.current()
    rows = Match.objects.bulk_create(
        [
            Match(
                id=events.uuid7(act.now),
                account=account,
                by=one.by,
                rule_id=one.rule or None,
                amount=one.amount,
                matched_at=act.now,
            )
            for one in outcome.matches
        ]
    )
    MatchedEntry.objects.bulk_create(
        [
            MatchedEntry(match=row, entry_id=id)
            for row, one in zip(rows, outcome.matches, strict=True)
            for id in one.ours
        ]
    )
    named = [(id, row.id) for row, one in zip(rows, outcome.matches, strict=True) for id in one.theirs]
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE settlement_outsideline l SET match_id = n.match"
            " FROM unnest(%s::bigint[], %s::uuid[]) AS n (id, match) WHERE l.id = n.id",
            [[id for id, _ in named], [match for _, match in named]],
        )


def _break(
    account: Account,
    outcome: Outcome,
    *,
    lines: dict[int, OutsideLine],
    ours: dict[int, Ours],
    covered: set[date],
) -> dict[str, int]:
    """Write down what differs and what is missing, and end what is missing no longer; return breaks by their code."""
    differing = [_difference(account, one) for one in outcome.differences]
    missing = [
        *(_missing(account, "MISSING_LEDGER", f"outside-lines/{id}", lines[id].booked, lines[id].amount)
          for id in outcome.pending_theirs),
        *(_missing(account, "MISSING_SOURCE", f"entries/{id}", ours[id].gaming_day, ours[id].amount)
          for id in outcome.pending_ours if ours[id].gaming_day in covered),
    ]  # fmt: skip
    breaks.found([*differing, *missing])
    by_reason: dict[tuple[str, str], list[str]] = {}
    for one, row in zip(outcome.differences, differing, strict=True):
        if one.cleared:
            by_reason.setdefault((one.code, one.rule or "with its pair"), []).append(row.subject)
    for (code, reason), subjects in sorted(by_reason.items()):
        breaks.cleared(code=code, subjects=subjects, reason=reason)
    told = [(one.theirs, one.ours) for one in outcome.matches]
    told += [(one.theirs, one.ours) for one in outcome.differences]
    breaks.cleared(code="MISSING_LEDGER", subjects=[f"outside-lines/{id}" for ids, _ in told for id in ids])
    breaks.cleared(code="MISSING_SOURCE", subjects=[f"entries/{id}" for _, ids in told for id in ids])
    now = events.current().now
    broken: dict[str, int] = {}
    for found in (
        *(row for one, row in zip(outcome.differences, differing, strict=True) if not one.cleared),
        *(row for row in missing if row.fell_due_at is not None and row.fell_due_at <= now),
    ):
        broken[found.code] = broken.get(found.code, 0) + 1
    return broken


def _difference(account: Account, one: Difference) -> NewBreak:
    return NewBreak(
        one.code,
        f"outside-lines/{one.theirs[0]}",
        breaks.fingerprint(account.code, *one.theirs, "ours", *one.ours),
        {"account": account.code, "lines": list(one.theirs), "entries": list(one.ours), "rule": one.rule},
        amount=one.amount,
        currency=account.currency,
    )


def _missing(account: Account, code: str, subject: str, gaming_day: date, amount: int) -> NewBreak:
    return NewBreak(
        code,
        subject,
        breaks.fingerprint(account.code, subject),
        {"account": account.code, "gaming_day": gaming_day.isoformat()},
        amount=amount,
        currency=account.currency,
        fell_due_at=_due(gaming_day),
    )


def _due(gaming_day: date) -> datetime:
    return days.bounds(gaming_day)[1] + timedelta(hours=settings.STATEMENTS["grace_hours"])


def _fact(account: Account, outcome: Outcome) -> Fact:
    told: list[list[Any]] = [
        [one.by, list(one.theirs), list(one.ours), one.amount, one.rule] for one in outcome.matches
    ]
    return Fact(
        "statements.matched", f"accounts/{account.code}", {"matches": told, "currency": account.currency}
    )


def add_rule(
    *,
    id: str,
    kind: str,
    accounts: str,
    code: str,
    most: int,
    first_day: date,
    last_day: date | None,
    by: Person,
    approved_by: Person,
) -> MatchingRule:  # fmt: skip
    """Agree, as two who may, to what a file may differ in from ``first_day`` on; refuses ``forbidden``,
    ``sod_violation``, and ``invalid_value`` for an id that is used and a last day before the first."""
    act = events.current()
    people.different(by.id, approved_by.id)
    people.require_second(approved_by, "set_matching_rule")
    if last_day is not None and last_day < first_day:
        raise Refusal("invalid_value", fields={"last_day": "not before the first"})
    if MatchingRule.objects.filter(pk=id).exists():
        raise Refusal("invalid_value", fields={"id": "is used"})
    rule = MatchingRule.objects.create(
        id=id,
        kind=kind,
        accounts=accounts,
        code=code,
        most=most,
        first_day=first_day,
        last_day=last_day,
        set_by=by,
        approved_by=approved_by,
        set_at=act.now,
    )
    told = {
        "kind": kind,
        "accounts": accounts,
        "code": code,
        "most": most,
        "first_day": first_day.isoformat(),
        "last_day": last_day.isoformat() if last_day else None,
        "set_by": str(by.id),
        "approved_by": str(approved_by.id),
    }
    events.announce([Fact("matching_rule.set", f"matching-rules/{id}", told)])
    return rule
