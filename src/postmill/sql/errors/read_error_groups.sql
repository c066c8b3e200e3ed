select g.id, g.job_type, g.error_class, g.message, g.frame, g.error_code, g.error_status, g.first_seen_at, g.last_seen_at, g.count,
       g.tenants, g.sample_job, g.status, g.first_version, g.last_version, g.ignored_until, g.resolved_version, g.resolved_at,
       g.regressed_at, g.marked_by, g.mark_note, g.resolved_build
  from {schema}.read_error_groups($1::uuid, $2::text, $3::text, coalesce($4::timestamptz, '-infinity'), $5::timestamptz, $6::text,
       $7::integer, $8::text, $9::text[], $10::text,
       coalesce($11::timestamptz, '-infinity')) g
