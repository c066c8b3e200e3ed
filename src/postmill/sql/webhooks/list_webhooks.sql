-- Webhooks, the newest first. $2: the last id of the page before.
select w.id, w.tenant_id, w.label, w.event_name, w.is_enabled, w.created_by, w.created_at
  from {schema}.webhooks w
 where ($1::uuid is null or w.id = $1::uuid) and ($2::uuid is null or w.id < $2::uuid)
 order by w.id desc limit $3::integer
