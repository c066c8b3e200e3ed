-- postmill: safe
-- The work of a round on operations, under its lock: what each may take now, and one step, in the transaction that also
-- counts it. Who dies in it has done nothing.

-- By the rate of each; of a canary no more than it has, and none while its first replays are still out. A stop of any
-- length is made up for by one second's worth at most.
create function {schema}.running_operations(p_most integer)
returns table (id uuid, kind text, stage text, allowed integer)
language plpgsql stable as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    select o.id, o.kind, o.stage,
           greatest(0, least(p_most, case when o.stage = 'canary' then o.canary - o.done else p_most end,
               case when o.rate is null then p_most
                    else floor(o.rate * extract(epoch from moment - {schema}.rate_base(o, moment)) + 1e-6) end))::integer
      from {schema}.operation o
     where o.status = 'running' and (o.stage = 'select' or o.start_at is null or o.start_at <= moment) order by o.id;
end
$$;

create function {schema}.rate_base(p_op {schema}.operation, p_moment timestamptz) returns timestamptz
language plpgsql immutable as $$
declare
    one interval := interval '1 s' / p_op.rate;
begin
    return greatest(coalesce(p_op.taken_at, p_moment - greatest(one, interval '0.2 s')), p_moment - one - interval '1 s');
end
$$;

-- Later jobs that do the same as a letter: with its key, or with its type and payload. All at the first look, then those of
-- the last minute and since. Whether one has succeeded is asked when the letter's turn comes.
create function {schema}.find_twins(p_id uuid, p_since timestamptz) returns void
language plpgsql volatile set plan_cache_mode = force_custom_plan set enable_seqscan = on set jit = off as $$
declare
    moment timestamptz := {schema}.now();
    low uuid := {schema}.id_at(p_since - interval '1 minute');
begin
    if p_since is null then
        low := (select x.job_id from {schema}.operation_item x where x.operation_id = p_id order by x.job_id limit 1);
        update {schema}.operation_item i
           set print = jsonb_hash_extended(j.payload, hashtextextended(j.job_type, 0)),
               key_print = hashtextextended(j.idempotency_key, hashtextextended(coalesce(j.project_id::text, ''), 0))
          from {schema}.any_job j where i.operation_id = p_id and j.id = i.job_id and j.id >= low;
    end if;
    with fresh as (
        select j.id, j.tenant_id, j.replayed_from, jsonb_hash_extended(j.payload, hashtextextended(j.job_type, 0)) as print,
               hashtextextended(j.idempotency_key, hashtextextended(coalesce(j.project_id::text, ''), 0)) as key_print
          from {schema}.job j where j.id > low
    ), pairs as (
        select i.n, f.id from fresh f join {schema}.operation_item i
            on i.operation_id = p_id and i.status is null and i.tenant_id = f.tenant_id and i.print = f.print
         where f.id > i.job_id and f.replayed_from is distinct from i.job_id
        union
        select i.n, f.id from fresh f join {schema}.operation_item i
            on i.operation_id = p_id and i.status is null and i.tenant_id = f.tenant_id and i.key_print = f.key_print
         where f.id > i.job_id and f.replayed_from is distinct from i.job_id
    ), several as (
        select p.n, array_agg(p.id order by p.id desc) as ids from pairs p group by 1
    )
    update {schema}.operation_item i
       set twins = (array(select distinct t.id from unnest(i.twins || s.ids) as t(id) order by 1 desc))[1:20]
      from several s where i.operation_id = p_id and i.n = s.n and not i.twins @> s.ids is true;
    update {schema}.operation o set twins_at = moment, started_at = coalesce(o.started_at, moment) where o.id = p_id;
end
$$;

-- Items that are next, with what a worker checks first: the payload against its definition.
create function {schema}.next_items(p_id uuid, p_most integer)
returns table (n integer, job_id uuid, tenant_id uuid, job_type text, payload jsonb)
language plpgsql volatile set enable_seqscan = off as $$
declare
    op {schema}.operation;
begin
    select o.* into op from {schema}.operation o where o.id = p_id;
    if op.kind = 'replay' and not op.despite_success and coalesce(op.twins_at < {schema}.now() - interval '5 s', true) then
        perform {schema}.find_twins(p_id, op.twins_at);
    elsif op.started_at is null then
        update {schema}.operation o set started_at = {schema}.now() where o.id = p_id;
    end if;
    return query
    select i.n, i.job_id, i.tenant_id, b.job_type, b.payload
      from (select x.* from {schema}.operation_item x
             where x.operation_id = p_id and x.status is null order by x.turn, x.n limit p_most) i
      left join lateral (select j.job_type, j.payload from {schema}.any_job j where j.id = i.job_id offset 0) b on true
     order by i.n;
end
$$;

-- Does what the operation is for to some jobs, to those that cannot be one by one: an error of one stops no other.
create function {schema}.act_on_items(p_op {schema}.operation, p_ids uuid[])
returns table (id uuid, status text, new_id uuid, detail text)
language plpgsql volatile as $$
declare
    one uuid;
