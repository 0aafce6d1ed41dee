from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_inspection")]

    operations: list[migrations.operations.base.Operation] = []
