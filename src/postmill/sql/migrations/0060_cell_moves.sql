-- postmill: safe
-- What a tenant's move carries from one cell to another, and how.

-- What a move carries, and in which order: the one list of it. how: missing (what the other cell has not got, by name),
-- grows (rows are added and never changed: they go ahead, `moment` says when each was added, and what was added since
-- follows at the switch), kept (as grows, and not taken away here: the log of a cell is a chain), bulk (may be much, and
-- no foreign key leads to it; mine must hold there without what is `state`: goes ahead, too, and at the switch what differs by
-- then is put right), state (as it stands at the switch: what is small). mine is the condition, %1$L in it the tenant.
create function {schema}.carried_tables()
returns table (n integer, name text, how text, moment text, mine text)
language plpgsql immutable as $$
begin
    return query
    select row_number() over ()::integer, l.* from (values
        ('queue', 'missing', null, 'true'),
        ('job_definition', 'missing', null, 'true'),
        ('error_group', 'missing', null, 'id in (select e.id from {schema}.error_group_tenant e where e.tenant_id = %1$L)'),
        ('tenant', 'state', null, 'id = %1$L'),
        ('project', 'state', null, 'tenant_id = %1$L'),
        ('limit_rule', 'state', null, 'tenant_id = %1$L'),
        ('retention_rule', 'state', null, 'tenant_id = %1$L'),
        ('lane', 'state', null, 'lane = %1$L'),
        ('api_key', 'state', null, 'tenant_id = %1$L'),
        ('http_answer', 'state', null, 'actor_type = ''api_key'' and actor_id in
            (select k.id::text from {schema}.api_key k where k.tenant_id = %1$L)'),
        ('console_session', 'state', null, 'tenant_id = %1$L'),
        ('login_link', 'state', null, 'tenant_id = %1$L'),
        ('saved_view', 'state', null, 'tenant_id = %1$L'),
        ('job', 'grows', 'id', 'tenant_id = %1$L'),
        ('attempt', 'grows', 'finished_at', 'tenant_id = %1$L'),
        ('outcome', 'grows', 'finished_at', 'tenant_id = %1$L'),
        ('event', 'grows', 'id', 'tenant_id = %1$L'),
        ('tick', 'grows', 'fired_at', 'tenant_id = %1$L'),
        ('audit_log', 'kept', 'at', 'tenant_id = %1$L'),
        ('job_kept', 'grows', null, 'tenant_id = %1$L'),
        ('scheduled', 'bulk', null, 'run_at > timestamptz ''2500-01-01 00:00+00''
            and (lane = %1$L or (lane not in (select t.id from {schema}.tenant t)
                 and (select j.tenant_id from {schema}.any_job j where j.id = scheduled.id limit 1) = %1$L))'),
        ('blocked', 'bulk', null, 'lane = %1$L or (lane not in (select t.id from {schema}.tenant t)
            and (select j.tenant_id from {schema}.any_job j where j.id = blocked.id limit 1) = %1$L)'),
        ('dead_letter', 'bulk', null, 'tenant_id = %1$L'),
        ('workflow', 'state', null, 'tenant_id = %1$L'),
        ('workflow_step', 'bulk', null, 'tenant_id = %1$L'),
        ('workflow_edge', 'bulk', null, 'tenant_id = %1$L'),
        ('workflow_inbox', 'state', null, 'workflow_id in (select w.id from {schema}.workflow w where w.tenant_id = %1$L)'),
        ('idempotency_key', 'bulk', null, 'tenant_id = %1$L'),
        ('trigger', 'state', null, 'tenant_id = %1$L'),
        ('trigger_recent', 'state', null, 'trigger_id in (select g.id from {schema}.trigger g where g.tenant_id = %1$L)'),
        ('event_delivery', 'bulk', null, 'tenant_id = %1$L'),
        ('webhook', 'state', null, 'tenant_id = %1$L'),
        ('webhook_secret', 'state', null, 'webhook_id in (select w.id from {schema}.webhook w where w.tenant_id = %1$L)'),
        ('webhook_message', 'state', null, 'webhook_id in (select w.id from {schema}.webhook w where w.tenant_id = %1$L)'),
        ('artifact', 'bulk', null, 'tenant_id = %1$L'),
        ('recovery', 'bulk', null, 'tenant_id = %1$L'),
        ('budget', 'bulk', null, 'tenant_id = %1$L'),
        ('budget_period', 'bulk', null, 'budget_id in (select b.id from {schema}.budget b where b.tenant_id = %1$L)'),
        ('budget_balance', 'bulk', null, 'budget_id in (select b.id from {schema}.budget b where b.tenant_id = %1$L)'),
        ('budget_alert', 'bulk', null, 'budget_id in (select b.id from {schema}.budget b where b.tenant_id = %1$L)'),
        ('budget_request', 'bulk', null, 'budget_id in (select b.id from {schema}.budget b where b.tenant_id = %1$L)'),
        ('budget_reservation', 'bulk', null, 'budget_id in (select b.id from {schema}.budget b where b.tenant_id = %1$L)'),
        ('budget_line', 'bulk', null, 'budget_id in (select b.id from {schema}.budget b where b.tenant_id = %1$L)'),
        ('incident', 'state', null, 'tenant_id = %1$L'),
        ('incident_part', 'state', null, 'incident_id in (select i.id from {schema}.incident i where i.tenant_id = %1$L)'),
        ('incident_job', 'state', null, 'incident_id in (select i.id from {schema}.incident i where i.tenant_id = %1$L)'),
        ('notification', 'state', null, 'incident_id in (select i.id from {schema}.incident i where i.tenant_id = %1$L)'),
        ('operation', 'state', null, 'tenant_id = %1$L'),
        ('operation_share', 'state', null, 'operation_id in (select o.id from {schema}.operation o where o.tenant_id = %1$L)'),
        ('operation_item', 'state', null, 'operation_id in (select o.id from {schema}.operation o where o.tenant_id = %1$L)'),
        ('job_tag', 'bulk', null, 'tenant_id = %1$L'),
        ('pin', 'bulk', null, 'tenant_id = %1$L'),
        ('boost', 'bulk', null, 'tenant_id = %1$L'),
        ('rollup', 'bulk', null, 'tenant_id = %1$L'),
        ('rollup_hour', 'bulk', null, 'tenant_id = %1$L'),
        ('error_group_tenant', 'state', null, 'tenant_id = %1$L'),
        ('error_group_minute', 'bulk', null, 'tenant_id = %1$L')
    ) as l(name, how, moment, mine);
end
$$;

-- What has a tenant and stays where it is, and why.
create function {schema}.left_tables() returns table (name text, why text)
language plpgsql immutable as $$
begin
    return query
    values ('tenant_gate', 'says that the tenant has left'),
           ('cell_tenant', 'is the directory'),
           ('tenant_move', 'is the directory'),
           ('intake', 'is empty between two statements'),
           ('ready', 'is empty: what was ready is parked among the scheduled ones'),
           ('running', 'is empty: what ran has ended'),
           ('seat', 'is of jobs that run'),
           ('cancel_request', 'is of jobs that run'),
           ('progress', 'is of jobs that run'),
           ('dead_news', 'is told by this cell'),
           ('http_claim', 'is of jobs that run; a tenant that is carried over has none'),
           ('http_session', 'is of workers that are connected to this cell'),
           ('dead_tally', 'is counted anew as dead letters come and go'),
           ('rollup_part', 'is on its way into rollup, and summed up there'),
           ('forgotten', 'is on its way into rollup'),
           ('error_group_part', 'is on its way into error_group'),
           ('retention_progress', 'says how far this cell has pruned'),
           ('leaving', 'is on its way into the archive of this cell');
end
$$;

create function {schema}.columns_of(p_table text) returns text
language plpgsql stable as $$
begin
    return (
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
     where a.attrelid = format('{schema}.%I', p_table)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = '');
end
$$;

-- The condition for a tenant's rows of one table, within a stretch of time where it grows; NULL: open at that end.
create function {schema}.rows_of(p_table text, p_tenant uuid, p_since timestamptz, p_until timestamptz) returns text
language plpgsql stable as $$
declare
    own record;
    low text := 'true';
    high text := 'true';
begin
    select * into strict own from {schema}.carried_tables() t where t.name = p_table;
    if own.moment is not null and p_since is not null then
        low := format('%I >= %L', own.moment, case own.moment when 'id' then {schema}.id_at(p_since)::text else p_since::text end);
    end if;
    if own.moment is not null and p_until is not null then
        high := format('%I < %L', own.moment, case own.moment when 'id' then {schema}.id_at(p_until)::text else p_until::text end);
    end if;
    return format('(%s) and %s and %s', format(own.mine, p_tenant), low, high);
end
$$;

-- The COPY that reads a tenant's rows out of one table.
create function {schema}.copy_out(p_table text, p_tenant uuid, p_since timestamptz, p_until timestamptz) returns text
language plpgsql stable as $$
begin
    return (
    select format('copy (select %s from {schema}.%I where %s) to stdout (format binary)', {schema}.columns_of(p_table), p_table,
                  {schema}.rows_of(p_table, p_tenant, p_since, p_until)));
end
$$;

-- Makes a place for rows that arrive, for this transaction, and returns the COPY into it.
create function {schema}.copy_in(p_table text) returns text
language plpgsql volatile as $$
begin
    execute format('create temporary table %I on commit drop as select %s from {schema}.%I limit 0', 'carry_' || p_table,
                   {schema}.columns_of(p_table), p_table);
    return format('copy pg_temp.%I from stdin (format binary)', 'carry_' || p_table);
end
$$;

create function {schema}.note_definitions(p_ids uuid[], p_keys text[]) returns void
language plpgsql volatile as $$
begin
    create temporary table carry_definition on commit drop as
        select u.id, u.key from unnest(p_ids, p_keys) as u(id, key);
end
$$;

-- Puts what arrived where it belongs. Bodies of before all partitions are kept ones; a trigger's definition is the one of
-- the same key here (carry_definition: those of the other side). What is there already stays. Returns the rows that are new.
create function {schema}.carry_in(p_table text) returns bigint
language plpgsql volatile as $$
declare
    columns text := {schema}.columns_of(p_table);
    place text := quote_ident('carry_' || p_table);
    low uuid;
    made bigint;
    more bigint := 0;
begin
    if p_table = 'job' then
        select {schema}.id_at(h.since) into low from {schema}.partition_horizon h;
        execute format('insert into {schema}.job_kept (%s) select %s from pg_temp.%s where id < %L on conflict do nothing',
                       columns, columns, place, low);
        get diagnostics more = row_count;
        execute format('delete from pg_temp.%s where id < %L', place, low);
    elsif p_table = 'trigger' then
        execute format('update pg_temp.%s t set definition_id = d.id from pg_temp.carry_definition c
            join {schema}.job_definition d on d.key = c.key where c.id = t.definition_id', place);
    elsif p_table = 'attempt' or p_table = 'outcome' then
        -- Neither has a key: what is there already is known by its job and its end.
        execute format('delete from pg_temp.%s c using {schema}.%I h where h.job_id = c.job_id and h.finished_at = c.finished_at
            and h.run = c.run', place, p_table);
    elsif p_table = 'incident' then
        -- One of that kind and key may be open here already, of something that is not the tenant's alone.
        execute format('update pg_temp.%s c set resolved_at = {schema}.now(), resolved_by = ''postmill'', escalate_at = null
            where c.resolved_at is null and exists (select from {schema}.incident i
                where i.kind = c.kind and i.key = c.key and i.resolved_at is null and i.id <> c.id)', place);
    elsif p_table = 'audit_log' then
        execute format('insert into {schema}.audit_unsealed (id) select c.id from pg_temp.%s c
            where not exists (select from {schema}.audit_log l where l.id = c.id)', place);
    end if;
    execute format('insert into {schema}.%I (%s) select %s from pg_temp.%s on conflict do nothing', p_table, columns, columns, place);
    get diagnostics made = row_count;
    if p_table = 'dead_letter' then
        -- They came long ago: nobody is to be told of them again.
        execute format('delete from {schema}.dead_news n using pg_temp.%s c where n.job_id = c.id', place);
    end if;
    execute format('drop table pg_temp.%s', place);
    return made + more;
end
$$;

-- Rounds: the other cell says by digests what it has (carry_known), and gets the rest as text, all tables in one stream. So a
-- few statements do, however many tables there are, and what was sent once is not sent again.

-- The query for a tenant's rows as text, with the number of their table. Of what grows only what was added since.
create function {schema}.carry_rows(p_tenant uuid, p_since timestamptz, p_how text[]) returns text
language plpgsql stable as $$
begin
    return (
    select string_agg(format('select %s as n, (%I.*)::text as body from {schema}.%I where %s', t.n, t.name, t.name,
                             {schema}.rows_of(t.name, p_tenant, p_since, null)), ' union all ' order by t.n)
      from {schema}.carried_tables() t where t.how = any (p_how));
end
$$;

-- The COPY of the digests of what is here.
create function {schema}.carry_digests(p_tenant uuid, p_since timestamptz) returns text
language plpgsql stable as $$
begin
    return format('copy (select r.n, sha256(convert_to(r.body, ''UTF8'')) from (%s) r) to stdout (format binary)',
                  {schema}.carry_rows(p_tenant, p_since, array['grows', 'kept', 'bulk']));
end
$$;

-- A place for them on the other side, for this session.
create function {schema}.carry_known() returns text
language plpgsql volatile as $$
begin
    if to_regclass('pg_temp.carry_known') is null then
        create temporary table carry_known (n integer not null, digest bytea not null);
    end if;
    truncate pg_temp.carry_known;
    return 'copy pg_temp.carry_known from stdin (format binary)';
end
$$;

-- The COPY of what the other side has not got, and of the digests of what it must take away; p_last: with all that is carried
-- at the switch only. What is missing by name is not known by digests: the other cell may have it in another form.
create function {schema}.carry_rest(p_tenant uuid, p_since timestamptz, p_last boolean) returns text
language plpgsql stable as $$
begin
    return format('copy (select coalesce(r.n, k.n), r.body, case when r.n is null then k.digest end
          from (select a.n, a.body, sha256(convert_to(a.body, ''UTF8'')) as digest from (%s) a) r
          full join pg_temp.carry_known k on k.n = r.n and k.digest = r.digest
         where k.n is null or (r.n is null and k.n in (%s)) %s) to stdout (format binary)',
        {schema}.carry_rows(p_tenant, p_since, array['grows', 'kept', 'bulk']),
        (select string_agg(t.n::text, ', ') from {schema}.carried_tables() t where t.how = 'bulk'),
        format('union all select l.n, l.body, null from (%s) l',
               {schema}.carry_rows(p_tenant, p_since, array['missing', case when p_last then 'state' end])));
end
$$;

-- A place for the rest, for this transaction.
create function {schema}.carry_place() returns text
language plpgsql volatile as $$
begin
    create temporary table carry_rest (n integer not null, body text, digest bytea) on commit drop;
    create index on pg_temp.carry_rest (n);
    return 'copy pg_temp.carry_rest from stdin (format binary)';
end
$$;

-- Puts the rest where it belongs: takes away what is another by now, and lays down what came. Rows that are new, by table.
create function {schema}.carry_down(p_tenant uuid) returns jsonb
language plpgsql volatile as $$
declare
    own record;
    counts jsonb := '{}';
begin
    for own in select t.n, t.name from {schema}.carried_tables() t
                where exists (select from pg_temp.carry_rest c where c.n = t.n and c.digest is not null) order by t.n desc
    loop
        execute format('delete from {schema}.%1$I where (%2$s)
                and sha256(convert_to((%1$I.*)::text, ''UTF8'')) in (select c.digest from pg_temp.carry_rest c where c.n = %3$s)',
            own.name, {schema}.rows_of(own.name, p_tenant, null, null), own.n);
    end loop;
    for own in select t.n, t.name from {schema}.carried_tables() t
                where exists (select from pg_temp.carry_rest c where c.n = t.n and c.body is not null) order by t.n
    loop
        execute format('create temporary table %I on commit drop as
            select %s from (select c.body::{schema}.%I as made from pg_temp.carry_rest c where c.n = %s and c.body is not null offset 0) r',
            'carry_' || own.name, (select string_agg('(r.made).' || c.name, ', ' order by c.n)
                from unnest(string_to_array({schema}.columns_of(own.name), ', ')) with ordinality as c(name, n)),
            own.name, own.n);
        counts := counts || jsonb_build_object(own.name, {schema}.carry_in(own.name));
    end loop;
    return counts;
end
$$;

-- Parks what came back to wait, and says what still runs of a tenant, and whether something else goes on: a bulk operation,
-- or a workflow that is about to move on. One after the other, each as of its own moment: what is claimed while tickets
-- are being parked is seen to run.
create function {schema}.hold_tickets(p_tenant uuid, out parked bigint, out busy boolean, out running jsonb)
language plpgsql volatile as $$
begin
    parked := {schema}.park_tickets(p_tenant);
    busy := exists (select from {schema}.operation o where o.tenant_id = p_tenant and o.ended_at is null)
        or exists (select from {schema}.workflow_inbox i join {schema}.workflow w on w.id = i.workflow_id where w.tenant_id = p_tenant);
    running := coalesce((select jsonb_agg(jsonb_build_array(r.id, r.job_type) order by r.claimed_at)
                           from {schema}.running_of(p_tenant, 20) r), '[]');
end
$$;

-- Takes a tenant's rows of one table away; false where its gate does not say that they are not in use.
create function {schema}.carry_off(p_table text, p_tenant uuid, p_move uuid, p_since timestamptz default null,
    p_until timestamptz default null) returns bigint
language plpgsql volatile as $$
declare
    gone bigint;
begin
    perform from {schema}.tenant_gate g where g.tenant_id = p_tenant and g.move_id = p_move and g.stage in ('arriving', 'gone')
        for share;
    if not found then
        raise exception 'postmill: the gate of tenant % is not that of move %', p_tenant, p_move using errcode = 'PM062';
    end if;
    execute format('delete from {schema}.%I where %s', p_table, {schema}.rows_of(p_table, p_tenant, p_since, p_until));
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Ends a move's part of the directory in one transaction: from here on the tenant is asked for in the new cell. False:
-- the move was aborted meanwhile, or is past this.
create function {schema}.switch_tenant(p_move uuid) returns boolean
language plpgsql volatile as $$
declare
    own {schema}.tenant_move;
begin
    update {schema}.tenant_move m set step = 'open', updated_at = {schema}.now()
     where m.id = p_move and m.status = 'running' and m.step = 'switch' returning m.* into own;
    if not found then
        return false;
    end if;
    insert into {schema}.cell_tenant (tenant_id, slug, cell, changed_at)
    values (own.tenant_id, own.slug, own.to_cell, {schema}.now())
    on conflict (tenant_id) do update set cell = excluded.cell, slug = excluded.slug, changed_at = excluded.changed_at;
    return true;
end
$$;

select {schema}.secure_requests();
