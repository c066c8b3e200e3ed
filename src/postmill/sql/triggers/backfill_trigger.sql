select b.due, b.outcome, b.detail, b.job_id
  from {schema}.door_backfill_trigger($1::uuid, $2::text::jsonb, $3::text, $4::text, $5::text) b
