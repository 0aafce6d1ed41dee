"""I4 and I6: a round is settled once, a revision takes back what was posted, and what was judged is paid."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

_REVISIONS = """
WITH touched AS (SELECT DISTINCT round_id FROM settlement_settlement WHERE id >= %(since_id)s), numbered AS (
    SELECT s.round_id, s.revision, s.supersedes_id, row_number() OVER per_round AS place,
           lag(s.id) OVER per_round AS before
      FROM settlement_settlement s JOIN touched USING (round_id)
    WINDOW per_round AS (PARTITION BY s.round_id ORDER BY s.revision, s.id))
SELECT round_id, revision, place, supersedes_id, before FROM numbered
 WHERE revision <> place OR supersedes_id IS DISTINCT FROM before
"""


def revisions_follow(books: Books) -> Iterator[Finding]:
    """Per round: revisions 1 to n, each superseding the one before."""
    for round, revision, place, supersedes, before in books.rows(_REVISIONS):
        yield Finding(
            f"rounds/{round}",
            f"revision {revision} in place {place} supersedes {supersedes}",
            f"revision {place} supersedes {before}",
        )


_STANDINGS = """
WITH chosen AS (
    SELECT id FROM casino_round
     WHERE table_id = ANY (ARRAY(SELECT id FROM casino_table)) AND created_at >= %(since)s
     UNION SELECT round_id FROM settlement_settlement WHERE id >= %(since_id)s)
SELECT r.id, r.standing, last.outcome, r.alias_of_id FROM chosen JOIN casino_round r USING (id)
  LEFT JOIN LATERAL (SELECT outcome FROM settlement_settlement s WHERE s.round_id = r.id
                      ORDER BY revision DESC LIMIT 1) last ON TRUE
 WHERE CASE WHEN r.standing IN ('settled', 'voided') THEN r.standing ELSE '' END <> coalesce(last.outcome, '')
    OR (r.alias_of_id IS NOT NULL AND last.outcome IS NOT NULL)
"""


def standing_is_the_effective_one(books: Books) -> Iterator[Finding]:
    """A settled or voided round has a settlement that says so; a round that is held, due or played has none."""
    for id, standing, outcome, alias_of in books.rows(_STANDINGS):
        found = f"stands {standing or 'open'}, last settlement {outcome or 'none'}"
        expected = (
            "none, as it is another round's alias" if alias_of else "the round stands as its last settlement"
        )
        yield Finding(f"rounds/{id}", found, expected)


_PAIRS = """
WITH parts AS (
    SELECT later.round_id, later.revision, later.settled_at, part.moved, part.back
      FROM settlement_settlement later JOIN settlement_settlement before ON before.id = later.supersedes_id
     CROSS JOIN LATERAL (VALUES (before.journal_id, later.reversal_id),
                                (before.shortfall_id, later.shortfall_reversal_id)) AS part (moved, back)
     WHERE later.id >= %(since_id)s AND NOT later.changes_nothing)
SELECT p.round_id, p.revision, p.moved, p.back, j.reverses_id, j.kind, j.recorded_at = p.settled_at,
       (SELECT jsonb_agg(jsonb_build_array(e.account_id, -e.amount, e.currency, e.wager)
                         ORDER BY e.account_id, e.wager, -e.amount)
          FROM settlement_entry e WHERE e.journal_id = p.moved)
       IS NOT DISTINCT FROM
       (SELECT jsonb_agg(jsonb_build_array(e.account_id, e.amount, e.currency, e.wager)
                         ORDER BY e.account_id, e.wager, e.amount)
          FROM settlement_entry e WHERE e.journal_id = p.back)
  FROM parts p LEFT JOIN settlement_journal j ON j.id = p.back
