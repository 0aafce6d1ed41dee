from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0006_slips")]

    operations: list[migrations.operations.base.Operation] = []
