-- postmill: safe
-- What an operator asks of many dead letters: how many, of what causes, since when; and whether a later job has done it.

create index dead_letter_group on {schema}.dead_letter (error_group, failed_at, id);
create index dead_letter_tenant_group on {schema}.dead_letter (tenant_id, error_group, failed_at, id);

-- Counts of dead letters, kept beside them: 100,000 letters with their stacks take seconds to read. Nobody waits for
-- another here: rows are only added, one for each statement and cause, and folded together by a round of upkeep.
-- moment: the beginning of the ten minutes in which letters were given up (opened), or replayed or discarded (closed); NULL holds together what is older than a day, as what is still open of it.
create table {schema}.dead_tally (
    tenant_id uuid not null,
    queue text collate "C" not null,
    job_type text collate "C",
    reason text collate "C" not null,
    error_status integer,
    error_group text collate "C",
    moment timestamptz,
    opened bigint not null,
    closed bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The type of a letter is its body's, where the writer does not say it: without it each look would ask each body.
create function {schema}.letter_typed() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    select j.job_type into new.job_type from {schema}.any_job j where j.id = new.id;
    return new;
end
$$;
create trigger typed before insert on {schema}.dead_letter
    for each row when (new.job_type is null) execute function {schema}.letter_typed();

create function {schema}.letters_counted() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := date_bin('10 minutes', {schema}.now(), '2000-01-01Z');
begin
    if tg_op in ('INSERT', 'UPDATE') then
        insert into {schema}.dead_tally
        select d.tenant_id, d.queue, d.job_type, d.reason, d.error_status, d.error_group,
               case when d.failed_at > moment - interval '1 day' then date_bin('10 minutes', d.failed_at, '2000-01-01Z') end,
               count(*), 0
          from made d group by 1, 2, 3, 4, 5, 6, 7;
    end if;
    if tg_op in ('DELETE', 'UPDATE') then
        insert into {schema}.dead_tally
        select d.tenant_id, d.queue, d.job_type, d.reason, d.error_status, d.error_group, moment, 0, count(*)
          from gone d group by 1, 2, 3, 4, 5, 6;
    end if;
    return null;
end
$$;
create trigger counted_in after insert on {schema}.dead_letter referencing new table as made
    for each statement execute function {schema}.letters_counted();
create trigger counted_out after delete on {schema}.dead_letter referencing old table as gone
    for each statement execute function {schema}.letters_counted();
create trigger counted_over after update on {schema}.dead_letter referencing old table as gone new table as made
    for each statement execute function {schema}.letters_counted();

create function {schema}.letters_emptied() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    truncate {schema}.dead_tally;
    return null;
end
$$;
create trigger emptied after truncate on {schema}.dead_letter
    for each statement execute function {schema}.letters_emptied();

-- Folds the counts where more than p_least rows would become fewer; answers how many rows went. Under the lock of the
-- round: nobody else takes rows out.
create function {schema}.fold_dead_tally(p_least integer) returns bigint
language plpgsql volatile as $$
declare
    edge timestamptz := date_bin('10 minutes', {schema}.now(), '2000-01-01Z') - interval '1 day';
    rows bigint;
    keys bigint;
begin
    select sum(k.n), count(*) into rows, keys
      from (select count(*) as n from {schema}.dead_tally t
             group by t.tenant_id, t.queue, t.job_type, t.reason, t.error_status, t.error_group,
                      case when t.moment >= edge then t.moment end) k;
    if coalesce(rows - keys < p_least, true) then
        return 0;
    end if;
    with gone as (
        delete from {schema}.dead_tally t returning t.*
    ), kept as (
        select g.tenant_id, g.queue, g.job_type, g.reason, g.error_status, g.error_group,
               case when g.moment >= edge then g.moment end as moment, sum(g.opened) as opened, sum(g.closed) as closed
          from gone g group by 1, 2, 3, 4, 5, 6, 7
    )
    insert into {schema}.dead_tally
    select k.tenant_id, k.queue, k.job_type, k.reason, k.error_status, k.error_group, k.moment,
           case when k.moment is null then k.opened - k.closed else k.opened end,
           case when k.moment is null then 0 else k.closed end
      from kept k where k.moment is not null or k.opened <> k.closed;
    return rows - keys;
end
$$;

-- The whole picture of the open dead letters within the scope, of one tenant or of all, as a document. by_cause is seed 4's
-- question (status and reason, the most first); by_group tells of each error since when and until when. Lists end at
-- p_most. hour and day: what was given up, and what was replayed or discarded, in that time.
create function {schema}.read_dead_statistics(p_tenant uuid default null, p_most integer default 50) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set jit = off as $$
declare
    own uuid := coalesce(p_tenant, {schema}.scope_tenant());
    hour timestamptz := {schema}.now() - interval '1 hour';
    day timestamptz := {schema}.now() - interval '1 day';
begin
    return (
    with t as materialized (
        select y.tenant_id, y.queue, y.job_type, y.reason, y.error_status, y.error_group, sum(y.opened - y.closed) as n,
               sum(y.opened) filter (where y.moment >= hour) as opened_hour,
               sum(y.closed) filter (where y.moment >= hour) as closed_hour,
               sum(y.opened) filter (where y.moment >= day) as opened_day,
               sum(y.closed) filter (where y.moment >= day) as closed_day
          from {schema}.dead_tally y where own is null or y.tenant_id = own
         group by 1, 2, 3, 4, 5, 6
    ), live as materialized (select * from t where t.n > 0)
    , causes as (
        select c.error_status, c.reason, sum(c.n) as n from live c group by 1, 2 order by 3 desc, 1 nulls last, 2 limit p_most
    ), groups as materialized (
        select g.error_group, g.job_type, sum(g.n) as n, count(distinct g.tenant_id) as tenants,
               sum(g.opened_hour) as opened_hour
          from live g group by 1, 2 order by 3 desc, 1 nulls last, 2 limit p_most
    ), types as (
        select y.job_type, sum(y.n) as n from live y group by 1 order by 2 desc, 1 limit p_most
    ), queues as (
        select q.queue, sum(q.n) as n from live q group by 1 order by 2 desc, 1 limit p_most
    ), tenants as (
        select o.tenant_id, sum(o.n) as n from live o group by 1 order by 2 desc, 1 limit p_most
    )
    select jsonb_build_object(
        'open', coalesce((select sum(l.n) from live l), 0),
        'oldest', (select d.failed_at from {schema}.dead_letter d where own is null or d.tenant_id = own
                    order by d.failed_at, d.id limit 1),
        'opened_hour', coalesce((select sum(t.opened_hour) from t), 0),
        'closed_hour', coalesce((select sum(t.closed_hour) from t), 0),
        'opened_day', coalesce((select sum(t.opened_day) from t), 0),
        'closed_day', coalesce((select sum(t.closed_day) from t), 0),
        'by_cause', coalesce((select jsonb_agg(jsonb_build_object('status', c.error_status, 'reason', c.reason, 'count', c.n)
                                     order by c.n desc, c.error_status nulls last, c.reason) from causes c), '[]'),
        'by_group', coalesce((select jsonb_agg(jsonb_build_object('error_group', g.error_group, 'job_type', g.job_type,
                'count', g.n, 'tenants', g.tenants, 'opened_hour', coalesce(g.opened_hour, 0), 'oldest', o.failed_at,
                'newest', w.failed_at, 'error_class', w.error_class, 'error_message', left(w.error_message, 500))
                order by g.n desc, g.error_group nulls last, g.job_type)
              from groups g
              left join lateral (select * from {schema}.read_group_end(g.error_group, own, false)) o on true
              left join lateral (select * from {schema}.read_group_end(g.error_group, own, true)) w on true), '[]'),
        'by_type', coalesce((select jsonb_agg(jsonb_build_object('job_type', y.job_type, 'count', y.n)
                                    order by y.n desc, y.job_type) from types y), '[]'),
        'by_queue', coalesce((select jsonb_agg(jsonb_build_object('queue', q.queue, 'count', q.n)
                                     order by q.n desc, q.queue) from queues q), '[]'),
        'by_tenant', coalesce((select jsonb_agg(jsonb_build_object('tenant_id', o.tenant_id, 'slug', x.slug, 'count', o.n)
                                      order by o.n desc, o.tenant_id)
                                 from tenants o left join {schema}.tenant x on x.id = o.tenant_id), '[]')));
end
$$;

-- The first or last letter of an error group: one probe of an index.
create function {schema}.read_group_end(p_group text, p_tenant uuid, p_last boolean)
returns table (failed_at timestamptz, error_class text, error_message text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if p_last then
        return query
        select d.failed_at, d.error_class, d.error_message from {schema}.dead_letter d
         where (d.error_group = p_group or (p_group is null and d.error_group is null))
           and (p_tenant is null or d.tenant_id = p_tenant)
         order by d.failed_at desc, d.id desc limit 1;
    else
        return query
        select d.failed_at, d.error_class, d.error_message from {schema}.dead_letter d
         where (d.error_group = p_group or (p_group is null and d.error_group is null))
           and (p_tenant is null or d.tenant_id = p_tenant)
         order by d.failed_at, d.id limit 1;
    end if;
end
$$;

-- Open dead letters that a filter describes; a key that is missing does not filter. Keys: tenant_id, queue, reason,
-- job_type, error_group, error_class, error_code, error_status, message (a part of it, in any case), given_up_after,
-- given_up_before, ids.
create function {schema}.read_letters_matching(p_filter jsonb)
returns table (id uuid, tenant_id uuid, job_type text, queue text, reason text, error_status integer, error_group text,
    error_class text, failed_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own uuid := coalesce((p_filter ->> 'tenant_id')::uuid, {schema}.scope_tenant());
    f_queues text[] := {schema}.read_letter_queues(p_filter ->> 'queue');
    f_reason text := p_filter ->> 'reason';
    f_type text := p_filter ->> 'job_type';
    f_group text := p_filter ->> 'error_group';
    f_class text := p_filter ->> 'error_class';
    f_code text := p_filter ->> 'error_code';
    f_status integer := (p_filter ->> 'error_status')::integer;
    f_message text := lower(p_filter ->> 'message');
    f_after timestamptz := (p_filter ->> 'given_up_after')::timestamptz;
    f_before timestamptz := (p_filter ->> 'given_up_before')::timestamptz;
    f_ids uuid[] := case when p_filter ? 'ids' then array(select i.id::uuid from jsonb_array_elements_text(p_filter -> 'ids') i(id)) end;
begin
    return query
    select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_status, d.error_group, d.error_class, d.failed_at
      from {schema}.dead_letter d
     where (own is null or d.tenant_id = own) and (f_ids is null or d.id = any (f_ids))
       and (f_queues is null or d.queue = any (f_queues)) and (f_reason is null or d.reason = f_reason)
       and (f_type is null or d.job_type = f_type) and (f_group is null or d.error_group = f_group)
       and (f_class is null or d.error_class = f_class) and (f_code is null or d.error_code = f_code)
       and (f_status is null or d.error_status = f_status)
       and (f_message is null or strpos(lower(d.error_message), f_message) > 0)
       and (f_after is null or d.failed_at >= f_after) and (f_before is null or d.failed_at < f_before);
end
$$;

-- What a bulk act on the letters of a filter would meet: how many, of what causes and replay classes, and some of them.
create function {schema}.read_dead_preview(p_filter jsonb, p_sample integer default 5) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
begin
    return (
    with m as materialized (select l.* from {schema}.read_letters_matching(p_filter) l)
    select jsonb_build_object(
        'count', count(*), 'tenants', count(distinct m.tenant_id), 'oldest', min(m.failed_at), 'newest', max(m.failed_at),
        'by_cause', coalesce((select jsonb_agg(jsonb_build_object('status', c.error_status, 'reason', c.reason,
                'error_group', c.error_group, 'job_type', c.job_type, 'error_class', c.error_class, 'count', c.n)
                order by c.n desc, c.error_group, c.job_type)
              from (select x.error_status, x.reason, x.error_group, x.job_type, x.error_class, count(*) as n from m x
                     group by 1, 2, 3, 4, 5 order by 6 desc limit 50) c), '[]'),
        'by_replay_class', coalesce((select jsonb_object_agg(r.class, r.n)
              from (select case when d.key is null then 'unknown_type' when not d.is_active then 'inactive'
                                else d.replay_class end as class, sum(x.n) as n
                      from (select y.job_type, count(*) as n from m y group by 1) x
                      left join {schema}.job_definition d on d.key = x.job_type group by 1) r), '{}'),
        'sample', coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'job_type', s.job_type, 'reason', s.reason,
                'error_message', left(d.error_message, 200), 'failed_at', s.failed_at) order by s.failed_at desc, s.id desc)
              from (select * from m y order by y.failed_at desc, y.id desc limit p_sample) s
              left join {schema}.dead_letter d on d.id = s.id), '[]'))
      from m);
