from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0008_breaks")]

    operations: list[migrations.operations.base.Operation] = []
