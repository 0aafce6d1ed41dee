from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("casino", "0002_event_numbers")]

    operations: list[migrations.operations.base.Operation] = []
