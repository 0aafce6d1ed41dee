"""I12, I13 and I17 of slips and pay slips: numbers, what is under way, who signed, and what the log says of it."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books

_NUMBERS = """
WITH given AS (
    SELECT series_id, number, kind FROM settlement_slip WHERE number IS NOT NULL
     UNION ALL SELECT series_id, number, 'pay_slip' FROM settlement_payslip)
SELECT s.kind || ' ' || s.year, s.last, count(g.number), count(DISTINCT g.number),
       count(*) FILTER (WHERE g.kind <> s.kind OR g.number NOT BETWEEN 1 AND s.last)
  FROM settlement_series s LEFT JOIN given g ON g.series_id = s.id
 GROUP BY s.id
HAVING count(g.number) <> s.last OR count(DISTINCT g.number) <> s.last
    OR count(*) FILTER (WHERE g.kind <> s.kind OR g.number NOT BETWEEN 1 AND s.last) > 0
"""


def numbers_without_holes(books: Books) -> Iterator[Finding]:
    """Per series: each number from 1 to the last is on one paper of its kind, void ones among them."""
    for series, last, papers, distinct, strange in books.rows(_NUMBERS):
        yield Finding(
            f"series/{series}",
            f"{papers} papers with {distinct} numbers, {strange} of them strange to it",
            f"1 to {last}, each once",
        )


_STANDING = """
WITH last AS (
    SELECT DISTINCT ON (t.slip_id) t.slip_id, t.step FROM settlement_slipstep t
     WHERE t.step NOT IN ('counted', 'compared') ORDER BY t.slip_id, t.ordinal DESC)
SELECT s.id, s.state, last.step,
       (SELECT jsonb_agg(DISTINCT t.lines) FROM settlement_slipstep t WHERE t.slip_id = s.id AND t.step <> 'counted'),
       s.lines,
       (SELECT count(*) FROM settlement_slipstep t
         WHERE t.slip_id = s.id AND t.journal_id IS NOT NULL
           AND (SELECT sum(e.amount) FROM settlement_entry e WHERE e.journal_id = t.journal_id AND e.amount > 0)
               IS DISTINCT FROM s.amount)
  FROM settlement_slip s LEFT JOIN last ON last.slip_id = s.id
 WHERE s.requested_at >= %(since)s OR s.state IN ('requested', 'issued', 'in_transit')
    OR EXISTS (SELECT FROM settlement_slipstep t WHERE t.slip_id = s.id AND t.taken_at >= %(since)s)
"""


def slips_stand_as_signed(books: Books) -> Iterator[Finding]:
    """A slip is where its last step says, every step lists its pieces, and its journals move its amount."""
    for id, state, step, signed, lines, wrong in books.rows(_STANDING):
        if state != step:
            yield Finding(f"slips/{id}", f"stands {state}", f"{step}, as was signed")
        if signed != [lines]:
            yield Finding(f"slips/{id}", f"carries {lines}", f"{signed}, as was signed")
        if wrong:
            yield Finding(f"slips/{id}", f"{wrong} of its journals move another amount", "its own amount")


_UNDER_WAY = """
WITH stored AS (
    SELECT 'transit' AS what, s.table_id, sum(s.amount) AS amount FROM settlement_slip s WHERE s.state = 'in_transit'
     GROUP BY s.table_id
     UNION ALL
    SELECT 'slips', p.table_id, sum(p.amount) FROM settlement_payslip p WHERE p.state = 'issued' GROUP BY p.table_id
     UNION ALL
    SELECT 'clearing', p.table_id, sum(CASE p.state WHEN 'paid' THEN p.amount ELSE 0 END
                                       - CASE WHEN closed.since IS NULL THEN 0 ELSE p.amount END)
      FROM settlement_payslip p
      LEFT JOIN LATERAL (
          SELECT min(f.accepted_at) AS since FROM settlement_float f JOIN casino_tablesession s ON s.id = f.session_id
            JOIN settlement_entry e ON e.journal_id = p.issue_journal_id AND e.version <= f.guests_version
            JOIN settlement_account a ON a.id = e.account_id AND a.kind = 'guests'
           WHERE s.table_id = p.table_id AND f.kind = 'closer') closed ON TRUE
     WHERE p.state <> 'void'
       AND p.gaming_day >= coalesce((SELECT from_day FROM settlement_formuladate WHERE version = 2), '-infinity')
     GROUP BY p.table_id
), wanted AS (
    SELECT 'suspense:' || stored.what || ':' || t.code AS code, stored.amount
      FROM stored JOIN casino_table t ON t.id = stored.table_id
), posted AS (
    SELECT a.code, sum(e.amount) AS amount
      FROM settlement_account a JOIN settlement_entry e ON e.account_id = a.id
      JOIN settlement_journal j ON j.id = e.journal_id
     WHERE (a.code LIKE 'suspense:transit:%%' AND j.kind IN ('fill', 'credit'))
        OR (a.code LIKE 'suspense:slips:%%' AND j.kind IN ('pay_slip_issued', 'pay_slip_paid', 'pay_slip_void'))
        OR (a.code LIKE 'suspense:clearing:%%' AND j.kind IN ('slip_clearing', 'pay_slip_paid'))
     GROUP BY a.code HAVING sum(e.amount) <> 0)
