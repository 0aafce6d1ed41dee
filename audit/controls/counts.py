"""I12, as far as it speaks of counts: pieces are worth their amount, a difference is posted once, win follows.

Worked out here anew from the rows: no statement is shared with the rundown that people read.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

_WORTH = """
SELECT c.id, c.amount, coalesce(sum((line ->> 'denomination')::bigint * (line ->> 'pieces')::bigint), 0)
  FROM settlement_count c LEFT JOIN LATERAL jsonb_array_elements(c.lines) AS line ON TRUE
 WHERE c.counted_at >= %(since)s
 GROUP BY c.id HAVING c.amount <> coalesce(sum((line ->> 'denomination')::bigint * (line ->> 'pieces')::bigint), 0)
"""


def worth_their_pieces(books: Books) -> Iterator[Finding]:
    """A count's amount is pieces × denomination."""
    for id, amount, worth in books.rows(_WORTH):
        yield Finding(f"counts/{id}", f"worth {amount}", f"{worth}, by its pieces")


# The accepted count is the last; where there are two they agree, and a third is made only where they do not.
_ACCEPTED = """
WITH effective AS (
    SELECT c.* FROM settlement_count c
     WHERE NOT EXISTS (SELECT FROM settlement_count s WHERE s.supersedes_id = c.id)
), made AS (
    SELECT counting_id, count(*) AS counts, count(DISTINCT lines) FILTER (WHERE ordinal <= 2) AS readings,
           (array_agg(id ORDER BY ordinal DESC))[1] AS last
      FROM effective GROUP BY counting_id)
SELECT n.id, n.state, n.accepted_id, m.counts, m.readings, m.last
  FROM settlement_counting n LEFT JOIN made m ON m.counting_id = n.id
 WHERE n.asked_at >= %(since)s AND n.state = 'accepted'
   AND (m.last IS DISTINCT FROM n.accepted_id OR m.counts NOT BETWEEN 2 AND 3 OR (m.counts = 2) <> (m.readings = 1))
 UNION ALL
SELECT n.id, n.state, f.count_id, NULL, NULL, n.accepted_id
  FROM (SELECT count_id, kind, accepted_at FROM settlement_float
         UNION ALL SELECT count_id, 'drop', accepted_at FROM settlement_drop) f
  JOIN settlement_count c ON c.id = f.count_id JOIN settlement_counting n ON n.id = c.counting_id
 WHERE f.accepted_at >= %(since)s AND (n.accepted_id IS DISTINCT FROM f.count_id OR n.kind <> f.kind)
"""


def accepted_as_counted(books: Books) -> Iterator[Finding]:
    """What was accepted is the second of two that agree or the third of three, and nothing else is taken."""
    for id, state, accepted, counts, readings, last in books.rows(_ACCEPTED):
        found = f"{state} {accepted}"
        if counts is not None:
            found += f" of {counts} counts, the first two with {readings} readings"
        yield Finding(f"countings/{id}", found, f"its last count, {last}, of two that agree or of three")


