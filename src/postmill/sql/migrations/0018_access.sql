-- postmill: safe
-- Who may come in: projects, API keys, console sessions, one-time login links. Secrets are stored as SHA-256 only.

alter table {schema}.tenant
    add column max_running integer check (max_running > 0),
    -- A higher limit for a time, after which max_running is in force again by itself.
    add column raised_to integer check (raised_to > 0),
    add column raised_until timestamptz,
    add check ((raised_to is null) = (raised_until is null)),
    add column retention interval check (retention > interval '0'),
    add column updated_at timestamptz not null default {schema}.now();
-- Few: those whose jobs are claimed with limits, and those whose share is not like others'.
create index tenant_limited on {schema}.tenant (id) where max_running is not null or raised_to is not null or status <> 'active';
create index tenant_weighted on {schema}.tenant (id) where weight <> 1;

create table {schema}.project (
    id uuid primary key default {schema}.new_id(),
    tenant_id uuid not null references {schema}.tenant (id),
    slug text collate "C" not null check (length(slug) between 1 and 100),
    name text not null,
    created_at timestamptz not null default {schema}.now(),
    unique (tenant_id, slug)
);

-- Which roles there are and what each may do is said in one place, the table of permissions of domain/access.py; here is
-- only what the names may be, and which of them belong to a tenant: the first three do, the next three never do.
create domain {schema}.role_name as text collate "C" check (value in ('viewer', 'operator', 'tenant_admin',
    'platform_viewer', 'platform_operator', 'super_admin', 'auditor', 'worker'));

create function {schema}.role_fits(p_role text, p_tenant uuid) returns boolean
language plpgsql immutable parallel safe as $$
begin
    return case when p_role in ('viewer', 'operator', 'tenant_admin') then p_tenant is not null
                when p_role in ('platform_viewer', 'platform_operator', 'super_admin') then p_tenant is null
                else true end;
end
$$;

create table {schema}.api_key (
    id uuid primary key default {schema}.new_id(),
    hash bytea not null unique check (length(hash) = 32),
    prefix text collate "C" not null,
    name text not null check (length(name) between 1 and 200),
    tenant_id uuid references {schema}.tenant (id),
    role {schema}.role_name not null,
    created_at timestamptz not null default {schema}.now(),
    created_by text,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    revoked_by text,
    check ({schema}.role_fits(role, tenant_id))
);
create index api_key_tenant on {schema}.api_key (tenant_id);

-- A login that came in by a key ends with that key.
create table {schema}.console_session (
    id uuid primary key default {schema}.new_id(),
    hash bytea not null unique check (length(hash) = 32),
    actor_id text not null,
    tenant_id uuid references {schema}.tenant (id),
    role {schema}.role_name not null,
    api_key_id uuid references {schema}.api_key (id),
    created_at timestamptz not null default {schema}.now(),
    last_seen_at timestamptz not null default {schema}.now(),
    expires_at timestamptz not null,
    ended_at timestamptz,
    check ({schema}.role_fits(role, tenant_id))
);
create index console_session_expires on {schema}.console_session (expires_at);

create table {schema}.login_link (
    hash bytea primary key check (length(hash) = 32),
    actor_id text not null,
    tenant_id uuid references {schema}.tenant (id),
    role {schema}.role_name not null,
    created_at timestamptz not null default {schema}.now(),
    expires_at timestamptz not null,
    used_at timestamptz,
    check ({schema}.role_fits(role, tenant_id))
);

-- A live key by its hash; notes its use, at most once a minute. tenant_status is NULL for a key of the platform.
create function {schema}.find_key(p_hash bytea)
returns table (id uuid, name text, tenant_id uuid, role text, tenant_status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    used timestamptz;
begin
    select k.id, k.name, k.tenant_id, k.role::text, t.status, coalesce(k.last_used_at, '-infinity')
      into id, name, tenant_id, role, tenant_status, used
      from {schema}.api_key k left join {schema}.tenant t on t.id = k.tenant_id
     where k.hash = p_hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > moment);
    if not found then
        return;
    end if;
    if used < moment - interval '1 minute' then
        -- Two requests at once: one notes it, the other goes on.
        update {schema}.api_key k set last_used_at = moment
         where k.ctid = (select i.ctid from {schema}.api_key i where i.id = find_key.id for no key update skip locked);
    end if;
    return next;
end
$$;

-- Whether a key that was found a moment ago still opens: asked again within the transaction of the request.
create function {schema}.key_lives(p_id uuid) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.api_key k left join {schema}.tenant t on t.id = k.tenant_id
                    where k.id = p_id and k.revoked_at is null
                      and (k.expires_at is null or k.expires_at > (select {schema}.now()))
                      and t.status is distinct from 'suspended');
