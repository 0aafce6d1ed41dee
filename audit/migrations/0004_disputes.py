import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# Who may end a dispute is decided by the database as well: never whoever raised it, acted at the table in its round, or
# ruled or approved in it; nobody whose account is disabled; an auditor, and above the threshold a manager as the second, who is
# never the one who proposed. States follow one another without a jump.
GUARDS = """
CREATE FUNCTION audit_apart_from(dispute uuid, person uuid) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
    SELECT d.raised_by_id <> person
       AND NOT EXISTS (
           SELECT FROM public.casino_duty u
            WHERE u.session_id = r.session_id AND u.role = 'dealer' AND u.person_id = person
              AND (r.closed_at IS NULL OR u.on_at <= r.closed_at)
              AND (r.opened_at IS NULL OR u.off_at IS NULL OR u.off_at >= r.opened_at))
       AND NOT EXISTS (
           SELECT FROM public.casino_roundevent e JOIN public.casino_round x ON x.id = e.round_id
            WHERE (x.id = r.id OR x.alias_of_id = r.id)
              AND ((e.person_id = person AND e.device_id IS NOT NULL)
                   OR (e.signer_id = person AND e.signed IN ('signature', 'on_duty', 'page'))))
       AND NOT EXISTS (
           SELECT FROM public.settlement_settlement s
            WHERE s.round_id = r.id AND person IN (s.acted_by_id, s.approved_by_id))
       AND p.is_active
      FROM public.audit_dispute d JOIN public.casino_round r ON r.id = d.round_id
      JOIN public.casino_person p ON p.id = person WHERE d.id = dispute
$$;

CREATE FUNCTION audit_proposal_is_apart() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NOT public.audit_apart_from(NEW.dispute_id, NEW.proposed_by_id)
       OR NOT EXISTS (SELECT FROM public.casino_person WHERE id = NEW.proposed_by_id AND role = 'auditor') THEN
        RAISE EXCEPTION 'this person may not propose how this dispute ends'
            USING ERRCODE = '23514', CONSTRAINT = 'proposal_is_apart';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER proposal_is_apart BEFORE INSERT ON audit_proposal
    FOR EACH ROW EXECUTE FUNCTION audit_proposal_is_apart();

CREATE FUNCTION audit_decision_is_apart() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    disputed public.audit_dispute;
    proposed public.audit_proposal;
BEGIN
    SELECT * INTO disputed FROM public.audit_dispute WHERE id = NEW.dispute_id;
    SELECT * INTO proposed FROM public.audit_proposal WHERE id = NEW.proposal_id;
    IF disputed.state <> 'proposed' OR proposed.dispute_id <> NEW.dispute_id OR proposed.withdrawn_at IS NOT NULL THEN
        RAISE EXCEPTION 'only a standing proposal is decided'
            USING ERRCODE = '23514', CONSTRAINT = 'decision_of_a_standing_proposal';
    END IF;
    IF NOT public.audit_apart_from(NEW.dispute_id, NEW.decided_by_id)
       OR (disputed.needs_two AND proposed.proposed_by_id = NEW.decided_by_id)
       OR NOT EXISTS (SELECT FROM public.casino_person WHERE id = NEW.decided_by_id
                      AND (role = 'auditor' OR (role = 'manager' AND disputed.needs_two))) THEN
        RAISE EXCEPTION 'this person may not decide this dispute'
            USING ERRCODE = '23514', CONSTRAINT = 'decision_is_apart';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER decision_is_apart BEFORE INSERT ON audit_decision
    FOR EACH ROW EXECUTE FUNCTION audit_decision_is_apart();

CREATE FUNCTION audit_dispute_goes_on() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'open' OR NEW.claimed_by_id IS NOT NULL THEN
            RAISE EXCEPTION 'a dispute begins open' USING ERRCODE = '23514', CONSTRAINT = 'dispute_goes_on';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state = 'decided' OR (OLD.state, NEW.state) NOT IN (
           ('open', 'open'), ('open', 'claimed'), ('claimed', 'claimed'), ('claimed', 'proposed'),
           ('proposed', 'proposed'), ('proposed', 'claimed'), ('proposed', 'decided'))
       OR (NEW.state = 'decided' AND NOT EXISTS (SELECT FROM public.audit_decision WHERE dispute_id = NEW.id))
       OR (OLD.needs_two AND NOT NEW.needs_two) OR NEW.money_at_risk < OLD.money_at_risk
       OR (OLD.id, OLD.round_id, OLD.subject, OLD.reason_code, OLD.reason, OLD.raised_by_id, OLD.raised_at, OLD.deadline_at,
           OLD.currency, OLD.follows_id) IS DISTINCT FROM
          (NEW.id, NEW.round_id, NEW.subject, NEW.reason_code, NEW.reason, NEW.raised_by_id, NEW.raised_at, NEW.deadline_at,
           NEW.currency, NEW.follows_id) THEN
        RAISE EXCEPTION 'a dispute goes open, claimed, proposed, decided, and is decided once'
            USING ERRCODE = '23514', CONSTRAINT = 'dispute_goes_on';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER dispute_goes_on BEFORE INSERT OR UPDATE ON audit_dispute
    FOR EACH ROW EXECUTE FUNCTION audit_dispute_goes_on();

CREATE FUNCTION audit_proposal_stays() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF OLD.withdrawn_at IS NOT NULL OR (to_jsonb(OLD) - 'withdrawn_at') <> (to_jsonb(NEW) - 'withdrawn_at') THEN
        RAISE EXCEPTION 'a proposal is withdrawn, never changed'
            USING ERRCODE = '23514', CONSTRAINT = 'proposal_stays';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER proposal_stays BEFORE UPDATE ON audit_proposal
    FOR EACH ROW EXECUTE FUNCTION audit_proposal_stays();

CREATE FUNCTION audit_flag_stays() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    answered CONSTANT text[] := ARRAY['state', 'closed_by_id', 'closed_at', 'close_code', 'close_reason', 'dispute'];
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'open' THEN
            RAISE EXCEPTION 'a flag begins open' USING ERRCODE = '23514', CONSTRAINT = 'flag_stays';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state <> 'open' OR (to_jsonb(OLD) - answered) <> (to_jsonb(NEW) - answered) THEN
        RAISE EXCEPTION 'a flag is answered once, and never changed'
            USING ERRCODE = '23514', CONSTRAINT = 'flag_stays';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER flag_stays BEFORE INSERT OR UPDATE ON audit_flag FOR EACH ROW EXECUTE FUNCTION audit_flag_stays();

CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON audit_decision
    FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE audit_decision ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE audit_decision ENABLE ALWAYS TRIGGER decision_is_apart;
ALTER TABLE audit_proposal ENABLE ALWAYS TRIGGER proposal_is_apart;
ALTER TABLE audit_proposal ENABLE ALWAYS TRIGGER proposal_stays;
ALTER TABLE audit_dispute ENABLE ALWAYS TRIGGER dispute_goes_on;
ALTER TABLE audit_flag ENABLE ALWAYS TRIGGER flag_stays;
"""
KEPT = """
CREATE TRIGGER kept_rows BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION pokdeng_append_only();
CREATE TRIGGER kept_table BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION pokdeng_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER kept_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER kept_table;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0003_flags'),
        ('casino', '0001_floor'),
        ('settlement', '0002_guards'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Dispute',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('subject', models.CharField(blank=True, max_length=40)),
                ('reason_code', models.CharField(max_length=40)),
                ('reason', models.CharField(max_length=2000)),
                ('raised_at', models.DateTimeField()),
                ('deadline_at', models.DateTimeField()),
                ('money_at_risk', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('needs_two', models.BooleanField()),
                ('state', models.CharField(choices=[('open', 'Open'), ('claimed', 'Claimed'), ('proposed', 'Proposed'), ('decided', 'Decided')], default='open', max_length=10)),
                ('claim_token', models.UUIDField(null=True)),
                ('claim_until', models.DateTimeField(null=True)),
                ('snoozed_until', models.DateTimeField(null=True)),
                ('claimed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('follows', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='followed_by', to='audit.dispute')),
                ('raised_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='casino.round')),
            ],
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('ordinal', models.IntegerField()),
                ('facts', models.JSONField()),
                ('consequences', models.JSONField()),
                ('sha256', models.CharField(max_length=64)),
                ('reason_code', models.CharField(max_length=40)),
                ('note', models.CharField(blank=True, max_length=2000)),
                ('proposed_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('dispute', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='audit.dispute')),
                ('proposed_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('decided_at', models.DateTimeField()),
                ('settlement', models.UUIDField(null=True)),
                ('outcome', models.CharField(max_length=10)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                ('decided_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dispute', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='decision', to='audit.dispute')),
                ('proposal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.proposal')),
            ],
        ),
        migrations.AddIndex(
            model_name='dispute',
            index=models.Index(condition=models.Q(('state', 'decided'), _negated=True), fields=['deadline_at', 'id'], name='dispute_queue'),
        ),
        migrations.AddIndex(
            model_name='dispute',
            index=models.Index(fields=['-raised_at', '-id'], name='dispute_by_time'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'decided'), _negated=True), fields=('round', 'subject'), name='dispute_one_open_per_subject'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['open', 'claimed', 'proposed', 'decided'])), name='dispute_state_known'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('claim_token__isnull', False), ('claim_until__isnull', False), ('claimed_by__isnull', False)), _connector='OR'), name='dispute_claimed_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.CheckConstraint(condition=models.Q(('claimed_by', None), models.Q(('claimed_by', models.F('raised_by')), _negated=True), _connector='OR'), name='dispute_not_claimed_by_its_raiser'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.CheckConstraint(condition=models.Q(('money_at_risk__gte', 0)), name='dispute_risks_something_or_nothing'),
        ),
        migrations.AddConstraint(
            model_name='proposal',
            constraint=models.UniqueConstraint(fields=('dispute', 'ordinal'), name='proposal_ordinal_once'),
        ),
        migrations.AddConstraint(
            model_name='proposal',
            constraint=models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('dispute',), name='proposal_one_standing_per_dispute'),
        ),
        migrations.RunSQL(GUARDS, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(KEPT.format(table=table), migrations.RunSQL.noop)
            for table in ("audit_dispute", "audit_proposal", "audit_decision", "audit_flag")
        ),
    ]
