select m.id, m.tenant_id, m.slug, m.from_cell, m.to_cell, m.step, m.status, m.note, m.carried, m.copied_until, m.closed_at, m.opened_at, m.reason, m.actor_id, m.created_at, m.updated_at, m.ended_at, m.parts, m.via
  from {schema}.tenant_move m
 where ($1::uuid is null or m.id = $1::uuid) and ($2::uuid is null or m.tenant_id = $2::uuid)
 and ($4::uuid is null or m.id < $4::uuid)
 order by m.id desc limit $3::integer
