-- postmill: safe
-- The claim from queues with limits: lane by lane where all that a lane gives is under the same limits, ticket by ticket elsewhere.

-- The claim. Beside the columns of claim: keys of limits that a ticket holds seats of. And rows without a ticket: of lines that
-- gave fewer than wanted, the key and limit_id that bind, ready_at: since which ticket, wait_seconds until a token, 0 for a seat;
-- contended: somebody else is just counting, try again in milliseconds. key NULL: only nothing more could start at once
-- (wait_seconds -1: and the limit is small, so none ever waits in memory). limit_id NULL: tickets that were not in the lane that
-- their type has by now were moved there, so that nobody waits behind them. slot 0: low of a key.
--
-- The first ticket of each line tells its limits. Each key is locked without waiting; in the next statement its seats are
-- counted and its theoretical arrival time (GCRA) is read: one statement for both overshot, since a lock does not refresh the
-- snapshot. So it is known how many each line may give, and no more are locked than one beyond. Beyond p_firm (what can start at
-- once) only roomy limits are drawn on, or a seat would be held by a ticket that waits in a worker's memory. A ticket that
-- turns out not to be like the first of its line is left to pick_limited, which asks each for itself (0015).
--
-- Where no limit binds a line, whatever the others give (even), all are taken in one statement, as claim does. What is not like
-- the first of its line then stays where it is, and the answer says so: it is the first of the next claim.
--
-- A claim that takes a seat or a token commits synchronously: a lost one would give them back while the job runs. seat_no comes
-- from a sequence under the key's lock, so the oldest live seat (low, which the caller keeps and brings along in p_keys, p_lows)
-- is where the count may begin: from the true beginning it fell from 18,000 to 2,000 jobs a second under a pinned horizon.
create function {schema}.claim_limited(
    p_holder uuid, p_claim_no bigint, p_total integer, p_firm integer, p_queues text[], p_lanes uuid[], p_priorities integer[],
    p_from timestamptz[], p_counts integer[], p_keys uuid[], p_lows bigint[])
