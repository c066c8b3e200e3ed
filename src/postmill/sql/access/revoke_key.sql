select {schema}.door_revoke_key($1::uuid, $2::text)
