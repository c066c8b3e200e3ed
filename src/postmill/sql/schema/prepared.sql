-- Is there a record of migrations at all?
select pg_catalog.to_regclass('{schema}.migration') is not null
