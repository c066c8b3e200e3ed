update {schema}.partition_policy p
   set retention = coalesce($1::float8 * interval '1 second', p.retention),
       width = coalesce($2::float8 * interval '1 second', p.width)
 where (p.retention, p.width) is distinct from (coalesce($1::float8 * interval '1 second', p.retention),
                                                coalesce($2::float8 * interval '1 second', p.width))
