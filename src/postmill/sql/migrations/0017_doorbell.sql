-- postmill: safe
-- Going to sleep and waking up (protocol: docs/explanation/doorbell.md).

-- Lays down a row per queue: watch where nobody else watches. Two that come at once may both watch: harmless.
create function {schema}.doze(p_holder uuid, p_queues text[], p_seconds double precision)
returns table (queue text, watch boolean)
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    delete from {schema}.sleeper s where s.holder = p_holder and s.queue = any (p_queues);
    return query
    insert into {schema}.sleeper as n (queue, watch, valid_until, holder)
    select q.name,
           not exists (select from {schema}.sleeper s where s.queue = q.name and s.watch and s.valid_until > moment),
           moment + p_seconds * interval '1 second', p_holder
      from unnest(p_queues) as q(name) order by q.name
    returning n.queue, n.watch;
end
$$;

create function {schema}.wake(p_holder uuid, p_queues text[]) returns void
language plpgsql volatile as $$
begin
    delete from {schema}.sleeper s where s.holder = p_holder and s.queue = any (p_queues);
end
$$;

-- A watchman with its hands full rings one reserve, which becomes the next watchman.
create function {schema}.relay(p_holder uuid, p_queue text) returns boolean
language plpgsql volatile as $$
declare
    next_one uuid;
begin
    delete from {schema}.sleeper s where s.ctid = any (array(
        select r.ctid from {schema}.sleeper r
         where r.queue = p_queue and not r.watch and r.valid_until > (select {schema}.now()) and r.holder <> p_holder
         order by r.valid_until desc limit 1 for update skip locked))
    returning s.holder into next_one;
    if next_one is null then
        return false;
    end if;
    perform {schema}.tell('@' || next_one || ' ' || p_queue);
    return true;
end
$$;

-- A worker goes (drains, ends): where it was the watchman, one reserve is rung and takes its place.
create function {schema}.leave(p_holder uuid) returns void
language plpgsql volatile as $$
declare
    watched text;
begin
    for watched in
        with gone as (delete from {schema}.sleeper s where s.holder = p_holder returning s.queue, s.watch)
        select g.queue from gone g where g.watch
    loop
        perform {schema}.relay(p_holder, watched);
    end loop;
end
$$;

-- The same for sleepers whose lease is over: a dead watchman must not keep a queue deaf until the next poll.
create function {schema}.replace_watchmen() returns void
language plpgsql volatile as $$
declare
    dead uuid;
begin
    for dead in
        select distinct s.holder from {schema}.sleeper s left join {schema}.lease l on l.holder = s.holder
         where l.holder is null or l.expires_at <= (select {schema}.now())
    loop
        perform {schema}.leave(dead);
    end loop;
end
$$;

-- The transactions that have written to ready and are still open: their enqueues may have looked for sleepers too
-- early. Prepared ones hold their locks without a process.
create function {schema}.open_writers() returns text[]
language plpgsql volatile as $$
begin
    return array(select distinct coalesce(l.virtualtransaction, '') from pg_locks l
                  where l.locktype = 'relation' and l.relation = '{schema}.ready'::regclass
                    and l.mode = 'RowExclusiveLock' and l.pid is distinct from pg_backend_pid()
                    and l.database = (select d.oid from pg_database d where d.datname = current_database()));
end
$$;

-- As in 0016: what came since.
do $do$
declare
    f regprocedure;
begin
    for f in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = '{schema}' loop
        execute format('revoke execute on function %s from public', f);
    end loop;
end
$do$;

-- A notification is a hint: left out where the caller asks for it (two-phase commit does not bear it), and where the
-- server's queue of notifications fills up, for then it would raise.
create function {schema}.tell(p_payload text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if coalesce(current_setting('postmill.notify', true), '') <> 'off' and pg_notification_queue_usage() <= 0.5 then
        perform pg_notify('{schema}', left(p_payload, 2000));
    end if;
end
$$;

-- Rings the watchman of a queue if there is one. Called in a statement of its own after the insert: only then
-- is its snapshot younger than the insert's transaction id, and a sleeper cannot be missed. Above READ COMMITTED
-- the snapshot is the transaction's, so it always rings.
create function {schema}.ring(p_queue text, p_lane uuid default null, p_priority integer default null) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if (exists (select from {schema}.sleeper s where s.queue = p_queue and s.watch
                     and s.valid_until > (select {schema}.now()))
            or current_setting('transaction_isolation') <> 'read committed')
    then
        perform {schema}.tell(concat_ws(' ', coalesce(p_lane::text, '*'), coalesce(p_priority::text, '*'), p_queue));
    end if;
end
$$;
