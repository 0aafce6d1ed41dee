import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("casino", "0001_floor"),
        ("settlement", "0002_guards"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RefusedCover",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("wager", models.CharField(max_length=40)),
                ("account_code", models.CharField(max_length=120)),
                ("exposure", models.BigIntegerField()),
                ("available", models.BigIntegerField()),
                ("asked_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "refused covers",
            },
        ),
        migrations.RemoveConstraint(
            model_name="settlement",
            name="settlement_void_moves_nothing",
        ),
        migrations.AddConstraint(
            model_name="settlement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("house_net", 0), ("journal", None), ("outcome", "voided")),
                    models.Q(("outcome", "settled"), ("sheet__isnull", False)),
                    _connector="OR",
                ),
                name="settlement_void_moves_nothing",
            ),
        ),
        migrations.AddField(
            model_name="refusedcover",
            name="round",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="casino.round"
            ),
        ),
        migrations.RunSQL(
            """
            CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON settlement_refusedcover
                FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
            CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_refusedcover
                FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
            ALTER TABLE settlement_refusedcover ENABLE ALWAYS TRIGGER append_only_rows;
            ALTER TABLE settlement_refusedcover ENABLE ALWAYS TRIGGER append_only_table;
            """,
            migrations.RunSQL.noop,
        ),
    ]
