-- About how much a move has to carry, and what stands in its way.
select t.id, t.slug, t.name, t.status,
       (select count(*) from {schema}.any_job j where j.tenant_id = t.id),
       (select count(*) from {schema}.running r join {schema}.any_job j on j.id = r.id where j.tenant_id = t.id),
       (select count(*) from {schema}.dead_letter d where d.tenant_id = t.id),
       (select count(*) from {schema}.trigger g where g.tenant_id = t.id and g.deleted_at is null),
       (select count(*) from {schema}.idempotency_key k where k.tenant_id = t.id),
       (select count(*) from {schema}.operation o where o.tenant_id = t.id and o.ended_at is null)
  from {schema}.tenant t where t.id = $1::uuid
