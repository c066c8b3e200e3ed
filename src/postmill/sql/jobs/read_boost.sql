select b.from_priority, b.priority, b.raised_at, b.waiting_since from {schema}.read_boost($1::uuid) b
