-- How far the chain was when it was last sealed, as noted beside it.
select (u.note ->> 'n')::bigint, u.note ->> 'hash' from {schema}.upkeep u where u.name = 'seal'
