-- postmill: safe
-- What happened, counted by the minute: for the console, the SLA and the metrics of the whole fleet. History stays the
-- truth; this is its sum. Outcomes, one of which each event of a job is:
--   enqueued                                 a job was made (the minute is that of its id)
--   succeeded, failed, canceled, dead_letter a job ended so, or was given up
--   retried, lost, snoozed, interrupted      an attempt ended so, and the job goes on
--   discarded, replayed                      a dead letter was closed by an operator
-- wait: from due to the handler's start (of a later attempt, from ready); run: how long the handler ran; total: from due to
-- finished, of jobs that succeeded, failed or became dead letters. A histogram is NULL where nothing was measured: what
-- never started waited for nothing, and a lost attempt ran nobody knows how long.

create table {schema}.rollup (
    minute timestamptz not null,
    tenant_id uuid not null,
    queue text collate "C" not null,
    job_type text collate "C" not null,
    outcome text collate "C" not null check (outcome in ('enqueued', 'succeeded', 'failed', 'canceled', 'dead_letter',
        'retried', 'lost', 'snoozed', 'interrupted', 'discarded', 'replayed')),
    n bigint not null,
    wait_sum double precision not null default 0,
    run_sum double precision not null default 0,
    total_sum double precision not null default 0,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[],
    primary key (minute, tenant_id, queue, job_type, outcome)
);
create index rollup_tenant on {schema}.rollup (tenant_id, minute);

-- The same of all tenants together: an hour of 20 job types is 3,000 rows here, and of 200 tenants half a million there.
create table {schema}.rollup_fleet (
    minute timestamptz not null,
    queue text collate "C" not null,
    job_type text collate "C" not null,
    outcome text collate "C" not null,
    n bigint not null,
    wait_sum double precision not null default 0,
    run_sum double precision not null default 0,
    total_sum double precision not null default 0,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[],
    primary key (minute, queue, job_type, outcome)
);
create index rollup_fleet_queue on {schema}.rollup_fleet (queue, minute);
create index rollup_fleet_type on {schema}.rollup_fleet (job_type, minute);

-- Hour by hour, of each tenant and (tenant_id NULL) of all together: a day is 1,440 times as many rows there as types here.
create table {schema}.rollup_hour (
    hour timestamptz not null,
    tenant_id uuid,
    queue text collate "C" not null,
    job_type text collate "C" not null,
    outcome text collate "C" not null,
    n bigint not null,
    wait_sum double precision not null default 0,
    run_sum double precision not null default 0,
    total_sum double precision not null default 0,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[],
    unique nulls not distinct (tenant_id, hour, queue, job_type, outcome)
);
create index rollup_hour_hour on {schema}.rollup_hour (hour);

-- Counts on their way there: who ends jobs adds rows and never touches another's, and the round rollup sums them up.
create table {schema}.rollup_part (like {schema}.rollup including defaults);

-- Since the beginning, whatever minutes are pruned: what the counters of the fleet are made of.
create table {schema}.rollup_total (
    job_type text collate "C" not null,
    queue text collate "C" not null,
    outcome text collate "C" not null,
    n bigint not null,
    primary key (job_type, queue, outcome)
);

-- How many jobs of which nothing is kept were made in a second, until they are counted for good.
create table {schema}.forgotten (
    made timestamptz not null,
    tenant_id uuid not null,
    queue text collate "C" not null,
    job_type text collate "C" not null,
    n bigint not null
);
create index forgotten_made on {schema}.forgotten (made);

-- Jobs with ids before counted_to are counted, those before final_to for good. marker: once every transaction before it is
-- over, all jobs of before marker_to can be seen. Before coarse_to a row is an hour.
create table {schema}.rollup_state (
    only_row boolean primary key default true check (only_row),
    counted_to timestamptz not null,
    final_to timestamptz not null,
    marker xid8,
    marker_to timestamptz,
    coarse_to timestamptz not null
);
insert into {schema}.rollup_state (counted_to, final_to, coarse_to)
select m.moment, m.moment, '-infinity' from (select {schema}.minute_of({schema}.now()) as moment) m;
insert into {schema}.upkeep (name) values ('rollup');

