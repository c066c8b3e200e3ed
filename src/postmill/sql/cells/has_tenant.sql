select exists (select from {schema}.tenant t where t.id = $1::uuid)
