import audit.models
import django.contrib.postgres.indexes
from django.db import migrations, models


# The hash and the columns are those of the bytes, whoever writes; a date is compared as the entry spells it.
# The transaction number is the writer's own: an entry cannot be put at an earlier place in the log. A trigger and not
# a CHECK, because a restored copy has other numbers.
GUARDS = """
ALTER TABLE audit_logentry
    ADD CONSTRAINT log_entry_hash_is_of_its_bytes CHECK (leaf_hash = sha256('\\x00'::bytea || bytes)),
    ADD CONSTRAINT log_entry_columns_are_its_bytes CHECK (
        convert_from(bytes, 'UTF8')::jsonb @> jsonb_build_object(
            'v', 1, 'origin', origin, 'action', action, 'subject', subject, 'table', table_code, 'round', round,
            'request', request_id,
            'at', to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'actor', jsonb_build_object('kind', actor_kind, 'id', nullif(actor, ''), 'role', role, 'person', person)
                || CASE WHEN actor_kind = 'device' THEN jsonb_build_object('code', device) ELSE '{}' END)
        AND (actor_kind = 'device' OR device = ''));

CREATE FUNCTION audit_own_transaction() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.xid <> pg_current_xact_id() THEN
        RAISE EXCEPTION 'an entry carries the number of the transaction that writes it' USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER own_transaction BEFORE INSERT ON audit_logentry
    FOR EACH ROW EXECUTE FUNCTION audit_own_transaction();
ALTER TABLE audit_logentry ENABLE ALWAYS TRIGGER own_transaction;

CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON audit_logentry
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON audit_logentry
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE audit_logentry ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE audit_logentry ENABLE ALWAYS TRIGGER append_only_table;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [("casino", "0001_floor")]

    operations = [
        migrations.CreateModel(
            name="LogEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "xid",
                    audit.models.TransactionField(
                        db_default=audit.models.CurrentTransaction(), editable=False
                    ),
                ),
                ("origin", models.CharField(max_length=120)),
                ("recorded_at", models.DateTimeField()),
                ("action", models.CharField(max_length=60)),
                ("subject", models.CharField(max_length=200)),
                ("table_code", models.CharField(blank=True, max_length=20)),
                ("round", models.UUIDField(null=True)),
                ("actor_kind", models.CharField(max_length=10)),
                ("actor", models.CharField(blank=True, max_length=40)),
                ("device", models.CharField(blank=True, max_length=60)),
                ("person", models.UUIDField(null=True)),
                ("role", models.CharField(blank=True, max_length=40)),
                ("request_id", models.CharField(blank=True, max_length=200)),
                ("bytes", models.BinaryField()),
                ("leaf_hash", models.BinaryField(max_length=32)),
            ],
            options={
                "verbose_name": "log entry",
                "verbose_name_plural": "log entries",
                "indexes": [
                    models.Index(fields=["xid", "id"], name="log_entry_order"),
                    models.Index(fields=["action", "id"], name="log_entry_by_action"),
                    models.Index(fields=["subject", "id"], name="log_entry_by_subject"),
                    models.Index(
                        condition=models.Q(("table_code", ""), _negated=True),
                        fields=["table_code", "id"],
                        name="log_entry_by_table",
                    ),
                    models.Index(
                        condition=models.Q(("round__isnull", False)),
                        fields=["round", "id"],
                        name="log_entry_by_round",
                    ),
                    models.Index(
                        condition=models.Q(("actor", ""), _negated=True),
                        fields=["actor", "id"],
                        name="log_entry_by_actor",
                    ),
                    models.Index(
                        condition=models.Q(("person__isnull", False)),
                        fields=["person", "id"],
                        name="log_entry_by_person",
                    ),
                    models.Index(
                        condition=models.Q(("request_id", ""), _negated=True),
                        fields=["request_id", "id"],
                        name="log_entry_by_request",
                    ),
                    django.contrib.postgres.indexes.HashIndex(fields=["leaf_hash"], name="log_entry_by_hash"),
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True,
                        fields=["recorded_at"],
                        name="log_entry_by_time",
                        pages_per_range=32,
                    ),
                ],
            },
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
    ]