# What stands in a float is what the accounts said at its versions: bank and commission up to where it was posted, less
# what its own journals moved; wallets and pay slips since the last close. An opener is the last closer; one locked on
# its table was what the ledger said, before the formula had pay slips.
_EXPECTED = """
WITH told AS (
    SELECT f.*, t.code, c.amount AS counted, s.table_id,
           coalesce((SELECT from_day FROM settlement_formuladate WHERE version = 2), '-infinity') AS since,
           (SELECT id FROM settlement_account WHERE code = 'table:' || t.code || ':bank') AS bank,
           (SELECT id FROM settlement_account WHERE code = 'table:' || t.code || ':commission') AS commission,
           (SELECT id FROM settlement_account WHERE code = 'table:' || t.code || ':guests') AS guests
      FROM settlement_float f JOIN casino_tablesession s ON s.id = f.session_id
      JOIN casino_table t ON t.id = s.table_id JOIN settlement_count c ON c.id = f.count_id
     WHERE f.accepted_at >= %(since)s
), stood AS (
    SELECT f.id, f.kind, f.cage, f.counted, f.expected, f.variance_id, f.gaming_day >= f.since AS has_slips,
           coalesce((SELECT balance_after FROM settlement_entry
                      WHERE account_id = f.bank AND version = f.bank_version), 0)
         + coalesce((SELECT balance_after FROM settlement_entry
                      WHERE account_id = f.commission AND version = f.commission_version), 0)
         - coalesce((SELECT sum(amount) FROM settlement_entry WHERE account_id = f.bank
             AND journal_id IN (f.journal_id, f.clearing_id, f.slip_clearing_id, f.variance_id)), 0) AS before,
           (SELECT coalesce(sum(e.amount), 0) FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
             WHERE a.kind IN ('wallet', 'external') AND e.journal_id IN (
                 SELECT e.journal_id FROM settlement_entry e JOIN settlement_journal j ON j.id = e.journal_id
                  WHERE j.kind IN ('round', 'round_reversal') AND (
                      (e.account_id = f.bank AND e.version <= f.bank_version
                       AND e.version > coalesce(l.bank_version, 0))
                   OR (e.account_id = f.guests AND e.version <= f.guests_version
                       AND e.version > coalesce(l.guests_version, 0))
                   OR (e.account_id = f.commission AND e.version <= f.commission_version
                       AND e.version > coalesce(l.commission_version, 0))))) AS wallets,
           (SELECT coalesce(sum(p.amount), 0) FROM settlement_payslip p
              JOIN settlement_entry i ON i.journal_id = p.issue_journal_id AND i.account_id = f.guests
               AND i.version > coalesce(l.guests_version, 0) AND i.version <= f.guests_version
              LEFT JOIN settlement_entry v ON v.journal_id = p.void_journal_id AND v.account_id = f.guests
               AND v.version <= f.guests_version
             WHERE p.table_id = f.table_id AND p.gaming_day >= f.since AND v.id IS NULL) AS slips,
           l.counted AS closer
      FROM told f LEFT JOIN LATERAL (
          SELECT p.bank_version, p.guests_version, p.commission_version, k.amount AS counted FROM settlement_float p
            JOIN casino_tablesession s ON s.id = p.session_id JOIN settlement_count k ON k.id = p.count_id
           WHERE s.table_id = f.table_id AND p.kind = 'closer' AND p.id <> f.id
             AND (p.bank_version, p.accepted_at) < (f.bank_version, f.accepted_at)
           ORDER BY p.bank_version DESC, p.accepted_at DESC LIMIT 1) l ON TRUE
), due AS (
    SELECT id, kind, counted, expected, variance_id,
           CASE WHEN kind = 'opener' AND (cage <> '' OR has_slips AND closer IS NOT NULL) THEN closer
                WHEN kind = 'opener' THEN before
                ELSE before + wallets + slips END AS should,
           NOT (kind = 'opener' AND cage <> '') AS posts
      FROM stood)
SELECT d.id, d.expected, d.should, d.counted, coalesce(posted.amount, 0)
  FROM due d LEFT JOIN LATERAL (
      SELECT sum(e.amount) AS amount FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
       WHERE e.journal_id = d.variance_id AND a.kind = 'bank') posted ON TRUE
 WHERE d.expected IS DISTINCT FROM d.should
    OR (d.posts AND coalesce(posted.amount, 0) <> d.counted - d.should)
    OR (NOT d.posts AND d.variance_id IS NOT NULL)
"""


def differences_posted_once(books: Books) -> Iterator[Finding]:
    """A float says what the ledger said before it, and its difference from that is its variance, no more and no
    less."""
    for id, expected, should, counted, posted in books.rows(_EXPECTED):
        yield Finding(
            f"floats/{id}",
            f"expected {expected}, counted {counted}, variance posted {posted}",
            f"expected {should} by the ledger, and the difference of {counted} posted once",
        )


