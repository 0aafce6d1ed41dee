"""Breaks, runs and their chunks, and what the database itself refuses of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# A break goes from state to state without a jump, one step at a time; what was found never changes.
BREAKS = """
CREATE FUNCTION settlement_break_moves() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.code, OLD.subject, OLD.fingerprint, OLD.severity, OLD.detail, OLD.amount, OLD.currency, OLD.run,
        OLD.fell_due_at, OLD.found_at)
       IS DISTINCT FROM
       (NEW.id, NEW.code, NEW.subject, NEW.fingerprint, NEW.severity, NEW.detail, NEW.amount, NEW.currency, NEW.run,
        NEW.fell_due_at, NEW.found_at)
    THEN
        RAISE EXCEPTION 'what a break found does not change' USING ERRCODE = 'PD001';
    END IF;
    IF NEW.steps = OLD.steps THEN
        IF (OLD.state, OLD.assigned_to_id, OLD.resolution, OLD.rule, OLD.journal_id, OLD.resolved_by_id, OLD.approved_by_id)
           IS DISTINCT FROM
           (NEW.state, NEW.assigned_to_id, NEW.resolution, NEW.rule, NEW.journal_id, NEW.resolved_by_id, NEW.approved_by_id)
        THEN
            RAISE EXCEPTION 'a break changes by steps' USING ERRCODE = '23514', CONSTRAINT = 'break_moves_by_steps';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.steps <> OLD.steps + 1 OR NOT (OLD.state, NEW.state) IN (
        ('expected', 'matched'), ('expected', 'mismatched'), ('matched', 'mismatched'),
        ('mismatched', 'matched'), ('assigned', 'matched'), ('explained', 'matched'),
        ('mismatched', 'assigned'), ('assigned', 'assigned'), ('explained', 'assigned'),
        ('assigned', 'explained'), ('explained', 'explained'),
        ('explained', 'resolved'), ('resolved', 'approved'))
    THEN
        RAISE EXCEPTION 'a break does not go from % to %', OLD.state, NEW.state
            USING ERRCODE = '23514', CONSTRAINT = 'break_moves_without_a_jump';
    END IF;
    IF OLD.state = 'resolved' AND (OLD.resolution, OLD.rule, OLD.journal_id, OLD.resolved_by_id)
       IS DISTINCT FROM (NEW.resolution, NEW.rule, NEW.journal_id, NEW.resolved_by_id)
    THEN
        RAISE EXCEPTION 'how a break was resolved does not change' USING ERRCODE = 'PD001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER break_moves BEFORE UPDATE ON settlement_break
    FOR EACH ROW EXECUTE FUNCTION settlement_break_moves();
ALTER TABLE settlement_break ENABLE ALWAYS TRIGGER break_moves;

CREATE FUNCTION settlement_break_step_is_kept() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.settlement_breakstep s
         WHERE s.of_id = NEW.id AND s.ordinal = NEW.steps AND s.state = NEW.state)
    THEN
        RAISE EXCEPTION 'a step of break % is not written down', NEW.id
            USING ERRCODE = '23514', CONSTRAINT = 'break_step_is_kept';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER break_step_is_kept AFTER INSERT OR UPDATE OF state, steps ON settlement_break
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION settlement_break_step_is_kept();
ALTER TABLE settlement_break ENABLE ALWAYS TRIGGER break_step_is_kept;

