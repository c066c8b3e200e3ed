select {schema}.read_incident_jobs($1::uuid)
