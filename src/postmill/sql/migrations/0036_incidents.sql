-- postmill: safe
-- Incidents: what is wrong now, once each, whoever finds it and how often. At most one is open for a (kind, key).

create domain {schema}.severity as text collate "C" check (value in ('info', 'warning', 'critical'));

-- tenant_id is NULL where it is the platform's, or where several tenants are affected (they are in incident_tenant).
-- opened_at, count, jobs, incident_part and incident_job are of its last occurrence; reopened counts how often it came back.
-- cycle counts how often people are to be told of it anew, the last time since cycle_at; step is the next step of its
-- escalation policy, taken at escalate_at (NULL: nobody is to be told any more).
create table {schema}.incident (
    id uuid primary key default {schema}.new_id(),
    kind text collate "C" not null check (kind in ('sla_breach', 'job_exhausted', 'dead_letters', 'stale_workers',
        'missed_trigger', 'budget', 'notification', 'error_spike', 'replica_lag')),
    key text collate "C" not null check (length(key) between 1 and 500),
    severity {schema}.severity not null,
    title text not null,
    facts jsonb not null default '{}',
    tenant_id uuid,
    queue text collate "C",
    job_type text collate "C",
    count bigint not null default 1,
    jobs bigint not null default 0,
    reopened integer not null default 0,
    opened_at timestamptz not null,
    last_at timestamptz not null,
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolved_at timestamptz,
    resolved_by text,
    note text,
    cycle integer not null default 1,
    cycle_at timestamptz not null,
    step integer not null default 0,
    escalate_at timestamptz
);
create unique index incident_open on {schema}.incident (kind, key) where resolved_at is null;
create index incident_ended on {schema}.incident (kind, key, resolved_at) where resolved_at is not null;
create index incident_resolved on {schema}.incident (resolved_at) where resolved_at is not null;
create index incident_live on {schema}.incident (id) where resolved_at is null;
create index incident_tenant on {schema}.incident (tenant_id, id);
create index incident_escalate on {schema}.incident (escalate_at) where escalate_at is not null;

create table {schema}.incident_part (
    incident_id uuid not null references {schema}.incident (id) on delete cascade,
    tenant_id uuid not null,
    jobs bigint not null default 0,
    first_at timestamptz not null,
    last_at timestamptz not null,
    primary key (incident_id, tenant_id)
);
create index incident_part_tenant on {schema}.incident_part (tenant_id, incident_id);

-- The first hundred jobs of each, for people to look at.
create table {schema}.incident_job (
    incident_id uuid not null references {schema}.incident (id) on delete cascade,
    job_id uuid not null,
    tenant_id uuid not null,
    at timestamptz not null,
    primary key (incident_id, job_id)
);

-- Until when a key was over: a raise whose facts say an earlier "at" came too late.
create table {schema}.incident_over (
    kind text collate "C" not null,
    key text collate "C" not null,
    at timestamptz not null,
    primary key (kind, key)
);

create function {schema}.severity_rank(p_severity text) returns integer
language plpgsql immutable parallel safe as $$
begin
    return array_position(array['info', 'warning', 'critical'], p_severity);
end
$$;

-- The moment that facts name, or NULL: never an error.
create function {schema}.moment_of(p_facts jsonb) returns timestamptz
language plpgsql stable as $$
begin
    return (p_facts ->> 'at')::timestamptz;
exception when others then
    return null;
end
$$;

-- Raises an incident, or counts one more in the open one: severity rises to the worst, title and facts are the latest.
-- One that ended less than ten minutes ago is opened again: since when, how often, how bad and who is affected are counted from
-- then. People are told of it anew: three times at once, then only when it has stayed open for an hour. An open one that was silent for a day is told anew. facts.at, where it is given, is when it happened: before
-- the last resolve of the same key the incident is kept as ended at that resolve.
create function {schema}.raise_incident(p_kind text, p_key text, p_severity text, p_title text, p_facts jsonb,
    p_tenant uuid default null, p_queue text default null, p_job_type text default null, p_job uuid default null)
returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return {schema}.note_incident(p_kind, p_key, p_severity, p_title, p_facts, p_tenant, p_queue, p_job_type,
                                  array_remove(array[p_job], null));
