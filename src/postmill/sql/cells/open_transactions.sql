-- What is open now, prepared ones as well, and the clock from before it was listed.
with at as materialized (select {schema}.now() as moment)
select a.moment, {schema}.open_transactions(false)
       || array(select 'x' || p.transaction::text from pg_prepared_xacts p where p.database = current_database()),
       (select min(p.since) from {schema}.partition p)
  from at a
