select status, id, $1::uuid from {schema}.begin_artifact($1::uuid, $2::uuid, $3::uuid, $4::bigint)