_BOXES = """
WITH boxes AS (
    SELECT d.*, c.amount AS counted, 'table:' || t.code || ':drop' AS code, u.drop_version AS upto,
           coalesce((SELECT max(o.drop_version) FROM settlement_drop b JOIN settlement_float o ON o.id = b.until_id
                      WHERE b.session_id = d.session_id
                        AND (o.drop_version, o.accepted_at) < (u.drop_version, u.accepted_at)
                        AND (b.withdrawn_at IS NULL OR b.withdrawn_at > d.accepted_at)
                        AND b.accepted_at <= d.accepted_at),
                    (SELECT o.drop_version FROM settlement_float o
                      WHERE o.session_id = d.session_id AND o.kind = 'opener')) AS after
      FROM settlement_drop d JOIN settlement_count c ON c.id = d.count_id JOIN settlement_float u ON u.id = d.until_id
      JOIN casino_tablesession s ON s.id = d.session_id JOIN casino_table t ON t.id = s.table_id
), due AS (
    SELECT b.id, b.recorded, b.counted, b.accepted_at, b.journal_id, b.variance_id,
           b.journal_back_id, b.variance_back_id, b.withdrawn_at, a.id AS account,
           coalesce((SELECT sum(e.amount) FROM settlement_entry e JOIN settlement_journal j ON j.id = e.journal_id
                      WHERE e.account_id = a.id AND j.kind = 'buy_in'
                        AND e.version > b.after AND e.version <= b.upto), 0)
               AS put_in
      FROM boxes b JOIN settlement_account a ON a.code = b.code
     WHERE b.accepted_at >= %(since)s OR b.withdrawn_at >= %(since)s)
SELECT d.id, d.recorded, d.put_in, d.counted, coalesce(moved.carried, 0), coalesce(moved.differs, 0),
       coalesce(moved.back, 0), d.withdrawn_at IS NOT NULL
  FROM due d CROSS JOIN LATERAL (
      SELECT -sum(e.amount) FILTER (WHERE e.journal_id = d.journal_id) AS carried,
             sum(e.amount) FILTER (WHERE e.journal_id = d.variance_id) AS differs,
             sum(e.amount) FILTER (WHERE e.journal_id IN (d.journal_back_id, d.variance_back_id)) AS back
        FROM settlement_entry e WHERE e.account_id = d.account
         AND e.journal_id IN (d.journal_id, d.variance_id, d.journal_back_id, d.variance_back_id)) moved
 WHERE d.recorded <> d.put_in OR coalesce(moved.carried, 0) <> d.counted
    OR coalesce(moved.differs, 0) <> d.counted - d.put_in
    OR coalesce(moved.back, 0) <> CASE WHEN d.withdrawn_at IS NULL THEN 0 ELSE d.put_in END
"""


def boxes_hold_what_went_in(books: Books) -> Iterator[Finding]:
    """A drop box says what was recorded as put in, brought the vault what was counted, and the rest is variance; one
    whose count was taken back has all of it in it again."""
    for id, recorded, put_in, counted, carried, differs, back, withdrawn in books.rows(_BOXES):
        yield Finding(
            f"drops/{id}",
            f"recorded {recorded}, counted {counted}, to the vault {carried}, variance {differs}, taken back {back}",
            f"{put_in} put in, {counted} to the vault and {counted - put_in} variance,"
            f" {put_in if withdrawn else 0} taken back",
        )


