-- postmill: safe
-- Error groups; and what is read of them and of the rollups.
--
-- Failed attempts that fail alike: same job type, class, message without what differs from job to job, and the same line of
-- the user's own code. The id is their fingerprint: domain/fingerprint.py and error_group_id() compute the same.

create table {schema}.error_group (
    id text collate "C" primary key,
    job_type text collate "C" not null,
    error_class text collate "C" not null,
    message text not null,
    frame text not null,
    error_code text,
    error_status integer,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    count bigint not null,
    -- The versions of the definition that failed so: the first to do it, and the highest.
    first_version integer,
    last_version integer,
    -- What the platform says of it (0051). A failure of resolved_version or a later one, after resolved_at, is a relapse.
    ignored_until timestamptz,
    resolved_version integer,
    resolved_at timestamptz,
    regressed_at timestamptz,
    marked_by text,
    mark_note text,
    -- The build that carries the repair: a failure of builds that ran before it for the first time is no relapse.
    resolved_build text
);
create index error_group_seen on {schema}.error_group (last_seen_at, id);
create index error_group_type on {schema}.error_group (job_type, id);

-- The same by tenant: who is affected, since when, and the latest job.
create table {schema}.error_group_tenant (
    id text collate "C" not null references {schema}.error_group on delete cascade,
    tenant_id uuid not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    count bigint not null,
    sample_job uuid,
    primary key (id, tenant_id)
);
create index error_group_tenant_seen on {schema}.error_group_tenant (tenant_id, last_seen_at, id);

-- When they happened: by the minute, and by the hour what is older than two days. tenant_id 0: of all tenants together.
create table {schema}.error_group_minute (
    id text collate "C" not null references {schema}.error_group on delete cascade,
    tenant_id uuid not null,
    minute timestamptz not null,
    n bigint not null,
    hourly boolean not null default false,
    primary key (id, tenant_id, minute) include (n)
);
create index error_group_minute_fine on {schema}.error_group_minute (minute) where not hourly;

-- Failures on their way there, as rollup_part.
create table {schema}.error_group_part (
    id text collate "C" not null,
    tenant_id uuid not null,
    job_type text collate "C" not null,
    error_class text collate "C" not null,
    message text not null,
    frame text not null,
    error_code text,
    error_status integer,
    first_at timestamptz not null,
    last_at timestamptz not null,
    n bigint not null,
    job_id uuid,
    version integer,
    build text
);

-- Does a failure that a build had mean that a repair does not hold which p_repaired carries? A build that first ran before it is
-- without it, and any is while it has not run at all (its sessions are known for 30 days). Nobody knows the build: it may.
create function {schema}.has_repair(p_build text, p_repaired text, p_marked_at timestamptz) returns boolean
language plpgsql stable as $$
begin
    return p_repaired is null or p_build is null or p_build = p_repaired
        or (select min(w.started_at) from {schema}.worker w where w.build = p_build)
           > coalesce((select min(w.started_at) from {schema}.worker w where w.build = p_repaired), p_marked_at + interval '30 days');
end
$$;

-- The version of a definition that a worker session runs: of its code, the latest that was registered with that code.
-- NULL: nobody knows. p_at: as it was then.
create function {schema}.version_run(p_holder uuid, p_job_type text, p_at timestamptz default 'infinity') returns integer
language plpgsql stable as $$
declare
    code text := (select w.metadata -> 'definitions' ->> p_job_type from {schema}.worker w where w.holder = p_holder);
begin
    return (select coalesce((select max(v.version) from {schema}.definition_version v
                              where v.definition_id = d.id and v.definition ->> 'fingerprint' = code and v.at <= p_at),
                            case when d.kind <> 'function' and code ~ '^[0-9]{1,9}$' then code::integer end)
              from {schema}.job_definition d where d.key = p_job_type);
end
$$;

create function {schema}.error_group_id(p_job_type text, p_error_class text, p_message text, p_frame text) returns text
language sql immutable parallel safe as $$
    select left(md5(p_job_type || E'\n' || p_error_class || E'\n' || p_message || E'\n' || p_frame), 16)
$$;

-- The group that stands for all further ones of a job type: a message that never repeats does not fill the table.
create function {schema}.other_group(p_job_type text) returns text
language plpgsql immutable parallel safe as $$
begin
    return {schema}.error_group_id(p_job_type, 'other', '', '');
