-- postmill: safe
-- The cold archive. What goes there is a unit: one table's rows of one stretch of time, in a table that was detached from
-- history, or (what goes row by row) in leaving. Workers write it into files outside of any transaction, read it back, and
-- only then is it dropped here: a unit is in the database, or in the archive, or for a moment in both.

-- required: nothing is dropped that was not archived. A worker that has an archive sets it; operator: somebody decided.
create table {schema}.archive_state (
    only_row boolean primary key default true check (only_row),
    required boolean not null default false,
    operator boolean not null default false,
    changed_at timestamptz not null default {schema}.now()
);
insert into {schema}.archive_state default values;

-- columns: names and types of a row, in order. relation: the detached table; NULL: the rows are in leaving. rule: after
-- which the files are deleted. status: filling -> waiting -> archived -> deleted.
create table {schema}.archive_unit (
    id uuid primary key,
    source text collate "C" not null check (source in ('job', 'attempt', 'outcome', 'dead_letter', 'audit_log')),
    rule text collate "C" not null check (rule in ('archive', 'dead_letter')),
    status text collate "C" not null default 'waiting' check (status in ('filling', 'waiting', 'archived', 'deleted')),
    since timestamptz not null,
    until timestamptz not null,
    relation text collate "C",
    columns jsonb not null,
    made_at timestamptz not null,
    rows bigint,
    bytes bigint,
    min_id uuid,
    max_id uuid,
    tenants jsonb not null default '{}',
    manifest jsonb,
    archived_at timestamptz,
    deleted_at timestamptz,
    tries integer not null default 0,
    error text,
    next_try timestamptz not null,
    claimed_by text,
    claimed_until timestamptz
);
create index archive_unit_open on {schema}.archive_unit (next_try, id) where status in ('filling', 'waiting');
create index archive_unit_until on {schema}.archive_unit (until) where status = 'archived';
create index archive_unit_id on {schema}.archive_unit (max_id) where status = 'archived';

create table {schema}.leaving (
    unit_id uuid not null,
    n bigint generated always as identity,
    tenant_id uuid,
    job_id uuid,
    at timestamptz not null,
    fields text[] not null,
    primary key (unit_id, n)
);
create index leaving_job on {schema}.leaving (job_id);

insert into {schema}.upkeep (name) values ('archive');

create function {schema}.archive_required() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return (
    select s.required from {schema}.archive_state s
    );
end
$$;

-- A worker has an archive: from now on it is required, unless an operator decided otherwise.
create function {schema}.archive_here() returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update {schema}.archive_state s set required = true, changed_at = {schema}.now() where not s.required and not s.operator;
    return {schema}.archive_required();
end
$$;

-- A row's fields as texts, for format: those of the columns of a unit. Moments are written as UTC; tags are looked up.
create function {schema}.fields_of(p_columns jsonb, p_row text) returns text
language plpgsql immutable as $$
begin
    return (
    select 'array[' || string_agg(format(case when e.c = '["tags", "jsonb"]' then 'to_jsonb({schema}.tags_of(%1$s.id))::text'
               else case e.c ->> 1 when 'timestamp with time zone'
               then '(%1$s.%2$I at time zone ''UTC'')::text' when 'bytea' then 'encode(%1$s.%2$I, ''hex'')' else '%1$s.%2$I::text' end end,
               p_row, e.c ->> 0), ', ' order by e.n) || ']'
      from jsonb_array_elements(p_columns) with ordinality as e(c, n)
    );
end
$$;