end
$$;

-- The same for several jobs of one tenant at once: each counts.
create function {schema}.note_incident(p_kind text, p_key text, p_severity text, p_title text, p_facts jsonb, p_tenant uuid,
    p_queue text, p_job_type text, p_jobs uuid[]) returns uuid
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    happened timestamptz := {schema}.moment_of(p_facts);
    hit integer := cardinality(p_jobs);
    times integer := greatest(cardinality(p_jobs), 1);
    anew boolean;
    again boolean;
    over timestamptz;
    own {schema}.incident;
begin
    perform pg_advisory_xact_lock(hashtextextended('{schema}.incident:' || p_kind || ':' || p_key, 0));
    select o.at into over from {schema}.incident_over o where o.kind = p_kind and o.key = p_key;
    select i.* into own from {schema}.incident i where i.kind = p_kind and i.key = p_key and i.resolved_at is null;
    if own.id is null then
        select i.* into own from {schema}.incident i
         where i.kind = p_kind and i.key = p_key and i.resolved_at > moment - interval '10 minutes'
         order by i.resolved_at desc limit 1;
    end if;
    if own.id is null then
        insert into {schema}.incident (kind, key, severity, title, facts, tenant_id, queue, job_type, opened_at, last_at,
               cycle_at, count, jobs, escalate_at, resolved_at, resolved_by)
        values (p_kind, p_key, p_severity, left(p_title, 500), coalesce(p_facts, '{}'), p_tenant, p_queue, p_job_type,
                coalesce(least(happened, moment), moment), moment, moment, times, hit, moment, case when happened < over then over end,
                case when happened < over then 'monitor' end)
        returning * into own;
    elsif own.resolved_at is not null and happened < over then
        update {schema}.incident i set count = i.count + times, jobs = i.jobs + hit where i.id = own.id;
    else
        again := own.resolved_at is not null;
        anew := again or own.last_at < moment - interval '1 day';
        if again then
            delete from {schema}.incident_part t where t.incident_id = own.id;
            delete from {schema}.incident_job j where j.incident_id = own.id;
            own.jobs := 0;
        end if;
        update {schema}.incident i
           set count = case when again then 0 else i.count end + times, last_at = moment, jobs = own.jobs + hit,
               reopened = i.reopened + again::integer,
               opened_at = case when again then greatest(own.resolved_at, coalesce(least(happened, moment), moment)) else i.opened_at end,
               severity = case when again or {schema}.severity_rank(p_severity) > {schema}.severity_rank(i.severity) then p_severity
                               else i.severity end,
               title = left(p_title, 500), facts = case when again then '{}' else i.facts end || coalesce(p_facts, '{}'),
               tenant_id = case when again or i.tenant_id = p_tenant then p_tenant end,
               queue = coalesce(i.queue, p_queue), job_type = coalesce(i.job_type, p_job_type),
               resolved_at = null, resolved_by = null, note = case when not again then i.note end,
               acknowledged_at = case when not anew then i.acknowledged_at end,
               acknowledged_by = case when not anew then i.acknowledged_by end,
               cycle = i.cycle + anew::integer, cycle_at = case when anew then moment else i.cycle_at end,
               step = case when anew then 0 else i.step end,
               escalate_at = case when not anew then i.escalate_at when i.cycle < 4 then moment else moment + interval '1 hour' end
         where i.id = own.id;
    end if;
    if p_tenant is not null then
        insert into {schema}.incident_part as t (incident_id, tenant_id, jobs, first_at, last_at)
        values (own.id, p_tenant, hit, moment, moment)
        on conflict (incident_id, tenant_id) do update
           set jobs = t.jobs + excluded.jobs, last_at = excluded.last_at;
    end if;
    if own.jobs < 100 + hit then
        insert into {schema}.incident_job (incident_id, job_id, tenant_id, at)
        select own.id, u.id, coalesce(p_tenant, '00000000-0000-0000-0000-000000000001'), moment
          from unnest(p_jobs[:100]) as u(id)
        on conflict do nothing;
    end if;
    return own.id;
end
$$;

