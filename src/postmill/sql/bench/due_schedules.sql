-- $1 of the schedules are due at one moment, $2 from now.
with few as (select t.id from {schema}.trigger t order by t.next_run_at desc limit $1::integer),
     at as materialized (select {schema}.now() + $2::text::interval as moment)
update {schema}.trigger t set next_run_at = a.moment from few s, at a where t.id = s.id
