"""What the database itself refuses, whoever asks.

Balance and completeness are looked at once per statement, over all of its rows: a journal and its entries
are written by one statement, so nothing half-written is ever there to be seen, and nothing can join a
journal later. Functions have a fixed search path, so that no table of the same name elsewhere is read
instead; triggers fire ALWAYS, so that a session in the replica role does not silence them. What they look
up they look up by index: how many rows a statement wrote is not known when the plan is made, and a plan
that reads the whole ledger once is slow for ever after.
"""

from django.db import migrations

# A journal has all its entries when the statement that wrote it ends. A reversal inverts a journal that is
# no reversal itself, entry for entry; that it does so once is a unique constraint.
JOURNALS = """
CREATE FUNCTION settlement_journals_are_whole() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    wrong text;
BEGIN
    SELECT j.key INTO wrong FROM added j
    WHERE (SELECT count(*) FROM public.settlement_entry e WHERE e.journal_id = j.id) <> j.entry_count
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % does not have the entries it states', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'journal_is_whole';
    END IF;

    IF NOT EXISTS (SELECT FROM added WHERE reverses_id IS NOT NULL) THEN
        RETURN NULL;
    END IF;
    SELECT j.key INTO wrong
    FROM added j JOIN public.settlement_journal o ON o.id = j.reverses_id
    WHERE (j.kind = 'round_reversal' AND o.kind NOT IN ('round', 'hold_shortfall', 'shortfall_recovered'))
       OR (j.kind = 'pay_slip_void' AND o.kind <> 'pay_slip_issued')
       OR o.round IS DISTINCT FROM j.round
       OR o.entry_count <> j.entry_count
       OR j.entry_count <> (
            SELECT count(*)
            FROM public.settlement_entry e
            JOIN public.settlement_entry r ON r.journal_id = o.id AND r.ordinal = e.ordinal
            WHERE e.journal_id = j.id
              AND r.account_id = e.account_id AND r.amount = -e.amount AND r.wager = e.wager)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % does not take back the journal it names', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'journal_inverts_exactly';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER journals_are_whole AFTER INSERT ON settlement_journal
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_journals_are_whole();
ALTER TABLE settlement_journal ENABLE ALWAYS TRIGGER journals_are_whole;
"""

# The entries of one statement make up whole journals, each in one currency that is its accounts' too, and
# add up to nothing; journals and accounts are there. In each account they follow the entry before them, and
# the account's row already stands where they end.
ENTRIES = """
CREATE FUNCTION settlement_entries_add_up() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    wrong text;
BEGIN
    SELECT written.journal_id INTO wrong
    FROM (
        SELECT e.journal_id, count(*) AS entries, count(a.id) AS accounts,
               min(e.ordinal) AS first, max(e.ordinal) AS last, sum(e.amount) AS total, min(e.currency) AS currency,
               bool_and(e.currency = a.currency) AS of_its_account, count(DISTINCT e.currency) AS currencies
        FROM added e LEFT JOIN public.settlement_account a ON a.id = e.account_id
        GROUP BY e.journal_id
    ) written LEFT JOIN public.settlement_journal j ON j.id = written.journal_id
    WHERE j.id IS NULL OR written.accounts <> written.entries
       OR written.first <> 0 OR written.last <> j.entry_count - 1
       OR written.total <> 0
       OR NOT written.of_its_account OR written.currencies <> 1 OR written.currency <> j.currency
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the entries of journal % do not make it up, or do not add up to nothing', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'entries_add_up';
    END IF;

    SELECT a.code INTO wrong
    FROM (
        SELECT n.account_id, n.version, n.amount, n.balance_after,
               lag(n.version) OVER one AS version_before, lag(n.balance_after) OVER one AS balance_before,
               lead(n.version) OVER one AS version_after
        FROM added n
        WINDOW one AS (PARTITION BY n.account_id ORDER BY n.version)
    ) e JOIN public.settlement_account a ON a.id = e.account_id
    WHERE e.version <> e.version_before + 1
       OR e.balance_after IS DISTINCT FROM e.amount + CASE
            WHEN e.version_before IS NOT NULL THEN e.balance_before
            WHEN e.version = 1 THEN 0
            ELSE (SELECT p.balance_after FROM public.settlement_entry p
                  WHERE p.account_id = e.account_id AND p.version = e.version - 1)
          END
       OR (e.version_after IS NULL AND (a.version <> e.version OR a.balance <> e.balance_after))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'entries do not follow those of account % before them', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'entries_are_chained';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER entries_add_up AFTER INSERT ON settlement_entry
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_entries_add_up();
ALTER TABLE settlement_entry ENABLE ALWAYS TRIGGER entries_add_up;
"""

