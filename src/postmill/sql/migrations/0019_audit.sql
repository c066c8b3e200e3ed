-- postmill: safe
-- Who did what. audit_log takes rows and never changes them; audit_chain seals them one after the other, so that what
-- was written cannot be changed or taken out unseen. Sealing is a round of upkeep and not part of the writer's
-- transaction: a chain needs one order, and a caller's long transaction would hold up everybody who is audited.

-- db_role is the role that the database itself knows of: what a session says about its actor is its own word. address is
-- where a request came from, as the server saw it.
create table {schema}.audit_log (
    id uuid primary key,
    at timestamptz not null,
    tenant_id uuid,
    actor_type text collate "C" not null,
    actor_id text,
    role text collate "C",
    via text collate "C" not null check (via in ('api', 'console', 'cli', 'sql', 'upkeep')),
    action text collate "C" not null,
    target_kind text collate "C",
    target text,
    result text collate "C" not null check (result in ('done', 'denied', 'refused')),
    reason text,
    request_id text,
    before jsonb,
    after jsonb,
    db_role text not null,
    address text
);
create index audit_log_at on {schema}.audit_log (at, id);
create index audit_log_tenant on {schema}.audit_log (tenant_id, at, id);
-- The tenant is last: a tenant's look passes over others' rows within the index.
create index audit_log_action on {schema}.audit_log (action, at, id, tenant_id);
create index audit_log_actor on {schema}.audit_log (actor_id, at, id, tenant_id);
create index audit_log_target on {schema}.audit_log (target_kind, target, at, id, tenant_id);
-- What people and programs did themselves, without each job that upkeep has replayed or canceled for them.
create index audit_log_asked on {schema}.audit_log (at, id, tenant_id) where via <> 'upkeep';
create index audit_log_not_done on {schema}.audit_log (at, id, tenant_id) where result <> 'done';

-- What is not in the chain yet. A row is here from the commit of its writer to the next round, however late that commit
-- comes: a round never has to guess how far back it must look.
create table {schema}.audit_unsealed (
    id uuid primary key
);

create table {schema}.audit_chain (
    n bigint primary key,
    audit_id uuid not null unique references {schema}.audit_log (id) on delete cascade,
    hash bytea not null check (length(hash) = 32),
    sealed_at timestamptz not null default {schema}.now()
);

insert into {schema}.upkeep (name) values ('seal');

-- Appends to the chain, from p_n on. Called under the lock of the round; whoever comes with another beginning than the
-- end of the chain is refused by its keys.
create function {schema}.seal(p_n bigint, p_ids uuid[], p_hashes bytea[]) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into {schema}.audit_chain (n, audit_id, hash)
    select p_n + u.i - 1, u.id, u.hash from unnest(p_ids, p_hashes) with ordinality as u(id, hash, i);
    delete from {schema}.audit_unsealed x where x.id = any (p_ids);
end
$$;

create function {schema}.refuse_rewriting() returns trigger
language plpgsql as $$
begin
    raise exception '% in %.% is refused: what was audited stays as it was written', lower(tg_op), tg_table_schema, tg_table_name
        using errcode = 'restrict_violation';
end
$$;

-- Only what is before the noted start of the chain goes (prune_audit).
create function {schema}.refuse_deleting() returns trigger
language plpgsql as $$
begin
    if not exists (select from {schema}.audit_start s
                    where s.n >= case tg_table_name when 'audit_chain' then (to_jsonb(old) ->> 'n')::bigint
                                 else (select c.n from {schema}.audit_chain c where c.audit_id = (to_jsonb(old) ->> 'id')::uuid) end) then
        raise exception 'delete in %.% is refused: what was audited stays as it was written', tg_table_schema, tg_table_name
            using errcode = 'restrict_violation';
    end if;
    return old;
end
$$;

create trigger never_rewritten before update or truncate on {schema}.audit_log
    for each statement execute function {schema}.refuse_rewriting();
create trigger never_rewritten before update or truncate on {schema}.audit_chain
    for each statement execute function {schema}.refuse_rewriting();
create trigger never_deleted before delete on {schema}.audit_log for each row execute function {schema}.refuse_deleting();
create trigger never_deleted before delete on {schema}.audit_chain for each row execute function {schema}.refuse_deleting();

