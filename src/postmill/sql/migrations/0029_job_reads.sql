-- postmill: safe
-- What a request reads of jobs. Everything here belongs to the reader, so that row-level security is behind each line.

-- A tenant's jobs, the newest first, are walked by these. Most jobs are made by hand or by code (manual); the few others
-- are found among them by an index that a manual job does not pay for, and what did not succeed by one that a success
-- does not pay for.
create index job_tenant on {schema}.job (tenant_id, id);
create index job_kept_tenant on {schema}.job_kept (tenant_id, id);
create index job_tenant_source on {schema}.job (tenant_id, source, id) where source <> 'manual';
create index job_kept_tenant_source on {schema}.job_kept (tenant_id, source, id) where source <> 'manual';
create index outcome_tenant_unsuccessful on {schema}.outcome (tenant_id, status, job_id) where status <> 'succeeded';
create index dead_letter_tenant on {schema}.dead_letter (tenant_id, failed_at, id);

-- A running ticket has no tenant: it is reached from a body, like every ticket.
create or replace view {schema}.job_attempts as
select md5(h.job_id::text || ':' || h.run)::uuid as id, h.job_id, h.run as attempt_no,
       coalesce(w.worker_id, h.holder::text) as worker_id, coalesce(h.pid, w.pid) as pid, h.started_at, h.finished_at,
       h.exit_code,
       case h.status when 'lost' then 'failed' when 'snoozed' then 'canceled' when 'interrupted' then 'canceled'
                     else h.status end as status,
       h.stdout_tail, h.stderr_tail,
       coalesce(h.error_message, case when h.status in ('lost', 'snoozed', 'interrupted') then h.status end) as error_text
  from (select a.job_id, a.run, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.status, a.stdout_tail,
               a.stderr_tail, a.error_message
          from {schema}.attempt a
        union all
        select o.job_id, o.run, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code, o.attempt_status,
               o.stdout_tail, o.stderr_tail, o.error_message
          from {schema}.outcome o where o.holder is not null
        union all
        select r.id, r.run, r.holder, null, r.claimed_at, null, null, 'running', null, null, null
          from {schema}.running r join {schema}.any_job j on j.id = r.id) h
  left join {schema}.worker w on w.holder = h.holder;

