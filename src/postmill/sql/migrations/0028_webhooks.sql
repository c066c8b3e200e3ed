-- postmill: safe
-- Inbound webhooks publish events. Their signatures are checked here, so that no secret ever leaves the database
-- (Standard Webhooks 1.0: HMAC-SHA256 over "id.timestamp.body").

create table {schema}.webhook (
    id uuid primary key default {schema}.new_id(),
    tenant_id uuid not null references {schema}.tenant (id),
    label text not null check (length(label) between 1 and 200),
    event_name text collate "C" not null,
    is_enabled boolean not null default true,
    created_by text,
    created_at timestamptz not null default {schema}.now(),
    deleted_at timestamptz
);
create index webhook_tenant on {schema}.webhook (tenant_id, id);

-- The secret before the last is good for a while, so that the sender can be told the new one in peace.
create table {schema}.webhook_secret (
    webhook_id uuid primary key references {schema}.webhook (id),
    secret bytea not null check (length(secret) between 24 and 64),
    previous bytea,
    previous_until timestamptz,
    changed_at timestamptz not null default {schema}.now()
);

-- Which messages came, so that none counts twice.
create table {schema}.webhook_message (
    webhook_id uuid not null,
    message_id text collate "C" not null,
    event_id uuid not null,
    received_at timestamptz not null,
    primary key (webhook_id, message_id)
);
create index webhook_message_received on {schema}.webhook_message (received_at);

-- HMAC-SHA256 (RFC 2104); pgcrypto is not everywhere.
create function {schema}.hmac_sha256(p_key bytea, p_message bytea) returns bytea
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    padded bytea := case when length(p_key) > 64 then sha256(p_key) else p_key end;
    outer_key bytea;
    inner_key bytea;
