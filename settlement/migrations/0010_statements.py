"""Statements, and what was matched of those of others.

A statement follows the one before it of its account without a hole. An outside line gets its match once; nothing else
of these rows ever changes.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

EVIDENCE = (
    "settlement_statement",
    "settlement_statementday",
    "settlement_matchingrule",
    "settlement_outsidefile",
    "settlement_outsidestatement",
    "settlement_match",
    "settlement_matchedentry",
)

ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""

LINES = """
CREATE FUNCTION settlement_statement_follows() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.previous_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM public.settlement_statement p
         WHERE p.id = NEW.previous_id AND p.account_id = NEW.account_id AND p.number = NEW.number - 1
           AND p.closing = NEW.opening AND p.gaming_day < NEW.gaming_day
           AND p.covered_version <= NEW.covered_version) THEN
        RAISE EXCEPTION 'statement % does not follow the one it names', NEW.id
            USING ERRCODE = '23514', CONSTRAINT = 'statement_follows_the_one_it_names';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER follows BEFORE INSERT ON settlement_statement
    FOR EACH ROW EXECUTE FUNCTION settlement_statement_follows();
ALTER TABLE settlement_statement ENABLE ALWAYS TRIGGER follows;

CREATE FUNCTION settlement_outside_line_matched_once() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.match_id IS NOT NULL OR NEW.match_id IS NULL
       OR to_jsonb(NEW) - 'match_id' IS DISTINCT FROM to_jsonb(OLD) - 'match_id' THEN
        RAISE EXCEPTION 'a line of somebody else''s statement gets its match once, and stays as it is'
            USING ERRCODE = '23514', CONSTRAINT = 'outside_line_matched_once';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER matched_once BEFORE UPDATE OR DELETE ON settlement_outsideline
    FOR EACH ROW EXECUTE FUNCTION settlement_outside_line_matched_once();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_outsideline
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_outsideline ENABLE ALWAYS TRIGGER matched_once;
ALTER TABLE settlement_outsideline ENABLE ALWAYS TRIGGER append_only_table;
"""


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("casino", "0003_keys"),
        ("settlement", "0009_days"),
    ]

    operations = [
        migrations.CreateModel(
            name="Match",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "by",
                    models.CharField(
                        choices=[
                            ("key", "Key"),
                            ("fields", "Fields"),
                            ("total", "Total"),
                            ("rule", "Rule"),
                            ("cutoff", "Cutoff"),
                        ],
                        max_length=10,
                    ),
                ),
                ("amount", models.BigIntegerField()),
                ("matched_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.account"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "matches",
            },
        ),
        migrations.CreateModel(
            name="MatchedEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "entry",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.entry",
                    ),
                ),
                (
                    "match",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="settlement.match",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "matched entries",
            },
        ),
        migrations.CreateModel(
            name="MatchingRule",
            fields=[
                ("id", models.CharField(max_length=60, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("EXT_FEE", "fee"), ("EXT_ROUNDING", "rounding")], max_length=20
                    ),
                ),
                ("accounts", models.CharField(max_length=120)),
                ("code", models.CharField(blank=True, max_length=35)),
                ("most", models.BigIntegerField()),
                ("first_day", models.DateField()),
                ("last_day", models.DateField(null=True)),
                ("set_at", models.DateTimeField()),
                (
                    "approved_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="match",
            name="rule",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.matchingrule",
            ),
        ),
        migrations.CreateModel(
            name="OutsideFile",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("sha256", models.BinaryField(max_length=32)),
                ("form", models.CharField(choices=[("csv", "CSV"), ("camt.053", "camt.053")], max_length=10)),
                ("bytes", models.BinaryField()),
                ("taken_at", models.DateTimeField()),
                (
                    "key",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="casino.apikey",
                    ),
                ),
                (
                    "taken_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="OutsideStatement",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("ordinal", models.SmallIntegerField()),
                ("number", models.CharField(max_length=40)),
                ("gaming_day", models.DateField()),
                ("currency", models.CharField(max_length=3)),
                ("opening", models.BigIntegerField()),
                ("closing", models.BigIntegerField()),
                ("lines", models.IntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.account",
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="statements",
                        to="settlement.outsidefile",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="OutsideLine",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.IntegerField()),
                ("amount", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("booked", models.DateField()),
                ("played", models.DateField()),
                ("code", models.CharField(blank=True, max_length=35)),
                ("journal", models.CharField(blank=True, max_length=35)),
                ("reference", models.CharField(blank=True, max_length=120)),
                ("reversal", models.BooleanField(default=False)),
                ("pending", models.BooleanField(default=False)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.account",
                    ),
                ),
                (
                    "match",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="settlement.match",
                    ),
                ),
                (
                    "statement",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="settlement.outsidestatement",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Statement",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("number", models.IntegerField()),
                ("gaming_day", models.DateField()),
                ("currency", models.CharField(max_length=3)),
                ("opening", models.BigIntegerField()),
                ("closing", models.BigIntegerField()),
                ("lines", models.IntegerField()),
                ("covered_version", models.BigIntegerField()),
                ("csv_sha256", models.BinaryField(max_length=32)),
                ("camt_sha256", models.BinaryField(max_length=32)),
                ("made_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.account",
                    ),
                ),
                (
                    "previous",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.statement",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StatementDay",
            fields=[
                ("gaming_day", models.DateField(primary_key=True, serialize=False)),
                ("statements", models.IntegerField()),
                ("finished_at", models.DateTimeField()),
            ],
        ),
        migrations.AddConstraint(
            model_name="matchingrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["EXT_FEE", "EXT_ROUNDING"])), name="matching_rule_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="matchingrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("most__gt", 0)), name="matching_rule_has_a_limit"
            ),
        ),
        migrations.AddConstraint(
            model_name="matchingrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("set_by", models.F("approved_by")), _negated=True),
                name="matching_rule_by_two",
            ),
        ),
        migrations.AddConstraint(
            model_name="matchingrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("last_day", None), ("last_day__gte", models.F("first_day")), _connector="OR"
                ),
                name="matching_rule_ends_after_it_begins",
            ),
        ),
        migrations.AddConstraint(
            model_name="match",
            constraint=models.CheckConstraint(
                condition=models.Q(("by__in", ["key", "fields", "total", "rule", "cutoff"])),
                name="match_pass_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="match",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("by", "rule"), ("rule__isnull", False)),
                    models.Q(models.Q(("by", "rule"), _negated=True), ("rule", None)),
                    _connector="OR",
                ),
                name="match_names_its_rule",
            ),
        ),
        migrations.AddConstraint(
            model_name="outsidefile",
            constraint=models.UniqueConstraint(fields=("sha256",), name="outside_file_once"),
        ),
        migrations.AddConstraint(
            model_name="outsidefile",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("key__isnull", False), ("taken_by", None)),
                    models.Q(("key", None), ("taken_by__isnull", False)),
                    _connector="OR",
                ),
                name="outside_file_taken_by_somebody",
            ),
        ),
        migrations.AddIndex(
            model_name="outsidestatement",
            index=models.Index(fields=["account", "gaming_day"], name="outside_statement_by_day"),
        ),
        migrations.AddConstraint(
            model_name="outsidestatement",
            constraint=models.UniqueConstraint(
                fields=("file", "ordinal"), name="outside_statement_ordinal_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="outsidestatement",
            constraint=models.UniqueConstraint(
                fields=("account", "number"), name="outside_statement_number_once"
            ),
        ),
        migrations.AddIndex(
            model_name="outsideline",
            index=models.Index(
                condition=models.Q(("match", None), ("pending", False)),
                fields=["account", "booked"],
                name="outside_line_unmatched",
            ),
        ),
        migrations.AddIndex(
            model_name="outsideline",
            index=models.Index(
                condition=models.Q(("match__isnull", False)), fields=["match"], name="outside_line_by_match"
            ),
        ),
        migrations.AddConstraint(
            model_name="outsideline",
            constraint=models.UniqueConstraint(
                fields=("statement", "number"), name="outside_line_number_once"
            ),
        ),
        migrations.AddIndex(
            model_name="statement",
            index=models.Index(fields=["gaming_day", "account"], name="statement_by_day"),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.UniqueConstraint(fields=("account", "number"), name="statement_number_once"),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.UniqueConstraint(fields=("account", "gaming_day"), name="statement_once_a_day"),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("number", 1), ("previous", None)),
                    models.Q(("number__gt", 1), ("previous__isnull", False)),
                    _connector="OR",
                ),
                name="statement_follows_another",
            ),
        ),
        *(migrations.RunSQL(ADD_ONLY.format(table=table), migrations.RunSQL.noop) for table in EVIDENCE),
        migrations.RunSQL(LINES, migrations.RunSQL.noop),
    ]