-- A request, a console page, a command of the CLI say who acts by settings of their transaction (set_actor); plain SQL
-- is the database role itself.
create function {schema}.audit(p_action text, p_target_kind text default null, p_target text default null,
    p_tenant uuid default null, p_before jsonb default null, p_after jsonb default null, p_reason text default null,
    p_result text default 'done') returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid := {schema}.new_id();
begin
    perform {schema}.refuse_acts_on(p_tenant);
    insert into {schema}.audit_log (id, at, tenant_id, actor_type, actor_id, role, via, action, target_kind, target, result,
           reason, request_id, before, after, db_role, address)
    values (own, {schema}.now(), p_tenant,
            coalesce(nullif(current_setting('postmill.actor_type', true), ''), 'user'),
            coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user),
            nullif(current_setting('postmill.actor_role', true), ''),
            coalesce(nullif(current_setting('postmill.via', true), ''), 'sql'),
            p_action, p_target_kind, left(p_target, 500), p_result, left(p_reason, 2000),
            nullif(current_setting('postmill.request_id', true), ''), p_before, p_after, session_user,
            nullif(current_setting('postmill.address', true), ''));
    insert into {schema}.audit_unsealed (id) values (own);
    return own;
end
$$;

-- Says for the rest of the transaction who acts, and from where.
create function {schema}.set_actor(p_via text, p_actor_type text, p_actor_id text, p_role text default null,
    p_request_id text default null, p_address text default null) returns void
language plpgsql volatile as $$
begin
    perform set_config('postmill.via', coalesce(p_via, ''), true),
            set_config('postmill.actor_type', coalesce(p_actor_type, ''), true),
            set_config('postmill.actor_id', coalesce(p_actor_id, ''), true),
            set_config('postmill.actor_role', coalesce(p_role, ''), true),
            set_config('postmill.request_id', coalesce(p_request_id, ''), true),
            set_config('postmill.address', coalesce(p_address, ''), true);
end
$$;

-- Up to which moment history is settled: nothing that is recorded before it can still be committed. A reader that keeps
-- below it never misses a late commit, however long a writer's transaction lasts.
--   at: the clock, read before the open transactions were listed. What commits later and was not listed began after it.
--   open: those transactions (virtual ids, and x<xid> for prepared ones) of which some still last.
create table {schema}.audit_horizon (
    only_row boolean primary key default true check (only_row),
    settled timestamptz not null,
    at timestamptz,
    open text[] collate "C" not null default '{}'
) with (fillfactor = 50);
insert into {schema}.audit_horizon (settled) values ({schema}.now());

-- The transactions of this database that may still write: by their virtual ids, the lock that each holds from its
-- beginning to its end. p_writing leaves out those that can write only what is recorded later: without a
-- transaction id, without a table locked for writing, waiting for nothing. So neither a report nor a dump holds
-- readers up, but for a second in which a statement may be between its look at the clock and its first lock.
create function {schema}.open_transactions(p_writing boolean) returns text[]
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        with held as materialized (
            select l.pid, l.virtualtransaction, l.locktype, l.mode, l.granted from pg_locks l
        )
        select h.virtualtransaction from held h join pg_stat_activity a on a.pid = h.pid
         where h.locktype = 'virtualxid' and h.mode = 'ExclusiveLock'
           and a.datid = (select d.oid from pg_database d where d.datname = current_database())
           and (not p_writing or exists (
                select from held o where o.virtualtransaction = h.virtualtransaction
                   and (o.locktype = 'transactionid' or not o.granted
                        or (o.locktype = 'relation' and o.mode in ('RowShareLock', 'RowExclusiveLock'))))));
end
$$;

-- One step: settles the noted moment if all that was open then has ended, and notes a new one. Any reader and the round
-- of upkeep take it; who finds another one at it reads what is noted.
create function {schema}.advance_horizon() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    noted {schema}.audit_horizon;
    moment timestamptz := {schema}.now();
    lasting text[];
    prepared text[];
