-- postmill: safe
-- How long what is kept: one rule for each subject, for everybody or for one tenant, and what carries the rules out.
-- History goes by whole partitions at the platform's retention (the longest of succeeded, failed and canceled). Where a rule
-- says less, rows go before their partition; where it says more, they stay in a partition of their own (thin).

create domain {schema}.retention_subject as text collate "C" check (value in ('succeeded', 'failed', 'canceled', 'archive_after',
    'dead_letter', 'archive', 'events', 'audit', 'incidents', 'budgets', 'operations', 'error_groups', 'rollup_minutes',
    'rollups'));

-- keep NULL: for ever. source settings: what a worker's settings say; an operator's rule goes before it.
create table {schema}.retention_rule (
    tenant_id uuid references {schema}.tenant (id),
    subject {schema}.retention_subject not null,
    source text collate "C" not null default 'operator' check (source in ('operator', 'settings')),
    keep interval check (keep >= interval '0'),
    changed_at timestamptz not null default {schema}.now(),
    unique nulls not distinct (tenant_id, subject, source),
    check (tenant_id is null or source = 'operator')
);

-- Dead letters for one of these reasons, or with such an error code, are never deleted.
alter table {schema}.partition_policy add column keep_reasons text[] collate "C" not null default '{subject_deleted}';
alter table {schema}.partition add column thin boolean not null default false;

-- How far the rows of a status were taken one by one, and how much time the next slice holds; tenant_id NULL: of
-- everybody without a rule of his own. Begins anew whenever a rule changes.
create table {schema}.retention_progress (
    tenant_id uuid,
    subject text collate "C" not null,
    until timestamptz not null,
    width interval not null,
    unique nulls not distinct (tenant_id, subject)
);

-- What is before the first link of the chain of the audit log.
create table {schema}.audit_start (
    only_row boolean primary key default true check (only_row),
    n bigint not null default 0,
    hash bytea not null default decode(repeat('00', 32), 'hex') check (length(hash) = 32)
);
insert into {schema}.audit_start default values;

-- Where no rule says anything. A thousand years stand for ever.
create function {schema}.retention_default(p_subject text) returns interval
language plpgsql immutable parallel safe as $$
begin
    return case p_subject when 'dead_letter' then interval '90 days' when 'archive' then interval '730 days'
        when 'audit' then interval '730 days' when 'incidents' then interval '365 days' when 'budgets' then interval '400 days'
        when 'operations' then interval '90 days' when 'error_groups' then interval '365 days'
        when 'rollups' then interval '730 days' else interval '30 days' end;
end
$$;

-- How long a subject is kept, of one tenant or (NULL) of everybody without a rule of his own.
create function {schema}.keep_of(p_subject text, p_tenant uuid default null) returns interval
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    rule {schema}.retention_rule;
begin
    select r.* into rule from {schema}.retention_rule r where r.tenant_id = p_tenant and r.subject = p_subject;
    if not found and p_tenant is not null and p_subject in ('succeeded', 'failed', 'canceled') then
        select t.retention into rule.keep from {schema}.tenant t where t.id = p_tenant;
        if rule.keep is not null then
            return rule.keep;
        end if;
    end if;
    if rule.subject is null then
        select r.* into rule from {schema}.retention_rule r
         where r.tenant_id is null and r.subject = p_subject order by r.source limit 1; -- operator before settings
    end if;
    if rule.subject is not null then
        return coalesce(rule.keep, interval '1000 years');
    elsif p_subject in ('succeeded', 'failed', 'canceled', 'events') then
        return (select p.retention from {schema}.partition_policy p);
    end if;
    return {schema}.retention_default(p_subject);
end
$$;

-- The statuses that are kept for another time than the partitions: of tenants with rules of their own, and of all others.
create function {schema}.retention_classes() returns table (tenant_id uuid, status text, keep interval)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select c.* from (
        select o.id, s.name, {schema}.keep_of(s.name, o.id) as keep
          from (select t.id from {schema}.tenant t where t.retention is not null
                union select r.tenant_id from {schema}.retention_rule r where r.tenant_id is not null
                union select null) o(id)
         cross join unnest(array['succeeded', 'failed', 'canceled']) as s(name)) c
     where c.keep <> (select p.retention from {schema}.partition_policy p) or c.id is not null
     order by c.id nulls first, c.name;
end
$$;

-- The partitions' retention follows the rules of everybody; what was taken row by row is looked at anew.
create function {schema}.settle_retention() returns void
language plpgsql volatile as $$
declare
    longest interval;