begin
    padded := padded || decode(repeat('00', 64 - length(padded)), 'hex');
    outer_key := padded;
    inner_key := padded;
    for n in 0 .. 63 loop
        outer_key := set_byte(outer_key, n, get_byte(padded, n) # 92);
        inner_key := set_byte(inner_key, n, get_byte(padded, n) # 54);
    end loop;
    return sha256(outer_key || sha256(inner_key || p_message));
end
$$;

-- Checks one message and publishes its event; the rows are what publish_event returns, behind a status and the tenant:
-- accepted | duplicate (event_id is the first one's) | stale (its timestamp is more than five minutes off) | denied |
-- unknown. Hashes are compared by their hashes: how long that takes tells nothing.
create function {schema}.receive_webhook(p_id uuid, p_message_id text, p_timestamp bigint, p_signatures bytea[], p_body bytea,
    p_context jsonb, p_request_id text, p_traceparent text, p_grace interval)
returns table (status text, tenant_id uuid, event_name text, event_id uuid, published_at timestamptz, correlation_id text, trigger_id uuid,
               label text, job_type text, payload_template text, tenant_slug text, tenant_zone text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own record;
    signed bytea := convert_to(p_message_id || '.' || p_timestamp || '.', 'UTF8') || p_body;
begin
    select w.tenant_id, w.event_name, s.secret, s.previous, s.previous_until into own
      from {schema}.webhook w
      join {schema}.webhook_secret s on s.webhook_id = w.id
      join {schema}.tenant t on t.id = w.tenant_id and t.status <> 'suspended'
     where w.id = p_id and w.is_enabled and w.deleted_at is null;
    if not found then
        status := 'unknown';
        return next;
        return;
    end if;
    if not exists (select from unnest(p_signatures) as g(signature)
                    where sha256(g.signature) = sha256({schema}.hmac_sha256(own.secret, signed))
                       or (own.previous_until > (select {schema}.now())
                           and sha256(g.signature) = sha256({schema}.hmac_sha256(own.previous, signed))))
    then
        status := 'denied';
        return next;
        return;
    elsif abs(extract(epoch from {schema}.now()) - p_timestamp) > 300 then
        status := 'stale';
        return next;
        return;
    end if;
    tenant_id := own.tenant_id;
    event_name := own.event_name;
    insert into {schema}.webhook_message as m (webhook_id, message_id, event_id, received_at)
    values (p_id, p_message_id, {schema}.new_id(), {schema}.now())
    on conflict (webhook_id, message_id) do nothing;
    if not found then
        select 'duplicate', m.event_id into status, event_id from {schema}.webhook_message m
         where m.webhook_id = p_id and m.message_id = p_message_id;
        return next;
        return;
    end if;
    status := 'accepted';
    for event_id, published_at, correlation_id, trigger_id, label, job_type, payload_template, tenant_slug, tenant_zone in
        select e.* from {schema}.publish_event(own.event_name, p_context, own.tenant_id, p_message_id, p_request_id,
            p_traceparent, 'system', 'webhook:' || p_id, p_grace) e
    loop
        return next;
    end loop;
    update {schema}.webhook_message m set event_id = receive_webhook.event_id
     where m.webhook_id = p_id and m.message_id = p_message_id;
end
$$;

create view {schema}.webhooks as
select w.id, w.tenant_id, w.label, w.event_name, w.is_enabled, w.created_by, w.created_at
  from {schema}.webhook w where w.deleted_at is null;

-- Makes a webhook (p_id NULL) or changes one. saved | unknown
create function {schema}.door_save_webhook(p_id uuid, p_tenant uuid, p_label text, p_event_name text, p_is_enabled boolean,
    p_secret bytea, out id uuid, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.webhook;
    new {schema}.webhook;
begin
    status := 'unknown';
    if p_id is null then
        if not {schema}.in_scope(p_tenant) or not exists (select from {schema}.tenant t where t.id = p_tenant) then
            return;
        end if;
        insert into {schema}.webhook as w (tenant_id, label, event_name, is_enabled, created_by)
        values (p_tenant, p_label, p_event_name, p_is_enabled, {schema}.acting_id()) returning w.* into new;
        insert into {schema}.webhook_secret (webhook_id, secret) values (new.id, p_secret);
    else
        select w.* into old from {schema}.webhook w where w.id = p_id and w.deleted_at is null for update;
        if old.id is null or not {schema}.in_scope(old.tenant_id) then
            return;
        end if;
        update {schema}.webhook w
           set label = coalesce(p_label, w.label), event_name = coalesce(p_event_name, w.event_name),
               is_enabled = coalesce(p_is_enabled, w.is_enabled)
         where w.id = p_id returning w.* into new;
    end if;
    id := new.id;
    status := 'saved';
    perform {schema}.audit(case when p_id is null then 'webhooks.create' else 'webhooks.change' end, 'webhook', new.id::text,
        new.tenant_id, case when p_id is not null then to_jsonb(old) end, to_jsonb(new));
end
$$;

-- A new secret; the old one is good for another p_keep. saved | unknown
create function {schema}.door_rotate_webhook(p_id uuid, p_secret bytea, p_keep interval) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own {schema}.webhook;
begin
    select w.* into own from {schema}.webhook w where w.id = p_id and w.deleted_at is null;
    if own.id is null or not {schema}.in_scope(own.tenant_id) then
        return 'unknown';
    end if;
    update {schema}.webhook_secret s
       set previous = s.secret, previous_until = {schema}.now() + p_keep, secret = p_secret, changed_at = {schema}.now()
     where s.webhook_id = p_id;
    perform {schema}.audit('webhooks.rotate', 'webhook', p_id::text, own.tenant_id);
    return 'saved';
end
$$;

-- removed | unknown
create function {schema}.door_remove_webhook(p_id uuid) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.webhook;
begin
    select w.* into old from {schema}.webhook w where w.id = p_id and w.deleted_at is null for update;
    if old.id is null or not {schema}.in_scope(old.tenant_id) then
        return 'unknown';
    end if;
    update {schema}.webhook w set deleted_at = {schema}.now() where w.id = p_id;
    delete from {schema}.webhook_secret s where s.webhook_id = p_id;
    perform {schema}.audit('webhooks.remove', 'webhook', p_id::text, old.tenant_id, to_jsonb(old));
    return 'removed';
end
$$;

-- Events, deliveries, ticks and messages have a retention (events); what a window or a sender could still ask for, as long as
-- it could. At most p_most rows of each in a call; returns how many went.
create function {schema}.sweep_triggers(p_most integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    edge timestamptz;
    gone integer;
    n integer;
begin
    edge := greatest(moment - {schema}.keep_of('events'), timestamptz 'epoch'); -- there is no id of before
    delete from {schema}.trigger_recent r
     where (r.trigger_id, r.hash) in (select x.trigger_id, x.hash from {schema}.trigger_recent x where x.expires_at < moment
                                       order by x.expires_at limit p_most for update skip locked);
    get diagnostics gone = row_count;
    delete from {schema}.tick k
     where (k.trigger_id, k.due) in (select x.trigger_id, x.due from {schema}.tick x where x.fired_at < edge
                                      order by x.fired_at limit p_most);
    get diagnostics n = row_count;
    gone := greatest(gone, n);
    delete from {schema}.event_delivery y
     where (y.event_id, y.trigger_id) in (select x.event_id, x.trigger_id from {schema}.event_delivery x
                                           where x.event_id < {schema}.id_at(edge) and x.outcome <> 'pending'
                                           order by x.event_id limit p_most);
    get diagnostics n = row_count;
    gone := greatest(gone, n);
    delete from {schema}.event e
     where e.id in (select x.id from {schema}.event x where x.id < {schema}.id_at(edge)
                       and not exists (select from {schema}.event_delivery y where y.event_id = x.id)
                     order by x.id limit p_most);
    get diagnostics n = row_count;
    gone := greatest(gone, n);
    delete from {schema}.webhook_message m
     where (m.webhook_id, m.message_id) in (select x.webhook_id, x.message_id from {schema}.webhook_message x
                                             where x.received_at < edge order by x.received_at limit p_most);
    get diagnostics n = row_count;
    return greatest(gone, n);
end
$$;
