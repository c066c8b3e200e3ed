select l.what, l.name, l.unit, l.used::float8, l.limit_amount::float8, l.workers from {schema}.read_limits() l
