from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0004_outbox")]

    operations: list[migrations.operations.base.Operation] = []
