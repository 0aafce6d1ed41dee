from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("settlement", "0011_external"), ("casino", "0004_keys_name_what_they_reach")]

    operations = [
        migrations.AddField("cashact", "chips_outside", models.BigIntegerField(null=True)),
    ]
