-- What is before the first link of the chain: all that was pruned, or nothing.
select n, hash from {schema}.audit_start
