import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("casino", "0008_answers_as_bytes")]

    operations = [
        # Who waits by the old count need not wait by the new one.
        migrations.RunSQL("DELETE FROM casino_wrongtries", migrations.RunSQL.noop),
        migrations.RemoveField(model_name="wrongtries", name="window_ends_at"),
        migrations.AlterField(
            model_name="wrongtries",
            name="principal",
            field=models.CharField(max_length=160, primary_key=True, serialize=False),
        ),
        migrations.AddField(
            model_name="wrongtries",
            name="last_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="wrongtries", name="right_at", field=models.DateTimeField(null=True)
        ),
        migrations.CreateModel(
            name="FailedSignIn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("badge", models.CharField(blank=True, max_length=64)),
                ("origin", models.CharField(max_length=120)),
                ("minute", models.DateTimeField()),
                ("wrong", models.IntegerField(default=0)),
                ("waited", models.IntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("badge", "origin", "minute"), name="failed_sign_in_per_minute"
                    )
                ]
            },
        ),
    ]