end
$$;

-- Sums up at most p_most failures that were added; answers how many. A job type has at most p_groups groups.
create function {schema}.fold_error_groups(p_most integer, p_groups integer default 500) returns integer
language plpgsql volatile as $$
declare
    folded integer;
begin
    with part as materialized (
        delete from {schema}.error_group_part p where p.ctid = any (array(
            select q.ctid from {schema}.error_group_part q limit p_most for update skip locked))
        returning p.*
    ), fresh as (
        select f.id, row_number() over (partition by f.job_type order by f.id)
                     + (select count(*) from {schema}.error_group g where g.job_type = f.job_type) > p_groups as beyond
          from (select distinct p.id, p.job_type from part p) f
         where f.id <> {schema}.other_group(f.job_type) and not exists (select from {schema}.error_group g where g.id = f.id)
    ), placed as materialized (
        select case when f.beyond then {schema}.other_group(p.job_type) else p.id end as id, p.job_type, p.tenant_id, p.n,
               p.first_at, p.last_at, p.job_id, case when f.beyond then 'other' else p.error_class end as error_class,
               case when f.beyond then '' else p.message end as message, case when f.beyond then '' else p.frame end as frame,
               p.error_code, p.error_status,
               coalesce(p.version, (select d.version from {schema}.job_definition d where d.key = p.job_type)) as version, p.build
          from part p left join fresh f using (id)
    ), relapsed as materialized (
        select p.id, max(p.last_at) as at
          from placed p join {schema}.error_group g on g.id = p.id
         where g.resolved_at < p.last_at and coalesce(p.version >= g.resolved_version, true)
           and {schema}.has_repair(p.build, g.resolved_build, g.resolved_at)
         group by p.id
    ), groups as (
        insert into {schema}.error_group as g (id, job_type, error_class, message, frame, error_code, error_status,
               first_seen_at, last_seen_at, count, first_version, last_version, regressed_at)
        select p.id, min(p.job_type), min(p.error_class), min(p.message), min(p.frame),
               (array_agg(p.error_code order by p.last_at desc))[1], (array_agg(p.error_status order by p.last_at desc))[1],
               min(p.first_at), max(p.last_at), sum(p.n), (array_agg(p.version order by p.first_at))[1], max(p.version),
               (select r.at from relapsed r where r.id = p.id)
          from placed p group by p.id order by p.id
        on conflict (id) do update set first_seen_at = least(g.first_seen_at, excluded.first_seen_at),
               last_seen_at = greatest(g.last_seen_at, excluded.last_seen_at), count = g.count + excluded.count,
               error_code = excluded.error_code, error_status = excluded.error_status,
               last_version = greatest(g.last_version, excluded.last_version),
               regressed_at = case when g.resolved_at < excluded.regressed_at
                                   then coalesce(g.regressed_at, excluded.regressed_at) else g.regressed_at end
    ), minutes as (
        insert into {schema}.error_group_minute as m (id, tenant_id, minute, n)
        select f.id, f.tenant_id, {schema}.minute_of(f.last_at), sum(f.n)
          from (select p.id, '00000000-0000-0000-0000-000000000000'::uuid as tenant_id, p.last_at, p.n from placed p
                union all
                select p.id, p.tenant_id, p.last_at, p.n from placed p
                 where p.tenant_id <> '00000000-0000-0000-0000-000000000000') f
         group by 1, 2, 3 order by 1, 2, 3
        on conflict (id, tenant_id, minute) do update set n = m.n + excluded.n
    ), tenants as (
        insert into {schema}.error_group_tenant as t (id, tenant_id, first_seen_at, last_seen_at, count, sample_job)
        select p.id, p.tenant_id, min(p.first_at), max(p.last_at), sum(p.n),
               (array_agg(p.job_id order by p.last_at desc) filter (where p.job_id is not null))[1]
          from placed p group by p.id, p.tenant_id order by p.id, p.tenant_id
        on conflict (id, tenant_id) do update set first_seen_at = least(t.first_seen_at, excluded.first_seen_at),
               last_seen_at = greatest(t.last_seen_at, excluded.last_seen_at), count = t.count + excluded.count,
               sample_job = coalesce(excluded.sample_job, t.sample_job)
    )
    select count(*) into folded from part;
    return folded;
end
$$;

