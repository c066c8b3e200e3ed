-- SCHEMA postmill

CREATE SCHEMA postmill;

-- DOMAIN actor_type

CREATE DOMAIN postmill.actor_type AS text COLLATE pg_catalog."C"
	CONSTRAINT actor_type_check CHECK ((VALUE = ANY (ARRAY['user'::text, 'system'::text, 'api_key'::text])));

-- DOMAIN source

CREATE DOMAIN postmill.source AS text COLLATE pg_catalog."C"
	CONSTRAINT source_check CHECK ((VALUE = ANY (ARRAY['manual'::text, 'event'::text, 'schedule'::text, 'system'::text])));

-- FUNCTION bury(uuid, uuid[], bigint[], uuid[], bigint[], text[], text[], text[], text[], text[], integer[], text[], integer[], integer[], text[], text[])

CREATE FUNCTION postmill.bury(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_attempt_statuses text[], p_reasons text[], p_error_classes text[] DEFAULT NULL::text[], p_error_codes text[] DEFAULT NULL::text[], p_error_messages text[] DEFAULT NULL::text[], p_error_statuses integer[] DEFAULT NULL::integer[], p_stacks text[] DEFAULT NULL::text[], p_exit_codes integer[] DEFAULT NULL::integer[], p_pids integer[] DEFAULT NULL::integer[], p_stdouts text[] DEFAULT NULL::text[], p_stderrs text[] DEFAULT NULL::text[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    moment timestamptz := postmill.history_moment();
begin
    return query
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_attempt_statuses, p_reasons, p_error_classes,
               p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids, p_stdouts, p_stderrs)
               as u(id, claim_no, tenant_id, micros, attempt_status, reason, error_class, error_code, error_message,
                    error_status, stack, exit_code, pid, stdout_tail, stderr_tail)
    ), held as materialized (
        select r.ctid as tid, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), tried as (
        insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, pid, started_at, finished_at,
               status, exit_code, error_class, error_code, error_message, error_status, stack, stdout_tail, stderr_tail)
        select h.id, h.tenant_id, h.attempt, h.run, p_holder, h.claim_no, h.pid,
               moment - h.micros * interval '1 microsecond', moment, h.attempt_status, h.exit_code, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail
          from held h where h.attempt_status is not null
    ), buried as (
        insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_code, error_message, error_status, stack, attempts, failed_at, last_attempt_at)
        select h.id, h.tenant_id, h.queue, h.lane, h.priority, h.attempt, h.run, h.lost, h.reason, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.attempt, moment,
               moment - h.micros * interval '1 microsecond'
          from held h
    ), heard as (
        delete from postmill.cancel_request c using held h where c.job_id = h.id
    )
    select a.id from asked a where not exists (select from held h where h.id = a.id);
end
$$;

-- FUNCTION cancel_jobs(uuid[], text, text, text)

CREATE FUNCTION postmill.cancel_jobs(p_ids uuid[], p_actor_type text DEFAULT 'user'::text, p_actor_id text DEFAULT NULL::text, p_reason text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.history_moment();
    over uuid[];
    asked uuid[];
begin
    begin
        with waits as materialized (
            select * from (select r.id, r.attempt, r.run, r.lost from postmill.ready r where r.id = any (p_ids)
                            order by r.id for update skip locked) r
            union all
            select * from (select s.id, s.attempt, s.run, s.lost from postmill.scheduled s where s.id = any (p_ids)
                            order by s.id for update skip locked) s
            union all
            select * from (select b.id, b.attempt, b.run, b.lost from postmill.blocked b where b.id = any (p_ids)
                            order by b.id for update skip locked) b
        ), no_ready as (
            delete from postmill.ready r where r.id = any (array(select w.id from waits w))
        ), no_scheduled as (
            delete from postmill.scheduled s where s.id = any (array(select w.id from waits w))
        ), no_blocked as (
            delete from postmill.blocked b where b.id = any (array(select w.id from waits w))
        ), heard as (
            delete from postmill.cancel_request c using waits w where c.job_id = w.id
        ), ended as (
            insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, reason)
            select w.id, coalesce(j.tenant_id, k.tenant_id, '00000000-0000-0000-0000-000000000001'), 'canceled', moment,
                   w.attempt - 1, w.run, w.lost, coalesce(p_reason, 'canceled')
              from waits w left join postmill.job j on j.id = w.id left join postmill.job_kept k on k.id = w.id
            returning job_id
        )
        select array_agg(e.job_id) into over from ended e;

        with rest as (
            select distinct u.id from unnest(p_ids) as u(id)
             where u.id <> all (coalesce(over, '{}'))
               and (exists (select from postmill.job j where j.id = u.id) or exists (select from postmill.job_kept k where k.id = u.id))
               and not exists (select from postmill.outcome o where o.job_id = u.id)
               and not exists (select from postmill.dead_letter d where d.id = u.id)
        ), put as (
            insert into postmill.cancel_request as c (job_id, requested_at, actor_type, actor_id, reason)
            select r.id, moment, p_actor_type, p_actor_id, p_reason from rest r order by r.id
            on conflict (job_id) do nothing
        )
        select array_agg(r.id) into asked from rest r;
        if asked is not null then
            perform postmill.tell('!cancel');
        end if;
    exception
        when serialization_failure or deadlock_detected then
            return query select u.id, 'serialization' from unnest(p_ids) as u(id);
            return;
    end;
    return query
    select u.id, case when u.id = any (over) then 'canceled'
                      when u.id = any (asked) then 'requested'
                      when exists (select from postmill.outcome o where o.job_id = u.id)
                        or exists (select from postmill.dead_letter d where d.id = u.id) then 'finished'
                      else 'unknown' end
      from unnest(p_ids) as u(id);
end
$$;

-- FUNCTION claim(uuid, bigint, integer, text[], uuid[], integer[], timestamp with time zone[], integer[], boolean)

CREATE FUNCTION postmill.claim(p_holder uuid, p_claim_no bigint, p_total integer, p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamp with time zone[], p_counts integer[], p_async boolean DEFAULT true) RETURNS TABLE(id uuid, slot integer, ready_at timestamp with time zone, attempt integer, run integer, lost integer, job_type text, payload jsonb, tenant_id uuid, max_attempts integer, timeout_seconds double precision, expired boolean, created_at timestamp with time zone, project_id uuid, actor_type text, actor_id text, request_id text, correlation_id text, traceparent text, idempotency_key text, scheduled_for timestamp with time zone, claimed_at timestamp with time zone)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    if p_async then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    return query
    with picked as materialized (
        select l.slot, q.*
          from unnest(p_queues, p_lanes, p_priorities, p_from, p_counts)
               with ordinality as l(queue, lane, priority, at, n, slot)
         cross join lateral (
             select r.ctid as tid, r.id, r.queue, r.lane, r.priority, r.ready_at, r.attempt, r.run, r.lost
               from postmill.ready r
              where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                and r.ready_at >= case when l.at is null then '-infinity'
                                        else least(l.at, (select postmill.now()) - interval '250 ms') end
              order by r.ready_at, r.id
              limit l.n for update skip locked) q
         where exists (select from postmill.lease e where e.holder = p_holder and e.expires_at > (select postmill.now()))
           and not exists (select from postmill.queue w where w.name = l.queue and w.paused_at is not null
                              and (w.resume_at is null or w.resume_at > (select postmill.now())))
         limit p_total
    ), gone as (
        delete from postmill.ready r where r.ctid = any (array(select p.tid from picked p))
    ), begun as (
        insert into postmill.running
               (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)
        select p.id, p_holder, p_claim_no, p.queue, p.lane, p.priority, p.attempt, p.run + 1, p.lost,
               (select postmill.now())
          from picked p
    )
    select p.id, p.slot::integer, p.ready_at, p.attempt, p.run + 1, p.lost, j.job_type, j.payload, j.tenant_id,
           j.max_attempts, j.timeout_seconds, j.expires_at <= (select postmill.now()), j.created_at, j.project_id,
           j.actor_type::text, j.actor_id, j.request_id, j.correlation_id, j.traceparent, j.idempotency_key, j.scheduled_for,
           (select postmill.now())
      from picked p
      left join lateral (select * from postmill.job b where b.id = p.id limit 1) j on true;
end
$$;

-- FUNCTION close_letter(uuid, text, text)

CREATE FUNCTION postmill.close_letter(p_id uuid, p_status text, p_reason text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.history_moment();
begin
    with gone as (delete from postmill.dead_letter d where d.id = p_id returning d.*)
    insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, reason, error_class,
           error_code, error_message, error_status, stack)
    select g.id, g.tenant_id, p_status, moment, g.attempt, g.run, g.lost, coalesce(p_reason, g.reason), g.error_class,
           g.error_code, g.error_message, g.error_status, g.stack
      from gone g;
    return found;
end
$$;

-- FUNCTION close_session(uuid)

CREATE FUNCTION postmill.close_session(p_holder uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform postmill.leave(p_holder);
    with held as materialized (
        select r.ctid as tid, r.* from postmill.running r where r.holder = p_holder order by r.id for update skip locked
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    )
    insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
    select h.queue, h.lane, h.priority, postmill.now(), h.id, h.attempt, h.run - 1, h.lost from held h;
    delete from postmill.lease l where l.holder = p_holder;
    update postmill.worker w set stopped_at = postmill.now(), running_count = 0 where w.holder = p_holder;
end
$$;

-- FUNCTION complete(uuid, uuid[], bigint[], uuid[], bigint[], jsonb[], integer[])

CREATE FUNCTION postmill.complete(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_results jsonb[] DEFAULT NULL::jsonb[], p_pids integer[] DEFAULT NULL::integer[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    moment timestamptz := postmill.history_moment();
begin
    return query
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_results, p_pids)
                   as u(id, claim_no, tenant_id, micros, result, pid)
    ), held as materialized (
        select r.ctid as tid, r.id, r.attempt, r.run, r.lost, a.claim_no, a.tenant_id, a.micros, a.result, a.pid
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), ended as (
        insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status,
               holder, claim_no, pid, started_at, result)
        select h.id, h.tenant_id, 'succeeded', moment, h.attempt, h.run, h.lost, 'succeeded', p_holder, h.claim_no,
               h.pid, moment - h.micros * interval '1 microsecond', h.result
          from held h
    )
    select a.id from asked a where not exists (select from held h where h.id = a.id);
end
$$;

-- FUNCTION complete_forgotten(uuid, uuid[], bigint[], text)

CREATE FUNCTION postmill.complete_forgotten(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_job_type text) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    return query
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos) as u(id, claim_no)
    ), held as materialized (
        select r.ctid as tid, r.id
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), forgotten as (
        delete from postmill.job j where j.id = any (array(select h.id from held h))
    ), forgotten_kept as (
        delete from postmill.job_kept k where k.id = any (array(select h.id from held h))
    ), counted as (
        insert into postmill.tally (at, job_type, succeeded)
        select (select postmill.now()), p_job_type, count(*) from held h having count(*) > 0
    )
    select a.id from asked a where not exists (select from held h where h.id = a.id);
end
$$;

-- FUNCTION discard_jobs(uuid[], text)

