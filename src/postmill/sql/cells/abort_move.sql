-- aborting: from here on no mover goes forward. aborted: both sides are as before.
update {schema}.tenant_move m
   set status = $2::text, updated_at = {schema}.now(), ended_at = case when $2::text = 'aborted' then {schema}.now() end
 where m.id = $1::uuid and m.status in ('running', 'aborting') and m.step in ('prepare', 'copy', 'drain', 'switch')
returning m.id
