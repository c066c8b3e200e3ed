-- One page of open dead letters within the scope; the last two columns say where the next page begins.
select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_class, d.error_code, d.error_message, d.error_status,
       d.attempts, d.failed_at, d.last_attempt_at, d.error_group, d.shown_as, d.go_at, d.go_on
  from {schema}.read_dead_letters($1::uuid, $2::text, $3::text, $4::text, $5::timestamptz, $6::uuid, $7::integer, $8::text,
                                  $9::integer, $10::timestamptz, $11::timestamptz) d