begin
    begin
        if p_op.kind = 'replay' then
            return query select r.id, r.status, r.new_id, null::text
                           from {schema}.rerun_jobs('dead.replay', p_ids, null, p_op.again, p_op.confirm, null, null, true,
                                                    p_op.version, null, p_op.priority, p_op.original_version) r;
        elsif p_op.kind = 'retry' then
            return query select r.id, r.status, r.new_id, null::text
                           from {schema}.rerun_jobs('jobs.retry', p_ids, null, false, p_op.confirm, null, null) r;
        elsif p_op.kind = 'cancel' then
            return query select d.id, d.status, null::uuid, null::text from {schema}.door_cancel_jobs(p_ids, p_op.reason) d;
        elsif p_op.kind = 'discard' then
            return query select d.id, d.status, null::uuid, null::text from {schema}.door_discard_jobs(p_ids, p_op.reason) d;
        elsif p_op.kind = 'priority' then
            return query select d.id, d.status, null::uuid, null::text
                           from {schema}.door_prioritize_jobs(p_ids, p_op.priority, p_op.reason) d;
        elsif p_op.kind = 'move' then
            return query select d.id, d.status, null::uuid, null::text from {schema}.door_move_jobs(p_ids, p_op.queue, p_op.reason) d;
        elsif p_op.kind = 'tag' then
            return query select d.id, d.status, null::uuid, null::text
                           from {schema}.door_tag_jobs(p_ids,
                               array(select t.tag from jsonb_array_elements_text(p_op.tags) as t(tag) where t.tag not like '-%'),
                               array(select substr(t.tag, 2) from jsonb_array_elements_text(p_op.tags) as t(tag) where t.tag like '-%'),
                               p_op.reason) d;
        else
            return query select d.id, d.status, null::uuid, null::text
                           from {schema}.door_schedule_jobs(p_ids, p_op.run_at, p_op.reason) d;
        end if;
    exception when others then
        if cardinality(p_ids) = 1 then
            return query select p_ids[1], case when sqlstate in ('40001', '40P01', '55P03') then 'busy' else 'error' end, null::uuid,
                                left(sqlerrm, 500);
        else
            foreach one in array p_ids loop
                return query select a.* from {schema}.act_on_items(p_op, array[one]) a;
            end loop;
        end if;
    end;
end
$$;

-- p_refused: what a worker found wrong with payloads, by n. Answers how the operation stands then; passed: of these items, how
-- many were left as they are. Those cost nothing of the rate.
create function {schema}.step_operation(p_id uuid, p_ns integer[], p_refused jsonb)
returns table (status text, done integer, skipped integer, failed integer, passed integer)
language plpgsql volatile set enable_seqscan = off as $$
declare
    op {schema}.operation;
    moment timestamptz := {schema}.now();
    left_over integer;
    out_there integer;
    unlucky integer;
    skipped_before integer;
