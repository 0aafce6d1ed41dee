"""Counts of every kind, asked for and blind; drop boxes; and what the database refuses of them.

A count that was made before belongs to a counting made for it here, accepted with the float it became.
"""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from casino import gaming_day as day

_KEEP = "ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows"
_LIFT = "ALTER TABLE {table} DISABLE TRIGGER append_only_rows"

_VERSIONS = """
UPDATE settlement_float f SET
       guests_version = stood.guests, commission_version = stood.commission, drop_version = stood.in_the_box
  FROM (SELECT o.id,
               coalesce(max(e.version) FILTER (WHERE a.kind = 'guests'), 0) AS guests,
               coalesce(max(e.version) FILTER (WHERE a.kind = 'commission'), 0) AS commission,
               coalesce(max(e.version) FILTER (WHERE a.kind = 'drop'), 0) AS in_the_box
          FROM settlement_float o JOIN casino_tablesession s ON s.id = o.session_id
          LEFT JOIN settlement_account a ON a.table_id = s.table_id
          LEFT JOIN (settlement_entry e JOIN settlement_journal j ON j.id = e.journal_id)
            ON e.account_id = a.id AND j.recorded_at <= o.accepted_at
         GROUP BY o.id) AS stood
 WHERE stood.id = f.id
"""


def carry_over(apps, schema_editor):
    """Give counts and floats that are there already their counting, their day and their versions."""
    zone, hour = settings.PROPERTY["zone"], settings.PROPERTY["day_start_hour"]
    with schema_editor.connection.cursor() as cursor:
        for table in ("settlement_count", "settlement_float"):
            cursor.execute(_LIFT.format(table=table))
        cursor.execute(
            "SELECT c.session_id, c.kind, s.table_id, (array_agg(c.counted_by_id ORDER BY c.ordinal))[1],"
            " min(c.counted_at), f.count_id, f.accepted_at"
            " FROM settlement_count c JOIN casino_tablesession s ON s.id = c.session_id"
            " JOIN settlement_float f ON f.session_id = c.session_id AND f.kind = c.kind"
            " GROUP BY c.session_id, c.kind, s.table_id, f.count_id, f.accepted_at"
        )
        for session, kind, table, asked_by, asked_at, accepted, ended_at in cursor.fetchall():
            counting = uuid.uuid4()
            cursor.execute(
                "INSERT INTO settlement_counting (id, table_id, session_id, kind, state, asked_by_id, asked_at, cage,"
                " accepted_id, ended_at) VALUES (%s, %s, %s, %s, 'accepted', %s, %s, '', %s, %s)",
                [
                    counting,
                    table,
                    None if kind == "opener" else session,
                    kind,
                    asked_by,
                    asked_at,
                    accepted,
                    ended_at,
                ],
            )
            cursor.execute(
                "UPDATE settlement_count SET counting_id = %s, salt = '' WHERE session_id = %s AND kind = %s",
                [counting, session, kind],
            )
        cursor.execute(_VERSIONS)
        cursor.execute("SELECT id, accepted_at FROM settlement_float")
        for id, accepted_at in cursor.fetchall():
            cursor.execute(
                "UPDATE settlement_float SET gaming_day = %s WHERE id = %s",
                [day.gaming_day(accepted_at, zone, hour), id],
            )
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in ("settlement_count", "settlement_float"):
            cursor.execute(_KEEP.format(table=table))


# A count joins an open counting: the next in order by somebody who made none of it, or its maker's own again while it
# is the last. A third is made only where the first two differ.
COUNTS = """
CREATE FUNCTION settlement_counts_are_blind() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked record;
    before record;
    made bigint;
    wrong text := '';
BEGIN
    SELECT state, carried_by_id INTO asked FROM public.settlement_counting WHERE id = NEW.counting_id FOR UPDATE;
    SELECT coalesce(max(ordinal), 0) INTO made FROM public.settlement_count WHERE counting_id = NEW.counting_id;
    IF asked.state IS DISTINCT FROM 'open' THEN
        wrong := 'is added to a counting that is over';
    ELSIF NEW.counted_by_id = asked.carried_by_id THEN
        wrong := 'is made by who carried the box';
    ELSIF NEW.supersedes_id IS NOT NULL THEN
        SELECT * INTO before FROM public.settlement_count WHERE id = NEW.supersedes_id;
        IF before.counting_id <> NEW.counting_id OR before.counted_by_id <> NEW.counted_by_id
           OR before.ordinal <> NEW.ordinal OR NEW.ordinal <> made THEN
            wrong := 'corrects another''s, or after somebody else counted';
        END IF;
    ELSIF NEW.ordinal <> made + 1 THEN
        wrong := 'is not the next';
    ELSIF NEW.ordinal = 3 AND (
        SELECT count(DISTINCT c.lines) FROM public.settlement_count c
         WHERE c.counting_id = NEW.counting_id
           AND NOT EXISTS (SELECT FROM public.settlement_count s WHERE s.supersedes_id = c.id)) < 2 THEN
        wrong := 'is a third where two agree';
    END IF;
    IF wrong <> '' THEN
        RAISE EXCEPTION 'count % of counting % %', NEW.ordinal, NEW.counting_id, wrong
            USING ERRCODE = '23514', CONSTRAINT = 'counts_are_blind';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER counts_are_blind BEFORE INSERT ON settlement_count
    FOR EACH ROW EXECUTE FUNCTION settlement_counts_are_blind();
ALTER TABLE settlement_count ENABLE ALWAYS TRIGGER counts_are_blind;
"""

