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
        OLD.level, OLD.gaming_day, OLD.fell_due_at, OLD.found_at)
       IS DISTINCT FROM
       (NEW.id, NEW.code, NEW.subject, NEW.fingerprint, NEW.severity, NEW.detail, NEW.amount, NEW.currency, NEW.run,
        NEW.level, NEW.gaming_day, NEW.fell_due_at, NEW.found_at)
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

# A run closes once, when nothing of it is left to do; a chunk's claims are counted and never taken back.
RUNS = """
CREATE FUNCTION settlement_run_closes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.done_at IS NOT NULL
       OR (OLD.id, OLD.kind, OLD.scope, OLD.gaming_day, OLD.since, OLD.until, OLD.rules, OLD.edition, OLD.chunk_size,
           OLD.begun_by_id, OLD.begun_at)
       IS DISTINCT FROM
          (NEW.id, NEW.kind, NEW.scope, NEW.gaming_day, NEW.since, NEW.until, NEW.rules, NEW.edition, NEW.chunk_size,
           NEW.begun_by_id, NEW.begun_at)
    THEN
        RAISE EXCEPTION 'what a run compared does not change' USING ERRCODE = 'PD001';
    END IF;
    IF EXISTS (SELECT FROM public.settlement_chunk c WHERE c.run_id = NEW.id AND c.state IN ('waiting', 'claimed'))
    THEN
        RAISE EXCEPTION 'run % has chunks that are not finished', NEW.id
            USING ERRCODE = '23514', CONSTRAINT = 'run_done_with_its_chunks';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER run_closes BEFORE UPDATE ON settlement_run
    FOR EACH ROW EXECUTE FUNCTION settlement_run_closes();
ALTER TABLE settlement_run ENABLE ALWAYS TRIGGER run_closes;

CREATE FUNCTION settlement_chunk_goes_on() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.run_id, OLD.level, OLD.part, OLD.lower, OLD.upper)
       IS DISTINCT FROM (NEW.id, NEW.run_id, NEW.level, NEW.part, NEW.lower, NEW.upper)
       OR OLD.state IN ('done', 'poisoned')
    THEN
        RAISE EXCEPTION 'a finished chunk, or what a chunk is of, does not change' USING ERRCODE = 'PD001';
    END IF;
    IF NEW.attempts <> OLD.attempts + (OLD.state = 'waiting' AND NEW.state = 'claimed')::int
       OR NOT (OLD.state, NEW.state) IN (
        ('waiting', 'claimed'), ('claimed', 'waiting'), ('claimed', 'done'), ('claimed', 'poisoned'))
    THEN
        RAISE EXCEPTION 'a chunk does not go from % to %', OLD.state, NEW.state
            USING ERRCODE = '23514', CONSTRAINT = 'chunk_goes_on';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER chunk_goes_on BEFORE UPDATE ON settlement_chunk
    FOR EACH ROW EXECUTE FUNCTION settlement_chunk_goes_on();
ALTER TABLE settlement_chunk ENABLE ALWAYS TRIGGER chunk_goes_on;

CREATE FUNCTION settlement_result_is_of_its_claim() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.settlement_chunk c
         WHERE c.id = NEW.chunk_id AND c.state = 'done' AND c.attempts = NEW.attempt)
    THEN
        RAISE EXCEPTION 'chunk % was not finished by that claim', NEW.chunk_id
            USING ERRCODE = '23514', CONSTRAINT = 'result_of_the_last_claim';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER result_is_of_its_claim BEFORE INSERT ON settlement_result
    FOR EACH ROW EXECUTE FUNCTION settlement_result_is_of_its_claim();
ALTER TABLE settlement_result ENABLE ALWAYS TRIGGER result_is_of_its_claim;
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
            name="Chunk",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("level", models.CharField(max_length=2)),
                ("part", models.CharField(max_length=20)),
                ("lower", models.BigIntegerField()),
                ("upper", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("claimed", "Claimed"),
                            ("done", "Done"),
                            ("poisoned", "Poisoned"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=80)),
                ("lease_until", models.DateTimeField(null=True)),
                ("attempts", models.SmallIntegerField(default=0)),
                ("trouble", models.CharField(blank=True, max_length=200)),
            ],
        ),
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
                ("level", models.CharField(blank=True, max_length=2)),
                ("gaming_day", models.DateField(null=True)),
                ("fell_due_at", models.DateTimeField()),
                ("found_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("seen_run", models.UUIDField(null=True)),
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
        migrations.CreateModel(
            name="Result",
            fields=[
                (
                    "chunk",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="result",
                        serialize=False,
                        to="settlement.chunk",
                    ),
                ),
                ("attempt", models.SmallIntegerField()),
                ("compared", models.IntegerField()),
                ("matched", models.IntegerField()),
                ("pending", models.IntegerField()),
                ("broken", models.JSONField(default=dict)),
                ("at_risk", models.JSONField(default=dict)),
                ("files", models.JSONField(default=list)),
                ("unseen", models.JSONField(default=list)),
                ("sum", models.CharField(max_length=64)),
                ("finished_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(choices=[("nightly", "Nightly"), ("asked", "Asked")], max_length=10),
                ),
                ("scope", models.CharField(max_length=40)),
                ("gaming_day", models.DateField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("rules", models.CharField(max_length=80)),
                ("edition", models.IntegerField(default=1)),
                ("chunk_size", models.IntegerField()),
                ("begun_at", models.DateTimeField()),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Open"),
                            ("matched", "Matched"),
                            ("breaks", "Breaks"),
                            ("incomplete", "Incomplete"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("done_at", models.DateTimeField(null=True)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("report", models.JSONField(default=dict)),
                (
                    "begun_by",
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
        migrations.AddField(
            model_name="chunk",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="chunks",
                to="settlement.run",
            ),
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
        migrations.AddIndex(
            model_name="break",
            index=models.Index(
                condition=models.Q(("state__in", ["matched", "approved"]), _negated=True),
                fields=["gaming_day", "level"],
                name="break_open_by_day",
            ),
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
        migrations.AddConstraint(
            model_name="result",
            constraint=models.CheckConstraint(
                condition=models.Q(("sum__regex", "^[0-9a-f]{64}$")), name="result_sum_is_a_hash"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["gaming_day"], name="run_by_day"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                fields=("kind", "scope", "rules", "since", "until", "edition"),
                name="run_once_per_range_and_rules",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("done_at", None)),
                fields=("kind", "scope", "rules", "since", "until"),
                name="run_one_open_per_range_and_rules",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "nightly")),
                fields=("scope", "gaming_day"),
                name="run_one_nightly_per_day",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["nightly", "asked"])), name="run_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("since__lt", models.F("until"))), name="run_has_a_range"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("chunk_size__gte", 1)), name="run_has_chunks_of_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("digest", ""), ("done_at", None), ("outcome", ""), ("report", {})),
                    models.Q(
                        ("done_at__isnull", False),
                        ("outcome__in", ["matched", "breaks", "incomplete"]),
                        models.Q(("report", {}), _negated=True),
                        ("digest__regex", "^[0-9a-f]{64}$"),
                    ),
                    _connector="OR",
                ),
                name="run_done_with_a_digest",
            ),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=models.Index(
                condition=models.Q(("state__in", ["waiting", "claimed"])),
                fields=["level", "id"],
                name="chunk_to_do",
            ),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(
                fields=("run", "level", "part", "lower"), name="chunk_once_per_range"
            ),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.CheckConstraint(
                condition=models.Q(("lower__lt", models.F("upper"))), name="chunk_has_a_range"
            ),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("lease_until__isnull", False),
                        ("state", "claimed"),
                        models.Q(("owner", ""), _negated=True),
                    ),
                    models.Q(
                        ("lease_until", None), ("owner", ""), ("state__in", ["waiting", "done", "poisoned"])
                    ),
                    _connector="OR",
                ),
                name="chunk_claimed_with_a_lease",
            ),
        ),
        migrations.RunSQL(BREAKS, migrations.RunSQL.noop),
        migrations.RunSQL(RUNS, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(ADD_ONLY.format(table=table), migrations.RunSQL.noop)
            for table in ("settlement_breakstep", "settlement_result")
        ),
        *(
            migrations.RunSQL(NEVER_GONE.format(table=table), migrations.RunSQL.noop)
            for table in ("settlement_break", "settlement_run", "settlement_chunk")
        ),
    ]
