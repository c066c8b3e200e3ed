-- How these jobs stand, as lines of a list.
select l.id, l.tenant_id, l.tenant, l.job_type, l.queue, l.state, l.retrying, l.replayed, l.source, l.source_ref, l.trigger_id, l.trigger_label,
       l.priority, l.attempt, l.max_attempts, l.key, l.created_at, l.due_at, l.started_at, l.finished_at, l.worker_id, l.reason,
       l.error_class, l.error_message, l.error_group, l.actor_type, l.actor_id, l.correlation_id, l.replayed_from, l.waits_on,
       l.cancel_requested, l.progress_done, l.progress_total, l.progress_message, l.args::text, l.moment, l.tags, l.held_until
  from {schema}.read_job_lines($1::uuid[], $2::jsonb) l
