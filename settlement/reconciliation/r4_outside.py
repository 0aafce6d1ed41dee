"""R4, outside: statements of others, messages that were to be acknowledged, and wallets kept elsewhere.

Lines are matched when a file is taken in; here it is seen that each was, and which files it rests on. A part that has
nothing to look at compares nothing; it never counts as matched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings

from settlement.breaks import NewBreak
from settlement.reconciliation.results import File, Single
from settlement.reconciliation.window import MS_OF_ID, Found, Level, Piece, Slice, Window, cut_by, rows_of


def cut(window: Window, size: int) -> Iterator[Slice]:
    yield Slice("statements", window.lower, window.upper)
    yield from cut_by(
        "messages",
        window,
        at=MS_OF_ID.format(id="id"),
        rows="settlement_message WHERE id >= %(low)s AND id < %(high)s",
        size=5 * size,
    )
    yield Slice("calls", window.lower, window.upper)


_LINES = """
SELECT encode(f.sha256, 'hex'), l.id, a.code, l.amount, l.currency, l.pending, l.match_id IS NOT NULL,
       b.code, b.fingerprint, b.detail::text, b.amount, b.currency, b.fell_due_at
  FROM settlement_outsidestatement s JOIN settlement_outsidefile f ON f.id = s.file_id
  JOIN settlement_account a ON a.id = s.account_id JOIN settlement_outsideline l ON l.statement_id = s.id
  LEFT JOIN LATERAL (SELECT * FROM settlement_break b WHERE b.subject = 'outside-lines/' || l.id
                        AND b.state NOT IN ('matched', 'approved') ORDER BY b.code, b.fingerprint LIMIT 1) b ON true
 WHERE s.gaming_day = %(day)s ORDER BY l.id
"""


def statements(piece: Piece) -> Iterator[Found]:
    """Each line of another's statement is matched, is pending by their own word, or has its break."""
    for sha256, id, account, amount, currency, is_pending, is_matched, code, *known in rows_of(
        _LINES, {"day": piece.window.gaming_day}
    ):
        yield File(sha256)
        subject = f"outside-lines/{id}"
        found: tuple[NewBreak, ...] = ()
        same, detail, differs, of, fell_due_at = known
        if code is not None and not is_matched and not is_pending and fell_due_at <= piece.now:
            found = (NewBreak(code, subject, same, json.loads(detail), differs, of, fell_due_at),)
        yield Single(subject, [account, amount, currency], found, is_pending=not is_matched and not found)


_MESSAGES = """
SELECT m.id, m.type, count(d.id), count(d.id) FILTER (WHERE d.state = 'delivered'),
       count(d.id) FILTER (WHERE d.state = 'given_up'), max(d.finished_at) FILTER (WHERE d.state = 'given_up')
  FROM settlement_message m JOIN settlement_delivery d ON d.message_id = m.id
 WHERE m.id >= %(low)s AND m.id < %(high)s GROUP BY m.id ORDER BY m.id
"""


def messages(piece: Piece) -> Iterator[Found]:
    """Each message that somebody was owed is acknowledged, or on its way; one that was given up is a break."""
    for id, type, owed, delivered, given_up, at in rows_of(_MESSAGES, piece.ids):
        found: tuple[NewBreak, ...] = ()
        if given_up:
            detail = {"type": type, "owed": owed, "delivered": delivered, "given_up": given_up}
            found = (NewBreak("MISSING_SOURCE", f"messages/{id}", "given up", detail, fell_due_at=at),)
        yield Single(f"messages/{id}", [type], found, is_pending=delivered + given_up < owed)


_CALLS = """
SELECT c.id, c.verb, c.revision, c.moves, h.currency, c.written_at, s.code, c.state, h.id, h.round_id, h.exposure
  FROM settlement_externalcall c JOIN settlement_externalhold h ON h.id = c.hold_id
  JOIN settlement_cashiersystem s ON s.id = h.system_id
 WHERE c.id >= %(low)s AND c.id < %(high)s ORDER BY c.id
"""


def calls(piece: Piece) -> Iterator[Found]:
    """Each result that a cashier system is owed was acknowledged by it within the time of the property."""
    limit = timedelta(minutes=settings.CASHIER_SYSTEMS["overdue_minutes"])
    for id, verb, revision, moves, currency, written_at, system, state, hold, round, exposure in rows_of(
        _CALLS, piece.ids
    ):
        is_open = state in ("due", "claimed")
        found: tuple[NewBreak, ...] = ()
        if is_open and written_at + limit <= piece.now:
            detail = {
                "system": system,
                "verb": verb,
                "revision": revision,
                "hold": str(hold),
                "round": str(round),
                "exposure": exposure,
            }
            subject = f"external-calls/{id}"
            found = (
                NewBreak(
                    "MISSING_SOURCE", subject, "unacknowledged", detail, moves, currency, written_at + limit
                ),
            )
        yield Single(f"external-calls/{id}", [system, verb, revision, moves], found, is_pending=is_open)


LEVEL = Level(number=1, cut=cut, parts={"statements": statements, "messages": messages, "calls": calls})
