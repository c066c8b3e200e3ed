-- postmill: safe
-- What decides how many workers a queue needs: depths, rates, how long jobs run, who works.

-- Of every queue, or of the one of this name. waiting ends at p_most; where it does, the monitor's last count, if it is higher,
-- takes its place, and at_least is true. Rates are a second, of the last five whole minutes; how long a job runs is the mean
-- of the last quarter of an hour, or, where hardly anything ran then, of two days. slots and most_slots: of workers that claim,
-- now and at most.
create function {schema}.read_scaling(p_name text default null, p_most integer default 10000)
returns table (queue text, paused boolean, waiting bigint, at_least boolean, oldest_seconds double precision, running bigint,
    arrived_rate double precision, ended_rate double precision, run_seconds double precision, workers bigint, draining bigint,
    slots bigint, most_slots bigint, sla_seconds double precision, wait_target_seconds double precision, moment timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off as $$
declare
    moment timestamptz := {schema}.now();
    this timestamptz := {schema}.minute_of(moment);
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select q.name, q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), greatest(c.n, d.n)::bigint, c.n >= p_most,
           extract(epoch from moment - {schema}.read_oldest(q.name, null))::double precision,
           (select count(*) from {schema}.running t where t.queue = q.name),
           coalesce(f.arrived, 0) / 300, coalesce(f.ended, 0) / 300,
           case when r.runs >= 20 then r.seconds / r.runs::double precision else (
               select sum(m.run_seconds) / nullif(sum((select sum(h) from unnest(m.run_hist) h)), 0)::double precision
                 from {schema}.queue_minute m where m.queue = q.name) end,
           coalesce(w.workers, 0), coalesce(w.draining, 0), coalesce(w.slots, 0)::bigint, coalesce(w.most, 0)::bigint, q.sla_seconds,
           q.wait_target_seconds, moment
      from {schema}.queue q
      left join (select n.name, count(*) filter (where not k.draining) as workers, count(*) filter (where k.draining) as draining,
                        sum((k.slots ->> n.name)::bigint) filter (where not k.draining) as slots,
                        sum(coalesce((k.report -> 'ranges' -> n.name ->> 'most')::bigint, (k.slots ->> n.name)::bigint))
                            filter (where not k.draining) as most
                   from {schema}.lease l join {schema}.worker k on k.holder = l.holder cross join unnest(k.queues) as n(name)
                  where l.expires_at > moment and k.stopped_at is null group by 1) w on w.name = q.name
     cross join lateral (select count(*) as n from (select from {schema}.ready t where t.queue = q.name limit p_most) x) c
     cross join lateral (select sum((x.one ->> 3)::bigint) as n
                           from {schema}.upkeep u cross join jsonb_array_elements(u.note -> 'depths') as x(one)
                          where c.n >= p_most and u.name = 'monitor' and x.one ->> 0 = q.name and x.one ->> 2 = 'queued') d
     cross join lateral (select sum(m.arrived)::double precision as arrived, sum(m.ended)::double precision as ended
                           from {schema}.queue_minute m
                          where m.queue = q.name and m.minute >= this - interval '5 minutes' and m.minute < this) f
     cross join lateral (select sum(m.run_seconds) as seconds, sum((select sum(h) from unnest(m.run_hist) h)) as runs
                           from {schema}.queue_minute m
                          where m.queue = q.name and m.minute >= this - interval '15 minutes') r
     where p_name is null or q.name = p_name
     order by q.priority, q.name limit 1000;
end
$$;

select {schema}.secure_requests();
