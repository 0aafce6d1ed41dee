import audit.models.log
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


TRIGGERS = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0001_entries'),
    ]

    operations = [
        migrations.CreateModel(
            name='Frontier',
            fields=[
                ('origin', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('size', models.BigIntegerField()),
                ('peaks', django.contrib.postgres.fields.ArrayField(base_field=models.BinaryField(max_length=32), size=None)),
                ('last_xid', audit.models.log.TransactionField()),
                ('last_id', models.BigIntegerField()),
                ('numbered_at', models.DateTimeField(null=True)),
                ('stopped', models.CharField(blank=True, default='', max_length=40)),
                ('stopped_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('origin', models.CharField(max_length=120)),
                ('size', models.BigIntegerField()),
                ('root', models.BinaryField(max_length=32)),
                ('note', models.TextField()),
                ('signed_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('origin', 'size'), name='checkpoint_once_per_size'), models.CheckConstraint(condition=models.Q(('size__gte', 1)), name='checkpoint_of_something')],
            },
        ),
        migrations.CreateModel(
            name='Subtree',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('origin', models.CharField(max_length=120)),
                ('height', models.SmallIntegerField()),
                ('index', models.BigIntegerField()),
                ('hash', models.BinaryField(max_length=32)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('origin', 'height', 'index'), name='subtree_once')],
            },
        ),
        migrations.CreateModel(
            name='Leaf',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('origin', models.CharField(max_length=120)),
                ('index', models.BigIntegerField()),
                ('leaf_hash', models.BinaryField(max_length=32)),
                ('numbered_at', models.DateTimeField()),
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='leaf', to='audit.logentry')),
            ],
            options={
                'verbose_name_plural': 'leaves',
                'constraints': [models.UniqueConstraint(fields=('origin', 'index'), name='leaf_index_once'), models.CheckConstraint(condition=models.Q(('index__gte', 0)), name='leaf_index_from_zero')],
            },
        ),
        *(
            migrations.RunSQL(TRIGGERS.format(table=table), migrations.RunSQL.noop)
            for table in ("audit_leaf", "audit_subtree", "audit_checkpoint")
        ),
    ]
