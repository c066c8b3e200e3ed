-- postmill: safe
-- What the page Jobs of the console shows beside the query itself (0048): lines, counts, names and completions, and views
-- that somebody saved.

-- How jobs stand, for a line of a list, in the order of their ids from the newest down. state is queued as soon as a job is
-- due. waits_on: what holds a waiting job back, as far as a list can tell without looking at each. p_paths: of each
-- argument that shall be shown the path; values are the payload's own (sealed where it is encrypted).
create function {schema}.read_job_lines(p_ids uuid[], p_paths jsonb default '[]')
returns table (
    id uuid, tenant_id uuid, tenant text, job_type text, queue text, state text, retrying boolean, source text, source_ref text,
    trigger_id uuid, trigger_label text, priority integer, attempt integer, max_attempts integer, key text, created_at timestamptz,
    due_at timestamptz, started_at timestamptz, finished_at timestamptz, worker_id text, reason text, error_class text,
    error_message text, error_group text, actor_type text, actor_id text, correlation_id text, replayed_from uuid,
    waits_on text, cancel_requested boolean, progress_done double precision, progress_total double precision, progress_message text,
    args jsonb, moment timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    at_now constant timestamptz := {schema}.now();
begin
    return query
    select j.id, j.tenant_id, n.slug, j.job_type, coalesce(w.queue, s.queue, b.queue, r.queue, d.queue, j.queue),
           case when s.run_at <= at_now or w.id is not null then 'queued' when s.id is not null then 'scheduled'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when d.id is not null then 'dead_letter' else o.status end,
           s.run_at > at_now and s.attempt > 1, j.source::text, j.source_ref, g.id, g.label,
           coalesce(w.priority, s.priority, b.priority, r.priority, d.priority, j.priority),
           coalesce(w.attempt - 1, s.attempt - 1, b.attempt - 1, r.attempt, d.attempts, o.attempt, 0), j.max_attempts,
           j.idempotency_key, j.created_at, coalesce(s.run_at, j.scheduled_for),
           coalesce(r.claimed_at, o.started_at, d.last_attempt_at, a.started_at), coalesce(o.finished_at, d.failed_at),
           (select k.worker_id from {schema}.worker k where k.holder = coalesce(r.holder, o.holder, a.holder)),
           coalesce(d.reason, o.reason), coalesce(d.error_class, o.error_class, a.error_class),
           left(coalesce(d.error_message, o.error_message, a.error_message), 500),
           coalesce(d.error_group, o.error_group, a.error_group), j.actor_type::text, j.actor_id, j.correlation_id, j.replayed_from,
           case when coalesce(w.id, s.id, b.id) is null then null
                when j.expires_at <= at_now then 'expired'
                when q.paused_at is not null and (q.resume_at is null or q.resume_at > at_now) then 'queue_paused'
                when n.status = 'suspended' then 'tenant_suspended'
                when b.id is not null then 'blocked'
                when y.action in ('defer', 'stop') then 'budget'
                when s.run_at > at_now then case when s.attempt > 1 then 'retry_pending' else 'not_due' end end,
           c.job_id is not null, p.done, p.total, p.message,
           case when jsonb_array_length(p_paths) > 0 then (
                select jsonb_agg(j.payload #> array(select jsonb_array_elements_text(x.value)) order by x.n)
                  from jsonb_array_elements(p_paths) with ordinality x(value, n)) end,
           at_now
      from unnest(p_ids) as u(id)
     cross join lateral (select f.* from {schema}.any_job f where f.id = u.id offset 0) j
      left join {schema}.tenant n on n.id = j.tenant_id
      left join lateral (select t.* from {schema}.ready t where t.id = j.id offset 0) w on true
      left join lateral (select t.* from {schema}.scheduled t where t.id = j.id offset 0) s on true
      left join lateral (select t.* from {schema}.blocked t where t.id = j.id offset 0) b on true
      left join lateral (select t.* from {schema}.running t where t.id = j.id offset 0) r on true
      left join lateral (select t.* from {schema}.dead_letter t where t.id = j.id offset 0) d on true
      left join lateral (select t.* from {schema}.outcome t where t.job_id = j.id offset 0) o on true
      left join lateral (select t.error_class, t.error_message, t.error_group, t.started_at, t.holder from {schema}.attempt t
                          where t.job_id = j.id and (o.job_id is null or o.status = 'dead_letter') and r.id is null
                          order by t.run desc limit 1) a on true
      left join {schema}.queue q on q.name = coalesce(w.queue, s.queue, b.queue)
      left join {schema}.job_definition f on f.key = j.job_type and f.budget is not null and coalesce(w.id, s.id, b.id) is not null
      left join lateral {schema}.budget_word(f.budget, j.tenant_id) y on f.budget is not null
      left join lateral (select t.done, t.total, t.message from {schema}.progress t where t.job_id = r.id offset 0) p on true
      left join lateral (select t.job_id from {schema}.cancel_request t where t.job_id = j.id offset 0) c on true
     cross join lateral (select case when j.source_ref ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then j.source_ref::uuid end as ref) at
      left join lateral (
        select t.id, t.label from {schema}.trigger t
         where j.source in ('schedule', 'manual') and t.id = at.ref
        union all
        select t.id, t.label from {schema}.event_delivery e join {schema}.trigger t on t.id = e.trigger_id
         where j.source = 'event' and e.job_id = j.id
           and e.event_id = at.ref
        limit 1) g on j.source_ref is not null
     order by j.id desc;
end
$$;

select {schema}.secure_requests();
