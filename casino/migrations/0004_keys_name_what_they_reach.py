from django.db import migrations, models

# What a key reaches stays as it was made, its wallets too; and a range so wide that it amounts to everywhere is no
# range. Networks that lie beside each other count together.
GUARDS = """
CREATE FUNCTION casino_key_from_somewhere() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM unnest(NEW.addresses) AS a
         WHERE masklen(a::cidr) < CASE family(a::cidr) WHEN 4 THEN 8 ELSE 16 END)
       OR (SELECT coalesce(sum(2.0 ^ (CASE family(a::cidr) WHEN 4 THEN 8 ELSE 16 END - masklen(a::cidr))), 0)
             FROM (SELECT DISTINCT unnest(NEW.addresses) AS a) AS n) > 4 THEN
        RAISE EXCEPTION 'a key comes from somewhere, not from everywhere'
            USING ERRCODE = '23514', CONSTRAINT = 'api_key_from_somewhere';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER from_somewhere BEFORE INSERT ON casino_apikey
    FOR EACH ROW EXECUTE FUNCTION casino_key_from_somewhere();
ALTER TABLE casino_apikey ENABLE ALWAYS TRIGGER from_somewhere;

CREATE TRIGGER wallets_stay BEFORE UPDATE ON casino_apikey FOR EACH ROW
    WHEN (OLD.wallets IS DISTINCT FROM NEW.wallets) EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE casino_apikey ENABLE ALWAYS TRIGGER wallets_stay;
"""


class Migration(migrations.Migration):
    dependencies = [("casino", "0003_keys")]

    operations = [
        migrations.AddField(
            "apikey",
            "wallets",
            models.CharField(choices=[("none", "None"), ("own", "Own"), ("all", "All")], db_default="none", default="none", max_length=4),
        ),
        migrations.AddConstraint(
            "apikey",
            models.CheckConstraint(
                condition=models.Q(("wallets__in", ["none", "own", "all"])), name="api_key_wallets_known"
            ),
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
    ]
