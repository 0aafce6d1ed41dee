from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_sealing")]

    operations = []
