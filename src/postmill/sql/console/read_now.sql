select * from {schema}.read_now()
