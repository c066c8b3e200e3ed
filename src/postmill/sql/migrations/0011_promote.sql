-- postmill: safe
-- Due tickets move from scheduled to ready.

-- One round. Few due: all of them by the index on run_at. Many due (p_most or more): lane by lane, p_per_lane from
-- each, so that a hog with a million due tickets delays no small lane; a lane with 10,000 ready is left for later.
-- p_from is the promoter's cursor (NULL: the true head), so that a round never walks over dead index entries.
-- What comes late, because nobody promoted for a while, goes where its due time is: before what was made since. But a flood of
-- first runs, which may all be due at one moment, goes to the end: a claim's cursor is a moment, and could not get past it.
create function {schema}.promote(p_from timestamptz, p_per_lane integer, p_most integer)
returns table (queue text, lane uuid, priority integer, n bigint)
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    low timestamptz := coalesce(p_from, '-infinity');
    due integer;
    rung record;
begin
    select count(*) into due from (
        select from {schema}.scheduled s where s.run_at >= low and s.run_at <= moment order by s.run_at limit p_most) s;
    if due = 0 then
        return;
    end if;
    for rung in
        with recursive lanes as (
            (select s.queue, s.lane from {schema}.scheduled s where due >= p_most order by s.queue, s.lane limit 1)
            union all
            select f.queue, f.lane from lanes l cross join lateral (
                select s.queue, s.lane from {schema}.scheduled s where (s.queue, s.lane) > (l.queue, l.lane)
                 order by s.queue, s.lane limit 1) f
        ), many as materialized (
            select q.* from lanes l cross join lateral (
                select s.ctid as tid, s.* from {schema}.scheduled s
                 where s.queue = l.queue and s.lane = l.lane and s.run_at <= moment
                 order by s.run_at, s.id limit p_per_lane for update skip locked) q
             where due >= p_most
               and not exists (select from {schema}.ready r where r.queue = l.queue and r.lane = l.lane offset 10000 limit 1)
             limit p_most
        ), few as materialized (
            select s.ctid as tid, s.* from {schema}.scheduled s
             where due < p_most and s.run_at >= low and s.run_at <= moment
             order by s.run_at limit p_most for update skip locked
        ), picked as materialized (
            select * from many union all select * from few
        ), gone as (
            delete from {schema}.scheduled s where s.ctid = any (array(select p.tid from picked p))
        ), put as (
            insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select p.queue, p.lane, p.priority,
                   case when p.run_at < moment - interval '1 second' and (p.run > 0 or due < p_most) then p.run_at
                        else {schema}.now() end,
                   p.id, p.attempt, p.run, p.lost from picked p
             order by p.run_at, p.id
        )
        select p.queue, p.lane, p.priority, count(*) as n from picked p group by 1, 2, 3
    loop
        queue := rung.queue; lane := rung.lane; priority := rung.priority; n := rung.n;
        return next;
    end loop;
end
$$;

-- Seconds until the next ticket is due, at most p_most.
create function {schema}.next_due(p_from timestamptz, p_most double precision) returns double precision
language plpgsql volatile as $$
begin
    return coalesce((select least(p_most, extract(epoch from s.run_at - {schema}.now()))
                       from {schema}.scheduled s where s.run_at >= coalesce(p_from, '-infinity')
                      order by s.run_at limit 1), p_most);
end
$$;
