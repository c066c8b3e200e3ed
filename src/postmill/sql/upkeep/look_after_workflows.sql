select {schema}.look_after_workflows($1::float8 * interval '1 second', $2::integer)
