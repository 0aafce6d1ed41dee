"""Slips and pay slips, and what the database refuses of them by itself, whoever asks.

A number is taken one at a time and belongs to a paper when its act commits; a slip moves along its states only, over
an open session, each state signed by its step and by the people that may sign it; chips leave and arrive by a journal
that moves exactly the slip's amount. A pay slip is of a line of its round's last revision when it is issued and when it
is paid, and is paid or void once.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# One number after the other; and when the act commits, a paper has it.
SERIES = """
CREATE FUNCTION settlement_series_counts_up() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (TG_OP = 'INSERT' AND NEW.last <> 1) OR (TG_OP = 'UPDATE' AND NEW.last <> OLD.last + 1) THEN
        RAISE EXCEPTION 'a number is taken one at a time' USING ERRCODE = '23514', CONSTRAINT = 'series_counts_up';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER series_counts_up BEFORE INSERT OR UPDATE ON settlement_series
    FOR EACH ROW EXECUTE FUNCTION settlement_series_counts_up();
ALTER TABLE settlement_series ENABLE ALWAYS TRIGGER series_counts_up;

CREATE FUNCTION settlement_number_is_used() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.settlement_slip s WHERE s.series_id = NEW.id AND s.number = NEW.last)
       AND NOT EXISTS (SELECT FROM public.settlement_payslip p WHERE p.series_id = NEW.id AND p.number = NEW.last) THEN
        RAISE EXCEPTION 'number % of series % is on no paper', NEW.last, NEW.id
            USING ERRCODE = '23514', CONSTRAINT = 'series_without_holes';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER series_without_holes AFTER INSERT OR UPDATE ON settlement_series
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION settlement_number_is_used();
ALTER TABLE settlement_series ENABLE ALWAYS TRIGGER series_without_holes;
"""

# A session is looked at under a lock of its row: a slip never slips in beside its close.
SLIPS = """
CREATE FUNCTION settlement_slip_goes_its_way() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moved text := NEW.state;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'requested' OR NOT EXISTS (
                SELECT FROM public.casino_tablesession s JOIN public.casino_table t ON t.id = s.table_id
                WHERE s.id = NEW.session_id AND t.id = NEW.table_id AND t.currency = NEW.currency) THEN
            RAISE EXCEPTION 'a slip begins with a request for a session of its table'
                USING ERRCODE = '23514', CONSTRAINT = 'slip_goes_its_way';
        END IF;
    ELSIF (OLD.state || ' ' || NEW.state) NOT IN (
            'requested issued', 'issued in_transit', 'in_transit received', 'received deposited',
            'requested void', 'issued void')
          OR (OLD.state || ' ' || NEW.state <> 'requested issued'
              AND (OLD.series_id, OLD.number, OLD.cage) IS DISTINCT FROM (NEW.series_id, NEW.number, NEW.cage)) THEN
        RAISE EXCEPTION 'a slip does not go from % to %, or changes its number', OLD.state, NEW.state
            USING ERRCODE = '23514', CONSTRAINT = 'slip_goes_its_way';
    END IF;

    IF NEW.state = 'issued' AND NOT EXISTS (
            SELECT FROM public.settlement_series s
            WHERE s.id = NEW.series_id AND s.kind = NEW.kind AND s.last = NEW.number) THEN
        RAISE EXCEPTION 'a slip is given the number just taken from its series'
            USING ERRCODE = '23514', CONSTRAINT = 'slip_numbered_in_its_series';
    END IF;

    IF moved <> 'void' AND NOT (moved = 'received' AND NEW.kind = 'credit') THEN
        PERFORM FROM public.casino_tablesession s WHERE s.id = NEW.session_id AND s.closed_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no slip at a table that is closed'
                USING ERRCODE = '23514', CONSTRAINT = 'slip_over_an_open_session';
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER slip_goes_its_way BEFORE INSERT OR UPDATE ON settlement_slip
    FOR EACH ROW EXECUTE FUNCTION settlement_slip_goes_its_way();
ALTER TABLE settlement_slip ENABLE ALWAYS TRIGGER slip_goes_its_way;

CREATE FUNCTION settlement_slip_has_its_step() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.settlement_slipstep t WHERE t.slip_id = NEW.id AND t.step = NEW.state) THEN
        RAISE EXCEPTION 'nobody signed that slip % is %', NEW.id, NEW.state
            USING ERRCODE = '23514', CONSTRAINT = 'slip_has_its_step';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER slip_has_its_step AFTER INSERT OR UPDATE ON settlement_slip
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION settlement_slip_has_its_step();
ALTER TABLE settlement_slip ENABLE ALWAYS TRIGGER slip_has_its_step;
"""

# Who asks does not issue; who carries does neither, nor counts; who issues does not receive; a fill is counted by two.
STEPS = """
CREATE FUNCTION settlement_slip_step_follows() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    slip public.settlement_slip;
    asked uuid;
    issued uuid;
    carried uuid;
    table_code text;
    pays text;
    gets text;
