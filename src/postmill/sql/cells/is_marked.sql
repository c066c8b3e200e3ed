select not pg_try_advisory_xact_lock(hashtextextended('{schema}.mark:' || $1::uuid, 0))
