select {schema}.switch_tenant($1::uuid)
