select d.id, d.status from {schema}.discard_jobs($1::uuid[], $2::text) d
