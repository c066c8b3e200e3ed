select r.name, r.rule::text, r.last_run_at, r.replayed, r.skipped, r.replayed_hour from {schema}.read_recovery_rules() r
