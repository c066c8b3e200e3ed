-- What is sealed of these rows, as text that is the same on every server and in every session.
select l.id, jsonb_build_array(l.id, to_char(l.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), l.tenant_id, l.actor_type,
       l.actor_id, l.role, l.via, l.action, l.target_kind, l.target, l.result, l.reason, l.request_id, l.before, l.after,
       l.db_role)::text
  from {schema}.audit_log l where l.id = any ($1::uuid[])