returns table (
    id uuid, slot integer, ready_at timestamptz, attempt integer, run integer, lost integer, job_type text,
    payload jsonb, tenant_id uuid, max_attempts integer, timeout_seconds double precision, expired boolean,
    created_at timestamptz, project_id uuid, actor_type text, actor_id text, request_id text, correlation_id text,
    traceparent text, idempotency_key text, scheduled_for timestamptz,
    claimed_at timestamptz, workflow_id uuid, keys bytea, key uuid, limit_id bigint, wait_seconds double precision, contended boolean, low bigint)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    lines constant integer := cardinality(p_counts);
    durable constant text := current_setting('synchronous_commit');
    s record; picked record;
    moment timestamptz;
    locked boolean[]; used integer[]; lows bigint[]; arrivals timestamptz[];
    room integer[]; tokens integer[]; took integer[]; spare integer[];
    even boolean := true;
    firsts integer[];  -- where the pairs of a line begin
    quotas integer[]; asked integer[]; stops integer[]; since timestamptz[];
    found tid[]; slots integer[]; moments timestamptz[]; tallied integer[]; tallies integer[];
    takes integer[]; begins integer[]; rest integer[];
    base bigint; line_seats bytea[]; held bytea[]; numbers bigint[]; one_by_one boolean := false;
    taken integer := 0; drawn boolean := false; n integer; i integer; j integer; k integer; p integer; pairs integer; n_keys integer;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: claims under limits need READ COMMITTED' using errcode = 'PM071';
    end if;
    if not exists (select from {schema}.lease e where e.holder = p_holder and e.expires_at > (select {schema}.now())) then
        return;
    end if;
    select x.* into s from {schema}.look_at_lines(p_queues, p_lanes, p_priorities, p_from) x;
    pairs := coalesce(cardinality(s.pair_lines), 0);
    n_keys := coalesce(cardinality(s.k_keys), 0);

    -- How much of each key there is.
    if n_keys > 0 then
        locked := array(select pg_try_advisory_xact_lock(hashtextextended('{schema} seats ' || u.key, 0))
                          from unnest(s.k_keys) with ordinality as u(key, k) order by u.k);
        moment := {schema}.now();
        select array_agg(coalesce(c.n, 0)::integer order by u.k), array_agg(c.low order by u.k), array_agg(t.tat order by u.k)
          into used, lows, arrivals
          from unnest(s.k_keys, s.caps, s.counts, locked) with ordinality as u(key, cap, rate_count, locked, k)
          left join lateral (select max(z.low) as low from unnest(p_keys, p_lows) as z(key, low) where z.key = u.key) known on true
          left join lateral (select count(*) as n, min(e.seat_no) as low from {schema}.seat e
                              where e.key = u.key and e.seat_no >= coalesce(known.low, 0) and u.cap is not null and u.locked) c on true
          left join lateral (select a.tat from {schema}.rate_take a
                              where a.key = u.key and u.rate_count is not null and u.locked order by a.seq desc limit 1) t on true;
    end if;
    for k in 1 .. n_keys loop
        took[k] := 0;
        room[k] := case when not locked[k] then 0 when s.caps[k] is null then 2147483647 else s.caps[k] - used[k] end;
        tokens[k] := 2147483647;
        if s.counts[k] is not null and locked[k] then
            arrivals[k] := greatest(coalesce(arrivals[k], moment), moment);
            tokens[k] := greatest(0, floor(s.bursts[k] - extract(epoch from arrivals[k] - moment) * s.counts[k] / s.spans[k]
                                           + 1e-6))::integer;
        end if;
        even := even and s.counts[k] is null;
    end loop;

    -- How many each line may give, whatever the others do.
    stops := array_fill(null::integer, array[lines]);
    line_seats := array_fill(null::bytea, array[lines]);
    spare := room;
    p := 1;
    for i in 1 .. lines loop
        firsts[i] := p;
        quotas[i] := case when s.heads[i] is null or s.mixed[i] then 0 else p_counts[i] end;
        while p <= pairs and s.pair_lines[p] = i loop
            k := s.pair_keys[p];
            j := {schema}.lets_pass(room[k], tokens[k], s.caps[k], p_firm);
            if j < quotas[i] then
                quotas[i] := j;
                stops[i] := k;
            end if;
            if s.caps[k] is not null then
                line_seats[i] := coalesce(line_seats[i], '') || uuid_send(s.k_keys[k]);
            end if;
            p := p + 1;
        end loop;
        even := even and stops[i] is null and s.parts[i] is null and (s.heads[i] is null or not s.mixed[i]);
        if even and quotas[i] > 0 then
            for q in firsts[i] .. p - 1 loop
                k := s.pair_keys[q];
                even := even and {schema}.lets_pass(spare[k], tokens[k], s.caps[k], p_firm - taken) >= quotas[i];
                spare[k] := spare[k] - quotas[i];
            end loop;
            taken := taken + quotas[i];
        end if;
        since[i] := s.heads[i];
        takes[i] := 0;
        asked[i] := case when quotas[i] = 0 then 0 else least(p_counts[i], quotas[i] + 1) end;
        rest[i] := case when s.mixed[i] and s.heads[i] is not null then p_counts[i] else 0 end;
        begins[i] := 0;
        if quotas[i] > 0 then
            stops[i] := null;
        end if;
    end loop;
    firsts[lines + 1] := p;
    taken := 0;
    if 0 < any (quotas) then
        base := nextval('{schema}.seat_seq');
    end if;

    if even and 0 < any (quotas) then
        return query
        with picked as materialized (
            select l.slot::integer as slot, l.type, l.loose, l.tenant, l.keys, row_number() over () as n, q.*
              from unnest(p_queues, p_lanes, p_priorities, p_from, quotas, s.types, s.loose, s.tenants, line_seats)
                   with ordinality as l(queue, lane, priority, since, n, type, loose, tenant, keys, slot)
             cross join lateral (
                 select r.ctid as tid, r.id, r.queue, r.lane, r.priority, r.ready_at, r.attempt, r.run, r.lost
                   from {schema}.ready r
                  where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                    and r.ready_at >= case when l.since is null then '-infinity'
                                            else least(l.since, (select {schema}.now()) - interval '250 ms') end
                  order by r.ready_at, r.id
                  limit l.n for update skip locked) q
             where l.n > 0
             limit p_total
        ), read as materialized (
            select coalesce(j.tenant_id = p.tenant and (j.job_type = p.type or p.loose and j.job_type <> all (s.ruled)), false) as alike,
                   p.slot, p.n, p.keys, p.tid, p.queue, p.lane, p.priority, p.ready_at, p.attempt, p.run, p.lost, j.*
              from picked p
              left join lateral (
                  select p.id, b.job_type, b.payload, b.tenant_id, b.max_attempts, b.timeout_seconds, b.expires_at, b.created_at,
                         b.project_id, b.actor_type, b.actor_id, b.request_id, b.correlation_id, b.traceparent, b.idempotency_key,
                         b.scheduled_for, b.workflow_id
                    from {schema}.job b where b.id = p.id limit 1) j on true
        ), gone as (
            delete from {schema}.ready r where r.ctid = any (array(select t.tid from read t where t.alike))
        ), begun as (
            insert into {schema}.running
                   (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at, seat_no)
            select t.id, p_holder, p_claim_no, t.queue, t.lane, t.priority, t.attempt, t.run + 1, t.lost,
                   (select {schema}.now()), case when t.keys is not null then base + t.n end
              from read t where t.alike
        ), seated as (
            insert into {schema}.seat (key, seat_no, limit_id, job_id)
            select y.key, base + t.n, y.limit_id, t.id
              from read t
              join (select u.slot, s.k_keys[u.k] as key, s.k_limits[u.k] as limit_id
                      from unnest(s.pair_lines, s.pair_keys) as u(slot, k) where s.caps[u.k] is not null) y on y.slot = t.slot
             where t.alike
        )
        select t.id, t.slot, t.ready_at, t.attempt, t.run + 1, t.lost, t.job_type, t.payload, t.tenant_id,
               t.max_attempts, t.timeout_seconds, t.expires_at <= (select {schema}.now()), t.created_at, t.project_id,
               t.actor_type::text, t.actor_id, t.request_id, t.correlation_id, t.traceparent, t.idempotency_key, t.scheduled_for,
               (select {schema}.now()), t.workflow_id, t.keys, null::uuid, null::bigint, null::double precision, null::boolean, null::bigint
          from read t where t.alike
        union all
        -- Who is not like the first of its line is the first of the next claim.
        select null, t.slot, min(t.ready_at), null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
               null, null, null, null, null, null, null, 0, false, null
          from read t where not t.alike group by t.slot;
        get diagnostics n = row_count;
        drawn := n > 0 and n_keys > 0;
    elsif 0 < any (quotas) then
        with cand as materialized (
            select l.slot::integer as slot, q.*
              from unnest(p_queues, p_lanes, p_priorities, p_from, asked) with ordinality as l(queue, lane, priority, since, n, slot)
             cross join lateral (
                 select r.ctid as tid, r.ready_at from {schema}.ready r
                  where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                    and r.ready_at >= case when l.since is null then '-infinity'
                                            else least(l.since, (select {schema}.now()) - interval '250 ms') end
                  order by r.ready_at, r.id
                  limit l.n for update skip locked) q
             where l.n > 0
             limit p_total
        )
        select c.tids, c.slots, c.moments, t.slots, t.tallies into found, slots, moments, tallied, tallies
          from (select array_agg(x.tid) as tids, array_agg(x.slot) as slots, array_agg(x.ready_at) as moments from cand x) c,
               (select array_agg(y.slot order by y.slot) as slots, array_agg(y.n order by y.slot) as tallies
                  from (select x.slot, count(*)::integer as n from cand x group by x.slot) y) t;
    end if;

    -- Line by line, each key's room and tokens go to who comes first.
    p := 1;
    for j in 1 .. coalesce(cardinality(tallied), 0) loop
        i := tallied[j];
        n := least(tallies[j], quotas[i]);
        for q in firsts[i] .. firsts[i + 1] - 1 loop
            k := s.pair_keys[q];
            n := least(n, {schema}.lets_pass(room[k], tokens[k], s.caps[k], p_firm - taken));
        end loop;
        if n < tallies[j] then
            since[i] := moments[p + n];
            for q in firsts[i] .. firsts[i + 1] - 1 loop
                k := s.pair_keys[q];
                if stops[i] is null and {schema}.lets_pass(room[k], tokens[k], s.caps[k], p_firm - taken) <= n then
                    stops[i] := k;
                end if;
            end loop;
        end if;
        for q in firsts[i] .. firsts[i + 1] - 1 loop
            k := s.pair_keys[q];
            room[k] := room[k] - n;
            tokens[k] := tokens[k] - n;
            took[k] := took[k] + n;
        end loop;
        takes[i] := n;
        taken := taken + n;
        begins[i] := p;
        p := p + tallies[j];
    end loop;
    if taken < p - 1 then
        select array_agg(u.tid order by u.n), array_agg(u.slot order by u.n) into found, slots
          from unnest(found, slots) with ordinality as u(tid, slot, n) where u.n < begins[u.slot] + takes[u.slot];
    end if;

    loop
        n := 0;
        if cardinality(found) > 0 then
            return query
            with taken as materialized (
                select u.slot, u.n, coalesce(held[u.n], line_seats[u.slot]) as keys, r.ctid as tid, r.id, r.queue, r.lane, r.priority, r.ready_at,
                       r.attempt, r.run, r.lost, j.job_type, j.payload, j.tenant_id, j.max_attempts, j.timeout_seconds, j.expires_at,
                       j.created_at, j.project_id, j.actor_type, j.actor_id, j.request_id, j.correlation_id, j.traceparent,
                       j.idempotency_key, j.scheduled_for, j.workflow_id
                  from unnest(found, slots) with ordinality as u(tid, slot, n)
                  join {schema}.ready r on r.ctid = u.tid
                  left join lateral (select * from {schema}.job b where b.id = r.id limit 1) j on true
                 where one_by_one or coalesce(
                       j.tenant_id = s.tenants[u.slot]
                       and (j.job_type = s.types[u.slot] or s.loose[u.slot] and j.job_type <> all (s.ruled))
                       and (s.marks[u.slot] is null or {schema}.payload_mark(s.parts[u.slot], j.payload) = s.marks[u.slot]), false)
            ), gone as (
                delete from {schema}.ready r where r.ctid = any (array(select t.tid from taken t))
            ), begun as (
                insert into {schema}.running
                       (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at, seat_no)
                select t.id, p_holder, p_claim_no, t.queue, t.lane, t.priority, t.attempt, t.run + 1, t.lost,
                       (select {schema}.now()), case when t.keys is not null then coalesce(numbers[t.n], base + t.n) end
                  from taken t
            ), seated as (
                insert into {schema}.seat (key, seat_no, limit_id, job_id)
                select y.key, base + t.n, y.limit_id, t.id
                  from taken t
                  join (select u.slot, s.k_keys[u.k] as key, s.k_limits[u.k] as limit_id
                          from unnest(s.pair_lines, s.pair_keys) as u(slot, k) where s.caps[u.k] is not null) y on y.slot = t.slot
                 where not one_by_one
            )
            select t.id, t.slot, t.ready_at, t.attempt, t.run + 1, t.lost, t.job_type, t.payload, t.tenant_id,
                   t.max_attempts, t.timeout_seconds, t.expires_at <= (select {schema}.now()), t.created_at, t.project_id,
                   t.actor_type::text, t.actor_id, t.request_id, t.correlation_id, t.traceparent, t.idempotency_key, t.scheduled_for,
                   (select {schema}.now()), t.workflow_id, t.keys, null::uuid, null::bigint, null::double precision, null::boolean, null::bigint
              from taken t;
            get diagnostics n = row_count;
        end if;
        exit when one_by_one;
        if n < taken then
            -- Those are not like the first of their line: what was counted for them is given back.
            for i, n in select u.slot, count(*) from unnest(found, slots) as u(tid, slot)
                          join {schema}.ready r on r.ctid = u.tid group by u.slot loop
                takes[i] := takes[i] - n;
                taken := taken - n;
                rest[i] := p_counts[i] - takes[i];
                stops[i] := null;
                for q in firsts[i] .. firsts[i + 1] - 1 loop
                    k := s.pair_keys[q];
                    room[k] := room[k] + n;
                    tokens[k] := tokens[k] + n;
                    took[k] := took[k] - n;
                end loop;
            end loop;
        end if;

        for k in 1 .. n_keys loop
            drawn := drawn or took[k] > 0;
            if s.counts[k] is not null and took[k] > 0 then
                insert into {schema}.rate_take (key, seq, tat)
                values (s.k_keys[k], nextval('{schema}.rate_seq'),
                        arrivals[k] + took[k] * s.spans[k] / s.counts[k] * interval '1 second');
                delete from {schema}.rate_take t where t.ctid = any (array(
                    select o.ctid from {schema}.rate_take o where o.key = s.k_keys[k] and o.tat < arrivals[k] order by o.seq limit 10));
            end if;
        end loop;
        return query
        select null::uuid, u.slot::integer, u.at, null::integer, null::integer, null::integer, null::text, null::jsonb, null::uuid,
               null::integer, null::double precision, null::boolean, null::timestamptz, null::uuid, null::text, null::text, null::text,
               null::text, null::text, null::text, null::timestamptz, null::timestamptz, null::uuid, null::bytea,
               -- Without a key: only for a ticket that could not start yet.
               case when not locked[u.k] or tokens[u.k] <= 0 or room[u.k] <= 0 then s.k_keys[u.k] end, s.k_limits[u.k],
               case when locked[u.k] and tokens[u.k] <= 0
                    then greatest(0.001, extract(epoch from arrivals[u.k] - moment)
                                         + (took[u.k] - s.bursts[u.k] + 1) * s.spans[u.k] / s.counts[u.k])
                    when locked[u.k] and room[u.k] > 0 and s.caps[u.k] < 100 then -1 else 0 end::double precision,
               not locked[u.k], null::bigint
          from unnest(stops, since) with ordinality as u(k, at, slot)
         where u.k is not null and rest[u.slot] = 0
        union all
        select null, 0, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
               null, null, null, null, u.key, u.limit_id, 0, false, coalesce(u.low, pg_sequence_last_value('{schema}.seat_seq'), 0)
          from unnest(s.k_keys, s.k_limits, s.caps, locked, lows) as u(key, limit_id, cap, locked, low)
         where u.cap is not null and u.locked;
        exit when not 0 < any (rest);
        select x.* into picked from {schema}.pick_limited(p_total, greatest(0, p_firm - taken), p_queues, p_lanes, p_priorities, p_from,
                                                          rest, p_keys, p_lows, null, null) x;
        perform set_config('synchronous_commit', durable, true);
        drawn := drawn or picked.seats is not null;
        one_by_one := true;
        found := picked.tids;
        slots := picked.slots;
        held := picked.seats;
        numbers := picked.numbers;
        line_seats := '{}';
        return query
        select null::uuid, u.slot, u.at, null::integer, null::integer, null::integer, null::text, null::jsonb, null::uuid, null::integer,
               null::double precision, null::boolean, null::timestamptz, null::uuid, null::text, null::text, null::text, null::text,
               null::text, null::text, null::timestamptz, null::timestamptz, null::uuid, null::bytea, u.key, u.limit_id, u.wait, u.rival, u.low
          from unnest(picked.n_slot, picked.n_key, picked.n_limit, picked.n_at, picked.n_wait, picked.n_rival, picked.n_low)
               as u(slot, key, limit_id, at, wait, rival, low);
    end loop;
    if not drawn then
        perform set_config('synchronous_commit', 'off', true);
    end if;
end
$$;

select {schema}.secure_requests();
