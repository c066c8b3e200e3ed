select * from {schema}.read_incident_scenes($1::uuid[])
