select f.value, f.note from {schema}.read_facets($1::text, $2::text, $3::integer) f
