"""A claim on a chunk may be prolonged by its holder: nothing but the end of the lease changes."""

from django.db import migrations

GOES_ON = """
CREATE OR REPLACE FUNCTION settlement_chunk_goes_on() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.run_id, OLD.level, OLD.part, OLD.lower, OLD.upper)
       IS DISTINCT FROM (NEW.id, NEW.run_id, NEW.level, NEW.part, NEW.lower, NEW.upper)
       OR OLD.state IN ('done', 'poisoned')
    THEN
        RAISE EXCEPTION 'a finished chunk, or what a chunk is of, does not change' USING ERRCODE = 'PD001';
    END IF;
    IF OLD.state = 'claimed' AND NEW.state = 'claimed'
       AND (OLD.owner, OLD.attempts, OLD.trouble) IS NOT DISTINCT FROM (NEW.owner, NEW.attempts, NEW.trouble)
       AND NEW.lease_until >= OLD.lease_until
    THEN
        RETURN NEW;
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
"""


class Migration(migrations.Migration):
    dependencies = [("settlement", "0012_chips_outside")]

    operations = [migrations.RunSQL(GOES_ON, migrations.RunSQL.noop)]