"""


def taken_back_exactly(books: Books) -> Iterator[Finding]:
    """What a revision supersedes is reversed once, entry for entry, in the act that posted the revision."""
    for round, revision, moved, back, reverses, kind, same_act, inverted in books.rows(_PAIRS):
        if moved is None and back is None:
            continue
        wrong = [
            text
            for text, is_wrong in (
                ("is not there", back is None),
                (f"reverses {reverses}", back is not None and reverses != moved),
                (f"is a {kind}", back is not None and kind != "round_reversal"),
                ("was posted in another act", back is not None and not same_act),
                ("does not invert every entry", back is not None and not inverted),
            )
            if is_wrong
        ]
        if wrong:
            yield Finding(
                f"rounds/{round}/revisions/{revision}",
                f"the reversal {back} {', '.join(wrong)}",
                f"journal {moved} inverted, entry for entry",
            )


_UNCHANGED = """
SELECT s.round_id, s.revision, s.journal_id, s.shortfall_id, o.journal_id, o.shortfall_id, s.outcome = o.outcome,
       (SELECT jsonb_agg(to_jsonb(l) - 'id' - 'settlement_id' ORDER BY l.ordinal)
          FROM settlement_line l WHERE l.settlement_id = s.id)
       IS NOT DISTINCT FROM
       (SELECT jsonb_agg(to_jsonb(l) - 'id' - 'settlement_id' ORDER BY l.ordinal)
          FROM settlement_line l WHERE l.settlement_id = o.id)
  FROM settlement_settlement s LEFT JOIN settlement_settlement o ON o.id = s.supersedes_id
 WHERE s.id >= %(since_id)s AND s.revision > 1
"""


def unchanged_stands_on_the_one_before(books: Books) -> Iterator[Finding]:
    """A revision that changes no line has the journals of the one before as its own; one that changes a line has
    not."""
    for round, revision, journal, shortfall, before, lent, same_outcome, same_lines in books.rows(_UNCHANGED):
        is_same = bool(same_outcome and same_lines)
        stands = (journal, shortfall) == (before, lent)
        # Where nothing was posted before nor after, there is no journal to tell by.
        if is_same != stands and not (
            journal is None and before is None and shortfall is None and lent is None
        ):
            yield Finding(
                f"rounds/{round}/revisions/{revision}",
                f"{'the same' if is_same else 'other'} lines, journals {journal} and {shortfall}",
                f"{before} and {lent}, those of the one before" if is_same else "journals of its own",
            )


_REVERSALS = """
SELECT r.id, r.round, r.reverses_id, reversed.kind, last.id IS NOT NULL
  FROM settlement_journal r JOIN settlement_journal reversed ON reversed.id = r.reverses_id
  LEFT JOIN LATERAL (
      SELECT s.id FROM settlement_settlement s
       WHERE s.round_id = reversed.round AND r.reverses_id IN (s.journal_id, s.shortfall_id)
         AND NOT EXISTS (SELECT FROM settlement_settlement later WHERE later.supersedes_id = s.id)) last ON TRUE
 WHERE r.id >= %(since_id)s AND r.kind = 'round_reversal'
   AND (reversed.reverses_id IS NOT NULL OR last.id IS NOT NULL)
"""


def nothing_effective_taken_back(books: Books) -> Iterator[Finding]:
    """No reversal is reversed, and what the effective revision posted stands."""
    for id, round, reversed_id, _, is_effective in books.rows(_REVERSALS):
        why = "the effective revision posted it" if is_effective else "it is a reversal itself"
        yield Finding(f"journals/{id}", f"takes back {reversed_id} of round {round}, and {why}", "it stands")


_VOIDED = """
SELECT s.round_id, s.revision, s.journal_id, s.shortfall_id, s.house_net,
       (SELECT count(*) FROM settlement_line l WHERE l.settlement_id = s.id)
  FROM settlement_settlement s
 WHERE s.id >= %(since_id)s AND s.outcome = 'voided'
   AND (s.journal_id IS NOT NULL OR s.shortfall_id IS NOT NULL OR s.house_net <> 0
        OR EXISTS (SELECT FROM settlement_line l WHERE l.settlement_id = s.id))
