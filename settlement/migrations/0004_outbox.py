from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0003_refused_covers")]

    operations: list[migrations.operations.base.Operation] = []
