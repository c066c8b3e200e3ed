-- postmill: safe
-- The claim from queues with limits: lane by lane where all that a lane gives is under the same limits, ticket by ticket elsewhere.

-- The limits that jobs of a type (its definition's key) and tenant in a queue are under. limit_id 0: the tenant's own cap. Of
-- language sql, so that it becomes part of the query that asks for many.
create function {schema}.limits_on(p_queue text, p_type_key text, p_tenant uuid)
returns table (limit_id bigint, key uuid, per text[], max_running integer, rate_count integer, rate_seconds double precision,
    rate_burst integer)
language sql stable as $$
    select r.id, r.key, r.per, r.max_running, r.rate_count, r.rate_seconds, r.rate_burst
      from (select a.* from {schema}.limit_rule a where a.job_type = p_type_key
            union all select b.* from {schema}.limit_rule b where b.queue = p_queue
            union all select c.* from {schema}.limit_rule c where c.tenant_id = p_tenant
            union all select e.* from {schema}.limit_rule e
                       where e.queue is null and e.job_type is null and e.tenant_id is null) r
     where r.max_running is not null or r.rate_count is not null
    union all
    select 0, t.id, '{}', {schema}.tenant_cap(t.status, t.max_running, t.raised_to, t.raised_until), null, null, null
      from {schema}.tenant t
     where t.id = p_tenant and (t.max_running is not null or t.raised_to is not null or t.status <> 'active')
$$;

-- What the first ticket of each line says of its line: which limits it is under, and so all that are like it. Lines and keys are
-- numbered from 1; one entry a line: types, tenants, heads (ready_at of its first ticket; NULL: there is none), loose (its type
-- has no limits of its own), mixed (it has no body, is not in a lane of its type that should be, or in the one of no lane:
-- those behind it may be under others), parts (of payloads that limits count by, behind one another) and marks (what they are worth). One entry a key:
-- k_…; line_keys: lines and keys in pairs, sorted. ruled: all types with limits of their own.
create function {schema}.look_at_lines(p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamptz[],
    out types text[], out tenants uuid[], out heads timestamptz[], out loose boolean[], out mixed boolean[], out parts text[],
    out marks uuid[], out k_keys uuid[], out k_limits bigint[], out caps integer[], out counts integer[],
    out spans double precision[], out bursts integer[], out pair_lines integer[], out pair_keys integer[], out ruled text[])
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    with heads as materialized (
        select l.slot::integer as slot, l.queue, l.lane, h.*
          from unnest(p_queues, p_lanes, p_priorities, p_from) with ordinality as l(queue, lane, priority, since, slot)
          left join lateral (
             select r.id, r.ready_at from {schema}.ready r
              where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                and r.ready_at >= case when l.since is null then '-infinity'
                                        else least(l.since, (select {schema}.now()) - interval '250 ms') end
                and not exists (select from {schema}.queue w where w.name = l.queue and w.paused_at is not null
                                   and (w.resume_at is null or w.resume_at > (select {schema}.now())))
              order by r.ready_at, r.id limit 1) h on true
    ), line as materialized (
        select h.slot, h.queue, h.lane, h.ready_at, b.job_type, b.tenant_id, b.payload
          from heads h
          left join lateral (select j.job_type, j.tenant_id, j.payload from {schema}.job j where j.id = h.id
                             union all
                             select o.job_type, o.tenant_id, o.payload from {schema}.job_kept o where o.id = h.id offset 0) b on true
    ), named as materialized (
        select y.job_type, y.key, (select true from {schema}.limit_rule r where r.job_type = y.key limit 1) is null as loose
          from (select x.job_type, {schema}.type_key(x.job_type) as key
                  from (select distinct l.job_type from line l where l.job_type is not null) x offset 0) y
    ), kind as materialized (
        select k.*, o.*
          from (select distinct l.queue, l.job_type, l.tenant_id, n.key as type_key from line l join named n on n.job_type = l.job_type) k
         cross join lateral {schema}.limits_on(k.queue, k.type_key, k.tenant_id)
               as o(limit_id, key, per, max_running, rate_count, rate_seconds, rate_burst)
    ), held as materialized (
        select l.slot, case when k.per = '{}' then k.key else {schema}.limit_key(k.key, k.per, l.tenant_id, l.payload) end as worth, k.*
          from line l
          join kind k on k.queue = l.queue and k.job_type = l.job_type and k.tenant_id = l.tenant_id
    ), numbered as materialized (
        select h.slot, dense_rank() over (order by h.worth)::integer as k, h.worth, h.limit_id, h.max_running, h.rate_count,
               h.rate_seconds, h.rate_burst
          from held h
    ), counted as (
        select array_agg(c.worth order by c.k) as keys, array_agg(c.limit_id order by c.k) as limits, array_agg(c.cap order by c.k) as caps,
               array_agg(c.rate_count order by c.k) as counts, array_agg(c.rate_seconds order by c.k) as spans,
               array_agg(c.rate_burst order by c.k) as bursts
          from (select n.k, n.worth, min(n.limit_id) as limit_id, min(n.max_running) as cap, min(n.rate_count) as rate_count,
                       min(n.rate_seconds) as rate_seconds, min(n.rate_burst) as rate_burst
                  from numbered n group by n.k, n.worth) c
    ), paired as (
        select array_agg(p.slot order by p.slot, p.k) as slots, array_agg(p.k order by p.slot, p.k) as ks
          from (select distinct n.slot, n.k from numbered n) p
    ), shared as materialized (
        select h.slot, string_agg(distinct u.part, chr(31)) as parts
          from held h cross join lateral unnest(h.per) as u(part) where u.part like 'payload.%' group by h.slot
    ), told as (
        select array_agg(l.job_type order by l.slot) as types, array_agg(l.tenant_id order by l.slot) as tenants,
               array_agg(l.ready_at order by l.slot) as heads,
               array_agg(n.loose order by l.slot) as loose,
               array_agg(l.job_type is null or l.lane = '00000000-0000-0000-0000-000000000000'
                         or case when d.home is null then not n.loose else l.lane <> d.home end order by l.slot) as mixed,
               array_agg(s.parts order by l.slot) as parts,
               array_agg(case when s.parts is not null
                   then {schema}.payload_mark(s.parts, l.payload) end order by l.slot) as marks
          from line l
          left join named n on n.job_type = l.job_type
          left join lateral (select {schema}.lane_of(coalesce(d.limit_lane, d.lane), l.tenant_id, d.key, l.payload, null) as home
                               from {schema}.job_definition d
                              where d.key = n.key and coalesce(d.limit_lane, d.lane) like 'type%') d on true
          left join shared s on s.slot = l.slot
    )
    select t.types, t.tenants, t.heads, t.loose, t.mixed, t.parts, t.marks, c.keys, c.limits, c.caps, c.counts, c.spans, c.bursts,
           p.slots, p.ks
      into types, tenants, heads, loose, mixed, parts, marks, k_keys, k_limits, caps, counts, spans, bursts, pair_lines, pair_keys
      from told t, counted c, paired p;
    if true = any (loose) then
        ruled := array(select u.name from {schema}.limit_rule r join {schema}.job_definition d on d.key = r.job_type
                        cross join lateral unnest(d.key || d.aliases) as u(name)
                        where num_nonnulls(r.max_running, r.rate_count) > 0);
    end if;
end
$$;

-- What these parts of a payload are worth, the parts behind one another.
create function {schema}.payload_mark(p_parts text, p_payload jsonb) returns uuid
language plpgsql immutable parallel safe as $$
begin
    return {schema}.limit_key('00000000-0000-0000-0000-000000000000', string_to_array(p_parts, chr(31)), null, p_payload);
end
$$;

-- How many a key lets pass while so many more can start at once; beyond them only a roomy one what it has left above a quarter of it.
create function {schema}.lets_pass(p_room integer, p_tokens integer, p_cap integer, p_firm integer) returns integer
language sql immutable parallel safe as $$
    select greatest(0, least(p_room, p_tokens, case when p_cap is null then 2147483647 when p_cap < 100 then p_firm
                                                    else greatest(p_firm, p_room - p_cap / 4) end))
$$;

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
    zero constant uuid := '00000000-0000-0000-0000-000000000000';
    lines constant integer := cardinality(p_counts);
    durable constant text := current_setting('synchronous_commit');
    s record; picked record;
    moment timestamptz;
    locked boolean[]; used integer[]; lows bigint[]; arrivals timestamptz[];
    room integer[]; tokens integer[]; took integer[];
    firsts integer[];  -- where the pairs of a line begin
    quotas integer[]; asked integer[]; stops integer[]; since timestamptz[];
    found tid[]; slots integer[]; moments timestamptz[]; tallied integer[]; tallies integer[];
    takes integer[]; begins integer[]; rest integer[];
    width integer := 0; base bigint; seat_keys uuid[]; seat_limits bigint[]; line_seats bytea[]; held bytea[]; one_by_one boolean := false;
    taken integer := 0; drawn boolean := false; n integer; i integer; j integer; k integer; p integer; pairs integer; n_keys integer;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: claims under limits need READ COMMITTED' using errcode = 'PM067';
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
    end loop;

    -- How many each line may give, whatever the others do.
    stops := array_fill(null::integer, array[lines]);
    line_seats := array_fill(null::bytea, array[lines]);
    p := 1;
    for i in 1 .. lines loop
        firsts[i] := p;
        quotas[i] := case when s.heads[i] is null or s.mixed[i] then 0 else p_counts[i] end;
        n := 0;
        while p <= pairs and s.pair_lines[p] = i loop
            k := s.pair_keys[p];
            n := n + (s.caps[k] is not null)::integer;
            j := {schema}.lets_pass(room[k], tokens[k], s.caps[k], p_firm);
            if j < quotas[i] then
                quotas[i] := j;
                stops[i] := k;
            end if;
            p := p + 1;
        end loop;
        width := greatest(width, n);
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

    if 0 < any (quotas) then
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

    -- Which seats a ticket of each line takes: `width` entries a line.
    if width > 0 and taken > 0 then
        base := nextval('{schema}.seat_seq');
        seat_keys := array_fill(zero, array[lines * width]);
        seat_limits := array_fill(0::bigint, array[lines * width]);
        for i in 1 .. lines loop
            n := 0;
            for q in firsts[i] .. firsts[i + 1] - 1 loop
                k := s.pair_keys[q];
                if s.caps[k] is not null then
                    n := n + 1;
                    seat_keys[(i - 1) * width + n] := s.k_keys[k];
                    seat_limits[(i - 1) * width + n] := s.k_limits[k];
                    line_seats[i] := coalesce(line_seats[i], '') || uuid_send(s.k_keys[k]);
                end if;
            end loop;
        end loop;
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
                       (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at, seated)
                select t.id, p_holder, p_claim_no, t.queue, t.lane, t.priority, t.attempt, t.run + 1, t.lost,
                       (select {schema}.now()), case when t.keys is not null then true end
                  from taken t
            ), seated as (
                insert into {schema}.seat (key, seat_no, limit_id, job_id)
                select seat_keys[(t.slot - 1) * width + g.j], base + t.n * width + g.j, seat_limits[(t.slot - 1) * width + g.j], t.id
                  from taken t cross join generate_series(1, width) as g(j)
                 where not one_by_one and seat_keys[(t.slot - 1) * width + g.j] <> zero
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
               null, null, null, null, u.key, u.limit_id, 0, false, coalesce(u.low, (select q.last_value from {schema}.seat_seq q))
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
