import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


APPEND_ONLY = ("casino_roundevent", "casino_refusedevent", "casino_gapwaiver", "casino_signature", "casino_storedanswer")

# One trigger function for every table of the service whose rows are evidence. ALWAYS, so that a session in the
# replica role does not silence it.
FUNCTION = """
CREATE FUNCTION pokdeng_append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: its rows are evidence', TG_OP, TG_TABLE_NAME USING ERRCODE = 'PD001';
END $$;
"""
TRIGGERS = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION pokdeng_append_only()"),
        migrations.CreateModel(
            name='WrongTries',
            fields=[
                ('principal', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('count', models.IntegerField()),
                ('window_ends_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Person',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('badge', models.CharField(max_length=40, unique=True)),
                ('display_name', models.CharField(max_length=200)),
                ('role', models.CharField(choices=[('dealer', 'Dealer'), ('supervisor', 'Supervisor'), ('manager', 'Manager'), ('surveillance', 'Surveillance'), ('cashier', 'Cashier'), ('auditor', 'Auditor'), ('administrator', 'Administrator')], max_length=20)),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ('pin', models.CharField(blank=True, max_length=200)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['dealer', 'supervisor', 'manager', 'surveillance', 'cashier', 'auditor', 'administrator'])), name='person_role_known')],
            },
        ),
        migrations.CreateModel(
            name='StoredAnswer',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('client', models.CharField(max_length=120)),
                ('key', models.CharField(max_length=200)),
                ('request_sha256', models.BinaryField(max_length=32)),
                ('status', models.IntegerField()),
                ('body', models.JSONField()),
                ('answered_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('client', 'key'), name='stored_answer_once_per_client_and_key')],
            },
        ),
        migrations.CreateModel(
            name='Table',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=20, unique=True)),
                ('currency', models.CharField(max_length=3)),
                ('camera', models.BooleanField(default=False)),
                ('camera_grace_ms', models.IntegerField(default=1000)),
                ('state', models.CharField(choices=[('closed', 'Closed'), ('open', 'Open'), ('stopped', 'Stopped')], default='closed', max_length=10)),
                ('stop_reason', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('code__regex', '^[A-Z0-9]{1,20}$')), name='table_code_plain'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'stopped'), _negated=True), models.Q(('stop_reason', ''), _negated=True), _connector='OR'), name='table_stopped_with_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Device',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=60, unique=True)),
                ('kind', models.CharField(choices=[('terminal', 'Terminal'), ('camera', 'Camera')], max_length=10)),
                ('token_sha256', models.BinaryField(max_length=32, unique=True)),
                ('enrolled_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('last_seq', models.BigIntegerField(default=0)),
                ('holes', models.JSONField(default=list)),
                ('last_contact_at', models.DateTimeField(null=True)),
                ('stated', models.JSONField(null=True)),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='devices', to='casino.table')),
            ],
        ),
        migrations.CreateModel(
            name='TableSession',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('opened_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(null=True)),
                ('last_round', models.IntegerField(null=True)),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='casino.table')),
            ],
        ),
        migrations.CreateModel(
            name='Signature',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('sha256', models.BinaryField(max_length=32)),
                ('may_rule', models.BooleanField()),
                ('signed_at', models.DateTimeField()),
                ('device', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.tablesession')),
            ],
        ),
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('number', models.IntegerField(null=True)),
                ('standing', models.CharField(blank=True, choices=[('', 'Playing'), ('due', 'Due'), ('held', 'Held'), ('settled', 'Settled'), ('voided', 'Voided')], default='', max_length=10)),
                ('reasons', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('in_dispute', models.BooleanField(default=False)),
                ('due_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField()),
                ('opened_at', models.DateTimeField(null=True)),
                ('closed_at', models.DateTimeField(null=True)),
                ('gaming_day', models.DateField(null=True)),
                ('event_count', models.IntegerField(default=0)),
                ('record', models.JSONField(null=True)),
                ('cards_seen', models.BigIntegerField(default=0)),
                ('alias_of', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='aliases', to='casino.round')),
                ('recorder', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device')),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.table')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rounds', to='casino.tablesession')),
            ],
        ),
        migrations.CreateModel(
            name='Duty',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('dealer', 'dealer'), ('supervisor', 'supervisor')], max_length=20)),
                ('on_at', models.DateTimeField()),
                ('off_at', models.DateTimeField(null=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='duties', to=settings.AUTH_USER_MODEL)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='duties', to='casino.tablesession')),
            ],
        ),
        migrations.CreateModel(
            name='GapWaiver',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.BigIntegerField()),
                ('last', models.BigIntegerField()),
                ('reason', models.CharField(max_length=500)),
                ('waived_at', models.DateTimeField()),
                ('device', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='waivers', to='casino.device')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('device', 'first', 'last'), name='gap_waiver_once'), models.CheckConstraint(condition=models.Q(('first__gte', 1), ('last__gte', models.F('first'))), name='gap_waiver_range')],
            },
        ),
        migrations.CreateModel(
            name='RefusedEvent',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('device_seq', models.BigIntegerField()),
                ('claims', models.BooleanField()),
                ('sha256', models.BinaryField(max_length=32)),
                ('code', models.CharField(max_length=60)),
                ('fields', models.JSONField(default=dict)),
                ('extra', models.JSONField(default=dict)),
                ('recorded_at', models.DateTimeField()),
                ('device', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device')),
                ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.round')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('claims', True)), fields=('device', 'device_seq'), name='refused_event_claims_once'), models.UniqueConstraint(fields=('device', 'device_seq', 'sha256'), name='refused_event_same_bytes_once')],
            },
        ),
        migrations.CreateModel(
            name='RoundEvent',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('seq', models.IntegerField()),
                ('kind', models.CharField(max_length=30)),
                ('payload', models.JSONField()),
                ('source', models.CharField(max_length=120)),
                ('event_id', models.CharField(max_length=64)),
                ('device_seq', models.BigIntegerField(null=True)),
                ('signed', models.CharField(blank=True, choices=[('', 'Not'), ('signature', 'Signature'), ('on_duty', 'On Duty'), ('page', 'Page'), ('decision', 'Decision')], default='', max_length=10)),
                ('happened_at', models.DateTimeField()),
                ('instant', models.DateTimeField()),
                ('clock_off', models.BooleanField(default=False)),
                ('recorded_at', models.DateTimeField()),
                ('offset_ms', models.BigIntegerField(null=True)),
                ('sha256', models.BinaryField(max_length=32)),
                ('late', models.BooleanField(default=False)),
                ('device', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device')),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='casino.round')),
                ('signer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('signature', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.signature')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('round', 'seq'), name='round_event_seq_once'), models.UniqueConstraint(fields=('device', 'device_seq'), name='round_event_device_seq_once'), models.CheckConstraint(condition=models.Q(models.Q(('device', None), ('device_seq', None)), models.Q(('device__isnull', False), ('device_seq__gte', 1)), _connector='OR'), name='round_event_device_with_its_number'), models.CheckConstraint(condition=models.Q(('instant__lte', models.F('recorded_at'))), name='round_event_not_from_later')],
            },
        ),
        migrations.AddConstraint(
            model_name='device',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['terminal', 'camera'])), name='device_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='tablesession',
            constraint=models.UniqueConstraint(condition=models.Q(('closed_at', None)), fields=('table',), name='table_session_one_open_per_table'),
        ),
        migrations.AddConstraint(
            model_name='tablesession',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_at', None), ('last_round', None)), models.Q(('closed_at__isnull', False), ('last_round__gte', 0), ('last_round__isnull', False)), _connector='OR'), name='table_session_closed_states_its_last_round'),
        ),
        migrations.AddIndex(
            model_name='round',
            index=models.Index(condition=models.Q(('standing', 'due')), fields=['due_at'], name='round_due'),
        ),
        migrations.AddIndex(
            model_name='round',
            index=models.Index(condition=models.Q(('standing', 'held')), fields=['session'], name='round_held'),
        ),
        migrations.AddIndex(
            model_name='round',
            index=models.Index(fields=['table', '-created_at'], name='round_by_table'),
        ),
        migrations.AddIndex(
            model_name='round',
            index=models.Index(condition=models.Q(('alias_of__isnull', False)), fields=['alias_of'], name='round_aliases'),
        ),
        migrations.AddConstraint(
            model_name='round',
            constraint=models.UniqueConstraint(condition=models.Q(('alias_of', None)), fields=('session', 'number'), name='round_number_once_per_session'),
        ),
        migrations.AddConstraint(
            model_name='round',
            constraint=models.CheckConstraint(condition=models.Q(('standing__in', ['', 'due', 'held', 'settled', 'voided'])), name='round_standing_known'),
        ),
        migrations.AddConstraint(
            model_name='round',
            constraint=models.CheckConstraint(condition=models.Q(('number', None), ('number__gte', 1), _connector='OR'), name='round_number_from_one'),
        ),
        migrations.AddConstraint(
            model_name='round',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('standing', 'held'), models.Q(('reasons', []), _negated=True)), models.Q(models.Q(('standing', 'held'), _negated=True), ('reasons', [])), _connector='OR'), name='round_held_with_reasons'),
        ),
        migrations.AddConstraint(
            model_name='duty',
            constraint=models.UniqueConstraint(condition=models.Q(('off_at', None)), fields=('session', 'role'), name='duty_one_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='duty',
            constraint=models.CheckConstraint(condition=models.Q(('off_at', None), ('off_at__gte', models.F('on_at')), _connector='OR'), name='duty_ends_later'),
        ),
        *(migrations.RunSQL(TRIGGERS.format(table=table), migrations.RunSQL.noop) for table in APPEND_ONLY),
    ]
