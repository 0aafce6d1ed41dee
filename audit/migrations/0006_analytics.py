import django.db.models.deletion
from django.db import migrations, models


GUARDS = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON audit_analysisresult
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON audit_analysisresult
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE audit_analysisresult ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE audit_analysisresult ENABLE ALWAYS TRIGGER append_only_table;
CREATE TRIGGER kept_rows BEFORE DELETE ON audit_analysis FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER kept_table BEFORE TRUNCATE ON audit_analysis
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE audit_analysis ENABLE ALWAYS TRIGGER kept_rows;
ALTER TABLE audit_analysis ENABLE ALWAYS TRIGGER kept_table;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0005_inspection'),
    ]

    operations = [
        migrations.CreateModel(
            name='Analysis',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('screen', models.CharField(max_length=20)),
                ('gaming_day', models.DateField()),
                ('asked_at', models.DateTimeField()),
                ('done_at', models.DateTimeField(null=True)),
                ('repeats', models.IntegerField(default=0)),
            ],
            options={
                'verbose_name_plural': 'analyses',
                'indexes': [models.Index(condition=models.Q(('done_at', None), ('asked_at__gt', models.F('done_at')), _connector='OR'), fields=['gaming_day', 'id'], name='analysis_due')],
                'constraints': [models.UniqueConstraint(fields=('screen', 'gaming_day'), name='analysis_once_per_screen_and_day'), models.CheckConstraint(condition=models.Q(('repeats__gte', 0)), name='analysis_repeats_counted')],
            },
        ),
        migrations.CreateModel(
            name='AnalysisResult',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('revision', models.IntegerField()),
                ('version', models.IntegerField()),
                ('rounds', models.IntegerField()),
                ('alarms', models.IntegerField()),
                ('expected', models.CharField(max_length=20)),
                ('digest', models.CharField(max_length=64)),
                ('body', models.JSONField()),
                ('made_at', models.DateTimeField()),
                ('analysis', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='results', to='audit.analysis')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('analysis', 'revision'), name='analysis_result_once_per_revision'), models.CheckConstraint(condition=models.Q(('alarms__gte', 0), ('revision__gte', 1), ('rounds__gte', 0), ('version__gte', 1)), name='analysis_result_counted')],
            },
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
    ]