"""


def void_moves_nothing(books: Books) -> Iterator[Finding]:
    """A voided revision has no lines and no journal."""
    for round, revision, journal, shortfall, house_net, lines in books.rows(_VOIDED):
        yield Finding(
            f"rounds/{round}/revisions/{revision}",
            f"voided with {lines} lines, journals {journal} and {shortfall}, house net {house_net}",
            "nothing",
        )


_PAID = """
WITH chosen AS (
    SELECT s.id, s.round_id, s.revision, s.journal_id, 'table:' || t.code AS house
      FROM settlement_settlement s JOIN casino_round r ON r.id = s.round_id JOIN casino_table t ON t.id = r.table_id
     WHERE s.id >= %(since_id)s AND s.outcome = 'settled'
), due AS (
    SELECT c.id, part.code, sum(part.amount) AS amount
      FROM chosen c JOIN settlement_line l ON l.settlement_id = c.id
     CROSS JOIN LATERAL (VALUES (l.account, l.net), (c.house || ':bank', -(l.gross - l.uncovered)),
                                (c.house || ':commission', l.commission)) AS part (code, amount)
     GROUP BY c.id, part.code HAVING sum(part.amount) <> 0
), posted AS (
    SELECT c.id, a.code, sum(e.amount) AS amount
      FROM chosen c JOIN settlement_entry e ON e.journal_id = c.journal_id
      JOIN settlement_account a ON a.id = e.account_id
     GROUP BY c.id, a.code HAVING sum(e.amount) <> 0)
SELECT c.round_id, c.revision, both_sides.code, due.amount, posted.amount
  FROM due FULL JOIN posted USING (id, code)
 CROSS JOIN LATERAL (SELECT id, code) AS both_sides
  JOIN chosen c ON c.id = both_sides.id
 WHERE due.amount IS DISTINCT FROM posted.amount
"""


def paid_as_judged(books: Books) -> Iterator[Finding]:
    """Per settlement and account: the lines' nets are what its journal posted; bank and commission the other side."""
    for round, revision, code, due, posted in books.rows(_PAID):
        yield Finding(
            f"rounds/{round}/revisions/{revision}/{code}",
            f"posted {posted or 0}",
            f"{due or 0} by the lines",
        )


_LINES = """
SELECT s.round_id, s.revision, l.wager, l.stake, l.multiple, l.gross, l.uncovered, l.commission, l.net
  FROM settlement_line l JOIN settlement_settlement s ON s.id = l.settlement_id
 WHERE s.id >= %(since_id)s
   AND (l.net <> l.gross - l.uncovered - l.commission OR (l.wager <> 'bank' AND l.gross <> l.stake * l.multiple)
        OR l.uncovered < 0 OR l.commission < 0
        OR (l.uncovered <> 0 AND NOT EXISTS (SELECT FROM settlement_line bank WHERE bank.settlement_id = s.id
                                                AND bank.wager = 'bank')))
"""

_HOUSE_NET = """
SELECT s.round_id, s.revision, s.house_net, -coalesce(sum(l.net), 0)
  FROM settlement_settlement s LEFT JOIN settlement_line l ON l.settlement_id = s.id
 WHERE s.id >= %(since_id)s GROUP BY s.id HAVING s.house_net <> -coalesce(sum(l.net), 0)
"""


def lines_add_up(books: Books) -> Iterator[Finding]:
    """Each net is stake × multiple − uncovered − commission, and the house has what the guests have not."""
    for round, revision, wager, stake, multiple, gross, uncovered, commission, net in books.rows(_LINES):
        yield Finding(
            f"rounds/{round}/revisions/{revision}/{wager}",
            f"{stake} × {multiple} = {gross}, uncovered {uncovered}, commission {commission}, net {net}",
            "gross = stake × multiple, net = gross - uncovered - commission, uncovered only under a player's bank",
        )
    for round, revision, stored, worked_out in books.rows(_HOUSE_NET):
        yield Finding(
            f"rounds/{round}/revisions/{revision}", f"house net {stored}", f"{worked_out} by its lines"
        )


TOLD_ALONE = ("vault.stocked",)
"""Acts that have no rows of their own: their entry alone asks for the journal."""

