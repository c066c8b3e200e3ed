insert into {schema}.progress as p (job_id, holder, claim_no, done, total, message, at)
select $1::uuid, $2::uuid, $3::bigint, $4::float8, $5::float8, $6::text, (select {schema}.now())
 where exists (select from {schema}.running r where r.id = $1::uuid and r.holder = $2::uuid and r.claim_no = $3::bigint)
on conflict (job_id) do update
   set holder = excluded.holder, claim_no = excluded.claim_no, done = excluded.done, total = excluded.total,
       message = excluded.message, at = excluded.at