end
$$;

-- A later job that has done what this one failed to do: with its key, or with its type and this payload, and succeeded.
-- Among the 20,000 newest of its tenant; those whose definition keeps no successes, and encrypted payloads (no two are
-- alike), cannot be found.
create function {schema}.later_success(p_job {schema}.job, p_payload jsonb, p_look integer default 20000) returns uuid
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
    twin uuid;
begin
    select k.job_id into twin from {schema}.idempotency_key k
     where k.tenant_id = p_job.tenant_id and k.key = p_job.idempotency_key and k.job_id <> p_job.id
       and k.project_id = coalesce(p_job.project_id, '00000000-0000-0000-0000-000000000000')
       and exists (select from {schema}.outcome o where o.job_id = k.job_id and o.status = 'succeeded')
       and not exists (select from {schema}.any_job j where j.id = k.job_id and j.replayed_from = p_job.id);
    if twin is null then
        select l.id into twin
          from (select j.id, j.job_type, j.payload, j.idempotency_key, j.project_id, j.replayed_from from {schema}.job j
                 where j.tenant_id = p_job.tenant_id and j.id > p_job.id order by j.id desc limit p_look) l
         where ((l.job_type = p_job.job_type and l.payload = p_payload)
                or (l.idempotency_key = p_job.idempotency_key and l.project_id is not distinct from p_job.project_id))
           and l.replayed_from is distinct from p_job.id
           and exists (select from {schema}.outcome o where o.job_id = l.id and o.status = 'succeeded')
         limit 1;
    end if;
    return twin;
