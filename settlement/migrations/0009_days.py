"""Gaming days, their shifts and reports, and what the database itself refuses of them.

A posting holds its day's advisory lock shared until it commits, and a seal takes it alone; so whoever comes first is
in the sealed figures, and whoever comes second finds the day sealed. Each statement of a function below has a snapshot
of its own: what is read behind a lock is as new as the lock.
"""

import datetime

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

# The class of the days' advisory locks stands in settlement.ledger.accounts too, and a test compares them.
LOCK = 1_145_132_356

SHARING = f"""
CREATE FUNCTION settlement_share_days(days date[]) RETURNS date
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one date;
    last_sealed date;
BEGIN
    FOR one IN SELECT DISTINCT d FROM unnest(days) AS d ORDER BY d LOOP
        PERFORM pg_advisory_xact_lock_shared({LOCK}, one - date '0001-01-01' + 1);
    END LOOP;
    SELECT max(g.day) INTO last_sealed FROM public.settlement_gamingday g WHERE g.state = 'sealed';
    RETURN last_sealed;
END $$;
"""

# Whoever writes a journal keeps its day from being sealed, also by hand; none is dated on a sealed day or before it.
JOURNALS = """
CREATE FUNCTION settlement_journals_in_open_days() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last_sealed date;
    wrong text;
BEGIN
    last_sealed := public.settlement_share_days(ARRAY(SELECT DISTINCT a.gaming_day FROM added a));
    SELECT a.key INTO wrong FROM added a WHERE a.gaming_day <= last_sealed LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % is dated in a day that is sealed, or before it', wrong
            USING ERRCODE = '23514', CONSTRAINT = 'journal_in_an_open_day';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER journals_in_open_days AFTER INSERT ON settlement_journal
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION settlement_journals_in_open_days();
ALTER TABLE settlement_journal ENABLE ALWAYS TRIGGER journals_in_open_days;
"""

# A day begins open, behind every sealed one, and goes open, closing, sealed, in the order of days.
DAYS = """
CREATE FUNCTION settlement_day_goes_forward() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'open'
           OR EXISTS (SELECT FROM public.settlement_gamingday g WHERE g.state = 'sealed' AND g.day >= NEW.day)
        THEN
            RAISE EXCEPTION 'gaming day % does not begin open, behind the sealed ones', NEW.day
                USING ERRCODE = '23514', CONSTRAINT = 'day_begins_open';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state = 'sealed'
       OR (OLD.day, OLD.zone, OLD.start_hour, OLD.begins_at, OLD.ends_at, OLD.begun_at)
       IS DISTINCT FROM (NEW.day, NEW.zone, NEW.start_hour, NEW.begins_at, NEW.ends_at, NEW.begun_at)
       OR (OLD.opened_at IS NOT NULL AND (OLD.tables, OLD.opened_by_id, OLD.opened_at)
           IS DISTINCT FROM (NEW.tables, NEW.opened_by_id, NEW.opened_at))
       OR (OLD.closing_at IS NOT NULL AND (OLD.closing_by_id, OLD.closing_at)
           IS DISTINCT FROM (NEW.closing_by_id, NEW.closing_at))
    THEN
        RAISE EXCEPTION 'what gaming day % was does not change', OLD.day USING ERRCODE = 'PD001';
    END IF;
    IF (OLD.state, NEW.state) NOT IN (
        ('open', 'open'), ('open', 'closing'), ('closing', 'closing'), ('closing', 'sealed'))
    THEN
        RAISE EXCEPTION 'gaming day % does not go from % to %', OLD.day, OLD.state, NEW.state
            USING ERRCODE = '23514', CONSTRAINT = 'day_goes_forward';
    END IF;
    IF NEW.state = 'sealed' AND EXISTS (
        SELECT FROM public.settlement_gamingday g WHERE g.day < NEW.day AND g.state <> 'sealed')
    THEN
        RAISE EXCEPTION 'a gaming day before % is not sealed', NEW.day
            USING ERRCODE = '23514', CONSTRAINT = 'day_sealed_in_order';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER day_goes_forward BEFORE INSERT OR UPDATE ON settlement_gamingday
    FOR EACH ROW EXECUTE FUNCTION settlement_day_goes_forward();
ALTER TABLE settlement_gamingday ENABLE ALWAYS TRIGGER day_goes_forward;
"""

