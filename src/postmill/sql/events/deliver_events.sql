select d.event_id, d.trigger_id, d.outcome, d.detail, d.job_id from {schema}.deliver_events($1::text::jsonb) d
