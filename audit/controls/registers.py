"""I17 for the registers of the house: people and what they may do, devices, places, and keys of other systems."""

from __future__ import annotations

from audit.controls.log_facts import Pair

DEVICES_ENROLLED = Pair(
    "devices enrolled",
    ("device.enrolled",),
    """
    SELECT d.code, jsonb_build_object('id', d.id, 'kind', d.kind, 'table', t.code, 'at', d.enrolled_at)
      FROM casino_device d JOIN casino_table t ON t.id = d.table_id WHERE d.enrolled_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2),
           t.data - 'token_sha256' || jsonb_build_object('table', t.table_code, 'at', t.at) FROM told t
    """,
)

DEVICES_REVOKED = Pair(
    "devices revoked",
    ("device.revoked",),
    """
    SELECT d.code, jsonb_build_object('id', d.id, 'revoked_by', d.revoked_by_id, 'at', d.revoked_at)
      FROM casino_device d WHERE d.revoked_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2),
           '{"revoked_by": null}'::jsonb || t.data || jsonb_build_object('at', t.at) FROM told t
    """,
)

# What a person may do now is what the last entry about it said.
PEOPLE = Pair(
    "people",
    ("person.created", "person.changed"),
    """
    SELECT p.id::text, jsonb_build_object('role', p.role, 'is_active', p.is_active::int, 'permissions',
           (SELECT coalesce(jsonb_agg(name ORDER BY name), '[]') FROM unnest(p.permissions) AS name))
      FROM casino_person p
     WHERE %(is_full)s OR EXISTS (SELECT FROM told t WHERE t.subject = 'people/' || p.id)
    """,
    """
    SELECT DISTINCT ON (t.subject) split_part(t.subject, '/', 2),
           jsonb_build_object('role', t.data -> 'role', 'permissions', t.data -> 'permissions',
                              'is_active', coalesce((t.data ->> 'is_active')::int, 1))
      FROM told t ORDER BY t.subject, t.at DESC, t.id DESC
    """,
)

# Those who were there before decisions were rows have one without an entry, made by nobody.
APPOINTMENTS = Pair(
    "appointments",
    ("person.appointed",),
    """
    SELECT a.id::text, jsonb_build_object(
        'person', a.person_id, 'role', a.role, 'permissions', to_jsonb(a.permissions), 'from', a.from_at,
        'until', a.until_at, 'proposed_by', a.proposed_by_id, 'approved_by', a.approved_by_id, 'at', a.made_at)
      FROM casino_appointment a WHERE a.made_at >= %(since)s AND a.made_at > '2020-01-01'
    """,
    """
    SELECT t.data ->> 'appointment', t.data - 'appointment' || jsonb_build_object(
        'person', split_part(t.subject, '/', 2), 'from', (t.data ->> 'from')::timestamptz,
        'until', (t.data ->> 'until')::timestamptz, 'at', t.at)
      FROM told t
    """,
)

