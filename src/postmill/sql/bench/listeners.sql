-- How many workers of this schema have made sure that they hear notifications.
select count(*) from pg_stat_activity a
 where a.datname = current_database() and a.application_name = 'postmill listener' and a.state = 'idle'
   and a.query like '%pg_notify%' and position($1::text in a.query) > 0
