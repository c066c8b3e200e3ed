select there, owns from {schema}.door_check_org($1::uuid, $2::uuid)
