select id, queue, lane, priority from {schema}.release_claims($1::uuid, $2::bigint[])
