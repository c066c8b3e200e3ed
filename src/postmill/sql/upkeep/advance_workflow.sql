select {schema}.advance_workflow($1::uuid)
