select {schema}.plan_triggers($1::text::jsonb)