BEGIN
    SELECT * INTO slip FROM public.settlement_slip s WHERE s.id = NEW.slip_id;
    IF NEW.ordinal <> (SELECT count(*) FROM public.settlement_slipstep t WHERE t.slip_id = NEW.slip_id)
       OR (NEW.step NOT IN ('counted', 'compared') AND NEW.step <> slip.state)
       OR (NEW.step = 'counted' AND slip.state <> 'in_transit')
       OR (NEW.step = 'compared' AND slip.manual_number = '')
       OR ((NEW.step = 'counted') = (NEW.lines = slip.lines)) THEN
        RAISE EXCEPTION 'a step says where its slip stands, and lists what it carries'
            USING ERRCODE = '23514', CONSTRAINT = 'slip_step_follows';
    END IF;

    SELECT max(t.by_id::text) FILTER (WHERE t.step = 'requested'), max(t.by_id::text) FILTER (WHERE t.step = 'issued'),
           max(t.by_id::text) FILTER (WHERE t.step = 'in_transit')
      INTO asked, issued, carried FROM public.settlement_slipstep t WHERE t.slip_id = NEW.slip_id;
    IF (NEW.step = 'issued' AND NEW.by_id = asked)
       OR (NEW.step = 'in_transit' AND NEW.by_id IN (asked, issued))
       OR (NEW.step IN ('counted', 'received') AND (
            NEW.by_id IN (issued, carried) OR coalesce(NEW.second_id IN (issued, carried), false)
            OR (NEW.second_id IS NULL) <> (slip.kind = 'credit')
            OR (slip.kind = 'credit' AND NEW.by_id = asked)))
       OR (NEW.step = 'deposited' AND NEW.by_id IN (issued, carried))
       OR (NEW.step = 'compared' AND EXISTS (
            SELECT FROM public.settlement_slipstep t
            WHERE t.slip_id = NEW.slip_id AND NEW.by_id IN (t.by_id, t.second_id))) THEN
        RAISE EXCEPTION 'the same person may not sign both' USING ERRCODE = '23514', CONSTRAINT = 'slip_step_by_others';
    END IF;

    IF NEW.journal_id IS NOT NULL THEN
        SELECT t.code INTO table_code FROM public.casino_table t WHERE t.id = slip.table_id;
        pays := CASE WHEN NEW.step = 'received' THEN 'suspense:transit:' || table_code
                     WHEN slip.kind = 'fill' THEN 'cage:' || slip.cage || ':vault'
                     ELSE 'table:' || table_code || ':bank' END;
        gets := CASE WHEN NEW.step = 'in_transit' THEN 'suspense:transit:' || table_code
                     WHEN slip.kind = 'fill' THEN 'table:' || table_code || ':bank'
                     ELSE 'cage:' || slip.cage || ':vault' END;
        IF NOT EXISTS (SELECT FROM public.settlement_journal j
                       WHERE j.id = NEW.journal_id AND j.kind = slip.kind AND j.entry_count = 2)
           OR (SELECT count(DISTINCT (a.code, e.amount)) FROM public.settlement_entry e
               JOIN public.settlement_account a ON a.id = e.account_id
               WHERE e.journal_id = NEW.journal_id
                 AND (a.code, e.amount) IN ((pays, -slip.amount), (gets, slip.amount))) <> 2 THEN
            RAISE EXCEPTION 'a slip moves its amount, from where it is to where it goes'
                USING ERRCODE = '23514', CONSTRAINT = 'slip_step_moves_its_amount';
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER slip_step_follows BEFORE INSERT ON settlement_slipstep
    FOR EACH ROW EXECUTE FUNCTION settlement_slip_step_follows();