-- The columns of a table: [[name, type], …]; a domain is told as what it is made of.
create function {schema}.columns_of(p_table regclass) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return (
    select jsonb_agg(jsonb_build_array(a.attname, format_type(case t.typtype when 'd' then t.typbasetype else t.oid end, null))
                     order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    );
end
$$;

-- A unit of a detached table, or one to be filled with rows that leave.
create function {schema}.new_unit(p_source text, p_rule text, p_since timestamptz, p_until timestamptz, p_relation text default null)
returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid := {schema}.new_id();
    moment timestamptz := {schema}.now();
begin
    insert into {schema}.archive_unit (id, source, rule, status, since, until, relation, columns, made_at, next_try)
    values (own, p_source, p_rule, case when p_relation is null then 'filling' else 'waiting' end, p_since, p_until,
            p_relation,
            {schema}.columns_of(format('{schema}.%I', p_source)::regclass)
            || case p_source when 'audit_log' then '[["n", "bigint"], ["hash", "bytea"]]'::jsonb
                             when 'job' then '[["tags", "jsonb"]]'::jsonb else '[]'::jsonb end,
            moment, moment);
    return own;
end
$$;

-- The tenants of which nothing goes to the archive: those whose rule for it is no time at all.
create function {schema}.unarchived_tenants() returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return (
    select coalesce(array_agg(r.tenant_id), '{}') from {schema}.retention_rule r
     where r.tenant_id is not null and r.subject = 'archive' and r.keep = interval '0'
    );
end
$$;

-- Takes rows of these jobs out of a table: to the unit that is being filled, or for good where no archive is required.
create function {schema}.leave(p_table text, p_ids uuid[], p_rule text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    origin text := case p_table when 'job_kept' then 'job' else p_table end;
    key text := case origin when 'job' then 'id' when 'dead_letter' then 'id' else 'job_id' end;
    own {schema}.archive_unit;
begin
    if cardinality(p_ids) = 0 then
        return;
    elsif not {schema}.archive_required() then
        execute format('delete from {schema}.%I t where t.%I = any ($1)', p_table, key) using p_ids;
        return;
    end if;
    select u.* into own from {schema}.archive_unit u
     where u.source = origin and u.rule = p_rule and u.status = 'filling' for update;
    if not found then
        own.id := {schema}.new_unit(origin, p_rule, 'infinity', '-infinity');
        select u.* into own from {schema}.archive_unit u where u.id = own.id;
    end if;
    execute format($q$
        with gone as (
            delete from {schema}.%1$I t where t.%2$I = any ($1) returning t.*
        ), put as (
            insert into {schema}.leaving (unit_id, tenant_id, job_id, at, fields)
            select $2, g.tenant_id, g.%2$I, %3$s, %4$s from gone g where g.tenant_id <> all ($3) order by 4, g.%2$I
            returning at
        )
        update {schema}.archive_unit u
           set since = least(u.since, p.low), until = greatest(u.until, p.high + interval '1 microsecond'),
               rows = coalesce(u.rows, 0) + p.n
          from (select min(at) as low, max(at) as high, count(*) as n from put) p
         where u.id = $2 and p.n > 0$q$, p_table, key,
        case origin when 'job' then '{schema}.id_time(g.id)' when 'dead_letter' then 'g.failed_at' else 'g.finished_at' end,
        {schema}.fields_of(own.columns, 'g')) using p_ids, own.id, {schema}.unarchived_tenants();
end
$$;

-- What was filled waits to be archived: dead letters at once, the rest once a day, or when it is much.
create function {schema}.close_units() returns void
language plpgsql volatile as $$
begin
    delete from {schema}.archive_unit u where u.status = 'filling' and u.rows is null
       and u.made_at < (select {schema}.now()) - interval '1 day';
    update {schema}.archive_unit u set status = 'waiting'
     where u.status = 'filling' and u.rows > 0
       and (u.rule = 'dead_letter' or u.rows >= 50000 or u.made_at < (select {schema}.now()) - interval '1 day');
end
$$;

-- The oldest unit that waits, for one worker for so many seconds; it renews that while it writes (renew_unit). blocks: of
-- a detached table; size: its bytes with what is stored beside it. No row: there is none.
create function {schema}.claim_unit(p_worker text, p_seconds double precision)
returns table (id uuid, source text, rule text, since timestamptz, until timestamptz, columns jsonb, blocks bigint, size bigint, schema_version integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    own {schema}.archive_unit;
begin
    select o.* into own from {schema}.archive_unit o
     where o.status = 'waiting' and o.next_try <= moment and coalesce(o.claimed_until, '-infinity') < moment
     order by o.next_try, o.id limit 1 for update skip locked;
    if not found then
        return;
    end if;
    -- Out of the way of a partition that would have its name.
    if own.relation not like 'unit\_%' then
        execute format('alter table {schema}.%I rename to %I', own.relation, 'unit_' || replace(own.id::text, '-', ''));
        own.relation := 'unit_' || replace(own.id::text, '-', '');
    end if;
    return query
    update {schema}.archive_unit u
       set relation = own.relation, claimed_by = p_worker, claimed_until = moment + p_seconds * interval '1 second'
     where u.id = own.id
    returning u.id, u.source, u.rule, u.since, u.until, u.columns,
              case when u.relation is not null
                   then pg_relation_size(format('{schema}.%I', u.relation)::regclass) / current_setting('block_size')::bigint end,
              case when u.relation is not null then pg_table_size(format('{schema}.%I', u.relation)::regclass) end,
              (select max(m.version)::integer from {schema}.migration m);
end
$$;

create function {schema}.renew_unit(p_id uuid, p_worker text, p_seconds double precision) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update {schema}.archive_unit u set claimed_until = {schema}.now() + p_seconds * interval '1 second'
     where u.id = p_id and u.claimed_by = p_worker and u.status = 'waiting';
    return found;
end
$$;

-- Rows of a unit, from a block (of p_most blocks) or a number (p_most rows) on; place: the number of a row that leaves.
create function {schema}.unit_page(p_id uuid, p_from bigint, p_most integer)
returns table (place bigint, tenant_id uuid, job_id uuid, at timestamptz, fields text[])
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
set extra_float_digits = 1 as $$
declare
    own {schema}.archive_unit;
begin
    select u.* into own from {schema}.archive_unit u where u.id = p_id;
    if own.relation is null then
        return query
        select l.n, l.tenant_id, l.job_id, l.at, l.fields from {schema}.leaving l
         where l.unit_id = p_id and l.n >= p_from order by l.n limit p_most;
    else
        return query execute format($q$
            select null::bigint, t.tenant_id, t.%1$I, %2$s, %3$s from {schema}.%4$I t
             where t.ctid >= $1 and t.ctid < $2 and t.tenant_id <> all ($3)$q$,
            case own.source when 'job' then 'id' else 'job_id' end,
            case own.source when 'job' then '{schema}.id_time(t.id)' else 't.finished_at' end,
            {schema}.fields_of(own.columns, 't'), own.relation)
            using format('(%s,0)', p_from)::tid, format('(%s,0)', p_from + p_most)::tid, {schema}.unarchived_tenants();
    end if;
end
$$;

-- The unit is in the archive, whole, and was read back: here it goes. False: it is no longer this worker's.
create function {schema}.unit_archived(p_id uuid, p_worker text, p_manifest jsonb) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own {schema}.archive_unit;
begin
    update {schema}.archive_unit u
       set status = 'archived', archived_at = {schema}.now(), manifest = p_manifest, claimed_by = null, claimed_until = null,
           error = null, rows = (p_manifest ->> 'rows')::bigint, bytes = (p_manifest ->> 'size')::bigint,
           min_id = (p_manifest ->> 'min_id')::uuid, max_id = (p_manifest ->> 'max_id')::uuid,
           tenants = coalesce(p_manifest -> 'tenants', '{}')
     where u.id = p_id and u.claimed_by = p_worker and u.status = 'waiting'
    returning u.* into own;
    if own.id is null then
        return false;
    end if;
    if own.relation is not null then
        execute format('drop table {schema}.%I', own.relation);
    end if;
    delete from {schema}.leaving l where l.unit_id = p_id;
    return true;
end
$$;

-- It could not be archived, says p_error: it is tried again, later each time, at most an hour. Nothing is dropped.
create function {schema}.unit_failed(p_id uuid, p_worker text, p_error text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update {schema}.archive_unit u
       set tries = u.tries + 1, error = left(p_error, 1000), claimed_by = null, claimed_until = null,
           next_try = {schema}.now() + least(interval '10 seconds' * power(2, least(u.tries, 10)), interval '1 hour')
     where u.id = p_id and u.claimed_by = p_worker and u.status = 'waiting';
end
$$;

-- Where no archive is required any more, what waited for it goes. Returns how many.
create function {schema}.drop_units() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own {schema}.archive_unit;
    n integer := 0;
begin
    if {schema}.archive_required() then
        return 0;
    end if;
    for own in select u.* from {schema}.archive_unit u
                where u.status in ('filling', 'waiting') and coalesce(u.claimed_until, '-infinity') < (select {schema}.now())
                order by u.id for update skip locked loop
        if own.relation is not null then
            execute format('drop table {schema}.%I', own.relation);
        end if;
        delete from {schema}.leaving l where l.unit_id = own.id;
        delete from {schema}.archive_unit u where u.id = own.id;
        n := n + 1;
    end loop;
    return n;
end
$$;

-- Units whose files are past their time, as a whole (tenants NULL) or those of some tenants, by rules of their own.
create function {schema}.spent_units(p_most integer) returns table (id uuid, source text, manifest jsonb, tenants uuid[])
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    with own as materialized (
        select r.tenant_id, r.subject::text as rule, coalesce(r.keep, interval '1000 years') as keep from {schema}.retention_rule r
         where r.tenant_id is not null and r.subject in ('archive', 'dead_letter')
    ), usual as materialized (
        select x.rule, {schema}.keep_of(x.rule) as keep from unnest(array['archive', 'dead_letter']) as x(rule)
    ), spent as (
        select u.id, u.source, u.manifest,
               u.until < moment - greatest(k.keep, (select max(o.keep) from own o
                                                     where o.rule = u.rule and u.tenants ? o.tenant_id::text)) as whole,
               array(select o.tenant_id from own o
                      where o.rule = u.rule and u.tenants ? o.tenant_id::text and u.until < moment - o.keep) as early,
               array(select t.key::uuid from jsonb_object_keys(u.tenants) as t(key)
                      where u.until < moment - k.keep and t.key <> ''
                        and not exists (select from own o where o.rule = u.rule and o.tenant_id::text = t.key)) as others
          from {schema}.archive_unit u join usual k on k.rule = u.rule
         where u.status = 'archived'
           and u.until < moment - least(k.keep, (select min(o.keep) from own o where o.rule = u.rule))
    )
    select s.id, s.source, s.manifest, case when not s.whole then s.early || s.others end
      from spent s where s.whole or cardinality(s.early || s.others) > 0
     order by s.id limit p_most;
end
$$;

-- The files of a unit are gone (p_manifest NULL), or were written anew without some tenants.
create function {schema}.unit_changed(p_id uuid, p_manifest jsonb, p_why text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.archive_unit;
begin
    select u.* into old from {schema}.archive_unit u where u.id = p_id and u.status = 'archived' for update;
    if not found then
        return;
    end if;
    if p_manifest is null then
        update {schema}.archive_unit u
           set status = 'deleted', deleted_at = {schema}.now(), manifest = null, tenants = '{}', min_id = null, max_id = null
         where u.id = p_id;
    else
        update {schema}.archive_unit u
           set manifest = p_manifest, rows = (p_manifest ->> 'rows')::bigint, bytes = (p_manifest ->> 'size')::bigint,
               min_id = (p_manifest ->> 'min_id')::uuid, max_id = (p_manifest ->> 'max_id')::uuid,
               tenants = coalesce(p_manifest -> 'tenants', '{}')
         where u.id = p_id;
    end if;
    perform {schema}.audit(case when p_manifest is null then 'archive.delete' else 'archive.erase' end, 'archive_unit', p_id::text,
        null, jsonb_build_object('source', old.source, 'since', old.since, 'until', old.until, 'rows', old.rows, 'tenants', old.tenants),
        case when p_manifest is not null then jsonb_build_object('rows', p_manifest -> 'rows', 'tenants', p_manifest -> 'tenants') end,
        p_why);
end
$$;
