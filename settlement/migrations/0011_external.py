"""Cashier systems that keep wallets of their own, and what the database itself refuses of them.

A wallet's reference says where it is kept: a system has every reference that begins with its prefix. Whoever makes a
wallet here and whoever lets a system in take the same advisory lock, so neither overlooks the other.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

LOCK = 0x65787477616C6C65

# Each statement of a function has a snapshot of its own: what is read behind the lock is as new as the lock.
HERE_OR_THERE = f"""
CREATE FUNCTION settlement_wallet_is_ours() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    theirs text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared({LOCK});
    SELECT s.code INTO theirs FROM public.settlement_cashiersystem s
     WHERE s.prefix = substring(NEW.code FROM '^player:([A-Za-z0-9]{{1,20}}[-_])');
    IF FOUND THEN
        RAISE EXCEPTION 'wallet % is kept by %', NEW.code, theirs
            USING ERRCODE = '23514', CONSTRAINT = 'wallet_is_ours';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER wallet_is_ours BEFORE INSERT ON settlement_account
    FOR EACH ROW WHEN (NEW.kind = 'wallet') EXECUTE FUNCTION settlement_wallet_is_ours();
ALTER TABLE settlement_account ENABLE ALWAYS TRIGGER wallet_is_ours;

CREATE FUNCTION settlement_wallets_are_theirs() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text;
BEGIN
    PERFORM pg_advisory_xact_lock({LOCK});
    SELECT a.code INTO ours FROM public.settlement_account a
     WHERE a.kind = 'wallet' AND starts_with(a.code, 'player:' || NEW.prefix) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'wallet % is kept here', ours
            USING ERRCODE = '23514', CONSTRAINT = 'wallets_are_theirs';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER wallets_are_theirs BEFORE INSERT ON settlement_cashiersystem
    FOR EACH ROW EXECUTE FUNCTION settlement_wallets_are_theirs();
ALTER TABLE settlement_cashiersystem ENABLE ALWAYS TRIGGER wallets_are_theirs;
"""

BELONGING = """
CREATE FUNCTION settlement_external_hold_belongs() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.settlement_cashiersystem s
                    WHERE s.id = NEW.system_id AND starts_with(NEW.account, 'player:' || s.prefix)) THEN
        RAISE EXCEPTION 'wallet % is not kept there', NEW.account
            USING ERRCODE = '23514', CONSTRAINT = 'external_hold_belongs';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER external_hold_belongs BEFORE INSERT ON settlement_externalhold
    FOR EACH ROW EXECUTE FUNCTION settlement_external_hold_belongs();
ALTER TABLE settlement_externalhold ENABLE ALWAYS TRIGGER external_hold_belongs;

CREATE FUNCTION settlement_external_call_takes_back() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.settlement_externalcall c
                    WHERE c.id = NEW.reverses_id AND c.hold_id = NEW.hold_id AND c.verb = 'settle'
                      AND c.revision = NEW.revision AND c.moves = -NEW.moves) THEN
        RAISE EXCEPTION 'call % does not take back what was settled', NEW.id
            USING ERRCODE = '23514', CONSTRAINT = 'external_call_takes_back';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER external_call_takes_back BEFORE INSERT ON settlement_externalcall
    FOR EACH ROW WHEN (NEW.verb = 'reverse') EXECUTE FUNCTION settlement_external_call_takes_back();