SELECT code, wanted.amount, posted.amount FROM wanted FULL JOIN posted USING (code)
 WHERE coalesce(wanted.amount, 0) <> coalesce(posted.amount, 0)
"""


def transit_is_what_is_under_way(books: Books) -> Iterator[Finding]:
    """What slips moved into a table's transit and not out of it is what its slips in transit carry, and what pay slips
    took from its guests is what its pay slips in force are worth. What waits between table and cage for pay slips is
    what was paid since the table closed, less what a close cleared and the cage has not paid. What a resolved break
    took out is not among it."""
    for code, wanted, posted in books.rows(_UNDER_WAY):
        yield Finding(f"accounts/{code}", f"{posted or 0} by its journals", f"{wanted or 0} by its papers")


_PAY_SLIPS = """
SELECT p.id, p.state, p.amount, l.net - p.settled_before, l.settlement_id = p.settlement_id AND l.wager = p.wager,
       s.round_id = p.round_id AND r.table_id = p.table_id,
       (SELECT count(*) FROM settlement_payslip o
         WHERE o.settlement_id = p.settlement_id AND o.wager = p.wager AND o.state <> 'void'),
       (SELECT max(n.revision) FROM settlement_settlement n
         WHERE n.round_id = p.round_id AND n.settled_at <= coalesce(p.paid_at, p.issued_at)
           AND (n.revision <= s.revision OR NOT n.changes_nothing)), s.revision,
       (SELECT sum(e.amount) FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
         WHERE e.journal_id = p.issue_journal_id AND a.code = 'suspense:slips:' || t.code),
       (SELECT -sum(e.amount) FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
         WHERE e.journal_id = coalesce(p.payment_journal_id, p.void_journal_id)
           AND a.code = 'suspense:slips:' || t.code),
       CASE p.state WHEN 'issued' THEN p.payment_journal_id IS NULL AND p.void_journal_id IS NULL
                    WHEN 'paid' THEN p.void_journal_id IS NULL AND p.paid_at IS NOT NULL
                         AND (SELECT j.kind = 'pay_slip_paid' FROM settlement_journal j
                               WHERE j.id = p.payment_journal_id)
                    ELSE p.payment_journal_id IS NULL AND p.voided_at IS NOT NULL
                         AND (SELECT j.reverses_id = p.issue_journal_id FROM settlement_journal j
                               WHERE j.id = p.void_journal_id) END
  FROM settlement_payslip p
  JOIN casino_table t ON t.id = p.table_id
  JOIN casino_round r ON r.id = p.round_id
  JOIN settlement_settlement s ON s.id = p.settlement_id
  JOIN settlement_line l ON l.id = p.line_id
 WHERE p.issued_at >= %(since)s OR p.paid_at >= %(since)s OR p.voided_at >= %(since)s
"""


def paid_once_in_the_last_revision(books: Books) -> Iterator[Finding]:
    """A pay slip is worth what its line leaves to be paid, stands alone for it, was issued and paid while that was of
    its round's last revision, and is in force, paid or void by exactly the journals that say so."""
    for (
        id, state, amount, due, of_its_line, of_its_round, alone, last, revision, taken, given, as_posted,
    ) in books.rows(_PAY_SLIPS):  # fmt: skip
        wrong = [
            (not of_its_line or not of_its_round, "is of another line, round or table", "its own"),
            (amount != due, f"is worth {amount}", f"{due}, what its line leaves"),
            (state != "void" and alone != 1, f"is one of {alone} of its line", "the only one"),
            (state != "void" and last != revision, f"{state} of revision {revision}", f"of the last, {last}"),
            (taken != amount, f"took {taken}", f"{amount}"),
            (state != "issued" and given != amount, f"gave {given}", f"{amount}"),
            (not as_posted, f"is {state}, and its journals are not", "as they say"),
        ]
        for is_wrong, found, expected in wrong:
            if is_wrong:
                yield Finding(f"pay-slips/{id}", found, expected)


