select w.holder, w.worker_id, w.hostname, w.pid, w.version, w.queues, w.slots::text, w.job_types, w.state, w.running_count,
       w.started_at, w.last_seen_at, w.stopped_at, w.lease_expires_at, w.metadata::text, w.asked, w.asked_at, w.asked_by,
       w.asked_reason, w.draining_since, w.full_since, w.skew_seconds, w.report::text, w.build
  from {schema}.read_workers($1::double precision, $2::timestamptz, $3::uuid, $4::integer, $5::uuid) w
