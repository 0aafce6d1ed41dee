import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# Who appoints is looked up in their own rows, as a CHECK cannot. What stands in a person's row was appointed; a house
# that is being furnished has no people yet who could, until the first of them was appointed by others.
GUARDS = """
CREATE FUNCTION casino_appointed_by_those_who_may() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.proposed_by_id IS NULL THEN
        IF EXISTS (SELECT FROM public.casino_appointment a WHERE a.proposed_by_id IS NOT NULL) THEN
            RAISE EXCEPTION 'people are appointed by people'
                USING ERRCODE = '23514', CONSTRAINT = 'appointment_by_those_who_may';
        END IF;
    ELSIF NOT EXISTS (SELECT FROM public.casino_person p
                       WHERE p.id = NEW.proposed_by_id AND p.is_active AND p.role = 'administrator')
       OR (NEW.approved_by_id IS NOT NULL
           AND NOT EXISTS (SELECT FROM public.casino_person p
                            WHERE p.id = NEW.approved_by_id AND p.is_active AND p.role = 'manager')) THEN
        RAISE EXCEPTION 'people are appointed by an administrator and a manager'
            USING ERRCODE = '23514', CONSTRAINT = 'appointment_by_those_who_may';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER by_those_who_may BEFORE INSERT ON casino_appointment
    FOR EACH ROW EXECUTE FUNCTION casino_appointed_by_those_who_may();
ALTER TABLE casino_appointment ENABLE ALWAYS TRIGGER by_those_who_may;
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON casino_appointment
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON casino_appointment
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE casino_appointment ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE casino_appointment ENABLE ALWAYS TRIGGER append_only_table;

-- Asked at COMMIT, when a person and their first appointment are both there.
CREATE FUNCTION casino_person_as_appointed() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    person public.casino_person;
BEGIN
    SELECT * INTO person FROM public.casino_person p WHERE p.id = NEW.id;
    IF NOT FOUND OR NOT person.is_active
       OR (TG_OP = 'INSERT'
           AND NOT EXISTS (SELECT FROM public.casino_appointment a WHERE a.proposed_by_id IS NOT NULL)) THEN
        RETURN NULL;
    END IF;
    IF NOT EXISTS (SELECT FROM public.casino_appointment a
                    WHERE a.person_id = person.id AND a.role = person.role
                      AND a.permissions @> person.permissions AND person.permissions @> a.permissions) THEN
        RAISE EXCEPTION 'nobody was appointed to that'
            USING ERRCODE = '23514', CONSTRAINT = 'person_as_appointed';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER as_appointed AFTER INSERT OR UPDATE OF role, permissions, is_active ON casino_person
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION casino_person_as_appointed();
ALTER TABLE casino_person ENABLE ALWAYS TRIGGER as_appointed;

-- Whoever left stays, and does not come back under the same account.
CREATE TRIGGER append_only_rows BEFORE DELETE ON casino_person
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON casino_person
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER left_for_good BEFORE UPDATE ON casino_person FOR EACH ROW WHEN (
    (OLD.id, OLD.badge, OLD.staff_no) IS DISTINCT FROM (NEW.id, NEW.badge, NEW.staff_no)
    OR (OLD.ended_at IS NOT NULL AND (OLD.ended_at, OLD.ended_by_id) IS DISTINCT FROM (NEW.ended_at, NEW.ended_by_id)))
    EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE casino_person ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE casino_person ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE casino_person ENABLE ALWAYS TRIGGER left_for_good;

-- A code is used once, by whom and for what it was made; a device stays what it was enrolled as, and revoked.
CREATE FUNCTION casino_code_made_by_those_who_may() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.made_by_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM public.casino_person p
                        WHERE p.id = NEW.made_by_id AND p.is_active AND p.role = 'administrator') THEN
        RAISE EXCEPTION 'codes are made by an administrator'
            USING ERRCODE = '23514', CONSTRAINT = 'code_by_those_who_may';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER by_those_who_may BEFORE INSERT ON casino_handover
    FOR EACH ROW EXECUTE FUNCTION casino_code_made_by_those_who_may();
CREATE TRIGGER by_those_who_may BEFORE INSERT ON casino_enrolment
    FOR EACH ROW EXECUTE FUNCTION casino_code_made_by_those_who_may();
ALTER TABLE casino_handover ENABLE ALWAYS TRIGGER by_those_who_may;
ALTER TABLE casino_enrolment ENABLE ALWAYS TRIGGER by_those_who_may;
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON casino_handover FOR EACH ROW WHEN (
    OLD.used_at IS NOT NULL OR (OLD.id, OLD.person_id, OLD.sha256, OLD.made_by_id, OLD.approved_by_id, OLD.made_at)
    IS DISTINCT FROM (NEW.id, NEW.person_id, NEW.sha256, NEW.made_by_id, NEW.approved_by_id, NEW.made_at)
    OR NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON casino_enrolment FOR EACH ROW WHEN (
    OLD.used_at IS NOT NULL
    OR (OLD.id, OLD.code, OLD.kind, OLD.table_id, OLD.sha256, OLD.made_by_id, OLD.made_at, OLD.expires_at)
    IS DISTINCT FROM (NEW.id, NEW.code, NEW.kind, NEW.table_id, NEW.sha256, NEW.made_by_id, NEW.made_at, NEW.expires_at))
    EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON casino_device FOR EACH ROW WHEN (
    (OLD.id, OLD.code, OLD.kind, OLD.table_id, OLD.enrolled_at)
    IS DISTINCT FROM (NEW.id, NEW.code, NEW.kind, NEW.table_id, NEW.enrolled_at)
    OR (OLD.token_sha256 <> NEW.token_sha256 AND OLD.next_sha256 IS DISTINCT FROM NEW.token_sha256)
    OR (OLD.revoked_at IS NOT NULL
        AND (OLD.revoked_at, OLD.revoked_by_id) IS DISTINCT FROM (NEW.revoked_at, NEW.revoked_by_id)))
    EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE casino_handover ENABLE ALWAYS TRIGGER append_only_but_state;
ALTER TABLE casino_enrolment ENABLE ALWAYS TRIGGER append_only_but_state;
ALTER TABLE casino_device ENABLE ALWAYS TRIGGER append_only_but_state;
"""
KEPT = """
CREATE TRIGGER append_only_rows BEFORE DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""
# Whoever was there before appointments were rows is there by one, as they were. Its id sorts before any that is made.
TAKEN_OVER = """
INSERT INTO casino_appointment (id, person_id, role, permissions, from_at, made_at)
SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(row_number() OVER (ORDER BY badge)), 12, '0'))::uuid, id, role, permissions, '2020-01-01', '2020-01-01' FROM casino_person WHERE is_active;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("casino", "0006_tables_and_cages"),
    ]

    operations = [
        migrations.CreateModel(
            name='Appointment',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(max_length=20)),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('from_at', models.DateTimeField()),
                ('until_at', models.DateTimeField(null=True)),
                ('made_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Enrolment',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=60)),
                ('kind', models.CharField(max_length=10)),
                ('sha256', models.BinaryField(max_length=32, unique=True)),
                ('made_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='HandOver',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('sha256', models.BinaryField(max_length=32, unique=True)),
                ('made_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='device',
            name='next_sha256',
            field=models.BinaryField(max_length=32, null=True, unique=True),
        ),
        migrations.AddField(
            model_name='device',
            name='revoked_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='person',
            name='ended_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='ended_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='person',
            name='staff_no',
            field=models.CharField(blank=True, db_default='', default='', max_length=40),
        ),
        migrations.AddField(
            model_name='person',
            name='turns_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.UniqueConstraint(condition=models.Q(('is_active', True), models.Q(('staff_no', ''), _negated=True)), fields=('staff_no',), name='person_one_active_account'),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at', None), ('is_active', False), _connector='OR'), name='person_who_left_is_not_active'),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.CheckConstraint(condition=models.Q(('ended_by', None), models.Q(('ended_by', models.F('id')), _negated=True), _connector='OR'), name='person_ended_by_another'),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('role', 'administrator'), _negated=True), ('permissions', []), _connector='OR'), name='person_administrator_alone'),
        ),
        migrations.AddField(
            model_name='appointment',
            name='approved_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='appointment',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='appointments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='appointment',
            name='proposed_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='enrolment',
            name='device',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device'),
        ),
        migrations.AddField(
            model_name='enrolment',
            name='made_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='enrolment',
            name='table',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.table'),
        ),
        migrations.AddField(
            model_name='handover',
            name='approved_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='handover',
            name='made_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='handover',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='appointment',
            index=models.Index(fields=['person', '-id'], name='appointment_of_a_person'),
        ),
        migrations.AddConstraint(
            model_name='appointment',
            constraint=models.CheckConstraint(condition=models.Q(('until_at', None), ('until_at__gt', models.F('from_at')), _connector='OR'), name='appointment_ends_later'),
        ),
        migrations.AddConstraint(
            model_name='appointment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('proposed_by', None), models.Q(('proposed_by', models.F('person')), _negated=True), _connector='OR'), models.Q(('approved_by', None), models.Q(('approved_by', models.F('person')), _negated=True), _connector='OR')), name='appointment_by_others'),
        ),
        migrations.AddConstraint(
            model_name='appointment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('approved_by', None), ('proposed_by', None)), models.Q(('proposed_by__isnull', False), models.Q(models.Q(('approved_by__isnull', False), models.Q(('approved_by', models.F('proposed_by')), _negated=True)), models.Q(('approved_by', None), ('permissions', []), ('role__in', ('dealer', 'surveillance'))), _connector='OR')), _connector='OR'), name='appointment_by_two'),
        ),
        migrations.AddConstraint(
            model_name='appointment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('role', 'administrator'), _negated=True), ('permissions', []), _connector='OR'), name='appointment_administrator_alone'),
        ),
        migrations.AddConstraint(
            model_name='enrolment',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['terminal', 'camera'])), name='enrolment_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='enrolment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('device', None), ('used_at', None)), models.Q(('device__isnull', False), ('used_at__isnull', False)), _connector='OR'), name='enrolment_used_by_a_device'),
        ),
        migrations.AddConstraint(
            model_name='enrolment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('expires_at__gt', models.F('made_at')), ('used_at', None)), models.Q(('expires_at__gt', models.F('made_at')), ('used_at__lte', models.F('expires_at'))), _connector='OR'), name='enrolment_used_in_time'),
        ),
        migrations.AddConstraint(
            model_name='handover',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('made_by', None), models.Q(('made_by', models.F('person')), _negated=True), _connector='OR'), models.Q(('approved_by', None), models.Q(models.Q(('approved_by', models.F('person')), _negated=True), models.Q(('approved_by', models.F('made_by')), _negated=True)), _connector='OR')), name='hand_over_by_others'),
        ),
        migrations.AddConstraint(
            model_name='handover',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__gte', models.F('made_at'))), name='hand_over_ends_later'),
        ),
        migrations.RunSQL(TAKEN_OVER, migrations.RunSQL.noop),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(KEPT.format(table=table), migrations.RunSQL.noop)
            for table in ("casino_handover", "casino_enrolment", "casino_device")
        ),
    ]