_SIGNED = """
WITH by_slip AS (
    SELECT t.slip_id, min(s.kind) AS kind,
           max(t.by_id::text) FILTER (WHERE t.step = 'requested') AS asked,
           max(t.by_id::text) FILTER (WHERE t.step = 'issued') AS issued,
           max(t.by_id::text) FILTER (WHERE t.step = 'in_transit') AS carried,
           max(t.by_id::text) FILTER (WHERE t.step = 'received') AS counted,
           max(t.second_id::text) FILTER (WHERE t.step = 'received') AS second,
           max(t.by_id::text) FILTER (WHERE t.step = 'deposited') AS filed,
           max(t.by_id::text) FILTER (WHERE t.step = 'compared') AS compared
      FROM settlement_slipstep t JOIN settlement_slip s ON s.id = t.slip_id
     WHERE EXISTS (SELECT FROM settlement_slipstep n WHERE n.slip_id = t.slip_id AND n.taken_at >= %(since)s)
     GROUP BY t.slip_id)
SELECT 'slips/' || slip_id, asked || ' asked, ' || issued || ' issued', 'two people' FROM by_slip WHERE asked = issued
 UNION ALL
SELECT 'slips/' || slip_id, carried || ' carried and signed besides', 'a runner' FROM by_slip
 WHERE carried IN (asked, issued, counted, second, filed)
 UNION ALL
SELECT 'slips/' || slip_id, issued || ' issued and received', 'two people' FROM by_slip
 WHERE issued IN (counted, second, filed)
 UNION ALL
SELECT 'slips/' || slip_id, 'received by ' || counted || coalesce(' and ' || second, ' alone'), 'dealer and supervisor'
  FROM by_slip WHERE kind = 'fill' AND counted IS NOT NULL AND (second IS NULL OR second = counted)
 UNION ALL
SELECT 'slips/' || slip_id, asked || ' asked and received', 'two people' FROM by_slip
 WHERE kind = 'credit' AND asked = counted
 UNION ALL
SELECT 'slips/' || slip_id, compared || ' compared what they signed', 'somebody else' FROM by_slip
 WHERE compared IN (asked, issued, carried, counted, second, filed)
 UNION ALL
SELECT 'pay-slips/' || id, issued_by_id || ' issued and paid', 'two people' FROM settlement_payslip
 WHERE paid_at >= %(since)s AND issued_by_id IN (paid_by_id, paid_second_id)
 UNION ALL
SELECT 'pay-slips/' || id, paid_by_id || ' signed the payment twice', 'two people' FROM settlement_payslip
 WHERE paid_at >= %(since)s AND paid_by_id = paid_second_id
"""


def signed_by_others(books: Books) -> Iterator[Finding]:
    """Who asks does not issue, who carries does nothing else, who issues does not receive, a fill is counted by two;
    who issues a pay slip does not pay it."""
    for subject, found, expected in books.rows(_SIGNED):
        yield Finding(subject, found, expected)


def _number(prefix: str, row: str) -> str:
    """SQL of a number as it is written; NULL where the row has none."""
    return (
        f"(SELECT {prefix} || '-' || n.year || '-' || lpad({row}.number::text,"  # noqa: S608 - only names
        f" greatest(6, length({row}.number::text)), '0') FROM settlement_series n WHERE n.id = {row}.series_id)"
    )


_REASON = "coalesce(t.data #>> '{reason,text_sha256}', '')"

