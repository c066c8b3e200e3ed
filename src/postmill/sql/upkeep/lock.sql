-- Until the end of the transaction, which must not outlive a worker that is stopped in it: a machine that sleeps, a loop that
-- a handler blocks. Nobody else could do the round.
select u.name, set_config('idle_in_transaction_session_timeout', '5s', true)
  from {schema}.upkeep u where u.name = $1::text for update skip locked
