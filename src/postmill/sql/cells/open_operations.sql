-- What must end before a tenant can be carried: bulk operations, and steps of workflows that are about to move on.
(select o.id from {schema}.operation o where o.tenant_id = $1::uuid and o.ended_at is null limit 1)
union all
(select i.workflow_id from {schema}.workflow_inbox i join {schema}.workflow w on w.id = i.workflow_id
  where w.tenant_id = $1::uuid limit 1)
