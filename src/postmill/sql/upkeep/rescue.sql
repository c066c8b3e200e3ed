select id, queue, lane, priority, verdict from {schema}.rescue($1::uuid, $2::float8, $3::float8, $4::integer)
