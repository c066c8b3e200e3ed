-- Events, the newest first. $6: the last id of the page before.
select e.id, e.tenant_id, e.name, e.context::text, e.published_at, e.actor_type, e.actor_id, e.request_id, e.correlation_id
  from {schema}.events e
 where ($1::uuid is null or e.id = $1::uuid) and ($2::text is null or e.name = $2::text)
   and ($3::timestamptz is null or e.id >= {schema}.id_at($3::timestamptz))
   and ($4::timestamptz is null or e.id < {schema}.id_at($4::timestamptz))
   and ($5::text is null or e.correlation_id = $5::text) and ($6::uuid is null or e.id < $6::uuid)
 order by e.id desc
 limit $7::integer offset $8::integer
