select p.event_id, p.name, p.context, p.published_at, p.correlation_id, p.tenant_id, p.trigger_id, p.label, p.job_type,
       p.payload_template, p.tenant_slug, p.tenant_zone
  from {schema}.pending_deliveries($1::integer) p
