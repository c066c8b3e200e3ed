select b.after_seconds, b.step, b.up_to, b.raised from {schema}.read_queue_boost($1::text) b
