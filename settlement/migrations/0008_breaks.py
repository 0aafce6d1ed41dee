from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0007_counts")]

    operations: list[migrations.operations.base.Operation] = []
