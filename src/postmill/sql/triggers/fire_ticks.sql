select f.trigger_id, f.due, f.outcome, f.detail, f.job_id, f.late from {schema}.fire_ticks($1::text::jsonb) f