end
$$;

-- A live login by the hash of its cookie; notes that it was seen, at most once a minute.
create function {schema}.find_login(p_hash bytea)
returns table (id uuid, actor_id text, tenant_id uuid, role text, expires_at timestamptz, tenant_status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    seen timestamptz;
begin
    select s.id, s.actor_id, s.tenant_id, s.role::text, s.expires_at, t.status, s.last_seen_at
      into id, actor_id, tenant_id, role, expires_at, tenant_status, seen
      from {schema}.console_session s
      left join {schema}.tenant t on t.id = s.tenant_id
      left join {schema}.api_key k on k.id = s.api_key_id
     where s.hash = p_hash and s.ended_at is null and s.expires_at > moment
       and k.revoked_at is null and (k.expires_at is null or k.expires_at > moment);
    if not found then
        return;
    end if;
    if seen < moment - interval '1 minute' then
        update {schema}.console_session s set last_seen_at = moment
         where s.ctid = (select i.ctid from {schema}.console_session i where i.id = find_login.id for no key update skip locked);
    end if;
    return next;
end
$$;

-- Exchanges a login link, which holds once, or a live key for a login with this hash. No row: neither holds.
create function {schema}.open_login(p_secret bytea, p_hash bytea, p_seconds double precision, p_request_id text)
returns table (actor_id text, tenant_id uuid, role text, expires_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    key uuid;
    until timestamptz;
begin
    update {schema}.login_link l set used_at = moment
     where l.hash = p_secret and l.used_at is null and l.expires_at > moment
    returning l.actor_id, l.tenant_id, l.role::text into actor_id, tenant_id, role;
    if not found then
        select 'key ' || k.name, k.tenant_id, k.role::text, k.id, k.expires_at into actor_id, tenant_id, role, key, until
          from {schema}.api_key k
         where k.hash = p_secret and k.revoked_at is null and (k.expires_at is null or k.expires_at > moment);
        if not found then
            return;
        end if;
    end if;
    if exists (select from {schema}.tenant t where t.id = open_login.tenant_id and t.status = 'suspended') then
        return;
    end if;
    expires_at := least(moment + p_seconds * interval '1 second', until);
    insert into {schema}.console_session (hash, actor_id, tenant_id, role, api_key_id, expires_at)
    values (p_hash, actor_id, tenant_id, role, key, expires_at);
    perform {schema}.set_actor('console', 'user', actor_id, role, p_request_id);
    perform {schema}.audit('logins.open', 'login', null, tenant_id, null,
                           jsonb_build_object('by', case when key is null then 'link' else 'key' end, 'expires_at', expires_at));
    return next;
end
$$;

-- Ends a login by the hash of its cookie: a logout.
create function {schema}.close_login(p_hash bytea, p_request_id text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    gone {schema}.console_session;
begin
    update {schema}.console_session s set ended_at = {schema}.now()
     where s.hash = p_hash and s.ended_at is null
    returning s.* into gone;
    if gone.id is null then
        return false;
    end if;
    perform {schema}.set_actor('console', 'user', gone.actor_id, gone.role, p_request_id);
    perform {schema}.audit('logins.close', 'login', gone.id::text, gone.tenant_id);
    return true;
end
$$;

-- Whether anybody can come in: what a server asks before it listens beyond this machine.
create function {schema}.login_configured() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.api_key k where k.revoked_at is null
                      and (k.expires_at is null or k.expires_at > (select {schema}.now())))
        or exists (select from {schema}.console_session s where s.ended_at is null and s.expires_at > (select {schema}.now()));
end
$$;

-- Ended logins and spent links go a week after; revoked keys stay, for the log names them.
create function {schema}.sweep_logins() returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    delete from {schema}.console_session s where s.expires_at < (select {schema}.now()) - interval '7 days';
    delete from {schema}.login_link l where l.expires_at < (select {schema}.now()) - interval '7 days';
end
$$;

-- The doors of keys and logins; the scope that they check is made in a later migration. Statuses are words; nothing
-- raises. What a role may hand out is the table of permissions' affair (domain/access.py); that nothing leaves the tenant
-- is seen to here.

-- Keys, the newest first; p_before is the last page's id. Never their hashes.
create function {schema}.read_keys(p_before uuid, p_most integer, p_tenant uuid default null, p_live boolean default false)
returns table (id uuid, prefix text, name text, tenant_id uuid, role text, created_at timestamptz, created_by text,
    expires_at timestamptz, last_used_at timestamptz, revoked_at timestamptz, revoked_by text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select k.id, k.prefix, k.name, k.tenant_id, k.role::text, k.created_at, k.created_by, k.expires_at, k.last_used_at,
           k.revoked_at, k.revoked_by
      from {schema}.api_key k
     where (p_before is null or k.id < p_before) and (p_tenant is null or k.tenant_id = p_tenant)
       and (not p_live or (k.revoked_at is null and (k.expires_at is null or k.expires_at > (select {schema}.now()))))
     order by k.id desc limit p_most;
end
$$;

-- created | unknown (there is no such tenant) | expired (its end is not in the future)
create function {schema}.door_create_key(p_hash bytea, p_prefix text, p_name text, p_tenant uuid, p_role text,
    p_expires_at timestamptz, out id uuid, out created_at timestamptz, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    status := case when not {schema}.in_scope(p_tenant) then 'unknown'
                   when p_tenant is not null and not exists (select from {schema}.tenant t where t.id = p_tenant) then 'unknown'
                   when p_expires_at <= (select {schema}.now()) then 'expired' else 'created' end;
    if status <> 'created' then
        return;
    end if;
    insert into {schema}.api_key as k (hash, prefix, name, tenant_id, role, expires_at, created_by)
    values (p_hash, p_prefix, p_name, p_tenant, p_role, p_expires_at,
            coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user))
    returning k.id, k.created_at into id, created_at;
    perform {schema}.audit('keys.create', 'key', id::text, p_tenant, null, jsonb_build_object('name', p_name, 'prefix', p_prefix,
        'role', p_role, 'expires_at', p_expires_at));
end
$$;

-- revoked | already | unknown
create function {schema}.door_revoke_key(p_id uuid, p_reason text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.api_key;
begin
    select k.* into old from {schema}.api_key k where k.id = p_id for update;
    if old.id is null or not {schema}.in_scope(old.tenant_id) then
        return 'unknown';
    elsif old.revoked_at is not null then
        return 'already';
    end if;
    update {schema}.api_key k
       set revoked_at = {schema}.now(),
           revoked_by = coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user)
     where k.id = p_id;
    perform {schema}.audit('keys.revoke', 'key', p_id::text, old.tenant_id,
        jsonb_build_object('name', old.name, 'prefix', old.prefix, 'role', old.role), null, p_reason);
    return 'revoked';
end
$$;

-- Logins that still hold, the newest first; p_before is the last page's id.
create function {schema}.read_logins(p_before uuid, p_most integer)
returns table (id uuid, actor_id text, tenant_id uuid, role text, created_at timestamptz, last_seen_at timestamptz,
    expires_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select s.id, s.actor_id, s.tenant_id, s.role::text, s.created_at, s.last_seen_at, s.expires_at
      from {schema}.console_session s
     where (p_before is null or s.id < p_before) and s.ended_at is null and s.expires_at > (select {schema}.now())
     order by s.id desc limit p_most;
end
$$;

-- Ends somebody's login: ended | already | unknown.
create function {schema}.door_end_login(p_id uuid, p_reason text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.console_session;
begin
    select s.* into old from {schema}.console_session s where s.id = p_id for update;
    if old.id is null or not {schema}.in_scope(old.tenant_id) then
        return 'unknown';
    elsif old.ended_at is not null or old.expires_at <= {schema}.now() then
        return 'already';
    end if;
    update {schema}.console_session s set ended_at = {schema}.now() where s.id = p_id;
    perform {schema}.audit('logins.end', 'login', p_id::text, old.tenant_id,
                           jsonb_build_object('actor_id', old.actor_id, 'role', old.role), null, p_reason);
    return 'ended';
end
$$;

-- A link that opens one login: created | unknown (there is no such tenant).
create function {schema}.door_create_link(p_hash bytea, p_actor_id text, p_tenant uuid, p_role text, p_seconds double precision,
    out expires_at timestamptz, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.in_scope(p_tenant)
        or (p_tenant is not null and not exists (select from {schema}.tenant t where t.id = p_tenant)) then
        status := 'unknown';
        return;
    end if;
    status := 'created';
    expires_at := {schema}.now() + p_seconds * interval '1 second';
    insert into {schema}.login_link (hash, actor_id, tenant_id, role, expires_at)
    values (p_hash, p_actor_id, p_tenant, p_role, expires_at);
    perform {schema}.audit('logins.link', 'login', p_actor_id, p_tenant, null,
                           jsonb_build_object('role', p_role, 'expires_at', expires_at));
end
$$;

-- The tenant that a token names by slug or id: what the server asks before a request can begin.
create function {schema}.find_tenant(p_name text)
returns table (id uuid, status text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select t.id, t.status from {schema}.tenant t where t.slug = p_name or t.id::text = lower(p_name)
     order by t.slug = p_name desc limit 1;
end
$$;
