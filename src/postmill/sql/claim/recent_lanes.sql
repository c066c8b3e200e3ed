select queue, lane, priority from {schema}.recent_lanes($1::text[], $2::float8 * interval '1 second', $3::integer)
