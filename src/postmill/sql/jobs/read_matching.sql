-- One page of the jobs that a query describes. $1 filter, $2 below this id, $3 lines, $4 how many to look at, $5 paths of
-- arguments. The last columns: where the next page begins, and whether this one ended for having looked at enough.
select l.id, l.tenant_id, l.tenant, l.job_type, l.queue, l.state, l.retrying, l.replayed, l.source, l.source_ref, l.trigger_id, l.trigger_label,
       l.priority, l.attempt, l.max_attempts, l.key, l.created_at, l.due_at, l.started_at, l.finished_at, l.worker_id, l.reason,
       l.error_class, l.error_message, l.error_group, l.actor_type, l.actor_id, l.correlation_id, l.replayed_from, l.waits_on,
       l.cancel_requested, l.progress_done, l.progress_total, l.progress_message, l.args::text, l.moment, l.tags, l.held_until,
       case when cardinality(m.ids) > $3::integer then m.ids[$3::integer] else m.low end,
       cardinality(m.ids) <= $3::integer and m.low is not null
  from {schema}.read_matching($1::jsonb, $2::uuid, $3::integer + 1, $4::integer) m
  left join lateral {schema}.read_job_lines(m.ids[1 : $3::integer], $5::jsonb) l on true
