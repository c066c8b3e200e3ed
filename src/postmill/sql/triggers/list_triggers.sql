-- Triggers, the newest first. $7: the last id of the page before.
select t.id, t.tenant_id, t.label, t.is_enabled, t.trigger_type, t.event_name, t.cron_expr, t.every_seconds, t.timezone,
       t.definition_id, t.definition_key, t.payload_template::text, t.dedupe_window_seconds, t.missed, t.missed_limit,
       t.overlap, t.dst, t.jitter_seconds, t.origin, t.declared_in, t.created_by, t.created_at, t.updated_at, t.anchored_at,
       t.next_run_at, t.broken, t.last_run_at, t.last_job_id, t.error, t.error_at
  from {schema}.job_triggers t
 where ($1::uuid is null or t.id = $1::uuid) and ($2::uuid is null or t.tenant_id = $2::uuid)
   and ($3::text is null or t.trigger_type = $3::text) and ($4::boolean is null or t.is_enabled = $4::boolean)
   and ($5::text is null or t.event_name = $5::text) and ($6::text is null or t.definition_key = $6::text)
   and ($7::uuid is null or t.id < $7::uuid)
 order by t.id desc
 limit $8::integer offset $9::integer
