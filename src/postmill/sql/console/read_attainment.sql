-- In the last $1 seconds.
select a.*
  from (select {schema}.now() as moment) m
 cross join lateral {schema}.read_attainment(m.moment - $1::float8 * interval '1 second', m.moment) a
