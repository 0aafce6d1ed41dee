"""The outbox: messages, endpoints, deliveries, attempts, and what the database refuses of them."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# What was told, to whom it was owed and every try stay as they were written.
APPEND_ONLY = ("settlement_message", "settlement_endpointchange", "settlement_attempt")

# Rows with a state: it alone changes. An attempt number never goes down, or a late worker could write again; a target
# once withdrawn stays so.
WITH_STATE = {
    "settlement_approvedtarget": """
        OLD.withdrawn_at IS NOT NULL
        OR (OLD.id, OLD.host, OLD.port, OLD.ranges, OLD.set_by_id, OLD.approved_by_id, OLD.set_at)
        IS DISTINCT FROM (NEW.id, NEW.host, NEW.port, NEW.ranges, NEW.set_by_id, NEW.approved_by_id, NEW.set_at)""",
    "settlement_endpoint": """
        (OLD.id, OLD.name, OLD.url, OLD.host, OLD.port, OLD.types, OLD.system, OLD.opened_at)
        IS DISTINCT FROM (NEW.id, NEW.name, NEW.url, NEW.host, NEW.port, NEW.types, NEW.system, NEW.opened_at)""",
    "settlement_delivery": """
        (OLD.id, OLD.message_id, OLD.endpoint_id) IS DISTINCT FROM (NEW.id, NEW.message_id, NEW.endpoint_id)
        OR NEW.attempts < OLD.attempts""",
}

ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""
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

# Claimed, tried and finished within moments: room on the page keeps these changes off the indexes.
ROOM = "ALTER TABLE settlement_delivery SET (fillfactor = 80)"


class Migration(migrations.Migration):
    dependencies = [
        ("casino", "0001_floor"),
        ("settlement", "0003_refused_covers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80, unique=True)),
                ('url', models.CharField(max_length=500)),
                ('host', models.CharField(max_length=253)),
                ('port', models.IntegerField()),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('wallet.deposited', 'Wallet Deposited'), ('wallet.withdrawn', 'Wallet Withdrawn'), ('wallet.held', 'Wallet Held'), ('wallet.settled', 'Wallet Settled'), ('wallet.released', 'Wallet Released'), ('wallet.reversed', 'Wallet Reversed'), ('round.settled', 'Round Settled'), ('round.held', 'Round Held'), ('round.voided', 'Round Voided'), ('round.corrected', 'Round Corrected'), ('slip.issued', 'Slip Issued'), ('slip.received', 'Slip Received'), ('slip.voided', 'Slip Voided'), ('pay_slip.issued', 'Pay Slip Issued'), ('pay_slip.paid', 'Pay Slip Paid'), ('pay_slip.voided', 'Pay Slip Voided'), ('count.recorded', 'Count Recorded'), ('day.sealed', 'Day Sealed'), ('statement.ready', 'Statement Ready'), ('break.opened', 'Break Opened'), ('dispute.decided', 'Dispute Decided')], max_length=20), size=None)),
                ('system', models.CharField(max_length=40)),
                ('secret', models.TextField()),
                ('previous_secret', models.TextField(null=True)),
                ('previous_until', models.DateTimeField(null=True)),
                ('state', models.CharField(choices=[('enabled', 'Enabled'), ('failing', 'Failing'), ('disabled', 'Disabled')], max_length=10)),
                ('not_before', models.DateTimeField(null=True)),
                ('slots', models.SmallIntegerField()),
                ('opened_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['enabled', 'failing', 'disabled'])), name='endpoint_state_known'), models.CheckConstraint(condition=models.Q(('types__contained_by', ['wallet.deposited', 'wallet.withdrawn', 'wallet.held', 'wallet.settled', 'wallet.released', 'wallet.reversed', 'round.settled', 'round.held', 'round.voided', 'round.corrected', 'slip.issued', 'slip.received', 'slip.voided', 'pay_slip.issued', 'pay_slip.paid', 'pay_slip.voided', 'count.recorded', 'day.sealed', 'statement.ready', 'break.opened', 'dispute.decided']), ('types__len__gte', 1)), name='endpoint_types_known'), models.CheckConstraint(condition=models.Q(('slots__gte', 1)), name='endpoint_has_a_slot')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('type', models.CharField(choices=[('wallet.deposited', 'Wallet Deposited'), ('wallet.withdrawn', 'Wallet Withdrawn'), ('wallet.held', 'Wallet Held'), ('wallet.settled', 'Wallet Settled'), ('wallet.released', 'Wallet Released'), ('wallet.reversed', 'Wallet Reversed'), ('round.settled', 'Round Settled'), ('round.held', 'Round Held'), ('round.voided', 'Round Voided'), ('round.corrected', 'Round Corrected'), ('slip.issued', 'Slip Issued'), ('slip.received', 'Slip Received'), ('slip.voided', 'Slip Voided'), ('pay_slip.issued', 'Pay Slip Issued'), ('pay_slip.paid', 'Pay Slip Paid'), ('pay_slip.voided', 'Pay Slip Voided'), ('count.recorded', 'Count Recorded'), ('day.sealed', 'Day Sealed'), ('statement.ready', 'Statement Ready'), ('break.opened', 'Break Opened'), ('dispute.decided', 'Dispute Decided')], max_length=20)),
                ('subject', models.CharField(max_length=200)),
                ('table', models.CharField(max_length=40)),
                ('number', models.IntegerField(null=True)),
                ('body', models.TextField()),
                ('as_of_change', models.BigIntegerField()),
                ('booked_at', models.DateTimeField()),
                ('request_id', models.CharField(max_length=200)),
                ('round', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.round')),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('due', 'Due'), ('claimed', 'Claimed'), ('delivered', 'Delivered'), ('given_up', 'Given Up')], max_length=10)),
                ('due_at', models.DateTimeField()),
                ('attempts', models.IntegerField()),
                ('failures', models.SmallIntegerField()),
                ('owner', models.CharField(max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('last_result', models.CharField(max_length=40)),
                ('finished_at', models.DateTimeField(null=True)),
                ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.endpoint')),
                ('message', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.message')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
            },
        ),
        migrations.CreateModel(
            name='ApprovedTarget',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('host', models.CharField(max_length=253)),
                ('port', models.IntegerField()),
                ('ranges', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), size=None)),
                ('set_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('approved_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('set_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('host', 'port'), name='target_approved_once'), models.CheckConstraint(condition=models.Q(('set_by', models.F('approved_by')), _negated=True), name='target_by_two_people'), models.CheckConstraint(condition=models.Q(('port__gte', 1), ('port__lte', 65535)), name='target_port_possible'), models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at', None), ('withdrawn_by', None)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='target_withdrawn_by_somebody')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('number', models.IntegerField()),
                ('sent_at', models.DateTimeField()),
                ('milliseconds', models.IntegerField()),
                ('status', models.SmallIntegerField(null=True)),
                ('result', models.CharField(max_length=40)),
                ('delivery', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.delivery')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('delivery', 'number'), name='attempt_once_per_claim'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='attempt_counted')],
            },
        ),
        migrations.CreateModel(
            name='EndpointChange',
            fields=[
                ('revision', models.BigIntegerField(primary_key=True, serialize=False)),
                ('opens', models.BooleanField()),
                ('reason', models.CharField(max_length=200)),
                ('changed_at', models.DateTimeField()),
                ('approved_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('changed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.endpoint')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('opens', False), models.Q(('approved_by__isnull', False), ('changed_by__isnull', False), models.Q(('changed_by', models.F('approved_by')), _negated=True)), _connector='OR'), name='endpoint_opened_by_two_people'), models.CheckConstraint(condition=models.Q(('revision__gte', 1)), name='endpoint_change_counted')],
            },
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['booked_at', 'id'], name='message_by_time'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('round', 'number'), name='message_number_once_per_round'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['wallet.deposited', 'wallet.withdrawn', 'wallet.held', 'wallet.settled', 'wallet.released', 'wallet.reversed', 'round.settled', 'round.held', 'round.voided', 'round.corrected', 'slip.issued', 'slip.received', 'slip.voided', 'pay_slip.issued', 'pay_slip.paid', 'pay_slip.voided', 'count.recorded', 'day.sealed', 'statement.ready', 'break.opened', 'dispute.decided'])), name='message_type_known'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('number', None), ('round', None)), models.Q(('number__gte', 1), ('round__isnull', False)), _connector='OR'), name='message_of_a_round_is_numbered'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'due')), fields=['endpoint', 'due_at'], name='delivery_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'claimed')), fields=['endpoint'], name='delivery_claimed'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['endpoint', '-id'], name='delivery_of_endpoint'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('message', 'endpoint'), name='delivery_once_per_endpoint'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished_at', None), ('lease_until', None), ('state', 'due')), models.Q(('finished_at', None), ('lease_until__isnull', False), ('state', 'claimed')), models.Q(('finished_at__isnull', False), ('lease_until', None), ('state__in', ['delivered', 'given_up'])), _connector='OR'), name='delivery_state_whole'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('attempts__gte', 0), ('failures__gte', 0)), name='delivery_counts_possible'),
        ),
        *(migrations.RunSQL(ADD_ONLY.format(table=table), migrations.RunSQL.noop) for table in APPEND_ONLY),
        *(
            migrations.RunSQL(STATE_ONLY.format(table=table, changed=changed), migrations.RunSQL.noop)
            for table, changed in WITH_STATE.items()
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    ]
