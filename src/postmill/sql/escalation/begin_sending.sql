update {schema}.notification n set tries = n.tries + 1 where n.id = any ($1::uuid[]) returning n.id
