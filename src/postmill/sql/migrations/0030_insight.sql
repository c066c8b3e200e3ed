-- postmill: safe
-- What a request reads beside jobs: dead letters, queues, workers, the summary, and why a job does not run.

-- The queues whose dead letters are shown under this name: the one of the name, and those that say so. NULL for NULL.
create function {schema}.read_letter_queues(p_name text) returns text[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return case when p_name is not null
                then array[p_name] || array(select q.name from {schema}.queue q where q.dead_letters_as = p_name) end;
end
$$;

-- Open dead letters, given up last first, below (p_at, p_before). At most p_look are looked at; go_at and go_on say where
-- the next page begins, in a row without a letter where this page has none. p_since and p_until bound the moment at which
-- they were given up; both, and the error group, have an index, so that only the other filters look at what they leave out.
-- p_queue, and shown_as: see read_letter_queues.
create function {schema}.read_dead_letters(
    p_tenant uuid default null, p_queue text default null, p_reason text default null, p_job_type text default null,
    p_at timestamptz default 'infinity', p_before uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff', p_most integer default 50,
    p_error_group text default null, p_error_status integer default null, p_since timestamptz default null,
    p_until timestamptz default null, p_look integer default 2000)
returns table (
    id uuid, tenant_id uuid, job_type text, queue text, reason text, error_class text, error_code text, error_message text,
    error_status integer, attempts integer, failed_at timestamptz, last_attempt_at timestamptz, error_group text,
    shown_as text, go_at timestamptz, go_on uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own uuid := coalesce(p_tenant, {schema}.scope_tenant());
    f_queues text[] := {schema}.read_letter_queues(p_queue);
begin
    return query
    with looked as materialized (
        select d.* from {schema}.dead_letter d
         where (own is null or d.tenant_id = own) and (d.failed_at, d.id) < (least(p_at, p_until), p_before)
           and (p_error_group is null or d.error_group = p_error_group) and (p_since is null or d.failed_at >= p_since)
         order by d.failed_at desc, d.id desc limit greatest(p_look, p_most + 1)
    ), fits as materialized (
        select l.* from looked l
         where (f_queues is null or l.queue = any (f_queues)) and (p_reason is null or l.reason = p_reason)
           and (p_job_type is null or l.job_type = p_job_type) and (p_error_status is null or l.error_status = p_error_status)
           and (p_until is null or l.failed_at < p_until)
         order by l.failed_at desc, l.id desc limit p_most + 1
    ), page as materialized (
        select f.* from fits f order by f.failed_at desc, f.id desc limit p_most
    ), last_one as (
        select p.failed_at, p.id from page p where (select count(*) from fits) > p_most order by p.failed_at, p.id limit 1
    ), last_looked as (
        select l.failed_at, l.id from looked l
         where (select count(*) from fits) <= p_most and (select count(*) from looked) = greatest(p_look, p_most + 1)
         order by l.failed_at, l.id limit 1
    )
    select p.id, p.tenant_id, p.job_type, p.queue, p.reason, p.error_class, p.error_code, left(p.error_message, 500), p.error_status,
           p.attempts, p.failed_at, p.last_attempt_at, p.error_group, coalesce(q.dead_letters_as, p.queue), n.failed_at, n.id
      from (select true) as always
      left join (select * from last_one union all select * from last_looked) n on true
      left join page p on true
      left join {schema}.queue q on q.name = p.queue
     order by p.failed_at desc, p.id desc;
end
$$;

-- version: of the definition now; version_then: when the job was enqueued (NULL: it has none from that time).
create function {schema}.read_dead_letter(p_id uuid)
returns table (
    id uuid, tenant_id uuid, job_type text, queue text, reason text, error_class text, error_code text, error_message text,
    error_status integer, attempts integer, failed_at timestamptz, last_attempt_at timestamptz, error_group text, shown_as text, stack text,
    payload jsonb, version integer, version_then integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_class, d.error_code, d.error_message, d.error_status,
           d.attempts, d.failed_at, d.last_attempt_at, d.error_group, coalesce(q.dead_letters_as, d.queue), d.stack, b.payload, f.version,
           (select max(v.version) from {schema}.definition_version v where v.definition_id = f.id and v.at <= b.created_at)
      from {schema}.dead_letter d
      left join lateral (select j.payload, j.created_at from {schema}.any_job j where j.id = d.id offset 0) b on true
      left join {schema}.job_definition f on f.key = d.job_type
      left join {schema}.queue q on q.name = d.queue
     where d.id = p_id;
end
$$;

-- Every queue. How much of its work is where is the platform's to see, and NULL to a tenant. Counts end at p_most: a
-- number above it is a backlog, and counting a million takes longer than anybody waits for a page.
create function {schema}.read_queues(p_name text default null, p_most integer default 10000)
returns table (
    name text, priority integer, lane text, paused boolean, paused_at timestamptz, paused_by text, pause_reason text,
    resume_at timestamptz, queued bigint, scheduled bigint, blocked bigint, running bigint, dead_letters bigint,
    oldest_seconds double precision, next_due_seconds double precision, owner text, contact text, color text,
    sla_seconds double precision, wait_target_seconds double precision, run_target_seconds double precision, escalation text,
    attained double precision, burn double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off as $$
declare
    moment timestamptz := {schema}.now();
    whole boolean := {schema}.sees_all();
begin
    return query
    select q.name, q.priority, q.lane, q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), q.paused_at,
           case when whole then q.paused_by end, q.pause_reason, q.resume_at,
           case when whole then r.n end,
           case when whole then (select count(*) from (select from {schema}.scheduled t where t.queue = q.name limit p_most) x) end,
           case when whole then (select count(*) from {schema}.blocked t where t.queue = q.name) end,
           case when whole then (select count(*) from {schema}.running t where t.queue = q.name) end,
           case when whole then coalesce(y.n, 0) end,
           -- What was counted to its end has been seen: only a longer backlog is asked lane by lane.
           case when whole then extract(epoch from moment - case when r.n < p_most then r.oldest
                                                                 else {schema}.read_oldest(q.name, null) end)::double precision end,
           case when whole then extract(epoch from n.run_at - moment)::double precision end,
           q.owner, case when whole then q.contact end, q.color, q.sla_seconds, q.wait_target_seconds, q.run_target_seconds,
           case when whole then q.escalation end, case when whole then a.attained end,
           case when whole then a.burn end
      from {schema}.queue q
      left join lateral (select count(*) as n, min(x.ready_at) as oldest from (
                            select t.ready_at from {schema}.ready t where whole and t.queue = q.name limit p_most) x) r on true
      -- Once for all queues: who asks for every queue would pay for each.
      left join (select d.queue, least(p_most, greatest(0, sum(d.opened - d.closed)))::bigint as n from {schema}.dead_tally d
                  where whole and (p_name is null or d.queue = p_name) group by 1) y on y.queue = q.name
      left join (select s.queue, min(s.run_at) as run_at
                   from (select t.run_at, t.queue from {schema}.scheduled t where whole order by t.run_at limit 1000) s
                  group by 1) n on n.queue = q.name
      left join {schema}.attainment a on a.queue = q.name and a.measured_at > moment - interval '5 minutes'
     where p_name is null or q.name = p_name
     order by q.priority, q.name;
end
$$;

-- Since when the first ready ticket of a queue, of one lane of all queues, or of all has been ready: one probe for each lane
-- and priority, of at most 1,000. Of all there is a shorter way as a rule: no ticket is ready before its job was made, which
-- its id tells, so nothing made after the earliest found among the first 100 made was ready before it.
create function {schema}.read_oldest(p_queue text, p_lane uuid) returns timestamptz
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
declare
    found record;
begin
    if p_lane is not null then
        return (
            with recursive step as (
                select f.* from {schema}.queue q cross join lateral (
                    select r.queue, r.priority, r.ready_at from {schema}.ready r where r.queue = q.name and r.lane = p_lane
                     order by r.priority, r.ready_at limit 1) f
                 where q.name = coalesce(p_queue, q.name)
                union all
                select f.* from step s cross join lateral (
                    select r.queue, r.priority, r.ready_at from {schema}.ready r
                     where r.queue = s.queue and r.lane = p_lane and r.priority > s.priority
                     order by r.priority, r.ready_at limit 1) f
            )
            select min(x.ready_at) from (select s.ready_at from step s limit 1000) x);
    end if;
    if p_queue is null then
        select min(x.ready_at) as ready_at, max({schema}.id_time(x.id)) as made, count(*) as n into found
          from (select r.ready_at, r.id from {schema}.ready r order by r.id limit 100) x;
        if found.n < 100 or found.ready_at <= found.made then
            return found.ready_at;
        end if;
    end if;
    return (
        with recursive step as (
            select f.* from {schema}.queue q cross join lateral (
                select r.queue, r.lane, r.priority, r.ready_at from {schema}.ready r
                 where r.queue = q.name order by r.queue, r.lane, r.priority, r.ready_at limit 1) f
             where q.name = coalesce(p_queue, q.name)
            union all
            select f.* from step s cross join lateral (
                select r.queue, r.lane, r.priority, r.ready_at from {schema}.ready r
                 where r.queue = s.queue and (r.lane, r.priority) > (s.lane, s.priority)
                 order by r.queue, r.lane, r.priority, r.ready_at limit 1) f
        )
        select min(x.ready_at) from (select s.ready_at from step s limit 1000) x);
end
$$;

-- How far the budget is used up that a tenant's jobs of a type are under, without a figure of others.
create function {schema}.budget_word(p_name text, p_tenant uuid)
returns table (name text, level integer, action text, ends_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select s.name, s.level, s.action, s.ends_at from {schema}.budget_standing(p_name, p_tenant) s limit 1;
end
$$;

-- What there is to say about why a job does not run: facts, for operate/why.py to put into words. Position in the lane
-- and counts of jobs end at 10,000. slots: of the live workers of its queue; NULL: one of them does not say. outdated:
-- live workers of its queue that started before its type was registered. refused: it waits where a worker put it back that did
-- not know its type, seconds ago; by whom, who of the live ones knows it, and which jobs take the permits of a type is the
-- platform's to see. No row: there is no such job.
create function {schema}.read_why(p_id uuid)
returns table (
    id uuid, job_type text, queue text, state text, attempt integer, max_attempts integer, reason text, error_class text,
    error_message text, cancel_requested boolean, worker_id text, paused boolean, pause_reason text, resume_at timestamptz,
    tenant_status text, is_active boolean, due_seconds double precision, expired boolean, limits text,
    worker_limit integer, type_running bigint, held_by uuid[],
    type_workers bigint, queue_workers bigint, draining_workers bigint, outdated bigint, slots bigint, queue_running bigint,
    ahead bigint, ready_seconds double precision, replayed_as uuid, budget text, budget_level integer, budget_action text,
    budget_ends timestamptz, type_paused boolean, type_pause_reason text, type_resume_at timestamptz,
    pinned integer, pin_workers bigint, refused boolean, refused_by text, knowing text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    select s.id, s.job_type, s.queue, s.state, s.attempt, s.max_attempts, s.reason, s.error_class, left(s.error_message, 500),
           s.cancel_requested, s.worker_id,
           q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), q.pause_reason, q.resume_at,
           t.status, d.is_active, case when s.state = 'scheduled' then extract(epoch from s.scheduled_for - moment)::double precision end,
           j.expires_at <= moment,
           (select jsonb_agg(to_jsonb(l) order by l.name) from {schema}.limits_of(s.id, s.queue, s.job_type, s.tenant_id) l
             where s.state in ('scheduled', 'queued', 'blocked'))::text,
           d.worker_limit, h.n, case when {schema}.sees_all() then h.ids end, w.of_type, w.of_queue, w.draining, w.outdated,
           case when not w.silent then w.slots end,
           (select count(*) from (select from {schema}.running o where o.queue = r.queue limit 10000) x),
           (select count(*) from (select from {schema}.ready o
                                   where o.queue = r.queue and o.lane = r.lane
                                     and (o.priority, o.ready_at, o.id) < (r.priority, r.ready_at, r.id) limit 10000) x),
           extract(epoch from moment - r.ready_at)::double precision, s.replayed_as, g.name, g.level, g.action, g.ends_at,
           z.id is not null, z.reason, z.resume_at, p.version, w.of_version,
           u.job_type is not null, case when {schema}.sees_all() then u.worker_id end, case when {schema}.sees_all() then w.knowing end
      from {schema}.read_job_state(array[p_id]) s
     cross join lateral (select f.expires_at from {schema}.any_job f where f.id = s.id offset 0) j
      left join lateral (select i.version, {schema}.version_code(i.job_type, i.version) as code, i.job_type
                           from {schema}.pin i where i.job_id = s.id offset 0) p on true
      left join {schema}.queue q on q.name = s.queue
      left join {schema}.tenant t on t.id = s.tenant_id
      left join {schema}.job_definition d on d.key = s.job_type
      left join lateral (select f.* from {schema}.ready f where f.id = s.id offset 0) r on true
      left join lateral (select f.job_type, f.worker_id from {schema}.refused_type f
                          where f.job_type = s.job_type and left(f.lane::text, 18) = left(coalesce(
                                r.lane, (select c.lane from {schema}.scheduled c where c.id = s.id))::text, 18) offset 0) u on true
      left join lateral {schema}.type_paused(coalesce((select a.key from {schema}.job_definition a where a.aliases @> array[s.job_type] limit 1),
                                                      s.job_type)) z on true
      left join lateral {schema}.budget_word(d.budget, s.tenant_id) g on s.state in ('scheduled', 'queued', 'blocked')
      left join lateral (
        select count(*) as n, (array_agg(x.id order by x.claimed_at))[:3] as ids
          from (select o.id, o.claimed_at from {schema}.running o where o.queue = s.queue limit 10000) x
         cross join lateral (select from {schema}.any_job f where f.id = x.id and f.job_type = s.job_type offset 0) b
        ) h on r.id is not null and d.worker_limit is not null
     cross join lateral (
        select count(*) filter (where s.job_type = any (k.job_types) and not k.draining) as of_type,
               min(k.worker_id) filter (where s.job_type = any (k.job_types) and not k.draining) as knowing,
               count(*) filter (where not k.draining) as of_queue, count(*) filter (where k.draining) as draining,
               count(*) filter (where not k.draining and s.job_type <> all (k.job_types) and k.started_at < d.created_at) as outdated,
               count(*) filter (where not k.draining and k.metadata -> 'definitions' ->> p.job_type = p.code) as of_version,
               sum((k.slots ->> s.queue)::bigint) filter (where not k.draining)::bigint as slots,
               coalesce(bool_or(k.slots ->> s.queue is null) filter (where not k.draining), true) as silent
          from {schema}.worker k join {schema}.lease e on e.holder = k.holder and e.expires_at > moment
         where k.stopped_at is null and s.queue = any (k.queues)) w;
end
$$;

-- What runs, the longest first, of at most 10,000: the platform's to see.
create function {schema}.read_running(p_most integer default 20)
returns table (id uuid, tenant_id uuid, job_type text, queue text, attempt integer, max_attempts integer, worker_id text,
    seconds double precision, progress_done double precision, progress_total double precision, progress_message text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select r.id, j.tenant_id, j.job_type, r.queue, r.attempt, j.max_attempts, k.worker_id,
           extract(epoch from moment - r.claimed_at)::double precision, g.done, g.total, g.message
      from (select x.* from (select o.* from {schema}.running o limit 10000) x order by x.claimed_at, x.id limit p_most) r
      left join lateral (select f.tenant_id, f.job_type, f.max_attempts from {schema}.any_job f where f.id = r.id offset 0) j on true
      left join {schema}.worker k on k.holder = r.holder
      left join lateral (select t.done, t.total, t.message from {schema}.progress t where t.job_id = r.id offset 0) g on true
     order by r.claimed_at, r.id;
end
$$;

-- Incidents that are not resolved, the newest first: the platform's to see.
create function {schema}.read_live_incidents(p_most integer default 10)
returns table (id uuid, kind text, severity text, status text, title text, queue text, opened_at timestamptz,
    last_at timestamptz, jobs bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select i.id, i.kind, i.severity::text, case when i.acknowledged_at is null then 'open' else 'acknowledged' end, i.title,
           i.queue, i.opened_at, i.last_at, i.jobs
      from {schema}.incident i where i.resolved_at is null order by i.opened_at desc, i.id desc limit p_most;
end
$$;

create function {schema}.read_queue_names() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select q.name from {schema}.queue q order by q.name;
end
$$;

-- What dead letters can be asked for by: queues, and the names under which those show theirs.
create function {schema}.read_letter_queue_names() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select q.name from {schema}.queue q union select q.dead_letters_as from {schema}.queue q
                  where q.dead_letters_as is not null order by 1;
end
$$;

-- What may be enqueued, for an error message that says what was probably meant.
create function {schema}.read_job_type_names() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.key from {schema}.job_definition d where d.is_active
    union select a.alias from {schema}.job_definition d, unnest(d.aliases) as a(alias) where d.is_active
    order by 1 limit 1000;
end
$$;
