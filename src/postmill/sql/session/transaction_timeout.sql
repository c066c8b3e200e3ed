-- '0', or how long a transaction of this connection may last; NULL before 17, which does not know it.
select current_setting('transaction_timeout', true)
