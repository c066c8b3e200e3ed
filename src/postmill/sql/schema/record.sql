-- One migration was applied, in this same transaction.
insert into {schema}.migration (version, name, breaking, checksum, applied_at)
values ($1, $2, $3, $4, {schema}.now())
