select {schema}.unpark_tickets($1::uuid)
