"""I8 by statements over the whole record: numbers, gaps, devices and signatures."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books
from casino import devices

_PLACES = """
WITH chosen AS (SELECT DISTINCT round_id AS id FROM casino_roundevent WHERE id >= %(since_event)s
                UNION SELECT id FROM casino_round WHERE %(is_full)s)
SELECT r.id, r.event_count, count(e.id), count(DISTINCT e.seq), coalesce(min(e.seq), 1), coalesce(max(e.seq), 0)
  FROM chosen JOIN casino_round r USING (id) LEFT JOIN casino_roundevent e ON e.round_id = r.id
 GROUP BY r.id
HAVING count(e.id) <> r.event_count OR count(DISTINCT e.seq) <> count(e.id)
    OR coalesce(min(e.seq), 1) <> 1 OR coalesce(max(e.seq), 0) <> count(e.id)
"""


def events_without_holes(books: Books) -> Iterator[Finding]:
    """The events of a round are numbered 1 to n, and the round knows how many they are."""
    for id, stated, events, places, first, last in books.rows(_PLACES):
        yield Finding(
            f"rounds/{id}",
            f"{events} events in {places} places from {first} to {last}, {stated} stated",
            "as many as stated, numbered from 1",
        )


# Numbers are reckoned with as numerics: a device may have used the last that a bigint holds, and the range of it ends
# one beyond. The widest range is one finding. A number that fills an old hole is new while those behind it are old:
# from the lowest new number of a device on, all of its numbers are read, whenever they came.
_NUMBERS = """
WITH fresh AS (
    SELECT device_id, min(device_seq) AS first FROM (
        SELECT device_id, device_seq FROM casino_roundevent WHERE id >= %(since_event)s AND device_id IS NOT NULL
         UNION ALL SELECT device_id, device_seq FROM casino_refusedevent WHERE claims AND recorded_at >= %(since)s) came
     GROUP BY device_id
), used AS (
    SELECT e.device_id, e.device_seq
      FROM fresh f JOIN casino_roundevent e ON e.device_id = f.device_id AND e.device_seq >= f.first
     UNION ALL
    SELECT e.device_id, e.device_seq
      FROM fresh f JOIN casino_refusedevent e ON e.device_id = f.device_id AND e.device_seq >= f.first AND e.claims
), have AS (
    SELECT device_id, range_agg(numrange(device_seq, device_seq::numeric + 1)) AS numbers, min(device_seq) AS first
      FROM used GROUP BY device_id
), listed AS (
    SELECT d.id AS device_id, range_agg(numrange((h ->> 0)::numeric, (h ->> 1)::numeric + 1)) AS numbers
      FROM casino_device d CROSS JOIN jsonb_array_elements(d.holes) AS h GROUP BY d.id
), waived AS (
    SELECT device_id, range_agg(numrange(first, last::numeric + 1)) AS numbers FROM casino_gapwaiver
     GROUP BY device_id
), device AS (
    SELECT d.id, d.code, coalesce(have.numbers, '{}') AS have, coalesce(listed.numbers, '{}') AS holes,
           coalesce(waived.numbers, '{}') AS waived,
           CASE WHEN d.last_seq = 0 OR (have.first IS NULL AND NOT %(is_full)s) THEN '{}'::nummultirange
                ELSE nummultirange(numrange(CASE WHEN %(is_full)s THEN 1 ELSE have.first END,
                                            greatest(d.last_seq, have.first)::numeric + 1)) END AS wanted
      FROM casino_device d LEFT JOIN have ON have.device_id = d.id
      LEFT JOIN listed ON listed.device_id = d.id LEFT JOIN waived ON waived.device_id = d.id)
SELECT code, wanted - have - holes - waived, have - wanted, have * holes FROM device
 WHERE NOT isempty(wanted - have - holes - waived) OR NOT isempty(have - wanted) OR NOT isempty(have * holes)
"""


def every_number_accounted_for(books: Books) -> Iterator[Finding]:
    """Each number of a device up to its last is recorded, refused, or missing and listed or waived."""
    for code, missing, beyond, both in books.rows(_NUMBERS):
        for numbers, text in (
            (missing, "missing and not listed"),
            (beyond, "beyond the device's last"),
            (both, "recorded and listed as missing"),
        ):
            if numbers:
                ranges = ", ".join(f"{part.lower}-{part.upper - 1}" for part in numbers)
                yield Finding(f"devices/{code}", f"{ranges} {text}", "recorded, refused, or a listed gap")


_OVER_GAPS = """
WITH chosen AS (
    SELECT round_id, settled_at FROM settlement_settlement
     WHERE id >= %(since_id)s AND revision = 1 AND outcome = 'settled'
), spans AS (
    SELECT c.round_id, c.settled_at, e.device_id, min(e.device_seq) AS first, max(e.device_seq) AS last,
           (array_agg(e.kind ORDER BY e.device_seq))[1] = 'round_opened' AS opens
      FROM chosen c JOIN casino_round r ON c.round_id IN (r.id, r.alias_of_id)
      JOIN casino_roundevent e ON e.round_id = r.id AND e.recorded_at <= c.settled_at AND NOT e.late
      JOIN casino_device d ON d.id = e.device_id AND d.kind = 'terminal'
     GROUP BY c.round_id, c.settled_at, e.device_id
), asked AS (
    SELECT s.*, greatest(1, CASE WHEN opens THEN first ELSE first - 1 END) AS low,
           coalesce((SELECT n.device_seq FROM casino_roundevent n
                      WHERE n.device_id = s.device_id AND n.device_seq > s.last AND n.recorded_at <= s.settled_at
                      ORDER BY n.device_seq LIMIT 1)::numeric, s.last::numeric + 1) AS high
      FROM spans s
), known AS (
    SELECT a.*, nummultirange(numrange(low, high))
        - coalesce((SELECT range_agg(numrange(e.device_seq, e.device_seq::numeric + 1)) FROM casino_roundevent e
                     WHERE e.device_id = a.device_id AND e.device_seq >= low AND e.device_seq < high
                       AND e.recorded_at <= a.settled_at), '{}')
        - coalesce((SELECT range_agg(numrange(r.device_seq, r.device_seq::numeric + 1)) FROM casino_refusedevent r
                     WHERE r.device_id = a.device_id AND r.device_seq >= low AND r.device_seq < high
                       AND r.claims AND r.recorded_at <= a.settled_at), '{}')
        - coalesce((SELECT range_agg(numrange(w.first, w.last::numeric + 1)) FROM casino_gapwaiver w
                     WHERE w.device_id = a.device_id AND w.waived_at <= a.settled_at), '{}') AS missing
      FROM asked a)
