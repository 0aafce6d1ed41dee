"""I17: whatever happened has its entry in the log with facts equal to the row, and no entry lacks its row.

Each pair below reads one kind of row and the entries that tell of it, both as (key, facts). A key without its other
side, or with other facts, is a finding. Instants are compared too: an entry is of the act that wrote the row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from audit.controls.findings import Finding, Sweep
from audit.controls.snapshot import Books
from casino.rounds import event_hash as stored_form


@dataclass(frozen=True, slots=True)
class Pair:
    """``rows`` and ``entries`` are statements that give (key, facts). ``actions`` are those of the entries, which the
    second statement reads from ``told`` with their ``data``."""

    name: str
    actions: tuple[str, ...]
    rows: str
    entries: str


_COMPARE = """
WITH told AS MATERIALIZED (
    SELECT l.id, l.subject, l.action, l.table_code, l.device, l.person, l.round, l.recorded_at AS at,
           convert_from(l.bytes, 'UTF8')::jsonb -> 'data' AS data
      FROM audit_logentry l WHERE l.recorded_at >= %(since)s AND l.action = ANY (%(actions)s)
), stored (key, facts) AS ({rows}), entered (key, facts) AS (SELECT DISTINCT key, facts FROM ({entries}) e (key, facts))
SELECT key, stored.facts, entered.facts FROM stored FULL JOIN entered USING (key)
 WHERE stored.facts IS DISTINCT FROM entered.facts
"""


def sweep(pair: Pair) -> Sweep:
    """Return the check that compares both sides of a pair."""
    statement = _COMPARE.format(rows=pair.rows, entries=pair.entries)

    def check(books: Books) -> Iterator[Finding]:
        for key, stored, entered in books.rows(statement, {"actions": list(pair.actions)}):
            if entered is None:
                yield Finding(f"{pair.name}/{key}", "no entry in the log", f"an entry that says {stored}")
            elif stored is None:
                yield Finding(
                    f"{pair.name}/{key}", f"an entry that says {entered}", "the row that it tells of"
                )
            else:
                told = {name: value for name, value in entered.items() if stored.get(name) != value}
                found = {name: stored.get(name) for name in told}
                yield Finding(f"{pair.name}/{key}", f"the row says {found}", f"as its entry says, {told}")

    return check


# An entry of a batch lists what it recorded and what it refused, by number and hash.
EVENTS = Pair(
    "events",
    ("round.recorded",),
    """
    SELECT e.round_id || '/' || e.seq,
           jsonb_build_object('device', coalesce(d.code, ''), 'number', e.device_seq, 'kind', e.kind,
                              'sha256', encode(e.sha256, 'hex'), 'at', e.recorded_at)
      FROM casino_roundevent e LEFT JOIN casino_device d ON d.id = e.device_id
     WHERE e.id >= %(since_event)s AND e.recorded_at >= %(since)s
    """,
    """
    SELECT t.round || '/' || (x.value ->> 'place'),
           jsonb_build_object('device', t.device, 'number', x.value -> 'seq', 'kind', x.value ->> 'kind',
                              'sha256', x.value ->> 'sha256', 'at', t.at)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'events') AS x
    """,
)

REFUSED = Pair(
    "refused",
    ("round.recorded", "events.refused"),
    """
    SELECT d.code || '/' || r.device_seq || '/' || encode(r.sha256, 'hex'),
           jsonb_build_object('code', r.code, 'at', r.recorded_at)
      FROM casino_refusedevent r JOIN casino_device d ON d.id = r.device_id WHERE r.recorded_at >= %(since)s
    """,
    """
    SELECT t.device || '/' || (x.value ->> 'seq') || '/' || (x.value ->> 'sha256'),
           jsonb_build_object('code', x.value ->> 'code', 'at', t.at)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'refused') AS x
     WHERE x.value ->> 'seq' <> '0' AND x.value ->> 'code' <> 'table_closed'
    """,
)
"""An entry's ``refused`` have their rows; what it says was ``turned_away`` used up no number and has none. Older
entries list the latter among the former: what had no number, and what came while the table was closed."""

_LINES = """
    '[' || coalesce((SELECT string_agg('[' || concat_ws(',',
        to_json(l.wager), to_json(l.hand), to_json(l.owner_kind), to_json(l.owner_ref), to_json(l.account), l.stake,
        (SELECT '[' || coalesce(string_agg(to_json(c)::text, ',' ORDER BY n), '') || ']'
           FROM unnest(l.cards) WITH ORDINALITY AS u (c, n)),
        to_json(l.hand_kind), coalesce(l.hand_taem::text, 'null'), coalesce(l.hand_deng::text, 'null'),
        (SELECT '[' || coalesce(string_agg(to_json(c)::text, ',' ORDER BY n), '') || ']'
           FROM unnest(l.dealer_cards) WITH ORDINALITY AS u (c, n)),
        to_json(l.dealer_kind), coalesce(l.dealer_taem::text, 'null'), coalesce(l.dealer_deng::text, 'null'),
        to_json(l.step), l.multiple, l.gross, l.uncovered, l.commission, l.net, l.rounding_bp) || ']',
        ',' ORDER BY l.ordinal) FROM settlement_line l WHERE l.settlement_id = s.id), '') || ']'
