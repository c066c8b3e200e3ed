-- How many jobs of the types $1 run, or could run now, and whether a workflow is still to move on.
select (select count(*)
          from (select t.id from {schema}.ready t
                union all
                select t.id from {schema}.running t
                union all
                select t.id from {schema}.scheduled t where t.run_at <= (select {schema}.now())) t
          join {schema}.any_job j on j.id = t.id
         where j.job_type = any ($1::text[]))
     + (select count(*) from (select from {schema}.workflow_inbox limit 1) i)