# A counting begins open and ends once; what it accepts is the second of two that agree, or the third.
COUNTINGS = """
CREATE FUNCTION settlement_countings_end_once() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    taken record;
    wrong text := '';
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'open' THEN
            wrong := 'does not begin open';
        END IF;
    ELSIF OLD.state <> 'open' THEN
        wrong := 'is over';
    ELSIF NEW.state = 'accepted' THEN
        SELECT * INTO taken FROM public.settlement_count WHERE id = NEW.accepted_id;
        IF taken.counting_id IS DISTINCT FROM NEW.id OR taken.ordinal < 2 OR taken.ordinal <> (
               SELECT max(ordinal) FROM public.settlement_count WHERE counting_id = NEW.id) OR EXISTS (
               SELECT FROM public.settlement_count s WHERE s.supersedes_id = taken.id) THEN
            wrong := 'accepts a count that is not its last';
        ELSIF taken.ordinal = 2 AND (
            SELECT count(DISTINCT c.lines) FROM public.settlement_count c
             WHERE c.counting_id = NEW.id
               AND NOT EXISTS (SELECT FROM public.settlement_count s WHERE s.supersedes_id = c.id)) <> 1 THEN
            wrong := 'accepts one of two that differ';
        END IF;
    END IF;
    IF wrong <> '' THEN
        RAISE EXCEPTION 'counting % %', NEW.id, wrong USING ERRCODE = '23514', CONSTRAINT = 'counting_ends_once';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER countings_end_once BEFORE INSERT OR UPDATE ON settlement_counting
    FOR EACH ROW EXECUTE FUNCTION settlement_countings_end_once();
ALTER TABLE settlement_counting ENABLE ALWAYS TRIGGER countings_end_once;
"""

# A float and a drop are what their own counting accepted.
TAKEN = """
CREATE FUNCTION settlement_accepted_counts_are_taken() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked record;
    kind text := 'drop';
    box uuid;
BEGIN
    IF TG_TABLE_NAME = 'settlement_float' THEN
        kind := to_jsonb(NEW) ->> 'kind';
    ELSE
        box := (to_jsonb(NEW) ->> 'until_id')::uuid;
    END IF;
    SELECT c.*, s.table_id AS played_at INTO asked FROM public.settlement_counting c
      JOIN public.casino_tablesession s ON s.id = NEW.session_id WHERE c.accepted_id = NEW.count_id;
    IF asked.kind IS DISTINCT FROM kind OR asked.table_id IS DISTINCT FROM asked.played_at
       OR (asked.session_id IS NOT NULL AND asked.session_id <> NEW.session_id)
       OR asked.box_id IS DISTINCT FROM box THEN
        RAISE EXCEPTION 'count % was not accepted for this', NEW.count_id
            USING ERRCODE = '23514', CONSTRAINT = 'accepted_counts_are_taken';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER accepted_counts_are_taken BEFORE INSERT ON settlement_float
    FOR EACH ROW EXECUTE FUNCTION settlement_accepted_counts_are_taken();
CREATE TRIGGER accepted_counts_are_taken BEFORE INSERT ON settlement_drop
    FOR EACH ROW EXECUTE FUNCTION settlement_accepted_counts_are_taken();
ALTER TABLE settlement_float ENABLE ALWAYS TRIGGER accepted_counts_are_taken;
ALTER TABLE settlement_drop ENABLE ALWAYS TRIGGER accepted_counts_are_taken;
"""

