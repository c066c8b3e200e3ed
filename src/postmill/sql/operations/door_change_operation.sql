select o.status, o.kind from {schema}.door_change_operation($1::uuid, $2::text, $3::text, $4::text, $5::text) o
