insert into {schema}.tenant_move (id, tenant_id, slug, from_cell, to_cell, reason, actor_type, actor_id, via, created_at, updated_at)
values ({schema}.new_id(), $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, {schema}.now(), {schema}.now())
on conflict (tenant_id) where status in ('running', 'aborting') do nothing
returning id
