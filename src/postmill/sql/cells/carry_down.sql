select {schema}.carry_down($1::uuid)
