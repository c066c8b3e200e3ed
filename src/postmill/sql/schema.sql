-- SCHEMA postmill

CREATE SCHEMA postmill;

-- DOMAIN actor_type

CREATE DOMAIN postmill.actor_type AS text COLLATE pg_catalog."C"
	CONSTRAINT actor_type_check CHECK ((VALUE = ANY (ARRAY['user'::text, 'system'::text, 'api_key'::text])));

-- DOMAIN retention_subject

CREATE DOMAIN postmill.retention_subject AS text COLLATE pg_catalog."C"
	CONSTRAINT retention_subject_check CHECK ((VALUE = ANY (ARRAY['succeeded'::text, 'failed'::text, 'canceled'::text, 'archive_after'::text, 'dead_letter'::text, 'archive'::text, 'events'::text, 'audit'::text, 'incidents'::text, 'budgets'::text, 'operations'::text, 'error_groups'::text, 'rollup_minutes'::text, 'rollups'::text])));

-- DOMAIN role_name

CREATE DOMAIN postmill.role_name AS text COLLATE pg_catalog."C"
	CONSTRAINT role_name_check CHECK ((VALUE = ANY (ARRAY['viewer'::text, 'operator'::text, 'tenant_admin'::text, 'platform_viewer'::text, 'platform_operator'::text, 'super_admin'::text, 'auditor'::text, 'worker'::text])));

-- DOMAIN severity

CREATE DOMAIN postmill.severity AS text COLLATE pg_catalog."C"
	CONSTRAINT severity_check CHECK ((VALUE = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text])));

-- DOMAIN source

CREATE DOMAIN postmill.source AS text COLLATE pg_catalog."C"
	CONSTRAINT source_check CHECK ((VALUE = ANY (ARRAY['manual'::text, 'event'::text, 'schedule'::text, 'system'::text])));

-- FUNCTION act_as(text, text)

CREATE FUNCTION postmill.act_as(p_actor_type text, p_actor_id text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if p_actor_id is not null and coalesce(current_setting('postmill.actor_id', true), '') = '' then
        perform set_config('postmill.actor_type', coalesce(p_actor_type, 'user'), true),
                set_config('postmill.actor_id', p_actor_id, true);
    end if;
end
$$;

-- TABLE operation

CREATE TABLE postmill.operation (
    id uuid NOT NULL,
    tenant_id uuid,
    kind text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'running'::text NOT NULL COLLATE pg_catalog."C",
    stage text NOT NULL COLLATE pg_catalog."C",
    filter jsonb NOT NULL,
    matching jsonb,
    cut_off uuid,
    select_below uuid,
    held boolean DEFAULT false NOT NULL,
    rate double precision,
    canary integer DEFAULT 0 NOT NULL,
    again boolean DEFAULT false NOT NULL,
    confirm boolean DEFAULT false NOT NULL,
    despite_success boolean DEFAULT false NOT NULL,
    version integer,
    fair boolean DEFAULT false NOT NULL,
    same_version boolean DEFAULT false NOT NULL,
    priority integer,
    queue text COLLATE pg_catalog."C",
    run_at timestamp with time zone,
    tags jsonb,
    stop_ratio double precision,
    start_at timestamp with time zone,
    approve_above integer,
    approved_by text,
    approved_at timestamp with time zone,
    reason text,
    total integer NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    twins_at timestamp with time zone,
    taken_at timestamp with time zone,
    checked_at timestamp with time zone,
    watched_from timestamp with time zone,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    actor_role text COLLATE pg_catalog."C",
    request_id text,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    paused_at timestamp with time zone,
    paused_by text,
    pause_reason text,
    ended_at timestamp with time zone,
    CONSTRAINT operation_canary_check CHECK ((canary >= 0)),
    CONSTRAINT operation_kind_check CHECK ((kind = ANY (ARRAY['replay'::text, 'retry'::text, 'cancel'::text, 'discard'::text, 'priority'::text, 'move'::text, 'run_at'::text, 'tag'::text]))),
    CONSTRAINT operation_rate_check CHECK ((rate > (0)::double precision)),
    CONSTRAINT operation_stage_check CHECK ((stage = ANY (ARRAY['select'::text, 'canary'::text, 'rest'::text]))),
    CONSTRAINT operation_status_check CHECK ((status = ANY (ARRAY['proposed'::text, 'running'::text, 'paused'::text, 'finished'::text, 'aborted'::text]))),
    CONSTRAINT operation_stop_ratio_check CHECK (((stop_ratio >= (0)::double precision) AND (stop_ratio <= (1)::double precision)))
);

-- FUNCTION act_on_items(postmill.operation, uuid[])

CREATE FUNCTION postmill.act_on_items(p_op postmill.operation, p_ids uuid[]) RETURNS TABLE(id uuid, status text, new_id uuid, detail text)
    LANGUAGE plpgsql
    AS $$
declare
    one uuid;
begin
    begin
        if p_op.kind = 'replay' then
            return query select r.id, r.status, r.new_id, null::text
                           from postmill.rerun_jobs('dead.replay', p_ids, null, p_op.again, p_op.confirm, null, null, true,
                                                    p_op.version, null, p_op.priority) r;
        elsif p_op.kind = 'retry' then
            return query select r.id, r.status, r.new_id, null::text
                           from postmill.rerun_jobs('jobs.retry', p_ids, null, false, p_op.confirm, null, null) r;
        elsif p_op.kind = 'cancel' then
            return query select d.id, d.status, null::uuid, null::text from postmill.door_cancel_jobs(p_ids, p_op.reason) d;
        elsif p_op.kind = 'discard' then
            return query select d.id, d.status, null::uuid, null::text from postmill.door_discard_jobs(p_ids, p_op.reason) d;
        elsif p_op.kind = 'priority' then
            return query select d.id, d.status, null::uuid, null::text
                           from postmill.door_prioritize_jobs(p_ids, p_op.priority, p_op.reason) d;
        elsif p_op.kind = 'move' then
            return query select d.id, d.status, null::uuid, null::text from postmill.door_move_jobs(p_ids, p_op.queue, p_op.reason) d;
        elsif p_op.kind = 'tag' then
            return query select d.id, d.status, null::uuid, null::text
                           from postmill.door_tag_jobs(p_ids,
                               array(select t.tag from jsonb_array_elements_text(p_op.tags) as t(tag) where t.tag not like '-%'),
                               array(select substr(t.tag, 2) from jsonb_array_elements_text(p_op.tags) as t(tag) where t.tag like '-%'),
                               p_op.reason) d;
        else
            return query select d.id, d.status, null::uuid, null::text
                           from postmill.door_schedule_jobs(p_ids, p_op.run_at, p_op.reason) d;
        end if;
    exception when others then
        if cardinality(p_ids) = 1 then
            return query select p_ids[1], case when sqlstate in ('40001', '40P01', '55P03') then 'busy' else 'error' end, null::uuid,
                                left(sqlerrm, 500);
        else
            foreach one in array p_ids loop
                return query select a.* from postmill.act_on_items(p_op, array[one]) a;
            end loop;
        end if;
    end;
end
$$;

-- FUNCTION acting_id()

CREATE FUNCTION postmill.acting_id() RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user::text);
end
$$;

-- FUNCTION acting_type()

CREATE FUNCTION postmill.acting_type() RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return coalesce(nullif(current_setting('postmill.actor_type', true), ''), 'user');
end
$$;

-- FUNCTION add_counts(uuid, bigint, jsonb, jsonb)

CREATE FUNCTION postmill.add_counts(p_holder uuid, p_batch bigint, p_rollups jsonb, p_errors jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.worker w set counted_batch = p_batch where w.holder = p_holder and w.counted_batch < p_batch;
    if not found then
        return;
    end if;
    insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
           run_hist, total_hist)
    select r.minute, r.tenant_id, r.queue, r.job_type, r.outcome, r.n, r.wait_sum, r.run_sum, r.total_sum, r.wait_hist,
           r.run_hist, r.total_hist
      from jsonb_populate_recordset(null::postmill.rollup_part, p_rollups) r;
    insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, error_code, error_status,
           first_at, last_at, n, job_id, version)
    select e.id, e.tenant_id, e.job_type, e.error_class, e.message, e.frame, e.error_code, e.error_status, e.first_at,
           e.last_at, e.n, e.job_id, postmill.version_run(p_holder, e.job_type)
      from jsonb_populate_recordset(null::postmill.error_group_part, p_errors) e;
end
$$;

-- FUNCTION add_enqueues(timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.add_enqueues(p_since timestamp with time zone, p_until timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
    select c.minute, c.tenant_id, c.queue, c.job_type, 'enqueued', c.n from postmill.enqueues_between(p_since, p_until) c;
end
$$;

-- FUNCTION advance_horizon()

CREATE FUNCTION postmill.advance_horizon() RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    noted postmill.audit_horizon;
    moment timestamptz := postmill.now();
    lasting text[];
    prepared text[];
begin
    select h.* into noted from postmill.audit_horizon h for update skip locked;
    if not found then
        return (select h.settled from postmill.audit_horizon h);
    end if;
    prepared := array(select 'x' || p.transaction::text from pg_prepared_xacts p where p.database = current_database());
    if noted.at is not null then
        lasting := postmill.open_transactions(moment > noted.at + interval '1 second');
        lasting := array(select o.id from unnest(noted.open) as o(id) where o.id = any (lasting) or o.id = any (prepared));
        -- One that has vanished from the list may have been prepared.
        if exists (select from unnest(noted.open) as o(id) where o.id not like 'x%' and o.id <> all (lasting)) then
            lasting := array(select unnest(lasting) union select unnest(prepared));
        end if;
        if cardinality(lasting) > 0 then
            update postmill.audit_horizon h set open = lasting where h.open is distinct from lasting;
            return noted.settled;
        end if;
        noted.settled := greatest(noted.settled, noted.at - interval '1 second');
    end if;
    update postmill.audit_horizon h
       set settled = noted.settled, at = moment, open = postmill.open_transactions(false) || prepared;
    return noted.settled;
end
$$;

-- FUNCTION archive_here()

CREATE FUNCTION postmill.archive_here() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update postmill.archive_state s set required = true, changed_at = postmill.now() where not s.required and not s.operator;
    return postmill.archive_required();
end
$$;

-- FUNCTION archive_required()

CREATE FUNCTION postmill.archive_required() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (
    select s.required from postmill.archive_state s
    );
end
$$;

-- FUNCTION args_matching(jsonb[], uuid, uuid, integer)

CREATE FUNCTION postmill.args_matching(p_any jsonb[], p_below uuid, p_first uuid, p_most integer DEFAULT 10000) RETURNS uuid[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'on'
    AS $_$
declare
    found_ones uuid[];
    n bigint;
    contains text;
begin
    if (select count(distinct i.indrelid) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
         where i.indrelid in ('postmill.job'::regclass, 'postmill.job_kept'::regclass) and m.amname = 'gin' and i.indisvalid) < 2 then
        return null;
    end if;
    select string_agg(format('j.payload @> %L::jsonb', a), ' or ') into contains from unnest(p_any) a;
    -- The bounds stay outside: within, the planner would rather walk along the ids.
    execute format('select array_agg(j.id) filter (where j.id < $1 and j.id >= $2 and %s), count(*)
          from (select j.id, j.tenant_id from postmill.job j where %s union all
                select j.id, j.tenant_id from postmill.job_kept j where %2$s limit $3) j',
        case when postmill.sees_all() then 'true' else 'j.tenant_id = postmill.scope_tenant()' end, contains)
        into found_ones, n using p_below, p_first, p_most + 1;
    return case when n <= p_most then coalesce(found_ones, '{}') end;
end
$_$;

-- FUNCTION at_moments(jsonb, timestamp with time zone)

CREATE FUNCTION postmill.at_moments(p_matching jsonb, p_moment timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
    return p_matching || jsonb_build_object('terms', (
        select coalesce(jsonb_agg(case when t.value ? 'ago'
                                       then t.value - 'ago' || jsonb_build_object('at',
                                            p_moment - (t.value ->> 'ago')::double precision * interval '1 s')
                                       else t.value end), '[]')
          from jsonb_array_elements(p_matching -> 'terms') t));
end
$$;

-- FUNCTION attained(bigint[], double precision)

CREATE FUNCTION postmill.attained(p_hist bigint[], p_seconds double precision) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return postmill.histogram_within(p_hist, p_seconds) / nullif((select sum(h) from unnest(p_hist) as h), 0);
end
$$;

-- FUNCTION audit(text, text, text, uuid, jsonb, jsonb, text, text)

CREATE FUNCTION postmill.audit(p_action text, p_target_kind text DEFAULT NULL::text, p_target text DEFAULT NULL::text, p_tenant uuid DEFAULT NULL::uuid, p_before jsonb DEFAULT NULL::jsonb, p_after jsonb DEFAULT NULL::jsonb, p_reason text DEFAULT NULL::text, p_result text DEFAULT 'done'::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own uuid := postmill.new_id();
begin
    perform postmill.refuse_acts_on(p_tenant);
    insert into postmill.audit_log (id, at, tenant_id, actor_type, actor_id, role, via, action, target_kind, target, result,
           reason, request_id, before, after, db_role, address)
    values (own, postmill.now(), p_tenant,
            coalesce(nullif(current_setting('postmill.actor_type', true), ''), 'user'),
            coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user),
            nullif(current_setting('postmill.actor_role', true), ''),
            coalesce(nullif(current_setting('postmill.via', true), ''), 'sql'),
            p_action, p_target_kind, left(p_target, 500), p_result, left(p_reason, 2000),
            nullif(current_setting('postmill.request_id', true), ''), p_before, p_after, session_user,
            nullif(current_setting('postmill.address', true), ''));
    insert into postmill.audit_unsealed (id) values (own);
    return own;
end
$$;

-- FUNCTION begin_artifact(uuid, uuid, uuid, bigint)

CREATE FUNCTION postmill.begin_artifact(p_tenant uuid, p_job uuid, p_holder uuid, p_claim_no bigint, OUT status text, OUT id uuid) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_job is null then
        status := case when postmill.in_scope(p_tenant) and exists (select from postmill.tenant t where t.id = p_tenant)
                       then 'open' else 'unknown_tenant' end;
    elsif not exists (select from postmill.running r where r.id = p_job and r.holder = p_holder and r.claim_no = p_claim_no) then
        status := 'over';
    else
        status := case when (select count(*) from (select from postmill.artifact a where a.job_id = p_job and a.gone_at is null
                                                    limit 1000) counted) < 1000 then 'open' else 'full' end;
    end if;
    if status = 'open' then
        id := postmill.new_id();
    end if;
end
$$;

-- FUNCTION begin_request(uuid, boolean, text, text, text, text, text, text)

CREATE FUNCTION postmill.begin_request(p_tenant uuid, p_platform boolean, p_via text, p_actor_type text, p_actor_id text, p_role text, p_request_id text, p_address text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    if p_actor_type = 'api_key' and not postmill.key_lives(p_actor_id::uuid) then
        return false;
    end if;
    if p_tenant is not null then
        perform postmill.require_home(p_tenant);
    end if;
    perform postmill.set_actor(p_via, p_actor_type, p_actor_id, p_role, p_request_id, p_address),
            set_config('postmill.tenant_id', coalesce(p_tenant::text, ''), true),
            set_config('postmill.platform', case when p_platform then 'on' else 'off' end, true),
            set_config('jit', 'off', true),
            set_config('role', 'postmill_request', true);
    return true;
end
$$;

-- FUNCTION book_budget(uuid, uuid, timestamp with time zone, numeric, numeric, integer, bigint, bigint)

CREATE FUNCTION postmill.book_budget(p_budget uuid, p_tenant uuid, p_starts_at timestamp with time zone, p_spent numeric, p_reserved numeric, p_calls integer DEFAULT 0, p_in bigint DEFAULT 0, p_out bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    s postmill.budget_balance;
begin
    select x.* into s from postmill.budget_balance x
     where x.budget_id = p_budget and x.starts_at = p_starts_at order by x.seq desc limit 1;
    insert into postmill.budget_balance (budget_id, starts_at, seq, tenant_id, spent, reserved, calls, tokens_in, tokens_out)
    values (p_budget, p_starts_at, coalesce(s.seq, 0) + 1, p_tenant, coalesce(s.spent, 0) + p_spent,
            coalesce(s.reserved, 0) + p_reserved, coalesce(s.calls, 0) + p_calls, coalesce(s.tokens_in, 0) + p_in,
            coalesce(s.tokens_out, 0) + p_out);
    delete from postmill.budget_balance x where x.budget_id = p_budget and x.starts_at = p_starts_at and x.seq = s.seq - 20;
    if p_spent > 0 then
        perform postmill.mark_alerts(p_budget, p_starts_at, coalesce(s.spent, 0) + p_spent);
    end if;
end
$$;

-- FUNCTION boost_round(text, uuid, integer, integer, integer)

CREATE FUNCTION postmill.boost_round(p_queue text, p_lane uuid, p_lanes integer, p_window integer, p_most integer) RETURNS TABLE(queue text, raised integer, next_queue text, next_lane uuid)
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    q record;
    part uuid[];
    since uuid;
    done record;
    left_lanes integer := p_lanes;
    left_jobs integer := p_most;
begin
    perform postmill.set_actor('upkeep', 'system', 'boost');
    for q in
        select u.* from postmill.queue u
         where u.boost_after_seconds is not null and u.name >= coalesce(p_queue, '')
           and (u.paused_at is null or u.resume_at <= moment) order by u.name
    loop
        since := case when q.name = p_queue then p_lane else '00000000-0000-0000-0000-000000000000' end;
        part := postmill.boosted_lanes(q.name, since, left_lanes);
        select * into done from postmill.raise_lanes(q.name, part, q.boost_after_seconds, q.boost_step, q.boost_to, p_window,
                                                     left_jobs);
        if done.n > 0 then
            perform postmill.audit('queues.boost', 'queue', q.name, null, null,
                jsonb_build_object('raised', done.n, 'waiting_since', done.oldest, 'first', done.sample));
        end if;
        left_jobs := left_jobs - done.n;
        queue := q.name; raised := done.n; next_queue := null; next_lane := null;
        if left_jobs <= 0 then
            next_queue := q.name; next_lane := since;  -- there is more in the same lanes
        elsif cardinality(part) >= left_lanes then
            next_queue := q.name; next_lane := part[cardinality(part)];
        end if;
        return next;
        exit when next_queue is not null;
        left_lanes := greatest(2, left_lanes - cardinality(part));
    end loop;
    update postmill.boost b set ended_at = moment
     where b.ended_at is null
       and not exists (select from postmill.queue u where u.name = b.queue and u.boost_after_seconds is not null);
    delete from postmill.boost b where b.job_id = any (array(
        select o.job_id from postmill.boost o where o.ended_at < moment - interval '7 days' limit p_most));
end
$$;

-- FUNCTION boosted_lanes(text, uuid, integer)

CREATE FUNCTION postmill.boosted_lanes(p_queue text, p_lane uuid, p_most integer) RETURNS uuid[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    return array(
        with recursive step as (
            select least((select r.lane from postmill.ready r where r.queue = p_queue and r.lane >= p_lane
                           order by r.queue, r.lane limit 1),
                         (select b.lane from postmill.boost b where b.queue = p_queue and b.ended_at is null and b.lane >= p_lane
                           order by b.queue, b.lane limit 1)) as lane
            union all
            select least((select r.lane from postmill.ready r where r.queue = p_queue and r.lane > s.lane
                           order by r.queue, r.lane limit 1),
                         (select b.lane from postmill.boost b where b.queue = p_queue and b.ended_at is null and b.lane > s.lane
                           order by b.queue, b.lane limit 1))
              from step s where s.lane is not null
        )
        select s.lane from step s where s.lane is not null limit p_most);
end
$$;

-- FUNCTION boosted_to(integer, interval, double precision, integer, integer)

CREATE FUNCTION postmill.boosted_to(p_base integer, p_waited interval, p_after double precision, p_step integer, p_to integer) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return least(p_base, greatest(p_to::double precision, p_base - p_step * floor(extract(epoch from p_waited) / p_after)));
end
$$;

-- FUNCTION budget_json(uuid)

CREATE FUNCTION postmill.budget_json(p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (select to_jsonb(b) - 'declared' - 'id' - 'created_at' - 'updated_at' from postmill.budget b where b.id = p_id);
end
$$;

-- FUNCTION budget_standing(text, uuid)

CREATE FUNCTION postmill.budget_standing(p_name text, p_tenant uuid) RETURNS TABLE(id uuid, name text, tenant_id uuid, unit text, level integer, action text, factor numeric, limit_amount numeric, limit_own boolean, spent numeric, reserved numeric, calls bigint, tokens_in bigint, tokens_out bigint, starts_at timestamp with time zone, ends_at timestamp with time zone, label text)
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
begin
    return query
    select f.* from postmill.budget b cross join lateral postmill.read_budget_figures(b.id, moment) f
     where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-')) and (b.tenant_id = p_tenant or b.tenant_id is null)
     order by f.level desc, b.id;
end
$$;

-- FUNCTION budget_word(text, uuid)

CREATE FUNCTION postmill.budget_word(p_name text, p_tenant uuid) RETURNS TABLE(name text, level integer, action text, ends_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select s.name, s.level, s.action, s.ends_at from postmill.budget_standing(p_name, p_tenant) s limit 1;
end
$$;

-- FUNCTION bury(uuid, uuid[], bigint[], uuid[], bigint[], text[], text[], text[], text[], text[], integer[], text[], integer[], integer[], text[], text[], text[])

CREATE FUNCTION postmill.bury(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_attempt_statuses text[], p_reasons text[], p_error_classes text[] DEFAULT NULL::text[], p_error_codes text[] DEFAULT NULL::text[], p_error_messages text[] DEFAULT NULL::text[], p_error_statuses integer[] DEFAULT NULL::integer[], p_stacks text[] DEFAULT NULL::text[], p_exit_codes integer[] DEFAULT NULL::integer[], p_pids integer[] DEFAULT NULL::integer[], p_stdouts text[] DEFAULT NULL::text[], p_stderrs text[] DEFAULT NULL::text[], p_error_groups text[] DEFAULT NULL::text[]) RETURNS SETOF uuid
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
               p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids, p_stdouts, p_stderrs,
               p_error_groups)
               as u(id, claim_no, tenant_id, micros, attempt_status, reason, error_class, error_code, error_message,
                    error_status, stack, exit_code, pid, stdout_tail, stderr_tail, error_group)
    ), held as materialized (
        select r.ctid as tid, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), tried as (
        insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, pid, started_at, finished_at,
               status, exit_code, error_class, error_code, error_message, error_status, stack, stdout_tail,
               stderr_tail, error_group)
        select h.id, h.tenant_id, h.attempt, h.run, p_holder, h.claim_no, h.pid,
               moment - h.micros * interval '1 microsecond', moment, h.attempt_status, h.exit_code, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail,
               h.error_group
          from held h where h.attempt_status is not null
    ), buried as (
        insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_code, error_message, error_status, error_group, stack, attempts, failed_at, last_attempt_at)
        select h.id, h.tenant_id, h.queue, h.lane, h.priority, h.attempt, h.run, h.lost, h.reason, h.error_class,
               h.error_code, h.error_message, h.error_status, h.error_group, h.stack, h.attempt, moment,
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
            select * from (select r.id, r.queue, r.attempt, r.run, r.lost from postmill.ready r where r.id = any (p_ids)
                            order by r.id for update skip locked) r
            union all
            select * from (select s.id, s.queue, s.attempt, s.run, s.lost from postmill.scheduled s where s.id = any (p_ids)
                            order by s.id for update skip locked) s
            union all
            select * from (select b.id, b.queue, b.attempt, b.run, b.lost from postmill.blocked b where b.id = any (p_ids)
                            order by b.id for update skip locked) b
        ), whose as materialized (
            select w.*, coalesce(j.tenant_id, k.tenant_id, '00000000-0000-0000-0000-000000000001') as tenant_id,
                   coalesce(j.job_type, k.job_type, 'unknown') as job_type
              from waits w left join postmill.job j on j.id = w.id left join postmill.job_kept k on k.id = w.id
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
            select w.id, w.tenant_id, 'canceled', moment, w.attempt - 1, w.run, w.lost, coalesce(p_reason, 'canceled')
              from whose w
            returning job_id
        ), counted as (
            insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
            select postmill.minute_of(moment), w.tenant_id, w.queue, w.job_type, 'canceled', count(*) from whose w
             group by w.tenant_id, w.queue, w.job_type
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

-- FUNCTION carried_tables()

CREATE FUNCTION postmill.carried_tables() RETURNS TABLE(n integer, name text, how text, moment text, mine text)
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
begin
    return query
    select row_number() over ()::integer, l.* from (values
        ('queue', 'missing', null, 'true'),
        ('job_definition', 'missing', null, 'true'),
        ('error_group', 'missing', null, 'id in (select e.id from postmill.error_group_tenant e where e.tenant_id = %1$L)'),
        ('tenant', 'state', null, 'id = %1$L'),
        ('project', 'state', null, 'tenant_id = %1$L'),
        ('retention_rule', 'state', null, 'tenant_id = %1$L'),
        ('lane', 'state', null, 'lane = %1$L'),
        ('api_key', 'state', null, 'tenant_id = %1$L'),
        ('http_answer', 'state', null, 'actor_type = ''api_key'' and actor_id in
            (select k.id::text from postmill.api_key k where k.tenant_id = %1$L)'),
        ('console_session', 'state', null, 'tenant_id = %1$L'),
        ('login_link', 'state', null, 'tenant_id = %1$L'),
        ('saved_view', 'state', null, 'tenant_id = %1$L'),
        ('job', 'grows', 'id', 'tenant_id = %1$L'),
        ('attempt', 'grows', 'finished_at', 'tenant_id = %1$L'),
        ('outcome', 'grows', 'finished_at', 'tenant_id = %1$L'),
        ('event', 'grows', 'id', 'tenant_id = %1$L'),
        ('tick', 'grows', 'fired_at', 'tenant_id = %1$L'),
        ('audit_log', 'kept', 'at', 'tenant_id = %1$L'),
        ('job_kept', 'state', null, 'tenant_id = %1$L'),
        ('scheduled', 'state', null, 'run_at > timestamptz ''2500-01-01 00:00+00''
            and (select j.tenant_id from postmill.any_job j where j.id = scheduled.id limit 1) = %1$L'),
        ('blocked', 'state', null, '(select j.tenant_id from postmill.any_job j where j.id = blocked.id limit 1) = %1$L'),
        ('dead_letter', 'state', null, 'tenant_id = %1$L'),
        ('idempotency_key', 'state', null, 'tenant_id = %1$L'),
        ('trigger', 'state', null, 'tenant_id = %1$L'),
        ('trigger_recent', 'state', null, 'trigger_id in (select g.id from postmill.trigger g where g.tenant_id = %1$L)'),
        ('event_delivery', 'state', null, 'tenant_id = %1$L'),
        ('webhook', 'state', null, 'tenant_id = %1$L'),
        ('webhook_secret', 'state', null, 'webhook_id in (select w.id from postmill.webhook w where w.tenant_id = %1$L)'),
        ('webhook_message', 'state', null, 'webhook_id in (select w.id from postmill.webhook w where w.tenant_id = %1$L)'),
        ('artifact', 'state', null, 'tenant_id = %1$L'),
        ('recovery', 'state', null, 'tenant_id = %1$L'),
        ('budget', 'state', null, 'tenant_id = %1$L'),
        ('budget_period', 'state', null, 'budget_id in (select b.id from postmill.budget b where b.tenant_id = %1$L)'),
        ('budget_balance', 'state', null, 'budget_id in (select b.id from postmill.budget b where b.tenant_id = %1$L)'),
        ('budget_alert', 'state', null, 'budget_id in (select b.id from postmill.budget b where b.tenant_id = %1$L)'),
        ('budget_request', 'state', null, 'budget_id in (select b.id from postmill.budget b where b.tenant_id = %1$L)'),
        ('budget_reservation', 'state', null, 'budget_id in (select b.id from postmill.budget b where b.tenant_id = %1$L)'),
        ('budget_line', 'state', null, 'budget_id in (select b.id from postmill.budget b where b.tenant_id = %1$L)'),
        ('job_tag', 'state', null, 'tenant_id = %1$L'),
        ('boost', 'state', null, 'tenant_id = %1$L'),
        ('rollup', 'state', null, 'tenant_id = %1$L'),
        ('rollup_hour', 'state', null, 'tenant_id = %1$L'),
        ('error_group_tenant', 'state', null, 'tenant_id = %1$L'),
        ('error_group_minute', 'state', null, 'tenant_id = %1$L')
    ) as l(name, how, moment, mine);
end
$_$;

-- FUNCTION carry_in(text)

CREATE FUNCTION postmill.carry_in(p_table text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    columns text := postmill.columns_of(p_table);
    place text := quote_ident('carry_' || p_table);
    low uuid;
    made bigint;
    more bigint := 0;
begin
    if p_table = 'job' then
        select postmill.id_at(h.since) into low from postmill.partition_horizon h;
        execute format('insert into postmill.job_kept (%s) select %s from pg_temp.%s where id < %L on conflict do nothing',
                       columns, columns, place, low);
        get diagnostics more = row_count;
        execute format('delete from pg_temp.%s where id < %L', place, low);
    elsif p_table = 'trigger' then
        execute format('update pg_temp.%s t set definition_id = d.id from pg_temp.carry_definition c
            join postmill.job_definition d on d.key = c.key where c.id = t.definition_id', place);
    elsif p_table = 'attempt' or p_table = 'outcome' then
        -- Neither has a key: what is there already is known by its job and its end.
        execute format('delete from pg_temp.%s c using postmill.%I h where h.job_id = c.job_id and h.finished_at = c.finished_at
            and h.run = c.run', place, p_table);
    elsif p_table = 'audit_log' then
        execute format('insert into postmill.audit_unsealed (id) select c.id from pg_temp.%s c
            where not exists (select from postmill.audit_log l where l.id = c.id)', place);
    end if;
    execute format('insert into postmill.%I (%s) select %s from pg_temp.%s on conflict do nothing', p_table, columns, columns, place);
    get diagnostics made = row_count;
    if p_table = 'dead_letter' then
        -- They came long ago: nobody is to be told of them again.
        execute format('delete from postmill.dead_news n using pg_temp.%s c where n.job_id = c.id', place);
    end if;
    execute format('drop table pg_temp.%s', place);
    return made + more;
end
$$;

-- FUNCTION carry_off(text, uuid, uuid, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.carry_off(p_table text, p_tenant uuid, p_move uuid, p_since timestamp with time zone DEFAULT NULL::timestamp with time zone, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    gone bigint;
begin
    perform from postmill.tenant_gate g where g.tenant_id = p_tenant and g.move_id = p_move and g.stage in ('arriving', 'gone')
        for share;
    if not found then
        raise exception 'postmill: the gate of tenant % is not that of move %', p_tenant, p_move using errcode = 'PM062';
    end if;
    execute format('delete from postmill.%I where %s', p_table, postmill.rows_of(p_table, p_tenant, p_since, p_until));
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- FUNCTION check_guarded(text, jsonb, uuid, text, text, text, text, boolean)

CREATE FUNCTION postmill.check_guarded(p_job_type text, p_payload jsonb, p_tenant uuid, p_actor_id text, p_request_id text, p_correlation_id text, p_key text, p_replay boolean, OUT status text, OUT detail text) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    definition record;
begin
    select d.strict_envelope, d.encrypted, d.secrets, d.secret_keys into definition
      from postmill.job_definition d where d.key = p_job_type;
    if definition.strict_envelope and not p_replay then
        detail := case
            when p_tenant is null or p_tenant = '00000000-0000-0000-0000-000000000001'
              or not exists (select from postmill.tenant t where t.id = p_tenant) then 'org_id'
            when coalesce(p_actor_id, '') = '' then 'actor_id'
            when coalesce(p_request_id, '') = '' then 'request_id'
            when coalesce(p_correlation_id, '') = '' then 'correlation_id'
            when coalesce(p_key, '') = '' then 'idempotency_key'
            when jsonb_typeof(p_payload) is distinct from 'object' then 'payload' end;
        if detail is not null then
            status := 'incomplete';
            return;
        end if;
    end if;
    if p_payload ? '$encrypted' then
        return;
    end if;
    if definition.secrets = 'refuse' then
        detail := postmill.secret_in(p_payload, definition.secret_keys);
        if detail is not null then
            status := 'secret';
            return;
        end if;
    end if;
    if definition.encrypted then
        status := 'unencrypted';
    end if;
end
$_$;

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

-- FUNCTION claim_unit(text, double precision)

CREATE FUNCTION postmill.claim_unit(p_worker text, p_seconds double precision) RETURNS TABLE(id uuid, source text, rule text, since timestamp with time zone, until timestamp with time zone, columns jsonb, blocks bigint, size bigint, schema_version integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    own postmill.archive_unit;
begin
    select o.* into own from postmill.archive_unit o
     where o.status = 'waiting' and o.next_try <= moment and coalesce(o.claimed_until, '-infinity') < moment
     order by o.next_try, o.id limit 1 for update skip locked;
    if not found then
        return;
    end if;
    -- Out of the way of a partition that would have its name.
    if own.relation not like 'unit\_%' then
        execute format('alter table postmill.%I rename to %I', own.relation, 'unit_' || replace(own.id::text, '-', ''));
        own.relation := 'unit_' || replace(own.id::text, '-', '');
    end if;
    return query
    update postmill.archive_unit u
       set relation = own.relation, claimed_by = p_worker, claimed_until = moment + p_seconds * interval '1 second'
     where u.id = own.id
    returning u.id, u.source, u.rule, u.since, u.until, u.columns,
              case when u.relation is not null
                   then pg_relation_size(format('postmill.%I', u.relation)::regclass) / current_setting('block_size')::bigint end,
              case when u.relation is not null then pg_table_size(format('postmill.%I', u.relation)::regclass) end,
              (select max(m.version)::integer from postmill.migration m);
end
$$;

-- FUNCTION claim_work(uuid, integer, double precision, text[], text[], uuid[], integer[], timestamp with time zone[], integer[])

CREATE FUNCTION postmill.claim_work(p_holder uuid, p_total integer, p_lease_seconds double precision, p_types text[], p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamp with time zone[], p_counts integer[]) RETURNS TABLE(slot integer, job jsonb)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
    number constant bigint := nextval('postmill.http_claim_no');
    moment constant timestamptz := postmill.now();
    until constant timestamptz := moment + p_lease_seconds * interval '1 second';
    everybody constant boolean := postmill.sees_all();
    own constant uuid := postmill.scope_tenant();
    paused constant text[] := postmill.paused_types();
    served text[] := p_types;
begin
    if cardinality(paused) > 0 then
        served := array(select t.name from unnest(p_types) as t(name) where t.name <> all (paused));
    end if;
    return query
    with picked as materialized (
        select l.slot, q.*
          from unnest(p_queues, p_lanes, p_priorities, p_from, p_counts)
               with ordinality as l(queue, lane, priority, at, n, slot)
         cross join lateral (
             select r.ctid as tid, r.id, r.queue, r.lane, r.priority, r.ready_at, r.attempt, r.run, r.lost, b.job_type,
                    b.timeout_seconds, coalesce(b.tenant_id, r.lane) as tenant_id
               from postmill.ready r
               left join lateral (select j.job_type, j.tenant_id, j.timeout_seconds from postmill.job j where j.id = r.id
                                  union all
                                  select k.job_type, k.tenant_id, k.timeout_seconds from postmill.job_kept k
                                   where k.id = r.id offset 0) b on true
              where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                and r.ready_at >= case when l.at is null then '-infinity'
                                        else least(l.at, (select postmill.now()) - interval '250 ms') end
                and (b.job_type = any (served) or b.job_type is null)
                and (everybody or coalesce(b.tenant_id, r.lane) = own)
              order by r.ready_at, r.id
              limit l.n for update of r skip locked) q
         where not exists (select from postmill.queue w where w.name = l.queue and w.paused_at is not null
                              and (w.resume_at is null or w.resume_at > (select postmill.now())))
         limit p_total
    ), gone as (
        delete from postmill.ready r where r.ctid = any (array(select p.tid from picked p))
    ), begun as (
        insert into postmill.running (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)
        select p.id, p_holder, number, p.queue, p.lane, p.priority, p.attempt, p.run + 1, p.lost, moment from picked p
    ), leased as (
        insert into postmill.http_claim (job_id, claim_no, holder, tenant_id, job_type, ready_at, lease_seconds, expires_at, deadline)
        select p.id, number, p_holder, p.tenant_id, coalesce(p.job_type, ''), p.ready_at, p_lease_seconds, until,
               moment + p.timeout_seconds * interval '1 second'
          from picked p
    )
    select p.slot::integer,
           jsonb_build_object('id', p.id, 'queue', p.queue, 'ready_at', p.ready_at, 'attempt', p.attempt, 'run', p.run + 1,
               'lost', p.lost, 'claim_no', number, 'claimed_at', moment, 'lease_expires_at', until, 'tenant_id', p.tenant_id)
           || postmill.work_facts(p.id)
      from picked p;
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
    with gone as (
        delete from postmill.dead_letter d where d.id = p_id returning d.*
    ), counted as (
        insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
        select postmill.minute_of(moment), g.tenant_id, g.queue, coalesce(b.job_type, 'unknown'),
               case p_status when 'failed' then 'discarded' else 'replayed' end, 1
          from gone g
          left join lateral (select j.job_type from postmill.any_job j where j.id = g.id offset 0) b on true
    )
    insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, reason, error_class,
           error_code, error_message, error_status, error_group, stack)
    select g.id, g.tenant_id, p_status, moment, g.attempt, g.run, g.lost, coalesce(p_reason, g.reason), g.error_class,
           g.error_code, g.error_message, g.error_status, g.error_group, g.stack
      from gone g;
    return found;
end
$$;

-- FUNCTION close_login(bytea, text)

CREATE FUNCTION postmill.close_login(p_hash bytea, p_request_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    gone postmill.console_session;
begin
    update postmill.console_session s set ended_at = postmill.now()
     where s.hash = p_hash and s.ended_at is null
    returning s.* into gone;
    if gone.id is null then
        return false;
    end if;
    perform postmill.set_actor('console', 'user', gone.actor_id, gone.role, p_request_id);
    perform postmill.audit('logins.close', 'login', gone.id::text, gone.tenant_id);
    return true;
end
$$;

-- FUNCTION close_session(uuid, jsonb)

CREATE FUNCTION postmill.close_session(p_holder uuid, p_ended jsonb DEFAULT '{}'::jsonb) RETURNS void
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
    update postmill.worker w set stopped_at = postmill.now(), running_count = 0, report = w.report || p_ended where w.holder = p_holder;
end
$$;

-- FUNCTION close_units()

CREATE FUNCTION postmill.close_units() RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    delete from postmill.archive_unit u where u.status = 'filling' and u.rows is null
       and u.made_at < (select postmill.now()) - interval '1 day';
    update postmill.archive_unit u set status = 'waiting'
     where u.status = 'filling' and u.rows > 0
       and (u.rule = 'dead_letter' or u.rows >= 50000 or u.made_at < (select postmill.now()) - interval '1 day');
end
$$;

-- FUNCTION coarsen_rollups(interval, interval, integer)

CREATE FUNCTION postmill.coarsen_rollups(p_fine interval, p_keep interval, p_most integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    edge timestamptz;
    hour timestamptz;
    gone integer;
begin
    delete from postmill.rollup r where r.ctid = any (array(
        select q.ctid from postmill.rollup q where q.minute < moment - p_keep order by q.minute limit p_most));
    get diagnostics gone = row_count;
    delete from postmill.rollup_fleet r where r.ctid = any (array(
        select q.ctid from postmill.rollup_fleet q where q.minute < moment - p_keep order by q.minute limit p_most));
    delete from postmill.rollup_hour r where r.ctid = any (array(
        select q.ctid from postmill.rollup_hour q where q.hour < moment - p_keep order by q.hour limit p_most));
    select least(date_bin('1 hour', moment - p_fine, timestamptz '2000-01-01 00:00+00'),
                 date_bin('1 hour', s.final_to, timestamptz '2000-01-01 00:00+00')) into edge
      from postmill.rollup_state s;
    select date_bin('1 hour', min(r.minute), timestamptz '2000-01-01 00:00+00') into hour
      from postmill.rollup r, postmill.rollup_state s where r.minute >= s.coarse_to and r.minute < edge;
    if hour is null then
        update postmill.rollup_state s set coarse_to = edge where s.coarse_to < edge;
        return gone >= p_most;
    end if;
    update postmill.rollup_state s set coarse_to = hour + interval '1 hour';
    with fine as materialized (
        delete from postmill.rollup r where r.minute >= hour and r.minute < hour + interval '1 hour' returning r.*
    )
    insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
           run_hist, total_hist)
    select hour, f.tenant_id, f.queue, f.job_type, f.outcome, sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum),
           postmill.histogram_sum(f.wait_hist), postmill.histogram_sum(f.run_hist), postmill.histogram_sum(f.total_hist)
      from fine f group by 2, 3, 4, 5;
    with fine as materialized (
        delete from postmill.rollup_fleet r where r.minute >= hour and r.minute < hour + interval '1 hour' returning r.*
    )
    insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist, run_hist,
           total_hist)
    select hour, f.queue, f.job_type, f.outcome, sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum),
           postmill.histogram_sum(f.wait_hist), postmill.histogram_sum(f.run_hist), postmill.histogram_sum(f.total_hist)
      from fine f group by 2, 3, 4;
    return true;
end
$$;

-- FUNCTION columns_of(regclass)

CREATE FUNCTION postmill.columns_of(p_table regclass) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (
    select jsonb_agg(jsonb_build_array(a.attname, format_type(case t.typtype when 'd' then t.typbasetype else t.oid end, null))
                     order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    );
end
$$;

-- FUNCTION columns_of(text)

CREATE FUNCTION postmill.columns_of(p_table text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
     where a.attrelid = format('postmill.%I', p_table)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = '');
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
        returning j.id, j.tenant_id, j.queue, j.job_type
    ), forgotten_kept as (
        delete from postmill.job_kept k where k.id = any (array(select h.id from held h))
        returning k.id, k.tenant_id, k.queue, k.job_type
    ), remembered as (
        insert into postmill.forgotten (made, tenant_id, queue, job_type, n)
        select date_trunc('second', postmill.id_time(f.id)), f.tenant_id, f.queue, f.job_type, count(*)
          from (select * from forgotten union all select * from forgotten_kept) f group by 1, 2, 3, 4
    ), counted as (
        insert into postmill.tally (at, job_type, succeeded)
        select (select postmill.now()), p_job_type, count(*) from held h having count(*) > 0
    )
    select a.id from asked a where not exists (select from held h where h.id = a.id);
end
$$;

-- FUNCTION content_of(text[], jsonb)

CREATE FUNCTION postmill.content_of(p_names text[], p_payload jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return (select encode(sha256(convert_to(jsonb_agg(p_payload -> u.name order by u.n)::text, 'UTF8')), 'hex')
              from unnest(p_names) with ordinality as u(name, n));
end
$$;

-- FUNCTION copy_in(text)

CREATE FUNCTION postmill.copy_in(p_table text) RETURNS text
    LANGUAGE plpgsql
    AS $$
begin
    execute format('create temporary table %I on commit drop as select %s from postmill.%I limit 0', 'carry_' || p_table,
                   postmill.columns_of(p_table), p_table);
    return format('copy pg_temp.%I from stdin (format binary)', 'carry_' || p_table);
end
$$;

-- FUNCTION copy_out(text, uuid, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.copy_out(p_table text, p_tenant uuid, p_since timestamp with time zone, p_until timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (
    select format('copy (select %s from postmill.%I where %s) to stdout (format binary)', postmill.columns_of(p_table), p_table,
                  postmill.rows_of(p_table, p_tenant, p_since, p_until)));
end
$$;

-- FUNCTION count_dead_letters(integer)

CREATE FUNCTION postmill.count_dead_letters(p_most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    taken uuid[];
    one record;
begin
    with gone as (
        delete from postmill.dead_news w where w.job_id = any (array(
            select x.job_id from postmill.dead_news x order by x.job_id limit p_most for update skip locked))
        returning w.job_id
    )
    select array_agg(g.job_id) into taken from gone g;
    for one in
        select coalesce(b.job_type, 'unknown') as job_type, coalesce(d.error_group, d.error_class, d.reason) as cause, d.tenant_id,
               d.queue, array_agg(d.id order by d.failed_at desc, d.id desc) as ids,
               (array_agg(jsonb_build_object('job_id', d.id, 'reason', d.reason, 'error_class', d.error_class,
                    'error', left(d.error_message, 500), 'attempts', d.attempts) order by d.failed_at desc, d.id desc))[1] as facts
          from postmill.dead_letter d
          left join lateral (select j.job_type from postmill.any_job j where j.id = d.id offset 0) b on true
         where d.id = any (taken) and b.job_type is distinct from 'postmill.notify'
         group by 1, 2, 3, 4 order by 1, 2, 3, 4
    loop
        -- A budget that is used up is no fault of the job, and not for the pager.
        perform postmill.note_incident(case one.facts ->> 'reason' when 'budget_exhausted' then 'budget' else 'job_exhausted' end,
            left(one.job_type || ':' || one.cause, 500), case one.facts ->> 'reason' when 'budget_exhausted' then 'info' else 'critical' end,
            one.job_type || ' was given up: ' || concat_ws(': ', coalesce(one.facts ->> 'error_class', one.facts ->> 'reason'),
                left(one.facts ->> 'error', 200)), one.facts || jsonb_build_object('group', one.cause), one.tenant_id,
            case when one.facts ->> 'reason' <> 'budget_exhausted' then one.queue end, one.job_type, one.ids);
    end loop;
    return coalesce(cardinality(taken), 0);
end
$$;

-- FUNCTION count_end(uuid, text, text, text, numeric, numeric, numeric)

CREATE FUNCTION postmill.count_end(p_tenant uuid, p_queue text, p_job_type text, p_outcome text, p_wait numeric, p_run numeric, p_total numeric) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    waited constant double precision := greatest(p_wait, 0);
    ran constant double precision := greatest(p_run, 0);
    took constant double precision := case when p_outcome in ('succeeded', 'failed', 'dead_letter') then greatest(p_total, 0) end;
begin
    insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
           run_hist, total_hist)
    values (postmill.minute_of(postmill.now()), p_tenant, p_queue, p_job_type, p_outcome, 1, coalesce(waited, 0),
            coalesce(ran, 0), coalesce(took, 0), postmill.histogram(waited), postmill.histogram(ran), postmill.histogram(took));
end
$$;

-- FUNCTION count_enqueues(interval)

CREATE FUNCTION postmill.count_enqueues(p_patience interval DEFAULT '00:00:15'::interval) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := date_trunc('second', postmill.now() - interval '1 second');
    step constant interval := '1 hour';
    since timestamptz;
    s postmill.rollup_state;
begin
    select t.* into s from postmill.rollup_state t for update;
    if s.marker <= pg_snapshot_xmin(pg_current_snapshot()) then
        if s.final_to < s.counted_to then
            since := postmill.minute_of(postmill.first_made(s.final_to, s.counted_to));
            insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
            select c.minute, c.tenant_id, c.queue, c.job_type, 'enqueued', c.n - coalesce(k.n, 0)
              from postmill.enqueues_between(since, s.counted_to) c
              left join (select r.minute, r.tenant_id, r.queue, r.job_type, sum(r.n) as n from postmill.rollups r
                          where r.outcome = 'enqueued' and r.minute >= since and r.minute < s.counted_to
                          group by 1, 2, 3, 4) k using (minute, tenant_id, queue, job_type)
             where c.n > coalesce(k.n, 0);
        end if;
        if s.counted_to < s.marker_to then
            s.counted_to := postmill.first_made(s.counted_to, s.marker_to);
            perform postmill.add_enqueues(s.counted_to, least(s.marker_to, s.counted_to + step));
            s.counted_to := least(s.marker_to, s.counted_to + step);
        end if;
        s.final_to := least(s.marker_to, s.counted_to);
        if s.final_to >= s.marker_to then
            s.marker := null;
        end if;
        delete from postmill.forgotten f where f.made < postmill.minute_of(s.final_to);
    elsif moment > s.marker_to + p_patience and moment > s.counted_to then
        s.counted_to := postmill.first_made(s.counted_to, moment);
        perform postmill.add_enqueues(s.counted_to, least(moment, s.counted_to + step));
        s.counted_to := least(moment, s.counted_to + step);
    end if;
    if s.marker is null and moment > s.final_to then
        s.marker := pg_current_xact_id();
        s.marker_to := moment;
    end if;
    update postmill.rollup_state t
       set counted_to = s.counted_to, final_to = s.final_to, marker = s.marker, marker_to = s.marker_to;
    return coalesce(s.counted_to < s.marker_to and s.marker <= pg_snapshot_xmin(pg_current_snapshot()), false);
end
$$;

-- FUNCTION dead_letter_came()

CREATE FUNCTION postmill.dead_letter_came() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    insert into postmill.dead_news (job_id) select c.id from came c on conflict do nothing;
    return null;
end
$$;

-- FUNCTION definition_changed()

CREATE FUNCTION postmill.definition_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if tg_op <> 'DELETE' and new.version > 0 and (tg_op = 'INSERT' or new.version <> old.version) then
        insert into postmill.definition_version (definition_id, version, at, actor_type, actor_id, via, definition)
        values (new.id, new.version, postmill.now(),
                coalesce(nullif(current_setting('postmill.actor_type', true), ''), 'system'),
                coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user),
                coalesce(nullif(current_setting('postmill.via', true), ''), 'sql'),
                to_jsonb(new) - array['id', 'guarded', 'edited', 'version', 'created_at', 'updated_at']);
    end if;
    perform postmill.tell('!definitions');
    return null;
end
$$;

-- FUNCTION definition_changed(uuid)

CREATE FUNCTION postmill.definition_changed(p_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return not exists (
        select from (select f.job_type, f.created_at from postmill.any_job f where f.id = p_id offset 0) j
          join postmill.job_definition d on d.key = j.job_type
         where d.is_active and d.version = coalesce((select max(v.version) from postmill.definition_version v
                                                      where v.definition_id = d.id and v.at <= j.created_at), d.version));
end
$$;

-- FUNCTION definition_written()

CREATE FUNCTION postmill.definition_written() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    other text;
begin
    new.guarded := new.strict_envelope or new.encrypted or new.secrets = 'refuse';
    if tg_op = 'INSERT' or (new.queue, new.kind) is distinct from (old.queue, old.kind) then
        perform pg_advisory_xact_lock(hashtextextended('postmill.queue_kind:' || new.queue, 0));
        other := postmill.queue_conflict(new.queue, new.kind, new.key);
        if other is not null then
            raise exception 'postmill: queue "%" serves "%", which is of another kind', new.queue, other
                using errcode = 'check_violation', hint = 'A queue serves either http definitions or the others.';
        end if;
    end if;
    return new;
end
$$;

-- FUNCTION deliver_events(jsonb)

CREATE FUNCTION postmill.deliver_events(p_deliveries jsonb) RETURNS TABLE(event_id uuid, trigger_id uuid, outcome text, detail text, job_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    item record;
    own postmill.trigger;
    fact postmill.event;
    before text := current_setting('lock_timeout');
begin
    -- A publisher waits for nobody: what another open transaction holds is settled by a round.
    perform set_config('lock_timeout', '20ms', true);
    for item in
        select x.* from jsonb_to_recordset(p_deliveries) as x(event_id uuid, trigger_id uuid, payload jsonb, hash text,
            key text, outcome text, detail text) order by x.trigger_id, x.event_id
    loop
        event_id := item.event_id;
        trigger_id := item.trigger_id;
        outcome := item.outcome;
        detail := item.detail;
        job_id := null;
        select e.* into fact from postmill.event e where e.id = item.event_id and postmill.in_scope(e.tenant_id);
        if not found then
            continue;
        end if;
        perform from postmill.event_delivery y
          where y.event_id = item.event_id and y.trigger_id = item.trigger_id and y.outcome = 'pending'
            for update skip locked;
        if not found then
            continue;
        end if;
        select t.* into own from postmill.trigger t where t.id = item.trigger_id;
        if outcome is null then
            select j.job_id, j.outcome, j.detail into job_id, outcome, detail
              from postmill.trigger_job(own, item.payload, item.hash, item.key, fact.published_at, 'event', fact.id::text,
                  null, coalesce(fact.request_id, fact.id::text), fact.correlation_id, fact.traceparent) j;
        end if;
        if outcome = 'pending' then
            update postmill.event_delivery y set due_at = postmill.now() + interval '1 second'
             where y.event_id = item.event_id and y.trigger_id = item.trigger_id;
        else
            update postmill.event_delivery y
               set outcome = deliver_events.outcome, detail = deliver_events.detail, job_id = deliver_events.job_id, due_at = null,
                   decided_at = postmill.now()
             where y.event_id = item.event_id and y.trigger_id = item.trigger_id;
            if outcome in ('failed', 'refused') then
                perform postmill.note_trigger(own.id, detail);
            elsif own.error is not null and outcome = 'enqueued' then
                perform postmill.note_trigger(own.id, null);
            end if;
        end if;
        return next;
    end loop;
    perform set_config('lock_timeout', before, true);
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

-- FUNCTION door_acknowledge_incident(uuid, text, text, text)

CREATE FUNCTION postmill.door_acknowledge_incident(p_id uuid, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own postmill.incident;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select i.* into own from postmill.incident i where i.id = p_id for update;
    if own.id is null or not postmill.in_scope(own.tenant_id) then
        return postmill.incident_hidden(p_id);
    elsif own.resolved_at is not null then
        return 'over';
    elsif own.acknowledged_at is not null then
        return 'already';
    end if;
    update postmill.incident i
       set acknowledged_at = postmill.now(), acknowledged_by = postmill.acting_id(), note = coalesce(p_reason, i.note),
           escalate_at = case when i.step = 0 then i.escalate_at end
     where i.id = p_id;
    perform postmill.tell_again(p_id, 'acknowledge');
    perform postmill.audit('incidents.acknowledge', 'incident', p_id::text, own.tenant_id,
        jsonb_build_object('kind', own.kind, 'key', own.key), null, p_reason);
    return 'acknowledged';
end
$$;

-- FUNCTION door_archive_state()

CREATE FUNCTION postmill.door_archive_state() RETURNS TABLE(required boolean, waiting bigint, oldest_seconds double precision, failing bigint, error text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return query select postmill.archive_required(), 0::bigint, null::double precision, 0::bigint, null::text;
        return;
    end if;
    return query
    select postmill.archive_required(), count(u.id), extract(epoch from (select postmill.now()) - min(u.made_at))::double precision,
           count(u.id) filter (where u.tries > 0), (array_agg(u.error order by u.next_try desc) filter (where u.error is not null))[1]
      from postmill.archive_unit u where u.status = 'waiting';
end
$$;

-- FUNCTION door_ask_worker(uuid, text, text, text, text)

CREATE FUNCTION postmill.door_ask_worker(p_holder uuid, p_asked text, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    w postmill.worker;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select * into w from postmill.worker k where k.holder = p_holder for update;
    if not found or not postmill.sees_all() then
        return 'unknown';
    elsif w.metadata ->> 'kind' = 'http' then
        return 'http';
    elsif w.stopped_at is not null or not exists (
        select from postmill.lease l where l.holder = p_holder and l.expires_at > (select postmill.now())) then
        return 'over';
    elsif w.asked = p_asked or (w.asked is null and p_asked = 'resume' and not w.draining) then
        return 'unchanged';
    end if;
    update postmill.worker k
       set asked = p_asked, asked_at = postmill.now(), asked_by = postmill.acting_id(), asked_reason = left(p_reason, 2000)
     where k.holder = p_holder;
    if p_asked <> 'resume' then
        perform postmill.leave(p_holder);
    end if;
    perform postmill.audit('workers.' || p_asked, 'worker', w.worker_id, null, jsonb_build_object('asked', w.asked),
        jsonb_build_object('asked', p_asked, 'running', w.running_count), p_reason);
    perform postmill.tell('!worker');
    return 'asked';
end
$$;

-- FUNCTION door_backfill_trigger(uuid, jsonb, text, text, text)

CREATE FUNCTION postmill.door_backfill_trigger(p_id uuid, p_ticks jsonb, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(due timestamp with time zone, outcome text, detail text, job_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment constant timestamptz := postmill.now();
    own postmill.trigger;
    item record;
    old postmill.tick;
    told jsonb := '{}';
    origin text;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select t.* into own from postmill.trigger t where t.id = p_id and t.deleted_at is null for no key update;
    if own.id is null or not postmill.in_scope(own.tenant_id) then
        outcome := 'unknown';
        return next;
        return;
    end if;
    origin := coalesce(nullif(current_setting('postmill.request_id', true), ''), own.id::text);
    perform set_config('lock_timeout', '5s', true);
    for item in
        select x.* from jsonb_to_recordset(p_ticks) as x(due timestamptz, next timestamptz, payload jsonb, key text, outcome text,
            detail text)
         order by x.due
    loop
        due := item.due; outcome := item.outcome; detail := item.detail; job_id := null;
        select k.* into old from postmill.tick k where k.trigger_id = own.id and k.due = item.due;
        if old.job_id is not null then
            outcome := 'kept'; detail := null; job_id := old.job_id;
        elsif outcome is null then
            select j.job_id, j.outcome, j.detail into job_id, outcome, detail
              from postmill.trigger_job(own, item.payload, null, item.key, item.due, 'schedule', own.id::text, null, origin, origin,
                  null, postmill.acting_type(), postmill.acting_id()) j;
        end if;
        told := told || jsonb_build_object(outcome, coalesce((told ->> outcome)::integer, 0) + 1);
        if outcome in ('kept', 'pending') then
            return next;
            continue;
        end if;
        insert into postmill.tick as k (trigger_id, due, tenant_id, outcome, detail, job_id, fired_at)
        values (own.id, item.due, own.tenant_id, outcome, coalesce(detail, 'backfilled'), job_id, moment)
        on conflict on constraint tick_pkey do update
           set outcome = excluded.outcome, detail = excluded.detail, job_id = excluded.job_id, fired_at = moment, last_due = null,
               ticks = 1;
        -- Of several that were left out together, the others stay left out.
        if old.last_due >= item.next then
            insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at, last_due, ticks)
            values (own.id, item.next, own.tenant_id, old.outcome, old.detail, old.fired_at,
                    nullif(old.last_due, item.next), greatest(old.ticks - 1, 1))
            on conflict do nothing;
        end if;
        return next;
    end loop;
    perform postmill.audit('triggers.backfill', 'trigger', own.id::text, own.tenant_id, null,
        told || jsonb_build_object('since', (select min(x.due) from jsonb_to_recordset(p_ticks) as x(due timestamptz)),
                                   'until', (select max(x.due) from jsonb_to_recordset(p_ticks) as x(due timestamptz))),
        p_reason);
end
$$;

-- FUNCTION door_beat_work(uuid, uuid, bigint, double precision, double precision, text)

CREATE FUNCTION postmill.door_beat_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_done double precision, p_total double precision, p_message text, OUT status text, OUT lease_expires_at timestamp with time zone, OUT deadline timestamp with time zone, OUT cancel_requested boolean, OUT cancel_reason text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    select 'overdue' into status from postmill.http_claim c
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null and c.expires_at > moment
       and c.deadline <= moment and postmill.in_scope(c.tenant_id);
    if found then
        return;
    end if;
    status := 'over';
    update postmill.http_claim c set expires_at = moment + c.lease_seconds * interval '1 second'
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null and c.expires_at > moment
       and postmill.in_scope(c.tenant_id)
    returning c.expires_at, c.deadline into lease_expires_at, deadline;
    if not found then
        return;
    end if;
    update postmill.lease l set expires_at = greatest(l.expires_at, lease_expires_at)
     where l.holder = p_holder and l.expires_at > moment;
    if not found then
        return;
    end if;
    status := 'renewed';
    update postmill.worker w set last_seen_at = moment where w.holder = p_holder;
    select q.reason into cancel_reason from postmill.cancel_request q where q.job_id = p_id;
    cancel_requested := found;
    if p_done is not null then
        insert into postmill.progress as p (job_id, holder, claim_no, done, total, message, at)
        values (p_id, p_holder, p_claim_no, p_done, p_total, p_message, moment)
        on conflict (job_id) do update set holder = excluded.holder, claim_no = excluded.claim_no, done = excluded.done,
            total = excluded.total, message = excluded.message, at = excluded.at;
    end if;
end
$$;

-- FUNCTION door_begin_artifact(uuid, uuid, bigint)

CREATE FUNCTION postmill.door_begin_artifact(p_job uuid, p_holder uuid, p_claim_no bigint, OUT status text, OUT id uuid, OUT tenant_id uuid) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    tenant_id := postmill.held_tenant(p_job, p_holder, p_claim_no);
    if tenant_id is not null then
        select b.status, b.id into status, id from postmill.begin_artifact(tenant_id, p_job, p_holder, p_claim_no) b;
    else
        status := case when postmill.ids_in_scope(array[p_job]) = '{}' or not exists (
                            select from postmill.any_job j where j.id = p_job) then 'unknown' else 'over' end;
    end if;
end
$$;

-- FUNCTION door_budget_standing(text, uuid)

CREATE FUNCTION postmill.door_budget_standing(p_name text, p_tenant uuid) RETURNS SETOF jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if postmill.in_scope(p_tenant) then
        return query select to_jsonb(s) from postmill.budget_standing(p_name, p_tenant) s;
    end if;
end
$$;

-- FUNCTION door_cancel_jobs(uuid[], text, text, text)

CREATE FUNCTION postmill.door_cancel_jobs(p_ids uuid[], p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    one record;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    for one in
        with before as materialized (select s.* from postmill.stands(p_ids) s), done as materialized (
            select c.* from postmill.cancel_jobs((select array_agg(b.id) from before b), postmill.acting_type(),
                                                 postmill.acting_id(), p_reason) c)
        select u.id, coalesce(d.status, 'unknown') as status, b.tenant_id, b.state
          from (select distinct unnest(p_ids) as id) u left join done d on d.id = u.id left join before b on b.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status in ('canceled', 'requested') then
            perform postmill.audit('jobs.cancel', 'job', id::text, one.tenant_id, jsonb_build_object('status', one.state),
                jsonb_build_object('status', case status when 'canceled' then status else one.state end,
                                   'cancel_requested', status = 'requested'), p_reason);
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION door_change_operation(uuid, text, text, text, text)

CREATE FUNCTION postmill.door_change_operation(p_id uuid, p_verb text, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, OUT status text, OUT kind text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    op postmill.operation;
    moment timestamptz := postmill.now();
    wanted constant text := case p_verb when 'pause' then 'paused' when 'abort' then 'aborted' else 'running' end;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select o.* into op from postmill.operation o where o.id = p_id for update;
    if op.id is null or not postmill.in_scope(op.tenant_id) then
        status := 'unknown';
        return;
    end if;
    kind := op.kind;
    status := case when op.status in ('finished', 'aborted') then case op.status when wanted then 'unchanged' else 'ended' end
                   when p_verb = 'approve' and op.status <> 'proposed' or op.status = wanted then 'unchanged'
                   when op.status = 'proposed' and p_verb in ('pause', 'resume') then 'proposed'
                   when p_verb = 'approve' and postmill.acting_type() = op.actor_type and postmill.acting_id() = op.actor_id
                   then 'same_person' end;
    if status is not null then
        return;
    end if;
    status := case p_verb when 'pause' then 'paused' when 'resume' then 'resumed' when 'approve' then 'approved' else 'aborted' end;
    update postmill.operation o
       set status = wanted, taken_at = null,
           stage = case when p_verb = 'resume' and o.pause_reason like 'canary:%' then 'rest' else o.stage end,
           watched_from = case when p_verb = 'resume' then moment else o.watched_from end,
           approved_by = case when p_verb = 'approve' then postmill.acting_id() else o.approved_by end,
           approved_at = case when p_verb = 'approve' then moment else o.approved_at end,
           paused_at = case p_verb when 'pause' then moment when 'resume' then null else o.paused_at end,
           paused_by = case p_verb when 'pause' then postmill.acting_id() when 'resume' then null else o.paused_by end,
           pause_reason = case p_verb when 'pause' then p_reason when 'resume' then null else o.pause_reason end,
           ended_at = case when p_verb = 'abort' then moment end
     where o.id = p_id;
    perform postmill.audit('operations.' || p_verb, 'operation', p_id::text, op.tenant_id,
        jsonb_build_object('status', op.status, 'stage', op.stage, 'done', op.done), jsonb_build_object('status', wanted), p_reason);
    perform postmill.tell('!operations');
end
$$;

-- FUNCTION door_change_tenant(uuid, jsonb, text)

CREATE FUNCTION postmill.door_change_tenant(p_id uuid, p_settings jsonb, p_reason text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before jsonb;
    after jsonb;
begin
    if not postmill.sees_all() then
        return 'unknown';
    end if;
    perform from postmill.tenant t where t.id = p_id for update;
    if not found then
        return 'unknown';
    end if;
    before := postmill.tenant_json(p_id);
    perform postmill.write_tenant(p_id, p_settings);
    after := postmill.tenant_json(p_id);
    if before - 'updated_at' = after - 'updated_at' then
        return 'unchanged';
    end if;
    perform postmill.audit('tenants.change', 'tenant', before ->> 'slug', p_id, before, after, p_reason);
    return 'changed';
end
$$;

-- FUNCTION door_check_org(uuid, uuid)

CREATE FUNCTION postmill.door_check_org(p_tenant uuid, p_project uuid, OUT there boolean, OUT owns boolean) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    there := exists (select from postmill.tenant t where t.id = p_tenant);
    owns := not exists (select from postmill.project p where p.id = p_project and p.tenant_id <> p_tenant);
end
$$;

-- FUNCTION door_claim_work(uuid, integer, double precision, text[], text[], uuid[], integer[], timestamp with time zone[], integer[])

CREATE FUNCTION postmill.door_claim_work(p_holder uuid, p_total integer, p_lease_seconds double precision, p_types text[], p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamp with time zone[], p_counts integer[]) RETURNS TABLE(slot integer, asked integer, wait_seconds double precision, contended boolean, job jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    n constant integer := cardinality(p_counts);
    counts integer[] := p_counts;
    waits double precision[] := array_fill(0::double precision, array[n]);
    rivals boolean[] := array_fill(false, array[n]);
    taken integer[] := array_fill(0, array[n]);
    limits bigint[];
    capped text[];
    one record;
    free integer;
begin
    if not exists (select from postmill.http_session s join postmill.lease l on l.holder = s.holder
                    where s.holder = p_holder and l.expires_at > (select postmill.now()) and postmill.in_scope(s.tenant_id)) then
        return;
    end if;
    -- The first half of a lane (18 characters of its text) tells a type that has lanes of its own.
    select array_agg(r.id order by u.n), array_agg(case when d.worker_limit is not null then d.key end order by u.n)
      into limits, capped
      from unnest(p_lanes) with ordinality as u(lane, n)
      left join postmill.job_definition d on d.lane = 'type' and left(u.lane::text, 18)
           = left(postmill.lane_of('type', '00000000-0000-0000-0000-000000000000', d.key, '{}', null)::text, 18)
      left join postmill.limit_rule r on r.job_type = d.key;
    -- What this worker may hold of a type: its lanes share one count.
    for one in
        select d.key, greatest(0, d.worker_limit - (select count(*) from postmill.http_claim c
               where c.holder = p_holder and c.ended_at is null and c.job_type = d.key))::integer as free
          from postmill.job_definition d where d.key = any (capped)
    loop
        free := one.free;
        for i in 1 .. n loop
            if capped[i] = one.key then
                counts[i] := least(counts[i], free);
                free := free - counts[i];
            end if;
        end loop;
    end loop;
    if exists (select from unnest(limits) as u(id) where u.id is not null) then
        for one in select g.limit_id, g.granted, g.wait_seconds, g.contended from postmill.grant_tokens(limits) g loop
            free := one.granted;
            for i in 1 .. n loop
                if limits[i] = one.limit_id then
                    waits[i] := case when counts[i] > free then one.wait_seconds else 0 end;
                    rivals[i] := one.contended;
                    counts[i] := least(counts[i], free);
                    free := free - counts[i];
                end if;
            end loop;
        end loop;
    end if;
    for one in select c.slot, c.job from postmill.claim_work(p_holder, p_total, p_lease_seconds, p_types,
            p_queues, p_lanes, p_priorities, p_from, counts) c loop
        slot := one.slot; asked := counts[one.slot]; wait_seconds := 0; contended := false; job := one.job;
        taken[slot] := taken[slot] + 1;
        return next;
    end loop;
    for one in select u.id, sum(u.n)::integer as spent from unnest(limits, taken) as u(id, n)
                where u.id is not null and u.n > 0 group by u.id order by u.id loop
        perform postmill.take_tokens(one.id, one.spent);
    end loop;
    perform postmill.http_running(p_holder);
    for i in 1 .. n loop
        if counts[i] < p_counts[i] then
            slot := i; asked := counts[i]; wait_seconds := waits[i]; contended := rivals[i]; job := null;
            return next;
        end if;
    end loop;
end
$$;

-- FUNCTION door_correct_budget(uuid, text, numeric, bigint, bigint, text, text, text)

CREATE FUNCTION postmill.door_correct_budget(p_id uuid, p_label text, p_amount numeric, p_in bigint, p_out bigint, p_reason text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, OUT line uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    b postmill.budget;
    p postmill.budget_period;
    s postmill.budget_balance;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select x.* into b from postmill.budget x where x.id = p_id and postmill.in_scope(x.tenant_id) for no key update;
    if not found then
        status := 'unknown';
        return;
    end if;
    if p_label is null then
        p := postmill.read_budget_period(p_id, postmill.now());
        insert into postmill.budget_period select p.* on conflict do nothing;
    else
        select x.* into p from postmill.budget_period x where x.budget_id = p_id and x.label = p_label order by x.starts_at desc limit 1;
        if not found then
            status := 'no_period';
            return;
        end if;
    end if;
    select x.* into s from postmill.budget_balance x
     where x.budget_id = p_id and x.starts_at = p.starts_at order by x.seq desc limit 1;
    if coalesce(s.spent, 0) + p_amount < 0 or coalesce(s.tokens_in, 0) + p_in < 0 or coalesce(s.tokens_out, 0) + p_out < 0 then
        status := 'below_zero';
        return;
    end if;
    line := postmill.new_id(); status := 'corrected';
    insert into postmill.budget_line (id, budget_id, starts_at, at, kind, amount, tokens_in, tokens_out, tenant_id, actor_type,
           actor_id, reason)
    values (line, p_id, p.starts_at, postmill.now(), 'correct', p_amount, p_in, p_out, b.tenant_id, postmill.acting_type(),
            postmill.acting_id(), p_reason);
    perform postmill.book_budget(p_id, b.tenant_id, p.starts_at, p_amount, 0, 0, p_in, p_out);
    perform postmill.audit('budgets.correct', 'budget', b.name, b.tenant_id,
        jsonb_build_object('period', p.label, 'spent', coalesce(s.spent, 0)),
        jsonb_build_object('period', p.label, 'spent', coalesce(s.spent, 0) + p_amount), p_reason);
end
$$;

-- FUNCTION door_create_definition(jsonb, text[])

CREATE FUNCTION postmill.door_create_definition(p_definition jsonb, p_edited text[], OUT id uuid, OUT status text, OUT detail text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    new postmill.job_definition;
    own_key text := p_definition ->> 'key';
begin
    if not postmill.may_define() then
        perform postmill.audit('definitions.create', 'definition', own_key, null, null, null, null, 'denied');
        status := 'forbidden';
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('postmill.definitions', 0));
    detail := postmill.name_conflict(own_key, p_definition -> 'aliases', null);
    if detail is not null then
        status := 'exists';
        return;
    end if;
    insert into postmill.queue (name) values (p_definition ->> 'queue') on conflict do nothing;
    detail := postmill.queue_conflict(p_definition ->> 'queue', p_definition ->> 'kind', own_key);
    if detail is not null then
        status := 'other_queue';
        return;
    end if;
    new := jsonb_populate_record(null::postmill.job_definition, jsonb_build_object('id', postmill.new_id(), 'max_lost', 3,
        'version', 1, 'edited', to_jsonb(p_edited), 'guarded', false, 'fingerprint', '', 'created_at', postmill.now(),
        'updated_at', postmill.now()) || (p_definition - 'rate'));
    insert into postmill.job_definition select new.*;
    perform postmill.set_rate(own_key, p_definition -> 'rate');
    perform postmill.audit('definitions.create', 'definition', own_key, null, null, p_definition);
    id := new.id;
    status := 'created';
end
$$;

-- FUNCTION door_create_key(bytea, text, text, uuid, text, timestamp with time zone)

CREATE FUNCTION postmill.door_create_key(p_hash bytea, p_prefix text, p_name text, p_tenant uuid, p_role text, p_expires_at timestamp with time zone, OUT id uuid, OUT created_at timestamp with time zone, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    status := case when not postmill.in_scope(p_tenant) then 'unknown'
                   when p_tenant is not null and not exists (select from postmill.tenant t where t.id = p_tenant) then 'unknown'
                   when p_expires_at <= (select postmill.now()) then 'expired' else 'created' end;
    if status <> 'created' then
        return;
    end if;
    insert into postmill.api_key as k (hash, prefix, name, tenant_id, role, expires_at, created_by)
    values (p_hash, p_prefix, p_name, p_tenant, p_role, p_expires_at,
            coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user))
    returning k.id, k.created_at into id, created_at;
    perform postmill.audit('keys.create', 'key', id::text, p_tenant, null, jsonb_build_object('name', p_name, 'prefix', p_prefix,
        'role', p_role, 'expires_at', p_expires_at));
end
$$;

-- FUNCTION door_create_link(bytea, text, uuid, text, double precision)

CREATE FUNCTION postmill.door_create_link(p_hash bytea, p_actor_id text, p_tenant uuid, p_role text, p_seconds double precision, OUT expires_at timestamp with time zone, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.in_scope(p_tenant)
        or (p_tenant is not null and not exists (select from postmill.tenant t where t.id = p_tenant)) then
        status := 'unknown';
        return;
    end if;
    status := 'created';
    expires_at := postmill.now() + p_seconds * interval '1 second';
    insert into postmill.login_link (hash, actor_id, tenant_id, role, expires_at)
    values (p_hash, p_actor_id, p_tenant, p_role, expires_at);
    perform postmill.audit('logins.link', 'login', p_actor_id, p_tenant, null,
                           jsonb_build_object('role', p_role, 'expires_at', expires_at));
end
$$;

-- FUNCTION door_create_project(uuid, text, text)

CREATE FUNCTION postmill.door_create_project(p_tenant uuid, p_slug text, p_name text, OUT id uuid, OUT created_at timestamp with time zone, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.in_scope(p_tenant) or not exists (select from postmill.tenant t where t.id = p_tenant) then
        status := 'unknown';
        return;
    end if;
    insert into postmill.project as p (tenant_id, slug, name) values (p_tenant, p_slug, coalesce(p_name, p_slug))
    on conflict (tenant_id, slug) do nothing returning p.id, p.created_at into id, created_at;
    status := case when id is null then 'exists' else 'created' end;
    if id is not null then
        perform postmill.audit('projects.create', 'project', p_slug, p_tenant, null,
                               jsonb_build_object('id', id, 'slug', p_slug, 'name', coalesce(p_name, p_slug)));
    end if;
end
$$;

-- FUNCTION door_create_tenant(text, jsonb, text)

CREATE FUNCTION postmill.door_create_tenant(p_slug text, p_settings jsonb, p_reason text DEFAULT NULL::text, OUT id uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        status := 'out_of_scope';
        return;
    end if;
    insert into postmill.tenant as t (id, slug, name) values (postmill.new_id(), p_slug, coalesce(p_settings ->> 'name', p_slug))
    on conflict (slug) do nothing returning t.id into id;
    if id is null then
        status := 'exists';
        select t.id into id from postmill.tenant t where t.slug = p_slug;
        return;
    end if;
    status := 'created';
    perform postmill.write_tenant(id, p_settings);
    perform postmill.audit('tenants.create', 'tenant', p_slug, id, null, postmill.tenant_json(id), p_reason);
end
$$;

-- FUNCTION door_decide_request(uuid, boolean, text, text, text)

CREATE FUNCTION postmill.door_decide_request(p_id uuid, p_grant boolean, p_answer text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    r postmill.budget_request;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select x.* into r from postmill.budget_request x where x.id = p_id for update;
    if not found or not postmill.sees_all() then
        return 'unknown';
    elsif r.status <> 'open' then
        return 'over';
    end if;
    update postmill.budget_request x
       set status = case when p_grant then 'granted' else 'declined' end, decided_at = postmill.now(),
           decided_by = postmill.acting_id(), answer = p_answer
     where x.id = p_id;
    perform postmill.audit(case when p_grant then 'budgets.grant' else 'budgets.decline' end, 'budget',
        (select b.name from postmill.budget b where b.id = r.budget_id), r.tenant_id, null,
        jsonb_build_object('request', p_id, 'limit_amount', r.limit_amount, 'until', r.until), p_answer);
    return 'decided';
end
$$;

-- FUNCTION door_delete_artifact(uuid, text, text, text)

CREATE FUNCTION postmill.door_delete_artifact(p_id uuid, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.artifact;
begin
    update postmill.artifact a set gone_at = postmill.now()
     where a.id = p_id and a.gone_at is null and postmill.in_scope(a.tenant_id) returning a.* into old;
    if not found then
        return 'unknown';
    end if;
    perform postmill.act_as(p_actor_type, p_actor_id);
    perform postmill.audit('artifacts.delete', 'artifact', p_id::text, old.tenant_id,
                           jsonb_build_object('job_id', old.job_id, 'name', old.name, 'content_type', old.content_type,
                                              'size', old.size, 'sha256', encode(old.sha256, 'hex')), null, p_reason);
    return 'deleted';
end
$$;

-- FUNCTION door_delete_view(uuid, boolean, text, text)

CREATE FUNCTION postmill.door_delete_view(p_id uuid, p_any boolean DEFAULT false, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    gone postmill.saved_view;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    delete from postmill.saved_view v
     where v.id = p_id and v.tenant_id is not distinct from postmill.scope_tenant()
       and ((v.actor_type = postmill.acting_type() and v.actor_id is not distinct from postmill.acting_id()) or (p_any and v.shared))
    returning v.* into gone;
    if gone.id is null then
        return 'unknown';
    end if;
    perform postmill.audit('views.delete', 'view', p_id::text, gone.tenant_id,
        jsonb_build_object('page', gone.page, 'name', gone.name, 'query', gone.query, 'shared', gone.shared), null);
    return 'deleted';
end
$$;

-- FUNCTION door_deliver(jsonb)

CREATE FUNCTION postmill.door_deliver(p_deliveries jsonb) RETURNS TABLE(event_id uuid, trigger_id uuid, outcome text, detail text, job_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select d.* from postmill.deliver_events(p_deliveries) d;
end
$$;

-- FUNCTION door_discard_jobs(uuid[], text, text, text)

CREATE FUNCTION postmill.door_discard_jobs(p_ids uuid[], p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    one record;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    for one in
        with before as materialized (select s.* from postmill.stands(p_ids) s), done as materialized (
            select d.* from postmill.discard_jobs((select array_agg(b.id) from before b), p_reason) d)
        select u.id, coalesce(d.status, 'unknown') as status, b.tenant_id, b.state, b.reason
          from (select distinct unnest(p_ids) as id) u left join done d on d.id = u.id left join before b on b.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status = 'discarded' then
            perform postmill.audit('dead.discard', 'job', id::text, one.tenant_id,
                jsonb_build_object('status', one.state, 'reason', one.reason),
                jsonb_build_object('status', 'failed', 'reason', coalesce(p_reason, one.reason)), p_reason);
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION door_doze_work(uuid, text[], double precision)

CREATE FUNCTION postmill.door_doze_work(p_holder uuid, p_queues text[], p_seconds double precision) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if exists (select from postmill.http_session s where s.holder = p_holder and postmill.in_scope(s.tenant_id)) then
        perform postmill.wake(p_holder, p_queues);
        insert into postmill.sleeper (queue, watch, valid_until, holder)
        select distinct u.name, true, postmill.now() + p_seconds * interval '1 second', p_holder
          from unnest(p_queues) as u(name) where p_seconds > 0 order by 1;
    end if;
end
$$;

-- FUNCTION door_edit_definition(uuid, jsonb, text[], text[], integer)

CREATE FUNCTION postmill.door_edit_definition(p_id uuid, p_changes jsonb, p_edited text[], p_release text[], p_version integer, OUT status text, OUT detail text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.job_definition;
    new postmill.job_definition;
    old_rate jsonb;
    before jsonb;
begin
    if not postmill.may_define() then
        perform postmill.audit('definitions.edit', 'definition', p_id::text, null, null, null, null, 'denied');
        status := 'forbidden';
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('postmill.definitions', 0));
    select * into old from postmill.job_definition d where d.id = p_id for update;
    if not found then
        status := 'unknown';
        return;
    elsif p_version is not null and p_version <> old.version then
        status := 'stale';
        detail := old.version;
        return;
    end if;
    new := jsonb_populate_record(old, p_changes - 'rate');
    new.edited := array(select distinct e.name from unnest(old.edited || p_edited) as e(name)
                         where e.name <> all (p_release) order by 1);
    detail := postmill.name_conflict(old.key, p_changes -> 'aliases', old.key);
    if detail is not null then
        status := 'exists';
        return;
    end if;
    insert into postmill.queue (name) values (new.queue) on conflict do nothing;
    detail := postmill.queue_conflict(new.queue, new.kind, old.key);
    if detail is not null then
        status := 'other_queue';
        return;
    end if;
    select jsonb_build_object('count', r.rate_count, 'seconds', r.rate_seconds, 'burst', r.rate_burst) into old_rate
      from postmill.limit_rule r where r.job_type = old.key;
    if to_jsonb(new) = to_jsonb(old) and (not p_changes ? 'rate' or nullif(p_changes -> 'rate', 'null') is not distinct from old_rate) then
        status := 'unchanged';
        return;
    end if;
    update postmill.job_definition d
       set kind = new.kind, description = new.description, arg_schema = new.arg_schema, argv_template = new.argv_template,
           env_allow = new.env_allow, queue = new.queue, priority = new.priority, max_attempts = new.max_attempts,
           timeout_seconds = new.timeout_seconds, retry = new.retry, on_exhausted = new.on_exhausted,
           idempotency = new.idempotency, idempotency_ttl = new.idempotency_ttl,
           idempotency_content = new.idempotency_content, category = new.category, keep = new.keep, lane = new.lane,
           worker_limit = new.worker_limit, aliases = new.aliases, replay_class = new.replay_class,
           strict_envelope = new.strict_envelope, secrets = new.secrets, secret_keys = new.secret_keys,
           encrypted = new.encrypted, action = new.action, escalation_fields = new.escalation_fields,
           log_fields = new.log_fields, budget = new.budget, is_active = new.is_active, edited = new.edited,
           version = old.version + 1, updated_at = postmill.now()
     where d.id = p_id;
    if p_changes ? 'rate' then
        perform postmill.set_rate(old.key, p_changes -> 'rate');
    end if;
    select jsonb_object_agg(c.name, to_jsonb(old) -> c.name) into before from jsonb_object_keys(p_changes) as c(name);
    perform postmill.audit('definitions.edit', 'definition', old.key, null,
                           before || case when p_changes ? 'rate' then jsonb_build_object('rate', old_rate) else '{}' end,
                           p_changes || case when cardinality(p_release) > 0
                                             then jsonb_build_object('released', to_jsonb(p_release)) else '{}' end);
    status := 'changed';
end
$$;

-- FUNCTION door_end_login(uuid, text)

CREATE FUNCTION postmill.door_end_login(p_id uuid, p_reason text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.console_session;
begin
    select s.* into old from postmill.console_session s where s.id = p_id for update;
    if old.id is null or not postmill.in_scope(old.tenant_id) then
        return 'unknown';
    elsif old.ended_at is not null or old.expires_at <= postmill.now() then
        return 'already';
    end if;
    update postmill.console_session s set ended_at = postmill.now() where s.id = p_id;
    perform postmill.audit('logins.end', 'login', p_id::text, old.tenant_id,
                           jsonb_build_object('actor_id', old.actor_id, 'role', old.role), null, p_reason);
    return 'ended';
end
$$;

-- FUNCTION door_end_reservation(uuid, uuid, uuid, bigint, text, numeric, bigint, bigint)

CREATE FUNCTION postmill.door_end_reservation(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_amount numeric, p_in bigint, p_out bigint, OUT status text, OUT job_type text, OUT unit text, OUT booked numeric, OUT figures jsonb) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if exists (select from postmill.budget_reservation r where r.id = p_id and not postmill.in_scope(r.tenant_id)) then
        status := 'unknown';
        return;
    end if;
    select e.* into status, job_type, unit, booked, figures
      from postmill.end_reservation(p_id, p_job, p_holder, p_claim_no, p_verb, p_amount, p_in, p_out) e;
end
$$;

-- FUNCTION door_enqueue(text, integer, jsonb, uuid, uuid, integer, timestamp with time zone, text, text, text, text, jsonb)

CREATE FUNCTION postmill.door_enqueue(p_job_type text, p_version integer, p_payload jsonb, p_tenant uuid, p_project uuid, p_priority integer, p_scheduled_for timestamp with time zone, p_key text, p_mode text, p_correlation_id text, p_traceparent text, p_tags jsonb DEFAULT NULL::jsonb, OUT id uuid, OUT status text, OUT detail text, OUT tenant_id uuid, OUT state text, OUT created_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    origin text := nullif(current_setting('postmill.request_id', true), '');
    by_type text := postmill.acting_type();
    by_id text := postmill.acting_id();
    standing text;
    current_version integer;
    answer record;
begin
    tenant_id := coalesce(p_tenant, postmill.scope_tenant(), '00000000-0000-0000-0000-000000000001');
    select t.status, (select d.version from postmill.job_definition d where d.key = p_job_type and d.is_active)
      into standing, current_version from postmill.tenant t where t.id = door_enqueue.tenant_id;
    if standing is null or not postmill.in_scope(tenant_id) then
        status := 'unknown_tenant';
    elsif standing = 'suspended' then
        status := 'suspended';
    elsif current_version <> p_version then
        status := 'changed';
    elsif p_project is not null and not exists (
        select from postmill.project p where p.id = p_project and p.tenant_id = door_enqueue.tenant_id)
    then
        status := 'unknown_project';
    elsif p_tags is not null then
        detail := postmill.fault_of_tags(p_tags);
        status := case when detail is not null then 'invalid' end;
    end if;
    if status is not null then
        return;
    end if;
    -- Assigned, not selected from: that saves a query and its executor, a tenth of the whole.
    if p_key is null then
        answer := postmill.enqueue_one(p_job_type, p_payload, tenant_id, p_priority, null, p_scheduled_for, p_project, null, null,
            null, 'manual', null, by_type, by_id, origin, coalesce(p_correlation_id, origin), p_traceparent);
    else
        -- Another open transaction with the same key is waited for, but not for ever.
        perform set_config('lock_timeout', '5s', true);
        answer := postmill.enqueue_keyed(p_key, p_mode, null, p_job_type, p_payload, tenant_id, p_priority, null, p_scheduled_for,
            p_project, null, null, null, 'manual', null, by_type, by_id, origin, coalesce(p_correlation_id, origin), p_traceparent);
    end if;
    id := answer.id;
    status := answer.status;
    detail := answer.detail;
    if p_tags is not null and status = 'created' then
        perform postmill.keep_tags(id, tenant_id, p_tags);
    end if;
    if status = 'created' and p_key is null then
        created_at := answer.made_at;
        state := case when p_scheduled_for > created_at then 'scheduled' else 'queued' end;
    elsif status in ('created', 'duplicate') then
        select s.created_at, s.state into created_at, state from postmill.job_state(array[door_enqueue.id]) s;
    end if;
end
$$;

-- FUNCTION door_export_tenants(text, integer)

CREATE FUNCTION postmill.door_export_tenants(p_id text, p_most integer DEFAULT 100000) RETURNS TABLE(tenant_id uuid, slug text, name text, first_seen_at timestamp with time zone, last_seen_at timestamp with time zone, count bigint, dead bigint, sample_job uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    perform postmill.audit('errors.export', 'error_group', p_id);
    return query
    select t.tenant_id, n.slug, n.name, t.first_seen_at, t.last_seen_at, t.count, coalesce(y.n, 0)::bigint, t.sample_job
      from postmill.error_group_tenant t
      left join postmill.tenant n on n.id = t.tenant_id
      left join (select d.tenant_id, sum(d.opened - d.closed) as n from postmill.dead_tally d where d.error_group = p_id group by 1) y
             on y.tenant_id = t.tenant_id
     where t.id = p_id order by t.count desc, t.tenant_id limit p_most;
end
$$;

-- FUNCTION door_held_artifact(uuid, uuid, bigint, uuid)

CREATE FUNCTION postmill.door_held_artifact(p_job uuid, p_holder uuid, p_claim_no bigint, p_id uuid, OUT status text, OUT artifact jsonb) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    whose uuid := postmill.held_tenant(p_job, p_holder, p_claim_no);
begin
    if whose is null then
        select b.status into status from postmill.door_begin_artifact(p_job, p_holder, p_claim_no) b;
        return;
    end if;
    select 'found', to_jsonb(a) - 'gone_at' || jsonb_build_object('sha256', encode(a.sha256, 'hex'),
               'expired', a.expires_at <= (select postmill.now()))
      into status, artifact
      from postmill.artifact a
     where a.id = p_id and a.tenant_id = whose and (a.gone_at is null or a.expires_at <= (select postmill.now()));
    status := coalesce(status, 'unknown');
end
$$;

-- FUNCTION door_held_work(uuid, uuid, bigint)

CREATE FUNCTION postmill.door_held_work(p_id uuid, p_holder uuid, p_claim_no bigint, OUT status text, OUT verb text, OUT answer jsonb, OUT job jsonb, OUT cancel_requested boolean, OUT cancel_reason text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    r postmill.running;
    c postmill.http_claim;
begin
    select t.* into r from postmill.running t where t.id = p_id and t.holder = p_holder and t.claim_no = p_claim_no for update;
    select h.* into c from postmill.http_claim h
     where h.job_id = p_id and h.claim_no = p_claim_no and h.holder = p_holder and postmill.in_scope(h.tenant_id) for update;
    if c.job_id is null then
        status := case when postmill.ids_in_scope(array[p_id]) = '{}' or not exists (
                            select from postmill.any_job j where j.id = p_id) then 'unknown' else 'over' end;
    elsif c.ended_at is not null then
        status := 'ended'; verb := c.verb; answer := c.answer;
    elsif r.id is null then
        status := 'over';
    else
        status := 'held';
        select q.reason into cancel_reason from postmill.cancel_request q where q.job_id = p_id;
        cancel_requested := found;
        job := jsonb_build_object('id', r.id, 'queue', r.queue, 'ready_at', c.ready_at, 'attempt', r.attempt, 'run', r.run,
                'lost', r.lost, 'claim_no', r.claim_no, 'claimed_at', r.claimed_at, 'lease_expires_at', c.expires_at,
                'tenant_id', c.tenant_id,
                'worker_id', (select w.worker_id from postmill.worker w where w.holder = r.holder),
                'seconds', extract(epoch from postmill.now() - r.claimed_at)) || postmill.work_facts(p_id);
    end if;
end
$$;

-- FUNCTION door_keep_answer(text, bytea, integer, text, text, bytea)

CREATE FUNCTION postmill.door_keep_answer(p_key text, p_request_hash bytea, p_status integer, p_content_type text, p_location text, p_body bytea) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    insert into postmill.http_answer as a (actor_type, actor_id, key, request_hash, status, content_type, location, body, expires_at)
    values (postmill.acting_type(), postmill.acting_id(), p_key, p_request_hash, p_status, p_content_type, p_location, p_body,
            postmill.now() + interval '24 hours')
    on conflict (actor_type, actor_id, key) do update set request_hash = excluded.request_hash, status = excluded.status,
        content_type = excluded.content_type, location = excluded.location, body = excluded.body, expires_at = excluded.expires_at;
end
$$;

-- FUNCTION door_keep_artifact(uuid, uuid, uuid, bigint, text, text, bigint, bytea, double precision)

CREATE FUNCTION postmill.door_keep_artifact(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_name text, p_content_type text, p_size bigint, p_sha256 bytea, p_seconds double precision, OUT status text, OUT attempt integer, OUT created_at timestamp with time zone, OUT expires_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    whose uuid := postmill.held_tenant(p_job, p_holder, p_claim_no);
begin
    if whose is null then
        status := 'over';
        return;
    end if;
    select k.status, k.attempt, k.created_at, k.expires_at into status, attempt, created_at, expires_at
      from postmill.keep_artifact(p_id, whose, p_job, p_holder, p_claim_no, true, p_name, p_content_type, p_size, p_sha256,
                                  p_seconds) k;
end
$$;

-- FUNCTION door_limit_budget(uuid, text, numeric, text, text, text, timestamp with time zone)

CREATE FUNCTION postmill.door_limit_budget(p_id uuid, p_label text, p_limit numeric, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    b postmill.budget;
    p postmill.budget_period;
    moment constant timestamptz := postmill.now();
    spent numeric;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select x.* into b from postmill.budget x where x.id = p_id and postmill.in_scope(x.tenant_id) for no key update;
    if not found then
        return 'unknown';
    end if;
    select x.* into p from postmill.budget_period x where x.budget_id = p_id and x.label = p_label order by x.starts_at desc limit 1;
    if not found then
        p := postmill.read_budget_period(p_id, case when p_label ~ '^\d{4}-\d\d$' then (p_label || '-15')::timestamp
            when p_label ~ '^\d{4}-\d\d-\d\d$' then p_label::timestamp + interval '12 hours' end at time zone
            coalesce(b.timezone, (select t.timezone from postmill.tenant t where t.id = b.tenant_id), 'UTC'));
        if p.label is distinct from p_label or p.starts_at > moment + interval '2 years' then
            return 'no_period';
        elsif p.ends_at <= moment then
            return 'over';
        end if;
    elsif p.ends_at <= moment then
        return 'over';
    elsif p.limit_own and p.limit_amount = p_limit and p.limit_until is not distinct from p_until then
        return 'unchanged';
    end if;
    if p_until <= moment then
        return 'past';
    elsif p_until > p.ends_at then
        return 'late';
    end if;
    insert into postmill.budget_period select p.* on conflict do nothing;
    update postmill.budget_period x
       set limit_amount = p_limit, limit_own = true, limit_until = p_until,
           limit_back = case when p_until is not null then coalesce(x.limit_back, x.limit_amount) end
     where x.budget_id = p_id and x.starts_at = p.starts_at;
    select f.spent into spent from postmill.read_budget_figures(p_id, moment) f where f.starts_at = p.starts_at and f.spent > 0;
    if found then
        perform postmill.mark_alerts(p_id, p.starts_at, spent);
    end if;
    perform postmill.audit('budgets.limit', 'budget', b.name, b.tenant_id,
        jsonb_strip_nulls(jsonb_build_object('period', p_label, 'limit_amount', p.limit_amount, 'until', p.limit_until)),
        jsonb_strip_nulls(jsonb_build_object('period', p_label, 'limit_amount', p_limit, 'until', p_until)), p_reason);
    return 'changed';
end
$_$;

-- FUNCTION door_mark_error(text, text, timestamp with time zone, integer, text, text, text)

CREATE FUNCTION postmill.door_mark_error(p_id text, p_act text, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone, p_version integer DEFAULT NULL::integer, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.error_group;
    new postmill.error_group;
begin
    if not postmill.sees_all() then
        return 'out_of_scope';
    end if;
    perform postmill.act_as(p_actor_type, p_actor_id);
    select g.* into old from postmill.error_group g where g.id = p_id for update;
    if not found then
        return 'unknown';
    end if;
    update postmill.error_group g
       set ignored_until = case p_act when 'ignore' then p_until end,
           resolved_at = case p_act when 'resolve' then postmill.now() when 'ignore' then g.resolved_at end,
           resolved_version = case p_act when 'resolve' then coalesce(p_version,
                   (select d.version from postmill.job_definition d where d.key = g.job_type), g.last_version, 1)
               when 'ignore' then g.resolved_version end,
           regressed_at = case p_act when 'ignore' then g.regressed_at end,
           marked_by = postmill.acting_id(), mark_note = p_reason
     where g.id = p_id returning g.* into new;
    perform postmill.audit('errors.' || p_act, 'error_group', p_id, null,
        jsonb_build_object('ignored_until', old.ignored_until, 'resolved_version', old.resolved_version, 'resolved_at', old.resolved_at),
        jsonb_build_object('ignored_until', new.ignored_until, 'resolved_version', new.resolved_version, 'resolved_at', new.resolved_at),
        p_reason);
    return 'changed';
end
$$;

-- FUNCTION door_move_jobs(uuid[], text, text, text, text)

CREATE FUNCTION postmill.door_move_jobs(p_ids uuid[], p_queue text, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if not postmill.sees_all() or not exists (select from postmill.queue q where q.name = p_queue) then
        return query select distinct u.id, 'unknown' from unnest(p_ids) as u(id);
        return;
    end if;
    return query select p.* from postmill.place_jobs('jobs.move', p_ids, p_queue, null, p_reason) p;
end
$$;

-- FUNCTION door_move_jobs(text, text, uuid, integer, text, text)

CREATE FUNCTION postmill.door_move_jobs(p_job_type text, p_queue text, p_after uuid DEFAULT NULL::uuid, p_most integer DEFAULT 1000, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(moved integer, looked_at uuid)
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
    before jsonb;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    moved := 0;
    select d.* into definition from postmill.job_definition d where d.key = p_job_type;
    if not found or not postmill.sees_all() or not exists (select from postmill.queue q where q.name = p_queue) then
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
        select s.id, s.queue,
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
           (select jsonb_object_agg(f.queue, f.n)
              from (select m.queue, count(*) as n from mine m join held h on h.id = m.id group by 1) f),
           (select min(f.last)::uuid from (select max(s.id::text) as last from seen s
                                            group by s.place having count(*) = p_most) f)
      into ids, lanes, before, looked_at;
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
    perform postmill.audit('queues.move', 'definition', definition.key, null, before, jsonb_build_object(p_queue, moved));
    return next;
end
$$;

-- FUNCTION door_move_waiting(uuid[], text, text, text, text)

CREATE FUNCTION postmill.door_move_waiting(p_ids uuid[], p_queue text, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    one record;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if not postmill.sees_all() or not exists (select from postmill.queue q where q.name = p_queue) then
        return query select distinct u.id, case when postmill.sees_all() then 'no_queue' else 'unknown' end from unnest(p_ids) as u(id);
        return;
    end if;
    for one in
        with from_ready as (
            delete from postmill.ready r where r.id = any (p_ids) returning r.*
        ), from_scheduled as (
            delete from postmill.scheduled r where r.id = any (p_ids) returning r.*
        ), to_ready as (
            insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select p_queue, r.lane, r.priority, postmill.now(), r.id, r.attempt, r.run, r.lost from from_ready r order by r.ready_at, r.id
            returning ready.id
        ), to_scheduled as (
            insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
            select p_queue, r.lane, r.run_at, r.id, r.priority, r.attempt, r.run, r.lost from from_scheduled r returning scheduled.id
        )
        select u.id, coalesce(f.queue, s.queue) as queue, j.tenant_id
          from (select distinct unnest(p_ids) as id) u
          left join from_ready f on f.id = u.id left join from_scheduled s on s.id = u.id
          left join lateral (select b.tenant_id from postmill.any_job b where b.id = u.id offset 0) j on true
    loop
        id := one.id;
        status := case when one.queue is null then 'unknown' else 'moved' end;
        if one.queue is not null then
            perform postmill.audit('jobs.move', 'job', id::text, one.tenant_id, jsonb_build_object('queue', one.queue),
                                   jsonb_build_object('queue', p_queue), p_reason);
        end if;
        return next;
    end loop;
    perform postmill.ring(p_queue);
end
$$;

-- FUNCTION door_note_audit_export(jsonb)

CREATE FUNCTION postmill.door_note_audit_export(p_filter jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform postmill.audit('audit.export', 'audit_log', null, postmill.scope_tenant(), null, p_filter);
end
$$;

-- FUNCTION door_note_error(text, text, text, text)

CREATE FUNCTION postmill.door_note_error(p_id text, p_text text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return 'out_of_scope';
    end if;
    perform postmill.act_as(p_actor_type, p_actor_id);
    perform from postmill.error_group g where g.id = p_id for key share;
    if not found then
        return 'unknown';
    end if;
    insert into postmill.error_group_note (id, at, actor_type, actor_id, text)
    values (p_id, postmill.now(), postmill.acting_type(), postmill.acting_id(), p_text);
    perform postmill.audit('errors.note', 'error_group', p_id, null, null, jsonb_build_object('text', p_text));
    return 'changed';
end
$$;

-- FUNCTION door_note_export(text, text, text, integer)

CREATE FUNCTION postmill.door_note_export(p_page text, p_query text, p_format text, p_most integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform postmill.audit('jobs.export', 'list', p_page, postmill.scope_tenant(), null,
        jsonb_build_object('query', p_query, 'format', p_format, 'most', p_most));
end
$$;

-- FUNCTION door_open_work(text, text[], text[], double precision, jsonb)

CREATE FUNCTION postmill.door_open_work(p_worker_id text, p_queues text[], p_types text[], p_seconds double precision, p_metadata jsonb, OUT status text, OUT detail text, OUT known text[], OUT holder uuid, OUT queues text[], OUT types text[], OUT sealed text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    keys text[];
    versions jsonb;
begin
    if not postmill.sees_all() and postmill.scope_tenant() is null then
        status := 'no_types';
        return;
    end if;
    keys := array(select d.key from postmill.job_definition d
                   where case when cardinality(p_types) = 0 then d.kind = 'http' and d.queue = any (p_queues)
                              else d.key = any (p_types) or d.aliases && p_types end order by d.key);
    select u.name, 'unknown_type' into detail, status from unnest(p_types) as u(name)
     where not exists (select from postmill.job_definition d where d.key = u.name or d.aliases @> array[u.name]) limit 1;
    if status is null then
        select u.name, 'unknown_queue' into detail, status from unnest(p_queues) as u(name)
         where not exists (select from postmill.queue q where q.name = u.name) limit 1;
    end if;
    if status is null then
        select d.key, 'other_kind' into detail, status from postmill.job_definition d
         where d.key = any (keys) and d.kind <> 'http' limit 1;
    end if;
    if status is null then
        select d.queue, 'other_queue' into detail, status from postmill.job_definition d
         where d.queue = any (p_queues) and d.kind <> 'http' limit 1;
    end if;
    if status is null and cardinality(keys) = 0 then
        status := 'no_types';
    end if;
    if status is not null then
        known := array(select distinct case when status in ('unknown_type', 'other_kind') then d.key else d.queue end
                         from postmill.job_definition d where d.kind = 'http' order by 1 limit 100);
        return;
    end if;
    status := 'open';
    queues := case when cardinality(p_queues) > 0 then p_queues
                   else array(select distinct d.queue from postmill.job_definition d where d.key = any (keys) order by 1) end;
    types := array(select d.key from postmill.job_definition d where d.key = any (keys)
                   union select unnest(d.aliases) from postmill.job_definition d where d.key = any (keys));
    select jsonb_object_agg(d.key, d.version::text), min(d.key) filter (where d.encrypted) into versions, sealed from postmill.job_definition d where d.key = any (keys);
    holder := postmill.http_holder(postmill.scope_tenant(), p_worker_id, p_seconds);
    insert into postmill.worker as w (holder, worker_id, hostname, pid, queues, job_types, started_at, last_seen_at, metadata)
    values (door_open_work.holder, p_worker_id, 'http', 0, door_open_work.queues, keys, postmill.now(), postmill.now(),
            p_metadata || jsonb_build_object('kind', 'http', 'definitions', versions, 'tenant_id', postmill.scope_tenant()))
    on conflict on constraint worker_pkey do update set queues = excluded.queues, job_types = excluded.job_types,
        last_seen_at = excluded.last_seen_at, metadata = excluded.metadata;
end
$$;

-- FUNCTION door_pause_queue(text, text, timestamp with time zone, text, text)

CREATE FUNCTION postmill.door_pause_queue(p_queue text, p_reason text DEFAULT NULL::text, p_resume_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before jsonb := postmill.queue_json(p_queue);
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if not postmill.sees_all() or not postmill.pause_queue(p_queue, p_reason, p_resume_at, postmill.acting_id()) then
        return false;
    end if;
    perform postmill.audit('queues.pause', 'queue', p_queue, null, before, postmill.queue_json(p_queue), p_reason);
    return true;
end
$$;

-- FUNCTION door_pause_type(text, text, timestamp with time zone, text, text)

CREATE FUNCTION postmill.door_pause_type(p_job_type text, p_reason text DEFAULT NULL::text, p_resume_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    before postmill.type_pause;
    own postmill.type_pause;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if not postmill.sees_all() then
        return false;
    end if;
    perform from postmill.job_definition d where d.key = p_job_type for update;
    if not found then
        return false;
    end if;
    before := postmill.type_paused(p_job_type);
    perform postmill.end_pause(p_job_type, moment);
    insert into postmill.type_pause as p (job_type, paused_at, paused_by, reason, resume_at, held_until)
    values (p_job_type, coalesce(before.paused_at, moment), postmill.acting_id(), p_reason,
            case when isfinite(p_resume_at) then p_resume_at end,
            coalesce(case when isfinite(p_resume_at) then p_resume_at end, moment + interval '100 years')
            + random() * interval '999 milliseconds') returning p.* into own;
    perform postmill.audit('types.pause', 'definition', p_job_type, null, postmill.pause_json(before), postmill.pause_json(own), p_reason);
    perform postmill.tell('!pause');
    return true;
end
$$;

-- FUNCTION door_prioritize_jobs(uuid[], integer, text, text, text)

CREATE FUNCTION postmill.door_prioritize_jobs(p_ids uuid[], p_priority integer, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moved uuid[];
    one record;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    for one in
        with before as materialized (select s.* from postmill.stands(p_ids) s), other as materialized (
            select b.id from before b where b.priority <> p_priority and b.state in ('queued', 'scheduled', 'blocked')
        ), now_ready as materialized (
            select r.ctid as tid from postmill.ready r where r.id = any (array(select o.id from other o))
             order by r.id for update skip locked
        ), later as materialized (
            select r.ctid as tid from postmill.scheduled r where r.id = any (array(select o.id from other o))
             order by r.id for update skip locked
        ), waiting as materialized (
            select r.ctid as tid from postmill.blocked r where r.id = any (array(select o.id from other o))
             order by r.id for update skip locked
        ), from_ready as (
            delete from postmill.ready r where r.ctid = any (array(select t.tid from now_ready t)) returning r.*
        ), from_scheduled as (
            delete from postmill.scheduled r where r.ctid = any (array(select t.tid from later t)) returning r.*
        ), from_blocked as (
            delete from postmill.blocked r where r.ctid = any (array(select t.tid from waiting t)) returning r.*
        ), to_ready as (
            insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select r.queue, r.lane, p_priority, postmill.now(), r.id, r.attempt, r.run, r.lost from from_ready r returning *
        ), to_scheduled as (
            insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
            select r.queue, r.lane, r.run_at, r.id, p_priority, r.attempt, r.run, r.lost from from_scheduled r returning *
        ), to_blocked as (
            insert into postmill.blocked (id, queue, lane, priority, attempt, run, lost)
            select r.id, r.queue, r.lane, p_priority, r.attempt, r.run, r.lost from from_blocked r returning *
        ), put as (
            select t.id, t.queue, t.lane from to_ready t union all select t.id, null, null from to_scheduled t
            union all select t.id, null, null from to_blocked t
        )
        select u.id, b.tenant_id, b.state, b.priority, p.queue, p.lane,
               case when b.id is null then 'unknown' when p.id is not null then 'changed' when b.state = 'running' then 'running'
                    when b.state not in ('queued', 'scheduled', 'blocked') then 'finished'
                    when b.priority = p_priority then 'unchanged' else 'contended' end as status
          from (select distinct unnest(p_ids) as id) u left join before b on b.id = u.id left join put p on p.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status = 'changed' then
            perform postmill.audit('jobs.priority', 'job', id::text, one.tenant_id,
                jsonb_build_object('priority', one.priority), jsonb_build_object('priority', p_priority), p_reason);
        end if;
        if one.queue is not null then
            perform postmill.ring(one.queue, one.lane, p_priority);
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION door_publish(text, jsonb, uuid, text, text, interval)

CREATE FUNCTION postmill.door_publish(p_name text, p_context jsonb, p_tenant uuid, p_correlation_id text, p_traceparent text, p_grace interval) RETURNS TABLE(event_id uuid, published_at timestamp with time zone, correlation_id text, trigger_id uuid, label text, job_type text, payload_template text, tenant_slug text, tenant_zone text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select e.* from postmill.publish_event(p_name, p_context, p_tenant,
        coalesce(p_correlation_id, nullif(current_setting('postmill.request_id', true), '')),
        nullif(current_setting('postmill.request_id', true), ''), p_traceparent, postmill.acting_type(), postmill.acting_id(),
        p_grace) e;
end
$$;

-- FUNCTION door_recall_answer(text, bytea)

CREATE FUNCTION postmill.door_recall_answer(p_key text, p_request_hash bytea) RETURNS TABLE(outcome text, status integer, content_type text, location text, body bytea)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    found_one postmill.http_answer;
begin
    if not pg_try_advisory_xact_lock(hashtextextended(
            concat_ws(':', 'postmill.answer', postmill.acting_type(), postmill.acting_id(), p_key), 0)) then
        outcome := 'held';
        return next;
        return;
    end if;
    select a.* into found_one from postmill.http_answer a
     where a.actor_type = postmill.acting_type() and a.actor_id = postmill.acting_id() and a.key = p_key
       and a.expires_at > (select postmill.now());
    outcome := case when found_one.key is null then 'new' when found_one.request_hash <> p_request_hash then 'other' else 'done' end;
    status := found_one.status;
    content_type := found_one.content_type;
    location := found_one.location;
    body := found_one.body;
    return next;
end
$$;

-- FUNCTION door_release_work(uuid, bigint)

CREATE FUNCTION postmill.door_release_work(p_holder uuid, p_claim_no bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    rung record;
begin
    if exists (select from postmill.http_session s where s.holder = p_holder and postmill.in_scope(s.tenant_id)) then
        for rung in select c.id, c.queue, c.lane, c.priority from postmill.release_claims(p_holder, array[p_claim_no]) c loop
            delete from postmill.http_claim h where h.job_id = rung.id and h.claim_no = p_claim_no;
            perform postmill.ring(rung.queue, rung.lane, rung.priority);
        end loop;
        perform postmill.http_running(p_holder);
    end if;
end
$$;

-- FUNCTION door_remove_trigger(uuid, text)

CREATE FUNCTION postmill.door_remove_trigger(p_id uuid, p_reason text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.trigger;
begin
    select t.* into old from postmill.trigger t where t.id = p_id and t.deleted_at is null for update;
    if old.id is null or not postmill.in_scope(old.tenant_id) then
        return 'unknown';
    elsif old.origin = 'code' then
        return 'in_code';
    end if;
    update postmill.trigger t set deleted_at = postmill.now(), next_run_at = null, updated_at = postmill.now() where t.id = p_id;
    perform postmill.audit('triggers.remove', 'trigger', p_id::text, old.tenant_id, postmill.trigger_facts(old), null, p_reason);
    return 'removed';
end
$$;

-- FUNCTION door_remove_webhook(uuid)

CREATE FUNCTION postmill.door_remove_webhook(p_id uuid) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.webhook;
begin
    select w.* into old from postmill.webhook w where w.id = p_id and w.deleted_at is null for update;
    if old.id is null or not postmill.in_scope(old.tenant_id) then
        return 'unknown';
    end if;
    update postmill.webhook w set deleted_at = postmill.now() where w.id = p_id;
    delete from postmill.webhook_secret s where s.webhook_id = p_id;
    perform postmill.audit('webhooks.remove', 'webhook', p_id::text, old.tenant_id, to_jsonb(old));
    return 'removed';
end
$$;

-- FUNCTION door_replay_jobs(uuid[], jsonb, boolean, boolean, text, text, boolean, integer, jsonb)

CREATE FUNCTION postmill.door_replay_jobs(p_ids uuid[], p_payload jsonb DEFAULT NULL::jsonb, p_again boolean DEFAULT false, p_confirm boolean DEFAULT false, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_despite_success boolean DEFAULT false, p_version integer DEFAULT NULL::integer, p_changes jsonb DEFAULT NULL::jsonb) RETURNS TABLE(id uuid, status text, new_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select r.* from postmill.rerun_jobs('dead.replay', p_ids, p_payload, p_again, p_confirm, p_actor_type,
                                                          p_actor_id, p_despite_success, p_version, p_changes) r;
end
$$;

-- FUNCTION door_report_work(uuid, uuid, bigint, text, text, jsonb, jsonb, jsonb)

CREATE FUNCTION postmill.door_report_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_report text, p_fields jsonb, p_result jsonb, p_answer jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    f constant jsonb := p_fields;
    moment timestamptz := postmill.now();
    held record;
    body record;
    whose uuid;
    micros bigint;
    attempt_status constant text := p_fields ->> 'attempt_status';
    started constant boolean := attempt_status is not null or p_report like 'complete%';
    missed uuid;
    told jsonb;
begin
    select c.tenant_id, r.queue, r.claimed_at, r.run, c.ready_at, (extract(epoch from moment - r.claimed_at) * 1e6)::bigint as micros into held
      from postmill.http_claim c join postmill.running r on r.id = c.job_id and r.claim_no = c.claim_no and r.holder = c.holder
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null
       and postmill.in_scope(c.tenant_id);
    if not found then
        return null;
    end if;
    whose := held.tenant_id;
    micros := held.micros;
    select j.job_type, coalesce(j.scheduled_for, j.created_at) as due into body from postmill.any_job j where j.id = p_id;
    case p_report
    when 'complete' then
        missed := postmill.complete(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros], array[p_result]);
    when 'complete_forgotten' then
        missed := postmill.complete_forgotten(p_holder, array[p_id], array[p_claim_no], f ->> 'job_type');
    when 'put_back' then
        missed := postmill.put_back(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros],
            array[f ->> 'attempt_status'], array[(f ->> 'delay')::double precision], array[0], array[f ->> 'error_class'],
            array[f ->> 'error_code'], array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    when 'finish' then
        missed := postmill.finish(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros], array[f ->> 'status'],
            array[f ->> 'attempt_status'], array[f ->> 'reason'], array[f ->> 'error_class'], array[f ->> 'error_code'],
            array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    when 'bury' then
        missed := postmill.bury(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros],
            array[f ->> 'attempt_status'], array[f ->> 'reason'], array[f ->> 'error_class'], array[f ->> 'error_code'],
            array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    end case;
    if missed is not null then
        return null;
    end if;
    if p_report <> 'put_back' or attempt_status is not null then
        perform postmill.count_end(whose, held.queue, coalesce(body.job_type, 'unknown'), case p_report
                when 'finish' then f ->> 'status' when 'bury' then 'dead_letter'
                when 'put_back' then case when attempt_status in ('failed', 'timeout') then 'retried' else attempt_status end
                else 'succeeded' end,
            case when started then extract(epoch from held.claimed_at - case held.run when 1 then coalesce(body.due, held.ready_at) else held.ready_at end) end,
            case when started then micros / 1e6 end, extract(epoch from moment - body.due));
    end if;
    if f ->> 'error_group' is not null then
        insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, error_code, error_status,
               first_at, last_at, n, job_id)
        values (f ->> 'error_group', whose, coalesce(body.job_type, 'unknown'), f ->> 'error_class', f ->> 'group_message', '', f ->> 'error_code',
               (f ->> 'error_status')::integer, moment, moment, 1, p_id);
    end if;
    told := p_answer || jsonb_build_object('finished_at', moment) || case when p_report = 'put_back'
            then jsonb_build_object('retry_at', moment + (f ->> 'delay')::double precision * interval '1 second') else '{}' end;
    update postmill.http_claim c set ended_at = moment, verb = p_verb, answer = told
     where c.job_id = p_id and c.claim_no = p_claim_no;
    delete from postmill.progress p where p.job_id = p_id;
    perform postmill.http_running(p_holder);
    return told;
end
$$;

-- FUNCTION door_request_budget(uuid, numeric, timestamp with time zone, text, text, text)

CREATE FUNCTION postmill.door_request_budget(p_budget uuid, p_limit numeric, p_until timestamp with time zone, p_reason text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, OUT id uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    b postmill.budget;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select x.* into b from postmill.budget x where x.id = p_budget and x.tenant_id is not null for no key update;
    if not found or not postmill.in_scope(b.tenant_id) then
        status := 'unknown';
        return;
    elsif p_until <= postmill.now() then
        status := 'past';
        return;
    end if;
    insert into postmill.budget_request as r (tenant_id, budget_id, limit_amount, until, reason, actor_type, actor_id)
    values (b.tenant_id, b.id, p_limit, p_until, p_reason, postmill.acting_type(), postmill.acting_id())
    on conflict do nothing returning r.id into id;
    if id is null then
        status := 'open';
        return;
    end if;
    status := 'requested';
    perform postmill.audit('budgets.request', 'budget', b.name, b.tenant_id, jsonb_build_object('limit_amount', b.limit_amount),
        jsonb_build_object('request', id, 'limit_amount', p_limit, 'until', p_until), p_reason);
end
$$;

-- FUNCTION door_rescue_worker(uuid, text, text, text)

CREATE FUNCTION postmill.door_rescue_worker(p_holder uuid, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, queue text, verdict text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    name text;
    found_jobs jsonb;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select w.worker_id into name from postmill.worker w where w.holder = p_holder;
    if name is null or not postmill.sees_all() then
        return query select null::uuid, null::text, 'unknown';
        return;
    elsif exists (select from postmill.lease l where l.holder = p_holder and l.expires_at > (select postmill.now())) then
        return query select null::uuid, null::text, 'alive';
        return;
    end if;
    select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'queue', t.queue, 'verdict', t.verdict)), '[]')
      into found_jobs from postmill.take_back(p_holder, 0, 1000) t;
    perform postmill.audit('workers.rescue', 'worker', name, null, null,
        jsonb_build_object('jobs', jsonb_array_length(found_jobs), 'first',
                           (select jsonb_agg(e.one) from (select j.one from jsonb_array_elements(found_jobs) j(one) limit 20) e)),
        p_reason);
    return query select null::uuid, null::text, 'rescued';
    return query select (j.one ->> 'id')::uuid, j.one ->> 'queue', j.one ->> 'verdict' from jsonb_array_elements(found_jobs) j(one);
end
$$;

-- FUNCTION door_reserve_budget(uuid, text, numeric, boolean, uuid, uuid, bigint)

CREATE FUNCTION postmill.door_reserve_budget(p_id uuid, p_name text, p_amount numeric, p_started boolean, p_job uuid, p_holder uuid, p_claim_no bigint, OUT status text, OUT figures jsonb) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    c postmill.http_claim;
    f jsonb;
begin
    select h.* into c from postmill.http_claim h
     where h.job_id = p_job and h.claim_no = p_claim_no and h.holder = p_holder and h.ended_at is null and postmill.in_scope(h.tenant_id);
    if not found or c.expires_at <= postmill.now() then
        status := 'lost';
        return;
    end if;
    f := postmill.work_facts(p_job);
    select r.status, r.figures into status, figures
      from postmill.reserve_budget(p_id, p_name, p_amount, p_started, p_job, p_holder, p_claim_no, c.tenant_id,
               coalesce((select t.attempt from postmill.running t where t.id = p_job), 1), c.job_type,
               coalesce(f ->> 'actor_type', 'system'), f ->> 'actor_id') r;
end
$$;

-- FUNCTION door_resolve_incident(uuid, text, text, text)

CREATE FUNCTION postmill.door_resolve_incident(p_id uuid, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own postmill.incident;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select i.* into own from postmill.incident i where i.id = p_id for update;
    if own.id is null or not postmill.in_scope(own.tenant_id) then
        return postmill.incident_hidden(p_id);
    elsif own.resolved_at is not null then
        return 'already';
    end if;
    perform postmill.end_incident(p_id, postmill.acting_id(), p_reason);
    perform postmill.audit('incidents.resolve', 'incident', p_id::text, own.tenant_id,
        jsonb_build_object('kind', own.kind, 'key', own.key), null, p_reason);
    return 'resolved';
end
$$;

-- FUNCTION door_resume_queue(text, text, text)

CREATE FUNCTION postmill.door_resume_queue(p_queue text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before jsonb := postmill.queue_json(p_queue);
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if not postmill.sees_all() or not postmill.resume_queue(p_queue) then
        return false;
    end if;
    perform postmill.audit('queues.resume', 'queue', p_queue, null, before, postmill.queue_json(p_queue));
    return true;
end
$$;

-- FUNCTION door_resume_type(text, text, text)

CREATE FUNCTION postmill.door_resume_type(p_job_type text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before postmill.type_pause;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if not postmill.sees_all() then
        return false;
    end if;
    perform from postmill.job_definition d where d.key = p_job_type for update;
    if not found then
        return false;
    end if;
    before := postmill.type_paused(p_job_type);
    perform postmill.end_pause(p_job_type, postmill.now());
    perform postmill.release_held(1000);
    perform postmill.audit('types.resume', 'definition', p_job_type, null, postmill.pause_json(before), null);
    perform postmill.tell('!resume'), postmill.tell('!operations');
    return true;
end
$$;

-- FUNCTION door_retention(uuid)

CREATE FUNCTION postmill.door_retention(p_tenant uuid DEFAULT NULL::uuid) RETURNS TABLE(subject text, keep_seconds double precision, source text, common boolean, changed_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own uuid := case when postmill.sees_all() then p_tenant else postmill.scope_tenant() end;
begin
    return query
    select s.name, case when k.keep < interval '1000 years' then extract(epoch from k.keep)::double precision end,
           coalesce(r.source, case when own is not null and s.n <= 3 and (select t.retention from postmill.tenant t where t.id = own)
                                   is not null then 'tenant' end, c.source, 'default'),
           own is null or (r.source is null and not (s.n <= 3 and (select t.retention from postmill.tenant t where t.id = own) is not null)),
           coalesce(r.changed_at, c.changed_at)
      from unnest(array['succeeded', 'failed', 'canceled', 'archive_after', 'dead_letter', 'archive', 'events', 'audit', 'incidents',
                        'budgets', 'operations', 'error_groups', 'rollup_minutes', 'rollups']) with ordinality as s(name, n)
     cross join lateral (select postmill.keep_of(s.name, own) as keep) k
      left join postmill.retention_rule r on r.tenant_id = own and r.subject = s.name
      left join lateral (select x.source, x.changed_at from postmill.retention_rule x
                          where x.tenant_id is null and x.subject = s.name order by x.source limit 1) c on true
     where own is null or s.n <= 6
     order by s.n;
end
$$;

-- FUNCTION door_retry_jobs(uuid[], boolean, text, text)

CREATE FUNCTION postmill.door_retry_jobs(p_ids uuid[], p_confirm boolean DEFAULT false, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text, new_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select r.* from postmill.rerun_jobs('jobs.retry', p_ids, null, false, p_confirm, p_actor_type, p_actor_id) r;
end
$$;

-- FUNCTION door_revoke_key(uuid, text)

CREATE FUNCTION postmill.door_revoke_key(p_id uuid, p_reason text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.api_key;
begin
    select k.* into old from postmill.api_key k where k.id = p_id for update;
    if old.id is null or not postmill.in_scope(old.tenant_id) then
        return 'unknown';
    elsif old.revoked_at is not null then
        return 'already';
    end if;
    update postmill.api_key k
       set revoked_at = postmill.now(),
           revoked_by = coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user)
     where k.id = p_id;
    perform postmill.audit('keys.revoke', 'key', p_id::text, old.tenant_id,
        jsonb_build_object('name', old.name, 'prefix', old.prefix, 'role', old.role), null, p_reason);
    return 'revoked';
end
$$;

-- FUNCTION door_rotate_webhook(uuid, bytea, interval)

CREATE FUNCTION postmill.door_rotate_webhook(p_id uuid, p_secret bytea, p_keep interval) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own postmill.webhook;
begin
    select w.* into own from postmill.webhook w where w.id = p_id and w.deleted_at is null;
    if own.id is null or not postmill.in_scope(own.tenant_id) then
        return 'unknown';
    end if;
    update postmill.webhook_secret s
       set previous = s.secret, previous_until = postmill.now() + p_keep, secret = p_secret, changed_at = postmill.now()
     where s.webhook_id = p_id;
    perform postmill.audit('webhooks.rotate', 'webhook', p_id::text, own.tenant_id);
    return 'saved';
end
$$;

-- FUNCTION door_run_trigger(uuid, jsonb, text, text)

CREATE FUNCTION postmill.door_run_trigger(p_id uuid, p_payload jsonb, p_key text, p_traceparent text DEFAULT NULL::text, OUT job_id uuid, OUT outcome text, OUT detail text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own postmill.trigger;
    origin text := nullif(current_setting('postmill.request_id', true), '');
begin
    select t.* into own from postmill.trigger t where t.id = p_id and t.deleted_at is null;
    if own.id is null or not postmill.in_scope(own.tenant_id) then
        outcome := 'unknown';
        return;
    end if;
    perform set_config('lock_timeout', '5s', true);
    select j.job_id, j.outcome, j.detail into job_id, outcome, detail
      from postmill.trigger_job(own, p_payload, null, p_key, postmill.now(), 'manual', own.id::text, null,
          coalesce(origin, own.id::text), coalesce(origin, own.id::text), p_traceparent, postmill.acting_type(),
          postmill.acting_id()) j;
    perform postmill.audit('triggers.run', 'trigger', p_id::text, own.tenant_id, null,
        jsonb_build_object('outcome', outcome, 'job_id', job_id), null, case when outcome in ('enqueued', 'duplicate') then 'done' else 'refused' end);
end
$$;

-- FUNCTION door_save_trigger(uuid, timestamp with time zone, uuid, jsonb)

CREATE FUNCTION postmill.door_save_trigger(p_id uuid, p_seen timestamp with time zone, p_tenant uuid, p_fields jsonb, OUT id uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.trigger;
    new postmill.trigger;
begin
    status := 'saved';
    if p_id is null then
        if not postmill.in_scope(p_tenant) then
            status := 'unknown';
            return;
        end if;
        new := jsonb_populate_record(null::postmill.trigger, jsonb_build_object('id', postmill.new_id(), 'tenant_id', p_tenant,
            'origin', 'api', 'broken', false, 'created_by', postmill.acting_id(), 'created_at', postmill.now(),
            'updated_at', postmill.now(), 'anchored_at', postmill.now()) || p_fields);
        insert into postmill.trigger select new.*;
        perform postmill.audit('triggers.create', 'trigger', new.id::text, p_tenant, null, postmill.trigger_facts(new));
        id := new.id;
        return;
    end if;
    select t.* into old from postmill.trigger t where t.id = p_id and t.deleted_at is null for update;
    if old.id is null or not postmill.in_scope(old.tenant_id) then
        status := 'unknown';
        return;
    elsif old.origin = 'code' then
        status := 'in_code';
        return;
    elsif old.updated_at <> p_seen then
        status := 'changed';
        return;
    end if;
    id := old.id;
    new := jsonb_populate_record(old, p_fields);
    update postmill.trigger t
       set label = new.label, is_enabled = new.is_enabled, trigger_type = new.trigger_type, event_name = new.event_name,
           cron_expr = new.cron_expr, every = new.every, timezone = new.timezone, definition_id = new.definition_id,
           payload_template = new.payload_template, dedupe_window_seconds = new.dedupe_window_seconds, missed = new.missed,
           missed_limit = new.missed_limit, overlap = new.overlap, dst = new.dst, jitter_seconds = new.jitter_seconds,
           anchored_at = new.anchored_at, next_run_at = new.next_run_at, error = null, error_at = null,
           updated_at = greatest(postmill.now(), old.updated_at + interval '1 microsecond')
     where t.id = p_id;
    perform postmill.audit('triggers.change', 'trigger', p_id::text, old.tenant_id, postmill.trigger_facts(old),
                           postmill.trigger_facts(new));
end
$$;

-- FUNCTION door_save_view(text, text, text, boolean, text, text)

CREATE FUNCTION postmill.door_save_view(p_page text, p_name text, p_query text, p_shared boolean DEFAULT false, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, OUT id uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own constant uuid := postmill.scope_tenant();
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    update postmill.saved_view v set query = p_query, shared = p_shared
     where v.page = p_page and v.tenant_id is not distinct from own and v.name = p_name
       and v.actor_type = postmill.acting_type() and v.actor_id is not distinct from postmill.acting_id()
    returning v.id into id;
    status := case when found then 'replaced' else 'saved' end;
    if id is null and (select count(*) from postmill.saved_view v where v.page = p_page and v.tenant_id is not distinct from own
                          and v.actor_type = postmill.acting_type() and v.actor_id is not distinct from postmill.acting_id()) >= 100 then
        status := 'full';
        return;
    elsif id is null then
        insert into postmill.saved_view as v (tenant_id, page, name, query, shared, actor_type, actor_id)
        values (own, p_page, p_name, p_query, p_shared, postmill.acting_type(), postmill.acting_id()) returning v.id into id;
    end if;
    perform postmill.audit('views.save', 'view', id::text, own, null,
        jsonb_build_object('page', p_page, 'name', p_name, 'query', p_query, 'shared', p_shared));
end
$$;

-- FUNCTION door_save_webhook(uuid, uuid, text, text, boolean, bytea)

CREATE FUNCTION postmill.door_save_webhook(p_id uuid, p_tenant uuid, p_label text, p_event_name text, p_is_enabled boolean, p_secret bytea, OUT id uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.webhook;
    new postmill.webhook;
begin
    status := 'unknown';
    if p_id is null then
        if not postmill.in_scope(p_tenant) or not exists (select from postmill.tenant t where t.id = p_tenant) then
            return;
        end if;
        insert into postmill.webhook as w (tenant_id, label, event_name, is_enabled, created_by)
        values (p_tenant, p_label, p_event_name, p_is_enabled, postmill.acting_id()) returning w.* into new;
        insert into postmill.webhook_secret (webhook_id, secret) values (new.id, p_secret);
    else
        select w.* into old from postmill.webhook w where w.id = p_id and w.deleted_at is null for update;
        if old.id is null or not postmill.in_scope(old.tenant_id) then
            return;
        end if;
        update postmill.webhook w
           set label = coalesce(p_label, w.label), event_name = coalesce(p_event_name, w.event_name),
               is_enabled = coalesce(p_is_enabled, w.is_enabled)
         where w.id = p_id returning w.* into new;
    end if;
    id := new.id;
    status := 'saved';
    perform postmill.audit(case when p_id is null then 'webhooks.create' else 'webhooks.change' end, 'webhook', new.id::text,
        new.tenant_id, case when p_id is not null then to_jsonb(old) end, to_jsonb(new));
end
$$;

-- FUNCTION door_schedule_jobs(uuid[], timestamp with time zone, text, text, text)

CREATE FUNCTION postmill.door_schedule_jobs(p_ids uuid[], p_run_at timestamp with time zone, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    return query select p.* from postmill.place_jobs('jobs.run_at', p_ids, null, p_run_at, p_reason) p;
end
$$;

-- FUNCTION door_set_budget(text, uuid, jsonb, text, text, text, text, jsonb)

CREATE FUNCTION postmill.door_set_budget(p_name text, p_tenant uuid, p_fields jsonb, p_mode text, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_declared jsonb DEFAULT NULL::jsonb, OUT id uuid, OUT status text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.budget;
    new postmill.budget;
    was jsonb;
    p postmill.budget_period;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    status := 'unknown';
    if not postmill.in_scope(p_tenant) or (p_tenant is not null and not exists (select from postmill.tenant t where t.id = p_tenant)) then
        return;
    end if;
    select b.* into old from postmill.budget b where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-'))
       and b.tenant_id is not distinct from p_tenant for update;
    if old.id is null and p_mode = 'change' then
        return;
    elsif old.id is not null and p_mode = 'create' then
        id := old.id; status := 'exists';
        return;
    end if;
    if exists (select from postmill.budget b where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-'))
            and b.id is distinct from old.id and (b.tenant_id is null or p_tenant is null)
            and b.unit <> coalesce(p_fields ->> 'unit', old.unit, 'USD')) then
        status := 'other_unit';
        return;
    end if;
    if old.id is null then
        insert into postmill.budget (name, tenant_id, limit_amount) values (p_name, p_tenant, (p_fields ->> 'limit_amount')::numeric)
        on conflict do nothing returning * into old;
        if not found then -- made by somebody else meanwhile
            status := 'exists';
            return;
        end if;
        status := 'created';
    elsif p_fields ->> 'unit' <> old.unit and exists (select from postmill.budget_balance s where s.budget_id = old.id) then
        status := 'spent_in'; id := old.id;
        return;
    else
        was := postmill.budget_json(old.id);
    end if;
    id := old.id;
    new := jsonb_populate_record(old, p_fields - 'id' - 'name' - 'tenant_id');
    new.declared := coalesce(p_declared, new.declared);
    if status <> 'created' and to_jsonb(new) - 'declared' = to_jsonb(old) - 'declared' then
        status := 'unchanged';
    else
        status := case status when 'created' then status else 'changed' end;
    end if;
    update postmill.budget b
       set period = new.period, timezone = new.timezone, unit = new.unit, limit_amount = new.limit_amount, level_from = new.level_from,
           level_factor = new.level_factor, level_action = new.level_action, alert_at = new.alert_at,
           alert_severity = new.alert_severity, declared = new.declared, updated_at = postmill.now()
     where b.id = old.id and (status <> 'unchanged' or b.declared is distinct from new.declared);
    if status = 'unchanged' then
        return;
    end if;
    p := postmill.read_budget_period(old.id, postmill.now());
    update postmill.budget_period x set limit_amount = new.limit_amount
     where x.budget_id = old.id and x.starts_at >= p.starts_at and not x.limit_own and p_fields ? 'limit_amount';
    update postmill.budget_period x set limit_back = new.limit_amount
     where x.budget_id = old.id and x.starts_at >= p.starts_at and x.limit_until is not null and p_fields ? 'limit_amount';
    perform postmill.mark_alerts(old.id, p.starts_at, f.spent) from postmill.read_budget_figures(old.id, postmill.now()) f where f.spent > 0;
    perform postmill.audit('budgets.set', 'budget', old.name, p_tenant, was, postmill.budget_json(old.id), p_reason);
end
$$;

-- FUNCTION door_set_retention(uuid, text, double precision, boolean, text, text, text)

CREATE FUNCTION postmill.door_set_retention(p_tenant uuid, p_subject text, p_seconds double precision, p_unset boolean, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before postmill.retention_rule;
    after interval := p_seconds * interval '1 second';
begin
    if not postmill.sees_all() then
        return 'out_of_scope';
    elsif p_tenant is not null and not exists (select from postmill.tenant t where t.id = p_tenant) then
        return 'unknown_tenant';
    end if;
    perform postmill.act_as(p_actor_type, p_actor_id);
    select r.* into before from postmill.retention_rule r
     where r.tenant_id is not distinct from p_tenant and r.subject = p_subject and r.source = 'operator' for update;
    if (p_unset and before.subject is null) or (not p_unset and before.subject is not null and before.keep is not distinct from after) then
        return 'unchanged';
    elsif p_unset then
        delete from postmill.retention_rule r
         where r.tenant_id is not distinct from p_tenant and r.subject = p_subject and r.source = 'operator';
    else
        insert into postmill.retention_rule as r (tenant_id, subject, keep) values (p_tenant, p_subject, after)
        on conflict (tenant_id, subject, source) do update set keep = excluded.keep, changed_at = postmill.now();
    end if;
    perform postmill.settle_retention();
    perform postmill.audit('retention.' || case when p_unset then 'unset' else 'set' end, 'retention', p_subject, p_tenant,
        case when before.subject is not null then jsonb_build_object('keep_seconds', extract(epoch from before.keep)) end,
        case when not p_unset then jsonb_build_object('keep_seconds', p_seconds) end, p_reason);
    return 'changed';
end
$$;

-- FUNCTION door_start_budget(uuid, uuid, uuid, bigint)

CREATE FUNCTION postmill.door_start_budget(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.budget_reservation r where r.id = p_id and postmill.in_scope(r.tenant_id))
        and postmill.start_budget(p_id, p_job, p_holder, p_claim_no);
end
$$;

-- FUNCTION door_start_operation(text, jsonb, jsonb, text, text, text, jsonb, uuid)

CREATE FUNCTION postmill.door_start_operation(p_kind text, p_filter jsonb, p_options jsonb, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_matching jsonb DEFAULT NULL::jsonb, p_cut_off uuid DEFAULT NULL::uuid, OUT id uuid, OUT status text, OUT total integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own uuid := coalesce((p_filter ->> 'tenant_id')::uuid, postmill.scope_tenant());
    moment timestamptz := postmill.now();
    fairly boolean := coalesce((p_options ->> 'fair')::boolean, false);
    op postmill.operation;
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    if p_kind = 'move' and not postmill.sees_all() then
        status := 'none';
        return;
    end if;
    if own is null then
        select max(t.value #>> '{values,0}')::uuid into own from jsonb_array_elements(p_matching -> 'terms') t
         where t.value ->> 'field' = 'tenant' and not (t.value ->> 'not')::boolean
        having count(*) = 1 and max(jsonb_array_length(t.value -> 'values')) = 1;
    end if;
    id := postmill.new_id();
    insert into postmill.operation as o (id, tenant_id, kind, stage, filter, matching, cut_off, held, rate, canary, again, confirm,
           despite_success, version, fair, same_version, priority, queue, run_at, tags, stop_ratio, start_at, approve_above, reason,
           total, actor_type, actor_id, actor_role, request_id, created_at)
    values (id, own, p_kind, 'select', p_filter, postmill.at_moments(p_matching, moment),
            case when p_matching is not null then least(coalesce(p_cut_off, id), id) end,
            coalesce((p_options ->> 'held')::boolean, false), (p_options ->> 'rate')::double precision,
            coalesce((p_options ->> 'canary')::integer, 0), coalesce((p_options ->> 'again')::boolean, false),
            coalesce((p_options ->> 'confirm')::boolean, false), coalesce((p_options ->> 'despite_success')::boolean, false),
            (p_options ->> 'version')::integer, fairly, coalesce((p_options ->> 'same_version')::boolean, false),
            (p_options ->> 'priority')::integer, p_options ->> 'queue', (p_options ->> 'run_at')::timestamptz, p_options -> 'tags',
            (p_options ->> 'stop_ratio')::double precision,
            greatest((p_options ->> 'start_at')::timestamptz, moment + (p_options ->> 'undo_seconds')::double precision * interval '1 s'),
            (p_options ->> 'approve_above')::integer, p_reason, 0, postmill.acting_type(), postmill.acting_id(),
            nullif(current_setting('postmill.actor_role', true), ''), nullif(current_setting('postmill.request_id', true), ''), moment)
    returning o.* into op;
    if p_matching is null then
        insert into postmill.operation_item (operation_id, n, turn, job_id, tenant_id)
        select op.id, x.n, case when fairly then x.share else x.n end, x.id, x.tenant_id
          from (select l.id, l.tenant_id, row_number() over (order by l.failed_at, l.id) as n,
                       row_number() over (partition by l.tenant_id order by l.failed_at, l.id) as share
                  from postmill.read_letters_matching(p_filter) l) x;
        get diagnostics total = row_count;
        update postmill.operation o set total = door_start_operation.total where o.id = op.id;
        perform postmill.settle_selection(op.id);
    else
        perform postmill.select_items(op.id, 5000);
    end if;
    select o.* into op from postmill.operation o where o.id = op.id;
    total := op.total;
    if total = 0 and op.stage <> 'select' then
        delete from postmill.operation o where o.id = op.id;
        id := null;
        status := 'none';
        return;
    end if;
    perform postmill.audit('operations.start', 'operation', id::text, own, null,
        jsonb_build_object('kind', p_kind, 'filter', p_filter, 'options', p_options, 'total', total), p_reason);
    perform postmill.tell('!operations');
    status := case op.status when 'proposed' then 'proposed' else 'started' end;
end
$$;

-- FUNCTION door_switch_archive(boolean, text, text, text)

CREATE FUNCTION postmill.door_switch_archive(p_on boolean, p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before postmill.archive_state;
begin
    if not postmill.sees_all() then
        return 'out_of_scope';
    end if;
    perform postmill.act_as(p_actor_type, p_actor_id);
    select s.* into before from postmill.archive_state s for update;
    if before.required = p_on then
        return 'unchanged';
    end if;
    update postmill.archive_state s set required = p_on, operator = not p_on, changed_at = postmill.now();
    perform postmill.audit('archive.' || case when p_on then 'on' else 'off' end, 'archive', null, null,
                           jsonb_build_object('required', before.required), jsonb_build_object('required', p_on), p_reason);
    return 'changed';
end
$$;

-- FUNCTION door_tag_jobs(uuid[], text[], text[], text, text, text)

CREATE FUNCTION postmill.door_tag_jobs(p_ids uuid[], p_add text[], p_remove text[], p_reason text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    fault text := postmill.fault_of_tags(to_jsonb(coalesce(p_add, '{}')));
    owner uuid;
    before text[];
    wanted text[];
begin
    if fault is not null then
        raise exception 'postmill: %', fault using errcode = 'invalid_parameter_value';
    end if;
    perform postmill.act_as(p_actor_type, p_actor_id);
    for id in select distinct u.id from unnest(p_ids) as u(id) order by 1 loop
        select b.tenant_id into owner from postmill.any_job b where b.id = door_tag_jobs.id;
        if not found or not postmill.in_scope(owner) then
            status := 'unknown';
            return next;
            continue;
        end if;
        -- Two who tag one job at once come one after the other, or it had more than it may.
        perform pg_advisory_xact_lock(hashtextextended('postmill.tag:' || id::text, 0));
        before := postmill.tags_of(id);
        wanted := array(select w.tag from (select unnest(before) except select unnest(p_remove) union select unnest(p_add)) as w(tag)
                         order by w.tag collate "C");
        status := case when wanted = before then 'unchanged' when cardinality(wanted) > 8 then 'full' else 'changed' end;
        if status = 'changed' then
            delete from postmill.job_tag t where t.job_id = door_tag_jobs.id and t.tag <> all (wanted);
            perform postmill.keep_tags(id, owner, to_jsonb(wanted));
            perform postmill.audit('jobs.tag', 'job', id::text, owner, jsonb_build_object('tags', before),
                                   jsonb_build_object('tags', wanted), p_reason);
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION door_work_lanes(text[], integer)

CREATE FUNCTION postmill.door_work_lanes(p_queues text[], p_most integer) RETURNS TABLE(queue text, queue_priority integer, lane uuid, priority integer, weight integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select d.queue, q.priority, d.lane, d.priority, coalesce(l.weight, 1)
      from postmill.discover_lanes(p_queues, p_most) d
      join postmill.queue q on q.name = d.queue
      left join postmill.lane l on l.queue = d.queue and l.lane = d.lane
     where (q.paused_at is null or q.resume_at <= (select postmill.now()))
       and case when (select postmill.sees_all()) or d.lane in ((select postmill.scope_tenant()), '00000000-0000-0000-0000-000000000000')
                then true
                else exists (select from (select r.id from postmill.ready r
                                           where r.queue = d.queue and r.lane = d.lane and r.priority = d.priority
                                           order by r.ready_at, r.id limit 1) f
                              cross join lateral (select b.tenant_id from postmill.any_job b where b.id = f.id offset 0) b
                              where b.tenant_id = (select postmill.scope_tenant())) end;
end
$$;

-- FUNCTION door_work_types(text[])

CREATE FUNCTION postmill.door_work_types(p_types text[]) RETURNS TABLE(key text, kind text, version integer, queue text, arg_schema text, argv_template text, env_allow text[], timeout_seconds double precision, max_attempts integer, retry text, on_exhausted text, keep text, worker_limit integer, aliases text[], strict_envelope boolean, secrets text, secret_keys text[], encrypted boolean, log_fields text[], budget text, edited text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select d.key, d.kind, d.version, d.queue, d.arg_schema::text, d.argv_template::text, d.env_allow, d.timeout_seconds,
           d.max_attempts, d.retry::text, d.on_exhausted, d.keep, d.worker_limit, d.aliases, d.strict_envelope, d.secrets,
           d.secret_keys, d.encrypted, d.log_fields, d.budget, d.edited
      from postmill.job_definition d
     where d.kind = 'http' and (d.key = any (p_types) or d.aliases && p_types) order by d.key;
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

-- FUNCTION drop_units()

CREATE FUNCTION postmill.drop_units() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own postmill.archive_unit;
    n integer := 0;
begin
    if postmill.archive_required() then
        return 0;
    end if;
    for own in select u.* from postmill.archive_unit u
                where u.status in ('filling', 'waiting') and coalesce(u.claimed_until, '-infinity') < (select postmill.now())
                order by u.id for update skip locked loop
        if own.relation is not null then
            execute format('drop table postmill.%I', own.relation);
        end if;
        delete from postmill.leaving l where l.unit_id = own.id;
        delete from postmill.archive_unit u where u.id = own.id;
        n := n + 1;
    end loop;
    return n;
end
$$;

-- FUNCTION due_notifications(text, integer)

CREATE FUNCTION postmill.due_notifications(p_channel text, p_most integer) RETURNS TABLE(id uuid, incident_id uuid, event text, step integer, cycle integer, instead_of text, tries integer, kind text, key text, severity text, title text, facts jsonb, queue text, job_type text, tenant text, count bigint, jobs bigint, tenants bigint, opened_at timestamp with time zone, acknowledged_by text, resolved_at timestamp with time zone, note text, job_id uuid, action text, fields jsonb, secret_keys text[], reopened integer)
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    return query
    select n.id, n.incident_id, n.event, n.step, n.cycle, n.instead_of, n.tries, i.kind, i.key, i.severity::text, i.title, i.facts, i.queue,
           i.job_type, (select t.slug from postmill.tenant t where t.id = i.tenant_id), i.count, i.jobs,
           (select count(*) from postmill.incident_part t where t.incident_id = i.id), i.opened_at, i.acknowledged_by,
           i.resolved_at, i.note, b.id, d.action,
           (select jsonb_object_agg(f.name, b.payload -> f.name) from unnest(d.escalation_fields) as f(name)
             where b.payload ? f.name), d.secret_keys, i.reopened
      from postmill.notification n
      join postmill.incident i on i.id = n.incident_id
      left join postmill.job_definition d on d.key = i.job_type
      left join lateral (select j.id, j.payload from postmill.any_job j where j.id = (i.facts ->> 'job_id')::uuid offset 0) b on true
     where n.channel = p_channel and n.status = 'pending' and n.due_at <= moment
     order by n.due_at, n.id limit p_most;
end
$$;

-- FUNCTION end_incident(uuid, text, text)

CREATE FUNCTION postmill.end_incident(p_id uuid, p_by text, p_note text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.incident i
       set resolved_at = postmill.now(), resolved_by = p_by, note = coalesce(p_note, i.note),
           escalate_at = case when i.step = 0 and i.cycle <= 4 then i.escalate_at end
     where i.id = p_id and i.resolved_at is null;
    perform postmill.tell_again(p_id, 'resolve');
end
$$;

-- FUNCTION end_others(text, text, text[])

CREATE FUNCTION postmill.end_others(p_kind text, p_prefix text, p_keys text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    one text;
begin
    for one in select i.key from postmill.incident i
                where i.kind = p_kind and i.resolved_at is null and starts_with(i.key, p_prefix)
                  and i.key <> all (coalesce(p_keys, '{}')) order by i.key loop
        perform postmill.resolve_incident(p_kind, one);
    end loop;
end
$$;

-- FUNCTION end_pause(text, timestamp with time zone)

CREATE FUNCTION postmill.end_pause(p_job_type text, p_moment timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.type_pause p
       set ended_at = least(p.resume_at, p_moment), ended_by = case when p.resume_at <= p_moment then null else postmill.acting_id() end
     where p.job_type = p_job_type and p.ended_at is null;
end
$$;

-- FUNCTION end_reservation(uuid, uuid, uuid, bigint, text, numeric, bigint, bigint)

CREATE FUNCTION postmill.end_reservation(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_amount numeric, p_in bigint, p_out bigint, OUT status text, OUT job_type text, OUT unit text, OUT booked numeric, OUT figures jsonb) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    r record;
    cost numeric;
    line text;
begin
    perform from postmill.budget b
      where b.id in (select x.budget_id from postmill.budget_reservation x where x.id = p_id) order by b.id for no key update;
    status := 'unknown';
    for r in select x.*, b.tenant_id as owner, b.unit from postmill.budget_reservation x join postmill.budget b on b.id = x.budget_id
              where x.id = p_id and x.job_id = p_job and x.holder = p_holder and x.claim_no = p_claim_no order by x.budget_id loop
        job_type := r.job_type; unit := r.unit;
        cost := case p_verb when 'settle' then coalesce(p_amount, r.amount) when 'release' then 0 else r.amount end;
        if r.state = 'spent' or (r.state = 'estimated' and p_verb = 'estimate') or (r.state = 'released' and p_verb <> 'settle') then
            status := r.state; booked := 0;
            continue;
        end if;
        status := case p_verb when 'settle' then 'spent' when 'release' then 'released' else 'estimated' end;
        booked := cost - case r.state when 'estimated' then r.amount else 0 end;
        line := case when r.state = 'estimated' then 'adjust' when p_verb = 'settle' then 'spend' else p_verb end;
        if line <> 'release' then
            insert into postmill.budget_line (id, budget_id, starts_at, at, kind, amount, tokens_in, tokens_out, tenant_id,
                   reservation_id, job_id, attempt, job_type, actor_type, actor_id)
            values (postmill.new_id(), r.budget_id, r.starts_at, moment, line, booked, p_in, p_out, r.tenant_id, p_id, r.job_id,
                    r.attempt, r.job_type, r.actor_type, r.actor_id);
        end if;
        perform postmill.book_budget(r.budget_id, r.owner, r.starts_at, booked, case r.state when 'held' then -r.amount else 0 end,
            case when r.state = 'estimated' or line = 'release' then 0 else 1 end, p_in, p_out);
        update postmill.budget_reservation x set state = status, ended_at = moment where x.id = p_id and x.budget_id = r.budget_id;
    end loop;
    select to_jsonb(f.*) into figures from postmill.budget_reservation x
     cross join lateral postmill.read_budget_figures(x.budget_id, moment) f where x.id = p_id order by f.level desc, x.budget_id limit 1;
end
$$;

-- FUNCTION enqueue(text, jsonb, uuid, text, interval, timestamp with time zone, integer, uuid, text, interval, text, text, text, text, text, text[])

CREATE FUNCTION postmill.enqueue(job_type text, payload jsonb DEFAULT '{}'::jsonb, tenant uuid DEFAULT NULL::uuid, key text DEFAULT NULL::text, delay interval DEFAULT NULL::interval, scheduled_for timestamp with time zone DEFAULT NULL::timestamp with time zone, priority integer DEFAULT NULL::integer, project uuid DEFAULT NULL::uuid, mode text DEFAULT NULL::text, ttl interval DEFAULT NULL::interval, actor_type text DEFAULT NULL::text, actor_id text DEFAULT NULL::text, request_id text DEFAULT NULL::text, correlation_id text DEFAULT NULL::text, traceparent text DEFAULT NULL::text, tags text[] DEFAULT NULL::text[]) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    answer record;
    fault text;
begin
    if tags is not null then
        fault := postmill.fault_of_tags(to_jsonb(tags));
    end if;
    if fault is not null then
        raise exception 'postmill: no job of type "%" was made: %', job_type, fault using errcode = 'invalid_parameter_value';
    elsif key is null then
        answer := postmill.enqueue_one(job_type, payload, tenant, priority, delay, scheduled_for, project, null, null, null,
            null, null, actor_type, actor_id, request_id, correlation_id, traceparent);
    else
        answer := postmill.enqueue_keyed(key, mode, ttl, job_type, payload, tenant, priority, delay, scheduled_for, project,
            null, null, null, null, null, actor_type, actor_id, request_id, correlation_id, traceparent);
    end if;
    if tags is not null and answer.status = 'created' then
        perform postmill.keep_tags(answer.id, tenant, to_jsonb(tags));
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
        when 'incomplete' then
            raise exception 'postmill: a job of type "%" needs %: its definition has a strict envelope', job_type, answer.detail
                using errcode = 'not_null_violation', column = answer.detail;
        when 'secret' then
            raise exception 'postmill: % looks like a secret, which jobs of type "%" must not carry', answer.detail, job_type
                using errcode = 'invalid_parameter_value', hint = 'Pass a reference to it.';
        when 'unencrypted' then
            raise exception 'postmill: payloads of type "%" are encrypted, which SQL cannot do', job_type
                using errcode = 'feature_not_supported', hint = 'Enqueue from Python, over HTTP or by postmill enqueue.';
        when 'busy' then
            raise exception 'postmill: key "%" is locked by another transaction', key using errcode = 'lock_not_available';
        when 'moving', 'moved' then
            perform postmill.refuse_away(tenant, answer.status, answer.detail);
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
    -- The transaction has its number before the job has its id: a wait for the key must not fall between (count_enqueues).
    own uuid := case when pg_current_xact_id() is not null then postmill.new_id() end;
    owner_tenant uuid := coalesce(p_tenant, '00000000-0000-0000-0000-000000000001');
    owner_project uuid := coalesce(p_project, zero);
    definition record;
    held postmill.idempotency_key;
    live boolean;
    own_mode text;
    own_ttl interval;
    own_content text;
begin
    select d.key, d.guarded, d.idempotency, d.idempotency_ttl, d.idempotency_content into definition
      from postmill.job_definition d where d.key = p_job_type and d.is_active;
    if not found then
        select r.status, r.detail into status, detail from postmill.refusal(p_job_type) r;
        if status <> 'alias' then
            return;
        end if;
        select d.key, d.guarded, d.idempotency, d.idempotency_ttl, d.idempotency_content into definition
          from postmill.job_definition d where d.key = detail and d.is_active;
        detail := null;
        if not found then
            status := 'inactive';
            return;
        end if;
    end if;
    if definition.guarded then
        -- Before the key is looked at: also what would turn out to be a duplicate must be whole.
        select g.status, g.detail into status, detail
          from postmill.check_guarded(definition.key, p_payload, p_tenant, p_actor_id, p_request_id, p_correlation_id, p_key,
              p_replayed_from is not null) g;
        if status is not null then
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
    if definition.idempotency_content is not null then
        own_content := postmill.content_of(definition.idempotency_content, p_payload);
    end if;
    begin
        insert into postmill.idempotency_key as k
            (tenant_id, project_id, key, job_type, job_id, mode, content, first_seen_at, last_seen_at, expires_at)
        values (owner_tenant, owner_project, p_key, definition.key, own, own_mode, own_content, postmill.now(), postmill.now(),
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
            elsif live and (own_content is null or held.content = own_content or p_replayed_from is not null) then
                id := held.job_id;
                status := 'duplicate';
                return;
            elsif live and postmill.is_waiting(held.job_id) then
                perform postmill.cancel_jobs(array[held.job_id], p_actor_type, p_actor_id, 'superseded by ' || own);
            end if;
            update postmill.idempotency_key k
               set job_id = own, job_type = definition.key, mode = own_mode, content = own_content, first_seen_at = postmill.now(),
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

-- FUNCTION enqueue_many(text[], jsonb[], uuid[], text[], text[], interval[], integer[], interval[], timestamp with time zone[], uuid[], integer[], double precision[], timestamp with time zone[], text[], text[], text[], text[], text[], text[], text[], interval, text[], jsonb[])

CREATE FUNCTION postmill.enqueue_many(p_job_types text[], p_payloads jsonb[], p_tenants uuid[] DEFAULT NULL::uuid[], p_keys text[] DEFAULT NULL::text[], p_modes text[] DEFAULT NULL::text[], p_ttls interval[] DEFAULT NULL::interval[], p_priorities integer[] DEFAULT NULL::integer[], p_delays interval[] DEFAULT NULL::interval[], p_scheduled_for timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], p_projects uuid[] DEFAULT NULL::uuid[], p_max_attempts integer[] DEFAULT NULL::integer[], p_timeouts double precision[] DEFAULT NULL::double precision[], p_expires_at timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], p_sources text[] DEFAULT NULL::text[], p_source_refs text[] DEFAULT NULL::text[], p_actor_types text[] DEFAULT NULL::text[], p_actor_ids text[] DEFAULT NULL::text[], p_request_ids text[] DEFAULT NULL::text[], p_correlation_ids text[] DEFAULT NULL::text[], p_traceparents text[] DEFAULT NULL::text[], p_wait interval DEFAULT NULL::interval, p_lane_keys text[] DEFAULT NULL::text[], p_tags jsonb[] DEFAULT NULL::jsonb[]) RETURNS TABLE(n integer, id uuid, status text, detail text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    row_no integer;
    wide integer := greatest(cardinality(p_job_types), cardinality(p_payloads), cardinality(p_keys));
    before text := current_setting('lock_timeout');
begin
    if p_keys is null and p_tags is null then
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
        if p_tags[row_no] is not null and postmill.fault_of_tags(p_tags[row_no]) is not null then
            id := null;
            status := 'invalid';
            detail := postmill.fault_of_tags(p_tags[row_no]);
        elsif p_keys[row_no] is null then
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
        if status = 'created' and p_tags[row_no] is not null then
            perform postmill.keep_tags(id, p_tenants[row_no], p_tags[row_no]);
        end if;
        return next;
    end loop;
    if p_wait is not null then
        perform set_config('lock_timeout', before, true);
    end if;
end
$$;

-- FUNCTION enqueue_one(text, jsonb, uuid, integer, interval, timestamp with time zone, uuid, integer, double precision, timestamp with time zone, text, text, text, text, text, text, text, text, uuid, uuid, text)

CREATE FUNCTION postmill.enqueue_one(p_job_type text, p_payload jsonb, p_tenant uuid, p_priority integer DEFAULT NULL::integer, p_delay interval DEFAULT NULL::interval, p_scheduled_for timestamp with time zone DEFAULT NULL::timestamp with time zone, p_project uuid DEFAULT NULL::uuid, p_max_attempts integer DEFAULT NULL::integer, p_timeout_seconds double precision DEFAULT NULL::double precision, p_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_source text DEFAULT NULL::text, p_source_ref text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_request_id text DEFAULT NULL::text, p_correlation_id text DEFAULT NULL::text, p_traceparent text DEFAULT NULL::text, p_key text DEFAULT NULL::text, p_replayed_from uuid DEFAULT NULL::uuid, p_id uuid DEFAULT NULL::uuid, p_lane_key text DEFAULT NULL::text, OUT id uuid, OUT status text, OUT detail text, OUT made_at timestamp with time zone) RETURNS record
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
    parked boolean := false;
begin
    select d.queue, d.priority, d.max_attempts, d.timeout_seconds, d.lane, d.guarded, h.since, h.until, h.gated
      into found_one
      from postmill.job_definition d, postmill.partition_horizon h
     where d.key = p_job_type and d.is_active;
    if not found then
        select r.status, r.detail into status, detail from postmill.refusal(p_job_type) r;
        if status = 'alias' then
            select e.id, e.status, e.detail, e.made_at into id, status, detail, made_at
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
    if found_one.gated then
        select g.answer, g.cell into status, detail from postmill.gate(tenant) g;
        if status <> 'parked' then
            return;
        end if;
        parked := status is not null;
    end if;
    if found_one.guarded then
        select g.status, g.detail into status, detail
          from postmill.check_guarded(p_job_type, p_payload, p_tenant, p_actor_id, p_request_id, p_correlation_id, p_key,
              p_replayed_from is not null) g;
        if status is not null then
            return;
        end if;
    end if;
    -- Here and below the transaction has its number before the job has its id (see count_enqueues).
    id := case when pg_current_xact_id() is not null then coalesce(p_id, postmill.new_id()) end;
    status := 'created';
    made_at := moment;
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
    if parked then
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        values (found_one.queue, own_lane, postmill.parked_at(greatest(due, moment), due <= moment), id, urgency, 1, 0, 0);
    elsif due > moment then
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
    perform pg_current_xact_id();
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
               d.lane as lane_rule, coalesce(a.at, moment) + coalesce(a.delay, '0') as due
          from asked a join postmill.job_definition d on d.key = a.job_type and d.is_active and not d.guarded
         where postmill.fault_of(a.payload, a.delay, a.at, a.attempts, a.timeout, a.source, a.source_ref, a.actor_type,
                   a.actor_id, a.request_id, a.correlation_id, a.traceparent) is null
           and exists (select from postmill.partition_horizon h
                        where moment >= h.since and moment < h.until - interval '1 second'
                          and (not h.gated or not exists (select from postmill.tenant_gate g where g.tenant_id = a.tenant_id)))
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
         where d.key = p_job_type and d.is_active and not d.guarded and d.lane = 'tenant' and m.moment >= h.since and m.moment < h.until
           and (not h.gated or not exists (select from postmill.tenant_gate g
                    where g.tenant_id = coalesce(p_tenant, '00000000-0000-0000-0000-000000000001')))
           and pg_current_xact_id() is not null
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

-- FUNCTION enqueued_totals()

CREATE FUNCTION postmill.enqueued_totals() RETURNS TABLE(job_type text, queue text, n bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform from postmill.upkeep u where u.name = 'rollup' for update skip locked;
    if found then
        perform postmill.count_enqueues();
        perform postmill.fold_rollups(20000);
    end if;
    return query
    select t.job_type, t.queue, t.n from postmill.rollup_total t where t.outcome = 'enqueued' order by t.n desc, 1, 2 limit 1000;
end
$$;

-- FUNCTION enqueues_between(timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.enqueues_between(p_since timestamp with time zone, p_until timestamp with time zone) RETURNS TABLE(minute timestamp with time zone, tenant_id uuid, queue text, job_type text, n bigint)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
    return query
    select m.minute, c.tenant_id, c.queue, c.job_type, sum(c.n)::bigint
      from generate_series(postmill.minute_of(p_since), p_until, interval '1 minute') as m(minute)
     cross join lateral (
        select j.tenant_id, j.queue, j.job_type, count(*) as n from postmill.job j
         where j.id >= postmill.id_at(greatest(m.minute, p_since))
           and j.id < postmill.id_at(least(m.minute + interval '1 minute', p_until)) group by 1, 2, 3
        union all
        select k.tenant_id, k.queue, k.job_type, count(*) from postmill.job_kept k
         where k.id >= postmill.id_at(greatest(m.minute, p_since))
           and k.id < postmill.id_at(least(m.minute + interval '1 minute', p_until)) group by 1, 2, 3
        union all
        select f.tenant_id, f.queue, f.job_type, f.n from postmill.forgotten f
         where f.made >= greatest(m.minute, p_since) and f.made < least(m.minute + interval '1 minute', p_until)) c
     where m.minute < p_until
     group by 1, 2, 3, 4;
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

-- FUNCTION enter_request(uuid, boolean, text, text, text, text, text, text)

CREATE FUNCTION postmill.enter_request(p_tenant uuid, p_platform boolean, p_via text, p_actor_type text, p_actor_id text, p_role text, p_request_id text, p_address text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if not postmill.begin_request(p_tenant, p_platform, p_via, p_actor_type, p_actor_id, p_role, p_request_id, p_address) then
        raise exception 'postmill: the key % opens no longer', p_actor_id using errcode = 'invalid_authorization_specification';
    end if;
end
$$;

-- FUNCTION error_group_id(text, text, text, text)

CREATE FUNCTION postmill.error_group_id(p_job_type text, p_error_class text, p_message text, p_frame text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select left(md5(p_job_type || E'\n' || p_error_class || E'\n' || p_message || E'\n' || p_frame), 16)
$$;

-- TABLE error_group

CREATE TABLE postmill.error_group (
    id text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    error_class text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL,
    frame text NOT NULL,
    error_code text,
    error_status integer,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    count bigint NOT NULL,
    first_version integer,
    last_version integer,
    ignored_until timestamp with time zone,
    resolved_version integer,
    resolved_at timestamp with time zone,
    regressed_at timestamp with time zone,
    marked_by text,
    mark_note text
);

-- FUNCTION error_status(postmill.error_group, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.error_status(g postmill.error_group, p_first timestamp with time zone, p_moment timestamp with time zone) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
    return case when g.ignored_until > p_moment then 'ignored' when g.regressed_at is not null then 'regressed'
                when g.resolved_at is not null then 'resolved' when p_first > p_moment - interval '1 day' then 'new'
                else 'ongoing' end;
end
$$;

-- FUNCTION event_patterns(text)

CREATE FUNCTION postmill.event_patterns(p_name text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    parts text[] := string_to_array(p_name, '.');
    found text[] := array[p_name, '*'];
begin
    for n in 1 .. cardinality(parts) - 1 loop
        found := found || (array_to_string(parts[1:n], '.') || '.*');
    end loop;
    return found;
end
$$;

-- FUNCTION expire_budget_limits(integer)

CREATE FUNCTION postmill.expire_budget_limits(p_most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    p record;
    done integer := 0;
begin
    for p in select x.budget_id, x.starts_at, x.label, x.limit_amount, x.limit_back, x.limit_until, b.name, b.tenant_id,
                    b.limit_amount as usual
               from postmill.budget_period x join postmill.budget b on b.id = x.budget_id
              where x.limit_until <= moment limit p_most for update of b, x skip locked loop
        update postmill.budget_period x
           set limit_amount = p.limit_back, limit_own = p.limit_back <> p.usual, limit_until = null, limit_back = null
         where x.budget_id = p.budget_id and x.starts_at = p.starts_at;
        perform postmill.mark_alerts(p.budget_id, p.starts_at, f.spent)
           from postmill.read_budget_figures(p.budget_id, moment) f where f.starts_at = p.starts_at and f.spent > 0;
        perform postmill.set_actor('upkeep', 'system', 'budgets');
        perform postmill.audit('budgets.limit', 'budget', p.name, p.tenant_id,
            jsonb_build_object('period', p.label, 'limit_amount', p.limit_amount, 'until', p.limit_until),
            jsonb_build_object('period', p.label, 'limit_amount', p.limit_back), 'it held until then');
        perform postmill.set_actor(null, null, null);
        done := done + 1;
    end loop;
    return done;
end
$$;

-- FUNCTION expire_letters(integer)

CREATE FUNCTION postmill.expire_letters(p_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    rule text := case when postmill.archive_required() then 'archive_after' else 'dead_letter' end;
    usual timestamptz := postmill.retention_edge(moment, least(postmill.keep_of(rule), postmill.keep_of('dead_letter')));
    latest timestamptz;
    reasons text[];
    ids uuid[];
begin
    select greatest(usual, max(postmill.retention_edge(moment, least(postmill.keep_of(rule, r.tenant_id),
                                                                     postmill.keep_of('dead_letter', r.tenant_id)))))
      into latest from postmill.retention_rule r
     where r.tenant_id is not null and r.subject in ('archive_after', 'dead_letter');
    select p.keep_reasons into reasons from postmill.partition_policy p;
    ids := array(
        select d.id from postmill.dead_letter d
          left join (select r.tenant_id, postmill.retention_edge(moment, least(postmill.keep_of(rule, r.tenant_id),
                                                                 postmill.keep_of('dead_letter', r.tenant_id))) as edge
                       from postmill.retention_rule r
                      where r.tenant_id is not null and r.subject in ('archive_after', 'dead_letter')
                      group by r.tenant_id) own on own.tenant_id = d.tenant_id
         where d.failed_at < latest and d.failed_at < coalesce(own.edge, usual)
           and d.reason <> all (reasons) and coalesce(d.error_code, '') <> all (reasons)
         order by d.failed_at, d.id limit p_most for update of d skip locked);
    perform postmill.leave('dead_letter', ids, 'dead_letter'), postmill.leave('attempt', ids, 'dead_letter'),
            postmill.leave('job', ids, 'dead_letter'), postmill.leave('job_kept', ids, 'dead_letter');
    return cardinality(ids);
end
$$;

-- FUNCTION expire_reservations(integer)

CREATE FUNCTION postmill.expire_reservations(p_most integer) RETURNS TABLE(job_type text, unit text, booked numeric, status text)
    LANGUAGE plpgsql
    AS $$
declare
    budgets uuid[] := array(select distinct r.budget_id from postmill.budget_reservation r
                             where r.ended_at is null and not exists (select from postmill.running t
                                    where t.id = r.job_id and t.holder = r.holder and t.claim_no = r.claim_no) limit 100);
    one record;
begin
    perform from postmill.budget b where b.id = any (budgets) order by b.id for no key update;
    for one in select r.* from postmill.budget_reservation r
                where r.ended_at is null and r.budget_id = any (budgets) and not exists (select from postmill.running t
                       where t.id = r.job_id and t.holder = r.holder and t.claim_no = r.claim_no)
                order by r.reserved_at limit p_most for update of r skip locked loop
        select e.job_type, e.unit, e.booked, e.status into job_type, unit, booked, status
          from postmill.end_reservation(one.id, one.job_id, one.holder, one.claim_no,
                   case when one.started then 'estimate' else 'release' end, null, 0, 0) e;
        if status in ('estimated', 'released') and booked is not null then
            return next;
        end if;
    end loop;
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

-- FUNCTION fault_of_tags(jsonb)

CREATE FUNCTION postmill.fault_of_tags(p_tags jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
declare
    odd jsonb;
begin
    if jsonb_typeof(p_tags) <> 'array' then
        return 'tags: must be a list of words';
    elsif jsonb_array_length(p_tags) > 8 then
        return 'tags: has ' || jsonb_array_length(p_tags) || '; 8 are allowed';
    end if;
    select t.value into odd from jsonb_array_elements(p_tags) as t(value)
     where jsonb_typeof(t.value) <> 'string' or t.value #>> '{}' !~ '^[^-[:space:][:cntrl:],"][^[:space:][:cntrl:],"]{0,39}$' limit 1;
    return 'tags: ' || left(odd::text, 60)
        || ' is no tag: 1 to 40 characters without blanks, commas and quotes, and no minus at the beginning';
end
$_$;

-- FUNCTION fields_of(jsonb, text)

CREATE FUNCTION postmill.fields_of(p_columns jsonb, p_row text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
begin
    return (
    select 'array[' || string_agg(format(case e.c ->> 1 when 'timestamp with time zone'
               then '(%1$s.%2$I at time zone ''UTC'')::text' when 'bytea' then 'encode(%1$s.%2$I, ''hex'')' else '%1$s.%2$I::text' end,
               p_row, e.c ->> 0), ', ' order by e.n) || ']'
      from jsonb_array_elements(p_columns) with ordinality as e(c, n)
    );
end
$_$;

-- FUNCTION find_credential(bytea)

CREATE FUNCTION postmill.find_credential(p_hash bytea, OUT known boolean, OUT tenant uuid) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    select true, c.tenant_id into known, tenant from (
        select k.tenant_id from postmill.api_key k where k.hash = p_hash
        union all select s.tenant_id from postmill.console_session s where s.hash = p_hash
        union all select l.tenant_id from postmill.login_link l where l.hash = p_hash) c limit 1;
    known := coalesce(known, false);
end
$$;

-- FUNCTION find_key(bytea)

CREATE FUNCTION postmill.find_key(p_hash bytea) RETURNS TABLE(id uuid, name text, tenant_id uuid, role text, tenant_status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    used timestamptz;
begin
    select k.id, k.name, k.tenant_id, k.role::text, t.status, coalesce(k.last_used_at, '-infinity')
      into id, name, tenant_id, role, tenant_status, used
      from postmill.api_key k left join postmill.tenant t on t.id = k.tenant_id
     where k.hash = p_hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > moment);
    if not found then
        return;
    end if;
    if used < moment - interval '1 minute' then
        -- Two requests at once: one notes it, the other goes on.
        update postmill.api_key k set last_used_at = moment
         where k.ctid = (select i.ctid from postmill.api_key i where i.id = find_key.id for no key update skip locked);
    end if;
    return next;
end
$$;

-- FUNCTION find_login(bytea)

CREATE FUNCTION postmill.find_login(p_hash bytea) RETURNS TABLE(id uuid, actor_id text, tenant_id uuid, role text, expires_at timestamp with time zone, tenant_status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    seen timestamptz;
begin
    select s.id, s.actor_id, s.tenant_id, s.role::text, s.expires_at, t.status, s.last_seen_at
      into id, actor_id, tenant_id, role, expires_at, tenant_status, seen
      from postmill.console_session s
      left join postmill.tenant t on t.id = s.tenant_id
      left join postmill.api_key k on k.id = s.api_key_id
     where s.hash = p_hash and s.ended_at is null and s.expires_at > moment
       and k.revoked_at is null and (k.expires_at is null or k.expires_at > moment);
    if not found then
        return;
    end if;
    if seen < moment - interval '1 minute' then
        update postmill.console_session s set last_seen_at = moment
         where s.ctid = (select i.ctid from postmill.console_session i where i.id = find_login.id for no key update skip locked);
    end if;
    return next;
end
$$;

-- FUNCTION find_place(text)

CREATE FUNCTION postmill.find_place(p_tenant text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (select c.cell from postmill.cell_tenant c
             where c.slug = p_tenant or c.tenant_id::text = lower(p_tenant) limit 1);
end
$$;

-- FUNCTION find_tenant(text)

CREATE FUNCTION postmill.find_tenant(p_name text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select t.id, t.status from postmill.tenant t where t.slug = p_name or t.id::text = lower(p_name)
     order by t.slug = p_name desc limit 1;
end
$$;

-- FUNCTION find_twins(uuid, timestamp with time zone)

CREATE FUNCTION postmill.find_twins(p_id uuid, p_since timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'on'
    SET jit TO 'off'
    AS $$
declare
    moment timestamptz := postmill.now();
    low uuid := postmill.id_at(p_since - interval '1 minute');
begin
    if p_since is null then
        low := (select x.job_id from postmill.operation_item x where x.operation_id = p_id order by x.job_id limit 1);
        update postmill.operation_item i
           set print = jsonb_hash_extended(j.payload, hashtextextended(j.job_type, 0)),
               key_print = hashtextextended(j.idempotency_key, hashtextextended(coalesce(j.project_id::text, ''), 0))
          from postmill.any_job j where i.operation_id = p_id and j.id = i.job_id and j.id >= low;
    end if;
    with fresh as (
        select j.id, j.tenant_id, j.replayed_from, jsonb_hash_extended(j.payload, hashtextextended(j.job_type, 0)) as print,
               hashtextextended(j.idempotency_key, hashtextextended(coalesce(j.project_id::text, ''), 0)) as key_print
          from postmill.job j where j.id > low
    ), pairs as (
        select i.n, f.id from fresh f join postmill.operation_item i
            on i.operation_id = p_id and i.status is null and i.tenant_id = f.tenant_id and i.print = f.print
         where f.id > i.job_id and f.replayed_from is distinct from i.job_id
        union
        select i.n, f.id from fresh f join postmill.operation_item i
            on i.operation_id = p_id and i.status is null and i.tenant_id = f.tenant_id and i.key_print = f.key_print
         where f.id > i.job_id and f.replayed_from is distinct from i.job_id
    ), several as (
        select p.n, array_agg(p.id order by p.id desc) as ids from pairs p group by 1
    )
    update postmill.operation_item i
       set twins = (array(select distinct t.id from unnest(i.twins || s.ids) as t(id) order by 1 desc))[1:20]
      from several s where i.operation_id = p_id and i.n = s.n and not i.twins @> s.ids is true;
    update postmill.operation o set twins_at = moment, started_at = coalesce(o.started_at, moment) where o.id = p_id;
end
$$;

-- FUNCTION finish(uuid, uuid[], bigint[], uuid[], bigint[], text[], text[], text[], text[], text[], text[], integer[], text[], integer[], integer[], text[], text[], text[])

CREATE FUNCTION postmill.finish(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_statuses text[], p_attempt_statuses text[], p_reasons text[], p_error_classes text[] DEFAULT NULL::text[], p_error_codes text[] DEFAULT NULL::text[], p_error_messages text[] DEFAULT NULL::text[], p_error_statuses integer[] DEFAULT NULL::integer[], p_stacks text[] DEFAULT NULL::text[], p_exit_codes integer[] DEFAULT NULL::integer[], p_pids integer[] DEFAULT NULL::integer[], p_stdouts text[] DEFAULT NULL::text[], p_stderrs text[] DEFAULT NULL::text[], p_error_groups text[] DEFAULT NULL::text[]) RETURNS SETOF uuid
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
               p_stdouts, p_stderrs, p_error_groups)
               as u(id, claim_no, tenant_id, micros, status, attempt_status, reason, error_class, error_code,
                    error_message, error_status, stack, exit_code, pid, stdout_tail, stderr_tail, error_group)
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
               stack, stdout_tail, stderr_tail, error_group)
        select h.id, h.tenant_id, h.status, moment, h.attempt, h.run, h.lost, h.attempt_status, p_holder, h.claim_no,
               h.pid, moment - h.micros * interval '1 microsecond', h.exit_code, h.reason, h.error_class, h.error_code,
               h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail,
               h.error_group
          from held h
    )
    select a.id from asked a where not exists (select from held h where h.id = a.id);
end
$$;

-- FUNCTION fire_plain(jsonb)

CREATE FUNCTION postmill.fire_plain(p_ticks jsonb) RETURNS TABLE(trigger_id uuid, due timestamp with time zone, outcome text, detail text, job_id uuid, late double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    mine record;
    made record;
    moment timestamptz;
begin
    with asked as materialized (
        select x.* from jsonb_to_recordset(p_ticks) as x(plain boolean, trigger_id uuid, expected timestamptz, due timestamptz,
            next timestamptz, payload jsonb, hash text, run_at timestamptz, correlation_id text)
         where x.plain
    ), own as materialized (
        -- Each row by its key, whatever the planner thinks of the set: a join read every schedule there is.
        select a.*, t.tenant_id, t.span, d.key as job_type
          from (select o.* from asked o order by o.trigger_id) a
         cross join lateral (
            select g.tenant_id, g.definition_id, g.dedupe_window_seconds as span from postmill.trigger g
             where g.id = a.trigger_id and g.is_enabled and g.deleted_at is null and g.overlap = 'allow'
               and g.next_run_at is not distinct from a.expected
               and (select k.due from postmill.tick k where k.trigger_id = a.trigger_id and k.due = a.due) is null
               and (select n.status from postmill.tenant n where n.id = g.tenant_id) <> 'suspended'
               for no key update skip locked) t
         cross join lateral (select e.key from postmill.job_definition e where e.id = t.definition_id offset 0) d
    )
    select array_agg(o.trigger_id) as ids, array_agg(o.due) as dues, array_agg(o.next) as nexts, array_agg(o.hash) as hashes,
           array_agg(o.span) as spans, array_agg(o.tenant_id) as tenants, array_agg(o.job_type) as types,
           array_agg(o.payload) as payloads, array_agg(o.run_at) as run_ats, array_agg(o.correlation_id) as correlations,
           array_agg(r.job_id) as held, count(*) as n
      into mine
      from own o
      left join lateral (
        select c.job_id from postmill.trigger_recent c
         where c.trigger_id = o.trigger_id and c.hash = o.hash and c.at > o.due - make_interval(secs => o.span)
           and c.at < o.due + make_interval(secs => o.span) offset 0) r on true;
    if mine.n = 0 then
        return;
    end if;
    -- The place among those that make a job is the number of the answer.
    with wanted as (
        select u.i, row_number() over (order by u.i) as n
          from unnest(mine.held) with ordinality as u(job_id, i) where u.job_id is null
    ), answers as materialized (
        select e.* from postmill.enqueue_many(
            (select array_agg(mine.types[w.i] order by w.i) from wanted w),
            (select array_agg(mine.payloads[w.i] order by w.i) from wanted w),
            (select array_agg(mine.tenants[w.i] order by w.i) from wanted w),
            p_scheduled_for => (select array_agg(mine.run_ats[w.i] order by w.i) from wanted w),
            p_sources => (select array_agg('schedule'::text) from wanted w),
            p_source_refs => (select array_agg(mine.ids[w.i]::text order by w.i) from wanted w),
            p_actor_ids => (select array_agg('trigger:' || mine.ids[w.i] order by w.i) from wanted w),
            p_request_ids => (select array_agg(mine.correlations[w.i] order by w.i) from wanted w),
            p_correlation_ids => (select array_agg(mine.correlations[w.i] order by w.i) from wanted w)) e
         where exists (select from wanted)
    )
    select array_agg(w.i) as places, array_agg(a.id) as ids, array_agg(a.status) as statuses, array_agg(a.detail) as details
      into made from answers a join wanted w on w.n = a.n;
    moment := postmill.now();
    return query
    with told as materialized (
        select u.i, mine.ids[u.i] as id, mine.dues[u.i] as due, mine.hashes[u.i] as hash, mine.spans[u.i] as span,
               coalesce(m.id, u.held) as job,
               case when u.held is not null then 'duplicate' when m.status = 'created' then 'enqueued' else 'refused' end as outcome,
               case when u.held is not null then 'an equal payload within the dedupe window'
                    when m.status <> 'created' then m.status || coalesce(': ' || m.detail, '') end as detail
          from unnest(mine.held) with ordinality as u(held, i)
          left join unnest(made.places, made.ids, made.statuses, made.details) as m(i, id, status, detail) on m.i = u.i
         where m.status is null or m.status not in ('moving', 'moved')
    ), recent as (
        insert into postmill.trigger_recent as r (trigger_id, hash, job_id, at, expires_at)
        select t.id, t.hash, t.job, t.due, greatest(t.due, moment) + make_interval(secs => t.span)
          from told t where t.outcome = 'enqueued' and t.span > 0
        on conflict on constraint trigger_recent_pkey
        do update set job_id = excluded.job_id, at = excluded.at, expires_at = excluded.expires_at
    ), ticks as (
        insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, job_id, fired_at)
        select t.id, t.due, mine.tenants[t.i], t.outcome, t.detail, t.job, moment from told t
    ), moved as (
        update postmill.trigger g
           set next_run_at = mine.nexts[t.i], last_run_at = t.due,
               last_job_id = case when t.outcome = 'enqueued' then t.job else g.last_job_id end,
               error = case when t.outcome = 'refused' then t.detail end,
               error_at = case when t.outcome = 'refused' then moment end
          from told t where g.id = t.id
    )
    select t.id, t.due, t.outcome, t.detail, t.job, extract(epoch from moment - t.due)::double precision from told t;
end
$$;

-- FUNCTION fire_ticks(jsonb)

CREATE FUNCTION postmill.fire_ticks(p_ticks jsonb) RETURNS TABLE(trigger_id uuid, due timestamp with time zone, outcome text, detail text, job_id uuid, late double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    item record;
    own postmill.trigger;
    moment timestamptz;
    done uuid[];
begin
    for trigger_id, due, outcome, detail, job_id, late in select f.* from postmill.fire_plain(p_ticks) f loop
        done := done || trigger_id;
        return next;
    end loop;
    for item in
        select x.* from jsonb_to_recordset(p_ticks) as x(trigger_id uuid, expected timestamptz, due timestamptz,
            next timestamptz, payload jsonb, hash text, key text, run_at timestamptz, correlation_id text, outcome text,
            detail text, last_due timestamptz, ticks integer)
         where x.trigger_id <> all (coalesce(done, '{}'))
    loop
        trigger_id := item.trigger_id;
        due := item.due;
        outcome := item.outcome;
        detail := item.detail;
        job_id := null;
        moment := postmill.now();
        late := extract(epoch from moment - item.due);
        select t.* into own from postmill.trigger t
         where t.id = item.trigger_id and t.is_enabled and t.deleted_at is null
           and t.next_run_at is not distinct from item.expected
           for no key update skip locked;
        if not found then
            outcome := 'stale';
            return next;
            continue;
        end if;
        if exists (select from postmill.tick k where k.trigger_id = own.id and k.due = item.due) then
            update postmill.trigger t set next_run_at = item.next where t.id = own.id;
            outcome := 'stale';
            return next;
            continue;
        end if;
        if outcome is null and own.overlap <> 'allow' and own.last_job_id is not null
            and postmill.is_live(own.last_job_id)
        then
            if own.overlap = 'skip' then
                outcome := 'skipped';
                detail := 'the job of the run before is not over: ' || own.last_job_id;
            else
                perform postmill.cancel_jobs(array[own.last_job_id], 'system', 'trigger:' || own.id, 'the next run is due');
            end if;
        end if;
        if outcome is null then
            select j.job_id, j.outcome, j.detail into job_id, outcome, detail
              from postmill.trigger_job(own, item.payload, item.hash, item.key, item.due, 'schedule', own.id::text,
                  item.run_at, item.correlation_id, item.correlation_id, null) j;
        end if;
        if outcome = 'pending' then
            return next; -- somebody holds its key: it stays due
            continue;
        end if;
        insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, job_id, fired_at, last_due, ticks)
        values (own.id, item.due, own.tenant_id, outcome, detail, job_id, moment, item.last_due, coalesce(item.ticks, 1));
        update postmill.trigger t
           set next_run_at = item.next, last_run_at = coalesce(item.last_due, item.due),
               last_job_id = case when fire_ticks.outcome = 'enqueued' then fire_ticks.job_id else t.last_job_id end,
               error = case when fire_ticks.outcome in ('failed', 'refused') then fire_ticks.detail
                            when fire_ticks.outcome = 'skipped' then t.error end,
               error_at = case when fire_ticks.outcome in ('failed', 'refused') then moment
                               when fire_ticks.outcome = 'skipped' then t.error_at end
         where t.id = own.id;
        return next;
    end loop;
end
$$;

-- FUNCTION first_made(timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.first_made(p_since timestamp with time zone, p_until timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
begin
    return greatest(p_since, least(p_until, postmill.minute_of(least(
        (select postmill.id_time(j.id) from postmill.job j where j.id >= postmill.id_at(p_since) order by j.id limit 1),
        (select postmill.id_time(k.id) from postmill.job_kept k where k.id >= postmill.id_at(p_since) order by k.id limit 1),
        (select f.made from postmill.forgotten f where f.made >= p_since order by f.made limit 1), p_until))));
end
$$;

-- FUNCTION fold_dead_tally(integer)

CREATE FUNCTION postmill.fold_dead_tally(p_least integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    edge timestamptz := date_bin('10 minutes', postmill.now(), '2000-01-01Z') - interval '1 day';
    rows bigint;
    keys bigint;
begin
    select sum(k.n), count(*) into rows, keys
      from (select count(*) as n from postmill.dead_tally t
             group by t.tenant_id, t.queue, t.job_type, t.reason, t.error_status, t.error_group,
                      case when t.moment >= edge then t.moment end) k;
    if coalesce(rows - keys < p_least, true) then
        return 0;
    end if;
    with gone as (
        delete from postmill.dead_tally t returning t.*
    ), kept as (
        select g.tenant_id, g.queue, g.job_type, g.reason, g.error_status, g.error_group,
               case when g.moment >= edge then g.moment end as moment, sum(g.opened) as opened, sum(g.closed) as closed
          from gone g group by 1, 2, 3, 4, 5, 6, 7
    )
    insert into postmill.dead_tally
    select k.tenant_id, k.queue, k.job_type, k.reason, k.error_status, k.error_group, k.moment,
           case when k.moment is null then k.opened - k.closed else k.opened end,
           case when k.moment is null then 0 else k.closed end
      from kept k where k.moment is not null or k.opened <> k.closed;
    return rows - keys;
end
$$;

-- FUNCTION fold_error_groups(integer, integer)

CREATE FUNCTION postmill.fold_error_groups(p_most integer, p_groups integer DEFAULT 500) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    folded integer;
begin
    with part as materialized (
        delete from postmill.error_group_part p where p.ctid = any (array(
            select q.ctid from postmill.error_group_part q limit p_most for update skip locked))
        returning p.*
    ), fresh as (
        select f.id, row_number() over (partition by f.job_type order by f.id)
                     + (select count(*) from postmill.error_group g where g.job_type = f.job_type) > p_groups as beyond
          from (select distinct p.id, p.job_type from part p) f
         where f.id <> postmill.other_group(f.job_type) and not exists (select from postmill.error_group g where g.id = f.id)
    ), placed as materialized (
        select case when f.beyond then postmill.other_group(p.job_type) else p.id end as id, p.job_type, p.tenant_id, p.n,
               p.first_at, p.last_at, p.job_id, case when f.beyond then 'other' else p.error_class end as error_class,
               case when f.beyond then '' else p.message end as message, case when f.beyond then '' else p.frame end as frame,
               p.error_code, p.error_status,
               coalesce(p.version, (select d.version from postmill.job_definition d where d.key = p.job_type)) as version
          from part p left join fresh f using (id)
    ), groups as (
        insert into postmill.error_group as g (id, job_type, error_class, message, frame, error_code, error_status,
               first_seen_at, last_seen_at, count, first_version, last_version)
        select p.id, min(p.job_type), min(p.error_class), min(p.message), min(p.frame),
               (array_agg(p.error_code order by p.last_at desc))[1], (array_agg(p.error_status order by p.last_at desc))[1],
               min(p.first_at), max(p.last_at), sum(p.n), (array_agg(p.version order by p.first_at))[1], max(p.version)
          from placed p group by p.id order by p.id
        on conflict (id) do update set first_seen_at = least(g.first_seen_at, excluded.first_seen_at),
               last_seen_at = greatest(g.last_seen_at, excluded.last_seen_at), count = g.count + excluded.count,
               error_code = excluded.error_code, error_status = excluded.error_status,
               last_version = greatest(g.last_version, excluded.last_version),
               regressed_at = case when g.resolved_at < excluded.last_seen_at
                                    and coalesce(excluded.last_version >= g.resolved_version, true)
                                   then coalesce(g.regressed_at, excluded.last_seen_at) else g.regressed_at end
    ), minutes as (
        insert into postmill.error_group_minute as m (id, tenant_id, minute, n)
        select f.id, f.tenant_id, postmill.minute_of(f.last_at), sum(f.n)
          from (select p.id, '00000000-0000-0000-0000-000000000000'::uuid as tenant_id, p.last_at, p.n from placed p
                union all
                select p.id, p.tenant_id, p.last_at, p.n from placed p
                 where p.tenant_id <> '00000000-0000-0000-0000-000000000000') f
         group by 1, 2, 3 order by 1, 2, 3
        on conflict (id, tenant_id, minute) do update set n = m.n + excluded.n
    ), tenants as (
        insert into postmill.error_group_tenant as t (id, tenant_id, first_seen_at, last_seen_at, count, sample_job)
        select p.id, p.tenant_id, min(p.first_at), max(p.last_at), sum(p.n),
               (array_agg(p.job_id order by p.last_at desc) filter (where p.job_id is not null))[1]
          from placed p group by p.id, p.tenant_id order by p.id, p.tenant_id
        on conflict (id, tenant_id) do update set first_seen_at = least(t.first_seen_at, excluded.first_seen_at),
               last_seen_at = greatest(t.last_seen_at, excluded.last_seen_at), count = t.count + excluded.count,
               sample_job = coalesce(excluded.sample_job, t.sample_job)
    )
    select count(*) into folded from part;
    return folded;
end
$$;

-- FUNCTION fold_rollups(integer)

CREATE FUNCTION postmill.fold_rollups(p_most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    coarse timestamptz;
    folded integer;
begin
    select s.coarse_to into coarse from postmill.rollup_state s;
    with part as materialized (
        delete from postmill.rollup_part p where p.ctid = any (array(
            select q.ctid from postmill.rollup_part q limit p_most for update skip locked))
        returning p.*
    ), added as (
        insert into postmill.rollup_total as t (job_type, queue, outcome, n)
        select p.job_type, p.queue, p.outcome, sum(p.n) from part p group by 1, 2, 3 order by 1, 2, 3
        on conflict (job_type, queue, outcome) do update set n = t.n + excluded.n
    ), fine as materialized (
        select case when p.minute < coarse then date_bin('1 hour', p.minute, timestamptz '2000-01-01 00:00+00') else p.minute end
                   as minute, p.tenant_id, p.queue, p.job_type, p.outcome, sum(p.n) as n, sum(p.wait_sum) as wait_sum,
               sum(p.run_sum) as run_sum, sum(p.total_sum) as total_sum, postmill.histogram_sum(p.wait_hist) as wait_hist,
               postmill.histogram_sum(p.run_hist) as run_hist, postmill.histogram_sum(p.total_hist) as total_hist
          from part p group by 1, 2, 3, 4, 5
    ), fleet as (
        insert into postmill.rollup_fleet as r (minute, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
               run_hist, total_hist)
        select f.minute, f.queue, f.job_type, f.outcome, sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum),
               postmill.histogram_sum(f.wait_hist), postmill.histogram_sum(f.run_hist), postmill.histogram_sum(f.total_hist)
          from fine f group by 1, 2, 3, 4
        on conflict (minute, queue, job_type, outcome) do update
           set n = r.n + excluded.n, wait_sum = r.wait_sum + excluded.wait_sum, run_sum = r.run_sum + excluded.run_sum,
               total_sum = r.total_sum + excluded.total_sum,
               wait_hist = postmill.histogram_plus(r.wait_hist, excluded.wait_hist),
               run_hist = postmill.histogram_plus(r.run_hist, excluded.run_hist),
               total_hist = postmill.histogram_plus(r.total_hist, excluded.total_hist)
    ), hours as (
        insert into postmill.rollup_hour as r (hour, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist,
               run_hist, total_hist)
        select date_bin('1 hour', f.minute, timestamptz '2000-01-01 00:00+00'), s.tenant_id, f.queue, f.job_type, f.outcome,
               sum(f.n), sum(f.wait_sum), sum(f.run_sum), sum(f.total_sum), postmill.histogram_sum(f.wait_hist),
               postmill.histogram_sum(f.run_hist), postmill.histogram_sum(f.total_hist)
          from fine f cross join lateral (values (f.tenant_id), (null)) as s(tenant_id)
         group by 1, 2, 3, 4, 5
        on conflict (tenant_id, hour, queue, job_type, outcome) do update
           set n = r.n + excluded.n, wait_sum = r.wait_sum + excluded.wait_sum, run_sum = r.run_sum + excluded.run_sum,
               total_sum = r.total_sum + excluded.total_sum,
               wait_hist = postmill.histogram_plus(r.wait_hist, excluded.wait_hist),
               run_hist = postmill.histogram_plus(r.run_hist, excluded.run_hist),
               total_hist = postmill.histogram_plus(r.total_hist, excluded.total_hist)
    ), put as (
        insert into postmill.rollup as r (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum,
               wait_hist, run_hist, total_hist)
        select f.minute, f.tenant_id, f.queue, f.job_type, f.outcome, f.n, f.wait_sum, f.run_sum, f.total_sum, f.wait_hist,
               f.run_hist, f.total_hist
          from fine f
        on conflict (minute, tenant_id, queue, job_type, outcome) do update
           set n = r.n + excluded.n, wait_sum = r.wait_sum + excluded.wait_sum, run_sum = r.run_sum + excluded.run_sum,
               total_sum = r.total_sum + excluded.total_sum,
               wait_hist = postmill.histogram_plus(r.wait_hist, excluded.wait_hist),
               run_hist = postmill.histogram_plus(r.run_hist, excluded.run_hist),
               total_hist = postmill.histogram_plus(r.total_hist, excluded.total_hist)
    )
    select count(*) into folded from part;
    return folded;
end
$$;

-- FUNCTION gate(uuid)

CREATE FUNCTION postmill.gate(p_tenant uuid, OUT answer text, OUT cell text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    found_one record;
begin
    if not exists (select from postmill.tenant_gate g where g.tenant_id = p_tenant) then
        return;
    end if;
    perform pg_advisory_xact_lock_shared(postmill.gate_key(p_tenant));
    select g.stage, g.cell into found_one from postmill.tenant_gate g where g.tenant_id = p_tenant for share;
    answer := case found_one.stage when 'draining' then 'parked' when 'closed' then 'moving' when 'arriving' then 'moving'
                                   when 'gone' then 'moved' end;
    cell := case when answer <> 'parked' then found_one.cell end;
end
$$;

-- FUNCTION gate_key(uuid)

CREATE FUNCTION postmill.gate_key(p_tenant uuid) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return (
    select hashtextextended('postmill.gate:' || p_tenant, 0));
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
    execute format('grant select on postmill.migration to %I', p_role);
    for door in
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = 'postmill'
           and p.proname in ('enqueue', 'enqueue_quick', 'enqueue_one', 'enqueue_keyed', 'enqueue_many', 'enqueue_intake', 'cancel_jobs',
                             'retry_jobs', 'replay_jobs', 'job_type_names', 'now', 'new_id', 'job_state',
                             'read_enqueue_rules', 'publish', 'publish_event', 'deliver_events', 'begin_artifact',
                             'find_place', 'keep_artifact', 'read_artifact', 'read_artifacts', 'door_delete_artifact')
    loop
        execute format('grant execute on function %s to %I', door, p_role);
    end loop;
end
$$;

-- FUNCTION grant_server(text)

CREATE FUNCTION postmill.grant_server(p_role text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    name text;
begin
    execute format('grant usage on schema postmill to %I', p_role);
    execute format('grant select on postmill.migration to %I', p_role);
    execute format('grant postmill_request to %I', p_role);
    for name in select p.oid::regprocedure::text from pg_proc p
                 where p.pronamespace = 'postmill'::regnamespace
                   and p.proname in ('find_key', 'key_lives', 'find_login', 'open_login', 'close_login',
                         'login_configured', 'requests_secured', 'begin_request', 'require_home', 'enter_request', 'request_enqueue',
                         'find_place', 'find_credential', 'has_webhook', 'set_actor', 'audit', 'now', 'new_id', 'scope_tenant', 'sees_all', 'in_scope', 'find_tenant',
                         'server_gauges', 'enqueued_totals', 'receive_webhook', 'advance_horizon', 'watch_live') loop
        execute format('grant execute on function %s to %I', name, p_role);
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
declare
    name text;
begin
    execute format('grant usage on schema postmill to %I', p_role);
    execute format('grant select, insert, update, delete on all tables in schema postmill to %I', p_role);
    execute format('revoke all on postmill.api_key, postmill.console_session, postmill.login_link from %I', p_role);
    execute format('revoke insert, update, delete on postmill.audit_log, postmill.audit_chain, postmill.audit_unsealed from %I',
                   p_role);
    execute format('grant usage on all sequences in schema postmill to %I', p_role);
    for name in select p.oid::regprocedure::text from pg_proc p
                 where p.pronamespace = 'postmill'::regnamespace
                   and p.proname not in ('open_login', 'close_login', 'door_create_link', 'door_end_login', 'door_create_key',
                                         'door_revoke_key', 'door_create_tenant', 'door_change_tenant', 'secure_requests',
                                         'secure_table') loop
        execute format('grant execute on function %s to %I', name, p_role);
    end loop;
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

-- FUNCTION has_webhook(uuid)

CREATE FUNCTION postmill.has_webhook(p_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.webhook w where w.id = p_id) and not postmill.is_away(
        (select w.tenant_id from postmill.webhook w where w.id = p_id));
end
$$;

-- FUNCTION held_tenant(uuid, uuid, bigint)

CREATE FUNCTION postmill.held_tenant(p_job uuid, p_holder uuid, p_claim_no bigint) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (select c.tenant_id from postmill.http_claim c
             where c.job_id = p_job and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null
               and c.expires_at > (select postmill.now()) and postmill.in_scope(c.tenant_id));
end
$$;

-- FUNCTION held_until(uuid, timestamp with time zone)

CREATE FUNCTION postmill.held_until(p_id uuid, p_moment timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
declare
    own text;
    until timestamptz;
begin
    select j.job_type into own from postmill.any_job j where j.id = p_id;
    select p.held_until into until from postmill.type_pause p
     where p.ended_at is null and (p.resume_at is null or p.resume_at > p_moment)
       and p.job_type in (own, (select d.key from postmill.job_definition d where d.aliases @> array[own] limit 1))
     for share;
    return coalesce(until, p_moment);
end
$$;

-- FUNCTION histogram(double precision)

CREATE FUNCTION postmill.histogram(p_seconds double precision) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    if p_seconds is null then
        return null;
    end if;
    return array(select case when coalesce(lag(b.bound) over (order by b.n), '-infinity') < p_seconds
                              and p_seconds <= b.bound then 1 else 0 end::bigint
                   from unnest(postmill.rollup_bounds() || 'infinity'::double precision) with ordinality as b(bound, n)
                  order by b.n);
end
$$;

-- FUNCTION histogram_plus(bigint[], bigint[])

CREATE FUNCTION postmill.histogram_plus(p_one bigint[], p_other bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    if p_one is null or p_other is null then
        return coalesce(p_one, p_other);
    end if;
    for i in 1 .. cardinality(p_other) loop
        p_one[i] := coalesce(p_one[i], 0) + p_other[i];
    end loop;
    return p_one;
end
$$;

-- FUNCTION histogram_within(bigint[], double precision)

CREATE FUNCTION postmill.histogram_within(hist bigint[], seconds double precision) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return (
    select coalesce(sum(h.n * case when h.high <= seconds then 1
                                   when h.low >= seconds or h.high = 'infinity' then 0
                                   else (seconds - h.low) / (h.high - h.low) end), 0)
      from (select u.n, u.high, coalesce(lag(u.high) over (order by u.i), 0) as low
              from unnest(hist, postmill.rollup_bounds() || 'infinity'::double precision) with ordinality as u(n, high, i)) h);
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

-- FUNCTION history_size(timestamp with time zone, timestamp with time zone, integer, uuid)

CREATE FUNCTION postmill.history_size(p_low timestamp with time zone, p_high timestamp with time zone, p_most integer, p_tenant uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return (select count(*) from (select from postmill.job j
                                   where j.id >= postmill.id_at(p_low)
                                     and j.id < postmill.id_at(p_high + interval '1 millisecond')
                                     and (p_tenant is null or j.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from postmill.outcome o
                                   where o.finished_at >= p_low and o.finished_at < p_high
                                     and (p_tenant is null or o.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from postmill.attempt a
                                   where a.finished_at >= p_low and a.finished_at < p_high
                                     and (p_tenant is null or a.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from postmill.audit_log l
                                   where l.at >= p_low and l.at < p_high
                                     and (p_tenant is null or l.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from postmill.dead_letter d
                                   where d.failed_at >= p_low and d.failed_at < p_high
                                     and (p_tenant is null or d.tenant_id = p_tenant) limit p_most) x)
         + (select count(*) from (select from postmill.job_kept k
                                   where k.id >= postmill.id_at(p_low)
                                     and k.id < postmill.id_at(p_high + interval '1 millisecond')
                                     and (p_tenant is null or k.tenant_id = p_tenant) limit p_most) x);
end
$$;

-- FUNCTION hmac_sha256(bytea, bytea)

CREATE FUNCTION postmill.hmac_sha256(p_key bytea, p_message bytea) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

-- FUNCTION hold_incident(text, text, text, text, jsonb, uuid, text, text)

CREATE FUNCTION postmill.hold_incident(p_kind text, p_key text, p_severity text, p_title text, p_facts jsonb, p_tenant uuid, p_queue text, p_job_type text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.incident i
       set title = left(p_title, 500), facts = i.facts || p_facts, last_at = postmill.now(),
           severity = case when postmill.severity_rank(p_severity) > postmill.severity_rank(i.severity) then p_severity else i.severity end
     where i.kind = p_kind and i.key = p_key and i.resolved_at is null;
    if not found then
        perform postmill.raise_incident(p_kind, p_key, p_severity, p_title, p_facts, p_tenant, p_queue, p_job_type);
    end if;
end
$$;

-- FUNCTION http_holder(uuid, text, double precision)

CREATE FUNCTION postmill.http_holder(p_tenant uuid, p_worker_id text, p_seconds double precision) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    until timestamptz := moment + p_seconds * interval '1 second';
    own uuid;
begin
    select s.holder into own from postmill.http_session s
     where coalesce(s.tenant_id, '00000000-0000-0000-0000-000000000000')
           = coalesce(p_tenant, '00000000-0000-0000-0000-000000000000') and s.worker_id = p_worker_id;
    update postmill.lease l set expires_at = greatest(l.expires_at, until) where l.holder = own and l.expires_at > moment;
    if not found then
        own := gen_random_uuid();
        insert into postmill.lease (holder, started_at, expires_at) values (own, moment, until);
        -- Two first claims at once under one name: both sessions live, the later one is the one that goes on.
        insert into postmill.http_session (holder, tenant_id, worker_id) values (own, p_tenant, p_worker_id)
        on conflict (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'), worker_id)
            do update set holder = excluded.holder;
    end if;
    return own;
end
$$;

-- FUNCTION http_running(uuid)

CREATE FUNCTION postmill.http_running(p_holder uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.worker w
       set last_seen_at = postmill.now(),
           running_count = (select count(*) from postmill.http_claim c where c.holder = p_holder and c.ended_at is null)
     where w.holder = p_holder;
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

-- FUNCTION ids_in_scope(uuid[])

CREATE FUNCTION postmill.ids_in_scope(p_ids uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if postmill.sees_all() then
        return p_ids;
    end if;
    return array(select u.id from unnest(p_ids) as u(id)
                  where exists (select from postmill.job j where j.id = u.id and j.tenant_id = postmill.scope_tenant())
                     or exists (select from postmill.job_kept k where k.id = u.id and k.tenant_id = postmill.scope_tenant()));
end
$$;

-- FUNCTION in_scope(uuid)

CREATE FUNCTION postmill.in_scope(p_tenant uuid) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select postmill.sees_all() or coalesce(p_tenant = postmill.scope_tenant(), false)
$$;

-- FUNCTION incident_hidden(uuid)

CREATE FUNCTION postmill.incident_hidden(p_id uuid) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return case when exists (select from postmill.incident_part t
                              where t.incident_id = p_id and t.tenant_id = postmill.scope_tenant()) then 'shared' else 'unknown' end;
end
$$;

-- FUNCTION incident_outline(uuid)

CREATE FUNCTION postmill.incident_outline(p_id uuid) RETURNS TABLE(kind text, severity text, queue text, job_type text, opened_at timestamp with time zone, acknowledged_at timestamp with time zone, resolved_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select i.kind, i.severity::text, i.queue, i.job_type, i.opened_at, i.acknowledged_at, i.resolved_at
      from postmill.incident i where i.id = p_id;
end
$$;

-- FUNCTION incident_status(timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.incident_status(p_acknowledged_at timestamp with time zone, p_resolved_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return case when p_resolved_at is not null then 'resolved' when p_acknowledged_at is not null then 'acknowledged' else 'open' end;
end
$$;

-- FUNCTION is_away(uuid)

CREATE FUNCTION postmill.is_away(p_tenant uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.tenant_gate g where g.tenant_id = p_tenant and g.stage in ('closed', 'arriving', 'gone'));
end
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

-- FUNCTION is_watched()

CREATE FUNCTION postmill.is_watched() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.live_watch w where w.valid_until > (select postmill.now()));
end
$$;

-- FUNCTION job_events(timestamp with time zone, timestamp with time zone, uuid)

CREATE FUNCTION postmill.job_events(p_low timestamp with time zone, p_high timestamp with time zone, p_tenant uuid) RETURNS TABLE(recorded_at timestamp with time zone, key text, event text, happened_at timestamp with time zone, job_id uuid, attempt integer, status text, reason text, error_class text, started_at timestamp with time zone, finished_at timestamp with time zone)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return query
    select postmill.id_time(b.id), b.id::text || '.000000.0', 'job.enqueued', b.created_at, b.id, 0, null::text, null::text,
           null::text, null::timestamptz, null::timestamptz
      from (select j.id, j.created_at from postmill.job j
             where j.id >= postmill.id_at(p_low) and j.id < postmill.id_at(p_high + interval '1 millisecond')
               and (p_tenant is null or j.tenant_id = p_tenant)
            union all
            select k.id, k.created_at from postmill.job_kept k
             where k.id >= postmill.id_at(p_low) and k.id < postmill.id_at(p_high + interval '1 millisecond')
               and (p_tenant is null or k.tenant_id = p_tenant)) b
     where postmill.id_time(b.id) >= p_low and postmill.id_time(b.id) < p_high;

    return query
    select t.finished_at, t.job_id::text || '.' || lpad(t.run::text, 6, '0') || '.' || e.rank, e.event,
           case e.rank when 1 then t.started_at else t.finished_at end, t.job_id, t.run,
           case when e.rank > 1 then t.status end, case when e.rank > 2 then t.reason end,
           case when e.rank > 1 then t.error_class end, t.started_at, case when e.rank > 1 then t.finished_at end
      from (select a.job_id, a.run, a.status, a.started_at, a.finished_at, a.error_class, d.reason, d.buried
              from postmill.attempt a
             cross join lateral (
                   select max(g.reason) as reason, count(*) > 0 as buried
                     from (select l.reason from postmill.dead_letter l where l.id = a.job_id and l.run = a.run
                           union all
                           select o.reason from postmill.outcome o
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
      from postmill.outcome o
     cross join lateral (values (1, case when o.holder is not null and o.attempt_status is not null then 'job.started' end),
           (2, case when o.holder is not null or o.status = 'canceled' then 'job.' || o.status end),
           -- A dead letter that was closed: told with its last attempt, if it had one.
           (3, case when o.holder is null and o.status in ('dead_letter', 'failed') and not exists (
                         select from postmill.attempt a where a.job_id = o.job_id and a.run = o.run)
                    then 'job.deadlettered' end)) e(rank, event)
     where o.finished_at >= p_low and o.finished_at < p_high and (p_tenant is null or o.tenant_id = p_tenant)
       and e.event is not null;

    return query
    select l.failed_at, l.id::text || '.' || lpad(l.run::text, 6, '0') || '.3', 'job.deadlettered', l.failed_at, l.id, l.run,
           'dead_letter', l.reason, l.error_class, l.last_attempt_at, l.failed_at
      from postmill.dead_letter l
     where l.failed_at >= p_low and l.failed_at < p_high and (p_tenant is null or l.tenant_id = p_tenant)
       and not exists (select from postmill.attempt a where a.job_id = l.id and a.run = l.run);
end
$$;

-- FUNCTION job_state(uuid[])

CREATE FUNCTION postmill.job_state(p_ids uuid[]) RETURNS TABLE(id uuid, job_type text, queue text, tenant_id uuid, project_id uuid, state text, priority integer, attempt integer, max_attempts integer, payload jsonb, idempotency_key text, created_at timestamp with time zone, scheduled_for timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, worker_id text, reason text, error_class text, error_code text, error_message text, result jsonb, replayed_from uuid, replayed_as uuid, progress_done double precision, progress_total double precision, progress_message text, cancel_requested boolean, actor_type text, actor_id text, request_id text, correlation_id text, traceparent text, source text, source_ref text, tags text[])
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
           j.traceparent, j.source::text, j.source_ref, array(select t.tag from postmill.job_tag t where t.job_id = j.id order by t.tag)
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

-- FUNCTION keep_artifact(uuid, uuid, uuid, uuid, bigint, boolean, text, text, bigint, bytea, double precision)

CREATE FUNCTION postmill.keep_artifact(p_id uuid, p_tenant uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_waits boolean, p_name text, p_content_type text, p_size bigint, p_sha256 bytea, p_seconds double precision, OUT status text, OUT attempt integer, OUT created_at timestamp with time zone, OUT expires_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_job is null then
        if not postmill.in_scope(p_tenant) or not exists (select from postmill.tenant t where t.id = p_tenant) then
            status := 'unknown_tenant';
            return;
        end if;
    else
        if p_waits then
            select r.attempt into attempt from postmill.running r
             where r.id = p_job and r.holder = p_holder and r.claim_no = p_claim_no for share;
        else
            select r.attempt into attempt from postmill.running r
             where r.id = p_job and r.holder = p_holder and r.claim_no = p_claim_no for share skip locked;
        end if;
        if not found then
            status := 'over';
            return;
        end if;
    end if;
    created_at := postmill.now();
    expires_at := created_at + p_seconds * interval '1 second';
    -- Of two puts of one name at once the later one stays: its insert waits for the other, and then replaces it.
    loop
        update postmill.artifact a set gone_at = postmill.now() where a.job_id = p_job and a.name = p_name and a.gone_at is null;
        insert into postmill.artifact (id, tenant_id, job_id, name, content_type, size, sha256, attempt, created_at, expires_at)
        values (p_id, p_tenant, p_job, p_name, p_content_type, p_size, p_sha256, keep_artifact.attempt, keep_artifact.created_at,
                keep_artifact.expires_at)
        on conflict (job_id, name) where gone_at is null do nothing;
        exit when found;
    end loop;
    status := 'kept';
    if p_job is null then
        perform postmill.audit('artifacts.put', 'artifact', p_id::text, p_tenant, null, jsonb_build_object('name', p_name,
            'content_type', p_content_type, 'size', p_size, 'sha256', encode(p_sha256, 'hex'), 'expires_at', expires_at));
    end if;
end
$$;

-- FUNCTION keep_of(text, uuid)

CREATE FUNCTION postmill.keep_of(p_subject text, p_tenant uuid DEFAULT NULL::uuid) RETURNS interval
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    rule postmill.retention_rule;
begin
    select r.* into rule from postmill.retention_rule r where r.tenant_id = p_tenant and r.subject = p_subject;
    if not found and p_tenant is not null and p_subject in ('succeeded', 'failed', 'canceled') then
        select t.retention into rule.keep from postmill.tenant t where t.id = p_tenant;
        if rule.keep is not null then
            return rule.keep;
        end if;
    end if;
    if rule.subject is null then
        select r.* into rule from postmill.retention_rule r
         where r.tenant_id is null and r.subject = p_subject order by r.source limit 1; -- operator before settings
    end if;
    if rule.subject is not null then
        return coalesce(rule.keep, interval '1000 years');
    elsif p_subject in ('succeeded', 'failed', 'canceled', 'events') then
        return (select p.retention from postmill.partition_policy p);
    end if;
    return postmill.retention_default(p_subject);
end
$$;

-- FUNCTION keep_survivors(text, uuid, uuid, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.keep_survivors(p_name text, p_low uuid, p_high uuid, p_after timestamp with time zone, p_moment timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
declare
    kept bigint;
    longer text := '';
begin
    if exists (select from postmill.retention_classes() c where c.keep > p_moment - p_after) then
        longer := $q$
            union select o.job_id from postmill.outcome o join postmill.retention_classes() c
                      on c.tenant_id = o.tenant_id and c.status = o.status and o.finished_at >= $4 - c.keep
                   where o.finished_at < $3 and o.job_id >= $1 and o.job_id < $2$q$;
    end if;
    execute format($q$
        with moved as (
            delete from postmill.%I j using (
                select id from postmill.ready where id >= $1 and id < $2
                union select id from postmill.scheduled where id >= $1 and id < $2
                union select id from postmill.blocked where id >= $1 and id < $2
                union select id from postmill.running where id >= $1 and id < $2
                union select id from postmill.dead_letter where id >= $1 and id < $2
                union select job_id from postmill.outcome where finished_at >= $3 and job_id >= $1 and job_id < $2
                union select job_id from postmill.attempt where finished_at >= $3 and job_id >= $1 and job_id < $2 %s
            ) t where t.id = j.id returning j.*
        )
        insert into postmill.job_kept select * from moved on conflict do nothing$q$, p_name, longer)
        using p_low, p_high, p_after, p_moment;
    get diagnostics kept = row_count;
    return kept;
end
$_$;

-- FUNCTION keep_tags(uuid, uuid, jsonb)

CREATE FUNCTION postmill.keep_tags(p_id uuid, p_tenant uuid, p_tags jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into postmill.job_tag (job_id, tag, tenant_id)
    select p_id, t.value, coalesce(p_tenant, '00000000-0000-0000-0000-000000000001') from jsonb_array_elements_text(p_tags) as t(value)
    on conflict do nothing;
end
$$;

-- FUNCTION key_lives(uuid)

CREATE FUNCTION postmill.key_lives(p_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.api_key k left join postmill.tenant t on t.id = k.tenant_id
                    where k.id = p_id and k.revoked_at is null
                      and (k.expires_at is null or k.expires_at > (select postmill.now()))
                      and t.status is distinct from 'suspended');
end
$$;

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

-- FUNCTION lasting(double precision)

CREATE FUNCTION postmill.lasting(p_seconds double precision) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return case when p_seconds < 120 then round(p_seconds::numeric, 1) || ' s'
                when p_seconds < 7200 then round(p_seconds::numeric / 60, 1) || ' min' else round(p_seconds::numeric / 3600, 1) || ' h' end;
end
$$;

-- FUNCTION lasting_transactions(text[])

CREATE FUNCTION postmill.lasting_transactions(p_open text[]) RETURNS TABLE(id text, pid integer, application text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    still text[] := postmill.open_transactions(false);
begin
    return query
    select o.id, a.pid, a.application_name
      from unnest(p_open) as o(id)
      left join pg_locks l on l.virtualtransaction = o.id and l.locktype = 'virtualxid' and l.mode = 'ExclusiveLock'
      left join pg_stat_activity a on a.pid = l.pid
     where o.id = any (still)
        or exists (select from pg_prepared_xacts p where p.database = current_database() and 'x' || p.transaction::text = o.id);
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

-- FUNCTION later_success(postmill.job, jsonb, integer)

CREATE FUNCTION postmill.later_success(p_job postmill.job, p_payload jsonb, p_look integer DEFAULT 20000) RETURNS uuid
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    twin uuid;
begin
    select k.job_id into twin from postmill.idempotency_key k
     where k.tenant_id = p_job.tenant_id and k.key = p_job.idempotency_key and k.job_id <> p_job.id
       and k.project_id = coalesce(p_job.project_id, '00000000-0000-0000-0000-000000000000')
       and exists (select from postmill.outcome o where o.job_id = k.job_id and o.status = 'succeeded')
       and not exists (select from postmill.any_job j where j.id = k.job_id and j.replayed_from = p_job.id);
    if twin is null then
        select l.id into twin
          from (select j.id, j.job_type, j.payload, j.idempotency_key, j.project_id, j.replayed_from from postmill.job j
                 where j.tenant_id = p_job.tenant_id and j.id > p_job.id order by j.id desc limit p_look) l
         where ((l.job_type = p_job.job_type and l.payload = p_payload)
                or (l.idempotency_key = p_job.idempotency_key and l.project_id is not distinct from p_job.project_id))
           and l.replayed_from is distinct from p_job.id
           and exists (select from postmill.outcome o where o.job_id = l.id and o.status = 'succeeded')
         limit 1;
    end if;
    return twin;
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

-- FUNCTION leave(text, uuid[], text)

CREATE FUNCTION postmill.leave(p_table text, p_ids uuid[], p_rule text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    origin text := case p_table when 'job_kept' then 'job' else p_table end;
    key text := case origin when 'job' then 'id' when 'dead_letter' then 'id' else 'job_id' end;
    own postmill.archive_unit;
begin
    if cardinality(p_ids) = 0 then
        return;
    elsif not postmill.archive_required() then
        execute format('delete from postmill.%I t where t.%I = any ($1)', p_table, key) using p_ids;
        return;
    end if;
    select u.* into own from postmill.archive_unit u
     where u.source = origin and u.rule = p_rule and u.status = 'filling' for update;
    if not found then
        own.id := postmill.new_unit(origin, p_rule, 'infinity', '-infinity');
        select u.* into own from postmill.archive_unit u where u.id = own.id;
    end if;
    execute format($q$
        with gone as (
            delete from postmill.%1$I t where t.%2$I = any ($1) returning t.*
        ), put as (
            insert into postmill.leaving (unit_id, tenant_id, job_id, at, fields)
            select $2, g.tenant_id, g.%2$I, %3$s, %4$s from gone g where g.tenant_id <> all ($3) order by 4, g.%2$I
            returning at
        )
        update postmill.archive_unit u
           set since = least(u.since, p.low), until = greatest(u.until, p.high + interval '1 microsecond'),
               rows = coalesce(u.rows, 0) + p.n
          from (select min(at) as low, max(at) as high, count(*) as n from put) p
         where u.id = $2 and p.n > 0$q$, p_table, key,
        case origin when 'job' then 'postmill.id_time(g.id)' when 'dead_letter' then 'g.failed_at' else 'g.finished_at' end,
        postmill.fields_of(own.columns, 'g')) using p_ids, own.id, postmill.unarchived_tenants();
end
$_$;

-- FUNCTION left_tables()

CREATE FUNCTION postmill.left_tables() RETURNS TABLE(name text, why text)
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
    return query
    values ('tenant_gate', 'says that the tenant has left'),
           ('cell_tenant', 'is the directory'),
           ('tenant_move', 'is the directory'),
           ('intake', 'is empty between two statements'),
           ('ready', 'is empty: what was ready is parked among the scheduled ones'),
           ('running', 'is empty: what ran has ended'),
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
           ('leaving', 'is on its way into the archive of this cell'),
           ('incident', 'is of the cell that raised it; what goes on is raised anew'),
           ('incident_part', 'belongs to an incident'),
           ('incident_job', 'belongs to an incident'),
           ('notification', 'belongs to an incident'),
           ('operation', 'has ended, or the move waits for it'),
           ('operation_item', 'belongs to an operation'),
           ('operation_share', 'belongs to an operation');
end
$$;

-- FUNCTION letter_typed()

CREATE FUNCTION postmill.letter_typed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    select j.job_type into new.job_type from postmill.any_job j where j.id = new.id;
    return new;
end
$$;

-- FUNCTION letters_counted()

CREATE FUNCTION postmill.letters_counted() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := date_bin('10 minutes', postmill.now(), '2000-01-01Z');
begin
    if tg_op in ('INSERT', 'UPDATE') then
        insert into postmill.dead_tally
        select d.tenant_id, d.queue, d.job_type, d.reason, d.error_status, d.error_group,
               case when d.failed_at > moment - interval '1 day' then date_bin('10 minutes', d.failed_at, '2000-01-01Z') end,
               count(*), 0
          from made d group by 1, 2, 3, 4, 5, 6, 7;
    end if;
    if tg_op in ('DELETE', 'UPDATE') then
        insert into postmill.dead_tally
        select d.tenant_id, d.queue, d.job_type, d.reason, d.error_status, d.error_group, moment, 0, count(*)
          from gone d group by 1, 2, 3, 4, 5, 6;
    end if;
    return null;
end
$$;

-- FUNCTION letters_emptied()

CREATE FUNCTION postmill.letters_emptied() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    truncate postmill.dead_tally;
    return null;
end
$$;

-- FUNCTION login_configured()

CREATE FUNCTION postmill.login_configured() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return exists (select from postmill.api_key k where k.revoked_at is null
                      and (k.expires_at is null or k.expires_at > (select postmill.now())))
        or exists (select from postmill.console_session s where s.ended_at is null and s.expires_at > (select postmill.now()));
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

-- FUNCTION mark_alerts(uuid, timestamp with time zone, numeric)

CREATE FUNCTION postmill.mark_alerts(p_budget uuid, p_starts_at timestamp with time zone, p_spent numeric) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into postmill.budget_alert (budget_id, starts_at, percent, crossed_at, tenant_id, severity, limit_amount, spent)
    select b.id, p.starts_at, u.percent, postmill.now(), b.tenant_id, u.severity, p.limit_amount, p_spent
      from postmill.budget b
      join postmill.budget_period p on p.budget_id = b.id and p.starts_at = p_starts_at and p.ends_at > (select postmill.now())
     cross join unnest(b.alert_at, b.alert_severity) as u(percent, severity)
     where b.id = p_budget and p_spent * 100 >= u.percent * p.limit_amount
       and not exists (select from postmill.budget_alert a
                        where a.budget_id = b.id and a.starts_at = p.starts_at and a.percent = u.percent
                          and (a.resolved_at is null or a.limit_amount = p.limit_amount));
end
$$;

-- FUNCTION may_define()

CREATE FUNCTION postmill.may_define() RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return postmill.sees_all() and (coalesce(current_setting('postmill.via', true), '') not in ('api', 'console')
        or coalesce(current_setting('postmill.actor_role', true), '') = 'super_admin');
end
$$;

-- FUNCTION measure_slas()

CREATE FUNCTION postmill.measure_slas() RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    delete from postmill.attainment a using postmill.queue q
     where q.name = a.queue and coalesce(q.sla_seconds, q.wait_target_seconds, q.run_target_seconds) is null;
    insert into postmill.attainment as a (queue, measured_at, n, total_p95, wait_p95, run_p95, oldest_seconds, attained, burn)
    select q.name, moment, coalesce(r.n, 0), postmill.quantile(r.total, 0.95), postmill.quantile(r.wait, 0.95),
           postmill.quantile(r.run, 0.95), extract(epoch from moment - postmill.read_oldest(q.name, null))::double precision,
           h.share, (1 - h.share) / 0.05
      from postmill.queue q
     cross join lateral (
        select sum(x.n) filter (where x.total_hist is not null) as n, postmill.histogram_sum(x.total_hist) as total,
               postmill.histogram_sum(x.wait_hist) as wait, postmill.histogram_sum(x.run_hist) as run
          from postmill.fleet_rollups x
         where x.queue = q.name and x.minute > moment - interval '10 minutes') r
     cross join lateral (
        select postmill.attained(postmill.histogram_sum(x.total_hist), q.sla_seconds) as share from postmill.fleet_rollups x
         where x.queue = q.name and x.minute > moment - interval '1 hour' and x.total_hist is not null) h
     where coalesce(q.sla_seconds, q.wait_target_seconds, q.run_target_seconds) is not null
    on conflict (queue) do update
       set measured_at = excluded.measured_at, n = excluded.n, total_p95 = excluded.total_p95, wait_p95 = excluded.wait_p95,
           run_p95 = excluded.run_p95, oldest_seconds = excluded.oldest_seconds, attained = excluded.attained, burn = excluded.burn;
end
$$;

-- FUNCTION minute_of(timestamp with time zone)

CREATE FUNCTION postmill.minute_of(moment timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select date_bin('1 minute', moment, timestamptz '2000-01-01 00:00+00')
$$;

-- FUNCTION moment_of(jsonb)

CREATE FUNCTION postmill.moment_of(p_facts jsonb) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (p_facts ->> 'at')::timestamptz;
exception when others then
    return null;
end
$$;

-- FUNCTION move_notifications(text, text, uuid[])

CREATE FUNCTION postmill.move_notifications(p_channel text, p_to text, p_ids uuid[]) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    moved integer;
begin
    with gone as (
        update postmill.notification n set status = 'moved'
         where n.channel = p_channel and n.status = 'pending' and n.due_at <= moment and (p_ids is null or n.id = any (p_ids))
        returning n.*
    )
    insert into postmill.notification (incident_id, tenant_id, cycle, step, event, channel, instead_of, due_at)
    select g.incident_id, g.tenant_id, g.cycle, g.step, g.event, p_to, coalesce(g.instead_of, p_channel), moment
      from gone g order by g.id
    on conflict do nothing;
    get diagnostics moved = row_count;
    return moved;
end
$$;

-- FUNCTION name_conflict(text, jsonb, text)

CREATE FUNCTION postmill.name_conflict(p_key text, p_aliases jsonb, p_own text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    names text[] := array[p_key] || array(select jsonb_array_elements_text(coalesce(p_aliases, '[]')));
begin
    return (select u.name from unnest(names) as u(name)
             where exists (select from postmill.job_definition d
                            where d.key is distinct from p_own and (d.key = u.name or d.aliases @> array[u.name])) limit 1);
end
$$;

-- FUNCTION names_secret(text)

CREATE FUNCTION postmill.names_secret(p_key text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
declare
    words text[] := array(select m[1] from regexp_matches(
        lower(regexp_replace(left(p_key, 200), '([a-z0-9])(?=[A-Z])', '\1_', 'g')), '[a-z0-9]+', 'g') as m);
    joined text := array_to_string(words, '');
begin
    return joined ~ ('password|passwd|passphrase|secret|credential|apikey|accesskey|privatekey|encryptionkey|signingkey'
                     || '|routingkey|integrationkey|pagerdutykey|authorization|cookie|bearer|webhookurl')
        or coalesce(words[cardinality(words)] in ('token', 'pwd', 'pin', 'otp', 'jwt', 'dsn', 'auth', 'webhook', 'ssn', 'cvv',
                                                  'cvc', 'iban'), false);
end
$$;

-- FUNCTION new_id()

CREATE FUNCTION postmill.new_id() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    AS $$
            select pg_catalog.uuidv7(
                coalesce(nullif(current_setting('postmill.clock_offset', true), ''), '0')::interval)
        $$;

-- FUNCTION new_unit(text, text, timestamp with time zone, timestamp with time zone, text)

CREATE FUNCTION postmill.new_unit(p_source text, p_rule text, p_since timestamp with time zone, p_until timestamp with time zone, p_relation text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own uuid := postmill.new_id();
    moment timestamptz := postmill.now();
begin
    insert into postmill.archive_unit (id, source, rule, status, since, until, relation, columns, made_at, next_try)
    values (own, p_source, p_rule, case when p_relation is null then 'filling' else 'waiting' end, p_since, p_until,
            p_relation,
            postmill.columns_of(format('postmill.%I', p_source)::regclass)
            || case p_source when 'audit_log' then '[["n", "bigint"], ["hash", "bytea"]]'::jsonb else '[]'::jsonb end,
            moment, moment);
    return own;
end
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

-- FUNCTION next_escalation(text[])

CREATE FUNCTION postmill.next_escalation(p_channels text[]) RETURNS double precision
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if exists (select from postmill.dead_news) or exists (
        select from postmill.notification n where n.status = 'pending' and n.due_at is null)
    then
        return 0;
    end if;
    return extract(epoch from least((select min(i.escalate_at) from postmill.incident i where i.escalate_at is not null),
        (select min(greatest(d.due_at, case when s.failing_since is null then s.next_at end))
           from unnest(p_channels) as c(name)
          cross join lateral (select min(n.due_at) as due_at from postmill.notification n
                               where n.channel = c.name and n.status = 'pending') d
           left join postmill.channel_state s on s.channel = c.name)) - moment)::double precision;
end
$$;

-- FUNCTION next_items(uuid, integer)

CREATE FUNCTION postmill.next_items(p_id uuid, p_most integer) RETURNS TABLE(n integer, job_id uuid, tenant_id uuid, job_type text, payload jsonb)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
    op postmill.operation;
begin
    select o.* into op from postmill.operation o where o.id = p_id;
    if op.kind = 'replay' and not op.despite_success and coalesce(op.twins_at < postmill.now() - interval '5 s', true) then
        perform postmill.find_twins(p_id, op.twins_at);
    elsif op.started_at is null then
        update postmill.operation o set started_at = postmill.now() where o.id = p_id;
    end if;
    return query
    select i.n, i.job_id, i.tenant_id, b.job_type, b.payload
      from (select x.* from postmill.operation_item x
             where x.operation_id = p_id and x.status is null order by x.turn, x.n limit p_most) i
      left join lateral (select j.job_type, j.payload from postmill.any_job j where j.id = i.job_id offset 0) b on true
     order by i.n;
end
$$;

-- FUNCTION note_definitions(uuid[], text[])

CREATE FUNCTION postmill.note_definitions(p_ids uuid[], p_keys text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    create temporary table carry_definition on commit drop as
        select u.id, u.key from unnest(p_ids, p_keys) as u(id, key);
end
$$;

-- FUNCTION note_failing(text, text)

CREATE FUNCTION postmill.note_failing(p_channel text, p_error text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.channel_state s set failing_since = postmill.now() where s.channel = p_channel and s.failing_since is null;
    if not found then
        return false;
    end if;
    perform postmill.raise_incident('notification', p_channel, 'critical', 'channel ' || p_channel || ' does not work: ' || p_error,
        jsonb_build_object('channel', p_channel, 'error', left(p_error, 500)));
    return true;
end
$$;

-- FUNCTION note_incident(text, text, text, text, jsonb, uuid, text, text, uuid[])

CREATE FUNCTION postmill.note_incident(p_kind text, p_key text, p_severity text, p_title text, p_facts jsonb, p_tenant uuid, p_queue text, p_job_type text, p_jobs uuid[]) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    happened timestamptz := postmill.moment_of(p_facts);
    hit integer := cardinality(p_jobs);
    times integer := greatest(cardinality(p_jobs), 1);
    anew boolean;
    again boolean;
    over timestamptz;
    own postmill.incident;
begin
    perform pg_advisory_xact_lock(hashtextextended('postmill.incident:' || p_kind || ':' || p_key, 0));
    select o.at into over from postmill.incident_over o where o.kind = p_kind and o.key = p_key;
    select i.* into own from postmill.incident i where i.kind = p_kind and i.key = p_key and i.resolved_at is null;
    if own.id is null then
        select i.* into own from postmill.incident i
         where i.kind = p_kind and i.key = p_key and i.resolved_at > moment - interval '10 minutes'
         order by i.resolved_at desc limit 1;
    end if;
    if own.id is null then
        insert into postmill.incident (kind, key, severity, title, facts, tenant_id, queue, job_type, opened_at, last_at,
               cycle_at, count, jobs, escalate_at, resolved_at, resolved_by)
        values (p_kind, p_key, p_severity, left(p_title, 500), coalesce(p_facts, '{}'), p_tenant, p_queue, p_job_type,
                coalesce(least(happened, moment), moment), moment, moment, times, hit, moment, case when happened < over then over end,
                case when happened < over then 'monitor' end)
        returning * into own;
    elsif own.resolved_at is not null and happened < over then
        update postmill.incident i set count = i.count + times, jobs = i.jobs + hit where i.id = own.id;
    else
        again := own.resolved_at is not null;
        anew := again or own.last_at < moment - interval '1 day';
        if again then
            delete from postmill.incident_part t where t.incident_id = own.id;
            delete from postmill.incident_job j where j.incident_id = own.id;
            own.jobs := 0;
        end if;
        update postmill.incident i
           set count = case when again then 0 else i.count end + times, last_at = moment, jobs = own.jobs + hit,
               reopened = i.reopened + again::integer,
               opened_at = case when again then greatest(own.resolved_at, coalesce(least(happened, moment), moment)) else i.opened_at end,
               severity = case when again or postmill.severity_rank(p_severity) > postmill.severity_rank(i.severity) then p_severity
                               else i.severity end,
               title = left(p_title, 500), facts = case when again then '{}' else i.facts end || coalesce(p_facts, '{}'),
               tenant_id = case when again or i.tenant_id = p_tenant then p_tenant end,
               queue = coalesce(i.queue, p_queue), job_type = coalesce(i.job_type, p_job_type),
               resolved_at = null, resolved_by = null, note = case when not again then i.note end,
               acknowledged_at = case when not anew then i.acknowledged_at end,
               acknowledged_by = case when not anew then i.acknowledged_by end,
               cycle = i.cycle + anew::integer, cycle_at = case when anew then moment else i.cycle_at end,
               step = case when anew then 0 else i.step end,
               escalate_at = case when not anew then i.escalate_at when i.cycle < 4 then moment else moment + interval '1 hour' end
         where i.id = own.id;
    end if;
    if p_tenant is not null then
        insert into postmill.incident_part as t (incident_id, tenant_id, jobs, first_at, last_at)
        values (own.id, p_tenant, hit, moment, moment)
        on conflict (incident_id, tenant_id) do update
           set jobs = t.jobs + excluded.jobs, last_at = excluded.last_at;
    end if;
    if own.jobs < 100 + hit then
        insert into postmill.incident_job (incident_id, job_id, tenant_id, at)
        select own.id, u.id, coalesce(p_tenant, '00000000-0000-0000-0000-000000000001'), moment
          from unnest(p_jobs[:100]) as u(id)
        on conflict do nothing;
    end if;
    return own.id;
end
$$;

-- FUNCTION note_queues()

CREATE FUNCTION postmill.note_queues() RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
    this timestamptz := postmill.minute_of(moment);
    since timestamptz := greatest(coalesce((select max(m.minute) from postmill.queue_minute m), this) - interval '2 minutes',
                                  this - interval '30 minutes');
begin
    insert into postmill.queue_minute as m (queue, minute, arrived, ended, failed, run_seconds, judged, late, wait_hist, run_hist)
    select s.queue, s.minute, s.arrived, s.ended, s.failed, s.run_seconds, coalesce(s.judged, 0),
           greatest(0, coalesce(s.judged - round(postmill.histogram_within(s.total_hist, q.sla_seconds)), 0))::bigint,
           s.wait_hist, s.run_hist
      from (select r.queue, r.minute, coalesce(sum(r.n) filter (where r.outcome = 'enqueued'), 0)::bigint as arrived,
                   coalesce(sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'canceled', 'dead_letter')), 0)::bigint as ended,
                   coalesce(sum(r.n) filter (where r.outcome in ('retried', 'lost', 'failed', 'dead_letter')), 0)::bigint as failed,
                   sum(r.run_sum) as run_seconds, postmill.histogram_sum(r.wait_hist) as wait_hist,
                   postmill.histogram_sum(r.run_hist) as run_hist, postmill.histogram_sum(r.total_hist) as total_hist,
                   (sum(r.n) filter (where r.total_hist is not null))::bigint as judged
              from postmill.fleet_rollups r where r.minute >= since group by 1, 2) s
      join postmill.queue q on q.name = s.queue
    on conflict (queue, minute) do update
       set arrived = excluded.arrived, ended = excluded.ended, failed = excluded.failed, run_seconds = excluded.run_seconds,
           judged = excluded.judged, late = excluded.late, wait_hist = excluded.wait_hist, run_hist = excluded.run_hist;
    insert into postmill.queue_minute as m (queue, minute, queued, running, slots)
    select q.name, this, coalesce(d.queued, 0), coalesce(d.running, 0), coalesce(s.slots, 0)
      from postmill.queue q
      left join (select x.one ->> 0 as queue, sum((x.one ->> 3)::bigint) filter (where x.one ->> 2 = 'queued') as queued,
                        sum((x.one ->> 3)::bigint) filter (where x.one ->> 2 = 'running') as running
                   from postmill.upkeep u cross join jsonb_array_elements(u.note -> 'depths') as x(one)
                  where u.name = 'monitor' group by 1) d on d.queue = q.name
      left join (select v.queue, sum(v.slots) as slots from postmill.read_live_slots() v group by 1) s on s.queue = q.name
     where coalesce(d.queued, 0) > 0 or coalesce(d.running, 0) > 0 or coalesce(s.slots, 0) > 0
    on conflict (queue, minute) do update set queued = excluded.queued, running = excluded.running, slots = excluded.slots;
    update postmill.attainment a
       set attained_day = 1 - d.late::double precision / nullif(d.judged, 0),
           burn_day = d.late::double precision / nullif(d.judged, 0) / 0.05
      from (select m.queue, sum(m.judged) as judged, sum(m.late) as late from postmill.queue_minute m
             where m.minute > moment - interval '1 day' group by 1) d
     where d.queue = a.queue;
    delete from postmill.queue_minute m where m.minute < moment - interval '2 days';
end
$$;

-- FUNCTION note_sent(text, uuid[], double precision)

CREATE FUNCTION postmill.note_sent(p_channel text, p_ids uuid[], p_gap double precision) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    failed timestamptz;
begin
    update postmill.notification n set status = 'sent', sent_at = moment, error = null where n.id = any (p_ids);
    select s.failing_since into failed from postmill.channel_state s where s.channel = p_channel;
    insert into postmill.channel_state as s (channel, next_at, last_sent_at)
    values (p_channel, moment + p_gap * interval '1 second', moment)
    on conflict (channel) do update
       set next_at = excluded.next_at, last_sent_at = excluded.last_sent_at, failures = 0, failing_since = null, last_error = null;
    if failed is not null then
        perform postmill.resolve_incident('notification', p_channel);
    end if;
end
$$;

-- FUNCTION note_trigger(uuid, text)

CREATE FUNCTION postmill.note_trigger(p_id uuid, p_error text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if exists (select from postmill.trigger t where t.id = p_id and t.error is distinct from p_error) then
        update postmill.trigger t
           set error = p_error, error_at = case when p_error is not null then postmill.now() end
         where t.id = (select l.id from postmill.trigger l where l.id = p_id for no key update skip locked);
    end if;
end
$$;

-- FUNCTION note_unsent(text, uuid[], text, double precision, integer)

CREATE FUNCTION postmill.note_unsent(p_channel text, p_ids uuid[], p_error text, p_wait double precision, p_counts integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    failed integer;
begin
    update postmill.notification n set error = left(p_error, 500) where n.id = any (p_ids);
    insert into postmill.channel_state as s (channel, next_at, failures, last_error)
    values (p_channel, postmill.now() + p_wait * interval '1 second', p_counts, left(p_error, 500))
    on conflict (channel) do update
       set next_at = excluded.next_at, failures = s.failures + p_counts, last_error = excluded.last_error
    returning s.failures into failed;
    return failed;
end
$$;

-- FUNCTION now()

CREATE FUNCTION postmill.now() RETURNS timestamp with time zone
    LANGUAGE sql PARALLEL SAFE
    AS $$
    select pg_catalog.clock_timestamp()
         + coalesce(nullif(current_setting('postmill.clock_offset', true), ''), '0')::interval
$$;

-- FUNCTION open_login(bytea, bytea, double precision, text)

CREATE FUNCTION postmill.open_login(p_secret bytea, p_hash bytea, p_seconds double precision, p_request_id text) RETURNS TABLE(actor_id text, tenant_id uuid, role text, expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    key uuid;
    until timestamptz;
begin
    update postmill.login_link l set used_at = moment
     where l.hash = p_secret and l.used_at is null and l.expires_at > moment
    returning l.actor_id, l.tenant_id, l.role::text into actor_id, tenant_id, role;
    if not found then
        select 'key ' || k.name, k.tenant_id, k.role::text, k.id, k.expires_at into actor_id, tenant_id, role, key, until
          from postmill.api_key k
         where k.hash = p_secret and k.revoked_at is null and (k.expires_at is null or k.expires_at > moment);
        if not found then
            return;
        end if;
    end if;
    if exists (select from postmill.tenant t where t.id = open_login.tenant_id and t.status = 'suspended') then
        return;
    end if;
    expires_at := least(moment + p_seconds * interval '1 second', until);
    insert into postmill.console_session (hash, actor_id, tenant_id, role, api_key_id, expires_at)
    values (p_hash, actor_id, tenant_id, role, key, expires_at);
    perform postmill.set_actor('console', 'user', actor_id, role, p_request_id);
    perform postmill.audit('logins.open', 'login', null, tenant_id, null,
                           jsonb_build_object('by', case when key is null then 'link' else 'key' end, 'expires_at', expires_at));
    return next;
end
$$;

-- FUNCTION open_session(uuid, double precision, text, text, integer, text, text[], jsonb, text[], jsonb, text)

CREATE FUNCTION postmill.open_session(p_holder uuid, p_seconds double precision, p_worker_id text, p_hostname text, p_pid integer, p_version text, p_queues text[], p_slots jsonb, p_job_types text[], p_metadata jsonb, p_build text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    insert into postmill.lease (holder, started_at, expires_at)
    values (p_holder, moment, moment + p_seconds * interval '1 second');
    insert into postmill.worker (holder, worker_id, hostname, pid, version, queues, slots, job_types, started_at,
           last_seen_at, metadata, build)
    values (p_holder, p_worker_id, p_hostname, p_pid, p_version, p_queues, p_slots, p_job_types, moment, moment, p_metadata, p_build);
    insert into postmill.queue (name) select unnest(p_queues) on conflict do nothing;
end
$$;

-- FUNCTION open_transactions(boolean)

CREATE FUNCTION postmill.open_transactions(p_writing boolean) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

-- FUNCTION other_group(text)

CREATE FUNCTION postmill.other_group(p_job_type text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return postmill.error_group_id(p_job_type, 'other', '', '');
end
$$;

-- FUNCTION park_tickets(uuid)

CREATE FUNCTION postmill.park_tickets(p_tenant uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    parked bigint := 0;
    moved bigint;
begin
    with mine as materialized (
        select r.ctid as tid from postmill.ready r
         where (r.lane = p_tenant and r.queue in (select q.name from postmill.queue q))
            or (r.lane not in (select t.id from postmill.tenant t)
                and (select j.tenant_id from postmill.any_job j where j.id = r.id limit 1) = p_tenant)
         order by r.id for update
    ), gone as (
        delete from postmill.ready r where r.ctid = any (array(select m.tid from mine m)) returning r.*
    )
    insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select g.queue, g.lane, postmill.parked_at(g.ready_at, true), g.id, g.priority, g.attempt, g.run, g.lost from gone g;
    get diagnostics parked = row_count;
    with mine as materialized (
        select s.ctid as tid from postmill.scheduled s
         where s.run_at < timestamptz '2500-01-01 00:00+00'
           and (s.lane = p_tenant or (s.lane not in (select t.id from postmill.tenant t)
                and (select j.tenant_id from postmill.any_job j where j.id = s.id limit 1) = p_tenant))
         order by s.id for update
    ), gone as (
        delete from postmill.scheduled s where s.ctid = any (array(select m.tid from mine m)) returning s.*
    )
    insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select g.queue, g.lane, postmill.parked_at(g.run_at, false), g.id, g.priority, g.attempt, g.run, g.lost from gone g;
    get diagnostics moved = row_count;
    return parked + moved;
end
$$;

-- FUNCTION parked_at(timestamp with time zone, boolean)

CREATE FUNCTION postmill.parked_at(p_at timestamp with time zone, p_ready boolean) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return (
    select p_at + case when p_ready then interval '2000 years' else interval '1000 years' end);
end
$$;

-- TABLE type_pause

CREATE TABLE postmill.type_pause (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    paused_at timestamp with time zone NOT NULL,
    paused_by text,
    reason text,
    resume_at timestamp with time zone,
    held_until timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    ended_by text,
    released_at timestamp with time zone
);

-- FUNCTION pause_json(postmill.type_pause)

CREATE FUNCTION postmill.pause_json(p postmill.type_pause) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
    return case when p.id is not null then jsonb_build_object('paused_at', p.paused_at, 'reason', p.reason, 'resume_at', p.resume_at) end;
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

-- FUNCTION paused_types()

CREATE FUNCTION postmill.paused_types() RETURNS text[]
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return coalesce((select array_agg(n.name) from postmill.type_pause p
                       left join postmill.job_definition d on d.key = p.job_type
                      cross join unnest(p.job_type || coalesce(d.aliases, '{}')) as n(name)
                      where p.ended_at is null and (p.resume_at is null or p.resume_at > (select postmill.now()))), '{}');
end
$$;

-- FUNCTION pending_deliveries(integer)

CREATE FUNCTION postmill.pending_deliveries(p_most integer) RETURNS TABLE(event_id uuid, name text, context text, published_at timestamp with time zone, correlation_id text, tenant_id uuid, trigger_id uuid, label text, job_type text, payload_template text, tenant_slug text, tenant_zone text)
    LANGUAGE plpgsql
    AS $$
begin
    return query
    select e.id, e.name, e.context::text, e.published_at, e.correlation_id, e.tenant_id, t.id, t.label, d.key,
           t.payload_template::text, n.slug, n.timezone
      from (select y.event_id, y.trigger_id from postmill.event_delivery y
             where y.outcome = 'pending' and y.due_at <= (select postmill.now())
               and not (select h.gated and postmill.is_away(y.tenant_id) from postmill.partition_horizon h)
             order by y.due_at, y.event_id limit p_most for update skip locked) y
      join postmill.event e on e.id = y.event_id
      join postmill.trigger t on t.id = y.trigger_id
      join postmill.job_definition d on d.id = t.definition_id
      join postmill.tenant n on n.id = e.tenant_id;
end
$$;

-- FUNCTION place_jobs(text, uuid[], text, timestamp with time zone, text)

CREATE FUNCTION postmill.place_jobs(p_action text, p_ids uuid[], p_queue text, p_run_at timestamp with time zone, p_reason text) RETURNS TABLE(id uuid, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    one record;
    rung record;
    rings integer := 0;
begin
    for one in
        with before as materialized (select s.* from postmill.stands(p_ids) s), waits as materialized (
            select b.id from before b where b.state in ('queued', 'scheduled', 'blocked')
        ), now_ready as materialized (
            select r.ctid as tid from postmill.ready r
             where r.id = any (array(select w.id from waits w)) and r.queue is distinct from p_queue order by r.id for update skip locked
        ), later as materialized (
            select r.ctid as tid from postmill.scheduled r
             where r.id = any (array(select w.id from waits w)) and r.queue is distinct from p_queue order by r.id for update skip locked
        ), parents as materialized (
            select r.ctid as tid from postmill.blocked r
             where r.id = any (array(select w.id from waits w)) and p_queue is not null and r.queue <> p_queue
             order by r.id for update skip locked
        ), from_ready as (
            delete from postmill.ready r where r.ctid = any (array(select t.tid from now_ready t)) returning r.*
        ), from_scheduled as (
            delete from postmill.scheduled r where r.ctid = any (array(select t.tid from later t)) returning r.*
        ), from_blocked as (
            delete from postmill.blocked r where r.ctid = any (array(select t.tid from parents t)) returning r.*
        ), taken as (
            select r.id, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, r.ready_at as was_due, p_run_at as due from from_ready r
            union all
            select s.id, s.queue, s.lane, s.priority, s.attempt, s.run, s.lost, s.run_at, coalesce(p_run_at, s.run_at) from from_scheduled s
        ), to_ready as (
            insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select coalesce(p_queue, t.queue), t.lane, t.priority, moment, t.id, t.attempt, t.run, t.lost
              from taken t where coalesce(t.due, moment) <= moment order by t.was_due, t.id
        ), to_scheduled as (
            insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
            select coalesce(p_queue, t.queue), t.lane, t.due, t.id, t.priority, t.attempt, t.run, t.lost
              from taken t where t.due > moment
        ), to_blocked as (
            insert into postmill.blocked (id, queue, lane, priority, attempt, run, lost)
            select r.id, p_queue, r.lane, r.priority, r.attempt, r.run, r.lost from from_blocked r
        ), put as (
            select t.id, t.queue, t.was_due from taken t union all select r.id, r.queue, null from from_blocked r
        )
        select u.id, b.tenant_id, p.queue, p.was_due,
               case when b.id is null then 'unknown' when p.id is not null then 'changed' when b.state = 'running' then 'running'
                    when b.state not in ('queued', 'scheduled', 'blocked') then 'finished'
                    when b.state = 'blocked' and p_queue is null then 'blocked'
                    when exists (select from postmill.ready r where r.id = b.id and r.queue = p_queue offset 0)
                      or exists (select from postmill.scheduled r where r.id = b.id and r.queue = p_queue offset 0)
                      or exists (select from postmill.blocked r where r.id = b.id and r.queue = p_queue offset 0) then 'unchanged'
                    else 'contended' end as status
          from (select distinct unnest(p_ids) as id) u left join before b on b.id = u.id left join put p on p.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status = 'changed' then
            perform postmill.audit(p_action, 'job', id::text, one.tenant_id,
                case when p_queue is null then jsonb_build_object('due_at', one.was_due) else jsonb_build_object('queue', one.queue) end,
                case when p_queue is null then jsonb_build_object('due_at', p_run_at) else jsonb_build_object('queue', p_queue) end, p_reason);
        end if;
        return next;
    end loop;
    for rung in select distinct r.queue, r.lane, r.priority from postmill.ready r where r.id = any (p_ids) and r.ready_at >= moment limit 16 loop
        perform postmill.ring(rung.queue, rung.lane, rung.priority);
    end loop;
end
$$;

-- FUNCTION places_of(text[], uuid[], text, text)

CREATE FUNCTION postmill.places_of(p_states text[], p_tenants uuid[], p_ready text, p_scheduled text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
    bounds constant text := 't.id < $1 and t.id >= $2 order by t.id desc limit $3';
    ended text;
    parts text[] := '{}';
begin
    if 'queued' = any (p_states) then
        parts := parts || format('(select t.id, t.queue, true as fits from %s t where %s)', p_ready, bounds);
    end if;
    if p_states && array['queued', 'scheduled', 'retrying', 'first'] then
        -- Overdue tickets are few or, where no worker lives, all of them.
        parts := parts || format('(select t.id, t.queue, case when t.run_at <= $5 then %L::boolean else %s end as fits
            from %s t where %s)', 'queued' = any (p_states),
            case when 'scheduled' = any (p_states) then 'true' when 'retrying' = any (p_states) then 't.attempt > 1'
                 when 'first' = any (p_states) then 't.attempt <= 1' else 'false' end,
            p_scheduled, case when p_states && array['scheduled', 'retrying', 'first'] then bounds
                 else 't.id < $1 and t.id >= $2 and t.id = any ($6) order by t.id desc limit $3' end);
    end if;
    parts := parts || array(select format('(select t.id, t.queue, true from postmill.%I t where %s)', s, bounds)
                              from unnest(p_states) s where s in ('blocked', 'running'));
    if 'dead_letter' = any (p_states) then
        -- A tenant has few letters, or is met soon.
        parts := parts || case when p_tenants is null then format('(select t.id, t.queue, true from postmill.dead_letter t where %s)', bounds)
            else format('(select t.id, t.queue, true from (select d.id, d.queue from postmill.dead_letter d where d.tenant_id = any (%L::uuid[])
                order by d.failed_at desc limit 20000) t where %s)', p_tenants, bounds) end;
    end if;
    if 'succeeded' = any (p_states) then
        parts := parts || '(select t.job_id, null, t.status = ''succeeded'' from postmill.outcome t
            where t.job_id < $1 and t.job_id >= $2 order by t.job_id desc limit $3)'::text;
    end if;
    for ended in select case s when 'replayed' then 'dead_letter' else s end from unnest(p_states) s
                  where s in ('failed', 'canceled', 'replayed') loop
        parts := parts || array(select format('(select t.job_id, null, true from postmill.outcome t where t.status <> ''succeeded'' and t.status = %L
            and %s and t.job_id < $1 and t.job_id >= $2 order by t.job_id desc limit $3)', ended, n.condition)
            from (select format('t.tenant_id = %L', p.id) as condition from unnest(p_tenants) as p(id)
                  union all select 'true' where p_tenants is null) n);
    end loop;
    return case when cardinality(parts) > 0 then array_to_string(parts, ' union all ') end;
end
$_$;

-- FUNCTION plan_notifications(uuid[], timestamp with time zone[])

CREATE FUNCTION postmill.plan_notifications(p_ids uuid[], p_due timestamp with time zone[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    one record;
begin
    for one in select u.id, u.due from unnest(p_ids, p_due) as u(id, due) order by u.id loop
        update postmill.notification n
           set due_at = greatest(one.due, (select max(e.due_at) from postmill.notification e
                                            where e.incident_id = n.incident_id and e.channel = n.channel and e.id < n.id
                                              and e.status = 'pending'))
         where n.id = one.id and n.status = 'pending' and n.due_at is null;
    end loop;
end
$$;

-- FUNCTION plan_triggers(jsonb)

CREATE FUNCTION postmill.plan_triggers(p_plans jsonb) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    planned integer;
begin
    with plans as (
        select x.* from jsonb_to_recordset(p_plans) as x(trigger_id uuid, expected timestamptz, next timestamptz, error text)
    ), mine as (
        select t.id from postmill.trigger t join plans p on p.trigger_id = t.id
         where t.next_run_at is not distinct from p.expected order by t.id for no key update of t skip locked
    ), done as (
        update postmill.trigger t
           set next_run_at = p.next, broken = p.next is null,
               error = coalesce(p.error, case when p.next is null then 'its schedule never comes again' end, t.error),
               error_at = case when p.next is null then (select postmill.now()) else t.error_at end
          from plans p, mine m where t.id = p.trigger_id and m.id = t.id
        returning t.id
    )
    select count(*) into planned from done;
    return planned;
end
$$;

-- FUNCTION promise_json(text)

CREATE FUNCTION postmill.promise_json(p_queue text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (select jsonb_build_object('owner', q.owner, 'contact', q.contact, 'color', q.color, 'sla_seconds', q.sla_seconds,
                       'wait_target_seconds', q.wait_target_seconds, 'run_target_seconds', q.run_target_seconds,
                       'escalation', q.escalation, 'runbook', q.runbook, 'boost_after_seconds', q.boost_after_seconds,
                       'boost_step', q.boost_step, 'boost_to', q.boost_to) from postmill.queue q where q.name = p_queue);
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
            select p.queue, p.lane, p.priority,
                   case when p.run_at < moment - interval '1 second' and (p.run > 0 or due < p_most) then p.run_at
                        else postmill.now() end,
                   p.id, p.attempt, p.run, p.lost from picked p
             order by p.run_at, p.id
        )
        select p.queue, p.lane, p.priority, count(*) as n from picked p group by 1, 2, 3
    loop
        queue := rung.queue; lane := rung.lane; priority := rung.priority; n := rung.n;
        return next;
    end loop;
end
$$;

-- FUNCTION prune_audit(integer)

CREATE FUNCTION postmill.prune_audit(p_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    edge timestamptz := postmill.retention_edge(postmill.now(), postmill.keep_of('audit'));
    start bigint := (select s.n from postmill.audit_start s);
    last bigint;
    own postmill.archive_unit;
begin
    select min(c.n) - 1 into last
      from (select c.n, c.audit_id from postmill.audit_chain c where c.n > start order by c.n limit p_most) c
      join postmill.audit_log l on l.id = c.audit_id where l.at >= edge;
    if last is null then
        select max(c.n) into last
          from (select c.n from postmill.audit_chain c where c.n > start order by c.n limit p_most) c;
    end if;
    if coalesce(last, start) <= start then
        return 0;
    end if;
    if postmill.archive_required() then
        select u.* into own from postmill.archive_unit u
         where u.source = 'audit_log' and u.status = 'filling' for update;
        if not found then
            own.id := postmill.new_unit('audit_log', 'archive', 'infinity', '-infinity');
            select u.* into own from postmill.archive_unit u where u.id = own.id;
        end if;
        execute format($q$
            with put as (
                insert into postmill.leaving (unit_id, tenant_id, job_id, at, fields)
                select $1, g.tenant_id, null, g.at, %s
                  from (select l.*, c.n, c.hash from postmill.audit_chain c join postmill.audit_log l on l.id = c.audit_id
                         where c.n > $2 and c.n <= $3) g order by g.n
                returning at
            )
            update postmill.archive_unit u
               set since = least(u.since, p.low), until = greatest(u.until, p.high + interval '1 microsecond'),
                   rows = coalesce(u.rows, 0) + p.n
              from (select min(at) as low, max(at) as high, count(*) as n from put) p where u.id = $1$q$,
            postmill.fields_of(own.columns, 'g')) using own.id, start, last;
    end if;
    update postmill.audit_start s set n = last, hash = (select c.hash from postmill.audit_chain c where c.n = last);
    delete from postmill.audit_log l
     where l.id in (select c.audit_id from postmill.audit_chain c where c.n > start and c.n <= last);
    perform postmill.set_actor('upkeep', 'system', 'retention');
    perform postmill.audit('audit.prune', 'audit_log', null, null, null,
        (select jsonb_build_object('n', s.n, 'hash', encode(s.hash, 'hex'), 'rows', last - start) from postmill.audit_start s));
    return last - start;
end
$_$;

-- FUNCTION prune_error_groups(interval, integer)

CREATE FUNCTION postmill.prune_error_groups(p_keep interval, p_most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    edge timestamptz := postmill.now() - p_keep;
    gone integer;
begin
    delete from postmill.error_group g where g.id = any (array(
        select o.id from postmill.error_group o where o.last_seen_at < edge order by o.last_seen_at, o.id limit p_most));
    get diagnostics gone = row_count;
    with old as (
        delete from postmill.error_group_minute m where m.ctid = any (array(
            select o.ctid from postmill.error_group_minute o
             where o.minute < (select postmill.now()) - interval '2 days' and not o.hourly order by o.minute limit p_most))
        returning m.*
    )
    insert into postmill.error_group_minute as m (id, tenant_id, minute, n, hourly)
    select o.id, o.tenant_id, date_bin('1 hour', o.minute, '2000-01-01Z'), sum(o.n), true from old o group by 1, 2, 3
    on conflict (id, tenant_id, minute) do update set n = m.n + excluded.n, hourly = true;
    return gone;
end
$$;

-- FUNCTION prune_kept(integer)

CREATE FUNCTION postmill.prune_kept(p_most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    ids uuid[] := array(
        select k.id from postmill.job_kept k
         where not exists (select from postmill.outcome o where o.job_id = k.id)
           and not exists (select from postmill.attempt a where a.job_id = k.id)
           and not exists (select from postmill.ready t where t.id = k.id)
           and not exists (select from postmill.scheduled t where t.id = k.id)
           and not exists (select from postmill.blocked t where t.id = k.id)
           and not exists (select from postmill.running t where t.id = k.id)
           and not exists (select from postmill.dead_letter t where t.id = k.id)
         order by k.id limit p_most for update skip locked);
begin
    perform postmill.leave('job_kept', ids, 'archive');
    return cardinality(ids);
end
$$;

-- FUNCTION prune_partition()

CREATE FUNCTION postmill.prune_partition() RETURNS TABLE(name text, status text, kept bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    base interval := (select p.retention from postmill.partition_policy p);
    longest interval := greatest(base, (select max(c.keep) from postmill.retention_classes() c));
    old postmill.partition;
    gone text;
    child text;
    child_since timestamptz;
    stood text[] := '{}';
    before text := current_setting('lock_timeout');
    has_rows boolean;
begin
    perform from postmill.upkeep u where u.name = 'prune' for update skip locked;
    if not found then
        return;
    end if;
    -- Not before its jobs are counted.
    if exists (select from postmill.rollup_state s where s.counted_to < moment - base) then
        perform postmill.count_enqueues('-1 hour'), postmill.count_enqueues('-1 hour');
    end if;
    select x.* into old from postmill.partition x
     where x.until < moment - case when x.thin then longest else base end
       and x.until < (select s.counted_to from postmill.rollup_state s)
     order by x.until, x.parent = 'job' desc, x.parent limit 1;
    if not found then
        return;
    end if;
    name := old.name;
    kept := 0;
    perform set_config('lock_timeout', '50ms', true);
    begin
        execute format('lock table postmill.%I in share mode', old.name);
        if old.parent = 'job' then
            kept := postmill.keep_survivors(old.name, postmill.id_at(old.since), postmill.id_at(old.until), old.until, moment);
        elsif longest > base and not old.thin then
            select t.child, t.since, t.gone into child, child_since, stood from postmill.thin_partition(old, moment) t;
        end if;
        execute format('select exists (select from postmill.%I)', old.name) into has_rows;
        status := case when has_rows and postmill.archive_required() then 'detached' else 'dropped' end;
        delete from postmill.partition x where x.name = old.name or x.name = any (stood);
        if has_rows then
            perform postmill.new_unit(old.parent, 'archive', old.since, old.until, old.name);
        end if;
        if child is not null then
            insert into postmill.partition (parent, name, since, until, thin)
            values (old.parent, child, child_since, old.until, true);
        end if;
        -- A fall of the machine may undo it, as a whole; nobody waits for the disk meanwhile.
        perform set_config('synchronous_commit', 'off', true);

        execute format('lock table postmill.%I in access exclusive mode', old.parent);
        if has_rows then
            execute format('alter table postmill.%I detach partition postmill.%I', old.parent, old.name);
        else
            execute format('drop table postmill.%I', old.name);
        end if;
        foreach gone in array stood loop
            execute format('drop table postmill.%I', gone);
        end loop;
        if child is not null then
            execute format('alter table postmill.%I attach partition postmill.%I for values from (%L) to (%L)', old.parent, child,
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

-- FUNCTION publish(text, jsonb, uuid, text, text, text)

CREATE FUNCTION postmill.publish(name text, context jsonb DEFAULT '{}'::jsonb, tenant uuid DEFAULT NULL::uuid, correlation_id text DEFAULT NULL::text, request_id text DEFAULT NULL::text, traceparent text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    found_one uuid;
    met boolean;
    standing text;
    elsewhere text;
    waiting boolean := exists (select from postmill.event_delivery y where y.outcome = 'pending');
begin
    if name is null or name !~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$' or length(name) > 200 then
        raise exception 'postmill: "%" is no name of an event', left(name, 200) using errcode = 'invalid_parameter_value',
            hint = 'Write words of letters, digits, _ and - with dots between them, as in provider.folder.updated.';
    elsif jsonb_typeof(context) is distinct from 'object' then
        raise exception 'postmill: the context of % must be a JSON object, got %', name,
            coalesce(jsonb_typeof(context), 'NULL') using errcode = 'invalid_parameter_value';
    end if;
    select p.event_id, p.trigger_id is not null, p.label, p.job_type into found_one, met, standing, elsewhere
      from postmill.publish_event(name, context, tenant, correlation_id, request_id, traceparent) p limit 1;
    if found_one is null and standing is not null then
        perform postmill.refuse_away(tenant, standing, elsewhere);
    elsif found_one is null then
        raise exception 'postmill: there is no tenant %', tenant using errcode = 'foreign_key_violation';
    end if;
    if met and not waiting then
        perform postmill.tell('+deliver');
    end if;
    return found_one;
end
$_$;

-- FUNCTION publish_event(text, jsonb, uuid, text, text, text, text, text, interval)

CREATE FUNCTION postmill.publish_event(p_name text, p_context jsonb, p_tenant uuid DEFAULT NULL::uuid, p_correlation_id text DEFAULT NULL::text, p_request_id text DEFAULT NULL::text, p_traceparent text DEFAULT NULL::text, p_actor_type text DEFAULT NULL::text, p_actor_id text DEFAULT NULL::text, p_grace interval DEFAULT '00:00:00'::interval) RETURNS TABLE(event_id uuid, published_at timestamp with time zone, correlation_id text, trigger_id uuid, label text, job_type text, payload_template text, tenant_slug text, tenant_zone text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    owner_tenant uuid := coalesce(p_tenant, postmill.scope_tenant(), '00000000-0000-0000-0000-000000000001');
begin
    event_id := postmill.new_id();
    published_at := postmill.now();
    correlation_id := coalesce(p_correlation_id, event_id::text);
    if not postmill.in_scope(owner_tenant) or not exists (select from postmill.tenant t where t.id = owner_tenant) then
        event_id := null; -- out of scope is as good as unknown
        return next;
        return;
    end if;
    if (select h.gated from postmill.partition_horizon h) then
        select g.answer, g.cell into label, job_type from postmill.gate(owner_tenant) g where g.answer <> 'parked';
        if label is not null then
            event_id := null; -- moving or moved, and the cell
            return next;
            return;
        end if;
    end if;
    insert into postmill.event (id, tenant_id, name, context, published_at, actor_type, actor_id, request_id,
           correlation_id, traceparent)
    values (event_id, owner_tenant, p_name, p_context, published_at, coalesce(p_actor_type, 'system'), p_actor_id,
            p_request_id, correlation_id, p_traceparent);
    return query
    with met as (
        select t.* from postmill.trigger t
         where t.tenant_id = owner_tenant and t.event_name = any (postmill.event_patterns(p_name))
           and t.trigger_type = 'event' and t.is_enabled and t.deleted_at is null
    ), noted as (
        insert into postmill.event_delivery (event_id, trigger_id, tenant_id, due_at)
        select publish_event.event_id, m.id, owner_tenant, publish_event.published_at + p_grace from met m
    )
    select publish_event.event_id, publish_event.published_at, publish_event.correlation_id, m.id, m.label, d.key,
           m.payload_template::text, n.slug, n.timezone
      from met m join postmill.job_definition d on d.id = m.definition_id join postmill.tenant n on n.id = m.tenant_id
     order by m.id;
    if not found then
        return next;
    end if;
end
$$;

-- FUNCTION put_back(uuid, uuid[], bigint[], uuid[], bigint[], text[], double precision[], integer[], text[], text[], text[], integer[], text[], integer[], integer[], text[], text[], text[])

CREATE FUNCTION postmill.put_back(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_statuses text[], p_delays double precision[], p_deaths integer[] DEFAULT NULL::integer[], p_error_classes text[] DEFAULT NULL::text[], p_error_codes text[] DEFAULT NULL::text[], p_error_messages text[] DEFAULT NULL::text[], p_error_statuses integer[] DEFAULT NULL::integer[], p_stacks text[] DEFAULT NULL::text[], p_exit_codes integer[] DEFAULT NULL::integer[], p_pids integer[] DEFAULT NULL::integer[], p_stdouts text[] DEFAULT NULL::text[], p_stderrs text[] DEFAULT NULL::text[], p_error_groups text[] DEFAULT NULL::text[]) RETURNS SETOF uuid
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
               p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids, p_stdouts, p_stderrs,
               p_error_groups)
               as u(id, claim_no, tenant_id, micros, status, delay, deaths, error_class, error_code, error_message,
                    error_status, stack, exit_code, pid, stdout_tail, stderr_tail, error_group)
    ), held as materialized (
        select r.ctid as tid, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*
          from asked a join postmill.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from postmill.running r where r.ctid = any (array(select h.tid from held h))
    ), tried as (
        insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, pid, started_at, finished_at,
               status, exit_code, error_class, error_code, error_message, error_status, stack, stdout_tail,
               stderr_tail, error_group)
        select h.id, h.tenant_id, h.attempt, h.run, p_holder, h.claim_no, h.pid,
               moment - h.micros * interval '1 microsecond', moment, h.status, h.exit_code, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail,
               h.error_group
          from held h where h.status is not null
    ), later as (
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select h.queue, h.lane, case when h.delay = 'infinity' then postmill.held_until(h.id, moment)
                                     else moment + h.delay * interval '1 second' end, h.id, h.priority,
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

-- FUNCTION quantile(bigint[], double precision)

CREATE FUNCTION postmill.quantile(hist bigint[], q double precision) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
declare
    bounds constant double precision[] := postmill.rollup_bounds();
    rank constant double precision := q * (select sum(h) from unnest(hist) h);
    below double precision := 0;
begin
    if coalesce(rank, 0) = 0 and coalesce((select sum(h) from unnest(hist) h), 0) = 0 then
        return null;
    end if;
    for i in 1 .. cardinality(bounds) loop
        if hist[i] > 0 and below + hist[i] >= rank then
            return coalesce(bounds[i - 1], 0)
                 + (bounds[i] - coalesce(bounds[i - 1], 0)) * greatest(rank - below, 0) / hist[i];
        end if;
        below := below + hist[i];
    end loop;
    return bounds[cardinality(bounds)];
end
$$;

-- FUNCTION queue_conflict(text, text, text)

CREATE FUNCTION postmill.queue_conflict(p_queue text, p_kind text, p_key text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (select d.key from postmill.job_definition d
             where d.queue = p_queue and d.key <> p_key and (d.kind = 'http') <> (p_kind = 'http') order by d.key limit 1);
end
$$;

-- FUNCTION queue_json(text)

CREATE FUNCTION postmill.queue_json(p_queue text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (select jsonb_build_object('paused_at', q.paused_at, 'reason', q.pause_reason, 'resume_at', q.resume_at)
              from postmill.queue q where q.name = p_queue);
end
$$;

-- FUNCTION raise_incident(text, text, text, text, jsonb, uuid, text, text, uuid)

CREATE FUNCTION postmill.raise_incident(p_kind text, p_key text, p_severity text, p_title text, p_facts jsonb, p_tenant uuid DEFAULT NULL::uuid, p_queue text DEFAULT NULL::text, p_job_type text DEFAULT NULL::text, p_job uuid DEFAULT NULL::uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return postmill.note_incident(p_kind, p_key, p_severity, p_title, p_facts, p_tenant, p_queue, p_job_type,
                                  array_remove(array[p_job], null));
end
$$;

-- FUNCTION raise_lanes(text, uuid[], double precision, integer, integer, integer, integer)

CREATE FUNCTION postmill.raise_lanes(p_queue text, p_lanes uuid[], p_after double precision, p_step integer, p_to integer, p_window integer, p_most integer, OUT n integer, OUT oldest timestamp with time zone, OUT sample jsonb) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment constant timestamptz := postmill.now();
    due constant timestamptz := moment - p_after * interval '1 second';
begin
    -- What has left its place: it started, was canceled, or an operator gave it another priority or queue.
    update postmill.boost b set ended_at = moment
     where b.queue = p_queue and b.lane = any (p_lanes) and b.ended_at is null
       and not exists (select from postmill.ready r where r.id = b.job_id and r.queue = b.queue and r.lane = b.lane
                          and r.priority = b.priority);
    with recursive levels as (
        select l.lane, f.priority from unnest(p_lanes) as l(lane) cross join lateral (
            select r.priority from postmill.ready r where r.queue = p_queue and r.lane = l.lane and r.priority > p_to
             order by r.priority limit 1) f
        union all
        select s.lane, f.priority from levels s cross join lateral (
            select r.priority from postmill.ready r where r.queue = p_queue and r.lane = s.lane and r.priority > s.priority
             order by r.priority limit 1) f
    ), busy as materialized (
        select b.lane, count(*) as n from postmill.boost b
         where b.queue = p_queue and b.lane = any (p_lanes) and b.ended_at is null group by 1
    ), fresh as materialized (
        select x.* from (
            select f.id, f.lane, f.priority, f.ready_at, row_number() over (partition by l.lane order by f.ready_at, f.id) as place
              from (select v.* from levels v limit 10000) l cross join lateral (
                select r.id, r.lane, r.priority, r.ready_at from postmill.ready r
                 where r.queue = p_queue and r.lane = l.lane and r.priority = l.priority and r.ready_at <= due
                   and not exists (select from postmill.boost b where b.job_id = r.id and b.ended_at is null)
                 order by r.ready_at, r.id limit p_window) f) x
          left join busy y on y.lane = x.lane
         where x.place <= p_window - coalesce(y.n, 0)
         order by x.ready_at, x.id limit p_most
    ), higher as materialized (
        select o.id, o.base, o.priority, postmill.boosted_to(o.base, moment - o.ready_at, p_after, p_step, p_to) as target
          from (select f.id, f.priority as base, f.priority, f.ready_at from fresh f
                union all
                select b.job_id, b.from_priority, b.priority, b.ready_at from postmill.boost b
                 where b.queue = p_queue and b.lane = any (p_lanes) and b.ended_at is null) o
         where postmill.boosted_to(o.base, moment - o.ready_at, p_after, p_step, p_to) < o.priority
         order by o.ready_at, o.id limit p_most
    ), locked as materialized (
        select r.ctid as tid, r.*, h.base, h.target from postmill.ready r join higher h on h.id = r.id
         where r.id = any (array(select i.id from higher i)) and r.queue = p_queue and r.priority = h.priority
         order by r.id for update of r skip locked
    ), gone as (
        delete from postmill.ready r where r.ctid = any (array(select k.tid from locked k)) returning r.*
    ), put as (
        insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select g.queue, g.lane, k.target, g.ready_at, g.id, g.attempt, g.run, g.lost from gone g join locked k on k.id = g.id
    ), noted as (
        insert into postmill.boost as b (job_id, tenant_id, queue, lane, from_priority, priority, ready_at, raised_at)
        select k.id, j.tenant_id, k.queue, k.lane, k.base, k.target, k.ready_at, moment
          from locked k cross join lateral (select f.tenant_id from postmill.any_job f where f.id = k.id offset 0) j
         order by k.id
        on conflict (job_id) do update
           set queue = excluded.queue, lane = excluded.lane, from_priority = excluded.from_priority, priority = excluded.priority,
               ready_at = excluded.ready_at, raised_at = excluded.raised_at, ended_at = null
    )
    select count(*)::integer, min(k.ready_at),
           jsonb_agg(jsonb_build_object('id', k.id, 'from', k.priority, 'to', k.target) order by k.ready_at, k.id)
             filter (where k.place <= 20)
      into n, oldest, sample
      from (select c.*, row_number() over (order by c.ready_at, c.id) as place from locked c) k;
end
$$;

-- FUNCTION rate_base(postmill.operation, timestamp with time zone)

CREATE FUNCTION postmill.rate_base(p_op postmill.operation, p_moment timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
    one interval := interval '1 s' / p_op.rate;
begin
    return greatest(coalesce(p_op.taken_at, p_moment - greatest(one, interval '0.2 s')), p_moment - one - interval '1 s');
end
$$;

-- FUNCTION read_archive(timestamp with time zone, uuid, integer, text, text, uuid)

CREATE FUNCTION postmill.read_archive(p_before timestamp with time zone, p_id uuid, p_most integer, p_source text DEFAULT NULL::text, p_status text DEFAULT NULL::text, p_job uuid DEFAULT NULL::uuid) RETURNS TABLE(id uuid, source text, status text, since timestamp with time zone, until timestamp with time zone, rows bigint, bytes bigint, made_at timestamp with time zone, archived_at timestamp with time zone, deleted_at timestamp with time zone, tries integer, error text, manifest jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own text := case when not postmill.sees_all() then coalesce(postmill.scope_tenant()::text, '-') end;
begin
    return query
    select u.id, u.source, u.status, u.since, u.until, case when own is null then u.rows else (u.tenants ->> own)::bigint end,
           case when own is null then u.bytes end, u.made_at, u.archived_at, u.deleted_at, u.tries,
           case when own is null then u.error end,
           case when own is null then u.manifest else u.manifest || jsonb_build_object('tenants', jsonb_build_object(own, u.tenants -> own)) end
      from postmill.archive_unit u
     where (u.until, u.id) < (p_before, p_id) and (p_source is null or u.source = p_source)
       and (p_status is null or u.status = p_status) and (own is null or u.tenants ? own)
       and (p_job is null or (p_job between u.min_id and u.max_id and u.status = 'archived'))
     order by u.until desc, u.id desc limit p_most;
end
$$;

-- FUNCTION read_artifact(uuid)

CREATE FUNCTION postmill.read_artifact(p_id uuid) RETURNS TABLE(id uuid, tenant_id uuid, job_id uuid, name text, content_type text, size bigint, sha256 bytea, attempt integer, created_at timestamp with time zone, expires_at timestamp with time zone, expired boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select a.id, a.tenant_id, a.job_id, a.name, a.content_type, a.size, a.sha256, a.attempt, a.created_at, a.expires_at,
           a.expires_at <= (select postmill.now())
      from postmill.artifact a
     where a.id = p_id and (a.gone_at is null or a.expires_at <= (select postmill.now()));
end
$$;

-- FUNCTION read_artifacts(uuid, text, uuid, integer)

CREATE FUNCTION postmill.read_artifacts(p_job uuid, p_after text, p_after_id uuid, p_most integer) RETURNS TABLE(id uuid, tenant_id uuid, job_id uuid, name text, content_type text, size bigint, sha256 bytea, attempt integer, created_at timestamp with time zone, expires_at timestamp with time zone, expired boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select a.id, a.tenant_id, a.job_id, a.name, a.content_type, a.size, a.sha256, a.attempt, a.created_at, a.expires_at, false
      from postmill.artifact a
     where a.job_id is not distinct from p_job and a.gone_at is null and a.expires_at > (select postmill.now())
       and (p_after is null or (a.name, a.id) > (p_after, p_after_id))
     order by a.name, a.id limit p_most;
end
$$;

-- FUNCTION read_attainment(timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.read_attainment(p_since timestamp with time zone, p_until timestamp with time zone) RETURNS TABLE(job_type text, queue text, sla_seconds double precision, enqueued bigint, ended bigint, failed bigint, attained double precision, p95 double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    own constant uuid := postmill.scope_tenant();
    cells text;
begin
    -- Cell by cell, as in read_stats.
    select string_agg(format('coalesce(sum(r.total_hist[%s]), 0)', i), ', ') into cells
      from generate_series(1, cardinality(postmill.rollup_bounds()) + 1) i;
    return query execute format($q$
        select s.job_type, s.queue, q.sla_seconds, s.enqueued::bigint, s.ended::bigint, s.failed::bigint,
               case when q.sla_seconds is not null
                    then postmill.histogram_within(s.hist, q.sla_seconds) / nullif((select sum(h) from unnest(s.hist) as h), 0) end,
               postmill.quantile(s.hist, 0.95)
          from (select r.job_type, r.queue, coalesce(sum(r.n) filter (where r.outcome = 'enqueued'), 0) as enqueued,
                       coalesce(sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'dead_letter')), 0) as ended,
                       coalesce(sum(r.n) filter (where r.outcome in ('failed', 'dead_letter')), 0) as failed,
                       (array[%s])::bigint[] as hist
                  from %s r
                 where r.minute >= postmill.minute_of($1) and r.minute < $2 and ($3 is null or r.tenant_id = $3)
                 group by 1, 2) s
          left join postmill.queue q on q.name = s.queue
         order by 7 nulls last, 6 desc, 1, 2$q$, cells,
        postmill.rollup_source(p_since, p_until, own is null, null))
    using p_since, p_until, own;
end
$_$;

-- FUNCTION read_attempt_page(uuid, integer, integer, integer, integer)

CREATE FUNCTION postmill.read_attempt_page(p_id uuid, p_below integer DEFAULT 2147483647, p_most integer DEFAULT 10, p_text integer DEFAULT 70000, p_tail integer DEFAULT 20000) RETURNS TABLE(run integer, attempt integer, status text, worker_id text, pid integer, started_at timestamp with time zone, finished_at timestamp with time zone, exit_code integer, error_class text, error_code text, error_message text, error_status integer, error_group text, stack text, stdout_tail text, stderr_tail text, lengths integer[], build text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
begin
    return query
    with h as materialized (
        select a.run, a.attempt, a.status, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class, a.error_code,
               a.error_message, a.error_status, a.error_group, a.stack, a.stdout_tail, a.stderr_tail
          from postmill.attempt a where a.job_id = p_id and a.run < p_below
        union all
        select o.run, o.attempt, o.attempt_status, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code, o.error_class,
               o.error_code, o.error_message, o.error_status, o.error_group, o.stack, o.stdout_tail, o.stderr_tail
          from postmill.outcome o where o.job_id = p_id and o.holder is not null and o.run < p_below
        union all
        select r.run, r.attempt, 'running', r.holder, null, r.claimed_at, null, null, null, null, null, null, null, null, null, null
          from postmill.running r where r.id = p_id and r.run < p_below and exists (select from postmill.any_job j where j.id = p_id)
    ), page as (
        select h.* from h order by h.run desc limit p_most
    )
    select p.run, p.attempt, p.status, coalesce(w.worker_id, p.holder::text), coalesce(p.pid, w.pid), p.started_at, p.finished_at,
           p.exit_code, p.error_class, p.error_code, left(p.error_message, p_text), p.error_status, p.error_group,
           left(p.stack, p_text), right(p.stdout_tail, p_tail), right(p.stderr_tail, p_tail),
           array[length(p.error_message), length(p.stack), length(p.stdout_tail), length(p.stderr_tail)], w.build
      from page p left join postmill.worker w on w.holder = p.holder
     order by p.run desc;
end
$$;

-- FUNCTION read_attempt_text(uuid, integer, text)

CREATE FUNCTION postmill.read_attempt_text(p_id uuid, p_run integer, p_what text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
begin
    return (
    select case p_what when 'error' then h.error_message when 'stack' then h.stack when 'stdout' then h.stdout_tail
                       else h.stderr_tail end
      from (select a.error_message, a.stack, a.stdout_tail, a.stderr_tail
              from postmill.attempt a where a.job_id = p_id and a.run = p_run
            union all
            select o.error_message, o.stack, o.stdout_tail, o.stderr_tail
              from postmill.outcome o where o.job_id = p_id and o.run = p_run and o.holder is not null) h
     limit 1);
end
$$;

-- FUNCTION read_attempts(uuid)

CREATE FUNCTION postmill.read_attempts(p_id uuid) RETURNS TABLE(run integer, attempt integer, status text, worker_id text, pid integer, started_at timestamp with time zone, finished_at timestamp with time zone, exit_code integer, error_class text, error_code text, error_message text, error_status integer, stack text, stdout_tail text, stderr_tail text, build text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select h.run, h.attempt, h.status, coalesce(w.worker_id, h.holder::text), coalesce(h.pid, w.pid), h.started_at, h.finished_at,
           h.exit_code, h.error_class, h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail, w.build
      from (select a.run, a.attempt, a.status, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class,
                   a.error_code, a.error_message, a.error_status, a.stack, a.stdout_tail, a.stderr_tail
              from postmill.attempt a where a.job_id = p_id
            union all
            select o.run, o.attempt, o.attempt_status, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code,
                   o.error_class, o.error_code, o.error_message, o.error_status, o.stack, o.stdout_tail, o.stderr_tail
              from postmill.outcome o where o.job_id = p_id and o.holder is not null
            union all
            select r.run, r.attempt, 'running', r.holder, null, r.claimed_at, null, null, null, null, null, null, null,
                   null, null
              from postmill.running r where r.id = p_id and exists (select from postmill.any_job j where j.id = p_id)) h
      left join postmill.worker w on w.holder = h.holder
     order by h.run;
end
$$;

-- FUNCTION read_audit_chain()

CREATE FUNCTION postmill.read_audit_chain() RETURNS TABLE(first_n bigint, first_hash bytea, n bigint, hash bytea, sealed_at timestamp with time zone, noted_n bigint, noted_hash text, waiting bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select s.n, s.hash, coalesce(c.n, s.n), coalesce(c.hash, s.hash), c.sealed_at, (u.note ->> 'n')::bigint, u.note ->> 'hash',
           (select count(*) from (select from postmill.audit_unsealed x limit 10000) w)
      from postmill.audit_start s
      left join lateral (select l.* from postmill.audit_chain l order by l.n desc limit 1) c on true
      left join postmill.upkeep u on u.name = 'seal';
end
$$;

-- FUNCTION read_audit_links(bigint, integer)

CREATE FUNCTION postmill.read_audit_links(p_after bigint, p_most integer) RETURNS TABLE(n bigint, audit_id uuid, hash bytea, sealed text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select c.n, c.audit_id, c.hash, (select postmill.read_sealed(l.*) from postmill.audit_log l where l.id = c.audit_id)
      from postmill.audit_chain c where c.n >= p_after order by c.n limit p_most;
end
$$;

-- TABLE audit_log

CREATE TABLE postmill.audit_log (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id uuid,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    role text COLLATE pg_catalog."C",
    via text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    target_kind text COLLATE pg_catalog."C",
    target text,
    result text NOT NULL COLLATE pg_catalog."C",
    reason text,
    request_id text,
    before jsonb,
    after jsonb,
    db_role text NOT NULL,
    address text,
    CONSTRAINT audit_log_result_check CHECK ((result = ANY (ARRAY['done'::text, 'denied'::text, 'refused'::text]))),
    CONSTRAINT audit_log_via_check CHECK ((via = ANY (ARRAY['api'::text, 'console'::text, 'cli'::text, 'sql'::text, 'upkeep'::text])))
);

-- FUNCTION read_audit_log(timestamp with time zone, uuid, integer, text, text, text, text, text, text, timestamp with time zone, uuid)

CREATE FUNCTION postmill.read_audit_log(p_before timestamp with time zone, p_id uuid, p_most integer, p_action text DEFAULT NULL::text, p_actor text DEFAULT NULL::text, p_target_kind text DEFAULT NULL::text, p_target text DEFAULT NULL::text, p_result text DEFAULT NULL::text, p_via text DEFAULT NULL::text, p_since timestamp with time zone DEFAULT NULL::timestamp with time zone, p_tenant uuid DEFAULT NULL::uuid) RETURNS SETOF postmill.audit_log
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own constant uuid := coalesce(postmill.scope_tenant(), p_tenant);
begin
    return query
    select l.* from postmill.audit_log l
     where (l.at, l.id) < (p_before, p_id) and (p_since is null or l.at >= p_since) and (own is null or l.tenant_id = own)
       and (p_action is null or l.action = p_action) and (p_actor is null or l.actor_id = p_actor)
       and (p_target_kind is null or l.target_kind = p_target_kind) and (p_target is null or l.target = p_target)
       and (p_result is null or (l.result = p_result and (p_result = 'done' or l.result <> 'done')))
       and (p_via is null or l.via = p_via)
     order by l.at desc, l.id desc limit p_most;
end
$$;

-- FUNCTION read_banner(text)

CREATE FUNCTION postmill.read_banner(p_lock text) RETURNS TABLE(paused text[], more_paused bigint, measured_seconds double precision, migrating boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
declare
    moment timestamptz := postmill.now();
    own uuid := postmill.scope_tenant();
begin
    return query
    with closed as materialized (
        select q.name from postmill.queue q
         where q.paused_at is not null and (q.resume_at is null or q.resume_at > moment)
           and (own is null
                or exists (select from postmill.ready r where r.queue = q.name and r.lane = own offset 0)
                or exists (select from postmill.scheduled s where s.queue = q.name and s.lane = own offset 0))
         order by q.name limit 1000
    )
    select array(select c.name from closed c limit 3), greatest((select count(*) from closed) - 3, 0),
           (select extract(epoch from moment - u.last_run_at)::double precision from postmill.upkeep u where u.name = 'monitor'),
           exists (select from pg_locks l
                    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
                      and (l.classid::bigint << 32) | l.objid::bigint = hashtextextended(p_lock, 0));
end
$$;

-- FUNCTION read_boost(uuid)

CREATE FUNCTION postmill.read_boost(p_id uuid) RETURNS TABLE(from_priority integer, priority integer, raised_at timestamp with time zone, waiting_since timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select b.from_priority, b.priority, b.raised_at, b.ready_at from postmill.boost b
     where b.job_id = p_id and postmill.in_scope(b.tenant_id);
end
$$;

-- FUNCTION read_budget_breakdown(uuid, text, text, integer)

CREATE FUNCTION postmill.read_budget_breakdown(p_id uuid, p_label text, p_by text, p_most integer) RETURNS TABLE(key text, amount numeric, calls bigint, tokens_in bigint, tokens_out bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select case p_by when 'job_type' then coalesce(l.job_type, '') when 'tenant' then coalesce(t.slug, l.tenant_id::text, '')
                     else l.actor_type || ':' || coalesce(l.actor_id, '') end,
           sum(l.amount), count(*) filter (where l.kind in ('spend', 'estimate')), sum(l.tokens_in)::bigint, sum(l.tokens_out)::bigint
      from postmill.budget_line l
      join postmill.budget b on b.id = l.budget_id
      left join postmill.tenant t on t.id = l.tenant_id
     where l.budget_id = p_id and l.starts_at = postmill.read_budget_start(p_id, p_label)
     group by 1 order by 2 desc, 1 limit p_most;
end
$$;

-- FUNCTION read_budget_burn(uuid, text, interval)

CREATE FUNCTION postmill.read_budget_burn(p_id uuid, p_label text, p_step interval) RETURNS TABLE(at timestamp with time zone, amount numeric)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    start constant timestamptz := postmill.read_budget_start(p_id, p_label);
begin
    return query
    select date_bin(p_step, l.at, start), sum(l.amount) from postmill.budget_line l
     where l.budget_id = p_id and l.starts_at = start group by 1 order by 1;
end
$$;

-- FUNCTION read_budget_figures(uuid, timestamp with time zone)

CREATE FUNCTION postmill.read_budget_figures(p_budget uuid, p_moment timestamp with time zone) RETURNS TABLE(id uuid, name text, tenant_id uuid, unit text, level integer, action text, factor numeric, limit_amount numeric, limit_own boolean, spent numeric, reserved numeric, calls bigint, tokens_in bigint, tokens_out bigint, starts_at timestamp with time zone, ends_at timestamp with time zone, label text)
    LANGUAGE plpgsql STABLE
    AS $$
declare
    b postmill.budget;
    p postmill.budget_period := postmill.read_budget_period(p_budget, p_moment);
    s postmill.budget_balance;
begin
    select x.* into b from postmill.budget x where x.id = p_budget;
    select x.* into s from postmill.budget_balance x
     where x.budget_id = p_budget and x.starts_at = p.starts_at order by x.seq desc limit 1;
    id := b.id; name := b.name; tenant_id := b.tenant_id; unit := b.unit;
    limit_amount := p.limit_amount; limit_own := p.limit_own; starts_at := p.starts_at; ends_at := p.ends_at; label := p.label;
    spent := coalesce(s.spent, 0); reserved := coalesce(s.reserved, 0);
    calls := coalesce(s.calls, 0); tokens_in := coalesce(s.tokens_in, 0); tokens_out := coalesce(s.tokens_out, 0);
    level := (select coalesce(max(u.n), 1) from unnest(b.level_from) with ordinality as u(percent, n)
               where (read_budget_figures.spent + read_budget_figures.reserved) * 100 >= u.percent * p.limit_amount);
    action := b.level_action[level]; factor := b.level_factor[level];
    return next;
end
$$;

-- FUNCTION read_budget_history(uuid, integer, integer)

CREATE FUNCTION postmill.read_budget_history(p_id uuid, p_months integer, p_most integer) RETURNS TABLE(label text, starts_at timestamp with time zone, ends_at timestamp with time zone, limit_amount numeric, spent numeric, reserved numeric, calls bigint, tokens_in bigint, tokens_out bigint, alerts jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment constant timestamptz := postmill.now();
begin
    return query
    select p.label, p.starts_at, p.ends_at, p.limit_amount, coalesce(s.spent, 0), coalesce(s.reserved, 0), coalesce(s.calls, 0),
           coalesce(s.tokens_in, 0), coalesce(s.tokens_out, 0),
           coalesce((select jsonb_agg(jsonb_build_object('percent', a.percent, 'severity', a.severity, 'crossed_at', a.crossed_at,
                                      'resolved_at', a.resolved_at) order by a.crossed_at, a.percent)
                       from postmill.budget_alert a where a.budget_id = p_id and a.starts_at = p.starts_at), '[]')
      from postmill.budget_period p
      join postmill.budget b on b.id = p.budget_id
      left join lateral (select y.* from postmill.budget_balance y
                          where y.budget_id = p.budget_id and y.starts_at = p.starts_at order by y.seq desc limit 1) s on true
     where p.budget_id = p_id and case b.period when 'month' then p.ends_at > moment - (p_months - 1) * interval '1 month'
                                    else p.starts_at > moment - p_months * interval '1 month' end
     order by p.starts_at desc limit p_most;
end
$$;

-- FUNCTION read_budget_lines(uuid, text, uuid, integer)

CREATE FUNCTION postmill.read_budget_lines(p_id uuid, p_label text, p_before uuid, p_most integer) RETURNS TABLE(id uuid, at timestamp with time zone, kind text, amount numeric, tokens_in bigint, tokens_out bigint, tenant_id uuid, reservation_id uuid, job_id uuid, attempt integer, job_type text, actor_type text, actor_id text, reason text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    start constant timestamptz := postmill.read_budget_start(p_id, p_label);
begin
    return query
    select l.id, l.at, l.kind, l.amount, l.tokens_in, l.tokens_out, l.tenant_id, l.reservation_id, l.job_id, l.attempt, l.job_type,
           l.actor_type, l.actor_id, l.reason
      from postmill.budget_line l join postmill.budget b on b.id = l.budget_id
     where l.budget_id = p_id and l.starts_at = start and (p_before is null or l.id < p_before)
     order by l.id desc limit p_most;
end
$$;

-- TABLE budget_period

CREATE TABLE postmill.budget_period (
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    tenant_id uuid,
    label text NOT NULL COLLATE pg_catalog."C",
    limit_amount numeric NOT NULL,
    limit_own boolean DEFAULT false NOT NULL,
    limit_until timestamp with time zone,
    limit_back numeric,
    CONSTRAINT budget_period_check1 CHECK (((limit_back IS NULL) = (limit_until IS NULL))),
    CONSTRAINT budget_period_limit_amount_check CHECK (((limit_amount >= (0)::numeric) AND (limit_amount <= ('1000000000000'::bigint)::numeric)))
);

-- FUNCTION read_budget_period(uuid, timestamp with time zone)

CREATE FUNCTION postmill.read_budget_period(p_budget uuid, p_moment timestamp with time zone) RETURNS postmill.budget_period
    LANGUAGE plpgsql STABLE
    AS $$
declare
    b postmill.budget;
    found_one postmill.budget_period;
    made record;
begin
    select x.* into found_one from postmill.budget_period x
     where x.budget_id = p_budget and x.starts_at <= p_moment order by x.starts_at desc limit 1;
    if found_one.ends_at > p_moment then
        return found_one;
    end if;
    select x.* into b from postmill.budget x where x.id = p_budget;
    select w.* into made from postmill.read_budget_window(b.period, coalesce(b.timezone,
        (select t.timezone from postmill.tenant t where t.id = b.tenant_id), 'UTC'), p_moment) w;
    return row(b.id, greatest(made.starts_at, found_one.ends_at),
        least(made.ends_at, (select min(x.starts_at) from postmill.budget_period x
                              where x.budget_id = p_budget and x.starts_at > p_moment)),
        b.tenant_id, made.label, b.limit_amount, false, null, null)::postmill.budget_period;
end
$$;

-- FUNCTION read_budget_requests(uuid, text, uuid, integer)

CREATE FUNCTION postmill.read_budget_requests(p_budget uuid, p_status text, p_before uuid, p_most integer) RETURNS TABLE(id uuid, budget_id uuid, budget text, unit text, tenant_id uuid, tenant_slug text, limit_amount numeric, until timestamp with time zone, reason text, actor_type text, actor_id text, created_at timestamp with time zone, status text, decided_at timestamp with time zone, decided_by text, answer text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return query
    select r.id, r.budget_id, b.name, b.unit, r.tenant_id, t.slug, r.limit_amount, r.until, r.reason, r.actor_type, r.actor_id,
           r.created_at, r.status, r.decided_at, r.decided_by, r.answer
      from (select x.* from postmill.budget_request x
             where (p_budget is null or x.budget_id = p_budget) and (p_status is null or x.status = p_status)
               and (p_before is null or x.id < p_before)
             order by x.id desc limit p_most) r
      join postmill.budget b on b.id = r.budget_id
      join postmill.tenant t on t.id = r.tenant_id
     order by r.id desc;
end
$$;

-- FUNCTION read_budget_shares(uuid[])

CREATE FUNCTION postmill.read_budget_shares(p_ids uuid[]) RETURNS TABLE(tenant_id uuid, name text, share double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select distinct on (b.tenant_id) b.tenant_id, b.name, ((f.spent + f.reserved) / nullif(f.limit_amount, 0))::double precision
      from postmill.budget b cross join lateral postmill.read_budget_figures(b.id, moment) f
     where b.tenant_id = any (p_ids)
     order by b.tenant_id, 3 desc nulls last, b.name;
end
$$;

-- FUNCTION read_budget_start(uuid, text)

CREATE FUNCTION postmill.read_budget_start(p_id uuid, p_label text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
begin
    if p_label is null then
        return (select p.starts_at from postmill.read_budget_period(p_id, postmill.now()) p);
    end if;
    return (select max(p.starts_at) from postmill.budget_period p where p.budget_id = p_id and p.label = p_label);
end
$$;

-- FUNCTION read_budget_waiting(uuid, integer)

CREATE FUNCTION postmill.read_budget_waiting(p_id uuid, p_most integer) RETURNS TABLE(job_type text, n bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    types text[];
    queues text[];
    own uuid;
begin
    select array_agg(d.key), array_agg(distinct d.queue), b.tenant_id into types, queues, own
      from postmill.budget b
      join postmill.job_definition d on lower(replace(d.budget, '_', '-')) = lower(replace(b.name, '_', '-'))
     where b.id = p_id group by b.tenant_id;
    return query
    select j.job_type, count(*)
      from ((select r.id from postmill.ready r where r.queue = any (queues) limit p_most)
            union all (select s.id from postmill.scheduled s where s.queue = any (queues) limit p_most)) w
     cross join lateral (select f.job_type, f.tenant_id from postmill.any_job f where f.id = w.id offset 0) j
     where j.job_type = any (types) and (own is null or j.tenant_id = own)
     group by 1 order by 2 desc, 1;
end
$$;

-- FUNCTION read_budget_window(text, text, timestamp with time zone)

CREATE FUNCTION postmill.read_budget_window(p_period text, p_zone text, p_moment timestamp with time zone, OUT starts_at timestamp with time zone, OUT ends_at timestamp with time zone, OUT label text) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
declare
    step constant interval := ('1 ' || p_period)::interval;
    local timestamp := date_trunc(p_period, p_moment at time zone p_zone);
begin
    local := case when local at time zone p_zone > p_moment then local - step else local end;
    starts_at := local at time zone p_zone;
    ends_at := (local + step) at time zone p_zone;
    label := to_char(local, case p_period when 'month' then 'YYYY-MM' else 'YYYY-MM-DD' end);
end
$$;

-- FUNCTION read_budgets(text, uuid, integer, uuid, text, uuid)

CREATE FUNCTION postmill.read_budgets(p_after text, p_after_id uuid, p_most integer, p_id uuid DEFAULT NULL::uuid, p_name text DEFAULT NULL::text, p_tenant uuid DEFAULT NULL::uuid) RETURNS TABLE(id uuid, name text, tenant_id uuid, period text, timezone text, unit text, budget_limit numeric, level_from numeric[], level_factor numeric[], level_action text[], alert_at numeric[], alert_severity text[], declared boolean, created_at timestamp with time zone, updated_at timestamp with time zone, level integer, action text, limit_amount numeric, spent numeric, reserved numeric, calls bigint, tokens_in bigint, tokens_out bigint, starts_at timestamp with time zone, ends_at timestamp with time zone, label text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment constant timestamptz := postmill.now();
begin
    return query
    select b.id, b.name, b.tenant_id, b.period, coalesce(b.timezone, t.timezone, 'UTC'), b.unit, b.limit_amount, b.level_from,
           b.level_factor, b.level_action, b.alert_at, b.alert_severity, b.declared is not null, b.created_at, b.updated_at, f.level,
           f.action, f.limit_amount, f.spent, f.reserved, f.calls, f.tokens_in, f.tokens_out, f.starts_at, f.ends_at, f.label
      from (select x.* from postmill.budget x
             where (p_id is null or x.id = p_id)
               and (p_name is null or lower(replace(x.name, '_', '-')) = lower(replace(p_name, '_', '-')))
               and (p_tenant is null or x.tenant_id = p_tenant)
               and (p_after is null or (x.name, x.id) > (p_after, p_after_id))
             order by x.name, x.id limit p_most) b
      left join postmill.tenant t on t.id = b.tenant_id
     cross join lateral postmill.read_budget_figures(b.id, moment) f
     order by b.name, b.id;
end
$$;

-- FUNCTION read_builds(timestamp with time zone, text, integer)

CREATE FUNCTION postmill.read_builds(p_since timestamp with time zone, p_job_type text DEFAULT NULL::text, p_most integer DEFAULT 50) RETURNS TABLE(at timestamp with time zone, build text, holder uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select w.started_at, w.build, w.holder from postmill.worker w
     where w.last_seen_at >= p_since and w.started_at >= p_since and w.build is not null
       and (p_job_type is null or p_job_type = any (w.job_types))
       and not exists (select from postmill.worker o
                        where o.build = w.build and o.last_seen_at >= w.started_at - interval '1 minute'
                          and (o.started_at, o.holder) < (w.started_at, w.holder)
                          and (p_job_type is null or p_job_type = any (o.job_types)))
     order by w.started_at desc limit p_most;
end
$$;

-- FUNCTION read_changes(timestamp with time zone, integer, integer)

CREATE FUNCTION postmill.read_changes(p_since timestamp with time zone, p_most integer DEFAULT 50, p_look integer DEFAULT 2000) RETURNS TABLE(at timestamp with time zone, kind text, target text, actor text, via text, reason text, ref text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select x.* from (
        (select v.at, 'deploy', d.key || ' v' || v.version, coalesce(v.actor_id, v.actor_type), v.via, null::text, d.key
           from postmill.definition_version v join postmill.job_definition d on d.id = v.definition_id
          where v.at >= p_since order by v.at desc limit p_most)
        union all
        (select b.at, 'build', b.build, null, null, null, b.holder::text from postmill.read_builds(p_since, null, p_most) b)
        union all
        (select w.last_seen_at, 'worker_loss', w.worker_id, null, null, null, w.holder::text
           from postmill.worker w
          where w.last_seen_at >= p_since and (w.stopped_at is null or w.stopped_at = w.last_seen_at)
            and not exists (select from postmill.lease l where l.holder = w.holder and l.expires_at > moment)
          order by w.last_seen_at desc limit p_most)
        union all
        (select l.at, l.action, l.target, coalesce(l.actor_id, l.actor_type), l.via, l.reason, l.id::text
           from (select a.* from postmill.audit_log a where a.at >= p_since order by a.at desc, a.id desc limit p_look) l
          where l.result = 'done' and (l.action in ('queues.pause', 'queues.resume', 'queues.move', 'dead.discard', 'logins.open',
                    'keys.create', 'keys.revoke', 'projects.create')
                or l.action ~ '^(budgets|operations|tenants|triggers|retention|incidents|limits|webhooks)\.')
          order by l.at desc, l.id desc limit p_most)) x
     order by 1 desc, 2, 7 limit p_most;
end
$$;

-- FUNCTION read_channel_states()

CREATE FUNCTION postmill.read_channel_states() RETURNS TABLE(channel text, next_at timestamp with time zone, failures integer, failing_since timestamp with time zone, last_sent_at timestamp with time zone, last_error text, waiting bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select coalesce(s.channel, w.channel), s.next_at, coalesce(s.failures, 0), s.failing_since, s.last_sent_at, s.last_error,
           coalesce(w.n, 0)
      from postmill.channel_state s
      full join (select n.channel, count(*) as n from postmill.notification n where n.status = 'pending' group by 1) w
             on w.channel = s.channel
     where postmill.sees_all() order by 1;
end
$$;

-- FUNCTION read_dead_groups(uuid, text, text, bigint, text, integer, integer)

CREATE FUNCTION postmill.read_dead_groups(p_tenant uuid DEFAULT NULL::uuid, p_job_type text DEFAULT NULL::text, p_queue text DEFAULT NULL::text, p_n bigint DEFAULT NULL::bigint, p_key text DEFAULT NULL::text, p_most integer DEFAULT 50, p_count integer DEFAULT 10000) RETURNS TABLE(key text, error_group text, tenant_id uuid, slug text, job_type text, reason text, n bigint, hour bigint, day bigint, week bigint, oldest timestamp with time zone, newest timestamp with time zone, expires_at timestamp with time zone, error_class text, error_message text, frame text, status text, resolved_version integer, resolved_at timestamp with time zone, total bigint, groups bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant());
    moment timestamptz := postmill.now();
    kept text[] := (select p.keep_reasons from postmill.partition_policy p);
begin
    return query
    with live as materialized (
        select y.error_group, y.tenant_id, y.job_type, case when y.error_group is null then y.reason end as only,
               min(y.reason) as reason, sum(y.opened - y.closed)::bigint as n
          from postmill.dead_tally y
         where (own is null or y.tenant_id = own) and (p_job_type is null or y.job_type = p_job_type)
           and (p_queue is null or y.queue = p_queue)
         group by 1, 2, 3, 4 having sum(y.opened - y.closed) > 0
    ), keyed as materialized (
        select l.*, concat_ws('/', coalesce(l.error_group, '-' || l.only), l.tenant_id, l.job_type) as key from live l
    ), page as materialized (
        select k.* from keyed k where p_n is null or k.n < p_n or (k.n = p_n and k.key > p_key)
         order by k.n desc, k.key limit p_most
    )
    select p.key, p.error_group, p.tenant_id, t.slug, p.job_type, p.reason, p.n, a.hour, a.day, z.week, o.failed_at, w.failed_at,
           case when p.reason <> all (kept) and e.keep < interval '1000 years' then o.failed_at + e.keep end, w.error_class,
           left(w.error_message, 500), g.frame, case when g.id is not null then postmill.error_status(g, g.first_seen_at, moment) end,
           g.resolved_version, g.resolved_at, (select sum(l.n)::bigint from live l), (select count(*) from live l)
      from page p
      left join postmill.tenant t on t.id = p.tenant_id
      left join postmill.error_group g on g.id = p.error_group
     cross join lateral (select postmill.keep_of('dead_letter', p.tenant_id) as keep) e
      left join lateral (
         (select d.failed_at from postmill.dead_letter d
           where d.tenant_id = p.tenant_id and d.error_group = p.error_group order by d.failed_at, d.id limit 1)
         union all
         (select d.failed_at from postmill.dead_letter d
           where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
             and d.job_type is not distinct from p.job_type order by d.failed_at, d.id limit 1)) o on true
      left join lateral (
         (select d.failed_at, d.error_class, d.error_message from postmill.dead_letter d
           where d.tenant_id = p.tenant_id and d.error_group = p.error_group order by d.failed_at desc, d.id desc limit 1)
         union all
         (select d.failed_at, d.error_class, d.error_message from postmill.dead_letter d
           where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
             and d.job_type is not distinct from p.job_type order by d.failed_at desc, d.id desc limit 1)) w on true
     cross join lateral (
        select count(*) filter (where y.failed_at > moment - interval '1 hour') as hour, count(*) as day
          from (
              (select d.failed_at from postmill.dead_letter d
                where d.tenant_id = p.tenant_id and d.error_group = p.error_group and d.failed_at > moment - interval '1 day'
                order by d.failed_at desc limit p_count)
              union all
              (select d.failed_at from postmill.dead_letter d
                where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
                  and d.job_type is not distinct from p.job_type and d.failed_at > moment - interval '1 day'
                order by d.failed_at desc limit p_count)) y) a
     -- All of them, where the oldest is younger than that.
     cross join lateral (
        select case when o.failed_at > moment - interval '7 days' then p.n else (
            select count(*) from (
              (select d.failed_at from postmill.dead_letter d
                where d.tenant_id = p.tenant_id and d.error_group = p.error_group and d.failed_at > moment - interval '7 days'
                order by d.failed_at desc limit p_count)
              union all
              (select d.failed_at from postmill.dead_letter d
                where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
                  and d.job_type is not distinct from p.job_type and d.failed_at > moment - interval '7 days'
                order by d.failed_at desc limit p_count)) y) end as week) z
     order by p.n desc, p.key;
end
$$;

-- FUNCTION read_dead_letter(uuid)

CREATE FUNCTION postmill.read_dead_letter(p_id uuid) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, reason text, error_class text, error_code text, error_message text, error_status integer, attempts integer, failed_at timestamp with time zone, last_attempt_at timestamp with time zone, error_group text, stack text, payload jsonb, version integer, version_then integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_class, d.error_code, d.error_message, d.error_status,
           d.attempts, d.failed_at, d.last_attempt_at, d.error_group, d.stack, b.payload, f.version,
           (select max(v.version) from postmill.definition_version v where v.definition_id = f.id and v.at <= b.created_at)
      from postmill.dead_letter d
      left join lateral (select j.payload, j.created_at from postmill.any_job j where j.id = d.id offset 0) b on true
      left join postmill.job_definition f on f.key = d.job_type
     where d.id = p_id;
end
$$;

-- FUNCTION read_dead_letters(uuid, text, text, text, timestamp with time zone, uuid, integer, text, integer, timestamp with time zone, timestamp with time zone, integer)

CREATE FUNCTION postmill.read_dead_letters(p_tenant uuid DEFAULT NULL::uuid, p_queue text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, p_job_type text DEFAULT NULL::text, p_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, p_before uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, p_most integer DEFAULT 50, p_error_group text DEFAULT NULL::text, p_error_status integer DEFAULT NULL::integer, p_since timestamp with time zone DEFAULT NULL::timestamp with time zone, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone, p_look integer DEFAULT 2000) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, reason text, error_class text, error_code text, error_message text, error_status integer, attempts integer, failed_at timestamp with time zone, last_attempt_at timestamp with time zone, error_group text, go_at timestamp with time zone, go_on uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant());
begin
    return query
    with looked as materialized (
        select d.* from postmill.dead_letter d
         where (own is null or d.tenant_id = own) and (d.failed_at, d.id) < (least(p_at, p_until), p_before)
           and (p_error_group is null or d.error_group = p_error_group) and (p_since is null or d.failed_at >= p_since)
         order by d.failed_at desc, d.id desc limit greatest(p_look, p_most + 1)
    ), fits as materialized (
        select l.* from looked l
         where (p_queue is null or l.queue = p_queue) and (p_reason is null or l.reason = p_reason)
           and (p_job_type is null or l.job_type = p_job_type) and (p_error_status is null or l.error_status = p_error_status)
           and (p_until is null or l.failed_at < p_until)
         order by l.failed_at desc, l.id desc limit p_most + 1
    ), page as materialized (
        select f.* from fits f order by f.failed_at desc, f.id desc limit p_most
    ), last_one as (
        select p.failed_at, p.id from page p where (select count(*) from fits) > p_most order by p.failed_at, p.id limit 1
    ), last_looked as (
        select l.failed_at, l.id from looked l
         where (select count(*) from fits) <= p_most and (select count(*) from looked) = greatest(p_look, p_most + 1)
         order by l.failed_at, l.id limit 1
    )
    select p.id, p.tenant_id, p.job_type, p.queue, p.reason, p.error_class, p.error_code, left(p.error_message, 500), p.error_status,
           p.attempts, p.failed_at, p.last_attempt_at, p.error_group, n.failed_at, n.id
      from (select true) as always
      left join (select * from last_one union all select * from last_looked) n on true
      left join page p on true
     order by p.failed_at desc, p.id desc;
end
$$;

-- FUNCTION read_dead_preview(jsonb, integer)

CREATE FUNCTION postmill.read_dead_preview(p_filter jsonb, p_sample integer DEFAULT 5) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
begin
    return (
    with m as materialized (select l.* from postmill.read_letters_matching(p_filter) l)
    select jsonb_build_object(
        'count', count(*), 'tenants', count(distinct m.tenant_id), 'oldest', min(m.failed_at), 'newest', max(m.failed_at),
        'by_cause', coalesce((select jsonb_agg(jsonb_build_object('status', c.error_status, 'reason', c.reason,
                'error_group', c.error_group, 'job_type', c.job_type, 'error_class', c.error_class, 'count', c.n)
                order by c.n desc, c.error_group, c.job_type)
              from (select x.error_status, x.reason, x.error_group, x.job_type, x.error_class, count(*) as n from m x
                     group by 1, 2, 3, 4, 5 order by 6 desc limit 50) c), '[]'),
        'by_replay_class', coalesce((select jsonb_object_agg(r.class, r.n)
              from (select case when d.key is null then 'unknown_type' when not d.is_active then 'inactive'
                                else d.replay_class end as class, sum(x.n) as n
                      from (select y.job_type, count(*) as n from m y group by 1) x
                      left join postmill.job_definition d on d.key = x.job_type group by 1) r), '{}'),
        'sample', coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'job_type', s.job_type, 'reason', s.reason,
                'error_message', left(d.error_message, 200), 'failed_at', s.failed_at) order by s.failed_at desc, s.id desc)
              from (select * from m y order by y.failed_at desc, y.id desc limit p_sample) s
              left join postmill.dead_letter d on d.id = s.id), '[]'))
      from m);
end
$$;

-- FUNCTION read_dead_statistics(uuid, integer)

CREATE FUNCTION postmill.read_dead_statistics(p_tenant uuid DEFAULT NULL::uuid, p_most integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant());
    hour timestamptz := postmill.now() - interval '1 hour';
    day timestamptz := postmill.now() - interval '1 day';
begin
    return (
    with t as materialized (
        select y.tenant_id, y.queue, y.job_type, y.reason, y.error_status, y.error_group, sum(y.opened - y.closed) as n,
               sum(y.opened) filter (where y.moment >= hour) as opened_hour,
               sum(y.closed) filter (where y.moment >= hour) as closed_hour,
               sum(y.opened) filter (where y.moment >= day) as opened_day,
               sum(y.closed) filter (where y.moment >= day) as closed_day
          from postmill.dead_tally y where own is null or y.tenant_id = own
         group by 1, 2, 3, 4, 5, 6
    ), live as materialized (select * from t where t.n > 0)
    , causes as (
        select c.error_status, c.reason, sum(c.n) as n from live c group by 1, 2 order by 3 desc, 1 nulls last, 2 limit p_most
    ), groups as materialized (
        select g.error_group, g.job_type, sum(g.n) as n, count(distinct g.tenant_id) as tenants,
               sum(g.opened_hour) as opened_hour
          from live g group by 1, 2 order by 3 desc, 1 nulls last, 2 limit p_most
    ), types as (
        select y.job_type, sum(y.n) as n from live y group by 1 order by 2 desc, 1 limit p_most
    ), queues as (
        select q.queue, sum(q.n) as n from live q group by 1 order by 2 desc, 1 limit p_most
    ), tenants as (
        select o.tenant_id, sum(o.n) as n from live o group by 1 order by 2 desc, 1 limit p_most
    )
    select jsonb_build_object(
        'open', coalesce((select sum(l.n) from live l), 0),
        'oldest', (select d.failed_at from postmill.dead_letter d where own is null or d.tenant_id = own
                    order by d.failed_at, d.id limit 1),
        'opened_hour', coalesce((select sum(t.opened_hour) from t), 0),
        'closed_hour', coalesce((select sum(t.closed_hour) from t), 0),
        'opened_day', coalesce((select sum(t.opened_day) from t), 0),
        'closed_day', coalesce((select sum(t.closed_day) from t), 0),
        'by_cause', coalesce((select jsonb_agg(jsonb_build_object('status', c.error_status, 'reason', c.reason, 'count', c.n)
                                     order by c.n desc, c.error_status nulls last, c.reason) from causes c), '[]'),
        'by_group', coalesce((select jsonb_agg(jsonb_build_object('error_group', g.error_group, 'job_type', g.job_type,
                'count', g.n, 'tenants', g.tenants, 'opened_hour', coalesce(g.opened_hour, 0), 'oldest', o.failed_at,
                'newest', w.failed_at, 'error_class', w.error_class, 'error_message', left(w.error_message, 500))
                order by g.n desc, g.error_group nulls last, g.job_type)
              from groups g
              left join lateral (select * from postmill.read_group_end(g.error_group, own, false)) o on true
              left join lateral (select * from postmill.read_group_end(g.error_group, own, true)) w on true), '[]'),
        'by_type', coalesce((select jsonb_agg(jsonb_build_object('job_type', y.job_type, 'count', y.n)
                                    order by y.n desc, y.job_type) from types y), '[]'),
        'by_queue', coalesce((select jsonb_agg(jsonb_build_object('queue', q.queue, 'count', q.n)
                                     order by q.n desc, q.queue) from queues q), '[]'),
        'by_tenant', coalesce((select jsonb_agg(jsonb_build_object('tenant_id', o.tenant_id, 'slug', x.slug, 'count', o.n)
                                      order by o.n desc, o.tenant_id)
                                 from tenants o left join postmill.tenant x on x.id = o.tenant_id), '[]')));
end
$$;

-- FUNCTION read_definition_homes(text[])

CREATE FUNCTION postmill.read_definition_homes(p_keys text[]) RETURNS TABLE(key text, owner text, contact text, sla_seconds double precision, paused boolean, budget text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment constant timestamptz := postmill.now();
begin
    return query
    select d.key, q.owner, case when postmill.sees_all() then q.contact end, q.sla_seconds,
           q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), d.budget
      from postmill.job_definition d join postmill.queue q on q.name = d.queue where d.key = any (p_keys);
end
$$;

-- FUNCTION read_definition_versions(uuid, integer, integer)

CREATE FUNCTION postmill.read_definition_versions(p_id uuid, p_before integer, p_most integer) RETURNS TABLE(version integer, at timestamp with time zone, actor_type text, actor_id text, via text, definition jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select v.version, v.at, v.actor_type, v.actor_id, v.via, v.definition from postmill.definition_version v
     where v.definition_id = p_id and (p_before is null or v.version < p_before)
     order by v.version desc limit p_most;
end
$$;

-- FUNCTION read_definitions(uuid, text, text, text, boolean, text, integer)

CREATE FUNCTION postmill.read_definitions(p_id uuid DEFAULT NULL::uuid, p_key text DEFAULT NULL::text, p_kind text DEFAULT NULL::text, p_queue text DEFAULT NULL::text, p_active boolean DEFAULT NULL::boolean, p_after text DEFAULT NULL::text, p_most integer DEFAULT 1) RETURNS TABLE(key text, document jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    whole boolean := postmill.sees_all();
begin
    return query
    select d.key,
           jsonb_build_object(
               'id', d.id, 'key', d.key, 'kind', d.kind, 'description', d.description, 'arg_schema', d.arg_schema,
               'argv_template', case when whole then d.argv_template end, 'queue', d.queue, 'priority', d.priority,
               'timeout_seconds', d.timeout_seconds, 'max_attempts', d.max_attempts, 'max_lost', d.max_lost,
               'retry', d.retry, 'on_exhausted', d.on_exhausted, 'idempotency', d.idempotency,
               'idempotency_ttl_seconds', extract(epoch from d.idempotency_ttl),
               'idempotency_content', d.idempotency_content, 'category', d.category, 'keep', d.keep,
               'lane', d.lane, 'worker_limit', d.worker_limit, 'rate', l.rate, 'aliases', d.aliases,
               'replay_class', d.replay_class, 'strict_envelope', d.strict_envelope, 'secrets', d.secrets)
           || jsonb_build_object(
               'secret_keys', d.secret_keys, 'encrypted', d.encrypted, 'action', d.action,
               'escalation_fields', d.escalation_fields, 'log_fields', d.log_fields, 'budget', d.budget,
               'env_allow', case when whole then to_jsonb(d.env_allow) else '[]' end, 'is_active', d.is_active,
               'registered', d.fingerprint <> '', 'version', d.version, 'edited', d.edited, 'created_at', d.created_at,
               'updated_at', d.updated_at, 'served_by', case when whole then s.workers else '[]' end,
               'drift', array_remove(array[
                   case when d.is_active and s.served = 0 then 'unserved' end,
                   case when d.is_active and s.served > 0 and s.at_queue = 0 then 'queue_unserved' end,
                   case when s.differing > 0 then 'differs' end], null))
      from postmill.job_definition d
      left join lateral (
        select jsonb_build_object('count', r.rate_count, 'seconds', r.rate_seconds, 'burst', r.rate_burst) as rate
          from postmill.limit_rule r where r.job_type = d.key) l on true
     cross join lateral (
        select count(*) as served, count(*) filter (where d.queue = any (w.queues)) as at_queue,
               count(*) filter (where w.code <> coalesce(nullif(d.fingerprint, ''), d.version::text)) as differing,
               coalesce(jsonb_agg(jsonb_build_object('worker_id', w.worker_id, 'same', coalesce(
                   w.code = coalesce(nullif(d.fingerprint, ''), d.version::text), true)) order by w.worker_id), '[]') as workers
          from (select k.worker_id, k.queues, k.metadata -> 'definitions' ->> d.key as code
                  from postmill.worker k join postmill.lease e on e.holder = k.holder
                 where e.expires_at > (select postmill.now()) and k.job_types && (array[d.key] || d.aliases)) w) s
     where (p_id is null or d.id = p_id) and (p_key is null or d.key = p_key) and (p_kind is null or d.kind = p_kind)
       and (p_queue is null or d.queue = p_queue) and (p_active is null or d.is_active = p_active)
       and (p_after is null or d.key > p_after)
     order by d.key
     limit p_most;
end
$$;

-- FUNCTION read_depths(text)

CREATE FUNCTION postmill.read_depths(p_queue text DEFAULT NULL::text) RETURNS TABLE(queue text, tenant text, state text, n bigint, oldest_seconds double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select x.one ->> 0, x.one ->> 1, x.one ->> 2, (x.one ->> 3)::bigint, (x.one ->> 4)::double precision
      from postmill.upkeep u cross join jsonb_array_elements(u.note -> 'depths') as x(one)
     where u.name = 'monitor' and (p_queue is null or x.one ->> 0 = p_queue);
end
$$;

-- FUNCTION read_enqueue_rules(text[])

CREATE FUNCTION postmill.read_enqueue_rules(p_names text[]) RETURNS TABLE(name text, key text, kind text, arg_schema text, argv_template text, asks_key boolean, secrets text, secret_keys text[], encrypted boolean, version integer, queue text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select u.name, d.key, d.kind, d.arg_schema::text, d.argv_template::text,
           d.strict_envelope or (d.kind <> 'function' and d.idempotency is not null), d.secrets, d.secret_keys, d.encrypted, d.version,
           d.queue
      from unnest(p_names) as u(name)
     cross join lateral (
        select e.* from postmill.job_definition e where e.key = u.name
        union all
        select e.* from postmill.job_definition e
         where e.aliases @> array[u.name] and not exists (select from postmill.job_definition f where f.key = u.name)
        limit 1) d;
end
$$;

-- FUNCTION read_envelope(uuid)

CREATE FUNCTION postmill.read_envelope(p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    body postmill.job;
    moment constant text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
begin
    select j.* into body from postmill.job j where j.id = p_id;
    if not found then
        select k.* into body from postmill.job_kept k where k.id = p_id;
        if not found then
            return null;
        end if;
    end if;
    return jsonb_build_object('job_id', body.id, 'job_type', body.job_type, 'org_id', body.tenant_id,
            'actor_type', body.actor_type, 'actor_id', body.actor_id, 'request_id', body.request_id,
            'correlation_id', body.correlation_id, 'idempotency_key', body.idempotency_key,
            'created_at', to_char(body.created_at at time zone 'UTC', moment), 'payload', body.payload)
        || case when body.project_id is null then '{}' else jsonb_build_object('project_id', body.project_id) end
        || case when body.scheduled_for is null then '{}'
                else jsonb_build_object('scheduled_for', to_char(body.scheduled_for at time zone 'UTC', moment)) end
        || case when body.traceparent is null then '{}' else jsonb_build_object('traceparent', body.traceparent) end;
end
$$;

-- FUNCTION read_error_dead(text)

CREATE FUNCTION postmill.read_error_dead(p_id text) RETURNS TABLE(tenant_id uuid, n bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select d.tenant_id, sum(d.opened - d.closed)::bigint from postmill.dead_tally d where d.error_group = p_id group by 1
    having sum(d.opened - d.closed) > 0;
end
$$;

-- FUNCTION read_error_first(text)

CREATE FUNCTION postmill.read_error_first(p_id text) RETURNS uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return least((select o.job_id from postmill.outcome o where o.error_group = p_id order by o.job_id limit 1),
                 (select a.job_id from postmill.attempt a where a.error_group = p_id order by a.job_id limit 1));
end
$$;

-- FUNCTION read_error_groups(uuid, text, text, timestamp with time zone, timestamp with time zone, text, integer, text, text[], text)

CREATE FUNCTION postmill.read_error_groups(p_tenant uuid DEFAULT NULL::uuid, p_job_type text DEFAULT NULL::text, p_class text DEFAULT NULL::text, p_since timestamp with time zone DEFAULT '-infinity'::timestamp with time zone, p_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, p_before text DEFAULT ''::text, p_most integer DEFAULT 50, p_id text DEFAULT NULL::text, p_statuses text[] DEFAULT NULL::text[], p_text text DEFAULT NULL::text) RETURNS TABLE(id text, job_type text, error_class text, message text, frame text, error_code text, error_status integer, first_seen_at timestamp with time zone, last_seen_at timestamp with time zone, count bigint, tenants bigint, sample_job uuid, status text, first_version integer, last_version integer, ignored_until timestamp with time zone, resolved_version integer, resolved_at timestamp with time zone, regressed_at timestamp with time zone, marked_by text, mark_note text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant());
    moment timestamptz := postmill.now();
    part text := lower(p_text);
begin
    if own is null then
        return query
        select g.id, g.job_type, g.error_class, g.message, g.frame, g.error_code, g.error_status, g.first_seen_at,
               g.last_seen_at, g.count, w.tenants, w.sample_job, postmill.error_status(g, g.first_seen_at, moment),
               g.first_version, g.last_version, g.ignored_until, g.resolved_version, g.resolved_at, g.regressed_at, g.marked_by,
               g.mark_note
          -- The page first: what is said of each group's tenants is read for those that are shown.
          from (select e.* from postmill.error_group e
                 where (e.last_seen_at, e.id) < (p_at, p_before) and e.last_seen_at >= p_since and (select postmill.sees_all())
                   and (p_job_type is null or e.job_type = p_job_type) and (p_class is null or e.error_class = p_class)
                   and (p_id is null or e.id = p_id)
                   and (p_statuses is null or postmill.error_status(e, e.first_seen_at, moment) = any (p_statuses))
                   and (part is null or strpos(lower(e.error_class || ': ' || e.message || ' ' || e.frame), part) > 0)
                 order by e.last_seen_at desc, e.id desc limit p_most) page
          join postmill.error_group g on g.id = page.id
         cross join lateral (select count(*) as tenants, (array_agg(t.sample_job order by t.last_seen_at desc)
                                    filter (where t.sample_job is not null))[1] as sample_job
                               from postmill.error_group_tenant t where t.id = g.id) w
         order by g.last_seen_at desc, g.id desc;
        return;
    end if;
    return query
    select g.id, g.job_type, g.error_class, g.message, g.frame, g.error_code, g.error_status, t.first_seen_at,
           t.last_seen_at, t.count, 1::bigint, t.sample_job, postmill.error_status(g, t.first_seen_at, moment), null::integer,
           null::integer, g.ignored_until, g.resolved_version, g.resolved_at, g.regressed_at,
           case when (select postmill.sees_all()) then g.marked_by end, case when (select postmill.sees_all()) then g.mark_note end
      from postmill.error_group_tenant t join postmill.error_group g on g.id = t.id
     where t.tenant_id = own and (t.last_seen_at, t.id) < (p_at, p_before) and t.last_seen_at >= p_since
       and (p_job_type is null or g.job_type = p_job_type) and (p_class is null or g.error_class = p_class)
       and (p_id is null or g.id = p_id)
       and (p_statuses is null or postmill.error_status(g, t.first_seen_at, moment) = any (p_statuses))
       and (part is null or strpos(lower(g.error_class || ': ' || g.message || ' ' || g.frame), part) > 0)
     order by t.last_seen_at desc, t.id desc limit p_most;
end
$$;

-- FUNCTION read_error_jobs(text[], integer)

CREATE FUNCTION postmill.read_error_jobs(p_ids text[], p_most integer DEFAULT 10000) RETURNS TABLE(id text, n bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashagg TO 'off'
    SET enable_sort TO 'off'
    AS $$
declare
    own uuid := postmill.scope_tenant();
begin
    -- One by one: each index is read in its order, and no further than to the last that counts.
    foreach id in array p_ids loop
        if own is null then
            select count(distinct j.job_id) into n from (
                (select distinct o.job_id from postmill.outcome o
                  where o.error_group = read_error_jobs.id order by 1 desc limit p_most)
                union all
                (select distinct a.job_id from postmill.attempt a
                  where a.error_group = read_error_jobs.id order by 1 desc limit p_most)) j;
        else
            select count(distinct j.job_id) into n from (
                (select distinct o.job_id from postmill.outcome o
                  where o.error_group = read_error_jobs.id and o.tenant_id = own order by 1 desc limit p_most)
                union all
                (select distinct a.job_id from postmill.attempt a
                  where a.error_group = read_error_jobs.id and a.tenant_id = own order by 1 desc limit p_most)) j;
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION read_error_minutes(text[], timestamp with time zone, timestamp with time zone, double precision, uuid)

CREATE FUNCTION postmill.read_error_minutes(p_ids text[], p_since timestamp with time zone, p_until timestamp with time zone, p_seconds double precision, p_tenant uuid DEFAULT NULL::uuid) RETURNS TABLE(id text, bucket integer, n bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant(), '00000000-0000-0000-0000-000000000000');
begin
    return query
    select u.id, floor(extract(epoch from m.minute - p_since) / p_seconds)::integer, sum(m.n)::bigint
      from unnest(p_ids) as u(id)
     cross join lateral (select x.minute, x.n from postmill.error_group_minute x
                          where x.id = u.id and x.tenant_id = own and x.minute >= p_since and x.minute < p_until) m
     group by 1, 2 order by 1, 2;
end
$$;

-- FUNCTION read_error_notes(text, integer)

CREATE FUNCTION postmill.read_error_notes(p_id text, p_most integer DEFAULT 50) RETURNS TABLE(at timestamp with time zone, actor_type text, actor_id text, text text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select n.at, n.actor_type, n.actor_id, n.text from postmill.error_group_note n
     where n.id = p_id and (select postmill.sees_all()) order by n.note_id desc limit p_most;
end
$$;

-- FUNCTION read_error_samples(text, text, integer, integer, integer)

CREATE FUNCTION postmill.read_error_samples(p_id text, p_job_type text, p_failed integer DEFAULT 300, p_fine integer DEFAULT 200, p_look integer DEFAULT 5000) RETURNS TABLE(failed boolean, job_id uuid, tenant_id uuid, finished_at timestamp with time zone, worker text, host text, build text, version integer, shape text, payload text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    whole boolean := postmill.sees_all();
begin
    return query
    with bad as materialized (
        select distinct on (x.job_id) x.* from (
            (select o.job_id, o.tenant_id, o.finished_at, o.holder, o.stack from postmill.outcome o
              where o.error_group = p_id order by o.job_id desc limit p_failed)
            union all
            (select a.job_id, a.tenant_id, a.finished_at, a.holder, a.stack from postmill.attempt a
              where a.error_group = p_id order by a.job_id desc limit p_failed)) x
         order by x.job_id desc, x.finished_at desc limit p_failed
    ), fine as materialized (
        select o.job_id, o.tenant_id, o.finished_at, o.holder
          from (select j.id from (select b.id, b.job_type from postmill.job b order by b.id desc limit p_look) j
                 where j.job_type = p_job_type) j
         cross join lateral (select s.* from postmill.outcome s where s.job_id = j.id and s.status = 'succeeded' offset 0) o
         limit p_fine
    ), met as (
        select true as failed, b.job_id, b.tenant_id, b.finished_at, b.holder, md5(regexp_replace(b.stack, '[0-9]+', '', 'g')) as shape
          from bad b
        union all
        select false, f.job_id, f.tenant_id, f.finished_at, f.holder, null from fine f
    ), holders as materialized (
        select w.holder, w.worker_id, w.hostname, w.build, w.metadata -> 'definitions' ->> p_job_type as code
          from postmill.worker w where w.holder in (select b.holder from met b)
    ), versions as materialized (
        select v.version, v.at, case when d.kind = 'function' then v.definition ->> 'fingerprint' else v.version::text end as code
          from postmill.job_definition d join postmill.definition_version v on v.definition_id = d.id where d.key = p_job_type
    )
    select b.failed, b.job_id, b.tenant_id, b.finished_at, case when whole then h.worker_id end, case when whole then h.hostname end,
           case when whole then h.build end,
           (select max(v.version) from versions v where v.code = h.code and v.at <= b.finished_at), b.shape, case when length(p.payload) <= 4000 then p.payload end
      from met b left join holders h on h.holder = b.holder
      left join lateral (select j.payload::text as payload from postmill.any_job j where j.id = b.job_id offset 0) p on true
     order by b.failed desc, b.job_id desc;
end
$$;

-- FUNCTION read_error_stacks(text, uuid[])

CREATE FUNCTION postmill.read_error_stacks(p_id text, p_jobs uuid[]) RETURNS TABLE(job_id uuid, tenant_id uuid, attempt integer, finished_at timestamp with time zone, error_class text, error_message text, stack text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return query
    select u.id, x.tenant_id, x.attempt, x.finished_at, x.error_class, left(x.error_message, 2000), left(x.stack, 20000)
      from unnest(p_jobs) as u(id)
     cross join lateral (
        select y.* from (
            select o.tenant_id, o.attempt, o.finished_at, o.error_class, o.error_message, o.stack from postmill.outcome o
             where o.job_id = u.id and o.error_group = p_id
            union all
            select a.tenant_id, a.attempt, a.finished_at, a.error_class, a.error_message, a.stack from postmill.attempt a
             where a.job_id = u.id and a.error_group = p_id offset 0) y
         order by y.finished_at desc limit 1) x;
end
$$;

-- FUNCTION read_error_tenants(text, integer)

CREATE FUNCTION postmill.read_error_tenants(p_id text, p_most integer DEFAULT 20) RETURNS TABLE(tenant_id uuid, slug text, first_seen_at timestamp with time zone, last_seen_at timestamp with time zone, count bigint, sample_job uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select t.tenant_id, n.slug, t.first_seen_at, t.last_seen_at, t.count, t.sample_job
      from postmill.error_group_tenant t left join postmill.tenant n on n.id = t.tenant_id
     where t.id = p_id order by t.count desc, t.tenant_id limit p_most;
end
$$;

-- FUNCTION read_event_rate(text, text, text, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.read_event_rate(p_kind text, p_queue text, p_job_type text, p_since timestamp with time zone, p_until timestamp with time zone) RETURNS double precision
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    counted text[] := case when p_kind = 'sla_breach' then array['succeeded', 'failed', 'dead_letter', 'canceled']
                           when p_kind in ('job_exhausted', 'dead_letters') then array['retried', 'lost', 'failed', 'dead_letter'] end;
begin
    if p_queue is null or counted is null then
        return null;
    end if;
    return (select coalesce(sum(r.n), 0)::double precision from postmill.fleet_rollups r
             where r.queue = p_queue and r.minute >= p_since and r.minute < p_until and r.outcome = any (counted)
               and (p_job_type is null or r.job_type = p_job_type));
end
$$;

-- FUNCTION read_facets(text, text, integer)

CREATE FUNCTION postmill.read_facets(p_field text, p_text text, p_most integer DEFAULT 12) RETURNS TABLE(value text, note text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    part constant text := lower(p_text);
begin
    return query
    select x.value, x.note from (
        select d.key as value, d.queue as note from postmill.job_definition d where p_field = 'type'
        union all
        select q.name, q.owner from postmill.queue q where p_field = 'queue'
        union all
        select t.slug, t.name from postmill.tenant t where p_field = 'tenant'
        union all
        select t.tag, null from postmill.read_tags(p_text, p_most) as t(tag) where p_field = 'tag'
        union all
        (select g.id, concat_ws(': ', g.error_class, left(g.message, 80)) from postmill.error_group g
          where p_field = 'error' and exists (select from postmill.error_group_tenant n where n.id = g.id)
          order by g.last_seen_at desc limit 2000)
        union all
        (select t.label, d.key from postmill.trigger t join postmill.job_definition d on d.id = t.definition_id
          where p_field = 'trigger' and t.deleted_at is null limit 5000)
        union all
        (select distinct w.worker_id, w.hostname from (
            select k.worker_id, k.hostname from postmill.worker k where p_field = 'worker' and postmill.sees_all()
             order by k.last_seen_at desc limit 2000) w)
        union all
        (select o.id::text, o.kind || ', ' || o.status from postmill.operation o where p_field = 'op' order by o.id desc limit 200)) x
     where strpos(lower(x.value), part) > 0 or strpos(lower(x.note), part) > 0
     order by strpos(lower(x.value), part) <> 1, length(x.value), x.value limit p_most;
end
$$;

-- FUNCTION read_group_end(text, uuid, boolean)

CREATE FUNCTION postmill.read_group_end(p_group text, p_tenant uuid, p_last boolean) RETURNS TABLE(failed_at timestamp with time zone, error_class text, error_message text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if p_last then
        return query
        select d.failed_at, d.error_class, d.error_message from postmill.dead_letter d
         where (d.error_group = p_group or (p_group is null and d.error_group is null))
           and (p_tenant is null or d.tenant_id = p_tenant)
         order by d.failed_at desc, d.id desc limit 1;
    else
        return query
        select d.failed_at, d.error_class, d.error_message from postmill.dead_letter d
         where (d.error_group = p_group or (p_group is null and d.error_group is null))
           and (p_tenant is null or d.tenant_id = p_tenant)
         order by d.failed_at, d.id limit 1;
    end if;
end
$$;

-- FUNCTION read_history(timestamp with time zone, text, timestamp with time zone, integer, text, text[])

CREATE FUNCTION postmill.read_history(p_after timestamp with time zone, p_key text, p_until timestamp with time zone, p_most integer, p_kind text DEFAULT NULL::text, p_events text[] DEFAULT NULL::text[]) RETURNS TABLE(recorded_at timestamp with time zone, key text, kind text, event text, happened_at timestamp with time zone, org_id uuid, project_id uuid, actor_type text, actor_id text, role text, via text, request_id text, correlation_id text, target_kind text, target text, result text, reason text, before jsonb, after jsonb, job_id uuid, job_type text, attempt integer, status text, error_class text, started_at timestamp with time zone, finished_at timestamp with time zone, db_role text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    deadline timestamptz := postmill.now() + interval '150 milliseconds';
    low timestamptz := p_after;
    high timestamptz;
    own uuid := case when not postmill.sees_all() then postmill.scope_tenant() end;
    width interval := case when own is null then interval '1 minute' else '1 hour' end;
    size bigint;
    told integer := 0;
    got integer;
begin
    while low < p_until loop
        high := least(low + width, p_until);
        size := postmill.history_size(low, high, 4001, own);
        if size = 0 then
            low := high;
            width := least(width * 16, interval '30 days');
        elsif size > 4000 and width > interval '1 millisecond' then
            width := greatest(width / 4, interval '1 millisecond');
        else
            return query
            select h.* from (
                select l.at as recorded_at, l.id::text as key, 'audit', l.action, l.at, l.tenant_id, null::uuid, l.actor_type,
                       l.actor_id, l.role, l.via, l.request_id, null::text, l.target_kind, l.target, l.result, l.reason,
                       l.before, l.after, null::uuid, null::text, null::integer, null::text, null::text, null::timestamptz,
                       null::timestamptz, l.db_role
                  from postmill.audit_log l
                 where l.at >= low and l.at < high and (own is null or l.tenant_id = own) and coalesce(p_kind, 'audit') = 'audit'
                   and (p_events is null or l.action = any (p_events))
                union all
                select e.recorded_at, e.key, 'job', e.event, e.happened_at, b.tenant_id, b.project_id, b.actor_type::text,
                       b.actor_id, null, null, b.request_id, b.correlation_id, null, null, null, e.reason, null, null,
                       e.job_id, b.job_type, e.attempt, e.status, e.error_class, e.started_at, e.finished_at, null
                  from postmill.job_events(low, high, own) e
                 cross join lateral (select j.tenant_id, j.project_id, j.job_type, j.actor_type, j.actor_id, j.request_id,
                                            j.correlation_id from postmill.job j where j.id = e.job_id
                                     union all
                                     select k.tenant_id, k.project_id, k.job_type, k.actor_type, k.actor_id, k.request_id,
                                            k.correlation_id from postmill.job_kept k where k.id = e.job_id offset 0) b
                 where coalesce(p_kind, 'job') = 'job' and (p_events is null or e.event = any (p_events))) h
             where (h.recorded_at, h.key) > (p_after, p_key collate "C")
             order by h.recorded_at, h.key collate "C" limit p_most - told;
            get diagnostics got = row_count;
            told := told + got;
            if told >= p_most then
                return;
            end if;
            low := high;
            width := case when size < 1000 then least(width * 2, interval '30 days') else width end;
        end if;
        exit when postmill.now() > deadline;
    end loop;
    recorded_at := low;
    key := '';
    event := case when low < p_until then 'more' else 'end' end;
    return next;
end
$$;

-- FUNCTION read_history_start()

CREATE FUNCTION postmill.read_history_start() RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return least((select l.at from postmill.audit_log l order by l.at limit 1),
                 (select min(p.since) from postmill.partition p),
                 (select postmill.id_time(k.id) from postmill.job_kept k order by k.id limit 1));
end
$$;

-- FUNCTION read_home(text)

CREATE FUNCTION postmill.read_home(p_name text) RETURNS TABLE(key text, queue text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select d.key, d.queue from postmill.job_definition d where d.key = p_name or d.aliases @> array[p_name]
     order by d.key <> p_name limit 1;
end
$$;

-- FUNCTION read_idempotency_keys(text, text, uuid, uuid, text, integer)

CREATE FUNCTION postmill.read_idempotency_keys(p_key text DEFAULT NULL::text, p_job_type text DEFAULT NULL::text, p_after_tenant uuid DEFAULT NULL::uuid, p_after_project uuid DEFAULT NULL::uuid, p_after_key text DEFAULT NULL::text, p_most integer DEFAULT 50) RETURNS TABLE(tenant_id uuid, project_id uuid, key text, job_type text, job_id uuid, mode text, status text, first_seen_at timestamp with time zone, last_seen_at timestamp with time zone, expires_at timestamp with time zone, result_ref text, error_ref text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select k.tenant_id, nullif(k.project_id, '00000000-0000-0000-0000-000000000000'), k.key, k.job_type, k.job_id, k.mode,
           s.status, k.first_seen_at, k.last_seen_at, k.expires_at,
           case when s.status = 'succeeded' then coalesce(o.result_ref, case when o.result is not null then 'jobs/' || k.job_id end) end,
           case when s.status in ('failed', 'dead') then coalesce(o.error_ref, 'jobs/' || k.job_id || '/attempts') end
      from (select i.* from postmill.idempotency_key i
             where (p_key is null or i.key = p_key) and (p_job_type is null or i.job_type = p_job_type)
               and (p_after_key is null or (i.tenant_id, i.project_id, i.key) > (p_after_tenant, p_after_project, p_after_key))
             order by i.tenant_id, i.project_id, i.key limit p_most) k
      left join lateral (select h.status, h.result, h.result_ref, h.error_ref from postmill.outcome h
                          where h.job_id = k.job_id offset 0) o on true
     cross join lateral (select case
        when exists (select from postmill.running r where r.id = k.job_id) then 'running'
        when exists (select from postmill.ready r where r.id = k.job_id)
          or exists (select from postmill.scheduled r where r.id = k.job_id)
          or exists (select from postmill.blocked r where r.id = k.job_id) then 'pending'
        when exists (select from postmill.dead_letter d where d.id = k.job_id) then 'dead'
        when o.status = 'succeeded' then 'succeeded'
        when o.status = 'dead_letter' then 'dead'
        when o.status is not null then 'failed' end as status) s
     order by k.tenant_id, k.project_id, k.key;
end
$$;

-- FUNCTION read_incident_jobs(uuid)

CREATE FUNCTION postmill.read_incident_jobs(p_incident uuid) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select j.job_id from postmill.incident_job j where j.incident_id = p_incident order by j.at, j.job_id;
end
$$;

-- FUNCTION read_incident_scenes(uuid[])

CREATE FUNCTION postmill.read_incident_scenes(p_ids uuid[]) RETURNS TABLE(id uuid, top_tenants text[], rate double precision, rate_before double precision, owner text, runbook text, action text, cause text, cause_at timestamp with time zone, cause_ref text, cause_detail text, error_group text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
    hour timestamptz := date_bin('1 hour', moment - interval '7 days', timestamptz '2000-01-01 00:00+00');
    waiting bigint;
begin
    if not postmill.sees_all() then
        return;
    end if;
    select count(*) into waiting from pg_locks l where not l.granted and l.waitstart < moment - interval '10 seconds';
    return query
    with tally as materialized (
        select y.queue, y.job_type, y.error_group, sum(y.opened - y.closed) as n from postmill.dead_tally y group by 1, 2, 3
    )
    select i.id,
           array(select coalesce(n.slug, t.tenant_id::text) from postmill.incident_part t
                   left join postmill.tenant n on n.id = t.tenant_id
                  where t.incident_id = i.id order by t.jobs desc, t.tenant_id limit 3),
           postmill.read_event_rate(i.kind, i.queue, i.job_type, moment - interval '10 minutes', moment) / 10,
           postmill.read_event_rate(i.kind, i.queue, i.job_type, hour, hour + interval '1 hour') / 60,
           q.owner, q.runbook, nullif(d.action, ''), c.cause, c.at, c.ref, c.detail,
           case i.kind when 'job_exhausted' then i.facts ->> 'group'
                when 'dead_letters' then (
               select g.error_group
                 from (select t.error_group, sum(t.n) as n, sum(sum(t.n)) over () as whole from tally t
                        where t.queue = i.queue or t.job_type = i.job_type group by 1) g
                where g.n > 0 and 2 * g.n >= g.whole order by g.n desc limit 1) end
      from postmill.incident i
      left join postmill.queue q on q.name = i.queue
      left join postmill.job_definition d on d.key = i.job_type
      left join lateral (
        select x.* from (
            select 1 as rank, 'paused' as cause, q.paused_at as at, q.name as ref, q.pause_reason as detail
             where q.paused_at is not null and (q.resume_at is null or q.resume_at > moment) and i.kind <> 'stale_workers'
            union all
            select 2, 'no_workers', null, q.name, null
             where q.name is not null and i.kind in ('sla_breach', 'missed_trigger')
               and not exists (select from postmill.worker w join postmill.lease l on l.holder = w.holder
                                where l.expires_at > moment and q.name = any (w.queues))
            union all
            (select case when i.kind = 'sla_breach' then 3 else 5 end, 'worker_lost', w.last_seen_at, w.worker_id, w.holder::text
               from postmill.worker w
              where w.last_seen_at between i.opened_at - interval '15 minutes' and i.opened_at + interval '5 minutes'
                and i.queue = any (w.queues) and i.kind <> 'stale_workers'
                and (w.stopped_at is null or w.stopped_at = w.last_seen_at)
                and not exists (select from postmill.lease l where l.holder = w.holder and l.expires_at > moment)
              order by w.last_seen_at limit 1)
            union all
            (select 4, 'deploy', v.at, f.key || ' v' || v.version,
                    (select g.error_class from postmill.error_group g
                      where g.job_type = f.key and g.first_seen_at between v.at and i.opened_at + interval '10 minutes'
                      order by g.first_seen_at limit 1)
               from postmill.definition_version v join postmill.job_definition f on f.id = v.definition_id
              where v.at between i.opened_at - interval '1 hour' and i.opened_at + interval '1 minute' and v.version > 1
                and (f.key = i.job_type or (i.job_type is null and f.queue = i.queue))
              order by v.at desc limit 1)
            union all
            (select 4.5, 'build', b.at, b.build,
                    (select g.error_class from postmill.error_group g
                      where g.job_type = any (w.job_types) and (i.job_type is null or g.job_type = i.job_type)
                        and g.first_seen_at between b.at and i.opened_at + interval '10 minutes'
                      order by g.first_seen_at limit 1)
               from postmill.read_builds(i.opened_at - interval '1 hour', i.job_type, 20) b join postmill.worker w on w.holder = b.holder
              where b.at <= i.opened_at + interval '1 minute' and (i.job_type is not null or i.queue = any (w.queues))
                and exists (select from postmill.worker o where o.build <> b.build and o.started_at < b.at)
              order by b.at desc limit 1)
            union all
            select 6, 'db_wait', null, waiting::text, null where waiting > 0 and i.kind in ('sla_breach', 'job_exhausted', 'dead_letters')
            union all
            (select 7, 'new_error', g.first_seen_at, g.id, g.error_class from postmill.error_group g
              where i.job_type is not null and g.job_type = i.job_type
                and g.first_seen_at between i.opened_at - interval '1 hour' and i.opened_at + interval '10 minutes'
              order by g.first_seen_at desc limit 1)) x
         order by x.rank limit 1) c on true
     where i.id = any (p_ids);
end
$$;

-- FUNCTION read_incidents(uuid, text, text, text, uuid, integer)

CREATE FUNCTION postmill.read_incidents(p_id uuid DEFAULT NULL::uuid, p_status text DEFAULT NULL::text, p_kind text DEFAULT NULL::text, p_queue text DEFAULT NULL::text, p_before uuid DEFAULT NULL::uuid, p_most integer DEFAULT 50) RETURNS TABLE(id uuid, kind text, key text, severity text, status text, title text, facts jsonb, tenant_id uuid, queue text, job_type text, count bigint, jobs bigint, tenants bigint, opened_at timestamp with time zone, last_at timestamp with time zone, acknowledged_at timestamp with time zone, acknowledged_by text, resolved_at timestamp with time zone, resolved_by text, note text, reopened integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    live boolean := p_status in ('live', 'open', 'acknowledged');
    taken boolean := case p_status when 'open' then false when 'acknowledged' then true end;
begin
    if postmill.sees_all() then
        return query
        select i.id, i.kind, i.key, i.severity::text, postmill.incident_status(i.acknowledged_at, i.resolved_at), i.title, i.facts,
               i.tenant_id, i.queue, i.job_type, i.count, i.jobs,
               (select count(*) from postmill.incident_part t where t.incident_id = i.id), i.opened_at, i.last_at,
               i.acknowledged_at, i.acknowledged_by, i.resolved_at, i.resolved_by, i.note, i.reopened
          from postmill.incident i
         where (p_id is null or i.id = p_id) and (p_before is null or i.id < p_before) and (p_kind is null or i.kind = p_kind)
           and (p_queue is null or i.queue = p_queue) and (live is not true or i.resolved_at is null)
           and (p_status is distinct from 'resolved' or i.resolved_at is not null)
           and (taken is null or (i.acknowledged_at is not null) = taken)
         order by i.id desc limit p_most;
        return;
    end if;
    return query
    select t.incident_id, o.kind, i.key, o.severity, postmill.incident_status(o.acknowledged_at, o.resolved_at),
           coalesce(i.title, o.kind || coalesce(' of ' || o.job_type, ' in ' || o.queue, '')), coalesce(i.facts, '{}'), t.tenant_id,
           o.queue, o.job_type, coalesce(i.count, t.jobs), coalesce(i.jobs, t.jobs), 1::bigint, coalesce(i.opened_at, t.first_at),
           t.last_at, o.acknowledged_at, i.acknowledged_by, o.resolved_at, i.resolved_by, i.note, i.reopened
      from postmill.incident_part t
     cross join lateral postmill.incident_outline(t.incident_id) o
      left join postmill.incident i on i.id = t.incident_id
     where t.tenant_id = postmill.scope_tenant() and (p_id is null or t.incident_id = p_id)
       and (p_before is null or t.incident_id < p_before) and (p_kind is null or o.kind = p_kind)
       and (p_queue is null or o.queue = p_queue) and (live is not true or o.resolved_at is null)
       and (p_status is distinct from 'resolved' or o.resolved_at is not null)
       and (taken is null or (o.acknowledged_at is not null) = taken)
     order by t.incident_id desc limit p_most;
end
$$;

-- FUNCTION read_job_lines(uuid[], jsonb)

CREATE FUNCTION postmill.read_job_lines(p_ids uuid[], p_paths jsonb DEFAULT '[]'::jsonb) RETURNS TABLE(id uuid, tenant_id uuid, tenant text, job_type text, queue text, state text, retrying boolean, replayed boolean, source text, source_ref text, trigger_id uuid, trigger_label text, priority integer, attempt integer, max_attempts integer, key text, created_at timestamp with time zone, due_at timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, worker_id text, reason text, error_class text, error_message text, error_group text, actor_type text, actor_id text, correlation_id text, replayed_from uuid, waits_on text, cancel_requested boolean, progress_done double precision, progress_total double precision, progress_message text, args jsonb, moment timestamp with time zone, tags text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $_$
declare
    at_now constant timestamptz := postmill.now();
begin
    return query
    select j.id, j.tenant_id, n.slug, j.job_type, coalesce(w.queue, s.queue, b.queue, r.queue, d.queue, j.queue),
           case when s.run_at <= at_now or w.id is not null then 'queued' when s.id is not null then 'scheduled'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when d.id is not null then 'dead_letter' else o.status end,
           s.run_at > at_now and s.attempt > 1, d.id is null and o.status = 'dead_letter', j.source::text, j.source_ref, g.id, g.label,
           coalesce(w.priority, s.priority, b.priority, r.priority, d.priority, j.priority),
           coalesce(w.attempt - 1, s.attempt - 1, b.attempt - 1, r.attempt, d.attempts, o.attempt, 0), j.max_attempts,
           j.idempotency_key, j.created_at, coalesce(s.run_at, j.scheduled_for),
           coalesce(r.claimed_at, o.started_at, d.last_attempt_at, a.started_at), coalesce(o.finished_at, d.failed_at),
           (select k.worker_id from postmill.worker k where k.holder = coalesce(r.holder, o.holder, a.holder)),
           coalesce(d.reason, o.reason), coalesce(d.error_class, o.error_class, a.error_class),
           left(coalesce(d.error_message, o.error_message, a.error_message), 500),
           coalesce(d.error_group, o.error_group, a.error_group), j.actor_type::text, j.actor_id, j.correlation_id, j.replayed_from,
           case when coalesce(w.id, s.id, b.id) is null then null
                when j.expires_at <= at_now then 'expired'
                when q.paused_at is not null and (q.resume_at is null or q.resume_at > at_now) then 'queue_paused'
                when n.status = 'suspended' then 'tenant_suspended'
                when b.id is not null then 'blocked'
                when y.action in ('defer', 'stop') then 'budget'
                when s.run_at > at_now then case when s.attempt > 1 then 'retry_pending' else 'not_due' end end,
           c.job_id is not null, p.done, p.total, p.message,
           case when jsonb_array_length(p_paths) > 0 then (
                select jsonb_agg(j.payload #> array(select jsonb_array_elements_text(x.value)) order by x.n)
                  from jsonb_array_elements(p_paths) with ordinality x(value, n)) end,
           at_now, array(select t.tag from postmill.job_tag t where t.job_id = j.id order by t.tag)
      from unnest(p_ids) as u(id)
     cross join lateral (select f.* from postmill.any_job f where f.id = u.id offset 0) j
      left join postmill.tenant n on n.id = j.tenant_id
      left join lateral (select t.* from postmill.ready t where t.id = j.id offset 0) w on true
      left join lateral (select t.* from postmill.scheduled t where t.id = j.id offset 0) s on true
      left join lateral (select t.* from postmill.blocked t where t.id = j.id offset 0) b on true
      left join lateral (select t.* from postmill.running t where t.id = j.id offset 0) r on true
      left join lateral (select t.* from postmill.dead_letter t where t.id = j.id offset 0) d on true
      left join lateral (select t.* from postmill.outcome t where t.job_id = j.id offset 0) o on true
      left join lateral (select t.error_class, t.error_message, t.error_group, t.started_at, t.holder from postmill.attempt t
                          where t.job_id = j.id and (o.job_id is null or o.status = 'dead_letter') and r.id is null
                          order by t.run desc limit 1) a on true
      left join postmill.queue q on q.name = coalesce(w.queue, s.queue, b.queue)
      left join postmill.job_definition f on f.key = j.job_type and f.budget is not null and coalesce(w.id, s.id, b.id) is not null
      left join lateral postmill.budget_word(f.budget, j.tenant_id) y on f.budget is not null
      left join lateral (select t.done, t.total, t.message from postmill.progress t where t.job_id = r.id offset 0) p on true
      left join lateral (select t.job_id from postmill.cancel_request t where t.job_id = j.id offset 0) c on true
     cross join lateral (select case when j.source_ref ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then j.source_ref::uuid end as ref) at
      left join lateral (
        select t.id, t.label from postmill.trigger t
         where j.source in ('schedule', 'manual') and t.id = at.ref
        union all
        select t.id, t.label from postmill.event_delivery e join postmill.trigger t on t.id = e.trigger_id
         where j.source = 'event' and e.job_id = j.id
           and e.event_id = at.ref
        limit 1) g on j.source_ref is not null
     order by j.id desc;
end
$_$;

-- FUNCTION read_job_page(uuid)

CREATE FUNCTION postmill.read_job_page(p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $_$
begin
    return (
    select jsonb_build_object(
        'project_id', j.project_id, 'request_id', j.request_id, 'traceparent', j.traceparent, 'expires_at', j.expires_at,
        'timeout_seconds', j.timeout_seconds, 'scheduled_for', j.scheduled_for, 'result_ref', o.result_ref, 'error_ref', o.error_ref,
        'has_result', o.result is not null, 'encrypted', j.payload ? '$encrypted', 'definition_id', d.id, 'version', d.version,
        'version_then', (select max(v.version) from postmill.definition_version v where v.definition_id = d.id and v.at <= j.created_at),
        'runs', coalesce(r.run, o.run, x.run, w.run, s.run, b.run, 0),
        'lost', coalesce(r.lost, o.lost, x.lost, w.lost, s.lost, b.lost, 0),
        'lease_until', (select l.expires_at from postmill.lease l where l.holder = r.holder),
        'event_id', case when j.source = 'event' then j.source_ref end,
        'cancel', (select jsonb_build_object('at', c.requested_at, 'by', coalesce(c.actor_id, c.actor_type), 'reason', c.reason)
                     from postmill.cancel_request c where c.job_id = j.id),
        'key', (select jsonb_build_object('mode', k.mode, 'job_id', k.job_id, 'first_seen_at', k.first_seen_at,
                    'last_seen_at', k.last_seen_at, 'expires_at', k.expires_at) from postmill.idempotency_key k
                 where k.tenant_id = j.tenant_id and k.key = j.idempotency_key
                   and k.project_id = coalesce(j.project_id, '00000000-0000-0000-0000-000000000000')),
        'replays', coalesce((select jsonb_agg(n.id order by n.id desc) from (
            (select f.id from postmill.job f where f.replayed_from = j.id order by f.id desc limit 20)
            union all
            (select f.id from postmill.job_kept f where f.replayed_from = j.id order by f.id desc limit 20)) n), '[]'))
      from (select f.* from postmill.any_job f where f.id = p_id offset 0) j
      left join postmill.job_definition d on d.key = j.job_type
      left join lateral (select t.* from postmill.ready t where t.id = j.id offset 0) w on true
      left join lateral (select t.* from postmill.scheduled t where t.id = j.id offset 0) s on true
      left join lateral (select t.* from postmill.blocked t where t.id = j.id offset 0) b on true
      left join lateral (select t.* from postmill.running t where t.id = j.id offset 0) r on true
      left join lateral (select t.* from postmill.dead_letter t where t.id = j.id offset 0) x on true
      left join lateral (select t.* from postmill.outcome t where t.job_id = j.id offset 0) o on true);
end
$_$;

-- FUNCTION read_job_payload(uuid)

CREATE FUNCTION postmill.read_job_payload(p_id uuid) RETURNS TABLE(payload text, result text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
begin
    return query
    select j.payload::text, (select o.result::text from postmill.outcome o where o.job_id = p_id limit 1)
      from (select f.payload from postmill.any_job f where f.id = p_id offset 0) j;
end
$$;

-- FUNCTION read_job_state(uuid[])

CREATE FUNCTION postmill.read_job_state(p_ids uuid[]) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, state text, priority integer, attempt integer, max_attempts integer, payload jsonb, created_at timestamp with time zone, scheduled_for timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, project_id uuid, idempotency_key text, source text, source_ref text, actor_type text, actor_id text, request_id text, correlation_id text, traceparent text, result jsonb, reason text, error_class text, error_code text, error_message text, replayed_from uuid, replayed_as uuid, worker_id text, cancel_requested boolean, progress_done double precision, progress_total double precision, progress_message text, tags text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select s.id, s.tenant_id, s.job_type, s.queue,
           case when s.state = 'scheduled' and s.scheduled_for <= (select postmill.now()) then 'queued' else s.state end,
           s.priority, s.attempt, s.max_attempts, s.payload, s.created_at, s.scheduled_for, s.started_at, s.finished_at,
           s.project_id, s.idempotency_key, s.source, s.source_ref, s.actor_type, s.actor_id, s.request_id, s.correlation_id,
           s.traceparent, s.result, s.reason, s.error_class, s.error_code, s.error_message, s.replayed_from, s.replayed_as,
           s.worker_id, s.cancel_requested, s.progress_done, s.progress_total, s.progress_message, s.tags
      from postmill.job_state(array(select j.id from postmill.any_job j where j.id = any (p_ids))) s;
end
$$;

-- FUNCTION read_job_type_names()

CREATE FUNCTION postmill.read_job_type_names() RETURNS SETOF text
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

-- FUNCTION read_jobs(text, text, text, text, uuid, uuid, timestamp with time zone, timestamp with time zone, integer, integer)

CREATE FUNCTION postmill.read_jobs(p_status text DEFAULT NULL::text, p_source text DEFAULT NULL::text, p_job_type text DEFAULT NULL::text, p_queue text DEFAULT NULL::text, p_tenant uuid DEFAULT NULL::uuid, p_before uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, p_after timestamp with time zone DEFAULT NULL::timestamp with time zone, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone, p_skip integer DEFAULT 0, p_most integer DEFAULT 50) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, status text, source text, source_ref text, priority integer, attempt_count integer, max_attempts integer, idempotency_key text, correlation_id text, created_at timestamp with time zone, scheduled_for timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, worker_id text, reason text, error_class text, error_message text, actor_type text, actor_id text, project_id uuid, replayed_from uuid, go_on uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant());
    need integer := p_skip + p_most + 1;
    plain boolean := p_job_type is null and p_queue is null and coalesce(p_source, '') <> 'manual' and p_after is null
                     and p_until is null;
    look integer := case when plain and (p_status is null or own is null or p_status in ('failed', 'canceled'))
                         then 2 * need else greatest(2000, 2 * need) end;
    first uuid := coalesce(postmill.id_at(p_after - interval '1 second'), '00000000-0000-0000-0000-000000000000');
    below uuid := least(p_before, postmill.id_at(p_until + interval '1 second'));
    walks text[] := case when p_status is null then array['bodies']
                         when own is null or p_status in ('failed', 'canceled') then array['places']
                         when p_status = 'dead_letter' then array['places', 'bodies'] else array['bodies', 'places'] end;
    moment timestamptz := postmill.now();
    walk text;
    found_one record;
    ids uuid[] := '{}';
    low uuid;
begin
    foreach walk in array walks loop
        select w.ids, w.low into found_one
          from postmill.read_walk(walk, p_status, p_source, p_job_type, p_queue, own, below, first, p_after, p_until,
                                                need, look) w;
        -- Each is complete down to its low: the one that comes further down holds all of the other.
        if walk = walks[1] or found_one.low is null or found_one.low < low then
            ids := found_one.ids;
            low := found_one.low;
        end if;
        exit when cardinality(ids) >= need or low is null;
    end loop;
    if cardinality(ids) >= need then
        low := ids[need - 1];
    end if;
    return query
    select p.id, p.tenant_id, p.job_type, p.queue,
           case when s.run_at <= moment or w.id is not null then 'queued' when s.id is not null then 'scheduled'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when d.id is not null then 'dead_letter' else o.status end,
           p.source::text, p.source_ref, coalesce(w.priority, s.priority, b.priority, r.priority, d.priority, p.priority),
           coalesce(w.attempt - 1, s.attempt - 1, b.attempt - 1, r.attempt, d.attempts, o.attempt, 0), p.max_attempts,
           p.idempotency_key, p.correlation_id, p.created_at, coalesce(s.run_at, p.scheduled_for),
           coalesce(r.claimed_at, o.started_at, d.last_attempt_at), coalesce(o.finished_at, d.failed_at),
           (select k.worker_id from postmill.worker k where k.holder = coalesce(r.holder, o.holder)),
           coalesce(d.reason, o.reason), coalesce(d.error_class, o.error_class, a.error_class),
           left(coalesce(d.error_message, o.error_message, a.error_message), 500), p.actor_type::text, p.actor_id, p.project_id,
           p.replayed_from, low
      from (select true) as always
      left join lateral (select u.n, j.* from unnest(ids[p_skip + 1 : p_skip + p_most]) with ordinality as u(id, n)
                          cross join lateral (select f.* from postmill.any_job f where f.id = u.id offset 0) j) p on true
      left join lateral (select t.* from postmill.ready t where t.id = p.id offset 0) w on true
      left join lateral (select t.* from postmill.scheduled t where t.id = p.id offset 0) s on true
      left join lateral (select t.* from postmill.blocked t where t.id = p.id offset 0) b on true
      left join lateral (select t.* from postmill.running t where t.id = p.id offset 0) r on true
      left join lateral (select t.* from postmill.dead_letter t where t.id = p.id offset 0) d on true
      left join lateral (select t.* from postmill.outcome t where t.job_id = p.id offset 0) o on true
      left join lateral (select t.error_class, t.error_message from postmill.attempt t
                          where t.job_id = p.id and o.job_id is null and r.id is null order by t.run desc limit 1) a on true
     order by p.n;
end
$$;

-- FUNCTION read_key_holders(text, integer)

CREATE FUNCTION postmill.read_key_holders(p_key text, p_most integer DEFAULT 20) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select k.job_id from postmill.tenant t
     cross join lateral (select '00000000-0000-0000-0000-000000000000'::uuid as id
                         union all select p.id from postmill.project p where p.tenant_id = t.id) p
      join postmill.idempotency_key k on k.tenant_id = t.id and k.project_id = p.id and k.key = p_key
     where exists (select from postmill.any_job j where j.id = k.job_id)
     order by k.job_id desc limit p_most;
end
$$;

-- FUNCTION read_keys(uuid, integer, uuid, boolean)

CREATE FUNCTION postmill.read_keys(p_before uuid, p_most integer, p_tenant uuid DEFAULT NULL::uuid, p_live boolean DEFAULT false) RETURNS TABLE(id uuid, prefix text, name text, tenant_id uuid, role text, created_at timestamp with time zone, created_by text, expires_at timestamp with time zone, last_used_at timestamp with time zone, revoked_at timestamp with time zone, revoked_by text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select k.id, k.prefix, k.name, k.tenant_id, k.role::text, k.created_at, k.created_by, k.expires_at, k.last_used_at,
           k.revoked_at, k.revoked_by
      from postmill.api_key k
     where (p_before is null or k.id < p_before) and (p_tenant is null or k.tenant_id = p_tenant)
       and (not p_live or (k.revoked_at is null and (k.expires_at is null or k.expires_at > (select postmill.now()))))
     order by k.id desc limit p_most;
end
$$;

-- FUNCTION read_last_missed()

CREATE FUNCTION postmill.read_last_missed() RETURNS TABLE(id uuid, label text, due timestamp with time zone, fired_at timestamp with time zone, detail text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own constant uuid := postmill.scope_tenant();
begin
    return query
    select t.id, t.label, k.due, k.fired_at, k.detail
      from (select x.* from postmill.tick x
             where x.outcome = 'skipped' and x.detail like 'missed%' and (own is null or x.tenant_id = own)
             order by x.fired_at desc limit 1) k
      join postmill.trigger t on t.id = k.trigger_id;
end
$$;

-- FUNCTION read_letters_matching(jsonb)

CREATE FUNCTION postmill.read_letters_matching(p_filter jsonb) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, reason text, error_status integer, error_group text, error_class text, failed_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own uuid := coalesce((p_filter ->> 'tenant_id')::uuid, postmill.scope_tenant());
    f_queue text := p_filter ->> 'queue';
    f_reason text := p_filter ->> 'reason';
    f_type text := p_filter ->> 'job_type';
    f_group text := p_filter ->> 'error_group';
    f_class text := p_filter ->> 'error_class';
    f_code text := p_filter ->> 'error_code';
    f_status integer := (p_filter ->> 'error_status')::integer;
    f_message text := lower(p_filter ->> 'message');
    f_after timestamptz := (p_filter ->> 'given_up_after')::timestamptz;
    f_before timestamptz := (p_filter ->> 'given_up_before')::timestamptz;
    f_ids uuid[] := case when p_filter ? 'ids' then array(select i.id::uuid from jsonb_array_elements_text(p_filter -> 'ids') i(id)) end;
begin
    return query
    select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_status, d.error_group, d.error_class, d.failed_at
      from postmill.dead_letter d
     where (own is null or d.tenant_id = own) and (f_ids is null or d.id = any (f_ids))
       and (f_queue is null or d.queue = f_queue) and (f_reason is null or d.reason = f_reason)
       and (f_type is null or d.job_type = f_type) and (f_group is null or d.error_group = f_group)
       and (f_class is null or d.error_class = f_class) and (f_code is null or d.error_code = f_code)
       and (f_status is null or d.error_status = f_status)
       and (f_message is null or strpos(lower(d.error_message), f_message) > 0)
       and (f_after is null or d.failed_at >= f_after) and (f_before is null or d.failed_at < f_before);
end
$$;

-- FUNCTION read_limits()

CREATE FUNCTION postmill.read_limits() RETURNS TABLE(what text, name text, unit text, used numeric, limit_amount numeric, workers bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment constant timestamptz := postmill.now();
begin
    return query
    with held as materialized (
        select j.tenant_id, j.job_type, count(*) as n
          from (select r.id from postmill.running r limit 10000) x
         cross join lateral (select f.tenant_id, f.job_type from postmill.any_job f where f.id = x.id offset 0) j
         group by 1, 2
    )
    select 'tenant', t.slug, 'jobs at once', coalesce((select sum(h.n) from held h where h.tenant_id = t.id), 0),
           t.max_running::numeric, null::bigint
      from (select n.* from postmill.tenant n where n.max_running is not null order by n.slug limit 500) t
    union all
    select 'job type', d.key, 'jobs at once on a worker', coalesce((select sum(h.n) from held h where h.job_type = d.key), 0),
           d.worker_limit::numeric,
           case when postmill.sees_all() then (
                select count(*) from postmill.worker k join postmill.lease e on e.holder = k.holder
                 where e.expires_at > moment and k.job_types && (array[d.key] || d.aliases)) end
      from postmill.job_definition d where d.worker_limit is not null
    union all
    select 'job type', l.job_type, format('starts in %s s', l.rate_seconds),
           round(greatest(0, least(l.rate_burst, l.rate_burst * extract(epoch from (
                select k.tat from postmill.rate_take k where k.limit_id = l.id order by k.seq desc limit 1) - moment)
                / nullif(l.rate_burst * l.rate_seconds / l.rate_count, 0)))::numeric, 1), l.rate_burst::numeric, null
      from postmill.limit_rule l
     order by 1 desc, 2, 3;
end
$$;

-- FUNCTION read_live_incidents(integer)

CREATE FUNCTION postmill.read_live_incidents(p_most integer DEFAULT 10) RETURNS TABLE(id uuid, kind text, severity text, status text, title text, queue text, opened_at timestamp with time zone, last_at timestamp with time zone, jobs bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select i.id, i.kind, i.severity::text, case when i.acknowledged_at is null then 'open' else 'acknowledged' end, i.title,
           i.queue, i.opened_at, i.last_at, i.jobs
      from postmill.incident i where i.resolved_at is null order by i.opened_at desc, i.id desc limit p_most;
end
$$;

-- FUNCTION read_live_slots()

CREATE FUNCTION postmill.read_live_slots() RETURNS TABLE(holder uuid, queue text, slots bigint, draining boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select w.holder, q.name, case when w.draining then 0 else coalesce((w.slots ->> q.name)::bigint, 0) end, w.draining
      from postmill.worker w
      join postmill.lease l on l.holder = w.holder and l.expires_at > (select postmill.now())
     cross join unnest(w.queues) as q(name)
     where w.stopped_at is null and postmill.sees_all();
end
$$;

-- FUNCTION read_logins(uuid, integer)

CREATE FUNCTION postmill.read_logins(p_before uuid, p_most integer) RETURNS TABLE(id uuid, actor_id text, tenant_id uuid, role text, created_at timestamp with time zone, last_seen_at timestamp with time zone, expires_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select s.id, s.actor_id, s.tenant_id, s.role::text, s.created_at, s.last_seen_at, s.expires_at
      from postmill.console_session s
     where (p_before is null or s.id < p_before) and s.ended_at is null and s.expires_at > (select postmill.now())
     order by s.id desc limit p_most;
end
$$;

-- FUNCTION read_matching(jsonb, uuid, integer, integer)

CREATE FUNCTION postmill.read_matching(p_filter jsonb, p_before uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, p_need integer DEFAULT 51, p_look integer DEFAULT 2000, OUT ids uuid[], OUT low uuid) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    AS $_$
declare
    moment constant timestamptz := postmill.now();
    states constant text[] := case when p_filter ? 'states' then array(select jsonb_array_elements_text(p_filter -> 'states')) end;
    own constant uuid := postmill.scope_tenant();
    nobody constant uuid := '00000000-0000-0000-0000-000000000000';
    tenants uuid[] := case when own is not null then array[own] end;
    sources text[];
    below uuid := p_before;
    first uuid := '00000000-0000-0000-0000-000000000000';
    term jsonb;
    field text;
    named text;                 -- the values as a quoted array
    part text;
    yes text;
    at_moment timestamptz;
    lows uuid[];
    highs uuid[];
    holders uuid[];
    held uuid[];
    keys text[];
    groups text[];
    tags text[];
    tests text := 'true';       -- of a body j, whatever walk found it
    queue_of constant text := ' and (coalesce((select t.queue from postmill.ready t where t.id = j.id offset 0),
        (select t.queue from postmill.scheduled t where t.id = j.id offset 0), (select t.queue from postmill.running t where t.id = j.id offset 0),
        (select t.queue from postmill.blocked t where t.id = j.id offset 0), (select t.queue from postmill.dead_letter t where t.id = j.id offset 0),
        j.queue) ';
    queue_tests text[] := '{}'; -- of its queue, which a ticket tells at once
    ready text := 'postmill.ready';
    scheduled text := 'postmill.scheduled';
    few_ready boolean;
    few_scheduled boolean;
    candidates text;            -- an index of its own for one term
    walks text[];
    walk text;
    overdue uuid[];
    looked uuid[];
    queues text[];
    fitting boolean[];
    found_ones uuid[];
    found_low uuid;
    n integer := 0;
begin
    ids := '{}';
    for term in select t.value from jsonb_array_elements(coalesce(p_filter -> 'terms', '[]')) t loop
        field := term ->> 'field';
        yes := case when (term ->> 'not')::boolean then 'is not true' else 'is true' end;
        named := format('%L', array(select v.value from jsonb_array_elements_text(coalesce(term -> 'values', '[]')) v));
        part := null;
        if field in ('since', 'until') then
            at_moment := coalesce((term ->> 'at')::timestamptz, moment - (term ->> 'ago')::double precision * interval '1 second');
            -- An id is made at the moment of the enqueue, give or take what the statement takes.
            if field = 'since' then
                first := greatest(first, postmill.id_at(greatest(at_moment, '1970-01-02') - interval '1 second'));
                part := format('j.created_at >= %L::timestamptz', at_moment);
            else
                below := least(below, postmill.id_at(greatest(at_moment, '1970-01-02') + interval '1 second'));
                part := format('j.created_at < %L::timestamptz', at_moment);
            end if;
        elsif field = 'tenant' then
            part := format('j.tenant_id = any (%s::uuid[])', named);
            if yes = 'is true' then
                tenants := array(select distinct v::uuid from jsonb_array_elements_text(term -> 'values') v
                                  where tenants is null or v::uuid = any (tenants));
            end if;
        elsif field = 'type' then
            part := format('j.job_type = any (%s::text[])', named);
        elsif field = 'queue' then
            queue_tests := queue_tests || format('= any (%s::text[])) %s', named, yes);
            -- A queue in which few wait is read as a whole, however many wait in others.
            execute format('select (select count(*) from (select from postmill.ready t where t.queue = any (%1$s::text[]) limit $1 + 1) x) <= $1,
                (select count(*) from (select from postmill.scheduled t where t.queue = any (%1$s::text[]) limit $1 + 1) x) <= $1', named)
                into few_ready, few_scheduled using p_look;
            if yes = 'is true' and few_ready then
                ready := format('(select * from postmill.ready t where t.queue = any (%s::text[]) offset 0)', named);
            end if;
            if yes = 'is true' and few_scheduled then
                scheduled := format('(select * from postmill.scheduled t where t.queue = any (%s::text[]) offset 0)', named);
            end if;
        elsif field = 'source' then
            part := format('j.source = any (%s::text[])', named);
            if yes = 'is true' then
                sources := array(select jsonb_array_elements_text(term -> 'values'));
            end if;
        elsif field = 'key' then
            part := format('j.idempotency_key = any (%s::text[])', named);
            if yes = 'is true' then
                keys := array(select jsonb_array_elements_text(term -> 'values'));
            end if;
        elsif field = 'actor' then
            part := format('j.actor_id = any (%s::text[])', named);
        elsif field = 'correlation' then
            part := format('j.correlation_id = any (%s::text[])', named);
        elsif field = 'id' then
            lows := array(select (r.value ->> 0)::uuid from jsonb_array_elements(term -> 'ranges') r);
            highs := array(select (r.value ->> 1)::uuid from jsonb_array_elements(term -> 'ranges') r);
            part := format('exists (select from unnest(%L::uuid[], %L::uuid[]) as r(l, h) where j.id between r.l and r.h)', lows, highs);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%L::uuid[], %L::uuid[]) as r(l, h) cross join lateral (
                    select f.id from postmill.any_job f where f.id >= greatest(r.l, $2) and f.id <= r.h and f.id < $1
                     order by f.id desc limit $3) f', lows, highs);
            end if;
        elsif field = 'op' then
            part := format('exists (select from unnest(%s::uuid[]) as o(id) join postmill.operation_item i on i.operation_id = o.id
                where (case when i.status = ''replayed'' then i.new_id else i.job_id end) = j.id offset 0)', named);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%s::uuid[]) as o(id) cross join lateral (
                    select (case when i.status = ''replayed'' then i.new_id else i.job_id end) as id from postmill.operation_item i
                     where i.operation_id = o.id and (case when i.status = ''replayed'' then i.new_id else i.job_id end) < $1
                       and (case when i.status = ''replayed'' then i.new_id else i.job_id end) >= $2
                     order by (case when i.status = ''replayed'' then i.new_id else i.job_id end) desc limit $3) f', named);
            end if;
        elsif field = 'trigger' then
            part := format('((j.source <> ''event'' and j.source_ref = any (%1$s::text[])) or (j.source = ''event'' and exists (
                select from postmill.event_delivery d where d.event_id::text = j.source_ref and d.trigger_id = any (%1$s::uuid[])
                   and d.job_id = j.id offset 0)))', named);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%s::text[]) as t(ref) cross join lateral (
                    (select b.id from postmill.any_job b where b.source_ref = t.ref and b.source <> ''event'' and b.id < $1 and b.id >= $2
                      order by b.id desc limit $3)
                    union all
                    (select d.job_id from postmill.event_delivery d where d.trigger_id = t.ref::uuid and d.event_id < $1
                        and d.job_id < $1 and d.job_id >= $2 order by d.event_id desc limit $3)) f', named);
                -- The candidates are those of the trigger already; an event that was forgotten no longer tells.
                part := null;
            end if;
        elsif field = 'error' then
            part := format('(exists (select from postmill.attempt a where a.job_id = j.id and a.error_group = any (%1$s::text[]) offset 0)
                or exists (select from postmill.outcome o where o.job_id = j.id and o.error_group = any (%1$s::text[]) offset 0))', named);
            if yes = 'is true' and candidates is null and groups is null then
                groups := array(select jsonb_array_elements_text(term -> 'values'));
                part := null;
            end if;
        elsif field = 'tag' then
            part := format('exists (select from postmill.job_tag g where g.job_id = j.id and g.tag = any (%s::text[]) offset 0)', named);
            if yes = 'is true' and candidates is null and tags is null then
                tags := array(select jsonb_array_elements_text(term -> 'values'));
                part := null;
            end if;
        elsif field = 'worker' then
            holders := array(select w.holder from postmill.worker w
                              where w.worker_id in (select v from jsonb_array_elements_text(term -> 'values') v)
                                 or w.hostname in (select v from jsonb_array_elements_text(term -> 'values') v)
                              order by w.started_at desc limit 1000);
            part := format('(exists (select from postmill.running r where r.id = j.id and r.holder = any (%1$L::uuid[]) offset 0)
                or exists (select from postmill.outcome o where o.job_id = j.id and o.holder = any (%1$L::uuid[]) offset 0)
                or exists (select from postmill.attempt a where a.job_id = j.id and a.holder = any (%1$L::uuid[]) offset 0))', holders);
        elsif field = 'attempt' then
            part := format('coalesce((select t.attempt - 1 from postmill.ready t where t.id = j.id offset 0),
                (select t.attempt - 1 from postmill.scheduled t where t.id = j.id offset 0),
                (select t.attempt from postmill.running t where t.id = j.id offset 0),
                (select t.attempts from postmill.dead_letter t where t.id = j.id offset 0),
                (select t.attempt from postmill.outcome t where t.job_id = j.id offset 0), 0) %s %L::double precision',
                case term ->> 'op' when '>' then '>' when '<' then '<' when '>=' then '>=' when '<=' then '<=' else '=' end,
                term ->> 'number');
        elsif field = 'ran' then
            part := format('coalesce((select $5 - t.claimed_at from postmill.running t where t.id = j.id offset 0),
                (select t.finished_at - t.started_at from postmill.outcome t where t.job_id = j.id offset 0),
                (select t.finished_at - t.started_at from postmill.attempt t where t.job_id = j.id order by t.run desc limit 1))
                %s %L::double precision * interval ''1 second''',
                case term ->> 'op' when '>' then '>' when '>=' then '>=' when '<=' then '<=' else '<' end, term ->> 'number');
        elsif field = 'args' then
            select '(' || string_agg(format('j.payload @> %L::jsonb', a.value), ' or ') || ')' into part
              from jsonb_array_elements(term -> 'any_of') a;
            if yes = 'is true' and candidates is null then
                held := postmill.args_matching(array(select a.value from jsonb_array_elements(term -> 'any_of') a), below, first);
                if held is not null then
                    candidates := format('select u.id from unnest(%L::uuid[]) as u(id) where u.id < $1 and u.id >= $2', held);
                end if;
            end if;
        else
            raise exception 'read_matching does not know the term %', field using errcode = 'invalid_parameter_value';
        end if;
        if part is not null then
            tests := tests || format(' and (%s) %s', part, yes);
        end if;
    end loop;
    if cardinality(states) = 0 or cardinality(tenants) = 0 or below <= first then
        return;
    end if;
    if groups is not null and candidates is null then
        -- Each by itself and for each tenant: so the planner knows that one index has them in their order.
        select string_agg(format('(select distinct a.job_id as id from postmill.%I a where a.error_group = %L and a.job_id < $1
            and a.job_id >= $2 and %s order by 1 desc limit $3)', t.name, g.id, case when n.id = nobody then 'true' else format('a.tenant_id = %L', n.id) end), ' union all ')
          into candidates
          from unnest(array['attempt', 'outcome']) as t(name) cross join unnest(groups) as g(id)
         cross join unnest(coalesce(tenants, array[nobody])) as n(id);
    end if;
    if tags is not null and candidates is null then
        select string_agg(format('(select g.job_id as id from postmill.job_tag g where g.tag = %L and g.job_id < $1 and g.job_id >= $2
            and %s order by 1 desc limit $3)', u.tag, case when n.id = nobody then 'true' else format('g.tenant_id = %L', n.id) end), ' union all ')
          into candidates
          from unnest(tags) as u(tag) cross join unnest(coalesce(tenants, array[nobody])) as n(id);
    elsif tags is not null then
        tests := tests || format(' and exists (select from postmill.job_tag g where g.job_id = j.id and g.tag = any (%L::text[]) offset 0)', tags);
    end if;
    if keys is not null and candidates is null then
        -- Those that hold the key now are asked first; the others are met on the way.
        held := array(select k.job_id from postmill.tenant t
                       cross join lateral (select '00000000-0000-0000-0000-000000000000'::uuid as id
                                           union all select p.id from postmill.project p where p.tenant_id = t.id) p
                       cross join unnest(keys) as u(key)
                       join postmill.idempotency_key k on k.tenant_id = t.id and k.project_id = p.id and k.key = u.key
                       where tenants is null or t.id = any (tenants) limit 1000);
        tests := tests || format(' and j.id <> all (%L::uuid[])', held);
    end if;
    walks := case when candidates is not null then array['candidates'] when states is null then array['bodies']
                  when tenants is null or states <@ array['failed', 'canceled', 'replayed'] then array['places']
                  -- Successes of one tenant among those of all: its own jobs tell sooner.
                  when 'succeeded' = any (states) then array['bodies']
                  when states <@ array['dead_letter', 'replayed', 'failed', 'canceled', 'running'] then array['places', 'bodies']
                  else array['bodies', 'places'] end;
    if 'queued' = any (states) then
        overdue := array(select s.id from postmill.scheduled s where s.run_at <= moment order by s.run_at limit 1000);
    end if;
    foreach walk in array walks loop
        n := n + 1;
        found_low := null;
        if walk = 'bodies' then
            part := tests;
            foreach yes in array queue_tests loop
                part := part || queue_of || yes;
            end loop;
            if states is not null then
                part := part || ' and ' || postmill.state_test(states);
            end if;
            -- Within a tenant what was not made by hand or code has an index.
            select string_agg(format('(select j.* from postmill.any_job j where %s and %s and j.id < $1 and j.id >= $2
                    order by j.id desc limit $3)', case when n.id = nobody then 'true' else format('j.tenant_id = %L', n.id) end,
                    case when o.name = '' then 'true' else format('j.source = %L and j.source <> ''manual''', o.name) end), ' union all ') into named
              from unnest(coalesce(tenants, array[nobody])) as n(id)
             cross join unnest(case when tenants is not null and 'manual' <> all (sources) then sources else array[''] end) as o(name);
            named := format('select x.* from (%s) x order by x.id desc limit $3', named);
            execute format('select array(select j.id from (%s) j where %s order by j.id desc limit $4)', named, part)
                into found_ones using below, first, p_look, p_need, moment;
            if cardinality(found_ones) < p_need then
                execute format('select j.id from (%s) j order by j.id desc offset $3 - 1 limit 1', named)
                    into found_low using below, first, p_look;
            end if;
        else
            part := tests;
            foreach yes in array queue_tests loop
                part := part || case walk when 'places' then ' and (coalesce(u.queue, j.queue) ' else queue_of end || yes;
            end loop;
            if tenants is not null then
                part := part || format(' and j.tenant_id = any (%L::uuid[])', tenants);
            end if;
            if walk = 'places' then
                execute format('select array_agg(y.id order by y.id desc), array_agg(y.queue order by y.id desc), array_agg(y.fits order by y.id desc)
                    from (select x.* from (%s) x(id, queue, fits) order by x.id desc limit $3) y', postmill.places_of(states, tenants, ready, scheduled))
                    into looked, queues, fitting using below, first, p_look, p_need, moment, overdue;
            else
                execute format('select array(select distinct x.id from (%s) x(id) where x.id is not null order by 1 desc limit $3)', candidates)
                    into looked using below, first, p_look;
                queues := array_fill(null::text, array[cardinality(looked)]);
                fitting := array_fill(true, array[cardinality(looked)]);
                if states is not null then
                    part := part || ' and ' || postmill.state_test(states);
                end if;
            end if;
            -- A nested loop keeps the order of its outer side, and the limit ends it as soon as enough is found. Without any
            -- test the bodies need not be asked.
            execute format('select array(select u.id from unnest($1::uuid[], $2::text[], $3::boolean[]) as u(id, queue, fits) %s
                where u.fits and %s limit $4)', case when part <> 'true' or walk <> 'places' then 'cross join lateral (
                select f.* from postmill.any_job f where f.id = u.id offset 0) j' else '' end, part)
                into found_ones using looked, queues, fitting, p_need, moment;
            if cardinality(found_ones) < p_need then
                found_low := looked[p_look];
            end if;
        end if;
        -- Each is complete down to its low: the one that comes further down holds all of the other.
        if n = 1 or found_low is null or found_low < low then
            ids := found_ones;
            low := found_low;
        end if;
        exit when cardinality(ids) >= p_need or low is null;
    end loop;
    if keys is not null and candidates is null and p_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff' and cardinality(held) > 0 then
        select w.ids || read_matching.ids into ids
          from postmill.read_matching(jsonb_set(p_filter, '{terms}', (
                select jsonb_agg(t.value) from jsonb_array_elements(p_filter -> 'terms') t
                 where t.value ->> 'field' <> 'key' or (t.value ->> 'not')::boolean) || jsonb_build_array(jsonb_build_object(
                    'field', 'id', 'not', false, 'ranges', (select jsonb_agg(jsonb_build_array(h, h)) from unnest(held) h)))),
                p_need => p_need, p_look => p_look) w;
    end if;
end
$_$;

-- FUNCTION read_matching_bars(jsonb, integer, integer)

CREATE FUNCTION postmill.read_matching_bars(p_filter jsonb, p_need integer DEFAULT 10000, p_look integer DEFAULT 10001) RETURNS TABLE(total bigint, complete_to timestamp with time zone, width double precision, bars jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $_$
declare
    found_ones record;
    span double precision;
    starts timestamptz[];
    ids uuid[];
    dear constant boolean := jsonb_path_exists(p_filter, '$.terms[*] ? (@.field == "ran" || @.field == "attempt" || @.field == "worker"
        || @.field == "queue" || (@.field == "error" && @.not == true) || (@.field == "op" && @.not == true))')
        or (p_filter ? 'states' and postmill.scope_tenant() is not null and not p_filter -> 'states' <@ '["failed", "canceled", "dead_letter", "replayed"]');
begin
    select w.ids, w.low into found_ones
      from postmill.read_matching(p_filter, p_need => p_need + 1, p_look => case when dear then p_look / 4 else p_look end) w;
    total := cardinality(found_ones.ids);
    complete_to := case when found_ones.low is not null then postmill.id_time(found_ones.low)
                        when total > p_need then postmill.id_time(found_ones.ids[total]) end;
    span := extract(epoch from postmill.now() - postmill.id_time(found_ones.ids[total]))::double precision;
    select coalesce(min(w), 604800) into width
      from unnest(array[60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 604800]::double precision[]) w where span / w <= 60;
    -- An id tells its moment, and comparing ids is quicker than reading it from each of them.
    starts := array(select generate_series(date_bin(width * interval '1 second', postmill.id_time(found_ones.ids[total]), timestamptz '2000-01-03 00:00+00'),
                                           postmill.id_time(found_ones.ids[1]), width * interval '1 second') where total > 0);
    ids := array(select postmill.id_at(s) from unnest(starts) s);
    select coalesce(jsonb_agg(jsonb_build_array(extract(epoch from starts[b.place]), b.n) order by b.place), '[]') into bars
      from (select greatest(width_bucket(u.id, ids), 1) as place, count(*) as n from unnest(found_ones.ids) as u(id) group by 1) b;
    return next;
end
$_$;

-- FUNCTION read_matching_counts(jsonb, integer)

CREATE FUNCTION postmill.read_matching_counts(p_filter jsonb, p_look integer DEFAULT 1000) RETURNS TABLE(state text, n bigint, at_least boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
    groups constant jsonb := '[["queued", "scheduled"], ["blocked", "running", "failed", "canceled", "dead_letter", "replayed"]]';
    whole record;
    counted jsonb;
    one record;
    parts jsonb[];
    more boolean[];
    place integer;
begin
    select w.ids, w.low into whole from postmill.read_matching(p_filter - 'states', p_need => p_look, p_look => p_look) w;
    counted := postmill.states_of(whole.ids);
    at_least := whole.low is not null or cardinality(whole.ids) >= p_look;
    if at_least then
        for place in 0 .. 1 loop
            select w.ids, w.low into one
              from postmill.read_matching(p_filter || jsonb_build_object('states', groups -> place), p_need => p_look, p_look => p_look) w;
            parts[place] := postmill.states_of(one.ids);
            more[place] := one.low is not null or cardinality(one.ids) >= p_look;
        end loop;
    end if;
    for state in select unnest(array['scheduled', 'retrying', 'queued', 'blocked', 'running', 'succeeded', 'failed', 'canceled', 'dead_letter', 'replayed']) loop
        place := case when state = 'succeeded' then null when state in ('scheduled', 'retrying', 'queued') then 0 else 1 end;
        at_least := more[place] or (more[0] is not null and place is null);
        n := greatest((counted ->> state)::bigint, (parts[place] ->> state)::bigint, 0);
        if state = 'scheduled' then
            n := greatest(coalesce((counted ->> state)::bigint, 0) + coalesce((counted ->> 'retrying')::bigint, 0),
                          coalesce((parts[place] ->> state)::bigint, 0) + coalesce((parts[place] ->> 'retrying')::bigint, 0));
        end if;
        at_least := coalesce(at_least, false);
        return next;
    end loop;
end
$$;

-- FUNCTION read_members(integer)

CREATE FUNCTION postmill.read_members(p_most integer) RETURNS TABLE(actor_id text, tenant_id uuid, role text, since timestamp with time zone, last_seen_at timestamp with time zone, logins bigint, kind text, expires_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    with people as materialized (
    select s.actor_id, s.tenant_id, s.role::text as role, min(s.created_at) as since, max(s.last_seen_at) as seen,
           count(*) filter (where s.ended_at is null and s.expires_at > (select postmill.now())) as logins
      from (select x.actor_id, x.tenant_id, x.role, x.created_at, x.last_seen_at, x.ended_at, x.expires_at
              from postmill.console_session x order by x.id desc limit 5000) s
     group by 1, 2, 3
    )
    select a.* from (
        select p.actor_id, p.tenant_id, p.role, p.since, p.seen, p.logins, 'login', null::timestamptz from people p
        union all
        select l.actor_id, l.tenant_id, l.role::text, max(l.created_at), null, 0, 'invited', max(l.expires_at)
          from postmill.login_link l
         where l.used_at is null and l.expires_at > (select postmill.now())
           and not exists (select from people p where p.actor_id = l.actor_id and p.role = l.role
                              and p.tenant_id is not distinct from l.tenant_id)
         group by 1, 2, 3
        union all
        select k.name, k.tenant_id, k.role::text, k.created_at, k.last_used_at, 0, 'key', k.expires_at
          from postmill.api_key k
         where k.revoked_at is null and (k.expires_at is null or k.expires_at > (select postmill.now()))
           and not exists (select from people p where p.actor_id = 'key ' || k.name and p.tenant_id is not distinct from k.tenant_id))
        a(actor_id, tenant_id, role, since, seen, logins, kind, expires_at)
     order by a.seen desc nulls last, a.since desc limit p_most;
end
$$;

-- FUNCTION read_next_runs(integer)

CREATE FUNCTION postmill.read_next_runs(p_most integer DEFAULT 5) RETURNS TABLE(id uuid, label text, job_type text, queue text, next_run_at timestamp with time zone, last_run_at timestamp with time zone, paused boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own constant uuid := postmill.scope_tenant();
begin
    return query
    select t.id, t.label, d.key, d.queue, t.next_run_at, t.last_run_at,
           q.paused_at is not null and (q.resume_at is null or q.resume_at > (select postmill.now()))
      from (select x.* from postmill.trigger x
             where x.trigger_type = 'schedule' and x.is_enabled and x.deleted_at is null and not x.broken
               and x.next_run_at is not null and (own is null or x.tenant_id = own)
             order by x.next_run_at limit p_most) t
      join postmill.job_definition d on d.id = t.definition_id
      left join postmill.queue q on q.name = d.queue
     order by t.next_run_at, t.id;
end
$$;

-- FUNCTION read_notifications(uuid)

CREATE FUNCTION postmill.read_notifications(p_incident uuid) RETURNS TABLE(event text, step integer, channel text, instead_of text, status text, due_at timestamp with time zone, sent_at timestamp with time zone, tries integer, error text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select n.event, n.step, n.channel, n.instead_of, n.status, n.due_at, n.sent_at, n.tries, n.error
      from postmill.notification n where n.incident_id = p_incident order by n.id limit 1000;
end
$$;

-- FUNCTION read_now()

CREATE FUNCTION postmill.read_now() RETURNS TABLE(queues bigint, promised bigint, paused text[], breaches bigint, breach_since timestamp with time zone, stale_workers bigint, missed_triggers bigint, budgets bigint, others bigint, tenants bigint, new_errors bigint, new_since timestamp with time zone, quiet_since timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select q.all_of_them, q.with_target, coalesce(q.paused, '{}'), i.breaches, i.since, i.workers, i.missed, i.budgets, i.others,
           (select count(distinct t.tenant_id) from postmill.incident_part t join postmill.incident x on x.id = t.incident_id
             where x.resolved_at is null), g.n, g.since,
           (select max(e.at) from (select (select o.resolved_at from postmill.incident o
                                            where o.kind = 'sla_breach' and o.key = u.name and o.resolved_at is not null
                                            order by o.resolved_at desc limit 1) as at
                                     from postmill.queue u where u.sla_seconds is not null) e)
      from (select count(*) as all_of_them,
                   count(*) filter (where coalesce(u.sla_seconds, u.wait_target_seconds, u.run_target_seconds) is not null) as with_target,
                   array_agg(u.name order by u.priority, u.name) filter (
                       where u.paused_at is not null and (u.resume_at is null or u.resume_at > moment)) as paused
              from postmill.queue u) q
     cross join (select count(*) filter (where x.kind = 'sla_breach') as breaches,
                        min(x.opened_at) filter (where x.kind = 'sla_breach') as since,
                        coalesce(sum(jsonb_array_length(x.facts -> 'workers')) filter (
                            where x.kind = 'stale_workers' and jsonb_typeof(x.facts -> 'workers') = 'array'), 0) as workers,
                        count(*) filter (where x.kind = 'missed_trigger') as missed,
                        count(*) filter (where x.kind = 'budget') as budgets,
                        count(*) filter (where x.kind in ('job_exhausted', 'dead_letters', 'notification')) as others
                   from postmill.incident x where x.resolved_at is null) i
     cross join (select count(*) as n, min(y.first_seen_at) as since
                   from (select e.first_seen_at from postmill.error_group e
                          where e.first_seen_at > moment - interval '1 hour' limit 1000) y) g;
end
$$;

-- FUNCTION read_object_log(text, text, integer)

CREATE FUNCTION postmill.read_object_log(p_kind text, p_target text, p_most integer) RETURNS SETOF postmill.audit_log
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select l.* from postmill.audit_log l
     where l.target_kind = p_kind and l.target_kind in ('queue', 'worker', 'tenant') and l.target = p_target
     order by l.at desc, l.id desc limit p_most;
end
$$;

-- FUNCTION read_oldest(text, uuid)

CREATE FUNCTION postmill.read_oldest(p_queue text, p_lane uuid) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    found record;
begin
    if p_queue is null and p_lane is null then
        select min(x.ready_at) as ready_at, max(postmill.id_time(x.id)) as made, count(*) as n into found
          from (select r.ready_at, r.id from postmill.ready r order by r.id limit 100) x;
        if found.n < 100 or found.ready_at <= found.made then
            return found.ready_at;
        end if;
    end if;
    return (
        with recursive step as (
            select f.* from postmill.queue q cross join lateral (
                select r.queue, r.lane, r.priority, r.ready_at from postmill.ready r
                 where r.queue = q.name and (p_lane is null or r.lane = p_lane)
                 order by r.queue, r.lane, r.priority, r.ready_at limit 1) f
             where p_queue is null or q.name = p_queue
            union all
            select f.* from step s cross join lateral (
                select r.queue, r.lane, r.priority, r.ready_at from postmill.ready r
                 where r.queue = s.queue and (r.lane, r.priority) > (s.lane, s.priority) and (p_lane is null or r.lane = p_lane)
                 order by r.queue, r.lane, r.priority, r.ready_at limit 1) f
        )
        select min(x.ready_at) from (select s.ready_at from step s limit 1000) x);
end
$$;

-- FUNCTION read_operation_items(uuid, text, integer, integer)

CREATE FUNCTION postmill.read_operation_items(p_id uuid, p_status text DEFAULT NULL::text, p_after integer DEFAULT 0, p_most integer DEFAULT 100) RETURNS TABLE(n integer, job_id uuid, status text, new_id uuid, detail text, at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select i.n, i.job_id, coalesce(i.status, 'waiting'), i.new_id, i.detail, i.at from postmill.operation_item i
     where i.operation_id = p_id and i.n > p_after and (p_status is null or coalesce(i.status, 'waiting') = p_status)
     order by i.n limit p_most;
end
$$;

-- FUNCTION read_operation_preview(text, jsonb, uuid, integer, integer)

CREATE FUNCTION postmill.read_operation_preview(p_kind text, p_matching jsonb, p_cut_off uuid DEFAULT NULL::uuid, p_most integer DEFAULT 100000, p_sample integer DEFAULT 10000) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    began timestamptz := postmill.now();
    cut uuid := least(coalesce(p_cut_off, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), postmill.new_id());
    below uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    step uuid[];
    lowest uuid;
    ids uuid[] := '{}';
    done boolean := false;
    answer jsonb;
begin
    loop
        select m.ids, m.low into step, lowest from postmill.read_matching(p_matching, below, 5000, 20000) m;
        ids := ids || array(select u.id from unnest(step) as u(id) where u.id < cut);
        below := case when cardinality(step) >= 5000 then step[cardinality(step)] else lowest end;
        done := below is null;
        exit when done or cardinality(ids) >= p_most or postmill.now() > began + interval '1 s';
    end loop;
    with f as materialized (
        select j.*, d.version as version_now, d.replay_class, d.is_active, d.budget, d.key is null as unknown_type,
               coalesce((select max(v.version) from postmill.definition_version v where v.definition_id = d.id and v.at <= j.created_at),
                        d.version) as version_then,
               case p_kind when 'replay' then j.state in ('dead_letter', 'failed', 'canceled')
                           when 'retry' then j.state in ('scheduled', 'dead_letter', 'failed', 'canceled')
                           when 'cancel' then j.state in ('scheduled', 'queued', 'blocked', 'running')
                           when 'discard' then j.state = 'dead_letter'
                           when 'tag' then true
                           when 'run_at' then j.state in ('scheduled', 'queued')
                           else j.state in ('scheduled', 'queued', 'blocked') end as fits
          from (select b.id, b.tenant_id, b.project_id, b.job_type, b.created_at, b.expires_at, b.idempotency_key,
                       jsonb_hash_extended(b.payload, hashtextextended(b.job_type, 0)) as print,
                       coalesce(w.queue, s.queue, k.queue, r.queue, x.queue, b.queue) as queue,
                       case when w.id is not null then 'queued' when s.id is not null then 'scheduled' when k.id is not null then 'blocked'
                            when r.id is not null then 'running' when x.id is not null then 'dead_letter'
                            when o.status = 'dead_letter' then 'replayed' else o.status end as state,
                       coalesce(x.error_class, o.error_class) as error_class, coalesce(x.error_group, o.error_group) as error_group
                  from unnest(ids[:p_sample]) as u(id)
                 cross join lateral (select t.* from postmill.any_job t where t.id = u.id offset 0) b
                  left join lateral (select t.id, t.queue from postmill.ready t where t.id = u.id offset 0) w on true
                  left join lateral (select t.id, t.queue from postmill.scheduled t where t.id = u.id offset 0) s on true
                  left join lateral (select t.id, t.queue from postmill.blocked t where t.id = u.id offset 0) k on true
                  left join lateral (select t.id, t.queue from postmill.running t where t.id = u.id offset 0) r on true
                  left join lateral (select t.id, t.queue, t.error_class, t.error_group from postmill.dead_letter t
                                      where t.id = u.id offset 0) x on true
                  left join lateral (select t.status, t.error_class, t.error_group from postmill.outcome t
                                      where t.job_id = u.id offset 0) o on true) j
          left join postmill.job_definition d on d.key = j.job_type
    ), fresh as materialized (
        -- Later jobs that do the same: of the newest 20,000, as the replay itself looks for them.
        select n.id, n.tenant_id, n.replayed_from, jsonb_hash_extended(n.payload, hashtextextended(n.job_type, 0)) as print
          from (select j.* from postmill.job j where p_kind = 'replay' and j.id > ids[least(cardinality(ids), p_sample)]
                 order by j.id desc limit 20000) n
    ), since as (
        select f.id from f join fresh n on n.tenant_id = f.tenant_id and n.print = f.print and n.id > f.id
         where n.replayed_from is distinct from f.id
           and exists (select from postmill.outcome o where o.job_id = n.id and o.status = 'succeeded' offset 0)
        union
        select f.id from f join postmill.idempotency_key k on k.tenant_id = f.tenant_id and k.key = f.idempotency_key
               and k.project_id = coalesce(f.project_id, '00000000-0000-0000-0000-000000000000') and k.job_id > f.id
         where p_kind = 'replay'
           and exists (select from postmill.outcome o where o.job_id = k.job_id and o.status = 'succeeded' offset 0)
           and not exists (select from postmill.any_job j where j.id = k.job_id and j.replayed_from = f.id offset 0)
    ), failed_of as materialized (
        -- Which build failed them last: of the newest 1,000. Who runs jobs is the platform's to see.
        select w.build, count(*) as n
          from (select f.id from f where p_kind in ('replay', 'retry') and postmill.sees_all() order by f.id desc limit 1000) l
         cross join lateral (select a.holder from postmill.attempt a where a.job_id = l.id order by a.run desc limit 1) a
          join postmill.worker w on w.holder = a.holder
         where w.build is not null group by 1
    ), runs_now as (
        select w.build, count(*) as n from postmill.worker w join postmill.lease l on l.holder = w.holder
         where l.expires_at > began and w.build is not null and exists (select from failed_of)
           and w.job_types && array(select distinct f.job_type from f) group by 1
    )
    select jsonb_build_object(
        'count', cardinality(ids), 'complete', done, 'cut_off', cut, 'looked_at', (select count(*) from f),
        'fit', (select count(*) from f where f.fits),
        'groups', coalesce((select jsonb_agg(to_jsonb(g)) from (
            select f.fits, f.state, f.replay_class, coalesce(f.unknown_type or not f.is_active, true) as gone,
                   exists (select from since s where s.id = f.id) as done_since,
                   coalesce(f.version_then <> f.version_now, false) as changed, count(*) as count from f group by 1, 2, 3, 4, 5, 6) g), '[]'),
        'tenants', (select count(distinct f.tenant_id) from f), 'oldest', (select min(f.created_at) from f),
        'newest', (select max(f.created_at) from f),
        'by_tenant', coalesce((select jsonb_agg(jsonb_build_object('name', coalesce(t.slug, g.tenant_id::text), 'count', g.n)
                order by g.n desc, t.slug)
              from (select f.tenant_id, count(*) as n from f group by 1 order by 2 desc limit 20) g
              left join postmill.tenant t on t.id = g.tenant_id), '[]'),
        'by_type', coalesce((select jsonb_agg(jsonb_build_object('job_type', g.job_type, 'version', g.version_then, 'now', g.version_now,
                'replay_class', g.replay_class, 'state', case when g.unknown_type then 'unknown_type' when not g.is_active then 'inactive'
                when g.version_then <> g.version_now then 'changed' else 'current' end, 'count', g.n) order by g.n desc, g.job_type, g.version_then)
              from (select f.job_type, f.version_then, f.version_now, f.replay_class, f.unknown_type, f.is_active, count(*) as n from f
                     group by 1, 2, 3, 4, 5, 6 order by 7 desc limit 20) g), '[]'),
        'by_error', coalesce((select jsonb_agg(jsonb_build_object('error_class', g.error_class, 'error_group', g.error_group, 'count', g.n)
                order by g.n desc, g.error_class)
              from (select f.error_class, f.error_group, count(*) as n from f where f.error_class is not null
                     group by 1, 2 order by 3 desc limit 20) g), '[]'),
        'by_age', (select jsonb_agg(jsonb_build_object('name', a.name, 'count',
                (select count(*) from f where f.created_at <= began - a.low and f.created_at > began - a.high)) order by a.low)
              from (values ('1h', interval '0', interval '1 hour'), ('24h', '1 hour', '24 hours'), ('7d', '24 hours', '7 days'),
                           ('older', '7 days', '1000 years')) as a(name, low, high)),
        'by_state', coalesce((select jsonb_agg(jsonb_build_object('name', g.state, 'count', g.n) order by g.n desc, g.state)
              from (select f.state, count(*) as n from f group by 1) g), '[]'),
        'by_build', coalesce((select jsonb_agg(jsonb_build_object('name', b.build, 'count', b.n) order by b.n desc, b.build)
              from failed_of b), '[]'),
        'builds_now', coalesce((select jsonb_agg(jsonb_build_object('name', b.build, 'count', b.n) order by b.n desc, b.build)
              from runs_now b), '[]'),
        'never', (select count(*) from f where f.replay_class = 'never'),
        'ask', (select count(*) from f where f.replay_class = 'ask'),
        'succeeded_since', (select count(*) from since),
        'past_deadline', (select count(*) from f where f.expires_at <= began),
        'version_changed', (select count(*) from f where f.version_then <> f.version_now),
        'gone', (select count(*) from f where f.unknown_type or not f.is_active),
        'paused_queues', coalesce((select jsonb_agg(jsonb_build_object('name', g.queue, 'count', g.n) order by g.n desc, g.queue)
              from (select f.queue, count(*) as n from f group by 1) g join postmill.queue q on q.name = g.queue
             where q.paused_at is not null and (q.resume_at is null or q.resume_at > began)), '[]'),
        'over_budget', coalesce((select jsonb_agg(jsonb_build_object('name', coalesce(t.slug, g.tenant_id::text), 'count', g.n)
                order by g.n desc, t.slug)
              from (select f.tenant_id, f.budget, count(*) as n from f where f.budget is not null group by 1, 2 order by 3 desc limit 200) g
             cross join lateral postmill.budget_word(g.budget, g.tenant_id) y
              left join postmill.tenant t on t.id = g.tenant_id
             where y.action in ('defer', 'stop')), '[]'))
      into answer;
    return answer;
end
$$;

-- FUNCTION read_operation_results(uuid)

CREATE FUNCTION postmill.read_operation_results(p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return coalesce((select jsonb_object_agg(r.state, r.n) from (
        select s.state, count(*) as n
          from postmill.job_state(array(select i.new_id from postmill.operation_item i
                                         where i.operation_id = p_id and i.status = 'replayed' order by i.at desc limit 10000)) s
         group by 1) r), '{}');
end
$$;

-- FUNCTION read_operations(uuid, uuid, integer, boolean)

CREATE FUNCTION postmill.read_operations(p_id uuid DEFAULT NULL::uuid, p_before uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, p_most integer DEFAULT 50, p_open boolean DEFAULT false) RETURNS TABLE(id uuid, tenant_id uuid, kind text, status text, stage text, filter jsonb, rate double precision, canary integer, again boolean, confirm boolean, despite_success boolean, version integer, reason text, total integer, done integer, skipped integer, failed integer, actor_type text, actor_id text, created_at timestamp with time zone, started_at timestamp with time zone, paused_at timestamp with time zone, paused_by text, pause_reason text, ended_at timestamp with time zone, fair boolean, same_version boolean, priority integer, queue text, run_at timestamp with time zone, stop_ratio double precision, start_at timestamp with time zone, approve_above integer, approved_by text, approved_at timestamp with time zone, cut_off uuid, tags jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select o.id, o.tenant_id, o.kind, o.status, o.stage, o.filter, o.rate, o.canary, o.again, o.confirm, o.despite_success,
           o.version, o.reason, o.total, o.done, o.skipped, o.failed, o.actor_type, o.actor_id, o.created_at, o.started_at,
           o.paused_at, o.paused_by, o.pause_reason, o.ended_at, o.fair, o.same_version, o.priority, o.queue, o.run_at,
           o.stop_ratio, o.start_at, o.approve_above, o.approved_by, o.approved_at, o.cut_off, o.tags
      from postmill.operation o
     where (p_id is null or o.id = p_id) and o.id < p_before and (not p_open or o.status in ('proposed', 'running', 'paused'))
     order by o.id desc limit p_most;
end
$$;

-- FUNCTION read_projects(uuid, text, integer)

CREATE FUNCTION postmill.read_projects(p_tenant uuid, p_after text, p_most integer) RETURNS TABLE(id uuid, tenant_id uuid, slug text, name text, created_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select p.id, p.tenant_id, p.slug, p.name, p.created_at from postmill.project p
     where p.tenant_id = p_tenant and p.slug > p_after order by p.slug limit p_most;
end
$$;

-- FUNCTION read_query_names(jsonb)

CREATE FUNCTION postmill.read_query_names(p_names jsonb) RETURNS TABLE(field text, name text, ids text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
    for field, name in select a.value ->> 0, a.value ->> 1 from jsonb_array_elements(p_names) a loop
        ids := case field
            when 'type' then array(select d.key from postmill.job_definition d where d.key = name or d.aliases @> array[name] limit 20)
            when 'queue' then array(select q.name from postmill.queue q where q.name = read_query_names.name
                                    union select q.name from postmill.queue q where lower(q.name) = lower(read_query_names.name)
                                       and not exists (select from postmill.queue e where e.name = read_query_names.name) limit 20)
            when 'tenant' then array(select t.id::text from postmill.tenant t where t.slug = lower(read_query_names.name) or t.id::text = lower(read_query_names.name))
            when 'trigger' then array(select t.id::text from postmill.trigger t
                                       where lower(t.label) = lower(name) or t.id::text = lower(name) order by t.deleted_at desc nulls first limit 21)
            when 'error' then array(
                select g.id from postmill.error_group g
                 where ((name ~ '^[0-9a-f]{2,16}$' and g.id >= name and g.id < name || 'g') or g.error_class = name
                        or g.error_class like '%.' || replace(replace(name, '\', '\\'), '_', '\_'))
                   and exists (select from postmill.error_group_tenant t where t.id = g.id)
                 order by g.last_seen_at desc limit 21)
            when 'worker' then array(select read_query_names.name where not postmill.sees_all() or exists (
                select from postmill.worker w where w.worker_id = read_query_names.name or w.hostname = read_query_names.name))
            when 'op' then array(select o.id::text from postmill.operation o
                                  where o.id >= rpad(replace(name, '-', ''), 32, '0')::uuid and o.id <= rpad(replace(name, '-', ''), 32, 'f')::uuid
                                  order by o.id desc limit 21)
            else '{}' end;
        return next;
    end loop;
end
$_$;

-- FUNCTION read_queue_course(text, timestamp with time zone, double precision)

CREATE FUNCTION postmill.read_queue_course(p_queue text, p_since timestamp with time zone, p_seconds double precision) RETURNS TABLE(bucket timestamp with time zone, arrived bigint, ended bigint, failed bigint, queued bigint, running bigint, slots bigint, waits double precision[], runs double precision[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select date_bin(p_seconds * interval '1 second', m.minute, timestamptz '2000-01-01 00:00+00'), sum(m.arrived)::bigint,
           sum(m.ended)::bigint, sum(m.failed)::bigint, max(m.queued), max(m.running), max(m.slots),
           postmill.summary_of(postmill.histogram_sum(m.wait_hist), null), postmill.summary_of(postmill.histogram_sum(m.run_hist), null)
      from postmill.queue_minute m where m.queue = p_queue and m.minute >= p_since
     group by 1 order by 1;
end
$$;

-- FUNCTION read_queue_limits(text)

CREATE FUNCTION postmill.read_queue_limits(p_queue text) RETURNS TABLE(job_type text, worker_limit integer, rate_count integer, rate_seconds double precision, rate_burst integer, blocked_seconds double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select d.key, d.worker_limit, l.rate_count, l.rate_seconds, l.rate_burst,
           greatest(0, extract(epoch from t.tat - (select postmill.now()))
                       - (l.rate_burst - 1) * l.rate_seconds / l.rate_count)::double precision
      from postmill.job_definition d
      left join postmill.limit_rule l on l.job_type = d.key
      left join lateral (select r.tat from postmill.rate_take r where r.limit_id = l.id order by r.seq desc limit 1) t on true
     where d.queue = p_queue and d.is_active and (d.worker_limit is not null or l.id is not null)
     order by d.key limit 200;
end
$$;

-- FUNCTION read_queue_names()

CREATE FUNCTION postmill.read_queue_names() RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select q.name from postmill.queue q order by q.name;
end
$$;

-- FUNCTION read_queue_standing(text[])

CREATE FUNCTION postmill.read_queue_standing(p_queues text[]) RETURNS TABLE(name text, state text, since timestamp with time zone, sla_seconds double precision, p95 double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    return query
    select q.name,
           case when q.paused_at is not null and (q.resume_at is null or q.resume_at > moment) then 'paused'
                when not exists (select from postmill.worker w join postmill.lease l on l.holder = w.holder
                                  where l.expires_at > moment and q.name = any (w.queues)) then 'no_workers'
                when (a.n >= 5 and (a.total_p95 > q.sla_seconds or a.wait_p95 > q.wait_target_seconds
                                    or a.run_p95 > q.run_target_seconds)) or a.oldest_seconds > q.sla_seconds then 'late'
                else 'ok' end,
           case when q.resume_at is null or q.resume_at > moment then q.paused_at end, q.sla_seconds, a.total_p95
      from postmill.queue q
      left join postmill.attainment a on a.queue = q.name and a.measured_at > moment - interval '5 minutes'
     where q.name = any (p_queues)
     order by q.priority, q.name;
end
$$;

-- FUNCTION read_queue_standing(text)

CREATE FUNCTION postmill.read_queue_standing(p_name text DEFAULT NULL::text) RETURNS TABLE(queue text, workers bigint, draining bigint, slots bigint, arrived_rate double precision, ended_rate double precision, failed_rate double precision, wait_p95 double precision, run_p95 double precision, total_p95 double precision, n bigint, attained_day double precision, burn_day double precision, breach_since timestamp with time zone, breach_title text, incident_id uuid, ended_hour bigint[], runbook text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
    this timestamptz := postmill.minute_of(moment);
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select q.name, coalesce(w.workers, 0), coalesce(w.draining, 0), coalesce(w.slots, 0)::bigint, coalesce(f.arrived, 0) / 5.0,
           coalesce(f.ended, 0) / 5.0, coalesce(f.failed, 0) / 5.0, coalesce(a.wait_p95, postmill.quantile(t.waits, 0.95)),
           coalesce(a.run_p95, postmill.quantile(t.runs, 0.95)), a.total_p95, coalesce(a.n, t.judged::bigint, 0), a.attained_day,
           a.burn_day, i.opened_at, i.title, i.id, h.counts, q.runbook
      from postmill.queue q
      left join (select v.queue, count(*) filter (where not v.draining) as workers, count(*) filter (where v.draining) as draining,
                        sum(v.slots) as slots from postmill.read_live_slots() v group by 1) w on w.queue = q.name
      left join postmill.attainment a on a.queue = q.name and a.measured_at > moment - interval '5 minutes'
      left join postmill.incident i on i.kind = 'sla_breach' and i.key = q.name and i.resolved_at is null
     cross join lateral (select sum(m.arrived)::double precision as arrived, sum(m.ended)::double precision as ended,
                                sum(m.failed)::double precision as failed from postmill.queue_minute m
                          where m.queue = q.name and m.minute >= this - interval '5 minutes' and m.minute < this) f
     cross join lateral (select postmill.histogram_sum(m.wait_hist) as waits, postmill.histogram_sum(m.run_hist) as runs,
                                sum(m.judged) as judged from postmill.queue_minute m
                          where m.queue = q.name and m.minute > moment - interval '10 minutes') t
     cross join lateral (select array_agg(coalesce(m.ended, 0) order by g.minute) as counts
                           from generate_series(this - interval '59 minutes', this, interval '1 minute') as g(minute)
                           left join (select x.minute, x.ended from postmill.queue_minute x
                                       where x.queue = q.name and x.minute > this - interval '60 minutes' offset 0) m
                             on m.minute = g.minute) h
     where p_name is null or q.name = p_name
     order by q.name limit 1000;
end
$$;

-- FUNCTION read_queue_tenants(text, double precision, integer)

CREATE FUNCTION postmill.read_queue_tenants(p_queue text, p_seconds double precision, p_most integer) RETURNS TABLE(tenant_id uuid, slug text, weight integer, arrived bigint, ended bigint, failed bigint, run_seconds double precision, wait_average double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    since timestamptz := postmill.minute_of(postmill.now()) - p_seconds * interval '1 second';
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select s.tenant_id, t.slug, coalesce(l.weight, t.weight, 1), s.arrived, s.ended, s.failed, s.run_seconds,
           s.wait_sum / nullif(s.ended, 0)
      from (select r.tenant_id, coalesce(sum(r.n) filter (where r.outcome = 'enqueued'), 0)::bigint as arrived,
                   coalesce(sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'canceled', 'dead_letter')), 0)::bigint as ended,
                   coalesce(sum(r.n) filter (where r.outcome in ('retried', 'lost', 'failed', 'dead_letter')), 0)::bigint as failed,
                   sum(r.run_sum) as run_seconds, sum(r.wait_sum) as wait_sum
              from postmill.rollups r
             where r.queue = p_queue and r.minute >= since
             group by 1 order by 5 desc, 2 desc limit p_most) s
      left join lateral (select x.slug, x.weight from postmill.tenant x where x.id = s.tenant_id offset 0) t on true
      left join postmill.lane l on l.queue = p_queue and l.lane = s.tenant_id
     order by s.run_seconds desc, s.arrived desc, t.slug;
end
$$;

-- FUNCTION read_queues(text, integer)

CREATE FUNCTION postmill.read_queues(p_name text DEFAULT NULL::text, p_most integer DEFAULT 10000) RETURNS TABLE(name text, priority integer, lane text, paused boolean, paused_at timestamp with time zone, paused_by text, pause_reason text, resume_at timestamp with time zone, queued bigint, scheduled bigint, blocked bigint, running bigint, dead_letters bigint, oldest_seconds double precision, next_due_seconds double precision, owner text, contact text, color text, sla_seconds double precision, wait_target_seconds double precision, run_target_seconds double precision, escalation text, attained double precision, burn double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
declare
    moment timestamptz := postmill.now();
    whole boolean := postmill.sees_all();
begin
    return query
    select q.name, q.priority, q.lane, q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), q.paused_at,
           case when whole then q.paused_by end, q.pause_reason, q.resume_at,
           case when whole then r.n end,
           case when whole then (select count(*) from (select from postmill.scheduled t where t.queue = q.name limit p_most) x) end,
           case when whole then (select count(*) from postmill.blocked t where t.queue = q.name) end,
           case when whole then (select count(*) from postmill.running t where t.queue = q.name) end,
           case when whole then coalesce(y.n, 0) end,
           -- What was counted to its end has been seen: only a longer backlog is asked lane by lane.
           case when whole then extract(epoch from moment - case when r.n < p_most then r.oldest
                                                                 else postmill.read_oldest(q.name, null) end)::double precision end,
           case when whole then extract(epoch from n.run_at - moment)::double precision end,
           q.owner, case when whole then q.contact end, q.color, q.sla_seconds, q.wait_target_seconds, q.run_target_seconds,
           case when whole then q.escalation end, case when whole then a.attained end,
           case when whole then a.burn end
      from postmill.queue q
      left join lateral (select count(*) as n, min(x.ready_at) as oldest from (
                            select t.ready_at from postmill.ready t where whole and t.queue = q.name limit p_most) x) r on true
      -- Once for all queues: who asks for every queue would pay for each.
      left join (select d.queue, least(p_most, greatest(0, sum(d.opened - d.closed)))::bigint as n from postmill.dead_tally d
                  where whole and (p_name is null or d.queue = p_name) group by 1) y on y.queue = q.name
      left join (select s.queue, min(s.run_at) as run_at
                   from (select t.run_at, t.queue from postmill.scheduled t where whole order by t.run_at limit 1000) s
                  group by 1) n on n.queue = q.name
      left join postmill.attainment a on a.queue = q.name and a.measured_at > moment - interval '5 minutes'
     where p_name is null or q.name = p_name
     order by q.priority, q.name;
end
$$;

-- FUNCTION read_recovery_rules()

CREATE FUNCTION postmill.read_recovery_rules() RETURNS TABLE(name text, rule jsonb, last_run_at timestamp with time zone, replayed bigint, skipped bigint, replayed_hour bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select r.name, r.rule, r.last_run_at, r.replayed, r.skipped,
           (select count(*) from postmill.recovery v where v.at > (select postmill.now()) - interval '1 hour'
               and v.rule = r.name and v.status = 'replayed')
      from postmill.recovery_rule r where (select postmill.sees_all()) order by r.name;
end
$$;

-- FUNCTION read_running(integer)

CREATE FUNCTION postmill.read_running(p_most integer DEFAULT 20) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, attempt integer, max_attempts integer, worker_id text, seconds double precision, progress_done double precision, progress_total double precision, progress_message text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select r.id, j.tenant_id, j.job_type, r.queue, r.attempt, j.max_attempts, k.worker_id,
           extract(epoch from moment - r.claimed_at)::double precision, g.done, g.total, g.message
      from (select x.* from (select o.* from postmill.running o limit 10000) x order by x.claimed_at, x.id limit p_most) r
      left join lateral (select f.tenant_id, f.job_type, f.max_attempts from postmill.any_job f where f.id = r.id offset 0) j on true
      left join postmill.worker k on k.holder = r.holder
      left join lateral (select t.done, t.total, t.message from postmill.progress t where t.job_id = r.id offset 0) g on true
     order by r.claimed_at, r.id;
end
$$;

-- FUNCTION read_saved_views(text, integer)

CREATE FUNCTION postmill.read_saved_views(p_page text, p_most integer DEFAULT 100) RETURNS TABLE(id uuid, name text, query text, shared boolean, own boolean, actor_id text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select v.id, v.name, v.query, v.shared, x.own, v.actor_id
      from postmill.saved_view v
     cross join lateral (select v.actor_type = current_setting('postmill.actor_type', true)
                            and v.actor_id is not distinct from nullif(current_setting('postmill.actor_id', true), '') as own) x
     where v.page = p_page and coalesce(v.tenant_id, '00000000-0000-0000-0000-000000000000')
                             = coalesce(postmill.scope_tenant(), '00000000-0000-0000-0000-000000000000')
       and (x.own or v.shared)
     order by lower(v.name), v.id limit p_most;
end
$$;

-- FUNCTION read_scaling(text, integer)

CREATE FUNCTION postmill.read_scaling(p_name text DEFAULT NULL::text, p_most integer DEFAULT 10000) RETURNS TABLE(queue text, paused boolean, waiting bigint, at_least boolean, oldest_seconds double precision, running bigint, arrived_rate double precision, ended_rate double precision, run_seconds double precision, workers bigint, draining bigint, slots bigint, most_slots bigint, sla_seconds double precision, wait_target_seconds double precision, moment timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
declare
    moment timestamptz := postmill.now();
    this timestamptz := postmill.minute_of(moment);
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select q.name, q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), greatest(c.n, d.n)::bigint, c.n >= p_most,
           extract(epoch from moment - postmill.read_oldest(q.name, null))::double precision,
           (select count(*) from postmill.running t where t.queue = q.name),
           coalesce(f.arrived, 0) / 300, coalesce(f.ended, 0) / 300,
           case when r.runs >= 20 then r.seconds / r.runs::double precision else (
               select sum(m.run_seconds) / nullif(sum((select sum(h) from unnest(m.run_hist) h)), 0)::double precision
                 from postmill.queue_minute m where m.queue = q.name) end,
           coalesce(w.workers, 0), coalesce(w.draining, 0), coalesce(w.slots, 0)::bigint, coalesce(w.most, 0)::bigint, q.sla_seconds,
           q.wait_target_seconds, moment
      from postmill.queue q
      left join (select n.name, count(*) filter (where not k.draining) as workers, count(*) filter (where k.draining) as draining,
                        sum((k.slots ->> n.name)::bigint) filter (where not k.draining) as slots,
                        sum(coalesce((k.report -> 'ranges' -> n.name ->> 'most')::bigint, (k.slots ->> n.name)::bigint))
                            filter (where not k.draining) as most
                   from postmill.lease l join postmill.worker k on k.holder = l.holder cross join unnest(k.queues) as n(name)
                  where l.expires_at > moment and k.stopped_at is null group by 1) w on w.name = q.name
     cross join lateral (select count(*) as n from (select from postmill.ready t where t.queue = q.name limit p_most) x) c
     cross join lateral (select sum((x.one ->> 3)::bigint) as n
                           from postmill.upkeep u cross join jsonb_array_elements(u.note -> 'depths') as x(one)
                          where c.n >= p_most and u.name = 'monitor' and x.one ->> 0 = q.name and x.one ->> 2 = 'queued') d
     cross join lateral (select sum(m.arrived)::double precision as arrived, sum(m.ended)::double precision as ended
                           from postmill.queue_minute m
                          where m.queue = q.name and m.minute >= this - interval '5 minutes' and m.minute < this) f
     cross join lateral (select sum(m.run_seconds) as seconds, sum((select sum(h) from unnest(m.run_hist) h)) as runs
                           from postmill.queue_minute m
                          where m.queue = q.name and m.minute >= this - interval '15 minutes') r
     where p_name is null or q.name = p_name
     order by q.priority, q.name limit 1000;
end
$$;

-- FUNCTION read_sealed(postmill.audit_log)

CREATE FUNCTION postmill.read_sealed(p_row postmill.audit_log) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
begin
    return jsonb_build_array(p_row.id, to_char(p_row.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), p_row.tenant_id,
        p_row.actor_type, p_row.actor_id, p_row.role, p_row.via, p_row.action, p_row.target_kind, p_row.target, p_row.result,
        p_row.reason, p_row.request_id, p_row.before, p_row.after, p_row.db_role, p_row.address)::text;
end
$$;

-- FUNCTION read_stats(timestamp with time zone, timestamp with time zone, double precision, text, uuid, text, text, boolean)

CREATE FUNCTION postmill.read_stats(p_since timestamp with time zone, p_until timestamp with time zone, p_seconds double precision DEFAULT NULL::double precision, p_by text DEFAULT NULL::text, p_tenant uuid DEFAULT NULL::uuid, p_queue text DEFAULT NULL::text, p_job_type text DEFAULT NULL::text, p_times boolean DEFAULT true) RETURNS TABLE(bucket timestamp with time zone, name text, counts jsonb, waits double precision[], runs double precision[], totals double precision[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    own constant uuid := coalesce(p_tenant, postmill.scope_tenant());
    cells constant integer := cardinality(postmill.rollup_bounds()) + 1;
    sums text;
begin
    -- Cell by cell: an aggregate over arrays takes ten times as long.
    select string_agg(format(case when p_times then 'array[%s] as %I' else 'null::bigint[] as %2$I' end, cell.sums,
                             kind || 's_hist'), ', ') into sums
      from unnest(array['wait', 'run', 'total']) as kind
     cross join lateral (select string_agg(format('coalesce(sum(r.%I[%s]), 0)', kind || '_hist', i), ', ') as sums
                           from generate_series(1, cells) i) cell;
    return query execute format($q$
        with counted as (
            select case when $3 is null then $1
                        else date_bin($3 * interval '1 second', r.minute, timestamptz '2000-01-01 00:00+00') end as bucket,
                   case $4 when 'queue' then r.queue when 'job_type' then r.job_type when 'tenant' then r.tenant_id::text
                        else '' end as name, r.outcome, sum(r.n) as n, sum(r.wait_sum) as wait, sum(r.run_sum) as run,
                   sum(r.total_sum) as total, %s
              from %s r
             where r.minute >= postmill.minute_of($1) and r.minute < $2 and ($5 is null or r.tenant_id = $5)
               and ($6 is null or r.queue = $6) and ($7 is null or r.job_type = $7)
             group by 1, 2, 3
        ), merged as (
            select c.bucket, c.name, jsonb_object_agg(c.outcome, c.n) as counts, sum(c.wait) as wait, sum(c.run) as run,
                   sum(c.total) as total, postmill.histogram_sum(c.waits_hist::bigint[]) as waits_hist,
                   postmill.histogram_sum(c.runs_hist::bigint[]) as runs_hist,
                   postmill.histogram_sum(c.totals_hist::bigint[]) as totals_hist
              from counted c group by 1, 2
        )
        select m.bucket, m.name, m.counts, postmill.summary_of(m.waits_hist, m.wait), postmill.summary_of(m.runs_hist, m.run),
               postmill.summary_of(m.totals_hist, m.total)
          from merged m order by 1, 2$q$, sums,
        postmill.rollup_source(p_since, p_until, own is null and p_by is distinct from 'tenant', p_seconds)) using p_since, p_until, p_seconds, p_by, own, p_queue, p_job_type;
end
$_$;

-- FUNCTION read_summary(uuid, integer)

CREATE FUNCTION postmill.read_summary(p_tenant uuid DEFAULT NULL::uuid, p_most integer DEFAULT 10000) RETURNS TABLE(state text, n bigint, at_least boolean, oldest_seconds double precision, open_letters bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
declare
    own uuid := coalesce(p_tenant, postmill.scope_tenant());
    moment timestamptz := postmill.now();
    bodies bigint;
    tickets bigint;
    mine uuid[];
    known bigint := 0;
    bounded boolean := false;
begin
    select count(*) into bodies from (
        select from postmill.job j where own is null or j.tenant_id = own limit p_most + 1) x;
    select bodies + count(*) into bodies from (
        select from postmill.job_kept k where own is null or k.tenant_id = own limit p_most + 1) x;
    for state in select unnest(array['scheduled', 'queued', 'blocked', 'running', 'dead_letter', 'failed', 'canceled']) loop
        at_least := false;
        oldest_seconds := null;
        open_letters := null;
        if state in ('failed', 'canceled', 'dead_letter') then
            select count(*) into n from (
                select from postmill.outcome o
                 where o.status = state and o.status <> 'succeeded' and (own is null or o.tenant_id = own) limit p_most + 1) x;
            if state = 'dead_letter' then
                select count(*) into open_letters from (
                    select from postmill.dead_letter d where own is null or d.tenant_id = own limit p_most + 1) x;
                n := n + open_letters;
            end if;
        else
            -- One statement of one table: a plan of all four takes as long as the count.
            if state = 'queued' then
                select count(*) into tickets from (select from postmill.ready t limit p_most + 1) x;
            elsif state = 'scheduled' then
                select count(*) into tickets from (select from postmill.scheduled t limit p_most + 1) x;
            elsif state = 'blocked' then
                select count(*) into tickets from (select from postmill.blocked t limit p_most + 1) x;
            else
                select count(*) into tickets from (select from postmill.running t limit p_most + 1) x;
            end if;
            if own is null or tickets = 0 then
                n := tickets;
            elsif bodies > p_most and tickets > p_most then
                at_least := true;
                -- The limit at the end, too: a queue is not looked at where the ones before it are enough.
                if state = 'queued' then
                    select count(*) into n from (select from postmill.queue q cross join lateral (
                        select from postmill.ready t where t.queue = q.name and t.lane = own offset 0) x limit p_most + 1) y;
                elsif state = 'scheduled' then
                    select count(*) into n from (select from postmill.queue q cross join lateral (
                        select from postmill.scheduled t where t.queue = q.name and t.lane = own offset 0) x limit p_most + 1) y;
                else
                    n := 0;
                end if;
            elsif bodies <= p_most then
                if mine is null then
                    mine := array(select j.id from postmill.any_job j where j.tenant_id = own);
                end if;
                select count(*) into n from unnest(mine) as u(id)
                 where case state when 'queued' then exists (select from postmill.ready t where t.id = u.id offset 0)
                                  when 'scheduled' then exists (select from postmill.scheduled t where t.id = u.id offset 0)
                                  when 'blocked' then exists (select from postmill.blocked t where t.id = u.id offset 0)
                                  else exists (select from postmill.running t where t.id = u.id offset 0) end;
            else
                select count(*) into n from (
                    select t.id from postmill.ready t where state = 'queued' union all
                    select t.id from postmill.scheduled t where state = 'scheduled' union all
                    select t.id from postmill.blocked t where state = 'blocked' union all
                    select t.id from postmill.running t where state = 'running') x
                 cross join lateral (select from postmill.any_job j where j.id = x.id and j.tenant_id = own offset 0) b;
            end if;
            if state = 'queued' then
                oldest_seconds := extract(epoch from moment - postmill.read_oldest(null, own));
            end if;
        end if;
        known := known + least(n, p_most);
        at_least := at_least or n > p_most;
        n := least(n, p_most);
        bounded := bounded or at_least;
        return next;
    end loop;
    -- What is neither waiting nor running, nor ended otherwise, has succeeded.
    state := 'succeeded';
    oldest_seconds := null;
    open_letters := null;
    if bodies > p_most or bounded then
        if own is null then
            select count(*) into n from (select o.status from postmill.outcome o order by o.job_id desc limit p_most * 5 / 4) x
             where x.status = 'succeeded';
        else
            select count(*) into n from (
                select o.status, o.tenant_id from postmill.outcome o order by o.job_id desc limit 2 * p_most) x
             where x.status = 'succeeded' and x.tenant_id = own;
        end if;
        n := least(greatest(n, bodies - known, 0), p_most);
        at_least := true;
    else
        n := greatest(bodies - known, 0);
        at_least := false;
    end if;
    return next;
end
$$;

-- FUNCTION read_tags(text, integer)

CREATE FUNCTION postmill.read_tags(p_text text, p_most integer DEFAULT 12) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
    own constant uuid := postmill.scope_tenant();
    known text[] := '{}';
    following text := '';
begin
    for n in 1 .. 1000 loop
        if own is null then
            select t.tag into following from postmill.job_tag t where t.tag > following order by t.tag limit 1;
        else
            select t.tag into following from postmill.job_tag t where t.tenant_id = own and t.tag > following order by t.tag limit 1;
        end if;
        exit when not found;
        known := known || following;
    end loop;
    return query
    select k.tag from unnest(known) as k(tag) where strpos(lower(k.tag), lower(p_text)) > 0
     order by left(lower(k.tag), length(p_text)) <> lower(p_text), k.tag limit p_most;
end
$$;

-- FUNCTION read_tenant_page(text, integer, text, text, text[])

CREATE FUNCTION postmill.read_tenant_page(p_after text, p_most integer, p_status text DEFAULT NULL::text, p_begins text DEFAULT NULL::text, p_slugs text[] DEFAULT NULL::text[]) RETURNS TABLE(id uuid, slug text, name text, timezone text, status text, weight integer, max_running integer, retention_seconds double precision, created_at timestamp with time zone, updated_at timestamp with time zone, raised_to integer, raised_until timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select r.* from postmill.tenant t cross join lateral postmill.read_tenants('', 1, t.id, t.slug) r
     where t.slug > p_after and (p_status is null or t.status = p_status) and (p_slugs is null or t.slug = any (p_slugs))
       and (p_begins is null or starts_with(t.slug, lower(p_begins)) or starts_with(lower(t.name), lower(p_begins)))
     order by t.slug limit p_most;
end
$$;

-- FUNCTION read_tenant_slugs(uuid[])

CREATE FUNCTION postmill.read_tenant_slugs(p_ids uuid[]) RETURNS TABLE(id uuid, slug text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query select t.id, t.slug from postmill.tenant t where t.id = any(p_ids);
end
$$;

-- FUNCTION read_tenant_standing(uuid[], double precision)

CREATE FUNCTION postmill.read_tenant_standing(p_ids uuid[], p_seconds double precision) RETURNS TABLE(tenant_id uuid, arrived bigint, ended bigint, failed bigint, run_seconds double precision, judged bigint, late bigint, fleet_seconds double precision, last_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    until timestamptz := postmill.now() + interval '1 minute';
    since timestamptz := postmill.minute_of(postmill.now()) - p_seconds * interval '1 second';
    fleet double precision;
begin
    if not postmill.sees_all() then
        return;
    end if;
    execute format('select sum(f.run_sum) from %s f where f.minute >= $1', postmill.rollup_source(since, until, true, null))
        into fleet using since;
    return query execute format($q$
        with promise as materialized (
            select q.name, (select count(*) from unnest(postmill.rollup_bounds()) as b where b <= q.sla_seconds)::integer as cells
              from postmill.queue q where q.sla_seconds is not null
        )
        select u.id, coalesce(s.arrived, 0), coalesce(s.ended, 0), coalesce(s.failed, 0), coalesce(s.run_seconds, 0),
               coalesce(s.judged, 0), coalesce(s.late, 0), $3,
               greatest((select x.minute from postmill.rollup x where x.tenant_id = u.id order by x.minute desc limit 1), s.last_minute)
          from unnest($1) as u(id)
         cross join lateral (
            select (sum(r.n) filter (where r.outcome = 'enqueued'))::bigint as arrived,
                   (sum(r.n) filter (where r.outcome in ('succeeded', 'failed', 'canceled', 'dead_letter')))::bigint as ended,
                   (sum(r.n) filter (where r.outcome in ('retried', 'lost', 'failed', 'dead_letter')))::bigint as failed,
                   sum(r.run_sum) as run_seconds,
                   (sum(r.n) filter (where r.total_hist is not null and p.name is not null))::bigint as judged,
                   (sum((select sum(h) from unnest(r.total_hist[p.cells + 1:]) as h)) filter (where p.name is not null))::bigint as late,
                   max(r.minute) as last_minute
              from %s r left join promise p on p.name = r.queue
             where r.tenant_id = u.id and r.minute >= $2) s$q$, postmill.rollup_source(since, until, false, null))
    using p_ids, since, fleet;
end
$_$;

-- FUNCTION read_tenants(text, integer, uuid, text)

CREATE FUNCTION postmill.read_tenants(p_after text, p_most integer, p_id uuid DEFAULT NULL::uuid, p_slug text DEFAULT NULL::text) RETURNS TABLE(id uuid, slug text, name text, timezone text, status text, weight integer, max_running integer, retention_seconds double precision, created_at timestamp with time zone, updated_at timestamp with time zone, raised_to integer, raised_until timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select t.id, t.slug, t.name, t.timezone, t.status, t.weight, t.max_running,
           extract(epoch from t.retention)::double precision, t.created_at, t.updated_at,
           case when t.raised_until > (select postmill.now()) then t.raised_to end,
           case when t.raised_until > (select postmill.now()) then t.raised_until end
      from postmill.tenant t
     where t.slug > p_after and (p_id is null or t.id = p_id) and (p_slug is null or t.slug = p_slug)
     order by t.slug limit p_most;
end
$$;

-- FUNCTION read_ticks_within(uuid, timestamp with time zone, timestamp with time zone, integer)

CREATE FUNCTION postmill.read_ticks_within(p_trigger uuid, p_since timestamp with time zone, p_until timestamp with time zone, p_most integer) RETURNS TABLE(due timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select k.due from postmill.tick k
     where k.trigger_id = p_trigger and k.due >= p_since and k.due < p_until and k.job_id is not null
     order by k.due limit p_most;
end
$$;

-- FUNCTION read_trigger_ground(uuid, text)

CREATE FUNCTION postmill.read_trigger_ground(p_tenant uuid, p_definition text) RETURNS TABLE(moment timestamp with time zone, tenant_id uuid, slug text, timezone text, definition_id uuid, job_type text, is_active boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select m.moment, t.id, t.slug, t.timezone, d.id, d.key, d.is_active
      from (select postmill.now() as moment,
                   coalesce(p_tenant, postmill.scope_tenant(), '00000000-0000-0000-0000-000000000001') as tenant) m
      left join postmill.tenant t on t.id = m.tenant
      left join lateral (
        select e.id, e.key, e.is_active from postmill.job_definition e
         where e.key = p_definition or e.aliases @> array[p_definition] order by e.key = p_definition desc limit 1) d on true;
end
$$;

-- FUNCTION read_trigger_runs(uuid[], integer)

CREATE FUNCTION postmill.read_trigger_runs(p_ids uuid[], p_most integer) RETURNS TABLE(trigger_id uuid, at timestamp with time zone, outcome text, detail text, job_id uuid, ticks integer, state text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select u.id, r.at, r.outcome, r.detail, r.job_id, r.ticks,
           case when r.job_id is null then null
                when exists (select from postmill.dead_letter x where x.id = r.job_id offset 0) then 'dead_letter'
                when exists (select from postmill.running x where x.id = r.job_id offset 0) then 'running'
                when exists (select from postmill.ready x where x.id = r.job_id offset 0) then 'queued'
                when exists (select from postmill.scheduled x where x.id = r.job_id offset 0) then 'scheduled'
                when exists (select from postmill.blocked x where x.id = r.job_id offset 0) then 'blocked'
                else (select x.status from postmill.outcome x where x.job_id = r.job_id limit 1) end
      from unnest(p_ids) as u(id)
     cross join lateral (
        select y.* from (
            (select k.due as at, k.outcome, k.detail, k.job_id, k.ticks from postmill.tick k
              where k.trigger_id = u.id order by k.due desc limit p_most)
            union all
            (select postmill.id_time(e.event_id), e.outcome, e.detail, e.job_id, 1 from postmill.event_delivery e
              where e.trigger_id = u.id order by e.event_id desc limit p_most)) y
         order by y.at desc limit p_most) r
     order by u.id, r.at desc;
end
$$;

-- FUNCTION read_trigger_standing(uuid[])

CREATE FUNCTION postmill.read_trigger_standing(p_ids uuid[]) RETURNS TABLE(trigger_id uuid, tenant_slug text, queue text, owner text, is_active boolean, paused boolean, pause_reason text, resume_at timestamp with time zone, served boolean, missed bigint, last_missed timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment constant timestamptz := postmill.now();
    whole constant boolean := postmill.sees_all();
begin
    return query
    select t.id, n.slug, q.name, q.owner, d.is_active, q.paused_at is not null and (q.resume_at is null or q.resume_at > moment),
           q.pause_reason, q.resume_at,
           case when whole then exists (
                select from postmill.worker k join postmill.lease e on e.holder = k.holder
                 where e.expires_at > moment and k.job_types && (array[d.key] || d.aliases)) end,
           m.n, m.last
      from unnest(p_ids) as u(id)
     cross join lateral (select x.* from postmill.trigger x where x.id = u.id and x.deleted_at is null offset 0) t
      join postmill.tenant n on n.id = t.tenant_id
      join postmill.job_definition d on d.id = t.definition_id
      join postmill.queue q on q.name = d.queue
     cross join lateral (
        select coalesce(sum(r.ticks) filter (where r.detail like 'missed%'), 0)::bigint as n,
               max(r.due) filter (where r.detail like 'missed%') as last
          from (select k.due, k.detail, k.ticks from postmill.tick k
                 where k.trigger_id = t.id and k.due >= moment - interval '7 days' order by k.due desc limit 200) r) m;
end
$$;

-- FUNCTION read_type_costs(text[])

CREATE FUNCTION postmill.read_type_costs(p_job_types text[]) RETURNS TABLE(job_type text, unit text, per_run numeric, runs bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    own constant uuid := postmill.scope_tenant(); -- passes over others' lines within the index
begin
    return query
    select u.key, b.unit, sum(l.amount) / count(distinct (l.job_id, l.attempt)), count(distinct (l.job_id, l.attempt))
      from unnest(p_job_types) as u(key)
     cross join lateral (
        select distinct on (y.reservation_id, y.kind) y.budget_id, y.amount, y.job_id, y.attempt
          from (select x.budget_id, x.reservation_id, x.kind, x.amount, x.job_id, x.attempt from postmill.budget_line x
                 where x.job_type = u.key and x.reservation_id is not null and (own is null or x.tenant_id = own)
                 order by x.id desc limit 200) y) l
      join postmill.budget b on b.id = l.budget_id
     group by 1, 2 order by 1, 2;
end
$$;

-- FUNCTION read_type_histogram(text, timestamp with time zone)

CREATE FUNCTION postmill.read_type_histogram(p_job_type text, p_since timestamp with time zone) RETURNS TABLE(runs bigint[], waits bigint[], run_quantiles double precision[], bounds double precision[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
    own constant uuid := postmill.scope_tenant();
begin
    -- Of all tenants together where all are seen: an hour has a row for each of them else.
    execute format('select postmill.histogram_sum(r.run_hist), postmill.histogram_sum(r.wait_hist) from %s r
         where r.job_type = $1 and ($2 is null or r.tenant_id = $2) and r.minute >= postmill.minute_of($3)',
        postmill.rollup_source(p_since, postmill.now() + interval '1 minute', own is null, null)) into runs, waits
        using p_job_type, own, p_since;
    bounds := postmill.rollup_bounds();
    run_quantiles := array[postmill.quantile(runs, 0.5), postmill.quantile(runs, 0.95), postmill.quantile(runs, 0.99)];
    return next;
end
$_$;

-- FUNCTION read_type_marks(text, timestamp with time zone, integer)

CREATE FUNCTION postmill.read_type_marks(p_job_type text, p_since timestamp with time zone, p_most integer DEFAULT 50) RETURNS TABLE(at timestamp with time zone, kind text, label text, target text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select * from (
        (select v.at, 'deploy', 'v' || v.version, v.version::text
           from postmill.job_definition d join postmill.definition_version v on v.definition_id = d.id
          where d.key = p_job_type and v.at >= p_since order by v.version desc limit p_most)
        union all
        (select b.at, 'build', b.build, b.holder::text from postmill.read_builds(p_since, p_job_type, p_most) b)
        union all
        (select p.paused_at, 'pause', coalesce(p.reason, ''), p.id::text from postmill.type_pause p
          where p.job_type = p_job_type and p.paused_at >= p_since order by p.paused_at desc limit p_most)
        union all
        (select o.created_at, 'replay', o.total::text, o.id::text from postmill.operation o
          where o.kind = 'replay' and o.id >= postmill.id_at(p_since) and (o.filter ->> 'job_type' = p_job_type
                or o.filter ->> 'error_group' in (select g.id from postmill.error_group g where g.job_type = p_job_type))
          order by o.id desc limit p_most)) m(at, kind, label, target)
     order by 1 desc limit p_most;
end
$$;

-- FUNCTION read_type_pauses(text)

CREATE FUNCTION postmill.read_type_pauses(p_job_type text DEFAULT NULL::text) RETURNS TABLE(job_type text, paused_at timestamp with time zone, paused_by text, reason text, resume_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select p.job_type, p.paused_at, case when (select postmill.sees_all()) then p.paused_by end, p.reason, p.resume_at
      from postmill.type_pause p
     where p.ended_at is null and (p.resume_at is null or p.resume_at > (select postmill.now()))
       and (p_job_type is null or p.job_type = p_job_type)
     order by p.job_type;
end
$$;

-- FUNCTION read_walk(text, text, text, text, text, uuid, uuid, uuid, timestamp with time zone, timestamp with time zone, integer, integer)

CREATE FUNCTION postmill.read_walk(p_walk text, p_status text, p_source text, p_job_type text, p_queue text, p_tenant uuid, p_before uuid, p_from uuid, p_after timestamp with time zone, p_until timestamp with time zone, p_need integer, p_look integer, OUT ids uuid[], OUT low uuid) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
    overdue uuid[];
    looked uuid[];
    fitting boolean[];
begin
    if p_walk = 'bodies' then
        ids := array(
            select l.id
              from (select j.id, j.job_type, j.queue, j.source, j.created_at from postmill.any_job j
                     where (p_tenant is null or j.tenant_id = p_tenant) and j.id < p_before and j.id >= p_from
                       and (coalesce(p_source, 'manual') = 'manual' or (j.source = p_source and j.source <> 'manual'))
                     order by j.id desc limit p_look) l
             where (p_source is null or l.source = p_source) and (p_job_type is null or l.job_type = p_job_type)
               and (p_queue is null or l.queue = p_queue) and (p_after is null or l.created_at > p_after)
               and (p_until is null or l.created_at < p_until)
               and case p_status
                   when 'queued' then exists (select from postmill.ready t where t.id = l.id offset 0)
                     or exists (select from postmill.scheduled t where t.id = l.id and t.run_at <= moment offset 0)
                   when 'scheduled' then exists (select from postmill.scheduled t where t.id = l.id and t.run_at > moment offset 0)
                   when 'blocked' then exists (select from postmill.blocked t where t.id = l.id offset 0)
                   when 'running' then exists (select from postmill.running t where t.id = l.id offset 0)
                   when 'dead_letter' then exists (select from postmill.dead_letter t where t.id = l.id offset 0)
                     or exists (select from postmill.outcome t where t.job_id = l.id and t.status = 'dead_letter' offset 0)
                   when p_status then exists (select from postmill.outcome t where t.job_id = l.id and t.status = p_status offset 0)
                   else true end
             order by l.id desc limit p_need);
        if cardinality(ids) < p_need then
            select j.id into low from postmill.any_job j
             where (p_tenant is null or j.tenant_id = p_tenant) and j.id < p_before and j.id >= p_from
               and (coalesce(p_source, 'manual') = 'manual' or (j.source = p_source and j.source <> 'manual'))
             order by j.id desc offset p_look - 1 limit 1;
        end if;
        return;
    end if;
    if p_status = 'queued' then
        overdue := array(select s.id from postmill.scheduled s where s.run_at <= moment order by s.run_at limit 1001);
    end if;
    select array_agg(y.id order by y.id desc), array_agg(y.fits order by y.id desc) into looked, fitting
      from (select x.id, x.fits from (
            (select t.id, true as fits from postmill.ready t
              where p_status = 'queued' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select u.id, true from unnest(overdue) as u(id)
              where cardinality(overdue) <= 1000 and u.id < p_before and u.id >= p_from)
            union all
            (select t.id, (t.run_at > moment) = (p_status = 'scheduled') from postmill.scheduled t
              where (p_status = 'scheduled' or cardinality(overdue) > 1000) and t.id < p_before and t.id >= p_from
              order by t.id desc limit p_look)
            union all
            (select t.id, true from postmill.blocked t
              where p_status = 'blocked' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select t.id, true from postmill.running t
              where p_status = 'running' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select t.id, p_tenant is null or t.tenant_id = p_tenant from postmill.dead_letter t
              where p_status = 'dead_letter' and t.id < p_before and t.id >= p_from order by t.id desc limit p_look)
            union all
            (select t.job_id, (p_tenant is null or t.tenant_id = p_tenant) and t.status = 'succeeded' from postmill.outcome t
              where p_status = 'succeeded' and t.job_id < p_before and t.job_id >= p_from order by t.job_id desc limit p_look)
            union all
            (select t.job_id, true from postmill.outcome t
              where p_status in ('failed', 'canceled', 'dead_letter') and t.status <> 'succeeded' and t.status = p_status
                and (p_tenant is null or t.tenant_id = p_tenant) and t.job_id < p_before and t.job_id >= p_from
              order by t.job_id desc limit p_look)) x
             order by x.id desc limit p_look) y;
    ids := array(
        select u.id from unnest(looked, fitting) with ordinality as u(id, fits, n)
         cross join lateral (
            select from postmill.any_job j
             where j.id = u.id and (p_tenant is null or j.tenant_id = p_tenant) and (p_source is null or j.source = p_source)
               and (p_job_type is null or j.job_type = p_job_type) and (p_queue is null or j.queue = p_queue)
               and (p_after is null or j.created_at > p_after) and (p_until is null or j.created_at < p_until) offset 0) b
         where u.fits
         order by u.n limit p_need);
    if cardinality(ids) < p_need then
        low := looked[p_look];
    end if;
end
$$;

-- FUNCTION read_why(uuid)

CREATE FUNCTION postmill.read_why(p_id uuid) RETURNS TABLE(id uuid, job_type text, queue text, state text, attempt integer, max_attempts integer, reason text, error_class text, error_message text, cancel_requested boolean, worker_id text, paused boolean, pause_reason text, resume_at timestamp with time zone, tenant_status text, is_active boolean, due_seconds double precision, expired boolean, rate_count integer, rate_seconds double precision, rate_wait double precision, worker_limit integer, type_running bigint, held_by uuid[], type_workers bigint, queue_workers bigint, draining_workers bigint, outdated bigint, slots bigint, queue_running bigint, ahead bigint, ready_seconds double precision, replayed_as uuid, budget text, budget_level integer, budget_action text, budget_ends timestamp with time zone, type_paused boolean, type_pause_reason text, type_resume_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    return query
    select s.id, s.job_type, s.queue, s.state, s.attempt, s.max_attempts, s.reason, s.error_class, left(s.error_message, 500),
           s.cancel_requested, s.worker_id,
           q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), q.pause_reason, q.resume_at,
           t.status, d.is_active, case when s.state = 'scheduled' then extract(epoch from s.scheduled_for - moment)::double precision end,
           j.expires_at <= moment, l.rate_count, l.rate_seconds,
           (select extract(epoch from k.tat - moment)::double precision - (l.rate_burst - 1) * l.rate_seconds / l.rate_count
              from postmill.rate_take k where k.limit_id = l.id order by k.seq desc limit 1),
           d.worker_limit, h.n, case when postmill.sees_all() then h.ids end, w.of_type, w.of_queue, w.draining, w.outdated,
           case when not w.silent then w.slots end,
           (select count(*) from (select from postmill.running o where o.queue = r.queue limit 10000) x),
           (select count(*) from (select from postmill.ready o
                                   where o.queue = r.queue and o.lane = r.lane
                                     and (o.priority, o.ready_at, o.id) < (r.priority, r.ready_at, r.id) limit 10000) x),
           extract(epoch from moment - r.ready_at)::double precision, s.replayed_as, g.name, g.level, g.action, g.ends_at,
           z.id is not null, z.reason, z.resume_at
      from postmill.read_job_state(array[p_id]) s
     cross join lateral (select f.expires_at from postmill.any_job f where f.id = s.id offset 0) j
      left join postmill.queue q on q.name = s.queue
      left join postmill.tenant t on t.id = s.tenant_id
      left join postmill.job_definition d on d.key = s.job_type
      left join postmill.limit_rule l on l.job_type = s.job_type
      left join lateral (select f.* from postmill.ready f where f.id = s.id offset 0) r on true
      left join lateral postmill.type_paused(coalesce((select a.key from postmill.job_definition a where a.aliases @> array[s.job_type] limit 1),
                                                      s.job_type)) z on true
      left join lateral postmill.budget_word(d.budget, s.tenant_id) g on s.state in ('scheduled', 'queued', 'blocked')
      left join lateral (
        select count(*) as n, (array_agg(x.id order by x.claimed_at))[:3] as ids
          from (select o.id, o.claimed_at from postmill.running o where o.queue = s.queue limit 10000) x
         cross join lateral (select from postmill.any_job f where f.id = x.id and f.job_type = s.job_type offset 0) b
        ) h on r.id is not null and d.worker_limit is not null
     cross join lateral (
        select count(*) filter (where s.job_type = any (k.job_types) and not k.draining) as of_type,
               count(*) filter (where not k.draining) as of_queue, count(*) filter (where k.draining) as draining,
               count(*) filter (where not k.draining and s.job_type <> all (k.job_types) and k.started_at < d.created_at) as outdated,
               sum((k.slots ->> s.queue)::bigint) filter (where not k.draining)::bigint as slots,
               coalesce(bool_or(k.slots ->> s.queue is null) filter (where not k.draining), true) as silent
          from postmill.worker k join postmill.lease e on e.holder = k.holder and e.expires_at > moment
         where k.stopped_at is null and s.queue = any (k.queues)) w;
end
$$;

-- FUNCTION read_worker_ended(uuid, integer, integer)

CREATE FUNCTION postmill.read_worker_ended(p_holder uuid, p_within integer, p_most integer) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, status text, started_at timestamp with time zone, finished_at timestamp with time zone, attempt integer, error_class text, error_message text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select e.job_id, e.tenant_id, j.job_type, e.status, e.started_at, e.finished_at, e.attempt, e.error_class,
           left(e.error_message, 200)
      from (select x.* from (
                select o.job_id, o.tenant_id, o.status, o.started_at, o.finished_at, o.attempt, o.error_class, o.error_message, o.holder
                  from postmill.outcome o order by o.job_id desc limit p_within) x
             where x.holder = p_holder order by x.finished_at desc limit p_most) e
      left join lateral (select f.job_type from postmill.any_job f where f.id = e.job_id offset 0) j on true
     order by e.finished_at desc;
end
$$;

-- FUNCTION read_worker_jobs(uuid, integer)

CREATE FUNCTION postmill.read_worker_jobs(p_holder uuid, p_most integer) RETURNS TABLE(id uuid, tenant_id uuid, job_type text, queue text, attempt integer, max_attempts integer, claimed_at timestamp with time zone, timeout_seconds double precision, replay_class text, lost integer, progress_done double precision, progress_total double precision, progress_message text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select r.id, j.tenant_id, j.job_type, r.queue, r.attempt, j.max_attempts, r.claimed_at,
           coalesce(j.timeout_seconds, d.timeout_seconds), d.replay_class, r.lost, g.done, g.total, g.message
      from (select x.* from (select o.* from postmill.running o limit 10000) x
             where x.holder = p_holder order by x.claimed_at, x.id limit p_most) r
      left join lateral (select f.tenant_id, f.job_type, f.max_attempts, f.timeout_seconds from postmill.any_job f
                          where f.id = r.id offset 0) j on true
      left join postmill.job_definition d on d.key = j.job_type
      left join lateral (select t.done, t.total, t.message from postmill.progress t where t.job_id = r.id offset 0) g on true
     order by r.claimed_at, r.id;
end
$$;

-- FUNCTION read_worker_loads()

CREATE FUNCTION postmill.read_worker_loads() RETURNS TABLE(holder uuid, n bigint, oldest_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select r.holder, count(*), min(r.claimed_at) from (select x.holder, x.claimed_at from postmill.running x limit 10000) r
     group by r.holder;
end
$$;

-- FUNCTION read_workers(double precision, timestamp with time zone, uuid, integer, uuid)

CREATE FUNCTION postmill.read_workers(p_seen double precision DEFAULT NULL::double precision, p_before timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, p_holder uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, p_most integer DEFAULT 1000, p_only uuid DEFAULT NULL::uuid) RETURNS TABLE(holder uuid, worker_id text, hostname text, pid integer, version text, queues text[], slots jsonb, job_types text[], state text, running_count integer, started_at timestamp with time zone, last_seen_at timestamp with time zone, stopped_at timestamp with time zone, lease_expires_at timestamp with time zone, metadata jsonb, asked text, asked_at timestamp with time zone, asked_by text, asked_reason text, draining_since timestamp with time zone, full_since timestamp with time zone, skew_seconds double precision, report jsonb, build text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    if not postmill.sees_all() then
        return;
    end if;
    return query
    select w.holder, w.worker_id, w.hostname, w.pid, w.version, w.queues, w.slots, w.job_types,
           case when w.stopped_at is not null then 'stopped' when l.expires_at is null or l.expires_at <= moment then 'lost'
                when w.draining then 'draining' else 'running' end,
           w.running_count, w.started_at, w.last_seen_at, w.stopped_at, l.expires_at, w.metadata, w.asked, w.asked_at,
           w.asked_by, w.asked_reason, w.draining_since, w.full_since, w.skew_seconds, w.report, w.build
      from postmill.worker w
      left join postmill.lease l on l.holder = w.holder
     where (p_seen is null or w.last_seen_at >= moment - p_seen * interval '1 second')
       and (w.started_at, w.holder) < (p_before, p_holder) and (p_only is null or w.holder = p_only)
     order by w.started_at desc, w.holder desc limit p_most;
end
$$;

-- FUNCTION receive_webhook(uuid, text, bigint, bytea[], bytea, jsonb, text, text, interval)

CREATE FUNCTION postmill.receive_webhook(p_id uuid, p_message_id text, p_timestamp bigint, p_signatures bytea[], p_body bytea, p_context jsonb, p_request_id text, p_traceparent text, p_grace interval) RETURNS TABLE(status text, tenant_id uuid, event_name text, event_id uuid, published_at timestamp with time zone, correlation_id text, trigger_id uuid, label text, job_type text, payload_template text, tenant_slug text, tenant_zone text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own record;
    signed bytea := convert_to(p_message_id || '.' || p_timestamp || '.', 'UTF8') || p_body;
begin
    select w.tenant_id, w.event_name, s.secret, s.previous, s.previous_until into own
      from postmill.webhook w
      join postmill.webhook_secret s on s.webhook_id = w.id
      join postmill.tenant t on t.id = w.tenant_id and t.status <> 'suspended'
     where w.id = p_id and w.is_enabled and w.deleted_at is null;
    if not found then
        status := 'unknown';
        return next;
        return;
    end if;
    if not exists (select from unnest(p_signatures) as g(signature)
                    where sha256(g.signature) = sha256(postmill.hmac_sha256(own.secret, signed))
                       or (own.previous_until > (select postmill.now())
                           and sha256(g.signature) = sha256(postmill.hmac_sha256(own.previous, signed))))
    then
        status := 'denied';
        return next;
        return;
    elsif abs(extract(epoch from postmill.now()) - p_timestamp) > 300 then
        status := 'stale';
        return next;
        return;
    end if;
    tenant_id := own.tenant_id;
    event_name := own.event_name;
    insert into postmill.webhook_message as m (webhook_id, message_id, event_id, received_at)
    values (p_id, p_message_id, postmill.new_id(), postmill.now())
    on conflict (webhook_id, message_id) do nothing;
    if not found then
        select 'duplicate', m.event_id into status, event_id from postmill.webhook_message m
         where m.webhook_id = p_id and m.message_id = p_message_id;
        return next;
        return;
    end if;
    status := 'accepted';
    for event_id, published_at, correlation_id, trigger_id, label, job_type, payload_template, tenant_slug, tenant_zone in
        select e.* from postmill.publish_event(own.event_name, p_context, own.tenant_id, p_message_id, p_request_id,
            p_traceparent, 'system', 'webhook:' || p_id, p_grace) e
    loop
        return next;
    end loop;
    update postmill.webhook_message m set event_id = receive_webhook.event_id
     where m.webhook_id = p_id and m.message_id = p_message_id;
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

-- FUNCTION recover(jsonb)

CREATE FUNCTION postmill.recover(p_rules jsonb) RETURNS TABLE(rule text, replayed integer, skipped integer, goes_on boolean)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
    moment timestamptz := postmill.now();
    own postmill.recovery_rule;
    asked record;
    letter record;
    answer record;
    first_one uuid;
    allowance integer;
    looked integer;
begin
    for asked in select r.key, r.value from jsonb_each(p_rules) r order by r.key loop
        insert into postmill.recovery_rule (name, rule) values (asked.key, asked.value) on conflict (name) do nothing;
        select r.* into own from postmill.recovery_rule r where r.name = asked.key for update;
        if own.rule <> asked.value then
            own.looked_at := '2000-01-01Z';
            own.looked_id := '00000000-0000-0000-0000-000000000000';
        end if;
        rule := asked.key;
        replayed := 0;
        skipped := 0;
        looked := 0;
        allowance := least(50, (asked.value ->> 'most')::integer - (
            select count(*) from postmill.recovery v
             where v.at > moment - interval '1 hour' and v.rule = asked.key and v.status = 'replayed'));
        perform postmill.set_actor('upkeep', 'system', 'recovery ' || asked.key);
        for letter in
            select d.id, d.tenant_id, d.failed_at,
                   coalesce(d.reason = asked.value ->> 'reason', asked.value ->> 'reason' is null)
                   and coalesce(d.queue = asked.value ->> 'queue', asked.value ->> 'queue' is null)
                   and coalesce(d.job_type = asked.value ->> 'job_type', asked.value ->> 'job_type' is null)
                   and coalesce(d.error_class = asked.value ->> 'error_class', asked.value ->> 'error_class' is null)
                   and coalesce(d.error_code = asked.value ->> 'error_code', asked.value ->> 'error_code' is null)
                   and coalesce(d.error_status = (asked.value ->> 'error_status')::integer, asked.value ->> 'error_status' is null)
                   and coalesce(strpos(lower(d.error_message), lower(asked.value ->> 'message')) > 0,
                                asked.value ->> 'message' is null) as fits
              from postmill.dead_letter d
             where (d.failed_at, d.id) > (own.looked_at, own.looked_id)
               and d.failed_at < moment - (asked.value ->> 'older_than')::double precision * interval '1 second'
             order by d.failed_at, d.id limit 2000
        loop
            exit when letter.fits and replayed >= allowance;
            looked := looked + 1;
            own.looked_at := letter.failed_at;
            own.looked_id := letter.id;
            continue when not letter.fits;
            first_one := postmill.root_of(letter.id);
            if (select count(*) from postmill.recovery v where v.root = first_one and v.rule = asked.key
                   and v.status = 'replayed') >= (asked.value ->> 'times')::integer then
                select letter.id, 'exhausted' as status, null::uuid as new_id into answer;
            else
                begin
                    select r.* into answer
                      from postmill.rerun_jobs('dead.replay', array[letter.id], null, false, false, null, null) r;
                exception when others then
                    select letter.id, 'error: ' || left(sqlerrm, 200) as status, null::uuid as new_id into answer;
                end;
            end if;
            insert into postmill.recovery as v (rule, job_id, tenant_id, root, status, new_id, at)
            values (asked.key, letter.id, letter.tenant_id, first_one, answer.status, answer.new_id, moment)
            on conflict on constraint recovery_pkey do update
                set status = excluded.status, new_id = excluded.new_id, at = excluded.at;
            if answer.status = 'replayed' then
                replayed := replayed + 1;
            else
                skipped := skipped + 1;
            end if;
        end loop;
        goes_on := allowance > 0 and (looked = 2000 or replayed >= allowance);
        update postmill.recovery_rule r
           set rule = asked.value, looked_at = own.looked_at, looked_id = own.looked_id, last_run_at = moment,
               replayed = r.replayed + recover.replayed, skipped = r.skipped + recover.skipped
         where r.name = asked.key;
        return next;
    end loop;
    perform postmill.set_actor(null, null, null);
    delete from postmill.recovery v where v.ctid = any (array(
        select o.ctid from postmill.recovery o where o.at < moment - postmill.keep_of('operations') limit 1000));
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

-- FUNCTION refuse_acts_on(uuid)

CREATE FUNCTION postmill.refuse_acts_on(p_tenant uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    answer text;
    cell text;
begin
    if (select h.gated from postmill.partition_horizon h)
        and current_setting('postmill.via', true) in ('api', 'console', 'cli')
    then
        select g.answer, g.cell into answer, cell from postmill.gate(p_tenant) g where g.answer <> 'parked';
        if answer is not null then
            perform postmill.refuse_away(p_tenant, answer, cell);
        end if;
    end if;
end
$$;

-- FUNCTION refuse_away(uuid, text, text)

CREATE FUNCTION postmill.refuse_away(p_tenant uuid, p_answer text, p_cell text) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
    if p_answer = 'moved' then
        raise exception 'postmill: tenant % lives in cell %', p_tenant, p_cell using errcode = 'PM061',
            hint = 'Ask there: the directory of cells has its address.';
    end if;
    raise exception 'postmill: tenant % is being moved (%)', p_tenant, p_cell using errcode = 'PM060',
        hint = 'Try again in a second.';
end
$$;

-- FUNCTION refuse_budget_rewriting()

CREATE FUNCTION postmill.refuse_budget_rewriting() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'a line of %.% is never changed: append a correcting one', tg_table_schema, tg_table_name
        using errcode = 'restrict_violation';
end
$$;

-- FUNCTION refuse_deleting()

CREATE FUNCTION postmill.refuse_deleting() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if not exists (select from postmill.audit_start s
                    where s.n >= case tg_table_name when 'audit_chain' then (to_jsonb(old) ->> 'n')::bigint
                                 else (select c.n from postmill.audit_chain c where c.audit_id = (to_jsonb(old) ->> 'id')::uuid) end) then
        raise exception 'delete in %.% is refused: what was audited stays as it was written', tg_table_schema, tg_table_name
            using errcode = 'restrict_violation';
    end if;
    return old;
end
$$;

-- FUNCTION refuse_rewriting()

CREATE FUNCTION postmill.refuse_rewriting() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception '% in %.% is refused: what was audited stays as it was written', lower(tg_op), tg_table_schema, tg_table_name
        using errcode = 'restrict_violation';
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

-- FUNCTION register_budgets(jsonb)

CREATE FUNCTION postmill.register_budgets(p_budgets jsonb) RETURNS TABLE(name text, status text)
    LANGUAGE plpgsql
    AS $$
declare
    item jsonb;
    owner uuid;
    before jsonb;
    news jsonb;
begin
    for item in select t.item from jsonb_array_elements(p_budgets) as t(item) order by t.item ->> 'name', t.item ->> 'tenant' loop
        name := item ->> 'name'; owner := null;
        if item ->> 'tenant' is not null then
            select t.id into owner from postmill.tenant t where t.slug = item ->> 'tenant';
            if not found then
                status := 'unknown_tenant';
                return next;
                continue;
            end if;
        end if;
        select b.declared into before from postmill.budget b
         where lower(replace(b.name, '_', '-')) = lower(replace(item ->> 'name', '_', '-')) and b.tenant_id is not distinct from owner;
        if before = item then
            status := 'kept';
        else
            select coalesce(jsonb_object_agg(f.key, f.value), '{}') into news from jsonb_each(item - 'tenant') f
             where before is null or f.value is distinct from before -> f.key;
            select d.status into status from postmill.door_set_budget(item ->> 'name', owner, news, 'put', 'declared in the settings',
                'system', 'settings', item) d;
            status := case status when 'unchanged' then 'kept' else status end;
        end if;
        return next;
    end loop;
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
        status := null;
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
            if postmill.queue_conflict(coalesce(item ->> 'queue', 'default'), 'function', key) is not null then
                status := 'other_queue';
                return next;
                continue;
            end if;
            -- Version 0 is nobody's: the update below makes it 1, with its history.
            insert into postmill.job_definition (key, queue, max_attempts, version)
            values (key, coalesce(item ->> 'queue', 'default'), 5, 0) on conflict do nothing;
            status := case when found then 'created' end;
            select * into old from postmill.job_definition d where d.key = register_job_types.key for update;
        end if;
        foreach field in array old.edited loop
            item := item - field;
        end loop;
        new := jsonb_populate_record(old, item - 'rate' - 'version' - 'edited' - 'id');
        if old.kind <> 'function' then
            status := 'other_kind';
        elsif postmill.queue_conflict(new.queue, 'function', key) is not null then
            status := 'other_queue';
        elsif to_jsonb(new) is distinct from to_jsonb(old) or old.version = 0 then
            update postmill.job_definition d
               set description = new.description, arg_schema = new.arg_schema, queue = new.queue,
                   priority = new.priority, max_attempts = new.max_attempts, max_lost = new.max_lost,
                   timeout_seconds = new.timeout_seconds, retry = new.retry, on_exhausted = new.on_exhausted,
                   idempotency = new.idempotency, idempotency_ttl = new.idempotency_ttl,
                   idempotency_content = new.idempotency_content, keep = new.keep, lane = new.lane,
                   worker_limit = new.worker_limit, aliases = new.aliases, category = new.category,
                   strict_envelope = new.strict_envelope, secrets = new.secrets, secret_keys = new.secret_keys,
                   encrypted = new.encrypted, action = new.action, escalation_fields = new.escalation_fields,
                   log_fields = new.log_fields, replay_class = new.replay_class, budget = new.budget, fingerprint = new.fingerprint,
                   version = old.version + 1, updated_at = postmill.now()
             where d.key = register_job_types.key;
            status := coalesce(status, 'changed');
        else
            status := case when cardinality(old.edited) > 0 then 'kept' else 'unchanged' end;
        end if;
        if status not in ('other_kind', 'other_queue') and 'rate' <> all (old.edited) then
            perform postmill.set_rate(key, rate);
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION register_queues(jsonb, boolean)

CREATE FUNCTION postmill.register_queues(p_queues jsonb, p_fill boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    before jsonb := (select jsonb_object_agg(q.name, postmill.promise_json(q.name)) from postmill.queue q);
    one text;
begin
    insert into postmill.queue as q (name, owner, contact, color, sla_seconds, wait_target_seconds, run_target_seconds, escalation,
           runbook, boost_after_seconds, boost_step, boost_to)
    select n.name, n.owner, n.contact, n.color, n.sla_seconds, n.wait_target_seconds, n.run_target_seconds, n.escalation, n.runbook,
           n.boost_after_seconds, n.boost_step, n.boost_to
      from jsonb_populate_recordset(null::postmill.queue, p_queues) n
     where coalesce(n.owner, n.contact, n.color, n.escalation, n.runbook, n.sla_seconds::text, n.wait_target_seconds::text,
                    n.run_target_seconds::text, n.boost_after_seconds::text) is not null
        or exists (select from postmill.queue o where o.name = n.name)
     order by n.name
    on conflict (name) do update
       set owner = excluded.owner, contact = excluded.contact, color = excluded.color, sla_seconds = excluded.sla_seconds,
           wait_target_seconds = excluded.wait_target_seconds, run_target_seconds = excluded.run_target_seconds,
           escalation = excluded.escalation, runbook = excluded.runbook,
           boost_after_seconds = excluded.boost_after_seconds, boost_step = excluded.boost_step, boost_to = excluded.boost_to
     where (q.owner, q.contact, q.color, q.sla_seconds, q.wait_target_seconds, q.run_target_seconds, q.escalation,
            q.runbook, q.boost_after_seconds, q.boost_step, q.boost_to)
           is distinct from (excluded.owner, excluded.contact, excluded.color, excluded.sla_seconds,
                             excluded.wait_target_seconds, excluded.run_target_seconds, excluded.escalation, excluded.runbook,
                             excluded.boost_after_seconds, excluded.boost_step, excluded.boost_to)
       and not (p_fill and coalesce(q.owner, q.contact, q.color, q.escalation, q.runbook, q.sla_seconds::text,
                                    q.wait_target_seconds::text, q.run_target_seconds::text, q.boost_after_seconds::text)
                           is not null);
    for one in select n.name from jsonb_populate_recordset(null::postmill.queue, p_queues) n order by n.name loop
        if postmill.promise_json(one) is distinct from before -> one then
            perform postmill.audit('queues.declare', 'queue', one, null, before -> one, postmill.promise_json(one));
        end if;
    end loop;
end
$$;

-- FUNCTION register_triggers(text[], jsonb)

CREATE FUNCTION postmill.register_triggers(p_modules text[], p_triggers jsonb) RETURNS TABLE(label text, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    item jsonb;
    old postmill.trigger;
    new postmill.trigger;
    own_definition uuid;
begin
    perform pg_advisory_xact_lock(hashtextextended('postmill.register_triggers', 0));
    for item in select x.item from jsonb_array_elements(p_triggers) as x(item) loop
        label := item ->> 'label';
        select d.id into own_definition from postmill.job_definition d where d.key = item ->> 'job_type';
        if not found then
            status := 'unknown_type';
            return next;
            continue;
        end if;
        item := (item - 'job_type') || jsonb_build_object('definition_id', own_definition, 'origin', 'code');
        select t.* into old from postmill.trigger t
         where t.tenant_id = (item ->> 'tenant_id')::uuid and t.label = item ->> 'label' and t.origin = 'code'
           and t.deleted_at is null for update;
        if not found then
            new := jsonb_populate_record(null::postmill.trigger, jsonb_build_object('id', postmill.new_id(), 'broken', false,
                'created_at', postmill.now(), 'updated_at', postmill.now(), 'anchored_at', postmill.now()) || item);
            insert into postmill.trigger select new.*;
            status := 'created';
        else
            new := jsonb_populate_record(old, item);
            status := 'unchanged';
            if to_jsonb(new) is distinct from to_jsonb(old) then
                update postmill.trigger t
                   set is_enabled = new.is_enabled, trigger_type = new.trigger_type, event_name = new.event_name,
                       cron_expr = new.cron_expr, every = new.every, timezone = new.timezone,
                       definition_id = new.definition_id, payload_template = new.payload_template,
                       dedupe_window_seconds = new.dedupe_window_seconds, missed = new.missed,
                       missed_limit = new.missed_limit, overlap = new.overlap, dst = new.dst,
                       jitter_seconds = new.jitter_seconds, declared_in = new.declared_in, updated_at = postmill.now()
                 where t.id = old.id;
                status := 'changed';
            end if;
        end if;
        return next;
    end loop;
    status := 'removed';
    for label in
        update postmill.trigger t set deleted_at = postmill.now(), next_run_at = null, updated_at = postmill.now()
         where t.origin = 'code' and t.deleted_at is null and t.declared_in = any (p_modules)
           and not exists (select from jsonb_array_elements(p_triggers) as x(item)
                            where (x.item ->> 'tenant_id')::uuid = t.tenant_id and x.item ->> 'label' = t.label)
        returning t.label
    loop
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

-- FUNCTION release_held(integer)

CREATE FUNCTION postmill.release_held(p_most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
    one postmill.type_pause;
    rung record;
    moved integer := 0;
begin
    for one in select p.* from postmill.type_pause p where p.ended_at is not null and p.released_at is null
                order by p.id for update skip locked loop
        for rung in
            with gone as (
                delete from postmill.scheduled s where s.ctid = any (array(
                    select h.ctid from postmill.scheduled h where h.run_at = one.held_until limit p_most for update skip locked))
                returning s.*
            ), put as (
                insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
                select g.queue, g.lane, g.priority, postmill.now(), g.id, g.attempt, g.run, g.lost from gone g order by g.id
            )
            select g.queue, count(*) as n from gone g group by 1 order by 1
        loop
            perform postmill.ring(rung.queue);
            moved := moved + rung.n;
        end loop;
        if not exists (select from postmill.scheduled h where h.run_at = one.held_until) then
            update postmill.type_pause p set released_at = postmill.now() where p.id = one.id;
        end if;
    end loop;
    return moved;
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

-- FUNCTION renew_unit(uuid, text, double precision)

CREATE FUNCTION postmill.renew_unit(p_id uuid, p_worker text, p_seconds double precision) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update postmill.archive_unit u set claimed_until = postmill.now() + p_seconds * interval '1 second'
     where u.id = p_id and u.claimed_by = p_worker and u.status = 'waiting';
    return found;
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

-- FUNCTION replay_jobs(uuid[], text, text, jsonb, boolean, boolean, boolean, integer, integer)

CREATE FUNCTION postmill.replay_jobs(p_ids uuid[], p_actor_type text DEFAULT 'user'::text, p_actor_id text DEFAULT NULL::text, p_payload jsonb DEFAULT NULL::jsonb, p_again boolean DEFAULT false, p_confirm boolean DEFAULT false, p_despite_success boolean DEFAULT false, p_version integer DEFAULT NULL::integer, p_priority integer DEFAULT NULL::integer) RETURNS TABLE(id uuid, status text, new_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    body postmill.job;
    letter postmill.dead_letter;
    ended text;
    lives boolean;
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
        if exists (select from postmill.job_definition d where d.key = body.job_type and d.replay_class = 'never') then
            status := 'never';
        elsif letter.id is null and ended is null then
            status := case when exists (select from postmill.running r where r.id = replay_jobs.id) then 'running' else 'waiting' end;
        elsif ended = 'succeeded' then
            status := 'succeeded';
        else
            -- Fenced (offset 0): a plan for the first row alone would read the whole table.
            select j.id, postmill.is_live(j.id) into new_id, lives
              from (select f.id from postmill.job f where f.replayed_from = replay_jobs.id
                    union all select k.id from postmill.job_kept k where k.replayed_from = replay_jobs.id offset 0) j
             order by 2 desc, j.id desc limit 1;
            -- Nothing but a replay makes an outcome of a dead letter without making it another one.
            status := case when lives then 'live'
                           when p_again is not true and (found or ended = 'dead_letter') then 'already_replayed' end;
        end if;
        if status is null and p_confirm is not true
            and exists (select from postmill.job_definition d where d.key = body.job_type and d.replay_class = 'ask') then
            status := 'unconfirmed';
        end if;
        if status is null and exists (
            select from postmill.job_definition d where d.key = body.job_type and d.version < p_version) then
            status := 'old_version';
        end if;
        if status is null and p_despite_success is not true then
            new_id := postmill.later_success(body, coalesce(p_payload, body.payload));
            status := case when new_id is not null then 'succeeded_since' end;
        end if;
        if status is null then
            if body.idempotency_key is null then
                answer := postmill.enqueue_one(body.job_type, coalesce(p_payload, body.payload), body.tenant_id,
                    coalesce(p_priority, body.priority), null, null, body.project_id, body.max_attempts, body.timeout_seconds, null,
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
                        coalesce(p_priority, body.priority), null, null, body.project_id, body.max_attempts, body.timeout_seconds, null,
                        body.source, body.source_ref, p_actor_type, p_actor_id, body.request_id, body.correlation_id,
                        body.traceparent, body.idempotency_key, body.id);
                    update postmill.idempotency_key k
                       set job_id = answer.id,
                           content = (select postmill.content_of(d.idempotency_content, coalesce(p_payload, body.payload))
                                        from postmill.job_definition d where d.key = body.job_type)
                     where k.tenant_id = body.tenant_id and k.key = body.idempotency_key and answer.status = 'created'
                       and k.project_id = coalesce(body.project_id, '00000000-0000-0000-0000-000000000000');
                else
                    answer := postmill.enqueue_keyed(body.idempotency_key, null, null, body.job_type,
                        coalesce(p_payload, body.payload), body.tenant_id, coalesce(p_priority, body.priority), null, null, body.project_id,
                        body.max_attempts, body.timeout_seconds, null, body.source, body.source_ref, p_actor_type,
                        p_actor_id, body.request_id, body.correlation_id, body.traceparent, body.id);
                end if;
            end if;
            new_id := answer.id;
            status := case answer.status when 'created' then 'replayed' when 'duplicate' then 'key_held' else answer.status end;
            if status = 'replayed' and exists (select from postmill.job_tag t where t.job_id = body.id) then
                perform postmill.keep_tags(new_id, body.tenant_id, to_jsonb(postmill.tags_of(body.id)));
            end if;
            if status = 'replayed' and letter.id is not null then
                perform postmill.close_letter(id, 'dead_letter', letter.reason);
            end if;
        end if;
        return next;
    end loop;
end
$$;

-- FUNCTION request_enqueue(uuid, boolean, text, text, text, text, text[], text[], integer[], jsonb[], uuid[], uuid[], integer[], timestamp with time zone[], text[], text[], text[], text[], jsonb[])

CREATE FUNCTION postmill.request_enqueue(p_scope uuid, p_platform boolean, p_via text, p_actor_type text, p_actor_id text, p_role text, p_request_ids text[], p_job_types text[], p_versions integer[], p_payloads jsonb[], p_tenants uuid[], p_projects uuid[], p_priorities integer[], p_scheduled_for timestamp with time zone[], p_keys text[], p_modes text[], p_correlation_ids text[], p_traceparents text[], p_tags jsonb[] DEFAULT NULL::jsonb[]) RETURNS TABLE(id uuid, status text, detail text, tenant_id uuid, state text, created_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
declare
    answer record;
begin
    perform postmill.enter_request(p_scope, p_platform, p_via, p_actor_type, p_actor_id, p_role, p_request_ids[1]);
    for i in 1 .. cardinality(p_request_ids) loop
        if i > 1 then
            perform set_config('postmill.request_id', p_request_ids[i], true);
        end if;
        answer := postmill.door_enqueue(p_job_types[i], p_versions[i], p_payloads[i], p_tenants[i], p_projects[i], p_priorities[i],
            p_scheduled_for[i], p_keys[i], p_modes[i], p_correlation_ids[i], p_traceparents[i], p_tags[i]);
        id := answer.id; status := answer.status; detail := answer.detail;
        tenant_id := answer.tenant_id; state := answer.state; created_at := answer.created_at;
        return next;
    end loop;
end
$$;

-- FUNCTION requests_secured()

CREATE FUNCTION postmill.requests_secured() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    login text := session_user;
    mode text := case when current_setting('server_version_num')::integer >= 160000 then 'set' else 'member' end;
    found_one text;
begin
    if not exists (select from pg_roles r where r.rolname = 'postmill_reader')
        or not exists (select from pg_roles r where r.rolname = 'postmill_request') then
        return 'the roles postmill_reader and postmill_request do not exist';
    elsif not pg_has_role(login, 'postmill_request', mode) then
        return format('the role %s may not become postmill_request', login);
    end if;
    select x.name into found_one
      from (select c.relname as name, c.relowner as owner from pg_class c
             where c.relnamespace = 'postmill'::regnamespace and c.relkind = 'v'
            union all
            select p.proname, p.proowner from pg_proc p
             where p.pronamespace = 'postmill'::regnamespace and p.proname like 'read\_%') x
     where x.owner <> 'postmill_reader'::regrole limit 1;
    if found then
        return format('%s does not belong to postmill_reader', found_one);
    end if;
    select c.relname into found_one from pg_class c
     where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and not c.relrowsecurity and has_any_column_privilege('postmill_reader', c.oid, 'select')
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') limit 1;
    if found then
        return format('the table %s is not under row-level security', found_one);
    end if;
    return null;
end
$$;

-- FUNCTION require_home(uuid)

CREATE FUNCTION postmill.require_home(p_tenant uuid) RETURNS void
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    found_one record;
begin
    if (select h.gated from postmill.partition_horizon h) then
        select g.stage, g.cell into found_one from postmill.tenant_gate g where g.tenant_id = p_tenant;
        if found_one.stage in ('closed', 'arriving', 'gone') then
            perform postmill.refuse_away(p_tenant, case found_one.stage when 'gone' then 'moved' else 'moving' end, found_one.cell);
        end if;
    end if;
end
$$;

-- FUNCTION rerun_jobs(text, uuid[], jsonb, boolean, boolean, text, text, boolean, integer, jsonb, integer)

CREATE FUNCTION postmill.rerun_jobs(p_action text, p_ids uuid[], p_payload jsonb, p_again boolean, p_confirm boolean, p_actor_type text, p_actor_id text, p_despite_success boolean DEFAULT false, p_version integer DEFAULT NULL::integer, p_changes jsonb DEFAULT NULL::jsonb, p_priority integer DEFAULT NULL::integer) RETURNS TABLE(id uuid, status text, new_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    one record;
    known uuid[];
    tenants uuid[];
    states text[];
begin
    perform postmill.act_as(p_actor_type, p_actor_id);
    select array_agg(s.id), array_agg(s.tenant_id), array_agg(s.state) into known, tenants, states from postmill.stands(p_ids) s;
    for one in
        with done as materialized (
            select r.* from postmill.retry_jobs(case p_action when 'jobs.retry' then known end, postmill.acting_type(),
                                                postmill.acting_id(), p_confirm) r
            union all
            select r.* from postmill.replay_jobs(case p_action when 'dead.replay' then known end, postmill.acting_type(),
                                                 postmill.acting_id(), p_payload, p_again, p_confirm,
                                                 p_despite_success, p_version, p_priority) r)
        select u.id, coalesce(d.status, 'unknown') as status, d.new_id, tenants[array_position(known, u.id)] as tenant,
               states[array_position(known, u.id)] as state
          from (select distinct unnest(p_ids) as id) u left join done d on d.id = u.id
    loop
        id := one.id;
        status := one.status;
        new_id := one.new_id;
        if status in ('due', 'replayed') then
            perform postmill.audit(p_action, 'job', id::text, one.tenant, jsonb_build_object('status', one.state),
                jsonb_strip_nulls(jsonb_build_object('status', case status when 'due' then 'queued' end, 'replayed_as', new_id,
                                                     'payload_edited', p_payload is not null, 'changes', p_changes)));
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
    moment timestamptz := postmill.now();
begin
    if exists (select from postmill.lease l where l.holder = p_holder and l.expires_at > moment
                  and l.started_at < moment - p_lease_seconds * interval '1 second') then
        return query select t.* from postmill.take_back(null, p_jitter_seconds, p_most) t;
    end if;
end
$$;

-- FUNCTION reserve_budget(uuid, text, numeric, boolean, uuid, uuid, bigint, uuid, integer, text, text, text)

CREATE FUNCTION postmill.reserve_budget(p_id uuid, p_name text, p_amount numeric, p_started boolean, p_job uuid, p_holder uuid, p_claim_no bigint, p_tenant uuid, p_attempt integer, p_job_type text, p_actor_type text, p_actor_id text, OUT status text, OUT figures jsonb) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    ids uuid[];
    p postmill.budget_period;
    one record;
    verdict text;
    decisive uuid;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: budgets need READ COMMITTED';
    end if;
    ids := array(select x.id from (select b.id from postmill.budget b
        where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-')) and (b.tenant_id = p_tenant or b.tenant_id is null)
        order by b.id for no key update) x);
    if ids = '{}' then
        status := 'unknown';
        return;
    end if;
    select case r.state when 'held' then 'granted' else 'ended' end into status
      from postmill.budget_reservation r where r.id = p_id order by r.state = 'held' limit 1;
    if status is null and not exists (select from postmill.running t
        where t.id = p_job and t.holder = p_holder and t.claim_no = p_claim_no)
    then
        status := 'lost';
    elsif status is null then
        status := 'granted';
        for one in select f.*, b.level_action[4] as last from postmill.budget b
                    cross join lateral postmill.read_budget_figures(b.id, moment) f where b.id = any (ids) order by b.id loop
            verdict := case when one.action <> 'run' then one.action
                            when one.last = 'run' or one.spent + one.reserved + p_amount <= one.limit_amount then 'granted'
                            when p_amount > one.limit_amount then one.last else 'defer' end;
            if verdict = 'stop' or (verdict = 'defer' and status = 'granted') then
                status := case verdict when 'stop' then 'stopped' else 'deferred' end;
                decisive := one.id;
            end if;
        end loop;
        if status = 'granted' then
            for one in select b.id, b.tenant_id from postmill.budget b where b.id = any (ids) order by b.id loop
                p := postmill.read_budget_period(one.id, moment);
                insert into postmill.budget_period select p.* on conflict do nothing;
                insert into postmill.budget_reservation (id, budget_id, starts_at, tenant_id, amount, started, job_id, holder,
                       claim_no, attempt, job_type, actor_type, actor_id, reserved_at)
                values (p_id, one.id, p.starts_at, p_tenant, p_amount, p_started, p_job, p_holder, p_claim_no, p_attempt,
                        p_job_type, p_actor_type, p_actor_id, moment);
                perform postmill.book_budget(one.id, one.tenant_id, p.starts_at, 0, p_amount);
            end loop;
        end if;
    end if;
    select to_jsonb(f.*) into figures from unnest(ids) as u(id) cross join lateral postmill.read_budget_figures(u.id, moment) f
     where u.id = coalesce(decisive, u.id) order by f.level desc, u.id limit 1;
end
$$;

-- FUNCTION resolve_incident(text, text)

CREATE FUNCTION postmill.resolve_incident(p_kind text, p_key text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    own uuid;
begin
    perform pg_advisory_xact_lock(hashtextextended('postmill.incident:' || p_kind || ':' || p_key, 0));
    insert into postmill.incident_over as o (kind, key, at) values (p_kind, p_key, moment)
    on conflict (kind, key) do update set at = excluded.at;
    select i.id into own from postmill.incident i where i.kind = p_kind and i.key = p_key and i.resolved_at is null;
    if own is not null then
        perform postmill.end_incident(own, 'monitor', null);
    end if;
    return own;
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

-- FUNCTION retention_classes()

CREATE FUNCTION postmill.retention_classes() RETURNS TABLE(tenant_id uuid, status text, keep interval)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select c.* from (
        select o.id, s.name, postmill.keep_of(s.name, o.id) as keep
          from (select t.id from postmill.tenant t where t.retention is not null
                union select r.tenant_id from postmill.retention_rule r where r.tenant_id is not null
                union select null) o(id)
         cross join unnest(array['succeeded', 'failed', 'canceled']) as s(name)) c
     where c.keep <> (select p.retention from postmill.partition_policy p) or c.id is not null
     order by c.id nulls first, c.name;
end
$$;

-- FUNCTION retention_default(text)

CREATE FUNCTION postmill.retention_default(p_subject text) RETURNS interval
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return case p_subject when 'dead_letter' then interval '90 days' when 'archive' then interval '730 days'
        when 'audit' then interval '730 days' when 'incidents' then interval '365 days' when 'budgets' then interval '400 days'
        when 'operations' then interval '90 days' when 'error_groups' then interval '365 days'
        when 'rollups' then interval '730 days' else interval '30 days' end;
end
$$;

-- FUNCTION retention_edge(timestamp with time zone, interval)

CREATE FUNCTION postmill.retention_edge(p_moment timestamp with time zone, p_keep interval) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return date_bin(least(interval '1 day', greatest(extract(epoch from p_keep) / 10 * interval '1 second', interval '1 minute')),
                    p_moment - p_keep, timestamptz '2024-01-01 00:00+00');
end
$$;

-- FUNCTION retire()

CREATE FUNCTION postmill.retire() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
    moment timestamptz := postmill.now();
    class record;
    done postmill.retention_progress;
    edge timestamptz;
    high timestamptz;
    ids uuid[];
    n integer;
begin
    for class in select c.* from postmill.retention_classes() c
                  where c.keep <> (select p.retention from postmill.partition_policy p) loop
        select p.* into done from postmill.retention_progress p
         where p.tenant_id is not distinct from class.tenant_id and p.subject = class.status;
        if not found then
            done.until := (select min(x.since) from postmill.partition x where x.parent = 'outcome');
            done.width := interval '1 minute';
        end if;
        edge := postmill.retention_edge(moment, class.keep);
        while done.until < edge loop
            high := least(done.until + done.width, edge);
            ids := array(
                select o.job_id from postmill.outcome o
                 where o.finished_at >= done.until and o.finished_at < high and o.status = class.status
                   and case when class.tenant_id is not null then o.tenant_id = class.tenant_id
                            else not exists (select from postmill.retention_classes() c
                                              where c.tenant_id = o.tenant_id and c.status = class.status) end);
            n := cardinality(ids);
            done.until := high;
            done.width := case when n > 5000 then greatest(done.width / 4, interval '1 millisecond')
                               when n < 1000 then least(done.width * 4, interval '1 day') else done.width end;
            exit when n > 0;
        end loop;
        continue when done.until is null;
        insert into postmill.retention_progress as p (tenant_id, subject, until, width)
        values (class.tenant_id, class.status, done.until, done.width)
        on conflict (tenant_id, subject) do update set until = excluded.until, width = excluded.width
         where p.until <> excluded.until;
        if n > 0 then
            perform postmill.leave('outcome', ids, 'archive'), postmill.leave('attempt', ids, 'archive'),
                    postmill.leave('job', ids, 'archive'), postmill.leave('job_kept', ids, 'archive');
            return true;
        end if;
    end loop;
    return false;
end
$$;

-- FUNCTION retry_jobs(uuid[], text, text, boolean)

CREATE FUNCTION postmill.retry_jobs(p_ids uuid[], p_actor_type text DEFAULT 'user'::text, p_actor_id text DEFAULT NULL::text, p_confirm boolean DEFAULT false) RETURNS TABLE(id uuid, status text, new_id uuid)
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
        p_actor_type, p_actor_id, p_confirm => p_confirm, p_despite_success => true) r;
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

-- FUNCTION role_fits(text, uuid)

CREATE FUNCTION postmill.role_fits(p_role text, p_tenant uuid) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return case when p_role in ('viewer', 'operator', 'tenant_admin') then p_tenant is not null
                when p_role in ('platform_viewer', 'platform_operator', 'super_admin') then p_tenant is null
                else true end;
end
$$;

-- FUNCTION rollup_bounds()

CREATE FUNCTION postmill.rollup_bounds() RETURNS double precision[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select array[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600,
                 14400, 86400]::double precision[]
$$;

-- FUNCTION rollup_source(timestamp with time zone, timestamp with time zone, boolean, double precision)

CREATE FUNCTION postmill.rollup_source(p_since timestamp with time zone, p_until timestamp with time zone, p_fleet boolean, p_seconds double precision) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
    fine constant text := case when p_fleet then 'fleet_rollups' else 'rollups' end;
    low constant timestamptz := case when isfinite(p_since) then date_bin('1 hour', p_since + interval '1 hour' - interval '1 microsecond',
                                                                           timestamptz '2000-01-01 00:00+00') else p_since end;
    high constant timestamptz := date_bin('1 hour', p_until, timestamptz '2000-01-01 00:00+00');
begin
    if low >= high or p_seconds is not null and mod(p_seconds::numeric, 3600) <> 0 then
        return 'postmill.' || fine;
    end if;
    return format('(select * from postmill.%I h where h.minute >= %L and h.minute < %L
        union all select * from postmill.%I f where f.minute >= %L and f.minute < %L
        union all select * from postmill.%I f where f.minute >= %L and f.minute < %L)',
        case when p_fleet then 'fleet_rollup_hours' else 'rollup_hours' end, low, high,
        fine, postmill.minute_of(p_since), low, fine, high, p_until);
end
$$;

-- FUNCTION root_of(uuid)

CREATE FUNCTION postmill.root_of(p_id uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE
    AS $$
declare
    root uuid := p_id;
    before uuid;
begin
    for step in 1..1000 loop
        before := (select j.replayed_from from postmill.any_job j where j.id = root);
        exit when before is null;
        root := before;
    end loop;
    return root;
end
$$;

-- FUNCTION rows_of(text, uuid, timestamp with time zone, timestamp with time zone)

CREATE FUNCTION postmill.rows_of(p_table text, p_tenant uuid, p_since timestamp with time zone, p_until timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
    own record;
    low text := 'true';
    high text := 'true';
begin
    select * into strict own from postmill.carried_tables() t where t.name = p_table;
    if own.moment is not null and p_since is not null then
        low := format('%I >= %L', own.moment, case own.moment when 'id' then postmill.id_at(p_since)::text else p_since::text end);
    end if;
    if own.moment is not null and p_until is not null then
        high := format('%I < %L', own.moment, case own.moment when 'id' then postmill.id_at(p_until)::text else p_until::text end);
    end if;
    return format('(%s) and %s and %s', format(own.mine, p_tenant), low, high);
end
$$;

-- FUNCTION running_of(uuid, integer)

CREATE FUNCTION postmill.running_of(p_tenant uuid, p_most integer) RETURNS TABLE(id uuid, job_type text, queue text, claimed_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return query
    select r.id, j.job_type, r.queue, r.claimed_at from postmill.running r join postmill.any_job j on j.id = r.id
     where j.tenant_id = p_tenant order by r.claimed_at limit p_most;
end
$$;

-- FUNCTION running_operations(integer)

CREATE FUNCTION postmill.running_operations(p_most integer) RETURNS TABLE(id uuid, kind text, stage text, allowed integer)
    LANGUAGE plpgsql STABLE
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    return query
    select o.id, o.kind, o.stage,
           greatest(0, least(p_most, case when o.stage = 'canary' then o.canary - o.done else p_most end,
               case when o.rate is null then p_most
                    else floor(o.rate * extract(epoch from moment - postmill.rate_base(o, moment)) + 1e-6) end))::integer
      from postmill.operation o
     where o.status = 'running' and (o.stage = 'select' or o.start_at is null or o.start_at <= moment) order by o.id;
end
$$;

-- FUNCTION scope_tenant()

CREATE FUNCTION postmill.scope_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select nullif(current_setting('postmill.tenant_id', true), '')::uuid
$$;

-- FUNCTION seal(bigint, uuid[], bytea[])

CREATE FUNCTION postmill.seal(p_n bigint, p_ids uuid[], p_hashes bytea[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    insert into postmill.audit_chain (n, audit_id, hash)
    select p_n + u.i - 1, u.id, u.hash from unnest(p_ids, p_hashes) with ordinality as u(id, hash, i);
    delete from postmill.audit_unsealed x where x.id = any (p_ids);
end
$$;

-- FUNCTION secret_in(jsonb, text[])

CREATE FUNCTION postmill.secret_in(p_payload jsonb, p_names text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    found_at text;
begin
    with recursive walk (path, key, value) as (
        select 'args', null::text, p_payload
        union all
        select w.path || case when inner_one.n is null then '.' || inner_one.key else '[' || inner_one.n || ']' end,
               inner_one.key, inner_one.value
          from walk w
         cross join lateral (
            select e.key, null::bigint as n, e.value
              from jsonb_each(case when jsonb_typeof(w.value) = 'object' then w.value else '{}' end) e
            union all
            select null, a.n - 1, a.value
              from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array' then w.value else '[]' end)
                   with ordinality as a(value, n)) inner_one
    )
    select left(w.path, 200) into found_at from walk w
     where w.key is not null and jsonb_typeof(w.value) not in ('null', 'boolean')
       and (w.key = any (p_names) or postmill.names_secret(w.key)) limit 1;
    return found_at;
end
$$;

-- FUNCTION secure_requests()

CREATE FUNCTION postmill.secure_requests() RETURNS boolean
    LANGUAGE plpgsql
    AS $_$
declare
    name text;
    owner oid;
    own_column text;
begin
    foreach name in array array['postmill_reader', 'postmill_request'] loop
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
    execute 'grant usage, create on schema postmill to postmill_reader';
    execute 'grant usage on schema postmill to postmill_request';

    -- Every table that has a tenant is under the policy. The reader does not see who may come in, but for what
    -- read_keys, read_logins and read_members show; the intake is left out, since COPY does not go into a table with policies.
    for name, own_column in
        select c.relname, case c.relname when 'tenant' then 'id' else
                   (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') end
          from pg_class c where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition and c.relname !~ '^intake$|_(secret|answer)$'
    loop
        if own_column is not null then
            perform postmill.secure_table(name, own_column);
        end if;
        if name not in ('api_key', 'console_session', 'login_link', 'webhook_secret') then
            execute format('grant select on postmill.%I to postmill_reader', name);
        end if;
    end loop;
    execute 'grant select (id, prefix, name, tenant_id, role, created_at, created_by, expires_at, last_used_at, revoked_at,
        revoked_by) on postmill.api_key to postmill_reader';
    execute 'grant select (id, actor_id, tenant_id, role, api_key_id, created_at, last_seen_at, expires_at, ended_at)
        on postmill.console_session to postmill_reader';
    execute 'grant select (actor_id, tenant_id, role, created_at, expires_at, used_at) on postmill.login_link to postmill_reader';
    for name, owner in select c.relname, c.relowner from pg_class c
                        where c.relnamespace = 'postmill'::regnamespace and c.relkind = 'v' loop
        if owner <> 'postmill_reader'::regrole then
            execute format('alter view postmill.%I owner to postmill_reader', name);
        end if;
        execute format('grant select on postmill.%I to postmill_reader, postmill_request', name);
    end loop;

    -- read_: definer functions of the reader; door_: of the owner, with checks of their own. A view's functions are
    -- called with the rights of who reads the view. What else the reader needs is its own; to everybody else all is closed.
    for name, own_column in select p.oid::regprocedure::text, p.proname from pg_proc p
                             where p.pronamespace = 'postmill'::regnamespace loop
        -- Policies ask these two with the rights of whoever reads a view, and somebody may have been granted one.
        if own_column in ('scope_tenant', 'sees_all') then
            execute format('grant execute on function %s to public', name);
        elsif has_function_privilege('public', name, 'execute') then
            execute format('revoke all on function %s from public', name);
        end if;
        if own_column like 'read\_%' then
            execute format('alter function %s owner to postmill_reader', name);
        end if;
        if own_column like 'read\_%' or own_column like 'door\_%' or own_column in ('now', 'new_id', 'id_at', 'id_time',
            'scope_tenant', 'sees_all', 'in_scope', 'ids_in_scope') then
            execute format('grant execute on function %s to postmill_reader, postmill_request', name);
        elsif own_column in ('job_events', 'history_size', 'job_state', 'budget_word', 'minute_of', 'error_status', 'version_run', 'keep_of', 'type_paused', 'rollup_bounds', 'rollup_source', 'quantile', 'summary_of',
            'histogram_plus', 'histogram_sum', 'histogram_within',
            'incident_outline', 'incident_status', 'args_matching', 'state_test', 'places_of', 'states_of') then
            execute format('grant execute on function %s to postmill_reader', name);
        end if;
    end loop;
    execute 'revoke create on schema postmill from postmill_reader';
    return true;
end
$_$;

-- FUNCTION secure_table(text, text)

CREATE FUNCTION postmill.secure_table(p_table text, p_column text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if (select c.relrowsecurity from pg_class c where c.oid = format('postmill.%I', p_table)::regclass)
        and (select count(*) from pg_policies p where p.schemaname = 'postmill' and p.tablename = p_table
                and p.policyname in ('of_the_scope', 'whoever_has_rights')) = 2 then
        return;
    end if;
    execute format('alter table postmill.%I enable row level security', p_table);
    execute format('create policy whoever_has_rights on postmill.%I using (true) with check (true)', p_table);
    execute format('create policy of_the_scope on postmill.%I as restrictive for select to postmill_reader using
        ((select postmill.sees_all()) or %I = (select postmill.scope_tenant()))', p_table, p_column);
end
$$;

-- FUNCTION sees_all()

CREATE FUNCTION postmill.sees_all() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select coalesce(nullif(current_setting('postmill.platform', true), ''), 'off') = 'on'
        or (coalesce(current_setting('role', true), 'none') <> 'postmill_request'
            and coalesce(current_setting('postmill.tenant_id', true), '') = '')
$$;

-- FUNCTION select_items(uuid, integer)

CREATE FUNCTION postmill.select_items(p_id uuid, p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    op postmill.operation;
    found_ones uuid[];
    lowest uuid;
    added integer;
    scope text := coalesce(current_setting('postmill.tenant_id', true), '');
begin
    select o.* into op from postmill.operation o where o.id = p_id and o.stage = 'select' and o.status = 'running' for update;
    if not found then
        return;
    end if;
    -- A tenant's operation finds what the tenant sees, whoever carries it out.
    perform set_config('postmill.tenant_id', coalesce(op.tenant_id::text, scope), true);
    select m.ids, m.low into found_ones, lowest
      from postmill.read_matching(op.matching, coalesce(op.select_below, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), p_most, 4 * p_most) m;
    perform set_config('postmill.tenant_id', scope, true);
    if cardinality(found_ones) >= p_most then
        lowest := found_ones[cardinality(found_ones)];
    end if;
    with whose as materialized (
        select u.id, row_number() over (order by u.n) as n, j.tenant_id
          from unnest(found_ones) with ordinality as u(id, n)
         cross join lateral (select f.tenant_id from postmill.any_job f where f.id = u.id offset 0) j
         where u.id < op.cut_off
    ), fresh as (
        select w.tenant_id, count(*)::integer as n from whose w where op.fair group by 1
    ), share as (
        insert into postmill.operation_share as s select p_id, f.tenant_id, f.n from fresh f
        on conflict (operation_id, tenant_id) do update set n = s.n + excluded.n
        returning s.tenant_id, s.n
    )
    insert into postmill.operation_item (operation_id, n, turn, job_id, tenant_id)
    select p_id, op.total + w.n,
           case when op.fair then s.n - f.n + row_number() over (partition by w.tenant_id order by w.n) else - (op.total + w.n) end,
           w.id, w.tenant_id
      from whose w left join share s on s.tenant_id = w.tenant_id left join fresh f on f.tenant_id = w.tenant_id;
    get diagnostics added = row_count;
    update postmill.operation o set total = o.total + added, select_below = lowest where o.id = p_id;
    if lowest is null then
        perform postmill.settle_selection(p_id);
    end if;
end
$$;

-- FUNCTION server_gauges()

CREATE FUNCTION postmill.server_gauges() RETURNS TABLE(note jsonb, age double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select u.note, extract(epoch from (select postmill.now()) - u.last_run_at)::double precision
      from postmill.upkeep u where u.name = 'monitor' and u.note is not null;
end
$$;

-- FUNCTION set_actor(text, text, text, text, text, text)

CREATE FUNCTION postmill.set_actor(p_via text, p_actor_type text, p_actor_id text, p_role text DEFAULT NULL::text, p_request_id text DEFAULT NULL::text, p_address text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('postmill.via', coalesce(p_via, ''), true),
            set_config('postmill.actor_type', coalesce(p_actor_type, ''), true),
            set_config('postmill.actor_id', coalesce(p_actor_id, ''), true),
            set_config('postmill.actor_role', coalesce(p_role, ''), true),
            set_config('postmill.request_id', coalesce(p_request_id, ''), true),
            set_config('postmill.address', coalesce(p_address, ''), true);
end
$$;

-- FUNCTION set_gate(uuid, text, text, uuid, text[])

CREATE FUNCTION postmill.set_gate(p_tenant uuid, p_stage text, p_cell text, p_move uuid, p_from text[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    found_one postmill.tenant_gate;
begin
    perform pg_advisory_xact_lock(postmill.gate_key(p_tenant));
    select * into found_one from postmill.tenant_gate g where g.tenant_id = p_tenant for update;
    if coalesce(found_one.stage, 'here') = p_stage and coalesce(found_one.move_id = p_move, p_stage = 'here') then
        return true;
    end if;
    if not coalesce(found_one.stage, 'here') = any (p_from)
        or (found_one.move_id <> p_move and found_one.stage <> 'gone') then
        return false;
    end if;
    if p_stage = 'here' then
        delete from postmill.tenant_gate g where g.tenant_id = p_tenant;
    else
        insert into postmill.tenant_gate (tenant_id, stage, cell, move_id, changed_at)
        values (p_tenant, p_stage, p_cell, p_move, postmill.now())
        on conflict (tenant_id) do update
           set stage = excluded.stage, cell = excluded.cell, move_id = excluded.move_id, changed_at = excluded.changed_at;
    end if;
    update postmill.partition_horizon h set gated = g.any_gate
      from (select exists (select from postmill.tenant_gate) as any_gate) g where h.gated <> g.any_gate;
    return true;
end
$$;

-- FUNCTION set_rate(text, jsonb)

CREATE FUNCTION postmill.set_rate(p_key text, p_rate jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if jsonb_typeof(p_rate) = 'object' then
        insert into postmill.limit_rule as l (job_type, rate_count, rate_seconds, rate_burst)
        values (p_key, (p_rate ->> 'count')::integer, (p_rate ->> 'seconds')::double precision, (p_rate ->> 'burst')::integer)
        on conflict (job_type) do update set rate_count = excluded.rate_count, rate_seconds = excluded.rate_seconds,
            rate_burst = excluded.rate_burst
          where (l.rate_count, l.rate_seconds, l.rate_burst)
                is distinct from (excluded.rate_count, excluded.rate_seconds, excluded.rate_burst);
    else
        delete from postmill.limit_rule l where l.job_type = p_key;
    end if;
end
$$;

-- FUNCTION set_retention(jsonb, double precision, text[])

CREATE FUNCTION postmill.set_retention(p_keep jsonb, p_width double precision, p_reasons text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    n integer;
begin
    update postmill.partition_policy p
       set width = coalesce(p_width * interval '1 second', p.width), keep_reasons = coalesce(p_reasons, p.keep_reasons)
     where (p.width, p.keep_reasons) is distinct from (coalesce(p_width * interval '1 second', p.width),
                                                       coalesce(p_reasons, p.keep_reasons));
    insert into postmill.retention_rule as r (subject, source, keep)
    select e.key, 'settings', (e.value #>> '{}')::double precision * interval '1 second' from jsonb_each(p_keep) e
    on conflict (tenant_id, subject, source) do update set keep = excluded.keep, changed_at = postmill.now()
     where r.keep is distinct from excluded.keep;
    get diagnostics n = row_count;
    if n > 0 then
        perform postmill.settle_retention();
    end if;
end
$$;

-- FUNCTION settle_retention()

CREATE FUNCTION postmill.settle_retention() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    longest interval;
begin
    select max(coalesce((select r.keep from postmill.retention_rule r where r.tenant_id is null and r.subject = s.name
                          order by r.source limit 1), interval '30 days'))
      into longest from unnest(array['succeeded', 'failed', 'canceled']) as s(name);
    update postmill.partition_policy p set retention = longest where p.retention <> longest;
    delete from postmill.retention_progress;
end
$$;

-- FUNCTION settle_selection(uuid)

CREATE FUNCTION postmill.settle_selection(p_id uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    update postmill.operation o
       set stage = case when o.canary > 0 and o.kind = 'replay' then 'canary' else 'rest' end,
           status = case when o.total = 0 then 'finished' when o.total > o.approve_above then 'proposed'
                         when o.held then 'paused' else o.status end,
           paused_at = case when o.held and o.total > 0 and not coalesce(o.total > o.approve_above, false) then moment end,
           pause_reason = case when o.held and o.total > 0 and not coalesce(o.total > o.approve_above, false)
                               then format('counted: %s jobs match', o.total) end,
           ended_at = case when o.total = 0 then moment end
     where o.id = p_id;
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

-- FUNCTION severity_rank(text)

CREATE FUNCTION postmill.severity_rank(p_severity text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return array_position(array['info', 'warning', 'critical'], p_severity);
end
$$;

-- FUNCTION spent_units(integer)

CREATE FUNCTION postmill.spent_units(p_most integer) RETURNS TABLE(id uuid, source text, manifest jsonb, tenants uuid[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    return query
    with own as materialized (
        select r.tenant_id, r.subject::text as rule, coalesce(r.keep, interval '1000 years') as keep from postmill.retention_rule r
         where r.tenant_id is not null and r.subject in ('archive', 'dead_letter')
    ), usual as materialized (
        select x.rule, postmill.keep_of(x.rule) as keep from unnest(array['archive', 'dead_letter']) as x(rule)
    ), spent as (
        select u.id, u.source, u.manifest,
               u.until < moment - greatest(k.keep, (select max(o.keep) from own o
                                                     where o.rule = u.rule and u.tenants ? o.tenant_id::text)) as whole,
               array(select o.tenant_id from own o
                      where o.rule = u.rule and u.tenants ? o.tenant_id::text and u.until < moment - o.keep) as early,
               array(select t.key::uuid from jsonb_object_keys(u.tenants) as t(key)
                      where u.until < moment - k.keep and t.key <> ''
                        and not exists (select from own o where o.rule = u.rule and o.tenant_id::text = t.key)) as others
          from postmill.archive_unit u join usual k on k.rule = u.rule
         where u.status = 'archived'
           and u.until < moment - least(k.keep, (select min(o.keep) from own o where o.rule = u.rule))
    )
    select s.id, s.source, s.manifest, case when not s.whole then s.early || s.others end
      from spent s where s.whole or cardinality(s.early || s.others) > 0
     order by s.id limit p_most;
end
$$;

-- FUNCTION stands(uuid[])

CREATE FUNCTION postmill.stands(p_ids uuid[]) RETURNS TABLE(id uuid, tenant_id uuid, state text, priority integer, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return query
    select s.id, s.tenant_id, s.state, s.priority, s.reason from postmill.job_state(postmill.ids_in_scope(p_ids)) s;
end
$$;

-- FUNCTION start_budget(uuid, uuid, uuid, bigint)

CREATE FUNCTION postmill.start_budget(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.budget_reservation r set started = true
     where r.id = p_id and r.job_id = p_job and r.holder = p_holder and r.claim_no = p_claim_no and r.ended_at is null
       and exists (select from postmill.running t where t.id = p_job and t.holder = p_holder and t.claim_no = p_claim_no);
    return found;
end
$$;

-- FUNCTION state_test(text[])

CREATE FUNCTION postmill.state_test(p_states text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
    -- A letter that was replayed has an outcome, an open one has none yet.
    ended text[] := array(select case s when 'replayed' then 'dead_letter' else s end from unnest(p_states) s
                           where s in ('succeeded', 'failed', 'canceled', 'replayed'));
    parts text[] := array['false'];
begin
    if 'queued' = any (p_states) then
        parts := parts || array['exists (select from postmill.ready t where t.id = j.id offset 0)',
            'exists (select from postmill.scheduled t where t.id = j.id and t.run_at <= $5 offset 0)'];
    end if;
    if p_states && array['scheduled', 'retrying', 'first'] then
        parts := parts || format('exists (select from postmill.scheduled t where t.id = j.id and t.run_at > $5 and %s offset 0)',
            case when 'scheduled' = any (p_states) then 'true' when 'retrying' = any (p_states) then 't.attempt > 1' else 't.attempt <= 1' end);
    end if;
    parts := parts || array(select format('exists (select from postmill.%I t where t.id = j.id offset 0)', s)
                              from unnest(p_states) s where s in ('blocked', 'running', 'dead_letter'));
    if cardinality(ended) > 0 then
        parts := parts || format('exists (select from postmill.outcome t where t.job_id = j.id and t.status = any (%L::text[]) offset 0)', ended);
    end if;
    return '(' || array_to_string(parts, ' or ') || ')';
end
$_$;

-- FUNCTION states_of(uuid[])

CREATE FUNCTION postmill.states_of(p_ids uuid[]) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    at_now constant timestamptz := postmill.now();
begin
    return coalesce((select jsonb_object_agg(x.word, x.n) from (
        select y.word, count(*) as n from (
            select coalesce((select case o.status when 'dead_letter' then 'replayed' else o.status end from postmill.outcome o where o.job_id = u.id offset 0),
                            (select 'queued' from postmill.ready t where t.id = u.id offset 0),
                            (select case when t.run_at <= at_now then 'queued' when t.attempt > 1 then 'retrying' else 'scheduled' end
                               from postmill.scheduled t where t.id = u.id offset 0),
                            (select 'dead_letter' from postmill.dead_letter t where t.id = u.id offset 0),
                            (select 'running' from postmill.running t where t.id = u.id offset 0),
                            (select 'blocked' from postmill.blocked t where t.id = u.id offset 0)) as word
              from unnest(p_ids) as u(id)) y where y.word is not null group by 1) x), '{}');
end
$$;

-- FUNCTION step_operation(uuid, integer[], jsonb)

CREATE FUNCTION postmill.step_operation(p_id uuid, p_ns integer[], p_refused jsonb) RETURNS TABLE(status text, done integer, skipped integer, failed integer, passed integer)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
    op postmill.operation;
    moment timestamptz := postmill.now();
    left_over integer;
    out_there integer;
    unlucky integer;
    skipped_before integer;
begin
    select o.* into op from postmill.operation o where o.id = p_id and o.status = 'running' for update;
    if not found then
        return;
    end if;
    skipped_before := op.skipped;
    perform postmill.set_actor('upkeep', op.actor_type, op.actor_id, op.actor_role, op.request_id),
            set_config('lock_timeout', '1s', true);
    with refused as (
        select r.key::integer as n, 'invalid' as status, null::uuid as new_id, left(r.value, 500) as detail
          from jsonb_each_text(p_refused) r where r.key::integer = any (p_ns)
    ), ready as materialized (
        select i.n, i.job_id, (select x.job_id from postmill.outcome x
                                where x.job_id = any (i.twins) and x.status = 'succeeded' limit 1) as twin,
               op.same_version and postmill.definition_changed(i.job_id) as changed
          from postmill.operation_item i
         where i.operation_id = p_id and i.n = any (p_ns) and i.status is null and not p_refused ? i.n::text
    ), acted as materialized (
        select a.* from postmill.act_on_items(op, array(select r.job_id from ready r where r.twin is null and not r.changed order by r.job_id)) a
         where exists (select from ready r where r.twin is null and not r.changed)
    ), told as (
        select r.n, r.status, r.new_id, r.detail from refused r
        union all
        select r.n, case when r.twin is not null then 'succeeded_since' when r.changed then 'version_changed' else a.status end,
               coalesce(r.twin, a.new_id), a.detail
          from ready r left join acted a on a.id = r.job_id
    )
    update postmill.operation_item i
       set status = case when t.status in ('busy', 'serialization', 'contended') and i.tries < 10 then null else t.status end,
           tries = i.tries + 1, new_id = t.new_id, detail = t.detail, at = moment
      from told t where i.operation_id = p_id and i.n = t.n;
    update postmill.operation o
       set done = o.done + c.done, skipped = o.skipped + c.skipped, failed = o.failed + c.failed,
           taken_at = case when o.rate is not null
                           then postmill.rate_base(o, moment) + (cardinality(p_ns) - c.skipped) * interval '1 s' / o.rate end
      from (select count(*) filter (where i.status in ('replayed', 'due', 'requested', 'canceled', 'discarded', 'changed')) as done,
                   count(*) filter (where i.status in ('live', 'already_replayed', 'succeeded_since', 'succeeded', 'running',
                       'waiting', 'never', 'unconfirmed', 'not_dead', 'unknown', 'key_held', 'old_version',
                       'version_changed', 'finished', 'unchanged', 'blocked')) as skipped,
                   count(*) filter (where i.status is not null) as all_of_them
              from postmill.operation_item i where i.operation_id = p_id and i.n = any (p_ns)) n
     cross join lateral (select n.done, n.skipped, n.all_of_them - n.done - n.skipped as failed) c
     where o.id = p_id returning o.* into op;

    left_over := (select count(*) from (select from postmill.operation_item i
                                         where i.operation_id = p_id and i.status is null limit 1) x);
    if op.stage = 'canary' and (op.done >= op.canary or left_over = 0) then
        select count(*) filter (where postmill.is_live(i.new_id)),
               count(*) filter (where not postmill.is_live(i.new_id) and (
                   exists (select from postmill.dead_letter d where d.id = i.new_id)
                   or exists (select from postmill.outcome x where x.job_id = i.new_id and x.status <> 'succeeded')))
          into out_there, unlucky
          from postmill.operation_item i where i.operation_id = p_id and i.status = 'replayed';
        if unlucky > coalesce(op.stop_ratio, 0) * op.done then
            update postmill.operation o
               set status = 'paused', paused_at = moment, paused_by = null,
                   pause_reason = format('canary: %s of %s did not succeed', unlucky, op.done)
             where o.id = p_id returning o.* into op;
            perform postmill.audit('operations.pause', 'operation', p_id::text, op.tenant_id,
                jsonb_build_object('status', 'running', 'stage', 'canary', 'done', op.done),
                jsonb_build_object('status', 'paused'), op.pause_reason);
        elsif out_there = 0 then
            update postmill.operation o set stage = 'rest', taken_at = null, watched_from = moment where o.id = p_id returning o.* into op;
        end if;
    elsif op.stop_ratio is not null and op.kind = 'replay' and left_over > 0 and coalesce(op.checked_at < moment - interval '2 s', true) then
        select count(*), count(*) filter (where x.failed) into out_there, unlucky
          from (select exists (select from postmill.dead_letter d where d.id = r.new_id)
                       or exists (select from postmill.outcome x where x.job_id = r.new_id and x.status <> 'succeeded') as failed
                  from (select i.new_id from postmill.operation_item i where i.operation_id = p_id and i.status = 'replayed'
                           and i.at > coalesce(op.watched_from, '-infinity') order by i.at desc limit 1000) r
                 where not postmill.is_live(r.new_id)) x;
        update postmill.operation o
           set checked_at = moment,
               status = case when out_there >= 20 and unlucky > op.stop_ratio * out_there then 'paused' else o.status end,
               paused_at = case when out_there >= 20 and unlucky > op.stop_ratio * out_there then moment end,
               pause_reason = case when out_there >= 20 and unlucky > op.stop_ratio * out_there
                                   then format('failures: %s of the last %s did not succeed', unlucky, out_there) end
         where o.id = p_id returning o.* into op;
        if op.status = 'paused' then
            perform postmill.audit('operations.pause', 'operation', p_id::text, op.tenant_id,
                jsonb_build_object('status', 'running', 'stage', op.stage, 'done', op.done),
                jsonb_build_object('status', 'paused'), op.pause_reason);
        end if;
    end if;
    if op.status = 'running' and op.stage = 'rest' and left_over = 0 then
        update postmill.operation o set status = 'finished', ended_at = moment where o.id = p_id returning o.* into op;
        perform postmill.audit('operations.finish', 'operation', p_id::text, op.tenant_id, null,
            jsonb_build_object('kind', op.kind, 'total', op.total, 'done', op.done, 'skipped', op.skipped, 'failed', op.failed));
    end if;
    perform postmill.set_actor(null, null, null);
    return query select op.status, op.done, op.skipped, op.failed, op.skipped - skipped_before;
end
$$;

-- FUNCTION summary_of(bigint[], double precision)

CREATE FUNCTION postmill.summary_of(p_hist bigint[], p_sum double precision) RETURNS double precision[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return array[p_sum / nullif((select sum(h) from unnest(p_hist) h), 0), postmill.quantile(p_hist, 0.5),
                 postmill.quantile(p_hist, 0.95), postmill.quantile(p_hist, 0.99)];
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
    perform postmill.sweep_tags(p_most);
    delete from postmill.progress g where not exists (select from postmill.running r where r.id = g.job_id);
    delete from postmill.tally t using postmill.partition_policy p where t.at < moment - p.retention;
end
$$;

-- FUNCTION sweep_answers(integer)

CREATE FUNCTION postmill.sweep_answers(p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
begin
    delete from postmill.http_answer a where a.ctid = any (array(
        select o.ctid from postmill.http_answer o where o.expires_at < moment limit p_most for update skip locked));
end
$$;

-- FUNCTION sweep_budgets(integer)

CREATE FUNCTION postmill.sweep_budgets(p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    edge constant timestamptz := moment - postmill.keep_of('budgets');
begin
    delete from postmill.budget_reservation r where r.ctid = any (array(
        select x.ctid from postmill.budget_reservation x where x.ended_at < moment - interval '7 days' limit p_most));
    delete from postmill.budget_line l where l.ctid = any (array(
        select x.ctid from postmill.budget_period p join postmill.budget_line x on x.budget_id = p.budget_id and x.starts_at = p.starts_at
         where p.ends_at < edge limit p_most));
    with gone as (
        delete from postmill.budget_period p where p.ctid = any (array(
            select o.ctid from postmill.budget_period o where o.ends_at < edge and not exists (select from postmill.budget_line l
                    where l.budget_id = o.budget_id and l.starts_at = o.starts_at) limit p_most))
        returning p.budget_id, p.starts_at
    ), balances as (
        delete from postmill.budget_balance s using gone g where s.budget_id = g.budget_id and s.starts_at = g.starts_at
    )
    delete from postmill.budget_alert a using gone g where a.budget_id = g.budget_id and a.starts_at = g.starts_at;
end
$$;

-- FUNCTION sweep_http(integer)

CREATE FUNCTION postmill.sweep_http(p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    edge timestamptz := postmill.now() - interval '1 hour';
begin
    delete from postmill.http_claim c where c.ctid = any (array(
        select o.ctid from postmill.http_claim o where o.ended_at < edge limit p_most for update skip locked));
    delete from postmill.http_claim c where c.ended_at is null and c.expires_at < edge
       and not exists (select from postmill.running r where r.id = c.job_id and r.claim_no = c.claim_no);
    delete from postmill.http_session s
     where not exists (select from postmill.lease l where l.holder = s.holder and l.expires_at > edge);
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

-- FUNCTION sweep_logins()

CREATE FUNCTION postmill.sweep_logins() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    delete from postmill.console_session s where s.expires_at < (select postmill.now()) - interval '7 days';
    delete from postmill.login_link l where l.expires_at < (select postmill.now()) - interval '7 days';
end
$$;

-- FUNCTION sweep_operations(integer)

CREATE FUNCTION postmill.sweep_operations(p_most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    gone bigint;
begin
    with old as (
        select i.operation_id, i.n from postmill.operation_item i
         where i.operation_id in (select o.id from postmill.operation o where o.ended_at < (select postmill.now()) - (select postmill.keep_of('operations')))
         limit p_most
    )
    delete from postmill.operation_item i using old where i.operation_id = old.operation_id and i.n = old.n;
    get diagnostics gone = row_count;
    if gone < p_most then
        delete from postmill.operation_share s using postmill.operation o
         where o.id = s.operation_id and o.ended_at < (select postmill.now()) - (select postmill.keep_of('operations'));
        delete from postmill.operation o where o.ended_at < (select postmill.now()) - (select postmill.keep_of('operations'));
    end if;
    return gone;
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

-- FUNCTION sweep_tags(integer)

CREATE FUNCTION postmill.sweep_tags(p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    oldest timestamptz := (select min(x.since) from postmill.partition x where x.parent = 'job');
begin
    delete from postmill.job_tag t where t.ctid = any (array(
        select i.ctid from postmill.job_tag i
         where i.job_id < postmill.id_at(oldest) and not exists (select from postmill.job_kept k where k.id = i.job_id)
         order by i.job_id limit p_most for update skip locked));
end
$$;

-- FUNCTION sweep_triggers(integer)

CREATE FUNCTION postmill.sweep_triggers(p_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment timestamptz := postmill.now();
    edge timestamptz;
    gone integer;
    n integer;
begin
    edge := greatest(moment - postmill.keep_of('events'), timestamptz 'epoch'); -- there is no id of before
    delete from postmill.trigger_recent r
     where (r.trigger_id, r.hash) in (select x.trigger_id, x.hash from postmill.trigger_recent x where x.expires_at < moment
                                       order by x.expires_at limit p_most for update skip locked);
    get diagnostics gone = row_count;
    delete from postmill.tick k
     where (k.trigger_id, k.due) in (select x.trigger_id, x.due from postmill.tick x where x.fired_at < edge
                                      order by x.fired_at limit p_most);
    get diagnostics n = row_count;
    gone := greatest(gone, n);
    delete from postmill.event_delivery y
     where (y.event_id, y.trigger_id) in (select x.event_id, x.trigger_id from postmill.event_delivery x
                                           where x.event_id < postmill.id_at(edge) and x.outcome <> 'pending'
                                           order by x.event_id limit p_most);
    get diagnostics n = row_count;
    gone := greatest(gone, n);
    delete from postmill.event e
     where e.id in (select x.id from postmill.event x where x.id < postmill.id_at(edge)
                       and not exists (select from postmill.event_delivery y where y.event_id = x.id)
                     order by x.id limit p_most);
    get diagnostics n = row_count;
    gone := greatest(gone, n);
    delete from postmill.webhook_message m
     where (m.webhook_id, m.message_id) in (select x.webhook_id, x.message_id from postmill.webhook_message x
                                             where x.received_at < edge order by x.received_at limit p_most);
    get diagnostics n = row_count;
    return greatest(gone, n);
end
$$;

-- FUNCTION switch_tenant(uuid)

CREATE FUNCTION postmill.switch_tenant(p_move uuid) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    own postmill.tenant_move;
begin
    update postmill.tenant_move m set step = 'open', updated_at = postmill.now()
     where m.id = p_move and m.status = 'running' and m.step = 'switch' returning m.* into own;
    if not found then
        return false;
    end if;
    insert into postmill.cell_tenant (tenant_id, slug, cell, changed_at)
    values (own.tenant_id, own.slug, own.to_cell, postmill.now())
    on conflict (tenant_id) do update set cell = excluded.cell, slug = excluded.slug, changed_at = excluded.changed_at;
    return true;
end
$$;

-- FUNCTION tags_of(uuid)

CREATE FUNCTION postmill.tags_of(p_id uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return array(select t.tag from postmill.job_tag t where t.job_id = p_id order by t.tag);
end
$$;

-- FUNCTION take_back(uuid, double precision, integer)

CREATE FUNCTION postmill.take_back(p_only uuid, p_jitter_seconds double precision, p_most integer) RETURNS TABLE(id uuid, queue text, verdict text, job_type text, tenant_id uuid, attempt integer, holder uuid)
    LANGUAGE plpgsql
    AS $$
declare
    why constant text := 'the lease of the worker session ended while the job ran';
    moment timestamptz := postmill.history_moment();
begin
    return query
    with gone_sessions as materialized (
        select r.ctid as tid, r.id, r.holder, r.claim_no, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, r.claimed_at
          from postmill.running r left join postmill.lease l on l.holder = r.holder
         where (p_only is null or r.holder = p_only) and (l.holder is null or l.expires_at <= moment
            or (r.id, r.claim_no) in (select h.job_id, h.claim_no from postmill.http_claim h
                                       where h.ended_at is null and h.expires_at <= moment))
         order by r.id limit p_most for update of r skip locked
    ), judged as materialized (
        select g.*, j.tenant_id, j.job_type, j.due, c.reason as cancel_reason,
               case when c.job_id is not null then 'canceled'
                    when j.id is null then 'undecodable'
                    when g.attempt >= j.max_attempts or g.lost > coalesce(d.max_lost, 3) + 1
                    then case when d.on_exhausted = 'fail' then 'failed' else 'dead_letter' end
                    else 'scheduled' end as verdict
          from gone_sessions g
          -- Fenced (offset 0): as a join it would be planned over whole tables.
          left join lateral (select b.id, b.tenant_id, b.job_type, b.max_attempts, coalesce(b.scheduled_for, b.created_at) as due
                               from postmill.job b where b.id = g.id
                             union all
                             select b.id, b.tenant_id, b.job_type, b.max_attempts, coalesce(b.scheduled_for, b.created_at)
                               from postmill.job_kept b where b.id = g.id
                             offset 0) j on true
          left join postmill.job_definition d on d.key = j.job_type
          left join postmill.cancel_request c on c.job_id = g.id
    ), taken as (
        delete from postmill.running r where r.ctid = any (array(select g.tid from gone_sessions g))
    ), lapsed as (
        delete from postmill.http_claim h using gone_sessions g where h.job_id = g.id and h.claim_no = g.claim_no
    ), heard as (
        delete from postmill.cancel_request c using judged j where c.job_id = j.id and j.verdict <> 'scheduled'
    ), tried as (
        insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status,
               error_class, error_message, error_group)
        select j.id, coalesce(j.tenant_id, j.lane), j.attempt, j.run, j.holder, j.claim_no, j.claimed_at, moment, 'lost',
               'WorkerLost', why, postmill.error_group_id(coalesce(j.job_type, 'unknown'), 'WorkerLost', why, '')
          from judged j where j.verdict in ('scheduled', 'dead_letter', 'undecodable')
    ), later as (
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select j.queue, j.lane, moment + random() * p_jitter_seconds * interval '1 second', j.id, j.priority,
               j.attempt + 1, j.run, least(j.lost + 1, greatest(j.lost, 2))
          from judged j where j.verdict = 'scheduled'
    ), buried as (
        insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_message, error_group, attempts, failed_at, last_attempt_at)
        select j.id, coalesce(j.tenant_id, j.lane), j.queue, j.lane, j.priority, j.attempt, j.run, least(j.lost + 1, greatest(j.lost, 2)),
               case j.verdict when 'undecodable' then 'undecodable' else 'worker_lost' end, 'WorkerLost', why,
               postmill.error_group_id(coalesce(j.job_type, 'unknown'), 'WorkerLost', why, ''), j.attempt, moment, j.claimed_at
          from judged j where j.verdict in ('dead_letter', 'undecodable')
    ), ended as (
        insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder,
               claim_no, started_at, reason, error_class, error_message, error_group)
        select j.id, j.tenant_id, j.verdict, moment, j.attempt, j.run, least(j.lost + 1, greatest(j.lost, 2)), 'lost', j.holder, j.claim_no,
               j.claimed_at, case j.verdict when 'failed' then 'worker_lost' else coalesce(j.cancel_reason, 'canceled') end, 'WorkerLost',
               why, postmill.error_group_id(coalesce(j.job_type, 'unknown'), 'WorkerLost', why, '')
          from judged j where j.verdict in ('failed', 'canceled')
    ), counted as (
        insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, total_sum, total_hist)
        select postmill.minute_of(moment), e.tenant_id, e.queue, e.job_type, e.outcome, count(*), coalesce(sum(e.total), 0),
               postmill.histogram_sum(postmill.histogram(e.total))
          from (select coalesce(j.tenant_id, j.lane) as tenant_id, j.queue, coalesce(j.job_type, 'unknown') as job_type,
                       case j.verdict when 'scheduled' then 'lost' when 'undecodable' then 'dead_letter'
                                      else j.verdict end as outcome,
                       case when j.verdict in ('dead_letter', 'failed')
                            then greatest(0, extract(epoch from moment - j.due))::double precision end as total
                  from judged j) e
         group by e.tenant_id, e.queue, e.job_type, e.outcome
    ), grouped as (
        insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, first_at, last_at, n, job_id)
        select postmill.error_group_id(g.job_type, 'WorkerLost', why, ''), g.tenant_id, g.job_type, 'WorkerLost', why, '',
               moment, moment, g.n, g.job_id
          from (select coalesce(j.job_type, 'unknown') as job_type, coalesce(j.tenant_id, j.lane) as tenant_id, count(*) as n,
                       (array_agg(j.id order by j.id desc))[1] as job_id
                  from judged j group by 1, 2) g
    )
    select j.id, j.queue, j.verdict, j.job_type, j.tenant_id, j.attempt, j.holder from judged j;
end
$$;

-- FUNCTION take_gone_artifacts(integer)

CREATE FUNCTION postmill.take_gone_artifacts(p_most integer) RETURNS TABLE(id uuid, tenant_id uuid)
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    edge uuid;
begin
    select postmill.id_at(min(x.since)) into edge from postmill.partition x where x.parent = 'job';
    update postmill.artifact a set gone_at = moment where a.ctid = any (array(
        select e.ctid from postmill.artifact e where e.gone_at is null and e.expires_at <= moment
         order by e.expires_at limit p_most for update skip locked));
    update postmill.artifact a set gone_at = moment where a.ctid = any (array(
        select o.ctid from postmill.artifact o where o.gone_at is null and o.job_id < edge
           and not exists (select from postmill.job_kept k where k.id = o.job_id)
         order by o.job_id limit p_most for update skip locked));
    return query
    update postmill.artifact a set gone_at = moment where a.ctid = any (array(
        select g.ctid from postmill.artifact g where g.gone_at is not null order by g.gone_at limit p_most for update skip locked))
    returning a.id, a.tenant_id;
end
$$;

-- FUNCTION take_steps(jsonb)

CREATE FUNCTION postmill.take_steps(p_steps jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    item jsonb;
    own postmill.incident;
begin
    for item in select s.item from jsonb_array_elements(p_steps) as s(item) order by s.item ->> 'id' loop
        update postmill.incident i
           set step = (item ->> 'next_step')::integer, escalate_at = (item ->> 'next_at')::timestamptz
         where i.id = (item ->> 'id')::uuid and i.cycle = (item ->> 'cycle')::integer and i.step = (item ->> 'step')::integer
        returning i.* into own;
        if not found then
            continue;
        end if;
        insert into postmill.notification (incident_id, tenant_id, cycle, step, event, channel)
        select own.id, own.tenant_id, own.cycle, t.step, 'trigger', t.channel
          from jsonb_to_recordset(item -> 'told') as t(channel text, step integer) order by t.step
        on conflict do nothing;
        if own.resolved_at is not null then
            perform postmill.tell_again(own.id, 'resolve');
        elsif own.acknowledged_at is not null then
            perform postmill.tell_again(own.id, 'acknowledge');
        end if;
    end loop;
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

-- FUNCTION tell_again(uuid, text)

CREATE FUNCTION postmill.tell_again(p_id uuid, p_event text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into postmill.notification (incident_id, tenant_id, cycle, step, event, channel)
    select n.incident_id, n.tenant_id, n.cycle, 0, p_event, n.channel
      from postmill.notification n join postmill.incident i on i.id = n.incident_id and i.cycle = n.cycle
     where n.incident_id = p_id and n.event = 'trigger' and n.status in ('pending', 'sent')
     group by n.incident_id, n.tenant_id, n.cycle, n.channel
    on conflict do nothing;
end
$$;

-- FUNCTION tell_audited()

CREATE FUNCTION postmill.tell_audited() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if postmill.is_watched() then
        perform postmill.tell_live(
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

-- FUNCTION tell_budget_alerts(integer)

CREATE FUNCTION postmill.tell_budget_alerts(p_most integer) RETURNS TABLE(status text, name text, tenant_id uuid, percent numeric, severity text)
    LANGUAGE plpgsql
    AS $$
declare
    moment constant timestamptz := postmill.now();
    a record;
begin
    for a in
        select x.*, b.name, b.unit, p.label, p.ends_at, p.limit_amount as limit_now, coalesce(s.spent, 0) as spent_now,
               format('%s:%s:%s', x.budget_id, p.label, x.percent) as key
          from postmill.budget_alert x
          join postmill.budget b on b.id = x.budget_id
          join postmill.budget_period p on p.budget_id = x.budget_id and p.starts_at = x.starts_at
          left join lateral (select y.spent from postmill.budget_balance y
                              where y.budget_id = x.budget_id and y.starts_at = x.starts_at order by y.seq desc limit 1) s on true
         where x.resolved_at is null order by x.crossed_at limit p_most for update of x skip locked
    loop
        name := a.name; tenant_id := a.tenant_id; percent := a.percent; severity := a.severity; status := null;
        if a.ends_at <= moment or (a.limit_now > a.limit_amount and a.spent_now * 100 < a.percent * a.limit_now) then
            if a.told_at is not null then
                perform postmill.resolve_incident('budget', a.key);
                status := 'resolved';
            end if;
            update postmill.budget_alert x set resolved_at = moment
             where x.budget_id = a.budget_id and x.starts_at = a.starts_at and x.percent = a.percent and x.crossed_at = a.crossed_at;
        elsif a.told_at is null then
            perform postmill.raise_incident('budget', a.key, a.severity,
                format('budget %s: %s %% of %s %s is used in %s', a.name, trim_scale(a.percent), trim_scale(a.limit_amount), a.unit, a.label),
                jsonb_build_object('budget', a.name, 'budget_id', a.budget_id, 'period', a.label, 'percent', a.percent,
                    'spent', a.spent, 'limit', a.limit_amount, 'unit', a.unit, 'ends_at', a.ends_at), p_tenant => a.tenant_id);
            status := 'raised';
            update postmill.budget_alert x set told_at = moment
             where x.budget_id = a.budget_id and x.starts_at = a.starts_at and x.percent = a.percent and x.crossed_at = a.crossed_at;
        end if;
        if status is not null then
            return next;
        end if;
    end loop;
end
$$;

-- FUNCTION tell_changes(integer, integer)

CREATE FUNCTION postmill.tell_changes(p_most integer, p_tenants integer DEFAULT 100) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    one record;
    told integer := 0;
    others text;
    anything boolean := false;
begin
    if not postmill.is_watched() then
        return false;
    end if;
    for one in
        with happened as materialized (
            select p.tenant_id, p.outcome from postmill.rollup_part p limit p_most
        ), failed as materialized (
            select e.tenant_id from postmill.error_group_part e limit p_most
        )
        select c.tenant_id, string_agg(distinct c.topic, ',' order by c.topic) as topics
          from (select h.tenant_id, 'jobs' as topic from happened h
                union select h.tenant_id, 'triggers' from happened h where h.outcome = 'enqueued'
                union select h.tenant_id, 'dead' from happened h where h.outcome in ('dead_letter', 'discarded', 'replayed')
                union select f.tenant_id, 'errors' from failed f
                union select o.tenant_id, 'operations' from postmill.operation o where o.status = 'running') c
         group by c.tenant_id
    loop
        anything := true;
        told := told + 1;
        if told <= p_tenants then
            perform postmill.tell_live(one.topics, coalesce(one.tenant_id::text, '-'));
        else
            others := concat_ws(',', others, one.topics);
        end if;
    end loop;
    if others is not null then
        perform postmill.tell_live((select string_agg(distinct t, ',') from unnest(string_to_array(others, ',')) t), '*');
    end if;
    if anything then
        perform postmill.tell_live('queues', '-');
    end if;
    return true;
end
$$;

-- FUNCTION tell_live(text, text)

CREATE FUNCTION postmill.tell_live(p_topics text, p_scope text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if coalesce(current_setting('postmill.notify', true), '') <> 'off' and pg_notification_queue_usage() <= 0.5 then
        perform pg_notify('postmill_live', p_topics || ' ' || p_scope);
    end if;
end
$$;

-- FUNCTION tell_measured()

CREATE FUNCTION postmill.tell_measured() RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if postmill.is_watched() then
        perform postmill.tell_live('queues,workers,incidents,budgets,definitions,tenants,system', '-');
    end if;
end
$$;

-- FUNCTION tenant_json(uuid)

CREATE FUNCTION postmill.tenant_json(p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return (select to_jsonb(t) from postmill.tenant t where t.id = p_id);
end
$$;

-- TABLE partition

CREATE TABLE postmill.partition (
    parent text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    thin boolean DEFAULT false NOT NULL
);

-- FUNCTION thin_partition(postmill.partition, timestamp with time zone)

CREATE FUNCTION postmill.thin_partition(p_old postmill.partition, p_moment timestamp with time zone, OUT child text, OUT since timestamp with time zone, OUT gone text[]) RETURNS record
    LANGUAGE plpgsql
    AS $_$
declare
    low timestamptz;
    n bigint;
    total bigint := 0;
begin
    select array_agg(x.name order by x.since), min(x.since) into gone, low
      from postmill.partition x where x.parent = p_old.parent and x.thin;
    if coalesce(cardinality(gone), 0) < 4 then
        gone := '{}';
        low := p_old.since;
    end if;
    since := low;
    child := p_old.parent || to_char(low at time zone 'UTC', '_YYYYMMDD_HH24') || to_char(p_old.until at time zone 'UTC', '_YYYYMMDD_HH24');
    execute format('create table postmill.%I (like postmill.%I including all)', child, p_old.parent);
    -- With it the partition is attached without a look at its rows.
    execute format('alter table postmill.%I add check (finished_at >= %L and finished_at < %L)', child, low, p_old.until);
    foreach p_old.name in array gone || p_old.name loop
        execute format($q$
            with moved as (
                delete from postmill.%I t
                 where exists (select from postmill.retention_classes() c
                                where c.tenant_id = t.tenant_id and t.finished_at >= $1 - c.keep %s)
                returning t.*)
            insert into postmill.%I select * from moved$q$, p_old.name,
            case p_old.parent when 'outcome' then 'and c.status = t.status' else '' end, child) using p_moment;
        get diagnostics n = row_count;
        total := total + n;
    end loop;
    if total = 0 then
        execute format('drop table postmill.%I', child);
        child := null;
        gone := '{}';
    end if;
end
$_$;

-- FUNCTION trigger_changed()

CREATE FUNCTION postmill.trigger_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if new.trigger_type = 'schedule'
        and (new.cron_expr is distinct from old.cron_expr or new.every is distinct from old.every
             or new.timezone is distinct from old.timezone or new.dst is distinct from old.dst
             or (new.is_enabled and not old.is_enabled) or (new.deleted_at is null and old.deleted_at is not null))
    then
        new.broken := false;
        if new.every is distinct from old.every and new.anchored_at = old.anchored_at then
            new.anchored_at := date_trunc('second', postmill.now());
        end if;
        if new.next_run_at is not distinct from old.next_run_at then
            new.next_run_at := null;
        end if;
    end if;
    return new;
end
$$;

-- TABLE trigger

CREATE TABLE postmill.trigger (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000001'::uuid NOT NULL,
    label text NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    trigger_type text NOT NULL COLLATE pg_catalog."C",
    event_name text COLLATE pg_catalog."C",
    cron_expr text COLLATE pg_catalog."C",
    every interval,
    timezone text COLLATE pg_catalog."C",
    definition_id uuid NOT NULL,
    payload_template jsonb DEFAULT '{}'::jsonb NOT NULL,
    dedupe_window_seconds integer DEFAULT 300 NOT NULL,
    missed text DEFAULT 'once'::text NOT NULL COLLATE pg_catalog."C",
    missed_limit integer DEFAULT 100 NOT NULL,
    overlap text DEFAULT 'allow'::text NOT NULL COLLATE pg_catalog."C",
    dst text DEFAULT 'once'::text NOT NULL COLLATE pg_catalog."C",
    jitter_seconds integer DEFAULT 0 NOT NULL,
    origin text DEFAULT 'api'::text NOT NULL COLLATE pg_catalog."C",
    declared_in text COLLATE pg_catalog."C",
    created_by text,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    deleted_at timestamp with time zone,
    next_run_at timestamp with time zone,
    broken boolean DEFAULT false NOT NULL,
    anchored_at timestamp with time zone DEFAULT date_trunc('second'::text, postmill.now()) NOT NULL,
    last_run_at timestamp with time zone,
    last_job_id uuid,
    error text,
    error_at timestamp with time zone,
    CONSTRAINT trigger_check CHECK ((((trigger_type = 'event'::text) AND (event_name IS NOT NULL) AND (cron_expr IS NULL) AND (every IS NULL)) OR ((trigger_type = 'schedule'::text) AND (event_name IS NULL) AND (timezone IS NOT NULL) AND ((cron_expr IS NULL) <> (every IS NULL))))),
    CONSTRAINT trigger_check1 CHECK (((origin = 'code'::text) = (declared_in IS NOT NULL))),
    CONSTRAINT trigger_dedupe_window_seconds_check CHECK (((dedupe_window_seconds >= 0) AND (dedupe_window_seconds <= 31536000))),
    CONSTRAINT trigger_dst_check CHECK ((dst = ANY (ARRAY['once'::text, 'skip'::text, 'wall'::text]))),
    CONSTRAINT trigger_every_check CHECK ((every >= '00:00:01'::interval)),
    CONSTRAINT trigger_jitter_seconds_check CHECK (((jitter_seconds >= 0) AND (jitter_seconds <= 86400))),
    CONSTRAINT trigger_label_check CHECK (((length(label) >= 1) AND (length(label) <= 200))),
    CONSTRAINT trigger_missed_check CHECK ((missed = ANY (ARRAY['skip'::text, 'once'::text, 'all'::text]))),
    CONSTRAINT trigger_missed_limit_check CHECK (((missed_limit >= 1) AND (missed_limit <= 1000))),
    CONSTRAINT trigger_origin_check CHECK ((origin = ANY (ARRAY['api'::text, 'code'::text]))),
    CONSTRAINT trigger_overlap_check CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'cancel_previous'::text]))),
    CONSTRAINT trigger_payload_template_check CHECK ((jsonb_typeof(payload_template) = 'object'::text)),
    CONSTRAINT trigger_trigger_type_check CHECK ((trigger_type = ANY (ARRAY['event'::text, 'schedule'::text])))
);

-- FUNCTION trigger_facts(postmill.trigger)

CREATE FUNCTION postmill.trigger_facts(p_trigger postmill.trigger) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
    return case when p_trigger.id is not null then to_jsonb(p_trigger) - array['next_run_at', 'broken', 'last_run_at',
        'last_job_id', 'error', 'error_at', 'anchored_at', 'created_at', 'updated_at', 'tenant_id', 'id'] end;
end
$$;

-- FUNCTION trigger_job(postmill.trigger, jsonb, text, text, timestamp with time zone, text, text, timestamp with time zone, text, text, text, text, text)

CREATE FUNCTION postmill.trigger_job(p_trigger postmill.trigger, p_payload jsonb, p_hash text, p_key text, p_at timestamp with time zone, p_source text, p_source_ref text, p_scheduled_for timestamp with time zone, p_request_id text, p_correlation_id text, p_traceparent text, p_actor_type text DEFAULT 'system'::text, p_actor_id text DEFAULT NULL::text, OUT job_id uuid, OUT outcome text, OUT detail text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own uuid := postmill.new_id();
    span interval := make_interval(secs => p_trigger.dedupe_window_seconds);
    held postmill.trigger_recent;
    job_type text;
    suspended boolean;
    answer record;
begin
    select d.key, n.status = 'suspended' into job_type, suspended
      from postmill.job_definition d, postmill.tenant n where d.id = p_trigger.definition_id and n.id = p_trigger.tenant_id;
    if suspended then
        outcome := 'skipped';
        detail := 'the tenant is suspended';
        return;
    end if;
    begin
        if p_hash is not null and p_trigger.dedupe_window_seconds > 0 then
            insert into postmill.trigger_recent as r (trigger_id, hash, job_id, at, expires_at)
            values (p_trigger.id, p_hash, own, p_at, greatest(p_at, postmill.now()) + span)
            on conflict (trigger_id, hash) do update set at = r.at
            returning r.* into held;
            if held.job_id <> own and held.at > p_at - span and held.at < p_at + span then
                job_id := held.job_id;
                outcome := 'duplicate';
                detail := 'an equal payload within the dedupe window';
                return;
            end if;
        end if;
        if p_key is null then
            answer := postmill.enqueue_one(job_type, p_payload, p_trigger.tenant_id, p_scheduled_for => p_scheduled_for,
                p_source => p_source, p_source_ref => p_source_ref, p_actor_type => p_actor_type,
                p_actor_id => coalesce(p_actor_id, 'trigger:' || p_trigger.id),
                p_request_id => p_request_id, p_correlation_id => p_correlation_id, p_traceparent => p_traceparent,
                p_id => own);
        else
            answer := postmill.enqueue_keyed(p_key, null, null, job_type, p_payload, p_trigger.tenant_id,
                p_scheduled_for => p_scheduled_for, p_source => p_source, p_source_ref => p_source_ref,
                p_actor_type => p_actor_type, p_actor_id => coalesce(p_actor_id, 'trigger:' || p_trigger.id), p_request_id => p_request_id,
                p_correlation_id => p_correlation_id, p_traceparent => p_traceparent);
        end if;
        job_id := answer.id;
        case answer.status
            when 'created' then outcome := 'enqueued';
            when 'duplicate' then
                outcome := 'duplicate';
                detail := 'its idempotency key is held by another job';
            -- Of a tenant that moves: it fires where the tenant is then.
            when 'busy', 'serialization', 'moving', 'moved' then outcome := 'pending';
            else
                outcome := 'refused';
                detail := answer.status || coalesce(': ' || answer.detail, '');
        end case;
        if outcome in ('pending', 'refused') then
            -- The window must not speak of a job that never was.
            raise exception using errcode = 'PM001';
        elsif held.job_id is distinct from answer.id and held.trigger_id is not null then
            update postmill.trigger_recent r
               set job_id = answer.id, at = p_at, expires_at = greatest(p_at, postmill.now()) + span
             where r.trigger_id = p_trigger.id and r.hash = p_hash;
        end if;
    exception
        when sqlstate 'PM001' then
            job_id := null;
        when lock_not_available or deadlock_detected or serialization_failure then
            job_id := null;
            outcome := 'pending';
            detail := null;
    end;
end
$$;

-- FUNCTION type_paused(text)

CREATE FUNCTION postmill.type_paused(p_job_type text) RETURNS postmill.type_pause
    LANGUAGE plpgsql STABLE
    AS $$
declare
    found_one postmill.type_pause;
begin
    select p.* into found_one from postmill.type_pause p
     where p.job_type = p_job_type and p.ended_at is null
       and (p.resume_at is null or p.resume_at > (select postmill.now()));
    return found_one;
end
$$;

-- FUNCTION unarchived_tenants()

CREATE FUNCTION postmill.unarchived_tenants() RETURNS uuid[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (
    select coalesce(array_agg(r.tenant_id), '{}') from postmill.retention_rule r
     where r.tenant_id is not null and r.subject = 'archive' and r.keep = interval '0'
    );
end
$$;

-- FUNCTION unit_archived(uuid, text, jsonb)

CREATE FUNCTION postmill.unit_archived(p_id uuid, p_worker text, p_manifest jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    own postmill.archive_unit;
begin
    update postmill.archive_unit u
       set status = 'archived', archived_at = postmill.now(), manifest = p_manifest, claimed_by = null, claimed_until = null,
           error = null, rows = (p_manifest ->> 'rows')::bigint, bytes = (p_manifest ->> 'size')::bigint,
           min_id = (p_manifest ->> 'min_id')::uuid, max_id = (p_manifest ->> 'max_id')::uuid,
           tenants = coalesce(p_manifest -> 'tenants', '{}')
     where u.id = p_id and u.claimed_by = p_worker and u.status = 'waiting'
    returning u.* into own;
    if own.id is null then
        return false;
    end if;
    if own.relation is not null then
        execute format('drop table postmill.%I', own.relation);
    end if;
    delete from postmill.leaving l where l.unit_id = p_id;
    return true;
end
$$;

-- FUNCTION unit_changed(uuid, jsonb, text)

CREATE FUNCTION postmill.unit_changed(p_id uuid, p_manifest jsonb, p_why text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    old postmill.archive_unit;
begin
    select u.* into old from postmill.archive_unit u where u.id = p_id and u.status = 'archived' for update;
    if not found then
        return;
    end if;
    if p_manifest is null then
        update postmill.archive_unit u
           set status = 'deleted', deleted_at = postmill.now(), manifest = null, tenants = '{}', min_id = null, max_id = null
         where u.id = p_id;
    else
        update postmill.archive_unit u
           set manifest = p_manifest, rows = (p_manifest ->> 'rows')::bigint, bytes = (p_manifest ->> 'size')::bigint,
               min_id = (p_manifest ->> 'min_id')::uuid, max_id = (p_manifest ->> 'max_id')::uuid,
               tenants = coalesce(p_manifest -> 'tenants', '{}')
         where u.id = p_id;
    end if;
    perform postmill.audit(case when p_manifest is null then 'archive.delete' else 'archive.erase' end, 'archive_unit', p_id::text,
        null, jsonb_build_object('source', old.source, 'since', old.since, 'until', old.until, 'rows', old.rows, 'tenants', old.tenants),
        case when p_manifest is not null then jsonb_build_object('rows', p_manifest -> 'rows', 'tenants', p_manifest -> 'tenants') end,
        p_why);
end
$$;

-- FUNCTION unit_failed(uuid, text, text)

CREATE FUNCTION postmill.unit_failed(p_id uuid, p_worker text, p_error text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update postmill.archive_unit u
       set tries = u.tries + 1, error = left(p_error, 1000), claimed_by = null, claimed_until = null,
           next_try = postmill.now() + least(interval '10 seconds' * power(2, least(u.tries, 10)), interval '1 hour')
     where u.id = p_id and u.claimed_by = p_worker and u.status = 'waiting';
end
$$;

-- FUNCTION unit_page(uuid, bigint, integer)

CREATE FUNCTION postmill.unit_page(p_id uuid, p_from bigint, p_most integer) RETURNS TABLE(place bigint, tenant_id uuid, job_id uuid, at timestamp with time zone, fields text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET extra_float_digits TO '1'
    AS $_$
declare
    own postmill.archive_unit;
begin
    select u.* into own from postmill.archive_unit u where u.id = p_id;
    if own.relation is null then
        return query
        select l.n, l.tenant_id, l.job_id, l.at, l.fields from postmill.leaving l
         where l.unit_id = p_id and l.n >= p_from order by l.n limit p_most;
    else
        return query execute format($q$
            select null::bigint, t.tenant_id, t.%1$I, %2$s, %3$s from postmill.%4$I t
             where t.ctid >= $1 and t.ctid < $2 and t.tenant_id <> all ($3)$q$,
            case own.source when 'job' then 'id' else 'job_id' end,
            case own.source when 'job' then 'postmill.id_time(t.id)' else 't.finished_at' end,
            postmill.fields_of(own.columns, 't'), own.relation)
            using format('(%s,0)', p_from)::tid, format('(%s,0)', p_from + p_most)::tid, postmill.unarchived_tenants();
    end if;
end
$_$;

-- FUNCTION unpark_tickets(uuid)

CREATE FUNCTION postmill.unpark_tickets(p_tenant uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    back bigint;
    rung record;
begin
    with mine as materialized (
        select s.ctid as tid from postmill.scheduled s
         where s.run_at > timestamptz '2500-01-01 00:00+00'
           and (select j.tenant_id from postmill.any_job j where j.id = s.id limit 1) = p_tenant
         order by s.id for update
    ), gone as (
        delete from postmill.scheduled s where s.ctid = any (array(select m.tid from mine m)) returning s.*
    ), later as (
        insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select g.queue, g.lane, g.run_at - interval '1000 years', g.id, g.priority, g.attempt, g.run, g.lost
          from gone g where g.run_at < timestamptz '3500-01-01 00:00+00'
    ), due as (
        insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select g.queue, g.lane, g.priority, postmill.now(), g.id, g.attempt, g.run, g.lost
          from gone g where g.run_at >= timestamptz '3500-01-01 00:00+00'
         order by g.run_at, g.id
    )
    select count(*) into back from gone;
    for rung in select q.name from postmill.queue q loop
        perform postmill.ring(rung.name);
    end loop;
    return back;
end
$$;

-- FUNCTION version_run(uuid, text, timestamp with time zone)

CREATE FUNCTION postmill.version_run(p_holder uuid, p_job_type text, p_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql STABLE
    AS $_$
declare
    code text := (select w.metadata -> 'definitions' ->> p_job_type from postmill.worker w where w.holder = p_holder);
begin
    return (select coalesce((select max(v.version) from postmill.definition_version v
                              where v.definition_id = d.id and v.definition ->> 'fingerprint' = code and v.at <= p_at),
                            case when d.kind <> 'function' and code ~ '^[0-9]{1,9}$' then code::integer end)
              from postmill.job_definition d where d.key = p_job_type);
end
$_$;

-- FUNCTION wake(uuid, text[])

CREATE FUNCTION postmill.wake(p_holder uuid, p_queues text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    delete from postmill.sleeper s where s.holder = p_holder and s.queue = any (p_queues);
end
$$;

-- FUNCTION watch()

CREATE FUNCTION postmill.watch() RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    while postmill.count_dead_letters(5000) >= 5000 loop
    end loop;
    perform postmill.watch_exhausted();
    perform postmill.watch_slas();
    perform postmill.note_queues();
    perform postmill.watch_workers();
    perform postmill.watch_triggers();
    delete from postmill.incident_over o where o.at < (select postmill.now()) - interval '1 day';
    -- With their notifications and jobs.
    delete from postmill.incident i where i.id = any (array(
        select o.id from postmill.incident o
         where o.resolved_at < (select postmill.now()) - (select postmill.keep_of('incidents')) limit 1000));
end
$$;

-- FUNCTION watch_dead_letters(bigint, jsonb, jsonb)

CREATE FUNCTION postmill.watch_dead_letters(p_most bigint, p_queues jsonb, p_types jsonb) RETURNS TABLE(key text, verb text, open bigint)
    LANGUAGE plpgsql
    AS $$
declare
    one record;
    kept text[] := (select p.keep_reasons from postmill.partition_policy p);
begin
    for one in
        with counts as materialized (
            select t.queue, t.job_type, sum(t.opened - t.closed) as n,
                   sum(t.opened) filter (where t.moment >= (select postmill.now()) - interval '1 hour') as fresh
              from postmill.dead_tally t where t.reason <> all (kept) group by 1, 2
        ), watched as (
            select 'queue:' || c.queue as key, c.queue, null::text as job_type, sum(c.n)::bigint as n, sum(c.fresh) as fresh,
                   case when p_queues ? lower(c.queue) then (p_queues ->> lower(c.queue))::bigint else p_most end as most
              from counts c group by c.queue
            union all
            select 'type:' || c.job_type, null, c.job_type, sum(c.n)::bigint, sum(c.fresh), (p_types ->> c.job_type)::bigint
              from counts c where p_types ? c.job_type group by c.job_type
        )
        select coalesce(w.key, a.key) as key, w.queue, w.job_type, coalesce(w.n, 0) as n, coalesce(w.fresh, 0) as fresh, w.most,
               a.raised, a.key is not null as standing, coalesce(w.n > w.most, false) as above
          from watched w full join postmill.dead_alarm a on a.key = w.key
         where coalesce(w.n > w.most, false) or a.key is not null
    loop
        key := one.key;
        open := one.n;
        if one.above and (not one.standing or one.n >= one.raised * 1.5) then
            perform postmill.raise_incident('dead_letters', one.key, case when one.n > 10 * one.most then 'critical' else 'warning' end,
                format('%s open dead letters %s, more than %s', one.n,
                       coalesce('in queue ' || one.queue, 'of type ' || one.job_type), one.most),
                jsonb_build_object('open', one.n, 'most', one.most, 'given_up_in_the_last_hour', one.fresh, 'causes', (
                    select jsonb_agg(c.fact) from (
                        select jsonb_build_object('status', t.error_status, 'reason', t.reason,
                                                  'count', sum(t.opened - t.closed)) as fact
                          from postmill.dead_tally t
                         where t.queue = coalesce(one.queue, t.queue)
                           and (one.job_type is null or t.job_type = one.job_type) and t.reason <> all (kept)
                         group by t.error_status, t.reason having sum(t.opened - t.closed) > 0
                         order by sum(t.opened - t.closed) desc limit 5) c)),
                p_queue => one.queue, p_job_type => one.job_type);
            insert into postmill.dead_alarm as a (key, raised, raised_at) values (one.key, one.n, postmill.now())
            on conflict on constraint dead_alarm_pkey do update set raised = excluded.raised, raised_at = excluded.raised_at;
            verb := case when one.standing then 'grown' else 'raised' end;
            return next;
        elsif one.standing and not one.above then
            perform postmill.resolve_incident('dead_letters', one.key);
            delete from postmill.dead_alarm a where a.key = one.key;
            verb := 'resolved';
            return next;
        end if;
    end loop;
end
$$;

-- FUNCTION watch_exhausted()

CREATE FUNCTION postmill.watch_exhausted() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    one record;
begin
    for one in
        select i.id, i.kind, i.key, i.job_type, i.jobs, i.facts ->> 'group' as cause from postmill.incident i
         where i.kind in ('job_exhausted', 'budget') and i.resolved_at is null and i.jobs > 0
           and not exists (select from postmill.incident_job j join postmill.dead_letter d on d.id = j.job_id
                            where j.incident_id = i.id)
         order by i.key
    loop
        if one.jobs > 100 then
            insert into postmill.incident_job (incident_id, job_id, tenant_id, at)
            select one.id, d.id, d.tenant_id, d.failed_at from postmill.dead_letter d
             where coalesce(d.error_group, d.error_class, d.reason) = one.cause
               and exists (select from postmill.any_job b where b.id = d.id and b.job_type = one.job_type)
             limit 100 on conflict do nothing;
            continue when found;
        end if;
        perform postmill.resolve_incident(one.kind, one.key);
    end loop;
end
$$;

-- FUNCTION watch_live(uuid, double precision)

CREATE FUNCTION postmill.watch_live(p_server uuid, p_seconds double precision) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    moment constant timestamptz := postmill.now();
begin
    delete from postmill.live_watch w
     where w.server = any (array(select x.server from postmill.live_watch x
                                  where x.server = p_server and p_seconds <= 0 or x.valid_until < moment - interval '1 hour'
                                  order by x.server for update skip locked));
    if p_seconds > 0 then
        insert into postmill.live_watch as w (server, valid_until) values (p_server, moment + p_seconds * interval '1 second')
        on conflict (server) do update set valid_until = excluded.valid_until;
    end if;
end
$$;

-- FUNCTION watch_slas()

CREATE FUNCTION postmill.watch_slas() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    q record;
    keys text[] := '{}';
    why text;
begin
    perform postmill.measure_slas();
    for q in
        select a.*, u.sla_seconds, u.wait_target_seconds, u.run_target_seconds, u.owner, u.contact
          from postmill.attainment a join postmill.queue u on u.name = a.queue order by a.queue
    loop
        why := case when q.n >= 5 and q.total_p95 > q.sla_seconds then format('P95 of the total is %s, target %s', postmill.lasting(q.total_p95), postmill.lasting(q.sla_seconds))
                    when q.oldest_seconds > q.sla_seconds then format('the oldest job waits for %s, target %s', postmill.lasting(q.oldest_seconds), postmill.lasting(q.sla_seconds))
                    when q.n >= 5 and q.wait_p95 > q.wait_target_seconds then format('P95 of the wait is %s, target %s', postmill.lasting(q.wait_p95), postmill.lasting(q.wait_target_seconds))
                    when q.oldest_seconds > q.wait_target_seconds then format('the oldest job waits for %s, target of the wait %s', postmill.lasting(q.oldest_seconds), postmill.lasting(q.wait_target_seconds))
                    when q.n >= 5 and q.run_p95 > q.run_target_seconds then format('P95 of the run is %s, target %s', postmill.lasting(q.run_p95), postmill.lasting(q.run_target_seconds)) end;
        continue when why is null;
        keys := keys || q.queue;
        perform postmill.hold_incident('sla_breach', q.queue, 'warning', 'queue ' || q.queue || ' is late: ' || why,
            jsonb_strip_nulls(to_jsonb(q) - 'queue' - 'measured_at'), null, q.queue, null);
        insert into postmill.incident_part as t (incident_id, tenant_id, jobs, first_at, last_at)
        select i.id, r.tenant_id, max(r.n), postmill.now(), postmill.now()
          from postmill.incident i
          join (select x.tenant_id, round(sum(x.n) - sum(postmill.histogram_within(x.total_hist, q.sla_seconds)))::bigint as n
                  from postmill.rollups x
                 where x.queue = q.queue and x.total_hist is not null and x.minute > (select postmill.now()) - interval '10 minutes'
                 group by 1) r on r.n > 0
         where i.kind = 'sla_breach' and i.key = q.queue and i.resolved_at is null
         group by 1, 2
        on conflict (incident_id, tenant_id) do update set jobs = greatest(t.jobs, excluded.jobs), last_at = excluded.last_at;
    end loop;
    perform postmill.end_others('sla_breach', '', keys);
end
$$;

-- FUNCTION watch_triggers()

CREATE FUNCTION postmill.watch_triggers() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    one record;
    keys text[] := '{}';
begin
    for one in
        with late as (
            select t.id, 'is due since ' || to_char(t.next_run_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC' as why
              from postmill.trigger t
             where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken
               and t.next_run_at < moment - interval '2 minutes'
            union all
            select t.id, 'cannot run: ' || coalesce(t.error, 'its schedule is broken')
              from postmill.trigger t
             where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and (t.broken or t.error is not null)
            union all
            select k.trigger_id, format('left out %s tick%s', sum(k.ticks), case when sum(k.ticks) = 1 then '' else 's' end)
              from postmill.tick k
             where k.fired_at > moment - interval '15 minutes' and k.outcome = 'skipped' and k.detail like 'missed%'
             group by k.trigger_id
        )
        select t.id, t.tenant_id, t.label, d.key as job_type, d.queue, string_agg(l.why, '; ') as why
          from late l
          join postmill.trigger t on t.id = l.id
          join postmill.job_definition d on d.id = t.definition_id
         group by 1, 2, 3, 4, 5 order by t.id
    loop
        keys := keys || one.id::text;
        perform postmill.hold_incident('missed_trigger', one.id::text, 'warning', 'schedule ' || one.label || ' ' || left(one.why, 300),
            jsonb_build_object('trigger_id', one.id, 'label', one.label, 'why', one.why), one.tenant_id, one.queue, one.job_type);
    end loop;
    perform postmill.end_others('missed_trigger', '', keys);
end
$$;

-- FUNCTION watch_workers()

CREATE FUNCTION postmill.watch_workers() RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    found_some jsonb;
begin
    select jsonb_agg(jsonb_build_object('worker_id', w.worker_id, 'hostname', w.hostname, 'last_seen_at', w.last_seen_at,
                                        'queues', w.queues) order by w.last_seen_at)
      into found_some
      from postmill.worker w
     where w.last_seen_at > moment - interval '1 day' and (w.stopped_at is null or w.stopped_at = w.last_seen_at)
       and not exists (select from postmill.lease l where l.holder = w.holder and l.expires_at > moment)
       and not exists (select from postmill.worker v join postmill.lease l on l.holder = v.holder
                        where v.started_at > w.last_seen_at and v.queues && w.queues and l.expires_at > moment);
    if found_some is null then
        perform postmill.end_others('stale_workers', '', null);
        return;
    end if;
    perform postmill.hold_incident('stale_workers', 'fleet', 'critical',
        format('%s worker%s silent and not replaced', jsonb_array_length(found_some),
               case when jsonb_array_length(found_some) = 1 then ' is' else 's are' end),
        jsonb_build_object('workers', found_some), null, found_some -> 0 -> 'queues' ->> 0, null);
end
$$;

-- FUNCTION work_facts(uuid)

CREATE FUNCTION postmill.work_facts(p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
declare
    b postmill.job;
begin
    select j.* into b from postmill.job j where j.id = p_id;
    if not found then
        select k.* into b from postmill.job_kept k where k.id = p_id;
        if not found then
            return '{}';
        end if;
    end if;
    return jsonb_build_object('job_type', b.job_type, 'payload', b.payload::text, 'max_attempts', b.max_attempts,
        'timeout_seconds', b.timeout_seconds, 'expired', coalesce(b.expires_at <= postmill.now(), false),
        'created_at', b.created_at, 'project_id', b.project_id, 'actor_type', b.actor_type, 'actor_id', b.actor_id,
        'request_id', b.request_id, 'correlation_id', b.correlation_id, 'traceparent', b.traceparent,
        'idempotency_key', b.idempotency_key, 'scheduled_for', b.scheduled_for);
end
$$;

-- FUNCTION worker_report(uuid, double precision, boolean, boolean, jsonb)

CREATE FUNCTION postmill.worker_report(p_holder uuid, p_clock double precision, p_full boolean, p_draining boolean, p_report jsonb) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
    moment timestamptz := postmill.now();
    wanted text;
begin
    update postmill.worker w
       set skew_seconds = p_clock - extract(epoch from moment), report = p_report,
           -- Of queues whose slots follow their work.
           slots = w.slots || coalesce(p_report -> 'slots', '{}'),
           full_since = case when p_full then coalesce(w.full_since, moment) end,
           draining_since = case when p_draining then coalesce(w.draining_since, moment) end
     where w.holder = p_holder
    returning w.asked into wanted;
    return wanted;
end
$$;

-- FUNCTION write_tenant(uuid, jsonb)

CREATE FUNCTION postmill.write_tenant(p_id uuid, p_settings jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update postmill.tenant t
       set name = coalesce(p_settings ->> 'name', t.name), timezone = coalesce(p_settings ->> 'timezone', t.timezone),
           status = coalesce(p_settings ->> 'status', t.status), weight = coalesce((p_settings ->> 'weight')::integer, t.weight),
           max_running = case when p_settings ? 'max_running' then (p_settings ->> 'max_running')::integer else t.max_running end,
           raised_to = case when p_settings ? 'raised_to' then (p_settings ->> 'raised_to')::integer else t.raised_to end,
           raised_until = case when p_settings ? 'raised_until' then (p_settings ->> 'raised_until')::timestamptz
                               else t.raised_until end,
           retention = case when p_settings ? 'retention_seconds'
                            then (p_settings ->> 'retention_seconds')::double precision * interval '1 second' else t.retention end,
           updated_at = postmill.now()
     where t.id = p_id;
    if p_settings ? 'retention_seconds' then
        perform postmill.settle_retention();
    end if;
end
$$;

-- AGGREGATE histogram_sum(bigint[])

CREATE AGGREGATE postmill.histogram_sum(bigint[]) (
    SFUNC = postmill.histogram_plus,
    STYPE = bigint[]
);

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

-- TABLE api_key

CREATE TABLE postmill.api_key (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    hash bytea NOT NULL,
    prefix text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    tenant_id uuid,
    role postmill.role_name NOT NULL,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    created_by text,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revoked_by text,
    CONSTRAINT api_key_check CHECK (postmill.role_fits((role)::text, tenant_id)),
    CONSTRAINT api_key_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT api_key_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

-- TABLE archive_state

CREATE TABLE postmill.archive_state (
    only_row boolean DEFAULT true NOT NULL,
    required boolean DEFAULT false NOT NULL,
    operator boolean DEFAULT false NOT NULL,
    changed_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT archive_state_only_row_check CHECK (only_row)
);

-- TABLE archive_unit

CREATE TABLE postmill.archive_unit (
    id uuid NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    rule text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'waiting'::text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    relation text COLLATE pg_catalog."C",
    columns jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL,
    rows bigint,
    bytes bigint,
    min_id uuid,
    max_id uuid,
    tenants jsonb DEFAULT '{}'::jsonb NOT NULL,
    manifest jsonb,
    archived_at timestamp with time zone,
    deleted_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    error text,
    next_try timestamp with time zone NOT NULL,
    claimed_by text,
    claimed_until timestamp with time zone,
    CONSTRAINT archive_unit_rule_check CHECK ((rule = ANY (ARRAY['archive'::text, 'dead_letter'::text]))),
    CONSTRAINT archive_unit_source_check CHECK ((source = ANY (ARRAY['job'::text, 'attempt'::text, 'outcome'::text, 'dead_letter'::text, 'audit_log'::text]))),
    CONSTRAINT archive_unit_status_check CHECK ((status = ANY (ARRAY['filling'::text, 'waiting'::text, 'archived'::text, 'deleted'::text])))
);

-- TABLE artifact

CREATE TABLE postmill.artifact (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    job_id uuid,
    name text NOT NULL COLLATE pg_catalog."C",
    content_type text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    attempt integer,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    gone_at timestamp with time zone,
    CONSTRAINT artifact_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT artifact_size_check CHECK ((size >= 0))
);

-- VIEW artifacts

CREATE VIEW postmill.artifacts AS
 SELECT id,
    tenant_id,
    job_id,
    name,
    content_type,
    size,
    encode(sha256, 'hex'::text) AS sha256,
    attempt,
    created_at,
    expires_at
   FROM postmill.artifact a
  WHERE (gone_at IS NULL);

-- TABLE attainment

CREATE TABLE postmill.attainment (
    queue text NOT NULL COLLATE pg_catalog."C",
    measured_at timestamp with time zone NOT NULL,
    n bigint NOT NULL,
    total_p95 double precision,
    wait_p95 double precision,
    run_p95 double precision,
    oldest_seconds double precision,
    attained double precision,
    burn double precision,
    attained_day double precision,
    burn_day double precision
);

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
    error_group text COLLATE pg_catalog."C",
    stack text,
    stdout_tail text,
    stderr_tail text,
    CONSTRAINT attempt_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'timeout'::text, 'canceled'::text, 'lost'::text, 'snoozed'::text, 'interrupted'::text])))
)
PARTITION BY RANGE (finished_at);

-- TABLE audit_chain

CREATE TABLE postmill.audit_chain (
    n bigint NOT NULL,
    audit_id uuid NOT NULL,
    hash bytea NOT NULL,
    sealed_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT audit_chain_hash_check CHECK ((length(hash) = 32))
);

-- TABLE audit_horizon

CREATE TABLE postmill.audit_horizon (
    only_row boolean DEFAULT true NOT NULL,
    settled timestamp with time zone NOT NULL,
    at timestamp with time zone,
    open text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT audit_horizon_only_row_check CHECK (only_row)
)
WITH (fillfactor='50');

-- TABLE audit_start

CREATE TABLE postmill.audit_start (
    only_row boolean DEFAULT true NOT NULL,
    n bigint DEFAULT 0 NOT NULL,
    hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    CONSTRAINT audit_start_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT audit_start_only_row_check CHECK (only_row)
);

-- TABLE audit_unsealed

CREATE TABLE postmill.audit_unsealed (
    id uuid NOT NULL
);

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

-- TABLE boost

CREATE TABLE postmill.boost (
    job_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    lane uuid NOT NULL,
    from_priority integer NOT NULL,
    priority integer NOT NULL,
    ready_at timestamp with time zone NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone
)
WITH (fillfactor='80');

-- TABLE budget

CREATE TABLE postmill.budget (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    tenant_id uuid,
    period text DEFAULT 'month'::text NOT NULL COLLATE pg_catalog."C",
    timezone text COLLATE pg_catalog."C",
    unit text DEFAULT 'USD'::text NOT NULL COLLATE pg_catalog."C",
    limit_amount numeric NOT NULL,
    level_from numeric[] DEFAULT '{0,75,90,100}'::numeric[] NOT NULL,
    level_factor numeric[] DEFAULT '{1,0.5,0,0}'::numeric[] NOT NULL,
    level_action text[] DEFAULT '{run,run,defer,stop}'::text[] NOT NULL COLLATE pg_catalog."C",
    alert_at numeric[] DEFAULT '{75,80,90,100}'::numeric[] NOT NULL,
    alert_severity text[] DEFAULT '{info,info,warning,critical}'::text[] NOT NULL COLLATE pg_catalog."C",
    declared jsonb,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT budget_check CHECK ((cardinality(alert_at) = cardinality(alert_severity))),
    CONSTRAINT budget_level_action_check CHECK ((cardinality(level_action) = 4)),
    CONSTRAINT budget_level_factor_check CHECK ((cardinality(level_factor) = 4)),
    CONSTRAINT budget_level_from_check CHECK ((cardinality(level_from) = 4)),
    CONSTRAINT budget_limit_amount_check CHECK (((limit_amount >= (0)::numeric) AND (limit_amount <= ('1000000000000'::bigint)::numeric))),
    CONSTRAINT budget_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
    CONSTRAINT budget_period_check CHECK ((period = ANY (ARRAY['month'::text, 'day'::text]))),
    CONSTRAINT budget_unit_check CHECK (((length(unit) >= 1) AND (length(unit) <= 16)))
);

-- TABLE budget_alert

CREATE TABLE postmill.budget_alert (
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    percent numeric NOT NULL,
    crossed_at timestamp with time zone NOT NULL,
    tenant_id uuid,
    severity text CONSTRAINT budget_alert_severity_not_null1 NOT NULL COLLATE pg_catalog."C",
    limit_amount numeric NOT NULL,
    spent numeric NOT NULL,
    told_at timestamp with time zone,
    resolved_at timestamp with time zone
);

-- TABLE budget_balance

CREATE TABLE postmill.budget_balance (
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    seq bigint NOT NULL,
    tenant_id uuid,
    spent numeric NOT NULL,
    reserved numeric NOT NULL,
    calls bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0');

-- TABLE budget_line

CREATE TABLE postmill.budget_line (
    id uuid NOT NULL,
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    amount numeric NOT NULL,
    tokens_in bigint DEFAULT 0 NOT NULL,
    tokens_out bigint DEFAULT 0 NOT NULL,
    tenant_id uuid,
    reservation_id uuid,
    job_id uuid,
    attempt integer,
    job_type text COLLATE pg_catalog."C",
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    reason text,
    CONSTRAINT budget_line_amount_check CHECK (((amount >= ('-1000000000000'::bigint)::numeric) AND (amount <= ('1000000000000'::bigint)::numeric))),
    CONSTRAINT budget_line_kind_check CHECK ((kind = ANY (ARRAY['spend'::text, 'estimate'::text, 'adjust'::text, 'correct'::text])))
);

-- TABLE budget_request

CREATE TABLE postmill.budget_request (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    tenant_id uuid NOT NULL,
    budget_id uuid NOT NULL,
    limit_amount numeric NOT NULL,
    until timestamp with time zone,
    reason text NOT NULL,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    status text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    decided_at timestamp with time zone,
    decided_by text,
    answer text,
    CONSTRAINT budget_request_limit_amount_check CHECK (((limit_amount >= (0)::numeric) AND (limit_amount <= ('1000000000000'::bigint)::numeric))),
    CONSTRAINT budget_request_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 2000))),
    CONSTRAINT budget_request_status_check CHECK ((status = ANY (ARRAY['open'::text, 'granted'::text, 'declined'::text])))
);

-- TABLE budget_reservation

CREATE TABLE postmill.budget_reservation (
    id uuid NOT NULL,
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    tenant_id uuid NOT NULL,
    amount numeric NOT NULL,
    started boolean NOT NULL,
    job_id uuid NOT NULL,
    holder uuid NOT NULL,
    claim_no bigint NOT NULL,
    attempt integer NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    state text DEFAULT 'held'::text NOT NULL COLLATE pg_catalog."C",
    reserved_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT budget_reservation_amount_check CHECK (((amount >= (0)::numeric) AND (amount <= ('1000000000000'::bigint)::numeric))),
    CONSTRAINT budget_reservation_state_check CHECK ((state = ANY (ARRAY['held'::text, 'spent'::text, 'estimated'::text, 'released'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

-- TABLE cancel_request

CREATE TABLE postmill.cancel_request (
    job_id uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    reason text
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE cell_tenant

CREATE TABLE postmill.cell_tenant (
    tenant_id uuid NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    cell text NOT NULL COLLATE pg_catalog."C",
    changed_at timestamp with time zone NOT NULL
);

-- TABLE channel_state

CREATE TABLE postmill.channel_state (
    channel text NOT NULL COLLATE pg_catalog."C",
    next_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    last_sent_at timestamp with time zone,
    last_error text
);

-- TABLE console_session

CREATE TABLE postmill.console_session (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    hash bytea NOT NULL,
    actor_id text NOT NULL,
    tenant_id uuid,
    role postmill.role_name NOT NULL,
    api_key_id uuid,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT console_session_check CHECK (postmill.role_fits((role)::text, tenant_id)),
    CONSTRAINT console_session_hash_check CHECK ((length(hash) = 32))
);

-- TABLE dead_alarm

CREATE TABLE postmill.dead_alarm (
    key text NOT NULL COLLATE pg_catalog."C",
    raised bigint NOT NULL,
    raised_at timestamp with time zone NOT NULL
);

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
    error_group text COLLATE pg_catalog."C",
    stack text,
    attempts integer NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    last_attempt_at timestamp with time zone,
    job_type text COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE dead_news

CREATE TABLE postmill.dead_news (
    job_id uuid NOT NULL
);

-- TABLE dead_tally

CREATE TABLE postmill.dead_tally (
    tenant_id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    job_type text COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    error_status integer,
    error_group text COLLATE pg_catalog."C",
    moment timestamp with time zone,
    opened bigint NOT NULL,
    closed bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0');

-- TABLE definition_version

CREATE TABLE postmill.definition_version (
    definition_id uuid NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    via text NOT NULL COLLATE pg_catalog."C",
    definition jsonb NOT NULL
);

-- TABLE error_group_minute

CREATE TABLE postmill.error_group_minute (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id uuid NOT NULL,
    minute timestamp with time zone NOT NULL,
    n bigint NOT NULL,
    hourly boolean DEFAULT false NOT NULL
);

-- TABLE error_group_note

CREATE TABLE postmill.error_group_note (
    note_id uuid DEFAULT postmill.new_id() NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    text text NOT NULL,
    CONSTRAINT error_group_note_text_check CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
);

-- TABLE error_group_part

CREATE TABLE postmill.error_group_part (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id uuid NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    error_class text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL,
    frame text NOT NULL,
    error_code text,
    error_status integer,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    n bigint NOT NULL,
    job_id uuid,
    version integer
);

-- TABLE error_group_tenant

CREATE TABLE postmill.error_group_tenant (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id uuid NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    count bigint NOT NULL,
    sample_job uuid
);

-- TABLE event

CREATE TABLE postmill.event (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    context jsonb NOT NULL,
    published_at timestamp with time zone NOT NULL,
    actor_type postmill.actor_type DEFAULT 'system'::text NOT NULL,
    actor_id text,
    request_id text,
    correlation_id text NOT NULL,
    traceparent text
);

-- TABLE event_delivery

CREATE TABLE postmill.event_delivery (
    event_id uuid NOT NULL,
    trigger_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    outcome text DEFAULT 'pending'::text NOT NULL COLLATE pg_catalog."C",
    detail text,
    job_id uuid,
    due_at timestamp with time zone,
    decided_at timestamp with time zone,
    CONSTRAINT event_delivery_outcome_check CHECK ((outcome = ANY (ARRAY['pending'::text, 'enqueued'::text, 'duplicate'::text, 'skipped'::text, 'failed'::text, 'refused'::text])))
)
WITH (fillfactor='80');

-- VIEW event_deliveries

CREATE VIEW postmill.event_deliveries AS
 SELECT y.event_id,
    y.trigger_id,
    t.label AS trigger_label,
    y.tenant_id,
    y.outcome,
    y.detail,
    y.job_id,
    y.decided_at
   FROM (postmill.event_delivery y
     JOIN postmill.trigger t ON ((t.id = y.trigger_id)));

-- VIEW events

CREATE VIEW postmill.events AS
 SELECT id,
    tenant_id,
    name,
    context,
    published_at,
    (actor_type)::text AS actor_type,
    actor_id,
    request_id,
    correlation_id,
    traceparent
   FROM postmill.event e;

-- TABLE rollup_hour

CREATE TABLE postmill.rollup_hour (
    hour timestamp with time zone NOT NULL,
    tenant_id uuid,
    queue text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    wait_sum double precision DEFAULT 0 NOT NULL,
    run_sum double precision DEFAULT 0 NOT NULL,
    total_sum double precision DEFAULT 0 NOT NULL,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[]
);

-- TABLE rollup_part

CREATE TABLE postmill.rollup_part (
    minute timestamp with time zone CONSTRAINT rollup_minute_not_null NOT NULL,
    tenant_id uuid CONSTRAINT rollup_tenant_id_not_null NOT NULL,
    queue text CONSTRAINT rollup_queue_not_null NOT NULL COLLATE pg_catalog."C",
    job_type text CONSTRAINT rollup_job_type_not_null NOT NULL COLLATE pg_catalog."C",
    outcome text CONSTRAINT rollup_outcome_not_null NOT NULL COLLATE pg_catalog."C",
    n bigint CONSTRAINT rollup_n_not_null NOT NULL,
    wait_sum double precision DEFAULT 0 CONSTRAINT rollup_wait_sum_not_null NOT NULL,
    run_sum double precision DEFAULT 0 CONSTRAINT rollup_run_sum_not_null NOT NULL,
    total_sum double precision DEFAULT 0 CONSTRAINT rollup_total_sum_not_null NOT NULL,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[]
);

-- VIEW fleet_rollup_hours

CREATE VIEW postmill.fleet_rollup_hours WITH (security_barrier='true') AS
 SELECT tenant_id,
    minute,
    queue,
    job_type,
    outcome,
    n,
    wait_sum,
    run_sum,
    total_sum,
    wait_hist,
    run_hist,
    total_hist
   FROM ( SELECT NULL::uuid AS tenant_id,
            h.hour AS minute,
            h.queue,
            h.job_type,
            h.outcome,
            h.n,
            h.wait_sum,
            h.run_sum,
            h.total_sum,
            h.wait_hist,
            h.run_hist,
            h.total_hist
           FROM postmill.rollup_hour h
          WHERE (h.tenant_id IS NULL)
        UNION ALL
         SELECT NULL::uuid,
            date_bin('01:00:00'::interval, p.minute, '2000-01-01 00:00:00+00'::timestamp with time zone) AS date_bin,
            p.queue,
            p.job_type,
            p.outcome,
            p.n,
            p.wait_sum,
            p.run_sum,
            p.total_sum,
            p.wait_hist,
            p.run_hist,
            p.total_hist
           FROM postmill.rollup_part p) r
  WHERE ( SELECT postmill.sees_all() AS sees_all);

-- TABLE rollup_fleet

CREATE TABLE postmill.rollup_fleet (
    minute timestamp with time zone NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    wait_sum double precision DEFAULT 0 NOT NULL,
    run_sum double precision DEFAULT 0 NOT NULL,
    total_sum double precision DEFAULT 0 NOT NULL,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[]
);

-- VIEW fleet_rollups

CREATE VIEW postmill.fleet_rollups WITH (security_barrier='true') AS
 SELECT tenant_id,
    minute,
    queue,
    job_type,
    outcome,
    n,
    wait_sum,
    run_sum,
    total_sum,
    wait_hist,
    run_hist,
    total_hist
   FROM ( SELECT NULL::uuid AS tenant_id,
            f.minute,
            f.queue,
            f.job_type,
            f.outcome,
            f.n,
            f.wait_sum,
            f.run_sum,
            f.total_sum,
            f.wait_hist,
            f.run_hist,
            f.total_hist
           FROM postmill.rollup_fleet f
        UNION ALL
         SELECT NULL::uuid,
            p.minute,
            p.queue,
            p.job_type,
            p.outcome,
            p.n,
            p.wait_sum,
            p.run_sum,
            p.total_sum,
            p.wait_hist,
            p.run_hist,
            p.total_hist
           FROM postmill.rollup_part p) r
  WHERE ( SELECT postmill.sees_all() AS sees_all);

-- TABLE forgotten

CREATE TABLE postmill.forgotten (
    made timestamp with time zone NOT NULL,
    tenant_id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL
);

-- TABLE http_answer

CREATE TABLE postmill.http_answer (
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    request_hash bytea NOT NULL,
    status integer NOT NULL,
    content_type text,
    location text,
    body bytea,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT http_answer_request_hash_check CHECK ((length(request_hash) = 32))
);

-- TABLE http_claim

CREATE TABLE postmill.http_claim (
    job_id uuid NOT NULL,
    claim_no bigint NOT NULL,
    holder uuid NOT NULL,
    tenant_id uuid NOT NULL,
    job_type text NOT NULL COLLATE pg_catalog."C",
    ready_at timestamp with time zone NOT NULL,
    lease_seconds double precision NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    deadline timestamp with time zone,
    ended_at timestamp with time zone,
    verb text COLLATE pg_catalog."C",
    answer jsonb
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');

-- SEQUENCE http_claim_no

CREATE SEQUENCE postmill.http_claim_no
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- TABLE http_session

CREATE TABLE postmill.http_session (
    holder uuid NOT NULL,
    tenant_id uuid,
    worker_id text NOT NULL COLLATE pg_catalog."C"
);

-- TABLE idempotency_key

CREATE TABLE postmill.idempotency_key (
    tenant_id uuid NOT NULL,
    project_id uuid NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    job_id uuid NOT NULL,
    mode text NOT NULL COLLATE pg_catalog."C",
    content text COLLATE pg_catalog."C",
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_insert_scale_factor='1', fillfactor='90');

-- TABLE incident

CREATE TABLE postmill.incident (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    severity postmill.severity NOT NULL,
    title text NOT NULL,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL,
    tenant_id uuid,
    queue text COLLATE pg_catalog."C",
    job_type text COLLATE pg_catalog."C",
    count bigint DEFAULT 1 NOT NULL,
    jobs bigint DEFAULT 0 NOT NULL,
    reopened integer DEFAULT 0 NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    acknowledged_at timestamp with time zone,
    acknowledged_by text,
    resolved_at timestamp with time zone,
    resolved_by text,
    note text,
    cycle integer DEFAULT 1 NOT NULL,
    cycle_at timestamp with time zone NOT NULL,
    step integer DEFAULT 0 NOT NULL,
    escalate_at timestamp with time zone,
    CONSTRAINT incident_key_check CHECK (((length(key) >= 1) AND (length(key) <= 500))),
    CONSTRAINT incident_kind_check CHECK ((kind = ANY (ARRAY['sla_breach'::text, 'job_exhausted'::text, 'dead_letters'::text, 'stale_workers'::text, 'missed_trigger'::text, 'budget'::text, 'notification'::text])))
);

-- TABLE incident_job

CREATE TABLE postmill.incident_job (
    incident_id uuid NOT NULL,
    job_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);

-- TABLE incident_over

CREATE TABLE postmill.incident_over (
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL
);

-- TABLE incident_part

CREATE TABLE postmill.incident_part (
    incident_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    jobs bigint DEFAULT 0 NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
);

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
    error_group text COLLATE pg_catalog."C",
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
    build text,
    queues text[] DEFAULT '{}'::text[] NOT NULL,
    slots jsonb DEFAULT '{}'::jsonb NOT NULL,
    job_types text[] DEFAULT '{}'::text[] NOT NULL,
    started_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    draining boolean DEFAULT false NOT NULL,
    running_count integer DEFAULT 0 NOT NULL,
    counted_batch bigint DEFAULT 0 NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    asked text COLLATE pg_catalog."C",
    asked_at timestamp with time zone,
    asked_by text,
    asked_reason text,
    draining_since timestamp with time zone,
    full_since timestamp with time zone,
    skew_seconds double precision,
    report jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT worker_asked_check CHECK ((asked = ANY (ARRAY['drain'::text, 'resume'::text, 'stop'::text]))),
    CONSTRAINT worker_build_check CHECK (((length(build) >= 1) AND (length(build) <= 100)))
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
           FROM (postmill.running r
             JOIN postmill.any_job j ON ((j.id = r.id)))) h
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
    idempotency_content text[] COLLATE pg_catalog."C",
    keep text DEFAULT 'all'::text NOT NULL COLLATE pg_catalog."C",
    lane text DEFAULT 'tenant'::text NOT NULL COLLATE pg_catalog."C",
    worker_limit integer,
    aliases text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    is_active boolean DEFAULT true NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    edited text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    argv_template jsonb,
    env_allow text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    budget text COLLATE pg_catalog."C",
    replay_class text DEFAULT 'safe'::text NOT NULL COLLATE pg_catalog."C",
    category text COLLATE pg_catalog."C",
    strict_envelope boolean DEFAULT false NOT NULL,
    secrets text DEFAULT 'redact'::text NOT NULL COLLATE pg_catalog."C",
    secret_keys text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    encrypted boolean DEFAULT false NOT NULL,
    action text DEFAULT ''::text NOT NULL,
    escalation_fields text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    log_fields text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    guarded boolean DEFAULT false NOT NULL,
    fingerprint text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT job_definition_argv_template_check CHECK ((jsonb_typeof(argv_template) = 'array'::text)),
    CONSTRAINT job_definition_category_check CHECK ((category = ANY (ARRAY['notifications'::text, 'audit'::text, 'planning'::text, 'exports'::text, 'imports'::text, 'maintenance'::text]))),
    CONSTRAINT job_definition_check CHECK (((kind = 'command'::text) = (argv_template IS NOT NULL))),
    CONSTRAINT job_definition_idempotency_check CHECK ((idempotency = ANY (ARRAY['active'::text, 'queued'::text, 'window'::text, 'ttl'::text]))),
    CONSTRAINT job_definition_idempotency_content_check CHECK ((cardinality(idempotency_content) > 0)),
    CONSTRAINT job_definition_keep_check CHECK ((keep = ANY (ARRAY['all'::text, 'failures'::text]))),
    CONSTRAINT job_definition_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT job_definition_kind_check CHECK ((kind = ANY (ARRAY['function'::text, 'command'::text, 'http'::text]))),
    CONSTRAINT job_definition_max_attempts_check CHECK ((max_attempts > 0)),
    CONSTRAINT job_definition_max_lost_check CHECK ((max_lost > 0)),
    CONSTRAINT job_definition_on_exhausted_check CHECK ((on_exhausted = ANY (ARRAY['dead_letter'::text, 'fail'::text]))),
    CONSTRAINT job_definition_replay_class_check CHECK ((replay_class = ANY (ARRAY['safe'::text, 'ask'::text, 'never'::text]))),
    CONSTRAINT job_definition_secrets_check CHECK ((secrets = ANY (ARRAY['redact'::text, 'refuse'::text]))),
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

-- TABLE job_tag

CREATE TABLE postmill.job_tag (
    job_id uuid NOT NULL,
    tag text NOT NULL COLLATE pg_catalog."C",
    tenant_id uuid NOT NULL
);

-- VIEW job_triggers

CREATE VIEW postmill.job_triggers AS
 SELECT t.id,
    t.tenant_id,
    t.label,
    t.is_enabled,
    t.trigger_type,
    t.event_name,
    t.cron_expr,
    t.timezone,
    t.definition_id,
    t.payload_template,
    t.dedupe_window_seconds,
    t.created_by,
    t.created_at,
    t.updated_at,
    d.key AS definition_key,
    (EXTRACT(epoch FROM t.every))::double precision AS every_seconds,
    t.missed,
    t.missed_limit,
    t.overlap,
    t.dst,
    t.jitter_seconds,
    t.origin,
    t.declared_in,
    t.next_run_at,
    t.broken,
    t.anchored_at,
    t.last_run_at,
    t.last_job_id,
    t.error,
    t.error_at
   FROM (postmill.trigger t
     JOIN postmill.job_definition d ON ((d.id = t.definition_id)))
  WHERE (t.deleted_at IS NULL);

-- VIEW job_workers

CREATE VIEW postmill.job_workers WITH (security_barrier='true') AS
 SELECT worker_id,
    hostname,
    version,
    queues,
    last_seen_at,
    running_count,
    (metadata || jsonb_build_object('pid', pid, 'slots', slots, 'started_at', started_at, 'stopped_at', stopped_at, 'draining', draining)) AS metadata
   FROM postmill.worker w
  WHERE ( SELECT postmill.sees_all() AS sees_all);

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

-- TABLE leaving

CREATE TABLE postmill.leaving (
    unit_id uuid NOT NULL,
    n bigint NOT NULL,
    tenant_id uuid,
    job_id uuid,
    at timestamp with time zone NOT NULL,
    fields text[] NOT NULL
);

-- SEQUENCE leaving_n_seq

ALTER TABLE postmill.leaving ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postmill.leaving_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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

-- TABLE live_watch

CREATE TABLE postmill.live_watch (
    server uuid NOT NULL,
    valid_until timestamp with time zone NOT NULL
);

-- TABLE login_link

CREATE TABLE postmill.login_link (
    hash bytea NOT NULL,
    actor_id text NOT NULL,
    tenant_id uuid,
    role postmill.role_name NOT NULL,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT login_link_check CHECK (postmill.role_fits((role)::text, tenant_id)),
    CONSTRAINT login_link_hash_check CHECK ((length(hash) = 32))
);

-- TABLE migration

CREATE TABLE postmill.migration (
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    breaking boolean NOT NULL,
    checksum text NOT NULL COLLATE pg_catalog."C",
    applied_at timestamp with time zone NOT NULL
);

-- TABLE notification

CREATE TABLE postmill.notification (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    incident_id uuid NOT NULL,
    tenant_id uuid,
    cycle integer NOT NULL,
    step integer NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    instead_of text COLLATE pg_catalog."C",
    status text DEFAULT 'pending'::text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    sent_at timestamp with time zone,
    error text,
    CONSTRAINT notification_event_check CHECK ((event = ANY (ARRAY['trigger'::text, 'acknowledge'::text, 'resolve'::text]))),
    CONSTRAINT notification_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sent'::text, 'moved'::text, 'failed'::text])))
);

-- TABLE operation_item

CREATE TABLE postmill.operation_item (
    operation_id uuid NOT NULL,
    n integer NOT NULL,
    turn integer DEFAULT 0 NOT NULL,
    job_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    status text COLLATE pg_catalog."C",
    new_id uuid,
    detail text,
    tries integer DEFAULT 0 NOT NULL,
    print bigint,
    key_print bigint,
    twins uuid[],
    at timestamp with time zone
);

-- TABLE operation_share

CREATE TABLE postmill.operation_share (
    operation_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    n integer NOT NULL
);

-- TABLE partition_horizon

CREATE TABLE postmill.partition_horizon (
    only_row boolean DEFAULT true NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    gated boolean DEFAULT false NOT NULL,
    CONSTRAINT partition_horizon_only_row_check CHECK (only_row)
)
WITH (fillfactor='50');

-- TABLE partition_policy

CREATE TABLE postmill.partition_policy (
    only_row boolean DEFAULT true NOT NULL,
    width interval DEFAULT '7 days'::interval NOT NULL,
    ahead interval DEFAULT '28 days'::interval NOT NULL,
    retention interval DEFAULT '30 days'::interval NOT NULL,
    keep_reasons text[] DEFAULT '{subject_deleted}'::text[] NOT NULL COLLATE pg_catalog."C",
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

-- TABLE project

CREATE TABLE postmill.project (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    tenant_id uuid NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT project_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 100)))
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
    owner text,
    contact text,
    color text,
    sla_seconds double precision,
    wait_target_seconds double precision,
    run_target_seconds double precision,
    escalation text,
    runbook text,
    boost_after_seconds double precision,
    boost_step integer,
    boost_to integer,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT queue_boost_after_seconds_check CHECK ((boost_after_seconds > (0)::double precision)),
    CONSTRAINT queue_boost_step_check CHECK ((boost_step > 0)),
    CONSTRAINT queue_check CHECK ((num_nulls(boost_after_seconds, boost_step, boost_to) = ANY (ARRAY[0, 3]))),
    CONSTRAINT queue_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT queue_run_target_seconds_check CHECK ((run_target_seconds > (0)::double precision)),
    CONSTRAINT queue_sla_seconds_check CHECK ((sla_seconds > (0)::double precision)),
    CONSTRAINT queue_wait_target_seconds_check CHECK ((wait_target_seconds > (0)::double precision))
);

-- TABLE queue_minute

CREATE TABLE postmill.queue_minute (
    queue text NOT NULL COLLATE pg_catalog."C",
    minute timestamp with time zone NOT NULL,
    arrived bigint DEFAULT 0 NOT NULL,
    ended bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    run_seconds double precision DEFAULT 0 NOT NULL,
    judged bigint DEFAULT 0 NOT NULL,
    late bigint DEFAULT 0 NOT NULL,
    wait_hist bigint[],
    run_hist bigint[],
    queued bigint DEFAULT 0 NOT NULL,
    running bigint DEFAULT 0 NOT NULL,
    slots bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');

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

-- TABLE recovery

CREATE TABLE postmill.recovery (
    rule text NOT NULL COLLATE pg_catalog."C",
    job_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    root uuid NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    new_id uuid,
    at timestamp with time zone NOT NULL
);

-- TABLE recovery_rule

CREATE TABLE postmill.recovery_rule (
    name text NOT NULL COLLATE pg_catalog."C",
    rule jsonb NOT NULL,
    looked_at timestamp with time zone DEFAULT '2000-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    looked_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    last_run_at timestamp with time zone,
    replayed bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL
);

-- TABLE retention_progress

CREATE TABLE postmill.retention_progress (
    tenant_id uuid,
    subject text NOT NULL COLLATE pg_catalog."C",
    until timestamp with time zone NOT NULL,
    width interval NOT NULL
);

-- TABLE retention_rule

CREATE TABLE postmill.retention_rule (
    tenant_id uuid,
    subject postmill.retention_subject NOT NULL,
    source text DEFAULT 'operator'::text NOT NULL COLLATE pg_catalog."C",
    keep interval,
    changed_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT retention_rule_check CHECK (((tenant_id IS NULL) OR (source = 'operator'::text))),
    CONSTRAINT retention_rule_keep_check CHECK ((keep >= '00:00:00'::interval)),
    CONSTRAINT retention_rule_source_check CHECK ((source = ANY (ARRAY['operator'::text, 'settings'::text])))
);

-- TABLE rollup

CREATE TABLE postmill.rollup (
    minute timestamp with time zone NOT NULL,
    tenant_id uuid NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    job_type text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    wait_sum double precision DEFAULT 0 NOT NULL,
    run_sum double precision DEFAULT 0 NOT NULL,
    total_sum double precision DEFAULT 0 NOT NULL,
    wait_hist bigint[],
    run_hist bigint[],
    total_hist bigint[],
    CONSTRAINT rollup_outcome_check CHECK ((outcome = ANY (ARRAY['enqueued'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text, 'dead_letter'::text, 'retried'::text, 'lost'::text, 'snoozed'::text, 'interrupted'::text, 'discarded'::text, 'replayed'::text])))
);

-- VIEW rollup_hours

CREATE VIEW postmill.rollup_hours WITH (security_barrier='true') AS
 SELECT h.hour AS minute,
    h.tenant_id,
    h.queue,
    h.job_type,
    h.outcome,
    h.n,
    h.wait_sum,
    h.run_sum,
    h.total_sum,
    h.wait_hist,
    h.run_hist,
    h.total_hist
   FROM postmill.rollup_hour h
  WHERE (h.tenant_id IS NOT NULL)
UNION ALL
 SELECT date_bin('01:00:00'::interval, p.minute, '2000-01-01 00:00:00+00'::timestamp with time zone) AS minute,
    p.tenant_id,
    p.queue,
    p.job_type,
    p.outcome,
    p.n,
    p.wait_sum,
    p.run_sum,
    p.total_sum,
    p.wait_hist,
    p.run_hist,
    p.total_hist
   FROM postmill.rollup_part p;

-- TABLE rollup_state

CREATE TABLE postmill.rollup_state (
    only_row boolean DEFAULT true NOT NULL,
    counted_to timestamp with time zone NOT NULL,
    final_to timestamp with time zone NOT NULL,
    marker xid8,
    marker_to timestamp with time zone,
    coarse_to timestamp with time zone NOT NULL,
    CONSTRAINT rollup_state_only_row_check CHECK (only_row)
);

-- TABLE rollup_total

CREATE TABLE postmill.rollup_total (
    job_type text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL
);

-- VIEW rollups

CREATE VIEW postmill.rollups WITH (security_barrier='true') AS
 SELECT rollup.minute,
    rollup.tenant_id,
    rollup.queue,
    rollup.job_type,
    rollup.outcome,
    rollup.n,
    rollup.wait_sum,
    rollup.run_sum,
    rollup.total_sum,
    rollup.wait_hist,
    rollup.run_hist,
    rollup.total_hist
   FROM postmill.rollup
UNION ALL
 SELECT rollup_part.minute,
    rollup_part.tenant_id,
    rollup_part.queue,
    rollup_part.job_type,
    rollup_part.outcome,
    rollup_part.n,
    rollup_part.wait_sum,
    rollup_part.run_sum,
    rollup_part.total_sum,
    rollup_part.wait_hist,
    rollup_part.run_hist,
    rollup_part.total_hist
   FROM postmill.rollup_part;

-- TABLE saved_view

CREATE TABLE postmill.saved_view (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    tenant_id uuid,
    page text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    query text NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT saved_view_name_check CHECK (((length(name) >= 1) AND (length(name) <= 80))),
    CONSTRAINT saved_view_page_check CHECK (((length(page) >= 1) AND (length(page) <= 40))),
    CONSTRAINT saved_view_query_check CHECK ((length(query) <= 2000))
);

-- TABLE tick

CREATE TABLE postmill.tick (
    trigger_id uuid NOT NULL,
    due timestamp with time zone NOT NULL,
    tenant_id uuid NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    detail text,
    job_id uuid,
    fired_at timestamp with time zone NOT NULL,
    last_due timestamp with time zone,
    ticks integer DEFAULT 1 NOT NULL,
    CONSTRAINT tick_outcome_check CHECK ((outcome = ANY (ARRAY['enqueued'::text, 'duplicate'::text, 'skipped'::text, 'failed'::text, 'refused'::text])))
);

-- VIEW schedule_ticks

CREATE VIEW postmill.schedule_ticks AS
 SELECT trigger_id,
    due,
    tenant_id,
    outcome,
    detail,
    job_id,
    fired_at,
    last_due,
    ticks
   FROM postmill.tick k;

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
    max_running integer,
    raised_to integer,
    raised_until timestamp with time zone,
    retention interval,
    updated_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT tenant_check CHECK (((raised_to IS NULL) = (raised_until IS NULL))),
    CONSTRAINT tenant_max_running_check CHECK ((max_running > 0)),
    CONSTRAINT tenant_raised_to_check CHECK ((raised_to > 0)),
    CONSTRAINT tenant_retention_check CHECK ((retention > '00:00:00'::interval)),
    CONSTRAINT tenant_status_check CHECK ((status = ANY (ARRAY['active'::text, 'throttled'::text, 'suspended'::text]))),
    CONSTRAINT tenant_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);

-- TABLE tenant_gate

CREATE TABLE postmill.tenant_gate (
    tenant_id uuid NOT NULL,
    stage text NOT NULL COLLATE pg_catalog."C",
    cell text NOT NULL COLLATE pg_catalog."C",
    move_id uuid NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT tenant_gate_stage_check CHECK ((stage = ANY (ARRAY['leaving'::text, 'draining'::text, 'closed'::text, 'arriving'::text, 'gone'::text])))
);

-- TABLE tenant_move

CREATE TABLE postmill.tenant_move (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    from_cell text NOT NULL COLLATE pg_catalog."C",
    to_cell text NOT NULL COLLATE pg_catalog."C",
    step text DEFAULT 'prepare'::text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'running'::text NOT NULL COLLATE pg_catalog."C",
    note text,
    carried jsonb DEFAULT '{}'::jsonb NOT NULL,
    copied_until timestamp with time zone,
    closed_at timestamp with time zone,
    opened_at timestamp with time zone,
    reason text,
    actor_type text NOT NULL COLLATE pg_catalog."C",
    actor_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT tenant_move_check CHECK ((from_cell <> to_cell)),
    CONSTRAINT tenant_move_status_check CHECK ((status = ANY (ARRAY['running'::text, 'aborting'::text, 'aborted'::text, 'done'::text]))),
    CONSTRAINT tenant_move_step_check CHECK ((step = ANY (ARRAY['prepare'::text, 'copy'::text, 'drain'::text, 'switch'::text, 'open'::text, 'clean'::text, 'done'::text])))
);

-- TABLE trigger_recent

CREATE TABLE postmill.trigger_recent (
    trigger_id uuid NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    job_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

-- TABLE upkeep

CREATE TABLE postmill.upkeep (
    name text NOT NULL COLLATE pg_catalog."C",
    last_run_at timestamp with time zone,
    last_run_by text,
    note jsonb
)
WITH (fillfactor='50');

-- TABLE webhook

CREATE TABLE postmill.webhook (
    id uuid DEFAULT postmill.new_id() NOT NULL,
    tenant_id uuid NOT NULL,
    label text NOT NULL,
    event_name text NOT NULL COLLATE pg_catalog."C",
    is_enabled boolean DEFAULT true NOT NULL,
    created_by text,
    created_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT webhook_label_check CHECK (((length(label) >= 1) AND (length(label) <= 200)))
);

-- TABLE webhook_message

CREATE TABLE postmill.webhook_message (
    webhook_id uuid NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    received_at timestamp with time zone NOT NULL
);

-- TABLE webhook_secret

CREATE TABLE postmill.webhook_secret (
    webhook_id uuid NOT NULL,
    secret bytea NOT NULL,
    previous bytea,
    previous_until timestamp with time zone,
    changed_at timestamp with time zone DEFAULT postmill.now() NOT NULL,
    CONSTRAINT webhook_secret_secret_check CHECK (((length(secret) >= 24) AND (length(secret) <= 64)))
);

-- VIEW webhooks

CREATE VIEW postmill.webhooks AS
 SELECT id,
    tenant_id,
    label,
    event_name,
    is_enabled,
    created_by,
    created_at
   FROM postmill.webhook w
  WHERE (deleted_at IS NULL);

-- CONSTRAINT api_key api_key_hash_key

ALTER TABLE ONLY postmill.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);

-- CONSTRAINT api_key api_key_pkey

ALTER TABLE ONLY postmill.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

-- CONSTRAINT archive_state archive_state_pkey

ALTER TABLE ONLY postmill.archive_state
    ADD CONSTRAINT archive_state_pkey PRIMARY KEY (only_row);

-- CONSTRAINT archive_unit archive_unit_pkey

ALTER TABLE ONLY postmill.archive_unit
    ADD CONSTRAINT archive_unit_pkey PRIMARY KEY (id);

-- CONSTRAINT artifact artifact_pkey

ALTER TABLE ONLY postmill.artifact
    ADD CONSTRAINT artifact_pkey PRIMARY KEY (id);

-- CONSTRAINT attainment attainment_pkey

ALTER TABLE ONLY postmill.attainment
    ADD CONSTRAINT attainment_pkey PRIMARY KEY (queue);

-- CONSTRAINT audit_chain audit_chain_audit_id_key

ALTER TABLE ONLY postmill.audit_chain
    ADD CONSTRAINT audit_chain_audit_id_key UNIQUE (audit_id);

-- CONSTRAINT audit_chain audit_chain_pkey

ALTER TABLE ONLY postmill.audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (n);

-- CONSTRAINT audit_horizon audit_horizon_pkey

ALTER TABLE ONLY postmill.audit_horizon
    ADD CONSTRAINT audit_horizon_pkey PRIMARY KEY (only_row);

-- CONSTRAINT audit_log audit_log_pkey

ALTER TABLE ONLY postmill.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

-- CONSTRAINT audit_start audit_start_pkey

ALTER TABLE ONLY postmill.audit_start
    ADD CONSTRAINT audit_start_pkey PRIMARY KEY (only_row);

-- CONSTRAINT audit_unsealed audit_unsealed_pkey

ALTER TABLE ONLY postmill.audit_unsealed
    ADD CONSTRAINT audit_unsealed_pkey PRIMARY KEY (id);

-- CONSTRAINT blocked blocked_pkey

ALTER TABLE ONLY postmill.blocked
    ADD CONSTRAINT blocked_pkey PRIMARY KEY (id);

-- CONSTRAINT boost boost_pkey

ALTER TABLE ONLY postmill.boost
    ADD CONSTRAINT boost_pkey PRIMARY KEY (job_id);

-- CONSTRAINT budget_alert budget_alert_pkey

ALTER TABLE ONLY postmill.budget_alert
    ADD CONSTRAINT budget_alert_pkey PRIMARY KEY (budget_id, starts_at, percent, crossed_at);

-- CONSTRAINT budget_balance budget_balance_pkey

ALTER TABLE ONLY postmill.budget_balance
    ADD CONSTRAINT budget_balance_pkey PRIMARY KEY (budget_id, starts_at, seq);

-- CONSTRAINT budget_line budget_line_pkey

ALTER TABLE ONLY postmill.budget_line
    ADD CONSTRAINT budget_line_pkey PRIMARY KEY (budget_id, starts_at, id);

-- CONSTRAINT budget_period budget_period_pkey

ALTER TABLE ONLY postmill.budget_period
    ADD CONSTRAINT budget_period_pkey PRIMARY KEY (budget_id, starts_at);

-- CONSTRAINT budget budget_pkey

ALTER TABLE ONLY postmill.budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (id);

-- CONSTRAINT budget_request budget_request_pkey

ALTER TABLE ONLY postmill.budget_request
    ADD CONSTRAINT budget_request_pkey PRIMARY KEY (id);

-- CONSTRAINT budget_reservation budget_reservation_pkey

ALTER TABLE ONLY postmill.budget_reservation
    ADD CONSTRAINT budget_reservation_pkey PRIMARY KEY (id, budget_id);

-- CONSTRAINT cancel_request cancel_request_pkey

ALTER TABLE ONLY postmill.cancel_request
    ADD CONSTRAINT cancel_request_pkey PRIMARY KEY (job_id);

-- CONSTRAINT cell_tenant cell_tenant_pkey

ALTER TABLE ONLY postmill.cell_tenant
    ADD CONSTRAINT cell_tenant_pkey PRIMARY KEY (tenant_id);

-- CONSTRAINT cell_tenant cell_tenant_slug_key

ALTER TABLE ONLY postmill.cell_tenant
    ADD CONSTRAINT cell_tenant_slug_key UNIQUE (slug);

-- CONSTRAINT channel_state channel_state_pkey

ALTER TABLE ONLY postmill.channel_state
    ADD CONSTRAINT channel_state_pkey PRIMARY KEY (channel);

-- CONSTRAINT console_session console_session_hash_key

ALTER TABLE ONLY postmill.console_session
    ADD CONSTRAINT console_session_hash_key UNIQUE (hash);

-- CONSTRAINT console_session console_session_pkey

ALTER TABLE ONLY postmill.console_session
    ADD CONSTRAINT console_session_pkey PRIMARY KEY (id);

-- CONSTRAINT dead_alarm dead_alarm_pkey

ALTER TABLE ONLY postmill.dead_alarm
    ADD CONSTRAINT dead_alarm_pkey PRIMARY KEY (key);

-- CONSTRAINT dead_letter dead_letter_pkey

ALTER TABLE ONLY postmill.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (id);

-- CONSTRAINT dead_news dead_news_pkey

ALTER TABLE ONLY postmill.dead_news
    ADD CONSTRAINT dead_news_pkey PRIMARY KEY (job_id);

-- CONSTRAINT definition_version definition_version_pkey

ALTER TABLE ONLY postmill.definition_version
    ADD CONSTRAINT definition_version_pkey PRIMARY KEY (definition_id, version);

-- CONSTRAINT error_group_minute error_group_minute_pkey

ALTER TABLE ONLY postmill.error_group_minute
    ADD CONSTRAINT error_group_minute_pkey PRIMARY KEY (id, tenant_id, minute) INCLUDE (n);

-- CONSTRAINT error_group_note error_group_note_pkey

ALTER TABLE ONLY postmill.error_group_note
    ADD CONSTRAINT error_group_note_pkey PRIMARY KEY (note_id);

-- CONSTRAINT error_group error_group_pkey

ALTER TABLE ONLY postmill.error_group
    ADD CONSTRAINT error_group_pkey PRIMARY KEY (id);

-- CONSTRAINT error_group_tenant error_group_tenant_pkey

ALTER TABLE ONLY postmill.error_group_tenant
    ADD CONSTRAINT error_group_tenant_pkey PRIMARY KEY (id, tenant_id);

-- CONSTRAINT event_delivery event_delivery_pkey

ALTER TABLE ONLY postmill.event_delivery
    ADD CONSTRAINT event_delivery_pkey PRIMARY KEY (event_id, trigger_id);

-- CONSTRAINT event event_pkey

ALTER TABLE ONLY postmill.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);

-- CONSTRAINT http_answer http_answer_pkey

ALTER TABLE ONLY postmill.http_answer
    ADD CONSTRAINT http_answer_pkey PRIMARY KEY (actor_type, actor_id, key);

-- CONSTRAINT http_claim http_claim_pkey

ALTER TABLE ONLY postmill.http_claim
    ADD CONSTRAINT http_claim_pkey PRIMARY KEY (job_id, claim_no);

-- CONSTRAINT http_session http_session_pkey

ALTER TABLE ONLY postmill.http_session
    ADD CONSTRAINT http_session_pkey PRIMARY KEY (holder);

-- CONSTRAINT idempotency_key idempotency_key_pkey

ALTER TABLE ONLY postmill.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (tenant_id, project_id, key);

-- CONSTRAINT incident_job incident_job_pkey

ALTER TABLE ONLY postmill.incident_job
    ADD CONSTRAINT incident_job_pkey PRIMARY KEY (incident_id, job_id);

-- CONSTRAINT incident_over incident_over_pkey

ALTER TABLE ONLY postmill.incident_over
    ADD CONSTRAINT incident_over_pkey PRIMARY KEY (kind, key);

-- CONSTRAINT incident_part incident_part_pkey

ALTER TABLE ONLY postmill.incident_part
    ADD CONSTRAINT incident_part_pkey PRIMARY KEY (incident_id, tenant_id);

-- CONSTRAINT incident incident_pkey

ALTER TABLE ONLY postmill.incident
    ADD CONSTRAINT incident_pkey PRIMARY KEY (id);

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

-- CONSTRAINT job_tag job_tag_pkey

ALTER TABLE ONLY postmill.job_tag
    ADD CONSTRAINT job_tag_pkey PRIMARY KEY (job_id, tag);

-- CONSTRAINT lane lane_pkey

ALTER TABLE ONLY postmill.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (queue, lane);

-- CONSTRAINT lease lease_pkey

ALTER TABLE ONLY postmill.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (holder);

-- CONSTRAINT leaving leaving_pkey

ALTER TABLE ONLY postmill.leaving
    ADD CONSTRAINT leaving_pkey PRIMARY KEY (unit_id, n);

-- CONSTRAINT limit_rule limit_rule_job_type_key

ALTER TABLE ONLY postmill.limit_rule
    ADD CONSTRAINT limit_rule_job_type_key UNIQUE (job_type);

-- CONSTRAINT limit_rule limit_rule_pkey

ALTER TABLE ONLY postmill.limit_rule
    ADD CONSTRAINT limit_rule_pkey PRIMARY KEY (id);

-- CONSTRAINT live_watch live_watch_pkey

ALTER TABLE ONLY postmill.live_watch
    ADD CONSTRAINT live_watch_pkey PRIMARY KEY (server);

-- CONSTRAINT login_link login_link_pkey

ALTER TABLE ONLY postmill.login_link
    ADD CONSTRAINT login_link_pkey PRIMARY KEY (hash);

-- CONSTRAINT migration migration_pkey

ALTER TABLE ONLY postmill.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);

-- CONSTRAINT notification notification_incident_id_cycle_step_event_channel_key

ALTER TABLE ONLY postmill.notification
    ADD CONSTRAINT notification_incident_id_cycle_step_event_channel_key UNIQUE (incident_id, cycle, step, event, channel);

-- CONSTRAINT notification notification_pkey

ALTER TABLE ONLY postmill.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (id);

-- CONSTRAINT operation_item operation_item_pkey

ALTER TABLE ONLY postmill.operation_item
    ADD CONSTRAINT operation_item_pkey PRIMARY KEY (operation_id, n);

-- CONSTRAINT operation operation_pkey

ALTER TABLE ONLY postmill.operation
    ADD CONSTRAINT operation_pkey PRIMARY KEY (id);

-- CONSTRAINT operation_share operation_share_pkey

ALTER TABLE ONLY postmill.operation_share
    ADD CONSTRAINT operation_share_pkey PRIMARY KEY (operation_id, tenant_id);

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

-- CONSTRAINT project project_pkey

ALTER TABLE ONLY postmill.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (id);

-- CONSTRAINT project project_tenant_id_slug_key

ALTER TABLE ONLY postmill.project
    ADD CONSTRAINT project_tenant_id_slug_key UNIQUE (tenant_id, slug);

-- CONSTRAINT queue_minute queue_minute_pkey

ALTER TABLE ONLY postmill.queue_minute
    ADD CONSTRAINT queue_minute_pkey PRIMARY KEY (queue, minute);

-- CONSTRAINT queue queue_pkey

ALTER TABLE ONLY postmill.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);

-- CONSTRAINT rate_take rate_take_pkey

ALTER TABLE ONLY postmill.rate_take
    ADD CONSTRAINT rate_take_pkey PRIMARY KEY (limit_id, seq);

-- CONSTRAINT ready ready_pkey

ALTER TABLE ONLY postmill.ready
    ADD CONSTRAINT ready_pkey PRIMARY KEY (queue, lane, priority, ready_at, id);

-- CONSTRAINT recovery recovery_pkey

ALTER TABLE ONLY postmill.recovery
    ADD CONSTRAINT recovery_pkey PRIMARY KEY (rule, job_id);

-- CONSTRAINT recovery_rule recovery_rule_pkey

ALTER TABLE ONLY postmill.recovery_rule
    ADD CONSTRAINT recovery_rule_pkey PRIMARY KEY (name);

-- CONSTRAINT retention_progress retention_progress_tenant_id_subject_key

ALTER TABLE ONLY postmill.retention_progress
    ADD CONSTRAINT retention_progress_tenant_id_subject_key UNIQUE NULLS NOT DISTINCT (tenant_id, subject);

-- CONSTRAINT retention_rule retention_rule_tenant_id_subject_source_key

ALTER TABLE ONLY postmill.retention_rule
    ADD CONSTRAINT retention_rule_tenant_id_subject_source_key UNIQUE NULLS NOT DISTINCT (tenant_id, subject, source);

-- CONSTRAINT rollup_fleet rollup_fleet_pkey

ALTER TABLE ONLY postmill.rollup_fleet
    ADD CONSTRAINT rollup_fleet_pkey PRIMARY KEY (minute, queue, job_type, outcome);

-- CONSTRAINT rollup_hour rollup_hour_tenant_id_hour_queue_job_type_outcome_key

ALTER TABLE ONLY postmill.rollup_hour
    ADD CONSTRAINT rollup_hour_tenant_id_hour_queue_job_type_outcome_key UNIQUE NULLS NOT DISTINCT (tenant_id, hour, queue, job_type, outcome);

-- CONSTRAINT rollup rollup_pkey

ALTER TABLE ONLY postmill.rollup
    ADD CONSTRAINT rollup_pkey PRIMARY KEY (minute, tenant_id, queue, job_type, outcome);

-- CONSTRAINT rollup_state rollup_state_pkey

ALTER TABLE ONLY postmill.rollup_state
    ADD CONSTRAINT rollup_state_pkey PRIMARY KEY (only_row);

-- CONSTRAINT rollup_total rollup_total_pkey

ALTER TABLE ONLY postmill.rollup_total
    ADD CONSTRAINT rollup_total_pkey PRIMARY KEY (job_type, queue, outcome);

-- CONSTRAINT running running_pkey

ALTER TABLE ONLY postmill.running
    ADD CONSTRAINT running_pkey PRIMARY KEY (id);

-- CONSTRAINT saved_view saved_view_pkey

ALTER TABLE ONLY postmill.saved_view
    ADD CONSTRAINT saved_view_pkey PRIMARY KEY (id);

-- CONSTRAINT scheduled scheduled_pkey

ALTER TABLE ONLY postmill.scheduled
    ADD CONSTRAINT scheduled_pkey PRIMARY KEY (queue, lane, run_at, id);

-- CONSTRAINT sleeper sleeper_pkey

ALTER TABLE ONLY postmill.sleeper
    ADD CONSTRAINT sleeper_pkey PRIMARY KEY (queue, watch, valid_until, holder);

-- CONSTRAINT tenant_gate tenant_gate_pkey

ALTER TABLE ONLY postmill.tenant_gate
    ADD CONSTRAINT tenant_gate_pkey PRIMARY KEY (tenant_id);

-- CONSTRAINT tenant_move tenant_move_pkey

ALTER TABLE ONLY postmill.tenant_move
    ADD CONSTRAINT tenant_move_pkey PRIMARY KEY (id);

-- CONSTRAINT tenant tenant_pkey

ALTER TABLE ONLY postmill.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

-- CONSTRAINT tenant tenant_slug_key

ALTER TABLE ONLY postmill.tenant
    ADD CONSTRAINT tenant_slug_key UNIQUE (slug);

-- CONSTRAINT tick tick_pkey

ALTER TABLE ONLY postmill.tick
    ADD CONSTRAINT tick_pkey PRIMARY KEY (trigger_id, due);

-- CONSTRAINT trigger trigger_pkey

ALTER TABLE ONLY postmill.trigger
    ADD CONSTRAINT trigger_pkey PRIMARY KEY (id);

-- CONSTRAINT trigger_recent trigger_recent_pkey

ALTER TABLE ONLY postmill.trigger_recent
    ADD CONSTRAINT trigger_recent_pkey PRIMARY KEY (trigger_id, hash);

-- CONSTRAINT type_pause type_pause_pkey

ALTER TABLE ONLY postmill.type_pause
    ADD CONSTRAINT type_pause_pkey PRIMARY KEY (id);

-- CONSTRAINT upkeep upkeep_pkey

ALTER TABLE ONLY postmill.upkeep
    ADD CONSTRAINT upkeep_pkey PRIMARY KEY (name);

-- CONSTRAINT webhook_message webhook_message_pkey

ALTER TABLE ONLY postmill.webhook_message
    ADD CONSTRAINT webhook_message_pkey PRIMARY KEY (webhook_id, message_id);

-- CONSTRAINT webhook webhook_pkey

ALTER TABLE ONLY postmill.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (id);

-- CONSTRAINT webhook_secret webhook_secret_pkey

ALTER TABLE ONLY postmill.webhook_secret
    ADD CONSTRAINT webhook_secret_pkey PRIMARY KEY (webhook_id);

-- CONSTRAINT worker worker_pkey

ALTER TABLE ONLY postmill.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (holder);

-- INDEX api_key_tenant

CREATE INDEX api_key_tenant ON postmill.api_key USING btree (tenant_id);

-- INDEX archive_unit_id

CREATE INDEX archive_unit_id ON postmill.archive_unit USING btree (max_id) WHERE (status = 'archived'::text);

-- INDEX archive_unit_open

CREATE INDEX archive_unit_open ON postmill.archive_unit USING btree (next_try, id) WHERE (status = ANY (ARRAY['filling'::text, 'waiting'::text]));

-- INDEX archive_unit_until

CREATE INDEX archive_unit_until ON postmill.archive_unit USING btree (until) WHERE (status = 'archived'::text);

-- INDEX artifact_expires

CREATE INDEX artifact_expires ON postmill.artifact USING btree (expires_at) WHERE (gone_at IS NULL);

-- INDEX artifact_gone

CREATE INDEX artifact_gone ON postmill.artifact USING btree (gone_at) WHERE (gone_at IS NOT NULL);

-- INDEX artifact_name

CREATE UNIQUE INDEX artifact_name ON postmill.artifact USING btree (job_id, name) WHERE (gone_at IS NULL);

-- INDEX artifact_tenant

CREATE INDEX artifact_tenant ON postmill.artifact USING btree (tenant_id, id);

-- INDEX attempt_finished_at

CREATE INDEX attempt_finished_at ON ONLY postmill.attempt USING brin (finished_at, tenant_id uuid_bloom_ops) WITH (pages_per_range='16', autosummarize='on');

-- INDEX attempt_group

CREATE INDEX attempt_group ON ONLY postmill.attempt USING btree (error_group, job_id) WHERE (error_group IS NOT NULL);

-- INDEX attempt_job

CREATE INDEX attempt_job ON ONLY postmill.attempt USING btree (job_id);

-- INDEX attempt_tenant_group

CREATE INDEX attempt_tenant_group ON ONLY postmill.attempt USING btree (tenant_id, error_group, job_id) WHERE (error_group IS NOT NULL);

-- INDEX audit_log_action

CREATE INDEX audit_log_action ON postmill.audit_log USING btree (action, at, id, tenant_id);

-- INDEX audit_log_actor

CREATE INDEX audit_log_actor ON postmill.audit_log USING btree (actor_id, at, id, tenant_id);

-- INDEX audit_log_at

CREATE INDEX audit_log_at ON postmill.audit_log USING btree (at, id);

-- INDEX audit_log_not_done

CREATE INDEX audit_log_not_done ON postmill.audit_log USING btree (at, id, tenant_id) WHERE (result <> 'done'::text);

-- INDEX audit_log_object

CREATE INDEX audit_log_object ON postmill.audit_log USING btree (target_kind, target, at, id) WHERE (target_kind = ANY (ARRAY['queue'::text, 'worker'::text, 'tenant'::text]));

-- INDEX audit_log_target

CREATE INDEX audit_log_target ON postmill.audit_log USING btree (target_kind, target, at, id, tenant_id);

-- INDEX audit_log_tenant

CREATE INDEX audit_log_tenant ON postmill.audit_log USING btree (tenant_id, at, id);

-- INDEX boost_ended

CREATE INDEX boost_ended ON postmill.boost USING btree (ended_at) WHERE (ended_at IS NOT NULL);

-- INDEX boost_waiting

CREATE INDEX boost_waiting ON postmill.boost USING btree (queue, lane) WHERE (ended_at IS NULL);

-- INDEX budget_alert_open

CREATE INDEX budget_alert_open ON postmill.budget_alert USING btree (crossed_at) WHERE (resolved_at IS NULL);

-- INDEX budget_line_once

CREATE UNIQUE INDEX budget_line_once ON postmill.budget_line USING btree (reservation_id, budget_id, kind) WHERE (reservation_id IS NOT NULL);

-- INDEX budget_line_type

CREATE INDEX budget_line_type ON postmill.budget_line USING btree (job_type, id, tenant_id) WHERE (reservation_id IS NOT NULL);

-- INDEX budget_name

CREATE UNIQUE INDEX budget_name ON postmill.budget USING btree (lower(replace(name, '_'::text, '-'::text)), COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid));

-- INDEX budget_period_ends

CREATE INDEX budget_period_ends ON postmill.budget_period USING btree (ends_at);

-- INDEX budget_period_until

CREATE INDEX budget_period_until ON postmill.budget_period USING btree (limit_until) WHERE (limit_until IS NOT NULL);

-- INDEX budget_place

CREATE INDEX budget_place ON postmill.budget USING btree (name, id);

-- INDEX budget_platform

CREATE INDEX budget_platform ON postmill.budget USING btree (id) WHERE (tenant_id IS NULL);

-- INDEX budget_request_budget

CREATE INDEX budget_request_budget ON postmill.budget_request USING btree (budget_id, id);

-- INDEX budget_request_open

CREATE UNIQUE INDEX budget_request_open ON postmill.budget_request USING btree (budget_id) WHERE (status = 'open'::text);

-- INDEX budget_request_tenant

CREATE INDEX budget_request_tenant ON postmill.budget_request USING btree (tenant_id, id);

-- INDEX budget_reservation_ended

CREATE INDEX budget_reservation_ended ON postmill.budget_reservation USING btree (ended_at) WHERE (ended_at IS NOT NULL);

-- INDEX budget_reservation_held

CREATE INDEX budget_reservation_held ON postmill.budget_reservation USING btree (reserved_at) WHERE (ended_at IS NULL);

-- INDEX cell_tenant_cell

CREATE INDEX cell_tenant_cell ON postmill.cell_tenant USING btree (cell, slug);

-- INDEX console_session_expires

CREATE INDEX console_session_expires ON postmill.console_session USING btree (expires_at);

-- INDEX dead_letter_failed_at

CREATE INDEX dead_letter_failed_at ON postmill.dead_letter USING btree (failed_at, id);

-- INDEX dead_letter_group

CREATE INDEX dead_letter_group ON postmill.dead_letter USING btree (error_group, failed_at, id);

-- INDEX dead_letter_tenant

CREATE INDEX dead_letter_tenant ON postmill.dead_letter USING btree (tenant_id, failed_at, id);

-- INDEX dead_letter_tenant_group

CREATE INDEX dead_letter_tenant_group ON postmill.dead_letter USING btree (tenant_id, error_group, failed_at, id);

-- INDEX definition_version_at

CREATE INDEX definition_version_at ON postmill.definition_version USING btree (at);

-- INDEX error_group_first

CREATE INDEX error_group_first ON postmill.error_group USING btree (first_seen_at);

-- INDEX error_group_minute_fine

CREATE INDEX error_group_minute_fine ON postmill.error_group_minute USING btree (minute) WHERE (NOT hourly);

-- INDEX error_group_note_of

CREATE INDEX error_group_note_of ON postmill.error_group_note USING btree (id, note_id);

-- INDEX error_group_seen

CREATE INDEX error_group_seen ON postmill.error_group USING btree (last_seen_at, id);

-- INDEX error_group_tenant_seen

CREATE INDEX error_group_tenant_seen ON postmill.error_group_tenant USING btree (tenant_id, last_seen_at, id);

-- INDEX error_group_type

CREATE INDEX error_group_type ON postmill.error_group USING btree (job_type, id);

-- INDEX event_delivery_due

CREATE INDEX event_delivery_due ON postmill.event_delivery USING btree (due_at, event_id) WHERE (outcome = 'pending'::text);

-- INDEX event_delivery_trigger

CREATE INDEX event_delivery_trigger ON postmill.event_delivery USING btree (trigger_id, event_id);

-- INDEX event_name

CREATE INDEX event_name ON postmill.event USING btree (tenant_id, name, id);

-- INDEX event_tenant

CREATE INDEX event_tenant ON postmill.event USING btree (tenant_id, id);

-- INDEX forgotten_made

CREATE INDEX forgotten_made ON postmill.forgotten USING btree (made);

-- INDEX http_answer_expires

CREATE INDEX http_answer_expires ON postmill.http_answer USING btree (expires_at);

-- INDEX http_claim_ended

CREATE INDEX http_claim_ended ON postmill.http_claim USING btree (ended_at) WHERE (ended_at IS NOT NULL);

-- INDEX http_claim_expires

CREATE INDEX http_claim_expires ON postmill.http_claim USING btree (expires_at) WHERE (ended_at IS NULL);

-- INDEX http_claim_holder

CREATE INDEX http_claim_holder ON postmill.http_claim USING btree (holder) WHERE (ended_at IS NULL);

-- INDEX http_session_worker

CREATE UNIQUE INDEX http_session_worker ON postmill.http_session USING btree (COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid), worker_id);

-- INDEX idempotency_key_expires

CREATE INDEX idempotency_key_expires ON postmill.idempotency_key USING btree (expires_at) WHERE (expires_at IS NOT NULL);

-- INDEX incident_ended

CREATE INDEX incident_ended ON postmill.incident USING btree (kind, key, resolved_at) WHERE (resolved_at IS NOT NULL);

-- INDEX incident_escalate

CREATE INDEX incident_escalate ON postmill.incident USING btree (escalate_at) WHERE (escalate_at IS NOT NULL);

-- INDEX incident_live

CREATE INDEX incident_live ON postmill.incident USING btree (id) WHERE (resolved_at IS NULL);

-- INDEX incident_open

CREATE UNIQUE INDEX incident_open ON postmill.incident USING btree (kind, key) WHERE (resolved_at IS NULL);

-- INDEX incident_part_tenant

CREATE INDEX incident_part_tenant ON postmill.incident_part USING btree (tenant_id, incident_id);

-- INDEX incident_resolved

CREATE INDEX incident_resolved ON postmill.incident USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);

-- INDEX incident_tenant

CREATE INDEX incident_tenant ON postmill.incident USING btree (tenant_id, id);

-- INDEX intake_batch

CREATE INDEX intake_batch ON postmill.intake USING btree (batch, n);

-- INDEX job_definition_aliases

CREATE INDEX job_definition_aliases ON postmill.job_definition USING gin (aliases);

-- INDEX job_kept_replayed_from_idx

CREATE INDEX job_kept_replayed_from_idx ON postmill.job_kept USING btree (replayed_from) WHERE (replayed_from IS NOT NULL);

-- INDEX job_kept_source_ref

CREATE INDEX job_kept_source_ref ON postmill.job_kept USING btree (source_ref, id) WHERE ((source_ref IS NOT NULL) AND ((source)::text <> 'event'::text));

-- INDEX job_kept_tenant

CREATE INDEX job_kept_tenant ON postmill.job_kept USING btree (tenant_id, id);

-- INDEX job_kept_tenant_source

CREATE INDEX job_kept_tenant_source ON postmill.job_kept USING btree (tenant_id, source, id) WHERE ((source)::text <> 'manual'::text);

-- INDEX job_replayed_from

CREATE INDEX job_replayed_from ON ONLY postmill.job USING btree (replayed_from) WHERE (replayed_from IS NOT NULL);

-- INDEX job_source_ref

CREATE INDEX job_source_ref ON ONLY postmill.job USING btree (source_ref, id) WHERE ((source_ref IS NOT NULL) AND ((source)::text <> 'event'::text));

-- INDEX job_tag_tag

CREATE INDEX job_tag_tag ON postmill.job_tag USING btree (tag, job_id);

-- INDEX job_tag_tenant

CREATE INDEX job_tag_tenant ON postmill.job_tag USING btree (tenant_id, tag, job_id);

-- INDEX job_tenant

CREATE INDEX job_tenant ON ONLY postmill.job USING btree (tenant_id, id);

-- INDEX job_tenant_source

CREATE INDEX job_tenant_source ON ONLY postmill.job USING btree (tenant_id, source, id) WHERE ((source)::text <> 'manual'::text);

-- INDEX leaving_job

CREATE INDEX leaving_job ON postmill.leaving USING btree (job_id);

-- INDEX notification_pending

CREATE INDEX notification_pending ON postmill.notification USING btree (channel, due_at, id) WHERE (status = 'pending'::text);

-- INDEX notification_tenant

CREATE INDEX notification_tenant ON postmill.notification USING btree (tenant_id, id);

-- INDEX operation_item_key

CREATE INDEX operation_item_key ON postmill.operation_item USING btree (operation_id, tenant_id, key_print) WHERE ((status IS NULL) AND (key_print IS NOT NULL));

-- INDEX operation_item_made

CREATE INDEX operation_item_made ON postmill.operation_item USING btree (operation_id, (
CASE
    WHEN (status = 'replayed'::text) THEN new_id
    ELSE job_id
END));

-- INDEX operation_item_print

CREATE INDEX operation_item_print ON postmill.operation_item USING btree (operation_id, tenant_id, print) WHERE (status IS NULL);

-- INDEX operation_item_replay

CREATE INDEX operation_item_replay ON postmill.operation_item USING btree (operation_id, at) WHERE (status = 'replayed'::text);

-- INDEX operation_item_waiting

CREATE INDEX operation_item_waiting ON postmill.operation_item USING btree (operation_id, turn, n) WHERE (status IS NULL);

-- INDEX operation_running

CREATE INDEX operation_running ON postmill.operation USING btree (id) WHERE (status = 'running'::text);

-- INDEX operation_tenant

CREATE INDEX operation_tenant ON postmill.operation USING btree (tenant_id, id);

-- INDEX outcome_finished_at

CREATE INDEX outcome_finished_at ON ONLY postmill.outcome USING brin (finished_at, tenant_id uuid_bloom_ops) WITH (pages_per_range='16', autosummarize='on');

-- INDEX outcome_group

CREATE INDEX outcome_group ON ONLY postmill.outcome USING btree (error_group, job_id) WHERE (error_group IS NOT NULL);

-- INDEX outcome_job

CREATE INDEX outcome_job ON ONLY postmill.outcome USING btree (job_id);

-- INDEX outcome_tenant_group

CREATE INDEX outcome_tenant_group ON ONLY postmill.outcome USING btree (tenant_id, error_group, job_id) WHERE (error_group IS NOT NULL);

-- INDEX outcome_tenant_unsuccessful

CREATE INDEX outcome_tenant_unsuccessful ON ONLY postmill.outcome USING btree (tenant_id, status, job_id) WHERE (status <> 'succeeded'::text);

-- INDEX outcome_unsuccessful

CREATE INDEX outcome_unsuccessful ON ONLY postmill.outcome USING btree (status, job_id) WHERE (status <> 'succeeded'::text);

-- INDEX queue_minute_minute

CREATE INDEX queue_minute_minute ON postmill.queue_minute USING btree (minute);

-- INDEX ready_id

CREATE UNIQUE INDEX ready_id ON postmill.ready USING btree (id);

-- INDEX recovery_at

CREATE INDEX recovery_at ON postmill.recovery USING btree (at);

-- INDEX recovery_root

CREATE INDEX recovery_root ON postmill.recovery USING btree (root, rule);

-- INDEX rollup_fleet_queue

CREATE INDEX rollup_fleet_queue ON postmill.rollup_fleet USING btree (queue, minute);

-- INDEX rollup_fleet_type

CREATE INDEX rollup_fleet_type ON postmill.rollup_fleet USING btree (job_type, minute);

-- INDEX rollup_hour_hour

CREATE INDEX rollup_hour_hour ON postmill.rollup_hour USING btree (hour);

-- INDEX rollup_queue

CREATE INDEX rollup_queue ON postmill.rollup USING btree (queue, minute);

-- INDEX rollup_tenant

CREATE INDEX rollup_tenant ON postmill.rollup USING btree (tenant_id, minute);

-- INDEX saved_view_name

CREATE UNIQUE INDEX saved_view_name ON postmill.saved_view USING btree (page, COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid), name, actor_type, COALESCE(actor_id, ''::text));

-- INDEX scheduled_id

CREATE UNIQUE INDEX scheduled_id ON postmill.scheduled USING btree (id);

-- INDEX scheduled_run_at

CREATE INDEX scheduled_run_at ON postmill.scheduled USING btree (run_at);

-- INDEX tally_at

CREATE INDEX tally_at ON postmill.tally USING btree (at);

-- INDEX tenant_move_running

CREATE UNIQUE INDEX tenant_move_running ON postmill.tenant_move USING btree (tenant_id) WHERE (status = ANY (ARRAY['running'::text, 'aborting'::text]));

-- INDEX tenant_move_tenant

CREATE INDEX tenant_move_tenant ON postmill.tenant_move USING btree (tenant_id, id);

-- INDEX tick_fired_at

CREATE INDEX tick_fired_at ON postmill.tick USING btree (fired_at);

-- INDEX tick_missed

CREATE INDEX tick_missed ON postmill.tick USING btree (tenant_id, fired_at) WHERE ((outcome = 'skipped'::text) AND (detail ~~ 'missed%'::text));

-- INDEX trigger_declared

CREATE UNIQUE INDEX trigger_declared ON postmill.trigger USING btree (tenant_id, label) WHERE ((origin = 'code'::text) AND (deleted_at IS NULL));

-- INDEX trigger_definition

CREATE INDEX trigger_definition ON postmill.trigger USING btree (definition_id);

-- INDEX trigger_due

CREATE INDEX trigger_due ON postmill.trigger USING btree (next_run_at) WHERE ((trigger_type = 'schedule'::text) AND is_enabled AND (deleted_at IS NULL) AND (NOT broken));

-- INDEX trigger_event

CREATE INDEX trigger_event ON postmill.trigger USING btree (tenant_id, event_name) WHERE ((trigger_type = 'event'::text) AND is_enabled AND (deleted_at IS NULL));

-- INDEX trigger_next

CREATE INDEX trigger_next ON postmill.trigger USING btree (tenant_id, next_run_at) WHERE ((trigger_type = 'schedule'::text) AND is_enabled AND (deleted_at IS NULL) AND (NOT broken));

-- INDEX trigger_recent_expires

CREATE INDEX trigger_recent_expires ON postmill.trigger_recent USING btree (expires_at);

-- INDEX trigger_tenant

CREATE INDEX trigger_tenant ON postmill.trigger USING btree (tenant_id, id);

-- INDEX type_pause_open

CREATE UNIQUE INDEX type_pause_open ON postmill.type_pause USING btree (job_type) WHERE (ended_at IS NULL);

-- INDEX type_pause_type

CREATE INDEX type_pause_type ON postmill.type_pause USING btree (job_type, paused_at);

-- INDEX type_pause_unreleased

CREATE INDEX type_pause_unreleased ON postmill.type_pause USING btree (id) WHERE ((ended_at IS NOT NULL) AND (released_at IS NULL));

-- INDEX webhook_message_received

CREATE INDEX webhook_message_received ON postmill.webhook_message USING btree (received_at);

-- INDEX webhook_tenant

CREATE INDEX webhook_tenant ON postmill.webhook USING btree (tenant_id, id);

-- INDEX worker_build

CREATE INDEX worker_build ON postmill.worker USING btree (build, last_seen_at) WHERE (build IS NOT NULL);

-- INDEX worker_last_seen

CREATE INDEX worker_last_seen ON postmill.worker USING btree (last_seen_at);

-- TRIGGER dead_letter came

CREATE TRIGGER came AFTER INSERT ON postmill.dead_letter REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION postmill.dead_letter_came();

-- TRIGGER job_definition changed

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON postmill.job_definition FOR EACH ROW EXECUTE FUNCTION postmill.definition_changed();

-- TRIGGER dead_letter counted_in

CREATE TRIGGER counted_in AFTER INSERT ON postmill.dead_letter REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION postmill.letters_counted();

-- TRIGGER dead_letter counted_out

CREATE TRIGGER counted_out AFTER DELETE ON postmill.dead_letter REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION postmill.letters_counted();

-- TRIGGER dead_letter counted_over

CREATE TRIGGER counted_over AFTER UPDATE ON postmill.dead_letter REFERENCING OLD TABLE AS gone NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION postmill.letters_counted();

-- TRIGGER dead_letter emptied

CREATE TRIGGER emptied AFTER TRUNCATE ON postmill.dead_letter FOR EACH STATEMENT EXECUTE FUNCTION postmill.letters_emptied();

-- TRIGGER audit_chain never_deleted

CREATE TRIGGER never_deleted BEFORE DELETE ON postmill.audit_chain FOR EACH ROW EXECUTE FUNCTION postmill.refuse_deleting();

-- TRIGGER audit_log never_deleted

CREATE TRIGGER never_deleted BEFORE DELETE ON postmill.audit_log FOR EACH ROW EXECUTE FUNCTION postmill.refuse_deleting();

-- TRIGGER audit_chain never_rewritten

CREATE TRIGGER never_rewritten BEFORE UPDATE OR TRUNCATE ON postmill.audit_chain FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_rewriting();

-- TRIGGER audit_log never_rewritten

CREATE TRIGGER never_rewritten BEFORE UPDATE OR TRUNCATE ON postmill.audit_log FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_rewriting();

-- TRIGGER budget_line never_rewritten

CREATE TRIGGER never_rewritten BEFORE UPDATE ON postmill.budget_line FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_budget_rewriting();

-- TRIGGER blocked never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.blocked FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER ready never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.ready FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER running never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.running FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER scheduled never_updated

CREATE TRIGGER never_updated BEFORE UPDATE ON postmill.scheduled FOR EACH STATEMENT EXECUTE FUNCTION postmill.refuse_update();

-- TRIGGER audit_log told

CREATE TRIGGER told AFTER INSERT ON postmill.audit_log FOR EACH ROW EXECUTE FUNCTION postmill.tell_audited();

-- TRIGGER trigger trigger_changed

CREATE TRIGGER trigger_changed BEFORE UPDATE OF cron_expr, every, timezone, dst, is_enabled, deleted_at ON postmill.trigger FOR EACH ROW EXECUTE FUNCTION postmill.trigger_changed();

-- TRIGGER dead_letter typed

CREATE TRIGGER typed BEFORE INSERT ON postmill.dead_letter FOR EACH ROW WHEN ((new.job_type IS NULL)) EXECUTE FUNCTION postmill.letter_typed();

-- TRIGGER job_definition written

CREATE TRIGGER written BEFORE INSERT OR UPDATE ON postmill.job_definition FOR EACH ROW EXECUTE FUNCTION postmill.definition_written();

-- FK CONSTRAINT api_key api_key_tenant_id_fkey

ALTER TABLE ONLY postmill.api_key
    ADD CONSTRAINT api_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- FK CONSTRAINT attainment attainment_queue_fkey

ALTER TABLE ONLY postmill.attainment
    ADD CONSTRAINT attainment_queue_fkey FOREIGN KEY (queue) REFERENCES postmill.queue(name) ON DELETE CASCADE;

-- FK CONSTRAINT audit_chain audit_chain_audit_id_fkey

ALTER TABLE ONLY postmill.audit_chain
    ADD CONSTRAINT audit_chain_audit_id_fkey FOREIGN KEY (audit_id) REFERENCES postmill.audit_log(id) ON DELETE CASCADE;

-- FK CONSTRAINT console_session console_session_api_key_id_fkey

ALTER TABLE ONLY postmill.console_session
    ADD CONSTRAINT console_session_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES postmill.api_key(id);

-- FK CONSTRAINT console_session console_session_tenant_id_fkey

ALTER TABLE ONLY postmill.console_session
    ADD CONSTRAINT console_session_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- FK CONSTRAINT definition_version definition_version_definition_id_fkey

ALTER TABLE ONLY postmill.definition_version
    ADD CONSTRAINT definition_version_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES postmill.job_definition(id) ON DELETE CASCADE;

-- FK CONSTRAINT error_group_minute error_group_minute_id_fkey

ALTER TABLE ONLY postmill.error_group_minute
    ADD CONSTRAINT error_group_minute_id_fkey FOREIGN KEY (id) REFERENCES postmill.error_group(id) ON DELETE CASCADE;

-- FK CONSTRAINT error_group_note error_group_note_id_fkey

ALTER TABLE ONLY postmill.error_group_note
    ADD CONSTRAINT error_group_note_id_fkey FOREIGN KEY (id) REFERENCES postmill.error_group(id) ON DELETE CASCADE;

-- FK CONSTRAINT error_group_tenant error_group_tenant_id_fkey

ALTER TABLE ONLY postmill.error_group_tenant
    ADD CONSTRAINT error_group_tenant_id_fkey FOREIGN KEY (id) REFERENCES postmill.error_group(id) ON DELETE CASCADE;

-- FK CONSTRAINT incident_job incident_job_incident_id_fkey

ALTER TABLE ONLY postmill.incident_job
    ADD CONSTRAINT incident_job_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES postmill.incident(id) ON DELETE CASCADE;

-- FK CONSTRAINT incident_part incident_part_incident_id_fkey

ALTER TABLE ONLY postmill.incident_part
    ADD CONSTRAINT incident_part_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES postmill.incident(id) ON DELETE CASCADE;

-- FK CONSTRAINT job_definition job_definition_queue_fkey

ALTER TABLE ONLY postmill.job_definition
    ADD CONSTRAINT job_definition_queue_fkey FOREIGN KEY (queue) REFERENCES postmill.queue(name);

-- FK CONSTRAINT limit_rule limit_rule_job_type_fkey

ALTER TABLE ONLY postmill.limit_rule
    ADD CONSTRAINT limit_rule_job_type_fkey FOREIGN KEY (job_type) REFERENCES postmill.job_definition(key) ON DELETE CASCADE;

-- FK CONSTRAINT login_link login_link_tenant_id_fkey

ALTER TABLE ONLY postmill.login_link
    ADD CONSTRAINT login_link_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- FK CONSTRAINT notification notification_incident_id_fkey

ALTER TABLE ONLY postmill.notification
    ADD CONSTRAINT notification_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES postmill.incident(id) ON DELETE CASCADE;

-- FK CONSTRAINT project project_tenant_id_fkey

ALTER TABLE ONLY postmill.project
    ADD CONSTRAINT project_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- FK CONSTRAINT queue_minute queue_minute_queue_fkey

ALTER TABLE ONLY postmill.queue_minute
    ADD CONSTRAINT queue_minute_queue_fkey FOREIGN KEY (queue) REFERENCES postmill.queue(name) ON DELETE CASCADE;

-- FK CONSTRAINT rate_take rate_take_limit_id_fkey

ALTER TABLE ONLY postmill.rate_take
    ADD CONSTRAINT rate_take_limit_id_fkey FOREIGN KEY (limit_id) REFERENCES postmill.limit_rule(id) ON DELETE CASCADE;

-- FK CONSTRAINT retention_rule retention_rule_tenant_id_fkey

ALTER TABLE ONLY postmill.retention_rule
    ADD CONSTRAINT retention_rule_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- FK CONSTRAINT saved_view saved_view_tenant_id_fkey

ALTER TABLE ONLY postmill.saved_view
    ADD CONSTRAINT saved_view_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id) ON DELETE CASCADE;

-- FK CONSTRAINT trigger trigger_definition_id_fkey

ALTER TABLE ONLY postmill.trigger
    ADD CONSTRAINT trigger_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES postmill.job_definition(id) ON DELETE RESTRICT;

-- FK CONSTRAINT trigger trigger_tenant_id_fkey

ALTER TABLE ONLY postmill.trigger
    ADD CONSTRAINT trigger_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- FK CONSTRAINT webhook_secret webhook_secret_webhook_id_fkey

ALTER TABLE ONLY postmill.webhook_secret
    ADD CONSTRAINT webhook_secret_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES postmill.webhook(id);

-- FK CONSTRAINT webhook webhook_tenant_id_fkey

ALTER TABLE ONLY postmill.webhook
    ADD CONSTRAINT webhook_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES postmill.tenant(id);

-- ROW SECURITY api_key

ALTER TABLE postmill.api_key ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY artifact

ALTER TABLE postmill.artifact ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY attempt

ALTER TABLE postmill.attempt ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY audit_log

ALTER TABLE postmill.audit_log ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY boost

ALTER TABLE postmill.boost ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget

ALTER TABLE postmill.budget ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget_alert

ALTER TABLE postmill.budget_alert ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget_balance

ALTER TABLE postmill.budget_balance ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget_line

ALTER TABLE postmill.budget_line ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget_period

ALTER TABLE postmill.budget_period ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget_request

ALTER TABLE postmill.budget_request ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY budget_reservation

ALTER TABLE postmill.budget_reservation ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY cell_tenant

ALTER TABLE postmill.cell_tenant ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY console_session

ALTER TABLE postmill.console_session ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY dead_letter

ALTER TABLE postmill.dead_letter ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY dead_tally

ALTER TABLE postmill.dead_tally ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY error_group_minute

ALTER TABLE postmill.error_group_minute ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY error_group_part

ALTER TABLE postmill.error_group_part ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY error_group_tenant

ALTER TABLE postmill.error_group_tenant ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY event

ALTER TABLE postmill.event ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY event_delivery

ALTER TABLE postmill.event_delivery ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY forgotten

ALTER TABLE postmill.forgotten ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY http_claim

ALTER TABLE postmill.http_claim ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY http_session

ALTER TABLE postmill.http_session ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY idempotency_key

ALTER TABLE postmill.idempotency_key ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY incident

ALTER TABLE postmill.incident ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY incident_job

ALTER TABLE postmill.incident_job ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY incident_part

ALTER TABLE postmill.incident_part ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY job

ALTER TABLE postmill.job ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY job_kept

ALTER TABLE postmill.job_kept ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY job_tag

ALTER TABLE postmill.job_tag ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY leaving

ALTER TABLE postmill.leaving ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY login_link

ALTER TABLE postmill.login_link ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY notification

ALTER TABLE postmill.notification ENABLE ROW LEVEL SECURITY;

-- POLICY api_key of_the_scope

CREATE POLICY of_the_scope ON postmill.api_key AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY artifact of_the_scope

CREATE POLICY of_the_scope ON postmill.artifact AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY attempt of_the_scope

CREATE POLICY of_the_scope ON postmill.attempt AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY audit_log of_the_scope

CREATE POLICY of_the_scope ON postmill.audit_log AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY boost of_the_scope

CREATE POLICY of_the_scope ON postmill.boost AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget of_the_scope

CREATE POLICY of_the_scope ON postmill.budget AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget_alert of_the_scope

CREATE POLICY of_the_scope ON postmill.budget_alert AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget_balance of_the_scope

CREATE POLICY of_the_scope ON postmill.budget_balance AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget_line of_the_scope

CREATE POLICY of_the_scope ON postmill.budget_line AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget_period of_the_scope

CREATE POLICY of_the_scope ON postmill.budget_period AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget_request of_the_scope

CREATE POLICY of_the_scope ON postmill.budget_request AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY budget_reservation of_the_scope

CREATE POLICY of_the_scope ON postmill.budget_reservation AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY cell_tenant of_the_scope

CREATE POLICY of_the_scope ON postmill.cell_tenant AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY console_session of_the_scope

CREATE POLICY of_the_scope ON postmill.console_session AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY dead_letter of_the_scope

CREATE POLICY of_the_scope ON postmill.dead_letter AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY dead_tally of_the_scope

CREATE POLICY of_the_scope ON postmill.dead_tally AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY error_group_minute of_the_scope

CREATE POLICY of_the_scope ON postmill.error_group_minute AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY error_group_part of_the_scope

CREATE POLICY of_the_scope ON postmill.error_group_part AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY error_group_tenant of_the_scope

CREATE POLICY of_the_scope ON postmill.error_group_tenant AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY event of_the_scope

CREATE POLICY of_the_scope ON postmill.event AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY event_delivery of_the_scope

CREATE POLICY of_the_scope ON postmill.event_delivery AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY forgotten of_the_scope

CREATE POLICY of_the_scope ON postmill.forgotten AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY http_claim of_the_scope

CREATE POLICY of_the_scope ON postmill.http_claim AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY http_session of_the_scope

CREATE POLICY of_the_scope ON postmill.http_session AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY idempotency_key of_the_scope

CREATE POLICY of_the_scope ON postmill.idempotency_key AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY incident of_the_scope

CREATE POLICY of_the_scope ON postmill.incident AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY incident_job of_the_scope

CREATE POLICY of_the_scope ON postmill.incident_job AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY incident_part of_the_scope

CREATE POLICY of_the_scope ON postmill.incident_part AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY job of_the_scope

CREATE POLICY of_the_scope ON postmill.job AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY job_kept of_the_scope

CREATE POLICY of_the_scope ON postmill.job_kept AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY job_tag of_the_scope

CREATE POLICY of_the_scope ON postmill.job_tag AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY leaving of_the_scope

CREATE POLICY of_the_scope ON postmill.leaving AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY login_link of_the_scope

CREATE POLICY of_the_scope ON postmill.login_link AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY notification of_the_scope

CREATE POLICY of_the_scope ON postmill.notification AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY operation of_the_scope

CREATE POLICY of_the_scope ON postmill.operation AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY operation_item of_the_scope

CREATE POLICY of_the_scope ON postmill.operation_item AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY operation_share of_the_scope

CREATE POLICY of_the_scope ON postmill.operation_share AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY outcome of_the_scope

CREATE POLICY of_the_scope ON postmill.outcome AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY project of_the_scope

CREATE POLICY of_the_scope ON postmill.project AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY recovery of_the_scope

CREATE POLICY of_the_scope ON postmill.recovery AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY retention_progress of_the_scope

CREATE POLICY of_the_scope ON postmill.retention_progress AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY retention_rule of_the_scope

CREATE POLICY of_the_scope ON postmill.retention_rule AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY rollup of_the_scope

CREATE POLICY of_the_scope ON postmill.rollup AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY rollup_hour of_the_scope

CREATE POLICY of_the_scope ON postmill.rollup_hour AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY rollup_part of_the_scope

CREATE POLICY of_the_scope ON postmill.rollup_part AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY saved_view of_the_scope

CREATE POLICY of_the_scope ON postmill.saved_view AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY tenant of_the_scope

CREATE POLICY of_the_scope ON postmill.tenant AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY tenant_gate of_the_scope

CREATE POLICY of_the_scope ON postmill.tenant_gate AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY tenant_move of_the_scope

CREATE POLICY of_the_scope ON postmill.tenant_move AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY tick of_the_scope

CREATE POLICY of_the_scope ON postmill.tick AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY trigger of_the_scope

CREATE POLICY of_the_scope ON postmill.trigger AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- POLICY webhook of_the_scope

CREATE POLICY of_the_scope ON postmill.webhook AS RESTRICTIVE FOR SELECT TO postmill_reader USING ((( SELECT postmill.sees_all() AS sees_all) OR (tenant_id = ( SELECT postmill.scope_tenant() AS scope_tenant))));

-- ROW SECURITY operation

ALTER TABLE postmill.operation ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY operation_item

ALTER TABLE postmill.operation_item ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY operation_share

ALTER TABLE postmill.operation_share ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY outcome

ALTER TABLE postmill.outcome ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY project

ALTER TABLE postmill.project ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY recovery

ALTER TABLE postmill.recovery ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY retention_progress

ALTER TABLE postmill.retention_progress ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY retention_rule

ALTER TABLE postmill.retention_rule ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY rollup

ALTER TABLE postmill.rollup ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY rollup_hour

ALTER TABLE postmill.rollup_hour ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY rollup_part

ALTER TABLE postmill.rollup_part ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY saved_view

ALTER TABLE postmill.saved_view ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY tenant

ALTER TABLE postmill.tenant ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY tenant_gate

ALTER TABLE postmill.tenant_gate ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY tenant_move

ALTER TABLE postmill.tenant_move ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY tick

ALTER TABLE postmill.tick ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY trigger

ALTER TABLE postmill.trigger ENABLE ROW LEVEL SECURITY;

-- ROW SECURITY webhook

ALTER TABLE postmill.webhook ENABLE ROW LEVEL SECURITY;

-- POLICY api_key whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.api_key USING (true) WITH CHECK (true);

-- POLICY artifact whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.artifact USING (true) WITH CHECK (true);

-- POLICY attempt whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.attempt USING (true) WITH CHECK (true);

-- POLICY audit_log whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.audit_log USING (true) WITH CHECK (true);

-- POLICY boost whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.boost USING (true) WITH CHECK (true);

-- POLICY budget whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget USING (true) WITH CHECK (true);

-- POLICY budget_alert whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget_alert USING (true) WITH CHECK (true);

-- POLICY budget_balance whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget_balance USING (true) WITH CHECK (true);

-- POLICY budget_line whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget_line USING (true) WITH CHECK (true);

-- POLICY budget_period whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget_period USING (true) WITH CHECK (true);

-- POLICY budget_request whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget_request USING (true) WITH CHECK (true);

-- POLICY budget_reservation whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.budget_reservation USING (true) WITH CHECK (true);

-- POLICY cell_tenant whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.cell_tenant USING (true) WITH CHECK (true);

-- POLICY console_session whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.console_session USING (true) WITH CHECK (true);

-- POLICY dead_letter whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.dead_letter USING (true) WITH CHECK (true);

-- POLICY dead_tally whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.dead_tally USING (true) WITH CHECK (true);

-- POLICY error_group_minute whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.error_group_minute USING (true) WITH CHECK (true);

-- POLICY error_group_part whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.error_group_part USING (true) WITH CHECK (true);

-- POLICY error_group_tenant whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.error_group_tenant USING (true) WITH CHECK (true);

-- POLICY event whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.event USING (true) WITH CHECK (true);

-- POLICY event_delivery whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.event_delivery USING (true) WITH CHECK (true);

-- POLICY forgotten whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.forgotten USING (true) WITH CHECK (true);

-- POLICY http_claim whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.http_claim USING (true) WITH CHECK (true);

-- POLICY http_session whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.http_session USING (true) WITH CHECK (true);

-- POLICY idempotency_key whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.idempotency_key USING (true) WITH CHECK (true);

-- POLICY incident whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.incident USING (true) WITH CHECK (true);

-- POLICY incident_job whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.incident_job USING (true) WITH CHECK (true);

-- POLICY incident_part whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.incident_part USING (true) WITH CHECK (true);

-- POLICY job whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.job USING (true) WITH CHECK (true);

-- POLICY job_kept whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.job_kept USING (true) WITH CHECK (true);

-- POLICY job_tag whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.job_tag USING (true) WITH CHECK (true);

-- POLICY leaving whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.leaving USING (true) WITH CHECK (true);

-- POLICY login_link whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.login_link USING (true) WITH CHECK (true);

-- POLICY notification whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.notification USING (true) WITH CHECK (true);

-- POLICY operation whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.operation USING (true) WITH CHECK (true);

-- POLICY operation_item whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.operation_item USING (true) WITH CHECK (true);

-- POLICY operation_share whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.operation_share USING (true) WITH CHECK (true);

-- POLICY outcome whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.outcome USING (true) WITH CHECK (true);

-- POLICY project whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.project USING (true) WITH CHECK (true);

-- POLICY recovery whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.recovery USING (true) WITH CHECK (true);

-- POLICY retention_progress whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.retention_progress USING (true) WITH CHECK (true);

-- POLICY retention_rule whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.retention_rule USING (true) WITH CHECK (true);

-- POLICY rollup whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.rollup USING (true) WITH CHECK (true);

-- POLICY rollup_hour whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.rollup_hour USING (true) WITH CHECK (true);

-- POLICY rollup_part whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.rollup_part USING (true) WITH CHECK (true);

-- POLICY saved_view whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.saved_view USING (true) WITH CHECK (true);

-- POLICY tenant whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.tenant USING (true) WITH CHECK (true);

-- POLICY tenant_gate whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.tenant_gate USING (true) WITH CHECK (true);

-- POLICY tenant_move whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.tenant_move USING (true) WITH CHECK (true);

-- POLICY tick whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.tick USING (true) WITH CHECK (true);

-- POLICY trigger whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.trigger USING (true) WITH CHECK (true);

-- POLICY webhook whoever_has_rights

CREATE POLICY whoever_has_rights ON postmill.webhook USING (true) WITH CHECK (true);

