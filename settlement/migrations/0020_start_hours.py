"""The hour at which gaming days start is a dated row of two managers; the settings speak for the first alone."""

import datetime

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

# The class of this advisory lock stands in settlement.days.start_hours too, and a test compares them.
LOCK = 1_145_132_357

# Whoever makes the row of a gaming day reads the start hours behind the lock that an approval takes alone: the second
# statement of the function sees what was approved while the first one waited.
READING = f"""
CREATE FUNCTION settlement_start_hours() RETURNS TABLE (from_day date, hour smallint, zone varchar)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared({LOCK}, 0);
    RETURN QUERY SELECT s.from_day, s.hour, s.zone FROM public.settlement_starthour s
                  WHERE s.approved_at IS NOT NULL ORDER BY s.from_day;
END $$;
"""

STATE_ONLY = """
CREATE TRIGGER append_only_rows BEFORE DELETE ON settlement_starthour
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_starthour
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON settlement_starthour
    FOR EACH ROW WHEN (
        OLD.approved_at IS NOT NULL OR NEW.approved_at IS NULL
        OR (OLD.id, OLD.from_day, OLD.hour, OLD.zone, OLD.proposed_by_id, OLD.proposed_at)
        IS DISTINCT FROM (NEW.id, NEW.from_day, NEW.hour, NEW.zone, NEW.proposed_by_id, NEW.proposed_at)
    ) EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_starthour ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_starthour ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE settlement_starthour ENABLE ALWAYS TRIGGER append_only_but_state;
"""

# A change counts for days whose row is not made, nor that of the day before, which it makes longer or shorter.
TO_COME = f"""
CREATE FUNCTION settlement_start_hour_of_days_to_come() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({LOCK}, 0);
    IF EXISTS (SELECT FROM public.settlement_gamingday g WHERE g.day >= NEW.from_day - 1)
       OR EXISTS (SELECT FROM public.settlement_starthour s
                   WHERE s.approved_at IS NOT NULL AND s.from_day >= NEW.from_day AND s.id <> NEW.id)
    THEN
        RAISE EXCEPTION 'a start hour counts for days to come, behind every other'
            USING ERRCODE = '23514', CONSTRAINT = 'start_hour_of_days_to_come';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER start_hour_of_days_to_come BEFORE INSERT OR UPDATE ON settlement_starthour
    FOR EACH ROW WHEN (NEW.approved_at IS NOT NULL AND NEW.proposed_by_id IS NOT NULL)
    EXECUTE FUNCTION settlement_start_hour_of_days_to_come();
ALTER TABLE settlement_starthour ENABLE ALWAYS TRIGGER start_hour_of_days_to_come;
"""

OF_ITS_DAY = f"""
CREATE FUNCTION settlement_day_has_its_start_hour() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    in_force record;
BEGIN
    PERFORM pg_advisory_xact_lock_shared({LOCK}, 0);
    SELECT s.hour, s.zone INTO in_force FROM public.settlement_starthour s
     WHERE s.approved_at IS NOT NULL AND s.from_day <= NEW.day ORDER BY s.from_day DESC LIMIT 1;
    IF FOUND AND (in_force.hour, in_force.zone) IS DISTINCT FROM (NEW.start_hour, NEW.zone) THEN
        RAISE EXCEPTION 'gaming day % starts at another hour', NEW.day
            USING ERRCODE = '23514', CONSTRAINT = 'day_has_its_start_hour';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER day_has_its_start_hour BEFORE INSERT ON settlement_gamingday
    FOR EACH ROW EXECUTE FUNCTION settlement_day_has_its_start_hour();
ALTER TABLE settlement_gamingday ENABLE ALWAYS TRIGGER day_has_its_start_hour;
"""


def _person():
    return models.ForeignKey(
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("settlement", "0019_corrections_that_change_nothing"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="StartHour",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("from_day", models.DateField()),
                ("hour", models.SmallIntegerField()),
                ("zone", models.CharField(max_length=40)),
                ("proposed_at", models.DateTimeField()),
                ("approved_at", models.DateTimeField(null=True)),
                ("approved_by", _person()),
                ("proposed_by", _person()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=Q(hour__gte=0, hour__lte=23), name="start_hour_of_a_day"),
                    models.CheckConstraint(
                        condition=Q(
                            proposed_by=None,
                            approved_by=None,
                            from_day=datetime.date.min,
                            approved_at__isnull=False,
                        )
                        | Q(proposed_by__isnull=False, approved_by=None, approved_at=None)
                        | Q(proposed_by__isnull=False, approved_by__isnull=False, approved_at__isnull=False)
                        & ~Q(proposed_by=F("approved_by")),
                        name="start_hour_by_two_people",
                    ),
                    models.UniqueConstraint(
                        fields=["from_day"],
                        condition=Q(approved_at__isnull=False),
                        name="start_hour_once_a_day",
                    ),
                ],
            },
        ),
        migrations.RunSQL(READING, migrations.RunSQL.noop),
        migrations.RunSQL(STATE_ONLY, migrations.RunSQL.noop),
        migrations.RunSQL(TO_COME, migrations.RunSQL.noop),
        migrations.RunSQL(OF_ITS_DAY, migrations.RunSQL.noop),
    ]
