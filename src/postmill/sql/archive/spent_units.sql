select id, source, manifest::text, tenants::text[] from {schema}.spent_units($1::integer)
