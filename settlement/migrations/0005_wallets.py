import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# What a row alone cannot say: its journal is of its kind, its day and its money, and a table that is closed sells no
# chips. The session is locked against being closed meanwhile, whoever adds the row.
GUARDS = """
CREATE FUNCTION settlement_cash_act_stands() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    closed timestamptz;
BEGIN
    IF NEW.session_id IS NOT NULL THEN
        SELECT s.closed_at INTO closed FROM public.casino_tablesession s WHERE s.id = NEW.session_id FOR SHARE;
        IF closed IS NOT NULL THEN
            RAISE EXCEPTION 'the table is closed: session % sells no chips', NEW.session_id
                USING ERRCODE = '23514', CONSTRAINT = 'cash_act_in_an_open_session';
        END IF;
    END IF;
    IF NOT EXISTS (
        SELECT FROM public.settlement_journal j
          JOIN public.settlement_entry e ON e.journal_id = j.id
          JOIN public.settlement_account a ON a.id = e.account_id
         WHERE j.id = NEW.journal_id AND j.kind = NEW.kind AND j.currency = NEW.currency
           AND j.gaming_day = NEW.gaming_day AND a.kind = 'external'
           AND a.code LIKE 'external:' || NEW.means || ':%'
           AND e.amount = CASE NEW.direction WHEN 'in' THEN -NEW.amount ELSE NEW.amount END) THEN
        RAISE EXCEPTION 'the journal of % does not move what it says', NEW.id
            USING ERRCODE = '23514', CONSTRAINT = 'cash_act_as_posted';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stands BEFORE INSERT ON settlement_cashact
    FOR EACH ROW EXECUTE FUNCTION settlement_cash_act_stands();
ALTER TABLE settlement_cashact ENABLE ALWAYS TRIGGER stands;

CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON settlement_cashact
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_cashact
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_cashact ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_cashact ENABLE ALWAYS TRIGGER append_only_table;
"""


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("casino", "0003_keys"),
        ("settlement", "0004_outbox"),
    ]

    operations = [
        migrations.CreateModel(
            name='CashAct',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('deposit', 'Deposit'), ('withdrawal', 'Withdrawal'), ('buy_in', 'Buy In'), ('chip_sale', 'Chip Sale'), ('chip_redemption', 'Chip Redemption')], max_length=20)),
                ('direction', models.CharField(choices=[('in', 'in'), ('out', 'out')], max_length=3)),
                ('means', models.CharField(choices=[('cash', 'Cash'), ('cheque', 'Cheque'), ('card', 'Card'), ('transfer', 'Transfer')], max_length=10)),
                ('person', models.CharField(blank=True, max_length=64)),
                ('amount', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('lines', models.JSONField(default=list)),
                ('cage', models.CharField(blank=True, max_length=20)),
                ('till', models.CharField(blank=True, max_length=20)),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.tablesession')),
                ('document', models.CharField(blank=True, max_length=120)),
                ('journal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='settlement.journal')),
                ('gaming_day', models.DateField()),
                ('acted_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('approved_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('device', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device')),
                ('key', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.apikey')),
                ('happened_at', models.DateTimeField()),
                ('recorded_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('means', 'cash'), models.Q(('person', ''), _negated=True)), fields=['person', 'gaming_day'], name='cash_act_of_a_person'), models.Index(fields=['gaming_day', 'id'], name='cash_act_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='cash_act_moves_something'), models.CheckConstraint(condition=models.Q(('means__in', ['cash', 'cheque', 'card', 'transfer'])), name='cash_act_means_known'), models.CheckConstraint(condition=models.Q(models.Q(('direction', 'in'), ('kind__in', ('deposit', 'buy_in', 'chip_sale'))), models.Q(('direction', 'out'), ('kind__in', ['withdrawal', 'chip_redemption'])), _connector='OR'), name='cash_act_kind_has_its_direction'), models.CheckConstraint(condition=models.Q(models.Q(('cage', ''), ('kind', 'buy_in'), ('session__isnull', False), ('till', '')), models.Q(models.Q(('kind', 'buy_in'), _negated=True), ('session', None), models.Q(('cage', ''), _negated=True)), _connector='OR'), name='cash_act_at_a_table_or_a_cage'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ['deposit', 'withdrawal']), ('lines', [])), ('amount', models.Func(models.F('lines'), function='settlement_value_of_pieces', output_field=models.BigIntegerField())), _connector='OR'), name='cash_act_pieces_add_up'), models.CheckConstraint(condition=models.Q(('acted_by', None), ('approved_by', None), models.Q(('acted_by', models.F('approved_by')), _negated=True), _connector='OR'), name='cash_act_two_people')],
            },
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
    ]
