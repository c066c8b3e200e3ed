-- postmill: safe
-- What a request may see and touch, enforced by the database. A request of the API or of a page of the console runs as
-- the role {schema}_request, within a tenant (postmill.tenant_id) or across the platform (postmill.platform = on). That
-- role sees no table: only views and functions that belong to {schema}_reader, which is under row-level security, and
-- the door_ functions, which check the scope themselves. A forgotten condition in a route shows nothing of others.
--
-- What this is against is a mistake in a statement. Who can run a statement of his own choice as the request role can
-- also name another tenant, or RESET ROLE to the server's login; so let that be a role of its own (grant_server), not
-- the owner: then nothing is behind it but these same doors.

-- The tenant of this transaction; NULL: none is named.
create function {schema}.scope_tenant() returns uuid
language sql stable parallel safe as $$
    select nullif(current_setting('postmill.tenant_id', true), '')::uuid
$$;

-- Whether rows of all tenants may be seen: the platform's roles, and sessions that are no request at all (workers, the
-- CLI, an owner in psql) unless they named a tenant themselves. Functions with another owner's rights keep the setting
-- "role", so that it tells a request there, too.
create function {schema}.sees_all() returns boolean
language sql stable parallel safe as $$
    select coalesce(nullif(current_setting('postmill.platform', true), ''), 'off') = 'on'
        or (coalesce(current_setting('role', true), 'none') <> '{schema}_request'
            and coalesce(current_setting('postmill.tenant_id', true), '') = '')
$$;

-- Is something of this tenant within the scope? For function bodies; policies say the same with two scalar subqueries.
-- Something of no tenant is the platform's.
create function {schema}.in_scope(p_tenant uuid) returns boolean
language sql stable parallel safe as $$
    select {schema}.sees_all() or coalesce(p_tenant = {schema}.scope_tenant(), false)
$$;

-- Those of the ids whose jobs are within the scope.
create function {schema}.ids_in_scope(p_ids uuid[]) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if {schema}.sees_all() then
        return p_ids;
    end if;
    return array(select u.id from unnest(p_ids) as u(id)
                  where exists (select from {schema}.job j where j.id = u.id and j.tenant_id = {schema}.scope_tenant())
                     or exists (select from {schema}.job_kept k where k.id = u.id and k.tenant_id = {schema}.scope_tenant()));
end
$$;

-- Begins a request: from here to the end of the transaction. A tenant or the platform; neither sees nothing. False,
-- and nothing begun: the key that the actor came with opens no longer. Compiling what takes 5 ms took 60 ms: no jit.
create function {schema}.begin_request(p_tenant uuid, p_platform boolean, p_via text, p_actor_type text, p_actor_id text,
    p_role text, p_request_id text, p_address text default null) returns boolean
language plpgsql volatile as $$
begin
    if p_actor_type = 'api_key' and not {schema}.key_lives(p_actor_id::uuid) then
        return false;
    end if;
    if p_tenant is not null then
        perform {schema}.require_home(p_tenant);
    end if;
    perform {schema}.set_actor(p_via, p_actor_type, p_actor_id, p_role, p_request_id, p_address),
            set_config('postmill.tenant_id', coalesce(p_tenant::text, ''), true),
            set_config('postmill.platform', case when p_platform then 'on' else 'off' end, true),
            set_config('jit', 'off', true),
            set_config('idle_in_transaction_session_timeout', '60s', true),
            set_config('role', '{schema}_request', true);
    return true;
end
$$;

