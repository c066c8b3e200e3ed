-- postmill: safe
-- Worker sessions: opened, renewed, closed; and the rescue of what a dead session held.

create function {schema}.open_session(
    p_holder uuid, p_seconds double precision, p_worker_id text, p_hostname text, p_pid integer, p_version text,
    p_queues text[], p_slots jsonb, p_job_types text[], p_metadata jsonb, p_build text default null)
returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    insert into {schema}.lease (holder, started_at, expires_at)
    values (p_holder, moment, moment + p_seconds * interval '1 second');
    insert into {schema}.worker (holder, worker_id, hostname, pid, version, queues, slots, job_types, started_at,
           last_seen_at, metadata, build)
    values (p_holder, p_worker_id, p_hostname, p_pid, p_version, p_queues, p_slots, p_job_types, moment, moment, p_metadata, p_build);
    insert into {schema}.queue (name) select unnest(p_queues) on conflict do nothing;
end
$$;

-- False: the lease is over and the session must stop. A lease that ended cannot be renewed.
create function {schema}.renew(p_holder uuid, p_seconds double precision, p_running integer, p_draining boolean)
returns boolean
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    update {schema}.lease l set expires_at = moment + p_seconds * interval '1 second'
     where l.holder = p_holder and l.expires_at > moment;
    if not found then
        return false;
    end if;
    update {schema}.worker w set last_seen_at = moment, running_count = p_running, draining = p_draining
     where w.holder = p_holder;
    return true;
end
$$;

-- Whatever still runs under the session is given back at no cost: its worker reported all that it knew of, so these
-- are claims whose answer it never heard, or handlers that it gave up. p_ended: how it ended, joined to what it says of itself.
create function {schema}.close_session(p_holder uuid, p_ended jsonb default '{}') returns void
language plpgsql volatile as $$
begin
    perform {schema}.leave(p_holder);
    delete from {schema}.seat_waiter w where w.holder = p_holder;
    with held as materialized (
        select r.ctid as tid, r.* from {schema}.running r where r.holder = p_holder order by r.id for update skip locked
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), freed as (
        delete from {schema}.seat s where s.seat_no = any (array(select h.seat_no from held h))
    )
    insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
    select h.queue, h.lane, h.priority, {schema}.now(), h.id, h.attempt, h.run - 1, h.lost from held h;
    perform {schema}.tell_seat_waiters();
    delete from {schema}.lease l where l.holder = p_holder;
    update {schema}.worker w set stopped_at = {schema}.now(), running_count = 0, report = w.report || p_ended where w.holder = p_holder;
end
$$;

-- Takes back the running tickets of ended sessions, and those whose own lease with an HTTP worker ended; at most p_most,
-- derived anew each round. p_only: of this session alone.
-- A lost attempt is used up. A ticket that was lost twice is a suspect (lost = 2) and runs next in a child process of
-- its own; each death of that child adds one. The first loss does not make a suspect: a worker that is killed leaves up
-- to a thousand tickets that it had only prefetched, and a child for each took two minutes (777 tickets, two cores).
-- Whichever of max_attempts and max_lost comes first buries the job.
create function {schema}.take_back(p_only uuid, p_jitter_seconds double precision, p_most integer)
returns table (id uuid, queue text, verdict text, job_type text, tenant_id uuid, attempt integer, holder uuid)
language plpgsql volatile as $$
declare
    why constant text := 'the lease of the worker session ended while the job ran';
    moment timestamptz := {schema}.history_moment();
