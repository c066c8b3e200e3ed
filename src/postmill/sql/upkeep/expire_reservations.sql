select e.job_type, e.unit, e.booked::float8, e.status from {schema}.expire_reservations($1::integer) e
