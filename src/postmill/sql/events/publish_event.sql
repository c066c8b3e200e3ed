-- An event, with the triggers that it meets; one row without a trigger where it meets none.
select e.event_id, e.published_at, e.correlation_id, e.trigger_id, e.label, e.job_type, e.payload_template, e.tenant_slug,
       e.tenant_zone
  from {schema}.publish_event($1::text, $2::text::jsonb, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::text,
       $9::text::interval) e
