-- Where COPY lands; enqueue_intake moves it on in the same transaction.
copy {schema}.intake (batch, n, job_type, payload, tenant_id, priority, delay) from stdin
