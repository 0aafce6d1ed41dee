"""Pay slips in the rundown: what the cage pays for a table never left its tray.

A pay slip that is paid leaves its value in ``suspense:clearing``, and the close of its table brings it to the bank
(``slip_clearing``). A house that has days already counts so from the next gaming day on; the days before it, and the
pay slips issued in them, keep the formula they had.
"""

from datetime import timedelta

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Func, Q

from casino import gaming_day as day

KINDS = [
    ("opener", "Opener"),
    ("closer", "Closer"),
    ("fill", "Fill"),
    ("credit", "Credit"),
    ("buy_in", "Buy In"),
    ("variance", "Variance"),
    ("wallet_clearing", "Wallet Clearing"),
    ("slip_clearing", "Slip Clearing"),
    ("chips_left", "Chips Left"),
    ("round", "Round"),
    ("round_reversal", "Round Reversal"),
    ("hold_shortfall", "Hold Shortfall"),
    ("shortfall_recovered", "Shortfall Recovered"),
    ("pay_slip_issued", "Pay Slip Issued"),
    ("pay_slip_paid", "Pay Slip Paid"),
    ("pay_slip_void", "Pay Slip Void"),
    ("deposit", "Deposit"),
    ("withdrawal", "Withdrawal"),
    ("chip_sale", "Chip Sale"),
    ("chip_redemption", "Chip Redemption"),
    ("drop_counted", "Drop Counted"),
    ("external_mirror", "External Mirror"),
    ("break_resolved", "Break Resolved"),
]
CASH_KINDS = [
    ("deposit", "Deposit"),
    ("withdrawal", "Withdrawal"),
    ("buy_in", "Buy In"),
    ("chip_sale", "Chip Sale"),
    ("chip_redemption", "Chip Redemption"),
    ("pay_slip_paid", "Pay Slip Paid"),
]


def keep_the_days_there_are(apps, schema_editor):
    """Let a house with days begin the new formula with the next one; a new house has it from its first day on."""
    zone, hour = settings.PROPERTY["zone"], settings.PROPERTY["day_start_hour"]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT max(gaming_day), now() FROM settlement_journal")
        last, now = cursor.fetchone()
        if last is not None:
            from_day = max(last, day.gaming_day(now, zone, hour)) + timedelta(days=1)
            cursor.execute(
                "INSERT INTO settlement_formuladate (version, from_day) VALUES (2, %s)", [from_day]
            )


ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON settlement_formuladate
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_formuladate
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_formuladate ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_formuladate ENABLE ALWAYS TRIGGER append_only_table;
"""

# As before, and: a pay slip of the new formula is paid by the cage for the table, which owes it the same; what the
# close of the table cleared for it comes back when it is void; a later revision voids it by its own name.
PAY_SLIPS = """
CREATE OR REPLACE FUNCTION settlement_pay_slip_stands() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    table_code text;
    in_the_tray boolean;
    cleared boolean;
