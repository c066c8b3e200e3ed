select status, verb, answer::text, job::text, cancel_requested, cancel_reason
  from {schema}.door_held_work($1::uuid, $2::uuid, $3::bigint)
