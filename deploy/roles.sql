-- Who may do what in the database. Applied before and after every migration, by an administrator; running it
-- again changes nothing. PostgreSQL 15 and newer.
--
--   pokdeng_owner   no login; owns the database, the schema and everything in it; migrations run as it
--   pokdeng_app     web, worker, beat and tests: reads, adds, and changes the columns listed in part 3
--   pokdeng_reader  check_books and reports: reads
--   pokdeng_sealer  numbers the log's leaves and signs checkpoints
--
-- The three logins own nothing, so none of them can switch off a trigger or truncate a table.
-- Their passwords are set by whoever starts the service, never here.

-- ── 1. Roles ────────────────────────────────────────────────────────────────────────────────────────────
DO $$
DECLARE
    wanted record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES
            ('pokdeng_owner',  'NOLOGIN'),
            ('pokdeng_app',    'LOGIN'),
            ('pokdeng_reader', 'LOGIN'),
            ('pokdeng_sealer', 'LOGIN')
        ) AS roles (name, login)
    LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I %s NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS',
                               wanted.name, wanted.login);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN NULL;  -- another start was faster
            END;
        END IF;
    END LOOP;
    -- Whoever signs in as one of these and leaves a transaction open holds up the sealing of everybody's acts: where
    -- they do not ask for less themselves, the database ends them.
    FOR wanted IN
        SELECT rolname AS name FROM pg_roles WHERE rolname IN ('pokdeng_app', 'pokdeng_sealer')
           AND NOT coalesce('idle_in_transaction_session_timeout=10s' = ANY (rolconfig), false)
    LOOP
        BEGIN
            EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', wanted.name, '10s');
        EXCEPTION
            WHEN internal_error THEN NULL;  -- another start was faster
        END;
    END LOOP;
    -- An administrator who is no superuser must be a member to act as the owner.
    IF NOT pg_has_role(current_user, 'pokdeng_owner', 'MEMBER') THEN
        EXECUTE format('GRANT pokdeng_owner TO %I', current_user);
    END IF;
END
$$;

-- ── 2. Ownership, and nothing for strangers ─────────────────────────────────────────────────────────────
DO $$
BEGIN
    IF (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()) <> 'pokdeng_owner' THEN
        EXECUTE format('ALTER DATABASE %I OWNER TO pokdeng_owner', current_database());
    END IF;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO pokdeng_app, pokdeng_reader, pokdeng_sealer', current_database());
    IF (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'public') <> 'pokdeng_owner' THEN
        ALTER SCHEMA public OWNER TO pokdeng_owner;
    END IF;
END
$$;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO pokdeng_app, pokdeng_reader, pokdeng_sealer;
-- A table nobody granted anything on stays closed: there is no default grant, part 3 runs after each migration.
ALTER DEFAULT PRIVILEGES FOR ROLE pokdeng_owner IN SCHEMA public REVOKE ALL ON TABLES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE pokdeng_owner IN SCHEMA public REVOKE ALL ON SEQUENCES FROM PUBLIC;

-- ── 3. Grants ───────────────────────────────────────────────────────────────────────────────────────────
DO $$
DECLARE
    found record;
    columns text;
    -- Tables the application reads only: they are filled while migrating.
    only_read CONSTANT text[] := ARRAY[
        'django_migrations', 'django_content_type', 'auth_group', 'auth_permission', 'auth_group_permissions',
        -- Written by the migration that brings a version of a formula.
        'settlement_formuladate'
    ];
    -- Not for the reader's eyes: whoever checks the books needs no session, password, PIN or secret.
    hidden_tables CONSTANT text[] := ARRAY['django_session'];
    hidden_columns CONSTANT text[] := ARRAY['password', 'pin', 'secret', 'previous_secret'];