-- Upper bounds of a histogram's cells, in seconds; the last cell is for all beyond. The same as ROLLUP_BOUNDS in Python.
create function {schema}.rollup_bounds() returns double precision[]
language sql immutable parallel safe as $$
    select array[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600,
                 14400, 86400]::double precision[]
$$;

-- The histogram of one value; NULL: of none.
create function {schema}.histogram(p_seconds double precision) returns bigint[]
language plpgsql immutable parallel safe as $$
begin
    if p_seconds is null then
        return null;
    end if;
    return array(select case when coalesce(lag(b.bound) over (order by b.n), '-infinity') < p_seconds
                              and p_seconds <= b.bound then 1 else 0 end::bigint
                   from unnest({schema}.rollup_bounds() || 'infinity'::double precision) with ordinality as b(bound, n)
                  order by b.n);
end
$$;

create function {schema}.histogram_plus(p_one bigint[], p_other bigint[]) returns bigint[]
language plpgsql immutable parallel safe as $$
begin
    if p_one is null or p_other is null then
        return coalesce(p_one, p_other);
    end if;
    for i in 1 .. cardinality(p_other) loop
        p_one[i] := coalesce(p_one[i], 0) + p_other[i];
    end loop;
    return p_one;
end
$$;

-- Of two that are there: an aggregate passes over those that are not by itself.
create function {schema}.histogram_add(p_one bigint[], p_other bigint[]) returns bigint[]
language plpgsql immutable strict parallel safe as $$
begin
    return {schema}.histogram_plus(p_one, p_other);
end
$$;

create aggregate {schema}.histogram_sum(bigint[]) (sfunc = {schema}.histogram_add, stype = bigint[]);

-- How many values of a histogram are at most so many seconds: exact where that is a bound, else interpolated.
create function {schema}.histogram_within(hist bigint[], seconds double precision) returns double precision
language plpgsql immutable parallel safe as $$
begin
    return (
    select coalesce(sum(h.n * case when h.high <= seconds then 1
                                   when h.low >= seconds or h.high = 'infinity' then 0
                                   else (seconds - h.low) / (h.high - h.low) end), 0)
      from (select u.n, u.high, coalesce(lag(u.high) over (order by u.i), 0) as low
              from unnest(hist, {schema}.rollup_bounds() || 'infinity'::double precision) with ordinality as u(n, high, i)) h);
end
$$;

-- What is summed up, and what is still on its way: always up to date.
create view {schema}.rollups with (security_barrier) as
select * from {schema}.rollup union all select * from {schema}.rollup_part;

-- The same of all tenants together, for who sees them all: a barrier, since no policy stands behind this condition.
create view {schema}.fleet_rollups with (security_barrier) as
select r.* from (
    select null::uuid as tenant_id, f.* from {schema}.rollup_fleet f
    union all
    select null, p.minute, p.queue, p.job_type, p.outcome, p.n, p.wait_sum, p.run_sum, p.total_sum, p.wait_hist, p.run_hist,
           p.total_hist
      from {schema}.rollup_part p) r
 where (select {schema}.sees_all());

-- One end of a job or attempt, made in SQL; lengths in seconds, NULL where there is none.
create function {schema}.count_end(p_tenant uuid, p_queue text, p_job_type text, p_outcome text, p_wait numeric, p_run numeric,
    p_total numeric) returns void
language plpgsql volatile as $$
declare
    waited constant double precision := greatest(p_wait, 0);
    ran constant double precision := greatest(p_run, 0);
    took constant double precision := case when p_outcome in ('succeeded', 'failed', 'dead_letter') then greatest(p_total, 0) end;