# A settlement's journals are its round's, and a revision takes back exactly what the one before it had
# posted.
SETTLEMENTS = """
CREATE FUNCTION settlement_revisions_follow() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    wrong text;
BEGIN
    SELECT s.round_id INTO wrong
    FROM added s
    LEFT JOIN public.settlement_settlement o ON o.id = s.supersedes_id
    LEFT JOIN public.settlement_journal j ON j.id = s.journal_id
    LEFT JOIN public.settlement_journal f ON f.id = s.shortfall_id
    LEFT JOIN public.settlement_journal r ON r.id = s.reversal_id
    LEFT JOIN public.settlement_journal t ON t.id = s.shortfall_reversal_id
    WHERE (s.supersedes_id IS NOT NULL
           AND (o.round_id IS DISTINCT FROM s.round_id OR o.revision IS DISTINCT FROM s.revision - 1))
       OR (j.id IS NOT NULL AND (j.kind <> 'round' OR j.round IS DISTINCT FROM s.round_id))
       OR (f.id IS NOT NULL AND (f.kind <> 'hold_shortfall' OR f.round IS DISTINCT FROM s.round_id))
       OR r.reverses_id IS DISTINCT FROM o.journal_id
       OR t.reverses_id IS DISTINCT FROM o.shortfall_id
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the revision of round % does not follow the one before it', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'settlement_follows';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER revisions_follow AFTER INSERT ON settlement_settlement
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_revisions_follow();
ALTER TABLE settlement_settlement ENABLE ALWAYS TRIGGER revisions_follow;

CREATE FUNCTION settlement_lines_add_up() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    wrong text;
BEGIN
    SELECT s.round_id INTO wrong
    FROM (
        SELECT l.settlement_id, count(*) AS lines, min(l.ordinal) AS first, max(l.ordinal) AS last, sum(l.net) AS net
        FROM added l GROUP BY l.settlement_id
    ) written JOIN public.settlement_settlement s ON s.id = written.settlement_id
    WHERE written.first <> 0 OR written.last <> written.lines - 1 OR written.net <> -s.house_net
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the lines of round % are not all there, or do not come to the house''s net', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'lines_add_up';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER lines_add_up AFTER INSERT ON settlement_line
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_lines_add_up();
ALTER TABLE settlement_line ENABLE ALWAYS TRIGGER lines_add_up;
"""

APPEND_ONLY = (
    "settlement_tablerules",
    "settlement_journal",
    "settlement_entry",
    "settlement_uncovered",
    "settlement_settlement",
    "settlement_line",
    "settlement_count",
    "settlement_float",
)
ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""

# Rows that have a state: it alone changes, a sheet's approval and a hold's end once. Nothing is taken away.
STATE_ONLY = """
CREATE TRIGGER append_only_rows BEFORE DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON {table}
    FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_but_state;
"""
WITH_STATE = {
    "settlement_rulesheet": """
        OLD.approved_at IS NOT NULL
        OR (OLD.id, OLD.name, OLD.canonical, OLD.sha256, OLD.proposed_by_id, OLD.proposed_at)
        IS DISTINCT FROM (NEW.id, NEW.name, NEW.canonical, NEW.sha256, NEW.proposed_by_id, NEW.proposed_at)""",
    "settlement_account": """
        (OLD.id, OLD.code, OLD.kind, OLD.currency, OLD.floor, OLD.table_id)
        IS DISTINCT FROM (NEW.id, NEW.code, NEW.kind, NEW.currency, NEW.floor, NEW.table_id)
        OR NEW.version < OLD.version""",
    "settlement_hold": """
        OLD.ended_at IS NOT NULL
        OR (OLD.id, OLD.account_id, OLD.round_id, OLD.wager, OLD.amount, OLD.opened_at)
        IS DISTINCT FROM (NEW.id, NEW.account_id, NEW.round_id, NEW.wager, NEW.amount, NEW.opened_at)""",
}

# Account rows are changed in place all night: room on the page keeps a change off the indexes.
ROOM = "ALTER TABLE settlement_account SET (fillfactor = 70)"


class Migration(migrations.Migration):
    dependencies = [("settlement", "0001_ledger")]

    operations = [
        migrations.RunSQL(JOURNALS, migrations.RunSQL.noop),
        migrations.RunSQL(ENTRIES, migrations.RunSQL.noop),
        migrations.RunSQL(SETTLEMENTS, migrations.RunSQL.noop),
        *(migrations.RunSQL(ADD_ONLY.format(table=table), migrations.RunSQL.noop) for table in APPEND_ONLY),
        *(
            migrations.RunSQL(STATE_ONLY.format(table=table, changed=changed), migrations.RunSQL.noop)
            for table, changed in WITH_STATE.items()
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    ]
