select c.job_id, c.reason from {schema}.cancel_request c limit 10000