CREATE FUNCTION settlement_break_step_was_taken() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.settlement_break b WHERE b.id = NEW.of_id AND b.steps >= NEW.ordinal)
    THEN
        RAISE EXCEPTION 'break % took no such step', NEW.of_id
            USING ERRCODE = '23514', CONSTRAINT = 'break_step_was_taken';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER break_step_was_taken AFTER INSERT ON settlement_breakstep
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION settlement_break_step_was_taken();
ALTER TABLE settlement_breakstep ENABLE ALWAYS TRIGGER break_step_was_taken;
"""

ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""

NEVER_GONE = """
CREATE TRIGGER append_only_rows BEFORE DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("settlement", "0007_counts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Break",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "code",
                    models.CharField(
                        choices=[
                            ("SEQ_GAP", "Seq Gap"),
                            ("MISSING_LEDGER", "Missing Ledger"),
                            ("MISSING_SOURCE", "Missing Source"),
                            ("AMOUNT", "Amount"),
                            ("CURRENCY", "Currency"),
                            ("DUPLICATE", "Duplicate"),
                            ("JUDGE_DIFF", "Judge Diff"),
                            ("SHEET_UNKNOWN", "Sheet Unknown"),
                            ("BALANCE_DRIFT", "Balance Drift"),
                            ("VERSION_GAP", "Version Gap"),
                            ("HOLD_STALE", "Hold Stale"),
                            ("SEAL_LAG", "Seal Lag"),
                            ("FORK", "Fork"),
                            ("LEAF_DIFF", "Leaf Diff"),
                            ("PROOF_FAIL", "Proof Fail"),
                            ("CUTOFF", "Cutoff"),
                            ("COUNT_VARIANCE", "Count Variance"),
                            ("COUNT_MISMATCH", "Count Mismatch"),
                            ("SLIP_GAP", "Slip Gap"),
                            ("TRANSIT_LEFT", "Transit Left"),
                            ("EXT_FEE", "Ext Fee"),
                            ("EXT_ROUNDING", "Ext Rounding"),
                            ("POISONED", "Poisoned"),
                        ],
                        max_length=20,
                    ),
                ),
                ("subject", models.CharField(max_length=200)),
                ("fingerprint", models.CharField(max_length=64)),
                (
                    "severity",
                    models.CharField(
                        choices=[
                            ("low", "Low"),
                            ("medium", "Medium"),
                            ("high", "High"),
                            ("critical", "Critical"),
                        ],
                        max_length=10,
                    ),
                ),
                ("detail", models.JSONField(default=dict)),
                ("amount", models.BigIntegerField(default=0)),
                ("currency", models.CharField(blank=True, max_length=3)),
                ("run", models.UUIDField(null=True)),
                ("fell_due_at", models.DateTimeField()),
                ("found_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("expected", "Expected"),
                            ("matched", "Matched"),
                            ("mismatched", "Mismatched"),
                            ("assigned", "Assigned"),
                            ("explained", "Explained"),
                            ("resolved", "Resolved"),
                            ("approved", "Approved"),
                        ],
                        max_length=10,
                    ),
                ),
                ("steps", models.IntegerField(default=1)),
                (
                    "resolution",
                    models.CharField(
                        blank=True,
                        choices=[("journal", "Journal"), ("rule", "Rule"), ("no_action", "No Action")],
                        max_length=10,
                    ),
                ),
                ("rule", models.CharField(blank=True, max_length=60)),
                (
                    "approved_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "assigned_to",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "journal",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.journal",
                    ),
                ),
                (
                    "resolved_by",
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
            name="BreakStep",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("ordinal", models.IntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("expected", "Expected"),
                            ("matched", "Matched"),
                            ("mismatched", "Mismatched"),
                            ("assigned", "Assigned"),
                            ("explained", "Explained"),
                            ("resolved", "Resolved"),
                            ("approved", "Approved"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("taken_at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "of",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="history",
                        to="settlement.break",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="break",
            index=models.Index(
                condition=models.Q(("state__in", ["matched", "approved"]), _negated=True),
                fields=["fell_due_at"],
                name="break_open_by_age",
            ),
        ),
        migrations.AddIndex(
            model_name="break",
            index=models.Index(fields=["subject"], name="break_by_subject"),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.UniqueConstraint(
                fields=("code", "subject", "fingerprint"), name="break_once_per_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "code__in",
                        [
                            "SEQ_GAP",
                            "MISSING_LEDGER",
                            "MISSING_SOURCE",
                            "AMOUNT",
                            "CURRENCY",
                            "DUPLICATE",
                            "JUDGE_DIFF",
                            "SHEET_UNKNOWN",
                            "BALANCE_DRIFT",
                            "VERSION_GAP",
                            "HOLD_STALE",
                            "SEAL_LAG",
                            "FORK",
                            "LEAF_DIFF",
                            "PROOF_FAIL",
                            "CUTOFF",
                            "COUNT_VARIANCE",
                            "COUNT_MISMATCH",
                            "SLIP_GAP",
                            "TRANSIT_LEFT",
                            "EXT_FEE",
                            "EXT_ROUNDING",
                            "POISONED",
                        ],
                    )
                ),
                name="break_code_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(("severity__in", ["low", "medium", "high", "critical"])),
                name="break_severity_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "expected",
                            "matched",
                            "mismatched",
                            "assigned",
                            "explained",
                            "resolved",
                            "approved",
                        ],
                    )
                ),
                name="break_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount", 0), ("currency__regex", "^[A-Z]{3}$"), _connector="OR"),
                name="break_amount_has_a_currency",
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("assigned_to__isnull", False),
                    models.Q(("state__in", ["assigned", "explained"]), _negated=True),
                    _connector="OR",
                ),
                name="break_assigned_to_somebody",
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("state__in", ["resolved", "approved"]),
                        models.Q(
                            models.Q(
                                ("journal__isnull", False),
                                ("resolution", "journal"),
                                ("resolved_by__isnull", False),
                            ),
                            models.Q(
                                ("journal", None),
                                ("resolution", "rule"),
                                ("resolved_by__isnull", False),
                                models.Q(("rule", ""), _negated=True),
                            ),
                            models.Q(
                                ("journal", None), ("resolution", "no_action"), ("resolved_by__isnull", False)
                            ),
                            _connector="OR",
                        ),
                    ),
                    models.Q(
                        models.Q(("state__in", ["resolved", "approved"]), _negated=True),
                        ("journal", None),
                        ("resolution", ""),
                        ("resolved_by", None),
                    ),
                    _connector="OR",
                ),
                name="break_resolved_in_one_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="break",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("approved_by__isnull", False),
                        ("state", "approved"),
                        models.Q(("approved_by", models.F("resolved_by")), _negated=True),
                    ),
                    models.Q(models.Q(("state", "approved"), _negated=True), ("approved_by", None)),
                    _connector="OR",
                ),
                name="break_closed_and_approved_by_two",
            ),
        ),
        migrations.AddConstraint(
            model_name="breakstep",
            constraint=models.UniqueConstraint(fields=("of", "ordinal"), name="break_step_once"),
        ),
        migrations.AddConstraint(
            model_name="breakstep",
            constraint=models.CheckConstraint(
                condition=models.Q(("ordinal__gte", 1)), name="break_step_counted_from_one"
            ),
        ),
        migrations.RunSQL(BREAKS, migrations.RunSQL.noop),
        migrations.RunSQL(ADD_ONLY.format(table="settlement_breakstep"), migrations.RunSQL.noop),
        migrations.RunSQL(NEVER_GONE.format(table="settlement_break"), migrations.RunSQL.noop),
    ]