SELECT round_id, d.id, d.code, missing, settled_at FROM known JOIN casino_device d ON d.id = device_id
 WHERE NOT isempty(missing)
"""

# An act carries the instant at which it was asked for; which of two came first, the order of their entries says.
_TOLD_BEFORE = """
SELECT (x.value ->> 'seq')::numeric
  FROM audit_logentry l
 CROSS JOIN LATERAL (SELECT convert_from(l.bytes, 'UTF8')::jsonb -> 'data' AS data) AS told
 CROSS JOIN LATERAL (SELECT * FROM jsonb_array_elements(told.data -> 'events')
                      UNION ALL SELECT * FROM jsonb_array_elements(told.data -> 'refused')) AS x
 WHERE l.actor = %(device)s AND l.action IN ('round.recorded', 'events.refused')
   AND l.recorded_at BETWEEN %(settled_at)s AND %(settled_at)s + interval '10 min'
   AND l.id < (SELECT min(s.id) FROM audit_logentry s WHERE s.round = %(round)s AND s.action = 'round.settled')
"""


def not_settled_over_a_gap(books: Books) -> Iterator[Finding]:
    """When a round was settled, no number of its terminal was missing in it or at its edge, unless waived."""
    for round, device, code, missing, settled_at in books.rows(_OVER_GAPS):
        asked = {"device": str(device), "round": round, "settled_at": settled_at}
        there = [int(number) for (number,) in books.all(_TOLD_BEFORE, asked)]
        holes = [(int(part.lower), int(part.upper) - 1) for part in missing]
        left = devices.without(holes, there)
        if left:
            ranges = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in left)
            yield Finding(
                f"rounds/{round}",
                f"settled while {ranges} of {code} were missing",
                "held, or the gap waived",
            )


_DEVICES = """
SELECT e.id, d.code, e.recorded_at, d.enrolled_at, d.revoked_at, d.table_id = r.table_id
  FROM casino_roundevent e JOIN casino_device d ON d.id = e.device_id JOIN casino_round r ON r.id = e.round_id
 WHERE e.id >= %(since_event)s
   AND (d.enrolled_at > e.recorded_at OR d.revoked_at < e.recorded_at OR d.table_id <> r.table_id)
"""


def reported_by_its_tables_device(books: Books) -> Iterator[Finding]:
    """Each event's device was enrolled, not revoked, and bound to the round's table."""
    for id, code, recorded, enrolled, revoked, own_table in books.rows(_DEVICES):
        yield Finding(
            f"events/{id}",
            f"{code}, enrolled {enrolled}, revoked {revoked}, recorded {recorded}"
            + ("" if own_table else ", at another table"),
            "a device of the table, enrolled and not revoked",
        )


_SIGNED = """
SELECT e.id, e.kind, e.signed, e.signer_id, e.person_id, s.person_id, coalesce(s.may_rule, false),
       s.session_id = r.session_id
  FROM casino_roundevent e JOIN casino_round r ON r.id = e.round_id
  LEFT JOIN casino_signature s ON s.id = e.signature_id
 WHERE e.id >= %(since_event)s AND e.signed <> ''
   AND ((e.signed = 'signature' AND (s.id IS NULL OR e.signer_id IS DISTINCT FROM s.person_id OR NOT s.may_rule
                                     OR s.person_id = e.person_id OR s.signed_at > e.recorded_at
                                     OR (s.session_id IS NOT NULL AND s.session_id <> r.session_id)))
        OR (e.signed = 'on_duty' AND NOT EXISTS (
            SELECT FROM casino_duty d WHERE d.session_id = r.session_id AND d.person_id = e.signer_id
               AND d.role = 'supervisor' AND d.on_at <= e.recorded_at
               AND (d.off_at IS NULL OR d.off_at >= e.recorded_at))))
"""


def signed_by_another_with_the_right(books: Books) -> Iterator[Finding]:
    """Each sign-off is of another person than who acted, who had the right to it, in that session."""
    for id, kind, signed, signer, person, given_by, may_rule, _ in books.rows(_SIGNED):
        yield Finding(
            f"events/{id}",
            f"{kind} of {person} signed ({signed}) by {signer}; the signature is {given_by}'s, may rule: {may_rule}",
            "signed by another person who may rule there",
        )
