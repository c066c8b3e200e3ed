-- Finished jobs $2 to $2 + $1 - 1 of $3, spread over the present partition up to now: live jobs go into the same one.
with span as (
    select p.since, (select {schema}.now()) - p.since as length
      from {schema}.partition p
     where p.parent = 'job' and (select {schema}.now()) >= p.since and (select {schema}.now()) < p.until
), made as materialized (
    select ({schema}.id_at(s.since + s.length * (g::double precision / $3::bigint))::text) as low,
           s.since + s.length * (g::double precision / $3::bigint) as at, g
      from span s, generate_series($2::bigint, $2::bigint + $1::bigint - 1) g
), named as materialized (
    select (substr(m.low, 1, 14) || '7' || substr(md5(m.g::text), 1, 3) || '-8' || substr(md5(m.g::text), 4, 3) || '-'
            || substr(md5(m.g::text), 7, 12))::uuid as id, m.at
      from made m
), bodies as (
    insert into {schema}.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
    select n.id, $4::uuid, $5::text, $6::text, $7::text::jsonb, 100, 3, n.at from named n
)
insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, started_at)
select n.id, $4::uuid, 'succeeded', n.at, 1, 1, 0, 'succeeded', n.at from named n