PEOPLE_ENDED = Pair(
    "people who left",
    ("person.ended",),
    """
    SELECT p.id::text, jsonb_build_object('ended_by', p.ended_by_id, 'at', p.ended_at)
      FROM casino_person p WHERE p.ended_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

HAND_OVERS = Pair(
    "codes of people",
    ("person.handed_over",),
    """
    SELECT h.id::text, jsonb_build_object(
        'person', h.person_id, 'made_by', h.made_by_id, 'approved_by', h.approved_by_id,
        'sha256', encode(h.sha256, 'hex'), 'at', h.made_at)
      FROM casino_handover h WHERE h.made_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'hand_over', t.data - 'hand_over' || jsonb_build_object(
        'person', split_part(t.subject, '/', 2), 'at', t.at) FROM told t
    """,
)

HAND_OVERS_USED = Pair(
    "codes of people used",
    ("person.took_over",),
    """
    SELECT h.id::text, jsonb_build_object('person', h.person_id, 'at', h.used_at)
      FROM casino_handover h WHERE h.used_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'hand_over',
           jsonb_build_object('person', split_part(t.subject, '/', 2), 'at', t.at) FROM told t
    """,
)

ENROLMENTS = Pair(
    "devices admitted",
    ("device.admitted",),
    """
    SELECT e.id::text, jsonb_build_object('code', e.code, 'kind', e.kind, 'table', t.code, 'made_by', e.made_by_id,
                                          'sha256', encode(e.sha256, 'hex'), 'at', e.made_at)
      FROM casino_enrolment e JOIN casino_table t ON t.id = e.table_id WHERE e.made_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'enrolment', t.data - 'enrolment' || jsonb_build_object(
        'code', split_part(t.subject, '/', 2), 'table', t.table_code, 'at', t.at) FROM told t
    """,
)

# The token a device signs in with now is the last one that an entry told of.
DEVICE_TOKENS = Pair(
    "tokens of devices",
    ("device.enrolled", "device.token_replaced"),
    """
    SELECT d.code, jsonb_build_object('token_sha256', encode(d.token_sha256, 'hex')) FROM casino_device d
     WHERE EXISTS (SELECT FROM told t WHERE t.subject = 'devices/' || d.code AND t.data ? 'token_sha256')
    """,
    """
    SELECT DISTINCT ON (t.subject) split_part(t.subject, '/', 2),
           jsonb_build_object('token_sha256', t.data -> 'token_sha256')
      FROM told t WHERE t.data ? 'token_sha256' ORDER BY t.subject, t.at DESC, t.id DESC
    """,
)

# One that was made and did not take its place yet.
NEXT_TOKENS = Pair(
    "next tokens of devices",
    ("device.rotated", "device.token_replaced"),
    """
    SELECT d.code, jsonb_build_object('next_sha256', encode(d.next_sha256, 'hex')) FROM casino_device d
     WHERE d.next_sha256 IS NOT NULL AND (%(is_full)s OR 'devices/' || d.code IN (SELECT subject FROM told))
    """,
    """
    SELECT key, facts FROM (
        SELECT DISTINCT ON (t.subject) split_part(t.subject, '/', 2) AS key,
               jsonb_build_object('next_sha256', t.data -> 'next_sha256') AS facts
          FROM told t ORDER BY t.subject, t.at DESC, t.id DESC) AS newest
     WHERE facts ->> 'next_sha256' IS NOT NULL
    """,
)

# What a table and a cage is, and who added it; those that were there before anybody was asked say nobody.
TABLES_ADDED = Pair(
    "tables added",
    ("table.added",),
    """
    SELECT t.code, jsonb_build_object(
        'id', t.id, 'currency', t.currency, 'camera', t.camera::int, 'camera_grace_ms', t.camera_grace_ms,
        'added_by', t.added_by_id, 'added_with', t.added_with_id, 'at', t.added_at)
      FROM casino_table t WHERE %(is_full)s OR t.code IN (SELECT table_code FROM told)
    """,
    """
    SELECT t.table_code, '{"camera_grace_ms": 1000, "added_by": null, "added_with": null}'::jsonb || t.data
           || jsonb_build_object('at', CASE WHEN t.data ->> 'added_by' IS NULL THEN NULL ELSE t.at END) FROM told t
    """,
)

CAGES_ADDED = Pair(
    "cages added",
    ("cage.added",),
    """
    SELECT c.code, jsonb_build_object('added_by', c.added_by_id, 'added_with', c.added_with_id, 'at', c.added_at)
      FROM casino_cage c WHERE c.added_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

PLACES_ENDED = Pair(
    "places ended",
    ("table.ended", "cage.ended"),
    """
    SELECT what || '/' || code, jsonb_build_object('ended_by', ended_by_id, 'ended_with', ended_with_id, 'at', ended_at)
      FROM (SELECT 'tables' AS what, code, ended_by_id, ended_with_id, ended_at FROM casino_table
             UNION ALL SELECT 'cages', code, ended_by_id, ended_with_id, ended_at FROM casino_cage) AS places
     WHERE ended_at >= %(since)s
    """,
    "SELECT t.subject, t.data || jsonb_build_object('at', t.at) FROM told t",
)

KEYS_MADE = Pair(
    "keys made",
    ("key.made",),
    """
    SELECT k.id::text, jsonb_build_object(
        'system', k.system, 'secret_sha256', encode(k.secret_sha256, 'hex'), 'scopes', to_jsonb(k.scopes),
        'tables', to_jsonb(k.tables), 'cages', to_jsonb(k.cages), 'wallets', k.wallets,
        'addresses', to_jsonb(k.addresses),
        'expires_at', k.expires_at, 'replaces', k.replaces_id, 'created_by', k.created_by_id,
        'approved_by', k.approved_by_id, 'at', k.created_at)
      FROM casino_apikey k WHERE k.created_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2), '{"wallets": "none"}'::jsonb || t.data || jsonb_build_object(
        'expires_at', (t.data ->> 'expires_at')::timestamptz, 'at', t.at) FROM told t
    """,
)

KEYS_REVOKED = Pair(
    "keys revoked",
    ("key.revoked",),
    """
    SELECT k.id::text, jsonb_build_object('system', k.system, 'revoked_by', k.revoked_by_id, 'at', k.revoked_at)
      FROM casino_apikey k WHERE k.revoked_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

PAIRS = (
    DEVICES_ENROLLED,
    DEVICES_REVOKED,
    PEOPLE,
    APPOINTMENTS,
    PEOPLE_ENDED,
    HAND_OVERS,
    HAND_OVERS_USED,
    ENROLMENTS,
    DEVICE_TOKENS,
    NEXT_TOKENS,
    TABLES_ADDED,
    CAGES_ADDED,
    PLACES_ENDED,
    KEYS_MADE,
    KEYS_REVOKED,
)
