-- postmill: safe
-- The request that comes most often.

-- Beginning and acts of requests of one principal that do nothing but door_enqueue: those that come at the same time share a
-- statement and its commit, which cost more than the jobs (1,100 requests a second alone, 4,100 together, 2 cores). Whoever
-- calls it is the server; the door is entered as the request role. Answers in the order of the arrays.
create function {schema}.request_enqueue(p_scope uuid, p_platform boolean, p_via text, p_actor_type text, p_actor_id text,
    p_role text, p_request_ids text[], p_job_types text[], p_versions integer[], p_payloads jsonb[], p_tenants uuid[],
    p_projects uuid[], p_priorities integer[], p_scheduled_for timestamptz[], p_keys text[], p_modes text[],
    p_correlation_ids text[], p_traceparents text[], p_tags jsonb[] default null)
returns table (id uuid, status text, detail text, tenant_id uuid, state text, created_at timestamptz)
language plpgsql volatile as $$
declare
    answer record;
begin
    perform {schema}.enter_request(p_scope, p_platform, p_via, p_actor_type, p_actor_id, p_role, p_request_ids[1]);
    for i in 1 .. cardinality(p_request_ids) loop
        if i > 1 then
            perform set_config('postmill.request_id', p_request_ids[i], true);
        end if;
        answer := {schema}.door_enqueue(p_job_types[i], p_versions[i], p_payloads[i], p_tenants[i], p_projects[i], p_priorities[i],
            p_scheduled_for[i], p_keys[i], p_modes[i], p_correlation_ids[i], p_traceparents[i], p_tags[i]);
        id := answer.id; status := answer.status; detail := answer.detail;
        tenant_id := answer.tenant_id; state := answer.state; created_at := answer.created_at;
        return next;
    end loop;
end
$$;
