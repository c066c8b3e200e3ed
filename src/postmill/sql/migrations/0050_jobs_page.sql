-- postmill: safe
-- What the page Jobs of the console shows beside the query itself (0049): lines, counts, names and completions, and views
-- that somebody saved.

create index operation_item_of_tenant on {schema}.operation_item
    (tenant_id, operation_id, (case when status = 'replayed' then new_id else job_id end));

-- Operations with ids from p_low to p_high, the platform's among them, that acted on jobs of a tenant: its index is skipped
-- through from one to the next, however many jobs each has.
create function {schema}.read_operations_on(p_tenant uuid, p_low uuid, p_high uuid, p_most integer) returns setof uuid
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_one uuid;
    above uuid;
begin
    for n in 1 .. p_most loop
        select i.operation_id into found_one from {schema}.operation_item i
         where i.tenant_id = p_tenant and i.operation_id >= p_low and i.operation_id <= p_high
           and (above is null or i.operation_id > above)
         order by i.operation_id limit 1;
        exit when not found;
        return next found_one;
        above := found_one;
    end loop;
end
$$;

-- How jobs stand, for a line of a list, in the order of their ids from the newest down. state is queued as soon as a job is
-- due. waits_on: what holds a waiting job back, as far as a list can tell without looking at each. p_paths: of each
-- argument that shall be shown the path; values are the payload's own (sealed where it is encrypted). A plan takes twice as
-- long as fifty lines do, and is the same for all.
create function {schema}.read_job_lines(p_ids uuid[], p_paths jsonb default '[]')
returns table (
    id uuid, tenant_id uuid, tenant text, job_type text, queue text, state text, retrying boolean, replayed boolean, source text, source_ref text,
    trigger_id uuid, trigger_label text, priority integer, attempt integer, max_attempts integer, key text, created_at timestamptz,
    due_at timestamptz, started_at timestamptz, finished_at timestamptz, worker_id text, reason text, error_class text,
    error_message text, error_group text, actor_type text, actor_id text, correlation_id text, replayed_from uuid,
    waits_on text, cancel_requested boolean, progress_done double precision, progress_total double precision, progress_message text,
    args jsonb, moment timestamptz, tags text[], held_until timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    at_now constant timestamptz := {schema}.now();
begin
    return query
    select j.id, j.tenant_id, n.slug, j.job_type, coalesce(w.queue, s.queue, b.queue, r.queue, d.queue, j.queue),
           case when s.run_at <= at_now or w.id is not null then 'queued' when s.id is not null then 'scheduled'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when d.id is not null then 'dead_letter' else o.status end,
           s.run_at > at_now and s.attempt > 1, d.id is null and o.status = 'dead_letter', j.source::text, j.source_ref, g.id, g.label,
           coalesce(w.priority, s.priority, b.priority, r.priority, d.priority, j.priority),
           coalesce(w.attempt - 1, s.attempt - 1, b.attempt - 1, r.attempt, d.attempts, o.attempt, 0), j.max_attempts,
           j.idempotency_key, j.created_at, coalesce(s.run_at, j.scheduled_for),
           coalesce(r.claimed_at, o.started_at, d.last_attempt_at, a.started_at),
           -- A letter that is closed ended with its last attempt.
           coalesce(case when o.status = 'dead_letter' then a.finished_at end, o.finished_at, d.failed_at),
           (select k.worker_id from {schema}.worker k where k.holder = coalesce(r.holder, o.holder, a.holder)),
           coalesce(d.reason, o.reason), coalesce(d.error_class, o.error_class, a.error_class),
           left(coalesce(d.error_message, o.error_message, a.error_message), 500),
           coalesce(d.error_group, o.error_group, a.error_group), j.actor_type::text, j.actor_id, j.correlation_id, j.replayed_from,
           case when coalesce(w.id, s.id, b.id) is null then null
                when j.expires_at <= at_now then 'expired'
                when q.paused_at is not null and (q.resume_at is null or q.resume_at > at_now) then 'queue_paused'
                when h.job_type is not null then 'type_paused'
                when n.status = 'suspended' then 'tenant_suspended'
                when b.id is not null then 'blocked'
                when y.action in ('defer', 'stop') then 'budget'
                when s.run_at > at_now then case when s.attempt > 1 then 'retry_pending' else 'not_due' end end,
           c.job_id is not null, p.done, p.total, p.message,
           case when jsonb_array_length(p_paths) > 0 then (
                select jsonb_agg(j.payload #> array(select jsonb_array_elements_text(x.value)) order by x.n)
                  from jsonb_array_elements(p_paths) with ordinality x(value, n)) end,
           at_now, array(select t.tag from {schema}.job_tag t where t.job_id = j.id order by t.tag), h.resume_at
      from unnest(p_ids) as u(id)
     cross join lateral (select f.* from {schema}.any_job f where f.id = u.id offset 0) j
      left join {schema}.tenant n on n.id = j.tenant_id
      left join lateral (select t.* from {schema}.ready t where t.id = j.id offset 0) w on true
      left join lateral (select t.* from {schema}.scheduled t where t.id = j.id offset 0) s on true
      left join lateral (select t.* from {schema}.blocked t where t.id = j.id offset 0) b on true
      left join lateral (select t.* from {schema}.running t where t.id = j.id offset 0) r on true
      left join lateral (select t.* from {schema}.dead_letter t where t.id = j.id offset 0) d on true
      left join lateral (select t.* from {schema}.outcome t where t.job_id = j.id offset 0) o on true
      left join lateral (select t.error_class, t.error_message, t.error_group, t.started_at, t.finished_at, t.holder from {schema}.attempt t
                          where t.job_id = j.id and (o.job_id is null or o.status = 'dead_letter') and r.id is null
                          order by t.run desc limit 1) a on true
      left join {schema}.queue q on q.name = coalesce(w.queue, s.queue, b.queue)
      left join lateral (select p.job_type, p.resume_at from {schema}.type_pause p
                          where p.ended_at is null and (p.resume_at is null or p.resume_at > at_now) and coalesce(w.id, s.id) is not null
                            and (p.job_type = j.job_type or exists (select from {schema}.job_definition g
                                                                     where g.key = p.job_type and g.aliases @> array[j.job_type]))
                          limit 1) h on true
      left join {schema}.job_definition f on f.key = j.job_type and f.budget is not null and coalesce(w.id, s.id, b.id) is not null
      left join lateral {schema}.budget_word(f.budget, j.tenant_id) y on f.budget is not null
      left join lateral (select t.done, t.total, t.message from {schema}.progress t where t.job_id = r.id offset 0) p on true
      left join lateral (select t.job_id from {schema}.cancel_request t where t.job_id = j.id offset 0) c on true
     cross join lateral (select case when j.source_ref ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then j.source_ref::uuid end as ref) at
      left join lateral (
        select t.id, t.label from {schema}.trigger t
         where j.source in ('schedule', 'manual') and t.id = at.ref
        union all
        select t.id, t.label from {schema}.event_delivery e join {schema}.trigger t on t.id = e.trigger_id
         where j.source = 'event' and e.job_id = j.id
           and e.event_id = at.ref
        limit 1) g on j.source_ref is not null
     order by j.id desc;
end
$$;

-- The words for where these jobs stand, retrying and replayed (letters that are open no longer) among them, and how many there are of each.
create function {schema}.states_of(p_ids uuid[]) returns jsonb
language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    at_now constant timestamptz := {schema}.now();
begin
    return coalesce((select jsonb_object_agg(x.word, x.n) from (
        select y.word, count(*) as n from (
            select coalesce((select case o.status when 'dead_letter' then 'replayed' else o.status end from {schema}.outcome o where o.job_id = u.id offset 0),
                            (select 'queued' from {schema}.ready t where t.id = u.id offset 0),
                            (select case when t.run_at <= at_now then 'queued' when t.attempt > 1 then 'retrying' else 'scheduled' end
                               from {schema}.scheduled t where t.id = u.id offset 0),
                            (select 'dead_letter' from {schema}.dead_letter t where t.id = u.id offset 0),
                            (select 'running' from {schema}.running t where t.id = u.id offset 0),
                            (select 'blocked' from {schema}.blocked t where t.id = u.id offset 0)) as word
              from unnest(p_ids) as u(id)) y where y.word is not null group by 1) x), '{}');
end
$$;

-- How many jobs of a filter are in each state: of those that one walk meets; where it does not come to the end, of what two
-- more meet, one among those that wait and one among those that run or did not succeed. retrying is a part of scheduled.
create function {schema}.read_matching_counts(p_filter jsonb, p_look integer default 1000)
returns table (state text, n bigint, at_least boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    groups constant jsonb := '[["queued", "scheduled"], ["blocked", "running", "failed", "canceled", "dead_letter", "replayed"]]';
    whole record;
    counted jsonb;
    one record;
    parts jsonb[];
    more boolean[];
    place integer;
begin
    select w.ids, w.low into whole from {schema}.read_matching(p_filter - 'states', p_need => p_look, p_look => p_look) w;
    counted := {schema}.states_of(whole.ids);
    at_least := whole.low is not null or cardinality(whole.ids) >= p_look;
    if at_least then
        for place in 0 .. 1 loop
            select w.ids, w.low into one
              from {schema}.read_matching(p_filter || jsonb_build_object('states', groups -> place), p_need => p_look, p_look => p_look) w;
            parts[place] := {schema}.states_of(one.ids);
            more[place] := one.low is not null or cardinality(one.ids) >= p_look;
        end loop;
    end if;
    for state in select unnest(array['scheduled', 'retrying', 'queued', 'blocked', 'running', 'succeeded', 'failed', 'canceled', 'dead_letter', 'replayed']) loop
        place := case when state = 'succeeded' then null when state in ('scheduled', 'retrying', 'queued') then 0 else 1 end;
        at_least := more[place] or (more[0] is not null and place is null);
        n := greatest((counted ->> state)::bigint, (parts[place] ->> state)::bigint, 0);
        if state = 'scheduled' then
            n := greatest(coalesce((counted ->> state)::bigint, 0) + coalesce((counted ->> 'retrying')::bigint, 0),
                          coalesce((parts[place] ->> state)::bigint, 0) + coalesce((parts[place] ->> 'retrying')::bigint, 0));
        end if;
        at_least := coalesce(at_least, false);
        return next;
    end loop;
end
$$;

-- What the names of a query stand for, within the scope: [[field, name], …]. ids: of a type its key, of a tenant, trigger
-- or operation its id, of an error its groups; none where there is nothing of that name.
create function {schema}.read_query_names(p_names jsonb)
returns table (field text, name text, ids text[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    for field, name in select a.value ->> 0, a.value ->> 1 from jsonb_array_elements(p_names) a loop
        ids := case field
            when 'type' then array(select d.key from {schema}.job_definition d where d.key = name or d.aliases @> array[name] limit 20)
            when 'queue' then array(select q.name from {schema}.queue q where q.name = read_query_names.name
                                    union select q.name from {schema}.queue q where lower(q.name) = lower(read_query_names.name)
                                       and not exists (select from {schema}.queue e where e.name = read_query_names.name) limit 20)
            when 'tenant' then array(select t.id::text from {schema}.tenant t where t.slug = lower(read_query_names.name) or t.id::text = lower(read_query_names.name))
            when 'trigger' then array(select t.id::text from {schema}.trigger t
                                       where lower(t.label) = lower(name) or t.id::text = lower(name) order by t.deleted_at desc nulls first limit 21)
            when 'error' then array(
                select g.id from {schema}.error_group g
                 where ((name ~ '^[0-9a-f]{2,16}$' and g.id >= name and g.id < name || 'g') or g.error_class = name
                        or g.error_class like '%.' || replace(replace(name, '\', '\\'), '_', '\_'))
                   and exists (select from {schema}.error_group_tenant t where t.id = g.id)
                 order by g.last_seen_at desc limit 21)
            when 'worker' then array(select read_query_names.name where not {schema}.sees_all() or exists (
                select from {schema}.worker w where w.worker_id = read_query_names.name or w.hostname = read_query_names.name))
            when 'build' then array(select read_query_names.name where not {schema}.sees_all() or exists (
                select from {schema}.worker w where w.build = read_query_names.name))
            when 'op' then array(select o.id::text from {schema}.operation o
                                  where o.id >= rpad(replace(name, '-', ''), 32, '0')::uuid and o.id <= rpad(replace(name, '-', ''), 32, 'f')::uuid
                                  order by o.id desc limit 21)
                || case when {schema}.scope_tenant() is not null then array(
                    select o.id::text from {schema}.read_operations_on({schema}.scope_tenant(), rpad(replace(name, '-', ''), 32, '0')::uuid,
                               rpad(replace(name, '-', ''), 32, 'f')::uuid, 21) as o(id)
                     where not exists (select from {schema}.operation p where p.id = o.id)) end
            else '{}' end;
        return next;
    end loop;
end
$$;

-- Names that hold a text, for completion and for what was probably meant: out of tables of names, never of jobs.
create function {schema}.read_facets(p_field text, p_text text, p_most integer default 12)
returns table (value text, note text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    part constant text := lower(p_text);
begin
    return query
    select x.value, x.note from (
        select d.key as value, d.queue as note from {schema}.job_definition d where p_field = 'type'
        union all
        select q.name, q.owner from {schema}.queue q where p_field = 'queue'
        union all
        select t.slug, t.name from {schema}.tenant t where p_field = 'tenant'
        union all
        select t.tag, null from {schema}.read_tags(p_text, p_most) as t(tag) where p_field = 'tag'
        union all
        (select g.id, concat_ws(': ', g.error_class, left(g.message, 80)) from {schema}.error_group g
          where p_field = 'error' and exists (select from {schema}.error_group_tenant n where n.id = g.id)
          order by g.last_seen_at desc limit 2000)
        union all
        (select t.label, d.key from {schema}.trigger t join {schema}.job_definition d on d.id = t.definition_id
          where p_field = 'trigger' and t.deleted_at is null limit 5000)
        union all
        (select distinct w.worker_id, w.hostname from (
            select k.worker_id, k.hostname from {schema}.worker k where p_field = 'worker' and {schema}.sees_all()
             order by k.last_seen_at desc limit 2000) w)
        union all
        (select w.build, 'since ' || to_char(min(w.started_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'
           from (select k.build, k.started_at from {schema}.worker k where p_field = 'build' and {schema}.sees_all() and k.build is not null
                  order by k.last_seen_at desc limit 2000) w group by 1)
        union all
        (select o.id::text, o.kind || ', ' || o.status from {schema}.operation o where p_field = 'op' order by o.id desc limit 200)) x
     where strpos(lower(x.value), part) > 0 or strpos(lower(x.note), part) > 0
     order by strpos(lower(x.value), part) <> 1, length(x.value), x.value limit p_most;
end
$$;

-- The newest jobs that have this idempotency key, or have it still: for whoever pastes one.
create function {schema}.read_key_holders(p_key text, p_most integer default 20) returns setof uuid
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select k.job_id from {schema}.tenant t
     cross join lateral (select '00000000-0000-0000-0000-000000000000'::uuid as id
                         union all select p.id from {schema}.project p where p.tenant_id = t.id) p
      join {schema}.idempotency_key k on k.tenant_id = t.id and k.project_id = p.id and k.key = p_key
     where exists (select from {schema}.any_job j where j.id = k.job_id)
     order by k.job_id desc limit p_most;
end
$$;

-- A list that somebody named: its page and the query string of its address. tenant_id NULL: of the platform's scope.
create table {schema}.saved_view (
    id uuid primary key default {schema}.new_id(),
    tenant_id uuid references {schema}.tenant (id) on delete cascade,
    page text collate "C" not null check (length(page) between 1 and 40),
    name text not null check (length(name) between 1 and 80),
    query text not null check (length(query) <= 2000),
    shared boolean not null default false,
    actor_type text collate "C" not null,
    actor_id text collate "C",
    created_at timestamptz not null default {schema}.now()
);
create unique index saved_view_name on {schema}.saved_view
    (page, coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'), name, actor_type, coalesce(actor_id, ''));

-- One's own views of a page, and those that others in this scope share.
create function {schema}.read_saved_views(p_page text, p_most integer default 100)
returns table (id uuid, name text, query text, shared boolean, own boolean, actor_id text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select v.id, v.name, v.query, v.shared, x.own, v.actor_id
      from {schema}.saved_view v
     cross join lateral (select v.actor_type = current_setting('postmill.actor_type', true)
                            and v.actor_id is not distinct from nullif(current_setting('postmill.actor_id', true), '') as own) x
     where v.page = p_page and coalesce(v.tenant_id, '00000000-0000-0000-0000-000000000000')
                             = coalesce({schema}.scope_tenant(), '00000000-0000-0000-0000-000000000000')
       and (x.own or v.shared)
     order by lower(v.name), v.id limit p_most;
end
$$;

-- saved | replaced (one's own of this name) | full (100 of one's own on a page).
create function {schema}.door_save_view(p_page text, p_name text, p_query text, p_shared boolean default false,
    p_actor_type text default null, p_actor_id text default null, out id uuid, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    update {schema}.saved_view v set query = p_query, shared = p_shared
     where v.page = p_page and v.tenant_id is not distinct from own and v.name = p_name
       and v.actor_type = {schema}.acting_type() and v.actor_id is not distinct from {schema}.acting_id()
    returning v.id into id;
    status := case when found then 'replaced' else 'saved' end;
    if id is null and (select count(*) from {schema}.saved_view v where v.page = p_page and v.tenant_id is not distinct from own
                          and v.actor_type = {schema}.acting_type() and v.actor_id is not distinct from {schema}.acting_id()) >= 100 then
        status := 'full';
        return;
    elsif id is null then
        insert into {schema}.saved_view as v (tenant_id, page, name, query, shared, actor_type, actor_id)
        values (own, p_page, p_name, p_query, p_shared, {schema}.acting_type(), {schema}.acting_id()) returning v.id into id;
    end if;
    perform {schema}.audit('views.save', 'view', id::text, own, null,
        jsonb_build_object('page', p_page, 'name', p_name, 'query', p_query, 'shared', p_shared));
end
$$;

-- deleted | unknown (or somebody else's; p_any: of others too, if they share it).
create function {schema}.door_delete_view(p_id uuid, p_any boolean default false, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    gone {schema}.saved_view;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    delete from {schema}.saved_view v
     where v.id = p_id and v.tenant_id is not distinct from {schema}.scope_tenant()
       and ((v.actor_type = {schema}.acting_type() and v.actor_id is not distinct from {schema}.acting_id()) or (p_any and v.shared))
    returning v.* into gone;
    if gone.id is null then
        return 'unknown';
    end if;
    perform {schema}.audit('views.delete', 'view', p_id::text, gone.tenant_id,
        jsonb_build_object('page', gone.page, 'name', gone.name, 'query', gone.query, 'shared', gone.shared), null);
    return 'deleted';
end
$$;

-- That somebody took a list away: written before its first line is sent.
create function {schema}.door_note_export(p_page text, p_query text, p_format text, p_most integer) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform {schema}.audit('jobs.export', 'list', p_page, {schema}.scope_tenant(), null,
        jsonb_build_object('query', p_query, 'format', p_format, 'most', p_most));
end
$$;

-- Jobs whose payload contains one of p_any, by the indexes that an operator made for it (GIN on job and job_kept): at
-- most p_most, in no order. NULL: there are no such indexes, or more jobs than that, which a walk finds soon.
-- Containment is no leakproof operator, so that row-level security would keep it from the index: hence the owner's
-- rights (the tables, since the view any_job has the reader's), and the scope asked here.
create function {schema}.args_matching(p_any jsonb[], p_below uuid, p_first uuid, p_most integer default 10000) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = on as $$
declare
    found_ones uuid[];
    n bigint;
    contains text;
begin
    if (select count(distinct i.indrelid) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
         where i.indrelid in ('{schema}.job'::regclass, '{schema}.job_kept'::regclass) and m.amname = 'gin' and i.indisvalid) < 2 then
        return null;
    end if;
    select string_agg(format('j.payload @> %L::jsonb', a), ' or ') into contains from unnest(p_any) a;
    -- The bounds stay outside: within, the planner would rather walk along the ids.
    execute format('select array_agg(j.id) filter (where j.id < $1 and j.id >= $2 and %s), count(*)
          from (select j.id, j.tenant_id from {schema}.job j where %s union all
                select j.id, j.tenant_id from {schema}.job_kept j where %2$s limit $3) j',
        case when {schema}.sees_all() then 'true' else 'j.tenant_id = {schema}.scope_tenant()' end, contains)
        into found_ones, n using p_below, p_first, p_most + 1;
    return case when n <= p_most then coalesce(found_ones, '{}') end;
end
$$;

-- One text of an execution, whole: error | stack | stdout | stderr.
create function {schema}.read_attempt_text(p_id uuid, p_run integer, p_what text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return (
    select case p_what when 'error' then h.error_message when 'stack' then h.stack when 'stdout' then h.stdout_tail
                       else h.stderr_tail end
      from (select a.error_message, a.stack, a.stdout_tail, a.stderr_tail
              from {schema}.attempt a where a.job_id = p_id and a.run = p_run
            union all
            select o.error_message, o.stack, o.stdout_tail, o.stderr_tail
              from {schema}.outcome o where o.job_id = p_id and o.run = p_run and o.holder is not null) h
     limit 1);
end
$$;

-- Payload and result as they are stored.
create function {schema}.read_job_payload(p_id uuid) returns table (payload text, result text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select j.payload::text, (select o.result::text from {schema}.outcome o where o.job_id = p_id limit 1)
      from (select f.payload from {schema}.any_job f where f.id = p_id offset 0) j;
end
$$;
