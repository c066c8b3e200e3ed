select b.paused, b.more_paused, b.measured_seconds, b.migrating from {schema}.read_banner($1::text) b