-- One table under the policy of the scope. It restricts the reader and nobody else: who has rights on the table itself
-- is a worker or an owner, and lost rows would be worse than none. Does nothing where all is so already, for it locks
-- the table against everybody.
create function {schema}.secure_table(p_table text, p_column text) returns void
language plpgsql volatile as $$
begin
    if (select c.relrowsecurity from pg_class c where c.oid = format('{schema}.%I', p_table)::regclass)
        and (select count(*) from pg_policies p where p.schemaname = '{schema}' and p.tablename = p_table
                and p.policyname in ('of_the_scope', 'whoever_has_rights')) = 2 then
        return;
    end if;
    execute format('alter table {schema}.%I enable row level security', p_table);
    execute format('create policy whoever_has_rights on {schema}.%I using (true) with check (true)', p_table);
    execute format('create policy of_the_scope on {schema}.%I as restrictive for select to {schema}_reader using
        ((select {schema}.sees_all()) or %I = (select {schema}.scope_tenant()))', p_table, p_column);
end
$$;

-- Puts the reader under policies and hands it what requests read with. Runs once, at the end of a release's last migration
-- that adds a table, a view, a read_ or a door_ function: it looks at everything that is there. It runs again by hand where
-- the migrating role may not make roles: until then it answers false, and no server starts (requests_secured).
create function {schema}.secure_requests() returns boolean
language plpgsql volatile as $$
declare
    name text;
    owner oid;
    own_column text;
begin
    foreach name in array array['{schema}_reader', '{schema}_request'] loop
        begin
            if not exists (select from pg_roles r where r.rolname = name) then
                execute format('create role %I nologin', name);
            end if;
        exception
            when duplicate_object or unique_violation then null; -- another installation was quicker
            when insufficient_privilege then return false;
        end;
        begin
            if not pg_has_role(current_user, name, 'usage') or not pg_has_role(current_user, name, 'member') then
                execute format('grant %I to current_user', name);
            end if;
        exception when insufficient_privilege then return false;
        end;
    end loop;
    execute 'grant usage, create on schema {schema} to {schema}_reader';
    execute 'grant usage on schema {schema} to {schema}_request';

    -- Every table that has a tenant is under the policy. The reader does not see who may come in, but for what
    -- read_keys, read_logins and read_members show; the intake is left out, since COPY does not go into a table with policies.
    for name, own_column in
        select c.relname, case c.relname when 'tenant' then 'id' else
                   (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') end
          from pg_class c where c.relnamespace = '{schema}'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition and c.relname !~ '^intake$|_(secret|answer)$'
    loop
        if own_column is not null then
            perform {schema}.secure_table(name, own_column);
        end if;
        if name not in ('api_key', 'console_session', 'login_link', 'webhook_secret') then
            execute format('grant select on {schema}.%I to {schema}_reader', name);
        end if;
    end loop;
    execute 'grant select (id, prefix, name, tenant_id, role, created_at, created_by, expires_at, last_used_at, revoked_at,
        revoked_by) on {schema}.api_key to {schema}_reader';
    execute 'grant select (id, actor_id, tenant_id, role, api_key_id, created_at, last_seen_at, expires_at, ended_at)
        on {schema}.console_session to {schema}_reader';
    execute 'grant select (actor_id, tenant_id, role, created_at, expires_at, used_at) on {schema}.login_link to {schema}_reader';
    for name, owner in select c.relname, c.relowner from pg_class c
                        where c.relnamespace = '{schema}'::regnamespace and c.relkind = 'v' loop
        if owner <> '{schema}_reader'::regrole then
            execute format('alter view {schema}.%I owner to {schema}_reader', name);
        end if;
        execute format('grant select on {schema}.%I to {schema}_reader, {schema}_request', name);
    end loop;

    -- read_: definer functions of the reader; door_: of the owner, with checks of their own. A view's functions are
    -- called with the rights of who reads the view. What else the reader needs is its own; to everybody else all is closed.
    for name, own_column in select p.oid::regprocedure::text, p.proname from pg_proc p
                             where p.pronamespace = '{schema}'::regnamespace loop
        -- Policies ask these two with the rights of whoever reads a view, and somebody may have been granted one.
        if own_column in ('scope_tenant', 'sees_all') then
            execute format('grant execute on function %s to public', name);
        elsif has_function_privilege('public', name, 'execute') then
            execute format('revoke all on function %s from public', name);
        end if;
        if own_column like 'read\_%' then
            execute format('alter function %s owner to {schema}_reader', name);
        end if;
        if own_column like 'read\_%' or own_column like 'door\_%' or own_column in ('now', 'new_id', 'id_at', 'id_time',
            'scope_tenant', 'sees_all', 'in_scope', 'ids_in_scope') then
            execute format('grant execute on function %s to {schema}_reader, {schema}_request', name);
        elsif own_column in ('job_events', 'history_size', 'job_state', 'budget_word', 'minute_of', 'error_status', 'version_run', 'keep_of',
            'type_paused', 'version_code', 'code_workers', 'rollup_bounds', 'rollup_source', 'quantile', 'quantiles', 'summary_of',
            'histogram_plus', 'histogram_add', 'histogram_sum', 'histogram_cells', 'histogram_within', 'attained',
            'incident_outline', 'incident_status', 'limits_of', 'waits_of', 'tenant_cap', 'args_matching', 'state_test', 'places_of', 'states_of') then
            execute format('grant execute on function %s to {schema}_reader', name);
        end if;
    end loop;
    execute 'revoke create on schema {schema} from {schema}_reader';
    return true;
end
$$;

-- NULL where requests can be served by the role of this session; else what is missing, in words.
create function {schema}.requests_secured() returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    login text := session_user;
    mode text := case when current_setting('server_version_num')::integer >= 160000 then 'set' else 'member' end;
    found_one text;
begin
    if not exists (select from pg_roles r where r.rolname = '{schema}_reader')
        or not exists (select from pg_roles r where r.rolname = '{schema}_request') then
        return 'the roles {schema}_reader and {schema}_request do not exist';
    elsif not pg_has_role(login, '{schema}_request', mode) then
        return format('the role %s may not become {schema}_request', login);
    end if;
    select x.name into found_one
      from (select c.relname as name, c.relowner as owner from pg_class c
             where c.relnamespace = '{schema}'::regnamespace and c.relkind = 'v'
            union all
            select p.proname, p.proowner from pg_proc p
             where p.pronamespace = '{schema}'::regnamespace and p.proname like 'read\_%') x
     where x.owner <> '{schema}_reader'::regrole limit 1;
    if found then
        return format('%s does not belong to {schema}_reader', found_one);
    end if;
    select c.relname into found_one from pg_class c
     where c.relnamespace = '{schema}'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and not c.relrowsecurity and has_any_column_privilege('{schema}_reader', c.oid, 'select')
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') limit 1;
    if found then
        return format('the table %s is not under row-level security', found_one);
    end if;
    return null;
end
$$;

-- The rights of a server that is not the schema's owner: to find out who asks, to begin a request as the request role,
-- and to note what was denied. Without a request it reads nothing.
create function {schema}.grant_server(p_role text) returns void
language plpgsql volatile as $$
declare
    name text;
begin
    execute format('grant usage on schema {schema} to %I', p_role);
    execute format('grant select on {schema}.migration to %I', p_role);
    execute format('grant {schema}_request to %I', p_role);
    for name in select p.oid::regprocedure::text from pg_proc p
                 where p.pronamespace = '{schema}'::regnamespace
                   and p.proname in ('find_key', 'key_lives', 'find_login', 'open_login', 'close_login',
                         'login_configured', 'requests_secured', 'begin_request', 'require_home', 'enter_request', 'request_enqueue',
                         'find_place', 'find_credential', 'has_webhook', 'set_actor', 'audit', 'now', 'new_id', 'scope_tenant', 'sees_all', 'in_scope', 'find_tenant',
                         'server_gauges', 'enqueued_totals', 'receive_webhook', 'advance_horizon', 'watch_live') loop
        execute format('grant execute on function %s to %I', name, p_role);
    end loop;
end
$$;

-- The rights of a worker that is not the schema's owner: everything, also what operators do, but to let somebody in and to
-- write in the log what did not happen.
create or replace function {schema}.grant_worker(p_role text) returns void
language plpgsql volatile as $$
declare
    name text;
begin
    execute format('grant usage on schema {schema} to %I', p_role);
    execute format('grant select, insert, update, delete on all tables in schema {schema} to %I', p_role);
    execute format('revoke all on {schema}.api_key, {schema}.console_session, {schema}.login_link from %I', p_role);
    execute format('revoke insert, update, delete on {schema}.audit_log, {schema}.audit_chain, {schema}.audit_unsealed from %I',
                   p_role);
    execute format('grant usage on all sequences in schema {schema} to %I', p_role);
    for name in select p.oid::regprocedure::text from pg_proc p
                 where p.pronamespace = '{schema}'::regnamespace
                   and p.proname not in ('open_login', 'close_login', 'door_create_link', 'door_end_login', 'door_create_key',
                                         'door_revoke_key', 'door_create_tenant', 'door_change_tenant', 'secure_requests',
                                         'secure_table') loop
        execute format('grant execute on function %s to %I', name, p_role);
    end loop;
end
$$;

-- Workers are the platform's business: a tenant sees only which one ran its job. A barrier, since no policy stands
-- behind this condition.
create or replace view {schema}.job_workers with (security_barrier) as
select w.worker_id, w.hostname, w.version, w.queues, w.last_seen_at, w.running_count,
       w.metadata || jsonb_build_object('pid', w.pid, 'slots', w.slots, 'started_at', w.started_at,
                                        'stopped_at', w.stopped_at, 'draining', w.draining) as metadata
  from {schema}.worker w
 where (select {schema}.sees_all());

-- What the last round of measuring found, and its age in seconds: for the metrics of a server.
create function {schema}.server_gauges()
returns table (note jsonb, age double precision)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select u.note, extract(epoch from (select {schema}.now()) - u.last_run_at)::double precision
      from {schema}.upkeep u where u.name = 'monitor' and u.note is not null;
end
$$;

-- Tenants and projects. Statuses are words; nothing raises.

create function {schema}.read_tenants(p_after text, p_most integer, p_id uuid default null, p_slug text default null)
returns table (id uuid, slug text, name text, timezone text, status text, weight integer, max_running integer,
    retention_seconds double precision, created_at timestamptz, updated_at timestamptz, raised_to integer, raised_until timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select t.id, t.slug, t.name, t.timezone, t.status, t.weight, t.max_running,
           extract(epoch from t.retention)::double precision, t.created_at, t.updated_at,
           case when t.raised_until > (select {schema}.now()) then t.raised_to end,
           case when t.raised_until > (select {schema}.now()) then t.raised_until end
      from {schema}.tenant t
     where t.slug > p_after and (p_id is null or t.id = p_id) and (p_slug is null or t.slug = p_slug)
     order by t.slug limit p_most;
end
$$;

-- The names of tenants of which a list has the ids.
create function {schema}.read_tenant_slugs(p_ids uuid[]) returns table (id uuid, slug text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select t.id, t.slug from {schema}.tenant t where t.id = any(p_ids);
end
$$;

-- created | exists (id is that one's) | out_of_scope
create function {schema}.door_create_tenant(p_slug text, p_settings jsonb, p_reason text default null, out id uuid,
    out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        status := 'out_of_scope';
        return;
    end if;
    insert into {schema}.tenant as t (id, slug, name) values ({schema}.new_id(), p_slug, coalesce(p_settings ->> 'name', p_slug))
    on conflict (slug) do nothing returning t.id into id;
    if id is null then
        status := 'exists';
        select t.id into id from {schema}.tenant t where t.slug = p_slug;
        return;
    end if;
    status := 'created';
    perform {schema}.write_tenant(id, p_settings);
    perform {schema}.audit('tenants.create', 'tenant', p_slug, id, null, {schema}.tenant_json(id), p_reason);
end
$$;

-- Only the platform changes a tenant: changed | unchanged | unknown.
create function {schema}.door_change_tenant(p_id uuid, p_settings jsonb, p_reason text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before jsonb;
    after jsonb;
begin
    if not {schema}.sees_all() then
        return 'unknown';
    end if;
    perform from {schema}.tenant t where t.id = p_id for update;
    if not found then
        return 'unknown';
    end if;
    before := {schema}.tenant_json(p_id);
    perform {schema}.write_tenant(p_id, p_settings);
    after := {schema}.tenant_json(p_id);
    if before - 'updated_at' = after - 'updated_at' then
        return 'unchanged';
    end if;
    perform {schema}.audit('tenants.change', 'tenant', before ->> 'slug', p_id, before, after, p_reason);
    return 'changed';
end
$$;

create function {schema}.tenant_json(p_id uuid) returns jsonb
language plpgsql stable as $$
begin
    return (select to_jsonb(t) from {schema}.tenant t where t.id = p_id);
end
$$;

-- What the settings name is written, a null where it may be one; the rest stays.
create function {schema}.write_tenant(p_id uuid, p_settings jsonb) returns void
language plpgsql volatile as $$
begin
    update {schema}.tenant t
       set name = coalesce(p_settings ->> 'name', t.name), timezone = coalesce(p_settings ->> 'timezone', t.timezone),
           status = coalesce(p_settings ->> 'status', t.status), weight = coalesce((p_settings ->> 'weight')::integer, t.weight),
           max_running = case when p_settings ? 'max_running' then (p_settings ->> 'max_running')::integer else t.max_running end,
           raised_to = case when p_settings ? 'raised_to' then (p_settings ->> 'raised_to')::integer else t.raised_to end,
           raised_until = case when p_settings ? 'raised_until' then (p_settings ->> 'raised_until')::timestamptz
                               else t.raised_until end,
           retention = case when p_settings ? 'retention_seconds'
                            then (p_settings ->> 'retention_seconds')::double precision * interval '1 second' else t.retention end,
           updated_at = {schema}.now()
     where t.id = p_id;
    if p_settings ? 'retention_seconds' then
        perform {schema}.settle_retention();
    end if;
end
$$;
