select r.id, r.job_type, r.queue, r.claimed_at from {schema}.running_of($1::uuid, $2::integer) r
