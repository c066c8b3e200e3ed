select {schema}.wake_knowing(u.queue, u.job_type, u.code) from unnest($1::text[], $2::text[], $3::text[]) as u(queue, job_type, code)
