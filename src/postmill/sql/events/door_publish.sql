-- The same for a request: who acts is who asks.
select e.event_id, e.published_at, e.correlation_id, e.trigger_id, e.label, e.job_type, e.payload_template, e.tenant_slug,
       e.tenant_zone
  from {schema}.door_publish($1::text, $2::text::jsonb, $3::uuid, $4::text, $5::text, $6::text::interval) e