_ASKED = """
WITH asked AS (
    SELECT part.journal, part.kind, s.round_id AS round
      FROM settlement_settlement s
     CROSS JOIN LATERAL (VALUES (s.journal_id, 'round'), (s.shortfall_id, 'hold_shortfall'),
                                (s.reversal_id, 'round_reversal'), (s.shortfall_reversal_id, 'round_reversal'))
           AS part (journal, kind)
     WHERE part.journal >= %(since_id)s AND NOT s.changes_nothing
     UNION ALL
    SELECT part.journal, part.kind, NULL::uuid
      FROM settlement_float f
     CROSS JOIN LATERAL (VALUES (f.journal_id, f.kind), (f.clearing_id, 'wallet_clearing'),
                                (f.slip_clearing_id, 'slip_clearing'),
                                (f.chips_left_id, 'chips_left'), (f.variance_id, 'variance')) AS part (journal, kind)
     WHERE part.journal >= %(since_id)s
     UNION ALL
    SELECT part.journal, part.kind, NULL::uuid
      FROM settlement_drop d
     CROSS JOIN LATERAL (VALUES (d.journal_id, 'drop_counted'), (d.variance_id, 'variance'),
                                (d.journal_back_id, 'drop_counted'), (d.variance_back_id, 'variance'))
           AS part (journal, kind)
     WHERE part.journal >= %(since_id)s
     UNION ALL
    SELECT c.journal_id, c.kind, NULL::uuid FROM settlement_cashact c
     WHERE c.journal_id >= %(since_id)s AND c.kind <> 'pay_slip_paid'
     UNION ALL
    SELECT x.journal_id, s.kind, NULL::uuid FROM settlement_slipstep x JOIN settlement_slip s ON s.id = x.slip_id
     WHERE x.journal_id >= %(since_id)s
     UNION ALL
    SELECT part.journal, part.kind, p.round_id
      FROM settlement_payslip p
     CROSS JOIN LATERAL (VALUES (p.issue_journal_id, 'pay_slip_issued'), (p.payment_journal_id, 'pay_slip_paid'),
                                (p.void_journal_id, 'pay_slip_void'), (p.void_clearing_id, 'slip_clearing'))
           AS part (journal, kind)
     WHERE part.journal >= %(since_id)s
     UNION ALL
    SELECT b.journal_id, 'break_resolved', NULL::uuid FROM settlement_break b
     WHERE b.journal_id >= %(since_id)s
     UNION ALL
    SELECT DISTINCT (told.value ->> 'id')::uuid, told.value ->> 'kind', NULL::uuid
      FROM audit_logentry l
     CROSS JOIN LATERAL (SELECT convert_from(l.bytes, 'UTF8')::jsonb #> '{data,journal}' AS value) AS told
     WHERE l.recorded_at >= %(since)s AND l.action = ANY (%(told_alone)s))
SELECT j.id, j.kind, j.round, count(asked.journal), array_agg(asked.kind), array_agg(asked.round)
  FROM settlement_journal j LEFT JOIN asked ON asked.journal = j.id
 WHERE j.id >= %(since_id)s
 GROUP BY j.id
HAVING count(asked.journal) <> 1 OR min(asked.kind) <> j.kind OR min(asked.round::text) IS DISTINCT FROM j.round::text
"""


def asked_for_once(books: Books) -> Iterator[Finding]:
    """Every journal is asked for by exactly one settlement, cash act, slip, pay slip, counted float or break or, where
    its kind has no row of its own, by one act that the log tells of."""
    for id, kind, round, times, kinds, rounds in books.rows(_ASKED, {"told_alone": list(TOLD_ALONE)}):
        asked = ", ".join(f"{other} of {where}" for other, where in zip(kinds, rounds, strict=True) if times)
        yield Finding(
            f"journals/{id}",
            f"{kind} of round {round}, asked for {times} times" + (f" ({asked})" if asked else ""),
            "asked for once, by its kind and round",
        )
