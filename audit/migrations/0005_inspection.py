import django.db.models.deletion
from django.db import migrations, models


GUARDS = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON audit_discrepancy
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON audit_discrepancy
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE audit_discrepancy ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE audit_discrepancy ENABLE ALWAYS TRIGGER append_only_table;
CREATE TRIGGER kept_rows BEFORE DELETE ON audit_inspection FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER kept_table BEFORE TRUNCATE ON audit_inspection
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE audit_inspection ENABLE ALWAYS TRIGGER kept_rows;
ALTER TABLE audit_inspection ENABLE ALWAYS TRIGGER kept_table;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0004_disputes'),
    ]

    operations = [
        migrations.CreateModel(
            name='Inspection',
            fields=[
                ('name', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('origin', models.CharField(max_length=120)),
                ('first', models.BigIntegerField()),
                ('last', models.BigIntegerField(null=True)),
                ('position', models.BigIntegerField()),
                ('settlements', models.BigIntegerField(default=0)),
                ('offending', models.BigIntegerField(default=0)),
                ('verified_through', models.DateTimeField(null=True)),
                ('begun_at', models.DateTimeField()),
                ('moved_at', models.DateTimeField()),
                ('done_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('position__gte', models.F('first')), models.Q(('last', None), ('position__lte', models.F('last')), _connector='OR')), name='inspection_within_its_range')],
            },
        ),
        migrations.CreateModel(
            name='Discrepancy',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('settlement', models.UUIDField()),
                ('invariant', models.CharField(max_length=4)),
                ('subject', models.CharField(max_length=200)),
                ('found', models.TextField()),
                ('expected', models.TextField()),
                ('found_at', models.DateTimeField()),
                ('entry', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.logentry')),
                ('inspection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='discrepancies', to='audit.inspection')),
            ],
            options={
                'verbose_name_plural': 'discrepancies',
            },
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
    ]
