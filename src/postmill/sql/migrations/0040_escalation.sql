-- postmill: safe
-- Who is told of incidents, and which of them the platform raises by itself.

insert into {schema}.upkeep (name) values ('escalate');

-- What has been or will be told to whom: the outbox from which a channel's notification job sends, in order. due_at is
-- NULL until somebody who knows the channel's hours has planned it.
create table {schema}.notification (
    id uuid primary key default {schema}.new_id(),
    incident_id uuid not null references {schema}.incident (id) on delete cascade,
    tenant_id uuid,
    cycle integer not null,
    step integer not null,
    event text collate "C" not null check (event in ('trigger', 'acknowledge', 'resolve')),
    channel text collate "C" not null,
    instead_of text collate "C",
    status text collate "C" not null default 'pending' check (status in ('pending', 'sent', 'moved', 'failed')),
    due_at timestamptz,
    tries integer not null default 0,
    sent_at timestamptz,
    error text,
    unique (incident_id, cycle, step, event, channel)
);
create index notification_pending on {schema}.notification (channel, due_at, id) where status = 'pending';
create index notification_tenant on {schema}.notification (tenant_id, id);

-- Where a channel stands: when it may be used next, and whether it works. One job at a time sends on it.
create table {schema}.channel_state (
    channel text collate "C" primary key,
    next_at timestamptz,
    failures integer not null default 0,
    failing_since timestamptz,
    last_sent_at timestamptz,
    last_error text
);

-- Tells those who were told of an incident in this cycle that it was acknowledged or is over.
create function {schema}.tell_again(p_id uuid, p_event text) returns void
language plpgsql volatile as $$
begin
    insert into {schema}.notification (incident_id, tenant_id, cycle, step, event, channel)
    select n.incident_id, n.tenant_id, n.cycle, 0, p_event, n.channel
      from {schema}.notification n join {schema}.incident i on i.id = n.incident_id and i.cycle = n.cycle
     where n.incident_id = p_id and n.event = 'trigger' and n.status in ('pending', 'sent')
     group by n.incident_id, n.tenant_id, n.cycle, n.channel
    on conflict do nothing;
end
$$;

