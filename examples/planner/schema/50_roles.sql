-- Three roles that own nothing: rules are kept by the database, whatever a handler tries. Sessions take one at their start
-- (resources.py). Roles belong to the server, so another database may have made them already.
do $$
declare
    wanted text;
    held text;
    tables text[] := array['planner.project', 'planner.access', 'planner.credential', 'planner.collaborator', 'planner.mission',
                           'planner.assignment', 'planner.availability', 'planner.run_sheet', 'planner.run_sheet_version',
                           'planner.proposal', 'planner.delivery', 'planner.request_key', 'planner.search_entry',
                           'planner_audit.event'];
begin
    foreach wanted in array array['planner_app', 'planner_planning', 'planner_auditing'] loop
        begin
            execute format('create role %I nologin', wanted);
        exception when duplicate_object or unique_violation then
            null;
        end;
        execute format('grant usage on schema planner, planner_audit, postmill to %I', wanted);
        execute format('grant execute on function postmill.now(), postmill.new_id() to %I', wanted);
    end loop;
    -- The organization is a boundary in every query: rows of another one are not there.
    foreach held in array tables loop
        execute format('alter table %s enable row level security', held);
        execute format('drop policy if exists own_org on %s', held);
        execute format($p$create policy own_org on %s using (org_id = nullif(current_setting('postmill.tenant_id', true), '')::uuid)$p$, held);
    end loop;
end
$$;

select postmill.grant_application('planner_app');
grant select, insert, update, delete on all tables in schema planner to planner_app;
grant select, insert on planner_audit.event to planner_app;

-- Planning computations read everything and write proposals, never assignments.
grant select on all tables in schema planner to planner_planning;
revoke select on planner.credential from planner_planning;
grant insert on planner.proposal to planner_planning;

-- Audit enrichment reads what it explains, and writes the audit trail and nothing else.
grant select on planner.project, planner.access, planner.run_sheet, planner.run_sheet_version to planner_auditing;
grant select, insert, update (explanation, explained_by) on planner_audit.event to planner_auditing;

-- A project is known to Postmill, too: strict envelopes are checked against it.
create or replace function planner.open_project(p_org uuid, p_name text) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    made uuid;
begin
    if p_org is distinct from nullif(current_setting('postmill.tenant_id', true), '')::uuid then
        raise insufficient_privilege using message = 'a project of another organization';
    end if;
    insert into planner.project (org_id, name) values (p_org, p_name) returning id into made;
    insert into postmill.project (id, tenant_id, slug, name) values (made, p_org, 'p-' || made, p_name);
    return made;
end
$$;
revoke all on function planner.open_project(uuid, text) from public;
grant execute on function planner.open_project(uuid, text) to planner_app;
