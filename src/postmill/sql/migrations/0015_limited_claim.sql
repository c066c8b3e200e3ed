-- postmill: safe
-- What limits count, and the pick that asks each ticket for its limits: where tickets of a lane are under different ones (0071), and for HTTP workers.

-- What a limit counts for this job: the limit itself, or what its parts (`per`) are worth.
create function {schema}.limit_key(p_key uuid, p_per text[], p_tenant uuid, p_payload jsonb) returns uuid
language plpgsql immutable parallel safe as $$
declare
    part text;
    worth text := p_key::text;
begin
    if cardinality(p_per) = 0 then
        return p_key;
    end if;
    foreach part in array p_per loop
        worth := worth || chr(31) || case when part = 'tenant' then p_tenant::text
            else coalesce(p_payload #>> string_to_array(substr(part, 9), '.'), '') end;
    end loop;
    return md5(worth)::uuid;
end
$$;

-- How many jobs a tenant may have at once; NULL: any number. A suspended one none; a throttled one a tenth of what it may
-- otherwise, rounded up, and one where it had no limit.
create function {schema}.tenant_cap(p_status text, p_max_running integer, p_raised_to integer, p_raised_until timestamptz)
returns integer
language plpgsql stable as $$
declare
    cap integer := case when p_raised_until > (select {schema}.now()) then coalesce(p_raised_to, p_max_running) else p_max_running end;
begin
    return case p_status when 'suspended' then 0 when 'throttled' then coalesce((cap + 9) / 10, 1) else cap end;
end
$$;

-- The key of the definition that has this name, or had it.
create function {schema}.type_key(p_job_type text) returns text
language plpgsql stable as $$
begin
    if exists (select from {schema}.job_definition d where d.key = p_job_type) then
        return p_job_type;
    end if;
    return coalesce((select d.key from {schema}.job_definition d where d.aliases @> array[p_job_type] limit 1), p_job_type);
end
$$;

-- Picks tickets lane by lane, as claim does, and takes a seat and a token of every limit that each is under.
--
-- Candidates are locked and asked for their limits; then every limit's key is locked without waiting; in the next statement
-- its seats are counted and its theoretical arrival time (GCRA) is read: one statement for both overshot, since a lock does
-- not refresh the snapshot. Then each candidate in its order takes one of each of its keys, or none of any. Beyond p_firm
-- (what can start at once) only roomy limits are drawn on, or a seat would be held by a ticket that waits in a worker's
-- memory. seat_no comes from a sequence under the key's lock, so the oldest live seat (low, which the caller keeps and brings
-- along in p_keys, p_lows) is where the count may begin: from the true beginning it fell from 18,000 to 2,000 jobs a second
-- under a pinned horizon.
--
-- Answers columns, one entry a ticket: tids, slots (its line), seats (the keys that it holds seats of; NULL: none) and numbers
-- (of these seats). And columns of news (n_…), one entry for a line that gave fewer than wanted: n_key and n_limit that bind, n_at: since which
-- ticket, n_wait: seconds until a token, 0 for a seat; n_rival: somebody else is just counting, try again in milliseconds.
-- n_key NULL: only nothing more could start at once (n_wait -1: and the limit is small, so none ever waits in memory). n_limit NULL: tickets that were not in the lane that their type has by
-- now were moved there, so that nobody waits behind them. n_slot 0: n_low of a key.
create function {schema}.pick_limited(
    p_total integer, p_firm integer, p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamptz[],
    p_counts integer[], p_keys uuid[], p_lows bigint[], p_types text[], p_tenant uuid,
    out tids tid[], out slots integer[], out seats bytea[], out numbers bigint[], out n_slot integer[], out n_key uuid[], out n_limit bigint[],
    out n_at timestamptz[], out n_wait double precision[], out n_rival boolean[], out n_low bigint[])
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    found tid[]; ids uuid[]; lines integer[]; moments timestamptz[];
    k_keys uuid[]; k_limits bigint[]; caps integer[]; counts integer[]; spans double precision[]; bursts integer[];
    pair_n integer[]; pair_k integer[];
    locked boolean[]; used integer[]; lows bigint[]; arrivals timestamptz[];
    room integer[]; tokens integer[]; took integer[]; waits double precision[];
    chosen integer[]; bound integer[]; bound_by integer[]; moved integer[];
    uniform boolean; astray boolean := true; total integer; fits integer;
    told boolean[] := array_fill(null::boolean, array[cardinality(p_counts)]);
    moment timestamptz;
    n integer; p integer := 1; first integer; k integer; stop integer; pairs integer; taken integer := 0;
    spacing double precision; base bigint;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: claims under limits need READ COMMITTED';
    end if;
    with cand as materialized (
        select l.slot, q.*
          from unnest(p_queues, p_lanes, p_priorities, p_from, p_counts)
               with ordinality as l(queue, lane, priority, since, n, slot)
         cross join lateral (
             select r.ctid as tid, r.id, r.queue, r.lane, r.ready_at, b.job_type, coalesce(b.tenant_id, r.lane) as tenant_id, b.payload
               from {schema}.ready r
               left join lateral (select j.job_type, j.tenant_id, j.payload from {schema}.job j where j.id = r.id
                                  union all
                                  select o.job_type, o.tenant_id, o.payload from {schema}.job_kept o
                                   where o.id = r.id offset 0) b on true
              where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                and r.ready_at >= case when l.since is null then '-infinity'
                                        else least(l.since, (select {schema}.now()) - interval '250 ms') end
                and (p_types is null or b.job_type = any (p_types) or b.job_type is null)
                and (p_tenant is null or coalesce(b.tenant_id, r.lane) = p_tenant)
              order by r.ready_at, r.id
              limit l.n for update of r skip locked) q
         where not exists (select from {schema}.queue w where w.name = l.queue and w.paused_at is not null
                              and (w.resume_at is null or w.resume_at > (select {schema}.now())))
         limit p_total
    ), numbered as materialized (
        select row_number() over (order by c.slot, c.ready_at, c.id)::integer as n, c.* from cand c
    ), kinds as materialized (
        select distinct c.queue, c.job_type, c.tenant_id from cand c where c.job_type is not null
    ), bound as materialized (
        select s.queue, s.job_type, s.tenant_id, o.* from kinds s
         cross join lateral {schema}.limits_on(s.queue, {schema}.type_key(s.job_type), s.tenant_id) o
    ), held as materialized (
        select c.n, {schema}.limit_key(b.key, b.per, c.tenant_id, c.payload) as key, b.limit_id, b.max_running, b.rate_count,
               b.rate_seconds, b.rate_burst
          from numbered c
          join bound b on b.queue = c.queue and b.job_type = c.job_type and b.tenant_id = c.tenant_id
    ), counted as materialized (
        select row_number() over (order by h.key)::integer as k, h.key, min(h.limit_id) as limit_id,
               min(h.max_running) as cap, min(h.rate_count) as rate_count, min(h.rate_seconds) as rate_seconds,
               min(h.rate_burst) as rate_burst
          from held h group by h.key
    ), tickets as (
        select array_agg(c.tid) as tids, array_agg(c.id) as ids, array_agg(c.slot::integer) as slots,
               array_agg(c.ready_at) as moments
          from numbered c
    ), keyed as (
        select array_agg(c.key) as keys, array_agg(c.limit_id) as limits, array_agg(c.cap) as caps,
               array_agg(c.rate_count) as counts, array_agg(c.rate_seconds) as spans, array_agg(c.rate_burst) as bursts
          from counted c
    ), paired as (
        select array_agg(p.n) as ns, array_agg(p.k) as ks
          from (select h.n, c.k from held h join counted c on c.key = h.key order by h.n, c.k) p
    )
    select t.tids, t.ids, t.slots, t.moments, y.keys, y.limits, y.caps, y.counts, y.spans, y.bursts, r.ns, r.ks
      into found, ids, lines, moments, k_keys, k_limits, caps, counts, spans, bursts, pair_n, pair_k
      from tickets t, keyed y, paired r;

    pairs := coalesce(cardinality(pair_n), 0);
    if pairs = 0 then
        perform set_config('synchronous_commit', 'off', true);
        tids := found;
        slots := lines;
        return;
    end if;

    locked := array(select pg_try_advisory_xact_lock(hashtextextended('{schema} seats ' || u.key, 0))
                      from unnest(k_keys) with ordinality as u(key, k) order by u.k);
    moment := {schema}.now();
    select array_agg(coalesce(s.n, 0)::integer order by u.k), array_agg(s.low order by u.k), array_agg(t.tat order by u.k)
      into used, lows, arrivals
      from unnest(k_keys, caps, counts, locked) with ordinality as u(key, cap, rate_count, locked, k)
      left join lateral (select max(z.low) as low from unnest(p_keys, p_lows) as z(key, low) where z.key = u.key) known on true
      left join lateral (select count(*) as n, min(e.seat_no) as low from {schema}.seat e
                          where e.key = u.key and e.seat_no >= coalesce(known.low, 0) and u.cap is not null and u.locked) s on true
      left join lateral (select a.tat from {schema}.rate_take a
                          where a.key = u.key and u.rate_count is not null and u.locked order by a.seq desc limit 1) t on true;

    total := cardinality(found);
    fits := total;
    uniform := pairs = total * cardinality(k_keys);
    for k in 1 .. cardinality(k_keys) loop
        took[k] := 0;
        room[k] := case when caps[k] is null then 2147483647 else caps[k] - used[k] end;
        tokens[k] := 2147483647;
        if counts[k] is not null and locked[k] then
            spacing := spans[k] / counts[k];
            arrivals[k] := greatest(coalesce(arrivals[k], moment), moment);
            tokens[k] := greatest(0, floor((bursts[k] * spacing - extract(epoch from arrivals[k] - moment)) / spacing + 1e-6))::integer;
        end if;
        -- How many this key lets pass where all are under it; beyond p_firm only what a roomy one has left above a quarter of it.
        n := case when not locked[k] then 0
                  else least(room[k], tokens[k], case when caps[k] is null then total when caps[k] < 100 then p_firm
                                                      else greatest(p_firm, room[k] - caps[k] / 4) end) end;
        if n < fits then
            fits := greatest(n, 0);
            stop := k;
        end if;
    end loop;

    if uniform then
        taken := fits;
        chosen := array(select generate_series(1, taken));
        took := array_fill(taken, array[cardinality(k_keys)]);
        if taken < total then
            for k in 1 .. cardinality(k_keys) loop
                room[k] := room[k] - taken;
                tokens[k] := tokens[k] - taken;
            end loop;
            bound := array(select generate_series(taken + 1, total));
            -- Who waits only because nothing more can start at once is where it belongs.
            astray := not locked[stop] or room[stop] <= 0 or tokens[stop] <= 0;
            bound_by := array_fill(stop, array[cardinality(bound)]);
        end if;
    else
        for n in 1 .. total loop
            first := p;
            stop := null;
            while p <= pairs and pair_n[p] = n loop
                k := pair_k[p];
                if stop is null and (not locked[k] or room[k] <= 0 or tokens[k] <= 0
                        or (taken >= p_firm and caps[k] is not null and (caps[k] < 100 or room[k] <= caps[k] / 4))) then
                    stop := k;
                end if;
                p := p + 1;
            end loop;
            if stop is null then
                taken := taken + 1;
                chosen := chosen || n;
                for i in first .. p - 1 loop
                    k := pair_k[i];
                    room[k] := room[k] - 1;
                    tokens[k] := tokens[k] - 1;
                    took[k] := took[k] + 1;
                end loop;
            else
                bound := bound || n;
                bound_by := bound_by || stop;
            end if;
        end loop;
    end if;

    if bound is not null then
        with stray as materialized (
            select u.n, ids[u.n] as id, found[u.n] as tid, y.home
              from unnest(bound) as u(n)
             cross join lateral (select b.job_type, b.tenant_id, b.payload from {schema}.job b where b.id = ids[u.n] and astray
                                 union all
                                 select o.job_type, o.tenant_id, o.payload from {schema}.job_kept o where o.id = ids[u.n] offset 0) j
              join {schema}.job_definition d on d.key = {schema}.type_key(j.job_type) and d.limit_lane is not null and astray
             cross join lateral (select {schema}.home_lane(p_lanes[lines[u.n]], j.job_type,
                                            {schema}.lane_of(d.limit_lane, j.tenant_id, d.key, j.payload, null)) as home) y
             where p_lanes[lines[u.n]] <> y.home
               and not exists (select from {schema}.pin p where p.job_id = ids[u.n])
        ), gone as (
            delete from {schema}.ready r where r.ctid = any (array(select y.tid from stray y)) returning r.*
        ), put as (
            insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select g.queue, y.home, g.priority, g.ready_at, g.id, g.attempt, g.run, g.lost from gone g join stray y on y.id = g.id
        )
        select array_agg(y.n) into moved from stray y;
        for i in 1 .. cardinality(bound) loop
            n := bound[i];
            stop := bound_by[i];
            if told[lines[n]] is null and not coalesce(n = any (moved), false) then
                told[lines[n]] := true;
                n_slot := n_slot || lines[n];
                -- Without a key: only for a ticket that could not start yet.
                n_key := n_key || case when not locked[stop] or tokens[stop] <= 0 or room[stop] <= 0 then k_keys[stop] end;
                n_limit := n_limit || k_limits[stop];
                n_at := n_at || moments[n];
                n_wait := n_wait || case when locked[stop] and tokens[stop] <= 0 then
                    greatest(0.001, extract(epoch from arrivals[stop] - moment)
                             + (took[stop] - bursts[stop] + 1) * spans[stop] / counts[stop])
                    when locked[stop] and room[stop] > 0 and caps[stop] < 100 then -1 else 0 end::double precision;
                n_rival := n_rival || not locked[stop];
                n_low := n_low || null::bigint;
            end if;
        end loop;
        for i in 1 .. coalesce(cardinality(moved), 0) loop
            n := moved[i];
            if told[lines[n]] is null then
                told[lines[n]] := true;
                n_slot := n_slot || lines[n]; n_key := n_key || null::uuid; n_limit := n_limit || null::bigint;
                n_at := n_at || null::timestamptz; n_wait := n_wait || 0::double precision; n_rival := n_rival || false;
                n_low := n_low || null::bigint;
            end if;
        end loop;
    end if;
    for k in 1 .. cardinality(k_keys) loop
        if caps[k] is not null and locked[k] then
            n_slot := n_slot || 0; n_key := n_key || k_keys[k]; n_limit := n_limit || k_limits[k];
            n_at := n_at || null::timestamptz; n_wait := n_wait || 0::double precision; n_rival := n_rival || false;
            n_low := n_low || coalesce(lows[k], pg_sequence_last_value('{schema}.seat_seq'), 0);
        end if;
    end loop;
    if taken = 0 then
        if moved is null then
            perform set_config('synchronous_commit', 'off', true);
        end if;
        return;
    end if;
    base := nextval('{schema}.seat_seq');
    insert into {schema}.seat (key, seat_no, limit_id, job_id)
    select k_keys[u.k], base + u.n, k_limits[u.k], ids[u.n]
      from unnest(chosen) as c(n) join unnest(pair_n, pair_k) as u(n, k) on u.n = c.n where caps[u.k] is not null;
    for k in 1 .. cardinality(k_keys) loop
        if counts[k] is not null and took[k] > 0 then
            insert into {schema}.rate_take (key, seq, tat)
            values (k_keys[k], nextval('{schema}.rate_seq'),
                    arrivals[k] + took[k] * spans[k] / counts[k] * interval '1 second');
            delete from {schema}.rate_take t where t.ctid = any (array(
                select o.ctid from {schema}.rate_take o where o.key = k_keys[k] and o.tat < arrivals[k] order by o.seq limit 10));
        end if;
    end loop;
    select array_agg(found[c.n]), array_agg(lines[c.n]), array_agg(h.keys), array_agg(case when h.n is not null then base + c.n end)
      into tids, slots, seats, numbers
      from unnest(chosen) as c(n)
      left join (select u.n, string_agg(uuid_send(k_keys[u.k]), '') as keys from unnest(pair_n, pair_k) as u(n, k)
                  where caps[u.k] is not null group by u.n) h on h.n = c.n;
end
$$;

-- Before which limits a worker lies down; until then its rows for others are void.
create function {schema}.await_seats(p_holder uuid, p_limits bigint[], p_seconds double precision) returns void
language plpgsql volatile as $$
begin
    delete from {schema}.seat_waiter w where w.holder = p_holder and w.limit_id <> all (p_limits);
    insert into {schema}.seat_waiter as w (limit_id, holder, valid_until)
    select u.id, p_holder, {schema}.now() + p_seconds * interval '1 second' from unnest(p_limits) as u(id) order by u.id
    on conflict on constraint seat_waiter_pkey do update set valid_until = excluded.valid_until;
end
$$;
