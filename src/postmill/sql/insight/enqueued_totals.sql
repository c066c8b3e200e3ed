select t.job_type, t.queue, t.n from {schema}.enqueued_totals() t
