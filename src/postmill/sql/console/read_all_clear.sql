select * from {schema}.read_all_clear()
