select {schema}.plan_notifications($1::uuid[], $2::timestamptz[])
