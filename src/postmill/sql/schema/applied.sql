-- What was applied, oldest first.
select version, name, breaking, checksum
from {schema}.migration
order by version
