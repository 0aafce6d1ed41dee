import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# A key stays as it was made: it is revoked once, and used again and again. Who makes one is looked up in their own
# rows, as a CHECK cannot.
GUARDS = """
CREATE FUNCTION casino_key_by_those_who_may() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.casino_person p
                    WHERE p.id = NEW.created_by_id AND p.is_active AND p.role = 'administrator')
       OR NOT EXISTS (SELECT FROM public.casino_person p
                       WHERE p.id = NEW.approved_by_id AND p.is_active AND p.role = 'manager') THEN
        RAISE EXCEPTION 'a key is made by an administrator and a manager'
            USING ERRCODE = '23514', CONSTRAINT = 'api_key_by_those_who_may';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER by_those_who_may BEFORE INSERT ON casino_apikey
    FOR EACH ROW EXECUTE FUNCTION casino_key_by_those_who_may();
ALTER TABLE casino_apikey ENABLE ALWAYS TRIGGER by_those_who_may;

CREATE TRIGGER append_only_rows BEFORE DELETE ON casino_apikey
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON casino_apikey
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON casino_apikey FOR EACH ROW WHEN (
    (OLD.revoked_at IS NOT NULL
     AND (OLD.revoked_at, OLD.revoked_by_id) IS DISTINCT FROM (NEW.revoked_at, NEW.revoked_by_id))
    OR (OLD.id, OLD.system, OLD.secret_sha256, OLD.scopes, OLD.tables, OLD.cages, OLD.addresses, OLD.expires_at,
        OLD.replaces_id, OLD.created_by_id, OLD.approved_by_id, OLD.created_at)
    IS DISTINCT FROM (NEW.id, NEW.system, NEW.secret_sha256, NEW.scopes, NEW.tables, NEW.cages, NEW.addresses,
        NEW.expires_at, NEW.replaces_id, NEW.created_by_id, NEW.approved_by_id, NEW.created_at))
    EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE casino_apikey ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE casino_apikey ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE casino_apikey ENABLE ALWAYS TRIGGER append_only_but_state;
"""


class Migration(migrations.Migration):
    dependencies = [("casino", "0002_event_numbers")]

    operations = [
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('system', models.CharField(max_length=30)),
                ('secret_sha256', models.BinaryField(max_length=32, unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('tables', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                ('cages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                ('addresses', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), size=None)),
                ('expires_at', models.DateTimeField()),
                ('created_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('approved_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('replaces', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.apikey')),
                ('revoked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('created_by', models.F('approved_by')), _negated=True), name='api_key_two_people'), models.CheckConstraint(condition=models.Q(('system__regex', '^[a-z0-9_]{1,30}$')), name='api_key_system_plain'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='api_key_ends_later'), models.CheckConstraint(condition=models.Q(models.Q(('scopes', []), _negated=True), models.Q(('addresses', []), _negated=True)), name='api_key_for_something_from_somewhere'), models.CheckConstraint(condition=models.Q(models.Q(('revoked_at', None), ('revoked_by', None)), models.Q(('revoked_at__isnull', False), ('revoked_by__isnull', False)), _connector='OR'), name='api_key_revoked_by_someone_at_a_time')],
            },
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
    ]