ALTER TABLE settlement_slipstep ENABLE ALWAYS TRIGGER slip_step_follows;
"""

# The round's row is locked while its last revision and its dispute are looked at: neither changes before the act ends.
PAY_SLIPS = """
CREATE FUNCTION settlement_pay_slip_stands() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    table_code text;
BEGIN
    SELECT t.code INTO table_code FROM public.casino_table t WHERE t.id = NEW.table_id;
    IF NEW.state <> 'void' THEN
        PERFORM FROM public.casino_round r
         WHERE r.id = NEW.round_id AND r.table_id = NEW.table_id AND NOT r.in_dispute FOR SHARE;
        IF NOT FOUND OR NOT EXISTS (
                SELECT FROM public.settlement_settlement s
                JOIN public.settlement_line l ON l.settlement_id = s.id
                WHERE s.id = NEW.settlement_id AND s.round_id = NEW.round_id AND s.currency = NEW.currency
                  AND l.id = NEW.line_id AND l.wager = NEW.wager AND l.account = 'table:' || table_code || ':guests'
                  AND l.net - NEW.settled_before = NEW.amount
                  AND NOT EXISTS (SELECT FROM public.settlement_settlement later WHERE later.supersedes_id = s.id)) THEN
            RAISE EXCEPTION 'a pay slip is of a line in chips, of the last revision of a round that is not in dispute'
                USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_of_the_last_revision';
        END IF;
    END IF;

    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'issued' OR NOT EXISTS (
                SELECT FROM public.settlement_series s
                WHERE s.id = NEW.series_id AND s.kind = 'pay_slip' AND s.last = NEW.number)
           OR NOT EXISTS (SELECT FROM public.settlement_journal j WHERE j.id = NEW.issue_journal_id
                             AND j.kind = 'pay_slip_issued' AND j.round = NEW.round_id AND j.entry_count = 2)
           OR (SELECT count(DISTINCT (a.code, e.amount)) FROM public.settlement_entry e
               JOIN public.settlement_account a ON a.id = e.account_id
               WHERE e.journal_id = NEW.issue_journal_id AND e.wager = NEW.wager
                 AND (a.code, e.amount) IN (('table:' || table_code || ':guests', -NEW.amount),
                                            ('suspense:slips:' || table_code, NEW.amount))) <> 2 THEN
            RAISE EXCEPTION 'a pay slip takes the next number, and its amount from the guests'
                USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_issued_once';
        END IF;
    ELSIF NEW.state = 'paid' THEN
        IF NOT EXISTS (SELECT FROM public.settlement_journal j WHERE j.id = NEW.payment_journal_id
                          AND j.kind = 'pay_slip_paid' AND j.round = NEW.round_id AND j.entry_count = 4)
           OR (SELECT count(DISTINCT (a.code, e.amount)) FROM public.settlement_entry e
               JOIN public.settlement_account a ON a.id = e.account_id
               WHERE e.journal_id = NEW.payment_journal_id AND e.wager = NEW.wager
                 AND (a.code, e.amount) IN (('suspense:slips:' || table_code, -NEW.amount),
                                            ('cage:' || NEW.cage || ':vault', NEW.amount),
                                            ('cage:' || NEW.cage || ':vault', -NEW.amount),
                                            ('external:cash:' || NEW.cage, NEW.amount))) <> 4 THEN
            RAISE EXCEPTION 'a pay slip is paid its amount by the cage'
                USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_paid_its_amount';
        END IF;
    ELSIF NOT EXISTS (SELECT FROM public.settlement_journal j WHERE j.id = NEW.void_journal_id
                         AND j.reverses_id = NEW.issue_journal_id) THEN
        RAISE EXCEPTION 'a void pay slip gives back what it took'
            USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_void_gives_back';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER pay_slip_stands BEFORE INSERT OR UPDATE ON settlement_payslip
    FOR EACH ROW EXECUTE FUNCTION settlement_pay_slip_stands();
ALTER TABLE settlement_payslip ENABLE ALWAYS TRIGGER pay_slip_stands;
"""

ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON settlement_slipstep
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_slipstep
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_slipstep ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_slipstep ENABLE ALWAYS TRIGGER append_only_table;
"""

STATE_ONLY = """
CREATE TRIGGER append_only_rows BEFORE DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON {table}
    FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_but_state;
"""
WITH_STATE = {
    "settlement_series": """
        (OLD.id, OLD.property, OLD.kind, OLD.year) IS DISTINCT FROM (NEW.id, NEW.property, NEW.kind, NEW.year)""",
    "settlement_slip": """
        (OLD.id, OLD.kind, OLD.table_id, OLD.session_id, OLD.lines, OLD.currency, OLD.manual_number, OLD.gaming_day,
         OLD.requested_at)
        IS DISTINCT FROM
        (NEW.id, NEW.kind, NEW.table_id, NEW.session_id, NEW.lines, NEW.currency, NEW.manual_number, NEW.gaming_day,
         NEW.requested_at)""",
    "settlement_payslip": """
        OLD.state <> 'issued'
        OR (OLD.id, OLD.series_id, OLD.number, OLD.table_id, OLD.round_id, OLD.wager, OLD.settlement_id, OLD.line_id,
            OLD.settled_before, OLD.amount, OLD.currency, OLD.gaming_day, OLD.issued_by_id, OLD.issued_at,
            OLD.issue_journal_id)
        IS DISTINCT FROM
        (NEW.id, NEW.series_id, NEW.number, NEW.table_id, NEW.round_id, NEW.wager, NEW.settlement_id, NEW.line_id,
            NEW.settled_before, NEW.amount, NEW.currency, NEW.gaming_day, NEW.issued_by_id, NEW.issued_at,
            NEW.issue_journal_id)""",
}


