-- postmill: safe
-- Which jobs of a page a limit or a version holds back, without asking for each why it waits.

-- Of these jobs those that are ready and that a limit, a rate, a version or a type that not every worker knows holds back, the
-- tenant's own cap first: what and which one (of a version its number, and how many live workers run it; of a type the same). In a queue without limits nothing is looked at but
-- the ticket. A limit that counts each thing for itself is looked at for each thing once.
create function {schema}.waits_of(p_ids uuid[])
returns table (id uuid, what text, name text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    return query
    with waiting as materialized (
        select r.id, r.queue, b.job_type, b.tenant_id, b.payload, q.limited
          from (select t.id, t.queue from {schema}.ready t where t.id = any (p_ids)) r
          join {schema}.queue q on q.name = r.queue
         cross join lateral (select f.job_type, f.tenant_id, f.payload from {schema}.any_job f where f.id = r.id and q.limited offset 0) b
    ), asked as materialized (
        select w.id, w.tenant_id, o.limit_id, o.max_running, o.rate_count, o.rate_seconds, o.rate_burst,
               {schema}.limit_key(o.key, o.per, w.tenant_id, w.payload) as key
          from waiting w cross join lateral {schema}.limits_on(w.queue, {schema}.type_key(w.job_type), w.tenant_id) o
    ), stands as materialized (
        select k.*, k.max_running is not null and (
                   select count(*) from (select from {schema}.seat s where s.key = k.key limit k.max_running) x) >= k.max_running as is_full,
               (select a.tat from {schema}.rate_take a where a.key = k.key and k.rate_count is not null order by a.seq desc limit 1)
                   - (k.rate_burst - 1) * k.rate_seconds / k.rate_count * interval '1 s' > moment as no_token
          from (select distinct a.key, a.limit_id, a.max_running, a.rate_count, a.rate_seconds, a.rate_burst from asked a) k
    ), held as (
        select a.id, case when s.is_full and (a.limit_id = 0 or r.tenant_id is not null) then 1 when s.is_full then 2 else 3 end as place,
               case when s.is_full then case when a.limit_id = 0 or r.tenant_id is not null then 'tenant_limit' else 'limit' end
                    else 'rate' end as what, coalesce(r.name, '') as name
          from asked a join stands s on s.key = a.key and s.limit_id = a.limit_id
          left join {schema}.limit_rule r on r.id = a.limit_id
         where s.is_full or s.no_token
        union all
        select p.job_id, 4, 'version', p.version || ' ' || {schema}.code_workers(p.job_type, {schema}.version_code(p.job_type, p.version))
          from {schema}.pin p where p.job_id = any (p_ids) and exists (select from {schema}.ready r where r.id = p.job_id)
        union all
        select r.id, 5, 'type', f.job_type || ' ' || (
                   select count(*) from {schema}.worker k join {schema}.lease e on e.holder = k.holder and e.expires_at > moment
                    where k.stopped_at is null and not k.draining and r.queue = any (k.queues) and f.job_type = any (k.job_types))
          from {schema}.ready r join {schema}.refused_type f on left(f.lane::text, 18) = left(r.lane::text, 18)
         where r.id = any (p_ids)
    )
    select distinct on (h.id) h.id, h.what, h.name from held h order by h.id, h.place, h.name;
end
$$;

create function {schema}.read_waits(p_ids uuid[]) returns table (id uuid, what text, name text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select w.id, w.what, w.name
      from {schema}.waits_of(array(select u.id from unnest(p_ids) as u(id)
                                    cross join lateral (select from {schema}.any_job f where f.id = u.id offset 0) mine)) w;
end
$$;

select {schema}.secure_requests();
