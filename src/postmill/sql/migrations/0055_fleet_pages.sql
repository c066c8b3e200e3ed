-- postmill: safe
-- What the console's pages of queues, tenants and the system read.

-- What happened in a queue in each minute, and how it stood: for the course of things, kept for two days. Numbers of what
-- happened are summed up from the rollups; depths are the highest, slots the last that the round monitor found in that minute.
create table {schema}.queue_minute (
    queue text collate "C" not null references {schema}.queue (name) on delete cascade,
    minute timestamptz not null,
    arrived bigint not null default 0,
    ended bigint not null default 0,
    failed bigint not null default 0,
    run_seconds double precision not null default 0,
    -- Jobs with a total, and those of them that took longer than was promised then, or were given up.
    judged bigint not null default 0,
    late bigint not null default 0,
    wait_hist bigint[],
    run_hist bigint[],
    queued bigint not null default 0,
    running bigint not null default 0,
    slots bigint not null default 0,
    primary key (queue, minute)
) with (fillfactor = 70);
create index queue_minute_minute on {schema}.queue_minute (minute);

create function {schema}.note_queues() returns void
language plpgsql volatile set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
    this timestamptz := {schema}.minute_of(moment);
    since timestamptz := greatest(coalesce((select max(m.minute) from {schema}.queue_minute m), this) - interval '2 minutes',
                                  this - interval '30 minutes');
begin
    insert into {schema}.queue_minute as m (queue, minute, arrived, ended, failed, run_seconds, judged, late, wait_hist, run_hist)
    select s.queue, s.minute, s.arrived, s.ended, s.failed, s.run_seconds, coalesce(s.judged, 0),
           greatest(0, coalesce(s.judged - round({schema}.histogram_within(s.done_hist, q.sla_seconds)), 0))::bigint,
           s.wait_hist, s.run_hist
      from (select r.queue, r.minute, coalesce(sum(r.n) filter (where r.outcome = 'enqueued'), 0)::bigint as arrived,
                   coalesce(sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'canceled', 'dead_letter')), 0)::bigint as ended,
                   coalesce(sum(r.n) filter (where r.outcome in ('retried', 'lost', 'failed', 'dead_letter')), 0)::bigint as failed,
                   sum(r.run_sum) as run_seconds, {schema}.histogram_sum(r.wait_hist) as wait_hist,
                   {schema}.histogram_sum(r.run_hist) as run_hist, {schema}.histogram_sum(r.total_hist) filter (where r.outcome = 'succeeded') as done_hist,
                   (sum(r.n) filter (where r.total_hist is not null))::bigint as judged
              from {schema}.fleet_rollups r where r.minute >= since group by 1, 2) s
      join {schema}.queue q on q.name = s.queue
    on conflict (queue, minute) do update
       set arrived = excluded.arrived, ended = excluded.ended, failed = excluded.failed, run_seconds = excluded.run_seconds,
           judged = excluded.judged, late = excluded.late, wait_hist = excluded.wait_hist, run_hist = excluded.run_hist;
    insert into {schema}.queue_minute as m (queue, minute, queued, running, slots)
    select q.name, this, coalesce(d.queued, 0), coalesce(d.running, 0), coalesce(s.slots, 0)
      from {schema}.queue q
      left join (select x.one ->> 0 as queue, sum((x.one ->> 3)::bigint) filter (where x.one ->> 2 = 'queued') as queued,
                        sum((x.one ->> 3)::bigint) filter (where x.one ->> 2 = 'running') as running
                   from {schema}.upkeep u cross join jsonb_array_elements(u.note -> 'depths') as x(one)
                  where u.name = 'monitor' group by 1) d on d.queue = q.name
      left join (select v.queue, sum(v.slots) as slots from {schema}.read_live_slots() v group by 1) s on s.queue = q.name
     where coalesce(d.queued, 0) > 0 or coalesce(d.running, 0) > 0 or coalesce(s.slots, 0) > 0
    on conflict (queue, minute) do update set queued = greatest(m.queued, excluded.queued), running = greatest(m.running, excluded.running),
                                               slots = excluded.slots;
    update {schema}.attainment a
       set attained_day = 1 - d.late::double precision / nullif(d.judged, 0),
           burn_day = d.late::double precision / nullif(d.judged, 0) / 0.05
      from (select m.queue, sum(m.judged) as judged, sum(m.late) as late from {schema}.queue_minute m
             where m.minute > moment - interval '1 day' group by 1) d
     where d.queue = a.queue;
    delete from {schema}.queue_minute m where m.minute < moment - interval '2 days';
