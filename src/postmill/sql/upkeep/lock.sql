select u.name from {schema}.upkeep u where u.name = $1::text for update skip locked