ALTER TABLE settlement_externalcall ENABLE ALWAYS TRIGGER external_call_takes_back;
"""

# Rows with a state: it alone changes. A hold that ended stays so, and so does a call that was acknowledged; an attempt
# number never goes down, or a late worker could write again.
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
    "settlement_cashiersystem": """
        (OLD.id, OLD.code, OLD.prefix, OLD.url, OLD.host, OLD.port, OLD.dialect, OLD.set_by_id, OLD.approved_by_id,
         OLD.set_at)
        IS DISTINCT FROM (NEW.id, NEW.code, NEW.prefix, NEW.url, NEW.host, NEW.port, NEW.dialect, NEW.set_by_id,
         NEW.approved_by_id, NEW.set_at)""",
    "settlement_externalhold": """
        OLD.ended_at IS NOT NULL
        OR (OLD.state = 'asked' AND NEW.state = 'settled')
        OR (OLD.state = 'held' AND NEW.state NOT IN ('settled', 'released', 'changed'))
        OR (OLD.id, OLD.system_id, OLD.round_id, OLD.wager, OLD.account, OLD.stake, OLD.exposure, OLD.currency, OLD.late,
            OLD.asked_at)
        IS DISTINCT FROM (NEW.id, NEW.system_id, NEW.round_id, NEW.wager, NEW.account, NEW.stake, NEW.exposure,
            NEW.currency, NEW.late, NEW.asked_at)""",
    "settlement_externalcall": """
        OLD.state = 'acknowledged' OR NEW.attempts < OLD.attempts
        OR (OLD.id, OLD.hold_id, OLD.place, OLD.verb, OLD.revision, OLD.moves, OLD.path, OLD.body, OLD.reverses_id,
            OLD.written_at)
        IS DISTINCT FROM (NEW.id, NEW.hold_id, NEW.place, NEW.verb, NEW.revision, NEW.moves, NEW.path, NEW.body,
            NEW.reverses_id, NEW.written_at)""",
}

# Claimed, tried and acknowledged within moments: room on the page keeps these changes off the indexes.
ROOM = "ALTER TABLE settlement_externalcall SET (fillfactor = 80)"


class Migration(migrations.Migration):
    dependencies = [
        ("settlement", "0010_statements"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CashierSystem',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=30)),
                ('prefix', models.CharField(max_length=21)),
                ('url', models.CharField(max_length=400)),
                ('host', models.CharField(max_length=253)),
                ('port', models.IntegerField()),
                ('dialect', models.CharField(choices=[('holds', 'Holds'), ('bet_win_rollback', 'Bet Win Rollback')], max_length=16)),
                ('secret', models.TextField()),
                ('enabled', models.BooleanField()),
                ('set_at', models.DateTimeField()),
                ('approved_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('set_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ExternalHold',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('wager', models.CharField(max_length=40)),
                ('account', models.CharField(max_length=120)),
                ('stake', models.BigIntegerField()),
                ('exposure', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('late', models.BooleanField()),
                ('state', models.CharField(choices=[('asked', 'Asked'), ('held', 'Held'), ('refused', 'Refused'), ('settled', 'Settled'), ('released', 'Released'), ('changed', 'Changed')], max_length=10)),
                ('reason', models.CharField(blank=True, max_length=40)),
                ('asked_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.round')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.cashiersystem')),
            ],
        ),
        migrations.CreateModel(
            name='ExternalCall',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('place', models.IntegerField()),
                ('verb', models.CharField(choices=[('hold', 'Hold'), ('settle', 'Settle'), ('release', 'Release'), ('reverse', 'Reverse')], max_length=8)),
                ('revision', models.IntegerField()),
                ('moves', models.BigIntegerField()),
                ('path', models.CharField(max_length=200)),
                ('body', models.TextField()),
                ('written_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('due', 'Due'), ('claimed', 'Claimed'), ('acknowledged', 'Acknowledged')], max_length=12)),
                ('due_at', models.DateTimeField()),
                ('attempts', models.IntegerField()),
                ('failures', models.IntegerField()),
                ('owner', models.CharField(blank=True, max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('last_result', models.CharField(blank=True, max_length=40)),
                ('acknowledged_at', models.DateTimeField(null=True)),
                ('reverses', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.externalcall')),
                ('hold', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='settlement.externalhold')),
            ],
        ),
        migrations.AddConstraint(
            model_name='cashiersystem',
            constraint=models.UniqueConstraint(fields=('code',), name='cashier_system_code_once'),
        ),
        migrations.AddConstraint(
            model_name='cashiersystem',
            constraint=models.UniqueConstraint(fields=('prefix',), name='cashier_system_prefix_once'),
        ),
        migrations.AddConstraint(
            model_name='cashiersystem',
            constraint=models.CheckConstraint(condition=models.Q(('set_by', models.F('approved_by')), _negated=True), name='cashier_system_two_people'),
        ),
        migrations.AddConstraint(
            model_name='cashiersystem',
            constraint=models.CheckConstraint(condition=models.Q(('code__regex', '^[a-z0-9_]{1,30}$'), models.Q(('code', 'cash'), _negated=True)), name='cashier_system_code_plain'),
        ),
        migrations.AddConstraint(
            model_name='cashiersystem',
            constraint=models.CheckConstraint(condition=models.Q(('prefix__regex', '^[A-Za-z0-9]{1,20}[-_]$')), name='cashier_system_prefix_plain'),
        ),
        migrations.AddConstraint(
            model_name='cashiersystem',
            constraint=models.CheckConstraint(condition=models.Q(('dialect__in', ['holds', 'bet_win_rollback'])), name='cashier_system_dialect_known'),
        ),
        migrations.AddIndex(
            model_name='externalhold',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['asked_at'], name='external_hold_open'),
        ),
        migrations.AddConstraint(
            model_name='externalhold',
            constraint=models.CheckConstraint(condition=models.Q(('exposure__gte', 0), ('stake__gte', 0), models.Q(('late', True), ('exposure__gt', 0), _connector='OR')), name='external_hold_sets_something_aside'),
        ),
        migrations.AddConstraint(
            model_name='externalhold',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('answered_at', None), ('ended_at', None), ('state', 'asked')), models.Q(('answered_at__isnull', False), ('ended_at', None), ('state', 'held')), models.Q(('ended_at__isnull', False), ('state__in', ['refused', 'settled', 'released', 'changed'])), _connector='OR'), name='external_hold_state_whole'),
        ),
        migrations.AddConstraint(
            model_name='externalhold',
            constraint=models.CheckConstraint(condition=models.Q(('late', False), models.Q(('answered_at', None), ('state', 'settled')), _connector='OR'), name='external_hold_late_is_settled'),
        ),
        migrations.AddConstraint(
            model_name='externalhold',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'refused'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='external_hold_refused_for_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='externalhold',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('round', 'wager'), name='external_hold_one_open_per_wager'),
        ),
        migrations.AddIndex(
            model_name='externalcall',
            index=models.Index(condition=models.Q(('state__in', ['due', 'claimed'])), fields=['due_at', 'id'], name='external_call_unacknowledged'),
        ),
        migrations.AddConstraint(
            model_name='externalcall',
            constraint=models.UniqueConstraint(fields=('hold', 'place'), name='external_call_in_one_order'),
        ),
        migrations.AddConstraint(
            model_name='externalcall',
            constraint=models.UniqueConstraint(fields=('hold', 'revision', 'verb'), name='external_call_once'),
        ),
        migrations.AddConstraint(
            model_name='externalcall',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reverses__isnull', False), ('verb', 'reverse')), models.Q(('reverses', None), ('verb__in', ['hold', 'settle', 'release'])), _connector='OR'), name='external_call_reversal_says_so'),
        ),
        migrations.AddConstraint(
            model_name='externalcall',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('revision__gte', 1), ('verb__in', ['settle', 'reverse'])), models.Q(('moves', 0), ('revision__gte', 0), ('verb__in', ['hold', 'release'])), _connector='OR'), name='external_call_moves_by_a_revision'),
        ),
        migrations.AddConstraint(
            model_name='externalcall',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('acknowledged_at', None), ('lease_until', None), ('state', 'due')), models.Q(('acknowledged_at', None), ('lease_until__isnull', False), ('state', 'claimed')), models.Q(('acknowledged_at__isnull', False), ('lease_until', None), ('state', 'acknowledged')), _connector='OR'), name='external_call_state_whole'),
        ),
        migrations.AddConstraint(
            model_name='externalcall',
            constraint=models.CheckConstraint(condition=models.Q(('attempts__gte', 0), ('failures__gte', 0), ('place__gte', 1)), name='external_call_counts_possible'),
        ),
        migrations.RunSQL(HERE_OR_THERE, migrations.RunSQL.noop),
        migrations.RunSQL(BELONGING, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(STATE_ONLY.format(table=table, changed=changed), migrations.RunSQL.noop)
            for table, changed in WITH_STATE.items()
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    ]