BEGIN
    SELECT t.code INTO table_code FROM public.casino_table t WHERE t.id = NEW.table_id;
    in_the_tray := NEW.gaming_day >= coalesce(
        (SELECT f.from_day FROM public.settlement_formuladate f WHERE f.version = 2), '-infinity'::date);
    IF NEW.state <> 'void' THEN
        PERFORM FROM public.casino_round r
         WHERE r.id = NEW.round_id AND r.table_id = NEW.table_id AND NOT r.in_dispute FOR SHARE;
        IF NOT FOUND OR NOT EXISTS (
                SELECT FROM public.settlement_settlement s
                JOIN public.settlement_line l ON l.settlement_id = s.id
                WHERE s.id = NEW.settlement_id AND s.round_id = NEW.round_id AND s.currency = NEW.currency
                  AND l.id = NEW.line_id AND l.wager = NEW.wager AND l.account = 'table:' || table_code || ':guests'
                  AND l.net - NEW.settled_before = NEW.amount
                  AND NOT EXISTS (SELECT FROM public.settlement_settlement later WHERE later.round_id = s.round_id
                                   AND later.revision > s.revision AND NOT later.changes_nothing)) THEN
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
                                            (CASE WHEN in_the_tray THEN 'suspense:clearing:' || table_code
                                                  ELSE 'cage:' || NEW.cage || ':vault' END, NEW.amount),
                                            ('cage:' || NEW.cage || ':vault', -NEW.amount),
                                            ('external:cash:' || NEW.cage, NEW.amount))) <> 4 THEN
            RAISE EXCEPTION 'a pay slip is paid its amount by the cage'
                USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_paid_its_amount';
        END IF;
    ELSE
        IF NOT EXISTS (SELECT FROM public.settlement_journal j WHERE j.id = NEW.void_journal_id
                          AND j.reverses_id = NEW.issue_journal_id)
           OR (NEW.superseded_by_id IS NOT NULL AND NOT EXISTS (
                SELECT FROM public.settlement_settlement later JOIN public.settlement_settlement mine
                  ON mine.id = NEW.settlement_id AND mine.round_id = later.round_id AND mine.revision < later.revision
                 WHERE later.id = NEW.superseded_by_id)) THEN
            RAISE EXCEPTION 'a void pay slip gives back what it took, for a reason'
                USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_void_gives_back';
        END IF;
        cleared := in_the_tray AND EXISTS (
            SELECT FROM public.settlement_float f JOIN public.casino_tablesession s ON s.id = f.session_id
             WHERE s.table_id = NEW.table_id AND f.kind = 'closer' AND f.guests_version >= (
                   SELECT e.version FROM public.settlement_entry e JOIN public.settlement_account a
                       ON a.id = e.account_id AND a.kind = 'guests' WHERE e.journal_id = NEW.issue_journal_id));
        IF cleared IS DISTINCT FROM (NEW.void_clearing_id IS NOT NULL)
           OR (cleared AND (
                NOT EXISTS (SELECT FROM public.settlement_journal j WHERE j.id = NEW.void_clearing_id
                               AND j.kind = 'slip_clearing' AND j.entry_count = 2)
                OR (SELECT count(DISTINCT (a.code, e.amount)) FROM public.settlement_entry e
                    JOIN public.settlement_account a ON a.id = e.account_id
                    WHERE e.journal_id = NEW.void_clearing_id
                      AND (a.code, e.amount) IN (('table:' || table_code || ':bank', -NEW.amount),
                                                 ('suspense:clearing:' || table_code, NEW.amount))) <> 2)) THEN
            RAISE EXCEPTION 'what a close cleared for a pay slip comes back when it is void, and nothing else'
                USING ERRCODE = '23514', CONSTRAINT = 'pay_slip_void_clears_back';
        END IF;
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("settlement", "0016_files_of_others"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="FormulaDate",
            fields=[
                ("version", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("from_day", models.DateField()),
            ],
        ),
        migrations.RunSQL(ADD_ONLY, migrations.RunSQL.noop),
        migrations.RunPython(keep_the_days_there_are, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="journal", name="journal_kind_known"),
        migrations.AlterField(
            model_name="journal",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=24),
        ),
        migrations.AddConstraint(
            model_name="journal",
            constraint=models.CheckConstraint(
                condition=Q(kind__in=[kind for kind, _ in KINDS]), name="journal_kind_known"
            ),
        ),
        migrations.RemoveConstraint(model_name="cashact", name="cash_act_kind_has_its_direction"),
        migrations.RemoveConstraint(model_name="cashact", name="cash_act_pieces_add_up"),
        migrations.AlterField(
            model_name="cashact",
            name="kind",
            field=models.CharField(choices=CASH_KINDS, max_length=20),
        ),
        migrations.AddConstraint(
            model_name="cashact",
            constraint=models.CheckConstraint(
                condition=Q(kind__in=("deposit", "buy_in", "chip_sale"), direction="in")
                | Q(kind__in=["withdrawal", "chip_redemption", "pay_slip_paid"], direction="out"),
                name="cash_act_kind_has_its_direction",
            ),
        ),
        migrations.AddConstraint(
            model_name="cashact",
            constraint=models.CheckConstraint(
                condition=Q(kind__in=["deposit", "withdrawal", "pay_slip_paid"], lines=[])
                | Q(
                    amount=Func(
                        F("lines"),
                        function="settlement_value_of_pieces",
                        output_field=models.BigIntegerField(),
                    )
                ),
                name="cash_act_pieces_add_up",
            ),
        ),
        migrations.AddField(
            model_name="float",
            name="slip_clearing",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.journal",
            ),
        ),
        migrations.RemoveConstraint(model_name="float", name="float_cleared_at_the_close"),
        migrations.AddConstraint(
            model_name="float",
            constraint=models.CheckConstraint(
                condition=Q(kind="closer")
                | Q(clearing=None, slip_clearing=None, chips_left=None, held=[], missing={}),
                name="float_cleared_at_the_close",
            ),
        ),
        migrations.AddField(
            model_name="payslip",
            name="void_clearing",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.journal",
            ),
        ),
        migrations.AddField(
            model_name="payslip",
            name="superseded_by",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.settlement",
            ),
        ),
        migrations.RemoveConstraint(model_name="payslip", name="pay_slip_paid_or_void_once"),
        migrations.AddConstraint(
            model_name="payslip",
            constraint=models.CheckConstraint(
                condition=Q(
                    state="issued",
                    cage="",
                    paid_by=None,
                    paid_second=None,
                    paid_key=None,
                    paid_at=None,
                    payment_journal=None,
                    voided_by=None,
                    voided_at=None,
                    void_reason="",
                    void_in_chips=False,
                    void_journal=None,
                    void_clearing=None,
                    superseded_by=None,
                )
                | Q(
                    state="paid",
                    paid_at__isnull=False,
                    payment_journal__isnull=False,
                    voided_by=None,
                    voided_at=None,
                    void_reason="",
                    void_in_chips=False,
                    void_journal=None,
                    void_clearing=None,
                    superseded_by=None,
                )
                & ~Q(cage="")
                & (Q(paid_by__isnull=False, paid_key=None) | Q(paid_by=None, paid_key__isnull=False))
                | Q(
                    state="void",
                    cage="",
                    paid_by=None,
                    paid_second=None,
                    paid_key=None,
                    paid_at=None,
                    payment_journal=None,
                    voided_at__isnull=False,
                    void_journal__isnull=False,
                )
                & (
                    Q(voided_by__isnull=False, superseded_by=None) & ~Q(void_reason="")
                    | Q(voided_by=None, superseded_by__isnull=False, void_reason="", void_in_chips=False)
                ),
                name="pay_slip_paid_or_void_once",
            ),
        ),
        migrations.RunSQL(PAY_SLIPS, migrations.RunSQL.noop),
    ]
