-- postmill: safe
-- Pings for the console's live stream: that something of a topic changed, never what. They go by NOTIFY on the channel
-- {schema}_live, as `topic[,topic …] scope`: the id of a tenant, `-` for what belongs to none, `*` for many tenants. A hint like
-- every notification; and nobody is told while nobody watches. Who makes, claims or ends a job never tells: the round that sums
-- up what happened does, and what an operator does.

-- Servers on which somebody has a live page open.
create table {schema}.live_watch (
    server uuid primary key,
    valid_until timestamptz not null
);

create function {schema}.is_watched() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.live_watch w where w.valid_until > (select {schema}.now()));
end
$$;

-- A server says that it is watched for so many seconds; 0: no longer.
create function {schema}.watch_live(p_server uuid, p_seconds double precision) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    delete from {schema}.live_watch w
     where w.server = any (array(select x.server from {schema}.live_watch x
                                  where x.server = p_server and p_seconds <= 0 or x.valid_until < moment - interval '1 hour'
                                  order by x.server for update skip locked));
    if p_seconds > 0 then
        insert into {schema}.live_watch as w (server, valid_until) values (p_server, moment + p_seconds * interval '1 second')
        on conflict (server) do update set valid_until = excluded.valid_until;
    end if;
end
$$;

create function {schema}.tell_live(p_topics text, p_scope text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if coalesce(current_setting('postmill.notify', true), '') <> 'off' and pg_notification_queue_usage() <= 0.5 then
        perform pg_notify('{schema}_live', p_topics || ' ' || p_scope);
    end if;
end
$$;

-- What somebody did. logins: of this scope one has ended, so that servers look whose streams go on. Of one transaction, the same ping goes once, whatever it did how often.
create function {schema}.tell_audited() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if {schema}.is_watched() then
        perform {schema}.tell_live(
            case split_part(new.action, '.', 1)
                when 'dead' then 'audit,dead,jobs'
                when 'webhooks' then 'audit,triggers'
                when 'keys' then 'audit,settings' || case when new.action = 'keys.revoke' then ',logins' else '' end
                when 'logins' then 'audit,settings' || case when new.action in ('logins.close', 'logins.end') then ',logins' else '' end
                when 'projects' then 'audit,settings'
                when 'archive' then 'audit,system'
                when 'retention' then 'audit,system'
                when 'artifacts' then 'audit,jobs'
                when 'requests' then 'audit'
                else 'audit,' || split_part(new.action, '.', 1) end,
            coalesce(new.tenant_id::text, '-'));
    end if;
    return null;
end
$$;
create trigger told after insert on {schema}.audit_log for each row execute function {schema}.tell_audited();

-- Tells what the round rollup is about to sum up, tenant by tenant up to p_tenants of them. True: somebody watches.
create function {schema}.tell_changes(p_most integer, p_tenants integer default 100) returns boolean
language plpgsql volatile as $$
declare
    one record;
    told integer := 0;
    others text;
    anything boolean := false;
begin
    if not {schema}.is_watched() then
        return false;
    end if;
    for one in
        with happened as materialized (
            select p.tenant_id, p.outcome from {schema}.rollup_part p limit p_most
        ), failed as materialized (
            select e.tenant_id from {schema}.error_group_part e limit p_most
        )
        select c.tenant_id, string_agg(distinct c.topic, ',' order by c.topic) as topics
          from (select h.tenant_id, 'jobs' as topic from happened h
                union select h.tenant_id, 'triggers' from happened h where h.outcome = 'enqueued'
                union select h.tenant_id, 'dead' from happened h where h.outcome in ('dead_letter', 'discarded', 'replayed')
                union select f.tenant_id, 'errors' from failed f
                union select o.tenant_id, 'operations' from {schema}.operation o where o.status = 'running') c
         group by c.tenant_id
    loop
        anything := true;
        told := told + 1;
        if told <= p_tenants then
            perform {schema}.tell_live(one.topics, coalesce(one.tenant_id::text, '-'));
        else
            others := concat_ws(',', others, one.topics);
        end if;
    end loop;
    if others is not null then
        perform {schema}.tell_live((select string_agg(distinct t, ',') from unnest(string_to_array(others, ',')) t), '*');
    end if;
    if anything then
        perform {schema}.tell_live('queues', '-');
    end if;
    return true;
end
$$;

-- Tells that the fleet was measured.
create function {schema}.tell_measured() returns void
language plpgsql volatile as $$
begin
    if {schema}.is_watched() then
        perform {schema}.tell_live('queues,workers,incidents,budgets,definitions,tenants,system', '-');
    end if;
end
$$;
