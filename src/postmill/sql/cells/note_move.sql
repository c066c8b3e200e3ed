-- What a mover has done. Nothing where it is no longer at that step: somebody has aborted it.
update {schema}.tenant_move m
   set step = coalesce($4::text, m.step), note = $5::text, carried = m.carried || coalesce($6::text::jsonb, '{}'),
       copied_until = coalesce($7::timestamptz, m.copied_until), closed_at = coalesce($8::timestamptz, m.closed_at),
       opened_at = coalesce($9::timestamptz, m.opened_at),
       status = case when $4::text = 'done' then 'done' else m.status end,
       ended_at = case when $4::text = 'done' then {schema}.now() end, updated_at = {schema}.now()
 where m.id = $1::uuid and m.step = $2::text and m.status = $3::text
returning m.id
