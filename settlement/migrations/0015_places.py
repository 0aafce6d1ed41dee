from django.db import migrations

# Cages that money moved at before cages were rows are taken over as they were.
TAKEN_OVER = """
ALTER TABLE casino_cage DISABLE TRIGGER by_those_who_may;
INSERT INTO casino_cage (code)
SELECT DISTINCT place FROM (
    SELECT split_part(code, ':', CASE WHEN kind IN ('vault', 'variance') THEN 2 ELSE 3 END) AS place FROM settlement_account
     WHERE kind IN ('vault', 'external', 'suspense', 'variance')) AS found
 WHERE place <> '' AND NOT EXISTS (SELECT FROM casino_table t WHERE t.code = place)
    ON CONFLICT (code) DO NOTHING;
ALTER TABLE casino_cage ENABLE ALWAYS TRIGGER by_those_who_may;
"""
# An account ends in the code of a place that is there, and at a cage that ended nothing moves.
GUARD = """
CREATE FUNCTION settlement_account_of_a_place() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place text := split_part(NEW.code, ':', CASE WHEN NEW.kind IN ('vault', 'variance') THEN 2 ELSE 3 END);
    ended timestamptz;
    is_cage boolean;
BEGIN
    SELECT c.ended_at, TRUE INTO ended, is_cage FROM public.casino_cage c WHERE c.code = place;
    IF ended IS NOT NULL THEN
        RAISE EXCEPTION 'the cage has ended' USING ERRCODE = '23514', CONSTRAINT = 'account_at_an_open_cage';
    END IF;
    IF TG_OP = 'INSERT' AND is_cage IS NULL
       AND (NEW.kind = 'vault' OR NOT EXISTS (SELECT FROM public.casino_table t WHERE t.code = place)) THEN
        RAISE EXCEPTION 'no such place' USING ERRCODE = '23514', CONSTRAINT = 'account_of_a_place';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER of_a_place BEFORE INSERT ON settlement_account FOR EACH ROW
    WHEN (NEW.kind IN ('vault', 'external', 'suspense', 'variance'))
    EXECUTE FUNCTION settlement_account_of_a_place();
CREATE TRIGGER of_a_place_still BEFORE UPDATE ON settlement_account FOR EACH ROW
    WHEN (NEW.kind IN ('vault', 'external', 'suspense', 'variance') AND NEW.version IS DISTINCT FROM OLD.version)
    EXECUTE FUNCTION settlement_account_of_a_place();
ALTER TABLE settlement_account ENABLE ALWAYS TRIGGER of_a_place;
ALTER TABLE settlement_account ENABLE ALWAYS TRIGGER of_a_place_still;
"""


class Migration(migrations.Migration):
    dependencies = [("settlement", "0014_uncovered_since"), ("casino", "0006_tables_and_cages")]

    operations = [
        migrations.RunSQL(TAKEN_OVER, migrations.RunSQL.noop),
        migrations.RunSQL(GUARD, migrations.RunSQL.noop),
    ]
