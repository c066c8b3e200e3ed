-- From here to its end the transaction only reads, and no query of it takes longer than that; the time of the database.
select {schema}.now(), set_config('transaction_read_only', 'on', true), set_config('statement_timeout', $1::text, true),
       set_config('idle_in_transaction_session_timeout', '10000', true)
