-- Who we are to which server.
select current_setting('server_version_num')::integer as version_num, current_setting('server_version') as version,
       pg_is_in_recovery() as in_recovery, current_user::text as role, current_database()::text as database,
       current_setting('postmill.clock_offset', true) as clock_offset,
       exists (select from pg_stat_ssl s where s.pid = pg_backend_pid() and s.ssl) as ssl,
       coalesce(host(inet_server_addr()), 'unix socket') as address
