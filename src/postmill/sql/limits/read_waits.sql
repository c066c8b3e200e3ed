select w.id, w.what, w.name from {schema}.read_waits($1::uuid[]) w
