select * from {schema}.door_shared_operations((select {schema}.now()) - $1::float8 * interval '1 second')
