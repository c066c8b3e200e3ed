-- What tells one database from all others.
select (select c.system_identifier from pg_control_system() c)::text || '/' || (select d.oid from pg_database d where d.datname = current_database())
