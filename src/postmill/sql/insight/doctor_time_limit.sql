-- For the transaction of one check.
select set_config('statement_timeout', $1::text, true)