BEGIN
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, pokdeng_app, pokdeng_reader, pokdeng_sealer;
    REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, pokdeng_app, pokdeng_reader, pokdeng_sealer;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO pokdeng_app;

    FOR found IN
        SELECT c.oid, c.relname AS name, c.relkind IN ('r', 'p') AS is_table
        FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
        ORDER BY c.relname
    LOOP
        EXECUTE format('GRANT SELECT ON public.%I TO pokdeng_app', found.name);
        IF found.is_table AND NOT found.name = ANY (only_read) THEN
            EXECUTE format('GRANT INSERT ON public.%I TO pokdeng_app', found.name);
        END IF;

        IF NOT found.name = ANY (hidden_tables) THEN
            SELECT string_agg(format('%I', attname), ', ' ORDER BY attnum) INTO columns
            FROM pg_attribute
            WHERE attrelid = found.oid AND attnum > 0 AND NOT attisdropped AND NOT attname = ANY (hidden_columns);
            IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = found.oid AND attname = ANY (hidden_columns)) THEN
                EXECUTE format('GRANT SELECT (%s) ON public.%I TO pokdeng_reader', columns, found.name);
            ELSE
                EXECUTE format('GRANT SELECT ON public.%I TO pokdeng_reader', found.name);
            END IF;
        END IF;
    END LOOP;

    -- What the application may change in a row that exists. A table not named here is append-only for it, and so
    -- is every column not named. A column that a migration still to come will add is passed over.
    FOR found IN
        SELECT c.relname AS name, listed.goes,
               string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) AS changes
        FROM (VALUES
            -- table                 columns that change                                          rows may go
            -- The framework's own.
            ('django_session',       'session_data expire_date',                                         true),
            -- People, their tries at a secret, devices and what they sent.
            ('casino_person',        'display_name role permissions password pin is_active turns_at
                                      ended_by_id ended_at',                                             false),
            ('casino_handover',      'used_at expires_at',                                               false),
            ('casino_wrongtries',    'count last_at right_at',                                           false),
            ('casino_failedsignin',  'wrong waited',                                                     true),
            ('casino_device',        'revoked_at revoked_by_id token_sha256 next_sha256 last_seq holes
                                      last_contact_at stated',                                           false),
            ('casino_enrolment',     'used_at device_id',                                                false),
            -- A key of another system is revoked once, and seen in use.
            ('casino_apikey',        'revoked_by_id revoked_at last_used_at',                            false),
            -- How the service itself runs: overwritten.
            ('casino_sweep',         'began_at ended_at failed_at fault',                                false),
            ('casino_aside',         'fault times first_at last_at due_at solved_at',                    false),
            ('casino_unread',        'reason content length came_at',                                    false),
            ('casino_unreadcount',   'count last_at',                                                    false),
            ('casino_program',       'state ended said changed_at',                                      false),
            -- The floor: open, stopped, closed; who came and went.
            ('casino_table',         'state stop_reason ended_by_id ended_with_id ended_at',             false),
            ('casino_cage',          'ended_by_id ended_with_id ended_at',                               false),
            ('casino_tablesession',  'closed_at last_round',                                             false),
            ('casino_duty',          'off_at',                                                           false),
            -- A round's row is a summary of its events, which never change.
            ('casino_round',         'number recorder_id alias_of_id standing reasons in_dispute due_at
                                      opened_at closed_at gaming_day event_count record cards_seen',     false),
            -- Money: the present of an account and of a hold. Journals, entries, settlements and lines never change.
            ('settlement_account',   'balance held version',                                             false),
            ('settlement_hold',      'ended_at outcome',                                                 false),
            -- A count that was asked for ends: with the count that was accepted, or without.
            ('settlement_counting',  'state accepted_id ended_at',                                       false),
            -- A counted box is taken back once.
            ('settlement_drop',      'withdrawn_by_id withdrawn_at withdrawn_reason journal_back_id variance_back_id', false),
            -- The last number of a series; a slip on its way; a claim that is paid or void once.
            ('settlement_series',    'last',                                                             false),
            ('settlement_slip',      'state series_id number cage',                                      false),
            ('settlement_payslip',   'state cage paid_by_id paid_second_id paid_key_id paid_at payment_journal_id
                                      voided_by_id voided_at void_reason void_in_chips void_journal_id void_clearing_id
                                      superseded_by_id', false),
            -- What is owed to be told: messages and tries never change, what is due and where it goes does.
            ('settlement_approvedtarget', 'withdrawn_by_id withdrawn_at',                                false),
            ('settlement_endpoint',  'secret previous_secret previous_until state not_before slots',     false),
            ('settlement_delivery',  'state due_at attempts failures owner lease_until last_result finished_at', false),
            -- A cashier's system is let in and shut out; a hold kept there ends once; a call is tried until acknowledged.
            ('settlement_cashiersystem', 'secret enabled',                                               false),
            ('settlement_externalhold',  'state reason answered_at ended_at',                            false),
            ('settlement_externalcall',  'state due_at attempts failures owner lease_until last_result
                                      acknowledged_at',                                                  false),
            -- A break takes its steps, which stay.
            ('settlement_break',     'seen_at seen_run state steps assigned_to_id resolution rule journal_id
                                      resolved_by_id approved_by_id',                                    false),
            -- A run is closed once; a chunk is claimed, and finished once.
            ('settlement_run',       'outcome done_at digest report',                                    false),
            ('settlement_chunk',     'state owner lease_until attempts trouble',                         false),
            -- A gaming day goes forward, a shift ends; their reports never change.
            ('settlement_gamingday', 'state tables opened_by_id opened_at closing_by_id closing_at sealed_by_id
                                      seconded_by_id sealed_at last_entry journals',                     false),
            ('settlement_shift',     'closed_by_id closed_with_id closed_at overdue',                    false),
            -- A flag is answered once; the reader's place moves.
            ('audit_flag',           'state closed_by_id closed_at close_code close_reason dispute',     false),
            -- A dispute moves on, a proposal is withdrawn; what was decided stays.
            ('audit_dispute',        'state claimed_by_id claim_token claim_until snoozed_until money_at_risk needs_two', false),
            ('audit_proposal',       'withdrawn_at',                                                     false),
            ('audit_reading',        'origin position read_at',                                          false),
            -- A second look goes on, and can be begun anew; what it found stays.
            ('audit_inspection',     'position settlements offending verified_through begun_at moved_at done_at', false),
            -- A screen is asked to look at a day, again where it has looked; what it found stays.
            ('audit_analysis',       'asked_at done_at repeats',                                         false),
            -- A line of somebody else's statement waits for its match.
            ('settlement_outsideline', 'match_id',                                                       false),
            -- A sheet waits for its second person; its bytes do not change.
            ('settlement_rulesheet', 'approved_by_id approved_at',                                       false),
            -- So does another start hour.
            ('settlement_starthour', 'approved_by_id approved_at',                                       false)
        ) AS listed (name, changes, goes)
        JOIN pg_class c ON c.relname = listed.name AND c.relnamespace = 'public'::regnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = ANY (regexp_split_to_array(listed.changes, '\s+'))
        GROUP BY c.relname, listed.goes
    LOOP
        EXECUTE format('GRANT UPDATE (%s) ON public.%I TO pokdeng_app', found.changes, found.name);
        IF found.goes THEN
            EXECUTE format('GRANT DELETE ON public.%I TO pokdeng_app', found.name);
        END IF;
    END LOOP;

    -- The sealer reads the log and adds leaves and checkpoints.
    FOR found IN
        SELECT c.relname AS name, c.relname <> 'audit_logentry' AS adds
        FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace
          AND c.relname IN ('audit_logentry', 'audit_leaf', 'audit_subtree', 'audit_checkpoint', 'audit_frontier')
    LOOP
        EXECUTE format('GRANT SELECT ON public.%I TO pokdeng_sealer', found.name);
        IF found.adds THEN
            EXECUTE format('GRANT INSERT ON public.%I TO pokdeng_sealer', found.name);
            EXECUTE format('REVOKE INSERT ON public.%I FROM pokdeng_app', found.name);
            EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO pokdeng_sealer');
        END IF;
        IF found.name = 'audit_frontier' THEN
            GRANT UPDATE (size, peaks, last_xid, last_id, numbered_at, stopped, stopped_at)
                ON public.audit_frontier TO pokdeng_sealer;
        END IF;
    END LOOP;
END
$$;
