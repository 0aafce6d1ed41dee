import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_sealing'),
        ('casino', '0001_floor'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Reading',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('origin', models.CharField(max_length=120)),
                ('position', models.BigIntegerField()),
                ('read_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Flag',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=40)),
                ('subject', models.CharField(max_length=200)),
                ('detail', models.JSONField(default=dict)),
                ('raised_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed'), ('disputed', 'Disputed')], default='open', max_length=10)),
                ('closed_at', models.DateTimeField(null=True)),
                ('close_code', models.CharField(blank=True, default='', max_length=40)),
                ('close_reason', models.CharField(blank=True, default='', max_length=500)),
                ('dispute', models.UUIDField(null=True)),
                ('closed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('device', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.device')),
                ('entry', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.logentry')),
                ('round', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.round')),
                ('table', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.table')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'open')), fields=['-raised_at', '-id'], name='flag_queue'), models.Index(fields=['kind', '-raised_at', '-id'], name='flag_by_kind'), models.Index(fields=['table', '-raised_at', '-id'], name='flag_by_table'), models.Index(condition=models.Q(('round__isnull', False)), fields=['round'], name='flag_by_round')],
                'constraints': [models.UniqueConstraint(fields=('kind', 'subject'), name='flag_once_per_kind_and_subject'), models.CheckConstraint(condition=models.Q(models.Q(('close_code', ''), ('closed_at', None), ('closed_by', None), ('dispute', None), ('state', 'open')), models.Q(('closed_at__isnull', False), ('closed_by__isnull', False), ('dispute', None), ('state', 'closed'), models.Q(('close_code', ''), _negated=True)), models.Q(('dispute__isnull', False), ('state', 'disputed')), _connector='OR'), name='flag_ends_with_a_reason_or_a_dispute')],
            },
        ),
    ]