"""

SETTLEMENTS = Pair(
    "settlements",
    ("round.settled", "round.voided", "round.corrected"),
    f"""
    SELECT s.id::text, jsonb_build_object(
        'action', CASE WHEN s.revision = 1 THEN 'round.' || s.outcome ELSE 'round.corrected' END,
        'round', s.round_id, 'at', s.settled_at, 'revision', s.revision, 'outcome', s.outcome,
        'sheet_sha256', coalesce(sheet.sha256, ''), 'record_sha256', s.record_sha256,
        'lines_sha256', encode(sha256(convert_to({_LINES}, 'UTF8')), 'hex'),
        'house_net', s.house_net, 'currency', s.currency, 'gaming_day', s.gaming_day, 'upto', s.upto,
        'cites', to_jsonb(s.cites), 'inputs', s.inputs, 'because', s.because, 'acted_by', s.acted_by_id,
        'approved_by', s.approved_by_id,
        'uncovered', CASE WHEN s.revision > 1 THEN '[]' ELSE coalesce(
            (SELECT jsonb_agg(jsonb_build_array(u.wager, u.account_code, u.exposure, u.reason) ORDER BY u.wager)
               FROM settlement_uncovered u WHERE u.round_id = s.round_id), '[]') END,
        'journals', coalesce((SELECT jsonb_agg(id ORDER BY id) FROM unnest(
            ARRAY[s.journal_id, s.shortfall_id, s.reversal_id, s.shortfall_reversal_id]) AS id WHERE id IS NOT NULL),
            '[]')) || CASE WHEN s.changes_nothing THEN jsonb_build_object('changes_nothing', 1) ELSE '{{}}' END
      FROM settlement_settlement s LEFT JOIN settlement_rulesheet sheet ON sheet.id = s.sheet_id
     WHERE s.id >= %(since_id)s AND s.settled_at >= %(since)s
    """,  # noqa: S608
    """
    SELECT t.data ->> 'settlement', t.data - 'settlement' || jsonb_build_object(
        'action', t.action, 'round', t.round, 'at', t.at,
        'uncovered', coalesce((SELECT jsonb_agg(u ORDER BY u ->> 0) FROM jsonb_array_elements(t.data -> 'uncovered') u),
            '[]'),
        'journals', coalesce((SELECT jsonb_agg(j -> 'id' ORDER BY (j ->> 'id')::uuid)
            FROM jsonb_array_elements(t.data -> 'journals') AS j), '[]'))
      FROM told t
    """,
)

HELD = Pair(
    "held rounds",
    ("round.held",),
    """
    SELECT r.id::text, jsonb_build_object('reasons', to_jsonb(r.reasons)) FROM casino_round r
     WHERE r.standing = 'held' AND (%(is_full)s OR r.id IN (SELECT round FROM told))
    """,
    """
    SELECT DISTINCT ON (t.round) t.round::text, jsonb_build_object('reasons', t.data -> 'reasons')
      FROM told t JOIN casino_round r ON r.id = t.round AND r.standing = 'held'
     ORDER BY t.round, t.at DESC
    """,
)

# Any entry may carry journals, each told whole: a journal that none tells of was posted by nobody. An act that was
# sent again tells of the first one's journal once more, on its own day.
_JOURNALS = """
WITH told AS MATERIALIZED (
    SELECT one.value AS facts, l.recorded_at AS at
      FROM audit_logentry l
     CROSS JOIN LATERAL (SELECT convert_from(l.bytes, 'UTF8')::jsonb -> 'data' AS data) AS entry
     CROSS JOIN LATERAL (
        SELECT j.value FROM jsonb_array_elements(
            CASE jsonb_typeof(entry.data -> 'journals') WHEN 'array' THEN entry.data -> 'journals' ELSE '[]' END) AS j
        UNION ALL SELECT entry.data -> 'journal' WHERE jsonb_typeof(entry.data -> 'journal') = 'object') AS one
     WHERE l.recorded_at >= %(since)s
), stored AS (
    SELECT j.id, j.recorded_at AS at, jsonb_build_object(
        'id', j.id, 'kind', j.kind, 'key', j.key, 'gaming_day', j.gaming_day, 'orig_day', j.orig_day,
        'currency', j.currency, 'reverses', j.reverses_id,
        'postings', (SELECT jsonb_agg(jsonb_build_array(a.code, e.amount, e.wager) ORDER BY e.ordinal)
                       FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
                      WHERE e.journal_id = j.id)) AS facts
      FROM settlement_journal j
     WHERE (j.id >= %(since_id)s AND j.recorded_at >= %(since)s)
        OR j.id IN (SELECT (facts ->> 'id')::uuid FROM told))
