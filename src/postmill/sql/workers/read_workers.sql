select w.holder, w.worker_id, w.hostname, w.pid, w.version, w.queues, w.slots::text, w.job_types, w.state, w.running_count,
       w.started_at, w.last_seen_at, w.stopped_at, w.lease_expires_at, w.metadata::text
  from {schema}.read_workers($1::double precision, $2::timestamptz, $3::uuid, $4::integer) w
