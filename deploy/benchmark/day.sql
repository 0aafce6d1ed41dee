-- A day made of copies: further rounds of the same sessions, each copy %(shift)s milliseconds after the one before, with
-- events, settlements, lines and entries that continue the chains of their accounts. For a scratch database alone.
CREATE TEMP TABLE copies AS SELECT k, make_interval(secs => k * %(shift)s / 1000.0) AS after
  FROM generate_series(1, %(copies)s) AS k;
CREATE TEMP TABLE played AS
SELECT r.*, (SELECT count(*) FROM casino_round o WHERE o.session_id = r.session_id) AS in_session FROM casino_round r;
CREATE TEMP TABLE sent AS SELECT device_id, max(device_seq) AS numbers FROM casino_roundevent GROUP BY device_id;
CREATE TEMP TABLE posted AS SELECT * FROM settlement_journal WHERE kind = 'round';
CREATE TEMP TABLE moved AS
SELECT e.account_id, count(*) AS entries, sum(e.amount)::bigint AS amount
  FROM settlement_entry e JOIN posted j ON j.id = e.journal_id GROUP BY e.account_id;

-- Ids of the service carry their millisecond in front.
CREATE FUNCTION pg_temp.later(id uuid, k bigint) RETURNS uuid LANGUAGE sql AS $$
    SELECT (lpad(to_hex(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint + k * %(shift)s), 12, '0')
            || substr(replace(id::text, '-', ''), 13))::uuid
$$;

INSERT INTO casino_round (id, table_id, session_id, number, recorder_id, standing, reasons, in_dispute, due_at,
       created_at, opened_at, closed_at, gaming_day, event_count, record, cards_seen)
SELECT pg_temp.later(id, k), table_id, session_id, number + k * in_session, recorder_id, standing, reasons, in_dispute,
       due_at, created_at + after, opened_at + after, closed_at + after, gaming_day, event_count, record, cards_seen
  FROM played CROSS JOIN copies;

INSERT INTO casino_roundevent (round_id, seq, kind, payload, source, event_id, device_id, device_seq, person_id,
       signature_id, signer_id, signed, happened_at, instant, clock_off, recorded_at, offset_ms, sha256, late)
SELECT pg_temp.later(e.round_id, k), seq, kind, payload, source, event_id, e.device_id, device_seq + k * numbers,
       person_id, signature_id, signer_id, signed, happened_at, instant, clock_off, recorded_at + after, offset_ms,
       sha256, late
  FROM casino_roundevent e JOIN sent ON sent.device_id = e.device_id CROSS JOIN copies ORDER BY k, e.id;

INSERT INTO settlement_journal (id, kind, key, gaming_day, orig_day, currency, entry_count, round, recorded_at)
SELECT pg_temp.later(id, k), kind, key || ':' || k, gaming_day, orig_day, currency, entry_count,
       pg_temp.later(round, k), recorded_at + after
  FROM posted CROSS JOIN copies;

INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
SELECT pg_temp.later(e.journal_id, k), e.ordinal, e.account_id, e.amount, e.currency, e.version + k * m.entries,
       e.balance_after + k * m.amount, e.wager
  FROM settlement_entry e JOIN posted j ON j.id = e.journal_id JOIN moved m ON m.account_id = e.account_id
 CROSS JOIN copies ORDER BY k, e.id;

INSERT INTO settlement_settlement (id, round_id, revision, outcome, sheet_id, journal_id, upto, cites, inputs,
       record_sha256, house_net, currency, gaming_day, settled_at)
SELECT pg_temp.later(id, k), pg_temp.later(round_id, k), revision, outcome, sheet_id, pg_temp.later(journal_id, k), upto,
       cites, inputs, record_sha256, house_net, currency, gaming_day, settled_at + after
  FROM settlement_settlement CROSS JOIN copies;

INSERT INTO settlement_line (settlement_id, ordinal, wager, hand, owner_kind, owner_ref, account, stake, cards,
       hand_kind, hand_taem, hand_deng, dealer_cards, dealer_kind, dealer_taem, dealer_deng, step, multiple, gross,
       uncovered, commission, net, rounding_bp)
SELECT pg_temp.later(settlement_id, k), ordinal, wager, hand, owner_kind, owner_ref, account, stake, cards, hand_kind,
       hand_taem, hand_deng, dealer_cards, dealer_kind, dealer_taem, dealer_deng, step, multiple, gross, uncovered,
       commission, net, rounding_bp
  FROM settlement_line CROSS JOIN copies;

UPDATE settlement_account a SET version = a.version + %(copies)s * m.entries, balance = a.balance + %(copies)s * m.amount
  FROM moved m WHERE m.account_id = a.id;