SESSIONS = """
CREATE FUNCTION settlement_session_opens_in_an_open_day() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM public.settlement_gamingday g
         WHERE g.state <> 'open' AND NEW.opened_at >= g.begins_at AND NEW.opened_at < g.ends_at)
    THEN
        RAISE EXCEPTION 'no table opens in a gaming day that is closing or sealed'
            USING ERRCODE = '23514', CONSTRAINT = 'session_opens_in_an_open_day';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER session_opens_in_an_open_day BEFORE INSERT ON casino_tablesession
    FOR EACH ROW EXECUTE FUNCTION settlement_session_opens_in_an_open_day();
ALTER TABLE casino_tablesession ENABLE ALWAYS TRIGGER session_opens_in_an_open_day;
"""

# A shift begins in its day while that is not sealed, and ends once.
SHIFTS = """
CREATE FUNCTION settlement_shift_of_its_day() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.settlement_gamingday g
         WHERE g.day = NEW.day_id AND g.state <> 'sealed'
           AND NEW.opened_at >= g.begins_at AND NEW.opened_at < g.ends_at)
    THEN
        RAISE EXCEPTION 'a shift begins in its own gaming day, before that is sealed'
            USING ERRCODE = '23514', CONSTRAINT = 'shift_begins_in_its_day';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER shift_of_its_day BEFORE INSERT ON settlement_shift
    FOR EACH ROW EXECUTE FUNCTION settlement_shift_of_its_day();
ALTER TABLE settlement_shift ENABLE ALWAYS TRIGGER shift_of_its_day;

CREATE TRIGGER append_only_but_state BEFORE UPDATE ON settlement_shift
    FOR EACH ROW WHEN (
        OLD.closed_at IS NOT NULL
        OR (OLD.id, OLD.day_id, OLD.number, OLD.tables, OLD.opened_by_id, OLD.opened_with_id, OLD.opened_at)
        IS DISTINCT FROM
        (NEW.id, NEW.day_id, NEW.number, NEW.tables, NEW.opened_by_id, NEW.opened_with_id, NEW.opened_at))
    EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_shift ENABLE ALWAYS TRIGGER append_only_but_state;
"""

