-- Fresh statistics and visibility, as autovacuum would have given them.
vacuum (analyze) {schema}.job, {schema}.ready, {schema}.scheduled, {schema}.running, {schema}.outcome, {schema}.attempt,
    {schema}.dead_letter, {schema}.dead_tally, {schema}.job_definition, {schema}.queue, {schema}.tenant, {schema}.worker,
    {schema}.lease, {schema}.trigger, {schema}.tick, {schema}.incident, {schema}.error_group, {schema}.error_group_tenant,
    {schema}.error_group_minute, {schema}.audit_log, {schema}.rollup, {schema}.rollup_fleet, {schema}.rollup_hour,
    {schema}.workflow, {schema}.workflow_step, {schema}.workflow_edge, {schema}.queue_minute
