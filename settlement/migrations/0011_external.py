from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0010_statements")]

    operations: list[migrations.operations.base.Operation] = []
