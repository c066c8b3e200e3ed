update {schema}.notification n set status = 'failed' where n.id = any ($1::uuid[]) returning n.id
