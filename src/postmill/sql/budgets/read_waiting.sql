select w.job_type, w.n from {schema}.read_budget_waiting($1::uuid, $2::integer) w
