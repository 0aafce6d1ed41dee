"""A correction that changes no line keeps the journals of the revision before as its own, and posts none."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

# A revision takes back exactly what the one before it had posted, or stands on it whole: same outcome, same journals.
FOLLOWS = """
CREATE OR REPLACE FUNCTION settlement_revisions_follow() RETURNS trigger
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
       OR (s.changes_nothing AND (s.journal_id, s.shortfall_id, s.outcome, s.house_net)
                 IS DISTINCT FROM (o.journal_id, o.shortfall_id, o.outcome, o.house_net))
       OR (NOT s.changes_nothing AND (
              r.reverses_id IS DISTINCT FROM o.journal_id OR t.reverses_id IS DISTINCT FROM o.shortfall_id))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the revision of round % does not follow the one before it', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'settlement_follows';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION settlement_same_lines() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    wrong text;
BEGIN
    SELECT s.round_id INTO wrong FROM public.settlement_settlement s
     WHERE s.id = NEW.id AND s.changes_nothing AND (
           SELECT jsonb_agg(to_jsonb(l) - 'id' - 'settlement_id' ORDER BY l.ordinal)
             FROM public.settlement_line l WHERE l.settlement_id = s.id)
       IS DISTINCT FROM (
           SELECT jsonb_agg(to_jsonb(l) - 'id' - 'settlement_id' ORDER BY l.ordinal)
             FROM public.settlement_line l WHERE l.settlement_id = s.supersedes_id);
    IF FOUND THEN
        RAISE EXCEPTION 'the revision of round % changes a line, and says that it changes nothing', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'settlement_same_lines';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER same_lines AFTER INSERT ON settlement_settlement DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.changes_nothing) EXECUTE FUNCTION settlement_same_lines();
ALTER TABLE settlement_settlement ENABLE ALWAYS TRIGGER same_lines;
"""


def _journal():
    return models.ForeignKey(
        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.journal"
    )


class Migration(migrations.Migration):
    dependencies = [("settlement", "0018_drops_taken_back")]

    operations = [
        migrations.AddField(
            model_name="settlement", name="changes_nothing", field=models.BooleanField(default=False)
        ),
        migrations.AlterField(model_name="settlement", name="journal", field=_journal()),
        migrations.AlterField(model_name="settlement", name="shortfall", field=_journal()),
        migrations.AddConstraint(
            model_name="settlement",
            constraint=models.UniqueConstraint(
                fields=["journal"], condition=Q(changes_nothing=False), name="settlement_journal_posted_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="settlement",
            constraint=models.UniqueConstraint(
                fields=["shortfall"],
                condition=Q(changes_nothing=False),
                name="settlement_shortfall_posted_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="settlement",
            constraint=models.CheckConstraint(
                condition=Q(changes_nothing=False)
                | Q(revision__gt=1, reversal=None, shortfall_reversal=None),
                name="settlement_that_changes_nothing_moves_nothing",
            ),
        ),
        migrations.RunSQL(FOLLOWS, migrations.RunSQL.noop),
    ]