begin
    insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
           run_hist, total_hist)
    values ({schema}.minute_of({schema}.now()), p_tenant, p_queue, p_job_type, p_outcome, 1, coalesce(waited, 0),
            coalesce(ran, 0), coalesce(took, 0), {schema}.histogram(waited), {schema}.histogram(ran), {schema}.histogram(took));
end
$$;

-- What a worker counted of the reports that were accepted, and the failures among them. p_batch numbers its batches:
-- one whose answer was lost is sent again, and counted once.
create function {schema}.add_counts(p_holder uuid, p_batch bigint, p_rollups jsonb, p_errors jsonb) returns void
language plpgsql volatile as $$
declare
    ran text;
begin
    update {schema}.worker w set counted_batch = p_batch where w.holder = p_holder and w.counted_batch < p_batch
    returning w.build into ran;
    if not found then
        return;
    end if;
    insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
           run_hist, total_hist)
    select r.minute, r.tenant_id, r.queue, r.job_type, r.outcome, r.n, r.wait_sum, r.run_sum, r.total_sum, r.wait_hist,
           r.run_hist, r.total_hist
      from jsonb_populate_recordset(null::{schema}.rollup_part, p_rollups) r;
    insert into {schema}.error_group_part (id, tenant_id, job_type, error_class, message, frame, error_code, error_status,
           first_at, last_at, n, job_id, version, build)
    select e.id, e.tenant_id, e.job_type, e.error_class, e.message, e.frame, e.error_code, e.error_status, e.first_at,
           e.last_at, e.n, e.job_id, {schema}.version_run(p_holder, e.job_type), ran
      from jsonb_populate_recordset(null::{schema}.error_group_part, p_errors) e;
end
$$;

-- Jobs by the minute of their ids, also those of which nothing is kept. Minute by minute along the ids, so that it reads
-- what it counts and no more.
create function {schema}.enqueues_between(p_since timestamptz, p_until timestamptz)
returns table (minute timestamptz, tenant_id uuid, queue text, job_type text, n bigint)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select m.minute, c.tenant_id, c.queue, c.job_type, sum(c.n)::bigint
      from generate_series({schema}.minute_of(p_since), p_until, interval '1 minute') as m(minute)
     cross join lateral (
        select j.tenant_id, j.queue, j.job_type, count(*) as n from {schema}.job j
         where j.id >= {schema}.id_at(greatest(m.minute, p_since))
           and j.id < {schema}.id_at(least(m.minute + interval '1 minute', p_until)) group by 1, 2, 3
        union all
        select k.tenant_id, k.queue, k.job_type, count(*) from {schema}.job_kept k
         where k.id >= {schema}.id_at(greatest(m.minute, p_since))
           and k.id < {schema}.id_at(least(m.minute + interval '1 minute', p_until)) group by 1, 2, 3
        union all
        select f.tenant_id, f.queue, f.job_type, f.n from {schema}.forgotten f
         where f.made >= greatest(m.minute, p_since) and f.made < least(m.minute + interval '1 minute', p_until)) c
     where m.minute < p_until
     group by 1, 2, 3, 4;
end
$$;

-- The first minute at or after p_since in which a job was made, at most p_until: a database that was left alone for weeks
-- is not walked through minute by minute.
create function {schema}.first_made(p_since timestamptz, p_until timestamptz) returns timestamptz
language plpgsql volatile as $$
begin
    return greatest(p_since, least(p_until, {schema}.minute_of(least(
        (select {schema}.id_time(j.id) from {schema}.job j where j.id >= {schema}.id_at(p_since) order by j.id limit 1),
        (select {schema}.id_time(k.id) from {schema}.job_kept k where k.id >= {schema}.id_at(p_since) order by k.id limit 1),
        (select f.made from {schema}.forgotten f where f.made >= p_since order by f.made limit 1), p_until))));