class Migration(migrations.Migration):
    dependencies = [
        ("casino", "0003_keys"),
        ("settlement", "0005_wallets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Series",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("property", models.CharField(max_length=40)),
                (
                    "kind",
                    models.CharField(
                        choices=[("fill", "Fill"), ("credit", "Credit"), ("pay_slip", "Pay Slip")],
                        max_length=10,
                    ),
                ),
                ("year", models.SmallIntegerField()),
                ("last", models.IntegerField()),
            ],
            options={
                "verbose_name_plural": "series",
                "constraints": [
                    models.UniqueConstraint(fields=("property", "kind", "year"), name="series_once_a_year"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["fill", "credit", "pay_slip"])),
                        name="series_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("last__gte", 1)), name="series_begins_with_one"
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="Slip",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("fill", "Fill"), ("credit", "Credit")], max_length=10)),
                (
                    "table",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="casino.table",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="casino.tablesession",
                    ),
                ),
                ("lines", models.JSONField()),
                (
                    "amount",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(models.F("lines"), function="settlement_value_of_pieces"),
                        output_field=models.BigIntegerField(),
                    ),
                ),
                ("currency", models.CharField(max_length=3)),
                ("manual_number", models.CharField(blank=True, max_length=40)),
                ("gaming_day", models.DateField()),
                ("requested_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("issued", "Issued"),
                            ("in_transit", "In Transit"),
                            ("received", "Received"),
                            ("deposited", "Deposited"),
                            ("void", "Void"),
                        ],
                        default="requested",
                        max_length=10,
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.series",
                    ),
                ),
                ("number", models.IntegerField(null=True)),
                ("cage", models.CharField(blank=True, max_length=20)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["table", "-id"], name="slip_by_table"),
                    models.Index(fields=["gaming_day"], name="slip_by_day"),
                    models.Index(
                        condition=models.Q(("state__in", ["requested", "issued", "in_transit"])),
                        fields=["table"],
                        name="slip_under_way",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("series", "number"), name="slip_number_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("manual_number", ""), _negated=True),
                        fields=("kind", "manual_number"),
                        name="slip_of_a_paper_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["fill", "credit"])), name="slip_kind_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["requested", "issued", "in_transit", "received", "deposited", "void"],
                            )
                        ),
                        name="slip_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gt", 0)), name="slip_carries_something"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("cage", ""),
                                ("number", None),
                                ("series", None),
                                ("state__in", ["requested", "void"]),
                            ),
                            models.Q(
                                models.Q(("state", "requested"), _negated=True),
                                models.Q(("cage", ""), _negated=True),
                                ("number__isnull", False),
                                ("series__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="slip_numbered_at_its_issue",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SlipStep",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "slip",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="steps",
                        to="settlement.slip",
                    ),
                ),
                ("ordinal", models.SmallIntegerField()),
                (
                    "step",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("issued", "Issued"),
                            ("in_transit", "In Transit"),
                            ("counted", "Counted"),
                            ("received", "Received"),
                            ("deposited", "Deposited"),
                            ("void", "Void"),
                            ("compared", "Compared"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("lines", models.JSONField()),
                (
                    "amount",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(models.F("lines"), function="settlement_value_of_pieces"),
                        output_field=models.BigIntegerField(),
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "journal",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.journal",
                    ),
                ),
                ("taken_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("slip", "ordinal"), name="slip_step_ordinal_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("step", "counted"), _negated=True),
                        fields=("slip", "step"),
                        name="slip_step_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "step__in",
                                [
                                    "requested",
                                    "issued",
                                    "in_transit",
                                    "counted",
                                    "received",
                                    "deposited",
                                    "void",
                                    "compared",
                                ],
                            )
                        ),
                        name="slip_step_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("second", None),
                            models.Q(
                                ("step__in", ["counted", "received"]),
                                models.Q(("by", models.F("second")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="slip_step_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("journal__isnull", False), ("step__in", ["in_transit", "received"])),
                            models.Q(
                                models.Q(("step__in", ["in_transit", "received"]), _negated=True),
                                ("journal", None),
                            ),
                            _connector="OR",
                        ),
                        name="slip_step_moves_chips_twice",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("step", "void"), _negated=True),
                            models.Q(("reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="slip_step_void_with_a_reason",
                    ),
                ],
                "indexes": [],
            },
        ),
        migrations.CreateModel(
            name="PaySlip",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.series",
                    ),
                ),
                ("number", models.IntegerField()),
                (
                    "table",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="casino.table",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="casino.round",
                    ),
                ),
                ("wager", models.CharField(max_length=40)),
                (
                    "settlement",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.settlement",
                    ),
                ),
                (
                    "line",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.line",
                    ),
                ),
                ("settled_before", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("gaming_day", models.DateField()),
                (
                    "issued_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("issued_at", models.DateTimeField()),
                (
                    "issue_journal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.journal"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("issued", "Issued"), ("paid", "Paid"), ("void", "Void")],
                        default="issued",
                        max_length=10,
                    ),
                ),
                ("cage", models.CharField(blank=True, max_length=20)),
                (
                    "paid_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "paid_second",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "paid_key",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="casino.apikey",
                    ),
                ),
                ("paid_at", models.DateTimeField(null=True)),
                (
                    "payment_journal",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.journal",
                    ),
                ),
                (
                    "voided_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("voided_at", models.DateTimeField(null=True)),
                ("void_reason", models.CharField(blank=True, max_length=500)),
                ("void_in_chips", models.BooleanField(default=False)),
                (
                    "void_journal",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="settlement.journal",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["table", "-id"], name="pay_slip_by_table"),
                    models.Index(fields=["settlement"], name="pay_slip_by_revision"),
                    models.Index(
                        condition=models.Q(("state", "issued")), fields=["table"], name="pay_slip_in_force"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("series", "number"), name="pay_slip_number_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "issued")),
                        fields=("round", "wager"),
                        name="pay_slip_one_in_force",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "void"), _negated=True),
                        fields=("settlement", "wager"),
                        name="pay_slip_one_per_line",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gt", 0)), name="pay_slip_of_something"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("cage", ""),
                                ("paid_at", None),
                                ("paid_by", None),
                                ("paid_key", None),
                                ("paid_second", None),
                                ("payment_journal", None),
                                ("state", "issued"),
                                ("void_in_chips", False),
                                ("void_journal", None),
                                ("void_reason", ""),
                                ("voided_at", None),
                                ("voided_by", None),
                            ),
                            models.Q(
                                ("paid_at__isnull", False),
                                ("payment_journal__isnull", False),
                                ("state", "paid"),
                                ("void_in_chips", False),
                                ("void_journal", None),
                                ("void_reason", ""),
                                ("voided_at", None),
                                ("voided_by", None),
                                models.Q(("cage", ""), _negated=True),
                                models.Q(
                                    models.Q(("paid_by__isnull", False), ("paid_key", None)),
                                    models.Q(("paid_by", None), ("paid_key__isnull", False)),
                                    _connector="OR",
                                ),
                            ),
                            models.Q(
                                ("cage", ""),
                                ("paid_at", None),
                                ("paid_by", None),
                                ("paid_key", None),
                                ("paid_second", None),
                                ("payment_journal", None),
                                ("state", "void"),
                                ("void_journal__isnull", False),
                                ("voided_at__isnull", False),
                                ("voided_by__isnull", False),
                                models.Q(("void_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="pay_slip_paid_or_void_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("paid_by", None),
                                models.Q(("paid_by", models.F("issued_by")), _negated=True),
                                _connector="OR",
                            ),
                            models.Q(
                                ("paid_second", None),
                                models.Q(
                                    ("paid_by__isnull", False),
                                    models.Q(("paid_second", models.F("paid_by")), _negated=True),
                                    models.Q(("paid_second", models.F("issued_by")), _negated=True),
                                ),
                                _connector="OR",
                            ),
                        ),
                        name="pay_slip_paid_by_others",
                    ),
                ],
            },
        ),
        migrations.RunSQL(SERIES, migrations.RunSQL.noop),
        migrations.RunSQL(SLIPS, migrations.RunSQL.noop),
        migrations.RunSQL(STEPS, migrations.RunSQL.noop),
        migrations.RunSQL(PAY_SLIPS, migrations.RunSQL.noop),
        migrations.RunSQL(ADD_ONLY, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(STATE_ONLY.format(table=table, changed=changed), migrations.RunSQL.noop)
            for table, changed in WITH_STATE.items()
        ),
    ]
