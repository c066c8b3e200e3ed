-- Held until the switch: whoever would cancel one of them waits, and then finds that it has gone.
select (select count(*) from (select s.id from {schema}.scheduled s
            where s.run_at > timestamptz '2500-01-01 00:00+00'
              and (select j.tenant_id from {schema}.any_job j where j.id = s.id limit 1) = $1::uuid order by s.id for update) l)
     + (select count(*) from (select b.id from {schema}.blocked b
            where (select j.tenant_id from {schema}.any_job j where j.id = b.id limit 1) = $1::uuid order by b.id for update) l)
