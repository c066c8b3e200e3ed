select {schema}.park_tickets($1::uuid)
