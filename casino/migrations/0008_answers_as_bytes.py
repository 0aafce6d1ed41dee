"""The first answer to a key is kept as the bytes that were sent."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("casino", "0007_people_and_devices")]

    operations = [
        migrations.AlterField("storedanswer", "body", models.JSONField(null=True)),
        migrations.AddField("storedanswer", "content", models.BinaryField(null=True)),
        migrations.AddField("storedanswer", "media_type", models.CharField(default="", db_default="", max_length=60)),
        migrations.AddField("storedanswer", "language", models.CharField(default="", db_default="", max_length=10)),
        migrations.AddConstraint(
            "storedanswer",
            models.CheckConstraint(
                condition=Q(body=None, content__isnull=False) | Q(body__isnull=False, content=None),
                name="stored_answer_is_bytes_or_of_before",
            ),
        ),
    ]
