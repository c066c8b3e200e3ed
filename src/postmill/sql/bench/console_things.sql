-- Of the tenant that has most: a dead letter, an ended job, an error group, an operation, a budget, a workflow.
select (select id from {schema}.dead_letter where tenant_id = md5('tenant 0')::uuid limit 1),
       (select o.job_id from {schema}.outcome o where o.tenant_id = md5('tenant 0')::uuid order by finished_at desc limit 1),
       (select error_group from {schema}.dead_letter where tenant_id = md5('tenant 0')::uuid limit 1),
       md5('operation')::uuid, md5('budget')::uuid, md5('workflow 0')::uuid
