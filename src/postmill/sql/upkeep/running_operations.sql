select o.id, o.kind, o.allowed from {schema}.running_operations($1::integer) o
