select s.id, s.status from {schema}.door_schedule_jobs($1::uuid[], $2::timestamptz, $3::text, $4::text, $5::text) s
