-- postmill: safe
-- What people may read and change of retention and archive; and how rollups grow coarse with age.

-- The audit log past its time: whole links from the beginning of the chain, of which the last stays known (audit_start), so
-- that the rest can be verified from there. Returns how many went.
create function {schema}.prune_audit(p_most integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    edge timestamptz := {schema}.retention_edge({schema}.now(), {schema}.keep_of('audit'));
    start bigint := (select s.n from {schema}.audit_start s);
    last bigint;
    own {schema}.archive_unit;
begin
    select min(c.n) - 1 into last
      from (select c.n, c.audit_id from {schema}.audit_chain c where c.n > start order by c.n limit p_most) c
      join {schema}.audit_log l on l.id = c.audit_id where l.at >= edge;
    if last is null then
        select max(c.n) into last
          from (select c.n from {schema}.audit_chain c where c.n > start order by c.n limit p_most) c;
    end if;
    if coalesce(last, start) <= start then
        return 0;
    end if;
    if {schema}.archive_required() then
        select u.* into own from {schema}.archive_unit u
         where u.source = 'audit_log' and u.status = 'filling' for update;
        if not found then
            own.id := {schema}.new_unit('audit_log', 'archive', 'infinity', '-infinity');
            select u.* into own from {schema}.archive_unit u where u.id = own.id;
        end if;
        execute format($q$
            with put as (
                insert into {schema}.leaving (unit_id, tenant_id, job_id, at, fields)
                select $1, g.tenant_id, null, g.at, %s
                  from (select l.*, c.n, c.hash from {schema}.audit_chain c join {schema}.audit_log l on l.id = c.audit_id
                         where c.n > $2 and c.n <= $3) g order by g.n
                returning at
            )
            update {schema}.archive_unit u
               set since = least(u.since, p.low), until = greatest(u.until, p.high + interval '1 microsecond'),
                   rows = coalesce(u.rows, 0) + p.n
              from (select min(at) as low, max(at) as high, count(*) as n from put) p where u.id = $1$q$,
            {schema}.fields_of(own.columns, 'g')) using own.id, start, last;
    end if;
    update {schema}.audit_start s set n = last, hash = (select c.hash from {schema}.audit_chain c where c.n = last);
    delete from {schema}.audit_log l
     where l.id in (select c.audit_id from {schema}.audit_chain c where c.n > start and c.n <= last);
    perform {schema}.set_actor('upkeep', 'system', 'retention');
    perform {schema}.audit('audit.prune', 'audit_log', null, null, null,
        (select jsonb_build_object('n', s.n, 'hash', encode(s.hash, 'hex'), 'rows', last - start) from {schema}.audit_start s));
    return last - start;
end
$$;

-- changed | unchanged | out_of_scope. Off: what waits is dropped without having been archived. On: as workers' settings say.
create function {schema}.door_switch_archive(p_on boolean, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before {schema}.archive_state;
begin
    if not {schema}.sees_all() then
        return 'out_of_scope';
    end if;
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select s.* into before from {schema}.archive_state s for update;
    if before.required = p_on then
        return 'unchanged';
    end if;
    update {schema}.archive_state s set required = p_on, operator = not p_on, changed_at = {schema}.now();
    perform {schema}.audit('archive.' || case when p_on then 'on' else 'off' end, 'archive', null, null,
                           jsonb_build_object('required', before.required), jsonb_build_object('required', p_on), p_reason);
    return 'changed';
end
$$;

-- Units, the latest stretch first, below (p_before, p_id); of a tenant only those that have rows of it, and its rows only.
create function {schema}.read_archive(p_before timestamptz, p_id uuid, p_most integer, p_source text default null,
    p_status text default null, p_job uuid default null)
returns table (id uuid, source text, status text, since timestamptz, until timestamptz, rows bigint, bytes bigint,
    made_at timestamptz, archived_at timestamptz, deleted_at timestamptz, tries integer, error text, manifest jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own text := case when not {schema}.sees_all() then coalesce({schema}.scope_tenant()::text, '-') end;
begin
    return query
    select u.id, u.source, u.status, u.since, u.until, case when own is null then u.rows else (u.tenants ->> own)::bigint end,
           case when own is null then u.bytes end, u.made_at, u.archived_at, u.deleted_at, u.tries,
           case when own is null then u.error end,
           case when own is null then u.manifest else u.manifest || jsonb_build_object('tenants', jsonb_build_object(own, u.tenants -> own)) end
      from {schema}.archive_unit u
     where (u.until, u.id) < (p_before, p_id) and (p_source is null or u.source = p_source)
       and (p_status is null or u.status = p_status) and (own is null or u.tenants ? own)
       and (p_job is null or (p_job between u.min_id and u.max_id and u.status = 'archived'))
     order by u.until desc, u.id desc limit p_most;
end
$$;

-- How much waits for the archive, since when, and what keeps it from going there: for the platform.
create function {schema}.door_archive_state()
returns table (required boolean, waiting bigint, oldest_seconds double precision, failing bigint, error text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return query select {schema}.archive_required(), 0::bigint, null::double precision, 0::bigint, null::text;
        return;
    end if;
    return query
    select {schema}.archive_required(), count(u.id), extract(epoch from (select {schema}.now()) - min(u.made_at))::double precision,
           count(u.id) filter (where u.tries > 0), (array_agg(u.error order by u.next_try desc) filter (where u.error is not null))[1]
      from {schema}.archive_unit u where u.status = 'waiting';
end
$$;

-- The rules in force, of one tenant or (NULL) of everybody: what a subject is kept for (keep_seconds NULL: for ever) and
-- who said so: operator | tenant (its setting retention) | settings | default. common: it is everybody's.
create function {schema}.door_retention(p_tenant uuid default null)
returns table (subject text, keep_seconds double precision, source text, common boolean, changed_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid := case when {schema}.sees_all() then p_tenant else {schema}.scope_tenant() end;
begin
    return query
    select s.name, case when k.keep < interval '1000 years' then extract(epoch from k.keep)::double precision end,
           coalesce(r.source, case when own is not null and s.n <= 3 and (select t.retention from {schema}.tenant t where t.id = own)
                                   is not null then 'tenant' end, c.source, 'default'),
           own is null or (r.source is null and not (s.n <= 3 and (select t.retention from {schema}.tenant t where t.id = own) is not null)),
           coalesce(r.changed_at, c.changed_at)
      from unnest(array['succeeded', 'failed', 'canceled', 'archive_after', 'dead_letter', 'archive', 'events', 'audit', 'incidents',
                        'budgets', 'operations', 'error_groups', 'rollup_minutes', 'rollups']) with ordinality as s(name, n)
     cross join lateral (select {schema}.keep_of(s.name, own) as keep) k
      left join {schema}.retention_rule r on r.tenant_id = own and r.subject = s.name
      left join lateral (select x.source, x.changed_at from {schema}.retention_rule x
                          where x.tenant_id is null and x.subject = s.name order by x.source limit 1) c on true
     where own is null or s.n <= 6
     order by s.n;
end
$$;

-- An operator's rule; p_tenant NULL: everybody's; p_seconds NULL: for ever; p_unset: what was before it holds again.
-- changed | unchanged | out_of_scope | unknown_tenant
create function {schema}.door_set_retention(p_tenant uuid, p_subject text, p_seconds double precision, p_unset boolean,
    p_reason text default null, p_actor_type text default null, p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before {schema}.retention_rule;
    after interval := p_seconds * interval '1 second';
begin
    if not {schema}.sees_all() then
        return 'out_of_scope';
    elsif p_tenant is not null and not exists (select from {schema}.tenant t where t.id = p_tenant) then
        return 'unknown_tenant';
    end if;
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select r.* into before from {schema}.retention_rule r
     where r.tenant_id is not distinct from p_tenant and r.subject = p_subject and r.source = 'operator' for update;
    if (p_unset and before.subject is null) or (not p_unset and before.subject is not null and before.keep is not distinct from after) then
        return 'unchanged';
    elsif p_unset then
        delete from {schema}.retention_rule r
         where r.tenant_id is not distinct from p_tenant and r.subject = p_subject and r.source = 'operator';
    else
        insert into {schema}.retention_rule as r (tenant_id, subject, keep) values (p_tenant, p_subject, after)
        on conflict (tenant_id, subject, source) do update set keep = excluded.keep, changed_at = {schema}.now();
    end if;
    perform {schema}.settle_retention();
    perform {schema}.audit('retention.' || case when p_unset then 'unset' else 'set' end, 'retention', p_subject, p_tenant,
        case when before.subject is not null then jsonb_build_object('keep_seconds', extract(epoch from before.keep)) end,
        case when not p_unset then jsonb_build_object('keep_seconds', p_seconds) end, p_reason);
    return 'changed';
end
$$;

-- Makes hours of the minutes of one hour that is older than p_fine, and drops what is older than p_keep; the totals stay.
-- True: there is more of it.
create function {schema}.coarsen_rollups(p_fine interval, p_keep interval, p_most integer) returns boolean
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    edge timestamptz;
    hour timestamptz;
    gone integer;
begin
    delete from {schema}.rollup r where r.ctid = any (array(
        select q.ctid from {schema}.rollup q where q.minute < moment - p_keep order by q.minute limit p_most));
    get diagnostics gone = row_count;
    delete from {schema}.rollup_fleet r where r.ctid = any (array(
        select q.ctid from {schema}.rollup_fleet q where q.minute < moment - p_keep order by q.minute limit p_most));
    delete from {schema}.rollup_hour r where r.ctid = any (array(
        select q.ctid from {schema}.rollup_hour q where q.hour < moment - p_keep order by q.hour limit p_most));
    select least(date_bin('1 hour', moment - p_fine, timestamptz '2000-01-01 00:00+00'),
                 date_bin('1 hour', s.final_to, timestamptz '2000-01-01 00:00+00')) into edge
      from {schema}.rollup_state s;
    select date_bin('1 hour', min(r.minute), timestamptz '2000-01-01 00:00+00') into hour
      from {schema}.rollup r, {schema}.rollup_state s where r.minute >= s.coarse_to and r.minute < edge;
    if hour is null then
        update {schema}.rollup_state s set coarse_to = edge where s.coarse_to < edge;
        return gone >= p_most;
    end if;
    update {schema}.rollup_state s set coarse_to = hour + interval '1 hour';
    with fine as materialized (
        delete from {schema}.rollup r where r.minute >= hour and r.minute < hour + interval '1 hour' returning r.*
    )
    insert into {schema}.rollup (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
           run_hist, total_hist)
    select hour, f.tenant_id, f.queue, f.job_type, f.outcome, sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum),
           {schema}.histogram_sum(f.wait_hist), {schema}.histogram_sum(f.run_hist), {schema}.histogram_sum(f.total_hist)
      from fine f group by 2, 3, 4, 5;
    with fine as materialized (
        delete from {schema}.rollup_fleet r where r.minute >= hour and r.minute < hour + interval '1 hour' returning r.*
    )
    insert into {schema}.rollup_fleet (minute, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist, run_hist,
           total_hist)
    select hour, f.queue, f.job_type, f.outcome, sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum),
           {schema}.histogram_sum(f.wait_hist), {schema}.histogram_sum(f.run_hist), {schema}.histogram_sum(f.total_hist)
      from fine f group by 2, 3, 4;
    return true;
end
$$;