begin
    select h.* into noted from {schema}.audit_horizon h for update skip locked;
    if not found then
        return (select h.settled from {schema}.audit_horizon h);
    end if;
    prepared := array(select 'x' || p.transaction::text from pg_prepared_xacts p where p.database = current_database());
    if noted.at is not null then
        lasting := {schema}.open_transactions(moment > noted.at + interval '1 second');
        lasting := array(select o.id from unnest(noted.open) as o(id) where o.id = any (lasting) or o.id = any (prepared));
        -- One that has vanished from the list may have been prepared.
        if exists (select from unnest(noted.open) as o(id) where o.id not like 'x%' and o.id <> all (lasting)) then
            lasting := array(select unnest(lasting) union select unnest(prepared));
        end if;
        if cardinality(lasting) > 0 then
            update {schema}.audit_horizon h set open = lasting where h.open is distinct from lasting;
            return noted.settled;
        end if;
        noted.settled := greatest(noted.settled, noted.at - interval '1 second');
    end if;
    update {schema}.audit_horizon h
       set settled = noted.settled, at = moment, open = {schema}.open_transactions(false) || prepared;
    return noted.settled;
end
$$;

-- History is read by the moment of its recording. These indexes cost a report nothing that can be measured (a range of
-- pages has one entry), where a b-tree would have one for each row. The entry tells also which tenants a range has
-- none of: who has ten jobs among others' million finds them without a look at all of those.
create index outcome_finished_at on {schema}.outcome using brin (finished_at, tenant_id uuid_bloom_ops)
    with (pages_per_range = 16, autosummarize = on);
create index attempt_finished_at on {schema}.attempt using brin (finished_at, tenant_id uuid_bloom_ops)
    with (pages_per_range = 16, autosummarize = on);

