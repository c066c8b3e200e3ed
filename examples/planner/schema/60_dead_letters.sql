-- `q:deadletter`: the planner's dead letters in the words of its contract. They stay where they were given up and nothing is
-- claimed from here; the name is what people and dashboards call them.
create or replace view planner.deadletter with (security_barrier) as
select 'q:deadletter' as queue, d.queue as from_queue, d.id as job_id, j.job_type, j.tenant_id as org_id, j.project_id, j.actor_type,
       j.actor_id, j.request_id, j.correlation_id, j.idempotency_key, j.payload, d.attempts, d.reason, d.error_class, d.error_code,
       d.error_message, d.stack, d.failed_at
  from postmill.dead_letter d
  join postmill.any_job j on j.id = d.id
 where d.queue like 'q:%'
   -- The application sees its present organization's; whoever else may read this sees all.
   and (d.tenant_id = nullif(current_setting('postmill.tenant_id', true), '')::uuid or current_user not like 'planner\_%');
grant select on planner.deadletter to planner_app;
grant execute on function postmill.discard_jobs, postmill.read_envelope to planner_app;