end
$$;

-- What was made before p_until and is not counted yet is added to the rollups.
create function {schema}.add_enqueues(p_since timestamptz, p_until timestamptz) returns void
language plpgsql volatile as $$
begin
    insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
    select c.minute, c.tenant_id, c.queue, c.job_type, 'enqueued', c.n from {schema}.enqueues_between(p_since, p_until) c;
end
$$;

-- Counts the jobs that were made since the last time, at no cost for who makes them; p_patience: see below. An id tells when
-- it was made, and its transaction had a number before. So each round remembers its own number (marker) and the moment; as soon as
-- no older number is open, all jobs of before that moment are there to be seen, and are counted, each once. While somebody
-- keeps a transaction open for longer than p_patience, what can be seen is counted without waiting for him, and once more
-- when he has ended: then what the first count missed is added. True: there is more to count.
create function {schema}.count_enqueues(p_patience interval default '15 seconds') returns boolean
language plpgsql volatile as $$
declare
    moment constant timestamptz := date_trunc('second', {schema}.now() - interval '1 second');
    step constant interval := '1 hour';
    since timestamptz;
    s {schema}.rollup_state;
begin
    select t.* into s from {schema}.rollup_state t for update;
    if s.marker <= pg_snapshot_xmin(pg_current_snapshot()) then
        if s.final_to < s.counted_to then
            since := {schema}.minute_of({schema}.first_made(s.final_to, s.counted_to));
            insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
            select c.minute, c.tenant_id, c.queue, c.job_type, 'enqueued', c.n - coalesce(k.n, 0)
              from {schema}.enqueues_between(since, s.counted_to) c
              left join (select r.minute, r.tenant_id, r.queue, r.job_type, sum(r.n) as n from {schema}.rollups r
                          where r.outcome = 'enqueued' and r.minute >= since and r.minute < s.counted_to
                          group by 1, 2, 3, 4) k using (minute, tenant_id, queue, job_type)
             where c.n > coalesce(k.n, 0);
        end if;
        if s.counted_to < s.marker_to then
            s.counted_to := {schema}.first_made(s.counted_to, s.marker_to);
            perform {schema}.add_enqueues(s.counted_to, least(s.marker_to, s.counted_to + step));
            s.counted_to := least(s.marker_to, s.counted_to + step);
        end if;
        s.final_to := least(s.marker_to, s.counted_to);
        if s.final_to >= s.marker_to then
            s.marker := null;
        end if;
        delete from {schema}.forgotten f where f.made < {schema}.minute_of(s.final_to);
    elsif moment > s.marker_to + p_patience and moment > s.counted_to then
        s.counted_to := {schema}.first_made(s.counted_to, moment);
        perform {schema}.add_enqueues(s.counted_to, least(moment, s.counted_to + step));
        s.counted_to := least(moment, s.counted_to + step);
    end if;
    if s.marker is null and moment > s.final_to then
        s.marker := pg_current_xact_id();
        s.marker_to := moment;
    end if;
    update {schema}.rollup_state t
       set counted_to = s.counted_to, final_to = s.final_to, marker = s.marker, marker_to = s.marker_to;
    return coalesce(s.counted_to < s.marker_to and s.marker <= pg_snapshot_xmin(pg_current_snapshot()), false);
end
$$;

-- Sums up at most p_most rows that were added; answers how many. Minutes that are hours by now go to their hour.
create function {schema}.fold_rollups(p_most integer) returns integer
language plpgsql volatile as $$
declare
    coarse timestamptz;
    folded integer;