-- Groups that were not seen for p_keep, at most p_most; and minutes that are hours by now.
create function {schema}.prune_error_groups(p_keep interval, p_most integer) returns integer
language plpgsql volatile as $$
declare
    edge timestamptz := {schema}.now() - p_keep;
    gone integer;
begin
    delete from {schema}.error_group g where g.id = any (array(
        select o.id from {schema}.error_group o where o.last_seen_at < edge order by o.last_seen_at, o.id limit p_most));
    get diagnostics gone = row_count;
    with old as (
        delete from {schema}.error_group_minute m where m.ctid = any (array(
            select o.ctid from {schema}.error_group_minute o
             where o.minute < (select {schema}.now()) - interval '2 days' and not o.hourly order by o.minute limit p_most))
        returning m.*
    )
    insert into {schema}.error_group_minute as m (id, tenant_id, minute, n, hourly)
    select o.id, o.tenant_id, date_bin('1 hour', o.minute, '2000-01-01Z'), sum(o.n), true from old o group by 1, 2, 3
    on conflict (id, tenant_id, minute) do update set n = m.n + excluded.n, hourly = true;
    return gone;
end
$$;

-- What a group is now: ignored | regressed | resolved | new (first seen within a day) | ongoing.
create function {schema}.error_status(g {schema}.error_group, p_first timestamptz, p_moment timestamptz) returns text
language plpgsql immutable as $$
begin
    return case when g.ignored_until > p_moment then 'ignored' when g.regressed_at is not null then 'regressed'
                when g.resolved_at is not null then 'resolved' when p_first > p_moment - interval '1 day' then 'new'
                else 'ongoing' end;
end
$$;

-- Groups within the scope that were seen since p_since, the latest first, below (p_at, p_before). What a tenant sees of one
-- is its own: when, how often, and one of its jobs; but what the platform says of it is said to all.
-- tenants: how many are affected (1 within a tenant). p_first: only those first seen since. p_text: a part of class, message or frame, in any case.
create function {schema}.read_error_groups(p_tenant uuid default null, p_job_type text default null,
    p_class text default null, p_since timestamptz default '-infinity', p_at timestamptz default 'infinity',
    p_before text default '', p_most integer default 50, p_id text default null, p_statuses text[] default null,
    p_text text default null, p_first timestamptz default '-infinity')
