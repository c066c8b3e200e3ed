-- Schedules that are due, or that have no next run yet, the oldest first. $1: from when on to look (see next_tick).
with due as (
    (select t.id from {schema}.trigger t
      where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken
        and t.next_run_at >= coalesce($1::timestamptz, '-infinity') and t.next_run_at <= (select {schema}.now())
        and not ((select h.gated from {schema}.partition_horizon h) and {schema}.is_away(t.tenant_id))
      order by t.next_run_at limit $2::integer)
    union all
    (select t.id from {schema}.trigger t
      where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken and t.next_run_at is null
        and not ((select h.gated from {schema}.partition_horizon h) and {schema}.is_away(t.tenant_id))
      limit $2::integer)
)
select (select {schema}.now()), t.id, t.tenant_id, t.label, t.cron_expr, extract(epoch from t.every)::double precision,
       t.timezone, t.dst, t.anchored_at, t.payload_template::text, t.missed, t.missed_limit, t.jitter_seconds,
       t.next_run_at, d.key, n.slug, n.timezone
  from due u join {schema}.trigger t on t.id = u.id
  join {schema}.job_definition d on d.id = t.definition_id
  join {schema}.tenant n on n.id = t.tenant_id
 order by t.next_run_at nulls last