-- How many rows a stretch of history has, of one tenant or of all (p_tenant NULL), counted up to p_most: to choose how
-- much of it a page reads at once.
create function {schema}.history_size(p_low timestamptz, p_high timestamptz, p_most integer, p_tenant uuid) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set plan_cache_mode = force_custom_plan as $$
begin
    return (select count(*) from (select from {schema}.job j
                                   where j.id >= {schema}.id_at(p_low)
                                     and j.id < {schema}.id_at(p_high + interval '1 millisecond')
                                     and (p_tenant is null or j.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from {schema}.outcome o
                                   where o.finished_at >= p_low and o.finished_at < p_high
                                     and (p_tenant is null or o.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from {schema}.attempt a
                                   where a.finished_at >= p_low and a.finished_at < p_high
                                     and (p_tenant is null or a.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from {schema}.audit_log l
                                   where l.at >= p_low and l.at < p_high
                                     and (p_tenant is null or l.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from {schema}.dead_letter d
                                   where d.failed_at >= p_low and d.failed_at < p_high
                                     and (p_tenant is null or d.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from {schema}.job_kept k
                                   where k.id >= {schema}.id_at(p_low)
                                     and k.id < {schema}.id_at(p_high + interval '1 millisecond')
                                     and (p_tenant is null or k.tenant_id = p_tenant) limit p_most) x);
end
$$;

-- The life of jobs within a stretch of history, of one tenant or of all (p_tenant NULL), as events: a projection over
-- bodies, attempts and outcomes. A start is told together with the end of its attempt, as it is recorded. key orders what is recorded at one moment: by job,
-- execution and rank, so that each job's events come in their true order.
create function {schema}.job_events(p_low timestamptz, p_high timestamptz, p_tenant uuid)
returns table (recorded_at timestamptz, key text, event text, happened_at timestamptz, job_id uuid, attempt integer,
    status text, reason text, error_class text, started_at timestamptz, finished_at timestamptz)
language plpgsql volatile set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
begin
    return query
    select {schema}.id_time(b.id), b.id::text || '.000000.0', 'job.enqueued', b.created_at, b.id, 0, null::text, null::text,
           null::text, null::timestamptz, null::timestamptz
      from (select j.id, j.created_at from {schema}.job j
             where j.id >= {schema}.id_at(p_low) and j.id < {schema}.id_at(p_high + interval '1 millisecond')
               and (p_tenant is null or j.tenant_id = p_tenant)
            union all
            select k.id, k.created_at from {schema}.job_kept k
             where k.id >= {schema}.id_at(p_low) and k.id < {schema}.id_at(p_high + interval '1 millisecond')
               and (p_tenant is null or k.tenant_id = p_tenant)) b
     where {schema}.id_time(b.id) >= p_low and {schema}.id_time(b.id) < p_high;

    return query
    select t.finished_at, t.job_id::text || '.' || lpad(t.run::text, 6, '0') || '.' || e.rank, e.event,
           case e.rank when 1 then t.started_at else t.finished_at end, t.job_id, t.run,
           case when e.rank > 1 then t.status end, case when e.rank > 2 then t.reason end,
           case when e.rank > 1 then t.error_class end, t.started_at, case when e.rank > 1 then t.finished_at end
      from (select a.job_id, a.run, a.status, a.started_at, a.finished_at, a.error_class, d.reason, d.buried
              from {schema}.attempt a
             cross join lateral (
                   select max(g.reason) as reason, count(*) > 0 as buried
                     from (select l.reason from {schema}.dead_letter l where l.id = a.job_id and l.run = a.run
                           union all
                           select o.reason from {schema}.outcome o
                            where o.job_id = a.job_id and o.run = a.run and o.holder is null
                              and o.status in ('dead_letter', 'failed') offset 0) g) d
             where a.finished_at >= p_low and a.finished_at < p_high and (p_tenant is null or a.tenant_id = p_tenant)) t
     cross join lateral (values (1, 'job.started'),
           (2, case when t.status in ('failed', 'timeout', 'lost') then 'job.failed' end),
           (3, case when t.buried then 'job.deadlettered' else 'job.retried' end)) e(rank, event)
     where e.event is not null;

    return query
    select o.finished_at, o.job_id::text || '.' || lpad(o.run::text, 6, '0') || '.' || e.rank, e.event,
           case e.rank when 1 then o.started_at else o.finished_at end, o.job_id, o.run,
           case when e.rank > 1 then o.status end, case when e.rank > 1 then o.reason end,
           case when e.rank > 1 then o.error_class end, o.started_at, case when e.rank > 1 then o.finished_at end
      from {schema}.outcome o
     cross join lateral (values (1, case when o.holder is not null and o.attempt_status is not null then 'job.started' end),
           (2, case when o.holder is not null or o.status = 'canceled' then 'job.' || o.status end),
           -- A dead letter that was closed: told with its last attempt, if it had one.
           (3, case when o.holder is null and o.status in ('dead_letter', 'failed') and not exists (
                         select from {schema}.attempt a where a.job_id = o.job_id and a.run = o.run)
                    then 'job.deadlettered' end)) e(rank, event)
     where o.finished_at >= p_low and o.finished_at < p_high and (p_tenant is null or o.tenant_id = p_tenant)
       and e.event is not null;

    return query
    select l.failed_at, l.id::text || '.' || lpad(l.run::text, 6, '0') || '.3', 'job.deadlettered', l.failed_at, l.id, l.run,
           'dead_letter', l.reason, l.error_class, l.last_attempt_at, l.failed_at
      from {schema}.dead_letter l
     where l.failed_at >= p_low and l.failed_at < p_high and (p_tenant is null or l.tenant_id = p_tenant)
       and not exists (select from {schema}.attempt a where a.job_id = l.id and a.run = l.run);
end
$$;

-- One page of the log alone, the newest first, below (p_before, p_id) and not before p_since. Who is bound to a tenant
-- names it in the condition, so that the index by tenant serves him; the policy alone would filter everybody's rows. Each
-- call is planned for what it asks, or no index by action, actor or target would serve it. p_via asked: all but upkeep.
create function {schema}.read_audit_log(p_before timestamptz, p_id uuid, p_most integer, p_action text default null,
    p_actor text default null, p_target_kind text default null, p_target text default null, p_result text default null,
    p_via text default null, p_since timestamptz default null, p_tenant uuid default null)
returns setof {schema}.audit_log
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := coalesce({schema}.scope_tenant(), p_tenant);
begin
    return query
    select l.* from {schema}.audit_log l
     where (l.at, l.id) < (p_before, p_id) and (p_since is null or l.at >= p_since) and (own is null or l.tenant_id = own)
       and (p_action is null or l.action = p_action) and (p_actor is null or l.actor_id = p_actor)
       and (p_target_kind is null or l.target_kind = p_target_kind) and (p_target is null or l.target = p_target)
       and (p_result is null or (l.result = p_result and (p_result = 'done' or l.result <> 'done')))
       and (p_via is null or case when p_via = 'asked' then l.via <> 'upkeep' else l.via = p_via end)
     order by l.at desc, l.id desc limit p_most;
end
$$;

-- The beginning of history: what a reader without a cursor starts from.
create function {schema}.read_history_start() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return least((select l.at from {schema}.audit_log l order by l.at limit 1),
                 (select min(p.since) from {schema}.partition p),
                 (select {schema}.id_time(k.id) from {schema}.job_kept k order by k.id limit 1));
end
$$;
