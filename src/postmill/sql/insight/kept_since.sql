-- Since when bodies are kept by partition, the retention in force, and whether types keep only their failures.
select (select min(p.since) from {schema}.partition p where p.parent = 'job') as since,
       extract(epoch from c.retention)::double precision as retention,
       exists (select from {schema}.job_definition d where d.keep = 'failures') as failures_only
  from {schema}.partition_policy c
