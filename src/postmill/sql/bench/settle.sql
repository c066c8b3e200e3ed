-- Fresh statistics and visibility, as autovacuum would have given a database with a past.
vacuum (analyze) {schema}.job, {schema}.ready, {schema}.scheduled, {schema}.running, {schema}.outcome, {schema}.attempt,
    {schema}.job_definition, {schema}.queue, {schema}.lane, {schema}.sleeper, {schema}.intake