begin
    select s.coarse_to into coarse from {schema}.rollup_state s;
    with part as materialized (
        delete from {schema}.rollup_part p where p.ctid = any (array(
            select q.ctid from {schema}.rollup_part q limit p_most for update skip locked))
        returning p.*
    ), added as (
        insert into {schema}.rollup_total as t (job_type, queue, outcome, n)
        select p.job_type, p.queue, p.outcome, sum(p.n) from part p group by 1, 2, 3 order by 1, 2, 3
        on conflict (job_type, queue, outcome) do update set n = t.n + excluded.n
    ), fine as materialized (
        select case when p.minute < coarse then date_bin('1 hour', p.minute, timestamptz '2000-01-01 00:00+00') else p.minute end
                   as minute, p.tenant_id, p.queue, p.job_type, p.outcome, sum(p.n) as n, sum(p.wait_sum) as wait_sum,
               sum(p.run_sum) as run_sum, sum(p.total_sum) as total_sum, {schema}.histogram_sum(p.wait_hist) as wait_hist,
               {schema}.histogram_sum(p.run_hist) as run_hist, {schema}.histogram_sum(p.total_hist) as total_hist
          from part p group by 1, 2, 3, 4, 5
    ), fleet as (
        insert into {schema}.rollup_fleet as r (minute, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
               run_hist, total_hist)
        select f.minute, f.queue, f.job_type, f.outcome, sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum),
               {schema}.histogram_sum(f.wait_hist), {schema}.histogram_sum(f.run_hist), {schema}.histogram_sum(f.total_hist)
          from fine f group by 1, 2, 3, 4
        on conflict (minute, queue, job_type, outcome) do update
           set n = r.n + excluded.n, wait_sum = r.wait_sum + excluded.wait_sum, run_sum = r.run_sum + excluded.run_sum,
               total_sum = r.total_sum + excluded.total_sum,
               wait_hist = {schema}.histogram_plus(r.wait_hist, excluded.wait_hist),
               run_hist = {schema}.histogram_plus(r.run_hist, excluded.run_hist),
               total_hist = {schema}.histogram_plus(r.total_hist, excluded.total_hist)
    ), hours as (
        insert into {schema}.rollup_hour as r (hour, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
               run_hist, total_hist)
        select date_bin('1 hour', f.minute, timestamptz '2000-01-01 00:00+00'), s.tenant_id, f.queue, f.job_type, f.outcome,
               sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum), {schema}.histogram_sum(f.wait_hist),
               {schema}.histogram_sum(f.run_hist), {schema}.histogram_sum(f.total_hist)
          from fine f cross join lateral (values (f.tenant_id), (null)) as s(tenant_id)
         group by 1, 2, 3, 4, 5
        on conflict (tenant_id, hour, queue, job_type, outcome) do update
           set n = r.n + excluded.n, wait_sum = r.wait_sum + excluded.wait_sum, run_sum = r.run_sum + excluded.run_sum,
               total_sum = r.total_sum + excluded.total_sum,
               wait_hist = {schema}.histogram_plus(r.wait_hist, excluded.wait_hist),
               run_hist = {schema}.histogram_plus(r.run_hist, excluded.run_hist),
               total_hist = {schema}.histogram_plus(r.total_hist, excluded.total_hist)
    ), put as (
        insert into {schema}.rollup as r (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum,
               wait_hist, run_hist, total_hist)
        select f.minute, f.tenant_id, f.queue, f.job_type, f.outcome, f.n, f.wait_sum, f.run_sum, f.total_sum, f.wait_hist,
               f.run_hist, f.total_hist
          from fine f
        on conflict (minute, tenant_id, queue, job_type, outcome) do update
           set n = r.n + excluded.n, wait_sum = r.wait_sum + excluded.wait_sum, run_sum = r.run_sum + excluded.run_sum,
               total_sum = r.total_sum + excluded.total_sum,
               wait_hist = {schema}.histogram_plus(r.wait_hist, excluded.wait_hist),
               run_hist = {schema}.histogram_plus(r.run_hist, excluded.run_hist),
               total_hist = {schema}.histogram_plus(r.total_hist, excluded.total_hist)
    )
    select count(*) into folded from part;
    return folded;
end
$$;
