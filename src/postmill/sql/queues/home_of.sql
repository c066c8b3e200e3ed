-- The name of a job type and the queue that it belongs to, by the name or an alias.
select d.key, d.queue from {schema}.job_definition d
 where d.key = $1::text or d.aliases @> array[$1::text]
 order by d.key <> $1::text
 limit 1
