select * from {schema}.read_last_missed()
