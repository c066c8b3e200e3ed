select queue, watch from {schema}.doze($1::uuid, $2::text[], $3::float8)
