-- Held by the session: another connection that finds the mark is to the same database.
select pg_advisory_lock(hashtextextended('{schema}.mark:' || $1::uuid, 0)) is not null