returns table (id text, job_type text, error_class text, message text, frame text, error_code text, error_status integer,
    first_seen_at timestamptz, last_seen_at timestamptz, count bigint, tenants bigint, sample_job uuid, status text,
    first_version integer, last_version integer, ignored_until timestamptz, resolved_version integer, resolved_at timestamptz,
    regressed_at timestamptz, marked_by text, mark_note text, resolved_build text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own uuid := coalesce(p_tenant, {schema}.scope_tenant());
    moment timestamptz := {schema}.now();
    part text := lower(p_text);
begin
    if own is null then
        return query
        select g.id, g.job_type, g.error_class, g.message, g.frame, g.error_code, g.error_status, g.first_seen_at,
               g.last_seen_at, g.count, w.tenants, w.sample_job, {schema}.error_status(g, g.first_seen_at, moment),
               g.first_version, g.last_version, g.ignored_until, g.resolved_version, g.resolved_at, g.regressed_at, g.marked_by,
               g.mark_note, g.resolved_build
          -- The page first: what is said of each group's tenants is read for those that are shown.
          from (select e.* from {schema}.error_group e
                 where (e.last_seen_at, e.id) < (p_at, p_before) and e.last_seen_at >= p_since and (select {schema}.sees_all())
                   and (p_job_type is null or e.job_type = p_job_type) and (p_class is null or e.error_class = p_class)
                   and (p_id is null or e.id = p_id) and e.first_seen_at >= p_first
                   and (p_statuses is null or {schema}.error_status(e, e.first_seen_at, moment) = any (p_statuses))
                   and (part is null or strpos(lower(e.error_class || ': ' || e.message || ' ' || e.frame), part) > 0)
                 order by e.last_seen_at desc, e.id desc limit p_most) page
          join {schema}.error_group g on g.id = page.id
         cross join lateral (select count(*) as tenants, (array_agg(t.sample_job order by t.last_seen_at desc)
                                    filter (where t.sample_job is not null))[1] as sample_job
                               from {schema}.error_group_tenant t where t.id = g.id) w
         order by g.last_seen_at desc, g.id desc;
        return;
    end if;
    return query
    select g.id, g.job_type, g.error_class, g.message, g.frame, g.error_code, g.error_status, t.first_seen_at,
           t.last_seen_at, t.count, 1::bigint, t.sample_job, {schema}.error_status(g, t.first_seen_at, moment), null::integer,
           null::integer, g.ignored_until, g.resolved_version, g.resolved_at, g.regressed_at,
           case when (select {schema}.sees_all()) then g.marked_by end, case when (select {schema}.sees_all()) then g.mark_note end,
           case when (select {schema}.sees_all()) then g.resolved_build end
      from {schema}.error_group_tenant t join {schema}.error_group g on g.id = t.id
     where t.tenant_id = own and (t.last_seen_at, t.id) < (p_at, p_before) and t.last_seen_at >= p_since
       and (p_job_type is null or g.job_type = p_job_type) and (p_class is null or g.error_class = p_class)
       and (p_id is null or g.id = p_id) and t.first_seen_at >= p_first
       and (p_statuses is null or {schema}.error_status(g, t.first_seen_at, moment) = any (p_statuses))
       and (part is null or strpos(lower(g.error_class || ': ' || g.message || ' ' || g.frame), part) > 0)
     order by t.last_seen_at desc, t.id desc limit p_most;
end
$$;

-- The tenants that a group affects, within the scope, the most affected first.
create function {schema}.read_error_tenants(p_id text, p_most integer default 20)
returns table (tenant_id uuid, slug text, first_seen_at timestamptz, last_seen_at timestamptz, count bigint, sample_job uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select t.tenant_id, n.slug, t.first_seen_at, t.last_seen_at, t.count, t.sample_job
      from {schema}.error_group_tenant t left join {schema}.tenant n on n.id = t.tenant_id
     where t.id = p_id order by t.count desc, t.tenant_id limit p_most;
end
$$;

-- Both by the hour.
create view {schema}.rollup_hours with (security_barrier) as
select h.hour as minute, h.tenant_id, h.queue, h.job_type, h.outcome, h.n, h.wait_sum, h.run_sum, h.total_sum, h.wait_hist,
       h.run_hist, h.total_hist
  from {schema}.rollup_hour h where h.tenant_id is not null
 union all
select date_bin('1 hour', p.minute, timestamptz '2000-01-01 00:00+00'), p.tenant_id, p.queue, p.job_type, p.outcome, p.n,
       p.wait_sum, p.run_sum, p.total_sum, p.wait_hist, p.run_hist, p.total_hist
  from {schema}.rollup_part p;

create view {schema}.fleet_rollup_hours with (security_barrier) as
select r.* from (
    select null::uuid as tenant_id, h.hour as minute, h.queue, h.job_type, h.outcome, h.n, h.wait_sum, h.run_sum, h.total_sum,
           h.wait_hist, h.run_hist, h.total_hist
      from {schema}.rollup_hour h where h.tenant_id is null
    union all
    select null, date_bin('1 hour', p.minute, timestamptz '2000-01-01 00:00+00'), p.queue, p.job_type, p.outcome, p.n,
           p.wait_sum, p.run_sum, p.total_sum, p.wait_hist, p.run_hist, p.total_hist
      from {schema}.rollup_part p) r
 where (select {schema}.sees_all());

-- What to read between two moments, of each tenant or of all together, as something to select from: whole hours by the hour
-- and the rest by the minute; all by the minute where buckets of p_seconds are no hours.
create function {schema}.rollup_source(p_since timestamptz, p_until timestamptz, p_fleet boolean, p_seconds double precision)
returns text
language plpgsql immutable as $$
declare
    fine constant text := case when p_fleet then 'fleet_rollups' else 'rollups' end;
    low constant timestamptz := case when isfinite(p_since) then date_bin('1 hour', p_since + interval '1 hour' - interval '1 microsecond',
                                                                           timestamptz '2000-01-01 00:00+00') else p_since end;
    high constant timestamptz := date_bin('1 hour', p_until, timestamptz '2000-01-01 00:00+00');
begin
    if low >= high or p_seconds is not null and mod(p_seconds::numeric, 3600) <> 0 then
        return '{schema}.' || fine;
    end if;
    return format('(select * from {schema}.%I h where h.minute >= %L and h.minute < %L
        union all select * from {schema}.%I f where f.minute >= %L and f.minute < %L
        union all select * from {schema}.%I f where f.minute >= %L and f.minute < %L)',
        case when p_fleet then 'fleet_rollup_hours' else 'rollup_hours' end, low, high,
        fine, {schema}.minute_of(p_since), low, fine, high, p_until);
end
$$;

-- What happened between two moments within the scope, in buckets of p_seconds (NULL: one for all) and by p_by: queue |
-- job_type | tenant (NULL: all together). Moments are taken down to their minute, and where
-- minutes are hours by now to their hour. waits, runs, totals: average, p50, p95 and p99 in seconds; NULL for those that are not
-- in p_times: without any it is ten times as fast. What is of all tenants is read from the fleet's sums.
create function {schema}.read_stats(p_since timestamptz, p_until timestamptz, p_seconds double precision default null,
    p_by text default null, p_tenant uuid default null, p_queue text default null, p_job_type text default null,
    p_times text[] default array['wait', 'run', 'total'])
returns table (bucket timestamptz, name text, counts jsonb, waits double precision[], runs double precision[],
    totals double precision[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    own constant uuid := coalesce(p_tenant, {schema}.scope_tenant());
    sums text;
begin
    select string_agg(case when kind = any (p_times)
                           then format('sum(r.%1$s_sum) as %1$s, %2$s as %1$s_hist', kind, {schema}.histogram_cells('r.' || kind || '_hist'))
                           else format('null::double precision as %1$s, null::bigint[] as %1$s_hist', kind) end, ', ') into sums
      from unnest(array['wait', 'run', 'total']) as kind;
    return query execute format($q$
        with counted as (
            select %s as bucket, %s as name, r.outcome, sum(r.n) as n, %s
              from %s r
             where r.minute >= {schema}.minute_of($1) and r.minute < $2 and ($4 is null or r.tenant_id = $4)
               and ($5 is null or r.queue = $5) and ($6 is null or r.job_type = $6)
             group by 1, 2, 3
        ), merged as (
            select c.bucket, c.name, jsonb_object_agg(c.outcome, c.n) as counts, sum(c.wait) as wait, sum(c.run) as run,
                   sum(c.total) as total, {schema}.histogram_sum(c.wait_hist) as waits, {schema}.histogram_sum(c.run_hist) as runs,
                   {schema}.histogram_sum(c.total_hist) as totals
              from counted c group by 1, 2
        )
        select m.bucket, m.name, m.counts, {schema}.summary_of(m.waits, m.wait), {schema}.summary_of(m.runs, m.run),
               {schema}.summary_of(m.totals, m.total)
          from merged m order by 1, 2$q$,
        case when p_seconds is null then '$1'
             else $b$date_bin($3 * interval '1 second', r.minute, timestamptz '2000-01-01 00:00+00')$b$ end,
        case p_by when 'queue' then 'r.queue::text' when 'job_type' then 'r.job_type::text' when 'tenant' then 'r.tenant_id::text'
             else $b$''::text$b$ end, sums,
        {schema}.rollup_source(p_since, p_until, own is null and p_by is distinct from 'tenant', p_seconds))
        using p_since, p_until, p_seconds, own, p_queue, p_job_type;
end
$$;

-- Average, p50, p95 and p99; NULL where nothing was measured.
create function {schema}.summary_of(p_hist bigint[], p_sum double precision) returns double precision[]
language plpgsql immutable parallel safe as $$
declare
    found constant double precision[] := {schema}.quantiles(p_hist, array[0.5, 0.95, 0.99]);
begin
    return array[p_sum / found[4], found[1], found[2], found[3]];
end
$$;

-- How many jobs were made since the beginning, by job type and queue: for the metrics of a server. Counts what is still
-- to be counted first, so that it is right also where no worker lives; at once, if nobody else is at it.
create function {schema}.enqueued_totals() returns table (job_type text, queue text, n bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform from {schema}.upkeep u where u.name = 'rollup' for update skip locked;
    if found then
        perform {schema}.count_enqueues();
        perform {schema}.fold_rollups(20000);
    end if;
    return query
    select t.job_type, t.queue, t.n from {schema}.rollup_total t where t.outcome = 'enqueued' order by t.n desc, 1, 2 limit 1000;
end
$$;