begin
    select o.* into op from {schema}.operation o where o.id = p_id and o.status = 'running' for update;
    if not found then
        return;
    end if;
    skipped_before := op.skipped;
    perform {schema}.set_actor('upkeep', op.actor_type, op.actor_id, op.actor_role, op.request_id),
            set_config('lock_timeout', '1s', true);
    with refused as (
        select r.key::integer as n, 'invalid' as status, null::uuid as new_id, left(r.value, 500) as detail
          from jsonb_each_text(p_refused) r where r.key::integer = any (p_ns)
    ), ready as materialized (
        select i.n, i.job_id, (select x.job_id from {schema}.outcome x
                                where x.job_id = any (i.twins) and x.status = 'succeeded' limit 1) as twin,
               op.same_version and {schema}.definition_changed(i.job_id) as changed
          from {schema}.operation_item i
         where i.operation_id = p_id and i.n = any (p_ns) and i.status is null and not p_refused ? i.n::text
    ), acted as materialized (
        select a.* from {schema}.act_on_items(op, array(select r.job_id from ready r where r.twin is null and not r.changed order by r.job_id)) a
         where exists (select from ready r where r.twin is null and not r.changed)
    ), told as (
        select r.n, r.status, r.new_id, r.detail from refused r
        union all
        select r.n, case when r.twin is not null then 'succeeded_since' when r.changed then 'version_changed' else a.status end,
               coalesce(r.twin, a.new_id), a.detail
          from ready r left join acted a on a.id = r.job_id
    )
    update {schema}.operation_item i
       set status = case when t.status in ('busy', 'serialization', 'contended') and i.tries < 10 then null else t.status end,
           tries = i.tries + 1, new_id = t.new_id, detail = t.detail, at = moment
      from told t where i.operation_id = p_id and i.n = t.n;
    update {schema}.operation o
       set done = o.done + c.done, skipped = o.skipped + c.skipped, failed = o.failed + c.failed,
           taken_at = case when o.rate is not null
                           then {schema}.rate_base(o, moment) + (cardinality(p_ns) - c.skipped) * interval '1 s' / o.rate end
      from (select count(*) filter (where i.status in ('replayed', 'due', 'requested', 'canceled', 'discarded', 'changed')) as done,
                   count(*) filter (where i.status in ('live', 'already_replayed', 'succeeded_since', 'succeeded', 'running',
                       'waiting', 'never', 'unconfirmed', 'not_dead', 'unknown', 'key_held', 'old_version',
                       'version_changed', 'version_gone', 'finished', 'unchanged', 'blocked')) as skipped,
                   count(*) filter (where i.status is not null) as all_of_them
              from {schema}.operation_item i where i.operation_id = p_id and i.n = any (p_ns)) n
     cross join lateral (select n.done, n.skipped, n.all_of_them - n.done - n.skipped as failed) c
     where o.id = p_id returning o.* into op;

    left_over := (select count(*) from (select from {schema}.operation_item i
                                         where i.operation_id = p_id and i.status is null limit 1) x);
    if op.stage = 'canary' and (op.done >= op.canary or left_over = 0) then
        select count(*) filter (where {schema}.is_live(i.new_id)),
               count(*) filter (where not {schema}.is_live(i.new_id) and (
                   exists (select from {schema}.dead_letter d where d.id = i.new_id)
                   or exists (select from {schema}.outcome x where x.job_id = i.new_id and x.status <> 'succeeded')))
          into out_there, unlucky
          from {schema}.operation_item i where i.operation_id = p_id and i.status = 'replayed';
        if unlucky > coalesce(op.stop_ratio, 0) * op.done then
            update {schema}.operation o
               set status = 'paused', paused_at = moment, paused_by = null,
                   pause_reason = format('canary: %s of %s did not succeed', unlucky, op.done)
             where o.id = p_id returning o.* into op;
            perform {schema}.audit('operations.pause', 'operation', p_id::text, op.tenant_id,
                jsonb_build_object('status', 'running', 'stage', 'canary', 'done', op.done),
                jsonb_build_object('status', 'paused'), op.pause_reason);
        elsif out_there = 0 then
            update {schema}.operation o set stage = 'rest', taken_at = null, watched_from = moment where o.id = p_id returning o.* into op;
        end if;
    elsif op.stop_ratio is not null and op.kind = 'replay' and left_over > 0 and coalesce(op.checked_at < moment - interval '2 s', true) then
        select count(*), count(*) filter (where x.failed) into out_there, unlucky
          from (select exists (select from {schema}.dead_letter d where d.id = r.new_id)
                       or exists (select from {schema}.outcome x where x.job_id = r.new_id and x.status <> 'succeeded') as failed
                  from (select i.new_id from {schema}.operation_item i where i.operation_id = p_id and i.status = 'replayed'
                           and i.at > coalesce(op.watched_from, '-infinity') order by i.at desc limit 1000) r
                 where not {schema}.is_live(r.new_id)) x;
        update {schema}.operation o
           set checked_at = moment,
               status = case when out_there >= 20 and unlucky > op.stop_ratio * out_there then 'paused' else o.status end,
               paused_at = case when out_there >= 20 and unlucky > op.stop_ratio * out_there then moment end,
               pause_reason = case when out_there >= 20 and unlucky > op.stop_ratio * out_there
                                   then format('failures: %s of the last %s did not succeed', unlucky, out_there) end
         where o.id = p_id returning o.* into op;
        if op.status = 'paused' then
            perform {schema}.audit('operations.pause', 'operation', p_id::text, op.tenant_id,
                jsonb_build_object('status', 'running', 'stage', op.stage, 'done', op.done),
                jsonb_build_object('status', 'paused'), op.pause_reason);
        end if;
    end if;
    if op.status = 'running' and op.stage = 'rest' and left_over = 0 then
        update {schema}.operation o set status = 'finished', ended_at = moment where o.id = p_id returning o.* into op;
        perform {schema}.audit('operations.finish', 'operation', p_id::text, op.tenant_id, null,
            jsonb_build_object('kind', op.kind, 'total', op.total, 'done', op.done, 'skipped', op.skipped, 'failed', op.failed));
    end if;
    perform {schema}.set_actor(null, null, null);
    return query select op.status, op.done, op.skipped, op.failed, op.skipped - skipped_before;
end
$$;

-- Operations and what they did go when the rule of `operations` says so (keep_of), counted from their end.
create function {schema}.sweep_operations(p_most integer) returns bigint
language plpgsql volatile as $$
declare
    gone bigint;
begin
    with old as (
        select i.operation_id, i.n from {schema}.operation_item i
         where i.operation_id in (select o.id from {schema}.operation o where o.ended_at < (select {schema}.now()) - (select {schema}.keep_of('operations')))
         limit p_most
    )
    delete from {schema}.operation_item i using old where i.operation_id = old.operation_id and i.n = old.n;
    get diagnostics gone = row_count;
    if gone < p_most then
        delete from {schema}.operation_share s using {schema}.operation o
         where o.id = s.operation_id and o.ended_at < (select {schema}.now()) - (select {schema}.keep_of('operations'));
        delete from {schema}.operation o where o.ended_at < (select {schema}.now()) - (select {schema}.keep_of('operations'));
    end if;
    return gone;
end
$$;