-- Whom an incident was told, in order. Under the policy of the scope.
create function {schema}.read_notifications(p_incident uuid)
returns table (event text, step integer, channel text, instead_of text, status text, due_at timestamptz, sent_at timestamptz,
    tries integer, error text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select n.event, n.step, n.channel, n.instead_of, n.status, n.due_at, n.sent_at, n.tries, n.error
      from {schema}.notification n where n.incident_id = p_incident order by n.id limit 1000;
end
$$;

-- Seconds until a round of escalation has something to do; NULL: nothing is in sight. What a round looks at first, without
-- a lock.
create function {schema}.next_escalation(p_channels text[]) returns double precision
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    if exists (select from {schema}.dead_news) or exists (
        select from {schema}.notification n where n.status = 'pending' and n.due_at is null)
    then
        return 0;
    end if;
    return extract(epoch from least((select min(i.escalate_at) from {schema}.incident i where i.escalate_at is not null),
        (select min(greatest(d.due_at, case when s.failing_since is null then s.next_at end))
           from unnest(p_channels) as c(name)
          cross join lateral (select min(n.due_at) as due_at from {schema}.notification n
                               where n.channel = c.name and n.status = 'pending') d
           left join {schema}.channel_state s on s.channel = c.name)) - moment)::double precision;
end
$$;

-- Takes steps of escalation policies: [{id, cycle, step, next_step, next_at, told: [{channel, step}]}]. An incident that
-- stands elsewhere by now is left alone.
create function {schema}.take_steps(p_steps jsonb) returns void
language plpgsql volatile as $$
declare
    item jsonb;
    own {schema}.incident;
begin
    for item in select s.item from jsonb_array_elements(p_steps) as s(item) order by s.item ->> 'id' loop
        update {schema}.incident i
           set step = (item ->> 'next_step')::integer, escalate_at = (item ->> 'next_at')::timestamptz
         where i.id = (item ->> 'id')::uuid and i.cycle = (item ->> 'cycle')::integer and i.step = (item ->> 'step')::integer
        returning i.* into own;
        if not found then
            continue;
        end if;
        insert into {schema}.notification (incident_id, tenant_id, cycle, step, event, channel)
        select own.id, own.tenant_id, own.cycle, t.step, 'trigger', t.channel
          from jsonb_to_recordset(item -> 'told') as t(channel text, step integer) order by t.step
        on conflict do nothing;
        if own.resolved_at is not null then
            perform {schema}.tell_again(own.id, 'resolve');
        elsif own.acknowledged_at is not null then
            perform {schema}.tell_again(own.id, 'acknowledge');
        end if;
    end loop;
end
$$;

-- When each is to be sent; never before what went before it of the same incident on the same channel.
create function {schema}.plan_notifications(p_ids uuid[], p_due timestamptz[]) returns void
language plpgsql volatile as $$
declare
    one record;
begin
    for one in select u.id, u.due from unnest(p_ids, p_due) as u(id, due) order by u.id loop
        update {schema}.notification n
           set due_at = greatest(one.due, (select max(e.due_at) from {schema}.notification e
                                            where e.incident_id = n.incident_id and e.channel = n.channel and e.id < n.id
                                              and e.status = 'pending'))
         where n.id = one.id and n.status = 'pending' and n.due_at is null;
    end loop;
end
$$;

-- What is due on a channel, in order, with all that a message may say. The job is the last of the incident's.
create function {schema}.due_notifications(p_channel text, p_most integer)
returns table (id uuid, incident_id uuid, event text, step integer, cycle integer, instead_of text, tries integer, kind text,
    key text, severity text, title text, facts jsonb, queue text, job_type text, tenant text, count bigint, jobs bigint, tenants bigint,
    opened_at timestamptz, acknowledged_by text, resolved_at timestamptz, note text, job_id uuid, action text, fields jsonb,
    secret_keys text[], reopened integer)
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    select n.id, n.incident_id, n.event, n.step, n.cycle, n.instead_of, n.tries, i.kind, i.key, i.severity::text, i.title, i.facts, i.queue,
           i.job_type, (select t.slug from {schema}.tenant t where t.id = i.tenant_id), i.count, i.jobs,
           (select count(*) from {schema}.incident_part t where t.incident_id = i.id), i.opened_at, i.acknowledged_by,
           i.resolved_at, i.note, b.id, d.action,
           (select jsonb_object_agg(f.name, b.payload -> f.name) from unnest(d.escalation_fields) as f(name)
             where b.payload ? f.name), d.secret_keys, i.reopened
      from {schema}.notification n
      join {schema}.incident i on i.id = n.incident_id
      left join {schema}.job_definition d on d.key = i.job_type
      left join lateral (select j.id, j.payload from {schema}.any_job j where j.id = (i.facts ->> 'job_id')::uuid offset 0) b on true
     where n.channel = p_channel and n.status = 'pending' and n.due_at <= moment
     order by n.due_at, n.id limit p_most;
end
$$;

create function {schema}.read_channel_states()
returns table (channel text, next_at timestamptz, failures integer, failing_since timestamptz, last_sent_at timestamptz,
    last_error text, waiting bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select coalesce(s.channel, w.channel), s.next_at, coalesce(s.failures, 0), s.failing_since, s.last_sent_at, s.last_error,
           coalesce(w.n, 0)
      from {schema}.channel_state s
      full join (select n.channel, count(*) as n from {schema}.notification n where n.status = 'pending' group by 1) w
             on w.channel = s.channel
     where {schema}.sees_all() order by 1;
end
$$;

-- They are sent: the channel works, and may be used again in p_gap seconds.
create function {schema}.note_sent(p_channel text, p_ids uuid[], p_gap double precision) returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    failed timestamptz;
begin
    update {schema}.notification n set status = 'sent', sent_at = moment, error = null where n.id = any (p_ids);
    select s.failing_since into failed from {schema}.channel_state s where s.channel = p_channel;
    insert into {schema}.channel_state as s (channel, next_at, last_sent_at)
    values (p_channel, moment + p_gap * interval '1 second', moment)
    on conflict (channel) do update
       set next_at = excluded.next_at, last_sent_at = excluded.last_sent_at, failures = 0, failing_since = null, last_error = null;
    if failed is not null then
        perform {schema}.resolve_incident('notification', p_channel);
    end if;
end
$$;

-- A try failed: the channel rests for p_wait seconds. p_counts: 1, or 0 where the service only asked to wait. Answers how
-- often it failed in a row.
create function {schema}.note_unsent(p_channel text, p_ids uuid[], p_error text, p_wait double precision, p_counts integer)
returns integer
language plpgsql volatile as $$
declare
    failed integer;
begin
    update {schema}.notification n set error = left(p_error, 500) where n.id = any (p_ids);
    insert into {schema}.channel_state as s (channel, next_at, failures, last_error)
    values (p_channel, {schema}.now() + p_wait * interval '1 second', p_counts, left(p_error, 500))
    on conflict (channel) do update
       set next_at = excluded.next_at, failures = s.failures + p_counts, last_error = excluded.last_error
    returning s.failures into failed;
    return failed;
end
$$;

-- Hands what is due on a channel (p_ids: or these) to another one, at once. What was told there already is not told again.
create function {schema}.move_notifications(p_channel text, p_to text, p_ids uuid[]) returns integer
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    moved integer;
begin
    with gone as (
        update {schema}.notification n set status = 'moved'
         where n.channel = p_channel and n.status = 'pending' and n.due_at <= moment and (p_ids is null or n.id = any (p_ids))
        returning n.*
    )
    insert into {schema}.notification (incident_id, tenant_id, cycle, step, event, channel, instead_of, due_at)
    select g.incident_id, g.tenant_id, g.cycle, g.step, g.event, p_to, coalesce(g.instead_of, p_channel), moment
      from gone g order by g.id
    on conflict do nothing;
    get diagnostics moved = row_count;
    return moved;
end
$$;

-- The channel does not work: one incident for as long as that lasts. True: it began now.
create function {schema}.note_failing(p_channel text, p_error text) returns boolean
language plpgsql volatile as $$
begin
    update {schema}.channel_state s set failing_since = {schema}.now() where s.channel = p_channel and s.failing_since is null;
    if not found then
        return false;
    end if;
    perform {schema}.raise_incident('notification', p_channel, 'critical', 'channel ' || p_channel || ' does not work: ' || p_error,
        jsonb_build_object('channel', p_channel, 'error', left(p_error, 500)));
    return true;
end
$$;

-- Dead letters that no incident counts yet: a row is here from the commit of who gave the job up, however late it comes.
create table {schema}.dead_news (
    job_id uuid primary key
);

create function {schema}.dead_letter_came() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into {schema}.dead_news (job_id) select c.id from came c on conflict do nothing;
    return null;
end
$$;
create trigger came after insert on {schema}.dead_letter referencing new table as came
    for each statement execute function {schema}.dead_letter_came();

-- Raises an incident for each group of jobs that were given up: those of one type that failed alike, whoever's they are.
-- Jobs that notify never count: what they fail at is the channel's own incident. Answers how many it took.
create function {schema}.count_dead_letters(p_most integer) returns integer
language plpgsql volatile as $$
declare
    taken uuid[];
    one record;
begin
    with gone as (
        delete from {schema}.dead_news w where w.job_id = any (array(
            select x.job_id from {schema}.dead_news x order by x.job_id limit p_most for update skip locked))
        returning w.job_id
    )
    select array_agg(g.job_id) into taken from gone g;
    for one in
        select coalesce(b.job_type, 'unknown') as job_type, coalesce(d.error_group, d.error_class, d.reason) as cause, d.tenant_id,
               d.queue, array_agg(d.id order by d.failed_at desc, d.id desc) as ids,
               (array_agg(jsonb_build_object('job_id', d.id, 'reason', d.reason, 'error_class', d.error_class,
                    'error', left(d.error_message, 500), 'attempts', d.attempts) order by d.failed_at desc, d.id desc))[1] as facts
          from {schema}.dead_letter d
          left join lateral (select j.job_type from {schema}.any_job j where j.id = d.id offset 0) b on true
         where d.id = any (taken) and b.job_type is distinct from 'postmill.notify'
         group by 1, 2, 3, 4 order by 1, 2, 3, 4
    loop
        -- A budget that is used up is no fault of the job, and not for the pager.
        perform {schema}.note_incident(case one.facts ->> 'reason' when 'budget_exhausted' then 'budget' else 'job_exhausted' end,
            left(one.job_type || ':' || one.cause, 500), case one.facts ->> 'reason' when 'budget_exhausted' then 'info' else 'critical' end,
            one.job_type || ' was given up: ' || concat_ws(': ', coalesce(one.facts ->> 'error_class', one.facts ->> 'reason'),
                left(one.facts ->> 'error', 200)), one.facts || jsonb_build_object('group', one.cause), one.tenant_id,
            case when one.facts ->> 'reason' <> 'budget_exhausted' then one.queue end, one.job_type, one.ids);
    end loop;
    return coalesce(cardinality(taken), 0);
end
$$;

-- What is wrong by now that goes on being so: raised where it is not open yet, else its facts are the latest.
create function {schema}.hold_incident(p_kind text, p_key text, p_severity text, p_title text, p_facts jsonb, p_tenant uuid,
    p_queue text, p_job_type text) returns void
language plpgsql volatile as $$
begin
    update {schema}.incident i
       set title = left(p_title, 500), facts = i.facts || p_facts, last_at = {schema}.now(),
           severity = case when {schema}.severity_rank(p_severity) > {schema}.severity_rank(i.severity) then p_severity else i.severity end
     where i.kind = p_kind and i.key = p_key and i.resolved_at is null;
    if not found then
        perform {schema}.raise_incident(p_kind, p_key, p_severity, p_title, p_facts, p_tenant, p_queue, p_job_type);
    end if;
end
$$;

-- Ends the open incidents of a kind whose keys begin so and are not among these.
create function {schema}.end_others(p_kind text, p_prefix text, p_keys text[]) returns void
language plpgsql volatile as $$
declare
    one text;
begin
    for one in select i.key from {schema}.incident i
                where i.kind = p_kind and i.resolved_at is null and starts_with(i.key, p_prefix)
                  and i.key <> all (coalesce(p_keys, '{}')) order by i.key loop
        perform {schema}.resolve_incident(p_kind, one);
    end loop;
end
$$;
