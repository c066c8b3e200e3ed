-- Is there a Postmill in this database, under this name?
select to_regclass('{schema}.job') is not null as found
