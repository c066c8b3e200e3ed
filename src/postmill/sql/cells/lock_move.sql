-- Held by the session: one mover at a time is at a move. Waits as long as lock_timeout.
select pg_advisory_lock(hashtextextended('{schema}.move:' || $1::uuid, 0)) is not null
