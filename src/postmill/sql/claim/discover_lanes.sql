select queue, lane, priority from {schema}.discover_lanes($1::text[], $2::integer)
