-- Milliseconds that sessions of this database have worked on statements, ever.
select active_time from pg_stat_database where datname = current_database()
