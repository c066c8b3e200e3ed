select {schema}.ring(u.queue, u.lane, u.priority) from unnest($1::text[], $2::uuid[], $3::integer[]) as u(queue, lane, priority)
