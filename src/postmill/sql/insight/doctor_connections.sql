-- Client connections of the whole server against what it takes, and how many are ours to see as Postmill.
select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as most,
       count(*)::integer as used,
       (count(*) filter (where a.application_name like 'postmill%'))::integer as ours,
       (count(*) filter (where a.state = 'idle in transaction'
                           and a.state_change < (select {schema}.now()) - interval '1 minute'))::integer as idle_in_transaction
  from pg_stat_activity a
 where a.backend_type = 'client backend'