begin
    return query
    with gone_sessions as materialized (
        select r.ctid as tid, r.id, r.holder, r.claim_no, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, r.claimed_at,
               r.seat_no
          from {schema}.running r left join {schema}.lease l on l.holder = r.holder
         where (p_only is null or r.holder = p_only) and (l.holder is null or l.expires_at <= moment
            or (r.id, r.claim_no) in (select h.job_id, h.claim_no from {schema}.http_claim h
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
                               from {schema}.job b where b.id = g.id
                             union all
                             select b.id, b.tenant_id, b.job_type, b.max_attempts, coalesce(b.scheduled_for, b.created_at)
                               from {schema}.job_kept b where b.id = g.id
                             offset 0) j on true
          left join {schema}.job_definition d on d.key = j.job_type
          left join {schema}.cancel_request c on c.job_id = g.id
    ), taken as (
        delete from {schema}.running r where r.ctid = any (array(select g.tid from gone_sessions g))
    ), freed as (
        delete from {schema}.seat s where s.seat_no = any (array(select g.seat_no from gone_sessions g))
    ), lapsed as (
        delete from {schema}.http_claim h using gone_sessions g where h.job_id = g.id and h.claim_no = g.claim_no
    ), heard as (
        delete from {schema}.cancel_request c using judged j where c.job_id = j.id and j.verdict <> 'scheduled'
    ), tried as (
        insert into {schema}.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status,
               error_class, error_message, error_group)
        select j.id, coalesce(j.tenant_id, j.lane), j.attempt, j.run, j.holder, j.claim_no, j.claimed_at, moment, 'lost',
               'WorkerLost', why, {schema}.error_group_id(coalesce(j.job_type, 'unknown'), 'WorkerLost', why, '')
          from judged j where j.verdict in ('scheduled', 'dead_letter', 'undecodable')
    ), later as (
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select j.queue, j.lane, moment + random() * p_jitter_seconds * interval '1 second', j.id, j.priority,
               j.attempt + 1, j.run, least(j.lost + 1, greatest(j.lost, 2))
          from judged j where j.verdict = 'scheduled'
    ), buried as (
        insert into {schema}.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_message, error_group, attempts, failed_at, last_attempt_at)
        select j.id, coalesce(j.tenant_id, j.lane), j.queue, j.lane, j.priority, j.attempt, j.run, least(j.lost + 1, greatest(j.lost, 2)),
               case j.verdict when 'undecodable' then 'undecodable' else 'worker_lost' end, 'WorkerLost', why,
               {schema}.error_group_id(coalesce(j.job_type, 'unknown'), 'WorkerLost', why, ''), j.attempt, moment, j.claimed_at
          from judged j where j.verdict in ('dead_letter', 'undecodable')
    ), ended as (
        insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder,
               claim_no, started_at, reason, error_class, error_message, error_group)
        select j.id, j.tenant_id, j.verdict, moment, j.attempt, j.run, least(j.lost + 1, greatest(j.lost, 2)), 'lost', j.holder, j.claim_no,
               j.claimed_at, case j.verdict when 'failed' then 'worker_lost' else coalesce(j.cancel_reason, 'canceled') end, 'WorkerLost',
               why, {schema}.error_group_id(coalesce(j.job_type, 'unknown'), 'WorkerLost', why, '')
          from judged j where j.verdict in ('failed', 'canceled')
    ), counted as (
        insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n, total_sum, total_hist)
        select {schema}.minute_of(moment), e.tenant_id, e.queue, e.job_type, e.outcome, count(*), coalesce(sum(e.total), 0),
               {schema}.histogram_sum({schema}.histogram(e.total))
          from (select coalesce(j.tenant_id, j.lane) as tenant_id, j.queue, coalesce(j.job_type, 'unknown') as job_type,
                       case j.verdict when 'scheduled' then 'lost' when 'undecodable' then 'dead_letter'
                                      else j.verdict end as outcome,
                       case when j.verdict in ('dead_letter', 'failed')
                            then greatest(0, extract(epoch from moment - j.due))::double precision end as total
                  from judged j) e
         group by e.tenant_id, e.queue, e.job_type, e.outcome
    ), grouped as (
        insert into {schema}.error_group_part (id, tenant_id, job_type, error_class, message, frame, first_at, last_at, n, job_id)
        select {schema}.error_group_id(g.job_type, 'WorkerLost', why, ''), g.tenant_id, g.job_type, 'WorkerLost', why, '',
               moment, moment, g.n, g.job_id
          from (select coalesce(j.job_type, 'unknown') as job_type, coalesce(j.tenant_id, j.lane) as tenant_id, count(*) as n,
                       (array_agg(j.id order by j.id desc))[1] as job_id
                  from judged j group by 1, 2) g
    ), told as (
        insert into {schema}.workflow_inbox (workflow_id, job_id, state)
        select s.workflow_id, j.id, case j.verdict when 'canceled' then 'canceled' else 'failed' end
          from judged j join {schema}.workflow_step s on s.job_id = j.id where j.verdict <> 'scheduled'
    )
    select j.id, j.queue, j.verdict, j.job_type, j.tenant_id, j.attempt, j.holder from judged j;
    perform {schema}.tell_seat_waiters();
end
$$;

-- Only a session that itself lived unbroken for one lease may rescue, or an outage would make everybody rescue everything.
create function {schema}.rescue(p_holder uuid, p_lease_seconds double precision, p_jitter_seconds double precision, p_most integer)
returns table (id uuid, queue text, verdict text, job_type text, tenant_id uuid, attempt integer, holder uuid)
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    if exists (select from {schema}.lease l where l.holder = p_holder and l.expires_at > moment
                  and l.started_at < moment - p_lease_seconds * interval '1 second') then
        return query select t.* from {schema}.take_back(null, p_jitter_seconds, p_most) t;
    end if;
end
$$;

-- Leases of ended sessions that hold nothing any more, sleepers past their deadline, workers beyond history.
create function {schema}.sweep_sessions() returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    delete from {schema}.lease l
     where l.expires_at < moment - interval '1 hour'
       and not exists (select from {schema}.running r where r.holder = l.holder);
    update {schema}.worker w set stopped_at = w.last_seen_at, running_count = 0
     where w.stopped_at is null and not exists (select from {schema}.lease l where l.holder = w.holder and l.expires_at > moment);
    delete from {schema}.worker w using {schema}.partition_policy p
     where w.stopped_at < moment - p.retention - 2 * p.width;
    delete from {schema}.sleeper s where s.valid_until < moment;
    delete from {schema}.seat_waiter w where w.valid_until < moment;
    delete from {schema}.rate_take t where t.ctid = any (array(
        select o.ctid from {schema}.rate_take o where o.tat < moment - interval '1 hour' limit 10000));
end
$$;
