select {schema}.take_steps($1::text::jsonb)
