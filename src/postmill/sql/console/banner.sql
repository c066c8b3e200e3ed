select b.paused, b.more_paused, b.measured_seconds, b.migrating, b.types, b.types_until, b.more_types from {schema}.read_banner($1::text) b
