-- Seed 3's lock, until the end of the transaction. The transaction must not outlive a scheduler that is stopped in it.
select pg_try_advisory_xact_lock(hashtextextended('{schema}.' || $1::text, 0)),
       set_config('idle_in_transaction_session_timeout', '5s', true)