-- Ends the open incident of a key: its id, or NULL where none was open. Who was told of it is told of its end.
create function {schema}.resolve_incident(p_kind text, p_key text) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    own uuid;
begin
    perform pg_advisory_xact_lock(hashtextextended('{schema}.incident:' || p_kind || ':' || p_key, 0));
    insert into {schema}.incident_over as o (kind, key, at) values (p_kind, p_key, moment)
    on conflict (kind, key) do update set at = excluded.at;
    select i.id into own from {schema}.incident i where i.kind = p_kind and i.key = p_key and i.resolved_at is null;
    if own is not null then
        perform {schema}.end_incident(own, 'monitor', null);
    end if;
    return own;
end
$$;

-- Ends one. Of which nobody was told yet, that keeps its first step: somebody shall hear of it.
create function {schema}.end_incident(p_id uuid, p_by text, p_note text) returns void
language plpgsql volatile as $$
begin
    update {schema}.incident i
       set resolved_at = {schema}.now(), resolved_by = p_by, note = coalesce(p_note, i.note),
           escalate_at = case when i.step = 0 and i.cycle <= 4 then i.escalate_at end
     where i.id = p_id and i.resolved_at is null;
    perform {schema}.tell_again(p_id, 'resolve');
end
$$;

-- acknowledged | already | over | shared (it affects other tenants, too) | unknown
create function {schema}.door_acknowledge_incident(p_id uuid, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own {schema}.incident;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select i.* into own from {schema}.incident i where i.id = p_id for update;
    if own.id is null or not {schema}.in_scope(own.tenant_id) then
        return {schema}.incident_hidden(p_id);
    elsif own.resolved_at is not null then
        return 'over';
    elsif own.acknowledged_at is not null then
        return 'already';
    end if;
    update {schema}.incident i
       set acknowledged_at = {schema}.now(), acknowledged_by = {schema}.acting_id(), note = coalesce(p_reason, i.note),
           escalate_at = case when i.step = 0 then i.escalate_at end
     where i.id = p_id;
    perform {schema}.tell_again(p_id, 'acknowledge');
    perform {schema}.audit('incidents.acknowledge', 'incident', p_id::text, own.tenant_id,
        jsonb_build_object('kind', own.kind, 'key', own.key), null, p_reason);
    return 'acknowledged';
end
$$;

-- resolved | already | shared | unknown
create function {schema}.door_resolve_incident(p_id uuid, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own {schema}.incident;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select i.* into own from {schema}.incident i where i.id = p_id for update;
    if own.id is null or not {schema}.in_scope(own.tenant_id) then
        return {schema}.incident_hidden(p_id);
    elsif own.resolved_at is not null then
        return 'already';
    end if;
    perform {schema}.end_incident(p_id, {schema}.acting_id(), p_reason);
    perform {schema}.audit('incidents.resolve', 'incident', p_id::text, own.tenant_id,
        jsonb_build_object('kind', own.kind, 'key', own.key), null, p_reason);
    return 'resolved';
end
$$;

-- What a tenant is told of an incident that is not its own alone.
create function {schema}.incident_hidden(p_id uuid) returns text
language plpgsql stable as $$
begin
    return case when exists (select from {schema}.incident_part t
                              where t.incident_id = p_id and t.tenant_id = {schema}.scope_tenant()) then 'shared' else 'unknown' end;
end
$$;

-- What everybody who is affected may know of an incident: nothing of it is of one tenant.
create function {schema}.incident_outline(p_id uuid)
returns table (kind text, severity text, queue text, job_type text, opened_at timestamptz, acknowledged_at timestamptz,
    resolved_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select i.kind, i.severity::text, i.queue, i.job_type, i.opened_at, i.acknowledged_at, i.resolved_at
      from {schema}.incident i where i.id = p_id;
end
$$;

-- Incidents, the newest first, below p_before. A tenant sees those that affect it; of one that affects others, too, only
-- what is its own and the outline. p_status: open | acknowledged | resolved | live (not resolved).
create function {schema}.read_incidents(p_id uuid default null, p_status text default null, p_kind text default null,
    p_queue text default null, p_before uuid default null, p_most integer default 50)
returns table (id uuid, kind text, key text, severity text, status text, title text, facts jsonb, tenant_id uuid, queue text,
    job_type text, count bigint, jobs bigint, tenants bigint, opened_at timestamptz, last_at timestamptz,
    acknowledged_at timestamptz, acknowledged_by text, resolved_at timestamptz, resolved_by text, note text, reopened integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    live boolean := p_status in ('live', 'open', 'acknowledged');
    taken boolean := case p_status when 'open' then false when 'acknowledged' then true end;
begin
    if {schema}.sees_all() then
        return query
        select i.id, i.kind, i.key, i.severity::text, {schema}.incident_status(i.acknowledged_at, i.resolved_at), i.title, i.facts,
               i.tenant_id, i.queue, i.job_type, i.count, i.jobs,
               (select count(*) from {schema}.incident_part t where t.incident_id = i.id), i.opened_at, i.last_at,
               i.acknowledged_at, i.acknowledged_by, i.resolved_at, i.resolved_by, i.note, i.reopened
          from {schema}.incident i
         where (p_id is null or i.id = p_id) and (p_before is null or i.id < p_before) and (p_kind is null or i.kind = p_kind)
           and (p_queue is null or i.queue = p_queue) and (live is not true or i.resolved_at is null)
           and (p_status is distinct from 'resolved' or i.resolved_at is not null)
           and (taken is null or (i.acknowledged_at is not null) = taken)
         order by i.id desc limit p_most;
        return;
    end if;
    return query
    select t.incident_id, o.kind, i.key, o.severity, {schema}.incident_status(o.acknowledged_at, o.resolved_at),
           coalesce(i.title, o.kind || coalesce(' of ' || o.job_type, ' in ' || o.queue, '')), coalesce(i.facts, '{}'), t.tenant_id,
           o.queue, o.job_type, coalesce(i.count, t.jobs), coalesce(i.jobs, t.jobs), 1::bigint, coalesce(i.opened_at, t.first_at),
           t.last_at, o.acknowledged_at, i.acknowledged_by, o.resolved_at, i.resolved_by, i.note, i.reopened
      from {schema}.incident_part t
     cross join lateral {schema}.incident_outline(t.incident_id) o
      left join {schema}.incident i on i.id = t.incident_id
     where t.tenant_id = {schema}.scope_tenant() and (p_id is null or t.incident_id = p_id)
       and (p_before is null or t.incident_id < p_before) and (p_kind is null or o.kind = p_kind)
       and (p_queue is null or o.queue = p_queue) and (live is not true or o.resolved_at is null)
       and (p_status is distinct from 'resolved' or o.resolved_at is not null)
       and (taken is null or (o.acknowledged_at is not null) = taken)
     order by t.incident_id desc limit p_most;
end
$$;

create function {schema}.incident_status(p_acknowledged_at timestamptz, p_resolved_at timestamptz) returns text
language plpgsql immutable parallel safe as $$
begin
    return case when p_resolved_at is not null then 'resolved' when p_acknowledged_at is not null then 'acknowledged' else 'open' end;
end
$$;

-- Its first jobs. Under the policy of the scope.
create function {schema}.read_incident_jobs(p_incident uuid) returns setof uuid
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select j.job_id from {schema}.incident_job j where j.incident_id = p_incident order by j.at, j.job_id;
end
$$;

-- Whom live incidents hurt: tenants by slug, those with the most jobs first, and schedules that missed a run: the platform's
-- to see.
create function {schema}.read_hurt(p_most integer default 200)
returns table (what text, id uuid, slug text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    (select 'tenant', t.id, t.slug
       from (select p.tenant_id, sum(p.jobs) as n from {schema}.incident_part p
              where p.incident_id = any (array(select x.id from {schema}.incident x where x.resolved_at is null))
              group by 1 order by 2 desc limit p_most) h
       join {schema}.tenant t on t.id = h.tenant_id order by h.n desc, t.slug)
    union all
    (select 'trigger', x.key::uuid, null from {schema}.incident x
      where x.kind = 'missed_trigger' and x.resolved_at is null order by x.opened_at desc limit p_most);
end
$$;