NEVER_GONE = """
CREATE TRIGGER append_only_rows BEFORE {events} ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""
GUARDED = {
    "settlement_gamingday": "DELETE",
    "settlement_shift": "DELETE",
    "settlement_report": "UPDATE OR DELETE",
    "settlement_reportfile": "UPDATE OR DELETE",
    "settlement_dayjob": "UPDATE OR DELETE",
}


class Migration(migrations.Migration):
    dependencies = [("settlement", "0008_breaks")]

    operations = [
        migrations.CreateModel(
            name='GamingDay',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('zone', models.CharField(max_length=40)),
                ('start_hour', models.SmallIntegerField()),
                ('begins_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('begun_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('open', 'Open'), ('closing', 'Closing'), ('sealed', 'Sealed')], default='open', max_length=8)),
                ('tables', models.JSONField(default=list)),
                ('opened_at', models.DateTimeField(null=True)),
                ('closing_at', models.DateTimeField(null=True)),
                ('sealed_at', models.DateTimeField(null=True)),
                ('last_entry', models.BigIntegerField(null=True)),
                ('journals', models.BigIntegerField(null=True)),
                ('closing_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('opened_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sealed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('seconded_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'closing')), fields=['begins_at'], name='day_closing'), models.Index(condition=models.Q(('state', 'sealed')), fields=['day'], name='day_sealed')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['open', 'closing', 'sealed'])), name='day_state_known'), models.CheckConstraint(condition=models.Q(('begins_at__lt', models.F('ends_at'))), name='day_begins_before_it_ends'), models.CheckConstraint(condition=models.Q(models.Q(('opened_at', None), ('opened_by', None), ('tables', [])), models.Q(('opened_at__isnull', False), ('opened_by__isnull', False)), _connector='OR'), name='day_opened_by_somebody'), models.CheckConstraint(condition=models.Q(models.Q(('closing_at', None), ('closing_by', None), ('state', 'open')), models.Q(('closing_at__isnull', False), ('closing_by__isnull', False), ('state__in', ['closing', 'sealed'])), _connector='OR'), name='day_closing_by_somebody'), models.CheckConstraint(condition=models.Q(models.Q(('journals__isnull', False), ('last_entry__isnull', False), ('sealed_at__gte', models.F('ends_at')), ('sealed_at__isnull', False), ('sealed_by__isnull', False), ('seconded_by__isnull', False), ('state', 'sealed'), models.Q(('sealed_by', models.F('seconded_by')), _negated=True), models.Q(('sealed_by', models.F('closing_by')), _negated=True), models.Q(('seconded_by', models.F('closing_by')), _negated=True)), models.Q(('journals', None), ('last_entry', None), ('sealed_at', None), ('sealed_by', None), ('seconded_by', None), ('state__in', ['open', 'closing'])), _connector='OR'), name='day_sealed_by_two_people')],
            },
        ),
        migrations.CreateModel(
            name='Shift',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('number', models.SmallIntegerField()),
                ('tables', models.JSONField(default=list)),
                ('opened_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(null=True)),
                ('overdue', models.BooleanField(default=False)),
                ('closed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('closed_with', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('day', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.gamingday')),
                ('opened_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('opened_with', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('day', 'number'), name='shift_number_once_a_day'), models.UniqueConstraint(condition=models.Q(('closed_at', None)), fields=('overdue',), name='shift_one_at_a_time'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='shift_number_from_one'), models.CheckConstraint(condition=models.Q(('opened_by', models.F('opened_with')), _negated=True), name='shift_opened_by_two_people'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at', None), ('closed_by', None), ('closed_with', None), ('overdue', False)), models.Q(('closed_at__isnull', False), ('closed_by', None), ('closed_with', None), ('overdue', True)), models.Q(('closed_at__isnull', False), ('closed_by__isnull', False), ('closed_with__isnull', False), ('overdue', False), models.Q(('closed_by', models.F('closed_with')), _negated=True)), _connector='OR'), name='shift_closed_by_two_people'), models.CheckConstraint(condition=models.Q(('closed_at', None), models.Q(('closed_at__gte', models.F('opened_at')), django.db.models.lookups.LessThanOrEqual(models.ExpressionWrapper(django.db.models.expressions.CombinedExpression(models.F('closed_at'), '-', models.F('opened_at')), output_field=models.DurationField()), datetime.timedelta(days=1))), _connector='OR'), name='shift_lasts_a_day_at_most')],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('day', 'Day'), ('shift', 'Shift')], max_length=5)),
                ('version', models.SmallIntegerField()),
                ('canonical', models.BinaryField()),
                ('sha256', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField()),
                ('day', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.gamingday')),
                ('shift', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.shift')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'day')), fields=('day',), name='report_once_a_day'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'day'), ('shift', None)), models.Q(('kind', 'shift'), ('shift__isnull', False)), _connector='OR'), name='report_of_a_day_or_a_shift'), models.CheckConstraint(condition=models.Q(('sha256', models.Func(models.Func(models.F('canonical'), function='sha256'), models.Value('hex'), function='encode'))), name='report_is_its_bytes')],
            },
        ),
        migrations.CreateModel(
            name='ReportFile',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('format', models.CharField(choices=[('csv', 'Csv'), ('xlsx', 'Xlsx'), ('pdf', 'Pdf')], max_length=4)),
                ('content', models.BinaryField()),
                ('sha256', models.CharField(max_length=64)),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='files', to='settlement.report')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('report', 'format'), name='report_file_once_per_format'), models.CheckConstraint(condition=models.Q(('format__in', ['csv', 'xlsx', 'pdf'])), name='report_file_format_known'), models.CheckConstraint(condition=models.Q(('sha256', models.Func(models.Func(models.F('content'), function='sha256'), models.Value('hex'), function='encode'))), name='report_file_is_its_bytes')],
            },
        ),
        migrations.CreateModel(
            name='DayJob',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('job', models.CharField(max_length=40)),
                ('gaming_day', models.DateField()),
                ('found', models.JSONField(default=dict)),
                ('done_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('job', 'gaming_day'), name='day_job_once_a_day')],
            },
        ),
        migrations.AddIndex(
            model_name='journal',
            index=models.Index(condition=models.Q(('orig_day__isnull', False)), fields=['orig_day'], name='journal_about_earlier_day'),
        ),
        *(
            migrations.RunSQL(NEVER_GONE.format(table=table, events=events), migrations.RunSQL.noop)
            for table, events in GUARDED.items()
        ),
        *(
            migrations.RunSQL(statements, migrations.RunSQL.noop)
            for statements in (SHARING, JOURNALS, DAYS, SESSIONS, SHIFTS)
        ),
    ]
