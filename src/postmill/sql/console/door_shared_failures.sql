select * from {schema}.door_shared_failures((select {schema}.now()) - $1::float8 * interval '1 second')
