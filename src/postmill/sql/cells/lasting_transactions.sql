select o.id, o.pid, o.application from {schema}.lasting_transactions($1::text[]) o
