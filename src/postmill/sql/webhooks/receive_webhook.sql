select r.status, r.tenant_id, r.event_name, r.event_id, r.published_at, r.correlation_id, r.trigger_id, r.label,
       r.job_type, r.payload_template, r.tenant_slug, r.tenant_zone
  from {schema}.receive_webhook($1::uuid, $2::text, $3::bigint, $4::bytea[], $5::bytea, $6::text::jsonb, $7::text, $8::text,
       $9::text::interval) r