-- One walk from the newest job down: at most p_look are looked at, so that a rare filter among a million costs no more
-- than a common one, and comes back short with the id down to which it is complete (low; NULL: nothing is left).
-- bodies: along the tenant's jobs, asking each where it stands. places: along what stands in the asked state, asking
-- each whose it is. Both end as soon as they have found p_need. Look-ups are fenced (offset 0), so that no statistics turn them into joins over whole tables.
-- overdue: scheduled, and past its time; it counts as queued before a worker has moved it, too.
create function {schema}.read_walk(
    p_walk text, p_status text, p_source text, p_job_type text, p_queue text, p_tenant uuid, p_before uuid, p_from uuid,
    p_after timestamptz, p_until timestamptz, p_need integer, p_look integer, out ids uuid[], out low uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
    overdue uuid[];
    looked uuid[];
    fitting boolean[];
begin
    if p_walk = 'bodies' then
        ids := array(
            select l.id
              from (select j.id, j.job_type, j.queue, j.source, j.created_at from {schema}.any_job j
                     where (p_tenant is null or j.tenant_id = p_tenant) and j.id < p_before and j.id >= p_from
                       and (coalesce(p_source, 'manual') = 'manual' or (j.source = p_source and j.source <> 'manual'))
                     order by j.id desc limit p_look) l
             where (p_source is null or l.source = p_source) and (p_job_type is null or l.job_type = p_job_type)
               and (p_queue is null or l.queue = p_queue) and (p_after is null or l.created_at > p_after)
               and (p_until is null or l.created_at < p_until)
               and case p_status
                   when 'queued' then exists (select from {schema}.ready t where t.id = l.id offset 0)
                     or exists (select from {schema}.scheduled t where t.id = l.id and t.run_at <= moment offset 0)
                   when 'scheduled' then exists (select from {schema}.scheduled t where t.id = l.id and t.run_at > moment offset 0)
                   when 'blocked' then exists (select from {schema}.blocked t where t.id = l.id offset 0)
                   when 'running' then exists (select from {schema}.running t where t.id = l.id offset 0)
                   when 'dead_letter' then exists (select from {schema}.dead_letter t where t.id = l.id offset 0)
                     or exists (select from {schema}.outcome t where t.job_id = l.id and t.status = 'dead_letter' offset 0)
                   when p_status then exists (select from {schema}.outcome t where t.job_id = l.id and t.status = p_status offset 0)
                   else true end
             order by l.id desc limit p_need);
        if cardinality(ids) < p_need then
            select j.id into low from {schema}.any_job j
             where (p_tenant is null or j.tenant_id = p_tenant) and j.id < p_before and j.id >= p_from
               and (coalesce(p_source, 'manual') = 'manual' or (j.source = p_source and j.source <> 'manual'))
             order by j.id desc offset p_look - 1 limit 1;
        end if;
        return;
    end if;
    if p_status = 'queued' then
        overdue := array(select s.id from {schema}.scheduled s where s.run_at <= moment order by s.run_at limit 1001);
    end if;
    select array_agg(y.id order by y.id desc), array_agg(y.fits order by y.id desc) into looked, fitting
      from (select x.id, x.fits from (
            (select t.id, true as fits from {schema}.ready t
              where p_status = 'queued' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select u.id, true from unnest(overdue) as u(id)
              where cardinality(overdue) <= 1000 and u.id < p_before and u.id >= p_from)
            union all
            (select t.id, (t.run_at > moment) = (p_status = 'scheduled') from {schema}.scheduled t
              where (p_status = 'scheduled' or cardinality(overdue) > 1000) and t.id < p_before and t.id >= p_from
              order by t.id desc limit p_look)
            union all
            (select t.id, true from {schema}.blocked t
              where p_status = 'blocked' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select t.id, true from {schema}.running t
              where p_status = 'running' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select t.id, p_tenant is null or t.tenant_id = p_tenant from {schema}.dead_letter t
              where p_status = 'dead_letter' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select t.job_id, (p_tenant is null or t.tenant_id = p_tenant) and t.status = 'succeeded' from {schema}.outcome t
              where p_status = 'succeeded' and t.job_id < p_before and t.job_id >= p_from order by t.job_id desc limit p_look)
            union all
            (select t.job_id, true from {schema}.outcome t
              where p_status in ('failed', 'canceled', 'dead_letter') and t.status <> 'succeeded' and t.status = p_status
                and (p_tenant is null or t.tenant_id = p_tenant) and t.job_id < p_before and t.job_id >= p_from
              order by t.job_id desc limit p_look)) x
             order by x.id desc limit p_look) y;
    ids := array(
        select u.id from unnest(looked, fitting) with ordinality as u(id, fits, n)
         cross join lateral (
            select from {schema}.any_job j
             where j.id = u.id and (p_tenant is null or j.tenant_id = p_tenant) and (p_source is null or j.source = p_source)
               and (p_job_type is null or j.job_type = p_job_type) and (p_queue is null or j.queue = p_queue)
               and (p_after is null or j.created_at > p_after) and (p_until is null or j.created_at < p_until) offset 0) b
         where u.fits
         order by u.n limit p_need);
    if cardinality(ids) < p_need then
        low := looked[p_look];
    end if;
end
$$;

-- One page of jobs, the newest first, below p_before, enqueued after p_after and before p_until; p_skip of them are passed
-- over. go_on: where the next page begins; it stands in a row without a job where this page has none. An id is made at
-- the moment of the enqueue, give or take what the statement takes: so much is looked at more on either side.
create function {schema}.read_jobs(
    p_status text default null, p_source text default null, p_job_type text default null, p_queue text default null,
    p_tenant uuid default null, p_before uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    p_after timestamptz default null, p_until timestamptz default null, p_skip integer default 0, p_most integer default 50)
returns table (
    id uuid, tenant_id uuid, job_type text, queue text, status text, source text, source_ref text, priority integer,
    attempt_count integer, max_attempts integer, idempotency_key text, correlation_id text, created_at timestamptz,
    scheduled_for timestamptz, started_at timestamptz, finished_at timestamptz, worker_id text, reason text, error_class text,
    error_message text, actor_type text, actor_id text, project_id uuid, replayed_from uuid, go_on uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own uuid := coalesce(p_tenant, {schema}.scope_tenant());
    need integer := p_skip + p_most + 1;
    plain boolean := p_job_type is null and p_queue is null and coalesce(p_source, '') <> 'manual' and p_after is null
                     and p_until is null;
    look integer := case when plain and (p_status is null or own is null or p_status in ('failed', 'canceled'))
                         then 2 * need else greatest(2000, 2 * need) end;
    first uuid := coalesce({schema}.id_at(p_after - interval '1 second'), '00000000-0000-0000-0000-000000000000');
    below uuid := least(p_before, {schema}.id_at(p_until + interval '1 second'));
    walks text[] := case when p_status is null then array['bodies']
                         when own is null or p_status in ('failed', 'canceled') then array['places']
                         when p_status = 'dead_letter' then array['places', 'bodies'] else array['bodies', 'places'] end;
    moment timestamptz := {schema}.now();
    walk text;
    found_one record;
    ids uuid[] := '{}';
    low uuid;
begin
    foreach walk in array walks loop
        select w.ids, w.low into found_one
          from {schema}.read_walk(walk, p_status, p_source, p_job_type, p_queue, own, below, first, p_after, p_until,
                                                need, look) w;
        -- Each is complete down to its low: the one that comes further down holds all of the other.
        if walk = walks[1] or found_one.low is null or found_one.low < low then
            ids := found_one.ids;
            low := found_one.low;
        end if;
        exit when cardinality(ids) >= need or low is null;
    end loop;
    if cardinality(ids) >= need then
        low := ids[need - 1];
    end if;
    return query
    select p.id, p.tenant_id, p.job_type, p.queue,
           case when s.run_at <= moment or w.id is not null then 'queued' when s.id is not null then 'scheduled'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when d.id is not null then 'dead_letter' else o.status end,
           p.source::text, p.source_ref, coalesce(w.priority, s.priority, b.priority, r.priority, d.priority, p.priority),
           coalesce(w.attempt - 1, s.attempt - 1, b.attempt - 1, r.attempt, d.attempts, o.attempt, 0), p.max_attempts,
           p.idempotency_key, p.correlation_id, p.created_at, coalesce(s.run_at, p.scheduled_for),
           coalesce(r.claimed_at, o.started_at, d.last_attempt_at), coalesce(o.finished_at, d.failed_at),
           (select k.worker_id from {schema}.worker k where k.holder = coalesce(r.holder, o.holder)),
           coalesce(d.reason, o.reason), coalesce(d.error_class, o.error_class, a.error_class),
           left(coalesce(d.error_message, o.error_message, a.error_message), 500), p.actor_type::text, p.actor_id, p.project_id,
           p.replayed_from, low
      from (select true) as always
      left join lateral (select u.n, j.* from unnest(ids[p_skip + 1 : p_skip + p_most]) with ordinality as u(id, n)
                          cross join lateral (select f.* from {schema}.any_job f where f.id = u.id offset 0) j) p on true
      left join lateral (select t.* from {schema}.ready t where t.id = p.id offset 0) w on true
      left join lateral (select t.* from {schema}.scheduled t where t.id = p.id offset 0) s on true
      left join lateral (select t.* from {schema}.blocked t where t.id = p.id offset 0) b on true
      left join lateral (select t.* from {schema}.running t where t.id = p.id offset 0) r on true
      left join lateral (select t.* from {schema}.dead_letter t where t.id = p.id offset 0) d on true
      left join lateral (select t.* from {schema}.outcome t where t.job_id = p.id offset 0) o on true
      left join lateral (select t.error_class, t.error_message from {schema}.attempt t
                          where t.job_id = p.id and o.job_id is null and r.id is null order by t.run desc limit 1) a on true
     order by p.n;
end
$$;

-- Where jobs are now, as job_state tells it, but overdue ones are queued.
create function {schema}.read_job_state(p_ids uuid[])
returns table (
    id uuid, tenant_id uuid, job_type text, queue text, state text, priority integer, attempt integer, max_attempts integer,
    payload jsonb, created_at timestamptz, scheduled_for timestamptz, started_at timestamptz, finished_at timestamptz,
    project_id uuid, idempotency_key text, source text, source_ref text, actor_type text, actor_id text, request_id text,
    correlation_id text, traceparent text, result jsonb, reason text, error_class text, error_code text, error_message text,
    replayed_from uuid, replayed_as uuid, worker_id text, cancel_requested boolean, progress_done double precision,
    progress_total double precision, progress_message text, tags text[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select s.id, s.tenant_id, s.job_type, s.queue,
           case when s.state = 'scheduled' and s.scheduled_for <= (select {schema}.now()) then 'queued' else s.state end,
           s.priority, s.attempt, s.max_attempts, s.payload, s.created_at, s.scheduled_for, s.started_at, s.finished_at,
           s.project_id, s.idempotency_key, s.source, s.source_ref, s.actor_type, s.actor_id, s.request_id, s.correlation_id,
           s.traceparent, s.result, s.reason, s.error_class, s.error_code, s.error_message, s.replayed_from, s.replayed_as,
           s.worker_id, s.cancel_requested, s.progress_done, s.progress_total, s.progress_message, s.tags
      from {schema}.job_state(array(select j.id from {schema}.any_job j where j.id = any (p_ids))) s;
end
$$;

-- Every execution of one job, the running one too, in the words of the glossary.
create function {schema}.read_attempts(p_id uuid)
returns table (
    run integer, attempt integer, status text, worker_id text, pid integer, started_at timestamptz, finished_at timestamptz,
    exit_code integer, error_class text, error_code text, error_message text, error_status integer, stack text,
    stdout_tail text, stderr_tail text, build text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select h.run, h.attempt, h.status, coalesce(w.worker_id, h.holder::text), coalesce(h.pid, w.pid), h.started_at, h.finished_at,
           h.exit_code, h.error_class, h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail, w.build
      from (select a.run, a.attempt, a.status, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class,
                   a.error_code, a.error_message, a.error_status, a.stack, a.stdout_tail, a.stderr_tail
              from {schema}.attempt a where a.job_id = p_id
            union all
            select o.run, o.attempt, o.attempt_status, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code,
                   o.error_class, o.error_code, o.error_message, o.error_status, o.stack, o.stdout_tail, o.stderr_tail
              from {schema}.outcome o where o.job_id = p_id and o.holder is not null
            union all
            select r.run, r.attempt, 'running', r.holder, null, r.claimed_at, null, null, null, null, null, null, null,
                   null, null
              from {schema}.running r where r.id = p_id and exists (select from {schema}.any_job j where j.id = p_id)) h
      left join {schema}.worker w on w.holder = h.holder
     order by h.run;
end
$$;

-- One page of all that happened, the log and the lives of jobs as one stream, in the order of recording, from
-- (p_after, p_key) up to p_until, which must be settled (advance_horizon). Rows of others than the reader's tenant are
-- not there. The stretch read at once is made so that it holds some thousand rows, and a page takes no
-- longer than about 150 ms: the last row, without a kind, says where it stopped (event: more) or that it is at its end.
create function {schema}.read_history(p_after timestamptz, p_key text, p_until timestamptz, p_most integer,
    p_kind text default null, p_events text[] default null)
returns table (recorded_at timestamptz, key text, kind text, event text, happened_at timestamptz, org_id uuid,
    project_id uuid, actor_type text, actor_id text, role text, via text, request_id text, correlation_id text,
    target_kind text, target text, result text, reason text, before jsonb, after jsonb, job_id uuid, job_type text,
    attempt integer, status text, error_class text, started_at timestamptz, finished_at timestamptz, db_role text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    deadline timestamptz := {schema}.now() + interval '150 milliseconds';
    low timestamptz := p_after;
    high timestamptz;
    own uuid := case when not {schema}.sees_all() then {schema}.scope_tenant() end;
    width interval := case when own is null then interval '1 minute' else '1 hour' end;
    size bigint;
    told integer := 0;
    got integer;
begin
    while low < p_until loop
        high := least(low + width, p_until);
        size := {schema}.history_size(low, high, 4001, own);
        if size = 0 then
            low := high;
            width := least(width * 16, interval '30 days');
        elsif size > 4000 and width > interval '1 millisecond' then
            width := greatest(width / 4, interval '1 millisecond');
        else
            return query
            select h.* from (
                select l.at as recorded_at, l.id::text as key, 'audit', l.action, l.at, l.tenant_id, null::uuid, l.actor_type,
                       l.actor_id, l.role, l.via, l.request_id, null::text, l.target_kind, l.target, l.result, l.reason,
                       l.before, l.after, null::uuid, null::text, null::integer, null::text, null::text, null::timestamptz,
                       null::timestamptz, l.db_role
                  from {schema}.audit_log l
                 where l.at >= low and l.at < high and (own is null or l.tenant_id = own) and coalesce(p_kind, 'audit') = 'audit'
                   and (p_events is null or l.action = any (p_events))
                union all
                select e.recorded_at, e.key, 'job', e.event, e.happened_at, b.tenant_id, b.project_id, b.actor_type::text,
                       b.actor_id, null, null, b.request_id, b.correlation_id, null, null, null, e.reason, null, null,
                       e.job_id, b.job_type, e.attempt, e.status, e.error_class, e.started_at, e.finished_at, null
                  from {schema}.job_events(low, high, own) e
                 cross join lateral (select j.tenant_id, j.project_id, j.job_type, j.actor_type, j.actor_id, j.request_id,
                                            j.correlation_id from {schema}.job j where j.id = e.job_id
                                     union all
                                     select k.tenant_id, k.project_id, k.job_type, k.actor_type, k.actor_id, k.request_id,
                                            k.correlation_id from {schema}.job_kept k where k.id = e.job_id offset 0) b
                 where coalesce(p_kind, 'job') = 'job' and (p_events is null or e.event = any (p_events))) h
             where (h.recorded_at, h.key) > (p_after, p_key collate "C")
             order by h.recorded_at, h.key collate "C" limit p_most - told;
            get diagnostics got = row_count;
            told := told + got;
            if told >= p_most then
                return;
            end if;
            low := high;
            width := case when size < 1000 then least(width * 2, interval '30 days') else width end;
        end if;
        exit when {schema}.now() > deadline;
    end loop;
    recorded_at := low;
    key := '';
    event := case when low < p_until then 'more' else 'end' end;
    return next;
end
$$;
