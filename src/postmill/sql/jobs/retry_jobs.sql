-- $4: also those whose definition wants to be asked.
select r.id, r.status, r.new_id from {schema}.retry_jobs($1::uuid[], $2::text, $3::text, $4::boolean) r
