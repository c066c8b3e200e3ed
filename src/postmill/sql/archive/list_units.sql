-- A page of units, the latest stretch first; $6: only those that may speak of this job.
select id, source, status, since, until, rows, bytes, made_at, archived_at, deleted_at, tries, error, manifest::text
  from {schema}.read_archive($1::timestamptz, $2::uuid, $3::integer, $4::text, $5::text, $6::uuid)
