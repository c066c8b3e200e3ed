select r.label, r.status from {schema}.register_triggers($1::text[], $2::text::jsonb) r
