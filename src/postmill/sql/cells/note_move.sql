-- What a mover has done. Nothing where it is no longer at that step: somebody has aborted it. $8, $9: so many seconds ago the
-- gate closed or opened; by this clock both, for those of the cells may differ.
update {schema}.tenant_move m
   set step = coalesce($4::text, m.step), note = $5::text, carried = m.carried || coalesce($6::text::jsonb, '{}'),
       copied_until = coalesce($7::timestamptz, m.copied_until),
       closed_at = coalesce(m.closed_at, {schema}.now() - make_interval(secs => $8::float)),
       opened_at = coalesce(m.opened_at, {schema}.now() - make_interval(secs => $9::float)),
       parts = m.parts || coalesce($10::text::jsonb, '{}'),
       status = case when $4::text = 'done' then 'done' else m.status end,
       ended_at = case when $4::text = 'done' then {schema}.now() end, updated_at = {schema}.now()
 where m.id = $1::uuid and m.step = $2::text and m.status = $3::text
returning m.id