# Two roads to one number: what counts, slips and pay slips say a closed and counted session won, and what its lines say
# with every difference that was posted. What came while its table was closed is its own since the formula has pay
# slips.
_WIN = """
WITH closed AS (
    SELECT o.session_id, a.id AS account, k.kind, k.after, k.upto, oc.amount AS opener, cc.amount AS closer,
           o.variance_id AS found, f.since,
           (SELECT sum(n.amount) FROM settlement_drop d JOIN settlement_count n ON n.id = d.count_id
             WHERE d.session_id = o.session_id AND d.withdrawn_at IS NULL) AS in_the_boxes
      FROM settlement_float o
      JOIN settlement_float c ON c.session_id = o.session_id AND c.kind = 'closer'
      JOIN settlement_drop last ON last.until_id = c.id AND last.withdrawn_at IS NULL
      JOIN settlement_count oc ON oc.id = o.count_id JOIN settlement_count cc ON cc.id = c.count_id
      JOIN casino_tablesession s ON s.id = o.session_id JOIN casino_table t ON t.id = s.table_id
     CROSS JOIN (SELECT coalesce(max(from_day), '-infinity') AS since FROM settlement_formuladate WHERE version = 2) f
      LEFT JOIN LATERAL (
          SELECT p.bank_version AS bank, p.guests_version AS guests FROM settlement_float p
            JOIN casino_tablesession ps ON ps.id = p.session_id
           WHERE ps.table_id = s.table_id AND p.kind = 'closer' AND o.gaming_day >= f.since
             AND (p.bank_version, p.accepted_at) < (o.bank_version, o.accepted_at)
           ORDER BY p.bank_version DESC, p.accepted_at DESC LIMIT 1) before ON TRUE
     CROSS JOIN LATERAL (VALUES ('bank', coalesce(before.bank, o.bank_version), c.bank_version),
                                ('guests', coalesce(before.guests, o.guests_version), c.guests_version))
           AS k (kind, after, upto)
      JOIN settlement_account a ON a.code = 'table:' || t.code || ':' || k.kind
     WHERE o.kind = 'opener' AND last.accepted_at >= %(since)s
), moved AS (
    SELECT c.session_id, c.opener, c.closer, c.in_the_boxes,
           coalesce(sum(e.amount) FILTER (WHERE c.kind = 'bank' AND j.kind IN ('fill', 'credit')), 0) AS slips,
           coalesce(-sum(e.amount) FILTER (
               WHERE c.kind = 'guests' AND j.kind IN ('round', 'round_reversal')), 0) AS lines,
           coalesce(-sum(e.amount) FILTER (
               WHERE c.kind = 'guests' AND j.kind IN ('pay_slip_issued', 'pay_slip_void')
                 AND coalesce(o.gaming_day, j.gaming_day) >= c.since), 0) AS claims,
           coalesce(sum(e.amount) FILTER (WHERE c.kind = 'bank' AND j.kind IN ('variance', 'break_resolved')), 0) AS off
      FROM closed c LEFT JOIN (settlement_entry e JOIN settlement_journal j ON j.id = e.journal_id
                               LEFT JOIN settlement_journal o ON o.id = j.reverses_id)
        ON e.account_id = c.account AND e.version > c.after AND e.version <= c.upto AND j.id IS DISTINCT FROM c.found
     GROUP BY c.session_id, c.opener, c.closer, c.in_the_boxes
), boxes AS (
    SELECT d.session_id, sum(c.amount - d.recorded) AS off
      FROM settlement_drop d JOIN settlement_count c ON c.id = d.count_id WHERE d.withdrawn_at IS NULL
     GROUP BY d.session_id)
SELECT m.session_id, m.closer + m.in_the_boxes - m.opener - m.slips - m.claims, m.lines + m.off + b.off
  FROM moved m JOIN boxes b USING (session_id)
 WHERE m.closer + m.in_the_boxes - m.opener - m.slips - m.claims <> m.lines + m.off + b.off
"""


def won_by_both_roads(books: Books) -> Iterator[Finding]:
    """What a session won by its counts is what it won by its lines and the differences that were posted."""
    for session, counted, lines in books.rows(_WIN):
        yield Finding(
            f"sessions/{session}", f"won {counted} by its counts", f"{lines} by its lines and variances"
        )
