-- postmill: safe
-- What a claim from a queue with limits has to know of each lane before it takes anything.

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
                         or case when d.home is null then not n.loose
                                   else l.lane <> d.home and l.lane <> {schema}.refused_lane(l.job_type, d.home) end order by l.slot) as mixed,
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

select {schema}.secure_requests();