CREATE FUNCTION postmill.discard_jobs(p_ids uuid[], p_reason text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    for id in select distinct u.id from unnest(p_ids) as u(id) order by 1 loop
        if postmill.close_letter(id, 'failed', p_reason) then
            status := 'discarded';
        elsif exists (select from postmill.job j where j.id = discard_jobs.id)
            or exists (select from postmill.job_kept k where k.id = discard_jobs.id) then
            status := 'not_dead';
        else
            status := 'unknown';
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION discover_lanes(text[], integer)

CREATE FUNCTION postmill.discover_lanes(p_queues text[], p_most integer) RETURNS TABLE(queue text, lane uuid, priority integer)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    return query
    with recursive step as (
        (select f.queue, f.lane, f.priority
           from unnest(p_queues) as q(name)
          cross join lateral (
             select r.queue, r.lane, r.priority from postmill.ready r
              where r.queue = q.name order by r.queue, r.lane, r.priority limit 1) f)
        union all
        select f.queue, f.lane, f.priority
          from step s
         cross join lateral (
             select r.queue, r.lane, r.priority from postmill.ready r
              where r.queue = s.queue and (r.lane, r.priority) > (s.lane, s.priority)
              order by r.queue, r.lane, r.priority limit 1) f
    )
    select s.queue, s.lane, s.priority from step s limit p_most;
end
$$;

-- FUNCTION doze(uuid, text[], double precision)

CREATE FUNCTION postmill.doze(p_holder uuid, p_queues text[], p_seconds double precision) RETURNS TABLE(queue text, watch boolean)
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    delete from postmill.sleeper s where s.holder = p_holder and s.queue = any (p_queues);
    return query
    insert into postmill.sleeper as n (queue, watch, valid_until, holder)
    select q.name,
           not exists (select from postmill.sleeper s where s.queue = q.name and s.watch and s.valid_until > moment),
           moment + p_seconds * interval '1 second', p_holder
      from unnest(p_queues) as q(name) order by q.name
    returning n.queue, n.watch;
end
$$;

-- FUNCTION enqueue(text, jsonb, uuid, text, interval, timestamp with time zone, integer, uuid, text, interval)

CREATE FUNCTION postmill.enqueue(job_type text, payload jsonb DEFAULT '{}'::jsonb, tenant uuid DEFAULT NULL::uuid, key text DEFAULT NULL::text, delay interval DEFAULT NULL::interval, scheduled_for timestamp with time zone DEFAULT NULL::timestamp with time zone, priority integer DEFAULT NULL::integer, project uuid DEFAULT NULL::uuid, mode text DEFAULT NULL::text, ttl interval DEFAULT NULL::interval) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    answer record;
begin
    if key is null then
        answer := postmill.enqueue_one(job_type, payload, tenant, priority, delay, scheduled_for, project);
    else
        answer := postmill.enqueue_keyed(key, mode, ttl, job_type, payload, tenant, priority, delay, scheduled_for, project);
    end if;
    case answer.status
        when 'created', 'duplicate' then
            return answer.id;
        when 'unknown_type' then
            raise exception 'postmill: unknown job type "%"', left(job_type, 200) using errcode = 'undefined_object',
                hint = coalesce('Did you mean "' || (select d.key from postmill.job_definition d
                    where left(d.key, 1) = left(job_type, 1) or d.key like '%' || job_type || '%'
                    order by abs(length(d.key) - length(job_type)), d.key limit 1) || '"? ', '')
                    || 'Register it: postmill jobs register MODULE';
        when 'inactive' then
            raise exception 'postmill: job type "%" is not active', job_type using errcode = 'object_not_in_prerequisite_state';
        when 'invalid' then
            raise exception 'postmill: no job of type "%" was made: %', job_type, answer.detail
                using errcode = 'invalid_parameter_value';
        when 'other_type' then
            raise exception 'postmill: key "%" belongs to a job of type "%"', key, answer.detail using errcode = 'unique_violation';
        when 'busy' then
            raise exception 'postmill: key "%" is locked by another transaction', key using errcode = 'lock_not_available';
        else
            raise exception 'postmill: the transaction must be tried again (%)', answer.status using errcode = 'serialization_failure';
    end case;
end
$$;

-- FUNCTION enqueue_intake(uuid)

CREATE FUNCTION postmill.enqueue_intake(p_batch uuid) RETURNS TABLE(n integer, id uuid, status text, detail text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    rows record;
begin
    with gone as (
        delete from postmill.intake i where i.batch = p_batch returning i.*
    ), sorted as (select g.* from gone g order by g.n)
    select array_agg(s.n) as n, array_agg(s.job_type) as types, array_agg(s.payload) as payloads,
           array_agg(s.tenant_id) as tenants, array_agg(s.priority) as priorities, array_agg(s.delay) as delays
      into rows from sorted s;
    if rows.n is null then
        return;
    end if;
    return query select * from postmill.enqueue_plain(rows.n, rows.types, rows.payloads, rows.tenants, rows.priorities,
        rows.delays, null, null, null, null, null, null, null, null, null, null, null, null, null);
end
$$;

-- FUNCTION enqueue_keyed(text, text, interval, text, jsonb, uuid, integer, interval, timestamp with time zone, uuid, integer, double precision, timestamp with time zone, text, text, text, text, text, text, text, uuid, text)

CREATE FUNCTION postmill.enqueue_keyed(p_key text, p_mode text, p_ttl interval, p_job_type text, p_payload jsonb, p_tenant uuid, p_priority integer DEFAULT NULL::integer, p_delay interval DEFAULT NULL::interval, p_scheduled_for timestamp with time zone DEFAULT NULL::timestamp with time zone, p_project uuid DEFAULT NULL::uuid, p_max_attempts integer DEFAULT NULL::integer, p_timeout_seconds double precision DEFAULT NULL::double precision, p_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_source text DEFAULT NULL::text, p_source_ref text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_request_id text DEFAULT NULL::text, p_correlation_id text DEFAULT NULL::text, p_traceparent text DEFAULT NULL::text, p_replayed_from uuid DEFAULT NULL::uuid, p_lane_key text DEFAULT NULL::text, OUT id uuid, OUT status text, OUT detail text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    zero constant uuid := '00000000-0000-0000-0000-000000000000';
    own uuid := postmill.new_id();
    owner_tenant uuid := coalesce(p_tenant, '00000000-0000-0000-0000-000000000001');
    owner_project uuid := coalesce(p_project, zero);
    definition record;
    held postmill.idempotency_key;
    live boolean;
    own_mode text;
    own_ttl interval;
begin
    select d.key, d.is_active, d.idempotency, d.idempotency_ttl into definition
      from postmill.job_definition d where d.key = p_job_type and d.is_active;
    if not found then
        select r.status, r.detail into status, detail from postmill.refusal(p_job_type) r;
        if status <> 'alias' then
            return;
        end if;
        select d.key, d.is_active, d.idempotency, d.idempotency_ttl into definition
          from postmill.job_definition d where d.key = detail and d.is_active;
        detail := null;
        if not found then
            status := 'inactive';
            return;
        end if;
    end if;
    detail := postmill.fault_of_key(p_key, p_mode, p_ttl);
    if detail is not null then
        status := 'invalid';
        return;
    end if;
    own_mode := coalesce(p_mode, definition.idempotency, 'active');
    own_ttl := coalesce(p_ttl, definition.idempotency_ttl, case own_mode when 'window' then interval '24 hours'
                                                                 when 'ttl' then interval '30 days' end);
    begin
        insert into postmill.idempotency_key as k
            (tenant_id, project_id, key, job_type, job_id, mode, first_seen_at, last_seen_at, expires_at)
        values (owner_tenant, owner_project, p_key, definition.key, own, own_mode, postmill.now(), postmill.now(),
                case when own_mode in ('window', 'ttl') then postmill.now() + own_ttl end)
        on conflict (tenant_id, project_id, key) do update set last_seen_at = excluded.last_seen_at
        returning k.* into held;
        if held.job_id <> own then
            live := case
                when held.mode = 'active' then postmill.is_live(held.job_id)
                when held.mode = 'queued' then postmill.is_waiting(held.job_id)
                else held.expires_at > postmill.now()
            end;
            if live and held.job_type <> definition.key then
                id := held.job_id;
                status := 'other_type';
                detail := held.job_type;
                return;
            elsif live then
                id := held.job_id;
                status := 'duplicate';
                return;
            end if;
            update postmill.idempotency_key k
               set job_id = own, job_type = definition.key, mode = own_mode, first_seen_at = postmill.now(),
                   expires_at = case when own_mode in ('window', 'ttl') then postmill.now() + own_ttl end
             where k.tenant_id = owner_tenant and k.project_id = owner_project and k.key = p_key;
        end if;
        select e.id, e.status, e.detail into id, status, detail
          from postmill.enqueue_one(definition.key, p_payload, owner_tenant, p_priority, p_delay, p_scheduled_for,
              p_project, p_max_attempts, p_timeout_seconds, p_expires_at, p_source, p_source_ref, p_actor_type,
              p_actor_id, p_request_id, p_correlation_id, p_traceparent, p_key, p_replayed_from, own, p_lane_key) e;
        if status <> 'created' then
            -- Invalid, or switched off since the look: the key must not speak of a job that never was.
            raise exception using errcode = 'PM001';
        end if;
    exception
        when sqlstate 'PM001' then
            id := null;
        when lock_not_available then
            id := null;
            status := 'busy';
        when deadlock_detected or serialization_failure then
            id := null;
            status := 'serialization';
    end;
end
$$;

-- FUNCTION enqueue_many(text[], jsonb[], uuid[], text[], text[], interval[], integer[], interval[], timestamp with time zone[], uuid[], integer[], double precision[], timestamp with time zone[], text[], text[], text[], text[], text[], text[], text[], interval, text[])

CREATE FUNCTION postmill.enqueue_many(p_job_types text[], p_payloads jsonb[], p_tenants uuid[] DEFAULT NULL::uuid[], p_keys text[] DEFAULT NULL::text[], p_modes text[] DEFAULT NULL::text[], p_ttls interval[] DEFAULT NULL::interval[], p_priorities integer[] DEFAULT NULL::integer[], p_delays interval[] DEFAULT NULL::interval[], p_scheduled_for timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], p_projects uuid[] DEFAULT NULL::uuid[], p_max_attempts integer[] DEFAULT NULL::integer[], p_timeouts double precision[] DEFAULT NULL::double precision[], p_expires_at timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], p_sources text[] DEFAULT NULL::text[], p_source_refs text[] DEFAULT NULL::text[], p_actor_types text[] DEFAULT NULL::text[], p_actor_ids text[] DEFAULT NULL::text[], p_request_ids text[] DEFAULT NULL::text[], p_correlation_ids text[] DEFAULT NULL::text[], p_traceparents text[] DEFAULT NULL::text[], p_wait interval DEFAULT NULL::interval, p_lane_keys text[] DEFAULT NULL::text[]) RETURNS TABLE(n integer, id uuid, status text, detail text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    row_no integer;
    wide integer := greatest(cardinality(p_job_types), cardinality(p_payloads), cardinality(p_keys));
    before text := current_setting('lock_timeout');
begin
    if p_keys is null then
        return query select * from postmill.enqueue_plain(
            (select array_agg(g) from generate_series(1, wide) g), p_job_types, p_payloads, p_tenants,
            p_priorities, p_delays, p_scheduled_for, p_projects, p_max_attempts, p_timeouts, p_expires_at, p_sources,
            p_source_refs, p_actor_types, p_actor_ids, p_request_ids, p_correlation_ids, p_traceparents, p_lane_keys);
        return;
    end if;
    if p_wait is not null then
        perform set_config('lock_timeout', 
            least(2147483647, greatest(1, extract(epoch from p_wait) * 1000))::integer || 'ms', true);
    end if;
    for row_no in select g.n from generate_series(1, wide) as g(n)
                   order by p_keys[g.n] collate "C" nulls last, g.n loop
        n := row_no;
        if p_keys[row_no] is null then
            select e.id, e.status, e.detail into id, status, detail
              from postmill.enqueue_one(p_job_types[row_no], p_payloads[row_no], p_tenants[row_no],
                  p_priorities[row_no], p_delays[row_no], p_scheduled_for[row_no], p_projects[row_no],
                  p_max_attempts[row_no], p_timeouts[row_no], p_expires_at[row_no], p_sources[row_no],
                  p_source_refs[row_no], p_actor_types[row_no], p_actor_ids[row_no], p_request_ids[row_no],
                  p_correlation_ids[row_no], p_traceparents[row_no], p_lane_key => p_lane_keys[row_no]) e;
        else
            select e.id, e.status, e.detail into id, status, detail
              from postmill.enqueue_keyed(p_keys[row_no], p_modes[row_no], p_ttls[row_no], p_job_types[row_no],
                  p_payloads[row_no], p_tenants[row_no], p_priorities[row_no], p_delays[row_no],
                  p_scheduled_for[row_no], p_projects[row_no], p_max_attempts[row_no], p_timeouts[row_no],
                  p_expires_at[row_no], p_sources[row_no], p_source_refs[row_no], p_actor_types[row_no],
                  p_actor_ids[row_no], p_request_ids[row_no], p_correlation_ids[row_no], p_traceparents[row_no],
                  p_lane_key => p_lane_keys[row_no]) e;
        end if;
        return next;
    end loop;
    if p_wait is not null then
        perform set_config('lock_timeout', before, true);
    end if;
end
$$;

-- FUNCTION enqueue_one(text, jsonb, uuid, integer, interval, timestamp with time zone, uuid, integer, double precision, timestamp with time zone, text, text, text, text, text, text, text, text, uuid, uuid, text)

CREATE FUNCTION postmill.enqueue_one(p_job_type text, p_payload jsonb, p_tenant uuid, p_priority integer DEFAULT NULL::integer, p_delay interval DEFAULT NULL::interval, p_scheduled_for timestamp with time zone DEFAULT NULL::timestamp with time zone, p_project uuid DEFAULT NULL::uuid, p_max_attempts integer DEFAULT NULL::integer, p_timeout_seconds double precision DEFAULT NULL::double precision, p_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_source text DEFAULT NULL::text, p_source_ref text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_request_id text DEFAULT NULL::text, p_correlation_id text DEFAULT NULL::text, p_traceparent text DEFAULT NULL::text, p_key text DEFAULT NULL::text, p_replayed_from uuid DEFAULT NULL::uuid, p_id uuid DEFAULT NULL::uuid, p_lane_key text DEFAULT NULL::text, OUT id uuid, OUT status text, OUT detail text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    found_one record;
    moment timestamptz := postmill.now();
    due timestamptz;
    tenant uuid := coalesce(p_tenant, '00000000-0000-0000-0000-000000000001');
    urgency integer;
    own_lane uuid;
begin
    select d.queue, d.priority, d.max_attempts, d.timeout_seconds, d.lane, h.since, h.until
      into found_one
      from postmill.job_definition d, postmill.partition_horizon h
     where d.key = p_job_type and d.is_active;
    if not found then
        select r.status, r.detail into status, detail from postmill.refusal(p_job_type) r;
        if status = 'alias' then
            select e.id, e.status, e.detail into id, status, detail
              from postmill.enqueue_one(detail, p_payload, p_tenant, p_priority, p_delay, p_scheduled_for, p_project,
                  p_max_attempts, p_timeout_seconds, p_expires_at, p_source, p_source_ref, p_actor_type, p_actor_id,
                  p_request_id, p_correlation_id, p_traceparent, p_key, p_replayed_from, p_id, p_lane_key) e;
        end if;
        return;
    end if;
    detail := postmill.fault_of(p_payload, p_delay, p_scheduled_for, p_max_attempts, p_timeout_seconds, p_source,
        p_source_ref, p_actor_type, p_actor_id, p_request_id, p_correlation_id, p_traceparent);
    if detail is not null then
        status := 'invalid';
        return;
    end if;
    id := coalesce(p_id, postmill.new_id());
    status := 'created';
    urgency := coalesce(p_priority, found_one.priority);
    if found_one.lane = 'tenant' and p_lane_key is null then
        own_lane := tenant;
    else
        own_lane := postmill.lane_of(found_one.lane, tenant, p_job_type, p_payload, p_lane_key);
    end if;
    due := coalesce(p_scheduled_for, moment) + coalesce(p_delay, '0');
    if moment >= found_one.since and moment < found_one.until - interval '1 second' then
        insert into postmill.job (id, tenant_id, project_id, job_type, queue, payload, priority, max_attempts,
            timeout_seconds, created_at, scheduled_for, expires_at, source, source_ref, actor_type, actor_id, request_id,
            correlation_id, traceparent, idempotency_key, replayed_from)
        values (id, tenant, p_project, p_job_type, found_one.queue, p_payload, urgency,
            coalesce(p_max_attempts, found_one.max_attempts), coalesce(p_timeout_seconds, found_one.timeout_seconds), moment,
            case when due > moment then due end, p_expires_at, coalesce(p_source, 'manual'), p_source_ref,
            coalesce(p_actor_type, 'system'), p_actor_id, p_request_id, p_correlation_id, p_traceparent, p_key,
            p_replayed_from);
    else
        -- No partition is there for it: nobody has looked after this database for weeks, or the clock stepped back. Made
        -- here, it would be locked, and everybody wait for it, until the caller's transaction ends.
        insert into postmill.job_kept (id, tenant_id, project_id, job_type, queue, payload, priority, max_attempts,
            timeout_seconds, created_at, scheduled_for, expires_at, source, source_ref, actor_type, actor_id, request_id,
            correlation_id, traceparent, idempotency_key, replayed_from)
        values (id, tenant, p_project, p_job_type, found_one.queue, p_payload, urgency,
            coalesce(p_max_attempts, found_one.max_attempts), coalesce(p_timeout_seconds, found_one.timeout_seconds), moment,
            case when due > moment then due end, p_expires_at, coalesce(p_source, 'manual'), p_source_ref,
            coalesce(p_actor_type, 'system'), p_actor_id, p_request_id, p_correlation_id, p_traceparent, p_key,
            p_replayed_from);
    end if;
    if due > moment then
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        values (found_one.queue, own_lane, due, id, urgency, 1, 0, 0);
    else
        insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        values (found_one.queue, own_lane, urgency, postmill.now(), id, 1, 0, 0);
        if exists (select from postmill.sleeper s where s.queue = found_one.queue and s.watch
                        and s.valid_until > moment)
            or current_setting('transaction_isolation') <> 'read committed'
        then
            perform postmill.ring(found_one.queue, own_lane, urgency);
        end if;
    end if;
end
$$;

-- FUNCTION enqueue_plain(integer[], text[], jsonb[], uuid[], integer[], interval[], timestamp with time zone[], uuid[], integer[], double precision[], timestamp with time zone[], text[], text[], text[], text[], text[], text[], text[], text[])

CREATE FUNCTION postmill.enqueue_plain(p_n integer[], p_job_types text[], p_payloads jsonb[], p_tenants uuid[], p_priorities integer[], p_delays interval[], p_scheduled_for timestamp with time zone[], p_projects uuid[], p_max_attempts integer[], p_timeouts double precision[], p_expires_at timestamp with time zone[], p_sources text[], p_source_refs text[], p_actor_types text[], p_actor_ids text[], p_request_ids text[], p_correlation_ids text[], p_traceparents text[], p_lane_keys text[]) RETURNS TABLE(n integer, id uuid, status text, detail text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    rung record;
    ids uuid[];
    numbers integer[];
    lanes uuid[];
    queues text[];
    urgencies integer[];
    refused boolean;
begin
    with asked as materialized (
        select u.*, coalesce(u.tenant, '00000000-0000-0000-0000-000000000001') as tenant_id
          from unnest(p_n, p_job_types, p_payloads, p_tenants, p_priorities, p_delays, p_scheduled_for, p_projects,
               p_max_attempts, p_timeouts, p_expires_at, p_sources, p_source_refs, p_actor_types, p_actor_ids,
               p_request_ids, p_correlation_ids, p_traceparents, p_lane_keys)
               as u(n, job_type, payload, tenant, priority, delay, at, project, attempts, timeout, expires, source,
                    source_ref, actor_type, actor_id, request_id, correlation_id, traceparent, lane_key)
    ), known as materialized (
        select a.*, postmill.new_id() as id, d.key, d.queue, coalesce(a.priority, d.priority) as urgency,
               coalesce(a.attempts, d.max_attempts) as most, coalesce(a.timeout, d.timeout_seconds) as seconds,
               case when d.lane = 'tenant' and a.lane_key is null then a.tenant_id
                    else postmill.lane_of(d.lane, a.tenant_id, d.key, a.payload, a.lane_key) end as lane,
               coalesce(a.at, moment) + coalesce(a.delay, '0') as due
          from asked a join postmill.job_definition d on d.key = a.job_type and d.is_active
         where postmill.fault_of(a.payload, a.delay, a.at, a.attempts, a.timeout, a.source, a.source_ref, a.actor_type,
                   a.actor_id, a.request_id, a.correlation_id, a.traceparent) is null
           and exists (select from postmill.partition_horizon h
                        where moment >= h.since and moment < h.until - interval '1 second')
    ), bodies as (
        insert into postmill.job (id, tenant_id, project_id, job_type, queue, payload, priority, max_attempts,
            timeout_seconds, created_at, scheduled_for, expires_at, source, source_ref, actor_type, actor_id,
            request_id, correlation_id, traceparent)
        select k.id, k.tenant_id, k.project, k.key, k.queue, k.payload, k.urgency, k.most, k.seconds, moment,
               case when k.due > moment then k.due end, k.expires, coalesce(k.source, 'manual'), k.source_ref,
               coalesce(k.actor_type, 'system'), k.actor_id, k.request_id, k.correlation_id, k.traceparent
          from known k
    ), due_now as (
        insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select k.queue, k.lane, k.urgency, postmill.now(), k.id, 1, 0, 0 from known k where k.due <= moment
    ), due_later as (
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select k.queue, k.lane, k.due, k.id, k.urgency, 1, 0, 0 from known k where k.due > moment
    )
    select array_agg(k.n), array_agg(k.id), array_agg(case when k.due <= moment then k.queue end),
           array_agg(k.lane), array_agg(k.urgency)
      into numbers, ids, queues, lanes, urgencies
      from known k;

    for rung in
        select r.queue, count(*) as wide, (array_agg(r.lane))[1:16] as lanes, (array_agg(r.urgency))[1:16] as urgencies
          from (select distinct u.queue, u.lane, u.urgency
                  from unnest(queues, lanes, urgencies) as u(queue, lane, urgency) where u.queue is not null) r
         group by r.queue
    loop
        if rung.wide > 16 then
            perform postmill.ring(rung.queue);
        else
            perform postmill.ring(rung.queue, u.lane, u.urgency) from unnest(rung.lanes, rung.urgencies) as u(lane, urgency);
        end if;
    end loop;

    return query select u.n, u.id, 'created', null::text from unnest(numbers, ids) as u(n, id);
    if coalesce(cardinality(ids), 0) < cardinality(p_n) then
        return query
        select u.n, e.id, e.status, e.detail
          from unnest(p_n, p_job_types) with ordinality as u(n, job_type, i)
         cross join lateral postmill.enqueue_one(u.job_type, p_payloads[u.i], p_tenants[u.i], p_priorities[u.i],
               p_delays[u.i], p_scheduled_for[u.i], p_projects[u.i], p_max_attempts[u.i], p_timeouts[u.i],
               p_expires_at[u.i], p_sources[u.i], p_source_refs[u.i], p_actor_types[u.i], p_actor_ids[u.i],
               p_request_ids[u.i], p_correlation_ids[u.i], p_traceparents[u.i], p_lane_key => p_lane_keys[u.i]) e
         where u.n <> all (coalesce(numbers, '{}'));
    end if;
end
$$;

-- FUNCTION enqueue_quick(text, jsonb, uuid, integer)

CREATE FUNCTION postmill.enqueue_quick(p_job_type text, p_payload jsonb, p_tenant uuid, p_priority integer DEFAULT NULL::integer) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own uuid;
    home text;
    own_lane uuid;
    urgency integer;
begin
    with body as (
        insert into postmill.job as j (id, tenant_id, job_type, queue, payload, priority, max_attempts, timeout_seconds,
            created_at, source, actor_type)
        select postmill.new_id(), coalesce(p_tenant, '00000000-0000-0000-0000-000000000001'), d.key, d.queue, p_payload,
               coalesce(p_priority, d.priority), d.max_attempts, d.timeout_seconds, m.moment, 'manual', 'system'
          from (select postmill.now() as moment) m, postmill.job_definition d, postmill.partition_horizon h
         where d.key = p_job_type and d.is_active and d.lane = 'tenant' and m.moment >= h.since and m.moment < h.until
        returning j.id, j.queue, j.tenant_id, j.priority, j.created_at
    )
    insert into postmill.ready as r (queue, lane, priority, ready_at, id, attempt, run, lost)
    select b.queue, b.tenant_id, b.priority, b.created_at, b.id, 1, 0, 0 from body b
    returning r.id, r.queue, r.lane, r.priority into own, home, own_lane, urgency;
    if exists (select from postmill.sleeper s where s.queue = home and s.watch and s.valid_until > (select postmill.now()))
        or current_setting('transaction_isolation') <> 'read committed'
    then
        perform postmill.ring(home, own_lane, urgency);
    end if;
    return own;
end
$$;

-- FUNCTION ensure_partitions(timestamp with time zone)

CREATE FUNCTION postmill.ensure_partitions(p_moment timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    policy postmill.partition_policy;
    horizon postmill.partition_horizon;
    step interval;
    low timestamptz;
    high timestamptz;
    made integer := 0;
    parent text;
begin
    perform pg_advisory_xact_lock(hashtext('postmill.ensure_partitions'));
    select * into strict policy from postmill.partition_policy;
    -- In seconds: a day of an interval has 23 or 25 hours where the session's clock is set.
    step := extract(epoch from greatest(policy.width, date_trunc('hour', policy.retention / 11))) * interval '1 second';
    select * into horizon from postmill.partition_horizon;
    if not found then
        low := date_bin(step, p_moment, timestamptz '2024-01-01 00:00+00') - step;
        insert into postmill.partition_horizon (since, until) values (low, low) returning * into horizon;
    end if;
    while horizon.until < p_moment + policy.ahead loop
        -- A database left alone for months skips the empty stretch, but not the width before this one: a clock may
        -- step back. What is skipped is outside the horizon, so that who needs it after all makes it.
        low := date_bin(step, p_moment, horizon.until) - step;
        if horizon.until < low then
            horizon.since := low;
            horizon.until := low;
        end if;
        high := horizon.until + step;
        foreach parent in array array['job', 'attempt', 'outcome'] loop
            perform postmill.make_partition(parent, horizon.until, high);
        end loop;
        horizon.until := high;
        made := made + 1;
    end loop;
    while horizon.since > p_moment loop
        low := horizon.since - step;
        foreach parent in array array['job', 'attempt', 'outcome'] loop
            perform postmill.make_partition(parent, low, horizon.since);
        end loop;
        horizon.since := low;
        made := made + 1;
    end loop;
    if made > 0 then
        update postmill.partition_horizon set since = horizon.since, until = horizon.until;
    end if;
    return made;
end
$$;

-- FUNCTION fault_of(jsonb, interval, timestamp with time zone, integer, double precision, text, text, text, text, text, text, text)

CREATE FUNCTION postmill.fault_of(p_payload jsonb, p_delay interval, p_scheduled_for timestamp with time zone, p_max_attempts integer, p_timeout_seconds double precision, p_source text, p_source_ref text, p_actor_type text, p_actor_id text, p_request_id text, p_correlation_id text, p_traceparent text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select case
        when jsonb_typeof(p_payload) is distinct from 'object'
            then 'payload: must be a JSON object, not ' || coalesce(jsonb_typeof(p_payload), 'NULL')
        when pg_column_size(p_payload) > 16777216 then 'payload: has more than 16 MiB'
        when p_delay not between interval '-3650 days' and interval '3650 days'
            then 'delay: must be at most ten years'
        when p_scheduled_for not between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-31 00:00+00'
            or p_scheduled_for + coalesce(p_delay, '0') > timestamptz '9999-12-31 00:00+00'
            then 'scheduled_for: must be a moment before the end of the year 9999'
        when p_max_attempts < 1 then 'max_attempts: must be 1 or more, not ' || p_max_attempts
        when not (p_timeout_seconds > 0 and p_timeout_seconds <= 315360000)
            then 'timeout: must be more than 0 seconds and at most ten years, not ' || p_timeout_seconds
        when p_source not in ('manual', 'event', 'schedule', 'system')
            then 'source: is none of manual, event, schedule, system'
        when p_actor_type not in ('user', 'system', 'api_key') then 'actor_type: is none of user, system, api_key'
        when octet_length(p_source_ref) > 512 then 'source_ref: has more than 512 bytes'
        when octet_length(p_actor_id) > 512 then 'actor_id: has more than 512 bytes'
        when octet_length(p_request_id) > 512 then 'request_id: has more than 512 bytes'
        when octet_length(p_correlation_id) > 512 then 'correlation_id: has more than 512 bytes'
        when octet_length(p_traceparent) > 512 then 'traceparent: has more than 512 bytes'
    end
$$;

-- FUNCTION fault_of_key(text, text, interval)

CREATE FUNCTION postmill.fault_of_key(p_key text, p_mode text, p_ttl interval) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select case
        when octet_length(p_key) not between 1 and 512
            then 'key: has ' || octet_length(p_key) || ' bytes; 1 to 512 are allowed'
        when p_mode not in ('active', 'queued', 'window', 'ttl')
            then 'mode: "' || left(p_mode, 40) || '" is none of active, queued, window, ttl'
        when p_ttl not between interval '1 microsecond' and interval '3650 days'
            then 'ttl: must be more than nothing and at most ten years'
    end
$$;

-- FUNCTION finish(uuid, uuid[], bigint[], uuid[], bigint[], text[], text[], text[], text[], text[], text[], integer[], text[], integer[], integer[], text[], text[])

CREATE FUNCTION postmill.finish(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_statuses text[], p_attempt_statuses text[], p_reasons text[], p_error_classes text[] DEFAULT NULL::text[], p_error_codes text[] DEFAULT NULL::text[], p_error_messages text[] DEFAULT NULL::text[], p_error_statuses integer[] DEFAULT NULL::integer[], p_stacks text[] DEFAULT NULL::text[], p_exit_codes integer[] DEFAULT NULL::integer[], p_pids integer[] DEFAULT NULL::integer[], p_stdouts text[] DEFAULT NULL::text[], p_stderrs text[] DEFAULT NULL::text[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    moment timestamptz := postmill.history_moment();
begin
    return query
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_statuses, p_attempt_statuses, p_reasons,
               p_error_classes, p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids,
               p_stdouts, p_stderrs)
               as u(id, claim_no, tenant_id, micros, status, attempt_status, reason, error_class, error_code,
                    error_message, error_status, stack, exit_code, pid, stdout_tail, stderr_tail)
    ), held as materialized (
        select r.ctid as tid, r.attempt, r.run, r.lost, a.*
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), heard as (
        delete from postmill.cancel_request c using held h where c.job_id = h.id
    ), ended as (
        insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder,
               claim_no, pid, started_at, exit_code, reason, error_class, error_code, error_message, error_status,
               stack, stdout_tail, stderr_tail)
        select h.id, h.tenant_id, h.status, moment, h.attempt, h.run, h.lost, h.attempt_status, p_holder, h.claim_no,
               h.pid, moment - h.micros * interval '1 microsecond', h.exit_code, h.reason, h.error_class, h.error_code,
               h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail
          from held h
    )
    select a.id from asked a where not exists (select from held h where h.id = a.id);
end
$$;

-- FUNCTION grant_application(text)

CREATE FUNCTION postmill.grant_application(p_role text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    door text;
begin
    execute format('grant usage on schema postmill to %I', p_role);
    execute format('grant insert on postmill.intake to %I', p_role);
    for door in
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = 'postmill'
           and p.proname in ('enqueue', 'enqueue_quick', 'enqueue_one', 'enqueue_keyed', 'enqueue_many', 'enqueue_intake', 'cancel_jobs',
                             'retry_jobs', 'replay_jobs', 'job_type_names', 'now', 'new_id', 'job_state')
    loop
        execute format('grant execute on function %s to %I', door, p_role);
    end loop;
end
$$;

-- FUNCTION grant_tokens(bigint[])

CREATE FUNCTION postmill.grant_tokens(p_limits bigint[]) RETURNS TABLE(limit_id bigint, granted integer, wait_seconds double precision, contended boolean)
    LANGUAGE plpgsql
    AS $$
declare
    rule postmill.limit_rule;
    moment timestamptz;
    arrival timestamptz;
    spacing double precision;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: claims under limits need READ COMMITTED';
    end if;
    for limit_id in select distinct u.id from unnest(p_limits) as u(id) where u.id is not null order by 1 loop
        granted := 0; wait_seconds := 0; contended := false;
        select l.* into rule from postmill.limit_rule l where l.id = grant_tokens.limit_id for update skip locked;
        if not found then
            contended := true;
        else
            moment := postmill.now();
            spacing := rule.rate_seconds / rule.rate_count;
            select t.tat into arrival from postmill.rate_take t
             where t.limit_id = rule.id order by t.seq desc limit 1;
            arrival := greatest(coalesce(arrival, moment), moment);
            granted := greatest(0, floor((rule.rate_burst * spacing
                        - extract(epoch from arrival - moment)) / spacing + 1e-6))::integer;
            if granted = 0 then
                wait_seconds := extract(epoch from arrival - moment) - (rule.rate_burst - 1) * spacing;
            end if;
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION grant_worker(text)

CREATE FUNCTION postmill.grant_worker(p_role text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    execute format('grant usage on schema postmill to %I', p_role);
    execute format('grant select, insert, update, delete on all tables in schema postmill to %I', p_role);
    execute format('grant usage on all sequences in schema postmill to %I', p_role);
    execute format('grant execute on all functions in schema postmill to %I', p_role);
end
$$;

-- FUNCTION has_history(uuid, timestamp with time zone)

CREATE FUNCTION postmill.has_history(p_id uuid, p_after timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return exists (select from postmill.outcome o where o.job_id = p_id and o.finished_at >= p_after)
        or exists (select from postmill.attempt a where a.job_id = p_id and a.finished_at >= p_after);
end
$$;

-- FUNCTION history_moment()

CREATE FUNCTION postmill.history_moment() RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if not exists (select from postmill.partition_horizon h where moment >= h.since and moment < h.until) then
        perform postmill.ensure_partitions(moment);
    end if;
    return moment;
end
$$;

-- FUNCTION id_at(timestamp with time zone)

CREATE FUNCTION postmill.id_at(moment timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select (lpad(to_hex(floor(extract(epoch from moment - timestamptz '1970-01-01 00:00+00') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- FUNCTION id_time(uuid)

CREATE FUNCTION postmill.id_time(id uuid) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)
$$;

-- FUNCTION is_live(uuid)

CREATE FUNCTION postmill.is_live(p_id uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.ready t where t.id = p_id)
        or exists (select from postmill.running t where t.id = p_id)
        or exists (select from postmill.scheduled t where t.id = p_id)
        or exists (select from postmill.blocked t where t.id = p_id);
end
$$;

-- FUNCTION is_waiting(uuid)

CREATE FUNCTION postmill.is_waiting(p_id uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform from postmill.ready t where t.id = p_id for update skip locked;
    if found then return true; end if;
    perform from postmill.scheduled t where t.id = p_id for update skip locked;
    if found then return true; end if;
    perform from postmill.blocked t where t.id = p_id for update skip locked;
    return found;
end
$$;

-- FUNCTION job_state(uuid[])

CREATE FUNCTION postmill.job_state(p_ids uuid[]) RETURNS TABLE(id uuid, job_type text, queue text, tenant_id uuid, project_id uuid, state text, priority integer, attempt integer, max_attempts integer, payload jsonb, idempotency_key text, created_at timestamp with time zone, scheduled_for timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, worker_id text, reason text, error_class text, error_code text, error_message text, result jsonb, replayed_from uuid, replayed_as uuid, progress_done double precision, progress_total double precision, progress_message text, cancel_requested boolean, actor_type text, actor_id text, request_id text, correlation_id text, traceparent text, source text, source_ref text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select j.id, j.job_type, coalesce(w.queue, s.queue, b.queue, r.queue, x.queue, j.queue), j.tenant_id, j.project_id,
           case when s.id is not null then 'scheduled' when w.id is not null then 'queued'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when x.id is not null then 'dead_letter' else o.status end,
           coalesce(w.priority, s.priority, b.priority, r.priority, x.priority, j.priority),
           coalesce(w.attempt, s.attempt, b.attempt, r.attempt, x.attempts, o.attempt), j.max_attempts, j.payload,
           j.idempotency_key, j.created_at, coalesce(s.run_at, j.scheduled_for),
           coalesce(r.claimed_at, o.started_at, x.last_attempt_at, case when o.status = 'dead_letter' then a.started_at end),
           coalesce(case when o.status = 'dead_letter' then a.finished_at end, o.finished_at, x.failed_at),
           (select k.worker_id from postmill.worker k where k.holder = coalesce(r.holder, o.holder)),
           coalesce(x.reason, o.reason), coalesce(x.error_class, o.error_class, a.error_class),
           coalesce(x.error_code, o.error_code, a.error_code),
           coalesce(x.error_message, o.error_message, a.error_message), o.result, j.replayed_from,
           (select n.id from (select f.id from postmill.any_job f where f.replayed_from = j.id offset 0) n
             order by n.id desc limit 1),
           g.done, g.total, g.message, c.job_id is not null, j.actor_type::text, j.actor_id, j.request_id, j.correlation_id,
           j.traceparent, j.source::text, j.source_ref
      from unnest(p_ids) as u(id)
     cross join lateral (select f.* from postmill.any_job f where f.id = u.id offset 0) j
      left join lateral (select t.* from postmill.ready t where t.id = u.id offset 0) w on true
      left join lateral (select t.* from postmill.scheduled t where t.id = u.id offset 0) s on true
      left join lateral (select t.* from postmill.blocked t where t.id = u.id offset 0) b on true
      left join lateral (select t.* from postmill.running t where t.id = u.id offset 0) r on true
      left join lateral (select t.* from postmill.dead_letter t where t.id = u.id offset 0) x on true
      left join lateral (select t.* from postmill.outcome t where t.job_id = u.id offset 0) o on true
      left join lateral (select t.* from postmill.progress t where t.job_id = r.id offset 0) g on true
      left join lateral (select t.* from postmill.cancel_request t where t.job_id = u.id offset 0) c on true
      left join lateral (select t.error_class, t.error_code, t.error_message, t.started_at, t.finished_at
                           from postmill.attempt t
                          where t.job_id = u.id and (o.job_id is null or o.status = 'dead_letter')
                          order by t.run desc limit 1) a on true;
end
$$;

-- FUNCTION job_type_names()

CREATE FUNCTION postmill.job_type_names() RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select d.key from postmill.job_definition d where d.is_active
    union select a.alias from postmill.job_definition d, unnest(d.aliases) as a(alias) where d.is_active
    order by 1 limit 1000;
end
$$;

-- FUNCTION keep_survivors(text, uuid, uuid, timestamp with time zone)

CREATE FUNCTION postmill.keep_survivors(p_name text, p_low uuid, p_high uuid, p_after timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
declare
    kept bigint;
begin
    execute format($q$
        insert into postmill.job_kept
        select j.* from postmill.%I j join (
            select id from postmill.ready where id >= $1 and id < $2
            union select id from postmill.scheduled where id >= $1 and id < $2
            union select id from postmill.blocked where id >= $1 and id < $2
            union select id from postmill.running where id >= $1 and id < $2
            union select id from postmill.dead_letter where id >= $1 and id < $2
            union select job_id from postmill.outcome where finished_at >= $3 and job_id >= $1 and job_id < $2
            union select job_id from postmill.attempt where finished_at >= $3 and job_id >= $1 and job_id < $2
        ) t on t.id = j.id
        on conflict do nothing$q$, p_name) using p_low, p_high, p_after;
    get diagnostics kept = row_count;
    return kept;
end
$_$;

-- FUNCTION lane_of(text, uuid, text, jsonb, text)

CREATE FUNCTION postmill.lane_of(p_rule text, p_tenant uuid, p_job_type text, p_payload jsonb, p_key text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select case
        when p_rule = 'type' then (left(md5(p_job_type), 16) || left(md5(p_tenant::text || ':' || p_job_type), 16))::uuid
        when p_key is not null then md5(p_tenant::text || ':' || p_key)::uuid
        when p_rule = 'tenant' then p_tenant
        when p_rule = 'none' then '00000000-0000-0000-0000-000000000000'::uuid
        else coalesce(md5(p_tenant::text || ':' || (p_payload #>> string_to_array(substr(p_rule, 9), '.')))::uuid, p_tenant)
    end
$$;

-- FUNCTION leave(uuid)

CREATE FUNCTION postmill.leave(p_holder uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    watched text;
begin
    for watched in
        with gone as (delete from postmill.sleeper s where s.holder = p_holder returning s.queue, s.watch)
        select g.queue from gone g where g.watch
    loop
        perform postmill.relay(p_holder, watched);
    end loop;
end
$$;

-- FUNCTION make_partition(text, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.make_partition(p_parent text, p_since timestamp with time zone, p_until timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    child text := p_parent || '_' || to_char(p_since at time zone 'UTC', 'YYYYMMDD_HH24');
    low text := quote_literal(case p_parent when 'job' then postmill.id_at(p_since)::text
                              else to_char(p_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' end);
    high text := quote_literal(case p_parent when 'job' then postmill.id_at(p_until)::text
                               else to_char(p_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' end);
begin
    if exists (select from postmill.partition x where x.parent = p_parent and x.since < p_until and x.until > p_since) then
        return;
    end if;
    execute format('create table postmill.%I (like postmill.%I including all)', child, p_parent);
    execute format('alter table postmill.%I attach partition postmill.%I for values from (%s) to (%s)',
                   p_parent, child, low, high);
    insert into postmill.partition (parent, name, since, until) values (p_parent, child, p_since, p_until);
end
$$;

-- FUNCTION move_jobs(text, text, uuid, integer)

CREATE FUNCTION postmill.move_jobs(p_job_type text, p_queue text, p_after uuid DEFAULT NULL::uuid, p_most integer DEFAULT 1000) RETURNS TABLE(moved integer, looked_at uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    definition postmill.job_definition;
    low uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
    ids uuid[];
    lanes uuid[];
    rung record;
    rings integer := 0;
begin
    moved := 0;
    select d.* into definition from postmill.job_definition d where d.key = p_job_type;
    if not found or not exists (select from postmill.queue q where q.name = p_queue) then
        return next;
        return;
    end if;

    with seen as materialized (
        select 1 as place, r.* from (select t.id, t.queue, t.lane from postmill.ready t where t.id > low
                                      order by t.id limit p_most) r
        union all
        select 2, s.* from (select t.id, t.queue, t.lane from postmill.scheduled t where t.id > low
                             order by t.id limit p_most) s
        union all
        select 3, b.* from (select t.id, t.queue, t.lane from postmill.blocked t where t.id > low
                             order by t.id limit p_most) b
    ), mine as materialized (
        select s.id,
               case when definition.lane = 'type'
                      or s.lane in (j.tenant_id, '00000000-0000-0000-0000-000000000000',
                                    postmill.lane_of('type', j.tenant_id, definition.key, j.payload, null))
                    then postmill.lane_of(definition.lane, j.tenant_id, definition.key, j.payload, null)
                    else s.lane end as lane
          from seen s
         cross join lateral (select b.tenant_id, b.payload from postmill.any_job b
                              where b.id = s.id and b.job_type = any (definition.key || definition.aliases) offset 0) j
         where s.queue <> p_queue
    ), held as materialized (
        select r.* from (select t.id from postmill.ready t where t.id = any (array(select m.id from mine m))
                          order by t.id for update skip locked) r
        union all
        select s.* from (select t.id from postmill.scheduled t where t.id = any (array(select m.id from mine m))
                          order by t.id for update skip locked) s
        union all
        select b.* from (select t.id from postmill.blocked t where t.id = any (array(select m.id from mine m))
                          order by t.id for update skip locked) b
    )
    select (select array_agg(m.id order by m.id) from mine m join held h on h.id = m.id),
           (select array_agg(m.lane order by m.id) from mine m join held h on h.id = m.id),
           (select min(f.last)::uuid from (select max(s.id::text) as last from seen s
                                            group by s.place having count(*) = p_most) f)
      into ids, lanes, looked_at;
    moved := coalesce(cardinality(ids), 0);
    if moved = 0 then
        return next;
        return;
    end if;

    with gone as (
        delete from postmill.ready t where t.id = any (ids) returning t.id, t.priority, t.ready_at, t.attempt, t.run, t.lost
    )
    insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
    select p_queue, m.lane, g.priority, postmill.now(), g.id, g.attempt, g.run, g.lost
      from gone g join unnest(ids, lanes) as m(id, lane) on m.id = g.id order by g.ready_at, g.id;
    with gone as (
        delete from postmill.scheduled t where t.id = any (ids) returning t.id, t.priority, t.run_at, t.attempt, t.run, t.lost
    )
    insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select p_queue, m.lane, g.run_at, g.id, g.priority, g.attempt, g.run, g.lost
      from gone g join unnest(ids, lanes) as m(id, lane) on m.id = g.id;
    with gone as (
        delete from postmill.blocked t where t.id = any (ids) returning t.id, t.priority, t.attempt, t.run, t.lost
    )
    insert into postmill.blocked (id, queue, lane, priority, attempt, run, lost)
    select g.id, p_queue, m.lane, g.priority, g.attempt, g.run, g.lost
      from gone g join unnest(ids, lanes) as m(id, lane) on m.id = g.id;

    for rung in select distinct r.lane, r.priority from postmill.ready r where r.id = any (ids) limit 17 loop
        rings := rings + 1;
        if rings > 16 then
            perform postmill.ring(p_queue);
        else
            perform postmill.ring(p_queue, rung.lane, rung.priority);
        end if;
    end loop;
    return next;
end
$$;

-- FUNCTION new_id()

CREATE FUNCTION postmill.new_id() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    AS $$
            select pg_catalog.uuidv7(
                coalesce(nullif(current_setting('postmill.clock_offset', true), ''), '0')::interval)
        $$;

-- FUNCTION next_due(timestamp with time zone, double precision)

CREATE FUNCTION postmill.next_due(p_from timestamp with time zone, p_most double precision) RETURNS double precision
    LANGUAGE plpgsql
    AS $$
begin
    return coalesce((select least(p_most, extract(epoch from s.run_at - postmill.now()))
                       from postmill.scheduled s where s.run_at >= coalesce(p_from, '-infinity')
                      order by s.run_at limit 1), p_most);
end
$$;

-- FUNCTION now()

CREATE FUNCTION postmill.now() RETURNS timestamp with time zone
    LANGUAGE sql PARALLEL SAFE
    AS $$
    select pg_catalog.clock_timestamp()
         + coalesce(nullif(current_setting('postmill.clock_offset', true), ''), '0')::interval
$$;

-- FUNCTION open_session(uuid, double precision, text, text, integer, text, text[], jsonb, text[], jsonb)

CREATE FUNCTION postmill.open_session(p_holder uuid, p_seconds double precision, p_worker_id text, p_hostname text, p_pid integer, p_version text, p_queues text[], p_slots jsonb, p_job_types text[], p_metadata jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    insert into postmill.lease (holder, started_at, expires_at)
    values (p_holder, moment, moment + p_seconds * interval '1 second');
    insert into postmill.worker (holder, worker_id, hostname, pid, version, queues, slots, job_types, started_at,
           last_seen_at, metadata)
    values (p_holder, p_worker_id, p_hostname, p_pid, p_version, p_queues, p_slots, p_job_types, moment, moment, p_metadata);
    insert into postmill.queue (name) select unnest(p_queues) on conflict do nothing;
end
$$;

-- FUNCTION open_writers()

CREATE FUNCTION postmill.open_writers() RETURNS text[]
    LANGUAGE plpgsql
    AS $$
begin
    return array(select distinct coalesce(l.virtualtransaction, '') from pg_locks l
                  where l.locktype = 'relation' and l.relation = 'postmill.ready'::regclass
                    and l.mode = 'RowExclusiveLock' and l.pid is distinct from pg_backend_pid()
                    and l.database = (select d.oid from pg_database d where d.datname = current_database()));
end
$$;

-- FUNCTION pause_queue(text, text, timestamp with time zone, text)

CREATE FUNCTION postmill.pause_queue(p_queue text, p_reason text DEFAULT NULL::text, p_resume_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_actor text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update postmill.queue q
       set paused_at = coalesce(q.paused_at, postmill.now()), pause_reason = p_reason, paused_by = p_actor,
           resume_at = case when isfinite(p_resume_at) then p_resume_at end
     where q.name = p_queue;
    if not found then
        return false;
    end if;
    perform postmill.tell('!pause');
    return true;
end
$$;

-- FUNCTION promote(timestamp with time zone, integer, integer)

CREATE FUNCTION postmill.promote(p_from timestamp with time zone, p_per_lane integer, p_most integer) RETURNS TABLE(queue text, lane uuid, priority integer, n bigint)
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    low timestamptz := coalesce(p_from, '-infinity');
    due integer;
    rung record;
begin
    select count(*) into due from (
        select from postmill.scheduled s where s.run_at >= low and s.run_at <= moment order by s.run_at limit p_most) s;
    if due = 0 then
        return;
    end if;
    for rung in
        with recursive lanes as (
            (select s.queue, s.lane from postmill.scheduled s where due >= p_most order by s.queue, s.lane limit 1)
            union all
            select f.queue, f.lane from lanes l cross join lateral (
                select s.queue, s.lane from postmill.scheduled s where (s.queue, s.lane) > (l.queue, l.lane)
                 order by s.queue, s.lane limit 1) f
        ), many as materialized (
            select q.* from lanes l cross join lateral (
                select s.ctid as tid, s.* from postmill.scheduled s
                 where s.queue = l.queue and s.lane = l.lane and s.run_at <= moment
                 order by s.run_at, s.id limit p_per_lane for update skip locked) q
             where due >= p_most
               and not exists (select from postmill.ready r where r.queue = l.queue and r.lane = l.lane offset 10000 limit 1)
             limit p_most
        ), few as materialized (
            select s.ctid as tid, s.* from postmill.scheduled s
             where due < p_most and s.run_at >= low and s.run_at <= moment
             order by s.run_at limit p_most for update skip locked
        ), picked as materialized (
            select * from many union all select * from few
        ), gone as (
            delete from postmill.scheduled s where s.ctid = any (array(select p.tid from picked p))
        ), put as (
            insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select p.queue, p.lane, p.priority, postmill.now(), p.id, p.attempt, p.run, p.lost from picked p
             order by p.run_at, p.id
        )
        select p.queue, p.lane, p.priority, count(*) as n from picked p group by 1, 2, 3
    loop
        queue := rung.queue; lane := rung.lane; priority := rung.priority; n := rung.n;
        return next;
    end loop;
end
$$;

-- FUNCTION prune_kept(integer)

CREATE FUNCTION postmill.prune_kept(p_most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    gone bigint;
begin
    with spent as (
        select k.id from postmill.job_kept k
         where not exists (select from postmill.outcome o where o.job_id = k.id)
           and not exists (select from postmill.attempt a where a.job_id = k.id)
           and not exists (select from postmill.ready t where t.id = k.id)
           and not exists (select from postmill.scheduled t where t.id = k.id)
           and not exists (select from postmill.blocked t where t.id = k.id)
           and not exists (select from postmill.running t where t.id = k.id)
           and not exists (select from postmill.dead_letter t where t.id = k.id)
         order by k.id limit p_most for update skip locked
    )
    delete from postmill.job_kept k using spent s where k.id = s.id;
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- FUNCTION prune_partition()

CREATE FUNCTION postmill.prune_partition() RETURNS TABLE(name text, status text, kept bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    edge timestamptz;
    old postmill.partition;
    before text := current_setting('lock_timeout');
begin
    select moment - p.retention into edge from postmill.partition_policy p;
    select x.* into old from postmill.partition x where x.until < edge
     order by x.until, x.parent = 'job' desc, x.parent limit 1;
    if not found then
        return;
    end if;
    name := old.name;
    kept := 0;
    if old.parent = 'job' then
        kept := postmill.keep_survivors(old.name, postmill.id_at(old.since), postmill.id_at(old.until), old.until);
    end if;
    perform set_config('lock_timeout', '50ms', true);
    begin
        execute format('lock table postmill.%I in access exclusive mode', old.parent);
        if old.parent = 'job' then
            kept := kept + postmill.keep_survivors(old.name, postmill.id_at(old.since), postmill.id_at(old.until), old.until);
        end if;
        execute format('drop table postmill.%I', old.name);
        delete from postmill.partition x where x.name = old.name;
        status := 'dropped';
    exception when lock_not_available then
        status := 'busy';
    end;
    perform set_config('lock_timeout', before, true);
    return next;
end
$$;

-- FUNCTION put_back(uuid, uuid[], bigint[], uuid[], bigint[], text[], double precision[], integer[], text[], text[], text[], integer[], text[], integer[], integer[], text[], text[])

CREATE FUNCTION postmill.put_back(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_statuses text[], p_delays double precision[], p_deaths integer[] DEFAULT NULL::integer[], p_error_classes text[] DEFAULT NULL::text[], p_error_codes text[] DEFAULT NULL::text[], p_error_messages text[] DEFAULT NULL::text[], p_error_statuses integer[] DEFAULT NULL::integer[], p_stacks text[] DEFAULT NULL::text[], p_exit_codes integer[] DEFAULT NULL::integer[], p_pids integer[] DEFAULT NULL::integer[], p_stdouts text[] DEFAULT NULL::text[], p_stderrs text[] DEFAULT NULL::text[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    moment timestamptz := postmill.history_moment();
    missed uuid[];
    asked_to_end postmill.cancel_request;
    rung record;
    woken text[];
    woken_lanes uuid[];
    woken_priorities integer[];
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_statuses, p_delays, p_deaths, p_error_classes,
               p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids, p_stdouts, p_stderrs)
               as u(id, claim_no, tenant_id, micros, status, delay, deaths, error_class, error_code, error_message,
                    error_status, stack, exit_code, pid, stdout_tail, stderr_tail)
    ), held as materialized (
        select r.ctid as tid, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), tried as (
        insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, pid, started_at, finished_at,
               status, exit_code, error_class, error_code, error_message, error_status, stack, stdout_tail, stderr_tail)
        select h.id, h.tenant_id, h.attempt, h.run, p_holder, h.claim_no, h.pid,
               moment - h.micros * interval '1 microsecond', moment, h.status, h.exit_code, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail
          from held h where h.status is not null
    ), later as (
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select h.queue, h.lane, moment + h.delay * interval '1 second', h.id, h.priority,
               h.attempt + case when h.status in ('failed', 'timeout', 'lost') then 1 else 0 end, h.run,
               h.lost + coalesce(h.deaths, 0)
          from held h where h.delay >= 0
    ), again as (
        insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select h.queue, h.lane, h.priority, postmill.now(), h.id, h.attempt,
               h.run - case when h.status is null then 1 else 0 end, h.lost
          from held h where h.delay < 0
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.queue from held h where h.delay < 0 order by h.id),
           array(select h.lane from held h where h.delay < 0 order by h.id),
           array(select h.priority from held h where h.delay < 0 order by h.id)
      into missed, woken, woken_lanes, woken_priorities;
    -- Its handler has ended: a request that it did not hear is met now, before anybody tries it again.
    for asked_to_end in select c.* from postmill.cancel_request c
                         where c.job_id = any (p_ids) and c.job_id <> all (missed) order by c.job_id loop
        perform postmill.cancel_jobs(array[asked_to_end.job_id], asked_to_end.actor_type, asked_to_end.actor_id,
                                     asked_to_end.reason);
    end loop;
    for rung in select distinct u.queue, u.lane, u.priority
                  from unnest(woken, woken_lanes, woken_priorities) as u(queue, lane, priority) limit 16 loop
        perform postmill.ring(rung.queue, rung.lane, rung.priority);
    end loop;
    return query select unnest(missed);
end
$$;

-- FUNCTION recent_lanes(text[], interval, integer)

CREATE FUNCTION postmill.recent_lanes(p_queues text[], p_back interval, p_most integer) RETURNS TABLE(queue text, lane uuid, priority integer)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    return query
    select distinct r.queue, r.lane, r.priority
      from (select t.queue, t.lane, t.priority from postmill.ready t
             where t.id >= postmill.id_at((select postmill.now()) - p_back) order by t.id desc limit p_most) r
     where r.queue = any (p_queues);
end
$$;

-- FUNCTION refusal(text)

CREATE FUNCTION postmill.refusal(p_job_type text, OUT status text, OUT detail text) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    caller text := coalesce(nullif(current_setting('role', true), 'none'), session_user);
begin
    if exists (select from postmill.job_definition d where d.key = p_job_type) then
        status := 'inactive';
        return;
    end if;
    select 'alias', d.key into status, detail from postmill.job_definition d where d.aliases @> array[p_job_type];
    if not found then
        status := 'unknown_type';
        detail := case when has_function_privilege(caller, 'postmill.register_job_types(jsonb)', 'execute')
                  then 'may_register' end;
    end if;
end
$$;

-- FUNCTION refuse_update()

CREATE FUNCTION postmill.refuse_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'a ticket in %.% is never updated: delete it and insert the changed one, in one statement',
        tg_table_schema, tg_table_name using errcode = 'restrict_violation';
end
$$;

-- FUNCTION register_job_types(jsonb)

CREATE FUNCTION postmill.register_job_types(p_types jsonb) RETURNS TABLE(key text, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    item jsonb;
    old postmill.job_definition;
    new postmill.job_definition;
    field text;
    rate jsonb;
begin
    for item in select t.item from jsonb_array_elements(p_types) as t(item) order by t.item ->> 'key' loop
        key := item ->> 'key';
        rate := item -> 'rate';
        for field in select key union all select item ->> 'queue'
                     union all select a.name from jsonb_array_elements_text(coalesce(item -> 'aliases', '[]')) as a(name) loop
            -- The indexes' own error would name neither.
            if length(field) not between 1 and 200 then
                raise exception 'postmill: job type "%": a name has 1 to 200 characters, "%" has %', left(key, 200),
                    left(field, 200), length(field) using errcode = 'invalid_parameter_value';
            end if;
        end loop;
        insert into postmill.queue (name) values (coalesce(item ->> 'queue', 'default')) on conflict do nothing;
        select * into old from postmill.job_definition d where d.key = register_job_types.key for update;
        if not found then
            new := jsonb_populate_record(null::postmill.job_definition,
                jsonb_build_object('id', postmill.new_id(), 'kind', 'function', 'description', '', 'arg_schema', '{}'::jsonb,
                    'queue', 'default', 'priority', 100, 'max_attempts', 5, 'max_lost', 3,
                    'on_exhausted', 'dead_letter', 'keep', 'all', 'lane', 'tenant', 'aliases', '[]'::jsonb,
                    'is_active', true, 'version', 1, 'edited', '[]'::jsonb, 'created_at', postmill.now(),
                    'updated_at', postmill.now()) || (item - 'rate' - 'version' - 'edited'));
            insert into postmill.job_definition select new.* on conflict do nothing;
            status := 'created';
        else
            foreach field in array old.edited loop
                item := item - field;
            end loop;
            new := jsonb_populate_record(old, item - 'rate' - 'version' - 'edited' - 'id');
            if to_jsonb(new) is distinct from to_jsonb(old) then
                update postmill.job_definition d
                   set description = new.description, arg_schema = new.arg_schema, queue = new.queue,
                       priority = new.priority, max_attempts = new.max_attempts, max_lost = new.max_lost,
                       timeout_seconds = new.timeout_seconds, retry = new.retry, on_exhausted = new.on_exhausted,
                       idempotency = new.idempotency, idempotency_ttl = new.idempotency_ttl, keep = new.keep,
                       lane = new.lane, worker_limit = new.worker_limit, aliases = new.aliases,
                       version = old.version + 1, updated_at = postmill.now()
                 where d.key = register_job_types.key;
                status := 'changed';
            else
                status := case when cardinality(old.edited) > 0 then 'kept' else 'unchanged' end;
            end if;
        end if;
        if rate is not null and jsonb_typeof(rate) = 'object' then
            insert into postmill.limit_rule as l (job_type, rate_count, rate_seconds, rate_burst)
            values (key, (rate ->> 'count')::integer, (rate ->> 'seconds')::double precision, (rate ->> 'burst')::integer)
            on conflict (job_type) do update set rate_count = excluded.rate_count, rate_seconds = excluded.rate_seconds,
                rate_burst = excluded.rate_burst
              where (l.rate_count, l.rate_seconds, l.rate_burst)
                    is distinct from (excluded.rate_count, excluded.rate_seconds, excluded.rate_burst);
        else
            delete from postmill.limit_rule l where l.job_type = register_job_types.key;
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION relay(uuid, text)

CREATE FUNCTION postmill.relay(p_holder uuid, p_queue text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    next_one uuid;
begin
    delete from postmill.sleeper s where s.ctid = any (array(
        select r.ctid from postmill.sleeper r
         where r.queue = p_queue and not r.watch and r.valid_until > (select postmill.now()) and r.holder <> p_holder
         order by r.valid_until desc limit 1 for update skip locked))
    returning s.holder into next_one;
    if next_one is null then
        return false;
    end if;
    perform postmill.tell('@' || next_one || ' ' || p_queue);
    return true;
end
$$;

-- FUNCTION release_claims(uuid, bigint[])

CREATE FUNCTION postmill.release_claims(p_holder uuid, p_claim_nos bigint[]) RETURNS TABLE(id uuid, queue text, lane uuid, priority integer)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    rung record;
begin
    for rung in
        with held as materialized (
            select r.ctid as tid, r.* from postmill.running r
             where r.holder = p_holder and r.claim_no = any (p_claim_nos) order by r.id for update skip locked
        ), gone as (
            delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
        ), put as (
            insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select h.queue, h.lane, h.priority, postmill.now(), h.id, h.attempt, h.run - 1, h.lost from held h
        )
        select h.id, h.queue, h.lane, h.priority from held h
    loop
        id := rung.id; queue := rung.queue; lane := rung.lane; priority := rung.priority;
        return next;
    end loop;
end
$$;

-- FUNCTION renew(uuid, double precision, integer, boolean)

CREATE FUNCTION postmill.renew(p_holder uuid, p_seconds double precision, p_running integer, p_draining boolean) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    update postmill.lease l set expires_at = moment + p_seconds * interval '1 second'
     where l.holder = p_holder and l.expires_at > moment;
    if not found then
        return false;
    end if;
    update postmill.worker w set last_seen_at = moment, running_count = p_running, draining = p_draining
     where w.holder = p_holder;
    return true;
end
$$;

-- FUNCTION replace_watchmen()

CREATE FUNCTION postmill.replace_watchmen() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    dead uuid;
begin
    for dead in
        select distinct s.holder from postmill.sleeper s left join postmill.lease l on l.holder = s.holder
         where l.holder is null or l.expires_at <= (select postmill.now())
    loop
        perform postmill.leave(dead);
    end loop;
end
$$;

-- FUNCTION replay_jobs(uuid[], text, text, jsonb)

CREATE FUNCTION postmill.replay_jobs(p_ids uuid[], p_actor_type text DEFAULT 'user'::text, p_actor_id text DEFAULT NULL::text, p_payload jsonb DEFAULT NULL::jsonb) RETURNS TABLE(id uuid, status text, new_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    body postmill.job;
    letter postmill.dead_letter;
    ended text;
    answer record;
begin
    for id in select distinct u.id from unnest(p_ids) as u(id) order by 1 loop
        status := null;
        new_id := null;
        perform pg_advisory_xact_lock(hashtextextended('postmill.replay:' || id::text, 0));
        select j.* into body from postmill.job j where j.id = replay_jobs.id;
        if not found then
            select k.* into body from postmill.job_kept k where k.id = replay_jobs.id;
        end if;
        if body.id is null then
            status := 'unknown';
            return next;
            continue;
        end if;
        select d.* into letter from postmill.dead_letter d where d.id = replay_jobs.id for update;
        select o.status into ended from postmill.outcome o where o.job_id = replay_jobs.id;
        if letter.id is null and ended is null then
            status := case when exists (select from postmill.running r where r.id = replay_jobs.id) then 'running' else 'waiting' end;
        elsif ended = 'succeeded' then
            status := 'succeeded';
        else
            -- Fenced (offset 0): a plan for the first row alone would read the whole table.
            select j.id into new_id
              from (select f.id from postmill.job f where f.replayed_from = replay_jobs.id
                    union all select k.id from postmill.job_kept k where k.replayed_from = replay_jobs.id offset 0) j
             where postmill.is_live(j.id) limit 1;
            if found then
                status := 'live';
            end if;
        end if;
        if status is null then
            if body.idempotency_key is null then
                answer := postmill.enqueue_one(body.job_type, coalesce(p_payload, body.payload), body.tenant_id,
                    body.priority, null, null, body.project_id, body.max_attempts, body.timeout_seconds, null,
                    body.source, body.source_ref, p_actor_type, p_actor_id, body.request_id, body.correlation_id,
                    body.traceparent, null, body.id);
            else
                -- The dead job's window would refuse its own replay: its key is re-pointed, with its mode and its
                -- expiry. A key that is somebody else's by now is asked for like any other.
                update postmill.idempotency_key k set last_seen_at = postmill.now()
                 where k.tenant_id = body.tenant_id and k.key = body.idempotency_key and k.job_id = body.id
                   and k.project_id = coalesce(body.project_id, '00000000-0000-0000-0000-000000000000');
                if found then
                    answer := postmill.enqueue_one(body.job_type, coalesce(p_payload, body.payload), body.tenant_id,
                        body.priority, null, null, body.project_id, body.max_attempts, body.timeout_seconds, null,
                        body.source, body.source_ref, p_actor_type, p_actor_id, body.request_id, body.correlation_id,
                        body.traceparent, body.idempotency_key, body.id);
                    update postmill.idempotency_key k set job_id = answer.id
                     where k.tenant_id = body.tenant_id and k.key = body.idempotency_key and answer.status = 'created'
                       and k.project_id = coalesce(body.project_id, '00000000-0000-0000-0000-000000000000');
                else
                    answer := postmill.enqueue_keyed(body.idempotency_key, null, null, body.job_type,
                        coalesce(p_payload, body.payload), body.tenant_id, body.priority, null, null, body.project_id,
                        body.max_attempts, body.timeout_seconds, null, body.source, body.source_ref, p_actor_type,
                        p_actor_id, body.request_id, body.correlation_id, body.traceparent, body.id);
                end if;
            end if;
            new_id := answer.id;
            status := case answer.status when 'created' then 'replayed' when 'duplicate' then 'key_held' else answer.status end;
            if status = 'replayed' and letter.id is not null then
                perform postmill.close_letter(id, 'dead_letter', letter.reason);
            end if;
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION rescue(uuid, double precision, double precision, integer)

CREATE FUNCTION postmill.rescue(p_holder uuid, p_lease_seconds double precision, p_jitter_seconds double precision, p_most integer) RETURNS TABLE(id uuid, queue text, verdict text, job_type text, tenant_id uuid, attempt integer, holder uuid)
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.history_moment();
begin
    if not exists (select from postmill.lease l where l.holder = p_holder and l.expires_at > moment
                      and l.started_at < moment - p_lease_seconds * interval '1 second') then
        return;
    end if;
    return query
    with gone_sessions as materialized (
        select r.ctid as tid, r.id, r.holder, r.claim_no, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, r.claimed_at
          from postmill.running r left join postmill.lease l on l.holder = r.holder
         where l.holder is null or l.expires_at <= moment
         order by r.id limit p_most for update of r skip locked
    ), judged as materialized (
        select g.*, j.tenant_id, j.job_type, c.reason as cancel_reason,
               case when c.job_id is not null then 'canceled'
                    when j.id is null then 'undecodable'
                    when g.attempt >= j.max_attempts or g.lost > coalesce(d.max_lost, 3) + 1
                    then case when d.on_exhausted = 'fail' then 'failed' else 'dead_letter' end
                    else 'scheduled' end as verdict
          from gone_sessions g
          -- Fenced (offset 0): as a join it would be planned over whole tables.
          left join lateral (select b.id, b.tenant_id, b.job_type, b.max_attempts from postmill.job b where b.id = g.id
                             union all
                             select b.id, b.tenant_id, b.job_type, b.max_attempts from postmill.job_kept b where b.id = g.id
                             offset 0) j on true
          left join postmill.job_definition d on d.key = j.job_type
          left join postmill.cancel_request c on c.job_id = g.id
    ), taken as (
        delete from postmill.running r where r.ctid = any (array(select g.tid from gone_sessions g))
    ), heard as (
        delete from postmill.cancel_request c using judged j where c.job_id = j.id and j.verdict <> 'scheduled'
    ), tried as (
        insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status,
               error_class, error_message)
        select j.id, coalesce(j.tenant_id, j.lane), j.attempt, j.run, j.holder, j.claim_no, j.claimed_at, moment, 'lost',
               'WorkerLost', 'the lease of the worker session ended while the job ran'
          from judged j where j.verdict in ('scheduled', 'dead_letter', 'undecodable')
    ), later as (
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select j.queue, j.lane, moment + random() * p_jitter_seconds * interval '1 second', j.id, j.priority,
               j.attempt + 1, j.run, least(j.lost + 1, greatest(j.lost, 2))
          from judged j where j.verdict = 'scheduled'
    ), buried as (
        insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_message, attempts, failed_at, last_attempt_at)
        select j.id, coalesce(j.tenant_id, j.lane), j.queue, j.lane, j.priority, j.attempt, j.run, least(j.lost + 1, greatest(j.lost, 2)),
               case j.verdict when 'undecodable' then 'undecodable' else 'worker_lost' end, 'WorkerLost',
               'the lease of the worker session ended while the job ran', j.attempt, moment, j.claimed_at
          from judged j where j.verdict in ('dead_letter', 'undecodable')
    ), ended as (
        insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder,
               claim_no, started_at, reason, error_class, error_message)
        select j.id, j.tenant_id, j.verdict, moment, j.attempt, j.run, least(j.lost + 1, greatest(j.lost, 2)), 'lost', j.holder, j.claim_no,
               j.claimed_at, case j.verdict when 'failed' then 'worker_lost' else coalesce(j.cancel_reason, 'canceled') end, 'WorkerLost',
               'the lease of the worker session ended while the job ran'
          from judged j where j.verdict in ('failed', 'canceled')
    )
    select j.id, j.queue, j.verdict, j.job_type, j.tenant_id, j.attempt, j.holder from judged j;
end
$$;

-- FUNCTION resume_queue(text)

CREATE FUNCTION postmill.resume_queue(p_queue text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update postmill.queue q set paused_at = null, pause_reason = null, resume_at = null, paused_by = null where q.name = p_queue;
    if not found then
        return false;
    end if;
    perform postmill.ring(p_queue);
    perform postmill.tell('!resume');
    return true;
end
$$;

-- FUNCTION retry_jobs(uuid[], text, text)

CREATE FUNCTION postmill.retry_jobs(p_ids uuid[], p_actor_type text DEFAULT 'user'::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text, new_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moved uuid[];
    rung record;
begin
    with due as materialized (
        select s.* from postmill.scheduled s where s.id = any (p_ids) order by s.id for update skip locked
    ), gone as (
        delete from postmill.scheduled s where s.id = any (array(select d.id from due d))
    ), put as (
        insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select d.queue, d.lane, d.priority, postmill.now(), d.id, d.attempt, d.run, d.lost from due d
    )
    select array_agg(d.id) into moved from due d;
    for rung in select distinct r.queue, r.lane, r.priority from postmill.ready r where r.id = any (moved) limit 16 loop
        perform postmill.ring(rung.queue, rung.lane, rung.priority);
    end loop;
    return query select u.id, 'due', null::uuid from unnest(moved) as u(id);
    return query
    select r.* from postmill.replay_jobs(
        array(select u.id from unnest(p_ids) as u(id) where u.id <> all (coalesce(moved, '{}'))),
        p_actor_type, p_actor_id) r;
end
$$;

-- FUNCTION ring(text, uuid, integer)

CREATE FUNCTION postmill.ring(p_queue text, p_lane uuid DEFAULT NULL::uuid, p_priority integer DEFAULT NULL::integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if (exists (select from postmill.sleeper s where s.queue = p_queue and s.watch
                     and s.valid_until > (select postmill.now()))
            or current_setting('transaction_isolation') <> 'read committed')
    then
        perform postmill.tell(concat_ws(' ', coalesce(p_lane::text, '*'), coalesce(p_priority::text, '*'), p_queue));
    end if;
end
$$;

-- FUNCTION settled(uuid, uuid[], bigint[])

CREATE FUNCTION postmill.settled(p_holder uuid, p_ids uuid[], p_claim_nos bigint[]) RETURNS SETOF uuid
    LANGUAGE plpgsql
    AS $$
begin
    return query
    select u.id from unnest(p_ids, p_claim_nos) as u(id, claim_no)
     where exists (select from postmill.outcome o where o.job_id = u.id and o.holder = p_holder
                      and o.claim_no = u.claim_no and o.finished_at > (select postmill.now()) - interval '1 hour')
        or exists (select from postmill.attempt a where a.job_id = u.id and a.holder = p_holder
                      and a.claim_no = u.claim_no and a.finished_at > (select postmill.now()) - interval '1 hour');
end
$$;

-- FUNCTION sweep(integer)

CREATE FUNCTION postmill.sweep(p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    asked postmill.cancel_request;
begin
    delete from postmill.idempotency_key k where k.ctid = any (array(
        select i.ctid from postmill.idempotency_key i where i.expires_at < moment limit p_most for update skip locked));
    for asked in
        select c.* from postmill.cancel_request c
         where exists (select from postmill.ready t where t.id = c.job_id)
            or exists (select from postmill.scheduled t where t.id = c.job_id)
            or exists (select from postmill.blocked t where t.id = c.job_id)
    loop
        perform postmill.cancel_jobs(array[asked.job_id], asked.actor_type, asked.actor_id, asked.reason);
    end loop;
    delete from postmill.cancel_request c
     where not exists (select from postmill.running r where r.id = c.job_id)
       and (exists (select from postmill.outcome o where o.job_id = c.job_id)
         or exists (select from postmill.dead_letter d where d.id = c.job_id)
         or c.requested_at < moment - interval '1 day');
    delete from postmill.progress g where not exists (select from postmill.running r where r.id = g.job_id);
    delete from postmill.tally t using postmill.partition_policy p where t.at < moment - p.retention;
end
$$;

-- FUNCTION sweep_keys(uuid, uuid, text, integer)

CREATE FUNCTION postmill.sweep_keys(p_tenant uuid, p_project uuid, p_key text, p_most integer) RETURNS TABLE(tenant_id uuid, project_id uuid, key text)
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    return query
    with walked as materialized (
        select k.tenant_id, k.project_id, k.key, k.job_id, k.expires_at, k.last_seen_at
          from postmill.idempotency_key k
         where (k.tenant_id, k.project_id, k.key) > (coalesce(p_tenant, '00000000-0000-0000-0000-000000000000'),
                coalesce(p_project, '00000000-0000-0000-0000-000000000000'), coalesce(p_key, ''))
         order by k.tenant_id, k.project_id, k.key limit p_most
    ), gone as (
        delete from postmill.idempotency_key k where k.ctid = any (array(
            select i.ctid from postmill.idempotency_key i join walked w using (tenant_id, project_id, key)
             where i.expires_at is null and i.last_seen_at < moment - interval '1 day'
               and not postmill.is_live(i.job_id)
               for update of i skip locked))
    )
    select w.tenant_id, w.project_id, w.key from walked w
     where (select count(*) from walked) >= p_most
     order by 1 desc, 2 desc, 3 desc limit 1;
end
$$;

-- FUNCTION sweep_sessions()

CREATE FUNCTION postmill.sweep_sessions() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    delete from postmill.lease l
     where l.expires_at < moment - interval '1 hour'
       and not exists (select from postmill.running r where r.holder = l.holder);
    update postmill.worker w set stopped_at = w.last_seen_at, running_count = 0
     where w.stopped_at is null and not exists (select from postmill.lease l where l.holder = w.holder and l.expires_at > moment);
    delete from postmill.worker w using postmill.partition_policy p
     where w.stopped_at < moment - p.retention - 2 * p.width;
    delete from postmill.sleeper s where s.valid_until < moment;
end
$$;

-- FUNCTION take_tokens(bigint, integer)

CREATE FUNCTION postmill.take_tokens(p_limit bigint, p_n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    spacing double precision;
    arrival timestamptz;
    next_seq bigint := nextval('postmill.rate_seq');
begin
    select l.rate_seconds / l.rate_count into spacing from postmill.limit_rule l where l.id = p_limit;
    select t.tat into arrival from postmill.rate_take t where t.limit_id = p_limit order by t.seq desc limit 1;
    insert into postmill.rate_take (limit_id, seq, tat)
    values (p_limit, next_seq,
            greatest(coalesce(arrival, postmill.now()), postmill.now()) + p_n * spacing * interval '1 second');
    delete from postmill.rate_take t where t.limit_id = p_limit and t.seq < next_seq - 1000 and t.ctid = any (array(
        select o.ctid from postmill.rate_take o where o.limit_id = p_limit and o.seq < next_seq - 1000 order by o.seq limit 10));
end
$$;

-- FUNCTION tell(text)

CREATE FUNCTION postmill.tell(p_payload text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if coalesce(current_setting('postmill.notify', true), '') <> 'off' and pg_notification_queue_usage() <= 0.5 then
        perform pg_notify('postmill', left(p_payload, 2000));
    end if;
end
$$;

-- FUNCTION wake(uuid, text[])

CREATE FUNCTION postmill.wake(p_holder uuid, p_queues text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    delete from postmill.sleeper s where s.holder = p_holder and s.queue = any (p_queues);
end
$$;

-- TABLE job

CREATE TABLE postmill.job (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    project_id uuid,
    job_type text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    payload jsonb NOT NULL,
    priority integer NOT NULL,
    max_attempts integer NOT NULL,
    timeout_seconds double precision,
    created_at timestamp with time zone NOT NULL,
    scheduled_for timestamp with time zone,
    expires_at timestamp with time zone,
    source postmill.source DEFAULT 'manual'::text NOT NULL,
    source_ref text,
    actor_type postmill.actor_type DEFAULT 'system'::text NOT NULL,
    actor_id text,
    request_id text,
    correlation_id text,
    traceparent text,
    idempotency_key text COLLATE pg_catalog."C",
    replayed_from uuid
)
PARTITION BY RANGE (id);

-- TABLE job_kept

CREATE TABLE postmill.job_kept (
    id uuid CONSTRAINT job_id_not_null NOT NULL,
    tenant_id uuid CONSTRAINT job_tenant_id_not_null NOT NULL,
    project_id uuid,
    job_type text CONSTRAINT job_job_type_not_null NOT NULL COLLATE pg_catalog."C",
    queue text CONSTRAINT job_queue_not_null NOT NULL COLLATE pg_catalog."C",
    payload jsonb CONSTRAINT job_payload_not_null NOT NULL,
    priority integer CONSTRAINT job_priority_not_null NOT NULL,
    max_attempts integer CONSTRAINT job_max_attempts_not_null NOT NULL,
    timeout_seconds double precision,
    created_at timestamp with time zone CONSTRAINT job_created_at_not_null NOT NULL,
    scheduled_for timestamp with time zone,
    expires_at timestamp with time zone,
    source postmill.source DEFAULT 'manual'::text CONSTRAINT job_source_not_null NOT NULL,
    source_ref text,
    actor_type postmill.actor_type DEFAULT 'system'::text CONSTRAINT job_actor_type_not_null NOT NULL,
    actor_id text,
    request_id text,
    correlation_id text,
    traceparent text,
    idempotency_key text COLLATE pg_catalog."C",
    replayed_from uuid
);

-- VIEW any_job

CREATE VIEW postmill.any_job AS
 SELECT job.id,
    job.tenant_id,
    job.project_id,
    job.job_type,
    job.queue,
    job.payload,
    job.priority,
    job.max_attempts,
    job.timeout_seconds,
    job.created_at,
    job.scheduled_for,
    job.expires_at,
    job.source,
    job.source_ref,
    job.actor_type,
    job.actor_id,
    job.request_id,
    job.correlation_id,
    job.traceparent,
    job.idempotency_key,
    job.replayed_from
   FROM postmill.job
UNION ALL
 SELECT job_kept.id,
    job_kept.tenant_id,
    job_kept.project_id,
    job_kept.job_type,
    job_kept.queue,
    job_kept.payload,
    job_kept.priority,
    job_kept.max_attempts,
    job_kept.timeout_seconds,
    job_kept.created_at,
    job_kept.scheduled_for,
    job_kept.expires_at,
    job_kept.source,
    job_kept.source_ref,
    job_kept.actor_type,
    job_kept.actor_id,
    job_kept.request_id,
    job_kept.correlation_id,
    job_kept.traceparent,
    job_kept.idempotency_key,
    job_kept.replayed_from
   FROM postmill.job_kept;

-- TABLE attempt

CREATE TABLE postmill.attempt (
    job_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    holder uuid NOT NULL,
    claim_no bigint NOT NULL,
    pid integer,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    exit_code integer,
    error_class text,
    error_code text,
    error_message text,
    error_status integer,
    stack text,
    stdout_tail text,
    stderr_tail text,
    CONSTRAINT attempt_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'timeout'::text, 'canceled'::text, 'lost'::text, 'snoozed'::text, 'interrupted'::text])))
)
PARTITION BY RANGE (finished_at);

-- TABLE blocked

CREATE TABLE postmill.blocked (
    id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    lost integer NOT NULL
);

-- TABLE cancel_request

CREATE TABLE postmill.cancel_request (
    job_id uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    reason text
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE dead_letter

CREATE TABLE postmill.dead_letter (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    lost integer NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    error_class text,
    error_code text,
    error_message text,
    error_status integer,
    stack text,
    attempts integer NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    last_attempt_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE idempotency_key

CREATE TABLE postmill.idempotency_key (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    job_id uuid NOT NULL,
    mode text NOT NULL COLLATE pg_catalog."C",
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE intake

CREATE UNLOGGED TABLE postmill.intake (
    batch uuid NOT NULL,
    n integer NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    payload jsonb NOT NULL,
    tenant_id uuid,
    priority integer,
    delay interval
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0');

-- TABLE outcome

CREATE TABLE postmill.outcome (
    job_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    finished_at timestamp with time zone NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    lost integer NOT NULL,
    attempt_status text COLLATE pg_catalog."C",
    holder uuid,
    claim_no bigint,
    pid integer,
    started_at timestamp with time zone,
    exit_code integer,
    reason text,
    error_class text,
    error_code text,
    error_message text,
    error_status integer,
    stack text,
    stdout_tail text,
    stderr_tail text,
    result jsonb,
    result_ref text,
    error_ref text,
    CONSTRAINT outcome_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'canceled'::text, 'dead_letter'::text])))
)
PARTITION BY RANGE (finished_at);

-- TABLE running

CREATE TABLE postmill.running (
    id uuid NOT NULL,
    holder uuid NOT NULL,
    claim_no bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    lost integer NOT NULL,
    claimed_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE worker

CREATE TABLE postmill.worker (
    holder uuid NOT NULL,
    worker_id text NOT NULL,
    hostname text NOT NULL,
    pid integer NOT NULL,
    version text DEFAULT ''::text NOT NULL,
    queues text[] DEFAULT '{}'::text[] NOT NULL,
    slots jsonb DEFAULT '{}'::jsonb NOT NULL,
    job_types text[] DEFAULT '{}'::text[] NOT NULL,
    started_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    draining boolean DEFAULT false NOT NULL,
    running_count integer DEFAULT 0 NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL
);

-- VIEW job_attempts

CREATE VIEW postmill.job_attempts AS
 SELECT (md5((((h.job_id)::text || ':'::text) || h.run)))::uuid AS id,
    h.job_id,
    h.run AS attempt_no,
    COALESCE(w.worker_id, (h.holder)::text) AS worker_id,
    COALESCE(h.pid, w.pid) AS pid,
    h.started_at,
    h.finished_at,
    h.exit_code,
        CASE h.status
            WHEN 'lost'::text THEN 'failed'::text
            WHEN 'snoozed'::text THEN 'canceled'::text
            WHEN 'interrupted'::text THEN 'canceled'::text
            ELSE h.status
        END AS status,
    h.stdout_tail,
    h.stderr_tail,
    COALESCE(h.error_message,
        CASE
            WHEN (h.status = ANY (ARRAY['lost'::text, 'snoozed'::text, 'interrupted'::text])) THEN h.status
            ELSE NULL::text
        END) AS error_text
   FROM (( SELECT a.job_id,
            a.run,
            a.holder,
            a.pid,
            a.started_at,
            a.finished_at,
            a.exit_code,
            a.status,
            a.stdout_tail,
            a.stderr_tail,
            a.error_message
           FROM postmill.attempt a
        UNION ALL
         SELECT o.job_id,
            o.run,
            o.holder,
            o.pid,
            o.started_at,
            o.finished_at,
            o.exit_code,
            o.attempt_status,
            o.stdout_tail,
            o.stderr_tail,
            o.error_message
           FROM postmill.outcome o
          WHERE (o.holder IS NOT NULL)
        UNION ALL
         SELECT r.id,
            r.run,
            r.holder,
            NULL::integer,
            r.claimed_at,
            NULL::timestamp with time zone,
            NULL::integer,
            'running'::text,
            NULL::text,
            NULL::text,
            NULL::text
           FROM postmill.running r) h
     LEFT JOIN postmill.worker w ON ((w.holder = h.holder)));

-- TABLE job_definition

CREATE TABLE postmill.job_definition (
    key text NOT NULL COLLATE pg_catalog."C",
    id uuid DEFAULT postmill.new_id() NOT NULL,
    kind text DEFAULT 'function'::text NOT NULL COLLATE pg_catalog."C",
    description text DEFAULT ''::text NOT NULL,
    arg_schema jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL COLLATE pg_catalog."C",
    priority integer DEFAULT 100 NOT NULL,
    max_attempts integer DEFAULT 3 NOT NULL,
    max_lost integer DEFAULT 3 NOT NULL,
    timeout_seconds double precision DEFAULT 3600,
    retry jsonb,
    on_exhausted text DEFAULT 'dead_letter'::text NOT NULL COLLATE pg_catalog."C",
    idempotency text COLLATE pg_catalog."C",
    idempotency_ttl interval,
    keep text DEFAULT 'all'::text NOT NULL COLLATE pg_catalog."C",
    lane text DEFAULT 'tenant'::text NOT NULL COLLATE pg_catalog."C",
    worker_limit integer,
    aliases text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    is_active boolean DEFAULT true NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    edited text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT job_definition_idempotency_check CHECK ((idempotency = ANY (ARRAY['active'::text, 'queued'::text, 'window'::text, 'ttl'::text]))),
    CONSTRAINT job_definition_keep_check CHECK ((keep = ANY (ARRAY['all'::text, 'failures'::text]))),
    CONSTRAINT job_definition_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT job_definition_kind_check CHECK ((kind = ANY (ARRAY['function'::text, 'command'::text, 'http'::text]))),
    CONSTRAINT job_definition_max_attempts_check CHECK ((max_attempts > 0)),
    CONSTRAINT job_definition_max_lost_check CHECK ((max_lost > 0)),
    CONSTRAINT job_definition_on_exhausted_check CHECK ((on_exhausted = ANY (ARRAY['dead_letter'::text, 'fail'::text]))),
    CONSTRAINT job_definition_timeout_seconds_check CHECK ((timeout_seconds > (0)::double precision)),
    CONSTRAINT job_definition_worker_limit_check CHECK ((worker_limit > 0))
);

-- VIEW job_definitions

CREATE VIEW postmill.job_definitions AS
 SELECT id,
    key,
    description,
    arg_schema,
    timeout_seconds,
    max_attempts,
    is_active,
    created_at,
    updated_at
   FROM postmill.job_definition d;

-- VIEW job_workers

CREATE VIEW postmill.job_workers AS
 SELECT worker_id,
    hostname,
    version,
    queues,
    last_seen_at,
    running_count,
    (metadata || jsonb_build_object('pid', pid, 'slots', slots, 'started_at', started_at, 'stopped_at', stopped_at, 'draining', draining)) AS metadata
   FROM postmill.worker w;

-- TABLE lease

CREATE TABLE postmill.lease (
    holder uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');

-- TABLE ready

CREATE TABLE postmill.ready (
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    priority integer NOT NULL,
    ready_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    lost integer NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE scheduled

CREATE TABLE postmill.scheduled (
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    run_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    run integer NOT NULL,
    lost integer NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- VIEW jobs

CREATE VIEW postmill.jobs AS
 SELECT j.id,
    j.tenant_id,
    d.id AS definition_id,
    j.job_type,
    COALESCE(w.queue, s.queue, b.queue, r.queue, x.queue, j.queue) AS queue,
    (j.source)::text AS source,
    j.source_ref,
        CASE
            WHEN ((w.id IS NOT NULL) OR (s.id IS NOT NULL) OR (b.id IS NOT NULL)) THEN 'queued'::text
            WHEN (r.id IS NOT NULL) THEN 'running'::text
            WHEN (x.id IS NOT NULL) THEN 'dead_letter'::text
            ELSE o.status
        END AS status,
    COALESCE(w.priority, s.priority, b.priority, r.priority, x.priority, j.priority) AS priority,
    j.payload,
    j.idempotency_key AS dedupe_key,
    j.correlation_id,
    COALESCE(s.run_at, j.scheduled_for, j.created_at) AS scheduled_for,
    j.created_at AS queued_at,
    COALESCE(r.claimed_at, o.started_at, x.last_attempt_at) AS started_at,
    COALESCE(
        CASE
            WHEN (o.status = 'dead_letter'::text) THEN ( SELECT max(a.finished_at) AS max
               FROM postmill.attempt a
              WHERE (a.job_id = j.id))
            ELSE NULL::timestamp with time zone
        END, o.finished_at, x.failed_at) AS finished_at,
    COALESCE((w.attempt - 1), (s.attempt - 1), (b.attempt - 1), r.attempt, x.attempts, o.attempt, 0) AS attempt_count,
    j.max_attempts,
    l.expires_at AS lease_expires_at,
    k.worker_id AS claimed_by_worker,
    COALESCE(x.error_message, o.error_message, ( SELECT a.error_message
           FROM postmill.attempt a
          WHERE (a.job_id = j.id)
          ORDER BY a.run DESC
         LIMIT 1)) AS last_error,
    COALESCE(x.error_class, o.error_class, ( SELECT a.error_class
           FROM postmill.attempt a
          WHERE (a.job_id = j.id)
          ORDER BY a.run DESC
         LIMIT 1)) AS last_error_class,
        CASE
            WHEN (COALESCE(x.error_class, o.error_class) IS NOT NULL) THEN COALESCE(x.error_code, o.error_code)
            ELSE ( SELECT a.error_code
               FROM postmill.attempt a
              WHERE (a.job_id = j.id)
              ORDER BY a.run DESC
             LIMIT 1)
        END AS last_error_code,
    j.actor_id AS created_by,
    j.project_id,
    j.replayed_from
   FROM (((((((((postmill.any_job j
     LEFT JOIN postmill.job_definition d ON ((d.key = j.job_type)))
     LEFT JOIN postmill.ready w ON ((w.id = j.id)))
     LEFT JOIN postmill.scheduled s ON ((s.id = j.id)))
     LEFT JOIN postmill.blocked b ON ((b.id = j.id)))
     LEFT JOIN postmill.running r ON ((r.id = j.id)))
     LEFT JOIN postmill.lease l ON ((l.holder = r.holder)))
     LEFT JOIN postmill.worker k ON ((k.holder = r.holder)))
     LEFT JOIN postmill.dead_letter x ON ((x.id = j.id)))
     LEFT JOIN postmill.outcome o ON ((o.job_id = j.id)));

-- TABLE lane

CREATE TABLE postmill.lane (
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    CONSTRAINT lane_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);

-- TABLE limit_rule

CREATE TABLE postmill.limit_rule (
    id bigint NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    rate_count integer NOT NULL,
    rate_seconds double precision NOT NULL,
    rate_burst integer NOT NULL,
    CONSTRAINT limit_rule_rate_burst_check CHECK ((rate_burst > 0)),
    CONSTRAINT limit_rule_rate_count_check CHECK ((rate_count > 0)),
    CONSTRAINT limit_rule_rate_seconds_check CHECK ((rate_seconds > (0)::double precision))
);

-- SEQUENCE limit_rule_id_seq

ALTER TABLE postmill.limit_rule ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postmill.limit_rule_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- TABLE migration

CREATE TABLE postmill.migration (
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    breaking boolean NOT NULL,
    checksum text NOT NULL COLLATE pg_catalog."C",
    applied_at timestamp with time zone NOT NULL
);

-- TABLE partition

CREATE TABLE postmill.partition (
    parent text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL
);

-- TABLE partition_horizon

CREATE TABLE postmill.partition_horizon (
    only_row boolean DEFAULT true NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT partition_horizon_only_row_check CHECK (only_row)
)
WITH (fillfactor='50');

-- TABLE partition_policy

CREATE TABLE postmill.partition_policy (
    only_row boolean DEFAULT true NOT NULL,
    width interval DEFAULT '7 days'::interval NOT NULL,
    ahead interval DEFAULT '28 days'::interval NOT NULL,
    retention interval DEFAULT '30 days'::interval NOT NULL,
    CONSTRAINT partition_policy_only_row_check CHECK (only_row),
    CONSTRAINT partition_policy_retention_check CHECK ((retention >= '01:00:00'::interval)),
    CONSTRAINT partition_policy_width_check CHECK ((width >= '01:00:00'::interval))
);

-- TABLE progress

CREATE UNLOGGED TABLE postmill.progress (
    job_id uuid NOT NULL,
    holder uuid NOT NULL,
    claim_no bigint NOT NULL,
    done double precision NOT NULL,
    total double precision,
    message text,
    at timestamp with time zone NOT NULL
);

-- TABLE queue

CREATE TABLE postmill.queue (
    name text NOT NULL COLLATE pg_catalog."C",
    priority integer DEFAULT 100 NOT NULL,
    lane text DEFAULT 'tenant'::text NOT NULL COLLATE pg_catalog."C",
    paused_at timestamp with time zone,
    paused_by text,
    pause_reason text,
    resume_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT queue_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

-- SEQUENCE rate_seq

CREATE SEQUENCE postmill.rate_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- TABLE rate_take

CREATE TABLE postmill.rate_take (
    limit_id bigint NOT NULL,
    seq bigint NOT NULL,
    tat timestamp with time zone NOT NULL
);

-- TABLE sleeper

CREATE UNLOGGED TABLE postmill.sleeper (
    queue text NOT NULL COLLATE pg_catalog."C",
    watch boolean NOT NULL,
    valid_until timestamp with time zone NOT NULL,
    holder uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

-- TABLE tally

CREATE TABLE postmill.tally (
    at timestamp with time zone NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    succeeded bigint NOT NULL
);

-- TABLE tenant

CREATE TABLE postmill.tenant (
    id uuid NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    timezone text DEFAULT 'UTC'::text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL COLLATE pg_catalog."C",
    weight integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT tenant_status_check CHECK ((status = ANY (ARRAY['active'::text, 'throttled'::text, 'suspended'::text]))),
    CONSTRAINT tenant_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);

-- TABLE upkeep

CREATE TABLE postmill.upkeep (
    name text NOT NULL COLLATE pg_catalog."C",
    last_run_at timestamp with time zone,
    last_run_by text,
    note jsonb
)
WITH (fillfactor='50');

-- CONSTRAINT blocked blocked_pkey

ALTER TABLE ONLY postmill.blocked
    ADD CONSTRAINT blocked_pkey PRIMARY KEY (id);

-- CONSTRAINT cancel_request cancel_request_pkey

ALTER TABLE ONLY postmill.cancel_request
    ADD CONSTRAINT cancel_request_pkey PRIMARY KEY (job_id);

-- CONSTRAINT dead_letter dead_letter_pkey

ALTER TABLE ONLY postmill.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (id);

-- CONSTRAINT idempotency_key idempotency_key_pkey

ALTER TABLE ONLY postmill.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (tenant_id, project_id, key);

-- CONSTRAINT job_definition job_definition_id_key

ALTER TABLE ONLY postmill.job_definition
    ADD CONSTRAINT job_definition_id_key UNIQUE (id);

-- CONSTRAINT job_definition job_definition_pkey

ALTER TABLE ONLY postmill.job_definition
    ADD CONSTRAINT job_definition_pkey PRIMARY KEY (key);

-- CONSTRAINT job_kept job_kept_pkey

ALTER TABLE ONLY postmill.job_kept
    ADD CONSTRAINT job_kept_pkey PRIMARY KEY (id);

-- CONSTRAINT job job_pkey

ALTER TABLE ONLY postmill.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

-- CONSTRAINT lane lane_pkey

ALTER TABLE ONLY postmill.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (queue, lane);

-- CONSTRAINT lease lease_pkey

ALTER TABLE ONLY postmill.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (holder);

-- CONSTRAINT limit_rule limit_rule_job_type_key

ALTER TABLE ONLY postmill.limit_rule
    ADD CONSTRAINT limit_rule_job_type_key UNIQUE (job_type);

-- CONSTRAINT limit_rule limit_rule_pkey

ALTER TABLE ONLY postmill.limit_rule
    ADD CONSTRAINT limit_rule_pkey PRIMARY KEY (id);

-- CONSTRAINT migration migration_pkey

ALTER TABLE ONLY postmill.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);

-- CONSTRAINT partition_horizon partition_horizon_pkey

ALTER TABLE ONLY postmill.partition_horizon
    ADD CONSTRAINT partition_horizon_pkey PRIMARY KEY (only_row);

-- CONSTRAINT partition partition_name_key

ALTER TABLE ONLY postmill.partition
    ADD CONSTRAINT partition_name_key UNIQUE (name);

-- CONSTRAINT partition partition_pkey

ALTER TABLE ONLY postmill.partition
    ADD CONSTRAINT partition_pkey PRIMARY KEY (parent, since);

-- CONSTRAINT partition_policy partition_policy_pkey

ALTER TABLE ONLY postmill.partition_policy
    ADD CONSTRAINT partition_policy_pkey PRIMARY KEY (only_row);

-- CONSTRAINT progress progress_pkey

ALTER TABLE ONLY postmill.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (job_id);

-- CONSTRAINT queue queue_pkey

ALTER TABLE ONLY postmill.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);

-- CONSTRAINT rate_take rate_take_pkey

ALTER TABLE ONLY postmill.rate_take
    ADD CONSTRAINT rate_take_pkey PRIMARY KEY (limit_id, seq);

-- CONSTRAINT ready ready_pkey

ALTER TABLE ONLY postmill.ready
    ADD CONSTRAINT ready_pkey PRIMARY KEY (queue, lane, priority, ready_at, id);

-- CONSTRAINT running running_pkey

ALTER TABLE ONLY postmill.running
    ADD CONSTRAINT running_pkey PRIMARY KEY (id);

-- CONSTRAINT scheduled scheduled_pkey

ALTER TABLE ONLY postmill.scheduled
    ADD CONSTRAINT scheduled_pkey PRIMARY KEY (queue, lane, run_at, id);

-- CONSTRAINT sleeper sleeper_pkey

ALTER TABLE ONLY postmill.sleeper
    ADD CONSTRAINT sleeper_pkey PRIMARY KEY (queue, watch, valid_until, holder);

-- CONSTRAINT tenant tenant_pkey

ALTER TABLE ONLY postmill.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

-- CONSTRAINT tenant tenant_slug_key

ALTER TABLE ONLY postmill.tenant
    ADD CONSTRAINT tenant_slug_key UNIQUE (slug);

-- CONSTRAINT upkeep upkeep_pkey

ALTER TABLE ONLY postmill.upkeep
    ADD CONSTRAINT upkeep_pkey PRIMARY KEY (name);

-- CONSTRAINT worker worker_pkey

ALTER TABLE ONLY postmill.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (holder);

-- INDEX attempt_job

CREATE INDEX attempt_job ON ONLY postmill.attempt USING btree (job_id);

-- INDEX dead_letter_failed_at

CREATE INDEX dead_letter_failed_at ON postmill.dead_letter USING btree (failed_at, id);

-- INDEX idempotency_key_expires

CREATE INDEX idempotency_key_expires ON postmill.idempotency_key USING btree (expires_at) WHERE (expires_at IS NOT NULL);

-- INDEX intake_batch

CREATE INDEX intake_batch ON postmill.intake USING btree (batch, n);

-- INDEX job_definition_aliases

CREATE INDEX job_definition_aliases ON postmill.job_definition USING gin (aliases);

-- INDEX job_kept_replayed_from_idx

CREATE INDEX job_kept_replayed_from_idx ON postmill.job_kept USING btree (replayed_from) WHERE (replayed_from IS NOT NULL);

-- INDEX job_replayed_from

CREATE INDEX job_replayed_from ON ONLY postmill.job USING btree (replayed_from) WHERE (replayed_from IS NOT NULL);

-- INDEX outcome_job

CREATE INDEX outcome_job ON ONLY postmill.outcome USING btree (job_id);

-- INDEX outcome_unsuccessful

CREATE INDEX outcome_unsuccessful ON ONLY postmill.outcome USING btree (status, job_id) WHERE (status <> 'succeeded'::text);

-- INDEX ready_id

CREATE UNIQUE INDEX ready_id ON postmill.ready USING btree (id);

-- INDEX scheduled_id

CREATE UNIQUE INDEX scheduled_id ON postmill.scheduled USING btree (id);

-- INDEX scheduled_run_at

CREATE INDEX scheduled_run_at ON postmill.scheduled USING btree (run_at);

-- INDEX tally_at

CREATE INDEX tally_at ON postmill.tally USING btree (at);

-- INDEX worker_last_seen

CREATE INDEX worker_last_seen ON postmill.worker USING btree (last_seen_at);

-- TRIGGER blocked never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.blocked FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER ready never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.ready FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER running never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.running FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER scheduled never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.scheduled FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- FK CONSTRAINT job_definition job_definition_queue_fkey

ALTER TABLE ONLY postmill.job_definition
    ADD CONSTRAINT job_definition_queue_fkey FOREIGN KEY (queue) REFERENCES postmill.queue(name);

-- FK CONSTRAINT limit_rule limit_rule_job_type_fkey

ALTER TABLE ONLY postmill.limit_rule
    ADD CONSTRAINT limit_rule_job_type_fkey FOREIGN KEY (job_type) REFERENCES postmill.job_definition(key) ON DELETE CASCADE;

-- FK CONSTRAINT rate_take rate_take_limit_id_fkey

ALTER TABLE ONLY postmill.rate_take
    ADD CONSTRAINT rate_take_limit_id_fkey FOREIGN KEY (limit_id) REFERENCES postmill.limit_rule(id) ON DELETE CASCADE;

