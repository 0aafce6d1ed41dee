"""A counted box may be taken back, once, by somebody with a reason: what its count posted is posted back."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

STATE_ONLY = """
DROP TRIGGER append_only_rows ON settlement_drop;
CREATE TRIGGER append_only_rows BEFORE DELETE ON settlement_drop
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON settlement_drop
    FOR EACH ROW WHEN (
        OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL
        OR (OLD.id, OLD.session_id, OLD.until_id, OLD.count_id, OLD.recorded, OLD.cage, OLD.journal_id, OLD.variance_id,
            OLD.gaming_day, OLD.grade, OLD.limits_from, OLD.accepted_at)
        IS DISTINCT FROM (NEW.id, NEW.session_id, NEW.until_id, NEW.count_id, NEW.recorded, NEW.cage, NEW.journal_id,
            NEW.variance_id, NEW.gaming_day, NEW.grade, NEW.limits_from, NEW.accepted_at)
    ) EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_drop ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_drop ENABLE ALWAYS TRIGGER append_only_but_state;
"""

# Each journal goes back whole, by one of its own kind, and nobody takes back what they counted or carried.
TAKEN_BACK = """
CREATE FUNCTION settlement_drop_goes_back_whole() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT * FROM (VALUES (NEW.journal_id, NEW.journal_back_id), (NEW.variance_id, NEW.variance_back_id))
                  AS p (there, back) LOOP
        IF part.there IS NOT NULL AND (
            (SELECT j.kind FROM public.settlement_journal j WHERE j.id = part.back)
                IS DISTINCT FROM (SELECT j.kind FROM public.settlement_journal j WHERE j.id = part.there)
            OR EXISTS (SELECT e.account_id, sum(e.amount) FROM public.settlement_entry e
                        WHERE e.journal_id IN (part.there, part.back) GROUP BY e.account_id HAVING sum(e.amount) <> 0))
        THEN
            RAISE EXCEPTION 'what the count of a box posted goes back whole'
                USING ERRCODE = '23514', CONSTRAINT = 'drop_goes_back_whole';
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM public.settlement_counting g JOIN public.settlement_count c ON c.counting_id = g.id
                WHERE g.accepted_id = NEW.count_id AND NEW.withdrawn_by_id IN (c.counted_by_id, g.carried_by_id)) THEN
        RAISE EXCEPTION 'the same person may not sign both'
            USING ERRCODE = '23514', CONSTRAINT = 'drop_taken_back_by_another';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER drop_goes_back_whole BEFORE UPDATE ON settlement_drop
    FOR EACH ROW EXECUTE FUNCTION settlement_drop_goes_back_whole();
ALTER TABLE settlement_drop ENABLE ALWAYS TRIGGER drop_goes_back_whole;
"""


def _journal():
    return models.OneToOneField(
        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.journal"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("settlement", "0017_slips_in_the_tray"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="drop",
            name="until",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.float"
            ),
        ),
        migrations.AddField(
            model_name="drop",
            name="withdrawn_by",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(model_name="drop", name="withdrawn_at", field=models.DateTimeField(null=True)),
        migrations.AddField(
            model_name="drop",
            name="withdrawn_reason",
            field=models.CharField(blank=True, default="", max_length=500),
            preserve_default=False,
        ),
        migrations.AddField(model_name="drop", name="journal_back", field=_journal()),
        migrations.AddField(model_name="drop", name="variance_back", field=_journal()),
        migrations.AddConstraint(
            model_name="drop",
            constraint=models.UniqueConstraint(
                fields=["until"], condition=Q(withdrawn_at=None), name="drop_counted_once_unless_withdrawn"
            ),
        ),
        migrations.AddConstraint(
            model_name="drop",
            constraint=models.CheckConstraint(
                condition=Q(
                    withdrawn_at=None,
                    withdrawn_by=None,
                    withdrawn_reason="",
                    journal_back=None,
                    variance_back=None,
                )
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False)
                & ~Q(withdrawn_reason="")
                & (Q(journal=None, journal_back=None) | Q(journal__isnull=False, journal_back__isnull=False))
                & (
                    Q(variance=None, variance_back=None)
                    | Q(variance__isnull=False, variance_back__isnull=False)
                ),
                name="drop_withdrawn_whole",
            ),
        ),
        migrations.RunSQL(STATE_ONLY, migrations.RunSQL.noop),
        migrations.RunSQL(TAKEN_BACK, migrations.RunSQL.noop),
    ]