end
$$;

-- Slots by queue and live session. An HTTP worker's slots are not told.
create function {schema}.read_live_slots() returns table (holder uuid, queue text, slots bigint, draining boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select w.holder, q.name, case when w.draining then 0 else coalesce((w.slots ->> q.name)::bigint, 0) end, w.draining
      from {schema}.worker w
      join {schema}.lease l on l.holder = w.holder and l.expires_at > (select {schema}.now())
     cross join unnest(w.queues) as q(name)
     where w.stopped_at is null and {schema}.sees_all();
end
$$;

-- How each queue stands beside its numbers (read_queues): workers, rates, how the promises were kept. ended_hour: by the
-- minute, for the last hour, the oldest first.
create function {schema}.read_queue_standing(p_name text default null)
returns table (queue text, workers bigint, draining bigint, slots bigint, arrived_rate double precision, ended_rate double precision,
    failed_rate double precision, wait_p95 double precision, run_p95 double precision, total_p95 double precision, n bigint,
    attained_day double precision, burn_day double precision, breach_since timestamptz, breach_title text, incident_id uuid,
    ended_hour bigint[], runbook text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    moment timestamptz := {schema}.now();
    this timestamptz := {schema}.minute_of(moment);
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select q.name, coalesce(w.workers, 0), coalesce(w.draining, 0), coalesce(w.slots, 0)::bigint, coalesce(f.arrived, 0) / 5.0,
           coalesce(f.ended, 0) / 5.0, coalesce(f.failed, 0) / 5.0, coalesce(a.wait_p95, {schema}.quantile(t.waits, 0.95)),
           coalesce(a.run_p95, {schema}.quantile(t.runs, 0.95)), a.total_p95, coalesce(a.n, t.judged::bigint, 0), a.attained_day,
           a.burn_day, i.opened_at, i.title, i.id, h.counts, q.runbook
      from {schema}.queue q
      left join (select v.queue, count(*) filter (where not v.draining) as workers, count(*) filter (where v.draining) as draining,
                        sum(v.slots) as slots from {schema}.read_live_slots() v group by 1) w on w.queue = q.name
      left join {schema}.attainment a on a.queue = q.name and a.measured_at > moment - interval '5 minutes'
      left join {schema}.incident i on i.kind = 'sla_breach' and i.key = q.name and i.resolved_at is null
     cross join lateral (select sum(m.arrived)::double precision as arrived, sum(m.ended)::double precision as ended,
                                sum(m.failed)::double precision as failed from {schema}.queue_minute m
                          where m.queue = q.name and m.minute >= this - interval '5 minutes' and m.minute < this) f
     cross join lateral (select {schema}.histogram_sum(m.wait_hist) as waits, {schema}.histogram_sum(m.run_hist) as runs,
                                sum(m.judged) as judged from {schema}.queue_minute m
                          where m.queue = q.name and m.minute > moment - interval '10 minutes') t
     cross join lateral (select array_agg(coalesce(m.ended, 0) order by g.minute) as counts
                           from generate_series(this - interval '59 minutes', this, interval '1 minute') as g(minute)
                           left join (select x.minute, x.ended from {schema}.queue_minute x
                                       where x.queue = q.name and x.minute > this - interval '60 minutes' offset 0) m
                             on m.minute = g.minute) h
     where p_name is null or q.name = p_name
     order by q.name limit 1000;
end
$$;

-- The course of one queue in buckets of p_seconds: what happened is summed up, depths are the highest of the bucket.
-- waits and runs: average (NULL), p50, p95, p99.
create function {schema}.read_queue_course(p_queue text, p_since timestamptz, p_seconds double precision)
returns table (bucket timestamptz, arrived bigint, ended bigint, failed bigint, queued bigint, running bigint, slots bigint,
    waits double precision[], runs double precision[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query execute format($q$
        select s.bucket, s.arrived, s.ended, s.failed, s.queued, s.running, s.slots, {schema}.summary_of(s.waits, null),
               {schema}.summary_of(s.runs, null)
          from (select date_bin($3 * interval '1 second', m.minute, timestamptz '2000-01-01 00:00+00') as bucket,
                       sum(m.arrived)::bigint as arrived, sum(m.ended)::bigint as ended, sum(m.failed)::bigint as failed,
                       max(m.queued) as queued, max(m.running) as running, max(m.slots) as slots, %s as waits, %s as runs
                  from {schema}.queue_minute m where m.queue = $1 and m.minute >= $2
                 group by 1) s
         order by 1$q$, {schema}.histogram_cells('m.wait_hist'), {schema}.histogram_cells('m.run_hist'))
    using p_queue, p_since, p_seconds;
end
$$;

-- How many jobs are where, by queue and tenant (its slug; '' is none, 'other' all lanes beyond the 200 largest), as the round
-- monitor found it last.
create function {schema}.read_depths(p_queue text default null)
returns table (queue text, tenant text, state text, n bigint, oldest_seconds double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select x.one ->> 0, x.one ->> 1, x.one ->> 2, (x.one ->> 3)::bigint, (x.one ->> 4)::double precision
      from {schema}.upkeep u cross join jsonb_array_elements(u.note -> 'depths') as x(one)
     where u.name = 'monitor' and (p_queue is null or x.one ->> 0 = p_queue);
end
$$;

-- What each tenant did in one queue lately, those that took most of its time first; weight: of its lane, else its own.
create function {schema}.read_queue_tenants(p_queue text, p_seconds double precision, p_most integer)
returns table (tenant_id uuid, slug text, weight integer, arrived bigint, ended bigint, failed bigint, run_seconds double precision,
    wait_average double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    since timestamptz := {schema}.minute_of({schema}.now()) - p_seconds * interval '1 second';
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select s.tenant_id, t.slug, coalesce(l.weight, t.weight, 1), s.arrived, s.ended, s.failed, s.run_seconds,
           s.wait_sum / nullif(s.ended, 0)
      from (select r.tenant_id, coalesce(sum(r.n) filter (where r.outcome = 'enqueued'), 0)::bigint as arrived,
                   coalesce(sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'canceled', 'dead_letter')), 0)::bigint as ended,
                   coalesce(sum(r.n) filter (where r.outcome in ('retried', 'lost', 'failed', 'dead_letter')), 0)::bigint as failed,
                   sum(r.run_sum) as run_seconds, sum(r.wait_sum) as wait_sum
              from {schema}.rollups r
             where r.queue = p_queue and r.minute >= since
             group by 1 order by 5 desc, 2 desc limit p_most) s
      left join lateral (select x.slug, x.weight from {schema}.tenant x where x.id = s.tenant_id offset 0) t on true
      left join {schema}.lane l on l.queue = p_queue and l.lane = s.tenant_id
     order by s.run_seconds desc, s.arrived desc, t.slug;
end
$$;

-- The limits of the job types of a queue: how many of a worker command at once, how often. blocked_seconds: for how long
-- nothing of the type may start any more (0: something may).
create function {schema}.read_queue_limits(p_queue text)
returns table (job_type text, worker_limit integer, rate_count integer, rate_seconds double precision, rate_burst integer,
    blocked_seconds double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select d.key, d.worker_limit, l.rate_count, l.rate_seconds, l.rate_burst,
           greatest(0, extract(epoch from t.tat - (select {schema}.now()))
                       - (l.rate_burst - 1) * l.rate_seconds / l.rate_count)::double precision
      from {schema}.job_definition d
      left join {schema}.limit_rule l on l.name = 'type:' || d.key and l.rate_count is not null
      left join lateral (select r.tat from {schema}.rate_take r where r.key = l.key order by r.seq desc limit 1) t on true
     where d.queue = p_queue and d.is_active and (d.worker_limit is not null or l.id is not null)
     order by d.key limit 200;
end
$$;

-- What was done to one thing, the latest first; to a queue also when a job type of it was held back.
create index audit_log_object on {schema}.audit_log (target_kind, target, at, id)
 where target_kind in ('queue', 'worker', 'tenant', 'definition');
create function {schema}.read_object_log(p_kind text, p_target text, p_most integer) returns setof {schema}.audit_log
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select x.* from (
        (select l.* from {schema}.audit_log l
          where l.target_kind = p_kind and l.target_kind in ('queue', 'worker', 'tenant') and l.target = p_target
          order by l.at desc, l.id desc limit p_most)
        union all
        (select l.* from {schema}.job_definition d
          cross join lateral (select a.* from {schema}.audit_log a
                               where a.target_kind = 'definition' and a.target = d.key and a.action in ('types.pause', 'types.resume')
                               order by a.at desc, a.id desc limit p_most) l
          where p_kind = 'queue' and d.queue = p_target)) x
     order by x.at desc, x.id desc limit p_most;
end
$$;

-- Tenants for a page: by slug, those after p_after; of a status; whose slug or name begins so.
create function {schema}.read_tenant_page(p_after text, p_most integer, p_status text default null, p_begins text default null,
    p_slugs text[] default null)
returns table (id uuid, slug text, name text, timezone text, status text, weight integer, max_running integer,
    retention_seconds double precision, created_at timestamptz, updated_at timestamptz, raised_to integer, raised_until timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select t.id, t.slug, t.name, t.timezone, t.status, t.weight, t.max_running, extract(epoch from t.retention)::double precision,
           t.created_at, t.updated_at, case when t.raised_until > (select {schema}.now()) then t.raised_to end,
           case when t.raised_until > (select {schema}.now()) then t.raised_until end
      from {schema}.tenant t
     where t.slug > p_after and (p_status is null or t.status = p_status) and (p_slugs is null or t.slug = any (p_slugs))
       and (p_begins is null or starts_with(t.slug, lower(p_begins)) or starts_with(lower(t.name), lower(p_begins)))
     order by t.slug limit p_most;
end
$$;

-- What tenants did in the hour of p_seconds ago and since, by whole hours, so that a list of tenants reads some rows of each: late of
-- judged jobs were given up or took longer than their queue promises, as far as the cells of a histogram tell (the cell in which the promise lies
-- counts as late). fleet_seconds: what the jobs of all took. last_at: the minute of the last thing that happened.
create function {schema}.read_tenant_standing(p_ids uuid[], p_seconds double precision)
returns table (tenant_id uuid, arrived bigint, ended bigint, failed bigint, run_seconds double precision, judged bigint,
    late bigint, fleet_seconds double precision, last_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    since timestamptz := date_bin('1 hour', {schema}.now() - p_seconds * interval '1 second', timestamptz '2000-01-01 00:00+00');
    fleet double precision;
begin
    if not {schema}.sees_all() then
        return;
    end if;
    select sum(f.run_sum) into fleet from {schema}.fleet_rollup_hours f where f.minute >= since;
    return query
    with promise as materialized (
        select q.name, (select count(*) from unnest({schema}.rollup_bounds()) as b where b <= q.sla_seconds)::integer as cells
          from {schema}.queue q where q.sla_seconds is not null
    ), coming as materialized (
        select p.tenant_id, max(p.minute) as minute from {schema}.rollup_part p group by 1
    )
    select u.id, coalesce(s.arrived, 0), coalesce(s.ended, 0), coalesce(s.failed, 0), coalesce(s.run_seconds, 0),
           coalesce(s.judged, 0), coalesce(s.late, 0), fleet,
           greatest((select x.minute from {schema}.rollup x where x.tenant_id = u.id order by x.minute desc limit 1), c.minute)
      from unnest(p_ids) as u(id)
      left join coming c on c.tenant_id = u.id
     cross join lateral (
        select (sum(r.n) filter (where r.outcome = 'enqueued'))::bigint as arrived,
               (sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'canceled', 'dead_letter')))::bigint as ended,
               (sum(r.n) filter (where r.outcome in ('retried', 'lost', 'failed', 'dead_letter')))::bigint as failed,
               sum(r.run_sum) as run_seconds,
               (sum(r.n) filter (where r.total_hist is not null and p.name is not null))::bigint as judged,
               (sum(case when r.outcome = 'succeeded' then (select sum(h) from unnest(r.total_hist[p.cells + 1:]) as h) else r.n end)
                filter (where r.total_hist is not null and p.name is not null))::bigint as late
          from {schema}.rollup_hours r left join promise p on p.name = r.queue
         where r.tenant_id = u.id and r.minute >= since) s;
end
$$;

-- The fullest budget of each of these tenants, as the round monitor found it last: share of its limit (1 is all).
create function {schema}.read_budget_shares(p_ids uuid[]) returns table (tenant_id uuid, name text, share double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select distinct on (b.tenant_id) b.tenant_id, b.name, ((f.spent + f.reserved) / nullif(f.limit_amount, 0))::double precision
      from {schema}.budget b cross join lateral {schema}.read_budget_figures(b.id, moment) f
     where b.tenant_id = any (p_ids)
     order by b.tenant_id, 3 desc nulls last, b.name;
end
$$;

-- What every page says above everything else: which queues and job types are paused that whoever asks has to do with (types
-- with the moment at which they resume), for how many seconds nobody has measured anything, whether the schema is just being
-- migrated: somebody holds the lock of that name.
create function {schema}.read_banner(p_lock text)
returns table (paused text[], more_paused bigint, measured_seconds double precision, migrating boolean, types text[],
    types_until timestamptz[], more_types bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off as $$
declare
    moment timestamptz := {schema}.now();
    own uuid := {schema}.scope_tenant();
begin
    return query
    with closed as materialized (
        select q.name from {schema}.queue q
         where q.paused_at is not null and (q.resume_at is null or q.resume_at > moment)
           and (own is null
                or exists (select from {schema}.ready r where r.queue = q.name and r.lane = own offset 0)
                or exists (select from {schema}.scheduled s where s.queue = q.name and s.lane = own offset 0))
         order by q.name limit 1000
    ), held as materialized (
        select p.job_type, p.resume_at from {schema}.type_pause p
         where p.ended_at is null and (p.resume_at is null or p.resume_at > moment)
           and (own is null
                or exists (select from {schema}.job_definition d join {schema}.ready r on r.queue = d.queue and r.lane = own
                            where d.key = p.job_type offset 0)
                or exists (select from {schema}.job_definition d join {schema}.scheduled s on s.queue = d.queue and s.lane = own
                            where d.key = p.job_type offset 0))
         order by p.job_type limit 1000
    )
    select array(select c.name from closed c limit 3), greatest((select count(*) from closed) - 3, 0),
           (select extract(epoch from moment - u.last_run_at)::double precision from {schema}.upkeep u where u.name = 'monitor'),
           exists (select from pg_locks l
                    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
                      and (l.classid::bigint << 32) | l.objid::bigint = hashtextextended(p_lock, 0)),
           array(select h.job_type from held h limit 3), array(select h.resume_at from held h limit 3),
           greatest((select count(*) from held) - 3, 0);
end
$$;
