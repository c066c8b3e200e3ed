select r.rule, r.replayed, r.skipped, r.goes_on from {schema}.recover($1::text::jsonb) r
