-- Where the jobs are: tickets that wait or run, dead letters, outcomes, bodies, and counted successes without a trace.
select (select count(*) from {schema}.ready) + (select count(*) from {schema}.running) + (select count(*) from {schema}.blocked),
       (select count(*) from {schema}.dead_letter), (select count(*) from {schema}.outcome),
       (select count(*) from {schema}.job), (select coalesce(sum(t.succeeded), 0)::bigint from {schema}.tally t)