begin
    select max(coalesce((select r.keep from {schema}.retention_rule r where r.tenant_id is null and r.subject = s.name
                          order by r.source limit 1), interval '30 days'))
      into longest from unnest(array['succeeded', 'failed', 'canceled']) as s(name);
    update {schema}.partition_policy p set retention = longest where p.retention <> longest;
    delete from {schema}.retention_progress;
end
$$;

-- What the settings of a worker say: {"subject": seconds or null}. Whatever is not named stays.
create function {schema}.set_retention(p_keep jsonb, p_width double precision, p_reasons text[]) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    n integer;
begin
    update {schema}.partition_policy p
       set width = coalesce(p_width * interval '1 second', p.width), keep_reasons = coalesce(p_reasons, p.keep_reasons)
     where (p.width, p.keep_reasons) is distinct from (coalesce(p_width * interval '1 second', p.width),
                                                       coalesce(p_reasons, p.keep_reasons));
    insert into {schema}.retention_rule as r (subject, source, keep)
    select e.key, 'settings', (e.value #>> '{}')::double precision * interval '1 second' from jsonb_each(p_keep) e
    on conflict (tenant_id, subject, source) do update set keep = excluded.keep, changed_at = {schema}.now()
     where r.keep is distinct from excluded.keep;
    get diagnostics n = row_count;
    if n > 0 then
        perform {schema}.settle_retention();
    end if;
end
$$;

-- Takes out of one partition the bodies that are still needed, into job_kept: a ticket waits, or history that stays speaks
-- of them. Probes the (small) ticket tables by id range, never the bodies one by one.
create function {schema}.keep_survivors(p_name text, p_low uuid, p_high uuid, p_after timestamptz, p_moment timestamptz)
returns bigint
language plpgsql volatile as $$
declare
    kept bigint;
    longer text := '';
begin
    if exists (select from {schema}.retention_classes() c where c.keep > p_moment - p_after) then
        longer := $q$
            union select o.job_id from {schema}.outcome o join {schema}.retention_classes() c
                      on c.tenant_id = o.tenant_id and c.status = o.status and o.finished_at >= $4 - c.keep
                   where o.finished_at < $3 and o.job_id >= $1 and o.job_id < $2$q$;
    end if;
    execute format($q$
        with moved as (
            delete from {schema}.%I j using (
                select id from {schema}.ready where id >= $1 and id < $2
                union select id from {schema}.scheduled where id >= $1 and id < $2
                union select id from {schema}.blocked where id >= $1 and id < $2
                union select id from {schema}.running where id >= $1 and id < $2
                union select id from {schema}.dead_letter where id >= $1 and id < $2
                union select job_id from {schema}.outcome where finished_at >= $3 and job_id >= $1 and job_id < $2
                union select job_id from {schema}.attempt where finished_at >= $3 and job_id >= $1 and job_id < $2 %s
            ) t where t.id = j.id returning j.*
        )
        insert into {schema}.job_kept select * from moved on conflict do nothing$q$, p_name, longer)
        using p_low, p_high, p_after, p_moment;
    get diagnostics kept = row_count;
    return kept;
end
$$;

-- What of this partition of history a tenant's rule keeps for longer, in a new table of its own, with what earlier ones
-- hold where there are many of those: its name, NULL where nothing stays. gone: the partitions that it stands for.
create function {schema}.thin_partition(p_old {schema}.partition, p_moment timestamptz, out child text, out since timestamptz,
    out gone text[])
language plpgsql volatile as $$
declare
    low timestamptz;
    n bigint;
    total bigint := 0;
begin
    select array_agg(x.name order by x.since), min(x.since) into gone, low
      from {schema}.partition x where x.parent = p_old.parent and x.thin;
    if coalesce(cardinality(gone), 0) < 4 then
        gone := '{}';
        low := p_old.since;
    end if;
    since := low;
    child := p_old.parent || to_char(low at time zone 'UTC', '_YYYYMMDD_HH24') || to_char(p_old.until at time zone 'UTC', '_YYYYMMDD_HH24');
    execute format('create table {schema}.%I (like {schema}.%I including all)', child, p_old.parent);
    -- With it the partition is attached without a look at its rows.
    execute format('alter table {schema}.%I add check (finished_at >= %L and finished_at < %L)', child, low, p_old.until);
    foreach p_old.name in array gone || p_old.name loop
        execute format($q$
            with moved as (
                delete from {schema}.%I t
                 where exists (select from {schema}.retention_classes() c
                                where c.tenant_id = t.tenant_id and t.finished_at >= $1 - c.keep %s)
                returning t.*)
            insert into {schema}.%I select * from moved$q$, p_old.name,
            case p_old.parent when 'outcome' then 'and c.status = t.status' else '' end, child) using p_moment;
        get diagnostics n = row_count;
        total := total + n;
    end loop;
    if total = 0 then
        execute format('drop table {schema}.%I', child);
        child := null;
        gone := '{}';
    end if;
end
$$;

-- Takes one expired partition out: dropped | detached (it waits to be archived) | busy (somebody holds the table; try
-- again). Bodies go before the history that speaks of them. No row: there is none, or another worker is at it.
--
-- Who waits for an exclusive lock makes everybody behind it wait, so it is asked for with little patience, and under it
-- nothing is done but to detach. It lasts until the end of the transaction: let this be all of it. Everything else is done
-- before, under a lock of the old partition alone, which keeps a late commit out of it and nobody else from anything; the
-- table goes in a transaction of its own (drop_units), or when it was archived.
create function {schema}.prune_partition()
returns table (name text, status text, kept bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    base interval := (select p.retention from {schema}.partition_policy p);
    longest interval := greatest(base, (select max(c.keep) from {schema}.retention_classes() c));
    old {schema}.partition;
    gone text;
    child text;
    child_since timestamptz;
    stood text[] := '{}';
    before text := current_setting('lock_timeout');
    has_rows boolean;
begin
    perform from {schema}.upkeep u where u.name = 'prune' for update skip locked;
    if not found then
        return;
    end if;
    -- Not before its jobs are counted.
    if exists (select from {schema}.rollup_state s where s.counted_to < moment - base) then
        perform {schema}.count_enqueues('-1 hour'), {schema}.count_enqueues('-1 hour');
    end if;
    select x.* into old from {schema}.partition x
     where x.until < moment - case when x.thin then longest else base end
       and x.until < (select s.counted_to from {schema}.rollup_state s)
     order by x.until, x.parent = 'job' desc, x.parent limit 1;
    if not found then
        return;
    end if;
    name := old.name;
    kept := 0;
    perform set_config('lock_timeout', '50ms', true);
    begin
        execute format('lock table {schema}.%I in share mode', old.name);
        if old.parent = 'job' then
            kept := {schema}.keep_survivors(old.name, {schema}.id_at(old.since), {schema}.id_at(old.until), old.until, moment);
        elsif longest > base and not old.thin then
            select t.child, t.since, t.gone into child, child_since, stood from {schema}.thin_partition(old, moment) t;
        end if;
        execute format('select exists (select from {schema}.%I)', old.name) into has_rows;
        status := case when has_rows and {schema}.archive_required() then 'detached' else 'dropped' end;
        delete from {schema}.partition x where x.name = old.name or x.name = any (stood);
        if has_rows then
            perform {schema}.new_unit(old.parent, 'archive', old.since, old.until, old.name);
        end if;
        if child is not null then
            insert into {schema}.partition (parent, name, since, until, thin)
            values (old.parent, child, child_since, old.until, true);
        end if;
        -- A fall of the machine may undo it, as a whole; nobody waits for the disk meanwhile.
        perform set_config('synchronous_commit', 'off', true);

        execute format('lock table {schema}.%I in access exclusive mode', old.parent);
        if has_rows then
            execute format('alter table {schema}.%I detach partition {schema}.%I', old.parent, old.name);
        else
            execute format('drop table {schema}.%I', old.name);
        end if;
        foreach gone in array stood loop
            execute format('drop table {schema}.%I', gone);
        end loop;
        if child is not null then
            execute format('alter table {schema}.%I attach partition {schema}.%I for values from (%L) to (%L)', old.parent, child,
                           to_char(child_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00',
                           to_char(old.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00');
        end if;
    exception when lock_not_available then
        status := 'busy';
        kept := 0;
    end;
    perform set_config('lock_timeout', before, true);
    return next;
end
$$;

-- One slice of what rules take row by row, with attempts and bodies. False: there is nothing more to do.
create function {schema}.retire() returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
    moment timestamptz := {schema}.now();
    class record;
    done {schema}.retention_progress;
    edge timestamptz;
    high timestamptz;
    ids uuid[];
    n integer;
begin
    for class in select c.* from {schema}.retention_classes() c
                  where c.keep <> (select p.retention from {schema}.partition_policy p) loop
        select p.* into done from {schema}.retention_progress p
         where p.tenant_id is not distinct from class.tenant_id and p.subject = class.status;
        if not found then
            done.until := (select min(x.since) from {schema}.partition x where x.parent = 'outcome');
            done.width := interval '1 minute';
        end if;
        edge := {schema}.retention_edge(moment, class.keep);
        while done.until < edge loop
            high := least(done.until + done.width, edge);
            ids := array(
                select o.job_id from {schema}.outcome o
                 where o.finished_at >= done.until and o.finished_at < high and o.status = class.status
                   and case when class.tenant_id is not null then o.tenant_id = class.tenant_id
                            else not exists (select from {schema}.retention_classes() c
                                              where c.tenant_id = o.tenant_id and c.status = class.status) end);
            n := cardinality(ids);
            done.until := high;
            done.width := case when n > 5000 then greatest(done.width / 4, interval '1 millisecond')
                               when n < 1000 then least(done.width * 4, interval '1 day') else done.width end;
            exit when n > 0;
        end loop;
        continue when done.until is null;
        insert into {schema}.retention_progress as p (tenant_id, subject, until, width)
        values (class.tenant_id, class.status, done.until, done.width)
        on conflict (tenant_id, subject) do update set until = excluded.until, width = excluded.width
         where p.until <> excluded.until;
        if n > 0 then
            perform {schema}.leave('outcome', ids, 'archive'), {schema}.leave('attempt', ids, 'archive'),
                    {schema}.leave('job', ids, 'archive'), {schema}.leave('job_kept', ids, 'archive');
            return true;
        end if;
    end loop;
    return false;
end
$$;

-- Up to when something goes that is kept for so long: by steps of a day, or of a tenth of that time, so that what goes
-- to the archive goes there together.
create function {schema}.retention_edge(p_moment timestamptz, p_keep interval) returns timestamptz
language plpgsql immutable parallel safe as $$
begin
    return date_bin(least(interval '1 day', greatest(extract(epoch from p_keep) / 10 * interval '1 second', interval '1 minute')),
                    p_moment - p_keep, timestamptz '2024-01-01 00:00+00');
end
$$;

-- Dead letters that are past their time, with attempts and bodies: to the archive after archive_after; where there is none
-- they are deleted after dead_letter. Returns how many.
create function {schema}.expire_letters(p_most integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    rule text := case when {schema}.archive_required() then 'archive_after' else 'dead_letter' end;
    usual timestamptz := {schema}.retention_edge(moment, least({schema}.keep_of(rule), {schema}.keep_of('dead_letter')));
    latest timestamptz;
    reasons text[];
    ids uuid[];
begin
    select greatest(usual, max({schema}.retention_edge(moment, least({schema}.keep_of(rule, r.tenant_id),
                                                                     {schema}.keep_of('dead_letter', r.tenant_id)))))
      into latest from {schema}.retention_rule r
     where r.tenant_id is not null and r.subject in ('archive_after', 'dead_letter');
    select p.keep_reasons into reasons from {schema}.partition_policy p;
    ids := array(
        select d.id from {schema}.dead_letter d
          left join (select r.tenant_id, {schema}.retention_edge(moment, least({schema}.keep_of(rule, r.tenant_id),
                                                                 {schema}.keep_of('dead_letter', r.tenant_id))) as edge
                       from {schema}.retention_rule r
                      where r.tenant_id is not null and r.subject in ('archive_after', 'dead_letter')
                      group by r.tenant_id) own on own.tenant_id = d.tenant_id
         where d.failed_at < latest and d.failed_at < coalesce(own.edge, usual)
           and d.reason <> all (reasons) and coalesce(d.error_code, '') <> all (reasons)
         order by d.failed_at, d.id limit p_most for update of d skip locked);
    perform {schema}.leave('dead_letter', ids, 'dead_letter'), {schema}.leave('attempt', ids, 'dead_letter'),
            {schema}.leave('job', ids, 'dead_letter'), {schema}.leave('job_kept', ids, 'dead_letter');
    return cardinality(ids);
end
$$;

-- Kept bodies that nothing needs any more, at most p_most.
create function {schema}.prune_kept(p_most integer) returns bigint
language plpgsql volatile as $$
declare
    ids uuid[] := array(
        select k.id from {schema}.job_kept k
         where not exists (select from {schema}.outcome o where o.job_id = k.id)
           and not exists (select from {schema}.attempt a where a.job_id = k.id)
           and not exists (select from {schema}.ready t where t.id = k.id)
           and not exists (select from {schema}.scheduled t where t.id = k.id)
           and not exists (select from {schema}.blocked t where t.id = k.id)
           and not exists (select from {schema}.running t where t.id = k.id)
           and not exists (select from {schema}.dead_letter t where t.id = k.id)
         order by k.id limit p_most for update skip locked);
begin
    perform {schema}.leave('job_kept', ids, 'archive');
    return cardinality(ids);
end
$$;
