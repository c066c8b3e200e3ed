-- One row, the job's id, where nothing was done: it is no longer this worker's.
select u.id from (select $2::uuid as id) u
 where not {schema}.complete_fanning($1::uuid, u.id, $3::bigint, $4::uuid, $5::bigint, $6::text::jsonb, $7::uuid, $8::text::jsonb)
