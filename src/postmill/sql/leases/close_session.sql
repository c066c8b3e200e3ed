select {schema}.close_session($1::uuid)
