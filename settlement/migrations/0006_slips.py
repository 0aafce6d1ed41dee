from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("settlement", "0005_wallets")]

    operations: list[migrations.operations.base.Operation] = []