ADD_ONLY = """
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON settlement_drop
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_drop
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_drop ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_drop ENABLE ALWAYS TRIGGER append_only_table;
"""
STATE_ONLY = """
CREATE TRIGGER append_only_rows BEFORE DELETE ON settlement_counting
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON settlement_counting
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_but_state BEFORE UPDATE ON settlement_counting
    FOR EACH ROW WHEN (
        OLD.ended_at IS NOT NULL
        OR (OLD.id, OLD.table_id, OLD.session_id, OLD.kind, OLD.asked_by_id, OLD.asked_at, OLD.box_id,
            OLD.carried_by_id, OLD.cage)
        IS DISTINCT FROM (NEW.id, NEW.table_id, NEW.session_id, NEW.kind, NEW.asked_by_id, NEW.asked_at, NEW.box_id,
            NEW.carried_by_id, NEW.cage)
    ) EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE settlement_counting ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE settlement_counting ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE settlement_counting ENABLE ALWAYS TRIGGER append_only_but_state;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("settlement", "0006_slips"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Counting",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("opener", "Opener"),
                            ("closer", "Closer"),
                            ("shift", "Shift"),
                            ("rollover", "Rollover"),
                            ("drop", "Drop"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("accepted", "Accepted"), ("withdrawn", "Withdrawn")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("asked_at", models.DateTimeField()),
                ("cage", models.CharField(blank=True, max_length=20)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Drop",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("recorded", models.BigIntegerField()),
                ("cage", models.CharField(max_length=20)),
                ("gaming_day", models.DateField()),
                (
                    "grade",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "None"),
                            ("quiet", "Quiet"),
                            ("note", "Note"),
                            ("incident", "Incident"),
                            ("notify", "Notify"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("limits_from", models.DateField(null=True)),
                ("accepted_at", models.DateTimeField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="count",
            name="count_ordinal_once",
        ),
        migrations.RemoveConstraint(
            model_name="count",
            name="count_once_per_person",
        ),
        migrations.RemoveConstraint(
            model_name="count",
            name="count_kind_known",
        ),
        migrations.RemoveConstraint(
            model_name="float",
            name="float_once_per_session_and_kind",
        ),
        migrations.RemoveConstraint(
            model_name="float",
            name="float_kind_known",
        ),
        migrations.RemoveConstraint(
            model_name="float",
            name="float_cleared_at_the_close",
        ),
        migrations.AddField(
            model_name="count",
            name="bank_version",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="count",
            name="salt",
            field=models.CharField(null=True, max_length=32),
        ),
        migrations.AddField(
            model_name="count",
            name="supersedes",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.count",
            ),
        ),
        migrations.AddField(
            model_name="float",
            name="commission_version",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="float",
            name="drop_version",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="float",
            name="gaming_day",
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name="float",
            name="grade",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "None"),
                    ("quiet", "Quiet"),
                    ("note", "Note"),
                    ("incident", "Incident"),
                    ("notify", "Notify"),
                ],
                default="",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="float",
            name="guests_version",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="float",
            name="held",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="float",
            name="limits_from",
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name="float",
            name="missing",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="float",
            name="override_first",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="float",
            name="override_second",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="float",
            name="kind",
            field=models.CharField(
                choices=[
                    ("opener", "Opener"),
                    ("closer", "Closer"),
                    ("shift", "Shift"),
                    ("rollover", "Rollover"),
                    ("drop", "Drop"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="counting",
            name="accepted",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.count",
            ),
        ),
        migrations.AddField(
            model_name="counting",
            name="asked_by",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="counting",
            name="box",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.float",
            ),
        ),
        migrations.AddField(
            model_name="counting",
            name="carried_by",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="counting",
            name="session",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="casino.tablesession",
            ),
        ),
        migrations.AddField(
            model_name="counting",
            name="table",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="casino.table"
            ),
        ),
        migrations.AddField(
            model_name="count",
            name="counting",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="counts",
                to="settlement.counting",
            ),
        ),
        migrations.AddField(
            model_name="drop",
            name="count",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.count"
            ),
        ),
        migrations.AddField(
            model_name="drop",
            name="journal",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.journal",
            ),
        ),
        migrations.AddField(
            model_name="drop",
            name="session",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="casino.tablesession"
            ),
        ),
        migrations.AddField(
            model_name="drop",
            name="until",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="settlement.float"
            ),
        ),
        migrations.AddField(
            model_name="drop",
            name="variance",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="settlement.journal",
            ),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="count",
            name="salt",
            field=models.CharField(max_length=32),
        ),
        migrations.AlterField(
            model_name="float",
            name="commission_version",
            field=models.BigIntegerField(),
        ),
        migrations.AlterField(
            model_name="float",
            name="drop_version",
            field=models.BigIntegerField(),
        ),
        migrations.AlterField(
            model_name="float",
            name="gaming_day",
            field=models.DateField(),
        ),
        migrations.AlterField(
            model_name="float",
            name="guests_version",
            field=models.BigIntegerField(),
        ),
        migrations.AlterField(
            model_name="count",
            name="counting",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="counts",
                to="settlement.counting",
            ),
        ),
        migrations.RemoveField(
            model_name="count",
            name="kind",
        ),
        migrations.RemoveField(
            model_name="count",
            name="session",
        ),
        migrations.AddIndex(
            model_name="float",
            index=models.Index(fields=["session", "bank_version"], name="float_by_session"),
        ),
        migrations.AddConstraint(
            model_name="float",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["opener", "closer"])),
                fields=("session", "kind"),
                name="float_opened_and_closed_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="float",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("opener", "closer", "shift", "rollover"))),
                name="float_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="float",
            constraint=models.CheckConstraint(
                condition=models.Q(("grade__in", ["", "quiet", "note", "incident", "notify"])),
                name="float_grade_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="float",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind", "closer"),
                    models.Q(("chips_left", None), ("clearing", None), ("held", []), ("missing", {})),
                    _connector="OR",
                ),
                name="float_cleared_at_the_close",
            ),
        ),
        migrations.AddConstraint(
            model_name="float",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("missing", {}), ("override_first", None), ("override_second", None)),
                    models.Q(
                        models.Q(("missing", {}), _negated=True),
                        ("override_first__isnull", False),
                        ("override_second__isnull", False),
                        models.Q(("override_first", models.F("override_second")), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="float_provisional_by_two_people",
            ),
        ),
        migrations.AddIndex(
            model_name="count",
            index=models.Index(fields=["counting", "ordinal"], name="count_by_counting"),
        ),
        migrations.AddConstraint(
            model_name="count",
            constraint=models.UniqueConstraint(
                condition=models.Q(("supersedes", None)),
                fields=("counting", "ordinal"),
                name="count_ordinal_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="count",
            constraint=models.UniqueConstraint(
                condition=models.Q(("supersedes", None)),
                fields=("counting", "counted_by"),
                name="count_once_per_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="counting",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["opener", "closer", "shift", "rollover", "drop"])),
                name="counting_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="counting",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open"), models.Q(("kind", "drop"), _negated=True)),
                fields=("table",),
                name="counting_one_float_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="counting",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "drop"), ("state", "open")),
                fields=("table",),
                name="counting_one_box_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="counting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("accepted", None), ("ended_at", None), ("state", "open")),
                    models.Q(("accepted__isnull", False), ("ended_at__isnull", False), ("state", "accepted")),
                    models.Q(("accepted", None), ("ended_at__isnull", False), ("state", "withdrawn")),
                    _connector="OR",
                ),
                name="counting_ends_with_a_count_or_without",
            ),
        ),
        migrations.AddConstraint(
            model_name="counting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("box__isnull", False),
                        ("carried_by__isnull", False),
                        ("kind", "drop"),
                        models.Q(("cage", ""), _negated=True),
                    ),
                    models.Q(
                        models.Q(("kind", "drop"), _negated=True),
                        ("box", None),
                        ("cage", ""),
                        ("carried_by", None),
                    ),
                    _connector="OR",
                ),
                name="counting_of_a_box_says_who_carried_it",
            ),
        ),
        migrations.AddConstraint(
            model_name="counting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "opener"), ("session", None)),
                    models.Q(models.Q(("kind", "opener"), _negated=True), ("session__isnull", False)),
                    _connector="OR",
                ),
                name="counting_belongs_to_a_session",
            ),
        ),
        migrations.AddConstraint(
            model_name="drop",
            constraint=models.CheckConstraint(
                condition=models.Q(("grade__in", ["", "quiet", "note", "incident", "notify"])),
                name="drop_grade_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="drop",
            constraint=models.CheckConstraint(
                condition=models.Q(("recorded__gte", 0)), name="drop_recorded_not_negative"
            ),
        ),
        *(
            migrations.RunSQL(sql, migrations.RunSQL.noop)
            for sql in (COUNTS, COUNTINGS, TAKEN, ADD_ONLY, STATE_ONLY)
        ),
    ]