SLIPS = Pair(
    "slips",
    (
        "slip.requested", "slip.issued", "slip.dispatched", "slip.counted", "slip.received", "slip.deposited",
        "slip.voided", "slip.compared",
    ),
    f"""
    SELECT x.slip_id || '/' || x.ordinal, jsonb_build_object(
        'action', CASE x.step WHEN 'in_transit' THEN 'slip.dispatched' WHEN 'void' THEN 'slip.voided'
                              ELSE 'slip.' || x.step END,
        'step', x.step, 'ordinal', x.ordinal, 'kind', s.kind, 'session', s.session_id, 'table', c.code,
        'number', CASE x.step WHEN 'requested' THEN NULL ELSE {_number("upper(s.kind)", "s")} END,
        'manual_number', s.manual_number, 'cage', CASE x.step WHEN 'requested' THEN '' ELSE s.cage END,
        'lines', x.lines, 'amount', x.amount, 'currency', s.currency, 'by', x.by_id, 'second', x.second_id,
        'reason_sha256', CASE x.reason WHEN '' THEN '' ELSE encode(sha256(convert_to(x.reason, 'UTF8')), 'hex') END,
        'journal', x.journal_id, 'at', x.taken_at)
      FROM settlement_slipstep x JOIN settlement_slip s ON s.id = x.slip_id JOIN casino_table c ON c.id = s.table_id
     WHERE x.taken_at >= %(since)s
    """,  # noqa: S608 - only names of columns
    f"""
    SELECT split_part(t.subject, '/', 2) || '/' || (t.data ->> 'ordinal'), t.data - 'reason' || jsonb_build_object(
        'action', t.action, 'table', t.table_code, 'by', t.person, 'at', t.at, 'reason_sha256', {_REASON},
        'journal', t.data #> '{{journal,id}}')
      FROM told t
    """,  # noqa: S608
)  # fmt: skip

_ACTS_OF_A_CLAIM = f"""
    SELECT p.id || ' ' || act.action, act.facts || jsonb_build_object(
        'number', {_number("'PAY'", "p")}, 'wager', p.wager, 'round', p.round_id, 'table', c.code)
      FROM settlement_payslip p JOIN casino_table c ON c.id = p.table_id
      JOIN settlement_settlement s ON s.id = p.settlement_id
     CROSS JOIN LATERAL (VALUES
        ('pay_slip.issued', p.issued_at, jsonb_build_object(
            'by', p.issued_by_id, 'at', p.issued_at, 'settlement', p.settlement_id, 'revision', s.revision,
            'settled_before', p.settled_before, 'amount', p.amount, 'currency', p.currency,
            'gaming_day', p.gaming_day, 'journal', p.issue_journal_id, 'reason_sha256', '')),
        ('pay_slip.paid', p.paid_at, jsonb_build_object(
            'by', p.paid_by_id, 'at', p.paid_at, 'cage', p.cage, 'second', p.paid_second_id, 'key', p.paid_key_id,
            'journal', p.payment_journal_id, 'reason_sha256', '')),
        ('pay_slip.voided', p.voided_at, jsonb_build_object(
            'by', p.voided_by_id, 'at', p.voided_at, 'paid_in_chips', p.void_in_chips::int,
            'journal', p.void_journal_id, 'superseded_by', p.superseded_by_id, 'clearing', p.void_clearing_id,
            'reason_sha256', CASE p.void_reason WHEN '' THEN '' ELSE
                encode(sha256(convert_to(p.void_reason, 'UTF8')), 'hex') END))) AS act (action, at, facts)
     WHERE act.at >= %(since)s
"""  # noqa: S608

PAY_SLIPS = Pair(
    "pay slips",
    ("pay_slip.issued", "pay_slip.paid", "pay_slip.voided"),
    _ACTS_OF_A_CLAIM,
    f"""
    SELECT split_part(t.subject, '/', 2) || ' ' || t.action, t.data - 'reason' - 'journals' || jsonb_build_object(
        'round', t.round, 'table', t.table_code, 'at', t.at, 'reason_sha256', {_REASON},
        'by', CASE WHEN t.data ? 'superseded_by' THEN NULL ELSE t.person END,
        'journal', t.data #> '{{journal,id}}')
        || CASE t.action WHEN 'pay_slip.voided' THEN jsonb_build_object(
            'superseded_by', t.data -> 'superseded_by', 'clearing', t.data #> '{{journals,0,id}}') ELSE '{{}}' END
      FROM told t
    """,  # noqa: S608
)

PAIRS = (SLIPS, PAY_SLIPS)
SWEEPS = (
    numbers_without_holes,
    slips_stand_as_signed,
    transit_is_what_is_under_way,
    paid_once_in_the_last_revision,
)
"""What I12 asks of slips and pay slips."""
