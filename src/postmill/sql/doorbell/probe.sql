select pg_notify('{schema}', $1::text)
