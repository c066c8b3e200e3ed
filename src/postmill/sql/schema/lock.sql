-- Migrators of one schema take turns, per transaction (also behind pgbouncer). Read committed: what the one
-- before us did must be visible in the statements after the lock, whatever the database's default is.
set transaction isolation level read committed;
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('postmill.migrate.{schema}', 0))
