from django.db import migrations

# A code for somebody's account is that account: who may make it is asked as for an appointment. Only a house that
# nobody was appointed in by others hands codes out by itself.
GUARD = """
CREATE OR REPLACE FUNCTION casino_code_made_by_those_who_may() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.made_by_id IS NULL THEN
        IF EXISTS (SELECT FROM public.casino_appointment a WHERE a.proposed_by_id IS NOT NULL) THEN
            RAISE EXCEPTION 'codes are made by an administrator'
                USING ERRCODE = '23514', CONSTRAINT = 'code_by_those_who_may';
        END IF;
    ELSIF NOT EXISTS (SELECT FROM public.casino_person p
                       WHERE p.id = NEW.made_by_id AND p.is_active AND p.role = 'administrator') THEN
        RAISE EXCEPTION 'codes are made by an administrator'
            USING ERRCODE = '23514', CONSTRAINT = 'code_by_those_who_may';
    END IF;
    IF TG_TABLE_NAME = 'casino_handover' AND NEW.made_by_id IS NOT NULL THEN
        IF NOT EXISTS (
            SELECT FROM public.casino_person p
             WHERE p.id = NEW.person_id
               AND (p.role IN ('dealer', 'surveillance') AND p.permissions = '{}' AND NEW.approved_by_id IS NULL
                    OR EXISTS (SELECT FROM public.casino_person m
                                WHERE m.id = NEW.approved_by_id AND m.is_active AND m.role = 'manager'))) THEN
            RAISE EXCEPTION 'codes of whoever needed two people are made by two'
                USING ERRCODE = '23514', CONSTRAINT = 'code_by_those_who_may';
        END IF;
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("casino", "0009_tries_by_origin")]

    operations = [migrations.RunSQL(GUARD, migrations.RunSQL.noop)]
