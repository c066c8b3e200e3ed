-- postmill: safe
-- What HTTP workers tell of the jobs that they hold: that they are at it, and what came of it.

-- The job under this fence, locked until the end of the transaction: held (with its facts, and the cancel request) |
-- ended (with verb and answer of the report that ended it) | over (its lease ended, or somebody else's fence) | unknown.
create function {schema}.door_held_work(p_id uuid, p_holder uuid, p_claim_no bigint,
    out status text, out verb text, out answer jsonb, out job jsonb, out cancel_requested boolean, out cancel_reason text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    r {schema}.running;
    c {schema}.http_claim;
begin
    select t.* into r from {schema}.running t where t.id = p_id and t.holder = p_holder and t.claim_no = p_claim_no for update;
    select h.* into c from {schema}.http_claim h
     where h.job_id = p_id and h.claim_no = p_claim_no and h.holder = p_holder and {schema}.in_scope(h.tenant_id) for update;
    if c.job_id is null then
        status := case when {schema}.ids_in_scope(array[p_id]) = '{}' or not exists (
                            select from {schema}.any_job j where j.id = p_id) then 'unknown' else 'over' end;
    elsif c.ended_at is not null then
        status := 'ended'; verb := c.verb; answer := c.answer;
    elsif r.id is null then
        status := 'over';
    else
        status := 'held';
        select q.reason into cancel_reason from {schema}.cancel_request q where q.job_id = p_id;
        cancel_requested := found;
        job := jsonb_build_object('id', r.id, 'queue', r.queue, 'ready_at', c.ready_at, 'attempt', r.attempt, 'run', r.run,
                'lost', r.lost, 'claim_no', r.claim_no, 'claimed_at', r.claimed_at, 'lease_expires_at', c.expires_at,
                'tenant_id', c.tenant_id,
                'worker_id', (select w.worker_id from {schema}.worker w where w.holder = r.holder),
                'seconds', extract(epoch from {schema}.now() - r.claimed_at)) || {schema}.work_facts(p_id);
    end if;
end
$$;

-- Renews the lease of a held job, and its session's: renewed | overdue (past its deadline: not renewed) | over (a lease
-- that ended cannot be renewed).
create function {schema}.door_beat_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_done double precision,
    p_total double precision, p_message text, out status text, out lease_expires_at timestamptz, out deadline timestamptz,
    out cancel_requested boolean, out cancel_reason text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
begin
    select 'overdue' into status from {schema}.http_claim c
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null and c.expires_at > moment
       and c.deadline <= moment and {schema}.in_scope(c.tenant_id);
    if found then
        return;
    end if;
    status := 'over';
    update {schema}.http_claim c set expires_at = moment + c.lease_seconds * interval '1 second'
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null and c.expires_at > moment
       and {schema}.in_scope(c.tenant_id)
    returning c.expires_at, c.deadline into lease_expires_at, deadline;
    if not found then
        return;
    end if;
    update {schema}.lease l set expires_at = greatest(l.expires_at, lease_expires_at)
     where l.holder = p_holder and l.expires_at > moment;
    if not found then
        return;
    end if;
    status := 'renewed';
    update {schema}.worker w set last_seen_at = moment where w.holder = p_holder;
    select q.reason into cancel_reason from {schema}.cancel_request q where q.job_id = p_id;
    cancel_requested := found;
    if p_done is not null then
        insert into {schema}.progress as p (job_id, holder, claim_no, done, total, message, at)
        values (p_id, p_holder, p_claim_no, p_done, p_total, p_message, moment)
        on conflict (job_id) do update set holder = excluded.holder, claim_no = excluded.claim_no, done = excluded.done,
            total = excluded.total, message = excluded.message, at = excluded.at;
    end if;
end
$$;

-- Ends a held job by the report of this verb, and keeps the answer: p_answer and the moments that are known only here.
-- NULL: it is over.
create function {schema}.door_report_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_report text, p_fields jsonb,
    p_result jsonb, p_answer jsonb) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    f constant jsonb := p_fields;
    moment timestamptz := {schema}.now();
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
      from {schema}.http_claim c join {schema}.running r on r.id = c.job_id and r.claim_no = c.claim_no and r.holder = c.holder
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null
       and {schema}.in_scope(c.tenant_id);
    if not found then
        return null;
    end if;
    whose := held.tenant_id;
    micros := held.micros;
    select j.job_type, coalesce(j.scheduled_for, j.created_at) as due into body from {schema}.any_job j where j.id = p_id;
    case p_report
    when 'complete' then
        missed := {schema}.complete(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros], array[p_result]);
    when 'complete_forgotten' then
        missed := {schema}.complete_forgotten(p_holder, array[p_id], array[p_claim_no], f ->> 'job_type');
    when 'put_back' then
        missed := {schema}.put_back(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros],
            array[f ->> 'attempt_status'], array[(f ->> 'delay')::double precision], array[0], array[f ->> 'error_class'],
            array[f ->> 'error_code'], array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    when 'finish' then
        missed := {schema}.finish(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros], array[f ->> 'status'],
            array[f ->> 'attempt_status'], array[f ->> 'reason'], array[f ->> 'error_class'], array[f ->> 'error_code'],
            array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    when 'bury' then
        missed := {schema}.bury(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros],
            array[f ->> 'attempt_status'], array[f ->> 'reason'], array[f ->> 'error_class'], array[f ->> 'error_code'],
            array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    end case;
    if missed is not null then
        return null;
    end if;
    if p_report <> 'put_back' or attempt_status is not null then
        perform {schema}.count_end(whose, held.queue, coalesce(body.job_type, 'unknown'), case p_report
                when 'finish' then f ->> 'status' when 'bury' then 'dead_letter'
                when 'put_back' then case when attempt_status in ('failed', 'timeout') then 'retried' else attempt_status end
                else 'succeeded' end,
            case when started then extract(epoch from held.claimed_at - case held.run when 1 then coalesce(body.due, held.ready_at) else held.ready_at end) end,
            case when started then micros / 1e6 end, extract(epoch from moment - body.due));
    end if;
    if f ->> 'error_group' is not null then
        insert into {schema}.error_group_part (id, tenant_id, job_type, error_class, message, frame, error_code, error_status,
               first_at, last_at, n, job_id)
        values (f ->> 'error_group', whose, coalesce(body.job_type, 'unknown'), f ->> 'error_class', f ->> 'group_message', '', f ->> 'error_code',
               (f ->> 'error_status')::integer, moment, moment, 1, p_id);
    end if;
    told := p_answer || jsonb_build_object('finished_at', moment) || case when p_report = 'put_back'
            then jsonb_build_object('retry_at', moment + (f ->> 'delay')::double precision * interval '1 second') else '{}' end;
    update {schema}.http_claim c set ended_at = moment, verb = p_verb, answer = told
     where c.job_id = p_id and c.claim_no = p_claim_no;
    delete from {schema}.progress p where p.job_id = p_id;
    perform {schema}.http_running(p_holder);
    return told;
end
$$;

select {schema}.secure_requests();
