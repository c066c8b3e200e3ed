select id, source, rule, since, until, columns::text, blocks, size, schema_version
  from {schema}.claim_unit($1::text, $2::float8)
