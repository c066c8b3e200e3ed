select subject, keep_seconds, source, common, changed_at from {schema}.door_retention($1::uuid)
