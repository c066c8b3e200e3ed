select l.id, l.at, l.tenant_id, l.actor_type, l.actor_id, l.role, l.via, l.action, l.target_kind, l.target, l.result, l.reason,
       l.request_id, l.before::text, l.after::text, l.db_role, l.address
  from {schema}.read_audit_log($1::timestamptz, $2::uuid, $3::integer, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
       $10::timestamptz, $11::uuid) l
