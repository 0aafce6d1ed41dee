from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0009_days")]

    operations: list[migrations.operations.base.Operation] = []
