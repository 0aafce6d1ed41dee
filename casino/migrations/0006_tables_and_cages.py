import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Who adds and ends is looked up in their own rows, as a CHECK cannot. A place is added once and ended once; its code is
# one of both kinds, because accounts of a table and of a cage end in it alike.
GUARDS = """
CREATE FUNCTION casino_place_by_those_who_may() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first uuid; second uuid;
BEGIN
    IF TG_OP = 'INSERT' THEN
        first := NEW.added_by_id; second := NEW.added_with_id;
        IF NEW.ended_at IS NOT NULL THEN
            RAISE EXCEPTION 'a place is added before it is ended'
                USING ERRCODE = '23514', CONSTRAINT = 'place_added_before_it_ends';
        END IF;
        IF (TG_TABLE_NAME = 'casino_table' AND EXISTS (SELECT FROM public.casino_cage c WHERE c.code = NEW.code))
           OR (TG_TABLE_NAME = 'casino_cage' AND EXISTS (SELECT FROM public.casino_table t WHERE t.code = NEW.code)) THEN
            RAISE EXCEPTION 'a table and a cage of one code' USING ERRCODE = '23505', CONSTRAINT = 'place_code_once';
        END IF;
        -- Furnished without people only until people have added one.
        IF first IS NULL AND (TG_TABLE_NAME = 'casino_cage'
                              OR EXISTS (SELECT FROM public.casino_table t WHERE t.added_by_id IS NOT NULL)) THEN
            RAISE EXCEPTION 'a place is added by two people'
                USING ERRCODE = '23514', CONSTRAINT = 'place_by_those_who_may';
        END IF;
    ELSE
        IF (OLD.code, OLD.added_by_id, OLD.added_with_id, OLD.added_at)
               IS DISTINCT FROM (NEW.code, NEW.added_by_id, NEW.added_with_id, NEW.added_at)
           OR (OLD.ended_at IS NOT NULL AND (OLD.ended_by_id, OLD.ended_with_id, OLD.ended_at)
               IS DISTINCT FROM (NEW.ended_by_id, NEW.ended_with_id, NEW.ended_at)) THEN
            RAISE EXCEPTION 'how a place was added and ended stays as it was' USING ERRCODE = 'PD001';
        END IF;
        IF OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL THEN
            first := NEW.ended_by_id; second := NEW.ended_with_id;
        END IF;
    END IF;
    IF first IS NOT NULL
       AND (NOT EXISTS (SELECT FROM public.casino_person p
                         WHERE p.id = first AND p.is_active AND p.role = 'manager')
            OR NOT EXISTS (SELECT FROM public.casino_person p
                            WHERE p.id = second AND p.is_active AND p.role IN ('manager', 'administrator'))) THEN
        RAISE EXCEPTION 'a place is added and ended by a manager, with another or an administrator'
            USING ERRCODE = '23514', CONSTRAINT = 'place_by_those_who_may';
    END IF;
    RETURN NEW;
END $$;
"""
GUARDED = """
CREATE TRIGGER by_those_who_may BEFORE INSERT OR UPDATE ON {table}
    FOR EACH ROW EXECUTE FUNCTION casino_place_by_those_who_may();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER by_those_who_may;
CREATE TRIGGER append_only_rows BEFORE DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""
# At a table that ended nothing begins: no session, no device. What was played there may still be corrected.
ENDED = """
CREATE FUNCTION casino_table_still_there() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM public.casino_table t WHERE t.id = NEW.table_id AND t.ended_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the table has ended' USING ERRCODE = '23514', CONSTRAINT = 'table_still_there';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER still_there BEFORE INSERT ON casino_tablesession
    FOR EACH ROW EXECUTE FUNCTION casino_table_still_there();
CREATE TRIGGER still_there BEFORE INSERT ON casino_device
    FOR EACH ROW EXECUTE FUNCTION casino_table_still_there();
ALTER TABLE casino_tablesession ENABLE ALWAYS TRIGGER still_there;
ALTER TABLE casino_device ENABLE ALWAYS TRIGGER still_there;
"""


def main_cage(apps, schema_editor):
    """The cage that the installed setting names is there from the beginning."""
    apps.get_model("casino", "Cage").objects.get_or_create(code=settings.MAIN_CAGE)


def person():
    return models.ForeignKey(
        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
    )


def constraints(name):
    return [
        models.CheckConstraint(
            condition=models.Q(
                models.Q((f"{what}_at", None), (f"{what}_by", None), (f"{what}_with", None)),
                models.Q(
                    (f"{what}_at__isnull", False), (f"{what}_by__isnull", False), (f"{what}_with__isnull", False),
                    models.Q((f"{what}_by", models.F(f"{what}_with")), _negated=True),
                ),
                _connector="OR",
            ),
            name=f"{name}_{what}_by_two",
        )
        for what in ("added", "ended")
    ]


class Migration(migrations.Migration):
    dependencies = [("casino", "0005_missing_rounds")]

    operations = [
        migrations.CreateModel(
            name="Cage",
            fields=[
                ("code", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("added_by", person()),
                ("added_with", person()),
                ("added_at", models.DateTimeField(null=True)),
                ("ended_by", person()),
                ("ended_with", person()),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
                "constraints": [
                    *constraints("cage"),
                    models.CheckConstraint(
                        condition=models.Q(("code__regex", "^[A-Z0-9]{1,20}$")), name="cage_code_plain"
                    ),
                ],
            },
        ),
        *(
            migrations.AddField("table", f"{what}_{who}", field)
            for what in ("added", "ended")
            for who, field in (("by", person()), ("with", person()), ("at", models.DateTimeField(null=True)))
        ),
        *(migrations.AddConstraint("table", one) for one in constraints("table")),
        migrations.RunPython(main_cage, migrations.RunPython.noop),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(GUARDED.format(table=table), migrations.RunSQL.noop)
            for table in ("casino_table", "casino_cage")
        ),
        migrations.RunSQL(ENDED, migrations.RunSQL.noop),
    ]
