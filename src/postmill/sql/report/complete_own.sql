select count(*) = 0 from {schema}.complete($1::uuid, array[$2::uuid], array[$3::bigint], array[$4::uuid], array[$5::bigint], array[$6::text::jsonb], null, array[$7::uuid])
