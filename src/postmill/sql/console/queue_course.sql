select c.bucket, c.arrived, c.ended, c.failed, c.queued, c.running, c.slots, c.waits, c.runs
  from {schema}.read_queue_course($1::text, (select {schema}.now()) - $2::float8 * interval '1 second', $3::float8) c
