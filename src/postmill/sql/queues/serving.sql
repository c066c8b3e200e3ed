-- Which queues there are, and which of them stored commands belong to.
select q.name, exists (select from {schema}.job_definition d where d.queue = q.name and d.kind = 'command' and d.is_active)
  from {schema}.queue q order by q.name
