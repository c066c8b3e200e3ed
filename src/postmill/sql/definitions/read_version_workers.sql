select v.version, v.workers from {schema}.read_version_workers($1::text, $2::integer) v
