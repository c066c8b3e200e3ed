select limit_id, granted, wait_seconds, contended from {schema}.grant_tokens($1::bigint[])
