-- The clock that decides (law 3).
select {schema}.now() as moment