SELECT coalesce(stored.id::text, told.facts ->> 'id'), stored.facts, told.facts, told.at = stored.at
  FROM stored FULL JOIN told ON (told.facts ->> 'id')::uuid = stored.id
 WHERE stored.id IS NULL OR told.at IS NULL
    OR (told.at = stored.at AND told.facts <> stored.facts)
    OR (told.at <> stored.at AND told.facts - 'gaming_day' - 'orig_day' <> stored.facts - 'gaming_day' - 'orig_day')
    OR (stored.at >= %(since)s
        AND NOT EXISTS (SELECT FROM told own WHERE own.facts = stored.facts AND own.at = stored.at))
"""


def journals_witnessed(books: Books) -> Iterator[Finding]:
    """Each journal stands in an entry of its own act with every posting; each told journal is there."""
    for id, stored, told, in_its_act in books.rows(_JOURNALS):
        if told is None:
            yield Finding(f"journals/{id}", "no entry in the log", f"an entry that says {stored}")
        elif stored is None:
            yield Finding(f"journals/{id}", f"an entry that says {told}", "the journal that it tells of")
        elif not in_its_act:
            yield Finding(f"journals/{id}", "told in another act", "told in the act that posted it")
        else:
            yield Finding(f"journals/{id}", f"the journal says {stored}", f"as its entry says, {told}")


_STORED = """
WITH told AS MATERIALIZED (
    SELECT l.round, (x.value ->> 'place')::int AS seq, x.value ->> 'stored_sha256' AS sha256
      FROM audit_logentry l
     CROSS JOIN jsonb_array_elements(convert_from(l.bytes, 'UTF8')::jsonb #> '{data,events}') AS x
     WHERE l.recorded_at >= %(since)s AND l.action = 'round.recorded')
SELECT e.id, told.sha256, e.kind, e.payload::text, e.source, e.device_seq, e.person_id, e.signature_id, e.signer_id,
       e.signed, e.happened_at, e.instant, e.late, e.jumped_from
  FROM told JOIN casino_roundevent e ON e.round_id = told.round AND e.seq = told.seq
"""


def stored_as_told(books: Books) -> Iterator[Finding]:
    """What stands in a row of the record has the hash that the witness was told of it when it was stored."""
    for (
        id,
        told,
        kind,
        payload,
        source,
        number,
        person,
        signature,
        signer,
        signed,
        happened,
        instant,
        late,
        jumped_from,
    ) in books.rows(_STORED):
        sha256 = stored_form.sha256_of(
            kind=kind, payload=json.loads(payload), source=source, device_seq=number, person=person,
            signature=signature, signer=signer, signed=signed, happened_at=happened, instant=instant, late=late,
            jumped_from=jumped_from,
        )  # fmt: skip
        if sha256 != told:
            yield Finding(f"events/{id}", f"{kind} stored as {sha256}", f"{told}, as its entry says")