end
$$;

-- The open letters above a threshold, by queue and, where one has a threshold of its own, by type. raised: what was told
-- of last; an incident is told of anew only where half as many again have come.
create table {schema}.dead_alarm (
    key text collate "C" primary key,
    raised bigint not null,
    raised_at timestamptz not null
);

-- Letters that are kept for ever, for their reason, are nobody's to act on and do not count.
-- p_most NULL: no queue has one but those in p_queues (by names in lower case; null is none). Answers what was raised or resolved.
create function {schema}.watch_dead_letters(p_most bigint, p_queues jsonb, p_types jsonb)
returns table (key text, verb text, open bigint)
language plpgsql volatile as $$
declare
    one record;
    kept text[] := (select p.keep_reasons from {schema}.partition_policy p);
begin
    for one in
        with counts as materialized (
            select t.queue, t.job_type, sum(t.opened - t.closed) as n,
                   sum(t.opened) filter (where t.moment >= (select {schema}.now()) - interval '1 hour') as fresh
              from {schema}.dead_tally t where t.reason <> all (kept) group by 1, 2
        ), watched as (
            select 'queue:' || c.queue as key, c.queue, null::text as job_type, sum(c.n)::bigint as n, sum(c.fresh) as fresh,
                   case when p_queues ? lower(c.queue) then (p_queues ->> lower(c.queue))::bigint else p_most end as most
              from counts c group by c.queue
            union all
            select 'type:' || c.job_type, null, c.job_type, sum(c.n)::bigint, sum(c.fresh), (p_types ->> c.job_type)::bigint
              from counts c where p_types ? c.job_type group by c.job_type
        )
        select coalesce(w.key, a.key) as key, w.queue, w.job_type, coalesce(w.n, 0) as n, coalesce(w.fresh, 0) as fresh, w.most,
               a.raised, a.key is not null as standing, coalesce(w.n > w.most, false) as above
          from watched w full join {schema}.dead_alarm a on a.key = w.key
         where coalesce(w.n > w.most, false) or a.key is not null
    loop
        key := one.key;
        open := one.n;
        if one.above and (not one.standing or one.n >= one.raised * 1.5) then
            perform {schema}.raise_incident('dead_letters', one.key, case when one.n > 10 * one.most then 'critical' else 'warning' end,
                format('%s open dead letters %s, more than %s', one.n,
                       coalesce('in queue ' || one.queue, 'of type ' || one.job_type), one.most),
                jsonb_build_object('open', one.n, 'most', one.most, 'given_up_in_the_last_hour', one.fresh, 'causes', (
                    select jsonb_agg(c.fact) from (
                        select jsonb_build_object('status', t.error_status, 'reason', t.reason,
                                                  'count', sum(t.opened - t.closed)) as fact
                          from {schema}.dead_tally t
                         where t.queue = coalesce(one.queue, t.queue)
                           and (one.job_type is null or t.job_type = one.job_type) and t.reason <> all (kept)
                         group by t.error_status, t.reason having sum(t.opened - t.closed) > 0
                         order by sum(t.opened - t.closed) desc limit 5) c)),
                p_queue => one.queue, p_job_type => one.job_type);
            insert into {schema}.dead_alarm as a (key, raised, raised_at) values (one.key, one.n, {schema}.now())
            on conflict on constraint dead_alarm_pkey do update set raised = excluded.raised, raised_at = excluded.raised_at;
            verb := case when one.standing then 'grown' else 'raised' end;
            return next;
        elsif one.standing and not one.above then
            perform {schema}.resolve_incident('dead_letters', one.key);
            delete from {schema}.dead_alarm a where a.key = one.key;
            verb := 'resolved';
            return next;
        end if;
    end loop;
end
$$;

-- Closes open letters as failed.
create function {schema}.discard_jobs(p_ids uuid[], p_reason text)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    for id in select distinct u.id from unnest(p_ids) as u(id) order by 1 loop
        if {schema}.close_letter(id, 'failed', p_reason) then
            status := 'discarded';
        elsif exists (select from {schema}.job j where j.id = discard_jobs.id)
            or exists (select from {schema}.job_kept k where k.id = discard_jobs.id) then
            status := 'not_dead';
        else
            status := 'unknown';
        end if;
        return next;
    end loop;
end
$$;

insert into {schema}.upkeep (name) values ('dead_letters'), ('operate');
