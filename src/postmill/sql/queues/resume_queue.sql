select {schema}.resume_queue($1::text)
