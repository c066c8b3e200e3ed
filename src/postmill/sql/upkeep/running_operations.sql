select o.id, o.kind, o.stage, o.allowed from {schema}.running_operations($1::integer) o
